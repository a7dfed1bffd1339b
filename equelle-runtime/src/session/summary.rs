//! The end of a run, and its summary.

use super::{Session, placement};
use crate::report::{bytes, peak_memory, seconds};
use crate::run::RunRecord;

impl Session {
    /// End of the run: prints the summary. The second call does nothing.
    pub fn finish(&mut self) {
        if std::mem::replace(&mut self.finished, true) {
            return;
        }
        if let Some(record) = self.outputs.record() {
            record.finished();
        }
        for warning in self.outputs.end_warnings() {
            self.progress.warning(&warning);
        }
        for note in std::mem::take(&mut self.notes) {
            self.progress.message(&note);
        }
        for line in self.solve_summary() {
            self.progress.message(&line);
        }
        for audit in self.outputs.take_audits(true) {
            self.progress.event(&audit);
        }
        self.tell_audit();
        self.progress.event(&self.summary_event());
        let summary = self.summary();
        self.progress.message(&summary);
        // After what it would change: the time and memory of the run.
        self.tell_profile();
        if let Some(hint) = self.placement_hint() {
            self.progress.message(&hint);
        }
    }

    /// Balances of conserved quantities.
    fn tell_audit(&mut self) {
        match (self.outputs.audit_lines(), self.parameters.text("audit")) {
            (Some(lines), _) => lines.iter().for_each(|line| self.progress.message(line)),
            (None, Some("yes")) => {
                self.progress.warning("audit=yes had no effect: the simulator was built without --audit, or has nothing to audit");
            }
            (None, _) => {}
        }
    }

    /// The summary as one line of text.
    fn summary(&self) -> String {
        let elapsed = self.progress.elapsed().as_secs_f64();
        let mut text = format!("done in {}", seconds(elapsed));
        let (steps, (rounds, in_rounds)) = (self.progress.steps(), self.progress.rounds());
        if steps > 0 {
            text.push_str(&format!(": {steps} step{}", if steps == 1 { "" } else { "s" }));
        }
        if rounds > 0 {
            text.push_str(&format!(" ({} each)", seconds(in_rounds.as_secs_f64() / rounds as f64)));
        }
        text.push_str(&format!(", {} cells", self.grid.n_cells()));
        if self.threads.are_used() {
            text.push_str(&format!(", {} threads", self.threads.number()));
        }
        if let Some(mode) = &self.mode {
            text.push_str(&format!(", {mode}"));
        }
        if let Some(peak) = peak_memory() {
            text.push_str(&format!(", peak memory {}", bytes(peak)));
        }
        if let Some(dir) = self.outputs.dir() {
            let files = self.outputs.files_written();
            text.push_str(&format!(", {files} file{} in `{}`", if files == 1 { "" } else { "s" }, dir.display()));
            match self.outputs.record().map_or(0, RunRecord::removed) {
                0 => {}
                1 => text.push_str(" (1 of an earlier run removed)"),
                removed => text.push_str(&format!(" ({removed} of earlier runs removed)")),
            }
        }
        text
    }

    /// Sets the device of the back-end, for the hint in the summary.
    pub fn computes_on(&mut self, place: placement::ComputeDevice) {
        self.place = Some(place);
    }

    /// The hint of the summary.
    fn placement_hint(&self) -> Option<String> {
        placement::hint(self.place?, self.grid.n_cells(), self.progress.elapsed().as_secs_f64(), placement::gpu_is_here())
    }
}
