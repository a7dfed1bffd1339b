//! Operators that are arguments of the methods of [`Operations`](crate::Operations).

/// Comparisons. Kernels of back-ends number them in this order, from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// `<`
    Less,
    /// `>`
    Greater,
    /// `<=`
    LessEqual,
    /// `>=`
    GreaterEqual,
    /// `==`
    Equal,
    /// `!=`
    NotEqual,
}

impl Comparison {
    /// Whether it holds for two values. With NaN only `!=` holds.
    #[inline]
    pub fn holds<T: PartialOrd>(self, a: &T, b: &T) -> bool {
        match self {
            Comparison::Less => a < b,
            Comparison::Greater => a > b,
            Comparison::LessEqual => a <= b,
            Comparison::GreaterEqual => a >= b,
            Comparison::Equal => a == b,
            Comparison::NotEqual => a != b,
        }
    }
}

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

/// What a cell makes of numbers on its faces, in ascending face index. NaN propagates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaceReduction {
    /// Sum, from +0.
    Sum,
    /// The first of the largest; minus infinity without faces.
    Max,
    /// The first of the smallest; infinity without faces.
    Min,
}

/// Reductions of Bools.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BoolReduction {
    /// Whether one is true; false when empty.
    Any,
    /// Whether none is false; true when empty.
    All,
}

/// Logical operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Logic {
    /// Both.
    And,
    /// At least one.
    Or,
    /// Exactly one.
    Xor,
}

/// Functions of one number, with the accuracy of the target's mathematical library. Kernels of
/// back-ends number them in this order, from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Elementary {
    /// Exponential function.
    Exp,
    /// Natural logarithm.
    Log,
    /// Sine, of radians.
    Sin,
    /// Cosine, of radians.
    Cos,
    /// Tangent, of radians.
    Tan,
}

/// Functions of two numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BinaryMath {
    /// The smaller one; the first of two equal ones; NaN if one is NaN.
    Min,
    /// The larger one; the first of two equal ones; NaN if one is NaN.
    Max,
    /// The first to the power of the second.
    Pow,
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
