//! What can be assigned to: variables, elements and fields.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use super::super::ast::{Expr, VarRef};
use super::super::format::format_number;
use super::super::value::Value;
use super::{ArrayId, Evaluation, Interpreter, Slot, Unwind};

/// Place of a value, once subscripts or the index of a field are evaluated.
pub(super) enum Place {
    Variable(VarRef),
    Element(ArrayId, String),
    Field(usize),
}

impl Interpreter {
    /// Returns the place that an expression means.
    pub(super) async fn place(&mut self, target: &Expr) -> Evaluation<Place> {
        match target {
            Expr::Var(variable) => Ok(Place::Variable(*variable)),
            Expr::Elem(variable, subscripts) => {
                let (array, key) = self.element_place(*variable, subscripts).await?;
                Ok(Place::Element(array, key))
            }
            Expr::Field(index) => {
                let index = self.eval(index).await?.to_num();
                Ok(Place::Field(self.field_index(index)?))
            }
            Expr::Group(inner) => Box::pin(self.place(inner)).await,
            _ => Err(self.fatal_error("assignment to a non-lvalue")),
        }
    }

    /// Returns the array and the key that subscripts of a variable lead to; subarrays on the way are created.
    pub(super) async fn element_place(
        &mut self,
        variable: VarRef,
        subscripts: &[Vec<Expr>],
    ) -> Evaluation<(ArrayId, String)> {
        let array = self.array_of_variable(variable)?;
        let (last, path) = subscripts.split_last().ok_or(Unwind::Fatal)?;
        let array = self.subarray_at(array, path).await?;
        Ok((array, self.subscript(last).await?))
    }

    /// Returns a number as the index of a field.
    pub(super) fn field_index(&mut self, number: f64) -> Evaluation<usize> {
        if number < 0.0 || number.is_nan() {
            let shown = format_number(number.trunc(), "%.6g");
            return Err(self.fatal_error(&format!("attempt to access field {shown}")));
        }
        Ok(number as usize)
    }

    /// Returns the value at a place.
    pub(super) fn load(&mut self, place: &Place) -> Evaluation<Value> {
        match place {
            Place::Variable(variable) => self.variable(*variable),
            Place::Element(array, key) => self.load_element(*array, key),
            Place::Field(index) => self.field(*index),
        }
    }

    /// Stores a value at a place.
    pub(super) fn store(&mut self, place: Place, value: Value) -> Evaluation<()> {
        self.string_fits(value.heap_bytes())?;
        match place {
            Place::Variable(variable) => self.set_variable(variable, value),
            Place::Element(array, key) => {
                if let Some(Slot::Array(_)) = self.element(array, &key) {
                    return Err(self.element_in_scalar_context(&key));
                }
                self.store_element(array, key, Slot::Scalar(value));
                Ok(())
            }
            Place::Field(index) => self.set_field(index, value),
        }
    }

    /// Assigns to what an expression means.
    pub(crate) async fn assign(&mut self, target: &Expr, value: Value) -> Evaluation<()> {
        let place = self.place(target).await?;
        self.store(place, value)
    }
}
