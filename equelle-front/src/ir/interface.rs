//! Input and output of a program, as its text says.
//!
//! It is computed when a module is made and stays as it is: a pass that drops a multiplication by
//! `1 [Kelvin]` keeps the value but not its dimension.

use crate::source::Span;
use crate::types::{Basic, Dimension, Shape, Type};

/// Kinds of input and output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DataKind {
    /// A single value.
    Scalar,
    /// A collection.
    Collection,
    /// A domain.
    Domain,
    /// A sequence.
    Sequence,
    /// A table.
    Table,
}

impl DataKind {
    /// Returns the kind of a value of this type.
    pub fn of(ty: &Type) -> Self {
        match ty.shape {
            Shape::Single if ty.basic == Basic::Table => DataKind::Table,
            Shape::Single => DataKind::Scalar,
            Shape::Collection(_) => DataKind::Collection,
            Shape::Domain(_) => DataKind::Domain,
            Shape::Sequence => DataKind::Sequence,
        }
    }
}

/// An input or output.
#[derive(Clone, Debug, PartialEq)]
pub struct Data {
    /// Name of the parameter, or tag.
    pub name: String,
    /// Its kind.
    pub kind: DataKind,
    /// The domain of a collection, or the superset of an input domain; empty otherwise.
    pub domain: String,
    /// Type of the value.
    pub ty: Type,
    /// Physical dimension.
    pub dim: Dimension,
    /// Unit of an input, where the program multiplies it by one; of an output, where it divides by
    /// one.
    pub unit: Option<ExpectedUnit>,
    /// Columns of a table: that of its arguments, then that of its values.
    pub columns: Vec<Column>,
    /// Default of an input scalar, if it is a number.
    pub default: Option<f64>,
    /// Equelle line; 0 if unknown.
    pub line: u32,
    /// The call that reads it, or the value that is written.
    pub span: Span,
    /// Inside a loop, so once in each of its rounds.
    pub per_step: bool,
    /// An element of an array that is put out, whose tag is made of that of the array.
    pub is_element: bool,
}

/// A column of a table.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// Name, or number from 1.
    pub name: String,
    /// Unit of its numbers: the one that divides what the program asks the table for, or that
    /// multiplies what it gives.
    pub unit: Option<ExpectedUnit>,
}

/// The unit that an input is given, or that an output is in.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ExpectedUnit {
    /// Its dimension.
    pub dimension: Dimension,
    /// Value of a 1 in the data, in SI units.
    pub factor: f64,
    /// The quantity in the program, where it is one literal: `1 [Kilo*Meter]`, perhaps in
    /// parentheses.
    pub literal: Option<Span>,
}

impl ExpectedUnit {
    /// True if the same numbers mean the same quantities.
    pub fn is_same_as(&self, other: &ExpectedUnit) -> bool {
        self.dimension == other.dimension && self.factor == other.factor
    }
}

/// Input and output of a program, and the grids that it can run on.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Interface {
    /// In the order of the program, each once.
    pub inputs: Vec<Data>,
    /// In the order of the program, each once; a tag may have several.
    pub outputs: Vec<Data>,
    /// The least number of space axes that the program can do with.
    pub min_dim: u32,
    /// The number of space axes that the program demands, because it makes Vectors of components.
    pub exact_dim: Option<u32>,
    /// True if equations are solved with Newton's method.
    pub implicit: bool,
    /// Dimension of coordinates: none where dimensions are not checked.
    pub coordinates: Dimension,
    /// Dimension of the lengths of rounds: of the elements or the steps of the first loop outside
    /// of others that has such; none where rounds are counted.
    pub time: Dimension,
}

impl Interface {
    /// Outputs that give names to files or columns: all but texts.
    pub fn named_outputs(&self) -> impl Iterator<Item = &Data> {
        self.outputs.iter().filter(|output| output.ty.basic != Basic::Text)
    }
}
