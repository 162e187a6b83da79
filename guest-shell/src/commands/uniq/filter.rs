//! Groups of adjacent equal lines, and the selection of lines that are printed.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use super::options::{GroupParting, UniqOptions};
use crate::commands::records::{records, separator};

/// Returns the output for an input text.
pub(super) fn filter(options: &UniqOptions, text: &[u8]) -> Vec<u8> {
    let separator = separator(options.zero_terminated);
    let parting = options.group.or(options.all_repeated).unwrap_or(GroupParting::Never);
    let lines: Vec<&[u8]> = records(text, separator).collect();
    let mut output = Vec::new();
    for group in lines.chunk_by(|left, right| compared_part(options, left) == compared_part(options, right)) {
        let printed = printed_lines(options, group);
        if printed.is_empty() {
            continue;
        }
        let parts = match parting {
            GroupParting::Never => false,
            GroupParting::Before | GroupParting::Around => true,
            GroupParting::Between | GroupParting::After => !output.is_empty(),
        };
        if parts {
            output.push(separator);
        }
        for line in printed {
            if options.count {
                output.extend_from_slice(format!("{:>7} ", group.len()).as_bytes());
            }
            output.extend_from_slice(line);
            output.push(separator);
        }
    }
    if !output.is_empty() && matches!(parting, GroupParting::After | GroupParting::Around) {
        output.push(separator);
    }
    output
}

/// Returns the part of a line that is compared, in upper case with `-i`.
fn compared_part(options: &UniqOptions, line: &[u8]) -> Vec<u8> {
    let blank = |byte: &&u8| matches!(**byte, b' ' | b'\t');
    let mut rest = line;
    for _ in 0..options.skip_fields {
        if rest.is_empty() {
            break;
        }
        rest = &rest[rest.iter().take_while(blank).count()..];
        rest = &rest[rest.iter().take_while(|byte| !blank(byte)).count()..];
    }
    rest = &rest[options.skip_bytes.min(rest.len())..];
    rest = &rest[..options.check_bytes.unwrap_or(rest.len()).min(rest.len())];
    if options.ignore_case { rest.to_ascii_uppercase() } else { rest.to_vec() }
}

/// Returns the lines of a group that are printed.
fn printed_lines<'l, 'a>(options: &UniqOptions, group: &'l [&'a [u8]]) -> &'l [&'a [u8]] {
    let single = group.len() == 1;
    let length = if options.group.is_some() {
        group.len()
    } else if options.all_repeated.is_some() {
        // With `-u`, GNU omits the last line of each group.
        group.len() - usize::from(options.unique || single)
    } else {
        usize::from(!(if single { options.repeated } else { options.unique }))
    };
    &group[..length]
}
