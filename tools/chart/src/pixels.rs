//! Bitmap backend for plotters. The one of plotters has no text in wasm, and no smooth circles.

use std::convert::Infallible;

use plotters_backend::text_anchor::{HPos, VPos};
use plotters_backend::{
    BackendColor, BackendCoord, BackendStyle, BackendTextStyle, DrawingBackend, DrawingErrorKind, FontTransform,
};
use tiny_skia::{Color, FillRule, LineCap, LineJoin, Paint, PathBuilder, PixmapMut, Rect, Stroke, Transform};

use crate::letters;

/// Number of a line's points that are drawn at once: the time for a line that crosses itself is quadratic.
const PIECE: usize = 256;

/// Drawing backend that paints into a pixmap.
pub struct Pixels<'p>(pub PixmapMut<'p>);

type Drawn = Result<(), DrawingErrorKind<Infallible>>;

fn paint(color: BackendColor) -> Paint<'static> {
    let (red, green, blue) = color.rgb;
    let mut paint = Paint::default();
    // A cast of a float saturates.
    paint.set_color(Color::from_rgba8(red, green, blue, (color.alpha * 255.0).round() as u8));
    paint
}

/// Returns the centre of a pixel. Coordinates are small enough to be exact.
fn middle((x, y): BackendCoord) -> (f32, f32) {
    (x as f32 + 0.5, y as f32 + 0.5)
}

impl DrawingBackend for Pixels<'_> {
    type ErrorType = Infallible;

    fn get_size(&self) -> (u32, u32) {
        (self.0.width(), self.0.height())
    }

    fn ensure_prepared(&mut self) -> Drawn {
        Ok(())
    }

    fn present(&mut self) -> Drawn {
        Ok(())
    }

    fn draw_pixel(&mut self, (x, y): BackendCoord, color: BackendColor) -> Drawn {
        if let Some(pixel) = Rect::from_xywh(x as f32, y as f32, 1.0, 1.0) {
            self.0.fill_rect(pixel, &paint(color), Transform::identity(), None);
        }
        Ok(())
    }

    fn draw_line<S: BackendStyle>(&mut self, from: BackendCoord, to: BackendCoord, style: &S) -> Drawn {
        self.draw_path([from, to], style)
    }

    fn draw_rect<S: BackendStyle>(&mut self, one: BackendCoord, other: BackendCoord, style: &S, fill: bool) -> Drawn {
        let (left, right) = (one.0.min(other.0), one.0.max(other.0));
        let (top, bottom) = (one.1.min(other.1), one.1.max(other.1));
        if !fill {
            return self.draw_path([(left, top), (right, top), (right, bottom), (left, bottom), (left, top)], style);
        }
        if let Some(rect) = Rect::from_ltrb(left as f32, top as f32, right as f32, bottom as f32) {
            self.0.fill_rect(rect, &paint(style.color()), Transform::identity(), None);
        }
        Ok(())
    }

    fn draw_path<S: BackendStyle, I: IntoIterator<Item = BackendCoord>>(&mut self, path: I, style: &S) -> Drawn {
        let points: Vec<BackendCoord> = path.into_iter().collect();
        let line_cap = if points.len() > 2 { LineCap::Round } else { LineCap::Butt };
        let width = style.stroke_width() as f32;
        let stroke = Stroke { width, line_cap, line_join: LineJoin::Round, ..Stroke::default() };
        let mut rest = points.as_slice();
        while rest.len() > 1 {
            let piece = &rest[..rest.len().min(PIECE)];
            // The next piece begins where this one ends.
            rest = &rest[piece.len() - 1..];
            let mut line = PathBuilder::new();
            let (x, y) = middle(piece[0]);
            line.move_to(x, y);
            for (x, y) in piece[1..].iter().copied().map(middle) {
                line.line_to(x, y);
            }
            if let Some(line) = line.finish() {
                self.0.stroke_path(&line, &paint(style.color()), &stroke, Transform::identity(), None);
            }
        }
        Ok(())
    }

    fn draw_circle<S: BackendStyle>(&mut self, center: BackendCoord, radius: u32, style: &S, fill: bool) -> Drawn {
        let (x, y) = middle(center);
        let Some(circle) = PathBuilder::from_circle(x, y, radius as f32) else { return Ok(()) };
        let paint = paint(style.color());
        if fill {
            self.0.fill_path(&circle, &paint, FillRule::Winding, Transform::identity(), None);
        } else {
            let stroke = Stroke { width: style.stroke_width() as f32, ..Stroke::default() };
            self.0.stroke_path(&circle, &paint, &stroke, Transform::identity(), None);
        }
        Ok(())
    }

    /// Draws a text where the SVG backend would: left of, centred on or right of a point, and below, beside or above
    /// it.
    fn draw_text<S: BackendTextStyle>(&mut self, text: &str, style: &S, position: BackendCoord) -> Drawn {
        let Some(outlines) = letters::outlines(text, style.size()) else { return Ok(()) };
        let (x, y) = (position.0 as f32, position.1 as f32);
        let right = match style.anchor().h_pos {
            HPos::Left => 0.0,
            HPos::Center => -letters::width(text, style.size()) / 2.0,
            HPos::Right => -letters::width(text, style.size()),
        };
        let down = letters::em(style.size())
            * match style.anchor().v_pos {
                VPos::Top => 0.76,
                VPos::Center => 0.26,
                VPos::Bottom => -0.26,
            };
        let angle = match style.transform() {
            FontTransform::None => 0.0,
            FontTransform::Rotate90 => 90.0,
            FontTransform::Rotate180 => 180.0,
            FontTransform::Rotate270 => 270.0,
        };
        let place = Transform::from_translate(x + right, y + down).post_rotate_at(angle, x, y);
        self.0.fill_path(&outlines, &paint(style.color()), FillRule::Winding, place, None);
        Ok(())
    }

    fn estimate_text_size<S: BackendTextStyle>(
        &self,
        text: &str,
        style: &S,
    ) -> Result<(u32, u32), DrawingErrorKind<Infallible>> {
        // A cast of a float saturates.
        Ok((letters::width(text, style.size()).ceil() as u32, letters::em(style.size()).ceil() as u32))
    }
}
