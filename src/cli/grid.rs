//! `equellec grid`: what is in a grid file, whether it is sound, conversions, parts for ranks, and
//! generators.

mod boxes;
mod deck;
mod files;
mod make;
mod partition;
mod quality;
mod voronoi;

use std::fmt::Write as _;
use std::path::Path;

use equelle_runtime::grid::Grid;
use equelle_runtime::number::general;
use equelle_runtime::{EntityKind, Error};
use serde_json::{Value, json};

use super::args::{DeckArgs, GridArgs, GridVerb};
use super::print;
use crate::console::{Console, MessageFormat};
use equelle::failure::Failure;
use quality::{Extremes, Histogram, Quality};

/// Reads a grid file, prints what is in it, warns of what makes results inaccurate, writes it in
/// another format, or cuts it for ranks; or makes a grid.
pub(super) fn grid(args: &GridArgs, console: &Console) -> Result<(), Failure> {
    match &args.verb {
        GridVerb::Info { file, deck } => {
            let summary = Summary::of(file, deck)?;
            match console.format {
                MessageFormat::Json => print(&format!("{}\n", summary.json(file))),
                MessageFormat::Human | MessageFormat::Short => print(&summary.text(file)),
            }
        }
        GridVerb::Check { files, deck } => files.iter().try_for_each(|file| {
            let summary = Summary::of(file, deck)?;
            summary.quality.warnings().iter().for_each(|warning| console.warning(&format!("{}: {warning}", file.display())));
            Ok(())
        }),
        GridVerb::Convert { file, out, deck } => files::convert(file, out, deck, console),
        GridVerb::Make(args) => make::make(args, console),
        GridVerb::Partition(args) => partition::partition(args, console),
    }
}

/// Cells whose area vectors add up to less, relative to the surface, are closed up to rounding.
const CLOSED: f64 = 1e-12;

/// A named set, and how large it is.
struct SetMeasure {
    kind: EntityKind,
    name: String,
    n_members: usize,
    measure: f64,
}

/// A named array, and its extremes.
struct ArrayRange {
    kind: EntityKind,
    name: String,
    least: f64,
    most: f64,
}

/// Summary of a grid.
struct Summary {
    dim: usize,
    n_cells: usize,
    n_faces: usize,
    n_boundary_faces: usize,
    n_vertices: Option<usize>,
    bounds: Option<[[f64; 3]; 2]>,
    boundary_area: f64,
    quality: Quality,
    sets: Vec<SetMeasure>,
    arrays: Vec<ArrayRange>,
    notes: Vec<String>,
}

impl Summary {
    /// Reads a file, checks it and sums it up.
    fn of(file: &Path, deck: &DeckArgs) -> Result<Summary, Error> {
        let grid = files::read(file, deck)?;
        let n_vertices = grid.n_entities(EntityKind::Vertex).ok();
        let (topology, geometry) = (grid.topology(), grid.geometry());
        let on_boundary = || (0..grid.n_faces()).filter(|&face| topology.is_boundary_face(face));
        let sets = grid.named().sets().map(|set| {
            let measures = grid.measures(set.kind);
            let measure = set.members.iter().map(|&member| measures[member as usize]).sum();
            SetMeasure { kind: set.kind, name: set.name.clone(), n_members: set.members.len(), measure }
        });
        let arrays = grid.named().arrays().map(|array| {
            let (least, most) = range(&array.values);
            ArrayRange { kind: array.kind, name: array.name.clone(), least, most }
        });
        Ok(Summary {
            dim: grid.dim(),
            n_cells: grid.n_cells(),
            n_faces: grid.n_faces(),
            n_boundary_faces: on_boundary().count(),
            n_vertices,
            bounds: n_vertices.and_then(|_| bounds(&grid)),
            boundary_area: on_boundary().map(|face| geometry.face_areas[face]).sum(),
            quality: Quality::of(&grid),
            sets: sets.collect(),
            arrays: arrays.collect(),
            notes: grid.notes().to_vec(),
        })
    }

    fn text(&self, file: &Path) -> String {
        let mut text = format!("{}: a grid of {} dimensions\n", file.display(), self.dim);
        // Writing to a String cannot fail, hence the dropped results.
        let mut line = |name: &str, value: String| {
            let _ = writeln!(text, "{name:18}{value}");
        };
        let (volume, area) = if self.dim == 2 { ("area", "length") } else { ("volume", "area") };
        line("cells", self.n_cells.to_string());
        let n_interior = self.n_faces - self.n_boundary_faces;
        line("faces", format!("{}: {n_interior} interior, {} on the boundary", self.n_faces, self.n_boundary_faces));
        if let Some(n_vertices) = self.n_vertices {
            line("vertices", n_vertices.to_string());
        }
        if let Some([low, high]) = self.bounds {
            let point = |point: [f64; 3]| format!("({})", point[..self.dim].iter().map(|&x| general(x)).collect::<Vec<_>>().join(", "));
            line("bounding box", format!("{} to {}", point(low), point(high)));
        }
        let quality = &self.quality;
        line(&format!("{volume}s"), format!("{}, total {}", extremes(&quality.volumes, "cell"), general(quality.total_volume)));
        line("boundary", format!("{area} {}", general(self.boundary_area)));
        line("components", components(&quality.components));
        let (open, cell) = quality.closure.most;
        let closed = format!("sums of area vectors below {CLOSED:e} of the surface");
        line("closedness", if open <= CLOSED { closed } else { format!("{open:.1e} of the surface is open in cell {cell}") });
        let oriented = "normals point from the first to the second cell".to_string();
        line("orientation", if quality.n_turned == 0 { oriented } else { format!("turned inside out: {} cells", quality.n_turned) });
        histogram(&mut text, "non-orthogonality", "degrees between normal and line of centroids", "face", &quality.non_orthogonality);
        histogram(&mut text, "aspect", "largest over smallest distance from centroid to face", "cell", &quality.aspect);
        for set in &self.sets {
            let measure = if set.kind == EntityKind::Cell { volume } else { area };
            let _ = writeln!(text, "set {}: {} {}, {measure} {}", set.name, set.n_members, set.kind.nouns(), general(set.measure));
        }
        for array in &self.arrays {
            let _ = writeln!(text, "array {} of {}: {} to {}", array.name, array.kind.nouns(), general(array.least), general(array.most));
        }
        for note in &self.notes {
            let _ = writeln!(text, "note: {note}");
        }
        text
    }

    fn json(&self, file: &Path) -> Value {
        let quality = &self.quality;
        let sets: Vec<Value> = self
            .sets
            .iter()
            .map(|set| json!({ "kind": set.kind.noun(), "name": set.name, "members": set.n_members, "measure": set.measure }))
            .collect();
        let arrays: Vec<Value> = self
            .arrays
            .iter()
            .map(|array| json!({ "kind": array.kind.noun(), "name": array.name, "min": array.least, "max": array.most }))
            .collect();
        json!({
            "file": file.display().to_string(),
            "dim": self.dim,
            "cells": self.n_cells,
            "faces": { "interior": self.n_faces - self.n_boundary_faces, "boundary": self.n_boundary_faces },
            "vertices": self.n_vertices,
            "box": self.bounds.map(|[low, high]| json!({ "min": low[..self.dim], "max": high[..self.dim] })),
            "volumes": {
                "min": place(quality.volumes.least, "cell"),
                "max": place(quality.volumes.most, "cell"),
                "total": quality.total_volume,
            },
            "boundary_area": self.boundary_area,
            "components": quality.components,
            "closure": place(quality.closure.most, "cell"),
            "turned_cells": quality.n_turned,
            "non_orthogonality": histogram_json(&quality.non_orthogonality, "face"),
            "aspect": histogram_json(&quality.aspect, "cell"),
            "sets": sets,
            "arrays": arrays,
            "notes": self.notes,
        })
    }
}

fn range(values: &[f64]) -> (f64, f64) {
    values.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(least, most), &value| (least.min(value), most.max(value)))
}

fn bounds(grid: &Grid) -> Option<[[f64; 3]; 2]> {
    let positions = grid.centroids(EntityKind::Vertex);
    (!positions.is_empty()).then(|| {
        positions.iter().fold([[f64::INFINITY; 3], [f64::NEG_INFINITY; 3]], |[low, high], point| {
            [std::array::from_fn(|axis| low[axis].min(point[axis])), std::array::from_fn(|axis| high[axis].max(point[axis]))]
        })
    })
}

fn extremes(values: &Extremes, kind: &str) -> String {
    let at = |(value, index): (f64, usize)| format!("{} ({kind} {index})", general(value));
    format!("{} to {}", at(values.least), at(values.most))
}

fn components(sizes: &[usize]) -> String {
    match sizes {
        [_] => "1".to_string(),
        [largest, .., smallest] => format!("{}, of {smallest} to {largest} cells", sizes.len()),
        [] => "0".to_string(),
    }
}

fn histogram(text: &mut String, name: &str, of: &str, kind: &str, histogram: &Histogram) {
    let _ = write!(text, "{name}: {of}");
    if let Some((value, index)) = histogram.most {
        let _ = write!(text, ", at most {} ({kind} {index})", general(value));
    }
    text.push('\n');
    let total = histogram.counts.iter().sum::<usize>().max(1);
    for (at, &count) in histogram.counts.iter().enumerate().filter(|(_, count)| **count > 0) {
        let low = histogram.bins[at];
        let bin = histogram.bins.get(at + 1).map_or_else(|| format!("{low} and more"), |high| format!("{low} to {high}"));
        let _ = writeln!(text, "  {bin:16}{count:>10}  {:.1} %", 100.0 * count as f64 / total as f64);
    }
}

fn place((value, index): (f64, usize), kind: &str) -> Value {
    json!({ "value": value, kind: index })
}

fn histogram_json(histogram: &Histogram, kind: &str) -> Value {
    json!({ "bins": histogram.bins, "counts": histogram.counts, "max": histogram.most.map(|most| place(most, kind)) })
}
