//! Requirements of a program on the structure of its grid.

use crate::source::Span;

/// A program that reads neighbours by index runs on uniform Cartesian grids alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Structure {
    /// Minimum number of cells along each axis; 0 for axes that the program does not name.
    pub cells: [u32; 3],
    /// The first statement that names a place of the grid.
    pub span: Span,
}

impl Structure {
    /// True if what has this structure may be asked for another one.
    pub fn includes(&self, other: &Structure) -> bool {
        self.cells.iter().zip(other.cells).all(|(&own, other)| own >= other)
    }
}
