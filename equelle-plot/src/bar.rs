//! Colour bars: colours from the least value below to the largest above, with their numbers.

use crate::axis::{ends, ticks, with_digits};
use crate::colour::{Colour, Range, Scale};
use crate::drawing::{Anchor, Drawing};
use crate::font::{self, TEXT};
use crate::image::Rect;

/// From the map to the bar, width of the bar, and from the bar to its numbers.
const SIDES: [f64; 3] = [18.0, 18.0, 6.0];

/// Least room for the numbers, and for a unit.
const NUMBERS: f64 = 28.0;

/// Least height, where there is so much room.
const HEIGHT: f64 = 120.0;

/// Digits of a number that stands alone: those of 293.15 K, and no round-off.
const ALONE: usize = 7;

/// Height of a bar for each number between its ends, and least distance from these.
const APART: f64 = 40.0;
const FROM_END: f64 = 16.0;

/// Width that a map leaves free to its right.
pub fn room(range: Range, height: f64) -> f64 {
    let ends = ends(range.low, range.high);
    let between = ticks(range.low, range.high, (height / APART) as usize).0.into_iter().map(|(_, text)| text);
    let widest = ends.into_iter().chain(between).map(|text| font::width(&text, TEXT)).fold(0.0, f64::max);
    SIDES.iter().sum::<f64>() + NUMBERS.max(widest + 4.0)
}

/// Where the bar of a map is: beside its frame, and of a readable height where the map is flat.
pub fn place(frame: Rect, room: Rect) -> Rect {
    let (mut top, mut bottom) = (frame.top, frame.bottom);
    let least = room.height().min(HEIGHT);
    if bottom - top < least {
        let middle = ((top + bottom) / 2.0).clamp(room.top + least / 2.0, room.bottom - least / 2.0);
        (top, bottom) = ((middle - least / 2.0).round(), (middle + least / 2.0).round());
    }
    let left = frame.right + SIDES[0];
    Rect { left, top, right: left + SIDES[1], bottom }
}

/// Draws a bar with its numbers.
pub fn draw(drawing: &mut Drawing, bar: Rect, scale: &Scale) {
    let range = scale.range;
    let single = range.low == range.high;
    let colours: Vec<Colour> = if single { vec![scale.colour(range.low)] } else { scale.table.clone() };
    let height = bar.height() / colours.len() as f64;
    for (index, &colour) in colours.iter().enumerate() {
        let bottom = bar.bottom - index as f64 * height;
        drawing.fill([bar.left, bottom - height], [bar.right, bottom], colour);
    }
    drawing.frame(bar);
    let x = bar.right + SIDES[2];
    let mut number = |at: f64, text: String| drawing.label(text, [x, at + font::CAPITAL * TEXT / 2.0], TEXT, Anchor::Start);
    if single {
        number((bar.top + bar.bottom) / 2.0, with_digits(range.low, ALONE));
        return;
    }
    let [low, high] = ends(range.low, range.high);
    number(bar.bottom, low);
    number(bar.top, high);
    for (value, text) in ticks(range.low, range.high, (bar.height() / APART) as usize).0 {
        let at = bar.bottom - range.place(value) * bar.height();
        if at < bar.bottom - FROM_END && at > bar.top + FROM_END {
            number(at, text);
        }
    }
}

/// The unit: above the bar, or below it where something else is above.
pub fn unit(drawing: &mut Drawing, bar: Rect, unit: &str, is_below: bool, right: f64) {
    let text = font::fitted(&format!("[{unit}]"), right - bar.left - 4.0, TEXT);
    let y = if is_below { bar.bottom + 22.0 } else { bar.top - 10.0 };
    drawing.label(text, [bar.left, y], TEXT, Anchor::Start);
}
