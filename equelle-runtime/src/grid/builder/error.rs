//! Errors of cells that make no grid.

use std::fmt;

use crate::error::{Error, ErrorKind};

/// Error of cells that make no grid. Cells and nodes have the numbers in which they were given,
/// from 0.
#[derive(Clone, Debug, PartialEq)]
pub enum BuildError {
    /// There are no cells.
    NoCells,
    /// More than fit in 32-bit indices.
    TooMany {
        /// Name of the entities.
        what: &'static str,
        /// Maximum number.
        most: usize,
    },
    /// A position is not finite.
    NotFinite {
        /// Its node.
        node: usize,
    },
    /// A cell names a node that does not exist.
    NoSuchNode {
        /// The cell.
        cell: usize,
        /// The node.
        node: usize,
    },
    /// A cell, or a face of one, names a node twice.
    NodeTwice {
        /// The cell.
        cell: usize,
        /// The node.
        node: usize,
    },
    /// A face has less than three nodes, or in 2D a cell less than three corners.
    TooFewNodes {
        /// The cell.
        cell: usize,
    },
    /// A node belongs to no cell.
    UnusedNode {
        /// The node.
        node: usize,
    },
    /// Sides of a cell of 2 dimensions cross.
    Crossed {
        /// The cell.
        cell: usize,
    },
    /// Edges of a cell do not belong to two of its faces that turn the same way.
    NotClosed {
        /// The cell.
        cell: usize,
    },
    /// Three cells have a face in common.
    ThreeCells {
        /// The first three, ascending.
        cells: [usize; 3],
    },
    /// Two cells have the same nodes.
    CellTwice {
        /// Both, ascending.
        cells: [usize; 2],
    },
    /// Two cells are on the same side of a face.
    Overlap {
        /// Both, ascending.
        cells: [usize; 2],
    },
    /// Faces of two cells have the same nodes, in another order around the face.
    FacesDiffer {
        /// Both, ascending.
        cells: [usize; 2],
    },
    /// A face has no area, or one that is no number.
    NoArea {
        /// A cell that has it.
        cell: usize,
    },
    /// The volume is negative: the corners are in the wrong order.
    Inverted {
        /// The cell.
        cell: usize,
        /// Its volume.
        volume: f64,
    },
    /// The volume is zero up to rounding, or no number.
    NoVolume {
        /// The cell.
        cell: usize,
    },
    /// The arrays do not make a grid.
    Arrays(Error),
}

impl BuildError {
    /// The cell it is about; of several the last.
    pub fn cell(&self) -> Option<usize> {
        match self {
            BuildError::NoSuchNode { cell, .. }
            | BuildError::NodeTwice { cell, .. }
            | BuildError::TooFewNodes { cell }
            | BuildError::Crossed { cell }
            | BuildError::NotClosed { cell }
            | BuildError::NoArea { cell }
            | BuildError::Inverted { cell, .. }
            | BuildError::NoVolume { cell } => Some(*cell),
            BuildError::ThreeCells { cells: [.., cell] }
            | BuildError::CellTwice { cells: [.., cell] }
            | BuildError::Overlap { cells: [.., cell] }
            | BuildError::FacesDiffer { cells: [.., cell] } => Some(*cell),
            BuildError::NoCells
            | BuildError::TooMany { .. }
            | BuildError::NotFinite { .. }
            | BuildError::UnusedNode { .. }
            | BuildError::Arrays(_) => None,
        }
    }

    /// The node it is about, if it is about no cell.
    pub fn node(&self) -> Option<usize> {
        match self {
            BuildError::NotFinite { node } | BuildError::UnusedNode { node } => Some(*node),
            BuildError::NoCells
            | BuildError::TooMany { .. }
            | BuildError::NoSuchNode { .. }
            | BuildError::NodeTwice { .. }
            | BuildError::TooFewNodes { .. }
            | BuildError::Crossed { .. }
            | BuildError::NotClosed { .. }
            | BuildError::ThreeCells { .. }
            | BuildError::CellTwice { .. }
            | BuildError::Overlap { .. }
            | BuildError::FacesDiffer { .. }
            | BuildError::NoArea { .. }
            | BuildError::Inverted { .. }
            | BuildError::NoVolume { .. }
            | BuildError::Arrays(_) => None,
        }
    }

    /// Describes the error, with cells and nodes named as a file names them.
    pub fn describe(&self, cell_name: impl Fn(usize) -> String, node_name: impl Fn(usize) -> String) -> String {
        match self {
            BuildError::NoCells => "there are no cells".to_string(),
            BuildError::TooMany { what, most } => format!("there are too many {what}: at most {most} fit in 32-bit indices"),
            BuildError::NotFinite { node } => format!("the position of {} is not finite", node_name(*node)),
            BuildError::NoSuchNode { cell, node } => format!("{} names node {node}, which does not exist", cell_name(*cell)),
            BuildError::NodeTwice { cell, node } => format!("{} names {} twice", cell_name(*cell), node_name(*node)),
            BuildError::TooFewNodes { cell } => format!("{} has a face or an outline of too few nodes", cell_name(*cell)),
            BuildError::UnusedNode { node } => format!("{} belongs to no cell", node_name(*node)),
            BuildError::Crossed { cell } => format!("sides of {} cross", cell_name(*cell)),
            BuildError::NotClosed { cell } => format!("the faces of {} do not close it", cell_name(*cell)),
            BuildError::ThreeCells { cells: [a, b, c] } => {
                format!("{}, {} and {} have a face in common, which can have two cells only", cell_name(*a), cell_name(*b), cell_name(*c))
            }
            BuildError::CellTwice { cells: [a, b] } => {
                format!("{} has the nodes of {}: the cell is there twice", cell_name(*b), cell_name(*a))
            }
            BuildError::Overlap { cells: [a, b] } => {
                format!("{} and {} overlap: they are on the same side of their common face", cell_name(*a), cell_name(*b))
            }
            BuildError::FacesDiffer { cells: [a, b] } => {
                format!("{} and {} have a face of the same nodes in different orders", cell_name(*a), cell_name(*b))
            }
            BuildError::NoArea { cell } => format!("{} has a face whose area is not a positive number", cell_name(*cell)),
            BuildError::Inverted { cell, volume } => {
                format!("{} is inverted: with its nodes in this order its volume is {volume:e}", cell_name(*cell))
            }
            BuildError::NoVolume { cell } => format!("{} has no volume", cell_name(*cell)),
            BuildError::Arrays(error) => error.message.clone(),
        }
    }
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.describe(|cell| format!("cell {cell}"), |node| format!("node {node}")))
    }
}

impl std::error::Error for BuildError {}

impl From<BuildError> for Error {
    fn from(error: BuildError) -> Error {
        Error::new(ErrorKind::Data, error.to_string())
    }
}
