//! Outputs that are recorded in memory instead of written.

use std::sync::{Arc, Mutex};

use super::field::Field;
use super::step_time::StepTime;

/// One recorded `Output` of a program.
#[derive(Clone, Debug, PartialEq)]
pub enum Record {
    /// A scalar.
    Scalar {
        /// As given to `Output`.
        tag: String,
        /// Its value.
        value: f64,
    },
    /// A Bool.
    Bool {
        /// As given to `Output`.
        tag: String,
        /// Its value.
        value: bool,
    },
    /// A text.
    Text {
        /// As given to `Output`.
        tag: String,
        /// Its value.
        value: String,
    },
    /// A vector.
    Vector {
        /// As given to `Output`.
        tag: String,
        /// As many as the grid has dimensions.
        components: Vec<f64>,
    },
    /// A collection of vectors.
    Vectors {
        /// As given to `Output`.
        tag: String,
        /// By element of the domain, then by component.
        values: Vec<Vec<f64>>,
    },
    /// A collection; Bools are 1 and 0, entities their indices, -1 for Empty.
    Collection {
        /// As given to `Output`.
        tag: String,
        /// In the order of the domain.
        values: Vec<f64>,
    },
}

/// Recorded outputs; clones share them.
#[derive(Clone, Debug, Default)]
pub struct Records(Arc<Mutex<Vec<(StepTime, Record)>>>);

impl Records {
    /// Takes the outputs recorded so far.
    pub fn take(&self) -> Vec<Record> {
        self.take_with_moments().into_iter().map(|(_, record)| record).collect()
    }

    /// The same, each with the step and time at which it was put out.
    pub fn take_with_moments(&self) -> Vec<(StepTime, Record)> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner))
    }

    pub(super) fn push(&self, moment: StepTime, record: Record) {
        self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push((moment, record));
    }
}

/// A deferred `Output`.
#[derive(Clone, Debug)]
pub enum DeferredOutput {
    /// One that is printed, or recorded in memory.
    Written {
        /// The output.
        record: Record,
        /// True if its numbers are in single precision, which determines their digits.
        single: bool,
    },
    /// A collection that goes to files.
    File {
        /// The collection.
        field: Field,
        /// Equelle line of the output.
        line: u32,
    },
    /// A collection of a step that is not written.
    Skipped {
        /// As given to `Output`.
        tag: String,
    },
}
