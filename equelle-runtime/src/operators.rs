//! Operators that are arguments of the methods of [`Operations`](crate::Operations).

pub use equelle_core::{Argument, BinaryMath, Comparison, Elementary, FaceReduction, Logic, Work};

use crate::real::Real;

/// Reductions of a collection to one value. NaN propagates through Max and Min.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reduction {
    /// Largest; an error on an empty collection.
    Max,
    /// Smallest; an error on an empty collection.
    Min,
    /// Sum (see [`crate::reduce`] for the order); 0 when empty.
    Sum,
    /// Product, in the order of the sum; 1 when empty.
    Prod,
}

/// Reductions of Bools.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BoolReduction {
    /// True if one is true; false when empty.
    Any,
    /// True if none is false; true when empty.
    All,
}

/// Arithmetic on one number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unary {
    /// The number itself.
    Copy,
    /// `-a`
    Neg,
    /// `|a|`
    Abs,
    /// Square root.
    Sqrt,
    /// One of the other functions.
    Elementary(Elementary),
}

impl Unary {
    /// The function at `a`.
    #[inline]
    pub fn of<R: Real>(self, a: R) -> R {
        match self {
            Unary::Copy => a,
            Unary::Neg => -a,
            Unary::Abs => a.abs(),
            Unary::Sqrt => a.sqrt(),
            Unary::Elementary(function) => function.of(a),
        }
    }
}

/// Arithmetic on two numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Binary {
    /// `a + b`
    Add,
    /// `a - b`
    Sub,
    /// `a * b`
    Mul,
    /// `a / b`
    Div,
    /// One of the other functions.
    Math(BinaryMath),
}

impl Binary {
    /// The function of two numbers.
    #[inline]
    pub fn of<R: Real>(self, a: R, b: R) -> R {
        match self {
            Binary::Add => a + b,
            Binary::Sub => a - b,
            Binary::Mul => a * b,
            Binary::Div => a / b,
            Binary::Math(function) => function.of(a, b),
        }
    }
}
