//! Translation of each byte.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use super::options::TrOptions;
use super::second_set::translated_bytes;
use super::set::{SetItem, parse_set};

/// Tables for each byte, and the last written byte.
pub(super) struct Translation {
    translated: [u8; 256],
    deleted: [bool; 256],
    squeezed: [bool; 256],
    /// Last written byte, if following ones may be squeezed into it.
    last: Option<u8>,
}

impl Translation {
    /// Parses the sets of a call. The error is a message.
    pub(super) fn new(options: &TrOptions) -> Result<Self, String> {
        let first = parse_set(&options.first_set)?;
        let second = options.second_set.as_deref().map(parse_set).transpose()?;
        if first.iter().any(SetItem::is_fill) {
            return Err("the [c*] repeat construct may not appear in string1".to_owned());
        }
        let mut from: Vec<u8> = first.iter().flat_map(SetItem::bytes).collect();
        if options.complement {
            from = (0..=u8::MAX).filter(|byte| !from.contains(byte)).collect();
        }
        let translates = !options.delete && second.is_some();
        let to = match &second {
            None => Vec::new(),
            Some(second) if translates => translated_bytes(options, &first, second, from.len())?,
            Some(second) if second.iter().any(SetItem::is_fill) => {
                return Err("the [c*] construct may appear in string2 only when translating".to_owned());
            }
            Some(second) => second.iter().flat_map(SetItem::bytes).collect(),
        };
        let mut translated = std::array::from_fn(|byte| u8::try_from(byte).unwrap_or(0));
        if translates {
            // The last replacement of a repeated byte has precedence.
            for (from, to) in from.iter().zip(&to) {
                translated[usize::from(*from)] = *to;
            }
        }
        let squeezed = if second.is_some() { &to } else { &from };
        Ok(Self {
            translated,
            deleted: table(if options.delete { &from } else { &[] }),
            squeezed: table(if options.squeeze { squeezed } else { &[] }),
            last: None,
        })
    }

    /// Translates the next part of the input.
    pub(super) fn apply(&mut self, input: &[u8]) -> Vec<u8> {
        let mut output = Vec::with_capacity(input.len());
        for byte in input {
            if self.deleted[usize::from(*byte)] {
                continue;
            }
            let translated = self.translated[usize::from(*byte)];
            if self.last == Some(translated) && self.squeezed[usize::from(translated)] {
                continue;
            }
            self.last = Some(translated);
            output.push(translated);
        }
        output
    }
}

fn table(bytes: &[u8]) -> [bool; 256] {
    let mut table = [false; 256];
    for byte in bytes {
        table[usize::from(*byte)] = true;
    }
    table
}
