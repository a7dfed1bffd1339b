//! In place of `newton` in programs that solve no equations: they do not compile the solvers.

use equelle_runtime::{Error, ErrorKind, Real, Residual};

use super::SerialRuntime;
use super::collections::ScalarCollection;

/// Packages of programs with `NewtonSolve` ask for the solvers; a crate around one may not.
///
/// # Errors
/// `Backend`, always.
pub(super) fn newton_solve<R: Real>(
    _: &mut SerialRuntime<R>,
    _guesses: &[ScalarCollection<R>],
    _residual: &mut Residual<'_, SerialRuntime<R>>,
) -> Result<Vec<ScalarCollection<R>>, Error> {
    Err(Error::new(ErrorKind::Backend, "a program that solves equations is built without the linear solvers")
        .hint("give `backend-serial` the feature `solvers` and `equelle-runtime` the feature `lu`"))
}

/// There are none.
pub(super) fn forget_solvers<R: Real>(_: &mut SerialRuntime<R>) {}
