//! Formatting of dumps: lines with addresses, digits only, or an array of C.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use super::options::XxdOptions;
use crate::commands::byte_text::printable_or_dot;

/// Returns the dump of the contents of a file.
pub(super) fn dump(options: &XxdOptions, data: &[u8], file: &str) -> String {
    let data = options.dumped_part(data);
    if options.include {
        array(options, data, Some(file).filter(|file| *file != "-"))
    } else if options.plain {
        plain(options, data)
    } else {
        lines(options, data)
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
    format!("unsigned char {name}[] = {{\n{body}}};\nunsigned int {name}_len = {};\n", data.len())
}

fn identifier(name: &str) -> String {
    let mut name = name.replace(|character: char| !character.is_ascii_alphanumeric(), "_");
    if name.starts_with(|character: char| character.is_ascii_digit()) {
        name.insert_str(0, "__");
    }
    name
}

fn lines(options: &XxdOptions, data: &[u8]) -> String {
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
    let mut output = String::new();
    for (index, line) in data.chunks(columns).enumerate() {
        let address = options.offset + index * columns;
        output.push_str(&match options.decimal_addresses {
            true => format!("{address:08}:"),
            false => format!("{address:08x}:"),
        });
        for first in (0..columns).step_by(group) {
            output.push(' ');
            push_group(options, &mut output, line, first, group.min(columns - first));
        }
        output.push_str("  ");
        output.extend(line.iter().map(|byte| printable_or_dot(*byte)));
        output.push('\n');
    }
    output
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
