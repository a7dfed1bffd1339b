//! Operators shared by the typed tree and the IR; those that the runtime has too are in
//! `equelle-core`.

pub use equelle_core::{
    Algebra, Argument, BinaryMath, Comparison, Derivative, Elementary, FaceReduction, Logic, SideMap, TablePart, UnitRule, Work,
    elementary_table,
};

use crate::types::Basic;

/// Transmissibility of a face whose geometry gives it.
pub const FROM_GEOMETRY: f64 = -1.0;

/// Numbers that have a name in the language.
pub const CONSTANTS: [(&str, f64); 1] = [("Pi", std::f64::consts::PI)];

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

impl Arithmetic {
    /// As in the language, in Rust and in C.
    pub fn symbol(self) -> &'static str {
        match self {
            Arithmetic::Add => "+",
            Arithmetic::Sub => "-",
            Arithmetic::Mul => "*",
            Arithmetic::Div => "/",
        }
    }
}

/// Kinds of values that an input has on the elements of a domain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum InputElement {
    /// A number.
    Scalar,
    /// A Vector.
    Vector,
    /// A truth value.
    Bool,
}

impl InputElement {
    /// All of them.
    pub const ALL: [InputElement; 3] = [InputElement::Scalar, InputElement::Vector, InputElement::Bool];

    /// The word of the operation in the text of the IR.
    pub fn word(self) -> &'static str {
        match self {
            InputElement::Scalar => "InputCollection",
            InputElement::Vector => "InputVectors",
            InputElement::Bool => "InputBools",
        }
    }

    /// Its type.
    pub fn basic(self) -> Basic {
        match self {
            InputElement::Scalar => Basic::Scalar,
            InputElement::Vector => Basic::Vector,
            InputElement::Bool => Basic::Bool,
        }
    }
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
    /// True if one of the Bools is true; false when empty.
    Any,
    /// True if none of the Bools is false; true when empty.
    All,
}

impl Reduction {
    /// True if it is one of the values: then no order of the elements is better than another.
    pub fn is_extreme(self) -> bool {
        match self {
            Reduction::Max | Reduction::Min => true,
            Reduction::Sum | Reduction::Prod | Reduction::Any | Reduction::All => false,
        }
    }
}

/// Cells along each axis of a Cartesian grid.
pub type Offset = [i8; 3];

/// Substitutes for cells beyond each side of a Cartesian grid: low and high side of each axis.
pub type Beyond = [SideMap; 6];

/// Maximum distance of a read along an axis, in cells.
pub const MAX_OFFSET: i8 = 16;

/// Position of a cell in a Cartesian grid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CellFact {
    /// True if the cell this many cells further along an axis is beyond the side there.
    Outside {
        /// The axis.
        axis: u8,
        /// The offset.
        by: i8,
    },
    /// The number of the cell along an axis, from 0: a Scalar.
    Index(u8),
    /// True if the sum of the numbers along these axes is even.
    Even([bool; 3]),
}

impl CellFact {
    /// True if it is a truth value and not a Scalar.
    pub fn is_truth(self) -> bool {
        !matches!(self, CellFact::Index(_))
    }

    /// The last axis that it names.
    pub fn axis(self) -> u8 {
        match self {
            CellFact::Outside { axis, .. } | CellFact::Index(axis) => axis,
            CellFact::Even(axes) => (0..3).rev().find(|&a| axes[usize::from(a)]).unwrap_or(0),
        }
    }
}

/// A number of a Cartesian grid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum GridNumber {
    /// Width of the cells along an axis.
    Width(u8),
    /// Number of cells along an axis.
    Extent(u8),
}
