//! Operators and functions of Scalars in CUDA C++.

use equelle_front::ops::{BinaryMath, Elementary, Logic};

pub(super) fn logic(op: Logic) -> &'static str {
    match op {
        Logic::And => "&&",
        Logic::Or => "||",
        Logic::Xor => "!=",
    }
}

pub(super) fn elementary(function: Elementary) -> &'static str {
    match function {
        Elementary::Exp => "eq_exp",
        Elementary::Log => "eq_log",
        Elementary::Sin => "eq_sin",
        Elementary::Cos => "eq_cos",
        Elementary::Tan => "eq_tan",
        Elementary::Tanh => "eq_tanh",
        Elementary::Sinh => "eq_sinh",
        Elementary::Cosh => "eq_cosh",
        Elementary::ASin => "eq_asin",
        Elementary::ACos => "eq_acos",
        Elementary::ATan => "eq_atan",
        Elementary::Log10 => "eq_log10",
        Elementary::Erf => "eq_erf",
        Elementary::Floor => "eq_floor",
        Elementary::Ceil => "eq_ceil",
        Elementary::Sign => "eq_sign",
    }
}

pub(in crate::codegen) fn math(function: BinaryMath) -> &'static str {
    match function {
        BinaryMath::Min => "eq_min",
        BinaryMath::Max => "eq_max",
        BinaryMath::Pow => "eq_pow",
        BinaryMath::ATan2 => "eq_atan2",
    }
}
