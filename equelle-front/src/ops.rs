//! Operators shared by the typed tree and the IR.

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

impl Comparison {
    /// All of them.
    pub const ALL: [Comparison; 6] =
        [Comparison::Less, Comparison::Greater, Comparison::LessEqual, Comparison::GreaterEqual, Comparison::Equal, Comparison::NotEqual];

    /// As in the language, in Rust and in C.
    pub fn symbol(self) -> &'static str {
        match self {
            Comparison::Less => "<",
            Comparison::Greater => ">",
            Comparison::LessEqual => "<=",
            Comparison::GreaterEqual => ">=",
            Comparison::Equal => "==",
            Comparison::NotEqual => "!=",
        }
    }

    /// True if it holds of two values. With NaN only `!=` does.
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

    /// True if it asks which value is larger.
    pub fn is_ordered(self) -> bool {
        match self {
            Comparison::Less | Comparison::Greater | Comparison::LessEqual | Comparison::GreaterEqual => true,
            Comparison::Equal | Comparison::NotEqual => false,
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

impl Logic {
    /// As in the language.
    pub fn word(self) -> &'static str {
        match self {
            Logic::And => "And",
            Logic::Or => "Or",
            Logic::Xor => "Xor",
        }
    }
}

/// Functions of one Scalar, whose value has no dimension: the same bits on every target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Elementary {
    /// Exponential function.
    Exp,
    /// Natural logarithm.
    Log,
    /// Sine, in radians.
    Sin,
    /// Cosine, in radians.
    Cos,
    /// Tangent, in radians.
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
    /// -1, 0 or 1 as the number is negative, zero or positive; of any dimension.
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

    /// As in the text form of the IR.
    pub fn word(self) -> &'static str {
        match self {
            Elementary::Exp => "exp",
            Elementary::Log => "log",
            Elementary::Sin => "sin",
            Elementary::Cos => "cos",
            Elementary::Tan => "tan",
            Elementary::Tanh => "tanh",
            Elementary::Sinh => "sinh",
            Elementary::Cosh => "cosh",
            Elementary::ASin => "asin",
            Elementary::ACos => "acos",
            Elementary::ATan => "atan",
            Elementary::Log10 => "log10",
            Elementary::Erf => "erf",
            Elementary::Floor => "floor",
            Elementary::Ceil => "ceil",
            Elementary::Sign => "sign",
            Elementary::Round => "round",
        }
    }

    /// The function at `x`, for the checker.
    pub fn of(self, x: f64) -> f64 {
        match self {
            Elementary::Exp => x.exp(),
            Elementary::Log => x.ln(),
            Elementary::Sin => x.sin(),
            Elementary::Cos => x.cos(),
            Elementary::Tan => x.tan(),
            Elementary::Tanh => x.tanh(),
            Elementary::Sinh => x.sinh(),
            Elementary::Cosh => x.cosh(),
            Elementary::ASin => x.asin(),
            Elementary::ACos => x.acos(),
            Elementary::ATan => x.atan(),
            Elementary::Log10 => x.log10(),
            Elementary::Erf => error_function(x),
            Elementary::Floor => x.floor(),
            Elementary::Ceil => x.ceil(),
            Elementary::Sign => f64::from(i8::from(x > 0.0) - i8::from(x < 0.0)),
            Elementary::Round => x.round(),
        }
    }
}

/// The error function by its series with positive terms, to 1e-12.
fn error_function(x: f64) -> f64 {
    let size = x.abs().min(6.0);
    let (mut term, mut sum) = (size, size);
    for n in 1..200 {
        term *= 2.0 * size * size / f64::from(2 * n + 1);
        sum += term;
    }
    (std::f64::consts::FRAC_2_SQRT_PI * (-size * size).exp() * sum).copysign(x)
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

/// Reductions of the numbers on a cell's faces.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FaceReduction {
    /// Sum, from 0.
    Sum,
    /// Largest; minus infinity without faces; NaN propagates.
    Max,
    /// Smallest; infinity without faces; NaN propagates.
    Min,
}

impl FaceReduction {
    /// All of them.
    pub const ALL: [FaceReduction; 3] = [FaceReduction::Sum, FaceReduction::Max, FaceReduction::Min];

    /// Returns the start value.
    pub fn start(self) -> f64 {
        match self {
            FaceReduction::Sum => 0.0,
            FaceReduction::Max => f64::NEG_INFINITY,
            FaceReduction::Min => f64::INFINITY,
        }
    }

    /// The function that takes in one more number; `None` for a sum.
    pub fn extreme(self) -> Option<BinaryMath> {
        match self {
            FaceReduction::Sum => None,
            FaceReduction::Max => Some(BinaryMath::Max),
            FaceReduction::Min => Some(BinaryMath::Min),
        }
    }

    /// True if a term takes the place of the extreme so far: the first of equal ones stays, as does
    /// what is not a number.
    pub fn replaces(self, extreme: f64, term: f64) -> bool {
        self.stays().is_some_and(|stays| !(stays.holds(&extreme, &term) || extreme.is_nan()))
    }

    /// The comparison of the extreme so far with a term by which the extreme stays; `None` for a
    /// sum.
    pub fn stays(self) -> Option<Comparison> {
        match self {
            FaceReduction::Sum => None,
            FaceReduction::Max => Some(Comparison::GreaterEqual),
            FaceReduction::Min => Some(Comparison::LessEqual),
        }
    }

    /// As in the language.
    pub fn name(self) -> &'static str {
        match self {
            FaceReduction::Sum => "FaceSum",
            FaceReduction::Max => "FaceMax",
            FaceReduction::Min => "FaceMin",
        }
    }
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
    /// The angle of the point whose ordinate is the first and whose abscissa is the second.
    ATan2,
}

/// A part of a table of two arguments. At distances `d` and `e` from where a piece begins, the
/// value is `Value + d FirstSlope + e (SecondSlope + d Twist)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum TablePart {
    /// Share of the first argument in the number of the piece.
    First,
    /// Share of the second argument in the number of the piece.
    Second,
    /// Start of the piece, by the first argument.
    FirstOrigin,
    /// Start of the piece, by the second argument.
    SecondOrigin,
    /// Value at the start of the piece, by the number of the piece.
    Value,
    /// The slope by the first argument there.
    FirstSlope,
    /// The slope by the second argument there.
    SecondSlope,
    /// The change of one slope by the other argument.
    Twist,
}

impl TablePart {
    /// All parts, in order.
    pub const ALL: [TablePart; 8] = [
        TablePart::First,
        TablePart::Second,
        TablePart::FirstOrigin,
        TablePart::SecondOrigin,
        TablePart::Value,
        TablePart::FirstSlope,
        TablePart::SecondSlope,
        TablePart::Twist,
    ];

    /// In the text form of IR.
    pub fn word(self) -> &'static str {
        match self {
            TablePart::First => "first",
            TablePart::Second => "second",
            TablePart::FirstOrigin => "first_origin",
            TablePart::SecondOrigin => "second_origin",
            TablePart::Value => "value",
            TablePart::FirstSlope => "first_slope",
            TablePart::SecondSlope => "second_slope",
            TablePart::Twist => "twist",
        }
    }
}

/// Cells along each axis of a Cartesian grid.
pub type Offset = [i8; 3];

/// Substitutes for cells beyond each side of a Cartesian grid: low and high side of each axis.
pub type Beyond = [SideMap; 6];

/// Maximum distance of a read along an axis, in cells.
pub const MAX_OFFSET: i8 = 16;

/// Cell that stands for one beyond a side, m = 0, 1, ... cells out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum SideMap {
    /// The grid begins again.
    Wrap,
    /// The cell m cells inside.
    Mirror,
    /// The cell m + 1 cells inside.
    MirrorAt,
    /// The last cell.
    Clamp,
    /// Nothing reads beyond.
    #[default]
    Never,
}

impl SideMap {
    /// All of them.
    pub const ALL: [SideMap; 5] = [SideMap::Wrap, SideMap::Mirror, SideMap::MirrorAt, SideMap::Clamp, SideMap::Never];

    /// Word in the text of the IR.
    pub fn word(self) -> &'static str {
        match self {
            SideMap::Wrap => "wrap",
            SideMap::Mirror => "mirror",
            SideMap::MirrorAt => "mirror_at",
            SideMap::Clamp => "clamp",
            SideMap::Never => "never",
        }
    }

    /// Number of cells that an axis needs so that a read this many cells beyond the side is in the
    /// grid.
    pub fn cells_needed(self, reach: u8) -> u32 {
        match self {
            SideMap::Wrap | SideMap::Mirror => u32::from(reach),
            SideMap::MirrorAt | SideMap::Never => u32::from(reach) + 1,
            SideMap::Clamp => 1,
        }
    }
}

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
