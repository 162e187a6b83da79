//! Formats of `-printf`: GNU's directives and escapes, and fields of a width.
//!
//! Values that the VFS does not store come from `file_status` or are constant: `%F` is `vfs`, `%S` is 1, `%Z` is `?`.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use bashkit::fs::Metadata;

use super::OWNER_UID;
use super::entry::{FoundFile, type_letter};
use crate::commands::file_status::{self, FmtEnv, nanos_of};

/// Padding and truncation of a field.
#[derive(Default)]
pub(super) struct FieldLayout {
    pub(super) is_left: bool,
    pub(super) width: Option<usize>,
    /// Largest number of characters.
    pub(super) precision: Option<usize>,
}

impl FieldLayout {
    /// Truncates and pads a value.
    pub(super) fn apply(&self, value: String) -> String {
        let value = match self.precision {
            Some(precision) => value.chars().take(precision).collect(),
            None => value,
        };
        let missing = self.width.unwrap_or(0).saturating_sub(value.chars().count());
        let padding = " ".repeat(missing);
        if self.is_left { value + &padding } else { padding + &value }
    }
}

/// Returns true if a format contains a directive, possibly with a width.
pub(super) fn asks_for(format: &str, letter: char) -> bool {
    let is_of_layout = |letter: char| letter.is_ascii_digit() || "-+ #.".contains(letter);
    format.split('%').skip(1).any(|rest| rest.trim_start_matches(is_of_layout).starts_with(letter))
}

/// Returns the directive without a letter at the end of a format.
pub(super) fn unfinished_directive(format: &str) -> Option<&str> {
    let mut rest = format;
    while let Some(start) = rest.find('%') {
        let directive = &rest[start..];
        let layout =
            directive[1..].trim_start_matches(|letter: char| letter.is_ascii_digit() || "-+ #.".contains(letter));
        let letter = layout.chars().next();
        match letter {
            None => return Some(directive),
            Some(letter) => rest = &layout[letter.len_utf8()..],
        }
    }
    None
}

/// Letters of the directives of one letter, of those that are followed by another one, and of escapes.
const DIRECTIVES: &str = "%abcdDfFgGhHiklmMnpPsStuUyYZ";
const TIME_DIRECTIVES: &str = "ABCT";
const ESCAPES: &str = "abcfnrtv\\01234567";

/// Returns warnings about the directives and the escapes of a format that mean nothing, and are printed as they are.
pub(super) fn warnings(format: &str) -> Vec<String> {
    let mut warnings = Vec::new();
    let mut letters = format.chars();
    while let Some(start) = letters.find(|letter| matches!(letter, '\\' | '%')) {
        let letter = match start {
            '\\' => letters.next(),
            _ => letters.find(|letter| !(letter.is_ascii_digit() || "-+ #.".contains(*letter))),
        };
        match (start, letter) {
            // The output ends here.
            ('\\', Some('c')) => break,
            ('\\', None) => warnings.push("find: warning: escape `\\' followed by nothing at all\n".to_owned()),
            ('\\', Some(letter)) if !ESCAPES.contains(letter) => {
                warnings.push(format!("find: warning: unrecognized escape `\\{letter}'\n"));
            }
            ('%', Some(letter)) if TIME_DIRECTIVES.contains(letter) => {
                letters.next();
            }
            ('%', Some(letter)) if !DIRECTIVES.contains(letter) => {
                warnings.push(format!("find: warning: unrecognized format directive `%{letter}'\n"));
            }
            _ => {}
        }
    }
    warnings
}

/// Formats a file, found from the starting point `start`.
pub(super) fn render(format: &str, file: &FoundFile, start: &str, env: &FmtEnv) -> String {
    let mut renderer = Renderer { letters: format.chars().collect(), at: 0, file, start, env, output: String::new() };
    while let Some(letter) = renderer.next() {
        let goes_on = match letter {
            '\\' => renderer.escape(),
            '%' => renderer.directive(),
            _ => {
                renderer.output.push(letter);
                true
            }
        };
        if !goes_on {
            break;
        }
    }
    renderer.output
}

/// Format, and the output so far.
struct Renderer<'a> {
    letters: Vec<char>,
    at: usize,
    file: &'a FoundFile,
    start: &'a str,
    env: &'a FmtEnv,
    output: String,
}

impl Renderer<'_> {
    fn next(&mut self) -> Option<char> {
        let letter = self.letters.get(self.at).copied()?;
        self.at += 1;
        Some(letter)
    }

    fn next_if(&mut self, is_wanted: impl Fn(char) -> bool) -> Option<char> {
        let letter = self.letters.get(self.at).copied().filter(|letter| is_wanted(*letter))?;
        self.at += 1;
        Some(letter)
    }

    /// Consumes a number, if one comes next.
    fn number(&mut self) -> Option<usize> {
        let mut number = None;
        while let Some(digit) = self.next_if(|letter| letter.is_ascii_digit()) {
            let digit = digit.to_digit(10).unwrap_or(0) as usize;
            number = Some(number.unwrap_or(0usize).saturating_mul(10).saturating_add(digit));
        }
        number
    }

    /// Writes the character for a backslash escape. Returns false if the output ends with it.
    fn escape(&mut self) -> bool {
        let Some(letter) = self.next() else {
            self.output.push('\\');
            return false;
        };
        match letter {
            'a' => self.output.push('\x07'),
            'b' => self.output.push('\x08'),
            'c' => return false,
            'f' => self.output.push('\x0c'),
            'n' => self.output.push('\n'),
            'r' => self.output.push('\r'),
            't' => self.output.push('\t'),
            'v' => self.output.push('\x0b'),
            '\\' => self.output.push('\\'),
            '0'..='7' => {
                let mut value = letter.to_digit(8).unwrap_or(0);
                for _ in 1..3 {
                    let Some(digit) = self.next_if(|letter| letter.is_digit(8)) else { break };
                    value = value * 8 + digit.to_digit(8).unwrap_or(0);
                }
                self.output.push(char::from_u32(value & 0xff).unwrap_or('?'));
            }
            other => self.output.extend(['\\', other]),
        }
        true
    }

    /// Writes the value of a directive. Returns false if the format ends within it.
    fn directive(&mut self) -> bool {
        let start = self.at - 1;
        let mut layout = FieldLayout::default();
        while let Some(flag) = self.next_if(|letter| matches!(letter, '-' | '+' | ' ' | '#' | '0')) {
            layout.is_left |= flag == '-';
        }
        layout.width = self.number();
        if self.next_if(|letter| letter == '.').is_some() {
            layout.precision = Some(self.number().unwrap_or(0));
        }
        let Some(letter) = self.next() else {
            self.output.extend(&self.letters[start..]);
            return false;
        };
        let value = if matches!(letter, 'T' | 'A' | 'C' | 'B') {
            let Some(key) = self.next() else {
                self.output.extend(&self.letters[start..]);
                return false;
            };
            let status = self.file.status();
            let time = if letter == 'B' { status.created } else { status.modified };
            Some(time_value(nanos_of(time), key, self.env))
        } else {
            self.path_value(letter).or_else(|| self.status_value(letter))
        };
        match value {
            Some(value) => self.output.push_str(&layout.apply(value)),
            // An unknown directive is copied.
            None => self.output.extend(&self.letters[start..self.at]),
        }
        true
    }

    /// Returns the value of a directive that concerns the path.
    fn path_value(&self, letter: char) -> Option<String> {
        let file = self.file;
        let path = &file.shown_path;
        Some(match letter {
            '%' => "%".to_owned(),
            'p' => path.clone(),
            'f' => basename(path),
            'h' => dirname(path).to_owned(),
            'H' => self.start.to_owned(),
            'P' if path == self.start => String::new(),
            'P' => path[self.start.len().min(path.len())..].trim_start_matches('/').to_owned(),
            'd' => file.depth.to_string(),
            'l' => file.link_target.clone().unwrap_or_default(),
            _ => return None,
        })
    }

    /// Returns the value of a directive that concerns the status.
    fn status_value(&self, letter: char) -> Option<String> {
        let file = self.file;
        let status = file.status();
        Some(match letter {
            's' => file_status::apparent_size(status).to_string(),
            'k' => (file_status::blocks(status) / 2).to_string(),
            'b' => file_status::blocks(status).to_string(),
            'm' => format!("{:o}", status.mode & 0o7777),
            'M' => file_status::mode_string(status),
            'y' => type_letter(&file.own_status).to_string(),
            'Y' => type_of_target(file).to_string(),
            'n' => file.links.to_string(),
            'u' | 'g' => self.env.username.clone(),
            'U' | 'G' => OWNER_UID.to_string(),
            'i' => file.inode.to_string(),
            'D' => file_status::DEVICE.to_string(),
            'F' => "vfs".to_owned(),
            'S' => "1".to_owned(),
            'Z' => "?".to_owned(),
            't' | 'a' | 'c' => ctime_value(status, self.env),
            _ => return None,
        })
    }
}

/// Returns the type of a link's target; `N` if it does not exist.
fn type_of_target(file: &FoundFile) -> char {
    match (&file.link_target, &file.target_status) {
        (None, _) => type_letter(&file.own_status),
        (Some(_), Some(status)) => type_letter(status),
        (Some(_), None) => 'N',
    }
}

/// Returns the directories before the last component, or `.` if there is no slash.
pub(super) fn dirname(path: &str) -> &str {
    path.rfind('/').map_or(".", |slash| &path[..slash])
}

/// Returns the last component with its trailing slashes, as GNU's does.
pub(super) fn basename(path: &str) -> String {
    let trimmed = path.trim_end_matches('/');
    if trimmed.is_empty() && !path.is_empty() {
        return "/".to_owned();
    }
    let start = trimmed.rfind('/').map_or(0, |slash| slash + 1);
    path[start..].to_owned()
}

/// Formats a time by the letter after `%A`, `%C` or `%T`, with GNU's fractions of seconds.
fn time_value(nanos: i128, key: char, env: &FmtEnv) -> String {
    let fraction = format!("{:09}0", nanos.rem_euclid(1_000_000_000));
    match key {
        '@' => format!("{}.{fraction}", nanos.div_euclid(1_000_000_000)),
        'S' => format!("{}.{fraction}", env.strftime(nanos, "%S")),
        'T' | 'X' => format!("{}.{fraction}", env.strftime(nanos, "%H:%M:%S")),
        '+' => format!("{}.{fraction}", env.strftime(nanos, "%Y-%m-%d+%H:%M:%S")),
        // Extensions of `date` that the C library lacks.
        'q' | 'N' | ':' | '-' => format!("%{key}"),
        key => env.strftime(nanos, &format!("%{key}")),
    }
}

/// Formats the time of modification as ctime(3), with GNU's fractions of seconds.
fn ctime_value(status: &Metadata, env: &FmtEnv) -> String {
    let nanos = nanos_of(status.modified);
    let (time, year) = (env.strftime(nanos, "%a %b %e %H:%M:%S"), env.strftime(nanos, "%Y"));
    format!("{time}.{:09}0 {year}", nanos.rem_euclid(1_000_000_000))
}
