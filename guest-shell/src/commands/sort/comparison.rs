//! Comparison of lines by keys.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use std::cmp::Ordering;
use std::hash::{BuildHasher as _, RandomState};

use super::key::{KeyOrdering, SortKey};
use super::value::{compare_decimals, compare_floats, compare_sizes, month_number};
use super::version::filevercmp;

/// Order of lines by keys, or by all their bytes.
pub(super) struct LineOrder {
    /// Keys by descending priority. Without keys, whole lines are compared as bytes.
    pub(super) keys: Vec<SortKey>,
    /// Byte between fields; `None` if fields begin at blanks.
    pub(super) field_separator: Option<u8>,
    /// True if the comparison of whole lines is reversed.
    pub(super) reverse: bool,
    /// True if lines with equal keys are equal, as with `-u` and `-s`.
    pub(super) keys_only: bool,
    /// Hashes of `-R`, which differ in each call.
    pub(super) random: RandomState,
}

impl LineOrder {
    /// Compares two lines by each key in turn.
    pub(super) fn compare(&self, left: &[u8], right: &[u8]) -> Ordering {
        for key in &self.keys {
            let order = self.compare_keys(key, left, right);
            if order != Ordering::Equal {
                return order;
            }
        }
        if self.keys_only && !self.keys.is_empty() {
            return Ordering::Equal;
        }
        let order = left.cmp(right);
        if self.reverse { order.reverse() } else { order }
    }

    fn compare_keys(&self, key: &SortKey, left: &[u8], right: &[u8]) -> Ordering {
        let left = key.text(left, self.field_separator);
        let right = key.text(right, self.field_separator);
        let ordering = &key.ordering;
        let order = match ordering.dictionary || ordering.printable || ordering.fold_case {
            true => self.compare_texts(ordering, &translated(ordering, left), &translated(ordering, right)),
            false => self.compare_texts(ordering, left, right),
        };
        if ordering.reverse { order.reverse() } else { order }
    }

    fn compare_texts(&self, ordering: &KeyOrdering, left: &[u8], right: &[u8]) -> Ordering {
        if ordering.numeric {
            compare_decimals(left, right)
        } else if ordering.general_numeric {
            compare_floats(left, right)
        } else if ordering.human_numeric {
            compare_sizes(left, right)
        } else if ordering.month {
            month_number(left).cmp(&month_number(right))
        } else if ordering.random {
            let hashes = self.random.hash_one(left).cmp(&self.random.hash_one(right));
            hashes.then_with(|| left.cmp(right))
        } else if ordering.version {
            filevercmp(left, right)
        } else {
            left.cmp(right)
        }
    }
}

/// Returns the bytes of a key that `-d` and `-i` compare, in upper case with `-f`.
fn translated(ordering: &KeyOrdering, text: &[u8]) -> Vec<u8> {
    let in_dictionary = |byte: u8| byte.is_ascii_alphanumeric() || byte == b' ' || byte == b'\t';
    let counts = |byte: &u8| {
        (!ordering.dictionary || in_dictionary(*byte)) && (!ordering.printable || (0x20..0x7f).contains(byte))
    };
    let case = |byte: &u8| if ordering.fold_case { byte.to_ascii_uppercase() } else { *byte };
    text.iter().filter(|byte| counts(byte)).map(case).collect()
}
