//! Maps: coloured cells with axes and a colour bar.

use std::sync::Arc;

use crate::axes::{self, Numbers};
use crate::bar;
use crate::caption::{BOTTOM, TOP, Title, nan_legend};
use crate::colour::{BLACK, Colour};
use crate::drawing::{Drawing, Item, Map};
use crate::image::Rect;
use crate::panel::{MapPanel, Margins};

/// Width of iso-lines.
const ISOLINE: f64 = 1.2;

/// From a title to the colour bar, at least.
const TO_BAR: f64 = 6.0;

/// Width of the tick labels and the name of the vertical axis, in pixels, where it is `height`
/// pixels high.
pub fn room_left(panel: &MapPanel, height: f64) -> f64 {
    let [low, high] = panel.plane.bounds();
    axes::room_up([low[1], high[1]], height, &Numbers::Round)
}

/// Draws a map in an area.
pub fn draw(drawing: &mut Drawing, panel: &MapPanel, area: Rect, margins: Margins) {
    let window = panel.plane.bounds();
    let [across, up] = [0, 1].map(|axis| [window[0][axis], window[1][axis]]);
    let (top, bottom) = (area.top + TOP, (area.bottom - BOTTOM).max(area.top + TOP + 16.0));
    let left = area.left + margins.left;
    let right = (area.right - margins.bar).max(left + 16.0);
    let room = Rect { left, top, right, bottom };
    // Whole pixels at the ends.
    let size = panel.fitted([room.width(), room.height()]).map(|length| length.round().max(2.0));
    let left = (room.left + (room.width() - size[0]) / 2.0).round();
    let top = (room.top + (room.height() - size[1]) / 2.0).round();
    let frame = Rect { left, top, right: left + size[0], bottom: top + size[1] };
    let colours: Vec<Colour> = panel.values.iter().map(|&value| panel.scale.colour(value)).collect();
    let map = Map { frame, window, plane: Arc::clone(&panel.plane), colours: Arc::new(colours) };
    let isolines: Vec<Vec<[f64; 2]>> = panel.isolines.iter().map(|line| line.iter().map(|&point| map.place(point)).collect()).collect();
    drawing.items.push(Item::Map(map));
    drawing.items.push(Item::Line { paths: isolines, width: ISOLINE, colour: BLACK, clip: frame });
    drawing.frame(frame);
    let bar = bar::place(frame, room);
    // A title that is wider than the map stands above the bar, too, and the unit below it.
    let title = Title::new(&panel.title, area, frame);
    let is_wide = title.right > bar.left - TO_BAR;
    title.draw(drawing, if is_wide { frame.top.min(bar.top) } else { frame.top });
    let name_end = axes::right(drawing, [frame, area], across, &panel.axes[0], false, &Numbers::Round);
    axes::up(drawing, frame, up, &panel.axes[1], false, &Numbers::Round);
    bar::draw(drawing, bar, &panel.scale);
    if let Some(unit) = &panel.unit {
        bar::unit(drawing, bar, unit, is_wide, area.right);
    }
    nan_legend(drawing, panel.values.iter().filter(|value| value.is_nan()).count(), area, name_end + 8.0);
}
