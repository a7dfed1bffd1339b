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
    /// True if it holds for two values. With NaN only `!=` holds.
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

/// Reduction of numbers on the faces of a cell, in ascending face index. NaN propagates.
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
    /// True if one is true; false when empty.
    Any,
    /// True if none is false; true when empty.
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

/// Functions of one number: the same bits on every target ([`crate::math`]). Kernels of back-ends
/// number them in this order, from 0.
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
    /// Hyperbolic tangent.
    Tanh,
    /// Hyperbolic sine.
    Sinh,
    /// Hyperbolic cosine.
    Cosh,
    /// Arcus sine, in radians; NaN outside of -1 to 1.
    ASin,
    /// Arcus cosine, in radians; NaN outside of -1 to 1.
    ACos,
    /// Arcus tangent, in radians.
    ATan,
    /// Logarithm of base 10.
    Log10,
    /// Error function.
    Erf,
    /// The largest whole number that is not above.
    Floor,
    /// The smallest whole number that is not below.
    Ceil,
    /// -1, 0 or 1 as the number is negative, zero or positive.
    Sign,
    /// The nearest whole number; halves away from zero.
    Round,
}

impl Elementary {
    /// All of them.
    pub const ALL: [Elementary; 17] = [
        Elementary::Exp,
        Elementary::Log,
        Elementary::Sin,
        Elementary::Cos,
        Elementary::Tan,
        Elementary::Tanh,
        Elementary::Sinh,
        Elementary::Cosh,
        Elementary::ASin,
        Elementary::ACos,
        Elementary::ATan,
        Elementary::Log10,
        Elementary::Erf,
        Elementary::Floor,
        Elementary::Ceil,
        Elementary::Sign,
        Elementary::Round,
    ];

    /// As in the language.
    pub fn name(self) -> &'static str {
        match self {
            Elementary::Exp => "Exp",
            Elementary::Log => "Log",
            Elementary::Sin => "Sin",
            Elementary::Cos => "Cos",
            Elementary::Tan => "Tan",
            Elementary::Tanh => "Tanh",
            Elementary::Sinh => "Sinh",
            Elementary::Cosh => "Cosh",
            Elementary::ASin => "ASin",
            Elementary::ACos => "ACos",
            Elementary::ATan => "ATan",
            Elementary::Log10 => "Log10",
            Elementary::Erf => "Erf",
            Elementary::Floor => "Floor",
            Elementary::Ceil => "Ceil",
            Elementary::Sign => "Sign",
            Elementary::Round => "Round",
        }
    }
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
    /// The angle, in radians, of the point whose ordinate is the first and abscissa the second.
    ATan2,
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
