//! Direct solves on the host or on a back-end, with iterative refinement.

use std::time::{Duration, Instant};

use super::{Failure, MethodError, Problem, SHARE, Solved};
use crate::linalg::direct::device_lu::{CachedFactors, DeviceLu, FactorLocation};
use crate::linalg::direct::elimination::{Elimination, FactorError, left_null_vectors, pins, with_places};
use crate::linalg::direct::lu::OnHost;
use crate::linalg::driver::cache::LinearCache;
use crate::linalg::driver::error::LinearErrorKind;
use crate::linalg::driver::round_off;
use crate::linalg::driver::system::{Balanced, PreparedSystem, check_balance, larger};
use crate::linalg::matrix::csr::Csr;
use crate::linalg::space::host::{HostSpace, norm};
use crate::linalg::space::system_space::SystemSpace;
use crate::memory::SMALL;

/// Largest number of steps of iterative refinement after LU.
const REFINEMENTS: usize = 3;

impl<S: SystemSpace> Problem<'_, S> {
    /// Solves by the LU of the back-end if it has one, else on the host, which also decides where
    /// the back-end's LU fails.
    pub(super) fn solve_directly(&self, space: &mut S, cache: &mut LinearCache<S>) -> Result<Solved<S::Vector>, Failure<S::Error>> {
        if space.is_interrupted() {
            return Err(interrupted().into());
        }
        let matrix = space.host_matrix(self.system.matrix()).map_err(Failure::Device)?;
        let b = space.host_vector(self.system.b()).map_err(Failure::Device)?;
        let weights = match self.system.weights() {
            Some((weights, factor)) => Some((space.host_vector(weights).map_err(Failure::Device)?, factor)),
            None => None,
        };
        let has_scaled_rows = self.system.has_scaled_rows();
        let system = OnHostSystem { matrix: &matrix, b: &b, has_scaled_rows, weights };
        let known = std::mem::replace(&mut cache.place, FactorLocation::Unknown);
        let mut place = if let FactorLocation::Unknown = known { self.place(space) } else { known };
        let mut reason = None;
        if let FactorLocation::Device(cached) = &mut place {
            match self.solve_on_device(space, &system, cached, cache) {
                Ok(solved) => {
                    cache.place = place;
                    return self.to_device(space, solved);
                }
                Err(DirectSolveError::ByMatrix(fault)) => {
                    cache.place = place;
                    return Err(fault.into());
                }
                Err(DirectSolveError::ByFactors(fault)) => reason = Some(format!("{} has no solution: {}", cached.name(), fault.detail)),
            }
        }
        if reason.is_some() {
            // A lost device returns its error here, before the host begins.
            space.host_vector(self.system.b()).map_err(Failure::Device)?;
        }
        let mut took = Duration::ZERO;
        let is_interrupted = || space.is_interrupted();
        let mut factors = OnHost { cached: &mut cache.lu, is_interrupted: &is_interrupted };
        let solved = solve_lu(&mut factors, &system, self, &mut took);
        cache.has_set_up(took);
        let solved = solved.map_err(|(DirectSolveError::ByMatrix(fault) | DirectSolveError::ByFactors(fault))| fault);
        let is_confirmed = solved.as_ref().is_err_and(|fault| {
            matches!(fault.kind, LinearErrorKind::Singular | LinearErrorKind::ZeroDerivative { .. } | LinearErrorKind::Incompatible { .. })
        });
        // Device factors that failed now would fail the next time as well.
        cache.place = if reason.is_some() && !is_confirmed { FactorLocation::Host(reason) } else { place };
        self.to_device(space, solved?)
    }

    /// Chooses where to factorise: on the device if the back-end can, except that small systems go
    /// to the host unless the user chose LU.
    fn place(&self, space: &mut S) -> FactorLocation<S> {
        if self.options.method.is_none() && self.system.properties.unknowns <= SMALL {
            return FactorLocation::Host(Some("the system is small".to_owned()));
        }
        FactorLocation::of(space.direct_solver())
    }

    /// Solves by the direct solver of the back-end; retries with a new elimination order where the
    /// cached one fails.
    fn solve_on_device(
        &self,
        space: &mut S,
        system: &OnHostSystem<'_>,
        cached: &mut CachedFactors<S>,
        cache: &mut LinearCache<S>,
    ) -> Result<LuSolution, DirectSolveError> {
        loop {
            let may_be_definite = self.system.properties.may_be_definite();
            let mut took = Duration::ZERO;
            let solved = solve_lu(&mut DeviceLu { cached: &mut *cached, space: &mut *space, may_be_definite }, system, self, &mut took);
            cache.has_set_up(took);
            match solved {
                Err(DirectSolveError::ByFactors(_)) if cached.is_stale() => cached.forget(),
                solved => return solved,
            }
        }
    }

    /// Copies a solution of the host to the device.
    fn to_device(&self, space: &mut S, solution: LuSolution) -> Result<Solved<S::Vector>, Failure<S::Error>> {
        let LuSolution { x, refinements, is_rounded } = solution;
        let x = space.vector(x).map_err(Failure::Device)?;
        Ok(Solved { x, iterations: refinements, is_rounded, detail: None })
    }
}

/// A solution of LU.
struct LuSolution {
    x: Vec<f64>,
    refinements: usize,
    /// True if what is left of uneven rows is their round-off, and more than the tolerance.
    is_rounded: bool,
}

/// A system on the host.
struct OnHostSystem<'a> {
    matrix: &'a Csr,
    b: &'a [f64],
    has_scaled_rows: bool,
    /// The second norm of residuals: weights, and a factor.
    weights: Option<(Vec<f64>, f64)>,
}

impl OnHostSystem<'_> {
    /// Both norms of a residual; 0 for a second one that there is not.
    fn norms(&self, r: &[f64]) -> [f64; 2] {
        let second = self
            .weights
            .as_ref()
            .map_or(0.0, |(weights, factor)| factor * norm(&r.iter().zip(weights).map(|(r, weight)| r * weight).collect::<Vec<f64>>()));
        [norm(r), second]
    }

    /// The larger norm of a residual.
    fn larger_norm(&self, r: &[f64]) -> f64 {
        let [first, second] = self.norms(r);
        larger(first, second)
    }

    /// True if a residual of uneven rows is round-off of their terms.
    fn is_rounded(&self, r: &[f64], x: &[f64], allowed: f64) -> bool {
        let is_uneven = self.has_scaled_rows || self.weights.is_some();
        let terms = || self.norms(&round_off::term_round_off(self.matrix, x, self.b));
        is_uneven && round_off::is_round_off(self.norms(r), terms(), allowed, self.has_scaled_rows)
    }
}

/// Reason why LU gives no solution.
enum DirectSolveError {
    /// The matrix has none, or none more accurate, whatever the factors; or the run is interrupted.
    ByMatrix(MethodError),
    /// The factors are not accurate enough, or there are none.
    ByFactors(MethodError),
}

fn interrupted() -> MethodError {
    MethodError::new(LinearErrorKind::Interrupted, "it was being factorised")
}

impl From<FactorError> for DirectSolveError {
    fn from(fault: FactorError) -> DirectSolveError {
        let memory = || "there is not enough memory for the factors".to_owned();
        match fault {
            FactorError::Zero(detail) => DirectSolveError::ByMatrix(MethodError::new(LinearErrorKind::Singular, detail)),
            FactorError::Singular(detail) => DirectSolveError::ByFactors(MethodError::new(LinearErrorKind::Singular, detail)),
            FactorError::OutOfMemory => DirectSolveError::ByFactors(MethodError::new(LinearErrorKind::Breakdown, memory())),
            FactorError::Unanswered(detail) => DirectSolveError::ByFactors(MethodError::new(LinearErrorKind::Breakdown, detail)),
            FactorError::Interrupted => DirectSolveError::ByMatrix(interrupted()),
        }
    }
}

impl From<MethodError> for DirectSolveError {
    fn from(fault: MethodError) -> DirectSolveError {
        DirectSolveError::ByFactors(fault)
    }
}

/// The solution for this scaled right-hand side, and its steps of refinement; `took` is the time of
/// the factorisation.
fn solve_lu<S: SystemSpace>(
    factors: &mut impl Elimination,
    system: &OnHostSystem<'_>,
    problem: &Problem<'_, S>,
    took: &mut Duration,
) -> Result<LuSolution, DirectSolveError> {
    let PreparedSystem { null_space, ends, scale, size, row_scales, .. } = problem.system;
    let negligible = problem.options.negligible * size;
    let (matrix, options) = (system.matrix, problem.options);
    let started = Instant::now();
    // Which equation of a singular block to replace may be uncertain before factorising; the cache
    // keeps the one that worked.
    let attempts = if null_space.is_known() { 1 } else { ends.len() };
    let mut choices = (0..attempts).map(|attempt| pins(matrix, null_space, ends, attempt));
    let mut pinned = choices.next().unwrap_or_default();
    let mut first_fault = None;
    let mut target = with_places(matrix, &pinned);
    while let Err(fault) = factors.factorize(target.as_ref().unwrap_or(matrix), &pinned) {
        let is_final = fault == FactorError::Interrupted;
        let fault = first_fault.get_or_insert(fault);
        let Some(next) = choices.next().filter(|_| !is_final) else {
            *took += started.elapsed();
            return Err(fault.clone().into());
        };
        target = with_places(matrix, &next);
        pinned = next;
    }
    *took += started.elapsed();

    let mut b = system.b.to_vec();
    // The left null vectors of a matrix of rounded entries are known up to the rounding.
    let rounded = options.rounding > f64::EPSILON;
    if !null_space.is_known() || rounded {
        let known = left_null_vectors(matrix, null_space, &pinned, factors, rounded)?;
        let rows = Balanced { b: &b, size: norm(&b), scale: *scale, row_scales: row_scales.as_deref() };
        check_balance(&known, rows, options, &mut HostSpace::new(b.len()))?;
        known.project_to_range(&mut b);
    }

    let size = norm(&b);
    let mut x = vec![0.0; b.len()];
    if size == 0.0 {
        return Ok(LuSolution { x, refinements: 0, is_rounded: false });
    }
    let mut r = b.clone();
    let mut best = f64::INFINITY;
    for refinement in 0..=REFINEMENTS {
        pinned.iter().for_each(|pin| r[pin.row] = 0.0);
        factors.solve(&mut r, false)?;
        x.iter_mut().zip(&r).for_each(|(x, r)| *x += r);
        if x.iter().any(|x| !x.is_finite()) {
            return Err(MethodError {
                iterations: refinement,
                ..MethodError::new(LinearErrorKind::Singular, "the solution is not finite")
            }
            .into());
        }
        r = matrix.mul(&x);
        r.iter_mut().zip(&b).for_each(|(r, b)| *r = b - *r);
        let left = system.larger_norm(&r) / size;
        if left <= SHARE * options.tolerance {
            return Ok(LuSolution { x, refinements: refinement, is_rounded: false });
        }
        best = best.min(left);
    }
    if system.larger_norm(&r) <= negligible {
        return Ok(LuSolution { x, refinements: REFINEMENTS, is_rounded: false });
    }
    let detail = format!("{REFINEMENTS} steps of iterative refinement leave the residual above the tolerance {:.1e}", options.tolerance);
    let fault = MethodError { kind: LinearErrorKind::Stagnation, iterations: REFINEMENTS, residual: Some(best), detail };
    if system.is_rounded(&r, &x, SHARE * options.tolerance * size) {
        return Ok(LuSolution { x, refinements: REFINEMENTS, is_rounded: true });
    }
    Err(if norm(&r) <= round_off::AT_LIMIT * norm(&round_off::term_round_off(matrix, &x, &b)) {
        DirectSolveError::ByMatrix(fault)
    } else {
        DirectSolveError::ByFactors(fault)
    })
}
