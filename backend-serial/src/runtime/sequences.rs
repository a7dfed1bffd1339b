//! Sequences: lists of numbers without a grid.

use std::sync::Arc;

/// `f` of each number.
pub(super) fn map(sequence: &[f64], f: impl Fn(f64) -> f64) -> Arc<Vec<f64>> {
    Arc::new(sequence.iter().map(|&value| f(value)).collect())
}
