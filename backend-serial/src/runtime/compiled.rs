//! Newton's method, compiled here once for each precision. A generic function is compiled where its
//! types are known, with every program, and Newton's method would dominate that time.

use equelle_runtime::{Error, Real, Residual};

use super::SerialRuntime;
use super::collections::ScalarCollection;
#[cfg(not(feature = "solvers"))]
use super::without_newton::{forget_solvers, newton_solve};
#[cfg(feature = "solvers")]
use super::{newton::newton_solve, newton_on_ranks::forget_solvers};

/// A number type for which this crate is compiled.
pub trait CompiledReal: Real {
    /// See [`equelle_runtime::Implicit::newton`].
    ///
    /// # Errors
    /// As for [`equelle_runtime::Implicit::newton`].
    fn newton(
        rt: &mut SerialRuntime<Self>,
        guesses: &[ScalarCollection<Self>],
        residual: &mut Residual<'_, SerialRuntime<Self>>,
    ) -> Result<Vec<ScalarCollection<Self>>, Error>;

    /// Drops what solvers keep between solves on ranks.
    fn forget_solvers(rt: &mut SerialRuntime<Self>);
}

macro_rules! compiled {
    ($($real:ty),*) => {$(
        impl CompiledReal for $real {
            fn newton(
                rt: &mut SerialRuntime<Self>,
                guesses: &[ScalarCollection<Self>],
                residual: &mut Residual<'_, SerialRuntime<Self>>,
            ) -> Result<Vec<ScalarCollection<Self>>, Error> {
                newton_solve(rt, guesses, residual)
            }

            fn forget_solvers(rt: &mut SerialRuntime<Self>) {
                forget_solvers(rt);
            }
        }
    )*};
}

compiled!(f32, f64);
