//! The interface of a nonlinear problem to Newton's method.

use super::linearity::Linearity;
use super::options::Bounds;
use super::range::Range;
use super::report::{Entry, History, SolveOutcome};
use crate::error::{Error, ErrorKind};
use crate::input::ConstantTable;
use crate::linalg::krylov::iteration::Pursuit;
use crate::linalg::{Method, Solution};

/// Report of one linear solve.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Correction {
    /// Iterations of the linear solver; `None` for a direct one.
    pub linear_iterations: Option<usize>,
    /// Its relative residual.
    pub relative_residual: f64,
    /// A note for the user on the linear system, such as that it is singular up to a constant.
    pub note: Option<String>,
    /// Size of the correction; `None` if the back-end does not compute it.
    pub update: Option<Update>,
    /// Seconds spent in set-up: of a preconditioner, or a factorisation.
    pub set_up: f64,
}

impl Correction {
    /// The report of a system that was solved.
    pub fn new<V>(solution: &Solution<V>, update: Option<Update>, set_up: f64) -> Correction {
        Correction {
            linear_iterations: (solution.method != Method::Lu).then_some(solution.iterations),
            relative_residual: solution.relative_residual,
            note: solution.note.clone(),
            update,
            set_up,
        }
    }
}

/// Size of a correction.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Update {
    /// Euclidean norm of the correction of all unknowns.
    pub norm: f64,
    /// Euclidean norm of all unknowns after it.
    pub unknowns: f64,
    /// Number of values that stopped at a bound.
    pub at_bounds: usize,
    /// True if a line search took only a part of it.
    pub shortened: bool,
}

/// Size of the last correction of an unknown; magnitudes, in its unit.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Size {
    /// The largest correction, before bounds and line search.
    pub correction: f64,
    /// The largest value of the unknown after it.
    pub unknown: f64,
}

/// A residual that was evaluated without side effects.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Trial {
    /// Euclidean norm over all equations.
    pub norm: f64,
    /// True if the residual has side effects that were suppressed: outputs, assignments.
    pub held_back: bool,
}

/// A nonlinear problem with its current iterate. Starts at the guess.
pub trait Problem {
    /// Evaluates the residual at the iterate, with derivatives, and returns its Euclidean norm over
    /// all equations. Side effects of the residual happen here, so it is called once per iterate.
    ///
    /// # Errors
    /// Those of the program's residual; `Simulation` if the residual does not depend on any
    /// unknown.
    fn evaluate(&mut self) -> Result<f64, Error>;

    /// [`Problem::evaluate`] without side effects, since the iterate may be rejected.
    ///
    /// # Errors
    /// As for [`Problem::evaluate`].
    fn evaluate_silently(&mut self) -> Result<Trial, Error>;

    /// Replaces the iterate by the previous one plus this part of the last correction. Called only
    /// with `newton_line_search`.
    ///
    /// # Errors
    /// Those of the back-end.
    fn shorten(&mut self, length: f64) -> Result<(), Error>;

    /// Solves `J du = r` at the last evaluation and subtracts `du` from the iterate.
    ///
    /// # Errors
    /// `Simulation` with the reason why the linear system could not be solved.
    fn correct(&mut self) -> Result<Correction, Error>;

    /// The at most `count` largest entries of the last residual in magnitude, those that are not
    /// finite first, then by equation and entity.
    ///
    /// # Errors
    /// Those of copies to the host.
    fn worst(&mut self, count: usize) -> Result<Vec<Entry>, Error>;

    /// Least and greatest values of the unknowns at the iterate, or at the last evaluation. Called
    /// at the end of a solve.
    ///
    /// # Errors
    /// Those of copies to the host.
    fn ranges(&mut self) -> Result<Vec<Range>, Error> {
        Ok(Vec::new())
    }

    /// Euclidean norm of each equation at the last evaluation: `[equations]`.
    ///
    /// # Errors
    /// Those of copies to the host.
    fn equation_norms(&mut self) -> Result<Vec<f64>, Error>;

    /// The norms by which a solve is judged, as those of its last linear system
    /// ([`crate::linalg::Rows`]): [`Problem::equation_norms`], these and the ones with scaled rows,
    /// or those alone. They may be compared until the next linear solve. `[equations]` or
    /// `[2 * equations]`
    ///
    /// # Errors
    /// Those of copies to the host.
    fn judged_norms(&mut self) -> Result<Vec<f64>, Error> {
        self.equation_norms()
    }

    /// Norm over all equations, with scaled rows if [`Problem::judged_norms`] has these; else
    /// `norm`, the Euclidean one.
    ///
    /// # Errors
    /// As for [`Problem::judged_norms`].
    fn judged_norm(&mut self, norm: f64) -> Result<f64, Error> {
        Ok(norm)
    }

    /// Size of the last correction of each unknown, before bounds and line search: `[unknowns]`, or
    /// empty if unknown. Called after the evaluation that follows a correction.
    ///
    /// # Errors
    /// Those of copies to the host.
    fn correction_sizes(&mut self) -> Result<Vec<Size>, Error> {
        Ok(Vec::new())
    }

    /// The norms [`Problem::judged_norms`] of `sum_j |J_ij| |u_j|`, the size of the terms of the
    /// residual, at the last evaluation or after a failed linear solve. Empty if unknown. A pass
    /// over the matrix or two, called only where the residual stagnates.
    ///
    /// # Errors
    /// Those of copies to the host.
    fn terms(&mut self) -> Result<Vec<f64>, Error> {
        Ok(Vec::new())
    }

    /// Sets the part of its right-hand side that the next linear solve may leave.
    fn neglect(&mut self, part: f64) {
        let _ = part;
    }

    /// Sets how far the next linear solve may go beyond its tolerance, for the residual that ends
    /// Newton's method.
    fn pursue(&mut self, pursuit: Pursuit) {
        let _ = pursuit;
    }

    /// Linearity of the corrections of this solve and of the one before it; `None` if nobody keeps
    /// it.
    fn linearity(&mut self) -> Option<&mut Linearity> {
        None
    }

    /// Number of values at a bound, and of all values of unknowns with bounds; `None` if unknown.
    /// Called after a failure, and only with bounds.
    ///
    /// # Errors
    /// Those of copies to the host.
    fn at_bounds(&mut self) -> Result<Option<[usize; 2]>, Error> {
        Ok(None)
    }

    /// Sets the bounds of the next corrections: `(unknown, bounds)`. Called once, and only with
    /// bounds.
    ///
    /// # Errors
    /// `Data` if the back-end does not support bounds.
    fn bound(&mut self, bounds: &[(usize, Bounds)]) -> Result<(), Error> {
        let _ = bounds;
        Err(Error::new(ErrorKind::Data, "this back-end takes no bounds of unknowns (`unknown_min_1` and so on)"))
    }

    /// Sets the relative residual that is enough for the next linear solve. A back-end may solve
    /// more accurately.
    fn loosen(&mut self, tolerance: f64) {
        let _ = tolerance;
    }

    /// Number of equations, which is the number of unknowns.
    fn equations(&self) -> usize;

    /// Prints a line among the results, for `verbose`.
    ///
    /// # Errors
    /// `Io`.
    fn print(&mut self, line: &str) -> Result<(), Error>;

    /// Warns the user.
    fn warn(&mut self, text: &str);

    /// An equation whose residual has a sum that is not zero whatever the unknowns are, with this
    /// sum; asked after a linear solve that failed.
    fn fixed_sum(&mut self) -> Option<(usize, f64)> {
        None
    }

    /// Tables of the program that are constant outside of their rows.
    fn constant_tables(&mut self) -> Vec<ConstantTable> {
        Vec::new()
    }

    /// Writes iterate and residual of the last evaluation, for `verbose=3`.
    ///
    /// # Errors
    /// `Io`.
    fn dump(&mut self, initial: bool) -> Result<(), Error>;

    /// Returns an error if the run is interrupted. Called before each correction, and after one
    /// that failed.
    ///
    /// # Errors
    /// `Interrupted`.
    fn check_interrupt(&mut self) -> Result<(), Error> {
        Ok(())
    }

    /// Records the end of the solve. Called once.
    fn ended(&mut self, history: &History, ending: SolveOutcome) {
        let _ = (history, ending);
    }
}
