//! Residuals that no method makes smaller: what is left is the round-off of their terms.
//!
//! Where a row is small beside others, its terms are large beside its right-hand side. A tolerance
//! relative to that side may then lie below what double precision can give.

use super::system::PreparedSystem;
#[cfg(feature = "lu")]
use crate::linalg::matrix::csr::Csr;
use crate::linalg::space::system_space::SystemSpace;

/// A residual of at most this times the [round-off of its terms](term_round_off) is the limit of
/// double precision for the system, whatever the method.
pub(super) const AT_LIMIT: f64 = 2.0;
/// Multiple of the tolerance that the round-off of scaled rows may leave: the balance of all rows
/// must be good all the same.
const SCALED_ROWS: f64 = 100.0;

/// True if a residual that is above `allowed` in either norm is round-off there. Both norms of the
/// residual and of the round-off of its terms are given; the second one is 0 where a system has
/// one.
pub(super) fn is_round_off(residual: [f64; 2], terms: [f64; 2], allowed: f64, has_scaled_rows: bool) -> bool {
    let is_at_limit = |norm: usize| residual[norm] <= AT_LIMIT * terms[norm];
    let is_balanced = residual[0] <= allowed || (has_scaled_rows && residual[0] <= SCALED_ROWS * allowed && is_at_limit(0));
    is_balanced && (residual[1] <= allowed || is_at_limit(1))
}

/// Round-off in the residual of a solution: in each row a rounding of its largest possible partial
/// sum. `[n_rows]`
#[cfg(feature = "lu")]
pub(super) fn term_round_off(matrix: &Csr, x: &[f64], b: &[f64]) -> Vec<f64> {
    let terms = |row: usize| matrix.row(row).map(|(column, value)| (value * x[column]).abs()).sum::<f64>() + b[row].abs();
    (0..b.len()).map(|row| f64::EPSILON * terms(row)).collect()
}

impl<S: SystemSpace> PreparedSystem<'_, S> {
    /// True if rows are uneven and what is left of them by `x` is the round-off of their terms. For
    /// where a method has given up: copies the matrix.
    ///
    /// # Errors
    /// Out of memory, or the device was lost.
    pub fn is_at_round_off(&self, space: &mut S, x: &S::Vector, allowed: f64) -> Result<bool, S::Error> {
        if !self.has_scaled_rows() && self.weights().is_none() {
            return Ok(false);
        }
        let residual = self.norms(space, self.b(), x)?;
        let [x, b] = [space.host_vector(x)?, space.host_vector(self.b())?].map(|values| values.into_iter().map(f64::abs).collect());
        let (x, b) = (space.vector(x)?, space.vector(b)?);
        let mut terms = space.zeros()?;
        let magnitudes = space.magnitudes(self.matrix())?;
        space.multiply(&mut terms, &magnitudes, &x);
        let (one, epsilon) = (space.constant(1.0), space.constant(f64::EPSILON));
        space.add_scaled(&mut terms, &one, &b);
        space.scale(&mut terms, &epsilon);
        let norms = self.norms_of(space, &terms)?;
        [x, b, terms].into_iter().for_each(|vector| space.recycle(vector));
        Ok(is_round_off(residual, norms, allowed, self.has_scaled_rows()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn residuals_at_the_limit_are_round_off_where_rows_are_scaled_or_weighed() {
        let allowed = 1e-8;
        // The second norm, of weighed rows, may be as large as its terms round.
        assert!(is_round_off([0.9e-8, 3e-7], [1e-12, 1.6e-7], allowed, false));
        assert!(!is_round_off([0.9e-8, 3e-7], [1e-12, 1.4e-7], allowed, false));
        // The balance of all rows, only if the rows are scaled and it is within two digits.
        assert!(!is_round_off([5e-8, 0.0], [4e-8, 0.0], allowed, false));
        assert!(is_round_off([5e-8, 0.0], [4e-8, 0.0], allowed, true));
        assert!(!is_round_off([5e-8, 0.0], [2e-8, 0.0], allowed, true));
        assert!(!is_round_off([1.1e-6, 0.0], [4e-6, 0.0], allowed, true));
        // Scaled and weighed: each norm by its own rule.
        assert!(is_round_off([5e-8, 1e-6], [4e-8, 1e-6], allowed, true));
        assert!(!is_round_off([5e-8, 1e-6], [4e-8, 1e-7], allowed, true));
        assert!(!is_round_off([f64::NAN, 0.0], [1.0, 0.0], allowed, true));
    }
}
