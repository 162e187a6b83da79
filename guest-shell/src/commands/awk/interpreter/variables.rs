//! Variables that hold values, and values as text.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use super::super::ast::{VarRef, special};
use super::super::format::format_number;
use super::super::value::Value;
use super::{Evaluation, Interpreter, Slot, Unwind};

impl Interpreter {
    /// Returns a value as text; numbers are written as `CONVFMT` says.
    pub(crate) fn text_of(&self, value: &Value) -> String {
        value.to_str_fmt(&self.settings.convfmt)
    }

    /// Returns a value as `print` writes it; numbers are written as `OFMT` says.
    pub(super) fn output_text_of(&self, value: &Value) -> String {
        match value {
            Value::Num(number) => format_number(*number, &self.settings.ofmt),
            other => self.text_of(other),
        }
    }

    fn first_local(&self) -> usize {
        self.frames.last().map_or(0, |frame| frame.first_local)
    }

    /// Returns what a variable holds.
    pub(super) fn slot(&self, variable: VarRef) -> &Slot {
        match variable {
            VarRef::Global(index) => &self.globals[index as usize],
            VarRef::Local(index) => &self.locals[self.first_local() + index as usize],
        }
    }

    pub(super) fn slot_mut(&mut self, variable: VarRef) -> &mut Slot {
        match variable {
            VarRef::Global(index) => &mut self.globals[index as usize],
            VarRef::Local(index) => {
                let first = self.first_local();
                &mut self.locals[first + index as usize]
            }
        }
    }

    /// Returns the name that a variable has in the program.
    pub(super) fn variable_name(&self, variable: VarRef) -> String {
        match variable {
            VarRef::Global(index) => self.program.globals[index as usize].clone(),
            VarRef::Local(index) => {
                let function = self.frames.last().and_then(|frame| self.program.funcs.get(frame.function as usize));
                let parameter = function.and_then(|function| function.params.get(index as usize));
                parameter.cloned().unwrap_or_default()
            }
        }
    }

    fn array_in_scalar_context(&mut self, variable: VarRef) -> Unwind {
        let name = self.variable_name(variable);
        self.fatal_error(&format!("attempt to use array `{name}' in a scalar context"))
    }

    /// Returns the value of a variable.
    pub(super) fn variable(&mut self, variable: VarRef) -> Evaluation<Value> {
        if variable == VarRef::Global(special::NF) {
            self.ensure_split()?;
            return Ok(Value::Num(self.record.fields.len() as f64));
        }
        match self.slot(variable) {
            Slot::Scalar(value) => Ok(value.clone()),
            Slot::Array(_) => Err(self.array_in_scalar_context(variable)),
        }
    }

    /// Assigns to a variable.
    pub(crate) fn set_variable(&mut self, variable: VarRef, value: Value) -> Evaluation<()> {
        let new_bytes = value.heap_bytes();
        let old_bytes = match self.slot(variable) {
            Slot::Scalar(old) => old.heap_bytes(),
            Slot::Array(_) => return Err(self.array_in_scalar_context(variable)),
        };
        self.live_bytes = (self.live_bytes + new_bytes).saturating_sub(old_bytes);
        if let VarRef::Global(index) = variable
            && index < special::COUNT
        {
            return self.set_special(index, value);
        }
        *self.slot_mut(variable) = Slot::Scalar(value);
        Ok(())
    }

    /// Assigns to the global variable of that name, if the program has one.
    pub(crate) fn assign_by_name(&mut self, name: &str, value: Value) -> Evaluation<()> {
        if let Some(index) = self.program.globals.iter().position(|global| global == name) {
            self.set_variable(VarRef::Global(index as u32), value)?;
        }
        Ok(())
    }

    /// Returns the text of a global variable; an array has none.
    pub(super) fn global_text(&self, index: u32) -> String {
        match &self.globals[index as usize] {
            Slot::Scalar(value) => self.text_of(value),
            Slot::Array(_) => String::new(),
        }
    }

    /// Stores a value in a special variable without what else an assignment to it does.
    pub(crate) fn put_special(&mut self, index: u32, value: Value) {
        self.globals[index as usize] = Slot::Scalar(value);
    }
}
