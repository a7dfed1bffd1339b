//! How large diagrams are, and how much room is beside them.

use crate::bar;
use crate::caption::{BOTTOM, LEFT, RIGHT, TOP};
use crate::panel::{MapPanel, Margins, Panel};
use crate::{lines, maps};

/// Most of the longer side of a map for the shorter one.
const MAX_RATIO: f64 = 4.0;

impl Margins {
    /// As much as each of the diagrams needs where it is `height` pixels high.
    pub fn of(panels: &[Panel], height: f64) -> Margins {
        let height = (height - TOP - BOTTOM).max(16.0);
        let none = Margins { left: LEFT, bar: 0.0 };
        panels.iter().fold(none, |margins, panel| {
            let (left, bar) = match panel {
                Panel::Map(map) => (maps::room_left(map, height), bar::room(map.scale.range, height)),
                Panel::Lines(lines) => (lines::room_left(lines, height), 0.0),
            };
            Margins { left: margins.left.max(left.ceil()), bar: margins.bar.max(bar.ceil()) }
        })
    }
}

impl MapPanel {
    /// Size of the map in a room that it fills in one direction: one scale along both axes, unless
    /// it would be a strip.
    pub fn fitted(&self, room: [f64; 2]) -> [f64; 2] {
        let [low, high] = self.plane.bounds();
        let [width, height] = [0, 1].map(|axis: usize| high[axis] - low[axis]);
        let shape = [width.max(height / MAX_RATIO), height.max(width / MAX_RATIO)];
        let scale = (room[0] / shape[0]).min(room[1] / shape[1]);
        shape.map(|length| length * scale)
    }
}

impl Panel {
    /// Size of what is in the frame where the panel has this size.
    fn inner(&self, [width, height]: [f64; 2], margins: Margins) -> [f64; 2] {
        let right = match self {
            Panel::Map(_) => margins.bar,
            Panel::Lines(_) => RIGHT,
        };
        let room = [width - margins.left - right, height - TOP - BOTTOM].map(|length| length.max(0.0));
        match self {
            Panel::Map(map) => map.fitted(room),
            // Beyond these ratios lines gain nothing.
            Panel::Lines(_) => [room[0].min(2.0 * room[1]), room[1].min(room[0])],
        }
    }

    /// Pixels of what is in the frame where the panel has this size.
    pub fn content(&self, size: [f64; 2], margins: Margins) -> f64 {
        let [width, height] = self.inner(size, margins);
        width * height
    }

    /// The least size, up to `most`, in which the panel is as large as in `most`.
    pub fn size_within(&self, most: [f64; 2]) -> [f64; 2] {
        const MIN_SIZE: [f64; 2] = [320.0, 150.0];
        match self {
            Panel::Map(_) => {
                let margins = Margins::of(std::slice::from_ref(self), most[1]);
                let [width, height] = self.inner(most, margins);
                let size = [width + margins.left + margins.bar, height + TOP + BOTTOM];
                [0, 1].map(|axis: usize| size[axis].ceil().clamp(MIN_SIZE[axis].min(most[axis]), most[axis]))
            }
            Panel::Lines(_) => [most[0], most[1].min((most[0] * 0.75).round())],
        }
    }
}
