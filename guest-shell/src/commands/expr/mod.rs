//! expr builtin - evaluate expressions
//!
//! Supports arithmetic, string, and comparison operations.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

#[cfg(test)]
mod tests;

use async_trait::async_trait;

use bashkit::ExecResult;
use bashkit::Result;
use bashkit::builtins::Builtin;
use bashkit::builtins::Context;

/// The expr builtin - evaluate expressions.
///
/// Usage: expr EXPRESSION
///
/// Arithmetic: expr ARG1 + ARG2, - , \* , / , %
/// Comparison: expr ARG1 = ARG2, != , < , > , <= , >=
/// String: expr length STRING, expr substr STRING POS LEN, expr match STRING REGEX
/// Pattern: expr STRING : REGEX
pub(crate) struct Expr;

#[async_trait]
impl Builtin for Expr {
    async fn execute(&self, ctx: Context<'_>) -> Result<ExecResult> {
        if let Some(r) = bashkit::builtins::check_help_version(
            ctx.args,
            "Usage: expr EXPRESSION\n       expr OPTION\n\nPrint the value of EXPRESSION to standard output.\n\n  ARG1 + ARG2\tarithmetic sum\n  ARG1 - ARG2\tarithmetic difference\n  ARG1 * ARG2\tarithmetic product\n  ARG1 / ARG2\tarithmetic quotient\n  ARG1 % ARG2\tarithmetic remainder\n  ARG1 = ARG2\tcomparison equal\n  ARG1 != ARG2\tcomparison not equal\n  ARG1 < ARG2\tcomparison less than\n  ARG1 > ARG2\tcomparison greater than\n  ARG1 <= ARG2\tcomparison less or equal\n  ARG1 >= ARG2\tcomparison greater or equal\n  ARG1 | ARG2\tlogical or\n  ARG1 & ARG2\tlogical and\n  length STRING\tlength of STRING\n  substr STRING POS LEN\tsubstring of STRING\n  index STRING CHARS\tindex of first CHAR in STRING\n  match STRING REGEX\tanchored pattern match\n  STRING : REGEX\tanchored pattern match\n  --help\tdisplay this help and exit\n  --version\toutput version information and exit\n",
            Some("expr (GNU coreutils) 9.1"),
        ) {
            return Ok(r);
        }
        if ctx.args.is_empty() {
            let message = "expr: missing operand\nTry 'expr --help' for more information.\n";
            return Ok(ExecResult::err(message, 2));
        }

        let args: Vec<&str> = ctx.args.iter().map(|s| s.as_str()).collect();
        match evaluate(&args) {
            Ok(val) => {
                let exit_code = if val == "0" || val.is_empty() { 1 } else { 0 };
                Ok(ExecResult::with_code(format!("{}\n", val), exit_code))
            }
            Err(msg) => Ok(ExecResult::err(format!("expr: {}\n", msg), 2)),
        }
    }
}

fn evaluate(args: &[&str]) -> std::result::Result<String, String> {
    let mut parser = Parser { args, at: 0 };
    let value = parser.or(true)?;
    match parser.peek() {
        None => Ok(value),
        Some(extra) => Err(format!("syntax error: unexpected argument '{extra}'")),
    }
}

/// Largest nesting depth of parentheses.
const DEEPEST: usize = 200;

/// Recursive-descent parser with GNU's precedences: `|`, `&`, comparisons, sums, products, `:`, functions and single
/// words. As in GNU expr, `|` and `&` only compute the operand that is needed.
struct Parser<'a> {
    args: &'a [&'a str],
    at: usize,
}

fn is_null(value: &str) -> bool {
    let digits = value.strip_prefix('-').unwrap_or(value);
    value.is_empty() || (!digits.is_empty() && digits.bytes().all(|byte| byte == b'0'))
}

fn integer(value: &str) -> std::result::Result<i128, String> {
    let digits = value.strip_prefix('-').unwrap_or(value);
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err("non-integer argument".to_string());
    }
    value.parse().map_err(|_| "integer overflow".to_string())
}

fn flag(value: bool) -> String {
    String::from(if value { "1" } else { "0" })
}

type Value = std::result::Result<String, String>;

impl Parser<'_> {
    fn peek(&self) -> Option<&str> {
        self.args.get(self.at).copied()
    }

    /// Consumes the next word if it is one of these.
    fn take(&mut self, words: &[&'static str]) -> Option<&'static str> {
        let next = self.peek()?;
        let found = words.iter().copied().find(|word| *word == next)?;
        self.at += 1;
        Some(found)
    }

    fn or(&mut self, needed: bool) -> Value {
        let mut left = self.and(needed)?;
        while self.take(&["|"]).is_some() {
            let right = self.and(needed && is_null(&left))?;
            if is_null(&left) {
                left = if is_null(&right) { flag(false) } else { right };
            }
        }
        Ok(left)
    }

    fn and(&mut self, needed: bool) -> Value {
        let mut left = self.comparison(needed)?;
        while self.take(&["&"]).is_some() {
            let right = self.comparison(needed && !is_null(&left))?;
            if is_null(&left) || is_null(&right) {
                left = flag(false);
            }
        }
        Ok(left)
    }

    fn comparison(&mut self, needed: bool) -> Value {
        let mut left = self.sum(needed)?;
        while let Some(op) = self.take(&["<", "<=", "=", "==", "!=", ">=", ">"]) {
            let right = self.sum(needed)?;
            let order = match (integer(&left), integer(&right)) {
                (Ok(left), Ok(right)) => left.cmp(&right),
                _ => left.cmp(&right),
            };
            left = flag(match op {
                "<" => order.is_lt(),
                "<=" => order.is_le(),
                ">=" => order.is_ge(),
                ">" => order.is_gt(),
                "!=" => order.is_ne(),
                _ => order.is_eq(),
            });
        }
        Ok(left)
    }

    fn sum(&mut self, needed: bool) -> Value {
        let mut left = self.product(needed)?;
        while let Some(op) = self.take(&["+", "-"]) {
            let right = self.product(needed)?;
            left = calculate(&left, op, &right, needed)?;
        }
        Ok(left)
    }

    fn product(&mut self, needed: bool) -> Value {
        let mut left = self.matching(needed)?;
        while let Some(op) = self.take(&["*", "/", "%"]) {
            let right = self.matching(needed)?;
            left = calculate(&left, op, &right, needed)?;
        }
        Ok(left)
    }

    fn matching(&mut self, needed: bool) -> Value {
        let mut left = self.function(needed)?;
        while self.take(&[":"]).is_some() {
            let right = self.function(needed)?;
            if needed {
                left = match_pattern(&left, &right)?;
            }
        }
        Ok(left)
    }

    fn function(&mut self, needed: bool) -> Value {
        match self.take(&["+", "length", "match", "index", "substr"]) {
            None => self.primary(needed),
            Some("+") => {
                self.require()?;
                self.at += 1;
                Ok(self.args[self.at - 1].to_string())
            }
            // Characters are counted in the locale, unlike most of coreutils.
            Some("length") => Ok(self.function(needed)?.chars().count().to_string()),
            Some("match") => {
                let (text, pattern) = (self.function(needed)?, self.function(needed)?);
                if needed { match_pattern(&text, &pattern) } else { Ok(text) }
            }
            Some("index") => {
                let (text, set) = (self.function(needed)?, self.function(needed)?);
                let found = text.chars().position(|c| set.contains(c));
                Ok(found.map_or(0, |at| at + 1).to_string())
            }
            Some(_) => {
                let text = self.function(needed)?;
                let (from, length) = (self.function(needed)?, self.function(needed)?);
                let number = |value: &str| integer(value).ok().and_then(|n| usize::try_from(n).ok());
                Ok(match (number(&from), number(&length)) {
                    (Some(from @ 1..), Some(length)) => text.chars().skip(from - 1).take(length).collect(),
                    _ => String::new(),
                })
            }
        }
    }

    fn require(&self) -> std::result::Result<(), String> {
        if self.at < self.args.len() {
            return Ok(());
        }
        let last = self.args.last().copied().unwrap_or_default();
        Err(format!("syntax error: missing argument after '{last}'"))
    }

    fn primary(&mut self, needed: bool) -> Value {
        self.require()?;
        if self.take(&["("]).is_some() {
            if self.args[..self.at].iter().filter(|word| **word == "(").count() > DEEPEST {
                return Err("syntax error: parentheses are nested too deeply".to_string());
            }
            let value = self.or(needed)?;
            return match (self.take(&[")"]), self.peek()) {
                (Some(_), _) => Ok(value),
                (None, Some(found)) => Err(format!("syntax error: expecting ')' instead of '{found}'")),
                (None, None) => {
                    let last = self.args.last().copied().unwrap_or_default();
                    Err(format!("syntax error: expecting ')' after '{last}'"))
                }
            };
        }
        if self.peek() == Some(")") {
            return Err("syntax error: unexpected ')'".to_string());
        }
        self.at += 1;
        Ok(self.args[self.at - 1].to_string())
    }
}

fn calculate(left: &str, op: &str, right: &str, needed: bool) -> Value {
    if !needed {
        return Ok(left.to_string());
    }
    let (left, right) = (integer(left)?, integer(right)?);
    if right == 0 && matches!(op, "/" | "%") {
        return Err("division by zero".to_string());
    }
    let result = match op {
        "+" => left.checked_add(right),
        "-" => left.checked_sub(right),
        "*" => left.checked_mul(right),
        "/" => left.checked_div(right),
        _ => left.checked_rem(right),
    };
    result.map(|result| result.to_string()).ok_or_else(|| "integer overflow".to_string())
}

/// Matches a basic regular expression at the beginning of a text. Returns the first group, or the number of matching
/// characters.
fn match_pattern(text: &str, pattern: &str) -> Value {
    let translated = crate::commands::sed::translate_posix_regex(pattern, false);
    let anchored = format!("^(?:{translated})");
    let regex = bashkit::builtins::search_common::build_regex(&anchored)
        .map_err(|_| "Invalid regular expression".to_string())?;
    let groups = regex.captures_len() > 1;
    Ok(match regex.captures(text) {
        Some(found) if groups => found.get(1).map_or("", |group| group.as_str()).to_string(),
        Some(found) => found[0].chars().count().to_string(),
        None if groups => String::new(),
        None => flag(false),
    })
}
