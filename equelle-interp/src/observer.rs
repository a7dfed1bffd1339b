//! Watching a run, and changing its state, from outside.

use equelle_front::ir::Function;
use equelle_front::types::Type;
use equelle_runtime::{DerivativeAccess, Error};

use crate::value::{Value, defect};

/// Called while a program runs.
pub trait Observer<R: DerivativeAccess> {
    /// Called after each round of a loop of the main program.
    ///
    /// # Errors
    /// One that ends the run.
    fn round(&mut self, round: &mut Round<'_, R>) -> Result<(), Error>;
}

/// The state after a round: the mutable variables of the main program.
pub struct Round<'r, R: DerivativeAccess> {
    pub(crate) rt: &'r mut R,
    pub(crate) function: &'r Function,
    pub(crate) mutables: &'r mut [Option<Value<R>>],
}

impl<R: DerivativeAccess> Round<'_, R> {
    /// The runtime.
    pub fn rt(&mut self) -> &mut R {
        self.rt
    }

    /// Names and types of the variables that have a value.
    pub fn variables(&self) -> impl Iterator<Item = (&str, &Type)> {
        let all = self.function.mutables.iter().zip(&*self.mutables);
        all.filter(|(_, value)| value.is_some()).map(|(variable, _)| (variable.name.as_str(), &variable.ty))
    }

    /// The value of a variable.
    pub fn value(&self, name: &str) -> Option<&Value<R>> {
        self.mutables[self.position(name)?].as_ref()
    }

    /// Gives a variable another value of its type.
    ///
    /// # Errors
    /// `Backend` if there is no such variable.
    pub fn set(&mut self, name: &str, value: Value<R>) -> Result<(), Error> {
        let position = self.position(name).ok_or_else(|| defect(format!("there is no variable {name}")))?;
        self.rt.assign(&mut self.mutables[position], Some(value));
        Ok(())
    }

    fn position(&self, name: &str) -> Option<usize> {
        self.function.mutables.iter().position(|variable| variable.name == name)
    }
}
