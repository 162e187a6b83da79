//! Parts of a line.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use super::options::CutOptions;
use super::range_list::PositionUnit;

/// Adds the selected parts of a line and its terminator.
pub(super) fn push_parts(options: &CutOptions, line: &[u8], output: &mut Vec<u8>) {
    match options.unit {
        PositionUnit::Bytes => push_bytes(options, line, output),
        PositionUnit::Fields if line.contains(&options.delimiter) => push_fields(options, line, output),
        PositionUnit::Fields if options.only_delimited => return,
        PositionUnit::Fields => output.extend_from_slice(line),
    }
    output.push(options.terminator);
}

fn push_bytes(options: &CutOptions, line: &[u8], output: &mut Vec<u8>) {
    let pieces = options.selected.0.iter().map_while(|(start, end)| line.get(start - 1..line.len().min(*end)));
    for (index, piece) in pieces.take_while(|piece| !piece.is_empty()).enumerate() {
        if let Some(delimiter) = options.output_delimiter.as_ref().filter(|_| index > 0) {
            output.extend_from_slice(delimiter);
        }
        output.extend_from_slice(piece);
    }
}

fn push_fields(options: &CutOptions, line: &[u8], output: &mut Vec<u8>) {
    let delimiter = [options.delimiter];
    let delimiter = options.output_delimiter.as_deref().unwrap_or(&delimiter);
    let mut ranges = options.selected.0.iter().peekable();
    let mut is_first = true;
    for (index, field) in line.split(|byte| *byte == options.delimiter).enumerate() {
        let position = index + 1;
        while ranges.next_if(|(_, end)| *end < position).is_some() {}
        match ranges.peek() {
            None => break,
            Some((start, _)) if *start > position => continue,
            Some(_) => {}
        }
        if !std::mem::take(&mut is_first) {
            output.extend_from_slice(delimiter);
        }
        output.extend_from_slice(field);
    }
}
