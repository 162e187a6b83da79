//! Calls of functions that the program defines.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use super::super::ast::{Expr, VarRef, special};
use super::super::value::Value;
use super::{ArrayId, Evaluation, Flow, Interpreter, Slot};

/// Call that is being evaluated.
pub(super) struct CallFrame {
    pub(super) function: u32,
    /// Index of the first parameter among the locals of all frames.
    pub(super) first_local: usize,
    /// Arrays that local variables became, which end with the call.
    pub(super) owned_arrays: Vec<ArrayId>,
}

impl Interpreter {
    pub(super) async fn call_function(&mut self, function_id: u32, arguments: &[Expr]) -> Evaluation<Value> {
        let program = self.program.clone();
        let function = &program.funcs[function_id as usize];
        self.check_argument_count(function_id, arguments.len())?;
        let mut locals = Vec::with_capacity(function.params.len());
        for (index, argument) in arguments.iter().enumerate() {
            let wants_array = function.array_params.get(index).copied().unwrap_or(false);
            locals.push(self.argument(argument, wants_array).await?);
        }
        self.call_with_slots(function_id, locals).await
    }

    fn check_argument_count(&mut self, function_id: u32, count: usize) -> Evaluation<()> {
        let function = &self.program.funcs[function_id as usize];
        if count > function.params.len() {
            let message = format!("function `{}' called with more arguments than declared", function.name);
            return Err(self.fatal_error(&message));
        }
        Ok(())
    }

    /// Calls a function with what its first parameters are.
    pub(super) async fn call_with_slots(&mut self, function_id: u32, mut locals: Vec<Slot>) -> Evaluation<Value> {
        self.check_argument_count(function_id, locals.len())?;
        let program = self.program.clone();
        let function = &program.funcs[function_id as usize];
        locals.resize(function.params.len(), Slot::Scalar(Value::Uninit));
        self.enter_call(function_id, locals);
        let location = self.location_index;
        let outcome = self.run_block(&function.body).await;
        self.location_index = location;
        self.leave_call();
        match outcome? {
            Flow::Return(value) => Ok(value),
            _ => Ok(Value::Uninit),
        }
    }

    /// Returns what an argument passes: arrays by reference, values by copy. What is untyped becomes an array if the
    /// parameter is one.
    async fn argument(&mut self, argument: &Expr, wants_array: bool) -> Evaluation<Slot> {
        match argument {
            Expr::Var(variable) if *variable != VarRef::Global(special::NF) => match self.slot(*variable) {
                Slot::Scalar(Value::Uninit) if wants_array => {
                    let array = self.array_of_variable(*variable)?;
                    Ok(self.untyped_array(array))
                }
                slot => Ok(slot.clone()),
            },
            Expr::Elem(variable, subscripts) => {
                let (array, key) = self.element_place(*variable, subscripts).await?;
                match self.element(array, &key) {
                    Some(Slot::Array(subarray)) => Ok(Slot::Array(*subarray)),
                    _ if wants_array => {
                        let array = self.subarray(array, key)?;
                        Ok(self.untyped_array(array))
                    }
                    _ => Ok(Slot::Scalar(self.load_element(array, &key)?)),
                }
            }
            other => Ok(Slot::Scalar(self.eval(other).await?)),
        }
    }

    fn enter_call(&mut self, function: u32, locals: Vec<Slot>) {
        self.live_bytes += locals.iter().map(Slot::heap_bytes).sum::<usize>();
        let first_local = self.locals.len();
        self.locals.extend(locals);
        self.frames.push(CallFrame { function, first_local, owned_arrays: Vec::new() });
    }

    fn leave_call(&mut self) {
        let Some(frame) = self.frames.pop() else {
            return;
        };
        let local_bytes: usize = self.locals.drain(frame.first_local..).map(|slot| slot.heap_bytes()).sum();
        self.live_bytes = self.live_bytes.saturating_sub(local_bytes);
        for array in frame.owned_arrays {
            self.free_array(array);
        }
    }
}
