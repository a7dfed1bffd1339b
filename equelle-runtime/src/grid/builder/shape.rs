//! Standard cells.

/// A standard cell, by its corners.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CellShape {
    /// Three corners in the plane.
    Triangle,
    /// Four corners in the plane, in their order around the cell.
    Quadrangle,
    /// Four corners; seen from the last, the first three turn counter-clockwise.
    Tetrahedron,
    /// Eight corners: four, and the four above them; seen from above, both turn counter-clockwise.
    Hexahedron,
    /// Six corners: three, and the three above them; seen from above, both turn counter-clockwise.
    Prism,
    /// Five corners: four that turn counter-clockwise seen from the last, which is above them.
    Pyramid,
}

impl CellShape {
    /// Dimensions of the cell: 2 or 3.
    pub const fn dim(self) -> usize {
        match self {
            CellShape::Triangle | CellShape::Quadrangle => 2,
            CellShape::Tetrahedron | CellShape::Hexahedron | CellShape::Prism | CellShape::Pyramid => 3,
        }
    }

    /// Number of corners.
    pub const fn n_corners(self) -> usize {
        match self {
            CellShape::Triangle => 3,
            CellShape::Quadrangle | CellShape::Tetrahedron => 4,
            CellShape::Pyramid => 5,
            CellShape::Prism => 6,
            CellShape::Hexahedron => 8,
        }
    }

    /// Corners of each face, counter-clockwise seen from outside.
    pub const fn faces(self) -> &'static [&'static [u8]] {
        match self {
            CellShape::Triangle => &[&[0, 1], &[1, 2], &[2, 0]],
            CellShape::Quadrangle => &[&[0, 1], &[1, 2], &[2, 3], &[3, 0]],
            CellShape::Tetrahedron => &[&[0, 2, 1], &[0, 1, 3], &[1, 2, 3], &[0, 3, 2]],
            CellShape::Hexahedron => &[&[0, 3, 2, 1], &[4, 5, 6, 7], &[0, 1, 5, 4], &[1, 2, 6, 5], &[2, 3, 7, 6], &[3, 0, 4, 7]],
            CellShape::Prism => &[&[0, 2, 1], &[3, 4, 5], &[0, 1, 4, 3], &[1, 2, 5, 4], &[2, 0, 3, 5]],
            CellShape::Pyramid => &[&[0, 3, 2, 1], &[0, 1, 4], &[1, 2, 4], &[2, 3, 4], &[3, 0, 4]],
        }
    }
}
