//! Operations that take several times as long as an addition.

use crate::ir::{KExpr, UnaryOp};
use crate::ops::{Arithmetic, Work};

/// Numbers of slow operations per element.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SlowOperations {
    /// Divisions, roots, and lengths of Vectors.
    pub quotients: u64,
    /// Elementary functions but those of angles.
    pub functions: u64,
    /// Powers, functions of angles, and angles.
    pub powers: u64,
    /// Look-ups in tables.
    pub look_ups: u64,
}

impl SlowOperations {
    /// Counts an expression without its parts, so many times.
    pub(super) fn add(&mut self, expr: &KExpr, times: u64) {
        let kind = match expr {
            KExpr::Arithmetic(Arithmetic::Div, ..) | KExpr::Unary(UnaryOp::Sqrt | UnaryOp::Length, _) => &mut self.quotients,
            KExpr::Unary(UnaryOp::Elementary(function), _) => match function.work() {
                Work::Steps | Work::Function => &mut self.functions,
                Work::Long => &mut self.powers,
            },
            KExpr::Math(function, ..) => match function.work() {
                Work::Steps => return,
                Work::Function => &mut self.functions,
                Work::Long => &mut self.powers,
            },
            KExpr::Interpolate { .. } => &mut self.look_ups,
            _ => return,
        };
        *kind = kind.saturating_add(times);
    }

    /// The larger number of each kind.
    pub(super) fn max(self, other: SlowOperations) -> SlowOperations {
        SlowOperations {
            quotients: self.quotients.max(other.quotients),
            functions: self.functions.max(other.functions),
            powers: self.powers.max(other.powers),
            look_ups: self.look_ups.max(other.look_ups),
        }
    }
}
