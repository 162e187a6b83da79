//! Evaluation of expressions.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use std::cmp::Ordering;

use super::super::ast::{BinOp, BuiltinFunction, CmpOp, Expr, VarRef};
use super::super::value::{Value, compare};
use super::{BoxedFuture, Evaluation, Interpreter, truncate};

impl Interpreter {
    /// Evaluates an expression of a program. Constants and variables are evaluated here, the rest in a boxed future.
    pub(crate) async fn eval(&mut self, expression: &Expr) -> Evaluation<Value> {
        match expression {
            Expr::Num(number) => Ok(Value::Num(*number)),
            Expr::Str(text) => Ok(Value::Str(text.clone())),
            Expr::Var(variable) => self.variable(*variable),
            _ => {
                let depth = stack_use(expression);
                self.descend(depth)?;
                let value = self.eval_boxed(expression).await;
                self.evaluation_depth -= depth;
                value
            }
        }
    }

    /// Evaluates an expression to text.
    pub(crate) async fn eval_text(&mut self, expression: &Expr) -> Evaluation<String> {
        let value = self.eval(expression).await?;
        Ok(self.text_of(&value))
    }

    /// Evaluates expressions from left to right.
    pub(super) async fn eval_all(&mut self, expressions: &[Expr]) -> Evaluation<Vec<Value>> {
        let mut values = Vec::with_capacity(expressions.len());
        for expression in expressions {
            values.push(self.eval(expression).await?);
        }
        Ok(values)
    }

    /// Evaluates an expression as a condition.
    pub(super) async fn condition(&mut self, expression: &Expr) -> Evaluation<bool> {
        Ok(self.eval(expression).await?.to_bool())
    }

    async fn eval_number(&mut self, expression: &Expr) -> Evaluation<f64> {
        Ok(self.eval(expression).await?.to_num())
    }

    /// Returns the future of an expression. Each kind has a future of its own, so that an evaluation within another
    /// keeps only the (small) frame of its kind on the stack, and not one that is large enough for all.
    fn eval_boxed<'a>(&'a mut self, expression: &'a Expr) -> BoxedFuture<'a, Evaluation<Value>> {
        match expression {
            Expr::Num(number) => Box::pin(async move { Ok(Value::Num(*number)) }),
            Expr::Str(text) => Box::pin(async move { Ok(Value::Str(text.clone())) }),
            Expr::Var(variable) => Box::pin(async move { self.variable(*variable) }),
            Expr::Regex(id) => Box::pin(async move { self.match_record(*id) }),
            Expr::Elem(variable, subscripts) => Box::pin(self.element_value(*variable, subscripts)),
            Expr::Field(index) => Box::pin(self.field_value(index)),
            Expr::Group(inner) => Box::pin(self.eval(inner)),
            Expr::Assign(target, operator, value) => Box::pin(self.assignment(target, *operator, value)),
            Expr::Neg(operand) => Box::pin(async move { Ok(Value::Num(-self.eval_number(operand).await?)) }),
            Expr::Plus(operand) => Box::pin(async move { Ok(Value::Num(self.eval_number(operand).await?)) }),
            Expr::Not(operand) => Box::pin(async move { Ok(truth(!self.condition(operand).await?)) }),
            Expr::Binary(operator, left, right) => Box::pin(self.arithmetic(*operator, left, right)),
            Expr::Cmp(operator, left, right) => Box::pin(self.comparison(*operator, left, right)),
            Expr::Match(negated, text, pattern) => Box::pin(self.match_operator(*negated, text, pattern)),
            Expr::And(left, right) => {
                Box::pin(async move { Ok(truth(self.condition(left).await? && self.condition(right).await?)) })
            }
            Expr::Or(left, right) => {
                Box::pin(async move { Ok(truth(self.condition(left).await? || self.condition(right).await?)) })
            }
            Expr::Cond(condition, yes, no) => Box::pin(self.choice(condition, yes, no)),
            Expr::Concat(left, right) => Box::pin(self.concatenation(left, right)),
            Expr::In(subscript, array) => Box::pin(self.membership(subscript, array)),
            Expr::IncDec(target, step, is_prefix) => Box::pin(self.increment(target, *step, *is_prefix)),
            Expr::Call(function, arguments) => Box::pin(self.call_function(*function, arguments)),
            Expr::Indirect(name, arguments) => Box::pin(self.indirect_call(name, arguments)),
            Expr::Builtin(function, arguments) if Self::takes_values(*function) => Box::pin(async move {
                let values = self.eval_all(arguments).await?;
                self.call_on_values(*function, &values)
            }),
            Expr::Builtin(function, arguments) => Box::pin(self.call_builtin(*function, arguments)),
            Expr::Getline(source, target) => Box::pin(self.getline(source, target.as_deref())),
            Expr::List(subscript) => Box::pin(async move { Ok(Value::Str(self.subscript(subscript).await?)) }),
        }
    }

    fn match_record(&mut self, id: u32) -> Evaluation<Value> {
        let regex = self.literal_regex(id);
        self.rebuild_record()?;
        Ok(truth(regex.is_match(&self.record.text)))
    }

    async fn element_value(&mut self, variable: VarRef, subscripts: &[Vec<Expr>]) -> Evaluation<Value> {
        let (array, key) = self.element_place(variable, subscripts).await?;
        self.load_element(array, &key)
    }

    async fn field_value(&mut self, index: &Expr) -> Evaluation<Value> {
        let number = self.eval_number(index).await?;
        let index = self.field_index(number)?;
        self.field(index)
    }

    /// Assigns a value to a place. The value is evaluated before the place, as in gawk.
    async fn assignment(&mut self, target: &Expr, operator: Option<BinOp>, value: &Expr) -> Evaluation<Value> {
        let value = self.eval(value).await?;
        let place = self.place(target).await?;
        let value = match operator {
            None => value,
            Some(operator) => {
                let current = self.load(&place)?.to_num();
                Value::Num(self.calculate(operator, current, value.to_num())?)
            }
        };
        self.store(place, value.clone())?;
        Ok(value)
    }

    async fn arithmetic(&mut self, operator: BinOp, left: &Expr, right: &Expr) -> Evaluation<Value> {
        let left = self.eval_number(left).await?;
        let right = self.eval_number(right).await?;
        Ok(Value::Num(self.calculate(operator, left, right)?))
    }

    fn calculate(&mut self, operator: BinOp, left: f64, right: f64) -> Evaluation<f64> {
        Ok(match operator {
            BinOp::Add => left + right,
            BinOp::Sub => left - right,
            BinOp::Mul => left * right,
            BinOp::Div if right == 0.0 => return Err(self.fatal_error("division by zero attempted")),
            BinOp::Div => left / right,
            BinOp::Mod if right == 0.0 => return Err(self.fatal_error("division by zero attempted in `%'")),
            BinOp::Mod => left % right,
            BinOp::Pow => nan_as_on_x86(power(left, right), &[left, right]),
        })
    }

    async fn comparison(&mut self, operator: CmpOp, left: &Expr, right: &Expr) -> Evaluation<Value> {
        let left = self.eval(left).await?;
        let right = self.eval(right).await?;
        Ok(truth(self.compare_values(operator, &left, &right)))
    }

    fn compare_values(&self, operator: CmpOp, left: &Value, right: &Value) -> bool {
        let are_numbers = left.is_numeric() && right.is_numeric();
        if are_numbers && (left.to_num().is_nan() || right.to_num().is_nan()) {
            return matches!(operator, CmpOp::Ne);
        }
        let ordering = if self.settings.ignorecase && !are_numbers {
            self.text_of(left).to_lowercase().cmp(&self.text_of(right).to_lowercase())
        } else {
            compare(left, right, &self.settings.convfmt)
        };
        match operator {
            CmpOp::Lt => ordering == Ordering::Less,
            CmpOp::Le => ordering != Ordering::Greater,
            CmpOp::Gt => ordering == Ordering::Greater,
            CmpOp::Ge => ordering != Ordering::Less,
            CmpOp::Eq => ordering == Ordering::Equal,
            CmpOp::Ne => ordering != Ordering::Equal,
        }
    }

    async fn match_operator(&mut self, negated: bool, text: &Expr, pattern: &Expr) -> Evaluation<Value> {
        let text = self.eval_text(text).await?;
        let regex = self.regex_operand(pattern).await?;
        Ok(truth(regex.is_match(&text) != negated))
    }

    async fn choice(&mut self, condition: &Expr, yes: &Expr, no: &Expr) -> Evaluation<Value> {
        let chosen = if self.condition(condition).await? { yes } else { no };
        self.eval(chosen).await
    }

    async fn concatenation(&mut self, left: &Expr, right: &Expr) -> Evaluation<Value> {
        let mut text = self.eval_text(left).await?;
        let right = self.eval_text(right).await?;
        self.string_fits(text.len() + right.len())?;
        text.push_str(&right);
        Ok(Value::Str(text))
    }

    async fn membership(&mut self, subscript: &[Expr], array: &Expr) -> Evaluation<Value> {
        let key = self.subscript(subscript).await?;
        let array = self.array_of_expression(array).await?;
        Ok(truth(self.element(array, &key).is_some()))
    }

    async fn increment(&mut self, target: &Expr, step: f64, is_prefix: bool) -> Evaluation<Value> {
        let place = self.place(target).await?;
        let old = self.load(&place)?.to_num();
        let new = old + step;
        self.store(place, Value::Num(new))?;
        Ok(Value::Num(if is_prefix { new } else { old }))
    }

    /// Calls the function whose name an expression yields: `@name(...)`.
    async fn indirect_call(&mut self, name: &Expr, arguments: &[Expr]) -> Evaluation<Value> {
        let name = self.eval_text(name).await?;
        let defined = self.program.funcs.iter().position(|function| function.name == name && function.defined);
        if let Some(function) = defined {
            return Box::pin(self.call_function(function as u32, arguments)).await;
        }
        if let Some(function) = BuiltinFunction::from_name(&name) {
            let (fewest, most) = function.arity();
            if !(fewest..=most).contains(&arguments.len()) {
                let given = arguments.len();
                let message = format!("{given} is invalid as number of arguments for {name}");
                return Err(self.fatal_error(&message));
            }
            return Box::pin(self.call_builtin(function, arguments)).await;
        }
        Err(self.fatal_error(&format!("function `{}' not defined", truncate(&name, 100))))
    }
}

/// Returns how much an expression counts for in the depth of evaluation: what does much by itself keeps more on the
/// stack.
fn stack_use(expression: &Expr) -> usize {
    match expression {
        Expr::Builtin(function, _) if !Interpreter::takes_values(*function) => 6,
        Expr::Getline(..) | Expr::Indirect(..) => 6,
        _ => 1,
    }
}

/// Returns the number that a truth value is.
pub(super) fn truth(is_true: bool) -> Value {
    Value::Num(if is_true { 1.0 } else { 0.0 })
}

/// Returns the result of a computation; a NaN made of numbers is a negative one, as on x86-64, where gawk prints `-nan`.
pub(super) fn nan_as_on_x86(result: f64, operands: &[f64]) -> f64 {
    if result.is_nan() && !operands.iter().any(|operand| operand.is_nan()) { -f64::NAN } else { result }
}
/// Returns a power. One with a whole exponent is a product, as in gawk, whose rounding differs from that of `pow`.
fn power(base: f64, exponent: f64) -> f64 {
    /// Exponents up to this one are computed by products.
    const LARGEST_EXPONENT: f64 = i64::MAX as f64;
    if exponent.fract() != 0.0 || !exponent.is_finite() || exponent.abs() >= LARGEST_EXPONENT {
        return base.powf(exponent);
    }
    if exponent == 0.0 {
        return 1.0;
    }
    let (mut factor, mut product, mut rest) = (base, 1.0, exponent.abs() as u64);
    while rest > 1 {
        if rest % 2 == 1 {
            product *= factor;
        }
        factor *= factor;
        rest /= 2;
    }
    if exponent < 0.0 { 1.0 / (product * factor) } else { product * factor }
}
