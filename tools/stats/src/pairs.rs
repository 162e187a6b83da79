//! Statistics of pairs: correlation and linear regression.

use statrs::function::beta::checked_beta_reg;
use statrs::statistics::{Data, OrderStatistics, RankTieBreaker, Statistics};

use crate::sample::{Error, check, count, finite, is_constant, variance};

/// Kind of correlation coefficient.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// Pearson's correlation coefficient r.
    Pearson,
    /// Spearman's rho: Pearson's r of the ranks.
    Spearman,
}

/// Measures of how two lists vary together.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Association {
    /// Coefficient of correlation, from -1 to 1.
    pub coefficient: f64,
    /// Two-sided p-value, from Student's t; `None` for two pairs.
    pub p_value: Option<f64>,
    /// Number of pairs.
    pub count: u32,
}

/// Line of least squares.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Line {
    /// Change of y for one unit of x.
    pub slope: f64,
    /// Value of y at x = 0.
    pub intercept: f64,
    /// Share of the variance of y that the line explains; `None` if y does not vary.
    pub r_squared: Option<f64>,
    /// Number of points.
    pub count: u32,
}

/// Correlates `x` and `y`.
///
/// # Errors
/// `Empty`, `NotFinite`, `LengthsDiffer`, `TooFew`, `Constant`; `NotRepresentable` if a moment does not fit a float.
pub fn correlation(x: &[f64], y: &[f64], method: Method) -> Result<Association, Error> {
    check_pairs(x, y)?;
    for (list, values) in [("x", x), ("y", y)] {
        if is_constant(values) {
            return Err(Error::Constant { list });
        }
    }
    let coefficient = match method {
        Method::Pearson => pearson(x, y)?,
        Method::Spearman => pearson(&ranks(x), &ranks(y))?,
    };
    Ok(Association { coefficient, p_value: p_value(coefficient, x.len()), count: count(x) })
}

/// Fits a line through the points.
///
/// # Errors
/// `Empty`, `NotFinite`, `LengthsDiffer`, `TooFew`; `Constant` if x does not vary; `NotRepresentable` if a moment does
/// not fit a float.
pub fn linear_fit(x: &[f64], y: &[f64]) -> Result<Line, Error> {
    check_pairs(x, y)?;
    if is_constant(x) {
        return Err(Error::Constant { list: "x" });
    }
    let slope = finite("slope", x.covariance(y) / variance(x)?)?;
    let intercept = finite("intercept", y.mean() - slope * x.mean())?;
    let r_squared = if is_constant(y) { None } else { Some(pearson(x, y)?.powi(2)) };
    Ok(Line { slope, intercept, r_squared, count: count(x) })
}

fn check_pairs(x: &[f64], y: &[f64]) -> Result<(), Error> {
    check("x", x)?;
    check("y", y)?;
    if x.len() != y.len() {
        return Err(Error::LengthsDiffer { x: x.len(), y: y.len() });
    }
    // Every line fits a single pair.
    if x.len() < 2 { Err(Error::TooFew { have: x.len(), need: 2 }) } else { Ok(()) }
}

/// Returns Pearson's r of two lists that vary. The quotient is clamped, because rounding may carry it slightly beyond
/// 1.
fn pearson(x: &[f64], y: &[f64]) -> Result<f64, Error> {
    let quotient = x.covariance(y) / variance(x)?.sqrt() / variance(y)?.sqrt();
    Ok(finite("correlation", quotient)?.clamp(-1.0, 1.0))
}

fn ranks(values: &[f64]) -> Vec<f64> {
    Data::new(values.to_vec()).ranks(RankTieBreaker::Average)
}

/// Returns the two-sided p-value. With t = r * sqrt(df / (1 - r^2)), the two tails of Student's t are the regularised
/// incomplete beta function I(df/2, 1/2) at df / (df + t^2) = 1 - r^2, so t itself, which is infinite at r = 1, is not
/// needed.
fn p_value(r: f64, pairs: usize) -> Option<f64> {
    let freedom = f64::from(u32::try_from(pairs).ok()?.checked_sub(2)?);
    checked_beta_reg(freedom / 2.0, 0.5, (1.0 - r) * (1.0 + r)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    // Anscombe's first quartet: r = 0.816420516344844, p = 0.00217, line 3.000091 + 0.500091 x, R^2 = 0.666542.
    const X: [f64; 11] = [10.0, 8.0, 13.0, 9.0, 11.0, 14.0, 6.0, 4.0, 12.0, 7.0, 5.0];
    const Y: [f64; 11] = [8.04, 6.95, 7.58, 8.81, 8.33, 9.96, 7.24, 4.26, 10.84, 4.82, 5.68];

    #[test]
    fn pearson_correlation_of_anscombe_data_is_exact() {
        let result = correlation(&X, &Y, Method::Pearson).expect("finite");
        assert!((result.coefficient - 0.816_420_516_344_844).abs() < 1e-12, "{result:?}");
        assert!((result.p_value.expect("11 pairs") - 0.002_169_628_873_1).abs() < 1e-8, "{result:?}");
        assert_eq!(result.count, 11);
    }

    #[test]
    fn linear_fit_of_anscombe_data_is_exact() {
        let line = linear_fit(&X, &Y).expect("finite");
        assert!((line.slope - 0.500_090_909_090_909).abs() < 1e-12, "{line:?}");
        assert!((line.intercept - 3.000_090_909_090_909).abs() < 1e-12, "{line:?}");
        assert!((line.r_squared.expect("y varies") - 0.666_542_459_508_775).abs() < 1e-12, "{line:?}");
    }

    #[test]
    fn spearman_sees_any_monotonic_relation_and_ties() {
        let cubes: Vec<f64> = X.iter().map(|x| x.powi(3)).collect();
        let result = correlation(&X, &cubes, Method::Spearman).expect("finite");
        assert!((result.coefficient - 1.0).abs() < 1e-12, "{result:?}");
        // scipy.stats.spearmanr([1, 2, 2, 3], [1, 3, 2, 4]) = 0.948683298050514
        let tied = correlation(&[1.0, 2.0, 2.0, 3.0], &[1.0, 3.0, 2.0, 4.0], Method::Spearman).expect("finite");
        assert!((tied.coefficient - 0.948_683_298_050_514).abs() < 1e-12, "{tied:?}");
    }

    #[test]
    fn correlation_and_fit_of_a_perfect_line_are_exact() {
        let result = correlation(&[1.0, 2.0, 3.0], &[6.0, 4.0, 2.0], Method::Pearson).expect("finite");
        assert_eq!((result.coefficient, result.p_value), (-1.0, Some(0.0)));
        assert_eq!(correlation(&[1.0, 2.0], &[5.0, 9.0], Method::Pearson).expect("finite").p_value, None);
        let line = linear_fit(&[1.0, 2.0, 3.0], &[5.0, 5.0, 5.0]).expect("finite");
        assert_eq!((line.slope, line.intercept, line.r_squared), (0.0, 5.0, None));
    }

    #[test]
    fn correlation_that_is_undefined_is_refused() {
        let of = |x: &[f64], y: &[f64]| correlation(x, y, Method::Pearson).expect_err("refused");
        assert_eq!(of(&[1.0, 2.0], &[1.0]), Error::LengthsDiffer { x: 2, y: 1 });
        assert_eq!(of(&[1.0], &[1.0]), Error::TooFew { have: 1, need: 2 });
        assert_eq!(of(&[1.0, 2.0], &[3.0, 3.0]), Error::Constant { list: "y" });
        assert_eq!(linear_fit(&[3.0, 3.0], &[1.0, 2.0]), Err(Error::Constant { list: "x" }));
        assert!(matches!(of(&[1e200, -1e200], &[1.0, 2.0]), Error::NotRepresentable { .. }));
        assert!(matches!(of(&[1e-200, -1e-200], &[1.0, 2.0]), Error::NotRepresentable { .. }));
    }
}
