//! Suppressed and deferred side effects: trials of a line search, and attempts at a time step.

use super::Session;
use crate::error::Error;
use crate::output::DeferredOutput;

impl Session {
    /// Suppresses outputs from now on; [`Session::holds_back`] returns true.
    pub fn begin_trial(&mut self) {
        self.outputs.mute();
    }

    /// Ends suppression; returns whether a side effect was suppressed.
    pub fn end_trial(&mut self) -> bool {
        self.outputs.unmute()
    }

    /// Whether a side effect must be suppressed, because a residual is on trial.
    pub fn holds_back(&mut self) -> bool {
        self.outputs.holds_back()
    }

    /// Defers outputs until [`Session::release_outputs`].
    pub fn hold_outputs(&mut self) {
        self.outputs.hold();
    }

    /// Takes the deferred outputs.
    pub fn take_deferred_outputs(&mut self) -> Vec<DeferredOutput> {
        self.outputs.take_held()
    }

    /// Writes deferred outputs and ends deferring.
    ///
    /// # Errors
    /// Those of the outputs.
    pub fn release_outputs(&mut self, held: Vec<DeferredOutput>) -> Result<(), Error> {
        if !held.is_empty() {
            self.progress.close_bar();
        }
        let result = self.outputs.release(held).map_err(|error| error.at(self.line));
        self.tell_of_outputs();
        result
    }
}
