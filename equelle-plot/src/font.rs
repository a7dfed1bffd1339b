//! Letters of DejaVu Sans. The font is in the crate, with its licence in `fonts/`: a picture needs
//! none of the system, and looks the same everywhere.

use std::sync::LazyLock;

use tiny_skia::{Path, PathBuilder};
use ttf_parser::{Face, GlyphId, OutlineBuilder};

/// Height of capitals and digits, relative to the size.
pub const CAPITAL: f64 = 1493.0 / 2048.0;

/// Height of the highest letter of ASCII above the baseline, and depth of the deepest below it,
/// relative to the size.
pub const ASCENT: f64 = 1638.0 / 2048.0;
pub const DESCENT: f64 = 483.0 / 2048.0;

/// Size of titles: capitals have whole pixels, so that they are sharp.
pub const TITLE: f64 = 11.0 / CAPITAL;
/// Size of other labels: likewise.
pub const TEXT: f64 = 9.0 / CAPITAL;

static FACE: LazyLock<Face> =
    LazyLock::new(|| Face::parse(include_bytes!("../fonts/DejaVuSans.ttf"), 0).expect("the font of the crate is one"));

/// The glyph of a character; a box for one without.
fn glyph(c: char) -> GlyphId {
    FACE.glyph_index(c).unwrap_or_default()
}

/// From the beginning of a glyph to that of the next one, in a text of this size.
fn advance(glyph: GlyphId, size: f64) -> f64 {
    f64::from(FACE.glyph_hor_advance(glyph).unwrap_or(0)) * size / f64::from(FACE.units_per_em())
}

/// Width of a text of a size.
pub fn width(text: &str, size: f64) -> f64 {
    text.chars().map(|c| advance(glyph(c), size)).sum()
}

/// A text that fits a width: its end is left out if it does not.
pub fn fitted(text: &str, most: f64, size: f64) -> String {
    let mut text = text.to_owned();
    if width(&text, size) <= most {
        return text;
    }
    while !text.is_empty() && width(&format!("{text}…"), size) > most {
        text.pop();
    }
    format!("{text}…")
}

/// Outlines of a text of a size, from its left end on the baseline; y points down. `None` for
/// blanks.
pub fn outlines(text: &str, size: f64) -> Option<Path> {
    let scale = size / f64::from(FACE.units_per_em());
    let mut pen = Pen { path: PathBuilder::new(), scale: scale as f32, left: 0.0 };
    let mut left = 0.0;
    for glyph in text.chars().map(glyph) {
        pen.left = left as f32;
        FACE.outline_glyph(glyph, &mut pen);
        left += advance(glyph, size);
    }
    pen.path.finish()
}

/// Draws glyphs into a path.
struct Pen {
    path: PathBuilder,
    scale: f32,
    left: f32,
}

impl Pen {
    fn place(&self, x: f32, y: f32) -> (f32, f32) {
        (self.left + x * self.scale, -y * self.scale)
    }
}

impl OutlineBuilder for Pen {
    fn move_to(&mut self, x: f32, y: f32) {
        let (x, y) = self.place(x, y);
        self.path.move_to(x, y);
    }

    fn line_to(&mut self, x: f32, y: f32) {
        let (x, y) = self.place(x, y);
        self.path.line_to(x, y);
    }

    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        let ((x1, y1), (x, y)) = (self.place(x1, y1), self.place(x, y));
        self.path.quad_to(x1, y1, x, y);
    }

    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        let ((x1, y1), (x2, y2), (x, y)) = (self.place(x1, y1), self.place(x2, y2), self.place(x, y));
        self.path.cubic_to(x1, y1, x2, y2, x, y);
    }

    fn close(&mut self) {
        self.path.close();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// ASCII, Greek, and what units and powers have.
    #[test]
    fn letters_of_tags_and_units_have_glyphs() {
        for c in (' '..='~').chain('α'..='ω').chain("äéßÅΔΩ−°²³⁻¹·×µ‰…".chars()) {
            assert_ne!(glyph(c), GlyphId(0), "no glyph for {c:?}");
        }
        assert_eq!(glyph('鬱'), GlyphId(0));
    }

    /// No letter of ASCII leaves the room that labels have, and capitals have whole pixels.
    #[test]
    fn letters_are_within_their_room() {
        for c in '!'..='~' {
            let bounds = outlines(&c.to_string(), 1.0).expect("an outline").bounds();
            let [top, bottom] = [bounds.top(), bounds.bottom()].map(f64::from);
            assert!(-top < ASCENT + 1e-6 && bottom < DESCENT + 1e-6, "{c:?} from {top} to {bottom}");
        }
        let bounds = outlines("H", TEXT).expect("an outline").bounds();
        assert!((bounds.top() + 9.0).abs() < 1e-5 && bounds.bottom() == 0.0, "{bounds:?}");
    }

    /// Digits stand below each other; a digit has 1303 of 2048 units.
    #[test]
    fn digits_have_one_width() {
        assert_eq!(width("11", 13.0), width("88", 13.0));
        assert_eq!(width("88", 2048.0), 2606.0);
        assert_eq!((width("", 13.0), outlines(" ", 13.0)), (0.0, None));
        assert_eq!([fitted("abc", 99.0, 10.0), fitted("abcdefgh", 30.0, 10.0)], ["abc", "abc…"]);
    }
}
