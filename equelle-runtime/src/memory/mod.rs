//! Memory of a run: what the compiler found ([`MemoryPlan`]) in the sizes of the grid at hand ([`Estimate`]), and what there is ([`available()`]).
//!
//! A program hands its plan to the runtime before it reads anything. What cannot fit is refused then, with sizes.

mod available;
mod estimate;

pub use available::{available, parse_size};
pub use estimate::Estimate;
pub(crate) use estimate::{Multigrid, Sizes};

use crate::entity::CanonicalSet;

/// Memory that a program needs, in elements of sets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MemoryPlan {
    /// The most collections that live at the same time, by set.
    pub collections: &'static [SetMemory],
    /// Linear systems of Newton's method.
    pub solves: &'static [SolveMemory],
    /// Operations read the arrays of cells and faces. On a Cartesian grid kernels do without them.
    pub topology: bool,
    /// Operations read the arrays of geometry.
    pub geometry: bool,
    /// Canonical sets other than All-sets in which positions are looked up; on a Cartesian grid they are computed.
    pub positions: &'static [CanonicalSet],
    /// Those of them whose elements are listed on a Cartesian grid too.
    pub lists: &'static [CanonicalSet],
}

/// The most collections of one set that live at the same time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SetMemory {
    /// Name of the set in the program.
    pub name: &'static str,
    /// The set itself, or the smallest canonical set that holds a set made at run time.
    pub set: CanonicalSet,
    /// Whether it is that set.
    pub canonical: bool,
    /// On any grid.
    pub general: Buffers,
    /// On Cartesian grids.
    pub cartesian: Buffers,
    /// Whether something over the set is reduced.
    pub reduced: bool,
}

/// Numbers of arrays of one value per element.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Buffers {
    /// Of numbers, on grids of 1, 2 and 3 dimensions.
    pub numbers: [u32; 3],
    /// Of truth values.
    pub bools: u32,
    /// Of entities.
    pub entities: u32,
}

impl Buffers {
    /// Of numbers by dimension of the grid, truth values and entities.
    pub const fn new(numbers: [u32; 3], bools: u32, entities: u32) -> Buffers {
        Buffers { numbers, bools, entities }
    }
}

/// A solve with Newton's method.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SolveMemory {
    /// Equelle line.
    pub line: u32,
    /// Canonical sets that hold those of the unknowns, one per equation.
    pub unknowns: &'static [CanonicalSet],
    /// Entries of a row of each equation on grids of boxes of 1, 2 and 3 dimensions; an estimate.
    pub entries: &'static [[u32; 3]],
    /// Additions that make a row of each equation; 0 where derivatives are followed operation by operation.
    pub additions: &'static [[u32; 3]],
    /// Whether the places of cells tell the columns of all rows on Cartesian grids, without a map of slots.
    pub cartesian: bool,
    /// Whether all equations of a system depend on all unknowns of the same elements: their rows are the matrix, as those of a single equation.
    pub blocks: bool,
}
