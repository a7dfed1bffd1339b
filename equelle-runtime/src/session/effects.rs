//! Effects that do not happen, or not yet: trials of a line search, and attempts at a time step.

use super::Session;
use crate::error::Error;
use crate::output::DeferredOutput;

impl Session {
    /// From now on outputs are dropped, and [`Session::holds_back`] says so.
    pub fn begin_trial(&mut self) {
        self.outputs.mute();
    }

    /// Ends that; whether there was an effect that did not happen.
    pub fn end_trial(&mut self) -> bool {
        self.outputs.unmute()
    }

    /// Whether an effect must not happen, because a residual is only tried.
    pub fn holds_back(&mut self) -> bool {
        self.outputs.holds_back()
    }

    /// From now on outputs wait until [`Session::release_outputs`].
    pub fn hold_outputs(&mut self) {
        self.outputs.hold();
    }

    /// Takes the outputs that wait.
    pub fn take_deferred_outputs(&mut self) -> Vec<DeferredOutput> {
        self.outputs.take_held()
    }

    /// Puts out what has waited; later outputs wait no more.
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
