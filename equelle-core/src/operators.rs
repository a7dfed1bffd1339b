//! Operators of programs.

use crate::binary_math::BinaryMath;

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
