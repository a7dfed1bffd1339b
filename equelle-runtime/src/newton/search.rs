//! Line search: shortens a correction that does not reduce the residual.
//!
//! A trial evaluates the residual at a shorter step, without side effects. The step is at least
//! halved, to the minimum of the parabola through the known values (J. E. Dennis and R. B.
//! Schnabel, Numerical Methods for Unconstrained Optimization and Nonlinear Equations, section 6.3,
//! SIAM 1996, doi:10.1137/1.9781611971200), on the square of the norm, whose slope at 0 is -2 times
//! itself for an exact correction.

use super::criteria::Criteria;
use super::problem::{Problem, Trial};
use crate::error::Error;

/// Sufficient decrease, as a part of the reduction of a linear residual.
const ENOUGH: f64 = 1e-4;
/// Largest and smallest ratio of a step to the one before.
const SHORTER: (f64, f64) = (0.5, 0.1);
/// Largest number of trials.
const MAX_REJECTED: usize = 10;

/// The line search of one solve.
pub(super) struct LineSearch {
    is_on: bool,
}

/// An accepted step.
pub(super) struct Step {
    /// Norm of the residual after it.
    pub norm: f64,
    /// The same, as it is compared with the norm before it.
    pub judged: f64,
    /// Part of the correction that was taken.
    pub length: f64,
    /// Number of rejected lengths.
    pub rejected: usize,
}

impl LineSearch {
    pub(super) fn new(is_on: bool) -> LineSearch {
        LineSearch { is_on }
    }

    /// True if the search is still on.
    pub(super) fn is_on(&self) -> bool {
        self.is_on
    }

    /// Evaluates the residual after a correction, and shortens the correction until the judged norm
    /// is sufficiently below `before`. If no length suffices, takes the whole correction if the
    /// residual is finite there, and all later ones: the search does not suit this problem. A
    /// correction that ends the solve is taken whole, whatever `before` was.
    pub(super) fn step(&mut self, problem: &mut dyn Problem, criteria: &Criteria<'_>, before: f64) -> Result<Step, Error> {
        if !self.is_on {
            let norm = problem.evaluate()?;
            return Ok(Step { norm, judged: problem.judged_norm(norm)?, length: 1.0, rejected: 0 });
        }
        let full = problem.evaluate_silently()?;
        let (mut trial, mut length, mut rejected) = (full, 1.0, 0);
        let mut judged = problem.judged_norm(trial.norm)?;
        // Written so that NaN fails.
        while !(judged <= (1.0 - ENOUGH * length) * before || criteria.are_met_by_norm(trial.norm)) {
            if rejected == 0 && trial.norm.is_finite() && criteria.met_by_default(problem)?.is_some() {
                break;
            }
            rejected += 1;
            if rejected == MAX_REJECTED {
                self.is_on = false;
                if full.norm.is_finite() {
                    length = 1.0;
                    problem.shorten(length)?;
                    trial = problem.evaluate_silently()?;
                    judged = problem.judged_norm(trial.norm)?;
                }
                break;
            }
            length *= part(length, judged / before);
            problem.shorten(length)?;
            trial = problem.evaluate_silently()?;
            judged = problem.judged_norm(trial.norm)?;
        }
        let Trial { norm, held_back } = trial;
        let norm = if held_back { problem.evaluate()? } else { norm };
        Ok(Step { norm, judged, length, rejected })
    }
}

/// The ratio of the next length to this one; `ratio`: the norm there over the norm at 0.
fn part(length: f64, ratio: f64) -> f64 {
    let (most, least) = SHORTER;
    if !ratio.is_finite() {
        return most;
    }
    (length / (ratio * ratio - 1.0 + 2.0 * length)).clamp(least, most)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The square of the norm along a correction as a parabola: 1 at 0, where it falls by 2, and as
    /// measured. Of length 1 that is `1 - 2 t + 5 t^2` if the norm doubles, least at 1/5; of length
    /// 1/2 it is `1 - 2 t + 9 t^2` if the norm becomes 1.5, least at 1/9.
    #[test]
    fn a_shorter_correction_is_the_least_of_a_parabola() {
        assert_eq!(part(1.0, 2.0), 0.2);
        assert!((0.5 * part(0.5, 1.5) - 1.0 / 9.0).abs() < 1e-15);
        let (most, least) = SHORTER;
        assert_eq!((part(1.0, 1e3), part(1.0, 0.99), part(1.0, f64::NAN)), (least, most, most));
    }
}
