//! Orders of arrays: those in which `for (key in array)` visits keys, and those of `asort` and `asorti`.
//!
//! Without one, keys come in gawk's storage order, modelled in [`order`](super::super::order).
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use std::cmp::Ordering;

use super::super::ast::special;
use super::super::order::gawk_order;
use super::super::value::{Value, str_to_num};
use super::{ArrayId, Evaluation, Interpreter, Slot};

/// Order of the elements of an array, by the names that gawk has for them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum ArrayOrder {
    Unsorted,
    Sorted {
        by: SortKey,
        descending: bool,
    },
    /// Function of the program that compares two keys and their values.
    Function(u32),
}

/// Part of an element that is compared, and the way.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum SortKey {
    KeyText,
    KeyNumber,
    ValueText,
    ValueNumber,
    /// Numbers come before texts, texts before subarrays, each in its own order.
    ValueType,
}

/// Key and value of an element.
type Element = (String, Slot);

impl Interpreter {
    /// Returns the keys of an array in the order in which `for` visits them.
    pub(super) async fn keys_in_order(&mut self, array: ArrayId) -> Evaluation<Vec<String>> {
        let order = match self.global_element_text(special::PROCINFO, "sorted_in") {
            Some(name) if !name.is_empty() => self.array_order(&name)?,
            _ => ArrayOrder::Unsorted,
        };
        if order == ArrayOrder::Unsorted {
            return Ok(self.array(array).map(|array| gawk_order(array.keys())).unwrap_or_default());
        }
        let elements = self.elements_in_order(array, order).await?;
        Ok(elements.into_iter().map(|(key, _)| key).collect())
    }

    /// Returns the order of a name.
    pub(super) fn array_order(&mut self, name: &str) -> Evaluation<ArrayOrder> {
        if let Some(order) = builtin_order(name) {
            return Ok(order);
        }
        match self.program.funcs.iter().position(|function| function.name == name) {
            Some(index) => Ok(ArrayOrder::Function(u32::try_from(index).unwrap_or(u32::MAX))),
            None => Err(self.fatal_error(&format!("sort comparison function `{name}' is not defined"))),
        }
    }

    /// Returns the elements of an array in an order.
    pub(super) async fn elements_in_order(&mut self, array: ArrayId, order: ArrayOrder) -> Evaluation<Vec<Element>> {
        let Some(found) = self.array(array) else {
            return Ok(Vec::new());
        };
        if order == ArrayOrder::Unsorted {
            let keys = gawk_order(found.keys());
            let slot = |key: &str| found.get(key).cloned().unwrap_or(Slot::Scalar(Value::Uninit));
            return Ok(keys.into_iter().map(|key| (key.clone(), slot(&key))).collect());
        }
        let mut elements: Vec<Element> = found.iter().map(|(key, slot)| (key.to_owned(), slot.clone())).collect();
        match order {
            ArrayOrder::Sorted { by, descending } => elements.sort_by(|left, right| {
                let ordering = self.compare_elements(by, left, right).then_with(|| left.0.cmp(&right.0));
                if descending { ordering.reverse() } else { ordering }
            }),
            ArrayOrder::Function(function) => elements = self.sorted_by_function(elements, function).await?,
            ArrayOrder::Unsorted => {}
        }
        Ok(elements)
    }

    fn compare_elements(&self, by: SortKey, left: &Element, right: &Element) -> Ordering {
        let text = |element: &Element| self.text_of(&scalar(&element.1));
        let number = |element: &Element| scalar(&element.1).to_num();
        match by {
            SortKey::KeyText => left.0.cmp(&right.0),
            SortKey::KeyNumber => str_to_num(&left.0).total_cmp(&str_to_num(&right.0)),
            SortKey::ValueText => text(left).cmp(&text(right)),
            // Texts that are no numbers are in the order of texts, as in gawk.
            SortKey::ValueNumber => number(left).total_cmp(&number(right)).then_with(|| text(left).cmp(&text(right))),
            SortKey::ValueType => {
                let rank = type_rank(&left.1);
                rank.cmp(&type_rank(&right.1)).then_with(|| match rank {
                    0 => number(left).total_cmp(&number(right)),
                    _ => text(left).cmp(&text(right)),
                })
            }
        }
    }

    /// Sorts by a function of the program, by merging: a function that contradicts itself leads to some order.
    async fn sorted_by_function(&mut self, mut elements: Vec<Element>, function: u32) -> Evaluation<Vec<Element>> {
        let mut run = 1;
        while run < elements.len() {
            let mut merged = Vec::with_capacity(elements.len());
            let mut rest = elements.into_iter().peekable();
            while rest.peek().is_some() {
                let left: Vec<Element> = rest.by_ref().take(run).collect();
                let right: Vec<Element> = rest.by_ref().take(run).collect();
                self.merge_by_function(left, right, function, &mut merged).await?;
            }
            elements = merged;
            run *= 2;
        }
        Ok(elements)
    }

    async fn merge_by_function(
        &mut self,
        left: Vec<Element>,
        right: Vec<Element>,
        function: u32,
        merged: &mut Vec<Element>,
    ) -> Evaluation<()> {
        let (mut left, mut right) = (left.into_iter().peekable(), right.into_iter().peekable());
        while let (Some(first), Some(second)) = (left.peek(), right.peek()) {
            let arguments = [first, second]
                .into_iter()
                .flat_map(|(key, slot)| [Slot::Scalar(Value::from_input(key.clone())), slot.clone()]);
            let comparison = Box::pin(self.call_with_slots(function, arguments.collect())).await?.to_num();
            let next = if comparison > 0.0 { right.next() } else { left.next() };
            merged.extend(next);
        }
        merged.extend(left);
        merged.extend(right);
        Ok(())
    }
}

/// Returns the order that gawk has under a name.
fn builtin_order(name: &str) -> Option<ArrayOrder> {
    if name == "@unsorted" {
        return Some(ArrayOrder::Unsorted);
    }
    let (by, descending) = match name.strip_suffix("_desc") {
        Some(by) => (by, true),
        None => (name.strip_suffix("_asc")?, false),
    };
    let by = match by {
        "@ind_str" => SortKey::KeyText,
        "@ind_num" => SortKey::KeyNumber,
        "@val_str" => SortKey::ValueText,
        "@val_num" => SortKey::ValueNumber,
        "@val_type" => SortKey::ValueType,
        _ => return None,
    };
    Some(ArrayOrder::Sorted { by, descending })
}

/// Returns the value of an element; a subarray has none.
fn scalar(slot: &Slot) -> Value {
    match slot {
        Slot::Scalar(value) => value.clone(),
        Slot::Array(_) => Value::Uninit,
    }
}

fn type_rank(slot: &Slot) -> u8 {
    match slot {
        Slot::Scalar(value) if value.is_numeric() => 0,
        Slot::Scalar(_) => 1,
        Slot::Array(_) => 2,
    }
}
