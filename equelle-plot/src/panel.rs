//! Diagrams before they have a place: maps, and lines over an axis.

use std::sync::Arc;

use crate::axes::Numbers;
use crate::bar;
use crate::caption::{BOTTOM, LEFT, RIGHT, TOP};
use crate::colour::{Colour, Scale};
use crate::plane::Plane;
use crate::{lines, maps};

/// A map.
#[derive(Clone, Debug)]
pub struct MapPanel {
    /// Above it.
    pub title: String,
    /// Above the colour bar.
    pub unit: Option<String>,
    /// Names of the axes.
    pub axes: [String; 2],
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
    /// At the axis to the right, and at that upwards. Of logarithms, what is not positive is left
    /// out.
    pub numbers: [Numbers; 2],
    /// Whether points have dots.
    pub has_dots: bool,
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

/// Room to the left and to the right of diagrams: the same for all of a picture, so that those
/// above each other are in line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Margins {
    /// Of numbers and names.
    pub left: f64,
    /// Of the colour bar of a map.
    pub bar: f64,
}

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

impl Panel {
    /// Title.
    pub fn title_mut(&mut self) -> &mut String {
        match self {
            Panel::Map(map) => &mut map.title,
            Panel::Lines(lines) => &mut lines.title,
        }
    }

    /// Size of what is in the frame where the panel has this size.
    fn inner(&self, [width, height]: [f64; 2], margins: Margins) -> [f64; 2] {
        let right = match self {
            Panel::Map(_) => margins.bar,
            Panel::Lines(_) => RIGHT,
        };
        let room = [width - margins.left - right, height - TOP - BOTTOM].map(|length| length.max(0.0));
        match self {
            Panel::Map(map) => {
                let [low, high] = map.plane.bounds();
                let extent = [0, 1].map(|axis: usize| high[axis] - low[axis]);
                let scale = (room[0] / extent[0]).min(room[1] / extent[1]);
                extent.map(|length| length * scale)
            }
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
        const LEAST: [f64; 2] = [320.0, 150.0];
        match self {
            Panel::Map(_) => {
                let margins = Margins::of(std::slice::from_ref(self), most[1]);
                let [width, height] = self.inner(most, margins);
                let size = [width + margins.left + margins.bar, height + TOP + BOTTOM];
                [0, 1].map(|axis: usize| size[axis].ceil().clamp(LEAST[axis].min(most[axis]), most[axis]))
            }
            Panel::Lines(_) => [most[0], most[1].min((most[0] * 0.75).round())],
        }
    }
}
