//! Outputs of a run that goes on from a checkpoint.

use std::collections::BTreeMap;

use super::Outputs;

impl Outputs {
    /// The outputs up to [`Outputs::resume`] exist, and are not written again.
    pub fn begin_replay(&mut self) {
        self.is_replay = true;
    }

    /// From here on outputs are written, with the next numbers.
    pub fn resume(&mut self, counters: &BTreeMap<String, u32>) {
        self.is_replay = false;
        self.counts.clone_from(counters);
    }

    /// Files so far, by tag.
    pub fn counters(&self) -> &BTreeMap<String, u32> {
        &self.counts
    }
}
