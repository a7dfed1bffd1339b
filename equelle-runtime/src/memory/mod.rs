//! Memory of a run: the compiler's plan ([`MemoryPlan`]), its size on the grid ([`Estimate`]), and
//! the available memory ([`available()`]).
//!
//! A program passes its plan to the runtime before it reads anything, and the runtime refuses a run
//! that cannot fit.

mod available;
mod estimate;

pub use available::{available, parse_size};
#[cfg(feature = "solvers")]
pub(crate) use estimate::SMALL;
pub use estimate::{Estimate, GridSize};
pub(crate) use estimate::{Multigrid, Sizes};

use std::sync::Arc;

use crate::entity::CanonicalSet;

/// Memory that a program needs, in elements of sets.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MemoryPlan {
    /// Largest number of collections alive at the same time, by set.
    pub collections: Vec<SetMemory>,
    /// Linear systems of Newton's method.
    pub solves: Vec<SolveMemory>,
    /// True if operations read the arrays of cells and faces. Kernels on a Cartesian grid do not.
    pub topology: bool,
    /// True if operations read the arrays of geometry.
    pub geometry: bool,
    /// Canonical sets other than All-sets whose position maps are used; on a Cartesian grid
    /// positions are computed.
    pub positions: Vec<CanonicalSet>,
    /// Those of them whose elements are stored on a Cartesian grid too.
    pub lists: Vec<CanonicalSet>,
}

/// Largest number of collections of one set alive at the same time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SetMemory {
    /// Name of the set in the program.
    pub name: Arc<str>,
    /// The set itself, or the smallest canonical superset of a set made at run time.
    pub set: CanonicalSet,
    /// True if the set is canonical.
    pub canonical: bool,
    /// On any grid.
    pub general: Buffers,
    /// On Cartesian grids.
    pub cartesian: Buffers,
    /// True if a collection on the set is reduced.
    pub reduced: bool,
}

/// Numbers of arrays with one value per element.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Buffers {
    /// Arrays of numbers, on grids of 1, 2 and 3 dimensions.
    pub numbers: [u32; 3],
    /// Arrays of Bools.
    pub bools: u32,
    /// Arrays of entities.
    pub entities: u32,
}

impl Buffers {
    /// Arrays of numbers by dimension of the grid, of Bools and of entities.
    pub const fn new(numbers: [u32; 3], bools: u32, entities: u32) -> Buffers {
        Buffers { numbers, bools, entities }
    }
}

/// A solve with Newton's method.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SolveMemory {
    /// Equelle line.
    pub line: u32,
    /// Canonical supersets of the domains of the unknowns, one per equation.
    pub unknowns: Vec<CanonicalSet>,
    /// Entries of a row of each equation on grids of boxes of 1, 2 and 3 dimensions, estimated.
    pub entries: Vec<[u32; 3]>,
    /// Additions into a row of each equation; 0 for derivatives at the operation level.
    pub additions: Vec<[u32; 3]>,
    /// True if cell positions give the columns of all rows on Cartesian grids, without a map of
    /// slots.
    pub cartesian: bool,
    /// True if all equations of a system depend on all unknowns of the same elements: their rows
    /// then form the matrix, as those of a single equation.
    pub blocks: bool,
}
