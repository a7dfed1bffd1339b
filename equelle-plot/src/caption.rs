//! Captions of a diagram: its title, and how many values have no number.

use crate::colour::NAN;
use crate::drawing::{Anchor, Drawing};
use crate::font::{self, TEXT, TITLE};
use crate::image::Rect;

/// Room around a diagram; to its left, numbers and names may need more.
pub const LEFT: f64 = 44.0;
pub const TOP: f64 = 34.0;
pub const RIGHT: f64 = 16.0;
pub const BOTTOM: f64 = 44.0;

/// From a title to what is below it.
const TO_TITLE: f64 = 12.0;

/// The end of a title to the right, and where it begins.
#[derive(Clone, Debug)]
pub struct Title {
    text: String,
    middle: f64,
    /// Its right end.
    pub right: f64,
}

impl Title {
    /// Above the middle of a frame, within an area.
    pub fn new(text: &str, area: Rect, frame: Rect) -> Title {
        let text = font::fitted(text, area.width() - 16.0, TITLE);
        let half = font::width(&text, TITLE) / 2.0;
        let low = area.left + half + 2.0;
        let middle = ((frame.left + frame.right) / 2.0).clamp(low, (area.right - half - 2.0).max(low));
        Title { text, middle, right: middle + half }
    }

    /// Draws it above something.
    pub fn draw(self, drawing: &mut Drawing, top: f64) {
        drawing.label(self.text, [self.middle, top - TO_TITLE], TITLE, Anchor::Middle);
    }
}

/// Says how many cells have no number, with their colour, to the right of something; in fewer words
/// where there is less room.
pub fn nan_legend(drawing: &mut Drawing, n_nan: usize, area: Rect, after: f64) {
    if n_nan == 0 {
        return;
    }
    let (right, bottom) = (area.right - 8.0, area.bottom - 6.0);
    let cells = if n_nan == 1 { "1 cell is NaN".to_owned() } else { format!("{n_nan} cells are NaN") };
    let fits = |text: &String| right - font::width(text, TEXT) - 18.0 >= after;
    let text = [cells, format!("{n_nan} NaN"), "NaN".to_owned()].into_iter().find(fits).unwrap_or_default();
    let left = right - font::width(&text, TEXT) - 18.0;
    drawing.fill([left, bottom - 11.0], [left + 12.0, bottom + 1.0], NAN);
    drawing.label(text, [right, bottom], TEXT, Anchor::End);
}
