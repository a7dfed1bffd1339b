//! Lines over an axis, with a legend.

use crate::axes;
use crate::caption::{BOTTOM, RIGHT, TOP, Title, nan_legend};
use crate::drawing::{Anchor, Drawing, Item};
use crate::font::{self, TEXT};
use crate::image::Rect;
use crate::panel::{Curve, LinePanel, Margins};

/// Width of a dot.
const DOT: f64 = 7.0;

/// Where the points of lines are.
#[derive(Clone, Copy, Debug)]
pub struct LineFrame {
    /// In pixels.
    pub frame: Rect,
    across: [f64; 2],
    up: [f64; 2],
    is_log: [bool; 2],
}

impl LineFrame {
    /// Where a point is.
    pub fn place(&self, [x, y]: [f64; 2]) -> [f64; 2] {
        // Halves, since the width of a range may overflow.
        let part = |value: f64, [low, high]: [f64; 2]| (value / 2.0 - low / 2.0) / (high / 2.0 - low / 2.0);
        let [x, y] = [scaled(x, self.is_log[0]), scaled(y, self.is_log[1])];
        [self.frame.left + part(x, self.across) * self.frame.width(), self.frame.bottom - part(y, self.up) * self.frame.height()]
    }

    /// Paths through the points of a curve, interrupted where there are no values.
    pub fn paths(&self, points: &[[f64; 2]]) -> Vec<Vec<[f64; 2]>> {
        let has_place = |point: &[f64; 2]| point[1].is_finite() && (0..2).all(|axis| !self.is_log[axis] || point[axis] > 0.0);
        let runs = points.split(|point| !has_place(point)).filter(|points| !points.is_empty());
        runs.map(|points| points.iter().map(|&point| self.place(point)).collect()).collect()
    }
}

/// A number, or its logarithm.
fn scaled(x: f64, is_log: bool) -> f64 {
    if is_log { x.log10() } else { x }
}

/// Ends of the axis upwards.
fn range_up(panel: &LinePanel) -> [f64; 2] {
    let is_log = [0, 1].map(|axis: usize| panel.numbers[axis].is_log());
    match panel.range {
        Some(ends) => widened(ends.map(|y| scaled(y, is_log[1]))),
        None => {
            let values = panel.curves.iter().flat_map(|curve| &curve.points).map(|point| scaled(point[1], is_log[1]));
            let values = values.filter(|y| y.is_finite());
            let (low, high) = values.fold((f64::MAX, f64::MIN), |(low, high), y| (low.min(y), high.max(y)));
            with_margin(if low <= high { widened([low, high]) } else { [0.0, 1.0] })
        }
    }
}

/// Width of the tick labels and the name of the vertical axis, in pixels, where it is `height`
/// pixels high.
pub fn room_left(panel: &LinePanel, height: f64) -> f64 {
    axes::room_up(range_up(panel), height, &panel.numbers[1])
}

/// The frame of lines in an area.
pub fn line_frame(panel: &LinePanel, area: Rect, margins: Margins) -> LineFrame {
    let is_log = [0, 1].map(|axis: usize| panel.numbers[axis].is_log());
    let up = range_up(panel);
    let across = widened(panel.extent.map(|x| scaled(x, is_log[0])));
    // Dots need room at the ends.
    let across = if panel.has_dots { with_margin(across) } else { across };
    let legend = panel.curves.iter().filter(|curve| !curve.name.is_empty());
    let widest = legend.map(|curve| font::width(&curve.name, TEXT)).fold(0.0, f64::max);
    let room = if widest == 0.0 { RIGHT } else { (widest + 44.0).min(area.width() / 2.0) };
    let (top, bottom) = (area.top + TOP, (area.bottom - BOTTOM).max(area.top + TOP + 16.0).round());
    let left = (area.left + margins.left).round();
    let frame = Rect { left, top, right: (area.right - room).max(left + 16.0).round(), bottom };
    LineFrame { frame, across, up, is_log }
}

fn with_margin([low, high]: [f64; 2]) -> [f64; 2] {
    let margin = (high / 20.0 - low / 20.0).min(f64::MAX / 4.0);
    [low - margin, high + margin]
}

/// Draws lines in an area.
pub fn draw(drawing: &mut Drawing, panel: &LinePanel, area: Rect, margins: Margins) {
    let legend: Vec<&Curve> = panel.curves.iter().filter(|curve| !curve.name.is_empty()).collect();
    let lines = line_frame(panel, area, margins);
    let frame = lines.frame;
    let name_end = axes::right(drawing, [frame, area], lines.across, &panel.axes[0], true, &panel.numbers[0]);
    axes::up(drawing, frame, lines.up, &panel.axes[1], true, &panel.numbers[1]);
    for curve in &panel.curves {
        let (paths, colour) = (lines.paths(&curve.points), curve.colour);
        if panel.has_dots {
            let dots = paths.iter().flatten().map(|&point| vec![point]).collect();
            drawing.items.push(Item::Line { paths: dots, width: DOT, colour, clip: frame });
        }
        drawing.items.push(Item::Line { paths, width: 2.0, colour, clip: frame });
    }
    drawing.frame(frame);
    Title::new(&panel.title, area, frame).draw(drawing, frame.top);
    for (index, curve) in legend.iter().enumerate() {
        let y = frame.top + 12.0 + 18.0 * index as f64;
        drawing.fill([frame.right + 10.0, y - 1.0], [frame.right + 30.0, y + 1.0], curve.colour);
        let text = font::fitted(&curve.name, area.right - frame.right - 40.0, TEXT);
        drawing.label(text, [frame.right + 36.0, y + font::CAPITAL * TEXT / 2.0], TEXT, Anchor::Start);
    }
    nan_legend(drawing, panel.n_nan, area, name_end + 8.0);
}

/// Width of a range, relative to its numbers, that is round-off: it is drawn as a straight line.
const ROUND_OFF: f64 = 1e-10;

/// A range, wider where it has no width but round-off.
fn widened([low, high]: [f64; 2]) -> [f64; 2] {
    if high - low > ROUND_OFF * low.abs().max(high.abs()) {
        return [low, high];
    }
    let margin = if low == 0.0 { 1.0 } else { low.abs() / 10.0 };
    [low - margin, high + margin]
}

#[cfg(test)]
mod tests {
    use super::widened;

    #[test]
    fn round_off_is_no_width() {
        assert_eq!(widened([1.0, 1.5]), [1.0, 1.5]);
        assert_eq!(widened([0.0, 0.0]), [-1.0, 1.0]);
        assert_eq!(widened([0.0, 1e-300]), [0.0, 1e-300]);
        let [low, high] = widened([10.0, 10.0 + 1e-12]);
        assert!((low - 9.0).abs() < 1e-9 && (high - 11.0).abs() < 1e-9);
    }
}
