//! Command-line options of `uniq`.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use crate::commands::option_parser::gnu_getopt;
use bashkit::ExecResult;
use bashkit::builtins::arg_parser::OptArg;

/// Position of empty lines between groups of lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum GroupParting {
    Never,
    Before,
    Between,
    After,
    Around,
}

/// Command-line options of one call.
#[derive(Debug, Default)]
pub(super) struct UniqOptions {
    pub(super) count: bool,
    pub(super) repeated: bool,
    pub(super) all_repeated: Option<GroupParting>,
    pub(super) group: Option<GroupParting>,
    pub(super) unique: bool,
    pub(super) skip_fields: usize,
    /// True if the fields to skip come from digits (`-12`), to which further digits are added.
    skip_fields_from_digits: bool,
    pub(super) skip_bytes: usize,
    pub(super) check_bytes: Option<usize>,
    pub(super) ignore_case: bool,
    pub(super) zero_terminated: bool,
}

const LONG: [(&str, OptArg, char); 10] = [
    ("all-repeated", OptArg::Optional, 'D'),
    ("check-chars", OptArg::Required, 'w'),
    ("count", OptArg::No, 'c'),
    ("group", OptArg::Optional, 'g'),
    ("ignore-case", OptArg::No, 'i'),
    ("repeated", OptArg::No, 'd'),
    ("skip-chars", OptArg::Required, 's'),
    ("skip-fields", OptArg::Required, 'f'),
    ("unique", OptArg::No, 'u'),
    ("zero-terminated", OptArg::No, 'z'),
];

const GROUP_METHODS: [(&str, GroupParting); 4] = [
    ("prepend", GroupParting::Before),
    ("append", GroupParting::After),
    ("separate", GroupParting::Between),
    ("both", GroupParting::Around),
];

const ALL_REPEATED_METHODS: [(&str, GroupParting); 3] =
    [("none", GroupParting::Never), ("prepend", GroupParting::Before), ("separate", GroupParting::Between)];

impl UniqOptions {
    /// Parses a command line into options and operands.
    pub(super) fn parse(words: &[String]) -> Result<(Self, Vec<String>), ExecResult> {
        let (given, mut operands) = gnu_getopt("uniq", words, "0123456789cdDf:is:uw:z", &LONG, true, 1)?;
        let mut options = Self::default();
        for option in given {
            options.take(option.key, option.value)?;
        }
        if !words.iter().any(|word| word == "--") {
            operands.retain(|operand| !options.take_old_bytes(operand));
        }
        if let Some(extra) = operands.get(2) {
            return Err(usage_error(&format!("extra operand '{extra}'")));
        }
        let selects = options.count || options.repeated || options.unique;
        if options.group.is_some() && (selects || options.all_repeated.is_some()) {
            return Err(usage_error("--group is mutually exclusive with -c/-d/-D/-u"));
        }
        if options.count && options.all_repeated.is_some() {
            return Err(usage_error("printing all duplicated lines and repeat counts is meaningless"));
        }
        Ok((options, operands))
    }

    fn take(&mut self, letter: char, value: Option<String>) -> Result<(), ExecResult> {
        match letter {
            'c' => self.count = true,
            'd' => self.repeated = true,
            'D' => {
                let parting = parting("--all-repeated", &ALL_REPEATED_METHODS, value)?;
                self.all_repeated = Some(parting.unwrap_or(GroupParting::Never));
            }
            'f' => {
                self.skip_fields = number(value, "fields to skip")?;
                self.skip_fields_from_digits = false;
            }
            '0'..='9' => {
                let before = if self.skip_fields_from_digits { self.skip_fields } else { 0 };
                let digit = letter as usize - '0' as usize;
                self.skip_fields = before.saturating_mul(10).saturating_add(digit);
                self.skip_fields_from_digits = true;
            }
            'g' => {
                let parting = parting("--group", &GROUP_METHODS, value)?;
                self.group = Some(parting.unwrap_or(GroupParting::Between));
            }
            'i' => self.ignore_case = true,
            's' => self.skip_bytes = number(value, "bytes to skip")?,
            'u' => self.unique = true,
            'w' => self.check_bytes = Some(number(value, "bytes to compare")?),
            'z' => self.zero_terminated = true,
            _ => {}
        }
        Ok(())
    }

    /// Takes the old form of `-s`, `+N`. Returns false if an operand is none.
    fn take_old_bytes(&mut self, operand: &str) -> bool {
        let digits = operand.strip_prefix('+').filter(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()));
        match digits.and_then(|digits| digits.parse().ok()) {
            Some(bytes) => {
                self.skip_bytes = bytes;
                true
            }
            None => false,
        }
    }
}

/// Returns the method with this name, which may be abbreviated unambiguously.
fn parting(
    option: &str,
    methods: &[(&str, GroupParting)],
    value: Option<String>,
) -> Result<Option<GroupParting>, ExecResult> {
    let Some(value) = value else {
        return Ok(None);
    };
    let mut matching = methods.iter().filter(|(name, _)| name.starts_with(&value));
    if let (Some((_, parting)), None) = (matching.next(), matching.next()) {
        return Ok(Some(*parting));
    }
    let valid: Vec<String> = methods.iter().map(|(name, _)| format!("  - '{name}'")).collect();
    let valid = valid.join("\n");
    Err(usage_error(&format!("invalid argument '{value}' for '{option}'\nValid arguments are:\n{valid}")))
}

/// Parses the number of an option. A number that is too large becomes the largest one.
fn number(value: Option<String>, meaning: &str) -> Result<usize, ExecResult> {
    let value = value.unwrap_or_default();
    if value.is_empty() || !value.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(ExecResult::err(format!("uniq: {value}: invalid number of {meaning}\n"), 1));
    }
    Ok(value.parse().unwrap_or(usize::MAX))
}

fn usage_error(message: &str) -> ExecResult {
    ExecResult::err(format!("uniq: {message}\nTry 'uniq --help' for more information.\n"), 1)
}
