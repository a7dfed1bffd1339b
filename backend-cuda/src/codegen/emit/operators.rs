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
        Elementary::Exp => "exp",
        Elementary::Log => "log",
        Elementary::Sin => "sin",
        Elementary::Cos => "cos",
        Elementary::Tan => "tan",
    }
}

pub(in crate::codegen) fn math(function: BinaryMath) -> &'static str {
    match function {
        BinaryMath::Min => "eq_min",
        BinaryMath::Max => "eq_max",
        BinaryMath::Pow => "pow",
    }
}
