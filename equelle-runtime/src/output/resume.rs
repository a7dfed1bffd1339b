//! Outputs of a run that goes on from a checkpoint.

use super::{OutputCounters, Outputs};

impl Outputs {
    /// The outputs up to [`Outputs::resume`] exist, and are not written again.
    pub fn begin_replay(&mut self) {
        self.is_replay = true;
    }

    /// From here on outputs are written, after those of the checkpoint. `step_files`: how often
    /// files of VTK were written in its round.
    pub fn resume(&mut self, counters: OutputCounters, step_files: u32) {
        self.is_replay = false;
        self.continues_after = Some(counters.step);
        if let Some(record) = self.record() {
            record.keep(&counters, step_files);
        }
        self.restore_counters(counters);
    }
}
