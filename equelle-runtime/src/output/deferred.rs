//! Deferred outputs, which wait until a step succeeds, and suppressed side effects.

use super::Outputs;
use super::files::slices;
use super::record::{DeferredOutput, Record};
use crate::error::Error;
use crate::real::Real;

impl Outputs {
    /// Defers outputs from now on.
    pub fn defer(&mut self) {
        self.deferred.get_or_insert_default();
    }

    /// Takes the deferred outputs; later ones are deferred too.
    pub fn take_deferred(&mut self) -> Vec<DeferredOutput> {
        self.deferred.as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// Writes deferred outputs and ends deferring.
    ///
    /// # Errors
    /// Those of the outputs.
    pub fn release(&mut self, deferred: Vec<DeferredOutput>) -> Result<(), Error> {
        self.deferred = None;
        for output in deferred {
            let (record, single) = match output {
                DeferredOutput::Written { record, single } => (record, single),
                DeferredOutput::File { field, line } => {
                    self.write_field(field, line)?;
                    continue;
                }
                DeferredOutput::Skipped { tag } => {
                    self.count(&tag);
                    continue;
                }
            };
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
    pub fn suppress(&mut self) {
        self.suppressed = Some(false);
    }

    /// True if outputs are suppressed.
    pub fn are_suppressed(&self) -> bool {
        self.suppressed.is_some()
    }

    /// Ends suppression; returns whether an output was suppressed.
    pub fn end_suppression(&mut self) -> bool {
        self.suppressed.take().unwrap_or(false)
    }

    /// True if a side effect must be suppressed. It counts for [`Outputs::end_suppression`].
    pub fn holds_back(&mut self) -> bool {
        self.suppressed.as_mut().map(|something| *something = true).is_some()
    }

    /// True if an output is not written now: it is deferred or suppressed.
    pub(super) fn keeps(&mut self, single: bool, record: impl FnOnce() -> Record) -> bool {
        if self.holds_back() || self.is_replay {
            return true;
        }
        let Some(deferred) = &mut self.deferred else { return false };
        deferred.push(DeferredOutput::Written { record: record(), single });
        true
    }
}

/// Transposes elements to components.
fn columns<R: Real>(rows: &[Vec<f64>]) -> Vec<Vec<R>> {
    let count = rows.first().map_or(0, Vec::len);
    (0..count).map(|component| rows.iter().map(|row| R::from_f64(row[component])).collect()).collect()
}
