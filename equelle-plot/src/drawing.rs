//! A picture before it is pixels or SVG: frames, lines, labels and cells in their places.

use std::sync::Arc;

use crate::colour::{BLACK, Colour};
use crate::font;
use crate::image::{Image, Rect, centres};
use crate::plane::Plane;

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
    /// The least rectangle that has its letters, whichever they are.
    pub fn bounds(&self) -> Rect {
        let (width, above, below) = (font::width(&self.text, self.size), font::CAPITAL * self.size, font::DESCENT * self.size);
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

    /// Its strokes; they begin at the centre of a pixel, where thin lines are sharp.
    pub fn strokes(&self) -> Vec<Vec<[f64; 2]>> {
        let back = self.before(font::width(&self.text, self.size));
        let begin = if self.is_upward { [self.at[0], self.at[1] + back] } else { [self.at[0] - back, self.at[1]] };
        let begin = begin.map(|x| x.floor() + 0.5);
        let place = |[x, y]: [f64; 2]| if self.is_upward { [begin[0] + y, begin[1] - x] } else { [begin[0] + x, begin[1] + y] };
        font::strokes(&self.text, self.size).into_iter().map(|stroke| stroke.into_iter().map(place).collect()).collect()
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
}

/// Something that is drawn.
#[derive(Clone, Debug)]
pub enum Item {
    /// A filled rectangle.
    Fill(Rect, Colour),
    /// A line through points, within a rectangle.
    Line {
        /// At least one.
        points: Vec<[f64; 2]>,
        /// In pixels.
        width: f64,
        /// Colour of the whole line.
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

    /// Adds a black line.
    pub fn rule(&mut self, points: Vec<[f64; 2]>, width: f64, colour: Colour) {
        let clip = self.rect();
        self.items.push(Item::Line { points, width, colour, clip });
    }

    /// Adds the outline of a rectangle of whole pixels: the pixels around it.
    pub fn frame(&mut self, frame: Rect) {
        let [left, top] = [frame.left - 0.5, frame.top - 0.5];
        let [right, bottom] = [frame.right + 0.5, frame.bottom + 0.5];
        self.rule(vec![[left, top], [right, top], [right, bottom], [left, bottom], [left, top]], 1.0, BLACK);
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
    pub fn pixels(&self) -> Image {
        let mut image = Image::new(self.width, self.height);
        let all = self.rect();
        for item in &self.items {
            match item {
                Item::Fill(rect, colour) => image.fill(*rect, *colour),
                Item::Line { points, width, colour, clip } => image.line(points, *width, *colour, *clip),
                Item::Label(label) => {
                    let width = (font::STROKE * label.size).max(1.0);
                    label.strokes().iter().for_each(|stroke| image.line(stroke, width, BLACK, all));
                }
                Item::Map(map) => draw(map, &mut image),
            }
        }
        image
    }
}

/// Each pixel has the colour of the cell at its centre.
fn draw(map: &Map, image: &mut Image) {
    match &*map.plane {
        Plane::Boxes { n, origin, spacing } => {
            let [low, high] = map.window;
            let (rows, columns) =
                (centres(map.frame.top, map.frame.bottom, image.height), centres(map.frame.left, map.frame.right, image.width));
            let index = |x: f64, axis: usize| {
                let at = (x - origin[axis]) / spacing[axis];
                (at >= 0.0 && at < n[axis] as f64).then_some(at as usize)
            };
            let of_column = |x: usize| {
                let right = (x as f64 + 0.5 - map.frame.left) / map.frame.width();
                index(low[0] + right * (high[0] - low[0]), 0)
            };
            let cells: Vec<Option<usize>> = columns.clone().map(of_column).collect();
            for y in rows {
                let up = (map.frame.bottom - (y as f64 + 0.5)) / map.frame.height();
                let Some(row) = index(low[1] + up * (high[1] - low[1]), 1) else { continue };
                for (x, cell) in columns.clone().zip(&cells) {
                    if let Some(cell) = cell {
                        image.pixels[y * image.width + x] = map.colours[row * n[0] + cell];
                    }
                }
            }
        }
        Plane::Polygons { points, corners, ends } => {
            let places: Vec<[f64; 2]> = points.iter().map(|&point| map.place(point)).collect();
            let (mut start, mut polygon, mut crossings) = (0, Vec::new(), Vec::new());
            for (&end, &colour) in ends.iter().zip(&*map.colours) {
                polygon.clear();
                polygon.extend(corners[start..end].iter().map(|&corner| places[corner as usize]));
                start = end;
                if !polygon.is_empty() {
                    image.polygon(&polygon, colour, map.frame, &mut crossings);
                }
            }
        }
    }
}
