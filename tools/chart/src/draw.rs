//! Drawing, on whatever takes lines and letters.

use plotters::coord::ranged1d::{BindKeyPoints as _, Ranged, ValueFormatter};
use plotters::coord::Shift;
use plotters::coord::types::RangedCoordf64;
use plotters::prelude::*;

use crate::data::{Chart, Series, range};

/// What stands around a chart.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Labels {
    /// Above it.
    pub title: Option<String>,
    /// The horizontal axis.
    pub x: Option<String>,
    /// The vertical axis.
    pub y: Option<String>,
}

type Drawn<B> = Result<(), DrawingAreaErrorKind<<B as DrawingBackend>::ErrorType>>;

/// A share of an axis that is left free beside the values.
const MARGIN: f64 = 0.05;

/// Draws a chart.
///
/// # Errors
/// As the backend tells it.
pub fn draw<B: DrawingBackend>(area: &DrawingArea<B, Shift>, chart: &Chart, labels: &Labels) -> Drawn<B> {
    area.fill(&WHITE)?;
    match chart {
        Chart::Line(series) | Chart::Scatter(series) => points(area, series, labels, matches!(chart, Chart::Line(_))),
        Chart::Bar(names, series) => bars(area, names, series, labels),
        Chart::Histogram(bins) => histogram(area, bins, labels),
    }
}

fn points<B: DrawingBackend>(area: &DrawingArea<B, Shift>, series: &[Series], labels: &Labels, line: bool) -> Drawn<B> {
    let all = || series.iter().flat_map(|series| &series.points);
    let x = range(all().map(|point| point.0), if line { 0.0 } else { MARGIN });
    let y = range(all().map(|point| point.1), MARGIN);
    let mut chart = framed(area, labels).build_cartesian_2d(x, y)?;
    meshed(&mut chart, labels, |mesh| mesh)?;
    for (place, one) in series.iter().enumerate() {
        let colour = colour(place);
        let drawn = if line {
            chart.draw_series(LineSeries::new(one.points.iter().copied(), colour.stroke_width(2)))?
        } else {
            chart.draw_series(one.points.iter().map(|point| Circle::new(*point, 3, colour.filled())))?
        };
        named(drawn, one, place);
    }
    legend(&mut chart, series)
}

fn bars<B: DrawingBackend>(area: &DrawingArea<B, Shift>, names: &[String], series: &[Series], labels: &Labels) -> Drawn<B> {
    let values = series.iter().flat_map(|series| &series.points).map(|point| point.1);
    let y = range(values.chain([0.0]), MARGIN);
    // At most 1000 labels and 20 series.
    let groups = f64::from(u32::try_from(names.len()).unwrap_or(u32::MAX));
    let (width, _) = area.dim_in_pixel();
    let step = names.len().div_ceil((width as usize / 60).max(1)).max(1);
    let marks: Vec<f64> = (0_u32..).take(names.len()).step_by(step).map(f64::from).collect();
    let x = (-0.5..groups - 0.5).with_key_points(marks);
    let mut chart = framed(area, labels).build_cartesian_2d(x, y)?;
    let name = |x: &f64| {
        let nearest = (0_u32..).zip(names).find(|(place, _)| (f64::from(*place) - x).abs() < 0.25);
        nearest.map_or_else(String::new, |(_, name)| name.clone())
    };
    meshed(&mut chart, labels, |mesh| mesh.disable_x_mesh().x_label_formatter(&name))?;
    let thickness = 0.8 / f64::from(u32::try_from(series.len()).unwrap_or(1));
    for ((place, one), number) in series.iter().enumerate().zip(0_u32..) {
        let left = -0.4 + thickness * f64::from(number);
        let bar = |(x, y): &(f64, f64)| {
            Rectangle::new([(x + left, 0.0), (x + left + thickness, *y)], colour(place).filled())
        };
        named(chart.draw_series(one.points.iter().map(bar))?, one, place);
    }
    legend(&mut chart, series)
}

fn histogram<B: DrawingBackend>(area: &DrawingArea<B, Shift>, bins: &[(f64, f64, f64)], labels: &Labels) -> Drawn<B> {
    let x = range(bins.iter().flat_map(|(low, high, _)| [*low, *high]), 0.0);
    let y = 0.0..range(bins.iter().map(|bin| bin.2).chain([0.0]), MARGIN).end;
    let mut chart = framed(area, labels).build_cartesian_2d(x, y)?;
    meshed(&mut chart, labels, |mesh| mesh.disable_x_mesh())?;
    let bar = |(low, high, count): &(f64, f64, f64)| Rectangle::new([(*low, 0.0), (*high, *count)], colour(0).filled());
    chart.draw_series(bins.iter().map(bar))?;
    let edge = |(low, high, count): &(f64, f64, f64)| Rectangle::new([(*low, 0.0), (*high, *count)], WHITE);
    chart.draw_series(bins.iter().map(edge))?;
    Ok(())
}

fn framed<'a, 'b, B: DrawingBackend>(area: &'a DrawingArea<B, Shift>, labels: &Labels) -> ChartBuilder<'a, 'b, B> {
    let mut builder = ChartBuilder::on(area);
    builder.margin(12).x_label_area_size(44).y_label_area_size(64);
    if let Some(title) = &labels.title {
        builder.caption(title, ("sans-serif", 22));
    }
    builder
}

/// A chart over two axes of numbers.
type Plot<'a, B, X> = ChartContext<'a, B, Cartesian2d<X, RangedCoordf64>>;
/// Its grid, while it is set up.
type Mesh<'m, 'a, B, X> = MeshStyle<'a, 'm, X, RangedCoordf64, B>;

fn meshed<'a, 'm, B, X>(
    chart: &'m mut Plot<'a, B, X>,
    labels: &Labels,
    more: impl for<'s> FnOnce(&'s mut Mesh<'m, 'a, B, X>) -> &'s mut Mesh<'m, 'a, B, X>,
) -> Drawn<B>
where
    B: DrawingBackend,
    X: Ranged<ValueType = f64> + ValueFormatter<f64>,
{
    let mut mesh = chart.configure_mesh();
    mesh.light_line_style(WHITE).bold_line_style(RGBColor(225, 225, 225)).label_style(("sans-serif", 14));
    if let Some(x) = &labels.x {
        mesh.x_desc(x);
    }
    if let Some(y) = &labels.y {
        mesh.y_desc(y);
    }
    more(&mut mesh).draw()
}

fn named<B: DrawingBackend>(drawn: &mut SeriesAnno<'_, B>, series: &Series, place: usize) {
    if let Some(name) = &series.name {
        let mark = move |(x, y): (i32, i32)| Rectangle::new([(x, y - 5), (x + 12, y + 5)], colour(place).filled());
        drawn.label(name.as_str()).legend(mark);
    }
}

fn legend<'a, B, X>(chart: &mut Plot<'a, B, X>, series: &[Series]) -> Drawn<B>
where
    B: DrawingBackend + 'a,
    X: Ranged<ValueType = f64>,
{
    if series.iter().all(|series| series.name.is_none()) {
        return Ok(());
    }
    let mut labels = chart.configure_series_labels();
    labels.background_style(WHITE.mix(0.85)).border_style(RGBColor(200, 200, 200)).label_font(("sans-serif", 14));
    labels.position(SeriesLabelPosition::UpperRight).draw()
}

/// Colours that people who see few can tell apart as well: after Okabe and Ito, again and again.
fn colour(place: usize) -> RGBColor {
    const COLOURS: [(u8, u8, u8); 7] =
        [(0, 114, 178), (230, 159, 0), (0, 158, 115), (213, 94, 0), (204, 121, 167), (86, 180, 233), (90, 90, 90)];
    let (red, green, blue) = COLOURS[place % COLOURS.len()];
    RGBColor(red, green, blue)
}
