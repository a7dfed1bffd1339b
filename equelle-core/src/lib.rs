//! Operators and elementary functions: what the compiler and generated programs both have to know.
//!
//! [`elementary`] is the table of the elementary functions. The front-end takes names, rules and
//! derivatives from it, the runtime values, back-ends the text of kernels.

mod binary_math;
pub mod cuda;
pub mod derivative;
mod elementary;
mod functions;
pub mod math;
mod operators;
mod real;

pub use binary_math::BinaryMath;
pub use derivative::{Algebra, Derivative};
pub use elementary::{Argument, Elementary, Monotonicity, UnitRule, Work};
pub use operators::{Comparison, FaceReduction, Logic, SideMap, TablePart};
pub use real::Float;
