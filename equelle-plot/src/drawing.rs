//! A picture before it is pixels or SVG: frames, lines, labels and cells in their places.

use std::sync::Arc;

use crate::colour::{BLACK, Colour};
use crate::font;
use crate::image::{Image, Rect};
use crate::plane::Plane;
use crate::raster;

/// A drawing, the later items over the earlier.
#[derive(Clone, Debug)]
pub struct Drawing {
    /// In pixels.
    pub width: usize,
    /// In pixels.
    pub height: usize,
    /// In the order in which they are drawn.
    pub items: Vec<Item>,
}

/// Where a text is relative to its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anchor {
    /// It begins there.
    Start,
    /// Its middle is there.
    Middle,
    /// It ends there.
    End,
}

/// A text on its baseline.
#[derive(Clone, Debug, PartialEq)]
pub struct Label {
    /// The letters.
    pub text: String,
    /// Position of its anchor on the baseline.
    pub at: [f64; 2],
    /// Its size.
    pub size: f64,
    /// Where it is.
    pub anchor: Anchor,
    /// True if it reads upwards.
    pub is_upward: bool,
}

impl Label {
    /// The rectangle that has its letters, whichever of ASCII they are.
    pub fn bounds(&self) -> Rect {
        let (width, above, below) = (font::width(&self.text, self.size), font::ASCENT * self.size, font::DESCENT * self.size);
        let before = self.before(width);
        let [x, y] = self.at;
        if self.is_upward {
            Rect { left: x - above, top: y - width + before, right: x + below, bottom: y + before }
        } else {
            Rect { left: x - before, top: y - above, right: x - before + width, bottom: y + below }
        }
    }

    /// The part of its width before its anchor.
    fn before(&self, width: f64) -> f64 {
        match self.anchor {
            Anchor::Start => 0.0,
            Anchor::Middle => width / 2.0,
            Anchor::End => width,
        }
    }

    /// The left end of its baseline, at a whole pixel, where letters are sharp.
    pub fn begin(&self) -> [f64; 2] {
        let back = self.before(font::width(&self.text, self.size));
        let [x, y] = self.at;
        if self.is_upward { [x, y + back] } else { [x - back, y] }.map(f64::round)
    }
}

/// Cells of two dimensions with their colours.
#[derive(Clone, Debug)]
pub struct Map {
    /// Where it is.
    pub frame: Rect,
    /// Visible part of the plane: least x and y, largest x and y; y grows upwards.
    pub window: [[f64; 2]; 2],
    /// The cells.
    pub plane: Arc<Plane>,
    /// One for each cell.
    pub colours: Arc<Vec<Colour>>,
}

impl Map {
    /// Where a point of the plane is.
    pub fn place(&self, [x, y]: [f64; 2]) -> [f64; 2] {
        let [low, high] = self.window;
        let right = (x - low[0]) / (high[0] - low[0]) * self.frame.width();
        let up = (y - low[1]) / (high[1] - low[1]) * self.frame.height();
        [self.frame.left + right, self.frame.bottom - up]
    }

    /// The point of the plane at a place.
    pub fn point(&self, [x, y]: [f64; 2]) -> [f64; 2] {
        let [low, high] = self.window;
        let (right, up) = ((x - self.frame.left) / self.frame.width(), (self.frame.bottom - y) / self.frame.height());
        [low[0] + right * (high[0] - low[0]), low[1] + up * (high[1] - low[1])]
    }
}

/// Something that is drawn.
#[derive(Clone, Debug)]
pub enum Item {
    /// A filled rectangle.
    Fill(Rect, Colour),
    /// Lines through points, within a rectangle. A single point is a dot.
    Line {
        /// Points of each.
        paths: Vec<Vec<[f64; 2]>>,
        /// In pixels.
        width: f64,
        /// Colour of all.
        colour: Colour,
        /// Parts outside are not drawn.
        clip: Rect,
    },
    /// A text.
    Label(Label),
    /// Cells.
    Map(Map),
}

impl Drawing {
    /// Nothing on white paper.
    pub fn new(width: usize, height: usize) -> Drawing {
        Drawing { width, height, items: Vec::new() }
    }

    /// All of it.
    pub fn rect(&self) -> Rect {
        Rect { left: 0.0, top: 0.0, right: self.width as f64, bottom: self.height as f64 }
    }

    /// Adds a filled rectangle.
    pub fn fill(&mut self, [left, top]: [f64; 2], [right, bottom]: [f64; 2], colour: Colour) {
        self.items.push(Item::Fill(Rect { left, top, right, bottom }, colour));
    }

    /// Adds the outline of a rectangle of whole pixels: the pixels around it.
    pub fn frame(&mut self, frame: Rect) {
        let Rect { left, top, right, bottom } = frame;
        self.fill([left - 1.0, top - 1.0], [right + 1.0, top], BLACK);
        self.fill([left - 1.0, bottom], [right + 1.0, bottom + 1.0], BLACK);
        self.fill([left - 1.0, top], [left, bottom], BLACK);
        self.fill([right, top], [right + 1.0, bottom], BLACK);
    }

    /// Adds a text.
    pub fn label(&mut self, text: impl Into<String>, at: [f64; 2], size: f64, anchor: Anchor) {
        self.items.push(Item::Label(Label { text: text.into(), at, size, anchor, is_upward: false }));
    }

    /// Adds a text that reads upwards.
    pub fn upward_label(&mut self, text: impl Into<String>, at: [f64; 2], size: f64) {
        self.items.push(Item::Label(Label { text: text.into(), at, size, anchor: Anchor::Middle, is_upward: true }));
    }

    /// The texts.
    pub fn labels(&self) -> impl Iterator<Item = &Label> {
        self.items.iter().filter_map(|item| match item {
            Item::Label(label) => Some(label),
            Item::Fill(..) | Item::Line { .. } | Item::Map(_) => None,
        })
    }

    /// As pixels.
    ///
    /// # Panics
    /// Without pixels.
    pub fn pixels(&self) -> Image {
        raster::pixels(self)
    }
}
