//! Outputs that are kept instead of written.

use std::sync::{Arc, Mutex};

/// One `Output` of a program, kept instead of written.
#[derive(Clone, Debug, PartialEq)]
pub enum Record {
    /// Of a scalar.
    Scalar {
        /// As given to `Output`.
        tag: String,
        /// Its value.
        value: f64,
    },
    /// Of a truth value.
    Bool {
        /// As given to `Output`.
        tag: String,
        /// Its value.
        value: bool,
    },
    /// Of text.
    Text {
        /// As given to `Output`.
        tag: String,
        /// Its value.
        value: String,
    },
    /// Of a vector.
    Vector {
        /// As given to `Output`.
        tag: String,
        /// As many as the grid has dimensions.
        components: Vec<f64>,
    },
    /// Of a collection of vectors.
    Vectors {
        /// As given to `Output`.
        tag: String,
        /// By element of the domain, then by component.
        values: Vec<Vec<f64>>,
    },
    /// Of a collection; truth values are 1 and 0, entities their indices, -1 for Empty.
    Collection {
        /// As given to `Output`.
        tag: String,
        /// In the order of the domain.
        values: Vec<f64>,
    },
}

/// Outputs kept in memory; clones share it.
#[derive(Clone, Debug, Default)]
pub struct Records(Arc<Mutex<Vec<Record>>>);

impl Records {
    /// Takes what has been put out so far.
    pub fn take(&self) -> Vec<Record> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner))
    }

    pub(super) fn push(&self, record: Record) {
        self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push(record);
    }
}

/// An `Output` that waits.
#[derive(Clone, Debug)]
pub struct DeferredOutput {
    pub(super) record: Record,
    /// Whether its numbers are single, which says how they are written.
    pub(super) single: bool,
}
