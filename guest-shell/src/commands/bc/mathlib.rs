//! The functions of `bc -l`: sine, cosine, arc tangent, logarithm, exponential and Bessel functions.
//!
//! Each sums the power series of its function ("Abramowitz and Stegun", 4.2.1, 4.3.65, 4.4.42, 4.1.27, 9.1.10) with digits
//! beyond the scale of the result, which it cuts off at the end. The number of guard digits and the reduction of the
//! argument follow the numerical method of GNU bc, because the last digits depend on them; the code is our own, and generated
//! programs compare its digits with GNU's.

use std::cmp::Ordering;

use super::super::decimal::{Decimal, Fault};
use super::super::effort::Effort;

/// Function of the library.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MathFunction {
    /// Sine function, written `s(x)`.
    Sine,
    /// Cosine function, written `c(x)`.
    Cosine,
    /// Arc tangent function, written `a(x)`.
    ArcTangent,
    /// Natural logarithm function, written `l(x)`.
    Logarithm,
    /// Exponential function, written `e(x)`.
    Exponential,
    /// Bessel function of order n, written `j(n, x)`.
    Bessel,
}

impl MathFunction {
    /// List of all functions, by name.
    pub(crate) const ALL: [(&'static str, Self); 6] = [
        ("s", Self::Sine),
        ("c", Self::Cosine),
        ("a", Self::ArcTangent),
        ("l", Self::Logarithm),
        ("e", Self::Exponential),
        ("j", Self::Bessel),
    ];

    /// Returns the number of arguments.
    pub(crate) fn arity(self) -> usize {
        if self == Self::Bessel { 2 } else { 1 }
    }

    /// Computes the value at a scale.
    pub(crate) fn value(self, arguments: &[&Decimal], scale: usize, effort: &mut Effort) -> Result<Decimal, Fault> {
        let mut series = Series { scale, effort };
        match (self, arguments) {
            (Self::Sine, [x]) => series.sine(x),
            (Self::Cosine, [x]) => series.cosine(x),
            (Self::ArcTangent, [x]) => series.arc_tangent(x),
            (Self::Logarithm, [x]) => series.logarithm(x),
            (Self::Exponential, [x]) => series.exponential(x),
            (Self::Bessel, [n, x]) => series.bessel(n, x),
            _ => Ok(Decimal::zero()),
        }
    }
}

/// Precomputed digits of a quarter of pi and of the arc tangent of 1/5, with the scale up to which they suffice.
const KNOWN: [(usize, &str, &str); 3] = [
    (25, "7853981633974483096156608", "1973955598498807583700497"),
    (40, "7853981633974483096156608458198757210492", "1973955598498807583700497651947902934475"),
    (
        60,
        "785398163397448309615660845819875721049292349843776455243736",
        "197395559849880758370049765194790293447585103787852101517688",
    ),
];

/// Arithmetic at a scale, and the power series.
struct Series<'a> {
    scale: usize,
    effort: &'a mut Effort,
}

/// Returns a fraction from its digits after the point.
fn fraction(digits: &str) -> Decimal {
    Decimal::from_digits(digits.parse().unwrap_or_default(), digits.len())
}

fn whole(value: u64) -> Decimal {
    Decimal::from(value)
}

fn one() -> Decimal {
    whole(1)
}

type Value = Result<Decimal, Fault>;

impl Series<'_> {
    fn product(&mut self, one: &Decimal, other: &Decimal) -> Value {
        Ok(one.multiply(other, self.scale, self.effort)?)
    }

    fn quotient(&mut self, one: &Decimal, other: &Decimal) -> Value {
        one.divide(other, self.scale, self.effort)
    }

    fn sum(&mut self, one: &Decimal, other: &Decimal) -> Value {
        Ok(one.add(other, self.effort)?)
    }

    fn difference(&mut self, one: &Decimal, other: &Decimal) -> Value {
        Ok(one.subtract(other, self.effort)?)
    }

    /// Truncates a value to a scale.
    fn cut(&mut self, value: &Decimal, scale: usize) -> Value {
        value.divide(&one(), scale, self.effort)
    }

    /// Returns the scale times tenths, truncated, plus some digits.
    fn tenths(&self, tenths: usize, more: usize) -> usize {
        self.scale.saturating_mul(tenths) / 10 + more
    }

    fn exponential(&mut self, x: &Decimal) -> Value {
        let scale = self.scale;
        let negative = x.is_negative() && !x.is_zero();
        let mut x = if negative { x.negated() } else { x.clone() };
        // A result of the size of e^x has .44 x digits before the point.
        let larger = self.product(&fraction("44"), &x)?;
        let digits = self.sum(&whole(6), &larger)?.to_i64().unwrap_or(i64::MAX);
        let digits = scale.saturating_add(usize::try_from(digits).unwrap_or(usize::MAX));
        // The argument is halved until it is at most 1.
        self.scale = x.scale() + 1;
        let mut halvings = 0_u64;
        while x.compare(&one()) == Ordering::Greater {
            halvings += 1;
            x = self.quotient(&x, &whole(2))?;
            self.scale += 1;
        }
        self.scale = digits;
        let mut total = self.sum(&one(), &x)?;
        let (mut power, mut factorial) = (x.clone(), one());
        for index in 2.. {
            power = self.product(&power, &x)?;
            factorial = self.product(&factorial, &whole(index))?;
            let term = self.quotient(&power, &factorial)?;
            if term.is_zero() {
                break;
            }
            total = self.sum(&total, &term)?;
        }
        for _ in 0..halvings {
            total = self.product(&total, &total)?;
        }
        if negative { one().divide(&total, scale, self.effort) } else { self.cut(&total, scale) }
    }

    fn logarithm(&mut self, x: &Decimal) -> Value {
        let scale = self.scale;
        if x.is_zero() || x.is_negative() {
            // GNU's result: a large negative number, 1 - 10^scale.
            let huge = whole(10).raise(&whole(u64::try_from(scale).unwrap_or(u64::MAX)), 0, self.effort)?;
            let value = self.difference(&one(), &huge)?;
            return self.cut(&value, scale);
        }
        self.scale = scale.saturating_add(6);
        let mut x = x.clone();
        let mut factor = whole(2);
        let half = fraction("5");
        // Square roots bring the argument between one half and 2.
        while x.compare(&whole(2)) != Ordering::Less || x.compare(&half) != Ordering::Greater {
            factor = self.product(&factor, &whole(2))?;
            x = x.square_root(self.scale, self.effort)?;
        }
        let (above, below) = (self.difference(&x, &one())?, self.sum(&x, &one())?);
        let mut power = self.quotient(&above, &below)?;
        let mut total = power.clone();
        let square = self.product(&power, &power)?;
        for index in (3..).step_by(2) {
            power = self.product(&power, &square)?;
            let term = self.quotient(&power, &whole(index))?;
            if term.is_zero() {
                break;
            }
            total = self.sum(&total, &term)?;
        }
        let total = self.product(&factor, &total)?;
        self.cut(&total, scale)
    }

    fn sine(&mut self, x: &Decimal) -> Value {
        let scale = self.scale;
        self.scale = self.tenths(11, 2);
        let quarter = self.arc_tangent(&one())?;
        let negative = x.is_negative() && !x.is_zero();
        let mut x = if negative { x.negated() } else { x.clone() };
        // Multiples of pi are subtracted.
        self.scale = 0;
        let quarters = self.quotient(&x, &quarter)?;
        let quarters = self.sum(&quarters, &whole(2))?;
        let turns = self.quotient(&quarters, &whole(4))?;
        let turn = self.product(&whole(4), &turns)?;
        let off = self.product(&turn, &quarter)?;
        x = self.difference(&x, &off)?;
        let (_, odd) = turns.divide_remainder(&whole(2), 0, self.effort)?;
        if !odd.is_zero() {
            x = x.negated();
        }
        self.scale = scale.saturating_add(2);
        let mut term = x.clone();
        let mut total = x.clone();
        let square = self.product(&x.negated(), &x)?;
        for index in (3_u64..).step_by(2) {
            let step = self.quotient(&square, &whole(index * (index - 1)))?;
            term = self.product(&term, &step)?;
            if term.is_zero() {
                break;
            }
            total = self.sum(&total, &term)?;
        }
        let total = if negative { total.negated() } else { total };
        self.cut(&total, scale)
    }

    fn cosine(&mut self, x: &Decimal) -> Value {
        let scale = self.scale;
        self.scale = self.tenths(12, 0);
        let quarter = self.arc_tangent(&one())?;
        let half = self.product(&quarter, &whole(2))?;
        let shifted = self.sum(x, &half)?;
        let value = self.sine(&shifted)?;
        self.cut(&value, scale)
    }

    /// Returns a quarter of pi, or the arc tangent of 1/5, if the precomputed digits suffice.
    fn known(&self, x: &Decimal) -> Option<Decimal> {
        let is_one = x.compare(&one()) == Ordering::Equal;
        if !is_one && x.compare(&fraction("2")) != Ordering::Equal {
            return None;
        }
        let (_, quarter, fifth) = KNOWN.iter().find(|(scale, ..)| self.scale <= *scale)?;
        Some(fraction(if is_one { quarter } else { fifth }))
    }

    fn arc_tangent(&mut self, x: &Decimal) -> Value {
        let negative = x.is_negative() && !x.is_zero();
        let mut x = if negative { x.negated() } else { x.clone() };
        let sign = |value: Decimal| if negative { value.negated() } else { value };
        let scale = self.scale;
        if let Some(value) = self.known(&x) {
            return Ok(sign(self.cut(&value, scale)?));
        }
        // a(x) = a(1/5) + a((x - 1/5) / (1 + x/5)), until the argument is at most 1/5.
        let fifth = fraction("2");
        let mut known = Decimal::zero();
        if x.compare(&fifth) == Ordering::Greater {
            self.scale = scale.saturating_add(5);
            known = self.arc_tangent(&fifth)?;
        }
        self.scale = scale.saturating_add(3);
        let mut steps = 0_u64;
        while x.compare(&fifth) == Ordering::Greater {
            steps += 1;
            let part = self.product(&x, &fifth)?;
            let (above, below) = (self.difference(&x, &fifth)?, self.sum(&one(), &part)?);
            x = self.quotient(&above, &below)?;
        }
        let mut power = x.clone();
        let mut total = x.clone();
        let square = self.product(&x.negated(), &x)?;
        for index in (3..).step_by(2) {
            power = self.product(&power, &square)?;
            let term = self.quotient(&power, &whole(index))?;
            if term.is_zero() {
                break;
            }
            total = self.sum(&total, &term)?;
        }
        self.scale = scale;
        let taken = self.product(&whole(steps), &known)?;
        let total = self.sum(&taken, &total)?;
        Ok(sign(self.cut(&total, scale)?))
    }

    fn bessel(&mut self, order: &Decimal, x: &Decimal) -> Value {
        let scale = self.scale;
        let order = self.cut(order, 0)?;
        let negative = order.is_negative();
        let order = order.absolute();
        let (_, odd) = order.divide_remainder(&whole(2), 0, self.effort)?;
        let negate = negative && !odd.is_zero();
        // The factor (x/2)^n / n!.
        self.scale = 0;
        let count = u64::try_from(order.to_i64().ok_or(Fault::HugeExponent)?).unwrap_or_default();
        let mut factorial = one();
        for index in 2..=count {
            factorial = self.product(&factorial, &whole(index))?;
        }
        self.scale = scale.saturating_mul(15) / 10;
        let above = x.raise(&order, self.scale, self.effort)?;
        let below = whole(2).raise(&order, self.scale, self.effort)?;
        let factor = self.quotient(&above, &below)?;
        let factor = self.quotient(&factor, &factorial)?;
        let minus = self.product(&x.negated(), x)?;
        let square = self.quotient(&minus, &whole(4))?;
        // Digits before the point are needed in addition to those after it.
        self.scale = self.scale.saturating_add(factor.length() - factor.scale().min(factor.length()));
        let (mut term, mut total) = (one(), one());
        for index in 1_u64.. {
            term = self.product(&term, &square)?;
            term = self.quotient(&term, &whole(index))?;
            let below = self.sum(&order, &whole(index))?;
            term = self.quotient(&term, &below)?;
            if term.is_zero() {
                break;
            }
            total = self.sum(&total, &term)?;
        }
        self.scale = scale;
        let factor = if negate { factor.negated() } else { factor };
        let value = self.product(&factor, &total)?;
        self.cut(&value, scale)
    }
}
