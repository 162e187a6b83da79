//! Arguments of `find`'s tests. Errors are messages that end with a line break.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use std::str::FromStr;

use bashkit::builtins::fileops::apply_symbolic_mode;

use crate::commands::find::expression::{FileTest, NumberComparison, PermissionMatch, TimeField};

/// Returns the message about an invalid argument of a test.
pub(super) fn invalid_argument(primary: &str, argument: &str) -> String {
    format!("find: invalid argument `{argument}' to `{primary}'\n")
}

fn split_sign(argument: &str) -> (NumberComparison, &str) {
    if let Some(number) = argument.strip_prefix('+') {
        (NumberComparison::Greater, number)
    } else if let Some(number) = argument.strip_prefix('-') {
        (NumberComparison::Less, number)
    } else {
        (NumberComparison::Equal, argument)
    }
}

/// Parses a number whose sign selects the comparison.
pub(super) fn parse_number<T: FromStr>(primary: &str, argument: &str) -> Result<(NumberComparison, T), String> {
    let (comparison, digits) = split_sign(argument);
    let number = digits.parse().ok().filter(|_| digits.bytes().all(|byte| byte.is_ascii_digit()));
    Ok((comparison, number.ok_or_else(|| invalid_argument(primary, argument))?))
}

/// Parses the argument of `-size`: a number with a sign and a unit.
pub(in crate::commands::find) fn parse_size(argument: &str) -> Result<FileTest, String> {
    let (comparison, number) = split_sign(argument);
    let digits_end = number.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(number.len());
    let (digits, suffix) = number.split_at(digits_end);
    let mut letters = suffix.chars();
    let unit = match (letters.next(), letters.next()) {
        (_, Some(_)) => return Err(invalid_argument("-size", argument)),
        (Some('c'), None) => 1,
        (Some('w'), None) => 2,
        (None | Some('b'), None) => 512,
        (Some('k'), None) => 1024,
        (Some('M'), None) => 1024 * 1024,
        (Some('G'), None) => 1024 * 1024 * 1024,
        (Some(letter), None) => return Err(format!("find: invalid -size type `{letter}'\n")),
    };
    let number = digits.parse().map_err(|_| invalid_argument("-size", argument))?;
    Ok(FileTest::Size { comparison, number, unit })
}

/// Parses the argument of `-perm`: a mode in octal or symbolic form. With `-` all bits must be set, with `/` any of
/// them.
pub(super) fn parse_permissions(argument: &str) -> Result<FileTest, String> {
    let (required, mode) = if let Some(mode) = argument.strip_prefix('-') {
        (PermissionMatch::All, mode)
    } else if let Some(mode) = argument.strip_prefix('/') {
        (PermissionMatch::Any, mode)
    } else {
        (PermissionMatch::Exact, argument)
    };
    let is_octal = !mode.is_empty() && mode.bytes().all(|byte| (b'0'..=b'7').contains(&byte));
    let bits = match is_octal {
        true => u32::from_str_radix(mode, 8).ok().filter(|bits| *bits <= 0o7777),
        false => apply_symbolic_mode(mode, 0),
    };
    match bits {
        Some(mode) => Ok(FileTest::Permissions { mode, required }),
        None => Err(format!("find: invalid mode '{mode}'\n")),
    }
}

/// Returns the time that a letter of `-newerXY` names.
pub(super) fn time_field(letter: char) -> Option<TimeField> {
    match letter {
        'a' | 'c' | 'm' => Some(TimeField::Modified),
        'B' => Some(TimeField::Created),
        _ => None,
    }
}
