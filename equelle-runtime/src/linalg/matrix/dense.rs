//! Small dense matrices, row by row: solves with pivoting, and generalised inverses.

use super::scaling::power_of_two_near;

/// Solves `A x = b` by elimination with row pivoting; overwrites `a` `[n, n]`, and `b` `[n]` with
/// `x`. `false` if a pivot is not finite or vanishes compared with the largest entry of its column
/// (16 roundings); then `b` is undefined.
///
/// # Panics
/// If the sizes do not fit.
pub(in crate::linalg) fn solve_in_place(n: usize, a: &mut [f64], b: &mut [f64]) -> bool {
    assert!(a.len() == n * n && b.len() == n, "a square matrix");
    let mut largest = 0.0f64;
    for value in a.iter() {
        largest = largest.max(value.abs());
    }
    for step in 0..n {
        let mut pivot_row = step;
        for row in step + 1..n {
            if a[row * n + step].abs() > a[pivot_row * n + step].abs() {
                pivot_row = row;
            }
        }
        let pivot = a[pivot_row * n + step];
        // Written so that NaN fails.
        if !(pivot.is_finite() && pivot.abs() > 16.0 * f64::EPSILON * largest) {
            return false;
        }
        if pivot_row != step {
            for column in 0..n {
                a.swap(pivot_row * n + column, step * n + column);
            }
            b.swap(pivot_row, step);
        }
        for row in step + 1..n {
            let factor = a[row * n + step] / pivot;
            if factor != 0.0 {
                for column in step + 1..n {
                    a[row * n + column] -= factor * a[step * n + column];
                }
                b[row] -= factor * b[step];
            }
        }
    }
    for row in (0..n).rev() {
        let mut sum = b[row];
        for column in row + 1..n {
            sum -= a[row * n + column] * b[column];
        }
        b[row] = sum / a[row * n + row];
    }
    b.iter().all(|x| x.is_finite())
}

/// Round-off in the zero pivot of a singular matrix of moderate size.
pub(in crate::linalg) const ROUND_OFF: f64 = 1e-13;

/// The inverse of a regular matrix `[n, n]`. For a singular one, the pseudo-inverse of the matrix
/// scaled to a unit diagonal, scaled back: `A X A = A`, `X A X = X`, and `X` is symmetric
/// semidefinite if `A` is. A matrix is singular if a pivot is at most `least` times the first one.
///
/// Gauss-Jordan elimination with complete pivoting; the null spaces that result are projected out
/// (A. Ben-Israel and T. N. E. Greville, Generalized Inverses, 2nd ed., Springer, 2003,
/// doi:10.1007/b97366).
///
/// # Panics
/// If the size does not fit.
pub(in crate::linalg) fn generalised_inverse(n: usize, matrix: &[f64], least: f64) -> Vec<f64> {
    assert_eq!(matrix.len(), n * n, "a square matrix");
    if n == 0 {
        return Vec::new();
    }
    // The root of a unit need not be a power of two; scaled first, the unit of the equations
    // changes no bit.
    let unit = power_of_two_near(matrix).unwrap_or(1.0);
    let scale: Vec<f64> = (0..n)
        .map(|row| {
            let largest = matrix[row * n..(row + 1) * n].iter().fold(0.0f64, |most, value| most.max(value.abs())) / unit;
            let diagonal = matrix[row * n + row].abs() / unit;
            let size = if diagonal > 1e-8 * largest { diagonal } else { largest };
            let scale = 1.0 / size.sqrt();
            if scale.is_finite() { scale } else { 1.0 }
        })
        .collect();
    let mut a: Vec<f64> = (0..n * n).map(|at| matrix[at] / unit * scale[at / n] * scale[at % n]).collect();
    // E with E A = (I F; 0 0) up to the order of columns.
    let mut e = vec![0.0; n * n];
    (0..n).for_each(|i| e[i * n + i] = 1.0);
    let mut columns: Vec<usize> = (0..n).collect();
    let mut rank = 0;
    let mut first = 0.0;
    while rank < n {
        let mut at = (rank, rank);
        let mut most = 0.0f64;
        for row in rank..n {
            for position in rank..n {
                let size = a[row * n + columns[position]].abs();
                if size > most {
                    (most, at) = (size, (row, position));
                }
            }
        }
        if rank == 0 {
            first = most;
        }
        if most <= least * first {
            break;
        }
        columns.swap(rank, at.1);
        for column in 0..n {
            a.swap(at.0 * n + column, rank * n + column);
            e.swap(at.0 * n + column, rank * n + column);
        }
        let pivot = a[rank * n + columns[rank]];
        for column in 0..n {
            a[rank * n + column] /= pivot;
            e[rank * n + column] /= pivot;
        }
        for row in (0..n).filter(|&row| row != rank) {
            let factor = a[row * n + columns[rank]];
            if factor != 0.0 {
                for column in 0..n {
                    a[row * n + column] -= factor * a[rank * n + column];
                    e[row * n + column] -= factor * e[rank * n + column];
                }
            }
        }
        rank += 1;
    }
    let mut inverse = vec![0.0; n * n];
    for (unknown, row) in columns[..rank].iter().zip(e.chunks_exact(n)) {
        inverse[unknown * n..(unknown + 1) * n].copy_from_slice(row);
    }
    if rank < n {
        let left: Vec<Vec<f64>> = (rank..n).map(|row| e[row * n..(row + 1) * n].to_vec()).collect();
        let right: Vec<Vec<f64>> = columns[rank..]
            .iter()
            .map(|&free| {
                let mut null = vec![0.0; n];
                null[free] = 1.0;
                (0..rank).for_each(|row| null[columns[row]] = -a[row * n + free]);
                null
            })
            .collect();
        for null in orthonormal(right) {
            // X = X - v (v^T X)
            let along: Vec<f64> = (0..n).map(|column| (0..n).map(|row| null[row] * inverse[row * n + column]).sum()).collect();
            (0..n * n).for_each(|at| inverse[at] -= null[at / n] * along[at % n]);
        }
        for null in orthonormal(left) {
            let along: Vec<f64> = (0..n).map(|row| (0..n).map(|column| inverse[row * n + column] * null[column]).sum()).collect();
            (0..n * n).for_each(|at| inverse[at] -= along[at / n] * null[at % n]);
        }
    }
    (0..n * n).for_each(|at| inverse[at] = inverse[at] * (scale[at / n] * scale[at % n]) / unit);
    inverse
}

/// Orthonormal basis by modified Gram-Schmidt, twice.
fn orthonormal(mut vectors: Vec<Vec<f64>>) -> Vec<Vec<f64>> {
    let dot = |x: &[f64], y: &[f64]| -> f64 { x.iter().zip(y).map(|(x, y)| x * y).sum() };
    for index in 0..vectors.len() {
        let (known, rest) = vectors.split_at_mut(index);
        let own = &mut rest[0];
        for _ in 0..2 {
            for other in known.iter() {
                let along = dot(own, other);
                own.iter_mut().zip(other).for_each(|(own, other)| *own -= along * other);
            }
            let length = dot(own, own).sqrt();
            own.iter_mut().for_each(|own| *own /= length);
        }
    }
    vectors
}

#[cfg(test)]
mod tests {
    use super::*;

    fn product(n: usize, a: &[f64], b: &[f64]) -> Vec<f64> {
        (0..n * n).map(|at| (0..n).map(|k| a[at / n * n + k] * b[k * n + at % n]).sum()).collect()
    }

    fn assert_near(a: &[f64], b: &[f64]) {
        // Few operations on numbers near 1.
        assert!(a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-13), "{a:?}\n{b:?}");
    }

    #[test]
    fn a_regular_matrix() {
        // Determinant 2 * 1 - 1 * 1 = 1.
        assert_near(&generalised_inverse(2, &[2.0, 1.0, 1.0, 1.0], ROUND_OFF), &[1.0, -1.0, -1.0, 2.0]);
        // Zero diagonal.
        assert_near(&generalised_inverse(2, &[0.0, 2.0, 4.0, 0.0], ROUND_OFF), &[0.0, 0.25, 0.5, 0.0]);
        let mut b = [3.0, 2.0];
        assert!(solve_in_place(2, &mut [2.0, 1.0, 1.0, 1.0], &mut b));
        assert_near(&b, &[1.0, 1.0]);
        assert!(!solve_in_place(2, &mut [1.0, 2.0, 2.0, 4.0], &mut [1.0, 1.0]));
        assert!(!solve_in_place(1, &mut [f64::NAN], &mut [1.0]));
    }

    #[test]
    fn closed_rows_of_cells() {
        // Two cells with one face: eigenvector (1, -1) / sqrt 2 with eigenvalue 2, so the
        // pseudo-inverse is (1 -1; -1 1) / 4.
        assert_near(&generalised_inverse(2, &[1.0, -1.0, -1.0, 1.0], ROUND_OFF), &[0.25, -0.25, -0.25, 0.25]);
        // Three cells: Penrose's four conditions for the scaled matrix; for the matrix itself the
        // first two, and symmetry.
        let a = [1.0, -1.0, 0.0, -1.0, 2.0, -1.0, 0.0, -1.0, 1.0];
        let x = generalised_inverse(3, &a, ROUND_OFF);
        assert_near(&product(3, &product(3, &a, &x), &a), &a);
        assert_near(&product(3, &product(3, &x, &a), &x), &x);
        assert_near(&x, &[x[0], x[3], x[6], x[1], x[4], x[7], x[2], x[5], x[8]]);
    }

    #[test]
    fn nothing_and_zero() {
        assert_eq!(generalised_inverse(0, &[], ROUND_OFF), [0.0; 0]);
        assert_eq!(generalised_inverse(2, &[0.0; 4], ROUND_OFF), [0.0; 4]);
    }
}
