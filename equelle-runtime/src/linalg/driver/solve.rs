//! Chooses a method, solves the linear system, checks the true residual, on any device.

use std::cell::Cell;
use std::time::Instant;

use super::cache::{CacheKey, LinearCache};
use super::choose::{Attempt, Diagonal, plan};
use super::error::{LinearError, LinearErrorKind, MethodError};
use super::operator::{LeftScaling, Projected, RightPreconditioner, SecondNorm};
use super::options::{LinearOptions, Method, Preconditioning, refusal};
use super::solution::Solution;
use super::system::{PreparedSystem, norm_of};
use crate::linalg::krylov::bicgstab::BiCgStab;
use crate::linalg::krylov::cg::Cg;
use crate::linalg::krylov::gmres::Gmres;
use crate::linalg::krylov::iteration::{Control, Cycle, End, Outcome, System, Target, iterate};
use crate::linalg::matrix::csr::{Csr, Symmetry};
use crate::linalg::precond::Setting;
use crate::linalg::space::host::HostSpace;
use crate::linalg::space::host_matrix::HostMatrix;
use crate::linalg::space::system_space::SystemSpace;
use crate::linalg::space::vector_space::Preconditioner;
use crate::operators::Reduction;
use crate::solve_traffic::SolveTraffic;

#[cfg(feature = "lu")]
mod direct;

/// The method's share of the tolerance; the rest is for subtracting the mean and for the part of
/// the right-hand side outside the range.
const SHARE: f64 = 0.9;

/// Failure of an attempt.
enum Failure<E> {
    /// The method failed; another one may succeed.
    MethodError(MethodError),
    /// The device failed.
    Device(E),
}

impl<E> From<MethodError> for Failure<E> {
    fn from(fault: MethodError) -> Self {
        Failure::MethodError(fault)
    }
}

/// Solves `A x = b`.
///
/// Where the matrix is singular up to a constant per connected component (see
/// [`crate::linalg::null_space`]), the right-hand side must be compatible, and the solution has
/// mean zero over each component. If the entries were rounded to a type coarser than double
/// precision, the nearest matrix with this null space is solved.
///
/// # Errors
/// See [`LinearErrorKind`]. Never returns an `x` that misses the tolerance.
///
/// # Panics
/// If the matrix is not square or the right-hand side is not `[n_rows]`.
pub fn solve(matrix: &Csr, rhs: &[f64], options: &LinearOptions, cache: &mut LinearCache) -> Result<Solution, LinearError> {
    solve_blocks(matrix, &[matrix.n_rows()], rhs, options, cache)
}

/// Solves `A x = b` for several fields: unknowns and equations form blocks that end at `ends`. The
/// blocks matter only where the matrix is singular up to a constant of a field (see
/// [`crate::linalg::null_space::NullSpace::find_in_blocks`]).
///
/// # Errors
/// As for [`solve()`].
///
/// # Panics
/// If the matrix is not square, the right-hand side is not `[n_rows]`, or the last end is not
/// `n_rows`.
pub fn solve_blocks(
    matrix: &Csr,
    ends: &[usize],
    rhs: &[f64],
    options: &LinearOptions,
    cache: &mut LinearCache,
) -> Result<Solution, LinearError> {
    let n = matrix.n_rows();
    assert!(matrix.n_cols() == n && rhs.len() == n, "a square matrix and a right-hand side of its size");
    let mut space = HostSpace::on(&options.threads, n);
    solve_on_host(&mut space, &matrix.clone().into(), ends, rhs.to_vec(), options, cache)
}

/// [`solve_in`] on the host, compiled in this crate: it would be most of the compile time of a
/// program that solves equations.
///
/// # Errors
/// As for [`solve()`].
///
/// # Panics
/// As for [`solve_in`].
pub fn solve_on_host(
    space: &mut HostSpace,
    matrix: &HostMatrix,
    ends: &[usize],
    rhs: Vec<f64>,
    options: &LinearOptions,
    cache: &mut LinearCache,
) -> Result<Solution, LinearError> {
    let Ok(solved) = solve_in(space, matrix, ends, rhs, options, cache);
    solved
}

/// [`solve_blocks`] on the device of the back-end. The right-hand side is `[n]`, where `n` is the
/// last end; its memory is reused.
///
/// # Errors
/// The outer error: the device failed. The inner one: as for [`solve()`].
///
/// # Panics
/// If the matrix is not `[n, n]`.
pub fn solve_in<S: SystemSpace>(
    space: &mut S,
    matrix: &S::Matrix,
    ends: &[usize],
    rhs: S::Vector,
    options: &LinearOptions,
    cache: &mut LinearCache<S>,
) -> Result<Result<Solution<S::Vector>, LinearError>, S::Error> {
    let n = ends.last().copied().unwrap_or(0);
    assert!(S::shape(matrix).rows == n && S::shape(matrix).columns == n, "a square matrix for these unknowns");
    space.set_len(n);
    let error = |attempt: (Method, Preconditioning), fault: MethodError| LinearError {
        kind: fault.kind,
        method: attempt.0,
        preconditioner: attempt.1,
        iterations: fault.iterations,
        relative_residual: fault.residual.unwrap_or(1.0),
        detail: fault.detail,
        before: Vec::new(),
    };
    // Named in errors that arise before a method is chosen.
    let asked = (options.method.unwrap_or(Method::Lu), options.preconditioner.unwrap_or(Preconditioning::None));
    let not_finite =
        |detail| error(asked, MethodError { residual: Some(f64::NAN), ..MethodError::new(LinearErrorKind::NonFinite, detail) });
    let largest = space.largest(&rhs);
    let [largest] = space.read([&largest])?;
    if !largest.is_finite() {
        let (row, value) = first_not_finite(space, &rhs)?;
        return Ok(Err(not_finite(format!("the right-hand side is {value} in row {row}"))));
    }
    let inspection = space.inspect(matrix, ends, options.rounding)?;
    if let Some((row, column, value)) = inspection.not_finite {
        return Ok(Err(not_finite(format!("the matrix is {value} in row {row}, column {column}"))));
    }
    if largest == 0.0 {
        let (method, preconditioner) = asked;
        let x = space.zeros()?;
        return Ok(Ok(Solution { x, iterations: 0, relative_residual: 0.0, method, preconditioner, note: None }));
    }

    let system = match PreparedSystem::new(space, (matrix, ends), (rhs, largest), inspection, options)? {
        Ok(system) => system,
        Err(fault) => return Ok(Err(error(asked, fault))),
    };
    cache.rows = system.rows.clone();

    let mut before: Vec<LinearError> = Vec::new();
    let mut made = 0;
    for attempt in cache.order(plan(&system.properties, options)) {
        let left = options.max_iterations.saturating_sub(made);
        if left == 0 && attempt.method != Method::Lu {
            continue;
        }
        let attempt = Attempt { max_iterations: attempt.max_iterations.min(left.max(1)), ..attempt };
        let chosen = (attempt.method, attempt.preconditioner);
        let problem = Problem { system: &system, options, traffic: Cell::default() };
        let fault = match problem.solve(space, attempt, cache) {
            Ok(Solved { mut x, iterations, is_rounded, detail }) => {
                let residual = system.residual_norm(space, &x)?;
                let relative_residual = residual / system.size;
                let is_negligible = relative_residual <= options.negligible;
                // Written so that NaN fails.
                if residual <= system.allowed(options) || is_negligible || is_rounded {
                    let factor = space.constant(system.scale);
                    space.scale(&mut x, &factor);
                    let note = with_accepted(system.null_space.note(), relative_residual, is_negligible, options);
                    let choice = choice(&system, options, attempt, &detail, &before);
                    let note = cache.new_note(chosen, note, choice);
                    cache.succeeded(chosen, before.iter().map(|failed| (failed.method, failed.preconditioner)));
                    let (method, preconditioner) = chosen;
                    system.recycle(space);
                    return Ok(Ok(Solution { x, iterations: made + iterations, relative_residual, method, preconditioner, note }));
                }
                let kind = if relative_residual.is_finite() { LinearErrorKind::Stagnation } else { LinearErrorKind::NonFinite };
                let detail = format!("the true residual stays above the tolerance {:.1e}", options.tolerance);
                MethodError { kind, iterations, residual: Some(relative_residual), detail }
            }
            Err(Failure::MethodError(fault)) => fault,
            Err(Failure::Device(failure)) => return Err(failure),
        };
        made += fault.iterations;
        let failed = error(chosen, fault);
        // These are failures of the system or the run, not of the method.
        let is_final = matches!(
            failed.kind,
            LinearErrorKind::Incompatible { .. }
                | LinearErrorKind::ZeroDerivative { .. }
                | LinearErrorKind::Singular
                | LinearErrorKind::Interrupted
        );
        before.push(failed);
        if is_final {
            break;
        }
    }
    let Some(mut last) = before.pop() else {
        return Ok(Err(error(asked, MethodError::new(LinearErrorKind::MaxIterations, "no method was tried"))));
    };
    last.before = before.iter().map(LinearError::summary).collect();
    Ok(Err(last))
}

/// Number and value of the first element of a vector that is not finite.
fn first_not_finite<S: SystemSpace>(space: &mut S, x: &S::Vector) -> Result<(usize, f64), S::Error> {
    let values = space.host_vector(x)?;
    let own = values.iter().position(|value| !value.is_finite());
    let number = own.map_or(f64::INFINITY, |row| space.number(row) as f64);
    let mut first = [number];
    space.combine(Reduction::Min, &mut first);
    let mut value = [own.filter(|_| number == first[0]).map_or(0.0, |row| values[row])];
    space.combine(Reduction::Sum, &mut value);
    Ok((first[0] as usize, value[0]))
}

/// The note for the user after a solve: the null space, and whether `solver_tol` was missed.
fn with_accepted(note: Option<String>, relative_residual: f64, is_negligible: bool, options: &LinearOptions) -> Option<String> {
    if relative_residual <= options.tolerance {
        return note;
    }
    let why = if is_negligible { "Newton's method needs no smaller one" } else { "the rest is what the entries round" };
    let accepted = format!("accepted a relative residual of {relative_residual:.1e}, above solver_tol={:.1e}: {why}", options.tolerance);
    Some(note.map_or_else(|| accepted.clone(), |note| format!("{note}; {accepted}")))
}

/// The note on which method was chosen and why, if the choice was free.
fn choice<S: SystemSpace>(
    system: &PreparedSystem<'_, S>,
    options: &LinearOptions,
    attempt: Attempt,
    detail: &Option<String>,
    before: &[LinearError],
) -> Option<String> {
    if options.method.is_some() && options.preconditioner.is_some() && detail.is_none() {
        return None;
    }
    if attempt.method == Method::Lu && before.is_empty() {
        return None;
    }
    let with = match attempt.preconditioner {
        Preconditioning::None => String::new(),
        other => format!(" with {}", other.title()),
    };
    let mut text = format!("chose {}{with} ({})", attempt.method.title(), system.describe());
    detail.iter().for_each(|detail| text.push_str(&format!("; {detail}")));
    before.iter().for_each(|failed| text.push_str(&format!("; before that {}", failed.summary())));
    Some(text)
}

/// The result of a successful attempt.
struct Solved<V> {
    /// The solution for the scaled right-hand side, with mean zero on the components of the null
    /// space.
    x: V,
    iterations: usize,
    /// True if what is left is round-off that counts as solved.
    is_rounded: bool,
    /// Properties of the system that the preconditioner determined, in words.
    detail: Option<String>,
}

/// The result of the iterations of a Krylov method.
struct Iterate<V> {
    x: V,
    iterations: usize,
    /// As in [`Solved`].
    is_rounded: bool,
}

/// A system for an attempt.
struct Problem<'a, S: SystemSpace> {
    system: &'a PreparedSystem<'a, S>,
    options: &'a LinearOptions,
    /// Work of the methods so far.
    traffic: Cell<SolveTraffic>,
}

impl<S: SystemSpace> Problem<'_, S> {
    fn solve(&self, space: &mut S, attempt: Attempt, cache: &mut LinearCache<S>) -> Result<Solved<S::Vector>, Failure<S::Error>> {
        if let Some(reason) = refusal(attempt.method, attempt.preconditioner) {
            return Err(MethodError::new(LinearErrorKind::Unsuitable, reason).into());
        }
        let mut solved = match attempt.method {
            Method::Lu => match self.solve_gathered(space, cache)? {
                Some(solved) => solved,
                None => self.solve_directly(space, cache)?,
            },
            Method::Cg | Method::BiCgStab | Method::Gmres => {
                let solved = self.solve_krylov(space, attempt, cache);
                cache.has_iterated(self.traffic.take());
                solved?
            }
        };
        space.remove_mean(&self.system.vectors, &mut solved.x);
        Ok(solved)
    }

    /// Solves the system as it was given where its parts are gathered.
    fn solve_gathered(&self, space: &mut S, cache: &mut LinearCache<S>) -> Result<Option<Solved<S::Vector>>, Failure<S::Error>> {
        let given = |space: &mut S| self.system.given_rhs(space);
        let solved = cache.set_up(|_| space.solve_gathered(self.system.given(), self.system.ends, given, self.options));
        match solved.map_err(Failure::Device)? {
            None => Ok(None),
            Some(Ok(Solution { mut x, iterations, .. })) => {
                let inverse = space.constant(1.0 / self.system.scale);
                space.scale(&mut x, &inverse);
                // Judged where it was solved, by the same rules.
                Ok(Some(Solved { x, iterations, is_rounded: true, detail: None }))
            }
            Some(Err(LinearError { kind, iterations, relative_residual, detail, .. })) => {
                Err(MethodError { kind, iterations, residual: Some(relative_residual), detail }.into())
            }
        }
    }

    #[cfg(not(feature = "lu"))]
    fn solve_directly(&self, _: &mut S, _: &mut LinearCache<S>) -> Result<Solved<S::Vector>, Failure<S::Error>> {
        Err(MethodError::new(LinearErrorKind::Breakdown, "this program was built without LU").into())
    }

    fn solve_krylov(&self, space: &mut S, attempt: Attempt, cache: &mut LinearCache<S>) -> Result<Solved<S::Vector>, Failure<S::Error>> {
        if attempt.method == Method::Cg
            && let Symmetry::Structural { row, column } | Symmetry::Numerical { row, column } = self.system.properties.symmetry
        {
            let matrix = self.system.matrix();
            let here = space.entry(matrix, row, column).map_err(Failure::Device)?;
            let there = space.entry(matrix, column, row).map_err(Failure::Device)?;
            let detail = format!("the matrix is not symmetric: {here:e} in row {row}, column {column}, but {there:e} in the mirror place");
            return Err(MethodError::new(LinearErrorKind::Breakdown, detail).into());
        }
        let ends = self.system.ends;
        let k = self.system.properties.fields;
        let by_blocks = matches!(attempt.preconditioner, Preconditioning::BlockJacobi | Preconditioning::BlockIlu0 | Preconditioning::Cpr);
        if by_blocks && k != ends.len() {
            return Err(MethodError::new(LinearErrorKind::Unsuitable, "the unknowns are not on the same elements").into());
        }
        if attempt.preconditioner == Preconditioning::Cpr && k < 2 {
            return Err(MethodError::new(LinearErrorKind::Unsuitable, "two stages need two unknowns an element").into());
        }
        let (pressure, detail) = if attempt.preconditioner == Preconditioning::Cpr { self.pressure(space, k)? } else { (0, None) };

        // CG takes a negative definite matrix after a change of sign.
        let is_negative = self.system.properties.symmetry == Symmetry::Symmetric && self.system.properties.diagonal == Diagonal::Negative;
        let sign = if is_negative { -1.0 } else { 1.0 };
        let mut replaced = None;
        if is_negative {
            let b = replaced.insert(space.zeros().map_err(Failure::Device)?);
            let minus_one = space.constant(-1.0);
            space.add_scaled(b, &minus_one, self.system.b());
        }
        let left = match self.system.weights() {
            Some(weights) if attempt.method != Method::Cg => LeftScaling::new(space, weights).map_err(Failure::Device)?,
            Some(_) | None => None,
        };
        if let Some(left) = &left {
            let mut scaled = space.zeros().map_err(Failure::Device)?;
            space.copy(&mut scaled, replaced.as_ref().unwrap_or(self.system.b()));
            left.apply(space, &mut scaled);
            replaced = Some(scaled);
        }
        let b = replaced.as_ref().unwrap_or(self.system.b());
        let vectors = (!self.system.null_space.is_empty()).then_some(&self.system.vectors);
        let weights = left.as_ref().map(|left| (&left.inverses, left.weight)).or_else(|| self.system.weights());
        let second = weights.map(|weights| SecondNorm::new(space, weights)).transpose().map_err(Failure::Device)?;
        let operator = Projected { matrix: self.system.matrix(), vectors, sign, left: left.as_ref(), second };
        let symmetric = self.system.properties.may_be_definite();
        let has_scaled_rows = self.system.has_scaled_rows();
        let key = CacheKey {
            is_negated: is_negative,
            has_scaled_rows,
            is_symmetric: symmetric,
            pressure,
            ..CacheKey::new(S::parts(self.system.matrix()), attempt.preconditioner, self.options)
        };

        let mut wasted = 0;
        if let Some((cached, limit)) = cache.cached(&key) {
            let trial = Attempt { max_iterations: limit.min(attempt.max_iterations), ..attempt };
            match self.iterate_with(space, &operator, &cached, b, trial) {
                Ok(Iterate { x, iterations, is_rounded }) => {
                    cache.used(iterations);
                    return Ok(Solved { x, iterations, is_rounded, detail });
                }
                Err(Failure::MethodError(fault)) if fault.kind == LinearErrorKind::Interrupted => return Err(fault.into()),
                Err(Failure::MethodError(fault)) => wasted = fault.iterations,
                Err(Failure::Device(failure)) => return Err(Failure::Device(failure)),
            }
        }
        cache.forget();
        let singular = !self.system.null_space.is_empty();
        let setting = Setting { ends, symmetric, singular, pressure, amg: self.options.amg };
        let factor = self.system.properties.factor(attempt.preconditioner, sign);
        let made = cache.set_up(|_| space.set_up(self.system.matrix(), factor, attempt.preconditioner, setting));
        let preconditioner = made.map_err(Failure::Device)?;
        if space.is_interrupted() {
            return Err(MethodError::new(LinearErrorKind::Interrupted, "it was being set up").into());
        }
        let detail = detail.or_else(|| preconditioner.note());
        let left = attempt.max_iterations.saturating_sub(wasted).max(1);
        match self.iterate_with(space, &operator, &preconditioner, b, Attempt { max_iterations: left, ..attempt }) {
            Ok(Iterate { x, iterations, is_rounded }) => {
                cache.keep(key, preconditioner, iterations);
                Ok(Solved { x, iterations: wasted + iterations, is_rounded, detail })
            }
            Err(Failure::MethodError(fault)) => Err(MethodError { iterations: wasted + fault.iterations, ..fault }.into()),
            Err(Failure::Device(failure)) => Err(Failure::Device(failure)),
        }
    }

    /// Number of the elliptic field, from 0, and a note if it was determined from the matrix.
    fn pressure(&self, space: &mut S, k: usize) -> Result<(usize, Option<String>), Failure<S::Error>> {
        match self.options.pressure {
            Some(given) if given < k => Ok((given, None)),
            Some(given) => {
                let detail = format!("`cpr_pressure={}` names no unknown: there are {k}", given + 1);
                Err(MethodError::new(LinearErrorKind::Unsuitable, detail).into())
            }
            None => {
                let departures = space.departure_from_elliptic(self.system.matrix(), k).map_err(Failure::Device)?;
                let least = (0..k).fold(0, |least, field| if departures[field] < departures[least] { field } else { least });
                Ok((least, Some(format!("took unknown {} for the pressure: it is nearest to elliptic", least + 1))))
            }
        }
    }

    /// Runs a method for matrices of any kind.
    fn run_any<M: Preconditioner<S>>(
        &self,
        space: &mut S,
        method: Method,
        system: System<'_, Projected<'_, S>, M>,
        x: &mut S::Vector,
        b: &S::Vector,
        control: Control,
    ) -> Result<Outcome, S::Error> {
        match method {
            Method::BiCgStab => run(space, BiCgStab::new, system, x, b, control),
            // CG and LU have other branches.
            Method::Gmres | Method::Cg | Method::Lu => run(space, |space| Gmres::new(space, self.options.restart), system, x, b, control),
        }
    }

    fn iterate_with<M: Preconditioner<S>>(
        &self,
        space: &mut S,
        operator: &Projected<'_, S>,
        preconditioner: &M,
        b: &S::Vector,
        attempt: Attempt,
    ) -> Result<Iterate<S::Vector>, Failure<S::Error>> {
        let size = norm_of(space, b).map_err(Failure::Device)?;
        let negligible = self.options.negligible * self.system.size;
        let saves = operator.left.map_or(negligible, |left| left.weight * negligible);
        let control = Control {
            target: Target::toward(size, SHARE * self.options.tolerance * size, saves, self.options.pursuit),
            max_iterations: attempt.max_iterations,
            check_every: space.check_every(self.options.check_every, attempt.preconditioner),
            patience: attempt.patience,
        };
        let system = System { operator, preconditioner };
        // The device has no work left: its size has just been read.
        let started = Instant::now();
        space.take_traffic();
        let mut x = space.zeros().map_err(Failure::Device)?;
        let outcome = match (attempt.method, operator.vectors, operator.left) {
            // With residuals in the range and a symmetric preconditioner, the null space enters no
            // dot product.
            (Method::Cg, ..) => run(space, Cg::new, system, &mut x, b, control),
            (method, None, None) => self.run_any(space, method, system, &mut x, b, control),
            (method, vectors, left) => {
                let preconditioner = &RightPreconditioner { preconditioner, vectors, left };
                self.run_any(space, method, System { operator, preconditioner }, &mut x, b, control)
            }
        };
        let outcome = outcome.map_err(Failure::Device)?;
        let mut traffic = self.traffic.get();
        let (iterations, seconds) = (outcome.iterations as u64, started.elapsed().as_secs_f64());
        traffic += SolveTraffic { solves: 1, iterations, seconds, bytes: space.take_traffic() };
        self.traffic.set(traffic);
        let iterate = |x, is_rounded| Ok(Iterate { x, iterations: outcome.iterations, is_rounded });
        if outcome.end == End::Converged {
            return iterate(x, false);
        }
        // A negligible residual is enough where no smaller one can be reached.
        let left = self.system.residual_norm_in_range(space, &x).map_err(Failure::Device)?;
        if left <= negligible {
            return iterate(x, false);
        }
        let may_be_rounded = matches!(outcome.end, End::Stagnation(_) | End::Breakdown(_) | End::MaxIterations);
        let allowed = SHARE * self.options.tolerance * self.system.size;
        if may_be_rounded && self.system.is_at_round_off(space, &x, allowed).map_err(Failure::Device)? {
            return iterate(x, true);
        }
        let (kind, mut detail) = match outcome.end {
            End::Converged => return iterate(x, false),
            End::Breakdown(detail) => (LinearErrorKind::Breakdown, detail),
            End::Stagnation(detail) => (LinearErrorKind::Stagnation, detail),
            End::MaxIterations => (LinearErrorKind::MaxIterations, "that is the limit".to_owned()),
            End::Interrupted => (LinearErrorKind::Interrupted, "the run has been asked to end".to_owned()),
            End::NonFinite => (LinearErrorKind::NonFinite, format!("an iterate overflowed in iteration {}", outcome.iterations)),
        };
        if !self.system.null_space.is_known() {
            detail.push_str(
                "; the matrix is singular up to a constant, and only solver=lu can tell whether the right-hand side is compatible",
            );
        }
        let residual = Some(outcome.residual / size);
        Err(MethodError { kind, iterations: outcome.iterations, residual, detail }.into())
    }
}

/// Runs a new instance of a method.
fn run<S: SystemSpace, C: Cycle<S>, M: Preconditioner<S>>(
    space: &mut S,
    new: impl FnOnce(&mut S) -> Result<C, S::Error>,
    system: System<'_, Projected<'_, S>, M>,
    x: &mut S::Vector,
    b: &S::Vector,
    control: Control,
) -> Result<Outcome, S::Error> {
    let mut method = new(space)?;
    let outcome = iterate(space, &mut method, system, x, b, control);
    method.recycle(space);
    outcome
}
