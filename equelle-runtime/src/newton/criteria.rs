//! Convergence criteria of Newton's method.
//!
//! Without a tolerance of the residual, nothing may depend on its unit: an equation times a number
//! has the same solution. Then a correction follows unless the residual is zero, and any of these
//! criteria ends the solve:
//!
//! * The next correction would be negligible compared with the unknowns. It is estimated: the last
//!   one times the factor by which that reduced the residual. So a linear equation that is solved
//!   exactly takes one correction, and so does a guess that is the solution.
//! * The residual is negligible compared with that at the guess, and the next correction would be
//!   small. The latter, since a poor guess makes any residual look small.
//! * The residual no longer decreases and is round-off of its terms: as large as roundings of
//!   `sum_j |J_ij| |u_j|` in each row. So an ill-conditioned matrix, which turns round-off into
//!   larger corrections, ends the solve. Of a linear problem it need not have stagnated if the next
//!   correction would be small: that would be a step of iterative refinement.
//!
//! Each equation and each unknown is judged by itself, since they have different units. Where the
//! rows of a linear system differ much in size, each equation is judged with these rows scaled, too
//! or instead, as in the linear solve ([`crate::linalg::driver::system`]). The scales of the next
//! system may be others, so norms at the guess are carried along by ratios. Tolerances that a user
//! gives are in the unit of the residual.

use std::fmt;

use super::options::Options;
use super::problem::{Problem, Size, Update};
use super::report::History;
use crate::error::{Error, ErrorKind};
use crate::linalg::null_space::round_off;

/// Sizes that are negligible where no tolerance is given.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Limits {
    /// Size of the residual, relative to that at the guess.
    pub reduction: f64,
    /// Size of the next correction, relative to the unknowns.
    pub next: f64,
    /// Size of the next correction where the residual has been reduced, relative to the unknowns.
    pub next_if_reduced: f64,
}

impl Limits {
    /// For numbers with this machine epsilon.
    ///
    /// Double precision: the reduction is twice what one linear solve reaches that aims for it, a
    /// hundredth of the default 1e-8 of `solver_tol`. The next correction would change the
    /// thirteenth digit of an unknown, as some thousand roundings do. Single precision has seven
    /// digits: the next correction would change the last one or the one before.
    pub fn of(rounding: f64) -> Limits {
        if rounding > f64::EPSILON {
            Limits { reduction: 1e-6, next: 2e-7, next_if_reduced: 1e-5 }
        } else {
            Limits { reduction: 2e-10, next: 1e-12, next_if_reduced: 1e-8 }
        }
    }
}

/// Part of the accepted residual that a linear solve may leave; the rest is for the round-off of
/// the residual.
const AIM: f64 = 0.5;
/// Part of `abs_res_tol` that a linear solve may leave: the residual can still get below it.
const AIM_FOR_TOLERANCE: f64 = 0.1;
/// A residual that keeps more than this part has stagnated.
const STALLED: f64 = 0.5;

/// The criterion that ended a solve.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum ConvergedReason {
    /// `abs_res_tol`.
    Absolute,
    /// `rel_res_tol`.
    Relative,
    /// `update_tol`.
    Update,
    /// `abs_res_tol_1` and so on.
    Equations,
    /// The residual is zero.
    Zero,
    /// The estimated next correction, relative to the unknowns.
    Next(f64),
    /// The residual, relative to that at the guess.
    Reduced(f64),
    /// The residual is round-off of its terms.
    Rounding,
}

impl fmt::Display for ConvergedReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ConvergedReason::Absolute => write!(f, "the norm of the residual is at most `abs_res_tol`"),
            ConvergedReason::Relative => write!(f, "the residual has been reduced by `rel_res_tol`"),
            ConvergedReason::Update => write!(f, "the correction was at most `update_tol` of the unknowns"),
            ConvergedReason::Equations => write!(f, "the norm of each equation is at most its own tolerance"),
            ConvergedReason::Zero => write!(f, "the residual is zero"),
            ConvergedReason::Next(part) => write!(f, "the next correction would be about {part:.1e} of the unknowns"),
            ConvergedReason::Reduced(part) => write!(f, "the residual is {part:.1e} of that at the guess"),
            ConvergedReason::Rounding => write!(f, "the residual is round-off of its terms"),
        }
    }
}

impl Size {
    /// The correction relative to the unknown before or after it, whichever is larger: at most 1, 0
    /// where both are 0.
    fn part(self) -> f64 {
        let Size { correction, unknown } = self;
        // An unknown that became zero was as large as the correction.
        if correction == 0.0 { 0.0 } else { correction / unknown.max(correction) }
    }
}

/// The criteria of a solve, with the norms that they compare.
pub(super) struct Criteria<'a> {
    options: &'a Options,
    limits: Limits,
    /// Norms of the equations at the guess ([`Problem::judged_norms`]).
    first: Vec<f64>,
    /// Norms of the equations before the last correction.
    before: Vec<f64>,
    /// Norm of all equations at the guess.
    first_norm: f64,
    /// Norm of all equations at the iterate before the next correction, and the Euclidean one.
    norm: f64,
    plain: f64,
    /// Norm of a residual that linear solves may leave.
    neglected: f64,
}

impl<'a> Criteria<'a> {
    pub fn new(options: &'a Options) -> Criteria<'a> {
        let limits = Limits::of(options.rounding);
        Criteria { options, limits, first: Vec::new(), before: Vec::new(), first_norm: 0.0, norm: 0.0, plain: 0.0, neglected: 0.0 }
    }

    /// True if no tolerance of the residual is given.
    pub fn are_default(&self) -> bool {
        self.options.abs_res_tol.is_none()
    }

    /// True if this norm satisfies a criterion by itself.
    pub fn are_met_by_norm(&self, norm: f64) -> bool {
        self.options.abs_res_tol.is_some_and(|tolerance| norm <= tolerance)
    }

    /// The norm of the residual that satisfies a criterion.
    pub fn target(&self) -> f64 {
        self.options.abs_res_tol.unwrap_or(self.limits.reduction * self.first_norm)
    }

    /// The part of its right-hand side that the next linear solve may leave.
    pub fn negligible(&self) -> f64 {
        match self.options.abs_res_tol {
            Some(tolerance) => AIM_FOR_TOLERANCE * tolerance / self.plain,
            None => self.neglected / self.norm,
        }
    }

    /// Allows linear solves to leave this part of the residual.
    pub fn neglect(&mut self, part: f64) {
        self.neglected = self.neglected.max(part * self.norm);
    }

    /// Stores the norm at the guess.
    pub fn begin(&mut self, norm: f64) {
        (self.first_norm, self.norm, self.plain) = (norm, norm, norm);
        self.neglected = AIM * self.limits.reduction * norm;
    }

    /// Stores the norms at the iterate before the next correction: of all equations, as it is
    /// judged and as it is.
    pub fn start(&mut self, problem: &mut dyn Problem, judged: f64, plain: f64) -> Result<(), Error> {
        (self.norm, self.plain) = (judged, plain);
        if self.are_default() {
            self.before = problem.judged_norms()?;
            if self.first.is_empty() {
                self.first.clone_from(&self.before);
            }
        }
        Ok(())
    }

    /// Converts all norms to the row scales of the linear system of the last correction, after
    /// which nothing was evaluated yet.
    pub fn rescale(&mut self, problem: &mut dyn Problem, plain: f64) -> Result<f64, Error> {
        let norm = problem.judged_norm(plain)?;
        let ratio = |now: f64, before: f64| if now == before || before == 0.0 { 1.0 } else { now / before };
        let by = ratio(norm, self.norm);
        self.first_norm *= by;
        self.norm = norm;
        if self.are_default() {
            self.neglected *= by;
            let now = problem.judged_norms()?;
            let equations = problem.equations();
            let mut first = Vec::with_capacity(now.len());
            for (number, now) in now.iter().enumerate() {
                // A norm with scaled rows follows the one without where there was none.
                let known = if number < self.before.len() { number } else { number % equations };
                first.push(self.first[known] * ratio(*now, self.before[known]));
            }
            (self.first, self.before) = (first, now);
        }
        Ok(norm)
    }

    /// The criterion that holds after an evaluation with this judged norm; `update` led to it.
    pub fn met(
        &self,
        problem: &mut dyn Problem,
        history: &History,
        judged: f64,
        update: Option<Update>,
    ) -> Result<Option<ConvergedReason>, Error> {
        let (norm, options) = (history.norm(), self.options);
        if self.are_met_by_norm(norm) {
            return Ok(Some(ConvergedReason::Absolute));
        }
        if options.rel_res_tol > 0.0 && judged <= options.rel_res_tol * self.first_norm {
            return Ok(Some(ConvergedReason::Relative));
        }
        if options.update_tol > 0.0 && history.count() > 0 {
            let update = update.ok_or_else(|| Error::new(ErrorKind::Data, "this back-end takes no tolerance of updates (`update_tol`)"))?;
            // An update that stopped at a bound, or was shortened, is no measure of convergence.
            if update.at_bounds == 0 && !update.shortened && update.norm <= options.update_tol * update.unknowns {
                return Ok(Some(ConvergedReason::Update));
            }
        }
        if !options.equation_tols.is_empty() {
            let norms = problem.equation_norms()?;
            if options.equation_tols.iter().all(|&(equation, tolerance)| norms.get(equation).is_some_and(|norm| *norm <= tolerance)) {
                return Ok(Some(ConvergedReason::Equations));
            }
        }
        match self.are_default() {
            true if norm == 0.0 => Ok(Some(ConvergedReason::Zero)),
            true if history.count() > 0 => self.met_by_default(problem),
            true | false => Ok(None),
        }
    }

    /// The criterion that holds after a correction if no tolerance of the residual is given.
    pub fn met_by_default(&self, problem: &mut dyn Problem) -> Result<Option<ConvergedReason>, Error> {
        if !self.are_default() {
            return Ok(None);
        }
        let norms = problem.judged_norms()?;
        // Written so that NaN fails.
        let reduced: Vec<bool> = norms.iter().zip(&self.first).map(|(norm, first)| *norm <= self.limits.reduction * first).collect();
        let stalls = |number: usize| norms[number] > STALLED * self.before[number];
        let kept = |number: usize| match (norms[number], self.before[number]) {
            (0.0, _) => 0.0,
            // A residual that was zero before has kept all of it.
            (norm, before) => (norm / before).min(1.0),
        };
        let sizes = problem.correction_sizes()?;
        let part = if sizes.is_empty() { 1.0 } else { sizes.into_iter().map(Size::part).fold(0.0, largest) };
        let next = |rounded: &[bool]| part * (0..norms.len()).filter(|&number| !rounded[number]).map(kept).fold(0.0, largest);
        let mut rounded = vec![false; norms.len()];
        let is_linear = problem.linearity().is_some_and(|linearity| linearity.is_linear());
        let refines = is_linear && next(&rounded) <= self.limits.next_if_reduced;
        if (0..norms.len()).any(|number| !reduced[number] && (refines || stalls(number))) {
            rounded = self.within_rounding(problem, &norms)?;
            if rounded.iter().all(|rounded| *rounded) {
                return Ok(Some(ConvergedReason::Rounding));
            }
        }
        let next = next(&rounded);
        if next <= self.limits.next {
            return Ok(Some(ConvergedReason::Next(next)));
        }
        let is_reduced = (0..norms.len()).all(|number| reduced[number] || rounded[number]);
        if is_reduced && next <= self.limits.next_if_reduced {
            let left = (0..norms.len()).filter(|&number| !rounded[number]).map(|number| norms[number] / self.first[number]);
            return Ok(Some(ConvergedReason::Reduced(left.fold(0.0, largest))));
        }
        Ok(None)
    }

    /// True if the judged norm of each equation is round-off of its terms; false if the back-end
    /// does not compute these.
    pub fn within_rounding(&self, problem: &mut dyn Problem, norms: &[f64]) -> Result<Vec<bool>, Error> {
        let terms = problem.terms()?;
        let least = round_off(self.options.rounding);
        Ok(norms.iter().enumerate().map(|(number, norm)| terms.get(number).is_some_and(|terms| *norm <= least * terms)).collect())
    }

    /// Round-off in the residual of all equations together, as a part of it: in each of the norms
    /// by which it is judged, the smallest of these.
    pub fn rounding(&self, problem: &mut dyn Problem, norms: &[f64]) -> Result<f64, Error> {
        let terms = problem.terms()?;
        let equations = problem.equations();
        let whole = |norms: &[f64]| norms.iter().map(|norm| norm * norm).sum::<f64>().sqrt();
        let parts = terms.chunks(equations).zip(norms.chunks(equations)).map(|(terms, norms)| whole(terms) / whole(norms));
        let least = parts.fold(f64::INFINITY, f64::min);
        Ok(if terms.is_empty() { 0.0 } else { round_off(self.options.rounding) * least })
    }
}

/// The larger number; NaN wins.
fn largest(most: f64, value: f64) -> f64 {
    if value > most || value.is_nan() { value } else { most }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_correction_is_at_most_all_of_an_unknown() {
        let part = |correction, unknown| Size { correction, unknown }.part();
        assert_eq!(part(1.0, 4.0), 0.25);
        // From 1 to 0, and zero without change.
        assert_eq!(part(1.0, 0.0), 1.0);
        assert_eq!(part(0.0, 0.0), 0.0);
        assert!(part(f64::NAN, 1.0).is_nan());
    }

    /// The linear solver aims for the reduction only where that is near `solver_tol`.
    #[test]
    fn one_linear_solve_may_reach_the_reduction() {
        use crate::linalg::LinearOptions;
        use crate::linalg::krylov::iteration::{Pursuit, Target};
        let (options, criteria) = (Options::default(), LinearOptions::default());
        let mut newton = Criteria::new(&options);
        newton.begin(1.0);
        let saves = newton.negligible();
        // The driver leaves a tenth of the tolerance for what follows the method.
        assert_eq!(Target::toward(1.0, 0.9 * criteria.tolerance, saves, Pursuit::Near).aim, saves);
    }
}
