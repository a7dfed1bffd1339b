//! Pixels: lines with smooth edges, and polygons without.

use crate::colour::{Colour, WHITE};

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

/// The pixels whose centres are from one coordinate to another, within `0..n`.
pub fn centres(from: f64, to: f64, n: usize) -> std::ops::Range<usize> {
    // A cast takes what is outside of the numbers to their ends.
    let first = (from - 0.5).ceil().max(0.0) as usize;
    let end = (to - 0.5).ceil().max(0.0) as usize;
    first.min(n)..end.min(n).max(first.min(n))
}

impl Image {
    /// All white.
    pub fn new(width: usize, height: usize) -> Image {
        Image { width, height, pixels: vec![WHITE; width * height] }
    }

    /// The pixel in a column and a row.
    pub fn at(&self, x: usize, y: usize) -> Colour {
        self.pixels[y * self.width + x]
    }

    /// Fills the pixels whose centres are in a rectangle.
    pub fn fill(&mut self, rect: Rect, colour: Colour) {
        for y in centres(rect.top, rect.bottom, self.height) {
            let row = y * self.width;
            self.pixels[row..row + self.width][centres(rect.left, rect.right, self.width)].fill(colour);
        }
    }

    /// Fills the pixels of a rectangle whose centres are in a polygon. Of polygons that share an
    /// edge exactly one has a centre on it, so that a mesh has neither gaps nor overlaps.
    pub fn polygon(&mut self, points: &[[f64; 2]], colour: Colour, clip: Rect, crossings: &mut Vec<f64>) {
        let (low, high) = points.iter().fold((f64::MAX, f64::MIN), |(low, high), point| (low.min(point[1]), high.max(point[1])));
        for y in centres(low.max(clip.top), high.min(clip.bottom), self.height) {
            let centre = y as f64 + 0.5;
            crossings.clear();
            let mut previous = points[points.len() - 1];
            for &point in points {
                // From the same end, whatever the direction: neighbours get the same number.
                let (a, b) = if previous[1] < point[1] { (previous, point) } else { (point, previous) };
                if a[1] <= centre && centre < b[1] {
                    crossings.push(a[0] + (centre - a[1]) * (b[0] - a[0]) / (b[1] - a[1]));
                }
                previous = point;
            }
            crossings.sort_unstable_by(f64::total_cmp);
            for ends in crossings.chunks_exact(2) {
                let row = y * self.width;
                let inside = centres(ends[0].max(clip.left), ends[1].min(clip.right), self.width);
                self.pixels[row..row + self.width][inside].fill(colour);
            }
        }
    }

    /// Draws a line of a width with round ends, through points, within a rectangle. A pixel that
    /// several of its parts touch is covered as by the nearest one, so that bends are no blots.
    pub fn line(&mut self, points: &[[f64; 2]], width: f64, colour: Colour, clip: Rect) {
        let dot = [points[0], points[0]];
        let parts: &[[f64; 2]] = if points.len() == 1 { &dot } else { points };
        let reach = width / 2.0 + 0.5;
        let (mut low, mut high) = ([f64::MAX; 2], [f64::MIN; 2]);
        for point in parts.iter().filter(|point| point.iter().all(|x| x.is_finite())) {
            low = [0, 1].map(|axis| low[axis].min(point[axis]));
            high = [0, 1].map(|axis| high[axis].max(point[axis]));
        }
        let columns = centres((low[0] - reach).max(clip.left), (high[0] + reach).min(clip.right), self.width);
        let rows = centres((low[1] - reach).max(clip.top), (high[1] + reach).min(clip.bottom), self.height);
        let mut cover = Cover { columns: columns.clone(), values: vec![0.0; columns.len() * rows.len()], rows: rows.clone() };
        for ends in parts.windows(2) {
            cover.segment(ends[0], ends[1], width / 2.0);
        }
        if columns.is_empty() {
            return;
        }
        for (y, values) in rows.zip(cover.values.chunks_exact(columns.len())) {
            let row = y * self.width;
            let pixels = &mut self.pixels[row..row + self.width][columns.clone()];
            for (pixel, &cover) in pixels.iter_mut().zip(values).filter(|(_, cover)| **cover > 0.0) {
                for (old, new) in pixel.iter_mut().zip(colour) {
                    *old = (f64::from(*old) + (f64::from(new) - f64::from(*old)) * f64::from(cover)).round() as u8;
                }
            }
        }
    }
}

/// The part of each pixel of a rectangle that a line covers, from 0 to 1.
struct Cover {
    columns: std::ops::Range<usize>,
    rows: std::ops::Range<usize>,
    /// Row by row.
    values: Vec<f32>,
}

impl Cover {
    fn segment(&mut self, a: [f64; 2], b: [f64; 2], radius: f64) {
        if ![a, b].iter().flatten().all(|x| x.is_finite()) {
            return;
        }
        let reach = radius + 0.5;
        let (dx, dy) = (b[0] - a[0], b[1] - a[1]);
        let square = dx * dx + dy * dy;
        for y in within(a[1].min(b[1]) - reach, a[1].max(b[1]) + reach, &self.rows) {
            let py = y as f64 + 0.5;
            // Where the line is near this row: a steep long line has few pixels in each.
            let (mut from, mut to) = (a[0].min(b[0]), a[0].max(b[0]));
            if dy.abs() > 1e-9 {
                let at = |y: f64| a[0] + ((y - a[1]) / dy).clamp(0.0, 1.0) * dx;
                let (p, q) = (at(py - reach), at(py + reach));
                (from, to) = (p.min(q).max(from), p.max(q).min(to));
            }
            for x in within(from - reach, to + reach, &self.columns) {
                let px = x as f64 + 0.5;
                let t = if square > 0.0 { (((px - a[0]) * dx + (py - a[1]) * dy) / square).clamp(0.0, 1.0) } else { 0.0 };
                let distance = (px - a[0] - t * dx).hypot(py - a[1] - t * dy);
                let cover = ((reach - distance).clamp(0.0, 1.0) * (2.0 * radius).min(1.0)) as f32;
                let value = &mut self.values[(y - self.rows.start) * self.columns.len() + x - self.columns.start];
                *value = value.max(cover);
            }
        }
    }
}

/// The pixels of a range whose centres are from one coordinate to another.
fn within(from: f64, to: f64, range: &std::ops::Range<usize>) -> std::ops::Range<usize> {
    let found = centres(from, to, range.end);
    found.start.max(range.start).min(found.end)..found.end
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: Rect = Rect { left: 0.0, top: 0.0, right: 8.0, bottom: 8.0 };

    /// A square of 8 by 8 pixels, cut along its diagonal into two triangles.
    #[test]
    fn polygons_that_share_an_edge_have_no_gap_and_no_overlap() {
        let (red, blue, mut scratch) = ([255, 0, 0], [0, 0, 255], Vec::new());
        let [lower, upper] = [[[0.0, 0.0], [8.0, 8.0], [0.0, 8.0]], [[0.0, 0.0], [8.0, 0.0], [8.0, 8.0]]];
        let mut a = Image::new(8, 8);
        a.polygon(&lower, red, ALL, &mut scratch);
        let mut b = a.clone();
        b.polygon(&upper, blue, ALL, &mut scratch);
        let kept = |image: &Image| image.pixels.iter().filter(|&&pixel| pixel == red).count();
        assert_eq!(kept(&a), kept(&b));
        assert!(b.pixels.iter().all(|&pixel| pixel != WHITE));
        // 28 pixels below the diagonal and 28 above, 8 on it.
        assert_eq!(kept(&b), 28);
    }

    #[test]
    fn a_line_covers_what_is_near() {
        let mut image = Image::new(8, 8);
        image.line(&[[1.0, 4.0], [7.0, 4.0]], 2.0, [0, 0, 0], ALL);
        assert_eq!([image.at(4, 2), image.at(4, 3), image.at(4, 4), image.at(4, 5)], [WHITE, [0; 3], [0; 3], WHITE]);
        image.line(&[[f64::NAN, 0.0], [8.0, 8.0]], 1.0, [9, 9, 9], ALL);
        assert!(!image.pixels.contains(&[9, 9, 9]));
        // A line that leaves the picture costs what is in it.
        image.line(&[[-1e12, 1.0], [1e12, 1.0]], 1.0, [0, 0, 0], ALL);
        assert_ne!(image.at(0, 1), WHITE);
    }

    /// Parts of a hundredth of a pixel are one line: the pixels beside it are covered but a half.
    #[test]
    fn a_line_in_short_parts_is_no_wider() {
        let (mut whole, mut parts) = (Image::new(8, 8), Image::new(8, 8));
        whole.line(&[[1.0, 4.0], [7.0, 4.0]], 1.0, [0, 0, 0], ALL);
        parts.line(&(0..=600).map(|at| [1.0 + f64::from(at) / 100.0, 4.0]).collect::<Vec<_>>(), 1.0, [0, 0, 0], ALL);
        assert_eq!((parts.at(4, 3), parts.at(4, 4)), ([128; 3], [128; 3]));
        assert_eq!(whole, parts);
    }

    #[test]
    fn centres_are_half_open() {
        assert_eq!(centres(0.5, 2.5, 10), 0..2);
        assert_eq!(centres(-5.0, 99.0, 10), 0..10);
        assert_eq!(centres(20.0, 30.0, 10), 10..10);
    }
}
