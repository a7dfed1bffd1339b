//! Data of inputs in memory.

use std::fmt;
use std::sync::Arc;

/// An array in memory as an input: rows one after another, elements in the order of the grid's
/// file. Clones share the values.
#[derive(Clone, Debug, PartialEq)]
pub struct DataArray {
    /// Length along each axis, the slowest first.
    pub shape: Vec<usize>,
    /// Its values.
    pub values: ArrayValues,
}

/// Values of an array in memory.
#[derive(Clone, Debug, PartialEq)]
pub enum ArrayValues {
    /// Numbers.
    Numbers(Arc<Vec<f64>>),
    /// Truth values.
    Truths(Arc<Vec<bool>>),
    /// Indices of entities in the grid's file.
    Indices(Arc<Vec<i64>>),
    /// Columns of a table, by name; all have the length of the first axis.
    Columns(Vec<(String, Arc<Vec<f64>>)>),
}

impl DataArray {
    /// Numbers along one axis.
    pub fn numbers(values: Vec<f64>) -> DataArray {
        DataArray { shape: vec![values.len()], values: ArrayValues::Numbers(Arc::new(values)) }
    }

    /// Its shape as Python writes it: `(100,)`, `(20, 50)`.
    pub fn shape_text(&self) -> String {
        shape_text(&self.shape)
    }
}

/// A shape as Python writes it.
pub fn shape_text(shape: &[usize]) -> String {
    let lengths: Vec<String> = shape.iter().map(usize::to_string).collect();
    let comma = if shape.len() == 1 { "," } else { "" };
    format!("({}{comma})", lengths.join(", "))
}

/// The index of the element of a number, the last axis fastest: `1, 0, 2`.
pub(crate) fn index_text(shape: &[usize], number: usize) -> String {
    let (mut index, mut rest) = (Vec::with_capacity(shape.len()), number);
    for &length in shape.iter().rev() {
        index.push((rest % length.max(1)).to_string());
        rest /= length.max(1);
    }
    index.reverse();
    index.join(", ")
}

impl fmt::Display for DataArray {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.values {
            ArrayValues::Numbers(_) => write!(f, "array of shape {}", self.shape_text()),
            ArrayValues::Truths(_) => write!(f, "array of truth values of shape {}", self.shape_text()),
            ArrayValues::Indices(_) => write!(f, "array of indices of shape {}", self.shape_text()),
            ArrayValues::Columns(columns) => {
                let names: Vec<&str> = columns.iter().map(|(name, _)| name.as_str()).collect();
                write!(f, "columns {}", names.join(", "))
            }
        }
    }
}
