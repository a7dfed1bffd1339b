//! Parts of a diagram that change from step to step: pixels of a map, or the path of a line.

use std::sync::Arc;

use equelle_runtime::Error;

use crate::chart::draw;
use crate::colour::{Colour, ColourMap, NAN, Range, Scale, WHITE};
use crate::drawing::{Drawing, Item, Map};
use crate::field::Field;
use crate::image::Rect;
use crate::lines::line_frame;
use crate::options::Options;
use crate::panel::{LinePanel, MapPanel, Margins, Panel};
use crate::panels::{Wanted, evenly, line_panel, map_panel};
use crate::plane::Plane;
use crate::png_file;
use crate::run::{OutputFile, Run};
use crate::svg;

/// Most pixels along a side of a map: cells, where there are no more.
const MAX_PIXELS: usize = 256;

/// Pixels of the longer side of a map of polygons.
const OF_POLYGONS: usize = 400;

/// Most points of a line.
const MAX_POINTS: usize = 1000;

/// Most cells that can be told from each other by colours of 24 bits.
const MAX_CELLS: usize = 0xff_ffff;

/// Levels of a map; the two numbers above them are NaN and paper.
const LEVELS: u8 = 254;

/// Most pixels of a diagram.
const SIZE: [f64; 2] = [560.0, 520.0];

/// A diagram alone, in a size that it fills.
fn drawn(panel: &Panel) -> Drawing {
    let [width, height] = panel.size_within(SIZE).map(|length| length as usize);
    draw(std::slice::from_ref(panel), width, height)
}

/// A diagram with a frame for each step.
pub struct Figure {
    /// Title of the diagram.
    pub title: String,
    /// The diagram, without what changes.
    pub svg: String,
    /// True if frames are pixels.
    pub is_map: bool,
    /// By step.
    pub frames: Vec<Frame>,
}

/// A diagram at one step.
pub struct Frame {
    /// Round of the outermost loop.
    pub step: u64,
    /// Its time, if it is known.
    pub time: Option<f64>,
    /// How many values are NaN.
    pub n_nan: usize,
    /// A PNG file in base64, or the path of a line.
    pub data: String,
}

/// Pixels of a field before the range of all steps is known.
struct Sample {
    step: u64,
    time: Option<f64>,
    n_nan: usize,
    values: Arc<Vec<f64>>,
}

/// The diagram of a tag at some steps, with the id of what changes.
///
/// # Errors
/// Those of files and slices.
pub fn figure(run: &Run, wanted: &Wanted, files: &[&OutputFile], options: &Options, id: &str) -> Result<Option<Figure>, Error> {
    let (mut range, mut samples, mut lines) = (None::<Range>, Vec::new(), Vec::new());
    let mut last: Option<MapPanel> = None;
    let mut pixels: Option<(Arc<Plane>, Vec<Option<u32>>)> = None;
    for file in files {
        let Some(field) = Field::read(run, file, &wanted.tag.name, wanted.component)? else { continue };
        let own = Range::of(field.values.iter().copied());
        range = match (range, own) {
            (Some(a), Some(b)) => Some(Range { low: a.low.min(b.low), high: a.high.max(b.high) }),
            (a, b) => a.or(b),
        };
        if field.dim() == 1 {
            lines.push(field);
            continue;
        }
        let (step, time, n_nan) = (field.step, field.time, field.n_nan());
        let panel = map_panel(wanted, field, &run.units, Range { low: 0.0, high: 1.0 }, &Options { isolines: 0, ..options.clone() })?;
        if panel.plane.len() > MAX_CELLS {
            return Ok(None);
        }
        let is_same = pixels.as_ref().is_some_and(|(plane, _)| **plane == *panel.plane);
        if !is_same {
            pixels = Some((Arc::clone(&panel.plane), cells_of_pixels(&panel.plane)));
        }
        let cells = pixels.iter().flat_map(|(_, cells)| cells);
        // Paper is where no cell is: infinite values have the colour of an end.
        let values = cells.map(|cell| cell.map_or(f64::NEG_INFINITY, |cell| paperless(panel.values[cell as usize]))).collect();
        samples.push(Sample { step, time, n_nan, values: Arc::new(values) });
        last = Some(panel);
    }
    let range = options.range.or(range).unwrap_or(Range { low: 0.0, high: 1.0 });
    Ok(match last {
        Some(panel) => Some(map_figure(wanted, panel, &samples, range, options.colours, id)),
        None if !lines.is_empty() => Some(field_figure(run, wanted, &lines, range, options, id)),
        None => None,
    })
}

fn paperless(value: f64) -> f64 {
    if value == f64::NEG_INFINITY { f64::MIN } else { value }
}

/// Width of the pixels of a plane, and their height.
fn size_of(plane: &Plane) -> [usize; 2] {
    match plane {
        Plane::Boxes { n, .. } => n.map(|n| n.clamp(1, MAX_PIXELS)),
        Plane::Polygons { .. } => {
            let [low, high] = plane.bounds();
            let extent = [high[0] - low[0], high[1] - low[1]];
            let longer = extent[0].max(extent[1]);
            extent.map(|length| ((length / longer * OF_POLYGONS as f64).round() as usize).max(1))
        }
    }
}

/// The cell at the centre of each pixel, rows from the top: cells are drawn in colours that are
/// their numbers.
fn cells_of_pixels(plane: &Arc<Plane>) -> Vec<Option<u32>> {
    let [width, height] = size_of(plane);
    let colours = (0..plane.len() as u32)
        .map(|cell| {
            let [_, red, green, blue] = cell.to_be_bytes();
            [red, green, blue]
        })
        .collect();
    let mut drawing = Drawing::new(width, height);
    let map = Map { frame: drawing.rect(), window: plane.bounds(), plane: Arc::clone(plane), colours: Arc::new(colours) };
    drawing.items.push(Item::Map(map));
    let cell = |colour: &Colour| (*colour != WHITE).then(|| u32::from_be_bytes([0, colour[0], colour[1], colour[2]]));
    drawing.pixels().pixels.iter().map(cell).collect()
}

fn map_figure(wanted: &Wanted, panel: MapPanel, samples: &[Sample], range: Range, colours: ColourMap, id: &str) -> Figure {
    let table = colours.table();
    let level = |level: u8| table[usize::from(level) * 255 / usize::from(LEVELS - 1)];
    let palette: Vec<Colour> = (0..LEVELS).map(level).chain([NAN, WHITE]).collect();
    let width = size_of(&panel.plane)[0];
    let number = |value: &f64| match *value {
        value if value.is_nan() => LEVELS,
        f64::NEG_INFINITY => LEVELS + 1,
        value => ((range.place(value) * f64::from(LEVELS)) as u8).min(LEVELS - 1),
    };
    let frame = |sample: &Sample| {
        let numbers: Vec<u8> = sample.values.iter().map(number).collect();
        let data = svg::base64(&png_file::indexed(width, &numbers, &palette));
        Frame { step: sample.step, time: sample.time, n_nan: sample.n_nan, data }
    };
    let frames = samples.iter().map(frame).collect();
    // The time is at the slider, and NaN counted there. A slice keeps its place in the title.
    let title = panel.title.rsplit_once("   ").map(|(_, last)| last).filter(|last| last.contains('='));
    let title = title.map_or_else(|| wanted.title.clone(), |slice| format!("{}   {slice}", wanted.title));
    let values = vec![range.low; panel.values.len()];
    let panel = MapPanel { title: title.clone(), values, scale: Scale { table, range }, ..panel };
    Figure { title, svg: svg::without_maps(&drawn(&Panel::Map(panel)), id), is_map: true, frames }
}

fn field_figure(run: &Run, wanted: &Wanted, fields: &[Field], range: Range, options: &Options, id: &str) -> Figure {
    let margin = (range.high / 20.0 - range.low / 20.0).min(f64::MAX / 4.0);
    let range = options.range.unwrap_or(Range { low: range.low - margin, high: range.high + margin });
    let of_all = Options { range: Some(range), ..options.clone() };
    let panel = |field: &Field| line_panel(wanted, std::slice::from_ref(field), &run.units, &of_all);
    let empty = LinePanel { curves: Vec::new(), n_nan: 0, ..panel(&fields[0]) };
    let title = empty.title.rsplit_once("   ").map_or_else(|| empty.title.clone(), |(title, _)| title.to_owned());
    let empty = LinePanel { title: title.clone(), ..empty };
    let whole = Panel::Lines(empty.clone());
    let [right, bottom] = whole.size_within(SIZE);
    let lines = line_frame(&empty, Rect { left: 0.0, top: 0.0, right, bottom }, Margins::of(std::slice::from_ref(&whole), bottom));
    let frame = |field: &Field| {
        let points: Vec<[f64; 2]> = panel(field).curves.into_iter().flat_map(|curve| curve.points).collect();
        let points: Vec<[f64; 2]> = evenly(points.len(), MAX_POINTS).into_iter().map(|index| points[index]).collect();
        let data = lines.paths(&points).iter().map(|path| svg::path(path, false)).collect();
        Frame { step: field.step, time: field.time, n_nan: field.n_nan(), data }
    };
    let frames = fields.iter().map(frame).collect();
    let svg = svg::text(&drawn(&whole));
    let path = format!("<path id=\"{id}\" d=\"\" fill=\"none\" stroke=\"#31688e\" stroke-width=\"2\" stroke-linejoin=\"round\"/>\n</svg>");
    Figure { title, svg: svg.trim_end().replacen("</svg>", &path, 1), is_map: false, frames }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The upper row of 2 by 2 boxes comes first.
    #[test]
    fn pixels_have_their_cells() {
        let boxes = Arc::new(Plane::Boxes { n: [2, 2], origin: [0.0; 2], spacing: [1.0, 3.0] });
        assert_eq!(cells_of_pixels(&boxes), [Some(2), Some(3), Some(0), Some(1)]);
        let many = Arc::new(Plane::Boxes { n: [1000, 1], origin: [0.0; 2], spacing: [1.0, 1.0] });
        let cells = cells_of_pixels(&many);
        assert_eq!((cells.len(), cells[0], cells[255]), (256, Some(1), Some(998)));
        // A triangle leaves half of the square empty.
        let points = vec![[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]];
        let triangle = Arc::new(Plane::Polygons { points, corners: vec![0, 1, 2], ends: vec![3] });
        let cells = cells_of_pixels(&triangle);
        let share = cells.iter().filter(|cell| cell.is_some()).count() as f64 / cells.len() as f64;
        assert!((share - 0.5).abs() < 0.01, "{share}");
    }
}
