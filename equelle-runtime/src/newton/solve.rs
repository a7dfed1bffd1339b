//! The iteration.

use std::time::Instant;

use super::advice;
use super::criteria::{Criteria, Met, Size};
use super::options::{Bounds, OnFailure, Options};
use super::range::Range;
use super::report::{Ending, Entry, History, Iteration, Times, worst_table};
use super::search::{LineSearch, Step};
use crate::error::{Error, ErrorKind};
use crate::report::seconds;

/// Entries that a report names.
const WORST: usize = 5;

/// Part of the residual that a linear solve may leave where it reaches neither its tolerance nor what
/// rounding leaves of the terms: an inexact Newton step, whose remainder the next corrections reduce.
const ROUGH: f64 = 1e-3;

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
    fn ended(&mut self, history: &History, ending: Ending) {
        let _ = (history, ending);
    }
}

/// Runs Newton's method: while no criterion holds (see `criteria.rs`) and iterations are left, one linear solve and one
/// evaluation. So the residual is evaluated 1 + iterations times. A guess that is good enough by a tolerance of the residual is the result; without one there is a correction,
/// unless the residual is zero or what rounding leaves of it has no solution. With `newton_line_search` trials come on top, without effects.
///
/// # Errors
/// `Simulation`, with history and worst entries: the residual is not finite; the linear solver failed; no convergence, if that is an error. Errors of
/// the residual itself.
pub fn solve(problem: &mut dyn Problem, options: &Options) -> Result<History, Error> {
    let started = Instant::now();
    let mut history = History::default();
    let mut end = iterate(problem, options, &mut history);
    if end.as_ref().err().is_none_or(|error| error.kind == ErrorKind::Simulation) {
        match problem.ranges() {
            Ok(ranges) => history.ranges = ranges,
            // A failure before comes first.
            Err(error) => end = end.and(Err(error)),
        }
    }
    let ending = match &end {
        Ok(true) => Ending::Converged,
        Ok(false) => Ending::NotConverged,
        Err(_) => Ending::Failed,
    };
    history.is_kept = match ending {
        Ending::Converged => true,
        Ending::NotConverged => options.on_failure != OnFailure::Error,
        Ending::Failed => false,
    };
    problem.ended(&history, ending);
    let converged = end?;
    if options.verbose > 0 {
        let outcome = if converged { "converged" } else { "failed to converge" };
        problem.print(&format!("Newton solver {outcome} in {} iterations", history.count()))?;
    }
    if options.verbose > 1 {
        problem.print(&format!("Newton solver took {}", seconds(started.elapsed().as_secs_f64())))?;
    }
    if converged {
        return Ok(history);
    }
    match options.on_failure {
        OnFailure::Continue => Ok(history),
        OnFailure::Warn => {
            let report = no_convergence(problem, &history, options)?;
            problem.warn(&report);
            Ok(history)
        }
        OnFailure::Error => {
            let hint = advice::of_no_convergence(&history, options);
            Err(Error::new(ErrorKind::Simulation, no_convergence(problem, &history, options)?).hint(hint))
        }
    }
}

/// Whether a criterion holds in the end.
fn iterate(problem: &mut dyn Problem, options: &Options, history: &mut History) -> Result<bool, Error> {
    options.check(problem.equations())?;
    if !options.bounds.is_empty() {
        problem.bound(&options.bounds)?;
    }
    let mut forcing = Forcing::new(options);
    let mut search = LineSearch::new(options.line_search);
    let mut criteria = Criteria::new(options);
    let mut neglected = 0.0;
    let mut last_update = None;
    let (norm, seconds) = timed(|| problem.evaluate());
    let times = Times { assembly: seconds, ..Times::default() };
    let first = norm?;
    history.iterations.push(Iteration { norm: first, linear_iterations: None, length: 1.0, times });
    history.first_ranges = problem.ranges()?;
    if criteria.are_default() {
        neglected = criteria.negligible(first);
        problem.neglect(neglected);
    }
    loop {
        let (norm, iteration) = (history.norm(), history.count());
        if options.verbose > 1 {
            problem.print(&iteration_line(iteration, norm, first, options))?;
        }
        if options.verbose > 2 {
            problem.dump(iteration == 0)?;
        }
        if !norm.is_finite() {
            return Err(not_finite(problem, history, options)?);
        }
        if let Some(met) = criteria.met(problem, history, last_update)? {
            return stopped(problem, met, options);
        }
        if iteration >= options.max_iter {
            return Ok(false);
        }
        problem.check_interrupt()?;
        if let Some(tolerance) = forcing.next(norm, criteria.target(first)) {
            problem.loosen(tolerance);
        }
        criteria.start(problem)?;
        let (mut correction, mut linear) = timed(|| problem.correct());
        if correction.as_ref().is_err_and(|error| error.kind == ErrorKind::Simulation) && criteria.are_default() {
            // What asks a run to end also ends a linear solve.
            problem.check_interrupt()?;
            let norms = problem.equation_norms()?;
            if criteria.within_rounding(problem, &norms)?.iter().all(|rounded| *rounded) {
                return stopped(problem, Met::Rounding, options);
            }
            let rounding = criteria.rounding(problem)?;
            let mut allowed = neglected;
            for enough in [rounding, ROUGH * norm] {
                if correction.as_ref().is_err_and(|error| error.kind == ErrorKind::Simulation) && enough > allowed {
                    problem.check_interrupt()?;
                    allowed = enough;
                    problem.neglect(allowed);
                    let again;
                    (correction, again) = timed(|| problem.correct());
                    linear += again;
                }
            }
            neglected = neglected.max(rounding);
            if allowed > neglected {
                problem.neglect(neglected);
            }
        }
        let correction = match correction {
            Ok(correction) => correction,
            Err(error) => {
                problem.check_interrupt()?;
                return Err(linear_failure(problem, error, history, options)?);
            }
        };
        if options.verbose > 2 {
            problem.print(&correction_line(&correction))?;
        }
        if let Some(note) = correction.note.as_ref().filter(|_| options.verbose > 1) {
            problem.print(&format!("Linear solver: {note}"))?;
        }
        if let Some(Update { at_bounds, .. }) = correction.update.filter(|update| options.verbose > 1 && update.at_bounds > 0) {
            problem.print(&format!("{at_bounds} values stopped at a bound"))?;
        }
        let was_on = search.is_on();
        let (step, assembly) = timed(|| search.step(problem, &criteria, norm));
        let Step { norm, length, rejected } = step?;
        if rejected > 0 && options.verbose > 1 {
            let gave_up =
                if was_on && !search.is_on() { "; no length of the step reduces the residual, so there is no further search" } else { "" };
            problem.print(&format!("Line search: {length} of the correction, after {rejected} longer ones{gave_up}"))?;
        }
        let times = Times { assembly, set_up: correction.set_up, solve: (linear - correction.set_up).max(0.0) };
        history.iterations.push(Iteration { norm, linear_iterations: correction.linear_iterations, length, times });
        // A step that was shortened is no sign of being near.
        last_update = correction.update.map(|update| Update { shortened: length != 1.0, ..update });
    }
}

/// What something gives, and the seconds it took.
fn timed<T>(run: impl FnOnce() -> T) -> (T, f64) {
    let started = Instant::now();
    let value = run();
    (value, started.elapsed().as_secs_f64())
}

/// Says what has ended a solve that has converged.
fn stopped(problem: &mut dyn Problem, met: Met, options: &Options) -> Result<bool, Error> {
    if options.verbose > 1 {
        problem.print(&format!("Newton solver stops: {met}"))?;
    }
    Ok(true)
}

/// How exactly the next correction is computed: S. C. Eisenstat and H. F. Walker, Choosing the forcing terms in an inexact Newton method,
/// SIAM J. Sci. Comput. 17 (1996), doi:10.1137/0917003, choice 2 with its safeguards.
struct Forcing {
    most: f64,
    /// Norm and term of the iteration before.
    before: Option<(f64, f64)>,
}

/// The factor and the exponent of the choice.
const FORCING: (f64, i32) = (0.9, 2);
/// A term does not fall below the power of the one before while that is above this.
const FORCING_MEMORY: f64 = 0.1;
/// Part of the tolerance that the last correction may leave.
const FORCING_SHARE: f64 = 0.5;

impl Forcing {
    fn new(options: &Options) -> Forcing {
        Forcing { most: options.forcing, before: None }
    }

    /// The relative residual for a correction at this norm on the way to the `target`; `None` if that is off.
    fn next(&mut self, norm: f64, target: f64) -> Option<f64> {
        if self.most == 0.0 {
            return None;
        }
        let mut term = match self.before {
            None => self.most,
            Some((before, term)) => {
                let memory = FORCING.0 * term.powi(FORCING.1);
                let wanted = FORCING.0 * (norm / before).powi(FORCING.1);
                if memory > FORCING_MEMORY { wanted.max(memory) } else { wanted }
            }
        };
        // No more than what the last correction needs.
        term = term.max(FORCING_SHARE * target / norm).min(self.most);
        self.before = Some((norm, term));
        Some(term)
    }
}

fn iteration_line(iteration: usize, norm: f64, first: f64, options: &Options) -> String {
    let beside = match options.abs_res_tol {
        Some(tolerance) => format!(", tolerance {tolerance:e}"),
        None if iteration == 0 => String::new(),
        None => format!(", {:.1e} of that at the guess", norm / first),
    };
    format!("Newton iteration {iteration} (at most {}): residual norm {norm:e}{beside}", options.max_iter)
}

fn correction_line(correction: &Correction) -> String {
    match correction.linear_iterations {
        Some(count) => format!("Linear solver: {count} iterations, relative residual {:e}", correction.relative_residual),
        None => format!("Linear solver: direct, relative residual {:e}", correction.relative_residual),
    }
}

fn no_convergence(problem: &mut dyn Problem, history: &History, options: &Options) -> Result<String, Error> {
    let beside = match (options.abs_res_tol, history.iterations.first()) {
        (Some(tolerance), _) => format!(", the tolerance {tolerance:e}"),
        (None, Some(first)) if history.count() > 0 => format!(", at the guess it was {:e}", first.norm),
        (None, _) => String::new(),
    };
    let bounds = advice::bounds_line(problem, options)?;
    Ok(format!(
        "Newton's method did not converge in {} iterations: the norm of the residual is {:e}{beside}\n{}{}{bounds}{}",
        history.count(),
        history.norm(),
        history.table(),
        unknowns_line(&history.ranges),
        worst(problem)?,
    ))
}

fn not_finite(problem: &mut dyn Problem, history: &History, options: &Options) -> Result<Error, Error> {
    let place = match history.count() {
        0 => "at the guess".to_owned(),
        count => format!("after iteration {count}"),
    };
    let ranges = problem.ranges()?;
    let unknowns = unknowns_line(&ranges);
    let message = format!("the residual is not finite {place}\n{}{unknowns}{}", history.table(), worst(problem)?);
    let hint = "look for a division by zero or the square root of a negative number in the residual";
    let hint = advice::of_ranges(&history.first_ranges, &ranges, options).unwrap_or_else(|| hint.to_owned());
    Ok(Error::new(ErrorKind::Simulation, message).hint(hint))
}

/// A line of its own, if there is something to say.
fn unknowns_line(ranges: &[Range]) -> String {
    if ranges.is_empty() { String::new() } else { format!("unknowns: {}\n", Range::text(ranges)) }
}

fn worst(problem: &mut dyn Problem) -> Result<String, Error> {
    let equations = problem.equations();
    let table = worst_table(&problem.worst(WORST)?, equations);
    Ok(format!("largest entries of the residual:\n{}", table.trim_end()))
}

/// A linear system that could not be solved, with the history and, after a failure of the simulation, where the unknowns are.
fn linear_failure(problem: &mut dyn Problem, mut error: Error, history: &History, options: &Options) -> Result<Error, Error> {
    let mut told = history.table();
    if error.kind == ErrorKind::Simulation {
        told.push_str(&unknowns_line(&problem.ranges()?));
        told.push_str(&advice::bounds_line(problem, options)?);
        told.push_str(&worst(problem)?);
    }
    error.message = format!("{}\n{}", error.message, told.trim_end());
    Ok(error)
}
