//! Errors of linear solvers.

use std::fmt;

use super::options::{Method, Preconditioning};
use crate::error::{Error, ErrorKind, Remedy};

/// The reasons why a linear system was not solved.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LinearErrorKind {
    /// Division by zero, or a matrix outside the method's class.
    Breakdown,
    /// The residual no longer decreases.
    Stagnation,
    /// The limit on iterations was reached while the residual still decreased.
    MaxIterations,
    /// The matrix is singular to working precision beyond its constant null space.
    Singular,
    /// The matrix, the right-hand side or an iterate is not finite.
    NonFinite,
    /// The preconditioner does not suit this system.
    Unsuitable,
    /// The run was interrupted before the system was solved.
    Interrupted,
    /// The derivative with respect to an unknown without couplings is zero, and its right-hand side
    /// is not.
    ZeroDerivative {
        /// Number of such unknowns.
        count: usize,
        /// Largest such right-hand side in magnitude, in its unit.
        residual: f64,
    },
    /// The matrix has a constant null space and the right-hand side is not in its range.
    Incompatible {
        /// Sum of the right-hand side over the connected component with the largest imbalance,
        /// weighted by the left null vector with largest entry 1 (all ones where the columns sum to
        /// zero). Unit of the right-hand side.
        imbalance: f64,
    },
}

/// A linear system that was not solved, with the method that failed last.
#[derive(Clone, Debug, PartialEq)]
pub struct LinearError {
    /// Reason why it was not solved.
    pub kind: LinearErrorKind,
    /// The method that failed.
    pub method: Method,
    /// Its preconditioner.
    pub preconditioner: Preconditioning,
    /// Number of iterations.
    pub iterations: usize,
    /// `|b - A x| / |b|` of the best `x`, computed from `x` itself; 1 for `x = 0`, NaN if not
    /// finite.
    pub relative_residual: f64,
    /// Details in words: row, value, tolerance.
    pub detail: String,
    /// Earlier attempts, a sentence each.
    pub before: Vec<String>,
}

/// Largest relative residual for which a looser tolerance is suggested: `solver_tol` is 1e-8 by
/// default, and with more than this corrections have hardly a correct digit.
const NEAR: f64 = 1e-4;

const SINGULAR: &str = "check that each unknown appears in an equation and that a boundary condition or a time derivative determines it";

impl LinearError {
    /// One concrete suggestion.
    pub fn hint(&self) -> &'static str {
        // NaN is not near.
        let is_near = self.relative_residual <= NEAR;
        match self.kind {
            LinearErrorKind::Breakdown => match self.method {
                Method::Cg => "use solver=bicgstab or solver=lu, which do not need a symmetric positive definite matrix",
                Method::BiCgStab => "use solver=gmres or solver=lu",
                Method::Lu | Method::Gmres => "use another solver: lu, cg, bicgstab or gmres",
            },
            LinearErrorKind::Stagnation => match (self.method, is_near) {
                (Method::Gmres, true) => "raise solver_restart or solver_tol, or use solver=lu",
                (Method::Gmres, false) => "raise solver_restart, or use another preconditioner or solver=lu",
                (Method::Lu, true) => "raise solver_tol: this is the accuracy that double precision gives for this matrix",
                (Method::Lu, false) => SINGULAR,
                (Method::Cg | Method::BiCgStab, true) => "raise solver_tol, or use another preconditioner or solver=lu",
                (Method::Cg | Method::BiCgStab, false) => "use another preconditioner or solver=lu",
            },
            LinearErrorKind::Unsuitable if self.method == Method::Lu => "use solver=cg, solver=bicgstab or solver=gmres, or one process",
            LinearErrorKind::Unsuitable => "leave out `preconditioner`, or use jacobi, ilu0, fsai or amg",
            LinearErrorKind::Interrupted => "start the run again",
            LinearErrorKind::MaxIterations if is_near => "raise solver_max_iter or solver_tol, or use solver=lu",
            LinearErrorKind::MaxIterations => "raise solver_max_iter, or use another preconditioner or solver=lu",
            LinearErrorKind::Singular => SINGULAR,
            LinearErrorKind::ZeroDerivative { .. } => {
                "begin with a guess at which the residual changes with the unknown, or check that it depends on it in each element"
            }
            LinearErrorKind::NonFinite => "check the inputs for zero volumes, divisions by zero and roots of negative numbers",
            LinearErrorKind::Incompatible { .. } => {
                "the unknown is determined only up to a constant, so its sources and sinks must sum to zero: correct them or add a boundary condition"
            }
        }
    }
}

impl LinearError {
    /// The remedy by the kind of failure and the method.
    fn remedy(&self) -> Remedy {
        match self.kind {
            LinearErrorKind::Singular | LinearErrorKind::NonFinite | LinearErrorKind::ZeroDerivative { .. } => Remedy::System,
            LinearErrorKind::Incompatible { .. } => Remedy::Sources,
            LinearErrorKind::Breakdown
            | LinearErrorKind::Stagnation
            | LinearErrorKind::MaxIterations
            | LinearErrorKind::Unsuitable
            | LinearErrorKind::Interrupted => match self.method {
                Method::Lu => Remedy::System,
                Method::Cg | Method::BiCgStab | Method::Gmres => Remedy::Solver,
            },
        }
    }
}

impl fmt::Display for LinearError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; {}", self.message(), self.hint())
    }
}

impl LinearError {
    /// The failure and those before it, without a suggestion.
    fn message(&self) -> String {
        let before: String = self.before.iter().map(|before| format!("; before that {before}")).collect();
        self.summary() + &before
    }

    /// The failure in a few words, for the report of a later one.
    pub(in crate::linalg) fn summary(&self) -> String {
        format!("{} (relative residual {:.1e})", self.sentence(), self.relative_residual)
    }

    fn sentence(&self) -> String {
        let LinearError { kind, method, preconditioner, iterations, detail, .. } = self;
        let with = match preconditioner {
            Preconditioning::None => String::new(),
            other => format!(" with {}", other.title()),
        };
        let method = method.title();
        let plural = if *iterations == 1 { "" } else { "s" };
        match kind {
            LinearErrorKind::Breakdown => format!("{method}{with} broke down after {iterations} iteration{plural}: {detail}"),
            LinearErrorKind::Stagnation => format!("{method}{with} stagnated after {iterations} iteration{plural}: {detail}"),
            LinearErrorKind::MaxIterations => format!("{method}{with} did not converge in {iterations} iteration{plural}: {detail}"),
            LinearErrorKind::Singular => format!("the matrix is singular: {detail}"),
            LinearErrorKind::NonFinite => format!("the linear system is not finite: {detail}"),
            LinearErrorKind::Interrupted => format!("{method}{with} was interrupted after {iterations} iteration{plural}: {detail}"),
            LinearErrorKind::Unsuitable if self.method == Method::Lu => format!("{method} cannot be used: {detail}"),
            LinearErrorKind::Unsuitable => format!("{} cannot be used: {detail}", preconditioner.title()),
            LinearErrorKind::ZeroDerivative { count, residual } => {
                let what = if *count == 1 {
                    "the derivative by 1 unknown is".to_owned()
                } else {
                    format!("the derivatives by {count} unknowns are")
                };
                format!("{what} zero, so no correction changes the residual of up to {residual:e} there ({detail})")
            }
            LinearErrorKind::Incompatible { imbalance } => {
                format!("the linear system has no solution: the sources do not sum to zero, the imbalance is {imbalance:e} ({detail})")
            }
        }
    }
}

impl std::error::Error for LinearError {}

impl From<LinearError> for Error {
    /// The simulation failed (exit code 3).
    fn from(error: LinearError) -> Error {
        Error { remedy: Some(error.remedy()), ..Error::new(ErrorKind::Simulation, error.message()).hint(error.hint()) }
    }
}

/// A failure before it is put into words.
pub(in crate::linalg) struct MethodError {
    pub kind: LinearErrorKind,
    pub iterations: usize,
    /// Relative to the right-hand side; `None` for 1.
    pub residual: Option<f64>,
    pub detail: String,
}

impl MethodError {
    pub fn new(kind: LinearErrorKind, detail: impl Into<String>) -> MethodError {
        MethodError { kind, iterations: 0, residual: None, detail: detail.into() }
    }
}
