//! Which corrections of a solve leave no more than their linear systems do, as those of a linear
//! problem. What one solve of a program shows is expected of the next at the same line.

use crate::linalg::krylov::iteration::Pursuit;

/// A residual after a correction is that of its linear system up to this factor.
const SAME: f64 = 2.0;

/// Linearity of the corrections of this solve and of an earlier one.
#[derive(Clone, Copy, Debug, Default)]
pub struct Linearity {
    /// The earlier solve at this line: the correction, from 0, since which all were linear.
    before: Option<Shown>,
    /// This solve.
    now: Option<Shown>,
}

/// Corrections of a solve.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Shown {
    /// All from this one on were linear.
    LinearFrom(usize),
    /// The last one was not.
    NotLinear,
}

impl Linearity {
    /// A solve begins.
    pub(super) fn begin(&mut self) {
        self.before = self.now.take().or(self.before);
    }

    /// How far the linear solve of a correction, counted from 0, may go for the residual that ends
    /// Newton's method.
    pub(super) fn pursuit(&self, correction: usize) -> Pursuit {
        let linear_from = |from: usize| if correction >= from { Pursuit::Saved } else { Pursuit::Near };
        match (self.now, self.before) {
            (Some(Shown::LinearFrom(_)), _) => Pursuit::Saved,
            (_, Some(Shown::LinearFrom(from))) => linear_from(from),
            (Some(Shown::NotLinear), _) | (_, Some(Shown::NotLinear)) => Pursuit::Near,
            (None, None) => Pursuit::Affordable,
        }
    }

    /// True if the last correction was that of a linear problem.
    pub(super) fn is_linear(&self) -> bool {
        matches!(self.now, Some(Shown::LinearFrom(_)))
    }

    /// A correction left the residual `after` where its linear system left `linear`, or less than
    /// the `target` of both.
    pub(super) fn observe(&mut self, correction: usize, linear: f64, after: f64, target: f64) {
        let is_linear = after <= SAME * linear.max(target);
        self.now = Some(match self.now {
            Some(Shown::LinearFrom(from)) if is_linear => Shown::LinearFrom(from),
            _ if is_linear => Shown::LinearFrom(correction),
            _ => Shown::NotLinear,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Corrections that leave 1e-8 of a residual by the linear system, and these parts in all.
    fn solve(linearity: &mut Linearity, left: &[f64]) -> Vec<Pursuit> {
        linearity.begin();
        let mut norm = 1.0;
        let mut pursuits = Vec::new();
        for (correction, left) in left.iter().enumerate() {
            pursuits.push(linearity.pursuit(correction));
            linearity.observe(correction, 1e-8 * norm, left * norm, 1e-12);
            norm *= left;
        }
        pursuits
    }

    #[test]
    fn a_linear_problem_is_known_after_a_correction() {
        let mut linearity = Linearity::default();
        assert_eq!(solve(&mut linearity, &[1e-8, 1e-4]), [Pursuit::Affordable, Pursuit::Saved]);
        assert_eq!(solve(&mut linearity, &[1e-8]), [Pursuit::Saved]);
    }

    #[test]
    fn a_problem_that_becomes_linear_is_pursued_from_there_on() {
        let mut linearity = Linearity::default();
        let left = [0.1, 0.01, 1e-8, 1e-2];
        assert_eq!(solve(&mut linearity, &left), [Pursuit::Affordable, Pursuit::Near, Pursuit::Near, Pursuit::Saved]);
        assert_eq!(solve(&mut linearity, &left[..3]), [Pursuit::Near, Pursuit::Near, Pursuit::Saved]);
        // Earlier linearity is forgotten where it no longer holds.
        assert_eq!(solve(&mut linearity, &[0.1, 0.01, 0.001]), [Pursuit::Near, Pursuit::Near, Pursuit::Saved]);
        assert_eq!(solve(&mut linearity, &[0.1, 0.01, 0.001]), [Pursuit::Near; 3]);
    }
}
