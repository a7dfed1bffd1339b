//! In place of `newton` in programs that solve no equations: they do not compile the solvers.

use equelle_runtime::{Error, Real, Residual};

use super::SerialRuntime;
use super::collections::ScalarCollection;

impl<R: Real> SerialRuntime<R> {
    /// Cannot be called: a program with `NewtonSolve` is compiled with the solvers.
    pub(super) fn newton_solve(
        &mut self,
        _guesses: &[ScalarCollection<R>],
        _residual: &mut Residual<'_, Self>,
    ) -> Result<Vec<ScalarCollection<R>>, Error> {
        Err(Error::internal("a program that solves equations is built without the feature `solvers`"))
    }
}
