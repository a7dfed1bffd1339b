//! The largest eigenvalue of `D^-1 A`, which scales smoothers and prolongations.
//!
//! C. Lanczos, An iteration method for the solution of the eigenvalue problem of linear
//! differential and integral operators, J. Res. Nat. Bur. Standards 45 (1950),
//! doi:10.6028/jres.045.026; its largest Ritz value by bisection on Sturm sequences.

use super::hierarchy::Coarsen;
use crate::linalg::space::matrix_space::MatrixSpace;

/// Steps of Lanczos' method.
const STEPS: usize = 10;

/// Estimate of the spectral radius of `D^-1 A`, at most the largest row sum of magnitudes. For a
/// symmetric matrix with positive diagonal, some steps of Lanczos' method, from below to some per
/// cent; otherwise that row sum. 1 for a zero matrix.
///
/// `inverse` is the inverse of the diagonal, 0 in rows to leave out.
///
/// # Errors
/// Out of memory.
pub fn spectral_radius<S: Coarsen>(space: &mut S, matrix: &S::Matrix, inverse: &S::Vector, symmetric: bool) -> Result<f64, S::Error> {
    let (bound, is_negative) = space.row_bound(matrix, inverse)?;
    if bound == 0.0 || !bound.is_finite() {
        return Ok(1.0);
    }
    if !symmetric || is_negative {
        return Ok(bound);
    }
    let estimate = match space.estimate_radius(matrix, inverse)? {
        Some(estimate) => estimate,
        None => {
            let n = S::shape(matrix).rows;
            let (roots, noise) = (space.reciprocal_roots(inverse)?, space.noise(n)?);
            let mut start = space.zeros_of(n)?;
            space.add_diagonal(&mut start, 0.0, 1.0, &roots, &noise);
            lanczos(space, matrix, inverse, start)?
        }
    };
    Ok(if estimate > 0.0 && estimate.is_finite() { estimate.min(bound) } else { bound })
}

/// Largest Ritz value of `D^-1 A` from the residual `r`, 0 if there is none. The coefficients of
/// conjugate gradients with Jacobi give the tridiagonal matrix of Lanczos' method (Y. Saad,
/// Iterative Methods for Sparse Linear Systems, 2003, doi:10.1137/1.9780898718003, 6.7.3): three
/// passes a step with the fused operations of [`MatrixSpace`]. The host waits once, at the end.
pub(in crate::linalg::precond) fn lanczos<S: MatrixSpace>(
    space: &mut S,
    matrix: &S::Matrix,
    inverse: &S::Vector,
    mut r: S::Vector,
) -> Result<f64, S::Error> {
    let n = S::shape(matrix).rows;
    let (mut x, mut p) = (space.zeros_of(n)?, space.zeros_of(n)?);
    let (mut q, mut z) = (space.zeros_of(n)?, space.zeros_of(n)?);
    space.add_diagonal(&mut p, 0.0, 1.0, inverse, &r);
    let mut rz = space.apply_diagonal_dot(&mut z, inverse, &r);
    let mut known: Vec<S::Scalar> = Vec::with_capacity(2 * STEPS);
    let steps = STEPS.min(S::parts(matrix).whole.rows);
    for _ in 0..steps {
        let curvature = space.multiply_dot(&mut q, matrix, &p, &p);
        let alpha = space.ratio(&rz, &curvature);
        let rz_new = space.advance_diagonal(&mut r, &alpha, &q, &mut z, inverse);
        let beta = space.ratio(&rz_new, &rz);
        space.step_diagonal([&mut x, &mut p], [&alpha, &beta], [&z, inverse, &r]);
        rz = rz_new;
        known.extend([alpha, beta]);
    }
    let one = space.constant(1.0);
    let known: [&S::Scalar; 2 * STEPS] = std::array::from_fn(|at| known.get(at).unwrap_or(&one));
    let known = space.read(known)?;
    let (mut diagonal, mut beside): (Vec<f64>, Vec<f64>) = (Vec::new(), Vec::new());
    // Passed from a step to the next: beta / alpha.
    let mut carried = 0.0;
    for pair in known.as_chunks::<2>().0.iter().take(steps) {
        let [alpha, beta] = *pair;
        let next = 1.0 / alpha + carried;
        if !next.is_finite() {
            break;
        }
        diagonal.push(next);
        let off = beta.sqrt() / alpha;
        if !off.is_finite() || off.abs() <= 1e-10 * next.abs() {
            break;
        }
        beside.push(off);
        carried = beta / alpha;
    }
    beside.truncate(diagonal.len().saturating_sub(1));
    Ok(if diagonal.is_empty() { 0.0 } else { largest_eigenvalue(&diagonal, &beside) })
}

/// Largest eigenvalue of a symmetric tridiagonal matrix, to about 1e-6 of its norm.
fn largest_eigenvalue(diagonal: &[f64], beside: &[f64]) -> f64 {
    let n = diagonal.len();
    let reach = |i: usize| {
        let left = if i > 0 { beside[i - 1].abs() } else { 0.0 };
        left + beside.get(i).map_or(0.0, |b| b.abs())
    };
    let mut high = (0..n).map(|i| diagonal[i] + reach(i)).fold(f64::NEG_INFINITY, f64::max);
    let mut low = diagonal.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    // All eigenvalues lie below x if all pivots of T - x are negative.
    let all_below = |x: f64| {
        let mut pivot = 1.0;
        (0..n).all(|i| {
            let square = if i > 0 { beside[i - 1] * beside[i - 1] } else { 0.0 };
            pivot = diagonal[i] - x - square / pivot;
            pivot < 0.0
        })
    };
    for _ in 0..24 {
        let middle = 0.5 * (low + high);
        if all_below(middle) {
            high = middle;
        } else {
            low = middle;
        }
    }
    high
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::matrix::csr::Csr;
    use crate::linalg::space::host::HostSpace;

    #[test]
    fn eigenvalues_of_a_tridiagonal_matrix() {
        // (2 -1; -1 2) has 1 and 3.
        assert!((largest_eigenvalue(&[2.0, 2.0], &[-1.0]) - 3.0).abs() < 1e-6);
        assert!((largest_eigenvalue(&[-5.0], &[]) + 5.0).abs() < 1e-6);
    }

    #[test]
    fn poisson_in_one_dimension() {
        // D^-1 A has eigenvalues 1 - cos(j pi / (n + 1)), the largest below 2. Ten steps come
        // within a few per cent from below.
        let n = 200;
        let entries: Vec<_> = (0..n)
            .flat_map(|i| {
                [(i, i, 2.0), (i, (i + 1) % n, if i + 1 < n { -1.0 } else { 0.0 }), ((i + 1) % n, i, if i + 1 < n { -1.0 } else { 0.0 })]
            })
            .collect();
        let matrix = Csr::from_triplets(n, n, &entries).expect("legal");
        let radius = |matrix: &Csr, inverse: f64, symmetric: bool| {
            let rows = matrix.n_rows();
            let Ok(radius) = spectral_radius(&mut HostSpace::new(rows), &matrix.clone().into(), &vec![inverse; rows], symmetric);
            radius
        };
        let estimate = radius(&matrix, 0.5, true);
        assert!(estimate > 1.9 && estimate < 2.0, "{estimate}");
        assert_eq!(radius(&matrix, 0.5, false), 2.0, "the row sum");
        // That of the first row is the largest.
        let first = Csr::from_triplets(2, 2, &[(0, 0, 1.0), (0, 1, 4.0), (1, 1, 1.0)]).expect("legal");
        assert_eq!(radius(&first, 1.0, false), 5.0);
        assert_eq!(radius(&Csr::from_triplets(2, 2, &[]).expect("legal"), 0.0, true), 1.0);
    }
}
