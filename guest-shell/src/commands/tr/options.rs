//! Command-line options of `tr`.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use crate::commands::option_parser::gnu_getopt;
use bashkit::ExecResult;
use bashkit::builtins::arg_parser::OptArg;

const LONG: [(&str, OptArg, char); 4] = [
    ("complement", OptArg::No, 'c'),
    ("delete", OptArg::No, 'd'),
    ("squeeze-repeats", OptArg::No, 's'),
    ("truncate-set1", OptArg::No, 't'),
];

/// Command-line options and sets of one call.
pub(super) struct TrOptions {
    pub(super) delete: bool,
    pub(super) squeeze: bool,
    /// True if the first set is complemented.
    pub(super) complement: bool,
    /// True if the first set is truncated to the length of the second one.
    pub(super) truncate: bool,
    pub(super) first_set: String,
    pub(super) second_set: Option<String>,
}

impl TrOptions {
    /// Parses a command line, whose options end at the first set. The error is the result of an invalid call.
    pub(super) fn parse(words: &[String]) -> Result<Self, ExecResult> {
        let (given, sets) = gnu_getopt("tr", words, "cCdst", &LONG, false, 1)?;
        let has = |keys: &str| given.iter().any(|option| keys.contains(option.key));
        let (delete, squeeze) = (has("d"), has("s"));
        check_set_count(&sets, delete, squeeze)?;
        let mut sets = sets.into_iter();
        Ok(Self {
            delete,
            squeeze,
            complement: has("cC"),
            truncate: has("t"),
            first_set: sets.next().unwrap_or_default(),
            second_set: sets.next(),
        })
    }
}

fn check_set_count(sets: &[String], delete: bool, squeeze: bool) -> Result<(), ExecResult> {
    let (least, most) = match (delete, squeeze) {
        (true, false) => (1, 1),
        (false, true) => (1, 2),
        _ => (2, 2),
    };
    match sets {
        [] => Err(usage_error("missing operand\n")),
        [only] if least == 2 => {
            let hint = if delete {
                "Two strings must be given when both deleting and squeezing repeats."
            } else {
                "Two strings must be given when translating."
            };
            Err(usage_error(&format!("missing operand after '{only}'\n{hint}\n")))
        }
        [_, extra] if most == 1 => {
            let hint = "Only one string may be given when deleting without squeezing repeats.";
            Err(usage_error(&format!("extra operand '{extra}'\n{hint}\n")))
        }
        sets if sets.len() > most => Err(usage_error(&format!("extra operand '{}'\n", sets[most]))),
        _ => Ok(()),
    }
}

fn usage_error(message: &str) -> ExecResult {
    ExecResult::err(format!("tr: {message}Try 'tr --help' for more information.\n"), 1)
}
