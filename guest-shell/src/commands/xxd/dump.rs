//! Formatting of dumps: lines with addresses, digits only, or an array of C.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use super::options::XxdOptions;
use crate::commands::byte_text::printable_or_dot;

/// Returns the dump of the contents of a file.
pub(super) fn dump(options: &XxdOptions, data: &[u8], start: usize, file: &str) -> String {
    let data = options.dumped_part(data, start);
    if options.include {
        array(options, data, Some(file).filter(|file| *file != "-"))
    } else if options.plain {
        plain(options, data)
    } else {
        lines(options, data, start)
    }
}

fn plain(options: &XxdOptions, data: &[u8]) -> String {
    let columns = match options.plain_columns() {
        0 => data.len().max(1),
        columns => columns,
    };
    let lines = data.chunks(columns);
    lines.map(|line| line.iter().map(|byte| digits(options, *byte)).collect::<String>() + "\n").collect()
}

/// Returns the bytes as an array of C, with a declaration if it has a name.
fn array(options: &XxdOptions, data: &[u8], file: Option<&str>) -> String {
    let element = |byte: &u8| if options.upper_case { format!("0X{byte:02X}") } else { format!("0x{byte:02x}") };
    let line = |bytes: &[u8]| format!("  {}", bytes.iter().map(element).collect::<Vec<_>>().join(", "));
    let mut body = data.chunks(options.array_columns()).map(line).collect::<Vec<_>>().join(",\n");
    if !body.is_empty() {
        body.push('\n');
    }
    let Some(name) = options.name.as_deref().or(file) else {
        return body;
    };
    let name = identifier(name);
    let (name, length) = match options.capitalize {
        true => (name.to_ascii_uppercase(), "LEN"),
        false => (name, "len"),
    };
    format!("unsigned char {name}[] = {{\n{body}}};\nunsigned int {name}_{length} = {};\n", data.len())
}

fn identifier(name: &str) -> String {
    let mut name = name.replace(|character: char| !character.is_ascii_alphanumeric(), "_");
    if name.starts_with(|character: char| character.is_ascii_digit()) {
        name.insert_str(0, "__");
    }
    name
}

fn lines(options: &XxdOptions, data: &[u8], start: usize) -> String {
    let columns = options.line_columns();
    let usual_group = match (options.bits, options.little_endian) {
        (true, _) => 1,
        (false, true) => 4,
        (false, false) => 2,
    };
    let group = match options.group.unwrap_or(usual_group) {
        0 => columns,
        group => group.min(columns),
    };
    let mut output = ZeroSkipper::new(options.skips_zeros);
    for (index, line) in data.chunks(columns).enumerate() {
        let position = start as u64 + (index * columns) as u64;
        let address = position.wrapping_add_signed(options.displacement);
        let mut text = match options.decimal_addresses {
            true => format!("{address:08}:"),
            false => format!("{address:08x}:"),
        };
        for first in (0..columns).step_by(group) {
            text.push(' ');
            push_group(options, &mut text, line, first, group.min(columns - first));
        }
        text.push_str("  ");
        text.extend(line.iter().map(|byte| printable_or_dot(*byte)));
        text.push('\n');
        let is_zero = line.len() == columns && line.iter().all(|byte| *byte == 0);
        output.push(text, is_zero);
    }
    output.finish()
}

/// Output in which a `*` stands for lines of zeros between the first of them and the next other line, or the last line.
struct ZeroSkipper {
    is_active: bool,
    output: String,
    /// Number of lines of zeros at the end, of which the first is in the output.
    zero_lines: usize,
    /// Last line of zeros.
    last_zero_line: String,
    /// Second line of zeros, which is shown if it is alone.
    second_zero_line: String,
}

impl ZeroSkipper {
    fn new(is_active: bool) -> Self {
        let (output, last_zero_line, second_zero_line) = Default::default();
        Self { is_active, output, zero_lines: 0, last_zero_line, second_zero_line }
    }

    fn push(&mut self, line: String, is_zero: bool) {
        if is_zero && self.is_active {
            self.zero_lines += 1;
            match self.zero_lines {
                1 => self.output.push_str(&line),
                2 => self.second_zero_line.clone_from(&line),
                _ => {}
            }
            self.last_zero_line = line;
            return;
        }
        self.flush(self.zero_lines);
        self.output.push_str(&line);
        self.zero_lines = 0;
    }

    /// Adds what stands for a number of lines of zeros behind the first.
    fn flush(&mut self, lines: usize) {
        match lines {
            0 | 1 => {}
            2 => self.output.push_str(&self.second_zero_line),
            _ => self.output.push_str("*\n"),
        }
    }

    fn finish(mut self) -> String {
        // The last line is always shown.
        if self.zero_lines > 1 {
            self.flush(self.zero_lines - 1);
            self.output.push_str(&self.last_zero_line);
        }
        self.output
    }
}

/// Adds the digits of a group of bytes, and spaces for missing bytes of the last line.
fn push_group(options: &XxdOptions, output: &mut String, line: &[u8], first: usize, width: usize) {
    let digit_count = if options.bits { 8 } else { 2 };
    for place in 0..width {
        let index = first + if options.little_endian { width - 1 - place } else { place };
        match line.get(index) {
            Some(byte) => output.push_str(&digits(options, *byte)),
            None => output.extend(std::iter::repeat_n(' ', digit_count)),
        }
    }
}

fn digits(options: &XxdOptions, byte: u8) -> String {
    if options.bits {
        format!("{byte:08b}")
    } else if options.upper_case {
        format!("{byte:02X}")
    } else {
        format!("{byte:02x}")
    }
}
