//! Blocks of a dump.

use super::format::{DumpFormat, FormatUnit, block_size};
use super::options::HexdumpOptions;

/// Returns the dump of the contents of all files.
pub(super) fn dump(data: &[u8], options: &HexdumpOptions, formats: Vec<DumpFormat>) -> Vec<u8> {
    let skipped = options.offset.min(data.len());
    let data = &data[skipped..];
    let data = &data[..data.len().min(options.length.unwrap_or(data.len()))];
    let block = block_size(&formats);
    let mut output = Vec::new();
    if block == 0 {
        // Formats without conversions have no block to show.
        return output;
    }
    let mut previous: Option<&[u8]> = None;
    let mut in_duplicates = false;
    for (index, bytes) in data.chunks(block).enumerate() {
        if previous == Some(bytes) && !options.verbose {
            if !in_duplicates {
                output.extend_from_slice(b"*\n");
            }
            in_duplicates = true;
            continue;
        }
        (previous, in_duplicates) = (Some(bytes), false);
        for format in &formats {
            push_block(&mut output, skipped + index * block, bytes, format);
        }
    }
    let end = skipped + data.len();
    let last = formats.iter().flat_map(|format| &format.units).rfind(|unit| unit.is_last());
    if let Some(last) = last.filter(|_| end > 0) {
        push_end(&mut output, end, last);
    }
    output
}

/// Adds a block in one format.
fn push_block(output: &mut Vec<u8>, start: usize, bytes: &[u8], format: &DumpFormat) {
    let mut at = 0;
    for unit in &format.units {
        // Units behind that of the end are not shown either.
        if unit.is_last() {
            break;
        }
        for repetition in 1..=unit.count {
            for piece in &unit.pieces {
                let shortened = piece.drops_blank && repetition == unit.count;
                output.extend_from_slice(&piece.text[..piece.text.len() - usize::from(shortened)]);
                let Some(conversion) = &piece.conversion else { continue };
                match bytes.get(at..).filter(|rest| !rest.is_empty()) {
                    Some(rest) => output.extend(conversion.text(start + at, rest)),
                    None => output.extend(conversion.blanks()),
                }
                at += conversion.bytes;
            }
        }
    }
}

/// Adds the unit that ends a dump.
fn push_end(output: &mut Vec<u8>, end: usize, unit: &FormatUnit) {
    for piece in &unit.pieces {
        output.extend_from_slice(&piece.text);
        if let Some(conversion) = &piece.conversion {
            output.extend(conversion.text(end, &[]));
        }
    }
}
