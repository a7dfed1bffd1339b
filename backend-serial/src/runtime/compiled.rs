//! What knows nothing of the program, compiled here once for each precision. A generic function is compiled where its types are known, which is with every program, and Newton's method would
//! be most of what cargo has to do for one.

use equelle_runtime::{Error, Real, Residual};

use super::SerialRuntime;
use super::collections::ScalarCollection;

/// A number that this back-end is compiled for.
pub trait CompiledReal: Real {
    /// As [`equelle_runtime::Implicit::newton`].
    ///
    /// # Errors
    /// As there.
    fn newton(
        rt: &mut SerialRuntime<Self>,
        guesses: &[ScalarCollection<Self>],
        residual: &mut Residual<'_, SerialRuntime<Self>>,
    ) -> Result<Vec<ScalarCollection<Self>>, Error>;
}

macro_rules! compiled {
    ($($real:ty),*) => {$(
        impl CompiledReal for $real {
            fn newton(
                rt: &mut SerialRuntime<Self>,
                guesses: &[ScalarCollection<Self>],
                residual: &mut Residual<'_, SerialRuntime<Self>>,
            ) -> Result<Vec<ScalarCollection<Self>>, Error> {
                rt.newton_solve(guesses, residual)
            }
        }
    )*};
}

compiled!(f32, f64);
