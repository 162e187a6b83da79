//! Measures and draws text in the one font that is built into the tool.

use std::sync::LazyLock;

use tiny_skia::{Path, PathBuilder};
use ttf_parser::{Face, GlyphId, OutlineBuilder};

/// Typeface Roboto: see `fonts/README.md`.
static FACE: LazyLock<Face<'static>> = LazyLock::new(|| {
    Face::parse(include_bytes!("../fonts/Roboto-Regular.ttf"), 0).expect("it is a font: the tests draw with it")
});

/// Font size of plotters in ems, as in its SVG output.
const SIZE: f64 = 1.24;

/// Returns the length of the em at a font size, in pixels.
#[must_use]
pub fn em(size: f64) -> f32 {
    (size / SIZE) as f32
}

fn scale(size: f64) -> f32 {
    em(size) / f32::from(FACE.units_per_em())
}

/// Returns glyphs and their positions. A letter that the font lacks is a box (glyph 0).
fn glyphs(text: &str) -> impl Iterator<Item = (GlyphId, f32)> {
    text.chars().map(|letter| {
        let glyph = FACE.glyph_index(letter).unwrap_or(GlyphId(0));
        (glyph, f32::from(FACE.glyph_hor_advance(glyph).unwrap_or_default()))
    })
}

/// Returns the width of a text, in pixels.
#[must_use]
pub fn width(text: &str, size: f64) -> f32 {
    glyphs(text).map(|(_, advance)| advance).sum::<f32>() * scale(size)
}

/// Shortens a text to a width in pixels; `…` replaces the rest.
#[must_use]
pub fn shortened(text: &str, size: f64, most: f32) -> String {
    if width(text, size) <= most {
        return text.to_owned();
    }
    let mut short = text.to_owned();
    while short.pop().is_some() && width(&short, size) + width("…", size) > most {}
    short + "…"
}

/// Returns the outlines of a text that begins at x = 0 on the baseline y = 0, or `None` if it is blank.
#[must_use]
pub fn outlines(text: &str, size: f64) -> Option<Path> {
    let mut pen = Pen { path: PathBuilder::new(), x: 0.0, scale: scale(size) };
    for (glyph, advance) in glyphs(text) {
        FACE.outline_glyph(glyph, &mut pen);
        pen.x += advance;
    }
    pen.path.finish()
}

struct Pen {
    path: PathBuilder,
    x: f32,
    scale: f32,
}

impl Pen {
    /// Converts a point of the font to one of the picture, whose y axis points downwards.
    fn at(&self, x: f32, y: f32) -> (f32, f32) {
        ((self.x + x) * self.scale, -y * self.scale)
    }
}

impl OutlineBuilder for Pen {
    fn move_to(&mut self, x: f32, y: f32) {
        let (x, y) = self.at(x, y);
        self.path.move_to(x, y);
    }

    fn line_to(&mut self, x: f32, y: f32) {
        let (x, y) = self.at(x, y);
        self.path.line_to(x, y);
    }

    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        let ((x1, y1), (x, y)) = (self.at(x1, y1), self.at(x, y));
        self.path.quad_to(x1, y1, x, y);
    }

    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        let ((x1, y1), (x2, y2), (x, y)) = (self.at(x1, y1), self.at(x2, y2), self.at(x, y));
        self.path.cubic_to(x1, y1, x2, y2, x, y);
    }

    fn close(&mut self) {
        self.path.close();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_have_widths_and_outlines() {
        assert!(width("i", 14.0) < width("W", 14.0) && width("WW", 28.0) > 3.9 * width("W", 14.0));
        let bounds = outlines("Hg", 1240.0).expect("letters").bounds();
        assert!(bounds.top() < -600.0 && bounds.bottom() > 100.0 && bounds.right() < width("Hg", 1240.0));
        assert!(outlines("  ", 14.0).is_none() && outlines("日", 14.0).is_some());
    }

    #[test]
    fn label_that_is_too_wide_is_shortened() {
        assert_eq!(shortened("mpg", 14.0, 100.0), "mpg");
        let short = shortened("kilometres per litre", 14.0, 60.0);
        assert!(short.starts_with("kilo") && short.ends_with('…') && width(&short, 14.0) <= 60.0, "{short}");
        assert_eq!(shortened("mpg", 14.0, 0.0), "…");
    }
}
