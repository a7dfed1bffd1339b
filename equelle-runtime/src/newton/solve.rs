//! The iteration.

use std::time::Instant;

use super::options::{OnFailure, Options};
use super::report::{Entry, History, Iteration, worst_table};
use crate::error::{Error, ErrorKind};
use crate::report::seconds;

/// Entries that a report names.
const WORST: usize = 5;

/// What one linear solve did.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Correction {
    /// Iterations of the linear solver; `None` for a direct one.
    pub linear_iterations: Option<usize>,
    /// Relative residual that it reached.
    pub relative_residual: f64,
    /// What the user may want to know of the linear system, such as that the level of the unknown is open.
    pub note: Option<String>,
}

/// A nonlinear problem with its current iterate. Starts at the guess.
pub trait Problem {
    /// Evaluates the residual at the iterate, with derivatives; its Euclidean norm over all equations. The effects of the residual happen here, so it is
    /// called once per iterate.
    ///
    /// # Errors
    /// Those of the program's residual; `Simulation` if the residual does not depend on any unknown.
    fn evaluate(&mut self) -> Result<f64, Error>;

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
}

/// Runs Newton's method: while the norm of the residual is above the tolerance and iterations are left, one linear solve and one
/// evaluation. So the residual is evaluated 1 + iterations times, and a guess that is good enough is the result.
///
/// # Errors
/// `Simulation`, with history and worst entries: the residual is not finite; the linear solver failed; no convergence, if that is an error. Errors of
/// the residual itself.
pub fn solve<P: Problem>(problem: &mut P, options: &Options) -> Result<History, Error> {
    let started = Instant::now();
    let mut history = History::default();
    let mut linear_iterations = None;
    loop {
        let norm = problem.evaluate()?;
        history.iterations.push(Iteration { norm, linear_iterations });
        let iteration = history.count();
        if options.verbose > 1 {
            problem.print(&iteration_line(iteration, norm, options))?;
        }
        if options.verbose > 2 {
            problem.dump(iteration == 0)?;
        }
        if !norm.is_finite() {
            return Err(not_finite(problem, &history)?);
        }
        if norm <= options.abs_res_tol {
            break;
        }
        if iteration >= options.max_iter {
            break;
        }
        let correction = problem.correct().map_err(|error| linear_failure(error, &history))?;
        if options.verbose > 2 {
            problem.print(&correction_line(&correction))?;
        }
        if let Some(note) = correction.note.as_ref().filter(|_| options.verbose > 1) {
            problem.print(&format!("Linear solver: {note}"))?;
        }
        linear_iterations = correction.linear_iterations;
    }

    let converged = history.norm() <= options.abs_res_tol;
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
        OnFailure::Error => Err(Error::new(ErrorKind::Simulation, no_convergence(problem, &history, options)?).hint(
            "a smaller time step or a better guess may help; `max_iter` and `abs_res_tol` decide when to stop, \
             and `newton_failure=warn` goes on with the last iterate",
        )),
    }
}

fn iteration_line(iteration: usize, norm: f64, options: &Options) -> String {
    format!("Newton iteration {iteration} (at most {}): residual norm {norm:e}, tolerance {:e}", options.max_iter, options.abs_res_tol)
}

fn correction_line(correction: &Correction) -> String {
    match correction.linear_iterations {
        Some(count) => format!("Linear solver: {count} iterations, relative residual {:e}", correction.relative_residual),
        None => format!("Linear solver: direct, relative residual {:e}", correction.relative_residual),
    }
}

fn no_convergence<P: Problem>(problem: &mut P, history: &History, options: &Options) -> Result<String, Error> {
    Ok(format!(
        "Newton's method did not converge in {} iterations: the norm of the residual is {:e}, the tolerance {:e}\n{}{}",
        history.count(),
        history.norm(),
        options.abs_res_tol,
        history.table(),
        worst(problem)?,
    ))
}

fn not_finite<P: Problem>(problem: &mut P, history: &History) -> Result<Error, Error> {
    let place = match history.count() {
        0 => "at the guess".to_owned(),
        count => format!("after iteration {count}"),
    };
    let message = format!("the residual is not finite {place}\n{}{}", history.table(), worst(problem)?);
    Ok(Error::new(ErrorKind::Simulation, message)
        .hint("look for a division by zero or the square root of a negative number in the residual"))
}

fn worst<P: Problem>(problem: &mut P) -> Result<String, Error> {
    let equations = problem.equations();
    let table = worst_table(&problem.worst(WORST)?, equations);
    Ok(format!("largest entries of the residual:\n{}", table.trim_end()))
}

fn linear_failure(mut error: Error, history: &History) -> Error {
    error.message = format!("{}\n{}", error.message, history.table().trim_end());
    error
}
