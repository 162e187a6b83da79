//! `length`, `typeof` and `isarray`, which look at what a variable holds.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use super::super::super::ast::{Expr, VarRef, special};
use super::super::super::value::Value;
use super::super::{ArrayId, Evaluation, Interpreter, Slot};

impl Interpreter {
    /// Returns how many elements an array or how many characters a value has; without an argument: the record.
    pub(super) async fn length(&mut self, argument: Option<&Expr>) -> Evaluation<Value> {
        let value = match argument {
            None => self.field(0)?,
            Some(Expr::Var(variable)) => match self.slot(*variable) {
                Slot::Array(array) => return Ok(self.element_count(*array)),
                Slot::Scalar(_) => self.variable(*variable)?,
            },
            Some(Expr::Elem(variable, subscripts)) => {
                let (array, key) = self.element_place(*variable, subscripts).await?;
                match self.element(array, &key) {
                    Some(Slot::Array(subarray)) => return Ok(self.element_count(*subarray)),
                    _ => self.load_element(array, &key)?,
                }
            }
            Some(expression) => self.eval(expression).await?,
        };
        Ok(Value::Num(self.text_of(&value).chars().count() as f64))
    }

    fn element_count(&self, array: ArrayId) -> Value {
        Value::Num(self.array(array).map_or(0, |array| array.len()) as f64)
    }

    /// Returns what `typeof` tells of an argument.
    pub(super) async fn type_of(&mut self, argument: &Expr) -> Evaluation<&'static str> {
        match argument {
            Expr::Var(variable) if *variable == VarRef::Global(special::NF) => Ok("number"),
            Expr::Var(variable) => Ok(self.type_name(Some(self.slot(*variable)))),
            Expr::Elem(variable, subscripts) => {
                let Slot::Array(array) = *self.slot(*variable) else {
                    return Ok("untyped");
                };
                match self.find_element(array, subscripts).await? {
                    Some((array, key)) => Ok(self.type_name(self.element(array, &key))),
                    None => Ok("untyped"),
                }
            }
            // A match with the record, as everywhere.
            Expr::Regex(_) => Ok("number"),
            Expr::Field(index) => {
                let number = self.eval(index).await?.to_num();
                let index = self.field_index(number)?;
                self.ensure_split()?;
                let value = self.field(index)?;
                Ok(if index > self.record.fields.len() { "unassigned" } else { value.type_name() })
            }
            other => Ok(self.eval(other).await?.type_name()),
        }
    }

    fn type_name(&self, slot: Option<&Slot>) -> &'static str {
        match slot {
            Some(Slot::Array(array)) if self.array(*array).is_some_and(|array| array.is_untyped) => "untyped",
            Some(Slot::Array(_)) => "array",
            Some(Slot::Scalar(value)) => value.type_name(),
            None => "untyped",
        }
    }
}
