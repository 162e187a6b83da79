//! Renders a chart to the bytes of a picture.

use plotters::prelude::*;
use tiny_skia::Pixmap;

use crate::data::{Chart, Error, text};
use crate::draw::{Labels, draw, inner_width};
use crate::pixels::Pixels;

/// Format of a picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Scalable Vector Graphics.
    Svg,
    /// Portable Network Graphics.
    Png,
}

/// Size and format of a picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Canvas {
    /// Format of the picture.
    pub format: Format,
    /// Width in pixels.
    pub width: u32,
    /// Height in pixels.
    pub height: u32,
}

/// Renders a chart.
///
/// # Errors
///
/// `Parameter`, `Drawing`.
pub fn render(chart: &Chart, labels: &Labels, canvas: Canvas) -> Result<Vec<u8>, Error> {
    let Canvas { format, width, height } = canvas;
    if !(100..=4000).contains(&width) || !(100..=4000).contains(&height) {
        return Err(Error::Parameter(format!("{width} by {height} pixels: both are 100 to 4000")));
    }
    for (what, label) in [("a title", &labels.title), ("`x-label`", &labels.x), ("`y-label`", &labels.y)] {
        text(what, label.as_deref().unwrap_or_default())?;
    }
    roomy(chart, width)?;
    match format {
        Format::Svg => svg(chart, labels, (width, height)),
        Format::Png => png(chart, labels, (width, height)),
    }
}

/// Returns the format for the extension of a file name.
#[must_use]
pub fn format_of(path: &str) -> Format {
    if path.to_ascii_lowercase().ends_with(".png") { Format::Png } else { Format::Svg }
}

fn svg(chart: &Chart, labels: &Labels, size: (u32, u32)) -> Result<Vec<u8>, Error> {
    let mut text = String::new();
    {
        let area = SVGBackend::with_string(&mut text, size).into_drawing_area();
        draw(&area, chart, labels).and_then(|()| area.present()).map_err(drawing)?;
    }
    Ok(text.into_bytes())
}

fn png(chart: &Chart, labels: &Labels, (width, height): (u32, u32)) -> Result<Vec<u8>, Error> {
    let mut pixels = Pixmap::new(width, height).ok_or_else(|| drawing("no pixels"))?;
    {
        let area = Pixels(pixels.as_mut()).into_drawing_area();
        draw(&area, chart, labels).and_then(|()| area.present()).map_err(drawing)?;
    }
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, width, height);
    encoder.set_color(png::ColorType::Rgba);
    encoder.set_depth(png::BitDepth::Eight);
    // Charts are mostly flat areas, which compress well at any level.
    encoder.set_compression(png::Compression::Fast);
    let mut writer = encoder.write_header().map_err(drawing)?;
    // On a white background every pixel is opaque, so premultiplied colours are the original ones.
    writer.write_image_data(pixels.data()).and_then(|()| writer.finish()).map_err(drawing)?;
    Ok(bytes)
}

/// Checks that each bar is at least one pixel wide, and therefore visible.
fn roomy(chart: &Chart, width: u32) -> Result<(), Error> {
    let needed = match chart {
        // A fifth of each group is left free.
        Chart::Bar(names, series) => (names.len() * series.len() * 5).div_ceil(4),
        Chart::Histogram(bins) => bins.len(),
        Chart::Line(_) | Chart::Scatter(_) => 0,
    };
    let room = inner_width(width) as usize;
    if needed <= room {
        return Ok(());
    }
    let message = format!("the bars need {needed} pixels where there are {room}: draw fewer, or set `width` higher");
    Err(Error::Parameter(message))
}

fn drawing(error: impl std::fmt::Display) -> Error {
    Error::Drawing(error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{bars, histogram, series};

    const SVG: Canvas = Canvas { format: Format::Svg, width: 400, height: 300 };
    const PNG: Canvas = Canvas { format: Format::Png, ..SVG };

    fn charts() -> Vec<Chart> {
        let points =
            || series(vec![(Some("one".into()), None, vec![1.0, -3.0, 2.0]), (None, None, vec![0.0])]).expect("series");
        vec![
            Chart::Line(points()),
            Chart::Scatter(points()),
            bars(vec!["VW".into(), "Saab".into()], vec![(Some("mpg".into()), vec![26.0, -2.0])]).expect("bars"),
            histogram(&[1.0, 2.0, 2.0], None).expect("a histogram"),
        ]
    }

    fn text(chart: &Chart, labels: &Labels) -> String {
        String::from_utf8(render(chart, labels, SVG).expect("a picture")).expect("text")
    }

    #[test]
    fn chart_is_rendered_in_each_format() {
        let labels = Labels { title: Some("Title".into()), x: Some("time".into()), y: Some("mpg".into()) };
        for chart in charts() {
            let svg = text(&chart, &labels);
            assert!(svg.starts_with("<svg width=\"400\" height=\"300\"") && svg.trim_end().ends_with("</svg>"));
            for label in ["Title", "time", "mpg"] {
                assert!(svg.contains(label), "{label}: {svg}");
            }
            let bytes = render(&chart, &labels, PNG).expect("a picture");
            let mut reader = png::Decoder::new(std::io::Cursor::new(&bytes)).read_info().expect("a PNG");
            let mut pixels = vec![0; reader.output_buffer_size().expect("small")];
            let info = reader.next_frame(&mut pixels).expect("pixels");
            assert_eq!((info.width, info.height), (400, 300));
            // The title is centred at the top, so some pixels there are not white.
            let title = pixels.chunks(400 * 4).skip(12).take(22).flat_map(|row| &row[150 * 4..250 * 4]);
            assert!(title.into_iter().any(|value| *value < 100), "the title is drawn");
            assert!(pixels.chunks(4).all(|pixel| pixel[3] == 255), "nothing is transparent");
        }
    }

    #[test]
    fn chart_text_is_escaped_as_markup() {
        let labels = Labels { title: Some("<script>alert(1)</script> & \"x\"".into()), ..Labels::default() };
        let svg = text(&charts()[0], &labels);
        assert!(!svg.contains("<script") && svg.contains("&lt;script&gt;"), "{svg}");
        assert!(text(&charts()[2], &Labels::default()).contains("Saab"));
    }

    #[test]
    fn chart_size_out_of_bounds_is_refused() {
        for (width, height) in [(99, 300), (300, 4001), (u32::MAX, u32::MAX)] {
            let told = render(&charts()[0], &Labels::default(), Canvas { format: Format::Png, width, height });
            assert!(matches!(told, Err(Error::Parameter(_))));
        }
        let crowd = bars(vec![String::new(); 500], vec![(None, vec![1.0; 500])]).expect("bars");
        assert!(matches!(render(&crowd, &Labels::default(), SVG), Err(Error::Parameter(_))));
        assert!(render(&crowd, &Labels::default(), Canvas { width: 800, ..SVG }).is_ok());
        let labels = Labels { title: Some("a\nb".into()), ..Labels::default() };
        assert!(matches!(render(&charts()[0], &labels, SVG), Err(Error::Parameter(_))));
    }

    #[test]
    fn chart_of_extreme_values_is_rendered() {
        for y in [vec![1e100, -1e100], vec![1e16, 1e16 + 2.0], vec![1e-300, 2e-300], vec![5e-324], vec![7.0; 3]] {
            let chart = Chart::Line(series(vec![(None, None, y.clone())]).expect("a series"));
            assert!(render(&chart, &Labels::default(), SVG).is_ok(), "{y:?}");
            assert!(render(&histogram(&y, None).expect("bins"), &Labels::default(), SVG).is_ok(), "{y:?}");
        }
    }

    #[test]
    fn chart_of_any_size_and_many_series_is_rendered() {
        let many = vec![(Some("kilometres per litre".to_owned()), None, vec![1.0, 2.0]); 21];
        let chart = Chart::Line(series(many).expect("series"));
        let text = || Some("kilometres per litre, by make and year".to_owned());
        let labels = Labels { title: text(), x: text(), y: text() };
        for (width, height) in [(100, 100), (100, 4000), (4000, 100), (137, 203)] {
            for format in [Format::Svg, Format::Png] {
                assert!(render(&chart, &labels, Canvas { format, width, height }).is_ok());
            }
        }
    }
}
