//! Deferred outputs, which wait until a step succeeds, and suppressed side effects.

use super::Outputs;
use super::record::{DeferredOutput, Record};
use crate::error::Error;
use crate::real::Real;

impl Outputs {
    /// Defers outputs from now on.
    pub fn hold(&mut self) {
        self.held.get_or_insert_default();
    }

    /// Takes the deferred outputs; later ones are deferred too.
    pub fn take_held(&mut self) -> Vec<DeferredOutput> {
        self.held.as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// Writes deferred outputs and ends deferring.
    ///
    /// # Errors
    /// Those of the outputs.
    pub fn release(&mut self, held: Vec<DeferredOutput>) -> Result<(), Error> {
        self.held = None;
        for DeferredOutput { record, single } in held {
            match record {
                Record::Scalar { tag, value } => self.scalar(&tag, value)?,
                Record::Bool { tag, value } => self.bool(&tag, value)?,
                Record::Text { tag, value } => self.text(&tag, &value)?,
                Record::Vector { tag, components } => self.vector(&tag, &components)?,
                Record::Collection { tag, values } if single => self.collection(&tag, &f32::vec_from_f64(values))?,
                Record::Collection { tag, values } => self.collection(&tag, &values)?,
                Record::Vectors { tag, values } if single => self.vectors(&tag, &slices(&columns::<f32>(&values)))?,
                Record::Vectors { tag, values } => self.vectors(&tag, &slices(&columns::<f64>(&values)))?,
            }
        }
        Ok(())
    }

    /// Suppresses outputs from now on.
    pub fn mute(&mut self) {
        self.muted = Some(false);
    }

    /// Whether outputs are suppressed.
    pub fn are_muted(&self) -> bool {
        self.muted.is_some()
    }

    /// Ends suppression; returns whether an output was suppressed.
    pub fn unmute(&mut self) -> bool {
        self.muted.take().unwrap_or(false)
    }

    /// Whether a side effect must be suppressed. It counts for [`Outputs::unmute`].
    pub fn holds_back(&mut self) -> bool {
        self.muted.as_mut().map(|something| *something = true).is_some()
    }

    /// Whether an output is not written now: it is deferred or suppressed.
    pub(super) fn keeps(&mut self, single: bool, record: impl FnOnce() -> Record) -> bool {
        if self.holds_back() {
            return true;
        }
        let Some(held) = &mut self.held else { return false };
        held.push(DeferredOutput { record: record(), single });
        true
    }
}

/// Transposes elements to components.
fn columns<R: Real>(rows: &[Vec<f64>]) -> Vec<Vec<R>> {
    let count = rows.first().map_or(0, Vec::len);
    (0..count).map(|component| rows.iter().map(|row| R::from_f64(row[component])).collect()).collect()
}

fn slices<R>(columns: &[Vec<R>]) -> Vec<&[R]> {
    columns.iter().map(Vec::as_slice).collect()
}
