//! Grids in VTK's XML format `.vtu`: text, base 64 or appended, compressed by zlib or not.
//!
//! The cells of the highest dimension become the cells of the grid, which must be all of them.
//! Arrays of cells with one component keep their names; those of vectors get the names of their
//! components, `v_x` and so on. An array `set:NAME` of 0 and 1 is a set.

use std::path::Path;

use crate::entity::EntityKind;
use crate::error::{Error, ErrorKind};
use crate::grid::{BuildError, CellShape, Grid, GridBuilder, Named, NamedArray, NamedSet};
use crate::io::vtk::{Association, VtkGeometry, read as read_tags};
use crate::threads::Threads;

/// A mesh whose points are this close to a plane, relative to its extent, is plane.
const PLANE: f64 = 1e-10;

/// What names of arrays begin with that tell which cells belong to a set.
pub const SET: &str = "set:";

/// What a cell of a file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shape {
    Cell(CellShape),
    Polygon,
    /// A box along the axes, by its corners.
    Pixel,
    Voxel,
    Polyhedron,
}

impl Shape {
    fn numbered(number: u8) -> Option<Shape> {
        Some(match number {
            5 => Shape::Cell(CellShape::Triangle),
            7 => Shape::Polygon,
            8 => Shape::Pixel,
            9 => Shape::Cell(CellShape::Quadrangle),
            10 => Shape::Cell(CellShape::Tetrahedron),
            11 => Shape::Voxel,
            12 => Shape::Cell(CellShape::Hexahedron),
            13 => Shape::Cell(CellShape::Prism),
            14 => Shape::Cell(CellShape::Pyramid),
            42 => Shape::Polyhedron,
            _ => return None,
        })
    }

    fn dim(self) -> usize {
        match self {
            Shape::Cell(shape) => shape.dim(),
            Shape::Polygon | Shape::Pixel => 2,
            Shape::Voxel | Shape::Polyhedron => 3,
        }
    }
}

/// Reads a mesh; `path` is for messages. The threads match faces and compute the geometry.
///
/// # Errors
/// `Data` for what is wrong in it, or what it has that a grid has not; names file, and array or
/// cell.
pub fn read(path: &Path, bytes: &[u8], threads: &Threads) -> Result<Grid, Error> {
    let file = read_tags(path, bytes)?;
    let VtkGeometry::Cells { points, corners, ends, shapes, faces } = file.geometry()? else {
        let what = format!("{}: expected cells of any shape (UnstructuredGrid), found boxes", path.display());
        return Err(Error::new(ErrorKind::Data, what));
    };
    if faces.is_none() && shapes.iter().any(|&shape| Shape::numbered(shape) == Some(Shape::Polyhedron)) {
        return Err(Error::new(ErrorKind::Data, format!("{}: no array `faces`, which polyhedra need", path.display())));
    }
    let mut arrays = Vec::new();
    for name in file.names(Association::Cells) {
        let values = file.values(Association::Cells, name)?;
        arrays.push(CellArray { name: name.to_string(), components: values.components, numbers: values.numbers });
    }
    drop(file);
    Mesh { points, corners, ends, shapes, faces, arrays }.grid(path, threads)
}

/// An array of cells.
#[derive(Clone, Debug)]
pub(super) struct CellArray {
    pub name: String,
    pub components: usize,
    /// One tuple behind the other.
    pub numbers: Vec<f64>,
}

/// What files of VTK have, as in [`VtkGeometry::Cells`]. Without lists of faces, the corners of a
/// polyhedron are its list.
#[derive(Clone, Debug, Default)]
pub(super) struct Mesh {
    pub points: Vec<[f64; 3]>,
    pub corners: Vec<u32>,
    pub ends: Vec<usize>,
    pub shapes: Vec<u8>,
    pub faces: Option<(Vec<u32>, Vec<usize>)>,
    pub arrays: Vec<CellArray>,
}

impl Mesh {
    /// The grid; `path` is for messages.
    pub(super) fn grid(self, path: &Path, threads: &Threads) -> Result<Grid, Error> {
        let Mesh { points, corners, ends, shapes, faces, arrays } = self;
        let bad = |what: &str| Error::new(ErrorKind::Data, format!("{}: {what}", path.display()));
        let Some(&first) = shapes.first() else { return Err(bad("there are no cells")) };
        let dim = Shape::numbered(first).map_or(0, Shape::dim);
        let mut kinds = Vec::with_capacity(shapes.len());
        for (cell, &number) in shapes.iter().enumerate() {
            match Shape::numbered(number) {
                Some(shape) if shape.dim() == dim => kinds.push(shape),
                Some(shape) => {
                    let what = format!("cell {cell} has dimension {}, and cell 0 has {dim}: cells of one dimension are read", shape.dim());
                    return Err(bad(&what));
                }
                None => return Err(bad(&format!("cell {cell} is of type {number}, of which no cells are made")).hint(TYPES)),
            }
        }
        let points = if dim == 2 { plane(points).map_err(|point| bad(&not_plane(point)))? } else { points };
        let named = names(path, arrays)?;
        let failed = |error: &BuildError| bad(&error.describe(|cell| format!("cell {cell}"), |point| format!("point {point}")));
        let mut builder = GridBuilder::new(dim, points).map_err(|error| failed(&error))?;
        let of = |ends: &[usize], cell: usize| if cell == 0 { 0 } else { ends[cell - 1] }..ends[cell];
        for (cell, &shape) in kinds.iter().enumerate() {
            let own = &corners[of(&ends, cell)];
            let n_expected = match shape {
                Shape::Cell(shape) => shape.n_corners(),
                Shape::Pixel => 4,
                Shape::Voxel => 8,
                Shape::Polygon | Shape::Polyhedron => own.len(),
            };
            if own.len() != n_expected {
                return Err(bad(&format!("cell {cell} has {} points: expected {n_expected}", own.len())));
            }
            let added = match shape {
                Shape::Cell(shape) => builder.add(shape, own),
                Shape::Polygon => builder.add_polygon(own),
                Shape::Pixel => builder.add_polygon(&[own[0], own[1], own[3], own[2]]),
                Shape::Voxel => builder.add(CellShape::Hexahedron, &[own[0], own[1], own[3], own[2], own[4], own[5], own[7], own[6]]),
                Shape::Polyhedron => {
                    let list = match &faces {
                        Some((all, face_ends)) => all.get(of(face_ends, cell)),
                        None => Some(own),
                    };
                    let list = list.and_then(faces_of);
                    let list =
                        list.ok_or_else(|| bad(&format!("array `faces`: the faces of cell {cell} do not end where its list does")))?;
                    builder.add_polyhedron(list)
                }
            };
            added.map_err(|error| failed(&error))?;
        }
        drop((corners, faces));
        builder.build(threads).map_err(|error| failed(&error))?.with_named(named)
    }
}

const TYPES: &str = "cells that are read: triangles, quadrangles, polygons, tetrahedra, hexahedra, prisms, pyramids, polyhedra";

/// Faces of a list: their number, then of each the number of its points and the points.
fn faces_of(list: &[u32]) -> Option<Vec<&[u32]>> {
    let (&n, mut rest) = list.split_first()?;
    let mut faces = Vec::with_capacity((n as usize).min(rest.len()));
    for _ in 0..n {
        let (&len, others) = rest.split_first()?;
        let (face, others) = others.split_at_checked(len as usize)?;
        faces.push(face);
        rest = others;
    }
    rest.is_empty().then_some(faces)
}

fn not_plane(point: usize) -> String {
    format!("cells of dimension 2 must lie in a plane z = const: point {point} does not")
}

/// Points of the plane; the number of one that is outside.
fn plane(mut points: Vec<[f64; 3]>) -> Result<Vec<[f64; 3]>, usize> {
    let bounds = points.iter().flatten().fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], &x| [low.min(x), high.max(x)]);
    let level = points.first().map_or(0.0, |point| point[2]);
    if let Some(point) = points.iter().position(|point| (point[2] - level).abs() > PLANE * (bounds[1] - bounds[0])) {
        return Err(point);
    }
    points.iter_mut().for_each(|point| point[2] = 0.0);
    Ok(points)
}

fn names(path: &Path, arrays: Vec<CellArray>) -> Result<Named, Error> {
    let mut named = Named::default();
    for CellArray { name, components: n, numbers } in arrays {
        let mut add = |name: String, values: Vec<f64>| {
            let set = name.strip_prefix(SET).filter(|_| n == 1 && values.iter().all(|&value| value == 0.0 || value == 1.0));
            if let Some(name) = set {
                let members = (0..).zip(&values).filter(|(_, value)| **value == 1.0).map(|(cell, _)| cell).collect();
                named.add_set(NamedSet { name: name.to_string(), kind: EntityKind::Cell, members })
            } else if values.iter().all(|value| value.is_finite()) {
                named.add_array(NamedArray { name, kind: EntityKind::Cell, values })
            } else {
                Ok(())
            }
        };
        let column = |component: usize| numbers.iter().skip(component).step_by(n).copied().collect();
        match n {
            1 => add(name, column(0)),
            2 | 3 => (0..n).try_for_each(|component| add(format!("{name}_{}", ["x", "y", "z"][component]), column(component))),
            _ => Ok(()),
        }
        .map_err(|error| Error::new(error.kind, format!("{}: {}", path.display(), error.message)))?;
    }
    Ok(named)
}
