//! Options of the command line.

use crate::commands::option_parser::gnu_getopt;
use bashkit::ExecResult;
use bashkit::builtins::arg_parser::{OptArg, ParsedOpt};

use crate::commands::records;

type Parsed<T> = Result<T, ExecResult>;

/// Separator of the fields of a line.
pub(super) enum FieldSeparator {
    /// Runs of blanks, of which those at the start of a line do not count.
    Blanks,
    /// Absence of a separator, in which case a line is one field.
    WholeLine,
    Text(Vec<u8>),
}

/// Field of a joined line.
#[derive(Clone, Copy)]
pub(super) enum OutputField {
    Key,
    /// Index of a file, and of a field in its lines.
    OfFile(usize, usize),
}

/// Fields of joined lines.
pub(super) enum OutputFields {
    /// The key, and all other fields.
    All,
    /// Number of the fields in the first line of each file.
    Automatic,
    Listed(Vec<OutputField>),
}

/// Rule by which the order of lines is checked.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum OrderCheck {
    /// Lines are checked that are read once a line had no partner.
    BehindUnpaired,
    Always,
    Never,
}

/// Options of one call.
pub(super) struct JoinOptions {
    /// Index of the key among the fields of each file.
    pub(super) join_fields: [usize; 2],
    pub(super) separator: FieldSeparator,
    pub(super) output_separator: Vec<u8>,
    pub(super) output: OutputFields,
    pub(super) prints_unpaired: [bool; 2],
    pub(super) prints_paired: bool,
    /// Text in place of empty fields.
    pub(super) filler: Vec<u8>,
    pub(super) ignores_case: bool,
    pub(super) has_header: bool,
    pub(super) order_check: OrderCheck,
    /// Byte that ends each line.
    pub(super) line_end: u8,
}

impl JoinOptions {
    /// Reads a command line. The error is the result of a wrong call.
    pub(super) fn parse(words: &[String]) -> Parsed<(Self, [String; 2])> {
        let (mut given, mut operands) = split(words)?;
        if operands.len() > 2 {
            (given, operands) = split(&without_old_forms(words))?;
        }
        let mut draft = Draft::default();
        for option in given {
            draft.take(option)?;
        }
        let names = match <[String; 2]>::try_from(operands) {
            Ok(names) if names.iter().all(|name| name == "-") => {
                return Err(failure("both files cannot be standard input"));
            }
            Ok(names) => names,
            Err(operands) => return Err(wrong_operands(&operands)),
        };
        Ok((draft.finish(), names))
    }
}

fn split(words: &[String]) -> Parsed<(Vec<ParsedOpt>, Vec<String>)> {
    let long = [
        ("ignore-case", OptArg::No, 'i'),
        ("check-order", OptArg::No, 'c'),
        ("nocheck-order", OptArg::No, 'n'),
        ("zero-terminated", OptArg::No, 'z'),
        ("header", OptArg::No, 'h'),
    ];
    gnu_getopt("join", words, "a:e:i1:2:j:o:t:v:z", &long, true, 1)
}

/// Replaces the forms of the time before POSIX by today's: `-j1 FIELD`, `-j2 FIELD`, and more words of a format behind
/// the one of `-o`.
fn without_old_forms(words: &[String]) -> Vec<String> {
    let is_number = |word: &String| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit());
    let is_format = |word: &String| word.split(',').all(|field| parse_output_field(field).is_ok());
    let mut modern = Vec::with_capacity(words.len());
    let mut words = words.iter().peekable();
    while let Some(word) = words.next() {
        match word.as_str() {
            "-j1" | "-j2" if words.peek().is_some_and(|next| is_number(next)) => {
                modern.push(format!("-{}", &word[2..]))
            }
            "-o" => {
                modern.push(word.clone());
                modern.extend(words.next().cloned());
                while let Some(field) = words.next_if(|next| is_format(next)) {
                    modern.extend([word.clone(), field.clone()]);
                }
            }
            _ => modern.push(word.clone()),
        }
    }
    modern
}

fn wrong_operands(operands: &[String]) -> ExecResult {
    let message = match operands {
        [] => "missing operand".to_owned(),
        [only] => format!("missing operand after '{only}'"),
        [_, _, extra, ..] => format!("extra operand '{extra}'"),
        [_, _] => "wrong operands".to_owned(),
    };
    failure(&format!("{message}\nTry 'join --help' for more information."))
}

fn failure(message: &str) -> ExecResult {
    ExecResult::err(format!("join: {message}\n"), 1)
}

/// Options that have been read so far.
#[derive(Default)]
struct Draft {
    join_fields: [Option<usize>; 2],
    separator: Option<String>,
    format: Vec<OutputField>,
    is_automatic: bool,
    prints_unpaired: [bool; 2],
    prints_only_unpaired: bool,
    filler: Option<String>,
    ignores_case: bool,
    has_header: bool,
    order_check: Option<OrderCheck>,
    zero_terminated: bool,
}

impl Draft {
    fn take(&mut self, option: ParsedOpt) -> Parsed<()> {
        let value = option.value.unwrap_or_default();
        match option.key {
            '1' => self.set_join_field(0, parse_field(&value)?)?,
            '2' => self.set_join_field(1, parse_field(&value)?)?,
            'j' => {
                let field = parse_field(&value)?;
                self.set_join_field(0, field)?;
                self.set_join_field(1, field)?;
            }
            'a' | 'v' => {
                self.prints_unpaired[parse_file_number(&value)?] = true;
                self.prints_only_unpaired |= option.key == 'v';
            }
            'e' if self.filler.as_ref().is_some_and(|filler| *filler != value) => {
                return Err(failure("conflicting empty-field replacement strings"));
            }
            'e' => self.filler = Some(value),
            'o' if value == "auto" => self.is_automatic = true,
            'o' => {
                for field in value.split([',', ' ', '\t']) {
                    self.format.push(parse_output_field(field)?);
                }
            }
            't' => self.set_separator(value)?,
            'i' => self.ignores_case = true,
            'z' => self.zero_terminated = true,
            'h' => self.has_header = true,
            'c' => self.order_check = Some(OrderCheck::Always),
            _ => self.order_check = Some(OrderCheck::Never),
        }
        Ok(())
    }

    fn set_join_field(&mut self, file: usize, field: usize) -> Parsed<()> {
        match self.join_fields[file].replace(field) {
            Some(before) if before != field => {
                Err(failure(&format!("incompatible join fields {}, {}", before + 1, field + 1)))
            }
            _ => Ok(()),
        }
    }

    fn set_separator(&mut self, value: String) -> Parsed<()> {
        let separator = if value == "\\0" { "\0".to_owned() } else { value };
        if separator.chars().count() > 1 {
            return Err(failure(&format!("multi-character tab '{separator}'")));
        }
        match self.separator.replace(separator.clone()) {
            Some(before) if before != separator => Err(failure("incompatible tabs")),
            _ => Ok(()),
        }
    }

    fn finish(self) -> JoinOptions {
        let (separator, output_separator) = match self.separator {
            None => (FieldSeparator::Blanks, b" ".to_vec()),
            Some(text) if matches!(&*text, "" | "\n") => (FieldSeparator::WholeLine, b"\n".to_vec()),
            Some(text) => {
                let bytes = bashkit::bytes_of(&text).into_owned();
                (FieldSeparator::Text(bytes.clone()), bytes)
            }
        };
        let output = match (self.is_automatic, self.format) {
            (true, _) => OutputFields::Automatic,
            (false, format) if format.is_empty() => OutputFields::All,
            (false, format) => OutputFields::Listed(format),
        };
        JoinOptions {
            join_fields: self.join_fields.map(Option::unwrap_or_default),
            separator,
            output_separator,
            output,
            prints_unpaired: self.prints_unpaired,
            prints_paired: !self.prints_only_unpaired,
            filler: bashkit::bytes_of(&self.filler.unwrap_or_default()).into_owned(),
            ignores_case: self.ignores_case,
            has_header: self.has_header,
            order_check: self.order_check.unwrap_or(OrderCheck::BehindUnpaired),
            line_end: records::separator(self.zero_terminated),
        }
    }
}

/// Returns the index of a field, given its number. A number that is too large is that of no field.
fn parse_field(value: &str) -> Parsed<usize> {
    let digits = value.strip_prefix('+').unwrap_or(value);
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) || digits.bytes().all(|byte| byte == b'0')
    {
        return Err(failure(&format!("invalid field number: '{value}'")));
    }
    Ok(digits.parse::<usize>().unwrap_or(usize::MAX) - 1)
}

fn parse_file_number(value: &str) -> Parsed<usize> {
    match value.parse::<usize>() {
        Ok(number @ (1 | 2)) => Ok(number - 1),
        _ => Err(failure(&format!("invalid field number: '{value}'"))),
    }
}

fn parse_output_field(text: &str) -> Parsed<OutputField> {
    let file = match text.as_bytes().first() {
        Some(b'0') if text.len() == 1 => return Ok(OutputField::Key),
        Some(b'1') => 0,
        Some(b'2') => 1,
        Some(b'0') => return Err(failure(&format!("invalid field specifier: '{text}'"))),
        _ => return Err(failure(&format!("invalid file number in field spec: '{text}'"))),
    };
    match text[1..].strip_prefix('.') {
        Some(field) => Ok(OutputField::OfFile(file, parse_field(field)?)),
        None => Err(failure(&format!("invalid field specifier: '{text}'"))),
    }
}
