//! Bytes that replace those of the first set.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use super::options::TrOptions;
use super::set::SetItem;

/// Returns the replacements of the `length` bytes of the first set. The error is a message.
pub(super) fn translated_bytes(
    options: &TrOptions,
    first: &[SetItem],
    second: &[SetItem],
    length: usize,
) -> Result<Vec<u8>, String> {
    check_items(second)?;
    let mut bytes = expanded(options, first, second, length)?;
    if length > bytes.len() && !options.truncate {
        let Some(last) = bytes.last().copied() else {
            return Err("when not truncating set1, string2 must be non-empty".to_owned());
        };
        if matches!(second.last(), Some(SetItem::Class(_))) {
            let message = "when translating with string1 longer than string2,\n\
                           the latter string must not end with a character class";
            return Err(message.to_owned());
        }
        bytes.resize(length, last);
    }
    let has_class = first.iter().any(|item| matches!(item, SetItem::Class(_)));
    let is_one_byte = bytes.len() == length && bytes.windows(2).all(|pair| pair[0] == pair[1]);
    if options.complement && has_class && !is_one_byte {
        let message = "when translating with complemented character classes,\n\
                       string2 must map all characters in the domain to one";
        return Err(message.to_owned());
    }
    Ok(bytes)
}

fn check_items(second: &[SetItem]) -> Result<(), String> {
    if second.iter().filter(|item| item.is_fill()).count() > 1 {
        return Err("only one [c*] repeat construct may appear in string2".to_owned());
    }
    if second.iter().any(|item| matches!(item, SetItem::Equivalent(_))) {
        return Err("[=c=] expressions may not appear in string2 when translating".to_owned());
    }
    if second.iter().any(|item| matches!(item, SetItem::Class(_)) && !item.is_case_class()) {
        let message = "when translating, the only character classes that may appear in\n\
                       string2 are 'upper' and 'lower'";
        return Err(message.to_owned());
    }
    Ok(())
}

/// Returns the bytes of the items. An open-ended item fills up to the length of the first set.
fn expanded(options: &TrOptions, first: &[SetItem], second: &[SetItem], length: usize) -> Result<Vec<u8>, String> {
    let fixed: usize = second.iter().map(|item| item.bytes().len()).sum();
    let mut bytes = Vec::new();
    for item in second {
        if let SetItem::Fill(byte) = item {
            bytes.resize(bytes.len() + length.saturating_sub(fixed), *byte);
            continue;
        }
        if item.is_case_class() && (options.complement || !case_class_starts_at(first, bytes.len())) {
            return Err("misaligned [:upper:] and/or [:lower:] construct".to_owned());
        }
        bytes.extend(item.bytes());
    }
    Ok(bytes)
}

/// Returns true if a class of upper or lower case letters starts at an index of the first set.
fn case_class_starts_at(first: &[SetItem], wanted: usize) -> bool {
    let mut place = 0;
    first.iter().any(|item| {
        let start = place;
        place += item.bytes().len();
        start == wanted && item.is_case_class()
    })
}
