//! Rules of differentiation: the contribution of an entry of an operand's row to the result's row.

use equelle_runtime::{Binary, BinaryMath, Elementary, Unary};

/// The contribution of an entry d of an operand's row to that of the result `v` of operands `a` and
/// `b`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rule {
    /// `d`
    Keep,
    /// `-d`
    Negate,
    /// `a d`
    TimesFirst,
    /// `b d`
    TimesSecond,
    /// `d / b`
    OverSecond,
    /// `-(v d) / b`
    Denominator,
    /// The sign of `a` times `d`.
    Sign,
    /// `0.5 / v d`
    Root,
    /// See [`Elementary::derivative`].
    Elementary(Elementary),
    /// See [`BinaryMath::by_first`].
    ByFirst(BinaryMath),
    /// See [`BinaryMath::by_second`].
    BySecond(BinaryMath),
}

impl Rule {
    /// The number of the rule in the kernels.
    pub fn number(self) -> u32 {
        match self {
            Rule::Keep => 0,
            Rule::Negate => 1,
            Rule::TimesFirst => 2,
            Rule::TimesSecond => 3,
            Rule::OverSecond => 4,
            Rule::Denominator => 5,
            Rule::Sign => 6,
            Rule::Root => 7,
            Rule::ByFirst(BinaryMath::Min) => 8,
            Rule::BySecond(BinaryMath::Min) => 9,
            Rule::ByFirst(BinaryMath::Max) => 10,
            Rule::BySecond(BinaryMath::Max) => 11,
            Rule::ByFirst(BinaryMath::Pow) => 12,
            Rule::BySecond(BinaryMath::Pow) => 13,
            Rule::ByFirst(BinaryMath::ATan2) => 14,
            Rule::BySecond(BinaryMath::ATan2) => 15,
            // Last, because there may be more of them.
            Rule::Elementary(function) => 16 + function as u32,
        }
    }
}

/// The derivative of a function of one number.
pub(crate) fn derivative(function: Unary) -> Rule {
    match function {
        Unary::Copy => Rule::Keep,
        Unary::Neg => Rule::Negate,
        Unary::Abs => Rule::Sign,
        Unary::Sqrt => Rule::Root,
        Unary::Elementary(function) => Rule::Elementary(function),
    }
}

/// The derivatives of a function of two numbers by both.
pub(crate) fn derivatives(function: Binary) -> (Rule, Rule) {
    match function {
        Binary::Add => (Rule::Keep, Rule::Keep),
        Binary::Sub => (Rule::Keep, Rule::Negate),
        Binary::Mul => (Rule::TimesSecond, Rule::TimesFirst),
        Binary::Div => (Rule::OverSecond, Rule::Denominator),
        Binary::Math(function) => (Rule::ByFirst(function), Rule::BySecond(function)),
    }
}
