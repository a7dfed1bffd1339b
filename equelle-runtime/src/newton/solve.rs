//! The iteration of Newton's method.

use std::time::Instant;

use super::advice;
use super::criteria::{ConvergedReason, Criteria};
use super::options::{OnFailure, Options};
use super::problem::{Correction, Problem, Update};
use super::range::Range;
use super::report::{FailureCause, History, Iteration, SolveOutcome, Times, worst_table};
use super::search::{LineSearch, Step};
use crate::error::{Error, ErrorKind, Remedy};
use crate::report::seconds;

/// Number of residual entries in a report.
const WORST: usize = 5;

/// Residual that a linear solve may leave, relative to its right-hand side, where it reaches
/// neither its tolerance nor round-off: an inexact Newton step, whose remainder the next
/// corrections reduce.
const ROUGH: f64 = 1e-3;

/// Runs Newton's method: while no criterion holds (see `criteria.rs`) and iterations are left, one
/// linear solve and one evaluation, so 1 + iterations evaluations. A guess within a tolerance of
/// the residual is the result; without a tolerance there is a correction, unless the residual is
/// zero or only incompatible round-off. `newton_line_search` adds trials without side effects.
///
/// # Errors
/// `Simulation`, with history and worst entries: the residual is not finite; the linear solver
/// failed; no convergence, if that is an error. Errors of the residual itself.
pub fn solve(problem: &mut dyn Problem, options: &Options) -> Result<History, Error> {
    let started = Instant::now();
    let mut history = History::default();
    let mut end = iterate(problem, options, &mut history);
    if end.as_ref().err().is_none_or(|error| error.kind == ErrorKind::Simulation) {
        match problem.ranges() {
            Ok(ranges) => history.ranges = ranges,
            // An earlier failure takes precedence.
            Err(error) => end = end.and(Err(error)),
        }
    }
    let ending = match &end {
        Ok(true) => SolveOutcome::Converged,
        Ok(false) => SolveOutcome::NotConverged,
        Err(_) => SolveOutcome::Failed,
    };
    history.is_kept = match ending {
        SolveOutcome::Converged => true,
        SolveOutcome::NotConverged => options.on_failure != OnFailure::Error,
        SolveOutcome::Failed => false,
    };
    history.cause = match &end {
        Ok(true) => None,
        Ok(false) if history.alternates() => Some(FailureCause::Alternating),
        Ok(false) => Some(FailureCause::IterationLimit),
        Err(error) => Some(match error.remedy {
            Some(Remedy::Solver) => FailureCause::LinearSolver,
            Some(Remedy::System | Remedy::Sources) => FailureCause::LinearSystem,
            None if history.norm().is_finite() => FailureCause::Residual,
            None => FailureCause::NotFinite,
        }),
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
            let hint = advice::no_convergence_hint(&history, options);
            Err(Error::new(ErrorKind::Simulation, no_convergence(problem, &history, options)?).hint(hint))
        }
    }
}

/// Iterates; returns whether a criterion holds in the end.
fn iterate(problem: &mut dyn Problem, options: &Options, history: &mut History) -> Result<bool, Error> {
    options.check(problem.equations())?;
    if !options.bounds.is_empty() {
        problem.bound(&options.bounds)?;
    }
    let mut forcing = Forcing::new(options);
    let mut search = LineSearch::new(options.line_search);
    let mut criteria = Criteria::new(options);
    let mut last_update = None;
    let (norm, seconds) = timed(|| problem.evaluate());
    let times = Times { assembly: seconds, ..Times::default() };
    let first = norm?;
    history.iterations.push(Iteration { norm: first, linear_iterations: None, length: 1.0, times });
    history.first_ranges = problem.ranges()?;
    criteria.begin(first);
    // The norm that is compared: with scaled rows where the last matrix has uneven ones.
    let mut judged = first;
    // Part of the residual that the last correction has left.
    let mut kept = None;
    if let Some(linearity) = problem.linearity() {
        linearity.begin();
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
        if let Some(met) = criteria.met(problem, history, judged, last_update)? {
            return stopped(problem, met, options);
        }
        if iteration >= options.max_iter {
            return Ok(false);
        }
        problem.check_interrupt()?;
        let beside_target = if criteria.are_default() { judged } else { norm };
        if let Some(tolerance) = forcing.next(kept, criteria.target() / beside_target) {
            problem.loosen(tolerance);
        }
        if options.forcing == 0.0
            && let Some(pursuit) = problem.linearity().map(|linearity| linearity.pursuit(iteration))
        {
            problem.pursue(pursuit);
        }
        criteria.start(problem, judged, norm)?;
        problem.neglect(criteria.negligible());
        let (mut correction, mut linear) = timed(|| problem.correct());
        if correction.as_ref().err().is_none_or(|error| error.kind == ErrorKind::Simulation) {
            judged = criteria.rescale(problem, norm)?;
        }
        if correction.as_ref().is_err_and(|error| error.kind == ErrorKind::Simulation) && criteria.are_default() {
            // An interrupt also ends a linear solve.
            problem.check_interrupt()?;
            let norms = problem.judged_norms()?;
            if criteria.within_rounding(problem, &norms)?.iter().all(|rounded| *rounded) {
                return stopped(problem, ConvergedReason::Rounding, options);
            }
            let rounding = criteria.rounding(problem, &norms)?;
            let mut allowed = criteria.negligible();
            for enough in [rounding, ROUGH] {
                if correction.as_ref().is_err_and(|error| error.kind == ErrorKind::Simulation) && enough > allowed {
                    problem.check_interrupt()?;
                    allowed = enough;
                    problem.neglect(allowed);
                    let again;
                    (correction, again) = timed(|| problem.correct());
                    linear += again;
                }
            }
            criteria.neglect(rounding);
            // A system that was refused before has other row scales once it is solved.
            if correction.is_ok() {
                judged = criteria.rescale(problem, norm)?;
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
        let linear_residual = correction.relative_residual * judged;
        let was_on = search.is_on();
        let before = judged;
        let (step, assembly) = timed(|| search.step(problem, &criteria, before));
        let Step { norm, judged: after, length, rejected } = step?;
        judged = after;
        kept = Some(after / before);
        if rejected > 0 && options.verbose > 1 {
            let gave_up =
                if was_on && !search.is_on() { "; no length of the step reduces the residual, so there is no further search" } else { "" };
            problem.print(&format!("Line search: {length} of the correction, after {rejected} longer ones{gave_up}"))?;
        }
        // A correction that bounds or a search cut short shows nothing.
        let is_whole = length == 1.0 && correction.update.is_none_or(|update| update.at_bounds == 0);
        if let Some(linearity) = problem.linearity().filter(|_| is_whole) {
            linearity.observe(iteration, linear_residual, judged, criteria.target());
        }
        let times = Times { assembly, set_up: correction.set_up, solve: (linear - correction.set_up).max(0.0) };
        history.iterations.push(Iteration { norm, linear_iterations: correction.linear_iterations, length, times });
        // A shortened step does not measure convergence.
        last_update = correction.update.map(|update| Update { shortened: length != 1.0, ..update });
    }
}

/// Runs a function; returns its result and its time in seconds.
fn timed<T>(run: impl FnOnce() -> T) -> (T, f64) {
    let started = Instant::now();
    let value = run();
    (value, started.elapsed().as_secs_f64())
}

/// Reports the criterion that ended a converged solve.
fn stopped(problem: &mut dyn Problem, met: ConvergedReason, options: &Options) -> Result<bool, Error> {
    if options.verbose > 1 {
        problem.print(&format!("Newton solver stops: {met}"))?;
    }
    Ok(true)
}

/// Tolerance of inexact corrections: S. C. Eisenstat and H. F. Walker, Choosing the forcing terms
/// in an inexact Newton method, SIAM J. Sci. Comput. 17 (1996), doi:10.1137/0917003, choice 2 with
/// its safeguards.
struct Forcing {
    most: f64,
    /// Forcing term of the previous iteration.
    before: Option<f64>,
}

/// Factor and exponent of choice 2.
const FORCING: (f64, i32) = (0.9, 2);
/// Safeguard: a term stays above the power of the previous one while that exceeds this.
const FORCING_MEMORY: f64 = 0.1;
/// Part of the tolerance that the last correction may leave.
const FORCING_SHARE: f64 = 0.5;

impl Forcing {
    fn new(options: &Options) -> Forcing {
        Forcing { most: options.forcing, before: None }
    }

    /// The forcing term after a correction that left the part `kept` of the residual, where a
    /// solve ends at the part `target` of what there is; `None` if forcing is off.
    fn next(&mut self, kept: Option<f64>, target: f64) -> Option<f64> {
        if self.most == 0.0 {
            return None;
        }
        let mut term = match self.before.zip(kept) {
            None => self.most,
            Some((term, kept)) => {
                let memory = FORCING.0 * term.powi(FORCING.1);
                let wanted = FORCING.0 * kept.powi(FORCING.1);
                if memory > FORCING_MEMORY { wanted.max(memory) } else { wanted }
            }
        };
        // No more accurate than the last correction needs.
        term = term.max(FORCING_SHARE * target).min(self.most);
        self.before = Some(term);
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
    let hint = advice::ranges_hint(&history.first_ranges, &ranges, options).unwrap_or_else(|| hint.to_owned());
    Ok(Error::new(ErrorKind::Simulation, message).hint(hint))
}

/// A line with the ranges, if there are any.
fn unknowns_line(ranges: &[Range]) -> String {
    if ranges.is_empty() { String::new() } else { format!("unknowns: {}\n", Range::text(ranges)) }
}

fn worst(problem: &mut dyn Problem) -> Result<String, Error> {
    let equations = problem.equations();
    let table = worst_table(&problem.worst(WORST)?, equations);
    Ok(format!("largest entries of the residual:\n{}", table.trim_end()))
}

/// The error of a linear system that could not be solved, with the history and, after a failure of
/// the simulation, the ranges of unknowns.
fn linear_failure(problem: &mut dyn Problem, mut error: Error, history: &History, options: &Options) -> Result<Error, Error> {
    let mut told = history.table();
    if error.kind == ErrorKind::Simulation {
        told.push_str(&unknowns_line(&problem.ranges()?));
        told.push_str(&advice::bounds_line(problem, options)?);
        told.push_str(&worst(problem)?);
        if matches!(error.remedy, Some(Remedy::Solver | Remedy::System))
            && let Some((equation, sum)) = problem.fixed_sum()
        {
            let of = if problem.equations() > 1 { format!(" of equation {}", equation + 1) } else { String::new() };
            error.message =
                format!("the residual{of} sums to {sum:e} whatever the unknowns are, so nothing makes it zero: {}", error.message);
            error = Error { remedy: Some(Remedy::Sources), ..error.hint(advice::OF_SOURCES) };
        }
        if matches!(error.remedy, Some(Remedy::System | Remedy::Sources))
            && let Some(tables) = advice::tables_hint(&problem.constant_tables())
        {
            error.hint = Some(error.hint.map_or_else(|| tables.clone(), |hint| format!("{hint}; {tables}")));
        }
    }
    error.message = format!("{}\n{}", error.message, told.trim_end());
    Ok(error)
}
