//! What operations cost on a target: what the passes weigh a store and a load against doing
//! something again.

use crate::ir::{KExpr, Op, OpClass, UnaryOp};
use crate::ops::{Arithmetic, BinaryMath};

/// Costs of operations of kernels, an addition being 1, and from which cost on something else is
/// done than to evaluate where a value is used. Every back-end names its own
/// ([`crate::backend::Backend::costs`]); a module that several share is optimised for the first of
/// them.
///
/// Nothing but speed and memory depends on it: whatever is stored or done again, the operations are
/// the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CostModel {
    /// Loading a value, or reading geometry.
    pub load: u32,
    /// A division, a root, or a length.
    pub division: u32,
    /// A product of Vectors.
    pub dot: u32,
    /// An elementary function, a power, or a search in a table.
    pub elementary: u32,
    /// Faces of a cell, as far as costs go.
    pub faces: u32,
    /// A sum over the faces of another cell, beside its terms.
    pub sum: u32,
    /// Evaluating a Scalar again up to this cost is cheaper than a store and a load.
    pub recompute: u32,
    /// A value used at several places is stored from this cost on.
    pub share: u32,
    /// Terms of an interior face that cost more than this are made once for both of its cells, on
    /// unstructured grids and by targets that do that at all.
    pub stage: u32,
}

impl Default for CostModel {
    /// For what has no target at hand: tests of passes, and the interpreter.
    fn default() -> Self {
        CostModel { load: 2, division: 8, dot: 5, elementary: 24, faces: 6, sum: 60, recompute: 3, share: 400, stage: 60 }
    }
}

impl CostModel {
    /// Of an operation on collections, without its operands.
    pub fn operation(&self, op: &Op) -> u32 {
        match op {
            Op::Unary(op, _) => self.unary(*op),
            Op::Arithmetic(op, ..) => self.arithmetic(*op),
            Op::Math(function, ..) => self.math(*function),
            Op::Interpolate { .. } => self.elementary,
            Op::Dot(..) => self.dot,
            Op::Divergence(_) | Op::FaceReduce { .. } => self.faces,
            Op::Broadcast { .. } | Op::Component(..) | Op::Vector(_) => 0,
            op => match op.class() {
                OpClass::Literal | OpClass::Domain => 0,
                // Reading geometry costs what reading a stored copy would.
                OpClass::Geometry => self.load,
                OpClass::Topology
                | OpClass::Pointwise
                | OpClass::Transfer
                | OpClass::FiniteVolume
                | OpClass::Reduction
                | OpClass::Text
                | OpClass::Load
                | OpClass::Input
                | OpClass::Call
                | OpClass::Solve => 1,
            },
        }
    }

    /// Of an expression of a kernel, without those in it.
    pub fn expression(&self, expr: &KExpr) -> u32 {
        match expr {
            KExpr::Load { .. } | KExpr::Measure(_) | KExpr::Centroid(_) | KExpr::Normal(_) => self.load,
            KExpr::Unary(op, _) => self.unary(*op),
            KExpr::Arithmetic(op, ..) => self.arithmetic(*op),
            KExpr::Math(function, ..) => self.math(*function),
            KExpr::Interpolate { .. } => self.elementary,
            KExpr::Dot(..) => self.dot,
            KExpr::Real(_) | KExpr::Bool(_) | KExpr::Local(_) | KExpr::Param(_) | KExpr::ZeroVector | KExpr::Entity(_) => 0,
            KExpr::IsEmpty(_)
            | KExpr::CellFact { .. }
            | KExpr::Member { .. }
            | KExpr::Same(..)
            | KExpr::Compare(..)
            | KExpr::Logic(..)
            | KExpr::Select { .. }
            | KExpr::Component(..)
            | KExpr::Vector(_)
            | KExpr::Displacement { .. } => 1,
        }
    }

    fn unary(&self, op: UnaryOp) -> u32 {
        match op {
            UnaryOp::Sqrt | UnaryOp::Length => self.division,
            UnaryOp::Elementary(_) => self.elementary,
            UnaryOp::Neg | UnaryOp::Not | UnaryOp::Abs => 1,
        }
    }

    fn arithmetic(&self, op: Arithmetic) -> u32 {
        match op {
            Arithmetic::Div => self.division,
            Arithmetic::Add | Arithmetic::Sub | Arithmetic::Mul => 1,
        }
    }

    fn math(&self, function: BinaryMath) -> u32 {
        match function {
            BinaryMath::Pow | BinaryMath::ATan2 => self.elementary,
            BinaryMath::Min | BinaryMath::Max => 1,
        }
    }
}
