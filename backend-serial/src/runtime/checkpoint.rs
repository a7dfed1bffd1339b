//! The state of a program for checkpoints.

use std::sync::Arc;

use equelle_runtime::domain::Domain;
use equelle_runtime::session::LoopState;
use equelle_runtime::{Checkpoint, EntityKind, Error};

use super::SerialRuntime;
use super::collections::EntityCollection;
use super::compiled::CompiledReal;
use super::runtime::Loop;

impl<R: CompiledReal> Checkpoint for SerialRuntime<R> {
    fn loop_state(state: &mut Loop) -> &mut LoopState {
        &mut state.state
    }

    fn continue_after(&mut self, _state: &mut Loop, _rounds: usize) {}

    fn drop_solver_state(&mut self) -> Result<(), Error> {
        #[cfg(feature = "solvers")]
        {
            (self.newton, self.solvers) = Default::default();
        }
        Ok(())
    }

    fn domain_of_entities(&self, values: &EntityCollection) -> (Arc<Domain>, EntityKind) {
        (Arc::clone(&values.domain), values.kind)
    }

    fn sequence_values(&mut self, sequence: &Arc<Vec<f64>>) -> Result<Vec<f64>, Error> {
        Ok(sequence.to_vec())
    }

    fn sequence_from(&mut self, values: Vec<f64>) -> Result<Arc<Vec<f64>>, Error> {
        Ok(Arc::new(values))
    }
}
