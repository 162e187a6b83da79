//! Binary operators on values.

use std::rc::Rc;

use super::ast::Operator;
use super::failure::Failure;
use super::value::{Array, MAX_DEPTH, Object, TooDeep, Val};

/// Length of the longest string that `*` produces.
const MAX_REPEATED: f64 = 536_870_911.0;

/// Applies an operator to two values.
pub(crate) fn binary(operator: Operator, left: Val, right: Val) -> Result<Val, Failure> {
    match operator {
        Operator::Add => add(left, right),
        Operator::Subtract => subtract(left, right),
        Operator::Multiply => multiply(left, right),
        Operator::Divide => divide(left, right),
        Operator::Remainder => remainder(&left, &right),
        Operator::Equal => Ok(Val::Bool(left.equals(&right)?)),
        Operator::NotEqual => Ok(Val::Bool(!left.equals(&right)?)),
        Operator::Less => Ok(Val::Bool(left.compare(&right)?.is_lt())),
        Operator::LessEqual => Ok(Val::Bool(left.compare(&right)?.is_le())),
        Operator::Greater => Ok(Val::Bool(left.compare(&right)?.is_gt())),
        Operator::GreaterEqual => Ok(Val::Bool(left.compare(&right)?.is_ge())),
    }
}

/// Adds two values; null adds nothing.
pub(crate) fn add(left: Val, right: Val) -> Result<Val, Failure> {
    Ok(match (left, right) {
        (Val::Null, other) | (other, Val::Null) => other,
        (Val::Num(left), Val::Num(right)) => Val::from(left.value() + right.value()),
        (Val::Str(mut left), Val::Str(right)) => {
            Rc::make_mut(&mut left).push_str(&right);
            Val::Str(left)
        }
        (Val::Arr(mut left), Val::Arr(right)) => {
            Rc::make_mut(&mut left).0.extend(right.0.iter().cloned());
            Val::Arr(left)
        }
        (Val::Obj(mut left), Val::Obj(right)) => {
            let members = right.0.iter().map(|(name, value)| (Rc::clone(name), value.clone()));
            Rc::make_mut(&mut left).0.extend(members);
            Val::Obj(left)
        }
        (left, right) => return Err(Failure::between(&left, &right, "cannot be added")),
    })
}

fn subtract(left: Val, right: Val) -> Result<Val, Failure> {
    match (left, right) {
        (Val::Num(left), Val::Num(right)) => Ok(Val::from(left.value() - right.value())),
        (Val::Arr(left), Val::Arr(right)) => {
            let mut kept = Vec::new();
            for element in &left.0 {
                if !has_element(&right.0, element)? {
                    kept.push(element.clone());
                }
            }
            Ok(Val::array(kept))
        }
        (left, right) => Err(Failure::between(&left, &right, "cannot be subtracted")),
    }
}

fn has_element(elements: &[Val], wanted: &Val) -> Result<bool, Failure> {
    for element in elements {
        if element.equals(wanted)? {
            return Ok(true);
        }
    }
    Ok(false)
}

fn multiply(left: Val, right: Val) -> Result<Val, Failure> {
    match (left, right) {
        (Val::Num(left), Val::Num(right)) => Ok(Val::from(left.value() * right.value())),
        (Val::Str(text), Val::Num(times)) | (Val::Num(times), Val::Str(text)) => repeat(&text, times.value()),
        (Val::Obj(left), Val::Obj(right)) => {
            let merged = merge(left, &right, 0).map_err(|TooDeep| Failure::new("Object merge too deep"))?;
            Ok(Val::Obj(merged))
        }
        (left, right) => Err(Failure::between(&left, &right, "cannot be multiplied")),
    }
}

fn repeat(text: &str, times: f64) -> Result<Val, Failure> {
    if times.is_nan() || times < 0.0 {
        return Ok(Val::Null);
    }
    if times.trunc() * text.len() as f64 >= MAX_REPEATED {
        return Err(Failure::new("Repeat string result too long"));
    }
    // In range, because the product is.
    Ok(Val::string(text.repeat(if text.is_empty() { 0 } else { times as usize })))
}

/// Merges objects recursively.
fn merge(mut left: Rc<Object>, right: &Object, depth: usize) -> Result<Rc<Object>, TooDeep> {
    if depth > MAX_DEPTH {
        return Err(TooDeep);
    }
    let members = &mut Rc::make_mut(&mut left).0;
    for (name, value) in &right.0 {
        let merged = match (members.get_mut(name).map(std::mem::take), value) {
            (Some(Val::Obj(inner)), Val::Obj(value)) => Val::Obj(merge(inner, value, depth + 1)?),
            _ => value.clone(),
        };
        members.insert(Rc::clone(name), merged);
    }
    Ok(left)
}

fn divide(left: Val, right: Val) -> Result<Val, Failure> {
    match (&left, &right) {
        (Val::Num(_), Val::Num(divisor)) if divisor.value() == 0.0 => {
            Err(Failure::between(&left, &right, "cannot be divided because the divisor is zero"))
        }
        (Val::Num(dividend), Val::Num(divisor)) => Ok(Val::from(dividend.value() / divisor.value())),
        (Val::Str(text), Val::Str(separator)) => Ok(split(text, separator)),
        _ => Err(Failure::between(&left, &right, "cannot be divided")),
    }
}

/// Splits a text; an empty separator splits it into characters.
pub(crate) fn split(text: &str, separator: &str) -> Val {
    if text.is_empty() {
        return Val::array(Vec::new());
    }
    if separator.is_empty() {
        return text.chars().map(Val::string).collect();
    }
    text.split(separator).map(Val::from).collect()
}

/// Converts an operand of `%` to an integer, as C would.
fn integer(value: f64) -> i64 {
    // Saturates.
    value as i64
}

fn remainder(left: &Val, right: &Val) -> Result<Val, Failure> {
    let (Val::Num(dividend), Val::Num(divisor)) = (left, right) else {
        return Err(Failure::between(left, right, "cannot be divided (remainder)"));
    };
    if dividend.value().is_nan() || divisor.value().is_nan() {
        return Ok(Val::from(f64::NAN));
    }
    let (dividend, divisor) = (integer(dividend.value()), integer(divisor.value()).unsigned_abs());
    if divisor == 0 {
        return Err(Failure::between(left, right, "cannot be divided (remainder) because the divisor is zero"));
    }
    let rest = (dividend.unsigned_abs() % divisor) as f64;
    Ok(Val::from(if dividend < 0 && rest != 0.0 { -rest } else { rest }))
}

/// Negates a number, and refuses other values.
pub(crate) fn negate(value: &Val) -> Result<Val, Failure> {
    match value {
        Val::Num(number) => Ok(Val::Num(number.negated())),
        other => Err(Failure::about(other, "cannot be negated")),
    }
}

/// Flattens an array to the given depth, without recursion.
pub(crate) fn flatten(elements: Vec<Val>, depth: f64) -> Vec<Val> {
    let mut out = Vec::new();
    let mut pending: Vec<(Val, f64)> = elements.into_iter().rev().map(|it| (it, depth)).collect();
    while let Some((value, depth)) = pending.pop() {
        match value {
            Val::Arr(array) if depth > 0.0 => {
                let Array(elements) = &*array;
                pending.extend(elements.iter().rev().map(|it| (it.clone(), depth - 1.0)));
            }
            other => out.push(other),
        }
    }
    out
}
