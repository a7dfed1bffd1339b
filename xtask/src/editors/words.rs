//! The words of the language, by kind.

use equelle_front::check::BuiltinInfo;
use equelle_front::ops::CONSTANTS;
use equelle_front::syntax::Keyword;
use equelle_front::units::UNITS;

/// Kind of a reserved word for a reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WordKind {
    /// A part of a type.
    Type,
    /// An operator that is a word.
    Operator,
    /// A truth value or a number.
    Constant,
    /// A statement.
    Control,
}

pub(super) fn word_kind(word: Keyword) -> WordKind {
    match word {
        Keyword::Collection
        | Keyword::Stencil
        | Keyword::Sequence
        | Keyword::Array
        | Keyword::Of
        | Keyword::Subset
        | Keyword::Scalar
        | Keyword::Vector
        | Keyword::Bool
        | Keyword::Cell
        | Keyword::Face
        | Keyword::Edge
        | Keyword::Vertex
        | Keyword::String
        | Keyword::Function
        | Keyword::Mutable => WordKind::Type,
        Keyword::On | Keyword::Extend | Keyword::And | Keyword::Or | Keyword::Not | Keyword::Xor => WordKind::Operator,
        Keyword::True | Keyword::False => WordKind::Constant,
        Keyword::For | Keyword::In | Keyword::Repeat | Keyword::Until | Keyword::While | Keyword::Import => WordKind::Control,
    }
}

/// Reserved words of a kind, sorted.
pub(super) fn words(kind: WordKind) -> Vec<&'static str> {
    let mut words: Vec<&str> = Keyword::ALL.iter().filter(|word| word_kind(**word) == kind).map(|word| word.as_str()).collect();
    if kind == WordKind::Constant {
        words.extend(CONSTANTS.map(|(name, _)| name));
    }
    words.sort_unstable();
    words
}

/// Names of the built-in functions, sorted.
pub(super) fn builtin_names(all: &[BuiltinInfo]) -> Vec<&str> {
    let mut names: Vec<&str> = all.iter().map(|b| b.name.as_str()).collect();
    names.sort_unstable();
    names
}

/// Names of the units, sorted.
pub(super) fn unit_names() -> Vec<&'static str> {
    let mut names: Vec<&str> = UNITS.iter().map(|unit| unit.name).collect();
    names.sort_unstable();
    names
}
