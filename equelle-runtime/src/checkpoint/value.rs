//! Parts of the state on the host.

use std::sync::Arc;

use crate::domain::Domain;
use crate::entity::EntityKind;

/// A part of the state, in the numbering of the grid.
#[derive(Clone, Debug)]
pub enum SavedValue {
    /// A Scalar.
    Scalar(f64),
    /// A Bool.
    Bool(bool),
    /// A Vector. `[dim]`
    Vector(Vec<f64>),
    /// A Sequence.
    Sequence(Vec<f64>),
    /// A domain.
    Domain(Arc<Domain>),
    /// A Collection Of Scalar. `[domain]`
    Scalars(Arc<Domain>, Vec<f64>),
    /// A Collection Of Vector, by component. `[dim][domain]`
    Vectors(Arc<Domain>, Vec<Vec<f64>>),
    /// A Collection Of Bool. `[domain]`
    Bools(Arc<Domain>, Vec<bool>),
    /// A collection of entities of a kind or Empty. `[domain]`
    Entities(Arc<Domain>, EntityKind, Vec<Option<u32>>),
}

/// Kind of a part of the state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // The variants of `SavedValue` explain them.
pub enum SavedKind {
    Scalar,
    Bool,
    Vector,
    Sequence,
    Domain,
    Scalars,
    Vectors,
    Bools,
    Entities,
}

impl SavedKind {
    const ALL: [SavedKind; 9] = [
        SavedKind::Scalar,
        SavedKind::Bool,
        SavedKind::Vector,
        SavedKind::Sequence,
        SavedKind::Domain,
        SavedKind::Scalars,
        SavedKind::Vectors,
        SavedKind::Bools,
        SavedKind::Entities,
    ];

    /// The word in headers and messages.
    pub fn word(self) -> &'static str {
        match self {
            SavedKind::Scalar => "Scalar",
            SavedKind::Bool => "Bool",
            SavedKind::Vector => "Vector",
            SavedKind::Sequence => "Sequence",
            SavedKind::Domain => "domain",
            SavedKind::Scalars => "Collection Of Scalar",
            SavedKind::Vectors => "Collection Of Vector",
            SavedKind::Bools => "Collection Of Bool",
            SavedKind::Entities => "collection of entities",
        }
    }

    /// Returns the kind with this word.
    pub fn from_word(word: &str) -> Option<SavedKind> {
        SavedKind::ALL.into_iter().find(|kind| kind.word() == word)
    }
}

impl SavedValue {
    /// Bytes of its numbers.
    pub fn bytes(&self) -> usize {
        match self {
            SavedValue::Scalar(_) | SavedValue::Bool(_) | SavedValue::Domain(_) => 0,
            SavedValue::Vector(values) | SavedValue::Sequence(values) | SavedValue::Scalars(_, values) => size_of_val(&values[..]),
            SavedValue::Vectors(_, components) => components.iter().map(|values| size_of_val(&values[..])).sum(),
            SavedValue::Bools(_, values) => size_of_val(&values[..]),
            SavedValue::Entities(_, _, values) => size_of_val(&values[..]),
        }
    }

    /// Its kind.
    pub fn kind(&self) -> SavedKind {
        match self {
            SavedValue::Scalar(_) => SavedKind::Scalar,
            SavedValue::Bool(_) => SavedKind::Bool,
            SavedValue::Vector(_) => SavedKind::Vector,
            SavedValue::Sequence(_) => SavedKind::Sequence,
            SavedValue::Domain(_) => SavedKind::Domain,
            SavedValue::Scalars(..) => SavedKind::Scalars,
            SavedValue::Vectors(..) => SavedKind::Vectors,
            SavedValue::Bools(..) => SavedKind::Bools,
            SavedValue::Entities(..) => SavedKind::Entities,
        }
    }

    /// Its domain, if it has or is one.
    pub fn domain(&self) -> Option<&Arc<Domain>> {
        match self {
            SavedValue::Domain(domain)
            | SavedValue::Scalars(domain, _)
            | SavedValue::Vectors(domain, _)
            | SavedValue::Bools(domain, _)
            | SavedValue::Entities(domain, ..) => Some(domain),
            SavedValue::Scalar(_) | SavedValue::Bool(_) | SavedValue::Vector(_) | SavedValue::Sequence(_) => None,
        }
    }

    /// True if all its numbers are finite.
    pub fn is_finite(&self) -> bool {
        self.magnitude().is_some()
    }

    /// The largest absolute value of its numbers, 0 without any; `None` if one is not finite.
    pub fn magnitude(&self) -> Option<f64> {
        // Bits of positive numbers are in their order, those of infinity and NaN above all others.
        let of = |values: &[f64]| {
            let largest = values.iter().fold(0, |largest: u64, value| largest.max(value.abs().to_bits()));
            Some(f64::from_bits(largest)).filter(|largest| largest.is_finite())
        };
        match self {
            SavedValue::Scalar(value) => of(&[*value]),
            SavedValue::Vector(values) | SavedValue::Sequence(values) | SavedValue::Scalars(_, values) => of(values),
            SavedValue::Vectors(_, components) => {
                components.iter().map(|component| of(component)).try_fold(0.0, |largest: f64, next| Some(largest.max(next?)))
            }
            SavedValue::Bool(_) | SavedValue::Domain(_) | SavedValue::Bools(..) | SavedValue::Entities(..) => Some(0.0),
        }
    }
}
