//! VTK's types of cells.
//!
//! Source: VTK, `vtkCellType.h`.

use crate::grid::{BuildError, CellShape, GridBuilder};

/// The type of a cell with straight edges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
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

impl Shape {
    /// By VTK's number.
    ///
    /// # Errors
    /// The name of what is not read.
    pub(super) fn numbered(number: u8) -> Result<Shape, String> {
        let name = match number {
            1 | 2 => return Ok(Shape::Points),
            3 | 4 => return Ok(Shape::Polyline),
            5 => return Ok(Shape::Cell(CellShape::Triangle)),
            7 => return Ok(Shape::Polygon),
            8 => return Ok(Shape::Pixel),
            9 => return Ok(Shape::Cell(CellShape::Quadrangle)),
            10 => return Ok(Shape::Cell(CellShape::Tetrahedron)),
            11 => return Ok(Shape::Voxel),
            12 => return Ok(Shape::Cell(CellShape::Hexahedron)),
            13 => return Ok(Shape::Cell(CellShape::Prism)),
            14 => return Ok(Shape::Cell(CellShape::Pyramid)),
            15 => return Ok(Shape::Column(5)),
            16 => return Ok(Shape::Column(6)),
            42 => return Ok(Shape::Polyhedron),
            0 => "an empty cell",
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
            Shape::Points => 0,
            Shape::Polyline => 1,
            Shape::Cell(shape) => shape.dim(),
            Shape::Polygon | Shape::Pixel => 2,
            Shape::Voxel | Shape::Column(_) | Shape::Polyhedron => 3,
        }
    }

    /// The number of points of its cells; `None` where that is free.
    pub(super) fn n_points(self) -> Option<usize> {
        match self {
            Shape::Cell(shape) => Some(shape.n_corners()),
            Shape::Pixel => Some(4),
            Shape::Voxel => Some(8),
            Shape::Column(n) => Some(2 * n),
            Shape::Points | Shape::Polyline | Shape::Polygon | Shape::Polyhedron => None,
        }
    }

    /// Adds a cell of 2 or 3 dimensions by its points; of a polyhedron `faces` has the faces.
    pub(super) fn add(self, builder: &mut GridBuilder, own: &[u32], faces: &[&[u32]]) -> Result<(), BuildError> {
        match self {
            Shape::Cell(shape) => builder.add(shape, own),
            Shape::Polygon => builder.add_polygon(own),
            Shape::Pixel => builder.add_polygon(&[own[0], own[1], own[3], own[2]]),
            Shape::Voxel => builder.add(CellShape::Hexahedron, &[own[0], own[1], own[3], own[2], own[4], own[5], own[7], own[6]]),
            Shape::Column(n) => {
                let (low, high) = own.split_at(n);
                let sides: Vec<[u32; 4]> = (0..n).map(|i| [low[i], low[(i + 1) % n], high[(i + 1) % n], high[i]]).collect();
                let bottom: Vec<u32> = low.iter().rev().copied().collect();
                builder.add_polyhedron([&bottom[..], high].into_iter().chain(sides.iter().map(|side| &side[..])))
            }
            Shape::Polyhedron => builder.add_polyhedron(faces.iter().copied()),
            Shape::Points | Shape::Polyline => Ok(()),
        }
    }
}

/// The hint for types that are not read.
pub(super) const TYPES: &str = "cells with straight edges are read: triangles, quadrangles, polygons, tetrahedra, hexahedra, \
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
