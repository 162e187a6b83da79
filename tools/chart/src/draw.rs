//! Draws charts on any drawing backend.

use std::ops::Range;

use plotters::coord::Shift;
use plotters::coord::ranged1d::{DefaultFormatting, KeyPointHint, Ranged};
use plotters::coord::types::RangedCoordf64;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use crate::data::{Chart, Series, marks, number, range};
use crate::letters;

/// Texts around a chart.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Labels {
    /// Title above the chart.
    pub title: Option<String>,
    /// Label of the horizontal axis.
    pub x: Option<String>,
    /// Label of the vertical axis.
    pub y: Option<String>,
}

type Area<B> = DrawingArea<B, Shift>;
type Drawn<B> = Result<(), DrawingAreaErrorKind<<B as DrawingBackend>::ErrorType>>;

/// Axis with its own choice of ticks, since that of plotters fails for large numbers and narrow ranges.
struct Axis {
    line: RangedCoordf64,
    marks: Vec<f64>,
}

impl Axis {
    fn new(range: Range<f64>, most: u32) -> Self {
        let marks = marks(&range, most.clamp(1, 12));
        Self { line: range.into(), marks }
    }
}

impl Ranged for Axis {
    type FormatOption = DefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, limit: (i32, i32)) -> i32 {
        self.line.map(value, limit)
    }

    fn key_points<Hint: KeyPointHint>(&self, hint: Hint) -> Vec<f64> {
        // Plotters asks for lighter lines between ticks, of which there are none.
        if hint.weight().allow_light_points() { Vec::new() } else { self.marks.clone() }
    }

    fn range(&self) -> Range<f64> {
        self.line.range()
    }
}

/// A chart over two axes.
type Plot<'a, B> = ChartContext<'a, B, Cartesian2d<Axis, Axis>>;

/// Share of an axis that is left free next to the values.
const MARGIN: f64 = 0.05;
/// Font size of labels, and of the title.
const LETTERS: f64 = 14.0;
const TITLE: f64 = 22.0;
/// Space around a chart, below it and to its left, in pixels.
const EDGE: u32 = 12;
const BELOW: u32 = 44;
const LEFT: u32 = 70;
/// Height of a line of the legend, in pixels.
const LINE: i32 = 18;

/// Returns the width of the plotting area in pixels, for a picture of this width.
#[must_use]
pub fn inner_width(width: u32) -> u32 {
    width.saturating_sub(LEFT + 2 * EDGE)
}

/// Draws a chart with its labels.
///
/// # Errors
///
/// Those of the backend.
pub fn draw<B: DrawingBackend>(area: &Area<B>, chart: &Chart, labels: &Labels) -> Drawn<B> {
    area.fill(&WHITE)?;
    match chart {
        Chart::Line(series) | Chart::Scatter(series) => points(area, series, labels, matches!(chart, Chart::Line(_))),
        Chart::Bar(names, series) => bars(area, names, series, labels),
        Chart::Histogram(bins) => histogram(area, bins, labels),
    }
}

fn points<B: DrawingBackend>(area: &Area<B>, series: &[Series], labels: &Labels, line: bool) -> Drawn<B> {
    let all = || series.iter().flat_map(|series| &series.points);
    let x = range(all().map(|point| point.0), if line { 0.0 } else { MARGIN });
    let y = range(all().map(|point| point.1), MARGIN);
    let mut plot = plot(area, labels, (horizontal(area, x), vertical(area, y)), None)?;
    for (place, one) in series.iter().enumerate() {
        let colour = colour(place);
        // A single point is not a line.
        if line && one.points.len() > 1 {
            plot.draw_series(LineSeries::new(one.points.iter().copied(), colour.stroke_width(2)))?;
        } else {
            plot.draw_series(one.points.iter().map(|point| Circle::new(*point, 3, colour.filled())))?;
        }
    }
    legend(&plot, series)
}

fn bars<B: DrawingBackend>(area: &Area<B>, names: &[String], series: &[Series], labels: &Labels) -> Drawn<B> {
    let values = series.iter().flat_map(|series| &series.points).map(|point| point.1);
    let y = range(values.chain([0.0]), MARGIN);
    // At most 1000 labels and 21 series.
    let groups = names.len() as f64;
    let width = inner_width(area.dim_in_pixel().0) as usize;
    let step = names.len().div_ceil((width / 60).max(1)).max(1);
    let room = (width * step / names.len().max(1)) as f32;
    let marked = (0..names.len()).step_by(step).map(|place| place as f64).collect();
    let name = |place: &f64| {
        let name = names.get(place.round() as usize).map_or("", String::as_str);
        letters::shortened(name, LETTERS, room - 4.0)
    };
    let x = Axis { line: (-0.5..groups - 0.5).into(), marks: marked };
    let mut plot = plot(area, labels, (x, vertical(area, y)), Some(&name))?;
    let thickness = 0.8 / series.len() as f64;
    for (place, one) in series.iter().enumerate() {
        let left = -0.4 + thickness * place as f64;
        let bar =
            |(x, y): &(f64, f64)| Rectangle::new([(x + left, 0.0), (x + left + thickness, *y)], colour(place).filled());
        plot.draw_series(one.points.iter().map(bar))?;
    }
    legend(&plot, series)
}

fn histogram<B: DrawingBackend>(area: &Area<B>, bins: &[(f64, f64, f64)], labels: &Labels) -> Drawn<B> {
    let x = range(bins.iter().flat_map(|(low, high, _)| [*low, *high]), 0.0);
    let y = 0.0..range(bins.iter().map(|bin| bin.2).chain([0.0]), MARGIN).end;
    let mut plot = plot(area, labels, (horizontal(area, x), vertical(area, y)), None)?;
    let bar = |style: ShapeStyle| {
        move |(low, high, count): &(f64, f64, f64)| Rectangle::new([(*low, 0.0), (*high, *count)], style)
    };
    plot.draw_series(bins.iter().map(bar(colour(0).filled())))?;
    // Gaps between bins, if the bars are wide enough for them.
    if bins.len() * 4 <= inner_width(area.dim_in_pixel().0) as usize {
        plot.draw_series(bins.iter().map(bar(WHITE.into())))?;
    }
    Ok(())
}

fn horizontal<B: DrawingBackend>(area: &Area<B>, range: Range<f64>) -> Axis {
    Axis::new(range, inner_width(area.dim_in_pixel().0) / 80)
}

fn vertical<B: DrawingBackend>(area: &Area<B>, range: Range<f64>) -> Axis {
    Axis::new(range, area.dim_in_pixel().1 / 45)
}

/// Draws everything except for the values. `name` returns the text at a tick of the horizontal axis, if it is not a
/// number.
fn plot<'a, B: DrawingBackend>(
    area: &Area<B>,
    labels: &Labels,
    (x, y): (Axis, Axis),
    name: Option<&dyn Fn(&f64) -> String>,
) -> Result<Plot<'a, B>, DrawingAreaErrorKind<B::ErrorType>> {
    let mut builder = ChartBuilder::on(area);
    builder.margin(EDGE).x_label_area_size(BELOW).y_label_area_size(LEFT);
    if let Some(title) = &labels.title {
        builder.caption(title, ("sans-serif", TITLE));
    }
    let mut plot = builder.build_cartesian_2d(x, y)?;
    let mut mesh = plot.configure_mesh();
    mesh.bold_line_style(RGBColor(225, 225, 225)).label_style(("sans-serif", LETTERS));
    let plain = |value: &f64| number(*value);
    mesh.x_label_formatter(name.unwrap_or(&plain)).y_label_formatter(&plain);
    if name.is_some() {
        mesh.disable_x_mesh();
    }
    if let Some(x) = &labels.x {
        mesh.x_desc(x);
    }
    if let Some(y) = &labels.y {
        mesh.y_desc(y);
    }
    mesh.draw()?;
    Ok(plot)
}

/// Draws the names of the series in the top right corner. The legend of plotters only guesses the width of letters.
fn legend<B: DrawingBackend>(plot: &Plot<'_, B>, series: &[Series]) -> Drawn<B> {
    let area = plot.plotting_area().strip_coord_spec();
    // Both are at most 4,000.
    let (width, height) = (area.dim_in_pixel().0 as i32, area.dim_in_pixel().1 as i32);
    let named = series.iter().enumerate().filter_map(|(place, one)| Some((place, one.name.as_deref()?)));
    let shortened = |name| letters::shortened(name, LETTERS, width as f32 / 2.0);
    let mut lines: Vec<(usize, String)> = named.map(|(place, name)| (place, shortened(name))).collect();
    let fitting = ((height - 16) / LINE).max(1) as usize;
    if lines.len() > fitting {
        lines.truncate(fitting);
        lines[fitting - 1].1 = "…".to_owned();
    }
    let widths = lines.iter().map(|(_, text)| letters::width(text, LETTERS).ceil() as i32);
    let Some(widest) = widths.max() else { return Ok(()) };
    let (left, top) = (width - widest - 40, 8);
    let frame = [(left, top), (width - 8, top + 6 + LINE * lines.len() as i32)];
    area.draw(&Rectangle::new(frame, WHITE.mix(0.85).filled()))?;
    area.draw(&Rectangle::new(frame, RGBColor(200, 200, 200)))?;
    let style = ("sans-serif", LETTERS).into_text_style(&area).pos(Pos::new(HPos::Left, VPos::Center));
    for ((place, text), line) in lines.iter().zip(0..) {
        let middle = top + 3 + LINE / 2 + LINE * line;
        area.draw(&Rectangle::new([(left + 6, middle - 5), (left + 18, middle + 5)], colour(*place).filled()))?;
        area.draw_text(text, &style, (left + 24, middle))?;
    }
    Ok(())
}

/// Returns a colour of the palette of Okabe and Ito, which colour-blind people can tell apart; then lighter, and then
/// darker variants.
fn colour(place: usize) -> RGBColor {
    const COLOURS: [[u8; 3]; 7] =
        [[0, 114, 178], [230, 159, 0], [0, 158, 115], [213, 94, 0], [204, 121, 167], [86, 180, 233], [90, 90, 90]];
    let [red, green, blue] = COLOURS[place % COLOURS.len()].map(|value| match place / COLOURS.len() {
        0 => value,
        1 => u8::midpoint(value, 255),
        _ => value / 2,
    });
    RGBColor(red, green, blue)
}
