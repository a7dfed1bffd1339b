//! Why a linear system was not solved.

use std::fmt;

use super::options::{Method, Preconditioning};
use crate::error::{Error, ErrorKind};

/// The ways to fail.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LinearErrorKind {
    /// The method divided by zero or met a matrix that is not of its class.
    Breakdown,
    /// The residual does not come down any more.
    Stagnation,
    /// The limit on iterations was reached while the residual still came down.
    MaxIterations,
    /// The matrix is singular to working precision, beyond a constant null space.
    Singular,
    /// The matrix, the right-hand side or an iterate is not finite.
    NonFinite,
    /// The preconditioner is not for systems like this one.
    Unsuitable,
    /// The run was asked to end before the system was solved.
    Interrupted,
    /// The matrix has a constant null space and the right-hand side is not in its range.
    Incompatible {
        /// Sum of the right-hand side over the connected component that is farthest out, weighted by the left null vector whose largest
        /// entry is 1 (all entries are 1 where the columns sum to zero). Unit of the right-hand side.
        imbalance: f64,
    },
}

/// A linear system that was not solved.
#[derive(Clone, Debug, PartialEq)]
pub struct LinearError {
    /// How it failed.
    pub kind: LinearErrorKind,
    /// Which method did.
    pub method: Method,
    /// With which preconditioner.
    pub preconditioner: Preconditioning,
    /// Iterations made.
    pub iterations: usize,
    /// `|b - A x| / |b|` of the best `x` known, computed from `x` itself; 1 for `x = 0`, NaN if not finite.
    pub relative_residual: f64,
    /// What was met, in words: row, value, tolerance.
    pub detail: String,
    /// What was tried before it, a sentence each.
    pub before: Vec<String>,
}

impl LinearError {
    /// One concrete thing to do.
    pub fn hint(&self) -> &'static str {
        match self.kind {
            LinearErrorKind::Breakdown => match self.method {
                Method::Cg => "use solver=bicgstab or solver=lu, which do not need a symmetric positive definite matrix",
                Method::BiCgStab => "use solver=gmres or solver=lu",
                Method::Lu | Method::Gmres => "use another solver: lu, cg, bicgstab or gmres",
            },
            LinearErrorKind::Stagnation => match self.method {
                Method::Gmres => "raise solver_restart or solver_tol, or use solver=lu",
                Method::Lu => "raise solver_tol: this is the accuracy that double precision gives for this matrix",
                Method::Cg | Method::BiCgStab => "raise solver_tol, or use another preconditioner or solver=lu",
            },
            LinearErrorKind::Unsuitable => "leave out `preconditioner`, or use jacobi, ilu0, fsai or amg",
            LinearErrorKind::Interrupted => "start the run again",
            LinearErrorKind::MaxIterations => "raise solver_max_iter or solver_tol, or use solver=lu",
            LinearErrorKind::Singular => {
                "check that each unknown appears in an equation and that a boundary condition or a time derivative fixes its level"
            }
            LinearErrorKind::NonFinite => "check the inputs for zero volumes, divisions by zero and roots of negative numbers",
            LinearErrorKind::Incompatible { .. } => {
                "nothing fixes the level of the unknown, so its sources and sinks must sum to zero: correct them or add a boundary condition"
            }
        }
    }
}

impl fmt::Display for LinearError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", Sentence { error: self })?;
        write!(f, " (relative residual {:.1e})", self.relative_residual)?;
        self.before.iter().try_for_each(|before| write!(f, "; before that {before}"))?;
        write!(f, "; {}", self.hint())
    }
}

/// What happened.
struct Sentence<'a> {
    error: &'a LinearError,
}

impl fmt::Display for Sentence<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let LinearError { kind, method, preconditioner, iterations, detail, .. } = self.error;
        let with = match preconditioner {
            Preconditioning::None => String::new(),
            other => format!(" with {}", other.title()),
        };
        let method = method.title();
        let plural = if *iterations == 1 { "" } else { "s" };
        match kind {
            LinearErrorKind::Breakdown => write!(f, "{method}{with} broke down after {iterations} iteration{plural}: {detail}"),
            LinearErrorKind::Stagnation => write!(f, "{method}{with} stagnated after {iterations} iteration{plural}: {detail}"),
            LinearErrorKind::MaxIterations => write!(f, "{method}{with} did not converge in {iterations} iteration{plural}: {detail}"),
            LinearErrorKind::Singular => write!(f, "the matrix is singular: {detail}"),
            LinearErrorKind::NonFinite => write!(f, "the linear system is not finite: {detail}"),
            LinearErrorKind::Interrupted => write!(f, "{method}{with} was interrupted after {iterations} iteration{plural}: {detail}"),
            LinearErrorKind::Unsuitable => write!(f, "{} cannot be used: {detail}", preconditioner.title()),
            LinearErrorKind::Incompatible { imbalance } => {
                write!(f, "the linear system has no solution: the sources do not sum to zero, the imbalance is {imbalance:e} ({detail})",)
            }
        }
    }
}

impl LinearError {
    /// What happened, in a few words, for the report of a later failure.
    pub(super) fn summary(&self) -> String {
        format!("{} (relative residual {:.1e})", Sentence { error: self }, self.relative_residual)
    }
}

impl std::error::Error for LinearError {}

impl From<LinearError> for Error {
    /// The simulation failed (exit code 3).
    fn from(error: LinearError) -> Error {
        let text = error.to_string();
        let hint = error.hint();
        let message = text.strip_suffix(hint).and_then(|text| text.strip_suffix("; ")).unwrap_or(&text);
        Error::new(ErrorKind::Simulation, message).hint(hint)
    }
}
