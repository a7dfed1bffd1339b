//! The largest eigenvalue of `D^-1 A`, which scales smoothers and prolongations.
//!
//! C. Lanczos, An iteration method for the solution of the eigenvalue problem of linear differential and integral operators, J. Res. Nat.
//! Bur. Standards 45 (1950), doi:10.6028/jres.045.026; its largest Ritz value by bisection on Sturm sequences.

use super::super::super::csr::Csr;
use super::super::super::host::dot;

/// Steps of Lanczos' method.
const STEPS: usize = 10;

/// An estimate of the spectral radius of `D^-1 A`, at most the largest row sum of magnitudes. For a symmetric matrix with a positive diagonal a
/// few steps of Lanczos' method, which come within some per cent from below; otherwise that row sum. 1 for a matrix of zeros.
///
/// `inverse` is the inverse of the diagonal, 0 in rows that do not count.
pub(super) fn spectral_radius(matrix: &Csr, inverse: &[f64], symmetric: bool) -> f64 {
    let row_sum = |row: usize| matrix.row(row).map(|(_, value)| (value * inverse[row]).abs()).sum::<f64>();
    let bound = (0..matrix.n_rows()).map(row_sum).fold(0.0, f64::max);
    if bound == 0.0 || !bound.is_finite() {
        return 1.0;
    }
    if !symmetric || inverse.iter().any(|inverse| *inverse < 0.0) {
        return bound;
    }
    let estimate = lanczos(matrix, inverse);
    if estimate > 0.0 && estimate.is_finite() { estimate.min(bound) } else { bound }
}

/// Largest Ritz value of `D^-1/2 A D^-1/2`.
fn lanczos(matrix: &Csr, inverse: &[f64]) -> f64 {
    let n = matrix.n_rows();
    let root: Vec<f64> = inverse.iter().map(|inverse| inverse.sqrt()).collect();
    // Fixed pseudo-random numbers: no eigenvector is orthogonal to them.
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    let mut v: Vec<f64> = (0..n)
        .map(|_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 11) as f64 / (1u64 << 52) as f64 - 1.0
        })
        .collect();
    let length = dot(&v, &v).sqrt();
    v.iter_mut().for_each(|v| *v /= length);
    let mut before = vec![0.0; n];
    let (mut scaled, mut w) = (vec![0.0; n], vec![0.0; n]);
    let (mut diagonal, mut beside): (Vec<f64>, Vec<f64>) = (Vec::new(), Vec::new());
    for _ in 0..STEPS.min(n) {
        scaled.iter_mut().zip(&root).zip(&v).for_each(|((scaled, root), v)| *scaled = root * v);
        matrix.mul_into(&mut w, &scaled);
        w.iter_mut().zip(&root).for_each(|(w, root)| *w *= root);
        let last = beside.last().copied().unwrap_or(0.0);
        let alpha = dot(&w, &v);
        w.iter_mut().zip(&v).zip(&before).for_each(|((w, v), before)| *w -= alpha * v + last * before);
        diagonal.push(alpha);
        let beta = dot(&w, &w).sqrt();
        if beta.is_nan() || beta <= 1e-10 * alpha.abs() {
            break;
        }
        beside.push(beta);
        std::mem::swap(&mut before, &mut v);
        v.iter_mut().zip(&w).for_each(|(v, w)| *v = w / beta);
    }
    beside.truncate(diagonal.len().saturating_sub(1));
    largest_eigenvalue(&diagonal, &beside)
}

/// Of a symmetric tridiagonal matrix, to about 1e-6 of its norm.
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

    #[test]
    fn eigenvalues_of_a_tridiagonal_matrix() {
        // (2 -1; -1 2) has 1 and 3.
        assert!((largest_eigenvalue(&[2.0, 2.0], &[-1.0]) - 3.0).abs() < 1e-6);
        assert!((largest_eigenvalue(&[-5.0], &[]) + 5.0).abs() < 1e-6);
    }

    #[test]
    fn poisson_in_one_dimension() {
        // D^-1 A has eigenvalues 1 - cos(j pi / (n + 1)), the largest below 2. Ten steps come within a few per cent from below.
        let n = 200;
        let entries: Vec<_> = (0..n)
            .flat_map(|i| {
                [(i, i, 2.0), (i, (i + 1) % n, if i + 1 < n { -1.0 } else { 0.0 }), ((i + 1) % n, i, if i + 1 < n { -1.0 } else { 0.0 })]
            })
            .collect();
        let matrix = Csr::from_triplets(n, n, &entries).expect("legal");
        let radius = spectral_radius(&matrix, &vec![0.5; n], true);
        assert!(radius > 1.9 && radius < 2.0, "{radius}");
        assert_eq!(spectral_radius(&matrix, &vec![0.5; n], false), 2.0, "the row sum");
        assert_eq!(spectral_radius(&Csr::from_triplets(2, 2, &[]).expect("legal"), &[0.0; 2], true), 1.0);
    }
}
