//! The coarsest level: a (generalised) inverse, or sweeps of the smoother where it is too large.
//!
//! Where a connected component is singular up to a constant, the coarsest matrix is singular up to
//! the round-off of all Galerkin products. With strong vertical couplings, as a million to one,
//! whole columns of cells become one unknown, and that round-off is large beside the weak couplings
//! that remain. An inverse that took it for regular would multiply residuals by the inverse of
//! almost zero.

use super::AmgOptions;
use super::hierarchy::{CoarseParts, Coarsen, LevelParts};
use super::spectrum::spectral_radius;
use crate::linalg::matrix::csr::Csr;
use crate::linalg::matrix::dense::{ROUND_OFF, generalised_inverse};

/// Largest matrix that is inverted densely when coarsening ends before [`AmgOptions::coarse_size`].
const MAX_DENSE_SIZE: usize = 500;
/// For a singular matrix, a pivot of the coarsest one below this part of the largest is round-off
/// of the Galerkin products; its inverse would return only the null space.
const MIN_COARSE_PIVOT: f64 = 1e-10;
/// A row of the coarsest matrix sums to zero if its sum is at most this part of the entries of the
/// finest matrix in it: thousands of roundings.
const MIN_ROW_SUM: f64 = 1e-12;

/// The coarsest level for its matrix, below `levels`.
///
/// # Errors
/// Out of memory.
pub(in crate::linalg) fn coarsest<S: Coarsen>(
    space: &mut S,
    levels: &[LevelParts<S>],
    matrix: S::Matrix,
    options: &AmgOptions,
) -> Result<CoarseParts<S>, S::Error> {
    let n = S::shape(&matrix).rows;
    if S::parts(&matrix).whole.rows > MAX_DENSE_SIZE.max(options.coarse_size) {
        let inverse_diagonal = space.diagonal_inverse(&matrix)?;
        let radius = if space.is_interrupted() { 1.0 } else { spectral_radius(space, &matrix, &inverse_diagonal, options.symmetric)? };
        let nothing = Csr::from_valid(n, 0, vec![0; n + 1], Vec::new(), Vec::new());
        let restriction = space.matrix(nothing.transpose())?;
        let prolongation = space.matrix(nothing)?;
        return Ok(CoarseParts::Smoothed(Box::new(LevelParts {
            matrix,
            prolongation,
            image: None,
            restriction,
            inverse_diagonal,
            radius,
        })));
    }
    let sizes = if options.singular { Some(magnitudes(space, levels, &matrix)?) } else { None };
    let mut dense = vec![0.0; n * n];
    let host = space.host_matrix(&matrix)?;
    for row in 0..n {
        host.row(row).for_each(|(column, value)| dense[row * n + column] = value);
    }
    let inverse = match sizes {
        Some(sizes) => pseudo_inverse(n, dense, &sizes),
        None => generalised_inverse(n, &dense, ROUND_OFF),
    };
    let row_ptr = (0..=n).map(|row| row * n).collect();
    let col_idx = (0..n * n).map(|at| (at % n.max(1)) as u32).collect();
    Ok(CoarseParts::Direct(space.matrix(Csr::from_valid(n, n, row_ptr, col_idx, inverse))?))
}

/// Estimate of the sum of magnitudes of the finest matrix that went into each row of the coarsest:
/// the magnitudes of its product with pseudo-random numbers, restricted to the coarsest level. On
/// the host, `[n]`.
fn magnitudes<S: Coarsen>(space: &mut S, levels: &[LevelParts<S>], coarsest: &S::Matrix) -> Result<Vec<f64>, S::Error> {
    let finest = levels.first().map_or(coarsest, |level| &level.matrix);
    let n = S::shape(finest).rows;
    let noise = space.noise(n)?;
    let (mut product, mut square) = (space.zeros_of(n)?, space.zeros_of(n)?);
    space.multiply(&mut product, finest, &noise);
    space.add_diagonal(&mut square, 0.0, 1.0, &product, &product);
    let mut size = space.roots(&square)?;
    for level in levels {
        let mut next = space.zeros_of(S::shape(&level.restriction).rows)?;
        space.multiply(&mut next, &level.restriction, &size);
        size = next;
    }
    space.host_vector(&size)
}

/// A generalised inverse of a matrix `[n, n]`, some connected components of which have rows that
/// sum to zero compared with `sizes` `[n]`.
///
/// On a component let `d` be the sizes of its rows, and `s` their sum. `A + d d^T / s` is regular
/// and maps `1` to `d`. From the result of its inverse the mean with weights `d` is subtracted:
/// `A X A = A`, and for a symmetric matrix `X` is the pseudo-inverse of the matrix scaled to a unit
/// diagonal, scaled back. No pivot decides what is singular.
fn pseudo_inverse(n: usize, mut dense: Vec<f64>, sizes: &[f64]) -> Vec<f64> {
    let is_open = |row: usize| {
        let sum: f64 = dense[row * n..(row + 1) * n].iter().sum();
        sum.abs() <= MIN_ROW_SUM * sizes[row]
    };
    let parts: Vec<Vec<usize>> = connected(n, &dense).into_iter().filter(|part| part.iter().all(|&row| is_open(row))).collect();
    let largest = |row: usize, dense: &[f64]| dense[row * n..(row + 1) * n].iter().fold(0.0f64, |most, value| most.max(value.abs()));
    let mut weights = vec![0.0; n];
    for part in &parts {
        if let [alone] = part[..] {
            // Only round-off.
            dense[alone * n + alone] = 0.0;
            continue;
        }
        part.iter().for_each(|&row| weights[row] = largest(row, &dense));
        let sum: f64 = part.iter().map(|&row| weights[row]).sum();
        for &row in part {
            part.iter().for_each(|&column| dense[row * n + column] += weights[row] * weights[column] / sum);
        }
    }
    // Null spaces of single fields do not appear in the sum over a whole row.
    let least = if parts.is_empty() { MIN_COARSE_PIVOT } else { ROUND_OFF };
    let mut inverse = generalised_inverse(n, &dense, least);
    for part in &parts {
        let sum: f64 = part.iter().map(|&row| weights[row]).sum();
        for column in 0..n {
            let along: f64 = part.iter().map(|&row| weights[row] * inverse[row * n + column]).sum();
            part.iter().filter(|_| sum > 0.0).for_each(|&row| inverse[row * n + column] -= along / sum);
        }
    }
    inverse
}

/// Connected components of a matrix `[n, n]`, in the order of their first rows, rows ascending.
fn connected(n: usize, dense: &[f64]) -> Vec<Vec<usize>> {
    let mut parts = Vec::new();
    let mut is_known = vec![false; n];
    for first in 0..n {
        if std::mem::replace(&mut is_known[first], true) {
            continue;
        }
        let mut part = vec![first];
        let mut next = 0;
        while let Some(&row) = part.get(next) {
            next += 1;
            for other in 0..n {
                let is_coupled = dense[row * n + other] != 0.0 || dense[other * n + row] != 0.0;
                if is_coupled && !std::mem::replace(&mut is_known[other], true) {
                    part.push(other);
                }
            }
        }
        part.sort_unstable();
        parts.push(part);
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A singular component of four rows in different units, one row of round-off, and a regular
    /// component of two.
    #[test]
    fn open_parts_have_the_inverse_without_a_level() {
        // Unknowns 0 1 2 are coupled in a row by 1 and 2, rows times 1, 2, 4, with round-off of 1e3
        // on the diagonal; 3 is alone; 4 5 = (3 -1; -1 3).
        let noise = 3e-13;
        let rows = [
            [1.0 + noise, -1.0, 0.0, 0.0, 0.0, 0.0],
            [-2.0, 6.0 - noise, -4.0, 0.0, 0.0, 0.0],
            [0.0, -8.0, 8.0 + noise, 0.0, 0.0, 0.0],
            [0.0, 0.0, 0.0, noise, 0.0, 0.0],
            [0.0, 0.0, 0.0, 0.0, 3.0, -1.0],
            [0.0, 0.0, 0.0, 0.0, -1.0, 3.0],
        ];
        let inverse = pseudo_inverse(6, rows.concat(), &[1e3; 6]);
        let apply =
            |b: [f64; 6]| -> Vec<f64> { (0..6).map(|row| (0..6).map(|column| inverse[row * 6 + column] * b[column]).sum()).collect() };
        // x = (1, 0, -1/2, ...) gives b = (1, 0, -4); its mean with the weights 1, 6, 8 is -3 / 15.
        let found = apply([1.0, 0.0, -4.0, 1.0, 2.0, 2.0]);
        for (found, expected) in found.iter().zip([1.2, 0.2, -0.3, 0.0, 1.0, 1.0]) {
            // The noise beside entries near 1, over the least singular value but zero, about 1.
            assert!((found - expected).abs() < 1e-11, "{found} instead of {expected}");
        }
        // An incompatible right-hand side adds no constant either: with (1, 1, 1) the inverse of
        // the round-off would be 1e12.
        assert!(apply([1.0; 6]).iter().all(|x| x.abs() < 3.0), "{:?}", apply([1.0; 6]));
        // A component with a weak Dirichlet coupling is regular.
        let held = pseudo_inverse(2, vec![1.0 + 1e-6, -1.0, -1.0, 1.0], &[1.0; 2]);
        // A x = (1, 0) has x = (1e6, 1e6).
        assert!((held[0] - 1e6).abs() < 1.0 && (held[2] - 1e6).abs() < 1.0, "{held:?}");
    }

    /// A pivot of 1e-11 is round-off where no part is open in all its rows, as of a field that is
    /// open by itself; beside parts that are, it is a number. A row of round-off alone is zero.
    #[test]
    fn small_pivots_and_open_rows() {
        let held = 1.0 + 1e-11;
        let alone = pseudo_inverse(2, vec![1.0, -1.0, -1.0, held], &[1.0; 2]);
        assert!(alone.iter().all(|x| x.abs() < 2.0), "{alone:?}");
        let rows = [[1.0, -1.0, 0.0, 0.0], [-1.0, held, 0.0, 0.0], [0.0, 0.0, 1.0, -1.0], [0.0, 0.0, -1.0, 1.0]];
        // A x = (1, 0, 0, 0) has x = (1e11, 1e11, 0, 0), up to the roundings of the pivot.
        let beside = pseudo_inverse(4, rows.concat(), &[1.0; 4]);
        assert!((beside[0] * 1e-11 - 1.0).abs() < 1e-4 && (beside[4] * 1e-11 - 1.0).abs() < 1e-4, "{beside:?}");
        assert_eq!(pseudo_inverse(1, vec![3e-13], &[1e3]), [0.0]);
    }

    #[test]
    fn parts_are_connected_in_either_direction() {
        let one_way = [1.0, 0.0, -1.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0];
        assert_eq!(connected(3, &one_way), [vec![0, 2], vec![1]]);
        let through = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, -1.0, -1.0, 1.0];
        assert_eq!(connected(3, &through), [vec![0, 1, 2]]);
    }
}
