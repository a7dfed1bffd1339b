//! Pictures of diagrams.

use crate::drawing::Drawing;
use crate::image::Rect;
use crate::panel::{Margins, Panel};
use crate::{lines, maps};

/// Most pixels of a diagram that stands alone, and of one of several.
const ALONE: [f64; 2] = [800.0, 600.0];
const ONE_OF_SEVERAL: [f64; 2] = [560.0, 460.0];

/// Width over height of a picture of several diagrams, as far as these leave a choice.
const ASPECT: f64 = 1.4;

/// A size at which diagrams can be read, and in which little of the paper stays empty.
pub fn size(panels: &[Panel]) -> (usize, usize) {
    let most = if panels.len() > 1 { ONE_OF_SEVERAL } else { ALONE };
    let sizes = panels.iter().map(|panel| panel.size_within(most));
    let [width, height] = sizes.reduce(|a, b| [a[0].max(b[0]), a[1].max(b[1])]).unwrap_or(most);
    let rows = |columns: usize| panels.len().div_ceil(columns).max(1);
    // Fields that stay empty weigh more than another shape.
    let far = |columns: &usize| {
        let fields = (columns * rows(*columns)) as f64;
        let shape = *columns as f64 * width / (rows(*columns) as f64 * height * ASPECT);
        shape.ln().abs() + 2.0 * (1.0 - panels.len() as f64 / fields)
    };
    let columns = (1..=panels.len()).min_by(|a, b| far(a).total_cmp(&far(b))).unwrap_or(1);
    (columns * width as usize, rows(columns) * height as usize)
}

/// The number of columns with which the diagrams are largest; of equal ones that nearest to a
/// square.
fn columns(panels: &[Panel], [width, height]: [f64; 2]) -> usize {
    let content = |columns: usize| {
        let size = [width / columns as f64, height / panels.len().div_ceil(columns) as f64];
        let margins = Margins::of(panels, size[1]);
        panels.iter().map(|panel| panel.content(size, margins)).sum::<f64>()
    };
    // The least number of columns that are no fewer than the rows.
    let mut best = (1..).find(|columns| columns * columns >= panels.len()).unwrap_or(1).max(1);
    let mut most = content(best);
    for columns in 1..=panels.len() {
        let found = content(columns);
        // By a part that can be seen.
        if found > 1.1 * most {
            (best, most) = (columns, found);
        }
    }
    best
}

/// Draws diagrams in rows of equal fields.
pub fn draw(panels: &[Panel], width: usize, height: usize) -> Drawing {
    let mut drawing = Drawing::new(width, height);
    let columns = columns(panels, [width as f64, height as f64]);
    let rows = panels.len().div_ceil(columns).max(1);
    let (across, down) = (width as f64 / columns as f64, height as f64 / rows as f64);
    let margins = Margins::of(panels, down);
    for (index, panel) in panels.iter().enumerate() {
        let (left, top) = ((index % columns) as f64 * across, (index / columns) as f64 * down);
        let area = Rect { left, top, right: left + across, bottom: top + down };
        match panel {
            Panel::Map(map) => maps::draw(&mut drawing, map, area, margins),
            Panel::Lines(lines) => lines::draw(&mut drawing, lines, area, margins),
        }
    }
    drawing
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::axes::Numbers;
    use crate::colour::{BLACK, ColourMap, Range, Scale};
    use crate::drawing::{Item, Label};
    use crate::panel::{Curve, LinePanel, MapPanel};
    use crate::plane::Plane;

    fn map(extent: [f64; 2], low: f64, high: f64, title: &str, unit: Option<&str>) -> Panel {
        let spacing = [extent[0] / 2.0, extent[1] / 2.0];
        Panel::Map(MapPanel {
            title: title.to_owned(),
            unit: unit.map(str::to_owned),
            axes: ["x [m]", "y [m]"].map(str::to_owned),
            plane: Arc::new(Plane::Boxes { n: [2, 2], origin: [0.0; 2], spacing }),
            values: vec![low, high, low, f64::NAN],
            scale: Scale { table: ColourMap::Viridis.table(), range: Range { low, high } },
            isolines: Vec::new(),
        })
    }

    fn lines(extent: [f64; 2], low: f64, high: f64, numbers: [Numbers; 2]) -> Panel {
        let points = vec![[extent[0], low], [extent[1], high]];
        let curves = vec![Curve { name: "k=0.125, order 2.00".to_owned(), points, colour: BLACK }];
        Panel::Lines(LinePanel {
            title: "error".to_owned(),
            axes: ["number of cells along x", "error of the pressure [Bar]"].map(str::to_owned),
            extent,
            range: None,
            numbers,
            has_dots: true,
            curves,
            n_nan: 0,
        })
    }

    /// No two texts touch, none is on colours, and none leaves the picture.
    fn assert_readable(panels: &[Panel], [width, height]: [usize; 2]) {
        let drawing = draw(panels, width, height);
        let labels: Vec<&Label> = drawing.labels().filter(|label| !label.text.is_empty()).collect();
        let bounds: Vec<Rect> = labels.iter().map(|label| label.bounds()).collect();
        let meet = |a: &Rect, b: &Rect| a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
        for (index, (label, own)) in labels.iter().zip(&bounds).enumerate() {
            for (other, rect) in labels.iter().zip(&bounds).skip(index + 1) {
                assert!(!meet(own, rect), "{width}x{height}: `{}` {own:?} and `{}` {rect:?}", label.text, other.text);
            }
            for item in &drawing.items {
                if let Item::Fill(rect, _) = item {
                    assert!(!meet(own, rect), "{width}x{height}: `{}` {own:?} on colours {rect:?}", label.text);
                }
            }
            let inside = own.left >= 0.0 && own.top >= 0.0 && own.right <= width as f64 && own.bottom <= height as f64;
            assert!(inside, "{width}x{height}: `{}` {own:?}", label.text);
        }
    }

    const SIZES: [[usize; 2]; 5] = [[800, 600], [480, 380], [280, 600], [600, 180], [240, 190]];

    #[test]
    fn texts_of_maps_do_not_touch() {
        let long = "saturation of the water phase   time 1.234e-5   z = 0.5";
        for size in SIZES {
            for extent in
                [[1.0, 1.0], [1000.0, 20.0], [20.0, 1000.0], [1.0, 40.0], [40.0, 1.0], [0.25e-7, 1e-6], [123_456.0, 9.0], [3000.0, 5e4]]
            {
                for (low, high) in [(0.0, 1.0), (-1.234_567e-10, -1.234_56e-10), (3.5, 3.5), (-123_456.7, 654_321.0), (-1e300, 1e300)] {
                    for (title, unit) in
                        [("u   time 0.1", None), ("u   time 0.1", Some("Bar")), (long, Some("Meter^2/Second^2")), (long, None)]
                    {
                        assert_readable(&[map(extent, low, high, title, unit)], size);
                    }
                }
            }
        }
    }

    #[test]
    fn texts_of_lines_do_not_touch() {
        let cells: Vec<(f64, String)> = [10, 20, 40, 80, 160, 200, 320].map(|n| (f64::from(n), n.to_string())).into();
        for size in SIZES {
            for (low, high) in [(1e-9, 2e-3), (0.1, 0.3), (1e-300, 1e300), (7.0, 7.0)] {
                assert_readable(&[lines([10.0, 320.0], low, high, [Numbers::These(cells.clone()), Numbers::Powers])], size);
            }
            for (low, high) in [(-1.25e-7, 2.5e-7), (1e5, 1e5 + 1.0), (0.0, 1.0)] {
                assert_readable(&[lines([0.0, 1.5e7], low, high, [Numbers::Round, Numbers::Round])], size);
                assert_readable(&[lines([0.0, 1e5], low, high, [Numbers::Whole, Numbers::Round])], size);
            }
        }
    }

    /// Diagrams beside each other share neither texts nor room.
    #[test]
    fn texts_of_neighbours_do_not_touch() {
        let long = "a very long tag of an output that nobody would write   time 1.234e-5 s   failed";
        let round = || [Numbers::Round, Numbers::Round];
        let all = [
            map([24.0, 12.0], 0.0, 2.3, long, Some("Kilogram/(Meter*Second^2)")),
            map([24.0, 12.0], -1e30, 1e30, "huge   time 0.1 s", Some("m/s")),
            lines([0.0, 2_592_000.0], 999_970.0, 1e6, round()),
            map([1.0, 5.0], 500_000.0, 500_000.099, "narrow   time 0.1 s", None),
            lines([0.0, 2.5e6], -3e-11, 0.0, round()),
            map([1.0, 1.0], 1e-300, 1e275, long, None),
        ];
        for n in 2..=all.len() {
            for size in [[1680, 920], [900, 500], [560, 1200], [1800, 300]] {
                assert_readable(&all[..n], size);
            }
        }
    }

    /// In a picture of the usual size maps have more than half of the paper, but very flat ones.
    #[test]
    fn maps_fill_the_paper() {
        for (extent, least) in [([1.0, 1.0], 0.6), ([2.0, 1.0], 0.5), ([1.0, 2.0], 0.45), ([5.0, 1.0], 0.4)] {
            for n in [1, 2, 3, 4, 6] {
                let panels: Vec<Panel> = (0..n).map(|_| map(extent, 0.0, 1.0, "u   time 0.1 s", Some("K"))).collect();
                let (width, height) = size(&panels);
                let maps = draw(&panels, width, height).items.into_iter().map(|item| match item {
                    Item::Map(map) => map.frame.width() * map.frame.height(),
                    Item::Fill(..) | Item::Line { .. } | Item::Label(_) => 0.0,
                });
                // A field of a picture of three stays empty.
                let fields = n as f64 / if n == 3 { 4.0 } else { n as f64 };
                let share = maps.sum::<f64>() / (width * height) as f64 / fields;
                assert!(share > least, "{n} of {extent:?} in {width}x{height}: {share:.2}");
            }
        }
        // Two flat maps stand below each other in a picture that is wide, too.
        let flat: Vec<Panel> = (0..2).map(|_| map([10.0, 1.0], 0.0, 1.0, "u", None)).collect();
        assert_eq!([columns(&flat, [800.0, 600.0]), columns(&flat, [1600.0, 200.0])], [1, 2]);
    }
}
