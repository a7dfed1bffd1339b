//! Costs of operations on a target. The passes use them to weigh a store and a load against doing
//! something again.

use crate::ir::{KExpr, Op, OpClass, UnaryOp};
use crate::ops::{Arithmetic, BinaryMath, Work};

/// Costs of operations of kernels, an addition being 1, and from which cost on something else is
/// done than to evaluate where a value is used. Every back-end names its own
/// ([`crate::backend::Backend::costs`]); a module that several share is optimised for the first of
/// them.
///
/// Nothing but speed and memory depends on it: whatever is stored or done again, the operations are
/// the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CostModel {
    /// Loading a value that is near because other elements load it too, or reading geometry.
    pub load: u32,
    /// Loading a value of the current element from memory.
    pub stream: u32,
    /// Loading a value of a face in a sum over the faces of a cell.
    pub by_face: u32,
    /// A division, a root, or a length.
    pub division: u32,
    /// A product of Vectors.
    pub dot: u32,
    /// An elementary function.
    pub elementary: u32,
    /// A power, or an angle.
    pub power: u32,
    /// The value or the slope of a table.
    pub look_up: u32,
    /// Faces of a cell, as far as costs go.
    pub faces: u32,
    /// A sum over the faces of another cell, beside its terms.
    pub sum: u32,
    /// Arithmetic that is done again rather than kept where as many numbers are loaded either way.
    pub recompute: u32,
    /// A value used at several places is stored from this cost on, and one whose other evaluations
    /// cost more.
    pub share: u32,
    /// A value read at several offsets of a Cartesian grid is stored if its evaluations but one
    /// cost more than this.
    pub at_offsets: u32,
    /// Terms of an interior face that cost more than this are made once for both of its cells, on
    /// unstructured grids and by targets that do that at all.
    pub stage: u32,
    /// Place where the extremes of a kernel's results are taken.
    pub extremes: Extremes,
}

/// Place where an extreme of values is taken that a kernel computes for nothing else.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extremes {
    /// By the kernel that writes what they are computed from.
    OnTheWay,
    /// By passes of their own.
    Apart,
}

/// Costs of single operations among many, an addition being 1: the table that
/// `cargo xtask cost-model` prints.
#[derive(Clone, Copy, Debug, PartialEq)]
#[allow(missing_docs)] // The lines of the table have the same names.
pub struct Measured {
    pub product: f64,
    pub quotient: f64,
    pub root: f64,
    pub exponential: f64,
    pub power: f64,
    /// The value of a table.
    pub look_up: f64,
    /// Load from memory, of the current element.
    pub load: f64,
    /// Load of a neighbour, which other elements load too.
    pub neighbour: f64,
    /// Load of a face by its number, which is loaded first.
    pub by_face: f64,
    pub store: f64,
}

impl Default for CostModel {
    /// Costs without a target: for tests of passes, and the interpreter.
    fn default() -> Self {
        CostModel::DEFAULT
    }
}

impl CostModel {
    /// [`CostModel::default`] as a constant.
    const DEFAULT: CostModel = CostModel {
        load: 2,
        stream: 4,
        by_face: 6,
        division: 8,
        dot: 5,
        elementary: 24,
        power: 96,
        look_up: 50,
        faces: 6,
        sum: 60,
        recompute: 1,
        share: 400,
        at_offsets: 400,
        stage: 60,
        extremes: Extremes::OnTheWay,
    };

    /// Costs on a target with these measurements. Arithmetic up to `recompute` is done again; the
    /// other limits are those of [`CostModel::default`], which are not made of single operations.
    pub const fn of(measured: &Measured, recompute: u32) -> CostModel {
        const fn whole(cost: f64) -> u32 {
            let rounded = (cost + 0.5) as u32;
            if rounded == 0 { 1 } else { rounded }
        }
        CostModel {
            load: whole(measured.neighbour),
            stream: whole(measured.load),
            by_face: whole(measured.by_face),
            division: whole((measured.quotient + measured.root) / 2.0),
            // Three products and two sums.
            dot: whole(3.0 * measured.product + 2.0),
            elementary: whole(measured.exponential),
            power: whole(measured.power),
            look_up: whole(measured.look_up),
            recompute,
            ..CostModel::DEFAULT
        }
    }

    /// Returns the cost of an operation on collections, without its operands.
    pub fn operation(&self, op: &Op) -> u32 {
        match op {
            Op::Unary(op, _) => self.unary(*op),
            Op::Arithmetic(op, ..) => self.arithmetic(*op),
            Op::Math(function, ..) => self.math(*function),
            Op::Interpolate { .. } => self.look_up,
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
                | OpClass::Solve
                | OpClass::Exchange => 1,
            },
        }
    }

    /// Returns the cost of an expression of a kernel, without those in it.
    pub fn expression(&self, expr: &KExpr) -> u32 {
        match expr {
            KExpr::Load { .. }
            | KExpr::Measure(_)
            | KExpr::Centroid(_)
            | KExpr::FaceGap(_)
            | KExpr::FaceTransmissibility(_)
            | KExpr::Normal(_) => self.load,
            KExpr::Unary(op, _) => self.unary(*op),
            KExpr::Arithmetic(op, ..) => self.arithmetic(*op),
            KExpr::Math(function, ..) => self.math(*function),
            KExpr::Interpolate { .. } => self.look_up,
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
        match function.work() {
            Work::Steps => 1,
            Work::Function => self.elementary,
            Work::Long => self.power,
        }
    }
}
