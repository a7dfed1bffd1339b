//! Values of expressions.

use crate::program::{EntityReg, OffsetId, RealSrc, TruthReg, UniformId};
use crate::refusal::Refusal;

/// A truth value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Truth {
    Uniform(UniformId),
    Reg(TruthReg),
}

/// An entity of each lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Entity {
    Empty,
    Here,
    /// The cell so many cells further along an axis, in a region where there is one.
    Shift {
        axis: usize,
        by: i8,
    },
    SideFace {
        axis: usize,
        high: bool,
    },
    /// A cell at an offset from that of the lane.
    Offset(OffsetId),
    Reg(EntityReg),
}

/// The value of an expression.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Value {
    Real(RealSrc),
    /// As many components as the grid has axes.
    Vector(Vec<RealSrc>),
    Truth(Truth),
    Entity(Entity),
}

impl Value {
    pub(super) fn real(self) -> Result<RealSrc, Refusal> {
        match self {
            Value::Real(value) => Ok(value),
            Value::Vector(_) | Value::Truth(_) | Value::Entity(_) => Err(Refusal::Type),
        }
    }

    pub(super) fn vector(self) -> Result<Vec<RealSrc>, Refusal> {
        match self {
            Value::Vector(value) => Ok(value),
            Value::Real(_) | Value::Truth(_) | Value::Entity(_) => Err(Refusal::Type),
        }
    }

    pub(super) fn truth(self) -> Result<Truth, Refusal> {
        match self {
            Value::Truth(value) => Ok(value),
            Value::Real(_) | Value::Vector(_) | Value::Entity(_) => Err(Refusal::Type),
        }
    }
}
