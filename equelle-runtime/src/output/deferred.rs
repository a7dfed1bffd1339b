//! Outputs that wait until it is known that they happen, and effects that must not happen at all.

use super::Outputs;
use super::record::{DeferredOutput, Record};
use crate::error::Error;
use crate::real::Real;

impl Outputs {
    /// From now on outputs wait.
    pub fn hold(&mut self) {
        self.held.get_or_insert_default();
    }

    /// Takes what waits; later outputs go on waiting.
    pub fn take_held(&mut self) -> Vec<DeferredOutput> {
        self.held.as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// Puts out what has waited; later outputs wait no more.
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

    /// From now on nothing is put out.
    pub fn mute(&mut self) {
        self.muted = Some(false);
    }

    /// Whether nothing is put out at present.
    pub fn are_muted(&self) -> bool {
        self.muted.is_some()
    }

    /// Ends that; whether there was something.
    pub fn unmute(&mut self) -> bool {
        self.muted.take().unwrap_or(false)
    }

    /// Whether an effect must not happen. It counts for [`Outputs::unmute`].
    pub fn holds_back(&mut self) -> bool {
        self.muted.as_mut().map(|something| *something = true).is_some()
    }

    /// Whether an output is not to be put out at present; it waits, or is dropped.
    pub(super) fn keeps(&mut self, single: bool, record: impl FnOnce() -> Record) -> bool {
        if self.holds_back() {
            return true;
        }
        let Some(held) = &mut self.held else { return false };
        held.push(DeferredOutput { record: record(), single });
        true
    }
}

/// Elements by component.
fn columns<R: Real>(rows: &[Vec<f64>]) -> Vec<Vec<R>> {
    let count = rows.first().map_or(0, Vec::len);
    (0..count).map(|component| rows.iter().map(|row| R::from_f64(row[component])).collect()).collect()
}

fn slices<R>(columns: &[Vec<R>]) -> Vec<&[R]> {
    columns.iter().map(Vec::as_slice).collect()
}
