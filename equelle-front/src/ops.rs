//! Operators shared by the typed tree and the IR.

/// `+ - * /`
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Arithmetic {
    /// `+`
    Add,
    /// `-`
    Sub,
    /// `*`
    Mul,
    /// `/`
    Div,
}

/// Comparisons.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
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

/// Logical operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Logic {
    /// `And`
    And,
    /// `Or`
    Or,
    /// `Xor`
    Xor,
}

/// Reductions of a collection to one value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reduction {
    /// Largest; NaN propagates; an error on an empty collection.
    Max,
    /// Smallest; NaN propagates; an error on an empty collection.
    Min,
    /// Sum: leaves of 1024 elements in file order, then a binary tree; 0 when empty.
    Sum,
    /// Product, in the order of the sum; 1 when empty.
    Prod,
    /// Of Bools: whether one is true; false when empty.
    Any,
    /// Of Bools: whether none is false; true when empty.
    All,
}

/// Functions of two Scalars.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BinaryMath {
    /// The smaller one; the first of two equal ones; NaN if one is NaN.
    Min,
    /// The larger one; the first of two equal ones; NaN if one is NaN.
    Max,
    /// The first to the power of the second.
    Pow,
}
