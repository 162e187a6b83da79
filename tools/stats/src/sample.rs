//! Checks of samples, their errors, and the variance, which several statistics need.

use statrs::statistics::Statistics;

/// Reason why a statistic cannot be computed. `list` is the name of the parameter that caused it.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A list is empty.
    #[error("`{list}` is empty")]
    Empty {
        /// Name of the parameter.
        list: &'static str,
    },
    /// A value is NaN or infinite.
    #[error("`{list}[{index}]` is {value}: only finite numbers have statistics")]
    NotFinite {
        /// Name of the parameter.
        list: &'static str,
        /// Position of the first such value.
        index: usize,
        /// Value that is not finite.
        value: f64,
    },
    /// Two lists that belong together differ in length.
    #[error("`x` has {x} values and `y` has {y}: they must be pairs")]
    LengthsDiffer {
        /// Length of `x`.
        x: usize,
        /// Length of `y`.
        y: usize,
    },
    /// There are too few values.
    #[error("{have} given where at least {need} are needed")]
    TooFew {
        /// Number of values.
        have: usize,
        /// Number of values that are needed.
        need: usize,
    },
    /// All values of a list are equal.
    #[error("all values of `{list}` are equal, so the result is not defined")]
    Constant {
        /// Name of the parameter.
        list: &'static str,
    },
    /// A parameter other than the data is outside its range.
    #[error("{reason}")]
    Parameter {
        /// Problem in words, with the name of the parameter.
        reason: String,
        /// Position of the invalid value, if the parameter is a list.
        index: Option<usize>,
    },
    /// The result does not fit a 64-bit float.
    #[error("the {what} is too large, or too close to zero, for a 64-bit float: scale the values")]
    NotRepresentable {
        /// Name of the computed quantity.
        what: &'static str,
    },
}

/// Checks that a list has values and that all are finite.
///
/// # Errors
/// `Empty` or `NotFinite`.
pub fn check(list: &'static str, values: &[f64]) -> Result<(), Error> {
    if values.is_empty() {
        return Err(Error::Empty { list });
    }
    match values.iter().position(|value| !value.is_finite()) {
        Some(index) => Err(Error::NotFinite { list, index, value: values[index] }),
        None => Ok(()),
    }
}

/// Returns a finite number unchanged.
///
/// # Errors
///
/// `NotRepresentable` for NaN and infinities, which result from finite values only by overflow and underflow.
pub fn finite(what: &'static str, value: f64) -> Result<f64, Error> {
    if value.is_finite() { Ok(value) } else { Err(Error::NotRepresentable { what }) }
}

/// Returns the sample variance of at least two values, by Welford's recurrence, which avoids cancellation.
///
/// # Errors
///
/// `NotRepresentable` if the variance overflows, or is zero although the values differ: results derived from it would
/// be wrong without notice.
pub fn variance(values: &[f64]) -> Result<f64, Error> {
    let variance = values.variance();
    if variance.is_normal() || is_constant(values) {
        Ok(variance)
    } else {
        Err(Error::NotRepresentable { what: "variance" })
    }
}

/// Returns the length of a list as WIT counts it: a list in 32-bit memory cannot be longer.
pub fn count(values: &[f64]) -> u32 {
    u32::try_from(values.len()).unwrap_or(u32::MAX)
}

/// Returns true if all values are equal.
pub fn is_constant(values: &[f64]) -> bool {
    values.windows(2).all(|pair| pair[0] == pair[1])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sample_check_reports_the_first_invalid_value() {
        assert_eq!(check("values", &[1.0, -0.0]), Ok(()));
        assert_eq!(check("values", &[]), Err(Error::Empty { list: "values" }));
        let error = check("y", &[1.0, f64::NEG_INFINITY, f64::NAN]).expect_err("refused");
        assert_eq!(error.to_string(), "`y[1]` is -inf: only finite numbers have statistics");
    }

    #[test]
    fn variance_that_is_not_representable_is_refused() {
        assert_eq!(variance(&[1.0, 3.0]), Ok(2.0));
        assert_eq!(variance(&[0.1; 7]), Ok(0.0));
        for scale in [1e200, 1e-200] {
            assert!(matches!(variance(&[scale, -scale]), Err(Error::NotRepresentable { .. })));
        }
    }

    #[test]
    fn list_of_equal_values_is_constant() {
        assert!(is_constant(&[2.0]) && is_constant(&[2.0, 2.0]) && is_constant(&[0.0, -0.0]));
        assert!(!is_constant(&[2.0, 2.0, 2.000_000_000_000_001]));
    }
}
