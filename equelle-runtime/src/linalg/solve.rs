//! The front door: one call that solves a system or says why not.

use super::bicgstab::BiCgStab;
use super::cache::{KeptKey, LinearCache};
use super::cg::Cg;
use super::choose::{Attempt, Diagonal, Facts, fields, plan};
use super::csr::{Csr, Symmetry};
use super::error::{LinearError, LinearErrorKind};
use super::gmres::Gmres;
use super::host::{HostSpace, Projected, norm, power_of_two_near};
use super::krylov::{Control, Cycle, End, Outcome, System, iterate};
use super::null_space::NullSpace;
use super::options::{LinearOptions, Method, Preconditioning, refusal};
use super::precond::{Setting, build, cpr};
use super::space::Preconditioner;

/// A solved system.
#[derive(Clone, Debug, PartialEq)]
pub struct Solution {
    /// The unknowns: `[n]`. With mean zero over each component that leaves their level open.
    pub x: Vec<f64>,
    /// Iterations of an iterative method; steps of iterative refinement after LU, mostly 0.
    pub iterations: usize,
    /// `|b - A x| / |b|`, computed from `x`; at most the tolerance. 0 for `b = 0`.
    pub relative_residual: f64,
    /// Which method was used.
    pub method: Method,
    /// With which preconditioner.
    pub preconditioner: Preconditioning,
    /// What the user may want to know, such as that the level of the unknown is open.
    pub note: Option<String>,
}

/// Steps of iterative refinement that LU may take to meet the tolerance.
#[cfg(feature = "lu")]
const REFINEMENTS: usize = 3;

/// What the method itself may leave of the tolerance: the rest is for moving the mean, and for what the right-hand side has outside the
/// range.
pub const SHARE: f64 = 0.9;

/// How a method fails, before it is put into words.
struct Fault {
    kind: LinearErrorKind,
    iterations: usize,
    /// 2-norm in the unit of the scaled right-hand side; `None` for 1.
    residual: Option<f64>,
    detail: String,
}

impl Fault {
    fn new(kind: LinearErrorKind, detail: impl Into<String>) -> Fault {
        Fault { kind, iterations: 0, residual: None, detail: detail.into() }
    }
}

/// Solves `A x = b`.
///
/// Where a connected component of the matrix leaves the level of its unknowns open (see [`super::null_space`]), the right-hand side must be
/// compatible, and the solution with mean zero there is returned.
///
/// # Errors
/// See [`LinearErrorKind`]. An `x` that misses the tolerance is never returned.
///
/// # Panics
/// If the matrix is not square or the right-hand side is not `[n_rows]`.
pub fn solve(matrix: &Csr, rhs: &[f64], options: &LinearOptions, cache: &mut LinearCache) -> Result<Solution, LinearError> {
    solve_blocks(matrix, &[matrix.n_rows()], rhs, options, cache)
}

/// Solves `A x = b` for several fields: the unknowns, and likewise the equations, are blocks that end at `ends`. This matters only where the
/// level of a field is open (see [`NullSpace::find_in_blocks`]).
///
/// # Errors
/// As for [`solve()`].
///
/// # Panics
/// If the matrix is not square, the right-hand side is not `[n_rows]`, or the last end is another number.
pub fn solve_blocks(
    matrix: &Csr,
    ends: &[usize],
    rhs: &[f64],
    options: &LinearOptions,
    cache: &mut LinearCache,
) -> Result<Solution, LinearError> {
    let n = matrix.n_rows();
    assert!(matrix.n_cols() == n && rhs.len() == n, "a square matrix and a right-hand side of its size");
    let size = norm(rhs);
    let error = |attempt: (Method, Preconditioning), fault: Fault| LinearError {
        kind: fault.kind,
        method: attempt.0,
        preconditioner: attempt.1,
        iterations: fault.iterations,
        relative_residual: fault.residual.unwrap_or(1.0),
        detail: fault.detail,
        before: Vec::new(),
    };
    // What is said before any method is chosen.
    let asked = (options.method.unwrap_or(Method::Lu), options.preconditioner.unwrap_or(Preconditioning::None));
    if let Some(detail) = not_finite(matrix, rhs) {
        return Err(error(asked, Fault { residual: Some(f64::NAN), ..Fault::new(LinearErrorKind::NonFinite, detail) }));
    }
    if size == 0.0 {
        let (method, preconditioner) = asked;
        return Ok(Solution { x: vec![0.0; n], iterations: 0, relative_residual: 0.0, method, preconditioner, note: None });
    }

    // A right-hand side near 1 keeps squares from overflowing; the factor is a power of two, so nothing is rounded.
    let scale = power_of_two_near(rhs).unwrap_or(1.0);
    let mut b: Vec<f64> = rhs.iter().map(|b| b / scale).collect();
    let null_space = NullSpace::find_in_blocks(matrix, ends);
    let open = OpenLevels { null_space: &null_space, ends, scale };
    check_balance(&null_space, &b, scale, options).map_err(|fault| error(asked, fault))?;
    null_space.project_to_range(&mut b);
    let facts = Facts::new(matrix, ends, !null_space.is_known());
    let problem = Problem { matrix, b: &b, open: &open, facts: &facts, options };

    let mut before: Vec<LinearError> = Vec::new();
    let mut made = 0;
    for attempt in cache.order(plan(&facts, options)) {
        let left = options.max_iterations.saturating_sub(made);
        if left == 0 && attempt.method != Method::Lu {
            continue;
        }
        let attempt = Attempt { max_iterations: attempt.max_iterations.min(left.max(1)), ..attempt };
        let chosen = (attempt.method, attempt.preconditioner);
        let fault = match problem.solve(attempt, cache) {
            Ok(Solved { mut x, iterations, detail }) => {
                x.iter_mut().for_each(|x| *x *= scale);
                let residual = residual_norm(matrix, rhs, &x);
                let relative_residual = residual / size;
                // Written so that NaN fails.
                if relative_residual <= options.tolerance || residual <= options.negligible {
                    let open = null_space.note();
                    let choice = choice(&facts, options, attempt, &detail, &before);
                    let note = cache.new_note(chosen, open, choice);
                    let (method, preconditioner) = chosen;
                    return Ok(Solution { x, iterations: made + iterations, relative_residual, method, preconditioner, note });
                }
                let kind = if relative_residual.is_finite() { LinearErrorKind::Stagnation } else { LinearErrorKind::NonFinite };
                let detail = format!("the true residual stays above the tolerance {:.1e}", options.tolerance);
                Fault { kind, iterations, residual: Some(relative_residual), detail }
            }
            Err(fault) => fault,
        };
        made += fault.iterations;
        let failed = error(chosen, fault);
        // These are properties of the system, not of the method.
        let is_final = matches!(failed.kind, LinearErrorKind::Incompatible { .. } | LinearErrorKind::Singular);
        before.push(failed);
        if is_final {
            break;
        }
    }
    let Some(mut last) = before.pop() else {
        return Err(error(asked, Fault::new(LinearErrorKind::MaxIterations, "no method was tried")));
    };
    last.before = before.iter().map(LinearError::summary).collect();
    Err(last)
}

/// What was chosen and why, where the choice was free.
fn choice(facts: &Facts, options: &LinearOptions, attempt: Attempt, detail: &Option<String>, before: &[LinearError]) -> Option<String> {
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
    let mut text = format!("chose {}{with} ({})", attempt.method.title(), facts.describe());
    detail.iter().for_each(|detail| text.push_str(&format!("; {detail}")));
    before.iter().for_each(|failed| text.push_str(&format!("; before that {}", failed.summary())));
    Some(text)
}

/// `b - A x` in the 2-norm.
fn residual_norm(matrix: &Csr, b: &[f64], x: &[f64]) -> f64 {
    norm(&residual(matrix, b, x))
}

fn residual(matrix: &Csr, b: &[f64], x: &[f64]) -> Vec<f64> {
    let mut r = matrix.mul(x);
    r.iter_mut().zip(b).for_each(|(r, b)| *r = b - *r);
    r
}

fn not_finite(matrix: &Csr, rhs: &[f64]) -> Option<String> {
    if let Some(row) = rhs.iter().position(|value| !value.is_finite()) {
        return Some(format!("the right-hand side is {} in row {row}", rhs[row]));
    }
    (0..matrix.n_rows()).find_map(|row| {
        let (column, value) = matrix.row(row).find(|(_, value)| !value.is_finite())?;
        Some(format!("the matrix is {value} in row {row}, column {column}"))
    })
}

/// What a system leaves open.
struct OpenLevels<'a> {
    null_space: &'a NullSpace,
    /// Ends of the blocks of unknowns and equations.
    #[cfg_attr(not(feature = "lu"), allow(dead_code, reason = "only LU needs them"))]
    ends: &'a [usize],
    /// What the right-hand side was divided by.
    scale: f64,
}

/// What an attempt found.
struct Solved {
    /// For the scaled right-hand side, with mean zero on the components of the null space.
    x: Vec<f64>,
    iterations: usize,
    /// What the preconditioner found out about the system, in words.
    detail: Option<String>,
}

/// A system with a right-hand side that was scaled and projected to the range.
struct Problem<'a> {
    matrix: &'a Csr,
    b: &'a Vec<f64>,
    open: &'a OpenLevels<'a>,
    facts: &'a Facts,
    options: &'a LinearOptions,
}

impl Problem<'_> {
    fn solve(&self, attempt: Attempt, cache: &mut LinearCache) -> Result<Solved, Fault> {
        if let Some(reason) = refusal(attempt.method, attempt.preconditioner) {
            return Err(Fault::new(LinearErrorKind::Unsuitable, reason));
        }
        let mut solved = match attempt.method {
            Method::Lu => {
                let (x, iterations) = solve_lu(self.matrix, self.b, self.open, self.options, cache)?;
                Solved { x, iterations, detail: None }
            }
            Method::Cg | Method::BiCgStab | Method::Gmres => self.solve_krylov(attempt, cache)?,
        };
        self.open.null_space.remove_mean(&mut solved.x);
        Ok(solved)
    }

    fn solve_krylov(&self, attempt: Attempt, cache: &mut LinearCache) -> Result<Solved, Fault> {
        if attempt.method == Method::Cg
            && let Symmetry::Structural { row, column } | Symmetry::Numerical { row, column } = self.facts.symmetry
        {
            let (here, there) = (self.matrix.entry(row, column), self.matrix.entry(column, row));
            let detail = format!("the matrix is not symmetric: {here:e} in row {row}, column {column}, but {there:e} in the mirror place");
            return Err(Fault::new(LinearErrorKind::Breakdown, detail));
        }
        let ends = self.open.ends;
        let k = fields(ends);
        let by_blocks = matches!(attempt.preconditioner, Preconditioning::BlockJacobi | Preconditioning::BlockIlu0 | Preconditioning::Cpr);
        if by_blocks && k != ends.len() {
            return Err(Fault::new(LinearErrorKind::Unsuitable, "the unknowns are not on the same elements"));
        }
        if attempt.preconditioner == Preconditioning::Cpr && k < 2 {
            return Err(Fault::new(LinearErrorKind::Unsuitable, "two stages need two unknowns an element"));
        }
        let (pressure, detail) = if attempt.preconditioner == Preconditioning::Cpr { self.pressure(k)? } else { (0, None) };

        // A negative definite matrix is as good as a positive definite one.
        let is_negative = self.facts.symmetry == Symmetry::Symmetric && self.facts.diagonal == Diagonal::Negative;
        let sign = if is_negative { -1.0 } else { 1.0 };
        let negated: Vec<f64>;
        let b = if is_negative {
            negated = self.b.iter().map(|b| -b).collect();
            &negated
        } else {
            self.b
        };
        let operator = Projected { matrix: self.matrix, null_space: self.open.null_space, sign };
        let symmetric = self.facts.may_be_definite();
        let key = KeptKey::new(self.matrix, attempt.preconditioner, sign, symmetric, pressure, self.options);
        let make = || {
            let mut space = HostSpace::on(&self.options.threads, self.matrix.n_rows());
            let negated = is_negative.then(|| self.matrix.scaled(-1.0));
            let setting = Setting { ends, symmetric, singular: !self.open.null_space.is_empty(), pressure, amg: self.options.amg };
            let Ok(made) = build(&mut space, negated.as_ref().unwrap_or(self.matrix), attempt.preconditioner, setting);
            made
        };

        let mut wasted = 0;
        if let Some((kept, limit)) = cache.kept(&key) {
            let trial = Attempt { max_iterations: limit.min(attempt.max_iterations), ..attempt };
            match self.iterate_with(&operator, &kept, b, trial) {
                Ok((x, iterations)) => {
                    cache.used(iterations);
                    return Ok(Solved { x, iterations, detail });
                }
                Err(fault) => wasted = fault.iterations,
            }
        }
        cache.forget();
        let preconditioner = cache.set_up(|_| make());
        let left = attempt.max_iterations.saturating_sub(wasted).max(1);
        let result = self.iterate_with(&operator, &preconditioner, b, Attempt { max_iterations: left, ..attempt });
        match result {
            Ok((x, iterations)) => {
                cache.keep(key, preconditioner, iterations);
                Ok(Solved { x, iterations: wasted + iterations, detail })
            }
            Err(fault) => Err(Fault { iterations: wasted + fault.iterations, ..fault }),
        }
    }

    /// Which field is elliptic, from 0, and how that was found.
    fn pressure(&self, k: usize) -> Result<(usize, Option<String>), Fault> {
        match self.options.pressure {
            Some(given) if given < k => Ok((given, None)),
            Some(given) => {
                let detail = format!("`cpr_pressure={}` names no unknown: there are {k}", given + 1);
                Err(Fault::new(LinearErrorKind::Unsuitable, detail))
            }
            None => {
                let departures = cpr::departure_from_elliptic(self.matrix, k);
                let least = (0..k).fold(0, |least, field| if departures[field] < departures[least] { field } else { least });
                Ok((least, Some(format!("took unknown {} for the pressure: it is nearest to elliptic", least + 1))))
            }
        }
    }

    fn iterate_with<M: Preconditioner<HostSpace>>(
        &self,
        operator: &Projected<'_>,
        preconditioner: &M,
        b: &Vec<f64>,
        attempt: Attempt,
    ) -> Result<(Vec<f64>, usize), Fault> {
        let n = b.len();
        let space = &mut HostSpace::on(&self.options.threads, n);
        let size = norm(b);
        let control = Control {
            target: SHARE * self.options.tolerance * size,
            max_iterations: attempt.max_iterations,
            check_every: self.options.check_every,
            patience: attempt.patience,
        };
        let system = System { operator, preconditioner };
        let mut x = vec![0.0; n];
        let outcome = match attempt.method {
            Method::Cg => run(space, Cg::new, system, &mut x, b, control),
            Method::BiCgStab => run(space, BiCgStab::new, system, &mut x, b, control),
            // LU never comes here.
            Method::Gmres | Method::Lu => run(space, |space| Gmres::new(space, self.options.restart), system, &mut x, b, control),
        };
        // A residual that is as good as none is enough where no smaller one can be had.
        if outcome.end != End::Converged && residual_norm(self.matrix, self.b, &x) <= self.options.negligible / self.open.scale {
            return Ok((x, outcome.iterations));
        }
        let (kind, mut detail) = match outcome.end {
            End::Converged => return Ok((x, outcome.iterations)),
            End::Breakdown(detail) => (LinearErrorKind::Breakdown, detail),
            End::Stagnation(detail) => (LinearErrorKind::Stagnation, detail),
            End::MaxIterations => (LinearErrorKind::MaxIterations, "that is the limit".to_owned()),
            End::NonFinite => (LinearErrorKind::NonFinite, format!("an iterate overflowed in iteration {}", outcome.iterations)),
        };
        if !operator.null_space.is_known() {
            detail.push_str(
                "; the matrix leaves the level of the unknown open, and only solver=lu can tell whether the right-hand side fits",
            );
        }
        let residual = Some(outcome.residual / size);
        Err(Fault { kind, iterations: outcome.iterations, residual, detail })
    }
}

/// Refuses a right-hand side that is outside the range as far as the left null vectors are known.
fn check_balance(null_space: &NullSpace, b: &[f64], scale: f64, options: &LinearOptions) -> Result<(), Fault> {
    let Some(worst) = null_space.imbalance(b, options.tolerance, options.negligible / scale) else { return Ok(()) };
    let unknowns = &null_space.components[worst.component].unknowns;
    let (count, first) = (unknowns.len(), unknowns[0]);
    let relative = worst.least_residual / norm(b);
    let detail = format!("over {count} connected unknowns from number {first}; no solution has a relative residual below {relative:.1e}");
    Err(Fault { residual: Some(1.0), ..Fault::new(LinearErrorKind::Incompatible { imbalance: worst.sum * scale }, detail) })
}

/// The host's vector space cannot fail, so neither can this.
fn run<C: Cycle<HostSpace>, M: Preconditioner<HostSpace>>(
    space: &mut HostSpace,
    new: impl FnOnce(&mut HostSpace) -> Result<C, std::convert::Infallible>,
    system: System<'_, Projected<'_>, M>,
    x: &mut Vec<f64>,
    b: &Vec<f64>,
    control: Control,
) -> Outcome {
    let Ok(mut method) = new(space);
    let Ok(outcome) = iterate(space, &mut method, system, x, b, control);
    outcome
}

#[cfg(not(feature = "lu"))]
fn solve_lu(
    _matrix: &Csr,
    _b: &[f64],
    _open: &OpenLevels<'_>,
    _options: &LinearOptions,
    _cache: &mut LinearCache,
) -> Result<(Vec<f64>, usize), Fault> {
    Err(Fault::new(LinearErrorKind::Breakdown, "this program was built without LU"))
}

#[cfg(feature = "lu")]
fn solve_lu(
    matrix: &Csr,
    b: &[f64],
    open: &OpenLevels<'_>,
    options: &LinearOptions,
    cache: &mut LinearCache,
) -> Result<(Vec<f64>, usize), Fault> {
    use super::lu::{LuFault, left_null_vectors, pins, with_places};

    let fail = |fault| match fault {
        LuFault::Singular(detail) => Fault::new(LinearErrorKind::Singular, detail),
        LuFault::OutOfMemory => Fault::new(LinearErrorKind::Breakdown, "there is not enough memory for the factors"),
    };
    let null_space = open.null_space;
    // Which equation balances an open level is not known for sure before the factorisation; what succeeded is kept, so asking again is cheap.
    let attempts = if null_space.is_known() { 1 } else { open.ends.len() };
    let mut choices = (0..attempts).map(|attempt| pins(matrix, null_space, open.ends, attempt));
    let mut pinned = choices.next().unwrap_or_default();
    let mut first_fault = None;
    let mut target = with_places(matrix, &pinned);
    while let Err(fault) = cache.set_up(|cache| cache.lu.factorize(target.as_ref().unwrap_or(matrix), &pinned).map(drop)) {
        let fault = first_fault.get_or_insert(fault);
        let Some(next) = choices.next() else { return Err(fail(fault.clone())) };
        target = with_places(matrix, &next);
        pinned = next;
    }
    let mut factors = cache.lu.factorize(target.as_ref().unwrap_or(matrix), &pinned).map_err(fail)?;

    let mut b = b.to_vec();
    if !null_space.is_known() {
        let known = left_null_vectors(matrix, null_space, &pinned, &mut factors);
        check_balance(&known, &b, open.scale, options)?;
        known.project_to_range(&mut b);
    }

    let size = norm(&b);
    let mut x = vec![0.0; b.len()];
    if size == 0.0 {
        return Ok((x, 0));
    }
    let mut r = b.clone();
    let mut best = f64::INFINITY;
    for refinement in 0..=REFINEMENTS {
        pinned.iter().for_each(|pin| r[pin.row] = 0.0);
        factors.solve(&mut r);
        x.iter_mut().zip(&r).for_each(|(x, r)| *x += r);
        if x.iter().any(|x| !x.is_finite()) {
            return Err(Fault { iterations: refinement, ..Fault::new(LinearErrorKind::Singular, "the solution is not finite") });
        }
        r = residual(matrix, &b, &x);
        let left = norm(&r) / size;
        if left <= SHARE * options.tolerance {
            return Ok((x, refinement));
        }
        best = best.min(left);
    }
    if norm(&r) <= options.negligible / open.scale {
        return Ok((x, REFINEMENTS));
    }
    let detail = format!("{REFINEMENTS} steps of iterative refinement leave the residual above the tolerance {:.1e}", options.tolerance);
    Err(Fault { kind: LinearErrorKind::Stagnation, iterations: REFINEMENTS, residual: Some(best), detail })
}
