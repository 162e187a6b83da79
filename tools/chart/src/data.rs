//! Data of charts, with checks.

use std::ops::Range;

use tollhouse_tool_files as files;

/// Largest number of series: as many as have a colour of their own.
pub const MAX_SERIES: usize = 21;
/// Largest total number of points.
pub const MAX_POINTS: usize = 100_000;
/// Largest absolute value. Beyond it, sums and differences of values would exceed the range of a 64-bit float.
const MAX_VALUE: f64 = 1e100;
/// Smallest difference between values that a chart shows. Below it, the steps of an axis would underflow.
const TINY: f64 = 1e-300;
/// Longest title, label or name, in characters.
const MAX_TEXT: usize = 200;

/// Reason why a chart cannot be drawn.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// There are no values.
    #[error("there is nothing to draw: at least one series with one value")]
    Empty,
    /// A value is NaN, infinite or too large.
    #[error("value {index} of series {series} is {value}: values are finite, and at most 1e100")]
    NotFinite {
        /// Index of the series, from 0.
        series: usize,
        /// Index of the value, from 0.
        index: usize,
        /// Value that cannot be drawn.
        value: f64,
    },
    /// Two lists that belong together have different lengths.
    #[error("series {series} has {found} values where there are {expected} {what}")]
    Lengths {
        /// Index of the series, from 0.
        series: usize,
        /// Number of values in the series.
        found: usize,
        /// Number of items that the values belong to.
        expected: usize,
        /// Items that the values belong to, in words.
        what: &'static str,
    },
    /// There are more items than a chart may have.
    #[error("there are {found} {what}: at most {most} are drawn")]
    TooMany {
        /// Items that there are too many of, in words.
        what: &'static str,
        /// Number of items found.
        found: usize,
        /// Largest number of items allowed.
        most: usize,
    },
    /// An option is invalid.
    #[error("{0}")]
    Parameter(String),
    /// The file cannot be written.
    #[error(transparent)]
    File(#[from] files::Error),
    /// Failure of the drawing library.
    #[error("the chart cannot be drawn: {0}")]
    Drawing(String),
}

/// Series of points, with its name.
#[derive(Debug, Clone, PartialEq)]
pub struct Series {
    /// Name of the series.
    pub name: Option<String>,
    /// Points of the series.
    pub points: Vec<(f64, f64)>,
}

/// Chart, with its data.
#[derive(Debug, Clone, PartialEq)]
pub enum Chart {
    /// Lines through the points of each series.
    Line(Vec<Series>),
    /// Scattered points of each series.
    Scatter(Vec<Series>),
    /// Groups of bars: the labels, and series whose x values are the indexes of the labels.
    Bar(Vec<String>, Vec<Series>),
    /// Histogram, whose bars have no gaps: lower edge, upper edge and count of each bar.
    Histogram(Vec<(f64, f64, f64)>),
}

/// Series as a caller passes it: name, x values, y values.
pub type Given = (Option<String>, Option<Vec<f64>>, Vec<f64>);

/// Checks series of points.
///
/// # Errors
/// `Empty`, `NotFinite`, `Lengths`, `TooMany`, `Parameter`.
pub fn series(given: Vec<Given>) -> Result<Vec<Series>, Error> {
    bounded("series", given.len(), MAX_SERIES)?;
    bounded("points", given.iter().map(|(_, _, y)| y.len()).sum(), MAX_POINTS)?;
    if given.iter().all(|(_, _, y)| y.is_empty()) {
        return Err(Error::Empty);
    }
    let mut checked = Vec::new();
    for (number, (name, x, y)) in given.into_iter().enumerate() {
        // Without x values, points are numbered from 0; there are at most 100,000.
        let x = x.unwrap_or_else(|| (0_u32..).take(y.len()).map(f64::from).collect());
        if x.len() != y.len() {
            return Err(Error::Lengths { series: number, found: y.len(), expected: x.len(), what: "places in `x`" });
        }
        finite(number, &x)?;
        finite(number, &y)?;
        if let Some(name) = &name {
            text("a name", name)?;
        }
        checked.push(Series { name, points: x.into_iter().zip(y).collect() });
    }
    Ok(checked)
}

/// Checks groups of bars.
///
/// # Errors
/// Those of [`series`].
pub fn bars(labels: Vec<String>, given: Vec<(Option<String>, Vec<f64>)>) -> Result<Chart, Error> {
    bounded("labels", labels.len(), 1000)?;
    for label in &labels {
        text("a label", label)?;
    }
    for (number, (_, values)) in given.iter().enumerate() {
        if values.len() != labels.len() {
            let (found, expected) = (values.len(), labels.len());
            return Err(Error::Lengths { series: number, found, expected, what: "labels" });
        }
    }
    let series = series(given.into_iter().map(|(name, values)| (name, None, values)).collect())?;
    Ok(Chart::Bar(labels, series))
}

/// Counts values in bins.
///
/// # Errors
/// `Empty`, `NotFinite`, `TooMany`, `Parameter`.
pub fn histogram(values: &[f64], bins: Option<u32>) -> Result<Chart, Error> {
    bounded("values", values.len(), MAX_POINTS)?;
    finite(0, values)?;
    if values.is_empty() {
        return Err(Error::Empty);
    }
    let sturges = usize::BITS - (values.len() - 1).leading_zeros() + 1;
    let bins = bins.unwrap_or(sturges);
    if !(1..=1000).contains(&bins) {
        return Err(Error::Parameter("`bins` is 1 to 1000".to_owned()));
    }
    let range = range(values.iter().copied(), 0.0);
    let width = (range.end - range.start) / f64::from(bins);
    let edge = |bin: u32| range.start + width * f64::from(bin);
    let inner: Vec<f64> = (1..bins).map(edge).collect();
    let mut counts = vec![0_u32; bins as usize];
    for value in values {
        // The largest value equals the last edge, and belongs to the last bin.
        counts[inner.partition_point(|edge| edge <= value)] += 1;
    }
    let bin = |(bin, count): (u32, &u32)| (edge(bin), edge(bin + 1), f64::from(*count));
    Ok(Chart::Histogram((0..).zip(&counts).map(bin).collect()))
}

/// Returns the range of an axis: all values, with a margin as a share of the width. The range is never empty, nor so
/// narrow that neighbouring ticks would be the same number.
#[must_use]
pub fn range(values: impl Iterator<Item = f64>, margin: f64) -> Range<f64> {
    let (low, high) =
        values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)));
    if low > high {
        return 0.0..1.0;
    }
    let least = low.abs().max(high.abs()) * 1e-6;
    if high - low <= least.max(TINY) {
        let half = if least > TINY { least } else { 0.5 };
        return low - half..high + half;
    }
    let margin = (high - low) * margin;
    low - margin..high + margin
}

/// Returns the positions of an axis's ticks: at most `most`, at multiples of 1, 2 or 5 times a power of ten.
#[must_use]
pub fn marks(range: &Range<f64>, most: u32) -> Vec<f64> {
    let width = range.end - range.start;
    let power = 10_f64.powf((width / f64::from(most)).log10().floor());
    let step = [1.0, 2.0, 5.0].map(|times| times * power).into_iter().find(|step| width / step <= f64::from(most));
    let step = step.unwrap_or(10.0 * power);
    let first = (range.start / step).ceil();
    (0..=most).map(|number| (first + f64::from(number)) * step).take_while(|mark| *mark <= range.end).collect()
}

/// Formats the number of a tick with at most eight digits, so that 0.1 + 0.2 is 0.3.
#[must_use]
pub fn number(value: f64) -> String {
    let value = format!("{value:.7e}").parse().unwrap_or(value);
    if value == 0.0 {
        return "0".to_owned();
    }
    if (1e-4..1e7).contains(&value.abs()) { value.to_string() } else { format!("{value:e}") }
}

/// Checks a text that is drawn.
///
/// # Errors
/// `Parameter`.
pub fn text(what: &str, text: &str) -> Result<(), Error> {
    if text.chars().count() > MAX_TEXT || text.chars().any(char::is_control) {
        return Err(Error::Parameter(format!("{what} has at most {MAX_TEXT} characters, and no control characters")));
    }
    Ok(())
}

fn bounded(what: &'static str, found: usize, most: usize) -> Result<(), Error> {
    if found > most { Err(Error::TooMany { what, found, most }) } else { Ok(()) }
}

fn finite(series: usize, values: &[f64]) -> Result<(), Error> {
    match values.iter().position(|value| !value.is_finite() || value.abs() > MAX_VALUE) {
        None => Ok(()),
        Some(index) => Err(Error::NotFinite { series, index, value: values[index] }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(y: &[f64]) -> Vec<Given> {
        vec![(None, None, y.to_vec())]
    }

    #[test]
    fn series_without_x_is_numbered_from_zero() {
        assert_eq!(series(one(&[5.0, 6.0])).expect("a series")[0].points, [(0.0, 5.0), (1.0, 6.0)]);
        assert_eq!(series(vec![]), Err(Error::Empty));
        assert_eq!(series(one(&[])), Err(Error::Empty));
    }

    #[test]
    fn chart_data_that_cannot_be_drawn_is_refused() {
        for value in [f64::NAN, f64::INFINITY, 1e101] {
            assert!(matches!(series(one(&[1.0, value])), Err(Error::NotFinite { index: 1, .. })));
            assert!(matches!(histogram(&[value], None), Err(Error::NotFinite { .. })));
        }
        assert!(matches!(series(vec![(None, Some(vec![1.0]), vec![1.0, 2.0])]), Err(Error::Lengths { .. })));
        assert!(matches!(bars(vec!["a".into()], vec![(None, vec![])]), Err(Error::Lengths { .. })));
        assert!(matches!(series(vec![(None, None, vec![1.0]); 22]), Err(Error::TooMany { .. })));
        assert!(matches!(series(one(&vec![1.0; MAX_POINTS + 1])), Err(Error::TooMany { .. })));
        assert!(matches!(series(vec![(Some("x".repeat(201)), None, vec![1.0])]), Err(Error::Parameter(_))));
        assert!(matches!(histogram(&[1.0], Some(0)), Err(Error::Parameter(_))));
    }

    #[test]
    fn histogram_bins_contain_every_value() {
        let Ok(Chart::Histogram(bins)) = histogram(&[0.0, 1.0, 2.0, 3.0, 4.0], Some(2)) else { panic!("a histogram") };
        assert_eq!(bins, [(0.0, 2.0, 2.0), (2.0, 4.0, 3.0)]);
        let Ok(Chart::Histogram(bins)) = histogram(&[7.0; 9], None) else { panic!("a histogram") };
        assert_eq!((bins.len(), bins.iter().map(|bin| bin.2).sum::<f64>()), (5, 9.0));
    }

    #[test]
    fn axis_range_is_never_empty() {
        assert_eq!(range([0.0].into_iter(), 0.1), -0.5..0.5);
        assert_eq!(range([0.0, 10.0].into_iter(), 0.1), -1.0..11.0);
        let close = range([1e16, 1e16 + 2.0].into_iter(), 0.1);
        assert!(close.end - close.start > 1e9);
        assert_eq!(range([5e-324, 1e-320].into_iter(), 0.1), -0.5..0.5);
    }

    #[test]
    fn axis_marks_are_round_numbers() {
        let texts = |range: Range<f64>, most| -> Vec<String> { marks(&range, most).into_iter().map(number).collect() };
        assert_eq!(texts(0.05..0.52, 5), ["0.1", "0.2", "0.3", "0.4", "0.5"]);
        assert_eq!(texts(-30.0..30.0, 4), ["-20", "0", "20"]);
        assert_eq!(texts(999_999.0..1_000_001.0, 4), ["999999", "999999.5", "1000000", "1000000.5", "1000001"]);
        assert_eq!(texts(0.0..3e9, 3), ["0", "1e9", "2e9", "3e9"]);
        for range in [-1e100..1e100, 1e16 - 1e10..1e16 + 1e10, 0.0..1e-299, -1e-5..2e-5] {
            for most in 1..20 {
                let found = marks(&range, most);
                assert!(
                    found.len() <= most as usize + 1
                        && found.iter().all(|mark| range.contains(mark) || *mark == range.end)
                );
            }
            assert!(marks(&range, 5).len() > 1, "{range:?}");
        }
    }
}
