//! Binding of the logic to WIT: converts arguments and results. This module holds no rules.

use bindings::exports::tollhouse::chart::chart as wit;
use tollhouse_tool_files as files;

use crate::data::{Chart, Error, bars, histogram, series};
use crate::draw::Labels;
use crate::render::{Canvas, Format, format_of, render};

mod bindings {
    //! Generated from `wit/`.
    #![expect(unsafe_code, reason = "generated")]
    wit_bindgen::generate!({ world: "tool", path: "wit" });
    export!(Tool with_types_in self);
    use super::Tool;
}

struct Tool;

impl wit::Guest for Tool {
    fn line(given: Vec<wit::Points>, options: Option<wit::Options>) -> Result<wit::Picture, wit::Error> {
        Ok(picture(&Chart::Line(points(given)?), options)?)
    }

    fn bar(
        labels: Vec<String>,
        given: Vec<wit::Bars>,
        options: Option<wit::Options>,
    ) -> Result<wit::Picture, wit::Error> {
        let chart = bars(labels, given.into_iter().map(|one| (one.name, one.values)).collect())?;
        Ok(picture(&chart, options)?)
    }

    fn scatter(given: Vec<wit::Points>, options: Option<wit::Options>) -> Result<wit::Picture, wit::Error> {
        Ok(picture(&Chart::Scatter(points(given)?), options)?)
    }

    fn histogram(
        values: Vec<f64>,
        bins: Option<u32>,
        options: Option<wit::Options>,
    ) -> Result<wit::Picture, wit::Error> {
        Ok(picture(&histogram(&values, bins)?, options)?)
    }
}

fn points(given: Vec<wit::Points>) -> Result<Vec<crate::data::Series>, Error> {
    series(given.into_iter().map(|one| (one.name, one.x, one.y)).collect())
}

fn picture(chart: &Chart, options: Option<wit::Options>) -> Result<wit::Picture, Error> {
    let options = options.unwrap_or_else(|| wit::Options {
        title: None,
        x_label: None,
        y_label: None,
        width: None,
        height: None,
        format: None,
        path: None,
        overwrite: None,
    });
    files::target(options.path.as_deref())?;
    let format = match options.format {
        Some(wit::Format::Svg) => Format::Svg,
        Some(wit::Format::Png) => Format::Png,
        None => format_of(options.path.as_deref().unwrap_or_default()),
    };
    let canvas = Canvas { format, width: options.width.unwrap_or(800), height: options.height.unwrap_or(500) };
    let labels = Labels { title: options.title, x: options.x_label, y: options.y_label };
    let bytes = render(chart, &labels, canvas)?;
    let size = bytes.len() as u64;
    let (mut svg, mut png) = (None, None);
    match (&options.path, format) {
        (Some(path), _) => files::write(path, &bytes, options.overwrite.unwrap_or(true))?,
        (None, Format::Svg) => svg = Some(String::from_utf8_lossy(&bytes).into_owned()),
        (None, Format::Png) => png = Some(bytes),
    }
    let format = if format == Format::Svg { wit::Format::Svg } else { wit::Format::Png };
    Ok(wit::Picture { format, svg, png, path: options.path, size })
}

impl From<Error> for wit::Error {
    fn from(error: Error) -> Self {
        use wit::ErrorKind as Kind;
        let kind = match &error {
            Error::Empty => Kind::Empty,
            Error::NotFinite { .. } => Kind::NotFinite,
            Error::Lengths { .. } => Kind::LengthsDiffer,
            Error::TooMany { .. } => Kind::TooMany,
            Error::Parameter(_) | Error::Drawing(_) => Kind::Parameter,
            Error::File(error) => match error.kind {
                files::Kind::Denied => Kind::Denied,
                files::Kind::Exists => Kind::Exists,
                files::Kind::Parameter => Kind::Parameter,
                files::Kind::NotFound | files::Kind::TooLarge | files::Kind::Other => Kind::File,
            },
        };
        Self { kind, message: error.to_string() }
    }
}
