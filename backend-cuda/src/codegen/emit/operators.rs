//! Operators and functions of Scalars in CUDA C++.

use equelle_front::ops::{BinaryMath, Elementary, Logic};

pub(super) fn logic(op: Logic) -> &'static str {
    match op {
        Logic::And => "&&",
        Logic::Or => "||",
        Logic::Xor => "!=",
    }
}

/// The name of `eq_math.cuh` for it.
pub(super) fn elementary(function: Elementary) -> String {
    format!("eq_{}", function.word())
}

pub(in crate::codegen) fn math(function: BinaryMath) -> &'static str {
    match function {
        BinaryMath::Min => "eq_min",
        BinaryMath::Max => "eq_max",
        BinaryMath::Pow => "eq_pow",
        BinaryMath::ATan2 => "eq_atan2",
    }
}
