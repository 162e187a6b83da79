//! Options of `cut`.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use crate::commands::option_parser::gnu_getopt;
use bashkit::ExecResult;
use bashkit::builtins::arg_parser::OptArg;

use super::range_list::{PositionUnit, RangeList};
use crate::commands::records::separator;

const LONG: [(&str, OptArg, char); 8] = [
    ("bytes", OptArg::Required, 'b'),
    ("characters", OptArg::Required, 'c'),
    ("complement", OptArg::No, 'C'),
    ("delimiter", OptArg::Required, 'd'),
    ("fields", OptArg::Required, 'f'),
    ("only-delimited", OptArg::No, 's'),
    ("output-delimiter", OptArg::Required, 'O'),
    ("zero-terminated", OptArg::No, 'z'),
];

/// Options of one call.
pub(super) struct CutOptions {
    pub(super) unit: PositionUnit,
    pub(super) selected: RangeList,
    pub(super) delimiter: u8,
    /// True if lines without the delimiter are left out.
    pub(super) only_delimited: bool,
    /// Byte that terminates lines.
    pub(super) terminator: u8,
    pub(super) output_delimiter: Option<Vec<u8>>,
}

/// Options as they are given.
#[derive(Default)]
struct GivenOptions {
    list: Option<(PositionUnit, String)>,
    delimiter: Option<u8>,
    output_delimiter: Option<Vec<u8>>,
    complement: bool,
    only_delimited: bool,
    zero_terminated: bool,
}

impl CutOptions {
    /// Reads a command line into options and names of files. The error is the result of a wrong call.
    pub(super) fn parse(words: &[String]) -> Result<(Self, Vec<String>), ExecResult> {
        let (parsed, files) = gnu_getopt("cut", words, "b:c:d:f:nsz", &LONG, true, 1)?;
        let mut given = GivenOptions::default();
        for option in parsed {
            given.take(option.key, option.value.unwrap_or_default()).map_err(usage_error)?;
        }
        let options = given.finish().map_err(usage_error)?;
        Ok((options, files))
    }
}

fn usage_error(message: String) -> ExecResult {
    ExecResult::err(format!("cut: {message}\nTry 'cut --help' for more information.\n"), 1)
}

impl GivenOptions {
    fn take(&mut self, key: char, value: String) -> Result<(), String> {
        match key {
            'd' => match &*bashkit::bytes_of(&value) {
                // An empty delimiter is a NUL.
                [] => self.delimiter = Some(0),
                [byte] => self.delimiter = Some(*byte),
                _ => return Err("the delimiter must be a single character".to_owned()),
            },
            'f' | 'b' | 'c' => {
                let unit = if key == 'f' { PositionUnit::Fields } else { PositionUnit::Bytes };
                if self.list.replace((unit, value)).is_some() {
                    return Err("only one list may be specified".to_owned());
                }
            }
            's' => self.only_delimited = true,
            'z' => self.zero_terminated = true,
            'C' => self.complement = true,
            'O' if value.is_empty() => self.output_delimiter = Some(vec![0]),
            'O' => self.output_delimiter = Some(bashkit::bytes_of(&value).into_owned()),
            // `-n` has no effect in GNU's either.
            _ => {}
        }
        Ok(())
    }

    /// Returns the options of the call, if they fit together.
    fn finish(self) -> Result<CutOptions, String> {
        let Some((unit, list)) = self.list else {
            return Err("you must specify a list of bytes, characters, or fields".to_owned());
        };
        if unit == PositionUnit::Bytes && self.delimiter.is_some() {
            return Err("an input delimiter may be specified only when operating on fields".to_owned());
        }
        if unit == PositionUnit::Bytes && self.only_delimited {
            let message = "suppressing non-delimited lines makes sense\n\tonly when operating on fields";
            return Err(message.to_owned());
        }
        let ranges = RangeList::parse(&list, unit)?;
        Ok(CutOptions {
            unit,
            selected: if self.complement { ranges.complement() } else { ranges },
            delimiter: self.delimiter.unwrap_or(b'\t'),
            only_delimited: self.only_delimited,
            terminator: separator(self.zero_terminated),
            output_delimiter: self.output_delimiter,
        })
    }
}
