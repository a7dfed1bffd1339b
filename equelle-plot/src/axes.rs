//! Axes: their numbers and names.

use crate::axis::{powers, ticks, whole};
use crate::colour::{BLACK, LIGHT};
use crate::drawing::{Anchor, Drawing};
use crate::font::{self, TEXT};
use crate::image::Rect;

/// Least distance of the numbers of an axis to the right, and upwards.
const APART: f64 = 60.0;
const APART_UP: f64 = 36.0;

/// Least distance of a text from the next one.
const GAP: f64 = 6.0;

/// From an axis upwards to its numbers.
const MARK: f64 = 8.0;

/// Width of the name of an axis upwards, with the room beside it.
const NAME: f64 = 26.0;

/// Which numbers stand at an axis.
#[derive(Clone, Debug, PartialEq)]
pub enum Numbers {
    /// Round ones.
    Round,
    /// Whole ones: it counts something.
    Whole,
    /// Powers of ten; the axis has logarithms.
    Powers,
    /// These; the axis has their logarithms.
    These(Vec<(f64, String)>),
}

impl Numbers {
    /// About `most` of them in a range, which is one of logarithms for powers.
    fn within(&self, [low, high]: [f64; 2], most: usize) -> Vec<(f64, String)> {
        match self {
            Numbers::Round => ticks(low, high, most).0,
            Numbers::Whole => whole(low, high, most),
            Numbers::Powers => powers(low, high, most),
            Numbers::These(numbers) => numbers.iter().map(|(value, text)| (value.log10(), text.clone())).collect(),
        }
    }

    /// True if the axis has logarithms.
    pub fn is_log(&self) -> bool {
        match self {
            Numbers::Round | Numbers::Whole => false,
            Numbers::Powers | Numbers::These(_) => true,
        }
    }
}

/// Places and texts along a width, as many as do not touch, within an area.
fn along(numbers: &Numbers, ends: [f64; 2], frame: Rect, area: Rect) -> Vec<(f64, String)> {
    let place = |value: f64| frame.left + (value - ends[0]) / (ends[1] - ends[0]) * frame.width();
    let half = |text: &str| font::width(text, TEXT) / 2.0;
    let touch = |[a, b]: [&(f64, String); 2]| a.0 + half(&a.1) + GAP > b.0 - half(&b.1);
    let mut most = ((frame.width() / APART) as usize).max(1);
    loop {
        let mut placed: Vec<(f64, String)> = numbers.within(ends, most).into_iter().map(|(value, text)| (place(value), text)).collect();
        placed.retain(|(x, text)| x - half(text) >= area.left && x + half(text) <= area.right);
        if most > 1 && placed.windows(2).any(|pair| touch([&pair[0], &pair[1]])) {
            most -= 1;
            continue;
        }
        let mut kept: Vec<(f64, String)> = Vec::new();
        placed.retain(|number| {
            let is_free = kept.last().is_none_or(|before| !touch([before, number]));
            kept.extend(is_free.then(|| number.clone()));
            is_free
        });
        return placed;
    }
}

/// The pixel of a mark between two ends; those at the ends are on the frame around them.
fn pixel(at: f64, low: f64, high: f64) -> f64 {
    (low - 1.0 + (at - low) / (high - low) * (high - low + 1.0)).round()
}

/// The axis below a frame in an area; returns the right end of its name.
pub fn right(drawing: &mut Drawing, [frame, area]: [Rect; 2], ends: [f64; 2], name: &str, has_grid: bool, numbers: &Numbers) -> f64 {
    for (x, text) in along(numbers, ends, frame, area) {
        let left = pixel(x, frame.left, frame.right);
        if has_grid {
            drawing.fill([left, frame.top], [left + 1.0, frame.bottom], LIGHT);
        }
        drawing.fill([left, frame.bottom], [left + 1.0, frame.bottom + 5.0], BLACK);
        drawing.label(text, [x, frame.bottom + 18.0], TEXT, Anchor::Middle);
    }
    let name = font::fitted(name, area.width() - 8.0, TEXT);
    let half = font::width(&name, TEXT) / 2.0;
    let middle = ((frame.left + frame.right) / 2.0).min(area.right - half - 2.0).max(area.left + half + 2.0);
    drawing.label(name, [middle, frame.bottom + 36.0], TEXT, Anchor::Middle);
    middle + half
}

fn most_up(height: f64) -> usize {
    ((height / APART_UP) as usize).max(1)
}

/// Room that the numbers of an axis upwards, and its name, need to the left of it.
pub fn room_up(ends: [f64; 2], height: f64, numbers: &Numbers) -> f64 {
    MARK + NAME + widest(&numbers.within(ends, most_up(height)))
}

fn widest(numbers: &[(f64, String)]) -> f64 {
    numbers.iter().map(|(_, text)| font::width(text, TEXT)).fold(0.0, f64::max)
}

/// The axis to the left of a frame; a name that is longer than the frame has no unit, or is left
/// out.
pub fn up(drawing: &mut Drawing, frame: Rect, ends: [f64; 2], name: &str, has_grid: bool, numbers: &Numbers) {
    let found = numbers.within(ends, most_up(frame.height()));
    let to_name = widest(&found) + MARK + 10.0;
    let mut below = f64::INFINITY;
    for (value, text) in found {
        let y = frame.bottom - (value - ends[0]) / (ends[1] - ends[0]) * frame.height();
        if below - y < TEXT {
            continue;
        }
        below = y;
        let top = pixel(y, frame.top, frame.bottom);
        if has_grid {
            drawing.fill([frame.left, top], [frame.right, top + 1.0], LIGHT);
        }
        drawing.fill([frame.left - 5.0, top], [frame.left, top + 1.0], BLACK);
        drawing.label(text, [frame.left - MARK, y + font::CAPITAL * TEXT / 2.0], TEXT, Anchor::End);
    }
    let alone = name.split(" [").next().unwrap_or_default();
    let fits = |name: &&str| !name.is_empty() && font::width(name, TEXT) <= frame.height() + TEXT;
    if let Some(name) = [name, alone].into_iter().find(fits) {
        drawing.upward_label(name, [frame.left - to_name, (frame.top + frame.bottom) / 2.0], TEXT);
    }
}
