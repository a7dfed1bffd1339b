//! The end of a run, and its summary.

use super::on_ranks::SessionRank;
use super::rank_report::ranks_report;
use super::{Session, placement};
use std::sync::Arc;

use crate::grid::Grid;
use crate::report::event::{RanksReport, Summary};
use crate::report::{Event, bytes, peak_memory, seconds};
use crate::run::RunRecord;

/// The grid of the file: that of the run, or on rank 0 the whole one.
pub(super) fn shown_grid(session: &Session) -> &Arc<Grid> {
    session.rank.as_ref().and_then(SessionRank::whole_grid).unwrap_or(session.grid.grid())
}

impl Session {
    /// End of the run: prints the summary. The second call does nothing.
    pub fn finish(&mut self) {
        if std::mem::replace(&mut self.is_finished, true) {
            return;
        }
        if let Some(record) = self.outputs.record() {
            record.finished();
        }
        for warning in self.outputs.end_warnings() {
            self.run.progress.warning(&warning);
        }
        for note in std::mem::take(&mut self.run.notes) {
            self.run.progress.message(&note);
        }
        for line in self.solves.summary(&self.run.program.source) {
            self.run.progress.message(&line);
        }
        for audit in self.outputs.take_audits(true) {
            self.run.progress.event(&audit);
        }
        self.tell_audit();
        let ranks = ranks_report(self);
        let of_ranks = ranks.as_ref().map(|ranks| ranks.lines(self.run.progress.rounds().steps, self.profiler().is_some()));
        self.run.progress.event(&self.summary_event(ranks));
        let summary = self.summary();
        self.run.progress.message(&summary);
        of_ranks.iter().flatten().for_each(|line| self.run.progress.message(line));
        // After what it would change: the time and memory of the run.
        self.run.timing.tell(&mut self.run.progress, &self.run.threads);
        if let Some(hint) = self.placement_hint() {
            self.run.progress.message(&hint);
        }
    }

    /// Balances of conserved quantities.
    fn tell_audit(&mut self) {
        match (self.outputs.audit_lines(), self.run.parameters.text("audit")) {
            (Some(lines), _) => lines.iter().for_each(|line| self.run.progress.message(line)),
            (None, Some("yes")) => {
                self.run.progress.warning("audit=yes had no effect: the simulator was built without --audit, or has nothing to audit");
            }
            (None, _) => {}
        }
    }

    /// The summary as an event for programs.
    fn summary_event(&self, ranks: Option<RanksReport>) -> Event {
        let (steps_in_parts, parts) = self.solves.steps_in_parts();
        Event::Summary(Summary {
            seconds: self.run.progress.elapsed().as_secs_f64(),
            steps: self.run.progress.rounds().steps,
            cells: shown_grid(self).n_cells(),
            solves: self.solves.totals(),
            steps_in_parts,
            parts,
            ranks,
        })
    }

    /// The summary as one line of text.
    fn summary(&self) -> String {
        let elapsed = self.run.progress.elapsed().as_secs_f64();
        let mut text = format!("done in {}", seconds(elapsed));
        let (steps, (rounds, in_rounds)) = (self.run.progress.rounds().steps, self.run.progress.rounds().in_this_run());
        if steps > 0 {
            text.push_str(&format!(": {steps} step{}", if steps == 1 { "" } else { "s" }));
        }
        if rounds > 0 {
            text.push_str(&format!(" ({} each)", seconds(in_rounds.as_secs_f64() / rounds as f64)));
        }
        text.push_str(&format!(", {} cells", shown_grid(self).n_cells()));
        if self.run.threads.are_used() {
            text.push_str(&format!(", {} threads", self.run.threads.number()));
        }
        if let Some(mode) = &self.run.mode {
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
        self.run.device = Some(place);
    }

    /// The hint of the summary.
    fn placement_hint(&self) -> Option<String> {
        placement::hint(self.run.device?, shown_grid(self).n_cells(), self.run.progress.elapsed().as_secs_f64(), placement::gpu_is_here())
    }
}
