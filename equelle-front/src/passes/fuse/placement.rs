//! The places of values: where one may be computed and kept.

use crate::ir::{Op, OpClass};
use crate::types::{Basic, Shape, Type};

/// The place of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Placement {
    /// Substituted into the kernels that use it.
    Inline,
    /// Computed by a kernel of its own and kept in memory.
    Kernel,
    /// Computed by a run-time operation (inputs, calls, and what kernels cannot compute).
    Operation,
}

/// True if a value can be kept in memory; constants never need to be.
pub(super) fn is_storable(op: &Op, ty: Type) -> bool {
    op.class() != OpClass::Literal
        && match ty.shape {
            Shape::Collection(_) => !matches!(ty.basic, Basic::Text | Basic::Table | Basic::Axis(_)),
            Shape::Single => matches!(ty.basic, Basic::Scalar | Basic::Vector | Basic::Bool),
            Shape::Domain(_) | Shape::Sequence => false,
        }
}

/// True if a kernel can compute a value.
pub(super) fn is_fusable(op: &Op, ty: Type) -> bool {
    if matches!(ty.shape, Shape::Sequence) || matches!(ty.basic, Basic::Text | Basic::Table | Basic::Axis(_)) {
        return false;
    }
    match op.class() {
        OpClass::Geometry if matches!(op, Op::GridNumber(_)) => false,
        OpClass::Text | OpClass::Domain | OpClass::Load | OpClass::Input | OpClass::Call | OpClass::Solve | OpClass::Exchange => false,
        OpClass::Literal
        | OpClass::Topology
        | OpClass::Geometry
        | OpClass::Pointwise
        | OpClass::Transfer
        | OpClass::FiniteVolume
        | OpClass::Reduction => true,
    }
}
