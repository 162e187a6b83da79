//! Histograms with bins of equal width.

use crate::sample::{Error, check};

/// Largest number of bins: more than a chart can show, at a small cost of memory.
pub const MAX_BINS: u32 = 10_000;

/// Bin of a histogram: `low <= value < high`; the last bin includes its `high`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bin {
    /// Lower edge of the bin.
    pub low: f64,
    /// Upper edge of the bin.
    pub high: f64,
    /// Number of values in the bin.
    pub count: u32,
}

/// Counts `values` in `bins` bins (by default Sturges' number) from `low` to `high` (by default the extremes), and
/// returns the number of values outside as well.
///
/// # Errors
/// `Empty`, `NotFinite`; `Parameter` if the bins or the edges make no sense; `NotRepresentable` if the difference of
/// the edges does not fit a float.
pub fn histogram(
    values: &[f64],
    bins: Option<u32>,
    low: Option<f64>,
    high: Option<f64>,
) -> Result<(Vec<Bin>, u32), Error> {
    check("values", values)?;
    let bins = bins.unwrap_or_else(|| sturges(values.len()));
    if !(1..=MAX_BINS).contains(&bins) {
        return Err(parameter(format!("`bins` is {bins}: it must be from 1 to {MAX_BINS}")));
    }
    let (low, high) = range(values, bins, low, high)?;
    let edges = edges(low, high, bins)?;
    let mut made: Vec<Bin> = edges.windows(2).map(|pair| Bin { low: pair[0], high: pair[1], count: 0 }).collect();
    let mut outside = 0;
    for &value in values {
        match bin_of(&edges, value) {
            Some(index) => made[index].count += 1,
            None => outside += 1,
        }
    }
    Ok((made, outside))
}

/// Returns Sturges' number of bins: 1 + log2(n), rounded up.
fn sturges(n: usize) -> u32 {
    n.next_power_of_two().ilog2() + 1
}

fn range(values: &[f64], bins: u32, low: Option<f64>, high: Option<f64>) -> Result<(f64, f64), Error> {
    for (name, edge) in [("low", low), ("high", high)] {
        if edge.is_some_and(|edge| !edge.is_finite()) {
            return Err(parameter(format!("`{name}` is not a finite number")));
        }
    }
    let min = values.iter().copied().fold(f64::INFINITY, f64::min);
    let max = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if low.is_none() && high.is_none() && min == max {
        // Half the width of the range: large enough that all edges remain distinct, with a factor of two for rounding.
        let half = (2.0 * f64::EPSILON * f64::from(bins) * min.abs()).max(0.5);
        return Ok((min - half, max + half));
    }
    let (low, high) = (low.unwrap_or(min), high.unwrap_or(max));
    if low < high { Ok((low, high)) } else { Err(parameter(format!("`low` ({low}) is not below `high` ({high})"))) }
}

fn edges(low: f64, high: f64, bins: u32) -> Result<Vec<f64>, Error> {
    let width = (high - low) / f64::from(bins);
    if !width.is_finite() {
        return Err(Error::NotRepresentable { what: "range of the histogram" });
    }
    // The last edge is exactly `high`, without rounding.
    let mut edges: Vec<f64> = (0..bins).map(|i| low + width * f64::from(i)).collect();
    edges.push(high);
    if edges.windows(2).all(|pair| pair[0] < pair[1]) {
        Ok(edges)
    } else {
        Err(parameter(format!("`bins` is {bins}: too many for values as close together as {low} and {high}")))
    }
}

/// Finds the bin of a value by comparing it with the reported edges, so that counts and edges always agree.
fn bin_of(edges: &[f64], value: f64) -> Option<usize> {
    if value > edges[edges.len() - 1] {
        return None;
    }
    let not_above = edges.partition_point(|&edge| edge <= value);
    Some(not_above.checked_sub(1)?.min(edges.len() - 2))
}

fn parameter(reason: String) -> Error {
    Error::Parameter { reason, index: None }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::count;

    fn counts(values: &[f64], bins: Option<u32>, low: Option<f64>, high: Option<f64>) -> (Vec<u32>, u32) {
        let (bins, outside) = histogram(values, bins, low, high).expect("a histogram");
        let counted: u32 = bins.iter().map(|bin| bin.count).sum();
        assert_eq!(counted + outside, count(values));
        (bins.iter().map(|bin| bin.count).collect(), outside)
    }

    #[test]
    fn histogram_edges_belong_to_the_bin_above_except_the_last() {
        assert_eq!(counts(&[0.0, 1.0, 1.5, 2.0, 3.0, 4.0], Some(4), None, None), (vec![1, 2, 1, 2], 0));
    }

    #[test]
    fn sturges_is_the_default() {
        assert_eq!([1, 2, 3, 4, 5, 8, 9, 1000].map(sturges), [1, 2, 3, 3, 4, 4, 5, 11]);
    }

    #[test]
    fn values_beyond_the_edges_are_counted_apart() {
        assert_eq!(counts(&[-1.0, 0.0, 0.5, 1.0, 9.0], Some(2), Some(0.0), Some(1.0)), (vec![1, 2], 2));
    }

    #[test]
    fn histogram_of_equal_values_has_a_bin_of_nonzero_width() {
        let (bins, _) = histogram(&[3.0, 3.0], Some(1), None, None).expect("a histogram");
        assert_eq!(bins, [Bin { low: 2.5, high: 3.5, count: 2 }]);
        assert_eq!(counts(&[1e300; 5], Some(MAX_BINS), None, None).0.iter().sum::<u32>(), 5);
    }

    #[test]
    fn histogram_with_invalid_bins_is_refused() {
        let bad = |bins, low, high| histogram(&[1.0, 2.0], bins, low, high).expect_err("refused");
        assert!(matches!(bad(Some(0), None, None), Error::Parameter { .. }));
        assert!(matches!(bad(Some(MAX_BINS + 1), None, None), Error::Parameter { .. }));
        assert!(matches!(bad(None, Some(5.0), None), Error::Parameter { .. }));
        assert!(matches!(bad(None, Some(f64::NAN), None), Error::Parameter { .. }));
        assert!(matches!(bad(None, Some(f64::MIN), Some(f64::MAX)), Error::NotRepresentable { .. }));
        let close = histogram(&[1.0, 1.0 + f64::EPSILON], Some(10), None, None);
        assert!(matches!(close, Err(Error::Parameter { .. })), "{close:?}");
        assert!(histogram(&[f64::MAX], Some(MAX_BINS), None, None).is_err());
    }
}
