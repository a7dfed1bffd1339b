//! Operators and functions of Scalars in CUDA C++.

use equelle_front::ops::Logic;

pub(super) fn logic(op: Logic) -> &'static str {
    match op {
        Logic::And => "&&",
        Logic::Or => "||",
        Logic::Xor => "!=",
    }
}

/// The name of a function in the prelude, by its word.
pub(super) fn prelude_function(word: &str) -> String {
    format!("eq_{word}")
}
