//! Diagrams: maps with a colour bar, and lines over an axis.

use std::sync::Arc;

use crate::axis::{powers, short, ticks, whole};
use crate::colour::{BLACK, Colour, LIGHT, NAN, Scale};
use crate::drawing::{Anchor, Drawing, Item, Map};
use crate::font;
use crate::image::Rect;
use crate::plane::Plane;

/// Sizes of text: of titles, and of numbers.
const TITLE: f64 = 16.0;
const TEXT: f64 = 13.0;

/// Room around a diagram.
const LEFT: f64 = 66.0;
const TOP: f64 = 34.0;
const RIGHT: f64 = 16.0;
const BOTTOM: f64 = 44.0;

/// Of the colour bar: distance from the map, width, and room for its numbers.
const BAR: [f64; 3] = [18.0, 18.0, 70.0];

/// Least distance of the numbers of an axis to the right, and upwards.
const APART: f64 = 60.0;
const APART_UP: f64 = 36.0;

/// A map.
#[derive(Clone, Debug)]
pub struct MapPanel {
    /// Above it.
    pub title: String,
    /// Above the colour bar.
    pub unit: Option<String>,
    /// Names of the axes.
    pub axes: [&'static str; 2],
    /// The cells.
    pub plane: Arc<Plane>,
    /// One for each cell.
    pub values: Vec<f64>,
    /// Their colours.
    pub scale: Scale,
    /// Iso-lines, in coordinates of the plane.
    pub isolines: Vec<[[f64; 2]; 2]>,
}

/// A line.
#[derive(Clone, Debug)]
pub struct Curve {
    /// In the legend; empty for none.
    pub name: String,
    /// Ascending along the axis; NaN where the line is interrupted.
    pub points: Vec<[f64; 2]>,
    /// Of the line.
    pub colour: Colour,
}

/// Lines.
#[derive(Clone, Debug)]
pub struct LinePanel {
    /// Above it.
    pub title: String,
    /// What the axis to the right is.
    pub axis: String,
    /// Its ends.
    pub extent: [f64; 2],
    /// Ends of the axis upwards, if they are given.
    pub range: Option<[f64; 2]>,
    /// Whether the axis to the right, and that upwards, count something.
    pub counts: [bool; 2],
    /// Whether the axis upwards is logarithmic; values that are not positive are left out then.
    pub is_log: bool,
    /// The lines.
    pub curves: Vec<Curve>,
    /// How many values are NaN.
    pub n_nan: usize,
}

/// A diagram.
#[derive(Clone, Debug)]
pub enum Panel {
    /// Coloured cells.
    Map(MapPanel),
    /// Lines.
    Lines(LinePanel),
}

/// Draws diagrams in rows of equal fields.
pub fn draw(panels: &[Panel], width: usize, height: usize) -> Drawing {
    let mut drawing = Drawing::new(width, height);
    let columns = (1..).find(|columns| columns * columns >= panels.len()).unwrap_or(1).max(1);
    let rows = panels.len().div_ceil(columns).max(1);
    let (across, down) = (width as f64 / columns as f64, height as f64 / rows as f64);
    for (index, panel) in panels.iter().enumerate() {
        let (left, top) = ((index % columns) as f64 * across, (index / columns) as f64 * down);
        let area = Rect { left, top, right: left + across, bottom: top + down };
        match panel {
            Panel::Map(map) => draw_map(&mut drawing, map, area),
            Panel::Lines(lines) => draw_lines(&mut drawing, lines, area),
        }
    }
    drawing
}

/// A text that fits a width: its end is left out if it does not.
fn fitted(text: &str, width: f64, size: f64) -> String {
    let mut text = text.to_owned();
    if font::width(&text, size) <= width {
        return text;
    }
    while !text.is_empty() && font::width(&format!("{text}..."), size) > width {
        text.pop();
    }
    format!("{text}...")
}

fn draw_map(drawing: &mut Drawing, panel: &MapPanel, area: Rect) {
    let window = panel.plane.bounds();
    let room = Rect {
        left: area.left + LEFT,
        top: area.top + TOP,
        right: (area.right - BAR.iter().sum::<f64>()).max(area.left + LEFT + 16.0),
        bottom: (area.bottom - BOTTOM).max(area.top + TOP + 16.0),
    };
    // One scale along both axes, whole pixels at the ends.
    let extent = [window[1][0] - window[0][0], window[1][1] - window[0][1]];
    let scale = (room.width() / extent[0]).min(room.height() / extent[1]);
    let size = extent.map(|length| (length * scale).round().max(2.0));
    let left = (room.left + (room.width() - size[0]) / 2.0).round();
    let top = (room.top + (room.height() - size[1]) / 2.0).round();
    let frame = Rect { left, top, right: left + size[0], bottom: top + size[1] };
    let colours: Vec<Colour> = panel.values.iter().map(|&value| panel.scale.colour(value)).collect();
    let map = Map { frame, window, plane: Arc::clone(&panel.plane), colours: Arc::new(colours) };
    let isolines: Vec<Vec<[f64; 2]>> = panel.isolines.iter().map(|line| line.iter().map(|&point| map.place(point)).collect()).collect();
    drawing.items.push(Item::Map(map));
    for points in isolines {
        drawing.items.push(Item::Line { points, width: 1.0, colour: BLACK, clip: frame });
    }
    drawing.frame(frame);
    title(drawing, &panel.title, area, frame);
    axis_right(drawing, frame, [window[0][0], window[1][0]], panel.axes[0], false, false);
    axis_up(drawing, frame, ticks_of([window[0][1], window[1][1]], frame, false, false), panel.axes[1], area.left, false);
    bar(drawing, panel, frame, room);
    let n_nan = panel.values.iter().filter(|value| value.is_nan()).count();
    nan_legend(drawing, n_nan, area);
}

fn title(drawing: &mut Drawing, text: &str, area: Rect, frame: Rect) {
    let text = fitted(text, area.width() - 8.0, TITLE);
    let half = font::width(&text, TITLE) / 2.0;
    let middle = ((frame.left + frame.right) / 2.0).clamp(area.left + half + 2.0, (area.right - half - 2.0).max(area.left + half + 2.0));
    drawing.label(text, [middle, frame.top - 12.0], TITLE, Anchor::Middle);
}

/// Colours from the least value below to the largest above, with numbers at both ends and between.
fn bar(drawing: &mut Drawing, panel: &MapPanel, frame: Rect, room: Rect) {
    let range = panel.scale.range;
    // A flat map has a bar of a readable height.
    let (mut top, mut bottom) = (frame.top, frame.bottom);
    let least = room.height().min(120.0);
    if bottom - top < least {
        let middle = ((top + bottom) / 2.0).clamp(room.top + least / 2.0, room.bottom - least / 2.0);
        (top, bottom) = ((middle - least / 2.0).round(), (middle + least / 2.0).round());
    }
    let left = frame.right + BAR[0];
    let bar = Rect { left, top, right: left + BAR[1], bottom };
    let table = &panel.scale.table;
    let single = range.low == range.high;
    let colours: Vec<Colour> = if single { vec![panel.scale.colour(range.low)] } else { table.clone() };
    let height = bar.height() / colours.len() as f64;
    for (index, &colour) in colours.iter().enumerate() {
        let bottom = bar.bottom - index as f64 * height;
        drawing.items.push(Item::Fill(Rect { top: bottom - height, bottom, ..bar }, colour));
    }
    drawing.frame(bar);
    let x = bar.right + 6.0;
    let mut number = |at: f64, text: String| drawing.label(text, [x, at + font::CAPITAL * TEXT / 2.0], TEXT, Anchor::Start);
    if single {
        number((bar.top + bar.bottom) / 2.0, short(range.low));
    } else {
        number(bar.bottom, short(range.low));
        number(bar.top, short(range.high));
        for (value, text) in ticks(range.low, range.high, (bar.height() / 40.0) as usize).0 {
            let at = bar.bottom - range.place(value) * bar.height();
            if at < bar.bottom - 16.0 && at > bar.top + 16.0 {
                number(at, text);
            }
        }
    }
    if let Some(unit) = &panel.unit {
        drawing.label(format!("[{unit}]"), [bar.left, bar.top - 10.0], TEXT, Anchor::Start);
    }
}

/// Says how many cells have no number, with their colour.
fn nan_legend(drawing: &mut Drawing, n_nan: usize, area: Rect) {
    if n_nan == 0 {
        return;
    }
    let text = if n_nan == 1 { "1 cell is NaN".to_owned() } else { format!("{n_nan} cells are NaN") };
    let (right, bottom) = (area.right - 8.0, area.bottom - 6.0);
    let left = right - font::width(&text, TEXT) - 18.0;
    drawing.items.push(Item::Fill(Rect { left, top: bottom - 11.0, right: left + 12.0, bottom: bottom + 1.0 }, NAN));
    drawing.label(text, [right, bottom], TEXT, Anchor::End);
}

fn axis_right(drawing: &mut Drawing, frame: Rect, ends: [f64; 2], name: &str, has_grid: bool, is_count: bool) {
    let most = ((frame.width() / APART) as usize).max(1);
    for (value, text) in if is_count { whole(ends[0], ends[1], most) } else { ticks(ends[0], ends[1], most).0 } {
        let x = frame.left + (value - ends[0]) / (ends[1] - ends[0]) * frame.width();
        if has_grid {
            drawing.rule(vec![[x, frame.top], [x, frame.bottom]], 1.0, LIGHT);
        }
        drawing.rule(vec![[x, frame.bottom], [x, frame.bottom + 5.0]], 1.0, BLACK);
        drawing.label(text, [x, frame.bottom + 18.0], TEXT, Anchor::Middle);
    }
    drawing.label(name, [(frame.left + frame.right) / 2.0, frame.bottom + 36.0], TEXT, Anchor::Middle);
}

/// Heights and texts of numbers at an axis upwards.
fn ticks_of(ends: [f64; 2], frame: Rect, is_log: bool, is_count: bool) -> Vec<(f64, String)> {
    let most = ((frame.height() / APART_UP) as usize).max(1);
    let numbers = match (is_log, is_count) {
        (true, _) => powers(ends[0], ends[1], most),
        (false, true) => whole(ends[0], ends[1], most),
        (false, false) => ticks(ends[0], ends[1], most).0,
    };
    let height = |value: f64| frame.bottom - (value - ends[0]) / (ends[1] - ends[0]) * frame.height();
    numbers.into_iter().map(|(value, text)| (height(value), text)).collect()
}

fn axis_up(drawing: &mut Drawing, frame: Rect, numbers: Vec<(f64, String)>, name: &str, left: f64, has_grid: bool) {
    for (y, text) in numbers {
        if has_grid {
            drawing.rule(vec![[frame.left, y], [frame.right, y]], 1.0, LIGHT);
        }
        drawing.rule(vec![[frame.left - 5.0, y], [frame.left, y]], 1.0, BLACK);
        drawing.label(text, [frame.left - 8.0, y + font::CAPITAL * TEXT / 2.0], TEXT, Anchor::End);
    }
    if !name.is_empty() {
        drawing.upward_label(name, [(frame.left - 52.0).max(left + 12.0), (frame.top + frame.bottom) / 2.0], TEXT);
    }
}

/// Where the points of lines are.
#[derive(Clone, Copy, Debug)]
pub struct LineFrame {
    /// In pixels.
    pub frame: Rect,
    across: [f64; 2],
    up: [f64; 2],
    is_log: bool,
}

impl LineFrame {
    /// Where a point is.
    pub fn place(&self, [x, y]: [f64; 2]) -> [f64; 2] {
        // Halves, since the width of a range may overflow.
        let part = |value: f64, [low, high]: [f64; 2]| (value / 2.0 - low / 2.0) / (high / 2.0 - low / 2.0);
        let y = if self.is_log { y.log10() } else { y };
        [self.frame.left + part(x, self.across) * self.frame.width(), self.frame.bottom - part(y, self.up) * self.frame.height()]
    }

    /// Paths through the points of a curve, interrupted where there are no values.
    pub fn paths(&self, points: &[[f64; 2]]) -> Vec<Vec<[f64; 2]>> {
        let has_place = |point: &[f64; 2]| point[1].is_finite() && (!self.is_log || point[1] > 0.0);
        let runs = points.split(|point| !has_place(point)).filter(|points| !points.is_empty());
        runs.map(|points| points.iter().map(|&point| self.place(point)).collect()).collect()
    }
}

/// The frame of lines in an area.
pub fn line_frame(panel: &LinePanel, area: Rect) -> LineFrame {
    let legend = panel.curves.iter().filter(|curve| !curve.name.is_empty());
    let widest = legend.map(|curve| font::width(&curve.name, TEXT)).fold(0.0, f64::max);
    let room = if widest == 0.0 { RIGHT } else { (widest + 44.0).min(area.width() / 2.0) };
    let frame = Rect {
        left: area.left + LEFT,
        top: area.top + TOP,
        right: (area.right - room).max(area.left + LEFT + 16.0).round(),
        bottom: (area.bottom - BOTTOM).max(area.top + TOP + 16.0).round(),
    };
    let scaled = |y: f64| if panel.is_log { y.log10() } else { y };
    let up = match panel.range {
        Some([low, high]) => widened(scaled(low), scaled(high)),
        None => {
            let values = panel.curves.iter().flat_map(|curve| &curve.points).map(|point| scaled(point[1])).filter(|y| y.is_finite());
            let (low, high) = values.fold((f64::MAX, f64::MIN), |(low, high), y| (low.min(y), high.max(y)));
            let [low, high] = if low <= high { widened(low, high) } else { [0.0, 1.0] };
            let margin = (high / 20.0 - low / 20.0).min(f64::MAX / 4.0);
            [low - margin, high + margin]
        }
    };
    LineFrame { frame, across: widened(panel.extent[0], panel.extent[1]), up, is_log: panel.is_log }
}

fn draw_lines(drawing: &mut Drawing, panel: &LinePanel, area: Rect) {
    let legend: Vec<&Curve> = panel.curves.iter().filter(|curve| !curve.name.is_empty()).collect();
    let lines = line_frame(panel, area);
    let frame = lines.frame;
    axis_right(drawing, frame, lines.across, &panel.axis, true, panel.counts[0]);
    axis_up(drawing, frame, ticks_of(lines.up, frame, panel.is_log, panel.counts[1]), "", area.left, true);
    for curve in &panel.curves {
        for points in lines.paths(&curve.points) {
            drawing.items.push(Item::Line { points, width: 2.0, colour: curve.colour, clip: frame });
        }
    }
    drawing.frame(frame);
    title(drawing, &panel.title, area, frame);
    for (index, curve) in legend.iter().enumerate() {
        let y = frame.top + 12.0 + 18.0 * index as f64;
        drawing.rule(vec![[frame.right + 10.0, y], [frame.right + 30.0, y]], 2.0, curve.colour);
        let text = fitted(&curve.name, area.right - frame.right - 40.0, TEXT);
        drawing.label(text, [frame.right + 36.0, y + font::CAPITAL * TEXT / 2.0], TEXT, Anchor::Start);
    }
    nan_legend(drawing, panel.n_nan, area);
}

/// Width of a range, relative to its numbers, that is round-off: it is drawn as a straight line.
const ROUND_OFF: f64 = 1e-10;

/// A range, wider where it has no width but round-off.
fn widened(low: f64, high: f64) -> [f64; 2] {
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
        assert_eq!(widened(1.0, 1.5), [1.0, 1.5]);
        assert_eq!(widened(0.0, 0.0), [-1.0, 1.0]);
        assert_eq!(widened(0.0, 1e-300), [0.0, 1e-300]);
        let [low, high] = widened(10.0, 10.0 + 1e-12);
        assert!((low - 9.0).abs() < 1e-9 && (high - 11.0).abs() < 1e-9);
    }
}
