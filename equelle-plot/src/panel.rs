//! Diagrams before they have a place: maps, and lines over an axis.

use std::sync::Arc;

use crate::axes::Numbers;
use crate::colour::{Colour, Scale};
use crate::plane::Plane;

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
    /// Colour of the line.
    pub colour: Colour,
}

/// Lines.
#[derive(Clone, Debug)]
pub struct LinePanel {
    /// Above it.
    pub title: String,
    /// Names of the axes, to the right and upwards.
    pub axes: [String; 2],
    /// Ends of that to the right.
    pub extent: [f64; 2],
    /// Ends of the axis upwards, if they are given.
    pub range: Option<[f64; 2]>,
    /// At the axis to the right, and at that upwards. Of logarithms, what is not positive is left
    /// out.
    pub numbers: [Numbers; 2],
    /// True if points have dots.
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
    /// Width of tick labels and axis names, in pixels.
    pub left: f64,
    /// Width of the colour bar of a map, in pixels.
    pub bar: f64,
}

impl Panel {
    /// Title.
    pub fn title_mut(&mut self) -> &mut String {
        match self {
            Panel::Map(map) => &mut map.title,
            Panel::Lines(lines) => &mut lines.title,
        }
    }
}
