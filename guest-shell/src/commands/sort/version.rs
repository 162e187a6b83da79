//! Order of names with version numbers, which `sort -V` and `ls -v` share: gnulib's `filevercmp`.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use std::cmp::Ordering;

/// Compares names: hidden names first, then without suffixes (`.tar.gz`), then as a whole.
pub(in crate::commands) fn filevercmp(left: &[u8], right: &[u8]) -> Ordering {
    let (left_stem, right_stem) = (stem(left), stem(right));
    let has_suffix = left_stem.len() < left.len() || right_stem.len() < right.len();
    let whole = || if has_suffix { compare_revisions(left, right) } else { Ordering::Equal };
    let ranks = name_rank(left).cmp(&name_rank(right));
    ranks.then_with(|| compare_revisions(left_stem, right_stem)).then_with(whole)
}

/// Returns the rank of a name that is compared only by its first characters.
fn name_rank(name: &[u8]) -> u8 {
    match name {
        b"" => 0,
        b"." => 1,
        b".." => 2,
        [b'.', ..] => 3,
        _ => 4,
    }
}

/// Returns a name without its suffixes, `(\.[A-Za-z~][A-Za-z0-9~]*)*` at the end.
fn stem(name: &[u8]) -> &[u8] {
    let (mut at, mut length) = (0, 0);
    while at < name.len() {
        at += 1;
        length = at;
        while suffix_begins(&name[at..]) {
            at += 2;
            at += name[at..].iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'~').count();
        }
    }
    &name[..length]
}

fn suffix_begins(text: &[u8]) -> bool {
    matches!(text, [b'.', first, ..] if first.is_ascii_alphabetic() || *first == b'~')
}

/// Compares text and numbers alternately, as dpkg's `verrevcmp` does.
fn compare_revisions(mut left: &[u8], mut right: &[u8]) -> Ordering {
    while !left.is_empty() || !right.is_empty() {
        while begins_with_text(left) || begins_with_text(right) {
            let order = character_rank(left.first()).cmp(&character_rank(right.first()));
            if order != Ordering::Equal {
                return order;
            }
            // Both begin with the same character, since ranks of characters are unique.
            (left, right) = (&left[1..], &right[1..]);
        }
        let (left_number, right_number);
        (left_number, left) = split_number(left);
        (right_number, right) = split_number(right);
        let lengths = left_number.len().cmp(&right_number.len());
        let order = lengths.then_with(|| left_number.cmp(right_number));
        if order != Ordering::Equal {
            return order;
        }
    }
    Ordering::Equal
}

fn begins_with_text(text: &[u8]) -> bool {
    text.first().is_some_and(|byte| !byte.is_ascii_digit())
}

/// Returns the rank of a character: `~`, the end, digits, letters, and others.
fn character_rank(character: Option<&u8>) -> i32 {
    match character {
        None => -1,
        Some(b'~') => -2,
        Some(byte) if byte.is_ascii_digit() => 0,
        Some(byte) if byte.is_ascii_alphabetic() => i32::from(*byte),
        Some(byte) => i32::from(*byte) + 256,
    }
}

/// Splits the digits of a number, without leading zeros, from what follows them.
fn split_number(text: &[u8]) -> (&[u8], &[u8]) {
    let zeros = text.iter().take_while(|byte| **byte == b'0').count();
    let significant = &text[zeros..];
    significant.split_at(significant.iter().take_while(|byte| byte.is_ascii_digit()).count())
}
