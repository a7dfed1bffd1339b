//! Suppressed and deferred side effects: trials of a line search, and attempts at a time step.

use super::Session;
use crate::error::Error;
use crate::output::DeferredOutput;

impl Session {
    /// Suppresses outputs from now on; [`Session::holds_back`] returns true.
    pub fn begin_trial(&mut self) {
        self.outputs.suppress();
    }

    /// Ends suppression; returns whether a side effect was suppressed.
    pub fn end_trial(&mut self) -> bool {
        self.outputs.end_suppression()
    }

    /// True if a side effect must be suppressed, because a residual is on trial.
    pub fn holds_back(&mut self) -> bool {
        self.outputs.holds_back()
    }

    /// Defers outputs until [`Session::release_outputs`].
    pub fn defer_outputs(&mut self) {
        self.outputs.defer();
    }

    /// Takes the deferred outputs.
    pub fn take_deferred_outputs(&mut self) -> Vec<DeferredOutput> {
        self.outputs.take_deferred()
    }

    /// Writes deferred outputs and ends deferring.
    ///
    /// # Errors
    /// Those of the outputs.
    pub fn release_outputs(&mut self, deferred: Vec<DeferredOutput>) -> Result<(), Error> {
        if !deferred.is_empty() {
            self.progress.close_bar();
        }
        let result = self.outputs.release(deferred).map_err(|error| error.at(self.line));
        self.tell_of_outputs();
        result
    }
}
