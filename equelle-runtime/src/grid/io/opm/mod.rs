//! Grids in OPM's text format, checked.
//!
//! Checks: every item is there and is a number; index ranges; `face_cells` and `cell_faces`
//! describe the same grid; areas and volumes are positive; each normal's length is the area;
//! normals point from the first cell to the second; cells are closed; and, unless the file is
//! believed, areas, volumes, centroids and normals are those that the nodes give (`stored`).
//!
//! `scan` reads numbers, `reader` the arrays, by several threads; `check` checks them. `writer`
//! writes such files.

mod check;
mod reader;
mod scan;
mod writer;

use std::path::Path;

use crate::error::Error;
use crate::grid::digits::Digits;
use crate::grid::{Grid, Nodes, StoredGeometry};
use crate::threads::Threads;
use reader::Reader;

pub use writer::OpmText;

/// Reads the text of a grid file and checks its geometry; `path` is for messages.
///
/// # Errors
/// `Data` for what is wrong in it; names file, line and item.
pub fn read_text(path: &Path, text: &[u8]) -> Result<Grid, Error> {
    read_text_with(path, text, StoredGeometry::Check, &Threads::one())
}

/// As [`super::read_file_with`], of the text of a grid file; `path` is for messages.
///
/// # Errors
/// `Data` for what is wrong in it; names file, line and item.
pub fn read_text_with(path: &Path, text: &[u8], stored: StoredGeometry, threads: &Threads) -> Result<Grid, Error> {
    let mut reader = Reader::new(path, text, threads);
    let raw = reader.read()?;
    let topology = raw.topology(&reader)?;
    let geometry = raw.geometry(&reader)?;
    raw.check_orientation(&reader, &topology)?;
    match stored {
        StoredGeometry::Check => raw.stored(&topology).check(threads).map_err(|mismatch| raw.differs(&reader, mismatch))?,
        StoredGeometry::Trust => {}
    }
    Grid::unstructured(raw.dim, topology, geometry)?.with_nodes(raw.nodes)
}

/// An array of the file: where its items begin, and how many words each takes.
#[derive(Clone, Copy)]
struct ArrayLayout {
    name: &'static str,
    offset: usize,
    words_per_item: usize,
}

struct Array<T> {
    values: Vec<T>,
    place: ArrayLayout,
}

/// The arrays as they stand in the file.
struct Raw {
    dim: usize,
    n_cells: usize,
    n_faces: usize,
    nodes: Nodes,
    /// Layout of the nodes of faces.
    face_nodes: ArrayLayout,
    /// Digits of the positions of nodes, and then of areas, volumes, centroids and normals.
    node_digits: Digits,
    digits: Digits,
    face_cells: Array<[i64; 2]>,
    face_areas: Array<f64>,
    face_centroids: Array<[f64; 3]>,
    face_normals: Array<[f64; 3]>,
    cell_face_pos: Array<usize>,
    cell_faces: Array<u32>,
    cell_volumes: Array<f64>,
    cell_centroids: Array<[f64; 3]>,
}
