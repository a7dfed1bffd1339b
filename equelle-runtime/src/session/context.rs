//! Parameters, messages and times, which all parts of a run share.

use std::sync::Arc;

use super::placement::ComputeDevice;
use super::profile::{InPhase, Phase, Timing};
use crate::error::Error;
use crate::interrupt::Interrupt;
use crate::io::Sink;
use crate::output::{Outputs, step_text};
use crate::params::Parameters;
use crate::program::Program;
use crate::report::Progress;
use crate::threads::Threads;

/// Program, parameters, current line, messages and times, which all parts of a run share.
pub(super) struct RunContext {
    pub program: Arc<Program>,
    pub parameters: Parameters,
    pub threads: Threads,
    /// Where files go.
    pub sink: Sink,
    /// The current Equelle line.
    pub line: u32,
    pub progress: Progress,
    pub interrupt: Interrupt,
    pub timing: Timing,
    /// Lines of the summary.
    pub notes: Vec<String>,
    /// Precision and rounding of numbers, if not the default.
    pub mode: Option<Arc<str>>,
    /// The device of the back-end, if known.
    pub device: Option<ComputeDevice>,
}

impl RunContext {
    /// Adds the current line to an error that has none.
    pub(super) fn locate(&self, error: Error) -> Error {
        error.at(self.line)
    }

    /// Enters a phase until the result is dropped.
    pub(super) fn in_phase(&self, phase: Phase) -> InPhase {
        self.timing.in_phase(phase, &self.progress)
    }

    /// `line 12, step 3 of 10`
    pub(super) fn place(&self, line: u32) -> String {
        let shown = self.program.source.shown(line);
        match self.progress.rounds().current_step() {
            Some(step) => format!("{shown}, {}", step_text(step)),
            None => shown,
        }
    }

    /// The step of the outermost loop.
    pub(super) fn step_number(&self) -> Option<usize> {
        self.progress.rounds().current_step().map(|(step, _)| step)
    }

    /// Shows warnings, notes and balances of the outputs.
    pub(super) fn tell_of_outputs(&mut self, outputs: &mut Outputs) {
        for warning in outputs.take_warnings() {
            self.progress.warning(&warning);
        }
        for note in outputs.take_notes() {
            self.progress.message(&note);
        }
        for audit in outputs.take_audits(false) {
            self.progress.event(&audit);
        }
    }
}
