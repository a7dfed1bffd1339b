//! Pixels of drawings.

use std::ops::Range;

use tiny_skia::{Color, FillRule, LineCap, LineJoin, Mask, Paint, PathBuilder, Pixmap, Stroke, Transform};

use crate::colour::{BLACK, Colour};
use crate::drawing::{Drawing, Item, Label, Map};
use crate::font;
use crate::image::{Image, Rect};
use crate::plane::Plane;

/// Farthest place of a point from the origin: beyond it single precision has no parts of a pixel.
const FAR: f64 = 1e6;

/// The pixels of a drawing.
///
/// # Panics
/// Without pixels.
pub fn pixels(drawing: &Drawing) -> Image {
    let (width, height) = (drawing.width, drawing.height);
    let mut canvas =
        Canvas { pixmap: Pixmap::new(width as u32, height as u32).expect("a picture has pixels"), mask: None, whole: drawing.rect() };
    canvas.pixmap.fill(Color::WHITE);
    for item in &drawing.items {
        match item {
            Item::Fill(rect, colour) => canvas.fill(*rect, *colour),
            Item::Line { paths, width, colour, clip } => canvas.line(paths, *width, *colour, *clip),
            Item::Label(label) => canvas.label(label),
            Item::Map(map) => canvas.map(map),
        }
    }
    let colour = |pixel: &tiny_skia::PremultipliedColorU8| [pixel.red(), pixel.green(), pixel.blue()];
    Image { width, height, pixels: canvas.pixmap.pixels().iter().map(colour).collect() }
}

struct Canvas {
    pixmap: Pixmap,
    /// The last rectangle that lines were clipped by.
    mask: Option<(Rect, Mask)>,
    whole: Rect,
}

fn paint([red, green, blue]: Colour, anti_alias: bool) -> Paint<'static> {
    let mut paint = Paint { anti_alias, ..Paint::default() };
    paint.set_color_rgba8(red, green, blue, 255);
    paint
}

/// The lines through points; `None` without.
fn path(paths: &[Vec<[f64; 2]>]) -> Option<tiny_skia::Path> {
    let mut builder = PathBuilder::new();
    for points in paths.iter().filter(|points| points.len() > 1) {
        let mut points = points.iter().map(|point| point.map(|x| x.clamp(-FAR, FAR) as f32));
        if let Some([x, y]) = points.next() {
            builder.move_to(x, y);
            points.for_each(|[x, y]| builder.line_to(x, y));
        }
    }
    builder.finish()
}

fn rectangle(rect: Rect) -> Option<tiny_skia::Rect> {
    let [left, top, right, bottom] = [rect.left, rect.top, rect.right, rect.bottom].map(|x| x.clamp(-FAR, FAR).round() as f32);
    tiny_skia::Rect::from_ltrb(left, top, right, bottom)
}

impl Canvas {
    /// Fills the pixels whose centres are in a rectangle.
    fn fill(&mut self, rect: Rect, colour: Colour) {
        if let Some(rect) = rectangle(rect) {
            self.pixmap.fill_rect(rect, &paint(colour, false), Transform::identity(), None);
        }
    }

    fn line(&mut self, paths: &[Vec<[f64; 2]>], width: f64, colour: Colour, clip: Rect) {
        let is_clipped = clip != self.whole;
        if is_clipped && self.mask.as_ref().is_none_or(|(rect, _)| *rect != clip) {
            let mask = Mask::new(self.pixmap.width(), self.pixmap.height()).zip(rectangle(clip));
            self.mask = mask.map(|(mut mask, rect)| {
                mask.fill_path(&PathBuilder::from_rect(rect), FillRule::Winding, false, Transform::identity());
                (clip, mask)
            });
        }
        let mask = self.mask.as_ref().filter(|_| is_clipped).map(|(_, mask)| mask);
        let paint = paint(colour, true);
        let mut dots = PathBuilder::new();
        for point in paths.iter().filter(|points| points.len() == 1).flatten() {
            let [x, y] = point.map(|x| x.clamp(-FAR, FAR) as f32);
            dots.push_circle(x, y, width as f32 / 2.0);
        }
        if let Some(dots) = dots.finish() {
            self.pixmap.fill_path(&dots, &paint, FillRule::Winding, Transform::identity(), mask);
        }
        if let Some(path) = path(paths) {
            let stroke = Stroke { width: width as f32, line_cap: LineCap::Round, line_join: LineJoin::Round, ..Stroke::default() };
            self.pixmap.stroke_path(&path, &paint, &stroke, Transform::identity(), mask);
        }
    }

    fn label(&mut self, label: &Label) {
        let Some(outlines) = font::outlines(&label.text, label.size) else { return };
        let [x, y] = label.begin().map(|x| x as f32);
        let transform = if label.is_upward { Transform::from_row(0.0, -1.0, 1.0, 0.0, x, y) } else { Transform::from_translate(x, y) };
        self.pixmap.fill_path(&outlines, &paint(BLACK, true), FillRule::Winding, transform, None);
    }

    /// Each pixel has the colour of the cell at its centre.
    fn map(&mut self, map: &Map) {
        match &*map.plane {
            Plane::Boxes { n, origin, spacing } => {
                let cell = |at: f64, axis: usize| {
                    let at = (at - origin[axis]) / spacing[axis];
                    (at >= 0.0 && at < n[axis] as f64).then_some(at as usize)
                };
                let (width, height) = (self.pixmap.width() as usize, self.pixmap.height() as usize);
                let columns = centres(map.frame.left, map.frame.right, width);
                let cells: Vec<Option<usize>> = columns.clone().map(|x| cell(map.point([x as f64 + 0.5, 0.0])[0], 0)).collect();
                for y in centres(map.frame.top, map.frame.bottom, height) {
                    let Some(row) = cell(map.point([0.0, y as f64 + 0.5])[1], 1) else { continue };
                    let pixels = &mut self.pixmap.pixels_mut()[y * width..][columns.clone()];
                    for (pixel, cell) in pixels.iter_mut().zip(&cells) {
                        if let Some(cell) = cell {
                            let [red, green, blue] = map.colours[row * n[0] + cell];
                            *pixel = tiny_skia::ColorU8::from_rgba(red, green, blue, 255).premultiply();
                        }
                    }
                }
            }
            Plane::Polygons { points, corners, ends } => {
                // Smooth edges of neighbours would let the paper shine through.
                let places: Vec<[f32; 2]> = points.iter().map(|&point| map.place(point).map(|x| x as f32)).collect();
                let mut start = 0;
                for (&end, &colour) in ends.iter().zip(&*map.colours) {
                    let polygon = corners[start..end].iter().map(|&corner| places[corner as usize]);
                    start = end;
                    // Most cells of a large mesh have no pixel's centre, to the accuracy of edges.
                    let has_centre = |axis: usize| {
                        let ends = polygon.clone().map(|point| point[axis]);
                        let (low, high) = ends.fold((f32::MAX, f32::MIN), |(low, high), x| (low.min(x), high.max(x)));
                        (low - 0.55).ceil() <= (high - 0.45).floor()
                    };
                    if !(has_centre(0) && has_centre(1)) {
                        continue;
                    }
                    let mut builder = PathBuilder::new();
                    for (index, [x, y]) in polygon.enumerate() {
                        if index == 0 { builder.move_to(x, y) } else { builder.line_to(x, y) }
                    }
                    if let Some(polygon) = builder.finish() {
                        self.pixmap.fill_path(&polygon, &paint(colour, false), FillRule::EvenOdd, Transform::identity(), None);
                    }
                }
            }
        }
    }
}

/// The pixels whose centres are from one coordinate to another, within `0..n`.
fn centres(from: f64, to: f64, n: usize) -> Range<usize> {
    // A cast takes what is outside of the numbers to their ends.
    let first = (from - 0.5).ceil().max(0.0) as usize;
    let end = (to - 0.5).ceil().max(0.0) as usize;
    first.min(n)..end.min(n).max(first.min(n))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::colour::WHITE;

    fn drawn(item: Item) -> Image {
        let mut drawing = Drawing::new(8, 8);
        drawing.items.push(item);
        pixels(&drawing)
    }

    fn line(paths: Vec<Vec<[f64; 2]>>, clip: f64) -> Image {
        drawn(Item::Line { paths, width: 2.0, colour: BLACK, clip: Rect { left: 0.0, top: 0.0, right: clip, bottom: 8.0 } })
    }

    /// A square of 8 by 8 pixels, cut along its diagonal: 28 pixels on each side of it, 8 on it.
    #[test]
    fn polygons_that_share_an_edge_have_no_gap() {
        let (points, corners) = (vec![[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]], vec![0, 1, 2, 0, 2, 3]);
        let plane = Arc::new(Plane::Polygons { points, corners, ends: vec![3, 6] });
        let (red, blue) = ([255, 0, 0], [0, 0, 255]);
        let frame = Rect { left: 0.0, top: 0.0, right: 8.0, bottom: 8.0 };
        let image = drawn(Item::Map(Map { frame, window: plane.bounds(), plane, colours: Arc::new(vec![red, blue]) }));
        let count = |colour: Colour| image.pixels.iter().filter(|&&pixel| pixel == colour).count();
        assert_eq!((count(red) + count(blue), count(red).min(count(blue)) >= 28), (64, true));
    }

    #[test]
    fn lines_are_clipped_and_dots_are_round() {
        let image = line(vec![vec![[1.0, 4.0], [7.0, 4.0]]], 5.0);
        assert_eq!([image.at(4, 2), image.at(4, 3), image.at(4, 4), image.at(4, 5), image.at(5, 4)], [WHITE, BLACK, BLACK, WHITE, WHITE]);
        let dot = line(vec![vec![[4.0, 4.0]]], 8.0);
        assert!([[3, 3], [3, 4], [4, 3], [4, 4]].iter().all(|&[x, y]| dot.at(x, y)[0] < 100) && dot.at(5, 5) == WHITE);
    }

    /// Points out of the picture, or nowhere.
    #[test]
    fn any_points_can_be_drawn() {
        assert_eq!(line(vec![vec![[-1e300, 1.0], [1e300, 1.0]]], 8.0).at(4, 0), BLACK);
        assert_eq!(line(vec![vec![[f64::NAN, 1.0], [f64::INFINITY, 1.0]], Vec::new()], 8.0), line(Vec::new(), 8.0));
    }

    #[test]
    fn centres_are_half_open() {
        assert_eq!([centres(0.5, 2.5, 10), centres(-5.0, 99.0, 10), centres(20.0, 30.0, 10)], [0..2, 0..10, 10..10]);
    }
}
