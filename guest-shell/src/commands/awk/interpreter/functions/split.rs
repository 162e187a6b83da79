//! `split` and `patsplit`.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use super::super::super::ast::{Expr, special};
use super::super::super::value::Value;
use super::super::splitter::{Splitter, TooManyParts, split_text};
use super::super::{Evaluation, Interpreter};

impl Interpreter {
    pub(super) async fn split(&mut self, arguments: &[Expr]) -> Evaluation<Value> {
        let text = self.eval_text(&arguments[0]).await?;
        let splitter = match arguments.get(2) {
            None => self.settings.splitter.clone(),
            Some(Expr::Regex(id)) if self.program.regexes[*id as usize].is_empty() => Splitter::Characters,
            Some(Expr::Regex(id)) => Splitter::Regex(self.literal_regex(*id)),
            Some(separator) => {
                let separator = self.eval_text(separator).await?;
                self.splitter_of(&separator)?
            }
        };
        self.split_by(&splitter, &text, arguments).await
    }

    pub(super) async fn patsplit(&mut self, arguments: &[Expr]) -> Evaluation<Value> {
        let text = self.eval_text(&arguments[0]).await?;
        let field = match (arguments.get(2), &self.settings.splitter) {
            (Some(field), _) => self.regex_operand(field).await?,
            (None, Splitter::Fpat(field)) => field.clone(),
            (None, _) => {
                let pattern = self.global_text(special::FPAT);
                self.string_regex(&pattern)?
            }
        };
        self.split_by(&Splitter::Fpat(field), &text, arguments).await
    }

    /// Splits a text into the array that is the second argument; the fourth takes the separators.
    async fn split_by(&mut self, splitter: &Splitter, text: &str, arguments: &[Expr]) -> Evaluation<Value> {
        let mut separators = Vec::new();
        let parts = split_text(splitter, text, Some(&mut separators), self.split_budget())
            .map_err(|TooManyParts| self.memory_exceeded())?;
        let count = parts.len();
        let array = self.array_of_expression(&arguments[1]).await?;
        self.fill_array(array, parts.into_iter().map(Value::from_input).collect())?;
        if let Some(target) = arguments.get(3) {
            self.store_separators(target, separators, splitter, count).await?;
        }
        Ok(Value::Num(count as f64))
    }

    /// Stores separators in an array. Those of runs of blanks count from 0, and the first and the last exist only if they
    /// are not empty; those around what `patsplit` found count from 0, too.
    async fn store_separators(
        &mut self,
        target: &Expr,
        mut separators: Vec<String>,
        splitter: &Splitter,
        part_count: usize,
    ) -> Evaluation<()> {
        let are_blanks = matches!(splitter, Splitter::Space);
        let array = self.array_of_expression(target).await?;
        let first_is_empty = are_blanks && separators.first().is_some_and(String::is_empty);
        if are_blanks && separators.len() > part_count && separators.last().is_some_and(String::is_empty) {
            separators.pop();
        }
        let first_key = if matches!(splitter, Splitter::Space | Splitter::Fpat(_)) { 0 } else { 1 };
        self.fill_array_from(array, first_key, separators.into_iter().map(Value::Str).collect())?;
        if first_is_empty {
            self.delete_element(array, "0");
        }
        Ok(())
    }
}
