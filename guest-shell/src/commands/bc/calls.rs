//! Calls of functions: arguments, local variables, and their restoration at the end of a call.

use std::sync::Arc;

use super::super::decimal::Decimal;
use super::super::effort::Refusal;
use super::machine::{Array, Callable, Frame, Machine, Saved, Trouble};
use super::mathlib::MathFunction;
use super::program::{Argument, Function, Local, LocalKind, NameId};

/// Largest number of active calls: some 60 MB with a parameter each.
const CALLS: usize = 200_000;

impl Machine {
    pub(super) fn call(&mut self, name: NameId, arguments: &[Argument]) -> Result<(), Trouble> {
        let Some(callable) = self.functions.get(&name).cloned() else {
            return Err(Trouble::Error(format!("Function {} not defined.", self.declared.names.name(name))));
        };
        match callable {
            Callable::Math(function) => self.call_math(function, arguments),
            Callable::Defined(function) => self.call_defined(name, &function, arguments),
        }
    }

    pub(super) fn call_math(&mut self, function: MathFunction, arguments: &[Argument]) -> Result<(), Trouble> {
        if arguments.len() != function.arity() {
            return Err(Trouble::Error("Parameter number mismatch".to_owned()));
        }
        if arguments.iter().any(|argument| *argument != Argument::Number) {
            return Err(Trouble::Error("Parameter type mismatch".to_owned()));
        }
        let floor = self.stack.len().saturating_sub(arguments.len());
        let values = self.stack.split_off(floor);
        let values: Vec<&Decimal> = values.iter().map(Arc::as_ref).collect();
        let value = function.value(&values, self.scale, &mut self.effort).map_err(|fault| Trouble::of(fault, false))?;
        self.push(value);
        Ok(())
    }

    pub(super) fn call_defined(
        &mut self,
        name: NameId,
        function: &Function,
        arguments: &[Argument],
    ) -> Result<(), Trouble> {
        if arguments.len() != function.parameters.len() {
            return Err(Trouble::Error("Parameter number mismatch".to_owned()));
        }
        if self.frames.len() >= CALLS {
            return Err(Trouble::Refused(Refusal::Memory));
        }
        let numbers = arguments.iter().filter(|argument| **argument == Argument::Number).count();
        let floor = self.stack.len().saturating_sub(numbers);
        let mut values = self.stack.split_off(floor).into_iter();
        let mut saved = Vec::new();
        for (parameter, argument) in function.parameters.iter().zip(arguments) {
            let given = match (parameter.kind, argument) {
                (LocalKind::Simple, Argument::Number) => {
                    saved.push(Saved::Simple(parameter.name, self.simple[parameter.name].take()));
                    self.simple[parameter.name] = values.next();
                    Ok(())
                }
                (LocalKind::Simple, _) | (_, Argument::Number) => Err(()),
                (_, Argument::Array(array)) => self.bind_array(*parameter, *array, &mut saved).map_err(|_| ()),
            };
            if given.is_err() {
                self.restore(saved);
                let name = self.declared.names.name(parameter.name);
                return Err(Trouble::Error(format!("Parameter type mismatch, parameter {name}.")));
            }
        }
        for local in function.automatic.iter() {
            match local.kind {
                LocalKind::Simple => saved.push(Saved::Simple(local.name, self.simple[local.name].take())),
                _ => self.own_array(local.name, Array::new(), &mut saved),
            }
        }
        let code = Arc::clone(&function.code);
        let frame = Frame { code, at: 0, base: Some(self.ibase), saved, floor, name: Some(name) };
        self.frames.push(frame);
        Ok(())
    }

    /// Binds an array parameter to the caller's array, or to a copy of it.
    pub(super) fn bind_array(
        &mut self,
        parameter: Local,
        array: NameId,
        saved: &mut Vec<Saved>,
    ) -> Result<(), Refusal> {
        let id = self.array(array);
        if parameter.kind == LocalKind::Reference {
            saved.push(Saved::Array(parameter.name, self.arrays[parameter.name], false));
            self.arrays[parameter.name] = Some(id);
            return Ok(());
        }
        let elements = self.storage[id].clone();
        self.effort.spend(u64::try_from(elements.len()).unwrap_or(u64::MAX))?;
        self.own_array(parameter.name, elements, saved);
        Ok(())
    }

    /// Binds a name to a new array for the duration of a call.
    pub(super) fn own_array(&mut self, name: NameId, elements: Array, saved: &mut Vec<Saved>) {
        let id = self.new_array(elements);
        saved.push(Saved::Array(name, self.arrays[name], true));
        self.arrays[name] = Some(id);
    }

    /// Restores the former values of variables, the last saved first.
    pub(super) fn restore(&mut self, saved: Vec<Saved>) {
        for saved in saved.into_iter().rev() {
            match saved {
                Saved::Simple(name, value) => self.simple[name] = value,
                Saved::Array(name, former, owned) => {
                    if let (true, Some(id)) = (owned, self.arrays[name]) {
                        self.storage[id].clear();
                        self.unused.push(id);
                    }
                    self.arrays[name] = former;
                }
            }
        }
    }

    /// Returns from a call with the number on top of the stack.
    pub(super) fn end_call(&mut self) {
        let value = self.pop();
        if let Some(frame) = self.frames.pop() {
            self.restore(frame.saved);
            self.stack.truncate(frame.floor);
        }
        self.stack.push(value);
    }
}
