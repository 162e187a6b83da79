//! Options of `xargs`, with those of GNU findutils.

use crate::commands::option_parser::getopt_long;
use bashkit::ExecResult;
use bashkit::builtins::arg_parser::{OptArg, ParsedOpt};

/// Default of `-s`: GNU's default is at most 128 KiB.
const DEFAULT_MAX_SIZE: usize = 128 * 1024;

const SHORT_OPTIONS: &str = "0a:E:e::i::I:l::L:n:oprs:txP:d:";

const LONG_OPTIONS: [(&str, OptArg, char); 16] = [
    ("arg-file", OptArg::Required, 'a'),
    ("delimiter", OptArg::Required, 'd'),
    ("eof", OptArg::Optional, 'e'),
    ("exit", OptArg::No, 'x'),
    ("interactive", OptArg::No, 'p'),
    ("max-args", OptArg::Required, 'n'),
    ("max-chars", OptArg::Required, 's'),
    ("max-lines", OptArg::Optional, 'l'),
    ("max-procs", OptArg::Required, 'P'),
    ("no-run-if-empty", OptArg::No, 'r'),
    ("null", OptArg::No, '0'),
    ("open-tty", OptArg::No, 'o'),
    ("process-slot-var", OptArg::Required, 'V'),
    ("replace", OptArg::Optional, 'i'),
    ("show-limits", OptArg::No, 'S'),
    ("verbose", OptArg::No, 't'),
];

/// Options of a call, with the command to run.
pub(super) struct XargsOptions {
    /// `-I`: the words that each item replaces.
    pub(super) replaced: Option<String>,
    /// `-n`; 0 without a limit.
    pub(super) max_items: usize,
    /// `-L`; 0 without a limit.
    pub(super) max_lines: usize,
    /// `-s`: bytes of a command line, each word with one more.
    pub(super) max_size: usize,
    /// `-d` and `-0`. Without it blanks and quotes delimit items.
    pub(super) delimiter: Option<char>,
    /// `-E`: the item that ends the input.
    pub(super) end_item: Option<String>,
    pub(super) arg_file: Option<String>,
    /// `-t`: each command line is printed before it is run.
    pub(super) verbose: bool,
    /// `-P`: number of slots, 1 without it. With 0 each command has its own.
    pub(super) slots: Option<usize>,
    /// `--process-slot-var`: variable that holds the slot of a command.
    pub(super) slot_variable: Option<String>,
    /// `-r`: without items, no command is run. Otherwise one is run without arguments.
    pub(super) skips_empty_input: bool,
    /// Command with its first arguments, at least one word.
    pub(super) command: Vec<String>,
    /// Warnings about options that others override, each with its line break.
    pub(super) warnings: String,
}

fn failure(message: impl std::fmt::Display) -> ExecResult {
    ExecResult::err(format!("xargs: {message}\n"), 1)
}

impl XargsOptions {
    /// Parses a command line. The error is the result of a wrong call.
    pub(super) fn parse(words: &[String]) -> std::result::Result<Self, ExecResult> {
        let (given, mut command) = getopt_long("xargs", words, SHORT_OPTIONS, &LONG_OPTIONS, false, 1)?;
        if command.is_empty() {
            command.push("echo".to_string());
        }
        let mut options = Self {
            replaced: None,
            max_items: 0,
            max_lines: 0,
            max_size: DEFAULT_MAX_SIZE,
            delimiter: None,
            end_item: None,
            arg_file: None,
            verbose: false,
            slots: None,
            slot_variable: None,
            skips_empty_input: false,
            command,
            warnings: String::new(),
        };
        for option in given {
            options.set(option)?;
        }
        if options.end_item.is_some() && options.delimiter.is_some() {
            options.warnings += "xargs: warning: the -E option has no effect if -0 or -d is used.\n\n";
        }
        Ok(options)
    }

    /// Sets one option. `-I`, `-L` and `-n` override each other in their order.
    fn set(&mut self, option: ParsedOpt) -> std::result::Result<(), ExecResult> {
        let given = option.value;
        let value = given.as_deref().unwrap_or_default();
        match option.key {
            '0' => self.delimiter = Some('\0'),
            'a' => self.arg_file = given,
            'd' => self.delimiter = Some(parse_delimiter(value)?),
            'E' | 'e' => self.end_item = given.filter(|item| !item.is_empty()),
            'I' | 'i' => {
                self.drop_max_items("--replace/-I/-i");
                self.drop_max_lines("--replace/-I/-i");
                self.replaced = Some(given.unwrap_or_else(|| "{}".to_string()));
            }
            'L' | 'l' => {
                let name = if option.key == 'L' { "-L" } else { "--max-lines/-l" };
                self.drop_max_items(name);
                self.drop_replaced(name);
                self.max_lines = given.map_or(Ok(1), |lines| parse_number(&lines, option.key, 1))?;
            }
            'n' => {
                self.drop_max_lines("--max-args/-n");
                self.max_items = parse_number(value, 'n', 1)?;
                // GNU's `xargs` ignores `-n1` after `-i` (savannah bug 57390).
                if self.max_items == 1 && self.replaced.is_some() {
                    self.max_items = 0;
                } else {
                    self.drop_replaced("--max-args/-n");
                }
            }
            's' => self.max_size = parse_number(value, 's', 1)?,
            'P' => self.slots = Some(parse_number(value, 'P', 0)?),
            'V' if value.is_empty() => return Err(failure("--process-slot-var requires a variable name")),
            'V' => self.slot_variable = given,
            'r' => self.skips_empty_input = true,
            't' => self.verbose = true,
            'p' => return Err(failure("failed to open /dev/tty for reading")),
            'o' => return Err(ExecResult::err("xargs: /dev/tty: No such device or address\n", 125)),
            // `-x` and `--show-limits` change nothing here.
            _ => {}
        }
        Ok(())
    }

    fn drop_max_items(&mut self, by: &str) {
        if std::mem::take(&mut self.max_items) != 0 {
            self.warn("--max-args", by);
        }
    }

    fn drop_max_lines(&mut self, by: &str) {
        if std::mem::take(&mut self.max_lines) != 0 {
            self.warn("--max-lines", by);
        }
    }

    fn drop_replaced(&mut self, by: &str) {
        if self.replaced.take().is_some() {
            self.warn("--replace", by);
        }
    }

    /// Adds the warning about an option that another one overrides.
    fn warn(&mut self, dropped: &str, by: &str) {
        let exclusive = format!("options {dropped} and {by} are mutually exclusive");
        self.warnings += &format!("xargs: warning: {exclusive}, ignoring previous {dropped} value\n");
    }
}

/// Parses a number as C's `strtol` does: with blanks and a sign before it.
fn parse_number(text: &str, option: char, least: i64) -> std::result::Result<usize, ExecResult> {
    let trimmed = text.trim_start();
    let (negative, digits) = match trimmed.as_bytes().first() {
        Some(b'-') => (true, &trimmed[1..]),
        Some(b'+') => (false, &trimmed[1..]),
        _ => (false, trimmed),
    };
    let decimal = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    let number = digits.parse::<i64>().ok().filter(|_| decimal);
    let Some(number) = number.map(|number| if negative { -number } else { number }) else {
        return Err(failure(format!("invalid number \"{text}\" for -{option} option")));
    };
    if number < least {
        return Err(failure(format!("value {text} for -{option} option should be >= {least}")));
    }
    Ok(usize::try_from(number).unwrap_or(usize::MAX))
}

/// Parses the number at the start of a text as C's `strtoul` does, and returns it with the rest.
fn leading_number(text: &str, base: u32) -> (u64, &str) {
    let trimmed = text.trim_start();
    let (negative, mut rest) = match trimmed.as_bytes().first() {
        Some(b'-') => (true, &trimmed[1..]),
        Some(b'+') => (false, &trimmed[1..]),
        _ => (false, trimmed),
    };
    if base == 16
        && (rest.starts_with("0x") || rest.starts_with("0X"))
        && rest[2..].starts_with(|character: char| character.is_ascii_hexdigit())
    {
        rest = &rest[2..];
    }
    let end = rest.find(|character: char| !character.is_digit(base)).unwrap_or(rest.len());
    if end == 0 {
        // Without a digit, all of the text remains.
        return (0, text);
    }
    let number = u64::from_str_radix(&rest[..end], base).unwrap_or(u64::MAX);
    (if negative { number.wrapping_neg() } else { number }, &rest[end..])
}

/// Parses a delimiter: a character, or an escape sequence of one.
pub(super) fn parse_delimiter(text: &str) -> std::result::Result<char, ExecResult> {
    let mut characters = text.chars();
    let escape = match (characters.next(), characters.next()) {
        (Some(character), None) => return Ok(character),
        (Some('\\'), Some(escape)) => escape,
        _ => {
            return Err(failure(format!(
                "Invalid input delimiter specification {text}: the delimiter must be either a single character or an escape sequence starting with \\."
            )));
        }
    };
    let (digits, base) = match escape {
        'a' => return Ok('\x07'),
        'b' => return Ok('\x08'),
        'f' => return Ok('\x0c'),
        'n' => return Ok('\n'),
        'r' => return Ok('\r'),
        't' => return Ok('\t'),
        'v' => return Ok('\x0b'),
        '\\' => return Ok('\\'),
        'x' => (&text[2..], 16),
        digit if digit.is_ascii_digit() => (&text[1..], 8),
        _ => {
            let message = format!("Invalid escape sequence {text} in input delimiter specification.");
            return Err(failure(message));
        }
    };
    let (value, rest) = leading_number(digits, base);
    let Ok(value) = u8::try_from(value) else {
        let largest = if base == 16 { "0xff" } else { "0377" };
        return Err(failure(format!(
            "Invalid escape sequence {text} in input delimiter specification; character values must not exceed {largest}."
        )));
    };
    if !rest.is_empty() {
        return Err(failure(format!(
            "Invalid escape sequence {text} in input delimiter specification; trailing characters {rest} not recognised."
        )));
    }
    Ok(char::from(value))
}
