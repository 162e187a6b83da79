//! Conversion of a dump to bytes (`-r`).
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use super::options::XxdOptions;

/// Largest size of the result: an address may be arbitrary.
const MAX_REVERTED: usize = 64 << 20;

/// Returns the bytes of a dump. Gaps between addresses are filled with zeros.
pub(super) fn revert(options: &XxdOptions, dump: &[u8]) -> Vec<u8> {
    let text = String::from_utf8_lossy(dump);
    if options.plain {
        return plain_bytes(&text);
    }
    let mut output = Vec::new();
    for line in text.lines() {
        let Some((address, rest)) = line.trim_start().split_once(':') else {
            continue;
        };
        let address = usize::from_str_radix(address, 16).ok();
        let Some(address) = address.and_then(|address| options.reverted_address(address)) else {
            continue;
        };
        let bytes = line_bytes(options, rest);
        let end = address.saturating_add(bytes.len());
        if end > MAX_REVERTED {
            break;
        }
        if output.len() < end {
            output.resize(end, 0);
        }
        output[address..end].copy_from_slice(&bytes);
    }
    output
}

/// Returns the bytes of a line after its address. The text column follows two spaces.
fn line_bytes(options: &XxdOptions, line: &str) -> Vec<u8> {
    let (radix, digit_count) = if options.bits { (2, 8) } else { (16, 2) };
    let mut digits = String::new();
    let mut bytes = Vec::new();
    let mut after_space = false;
    for character in line.chars() {
        if character.is_digit(radix) {
            after_space = false;
            digits.push(character);
            if digits.len() == digit_count {
                bytes.push(u8::from_str_radix(&std::mem::take(&mut digits), radix).unwrap_or(0));
            }
        } else if character != ' ' || after_space {
            break;
        } else {
            after_space = true;
        }
        if bytes.len() == options.line_columns() {
            break;
        }
    }
    bytes
}

/// Returns the bytes of hexadecimal digits. Other characters and an incomplete byte at the end are ignored.
fn plain_bytes(text: &str) -> Vec<u8> {
    let digits: Vec<u8> = text.chars().filter_map(|character| Some(character.to_digit(16)? as u8)).collect();
    digits.as_chunks::<2>().0.iter().map(|[high, low]| high << 4 | low).collect()
}
