//! `asort` and `asorti`.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use std::cmp::Ordering;

use super::super::super::ast::{BuiltinFunction, Expr};
use super::super::super::value::Value;
use super::super::{AwkArray, Evaluation, Interpreter, Slot};

/// Way to compare two values.
#[derive(Clone, Copy)]
enum Comparison {
    Text,
    Number,
    /// Numbers come before strings, each in its own order.
    Type,
}

impl Interpreter {
    /// Replaces an array, or fills another one, with its sorted values or keys. Returns how many there are.
    pub(super) async fn asort(&mut self, function: BuiltinFunction, arguments: &[Expr]) -> Evaluation<Value> {
        let source = self.array_of_expression(&arguments[0]).await?;
        let order = match arguments.get(2) {
            Some(order) => self.eval_text(order).await?,
            None => String::new(),
        };
        let of_keys = function == BuiltinFunction::Asorti;
        let mut values = self.array(source).map(if of_keys { keys } else { scalars }).unwrap_or_default();
        let comparison = match of_keys {
            true if order.contains("_num_") => Comparison::Number,
            true => Comparison::Text,
            false if order.contains("_str_") => Comparison::Text,
            false => Comparison::Type,
        };
        let is_descending = order.ends_with("_desc");
        values.sort_by(|left, right| {
            let ordering = self.compare_for_sort(comparison, left, right);
            if is_descending { ordering.reverse() } else { ordering }
        });
        let count = values.len();
        let target = match arguments.get(1) {
            Some(target) => self.array_of_expression(target).await?,
            None => source,
        };
        self.fill_array(target, values)?;
        Ok(Value::Num(count as f64))
    }

    fn compare_for_sort(&self, comparison: Comparison, left: &Value, right: &Value) -> Ordering {
        let by_number = || left.to_num().total_cmp(&right.to_num());
        let by_text = || self.text_of(left).cmp(&self.text_of(right));
        match (comparison, left.is_numeric(), right.is_numeric()) {
            (Comparison::Text, ..) => by_text(),
            (Comparison::Number, ..) | (Comparison::Type, true, true) => by_number(),
            (Comparison::Type, true, false) => Ordering::Less,
            (Comparison::Type, false, true) => Ordering::Greater,
            (Comparison::Type, false, false) => by_text(),
        }
    }
}

fn keys(array: &AwkArray) -> Vec<Value> {
    array.keys().into_iter().map(Value::Str).collect()
}

/// Returns the values of an array; a subarray has none.
fn scalars(array: &AwkArray) -> Vec<Value> {
    let scalar = |slot: &Slot| match slot {
        Slot::Scalar(value) => value.clone(),
        Slot::Array(_) => Value::Uninit,
    };
    array.iter().map(|(_, slot)| scalar(slot)).collect()
}
