//! VTK's types of cells, and the orders of their corners.
//!
//! Triangles, quadrangles, tetrahedra, hexahedra and pyramids have their corners in the order of
//! [`CellShape`]. Prisms have both orders in files, as VTK's documentation and its code differ.
//!
//! Source: VTK, `vtkCellType.h`.

use crate::grid::{BuildError, CellShape, EntityShape, GridBuilder};

const EMPTY: u8 = 0;
const VERTEX: u8 = 1;
const POLY_VERTEX: u8 = 2;
const LINE: u8 = 3;
const POLYLINE: u8 = 4;
const TRIANGLE: u8 = 5;
const POLYGON: u8 = 7;
const PIXEL: u8 = 8;
pub(super) const QUADRANGLE: u8 = 9;
const TETRAHEDRON: u8 = 10;
const VOXEL: u8 = 11;
pub(super) const HEXAHEDRON: u8 = 12;
const PRISM: u8 = 13;
const PYRAMID: u8 = 14;
const PENTAGONAL_PRISM: u8 = 15;
const HEXAGONAL_PRISM: u8 = 16;
pub(super) const POLYHEDRON: u8 = 42;

/// Corners of a pixel in the order of a polygon.
const CORNERS_OF_PIXEL: [usize; 4] = [0, 1, 3, 2];

/// Corners of a voxel in the order of a hexahedron.
const CORNERS_OF_VOXEL: [usize; 8] = [0, 1, 3, 2, 4, 5, 7, 6];

/// The number under which a shape is written. With polyhedra all cells of space are polyhedra, as
/// prisms always are.
pub(super) fn type_number(shape: EntityShape, has_polyhedra: bool) -> u8 {
    match shape {
        EntityShape::Nothing => EMPTY,
        EntityShape::Vertex => VERTEX,
        EntityShape::Line => LINE,
        EntityShape::Cell(CellShape::Triangle) => TRIANGLE,
        EntityShape::Polygon => POLYGON,
        EntityShape::Cell(CellShape::Quadrangle) => QUADRANGLE,
        EntityShape::Polyhedron | EntityShape::Cell(CellShape::Prism) => POLYHEDRON,
        EntityShape::Cell(_) if has_polyhedra => POLYHEDRON,
        EntityShape::Cell(CellShape::Tetrahedron) => TETRAHEDRON,
        EntityShape::Cell(CellShape::Hexahedron) => HEXAHEDRON,
        EntityShape::Cell(CellShape::Pyramid) => PYRAMID,
    }
}

/// The type of a cell with straight edges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CellType {
    /// One or several points, which name nothing.
    Points,
    /// Points of which each two that follow each other make a line.
    Polyline,
    Cell(CellShape),
    Polygon,
    /// A box along the axes, by its corners.
    Pixel,
    Voxel,
    /// Two polygons of this many corners above each other.
    Column(usize),
    Polyhedron,
}

impl CellType {
    /// By VTK's number.
    ///
    /// # Errors
    /// The name of what is not read.
    pub(super) fn numbered(number: u8) -> Result<CellType, String> {
        let name = match number {
            VERTEX | POLY_VERTEX => return Ok(CellType::Points),
            LINE | POLYLINE => return Ok(CellType::Polyline),
            TRIANGLE => return Ok(CellType::Cell(CellShape::Triangle)),
            POLYGON => return Ok(CellType::Polygon),
            PIXEL => return Ok(CellType::Pixel),
            QUADRANGLE => return Ok(CellType::Cell(CellShape::Quadrangle)),
            TETRAHEDRON => return Ok(CellType::Cell(CellShape::Tetrahedron)),
            VOXEL => return Ok(CellType::Voxel),
            HEXAHEDRON => return Ok(CellType::Cell(CellShape::Hexahedron)),
            PRISM => return Ok(CellType::Cell(CellShape::Prism)),
            PYRAMID => return Ok(CellType::Cell(CellShape::Pyramid)),
            PENTAGONAL_PRISM => return Ok(CellType::Column(5)),
            HEXAGONAL_PRISM => return Ok(CellType::Column(6)),
            POLYHEDRON => return Ok(CellType::Polyhedron),
            EMPTY => "an empty cell",
            6 => "a strip of triangles",
            21 => "a quadratic line",
            22 => "a quadratic triangle",
            23 => "a quadratic quadrangle",
            24 => "a quadratic tetrahedron",
            25 => "a quadratic hexahedron",
            26 => "a quadratic prism (wedge)",
            27 => "a quadratic pyramid",
            28 => "a biquadratic quadrangle",
            29 => "a triquadratic hexahedron",
            30 => "a quadratic linear quadrangle",
            31 => "a quadratic linear prism (wedge)",
            32 => "a biquadratic quadratic prism (wedge)",
            33 => "a biquadratic quadratic hexahedron",
            34 => "a biquadratic triangle",
            35 => "a cubic line",
            36 => "a quadratic polygon",
            37 => "a triquadratic pyramid",
            41 => "a convex set of points",
            51..=59 => "a parametric curve, surface or solid",
            60..=67 => "a cell of higher order",
            68 => "a Lagrange curve",
            69 => "a Lagrange triangle",
            70 => "a Lagrange quadrangle",
            71 => "a Lagrange tetrahedron",
            72 => "a Lagrange hexahedron",
            73 => "a Lagrange prism (wedge)",
            74 => "a Lagrange pyramid",
            75 => "a Bézier curve",
            76 => "a Bézier triangle",
            77 => "a Bézier quadrangle",
            78 => "a Bézier tetrahedron",
            79 => "a Bézier hexahedron",
            80 => "a Bézier prism (wedge)",
            81 => "a Bézier pyramid",
            _ => return Err(format!("of type {number}, of which no cells are made")),
        };
        Err(format!("{name} (type {number}), which is not read"))
    }

    pub(super) fn dim(self) -> usize {
        match self {
            CellType::Points => 0,
            CellType::Polyline => 1,
            CellType::Cell(shape) => shape.dim(),
            CellType::Polygon | CellType::Pixel => 2,
            CellType::Voxel | CellType::Column(_) | CellType::Polyhedron => 3,
        }
    }

    /// The number of points of its cells; `None` where that is free.
    pub(super) fn n_points(self) -> Option<usize> {
        match self {
            CellType::Cell(shape) => Some(shape.n_corners()),
            CellType::Pixel => Some(4),
            CellType::Voxel => Some(8),
            CellType::Column(n) => Some(2 * n),
            CellType::Points | CellType::Polyline | CellType::Polygon | CellType::Polyhedron => None,
        }
    }

    /// Adds a cell of 2 or 3 dimensions by its points; of a polyhedron `faces` has the faces.
    pub(super) fn add(self, builder: &mut GridBuilder, own: &[u32], faces: &[&[u32]]) -> Result<(), BuildError> {
        match self {
            CellType::Cell(shape) => builder.add(shape, own),
            CellType::Polygon => builder.add_polygon(own),
            CellType::Pixel => builder.add_polygon(&CORNERS_OF_PIXEL.map(|at| own[at])),
            CellType::Voxel => builder.add(CellShape::Hexahedron, &CORNERS_OF_VOXEL.map(|at| own[at])),
            CellType::Column(n) => {
                let (low, high) = own.split_at(n);
                let sides: Vec<[u32; 4]> = (0..n).map(|i| [low[i], low[(i + 1) % n], high[(i + 1) % n], high[i]]).collect();
                let bottom: Vec<u32> = low.iter().rev().copied().collect();
                builder.add_polyhedron([&bottom[..], high].into_iter().chain(sides.iter().map(|side| &side[..])))
            }
            CellType::Polyhedron => builder.add_polyhedron(faces.iter().copied()),
            CellType::Points | CellType::Polyline => Ok(()),
        }
    }
}

/// The hint for types that are not read.
pub(super) const TYPES_READ: &str = "cells with straight edges are read: triangles, quadrangles, polygons, tetrahedra, hexahedra, \
                                prisms, pyramids, polyhedra; save a mesh of first order (linear elements)";

/// Faces of a list: their number, then of each the number of its points and the points.
pub(super) fn faces_of(list: &[u32]) -> Option<Vec<&[u32]>> {
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
