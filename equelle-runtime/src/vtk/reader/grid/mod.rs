//! Grids in VTK's XML format `.vtu`: text, base 64 or appended, compressed by zlib or not.
//!
//! The cells of the highest dimension become the cells of the grid; those of one dimension less
//! must be faces of them, and those below are left out. Arrays of cells with one component keep
//! their names; those of vectors get the names of their components, `v_x` and so on. An array
//! `set:NAME` of 0 and 1 is a set, and each number of `gmsh:physical`, `CellEntityIds` and
//! `MaterialIds` is one: of cells, and of faces.
//!
//! `sets` makes the sets and arrays.

mod sets;

use std::path::Path;

use super::geometry::VtkGeometry;
use crate::error::{Error, ErrorKind};
use crate::grid::builder::FacesByNodes;
use crate::grid::io::plane;
use crate::grid::{BuildError, CellShape, Grid, GridBuilder, Repairs};
use crate::threads::Threads;
use crate::vtk::cell_types::{CellType, TYPES_READ, faces_of};
use crate::vtk::names::Association;
use sets::Entities;

/// Reads a mesh; `path` is for messages. The threads match faces and compute the geometry.
///
/// # Errors
/// `Data` for what is wrong in it, or what it has that a grid has not; names file, and array or
/// cell.
pub fn read_grid(path: &Path, bytes: &[u8], threads: &Threads) -> Result<Grid, Error> {
    let file = super::read(path, bytes)?;
    let VtkGeometry::Cells { points, corners, ends, shapes, faces } = file.geometry()? else {
        let what = format!("{}: expected cells of any shape (UnstructuredGrid), found boxes", path.display());
        return Err(Error::new(ErrorKind::Data, what));
    };
    if faces.is_none() && shapes.iter().any(|&shape| CellType::numbered(shape) == Ok(CellType::Polyhedron)) {
        return Err(Error::new(
            ErrorKind::Data,
            format!("{}: no array `faces` or `polyhedron_to_faces`, which polyhedra need", path.display()),
        ));
    }
    let (mut arrays, unread): (Vec<CellArray>, Vec<(&str, &str)>) = (Vec::new(), file.unread(Association::Cells).collect());
    let notes = unread.iter().map(|(name, number)| format!("array `{name}` is left out: its numbers are of type `{number}`")).collect();
    for name in file.names(Association::Cells).filter(|name| unread.iter().all(|(unread, _)| unread != name)) {
        let values = file.values(Association::Cells, name)?;
        arrays.push(CellArray { name: name.to_string(), components: values.components, numbers: values.numbers });
    }
    drop(unread);
    drop(file);
    Mesh { points, corners, ends, shapes, faces, arrays, notes }.grid(path, threads)
}

/// An array of cells.
#[derive(Clone, Debug)]
pub(super) struct CellArray {
    pub name: String,
    pub components: usize,
    /// One tuple behind the other.
    pub numbers: Vec<f64>,
}

/// Mesh in a file of VTK, as in [`VtkGeometry::Cells`]. Without lists of faces, the corners of a
/// polyhedron are its list.
#[derive(Clone, Debug, Default)]
pub(super) struct Mesh {
    pub points: Vec<[f64; 3]>,
    pub corners: Vec<u32>,
    pub ends: Vec<usize>,
    pub shapes: Vec<u8>,
    pub faces: Option<(Vec<u32>, Vec<usize>)>,
    pub arrays: Vec<CellArray>,
    /// Notes on what has been left out.
    pub notes: Vec<String>,
}

impl Mesh {
    /// The grid; `path` is for messages.
    pub(super) fn grid(mut self, path: &Path, threads: &Threads) -> Result<Grid, Error> {
        let bad = |what: &str| Error::new(ErrorKind::Data, format!("{}: {what}", path.display()));
        let mut kinds = Vec::with_capacity(self.shapes.len());
        for (cell, &number) in self.shapes.iter().enumerate() {
            let shape = CellType::numbered(number).map_err(|name| bad(&format!("cell {cell} is {name}")).hint(TYPES_READ))?;
            let n_points = self.points_of(cell).len();
            if let Some(expected) = shape.n_points().filter(|&expected| expected != n_points) {
                return Err(bad(&format!("cell {cell} has {n_points} points: expected {expected}")));
            }
            kinds.push(shape);
        }
        let Some(dim) = kinds.iter().map(|shape| shape.dim()).max() else { return Err(bad("there are no cells")) };
        if dim < 2 {
            return Err(bad("there are no cells of dimension 2 or 3, only points and lines")
                .hint("a grid of 1 dimension needs no file: grid_dim=1, nx and dx"));
        }
        let cells: Vec<u32> = (0..).zip(&kinds).filter(|(_, shape)| shape.dim() == dim).map(|(cell, _)| cell).collect();
        let (mut grid, mut repairs) = self.build(path, dim, &kinds, &cells, threads)?;
        let is_free = |cell: u32| kinds[cells[cell as usize] as usize] == CellType::Cell(CellShape::Prism);
        // Prisms have both orders in files of VTK, as its own documentation and its code differ.
        repairs.turned.retain(|&cell| !is_free(cell));
        let mut notes = std::mem::take(&mut self.notes);
        notes.extend(repairs.notes(|cell| format!("cell {}", cells[cell]), |point| format!("point {point}")));
        let faces = self.faces(path, dim, &kinds, &grid, &repairs)?;
        if !faces.is_empty() && !self.arrays.iter().any(sets::names_sets) {
            let (n, cells) = (faces.len(), if faces.len() == 1 { "cell" } else { "cells" });
            notes.push(format!("left out: {n} {cells} of dimension {}, which are faces that no array names", dim - 1));
        }
        let named = sets::named(self.arrays, &Entities { cells, faces });
        grid = grid.with_named(named.map_err(|error| bad(&error.message))?)?;
        Ok(grid.with_notes(notes))
    }

    fn points_of(&self, cell: usize) -> &[u32] {
        &self.corners[range(&self.ends, cell)]
    }

    /// The grid of the cells of the highest dimension, whose numbers are given.
    fn build(&mut self, path: &Path, dim: usize, kinds: &[CellType], cells: &[u32], threads: &Threads) -> Result<(Grid, Repairs), Error> {
        let bad = |what: &str| Error::new(ErrorKind::Data, format!("{}: {what}", path.display()));
        let name = |cell: usize| format!("cell {}", cells.get(cell).map_or(cell, |&cell| cell as usize));
        let failed = |error: &BuildError| bad(&error.describe(name, |point| format!("point {point}")));
        let mut points = std::mem::take(&mut self.points);
        if dim == 2 {
            let of_cells: Vec<u32> = cells.iter().flat_map(|&cell| self.points_of(cell as usize)).copied().collect();
            plane::flatten(&mut points, &of_cells).map_err(|point| bad(&plane::surface(&format!("point {point}"))).hint(plane::HINT))?;
        }
        let mut builder = GridBuilder::new(dim, points).map_err(|error| failed(&error))?;
        for &cell in cells {
            let (cell, own) = (cell as usize, self.points_of(cell as usize));
            let list = match (kinds[cell], &self.faces) {
                (CellType::Polyhedron, Some((all, face_ends))) => all.get(range(face_ends, cell)),
                (CellType::Polyhedron, None) => Some(own),
                _ => Some(&[0][..]),
            };
            let faces = list.and_then(faces_of);
            let faces = faces.ok_or_else(|| bad(&format!("array `faces`: the faces of cell {cell} do not end where its list does")))?;
            kinds[cell].add(&mut builder, own, &faces).map_err(|error| failed(&error))?;
        }
        let repairs = builder.repair(threads);
        Ok((builder.build(threads).map_err(|error| failed(&error))?, repairs))
    }

    /// Cells of one dimension less, each with its face.
    fn faces(&self, path: &Path, dim: usize, kinds: &[CellType], grid: &Grid, repairs: &Repairs) -> Result<Vec<(u32, u32)>, Error> {
        let mut found = Vec::new();
        let lower = || (0..).zip(kinds).filter(|(_, shape)| shape.dim() + 1 == dim);
        let Some(nodes) = grid.nodes().filter(|_| lower().next().is_some()) else { return Ok(found) };
        let by_nodes = FacesByNodes::new(nodes);
        for (cell, shape) in lower() {
            let own = self.points_of(cell as usize);
            let parts: Box<dyn Iterator<Item = &[u32]>> = match shape {
                CellType::Polyline => Box::new(own.windows(2)),
                _ => Box::new(std::iter::once(own)),
            };
            for part in parts {
                let part: Option<Vec<u32>> = part.iter().map(|&point| repairs.node(point)).collect();
                let Some(face) = part.and_then(|part| by_nodes.find(&part)) else {
                    let what = format!("cell {cell} has dimension {}, the others have {dim}, and it is no face of one", dim - 1);
                    return Err(Error::new(ErrorKind::Data, format!("{}: {what}", path.display()))
                        .hint("a mesh of mixed dimension is no grid: save either surfaces or volumes, with their boundaries"));
                };
                found.push((cell, face));
            }
        }
        Ok(found)
    }
}

/// The part of a cell in a list, by where each part ends.
fn range(ends: &[usize], cell: usize) -> std::ops::Range<usize> {
    if cell == 0 { 0..ends[0] } else { ends[cell - 1]..ends[cell] }
}
