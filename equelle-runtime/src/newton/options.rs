//! The keys that steer Newton's method.

use crate::error::{Error, ErrorKind};
use crate::params::Parameters;

/// What happens when the residual norm is still above the tolerance after the last iteration.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnFailure {
    /// The run ends with an error and a report.
    #[default]
    Error,
    /// The report is a warning, and the program goes on with the last iterate.
    Warn,
    /// The program goes on with the last iterate; only `verbose` tells.
    Continue,
}

/// How Newton's method is run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Options {
    /// Most iterations; 0 only evaluates the residual.
    pub max_iter: usize,
    /// Converged when the norm of the residual is not above it; in the residual's own unit.
    pub abs_res_tol: f64,
    /// 0: silent; 1: one line a solve; 2: one line an iteration and the time; 3: also the iterates and residuals, and what the linear solver did.
    pub verbose: usize,
    /// What no convergence means. A residual that is not finite is always an error.
    pub on_failure: OnFailure,
}

impl Default for Options {
    fn default() -> Self {
        Options { max_iter: 10, abs_res_tol: 1e-6, verbose: 0, on_failure: OnFailure::Error }
    }
}

impl Options {
    /// From `max_iter` (10), `abs_res_tol` (1e-6), `verbose` (0) and `newton_failure` (`error`, `warn` or `continue`).
    ///
    /// # Errors
    /// `Data` for a value that is no number of its kind, a negative tolerance, or another word.
    pub fn from_parameters(parameters: &Parameters) -> Result<Options, Error> {
        let default = Options::default();
        let options = Options {
            max_iter: parameters.integer("max_iter")?.unwrap_or(default.max_iter),
            abs_res_tol: parameters.number("abs_res_tol")?.unwrap_or(default.abs_res_tol),
            verbose: parameters.integer("verbose")?.unwrap_or(default.verbose),
            on_failure: match parameters.text("newton_failure") {
                None | Some("error") => OnFailure::Error,
                Some("warn") => OnFailure::Warn,
                Some("continue") => OnFailure::Continue,
                Some(other) => {
                    let message = format!("parameter `newton_failure` must be `error`, `warn` or `continue`, not `{other}`");
                    return Err(Error::new(ErrorKind::Data, message));
                }
            },
        };
        if options.abs_res_tol < 0.0 {
            let message = format!("parameter `abs_res_tol` must not be negative, it is {}", options.abs_res_tol);
            return Err(Error::new(ErrorKind::Data, message));
        }
        Ok(options)
    }
}
