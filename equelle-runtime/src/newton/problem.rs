//! A nonlinear problem, as a back-end poses it.

use super::options::Bounds;
use super::range::Range;
use super::report::{Entry, History, SolveOutcome};
use crate::error::{Error, ErrorKind};

/// What one linear solve did.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Correction {
    /// Iterations of the linear solver; `None` for a direct one.
    pub linear_iterations: Option<usize>,
    /// Relative residual that it reached.
    pub relative_residual: f64,
    /// What the user may want to know of the linear system, such as that the level of the unknown is open.
    pub note: Option<String>,
    /// How large the correction was; `None` where the back-end does not tell.
    pub update: Option<Update>,
    /// Seconds of the solve that set something up: a preconditioner, or a factorisation.
    pub set_up: f64,
}

/// How large a correction is.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Update {
    /// Euclidean norm of the correction of all unknowns.
    pub norm: f64,
    /// Euclidean norm of all unknowns after it.
    pub unknowns: f64,
    /// How many values stopped at a bound.
    pub at_bounds: usize,
    /// Whether a line search took only a part of it.
    pub shortened: bool,
}

/// How large the last correction of an unknown was; magnitudes, in its unit.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Size {
    /// The largest correction, as the linear solver gave it.
    pub correction: f64,
    /// The largest value of the unknown after it.
    pub unknown: f64,
}

/// A residual that was evaluated without its effects.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Trial {
    /// Euclidean norm over all equations.
    pub norm: f64,
    /// Whether the residual has effects that did not happen: outputs, assignments.
    pub held_back: bool,
}

/// A nonlinear problem with its current iterate. Starts at the guess.
pub trait Problem {
    /// Evaluates the residual at the iterate, with derivatives; its Euclidean norm over all equations. The effects of the residual happen here, so it is
    /// called once per iterate.
    ///
    /// # Errors
    /// Those of the program's residual; `Simulation` if the residual does not depend on any unknown.
    fn evaluate(&mut self) -> Result<f64, Error>;

    /// As [`Problem::evaluate`], without effects: whether the iterate is kept is not known.
    ///
    /// # Errors
    /// As there.
    fn evaluate_silently(&mut self) -> Result<Trial, Error>;

    /// Goes to where the iterate would be if only this part of the last correction had been taken. Called only with `newton_line_search`.
    ///
    /// # Errors
    /// Those of the back-end.
    fn shorten(&mut self, length: f64) -> Result<(), Error>;

    /// Solves J du = r at the last evaluation and takes du from the iterate.
    ///
    /// # Errors
    /// `Simulation` with the reason why the linear system could not be solved.
    fn correct(&mut self) -> Result<Correction, Error>;

    /// The entries of the last residual that are largest in magnitude, those that are not finite first, then by equation and entity; at most `count`.
    ///
    /// # Errors
    /// Those of bringing values to the host.
    fn worst(&mut self, count: usize) -> Result<Vec<Entry>, Error>;

    /// Least and greatest values of the unknowns at the iterate, or where the residual was evaluated last. Asked for at the end of a solve.
    ///
    /// # Errors
    /// Those of bringing values to the host.
    fn ranges(&mut self) -> Result<Vec<Range>, Error> {
        Ok(Vec::new())
    }

    /// Euclidean norm of each equation at the last evaluation: `[equations]`.
    ///
    /// # Errors
    /// Those of bringing values to the host.
    fn equation_norms(&mut self) -> Result<Vec<f64>, Error>;

    /// How large the last correction of each unknown was, before bounds and the line search took something of it: `[unknowns]`, or empty where that is not
    /// known. Asked for after the evaluation that follows a correction.
    ///
    /// # Errors
    /// Those of bringing values to the host.
    fn correction_sizes(&mut self) -> Result<Vec<Size>, Error> {
        Ok(Vec::new())
    }

    /// Euclidean norm of `sum_j |J_ij| |u_j|` for each equation, at the last evaluation or after a linear solve that failed: about how large the terms of the
    /// residual are. `[equations]`, or empty where that is not known. A pass over the matrix, asked for only where the residual does not fall.
    ///
    /// # Errors
    /// Those of bringing values to the host.
    fn terms(&mut self) -> Result<Vec<f64>, Error> {
        Ok(Vec::new())
    }

    /// What the next linear solves may leave of the residual without harm: a Euclidean norm, in its unit. Called only where no tolerance says so.
    fn neglect(&mut self, residual: f64) {
        let _ = residual;
    }

    /// How many values of the unknowns that have bounds are at one, and how many there are; `None` where that is not known. Asked for after a failure, and only
    /// with bounds.
    ///
    /// # Errors
    /// Those of bringing values to the host.
    fn at_bounds(&mut self) -> Result<Option<[usize; 2]>, Error> {
        Ok(None)
    }

    /// Bounds that the next corrections keep to: `(unknown, bounds)`. Called once, and only with bounds.
    ///
    /// # Errors
    /// `Data` where the back-end cannot.
    fn bound(&mut self, bounds: &[(usize, Bounds)]) -> Result<(), Error> {
        let _ = bounds;
        Err(Error::new(ErrorKind::Data, "this back-end takes no bounds of unknowns (`unknown_min_1` and so on)"))
    }

    /// The relative residual that is enough for the next linear solve. A back-end may solve more exactly.
    fn loosen(&mut self, tolerance: f64) {
        let _ = tolerance;
    }

    /// Number of equations, each with an unknown of its own.
    fn equations(&self) -> usize;

    /// A line among the results, for `verbose`.
    ///
    /// # Errors
    /// `Io`.
    fn print(&mut self, line: &str) -> Result<(), Error>;

    /// A warning to the user.
    fn warn(&mut self, text: &str);

    /// Puts out iterate and residual of the last evaluation, for `verbose=3`.
    ///
    /// # Errors
    /// `Io`.
    fn dump(&mut self, initial: bool) -> Result<(), Error>;

    /// Ends a run that has been asked to end. Called before each correction, and after one that failed.
    ///
    /// # Errors
    /// `Interrupted`.
    fn check_interrupt(&mut self) -> Result<(), Error> {
        Ok(())
    }

    /// Takes note of how the solve went. Called once, at its end.
    fn ended(&mut self, history: &History, ending: SolveOutcome) {
        let _ = (history, ending);
    }
}
