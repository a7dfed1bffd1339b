//! Pictures of pixels, and rectangles in them.

use crate::colour::Colour;

/// A picture of pixels, rows from the top.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    /// Pixels of a row.
    pub width: usize,
    /// Number of rows.
    pub height: usize,
    /// Row by row.
    pub pixels: Vec<Colour>,
}

impl Image {
    /// The pixel in a column and a row.
    pub fn at(&self, x: usize, y: usize) -> Colour {
        self.pixels[y * self.width + x]
    }
}

/// A rectangle of pixels: left and top inside, right and bottom outside.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rect {
    /// Left end.
    pub left: f64,
    /// Upper end.
    pub top: f64,
    /// Right end.
    pub right: f64,
    /// Lower end.
    pub bottom: f64,
}

impl Rect {
    /// Width.
    pub fn width(&self) -> f64 {
        self.right - self.left
    }

    /// Height.
    pub fn height(&self) -> f64 {
        self.bottom - self.top
    }
}
