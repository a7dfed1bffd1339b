//! VTK's format `.vti`: fields of one step on the cells of a uniform Cartesian grid, which needs no
//! points.

use std::io::{Result, Write};

use super::{Compression, Document, Step, VtkPart};
use crate::grid::{Cartesian, Grid};
use crate::number::write_shortest;
use crate::output::StepFields;
use crate::threads::Threads;
use crate::vtk::Association;

/// The grid of the files of a run. Fields on its faces and edges are in files of a
/// [`super::vtu::VtuMesh`].
pub struct ImageData {
    shape: Cartesian,
    compression: Compression,
    threads: Threads,
}

impl ImageData {
    /// Image data of a uniform Cartesian grid; `None` for others.
    pub fn of(grid: &Grid, compression: Compression) -> Option<ImageData> {
        let shape = grid.shape().filter(|_| !grid.is_rectilinear())?;
        Some(ImageData { shape: *shape, compression, threads: grid.threads().clone() })
    }
}

/// Writes a file with those fields of a step that are on cells or vertices.
///
/// # Errors
/// Those of `out`.
///
/// # Panics
/// If a field has not one value for each element of its support.
pub fn write(out: &mut dyn Write, image: &ImageData, fields: &StepFields<'_>) -> Result<()> {
    let shape = &image.shape;
    let step = Step { dim: shape.dim, part: VtkPart::Cells, fields };
    let numbers = |of: &dyn Fn(usize) -> f64| {
        let mut text = String::new();
        for axis in 0..3 {
            text.push_str(if axis == 0 { "" } else { " " });
            write_shortest(&mut text, of(axis));
        }
        text
    };
    let has = |axis: usize| axis < shape.dim;
    let extent: Vec<String> = (0..3).map(|axis| format!("0 {}", if has(axis) { shape.n[axis] } else { 0 })).collect();
    let extent = extent.join(" ");
    let mut document = Document::new("ImageData", image.compression, &image.threads);
    let origin = ("Origin", numbers(&|_| 0.0));
    let spacing = ("Spacing", numbers(&|axis| if has(axis) { shape.spacing[axis] } else { 1.0 }));
    document.open("ImageData", &[("WholeExtent", extent.clone()), origin, spacing]);
    step.field_data(&mut document);
    document.open("Piece", &[("Extent", extent)]);
    step.arrays(Association::Points, &mut document);
    step.arrays(Association::Cells, &mut document);
    document.close("Piece");
    document.close("ImageData");
    document.write(out)
}
