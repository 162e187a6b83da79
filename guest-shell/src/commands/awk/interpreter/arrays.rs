//! Arrays as variables: the arena, subscripts, and elements that are counted.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use super::super::ast::{Expr, VarRef, special};
use super::super::value::Value;
use super::{ArrayId, AwkArray, Evaluation, Interpreter, Slot, Unwind, truncate};

/// Most bytes of a subscript that an error message quotes.
const MAX_QUOTED_BYTES: usize = 100;

impl Interpreter {
    fn new_array(&mut self) -> ArrayId {
        if let Some(id) = self.free_arrays.pop() {
            self.arrays[id] = Some(AwkArray::default());
            return id;
        }
        self.arrays.push(Some(AwkArray::default()));
        self.arrays.len() - 1
    }

    /// Frees an array and its subarrays.
    pub(super) fn free_array(&mut self, id: ArrayId) {
        let mut pending = vec![id];
        while let Some(id) = pending.pop() {
            let Some(mut array) = self.arrays.get_mut(id).and_then(Option::take) else {
                continue;
            };
            for (key, slot) in array.drain() {
                self.live_bytes = self.live_bytes.saturating_sub(slot.cost_as_element(key.len()));
                if let Slot::Array(subarray) = slot {
                    pending.push(subarray);
                }
            }
            self.free_arrays.push(id);
        }
    }

    /// Removes all elements of an array; the array itself stays.
    pub(super) fn clear_array(&mut self, id: ArrayId) {
        let Some(array) = self.arrays.get_mut(id).and_then(Option::as_mut) else {
            return;
        };
        for (key, slot) in array.drain() {
            self.discount_element(key.len(), slot);
        }
    }

    /// Takes an element that was removed out of what is counted.
    fn discount_element(&mut self, key_bytes: usize, slot: Slot) {
        self.live_bytes = self.live_bytes.saturating_sub(slot.cost_as_element(key_bytes));
        if let Slot::Array(subarray) = slot {
            self.free_array(subarray);
        }
    }

    /// Returns an array for an argument that was untyped, and stays so until the function uses it as an array.
    pub(super) fn untyped_array(&mut self, id: ArrayId) -> Slot {
        if let Some(Some(array)) = self.arrays.get_mut(id) {
            array.is_untyped = true;
        }
        Slot::Array(id)
    }

    pub(super) fn array(&self, id: ArrayId) -> Option<&AwkArray> {
        self.arrays.get(id).and_then(Option::as_ref)
    }

    /// Returns the element of an array, if there is one.
    pub(super) fn element(&self, array: ArrayId, key: &str) -> Option<&Slot> {
        self.array(array)?.get(key)
    }

    /// Returns the text of an element of a global array; a subarray has none.
    pub(crate) fn global_element_text(&self, index: u32, key: &str) -> Option<String> {
        let Slot::Array(array) = self.globals[index as usize] else {
            return None;
        };
        match self.element(array, key)? {
            Slot::Scalar(value) => Some(self.text_of(value)),
            Slot::Array(_) => None,
        }
    }

    /// Returns the array that a variable holds; an untyped variable becomes one.
    pub(crate) fn array_of_variable(&mut self, variable: VarRef) -> Evaluation<ArrayId> {
        match self.slot(variable) {
            Slot::Array(id) => {
                let id = *id;
                if let Some(Some(array)) = self.arrays.get_mut(id) {
                    array.is_untyped = false;
                }
                Ok(id)
            }
            Slot::Scalar(Value::Uninit) if may_become_array(variable) => {
                let id = self.new_array();
                *self.slot_mut(variable) = Slot::Array(id);
                if let VarRef::Local(_) = variable
                    && let Some(frame) = self.frames.last_mut()
                {
                    frame.owned_arrays.push(id);
                }
                Ok(id)
            }
            Slot::Scalar(_) => {
                let name = self.variable_name(variable);
                Err(self.fatal_error(&format!("attempt to use scalar `{name}' as an array")))
            }
        }
    }

    /// Returns the array that `name` or `name[i]...` means; what is untyped becomes one.
    pub(super) async fn array_of_expression(&mut self, expression: &Expr) -> Evaluation<ArrayId> {
        match expression {
            Expr::Var(variable) => self.array_of_variable(*variable),
            Expr::Elem(variable, subscripts) => {
                let array = self.array_of_variable(*variable)?;
                self.subarray_at(array, subscripts).await
            }
            Expr::Group(inner) => Box::pin(self.array_of_expression(inner)).await,
            _ => Err(self.fatal_error("attempt to use a scalar value as array")),
        }
    }

    /// Returns the subarray that subscripts lead to; what is untyped becomes one.
    pub(super) async fn subarray_at(&mut self, array: ArrayId, subscripts: &[Vec<Expr>]) -> Evaluation<ArrayId> {
        let mut subarray = array;
        for subscript in subscripts {
            let key = self.subscript(subscript).await?;
            subarray = self.subarray(subarray, key)?;
        }
        Ok(subarray)
    }

    /// Returns the subarray that an element is; one that is untyped or missing becomes one.
    pub(super) fn subarray(&mut self, array: ArrayId, key: String) -> Evaluation<ArrayId> {
        match self.element(array, &key) {
            Some(Slot::Array(subarray)) => return Ok(*subarray),
            Some(Slot::Scalar(Value::Uninit)) | None => {}
            Some(Slot::Scalar(_)) => {
                let quoted = truncate(&key, MAX_QUOTED_BYTES);
                return Err(self.fatal_error(&format!("attempt to use scalar `[\"{quoted}\"]' as array")));
            }
        }
        let subarray = self.new_array();
        self.store_element(array, key, Slot::Array(subarray));
        Ok(subarray)
    }

    /// Returns the array and the key that subscripts lead to, unless a subarray on the way is missing.
    pub(super) async fn find_element(
        &mut self,
        array: ArrayId,
        subscripts: &[Vec<Expr>],
    ) -> Evaluation<Option<(ArrayId, String)>> {
        let (last, path) = subscripts.split_last().ok_or(Unwind::Fatal)?;
        let mut subarray = array;
        for subscript in path {
            let key = self.subscript(subscript).await?;
            match self.element(subarray, &key) {
                Some(Slot::Array(next)) => subarray = *next,
                _ => return Ok(None),
            }
        }
        Ok(Some((subarray, self.subscript(last).await?)))
    }

    /// Returns the key that a subscript means: its values, joined by `SUBSEP`.
    pub(super) async fn subscript(&mut self, subscript: &[Expr]) -> Evaluation<String> {
        if let [only] = subscript {
            let value = self.eval(only).await?;
            return Ok(self.text_of(&value));
        }
        let mut key = String::new();
        for (index, expression) in subscript.iter().enumerate() {
            if index > 0 {
                key.push_str(&self.settings.subsep);
            }
            let value = self.eval(expression).await?;
            let text = self.text_of(&value);
            self.string_fits(key.len() + text.len())?;
            key.push_str(&text);
        }
        Ok(key)
    }

    /// Stores a value as the element of a key.
    pub(crate) fn store_element(&mut self, array: ArrayId, key: String, slot: Slot) {
        let Some(array) = self.arrays.get_mut(array).and_then(Option::as_mut) else {
            return;
        };
        let key_bytes = key.len();
        self.live_bytes += slot.cost_as_element(key_bytes);
        if let Some(replaced) = array.insert(key, slot) {
            self.discount_element(key_bytes, replaced);
        }
    }

    /// Removes an element, if there is one.
    pub(super) fn delete_element(&mut self, array: ArrayId, key: &str) {
        let Some(array) = self.arrays.get_mut(array).and_then(Option::as_mut) else {
            return;
        };
        if let Some(removed) = array.remove(key) {
            self.discount_element(key.len(), removed);
        }
    }

    /// Returns the value of an element; a reference creates it (POSIX).
    pub(super) fn load_element(&mut self, array: ArrayId, key: &str) -> Evaluation<Value> {
        match self.element(array, key) {
            Some(Slot::Scalar(value)) => Ok(value.clone()),
            Some(Slot::Array(_)) => Err(self.element_in_scalar_context(key)),
            None => {
                self.store_element(array, key.to_string(), Slot::Scalar(Value::Uninit));
                Ok(Value::Uninit)
            }
        }
    }

    /// Reports that a subarray is used as a value.
    pub(super) fn element_in_scalar_context(&mut self, key: &str) -> Unwind {
        let quoted = truncate(key, MAX_QUOTED_BYTES);
        self.fatal_error(&format!("attempt to use array `[\"{quoted}\"]' in a scalar context"))
    }

    /// Replaces all elements by values whose keys count from 1.
    pub(super) fn fill_array(&mut self, array: ArrayId, values: Vec<Value>) -> Evaluation<()> {
        self.fill_array_from(array, 1, values)
    }

    /// Replaces all elements by values whose keys count from `first`.
    pub(super) fn fill_array_from(&mut self, array: ArrayId, first: usize, values: Vec<Value>) -> Evaluation<()> {
        self.clear_array(array);
        for (index, value) in values.into_iter().enumerate() {
            self.store_element(array, (index + first).to_string(), Slot::Scalar(value));
        }
        self.check_memory()
    }
}

/// Returns true for variables that may hold an array: of the special ones, only those that are made for it.
fn may_become_array(variable: VarRef) -> bool {
    match variable {
        VarRef::Global(index) if index < special::COUNT => {
            matches!(index, special::ENVIRON | special::ARGV | special::PROCINFO | special::SYMTAB)
        }
        _ => true,
    }
}
