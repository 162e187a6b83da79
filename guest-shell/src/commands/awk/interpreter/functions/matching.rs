//! `match`.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use super::super::super::ast::{Expr, VarRef, special};
use super::super::super::value::Value;
use super::super::{Evaluation, Interpreter, Slot};

impl Interpreter {
    /// Finds a match, sets `RSTART` and `RLENGTH`, and stores groups in an array if one is given.
    pub(super) async fn match_function(&mut self, arguments: &[Expr]) -> Evaluation<Value> {
        let text = self.eval_text(&arguments[0]).await?;
        let regex = self.regex_operand(&arguments[1]).await?;
        let groups = match arguments.len() > 2 {
            true => regex.captures_at(&text, 0),
            false => regex.find_at(&text, 0).map(|bounds| vec![Some(bounds)]),
        };
        let (start, length) = match &groups {
            Some(groups) => position_of(&text, groups[0].unwrap_or((0, 0))),
            None => (0.0, -1.0),
        };
        self.set_variable(VarRef::Global(special::RSTART), Value::Num(start))?;
        self.set_variable(VarRef::Global(special::RLENGTH), Value::Num(length))?;
        if let Some(target) = arguments.get(2) {
            self.store_groups(target, &text, &groups.unwrap_or_default()).await?;
        }
        Ok(Value::Num(start))
    }

    /// Stores each group that took part in a match, with where it begins and how long it is.
    async fn store_groups(&mut self, target: &Expr, text: &str, groups: &[Option<(usize, usize)>]) -> Evaluation<()> {
        let array = self.array_of_expression(target).await?;
        self.clear_array(array);
        for (index, group) in groups.iter().enumerate() {
            let Some((start, end)) = *group else { continue };
            let (first, length) = position_of(text, (start, end));
            let separator = self.settings.subsep.clone();
            let matched = Value::from_input(text[start..end].to_string());
            self.store_element(array, index.to_string(), Slot::Scalar(matched));
            self.store_element(array, format!("{index}{separator}start"), Slot::Scalar(Value::Num(first)));
            self.store_element(array, format!("{index}{separator}length"), Slot::Scalar(Value::Num(length)));
        }
        Ok(())
    }
}

/// Returns where a part of a text begins and how long it is, in characters; the first is number 1.
fn position_of(text: &str, (start, end): (usize, usize)) -> (f64, f64) {
    ((text[..start].chars().count() + 1) as f64, text[start..end].chars().count() as f64)
}
