//! Order in which `for (key in array)` visits keys: gawk's storage order, modelled in [`order`](super::super::order), or
//! what `PROCINFO["sorted_in"]` says.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use std::cmp::Ordering;

use super::super::ast::special;
use super::super::order::gawk_order;
use super::super::value::{Value, str_to_num};
use super::{ArrayId, AwkArray, Interpreter, Slot};

impl Interpreter {
    /// Returns the keys of an array in the order in which they are visited.
    pub(super) fn keys_in_order(&self, array: ArrayId) -> Vec<String> {
        let Some(array) = self.array(array) else {
            return Vec::new();
        };
        let mut keys = array.keys();
        let order = self.global_element_text(special::PROCINFO, "sorted_in").unwrap_or_default();
        match order.as_str() {
            "" | "@unsorted" => return gawk_order(keys),
            "@ind_str_asc" => keys.sort(),
            "@ind_str_desc" => keys.sort_by(|left, right| right.cmp(left)),
            "@ind_num_asc" => keys.sort_by(|left, right| compare_as_numbers(left, right)),
            "@ind_num_desc" => keys.sort_by(|left, right| compare_as_numbers(right, left)),
            "@val_str_asc" | "@val_type_asc" => keys.sort_by(|left, right| self.compare_texts(array, left, right)),
            "@val_str_desc" | "@val_type_desc" => keys.sort_by(|left, right| self.compare_texts(array, right, left)),
            "@val_num_asc" => keys.sort_by(|left, right| compare_numbers(array, left, right)),
            "@val_num_desc" => keys.sort_by(|left, right| compare_numbers(array, right, left)),
            _ => {}
        }
        keys
    }

    /// Compares two elements as text; what is equal comes in the order of keys.
    fn compare_texts(&self, array: &AwkArray, left: &str, right: &str) -> Ordering {
        let text = |key| self.text_of(&scalar(array, key));
        text(left).cmp(&text(right)).then_with(|| left.cmp(right))
    }
}

/// Returns the value of an element; a subarray has none.
fn scalar(array: &AwkArray, key: &str) -> Value {
    match array.get(key) {
        Some(Slot::Scalar(value)) => value.clone(),
        _ => Value::Uninit,
    }
}

fn compare_numbers(array: &AwkArray, left: &str, right: &str) -> Ordering {
    let number = |key| scalar(array, key).to_num();
    number(left).total_cmp(&number(right)).then_with(|| left.cmp(right))
}

fn compare_as_numbers(left: &str, right: &str) -> Ordering {
    str_to_num(left).total_cmp(&str_to_num(right)).then_with(|| left.cmp(right))
}
