//! Statistics of one list: its summary and its quantiles.

use statrs::statistics::Statistics;

use crate::sample::{Error, check, count, finite, variance};

/// Summary of a list.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Description {
    /// Number of values.
    pub count: u32,
    /// Arithmetic mean.
    pub mean: f64,
    /// Sample standard deviation (divisor n - 1); `None` for a single value.
    pub std_dev: Option<f64>,
    /// Smallest value.
    pub min: f64,
    /// Largest value.
    pub max: f64,
    /// Median of the values.
    pub median: f64,
}

/// Summarises a list of values. The mean is also computed by Welford's recurrence.
///
/// # Errors
///
/// `Empty`, `NotFinite`; `NotRepresentable` if a moment does not fit a float.
pub fn describe(values: &[f64]) -> Result<Description, Error> {
    check("values", values)?;
    let sorted = sorted(values);
    let std_dev = match values {
        [_] => None,
        _ => Some(variance(values)?.sqrt()),
    };
    Ok(Description {
        count: count(values),
        mean: finite("mean", values.mean())?,
        std_dev,
        min: sorted[0],
        max: sorted[sorted.len() - 1],
        median: f64::midpoint(sorted[(sorted.len() - 1) / 2], sorted[sorted.len() / 2]),
    })
}

/// Returns the quantile for each probability, by linear interpolation (type 7 of Hyndman and Fan, as in R, NumPy and
/// spreadsheets; `statrs` only has type 8).
///
/// # Errors
///
/// `Empty`, `NotFinite`; `Parameter` for a probability outside of 0 to 1.
pub fn quantiles(values: &[f64], probabilities: &[f64]) -> Result<Vec<f64>, Error> {
    check("values", values)?;
    if let Some(index) = probabilities.iter().position(|p| !(0.0..=1.0).contains(p)) {
        let reason = format!("`probabilities[{index}]` is {}: it must be from 0 to 1", probabilities[index]);
        return Err(Error::Parameter { reason, index: Some(index) });
    }
    let sorted = sorted(values);
    Ok(probabilities.iter().map(|&p| quantile(&sorted, p)).collect())
}

/// Interpolates a quantile. `sorted` is not empty, and `p` is within 0 to 1.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 <= place <= length - 1")]
fn quantile(sorted: &[f64], p: f64) -> f64 {
    let place = f64::from(count(sorted) - 1) * p;
    let below = sorted[place as usize];
    let above = sorted[(place as usize + 1).min(sorted.len() - 1)];
    let share = place.fract();
    let step = (above - below) * share;
    // The difference of huge values with opposite signs overflows; their weighted sum does not.
    if step.is_finite() { below + step } else { below * (1.0 - share) + above * share }
}

fn sorted(values: &[f64]) -> Vec<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    sorted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn summary_describes_its_sample() {
        let expected = Description { count: 3, mean: 2.0, std_dev: Some(1.0), min: 1.0, max: 3.0, median: 2.0 };
        assert_eq!(describe(&[3.0, 1.0, 2.0]), Ok(expected));
        assert_eq!(describe(&[1.0, 4.0, 2.0, 3.0]).expect("finite").median, 2.5);
    }

    #[test]
    fn summary_of_a_single_value_has_no_deviation() {
        let one = describe(&[7.5]).expect("finite");
        assert_eq!((one.count, one.mean, one.std_dev, one.median), (1, 7.5, None, 7.5));
    }

    // NIST StRD, "NumAcc4": 1001 values around 1e7, certified mean 10000000.2 and deviation 0.1. A sum of squares has
    // no correct digit here; 1e-8 is what the data itself allows in binary.
    #[test]
    fn summary_of_values_far_from_zero_keeps_its_digits() {
        let mut values = vec![10_000_000.2];
        values.extend([10_000_000.1, 10_000_000.3].repeat(500));
        let result = describe(&values).expect("finite");
        assert!((result.mean - 10_000_000.2).abs() < 1e-8, "{result:?}");
        assert!((result.std_dev.expect("many values") - 0.1).abs() < 1e-8, "{result:?}");
    }

    #[test]
    fn overflow_is_an_error() {
        let huge = describe(&[f64::MAX, f64::MIN]);
        assert!(matches!(huge, Err(Error::NotRepresentable { .. })), "{huge:?}");
        assert!(matches!(describe(&[]), Err(Error::Empty { .. })));
        assert!(matches!(describe(&[f64::NAN]), Err(Error::NotFinite { index: 0, .. })));
    }

    // quantile(c(1, 2, 4, 8, 16), c(0, 0.1, 0.25, 0.5, 0.9, 1)) in R.
    #[test]
    fn quantiles_are_those_of_r() {
        let result = quantiles(&[16.0, 2.0, 8.0, 1.0, 4.0], &[0.0, 0.1, 0.25, 0.5, 0.9, 1.0]).expect("finite");
        for (got, want) in result.iter().zip([1.0, 1.4, 2.0, 4.0, 12.8, 16.0]) {
            assert!((got - want).abs() < 1e-12, "{result:?}");
        }
    }

    #[test]
    fn quantiles_at_the_edges_are_exact_and_beyond_are_refused() {
        assert_eq!(quantiles(&[5.0], &[0.0, 0.3, 1.0]), Ok(vec![5.0; 3]));
        assert_eq!(quantiles(&[f64::MIN, f64::MAX], &[0.5]), Ok(vec![0.0]));
        for bad in [-0.1, 1.1, f64::NAN] {
            let error = quantiles(&[1.0], &[0.5, bad]);
            assert!(matches!(error, Err(Error::Parameter { index: Some(1), .. })), "{error:?}");
        }
    }
}
