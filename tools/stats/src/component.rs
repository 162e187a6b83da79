//! Binding of the logic to WIT: converts arguments and results. This module computes no statistics.

use bindings::exports::tollhouse::stats::stats as wit;

use crate::sample::Error;
use crate::{histogram, pairs, summary};

mod bindings {
    //! Generated from `wit/`.
    #![expect(unsafe_code, reason = "generated")]
    wit_bindgen::generate!({ world: "tool", path: "wit" });
    export!(Tool with_types_in self);
    use super::Tool;
}

struct Tool;

impl wit::Guest for Tool {
    fn describe(values: Vec<f64>) -> Result<wit::Description, wit::Error> {
        let summary::Description { count, mean, std_dev, min, max, median } = summary::describe(&values)?;
        Ok(wit::Description { count, mean, std_dev, min, max, median })
    }

    fn quantiles(values: Vec<f64>, probabilities: Vec<f64>) -> Result<Vec<f64>, wit::Error> {
        Ok(summary::quantiles(&values, &probabilities)?)
    }

    fn correlation(
        x: Vec<f64>,
        y: Vec<f64>,
        method: Option<wit::CorrelationMethod>,
    ) -> Result<wit::Association, wit::Error> {
        let method = match method {
            None | Some(wit::CorrelationMethod::Pearson) => pairs::Method::Pearson,
            Some(wit::CorrelationMethod::Spearman) => pairs::Method::Spearman,
        };
        let pairs::Association { coefficient, p_value, count } = pairs::correlation(&x, &y, method)?;
        Ok(wit::Association { coefficient, p_value, count })
    }

    fn linear_fit(x: Vec<f64>, y: Vec<f64>) -> Result<wit::Line, wit::Error> {
        let pairs::Line { slope, intercept, r_squared, count } = pairs::linear_fit(&x, &y)?;
        Ok(wit::Line { slope, intercept, r_squared, count })
    }

    fn histogram(
        values: Vec<f64>,
        bins: Option<u32>,
        low: Option<f64>,
        high: Option<f64>,
    ) -> Result<wit::Frequencies, wit::Error> {
        let (bins, outside) = histogram::histogram(&values, bins, low, high)?;
        let bins = bins.into_iter().map(|histogram::Bin { low, high, count }| wit::Bin { low, high, count }).collect();
        Ok(wit::Frequencies { bins, outside })
    }
}

impl From<Error> for wit::Error {
    fn from(error: Error) -> Self {
        use wit::ErrorKind as Kind;
        let (kind, index) = match &error {
            Error::Empty { .. } => (Kind::Empty, None),
            Error::NotFinite { index, .. } => (Kind::NotFinite, Some(*index)),
            Error::LengthsDiffer { .. } => (Kind::LengthsDiffer, None),
            Error::TooFew { .. } => (Kind::TooFew, None),
            Error::Constant { .. } => (Kind::Constant, None),
            Error::Parameter { index, .. } => (Kind::Parameter, *index),
            Error::NotRepresentable { .. } => (Kind::NotRepresentable, None),
        };
        Self { kind, message: error.to_string(), index: index.and_then(|index| u32::try_from(index).ok()) }
    }
}
