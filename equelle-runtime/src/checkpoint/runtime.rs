//! Functions that generated programs call.

use std::sync::Arc;

use super::value::{SavedKind, SavedValue};
use crate::domain::Domain;
use crate::entity::EntityKind;
use crate::error::Error;
use crate::operations::Operations;
use crate::session::LoopState;
use crate::traits::{EquelleRuntime, HostAccess, Implicit};

/// Saves the state of a program and gives it back. Loops of the main program's body have numbers
/// from 1.
pub trait Checkpoint: Implicit + Operations + HostAccess + EquelleRuntime<Domain = Arc<Domain>> {
    /// The state of a loop.
    fn loop_state(state: &mut Self::Loop) -> &mut LoopState;

    /// Continues a loop after so many rounds; called before its first one.
    fn continue_after(&mut self, state: &mut Self::Loop, rounds: usize);

    /// The error of what the device has done so far: its state may be that after a condition that
    /// failed.
    ///
    /// # Errors
    /// That one.
    fn check_device(&mut self) -> Result<(), Error> {
        Ok(())
    }

    /// Drops what linear solvers and Newton's method keep from solve to solve: a run that goes on
    /// does not have it, and it would decide last bits.
    ///
    /// # Errors
    /// Errors of the device so far.
    fn drop_solver_state(&mut self) -> Result<(), Error>;

    /// Domain and kind of a collection of entities.
    fn domain_of_entities(&self, values: &Self::EntityCollection) -> (Arc<Domain>, EntityKind);

    /// The numbers of a sequence.
    ///
    /// # Errors
    /// Those of the copy.
    fn sequence_values(&mut self, sequence: &Self::Sequence) -> Result<Vec<f64>, Error>;

    /// A sequence of numbers.
    ///
    /// # Errors
    /// Those of the copy.
    fn sequence_from(&mut self, values: Vec<f64>) -> Result<Self::Sequence, Error>;

    /// True if the run goes on in loop `number` or a later one, so that what comes before it is
    /// left out.
    fn skips_to(&mut self, number: u32) -> bool {
        self.session().checkpoints().skips_to(number)
    }

    /// True if the run goes on in this loop: then the state gets the values of the checkpoint.
    ///
    /// # Errors
    /// `Data` if inputs or the sequence of the loop are not those of the checkpoint.
    fn resumes(&mut self, number: u32, state: &mut Self::Loop) -> Result<bool, Error> {
        let Some(rounds) = self.session().checkpoints().resumes(number, Self::loop_state(state))? else { return Ok(false) };
        self.continue_after(state, rounds);
        self.drop_solver_state()?;
        Ok(true)
    }

    /// True if a checkpoint is due now, at the end of a round.
    fn checkpoint_due(&mut self) -> bool {
        self.session().checkpoints().is_due() || self.session().checkpoints().keeps_state()
    }

    /// Writes what was saved in this round of loop `number`.
    ///
    /// # Errors
    /// `Io`; `Interrupted` if the run ends here because of a signal.
    fn write_checkpoint(&mut self, number: u32, state: &mut Self::Loop) -> Result<(), Error> {
        if !self.session().checkpoints().is_due() {
            self.check_device()?;
            self.session().checkpoints().keep(number, Self::loop_state(state));
            return Ok(());
        }
        self.drop_solver_state()?;
        self.session().checkpoints().write(number, Self::loop_state(state))
    }

    /// Saves a Scalar.
    ///
    /// # Errors
    /// `Simulation` if it is not finite, also for the other kinds; those of the copy.
    fn save_scalar(&mut self, name: &str, value: &Self::Scalar) -> Result<(), Error> {
        let value = SavedValue::Scalar(self.scalar_value(value)?);
        self.session().checkpoints().save(name, value)
    }

    /// Saves a Bool.
    ///
    /// # Errors
    /// As for [`Checkpoint::save_scalar`].
    fn save_bool(&mut self, name: &str, value: &Self::Bool) -> Result<(), Error> {
        let value = SavedValue::Bool(self.bool_value(value)?);
        self.session().checkpoints().save(name, value)
    }

    /// Saves a Vector.
    ///
    /// # Errors
    /// As for [`Checkpoint::save_scalar`].
    fn save_vector(&mut self, name: &str, value: &Self::Vector) -> Result<(), Error> {
        let value = SavedValue::Vector(self.vector_value(value)?);
        self.session().checkpoints().save(name, value)
    }

    /// Saves a Sequence.
    ///
    /// # Errors
    /// As for [`Checkpoint::save_scalar`].
    fn save_sequence(&mut self, name: &str, value: &Self::Sequence) -> Result<(), Error> {
        let value = SavedValue::Sequence(self.sequence_values(value)?);
        self.session().checkpoints().save(name, value)
    }

    /// Saves a domain.
    ///
    /// # Errors
    /// As for [`Checkpoint::save_scalar`].
    fn save_domain(&mut self, name: &str, value: &Arc<Domain>) -> Result<(), Error> {
        self.session().checkpoints().save(name, SavedValue::Domain(Arc::clone(value)))
    }

    /// Saves a Collection Of Scalar.
    ///
    /// # Errors
    /// As for [`Checkpoint::save_scalar`].
    fn save_collection(&mut self, name: &str, value: &Self::ScalarCollection) -> Result<(), Error> {
        let value = SavedValue::Scalars(self.domain_of(value), self.values(value)?);
        self.session().checkpoints().save(name, value)
    }

    /// Saves a Collection Of Vector.
    ///
    /// # Errors
    /// As for [`Checkpoint::save_scalar`].
    fn save_vectors(&mut self, name: &str, value: &Self::VectorCollection) -> Result<(), Error> {
        let value = SavedValue::Vectors(self.domain_of(value), self.vectors(value)?);
        self.session().checkpoints().save(name, value)
    }

    /// Saves a Collection Of Bool.
    ///
    /// # Errors
    /// As for [`Checkpoint::save_scalar`].
    fn save_bools(&mut self, name: &str, value: &Self::BoolCollection) -> Result<(), Error> {
        let value = SavedValue::Bools(self.domain_of(value), self.bools(value)?);
        self.session().checkpoints().save(name, value)
    }

    /// Saves a collection of entities.
    ///
    /// # Errors
    /// As for [`Checkpoint::save_scalar`].
    fn save_entities(&mut self, name: &str, value: &Self::EntityCollection) -> Result<(), Error> {
        let (domain, kind) = self.domain_of_entities(value);
        let value = SavedValue::Entities(domain, kind, self.entity_indices(value)?);
        self.session().checkpoints().save(name, value)
    }

    /// A Scalar of the checkpoint.
    ///
    /// # Errors
    /// `Data` if the checkpoint has none of this name, also for the other kinds.
    fn restored_scalar(&mut self, name: &str) -> Result<Self::Scalar, Error> {
        match self.session().checkpoints().restored(name, SavedKind::Scalar)? {
            SavedValue::Scalar(value) => Ok(self.scalar(value)),
            other => Err(not_that(name, &other)),
        }
    }

    /// A Bool of the checkpoint.
    ///
    /// # Errors
    /// As for [`Checkpoint::restored_scalar`].
    fn restored_bool(&mut self, name: &str) -> Result<Self::Bool, Error> {
        match self.session().checkpoints().restored(name, SavedKind::Bool)? {
            SavedValue::Bool(value) => Ok(self.bool(value)),
            other => Err(not_that(name, &other)),
        }
    }

    /// A Vector of the checkpoint.
    ///
    /// # Errors
    /// As for [`Checkpoint::restored_scalar`].
    fn restored_vector(&mut self, name: &str) -> Result<Self::Vector, Error> {
        match self.session().checkpoints().restored(name, SavedKind::Vector)? {
            SavedValue::Vector(components) => self.vector_from(&components),
            other => Err(not_that(name, &other)),
        }
    }

    /// A Sequence of the checkpoint.
    ///
    /// # Errors
    /// As for [`Checkpoint::restored_scalar`].
    fn restored_sequence(&mut self, name: &str) -> Result<Self::Sequence, Error> {
        match self.session().checkpoints().restored(name, SavedKind::Sequence)? {
            SavedValue::Sequence(values) => self.sequence_from(values),
            other => Err(not_that(name, &other)),
        }
    }

    /// A domain of the checkpoint.
    ///
    /// # Errors
    /// As for [`Checkpoint::restored_scalar`].
    fn restored_domain(&mut self, name: &str) -> Result<Arc<Domain>, Error> {
        match self.session().checkpoints().restored(name, SavedKind::Domain)? {
            SavedValue::Domain(domain) => Ok(domain),
            other => Err(not_that(name, &other)),
        }
    }

    /// A Collection Of Scalar of the checkpoint.
    ///
    /// # Errors
    /// As for [`Checkpoint::restored_scalar`].
    fn restored_collection(&mut self, name: &str) -> Result<Self::ScalarCollection, Error> {
        match self.session().checkpoints().restored(name, SavedKind::Scalars)? {
            SavedValue::Scalars(domain, values) => self.scalar_collection(&domain, values),
            other => Err(not_that(name, &other)),
        }
    }

    /// A Collection Of Vector of the checkpoint.
    ///
    /// # Errors
    /// As for [`Checkpoint::restored_scalar`].
    fn restored_vectors(&mut self, name: &str) -> Result<Self::VectorCollection, Error> {
        match self.session().checkpoints().restored(name, SavedKind::Vectors)? {
            SavedValue::Vectors(domain, components) => self.vector_collection(&domain, components),
            other => Err(not_that(name, &other)),
        }
    }

    /// A Collection Of Bool of the checkpoint.
    ///
    /// # Errors
    /// As for [`Checkpoint::restored_scalar`].
    fn restored_bools(&mut self, name: &str) -> Result<Self::BoolCollection, Error> {
        match self.session().checkpoints().restored(name, SavedKind::Bools)? {
            SavedValue::Bools(domain, values) => self.bool_collection(&domain, values),
            other => Err(not_that(name, &other)),
        }
    }

    /// A collection of entities of the checkpoint.
    ///
    /// # Errors
    /// As for [`Checkpoint::restored_scalar`].
    fn restored_entities(&mut self, name: &str) -> Result<Self::EntityCollection, Error> {
        match self.session().checkpoints().restored(name, SavedKind::Entities)? {
            SavedValue::Entities(domain, kind, values) => self.entity_collection(&domain, kind, values),
            other => Err(not_that(name, &other)),
        }
    }
}

fn not_that(name: &str, found: &SavedValue) -> Error {
    Error::internal(format!("`{name}` of a checkpoint is {}", found.kind().word()))
}
