//! Functions of one and of two numbers.

use equelle_runtime::{BinaryMath, Elementary};

/// Functions of one number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unary {
    /// The identity.
    Copy,
    Neg,
    Abs,
    Sqrt,
    Elementary(Elementary),
}

impl Unary {
    /// The number of the function in the kernels.
    pub fn number(self) -> u32 {
        match self {
            Unary::Copy => 0,
            Unary::Neg => 1,
            Unary::Abs => 2,
            Unary::Sqrt => 3,
            Unary::Elementary(function) => 4 + function as u32,
        }
    }

    pub fn of(self, a: f64) -> f64 {
        match self {
            Unary::Copy => a,
            Unary::Neg => -a,
            Unary::Abs => a.abs(),
            Unary::Sqrt => a.sqrt(),
            Unary::Elementary(function) => function.of(a),
        }
    }
}

/// Functions of two numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Binary {
    Add,
    Sub,
    Mul,
    Div,
    Math(BinaryMath),
}

impl Binary {
    /// The number of the function in the kernels.
    pub fn number(self) -> u32 {
        match self {
            Binary::Add => 0,
            Binary::Sub => 1,
            Binary::Mul => 2,
            Binary::Div => 3,
            Binary::Math(BinaryMath::Min) => 4,
            Binary::Math(BinaryMath::Max) => 5,
            Binary::Math(BinaryMath::Pow) => 6,
        }
    }

    pub fn of(self, a: f64, b: f64) -> f64 {
        match self {
            Binary::Add => a + b,
            Binary::Sub => a - b,
            Binary::Mul => a * b,
            Binary::Div => a / b,
            Binary::Math(function) => function.of(a, b),
        }
    }
}
