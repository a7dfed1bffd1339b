//! The state of a program for checkpoints.

use std::sync::Arc;

use equelle_runtime::domain::Domain;
use equelle_runtime::session::LoopState;
use equelle_runtime::{Checkpoint, EntityKind, Error};

use crate::runtime::autodiff::newton_state::NewtonState;
use crate::runtime::runtime::CudaRuntime;
use crate::runtime::values::collections::{EntityCollection, Loop, Sequence};

impl Checkpoint for CudaRuntime {
    fn loop_state(state: &mut Loop) -> &mut LoopState {
        &mut state.state
    }

    /// The first window of elements begins after those of the rounds.
    fn continue_after(&mut self, state: &mut Loop, rounds: usize) {
        // A sequence has fewer elements than that: its numbers fit in memory.
        if let Some(elements) = &mut state.elements {
            elements.used = rounds as u32;
        }
    }

    fn check_device(&mut self) -> Result<(), Error> {
        self.resolve_step()?;
        self.executor.flush()?;
        self.check_flag()
    }

    fn drop_solver_state(&mut self) -> Result<(), Error> {
        self.check_device()?;
        // Direct solvers are not in use when they are dropped.
        self.executor.quiesce();
        self.newton = NewtonState::default();
        Ok(())
    }

    fn domain_of_entities(&self, values: &EntityCollection) -> (Arc<Domain>, EntityKind) {
        (Arc::clone(values.domain()), values.kind())
    }

    fn sequence_values(&mut self, sequence: &Sequence) -> Result<Vec<f64>, Error> {
        match &sequence.read {
            Some(values) => Ok(values.to_vec()),
            None => self.executor.download(sequence.buffer.address(), sequence.len),
        }
    }

    fn sequence_from(&mut self, values: Vec<f64>) -> Result<Sequence, Error> {
        let buffer = self.executor.upload("a sequence", &values)?;
        Ok(Sequence { len: values.len(), buffer, read: Some(Arc::new(values)) })
    }
}
