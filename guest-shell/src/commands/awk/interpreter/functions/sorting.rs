//! `asort` and `asorti`.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use super::super::super::ast::{BuiltinFunction, Expr};
use super::super::super::value::Value;
use super::super::key_order::{ArrayOrder, SortKey};
use super::super::{Evaluation, Interpreter, Slot};

impl Interpreter {
    /// Replaces an array, or fills another one, with its sorted values or keys. Returns how many there are.
    pub(super) async fn asort(&mut self, function: BuiltinFunction, arguments: &[Expr]) -> Evaluation<Value> {
        let source = self.array_of_expression(&arguments[0]).await?;
        let of_keys = function == BuiltinFunction::Asorti;
        let order = match arguments.get(2) {
            Some(order) => {
                let name = self.eval_text(order).await?;
                self.array_order(&name)?
            }
            None => {
                let by = if of_keys { SortKey::KeyText } else { SortKey::ValueType };
                ArrayOrder::Sorted { by, descending: false }
            }
        };
        let elements = self.elements_in_order(source, order).await?;
        let values: Vec<Value> = elements
            .into_iter()
            .map(|(key, slot)| match slot {
                _ if of_keys => Value::Str(key),
                Slot::Scalar(value) => value,
                // A subarray has no value.
                Slot::Array(_) => Value::Uninit,
            })
            .collect();
        let count = values.len();
        let target = match arguments.get(1) {
            Some(target) => self.array_of_expression(target).await?,
            None => source,
        };
        self.fill_array(target, values)?;
        Ok(Value::Num(count as f64))
    }
}
