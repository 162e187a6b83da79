//! Built-in functions.
//!
//! | module | what it holds |
//! | --- | --- |
//! | [`text`] | `substr`, `index`, `tolower`, `sprintf` |
//! | [`substitution`] | `sub`, `gsub`, `gensub` |
//! | [`split`], [`matching`] | `split`, `patsplit`; `match` |
//! | [`sorting`] | `asort`, `asorti` |
//! | [`kind`] | `length`, `typeof`, `isarray` |
//! | [`number`], [`random`] | functions of numbers; `rand`, `srand` |
//! | [`time`] | `strftime`, `mktime`, which use the sandbox's clock and `TZ` (TM-INF-018) |
//!
//! Positions and lengths in strings count characters, as gawk does in a UTF-8 locale.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

mod kind;
mod matching;
mod number;
mod random;
mod sorting;
mod split;
mod substitution;
mod text;
mod time;

pub(super) use random::RandomNumbers;

use super::super::ast::{BuiltinFunction, Expr};
use super::super::value::Value;
use super::expression::truth;
use super::{Evaluation, Interpreter};
use crate::commands::character_locale::{lower_character, upper_character};

impl Interpreter {
    /// Returns true for functions that only want the values of their arguments. They are apart from those of
    /// `call_builtin`, which keeps all that any of them may need on the stack while arguments are evaluated.
    pub(super) fn takes_values(function: BuiltinFunction) -> bool {
        use BuiltinFunction as F;
        let takes_expressions = matches!(function, F::Length | F::Split | F::Patsplit | F::Sub | F::Gsub | F::Gensub)
            || matches!(function, F::Match | F::System | F::Close | F::Fflush | F::Strftime)
            || matches!(function, F::Asort | F::Asorti | F::Typeof | F::Isarray);
        !takes_expressions
    }

    /// Calls a function with arguments that are not evaluated yet.
    pub(super) async fn call_builtin(&mut self, function: BuiltinFunction, arguments: &[Expr]) -> Evaluation<Value> {
        use BuiltinFunction as F;
        match function {
            F::Length => self.length(arguments.first()).await,
            F::Split => self.split(arguments).await,
            F::Patsplit => self.patsplit(arguments).await,
            F::Sub | F::Gsub => self.substitute(function == F::Gsub, arguments).await,
            F::Gensub => self.gensub(arguments).await,
            F::Match => self.match_function(arguments).await,
            F::System => {
                let command = self.eval_text(&arguments[0]).await?;
                let result = self.run_command(false, &command).await?;
                Ok(Value::Num(result.exit_code as f64))
            }
            F::Close => {
                let name = self.eval_text(&arguments[0]).await?;
                self.close_stream(&name).await.map(Value::Num)
            }
            F::Fflush => {
                self.flush_all().await?;
                Ok(Value::Num(0.0))
            }
            F::Strftime => self.strftime(arguments).await,
            F::Asort | F::Asorti => self.asort(function, arguments).await,
            F::Typeof => Ok(Value::Str(self.type_of(&arguments[0]).await?.to_string())),
            F::Isarray => Ok(truth(self.type_of(&arguments[0]).await? == "array")),
            _ => {
                let values = self.eval_all(arguments).await?;
                self.call_on_values(function, &values)
            }
        }
    }

    /// Calls a function that only wants values.
    #[inline(never)]
    pub(super) fn call_on_values(&mut self, function: BuiltinFunction, arguments: &[Value]) -> Evaluation<Value> {
        use BuiltinFunction as F;
        let first = arguments.first().unwrap_or(&Value::Uninit);
        match function {
            F::Substr => {
                let length = arguments.get(2).map(Value::to_num);
                Ok(Value::Str(text::substring(&self.text_of(first), arguments[1].to_num(), length)))
            }
            F::Index => Ok(self.index(first, &arguments[1])),
            F::Sprintf => self.format(arguments).map(Value::Str),
            F::Tolower => self.change_case(first, lower_character),
            F::Toupper => self.change_case(first, upper_character),
            F::Mktime => {
                let is_utc = arguments.get(1).is_some_and(Value::to_bool);
                Ok(Value::Num(self.mktime(&self.text_of(first), is_utc)))
            }
            F::Strtonum => Ok(Value::Num(match first {
                Value::Num(number) => *number,
                other => number::strtonum(&self.text_of(other)),
            })),
            F::Srand => Ok(self.srand(arguments.first())),
            F::Rand => Ok(Value::Num(self.random.next_fraction())),
            F::Systime => Ok(Value::Num(self.now())),
            _ => {
                let numbers: Vec<f64> = arguments.iter().map(Value::to_num).collect();
                if let Some(warning) = number::warning(function, numbers[0]) {
                    self.warn(&warning);
                }
                Ok(Value::Num(number::compute(function, &numbers)))
            }
        }
    }

    /// Seeds `rand`, with the time if no seed is given; returns the seed of before.
    fn srand(&mut self, seed: Option<&Value>) -> Value {
        let seed = seed.map_or_else(|| self.now(), Value::to_num);
        Value::Num(self.random.reseed(seed))
    }
}
