//! Output of `printf`, with bash's parsing of formats, escapes and operands (`builtins/printf.def` of bash 5.2).
//!
//! Important decision: directives are parsed here, so that each is read once and parsing stops where bash stops. uucore
//! formats directives that need its digits (`%e %f %g %a`) and its quoting (`%q`).

use std::ffi::OsString;
use std::ops::ControlFlow;

use bashkit::PlacedMessages;
use bashkit::builtins::generated::format::{FormatArgument, FormatArguments, parse_spec_and_escape};
use bashkit::builtins::generated::format_support::collect_diagnostics;

use crate::commands::long_double::LongDouble;
use crate::commands::padding::MAX_FORMAT_WIDTH;

/// Bytes of messages, behind which there are no more.
const MAX_MESSAGE_BYTES: usize = 1_024;

/// Function that formats a time. Parameters: the seconds since the epoch (`None` means now), and the format.
pub(super) type TimeFormatter<'a> = &'a mut dyn FnMut(Option<i64>, &str) -> std::result::Result<String, String>;

/// Result of a call of `printf`.
#[derive(Default)]
pub(super) struct Rendered {
    pub(crate) bytes: Vec<u8>,
    pub(crate) stderr: PlacedMessages,
    /// True if an operand was not a number or the format is invalid.
    pub(crate) failed: bool,
    /// Variables of `%n`, with the number of bytes before it.
    pub(crate) counts: Vec<(String, usize)>,
}

/// Formats `operands` according to `format`, which is repeated while operands are left.
pub(super) fn render(format: &str, operands: &[String], time: TimeFormatter<'_>) -> Rendered {
    let mut printer = Printer { operands, next: 0, time, rendered: Rendered::default() };
    while printer.pass(format).is_continue() {
        if printer.next == 0 || printer.next >= operands.len() {
            break;
        }
    }
    printer.rendered
}

/// Directive without its conversion: `%-5.*`.
#[derive(Default)]
struct Directive<'a> {
    flags: &'a str,
    width: usize,
    left: bool,
    precision: Option<usize>,
}

impl Directive<'_> {
    fn has(&self, flag: char) -> bool {
        self.flags.contains(flag)
    }

    /// Pads bytes with blanks.
    fn pad(&self, bytes: &[u8], out: &mut Vec<u8>) {
        let fill = self.width.saturating_sub(bytes.len());
        let (before, after) = if self.left { (0, fill) } else { (fill, 0) };
        out.resize(out.len() + before, b' ');
        out.extend_from_slice(bytes);
        out.resize(out.len() + after, b' ');
    }

    /// Writes the digits of an integer with its sign or `0x`, padded as in C.
    fn integer(&self, prefix: &str, digits: &str, out: &mut Vec<u8>) {
        let zeros = match self.precision {
            Some(0) if digits == "0" => return self.pad(prefix.as_bytes(), out),
            Some(precision) => precision.saturating_sub(digits.len()),
            None if self.has('0') && !self.left => self.width.saturating_sub(prefix.len() + digits.len()),
            None => 0,
        };
        self.pad(format!("{prefix}{}{digits}", "0".repeat(zeros)).as_bytes(), out);
    }
}

struct Printer<'a> {
    operands: &'a [String],
    next: usize,
    time: TimeFormatter<'a>,
    rendered: Rendered,
}

/// Continues with the format at this byte, or ends the command.
type Step = ControlFlow<(), usize>;

impl Printer<'_> {
    fn pass(&mut self, format: &str) -> ControlFlow<()> {
        let bytes = format.as_bytes();
        let mut at = 0;
        while let Some(&byte) = bytes.get(at) {
            at = match byte {
                b'\\' => {
                    let mut out = std::mem::take(&mut self.rendered.bytes);
                    let read = self.escape(&bytes[at + 1..], false, &mut out);
                    self.rendered.bytes = out;
                    at + 1 + read.unwrap_or_default()
                }
                b'%' if bytes.get(at + 1) == Some(&b'%') => {
                    self.rendered.bytes.push(b'%');
                    at + 2
                }
                b'%' => self.directive(format, at)?,
                _ => {
                    let literal = format.get(at..).and_then(|rest| rest.chars().next());
                    let length = literal.map_or(1, char::len_utf8);
                    match format.get(at..at + length) {
                        Some(literal) => self.rendered.bytes.extend_from_slice(&bashkit::bytes_of(literal)),
                        None => self.rendered.bytes.push(byte),
                    }
                    at + length
                }
            };
        }
        ControlFlow::Continue(())
    }

    /// Parses an escape after a backslash (`tescape`), and returns its length in bytes. `None` ends the command: `\c`
    /// in an operand.
    fn escape(&mut self, rest: &[u8], is_operand: bool, out: &mut Vec<u8>) -> Option<usize> {
        let plain = match rest.first() {
            Some(b'a') => 7,
            Some(b'b') => 8,
            Some(b'e' | b'E') => 27,
            Some(b'f') => 12,
            Some(b'n') => b'\n',
            Some(b'r') => b'\r',
            Some(b't') => b'\t',
            Some(b'v') => 11,
            Some(b'\\') => b'\\',
            Some(quote @ (b'\'' | b'"' | b'?')) if !is_operand => *quote,
            Some(b'c') if is_operand => return None,
            Some(first @ b'0'..=b'7') => {
                let most = if *first == b'0' && is_operand { 4 } else { 3 };
                let (value, read) = digits(rest, 8, most);
                out.push((value & 0xff) as u8);
                return Some(read);
            }
            Some(kind @ (b'x' | b'u' | b'U')) => return Some(self.hexadecimal(*kind, &rest[1..], out)),
            _ => {
                out.push(b'\\');
                return Some(0);
            }
        };
        out.push(plain);
        Some(1)
    }

    fn hexadecimal(&mut self, kind: u8, rest: &[u8], out: &mut Vec<u8>) -> usize {
        let (most, what) = match kind {
            b'x' => (2, "hex"),
            b'u' => (4, "unicode"),
            _ => (8, "unicode"),
        };
        let (value, read) = digits(rest, 16, most);
        if read == 0 {
            let kind = char::from(kind);
            self.complain(&format!("missing {what} digit for \\{kind}"));
            out.push(b'\\');
            return 0;
        }
        if kind == b'x' {
            out.push(value as u8);
        } else {
            push_utf8(value, out);
        }
        read + 1
    }

    /// Prints the directive that begins at `start`.
    fn directive(&mut self, format: &str, start: usize) -> Step {
        let bytes = format.as_bytes();
        let mut directive = Directive::default();
        let mut at = start + 1;
        let flags = at;
        at += span(&bytes[at..], b"#'-+ 0");
        directive.flags = &format[flags..at];
        directive.left = directive.has('-');
        let width = self.number(bytes, &mut at);
        directive.left |= width < 0;
        directive.width = self.within("width", width)?;
        if bytes.get(at) == Some(&b'.') {
            at += 1;
            let negative = bytes.get(at) == Some(&b'-');
            at += usize::from(negative);
            let precision = self.number(bytes, &mut at);
            if precision >= 0 && !negative {
                directive.precision = Some(self.within("precision", precision)?);
            }
        }
        at += span(&bytes[at..], b"hjlLtz");
        let Some(conversion) = format[at..].chars().next() else {
            return self.stop(&format!("`{}': missing format character", &format[start..]));
        };
        at += conversion.len_utf8();
        match conversion {
            '(' => return Step::Continue(self.time(&directive, format, start, at)),
            'c' => {
                let operand = self.text();
                let first = bashkit::bytes_of(&operand).first().copied();
                directive.pad(&[first.unwrap_or(0)], &mut self.rendered.bytes);
            }
            's' => {
                let operand = self.text();
                self.pad_cut(&directive, &bashkit::bytes_of(&operand));
            }
            'b' => self.escaped(&directive)?,
            'q' | 'Q' => self.quoted(&directive, conversion),
            'd' | 'i' => self.signed(&directive),
            'u' | 'o' | 'x' | 'X' => self.unsigned(&directive, conversion),
            'e' | 'E' | 'f' | 'F' | 'g' | 'G' | 'a' | 'A' => self.float(&directive, conversion)?,
            'n' => self.count()?,
            _ => return self.stop(&format!("`{conversion}': invalid format character")),
        }
        Step::Continue(at)
    }

    /// Parses a width or a precision in the format, or in an operand for `*`.
    fn number(&mut self, bytes: &[u8], at: &mut usize) -> i64 {
        if bytes.get(*at) == Some(&b'*') {
            *at += 1;
            // As in bash, a `long` is truncated to an `int` if it is the last operand, and clamped otherwise.
            let value = self.long();
            let is_last = self.next >= self.operands.len();
            return if is_last {
                i64::from(value as i32)
            } else {
                value.clamp(i64::from(i32::MIN), i64::from(i32::MAX))
            };
        }
        let length = span(&bytes[*at..], b"0123456789");
        let value = bytes[*at..*at + length]
            .iter()
            .fold(0i64, |value, digit| value.saturating_mul(10).saturating_add(i64::from(digit - b'0')));
        *at += length;
        value
    }

    /// Checks a width or a precision, which determine the size of the output (THREAT[TM-DOS-110]).
    fn within(&mut self, what: &str, value: i64) -> ControlFlow<(), usize> {
        let value = usize::try_from(value.unsigned_abs()).unwrap_or(usize::MAX);
        if value > MAX_FORMAT_WIDTH {
            return self.stop(&format!("format {what} {value} exceeds limit {MAX_FORMAT_WIDTH}"));
        }
        ControlFlow::Continue(value)
    }

    fn pad_cut(&mut self, directive: &Directive<'_>, text: &[u8]) {
        let length = directive.precision.map_or(text.len(), |most| most.min(text.len()));
        directive.pad(&text[..length], &mut self.rendered.bytes);
    }

    /// Writes an operand with its escapes (`%b`).
    fn escaped(&mut self, directive: &Directive<'_>) -> ControlFlow<()> {
        let operand = self.text();
        let text = bashkit::bytes_of(&operand);
        let (mut out, mut at, mut flow) = (Vec::new(), 0, ControlFlow::Continue(()));
        while let Some(&byte) = text.get(at) {
            at += 1;
            if byte != b'\\' {
                out.push(byte);
                continue;
            }
            match self.escape(&text[at..], true, &mut out) {
                Some(read) => at += read,
                None => {
                    flow = ControlFlow::Break(());
                    break;
                }
            }
        }
        self.pad_cut(directive, &out);
        flow
    }

    /// Writes a quoted operand. `%q` truncates the quoted text, `%Q` the text before quoting.
    fn quoted(&mut self, directive: &Directive<'_>, conversion: char) {
        let mut operand = self.text();
        if conversion == 'Q' {
            if let Some(most) = directive.precision {
                operand.truncate(operand.floor_char_boundary(most));
            }
            let bytes = quote(&operand);
            return directive.pad(&bytes, &mut self.rendered.bytes);
        }
        let bytes = quote(&operand);
        self.pad_cut(directive, &bytes);
    }

    fn signed(&mut self, directive: &Directive<'_>) {
        let value = self.long();
        let sign = match value {
            ..0 => "-",
            _ if directive.has('+') => "+",
            _ if directive.has(' ') => " ",
            _ => "",
        };
        directive.integer(sign, &value.unsigned_abs().to_string(), &mut self.rendered.bytes);
    }

    fn unsigned(&mut self, directive: &Directive<'_>, conversion: char) {
        // A negative number wraps.
        let value = self.integer(-i128::from(u64::MAX), u64::MAX.into(), u64::MAX.into()) as u64;
        let alternative = directive.has('#') && value != 0;
        let (prefix, digits) = match conversion {
            // The first digit is a zero, even with a precision of 0.
            'o' if directive.has('#') && value == 0 => {
                let directive = Directive { precision: directive.precision.map(|least| least.max(1)), ..*directive };
                return directive.integer("", "0", &mut self.rendered.bytes);
            }
            'o' if directive.has('#') => ("", format!("0{value:o}")),
            'o' => ("", format!("{value:o}")),
            'x' => (if alternative { "0x" } else { "" }, format!("{value:x}")),
            'X' => (if alternative { "0X" } else { "" }, format!("{value:X}")),
            _ => ("", value.to_string()),
        };
        directive.integer(prefix, &digits, &mut self.rendered.bytes);
    }

    fn float(&mut self, directive: &Directive<'_>, conversion: char) -> ControlFlow<()> {
        let operand = self.text();
        let value = if let Some(code) = character_code(&operand) {
            code.to_string()
        } else {
            let trimmed = operand.trim_start();
            let length = float_length(trimmed);
            if length < trimmed.len() || (length == 0 && !operand.is_empty()) {
                self.refuse_number(&operand);
            }
            if length == 0 { "0".to_owned() } else { trimmed[..length].to_owned() }
        };
        // THREAT[TM-DOS-110]: an exponent requires as many digits.
        if let Some(at) = value.rfind(['e', 'E', 'p', 'P'])
            && let exponent = value[at + 1..].trim_start_matches(['+', '-']).parse().unwrap_or(usize::MAX)
            && exponent > MAX_FORMAT_WIDTH
            && value[at + 1..].ends_with(|last: char| last.is_ascii_digit())
        {
            return self.stop(&format!("format exponent {exponent} exceeds limit {MAX_FORMAT_WIDTH}"));
        }
        let value = match LongDouble::parse(&value) {
            // A number that is rounded to zero keeps its sign.
            Some(number) => match (value.starts_with('-'), number.decimal_text()) {
                (true, digits) if !digits.starts_with('-') => format!("-{digits}"),
                (_, digits) => digits,
            },
            None => value,
        };
        let flags: String = directive.flags.chars().filter(|flag| !"'-".contains(*flag)).collect();
        let left = if directive.left { "-" } else { "" };
        let width = if directive.width == 0 { String::new() } else { directive.width.to_string() };
        let precision = directive.precision.map_or_else(String::new, |precision| format!(".{precision}"));
        let bytes = by_library(&format!("%{flags}{left}{width}{precision}{conversion}"), &value);
        self.rendered.bytes.extend_from_slice(&bytes);
        ControlFlow::Continue(())
    }

    /// Writes `%(FORMAT)T`, whose format begins at `open`. Returns the position after it.
    fn time(&mut self, directive: &Directive<'_>, format: &str, start: usize, open: usize) -> usize {
        let mut depth = 1;
        let close = format[open..].bytes().position(|byte| {
            depth += i32::from(byte == b'(') - i32::from(byte == b')');
            depth == 0
        });
        let Some(close) = close.map(|length| open + length).filter(|close| format[close + 1..].starts_with('T')) else {
            let next = close.and_then(|length| format[open + length + 1..].chars().next());
            let next = next.map_or_else(String::new, |next| next.to_string());
            self.tell(&format!("bash: printf: warning: `{next}': invalid time format specification\n"));
            self.rendered.bytes.push(b'%');
            return start + 1;
        };
        let seconds = match self.next < self.operands.len() {
            true => self.long(),
            false => -1,
        };
        let format = if close == open { "%X" } else { &format[open..close] };
        let moment = (!matches!(seconds, -1 | -2)).then_some(seconds);
        match (self.time)(moment, format) {
            // bash formats into 128 bytes: a longer result prints nothing.
            Ok(text) if text.len() < 128 => self.pad_cut(directive, text.as_bytes()),
            Ok(_) => self.pad_cut(directive, b""),
            Err(error) => {
                self.complain(error.trim_start_matches("printf: "));
                self.rendered.failed = true;
            }
        }
        close + 2
    }

    /// Sets a variable to the number of bytes so far (`%n`).
    fn count(&mut self) -> ControlFlow<()> {
        let name = self.text();
        if name.is_empty() {
            return ControlFlow::Continue(());
        }
        if !bashkit::interpreter::is_valid_var_name(&name) {
            return self.stop(&format!("`{name}': not a valid identifier"));
        }
        self.rendered.counts.push((name, self.rendered.bytes.len()));
        ControlFlow::Continue(())
    }

    fn text(&mut self) -> String {
        let operand = self.operands.get(self.next).cloned().unwrap_or_default();
        self.next += 1;
        operand
    }

    fn long(&mut self) -> i64 {
        self.integer(i64::MIN.into(), i64::MAX.into(), i64::MIN.into()) as i64
    }

    /// Returns an operand as an integer, parsed like `strtol` with base 0. A value below `least` becomes `below`. A
    /// value above `most` becomes `most`.
    fn integer(&mut self, least: i128, most: i128, below: i128) -> i128 {
        let operand = self.text();
        if let Some(code) = character_code(&operand) {
            return i128::from(code);
        }
        let (value, length) = integer_prefix(&operand);
        if length < operand.len() {
            self.refuse_number(&operand);
        } else if value < least || value > most {
            let shown = shown(&operand);
            self.tell(&format!("bash: printf: warning: {shown}: Numerical result out of range\n"));
        }
        if value < least { below } else { value.min(most) }
    }

    fn refuse_number(&mut self, operand: &str) {
        let what = match operand.as_bytes() {
            [b'0', b'0'..=b'9', ..] => "octal ",
            [b'0', b'x', ..] => "hex ",
            _ => "",
        };
        self.complain(&format!("{}: invalid {what}number", shown(operand)));
        self.rendered.failed = true;
    }

    fn complain(&mut self, message: &str) {
        if self.rendered.stderr.len() < MAX_MESSAGE_BYTES {
            self.tell(&format!("bash: printf: {message}\n"));
        }
    }

    /// Writes to standard error. bash has written whole lines of the output by then.
    fn tell(&mut self, message: &str) {
        let lines = self.rendered.bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |last| last + 1);
        self.rendered.stderr.push(message, lines);
    }

    fn stop<T>(&mut self, message: &str) -> ControlFlow<(), T> {
        self.complain(&shown(message));
        self.rendered.failed = true;
        ControlFlow::Break(())
    }
}

/// Returns the beginning of a text that may be long.
fn shown(text: &str) -> String {
    match text.char_indices().nth(MAX_MESSAGE_BYTES / 2) {
        Some((at, _)) => format!("{}...", &text[..at]),
        None => text.to_owned(),
    }
}

/// Returns the number of bytes at the beginning that are in the set.
fn span(bytes: &[u8], set: &[u8]) -> usize {
    bytes.iter().take_while(|byte| set.contains(byte)).count()
}

/// Returns the value of at most this number of digits, and the number of digits.
fn digits(bytes: &[u8], radix: u32, most: usize) -> (u32, usize) {
    let values = bytes.iter().take(most).map_while(|byte| char::from(*byte).to_digit(radix));
    values.fold((0, 0), |(value, read), digit| (value * radix + digit, read + 1))
}

/// Appends UTF-8 as bash writes it: values that are not code points too, in up to six bytes as in the original
/// encoding.
fn push_utf8(value: u32, out: &mut Vec<u8>) {
    let length = match value {
        0..=0x7f => return out.push(value as u8),
        0x80..=0x7ff => 2,
        0x800..=0xffff => 3,
        0x1_0000..=0x1f_ffff => 4,
        0x20_0000..=0x3ff_ffff => 5,
        0x400_0000..=0x7fff_ffff => 6,
        _ => return,
    };
    let lead = !(0xff_u32 >> length) & 0xff;
    out.push((lead | (value >> (6 * (length - 1)))) as u8);
    (0..length - 1).rev().for_each(|part| out.push((0x80 | (value >> (6 * part)) & 0x3f) as u8));
}

/// Returns the code of the character after a quote: `'A` is 65.
fn character_code(operand: &str) -> Option<u32> {
    let rest = operand.strip_prefix(['\'', '"'])?;
    let first = rest.chars().next();
    Some(first.map_or(0, |c| bashkit::stream::byte_of_character(c).map_or(u32::from(c), u32::from)))
}

/// Returns the integer that `strtol` reads with base 0, and its number of bytes. Without a digit these are 0 and no
/// bytes. An empty text is consumed entirely.
fn integer_prefix(text: &str) -> (i128, usize) {
    let trimmed = text.trim_start_matches([' ', '\t', '\n', '\r', '\x0b', '\x0c']);
    let unsigned = trimmed.strip_prefix(['-', '+']).unwrap_or(trimmed);
    let bytes = unsigned.as_bytes();
    let (radix, digits) = match bytes {
        [b'0', b'x' | b'X', digit, ..] if digit.is_ascii_hexdigit() => (16, &bytes[2..]),
        [b'0', ..] => (8, bytes),
        _ => (10, bytes),
    };
    let (mut value, mut read) = (0i128, 0);
    for digit in digits.iter().map_while(|byte| char::from(*byte).to_digit(radix)) {
        value = (value * i128::from(radix) + i128::from(digit)).min(i128::from(u64::MAX) + 1);
        read += 1;
    }
    if read == 0 {
        return (0, 0);
    }
    let before = text.len() - unsigned.len() + (bytes.len() - digits.len());
    (if trimmed.starts_with('-') { -value } else { value }, before + read)
}

/// Returns the number of bytes that `strtold` reads.
fn float_length(text: &str) -> usize {
    let bytes = text.as_bytes();
    let sign = usize::from(matches!(bytes.first(), Some(b'-' | b'+')));
    let rest = text[sign..].to_ascii_lowercase();
    for word in ["infinity", "inf", "nan"] {
        if rest.starts_with(word) {
            return sign + word.len();
        }
    }
    let rest = rest.as_bytes();
    let (start, set, mark) = match rest {
        [b'0', b'x', digit, ..] if digit.is_ascii_hexdigit() || *digit == b'.' => (2, &b"0123456789abcdef"[..], b'p'),
        _ => (0, &b"0123456789"[..], b'e'),
    };
    let whole = span(&rest[start..], set);
    let mut at = start + whole;
    let mut fraction = 0;
    if rest.get(at) == Some(&b'.') {
        fraction = span(&rest[at + 1..], set);
        if whole + fraction > 0 {
            at += 1 + fraction;
        }
    }
    if whole + fraction == 0 {
        return if start == 2 { sign + 1 } else { 0 };
    }
    if rest.get(at) == Some(&mark) {
        let signed = usize::from(matches!(rest.get(at + 1), Some(b'-' | b'+')));
        let exponent = span(&rest[at + 1 + signed..], b"0123456789");
        if exponent > 0 {
            at += 1 + signed + exponent;
        }
    }
    sign + at
}

/// Returns an operand in the form of `%q`.
fn quote(operand: &str) -> Vec<u8> {
    if bashkit::has_raw_bytes(operand) {
        return bashkit::interpreter::ansic_quote(operand).into_bytes();
    }
    by_library("%q", operand)
}

/// Formats one operand with a directive of uucore. An operand that uucore rejects prints nothing.
fn by_library(directive: &str, operand: &str) -> Vec<u8> {
    let values = [FormatArgument::Unparsed(OsString::from(operand))];
    let mut arguments = FormatArguments::new(&values);
    let mut out = Vec::new();
    let (_, _) = collect_diagnostics(|| {
        for item in parse_spec_and_escape(directive.as_bytes()).flatten() {
            let _ = item.write(&mut out, &mut arguments);
        }
    });
    out
}
