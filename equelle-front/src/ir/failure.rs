//! Operations that may end a run with an error. Such an operation is evaluated only where and when
//! the text says: it is neither dropped nor moved out of a loop, and the first of two is the error.
//!
//! No expression of a kernel fails by itself: the [`Check`](super::Check)s of a kernel come before
//! its body, and [`Kernel::may_fail`] says whether there is anything that can go wrong in it.

use crate::ir::{Kernel, Op, OpClass, ValueId};
use crate::ops::Reduction;
use crate::types::{CanonicalSet, SetId, SetTable};

/// Condition under which an operation fails at run time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// Never, on a grid that suits the program: how many components its Vectors have, and that the
    /// grid has nodes where it asks for edges or vertices, are no matter of when and where.
    Never,
    /// One of these entities is Empty.
    Empty(ValueId),
    /// One of these faces has two cells.
    TwoCells(ValueId),
    /// This collection has no elements.
    NoElements(ValueId),
    /// For reasons that lie outside of its operands: data that are read, a solve, the body of a
    /// function.
    Outside,
}

impl Op {
    /// Condition under which it fails.
    pub fn failure(&self) -> Failure {
        if let Op::On { target: entities, .. }
        | Op::Measure(entities)
        | Op::Centroid(entities)
        | Op::Normal(entities)
        | Op::FaceGap(entities)
        | Op::FaceTransmissibility(entities)
        | Op::FirstCell(entities)
        | Op::SecondCell(entities) = self
        {
            return Failure::Empty(*entities);
        }
        if let Op::OneCell(faces) = self {
            return Failure::TwoCells(*faces);
        }
        if let Op::Reduce(reduction, values) = self
            && needs_elements(*reduction)
        {
            return Failure::NoElements(*values);
        }
        match self.class() {
            OpClass::Input | OpClass::Call | OpClass::Solve => Failure::Outside,
            OpClass::Literal
            | OpClass::Text
            | OpClass::Domain
            | OpClass::Load
            | OpClass::Topology
            | OpClass::Geometry
            | OpClass::Pointwise
            | OpClass::Transfer
            | OpClass::FiniteVolume
            | OpClass::Reduction
            | OpClass::Exchange => Failure::Never,
        }
    }
}

impl Kernel {
    /// True if a launch may be an error: by a condition, or by the largest or smallest of no
    /// elements.
    pub fn may_fail(&self, sets: &SetTable) -> bool {
        let nothing = |reduction| needs_elements(reduction) && !self.space_set().is_some_and(|set| sets.always_has_elements(set));
        !self.checks.is_empty() || self.results.iter().any(|result| result.reduce.is_some_and(nothing))
    }
}

/// True if a reduction has no value over no elements.
fn needs_elements(reduction: Reduction) -> bool {
    reduction.is_extreme()
}

impl SetTable {
    /// True if a set has elements on every grid: all cells, and all faces, because a cell has
    /// faces.
    pub fn always_has_elements(&self, set: SetId) -> bool {
        [CanonicalSet::ALL_CELLS, CanonicalSet::ALL_FACES].into_iter().any(|all| self.get(set).canonical == Some(all))
    }
}
