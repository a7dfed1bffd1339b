//! Elimination wherever it happens: what the front door needs of it, what all of them share, and elimination by the [direct solver](super::solver::DirectSolver) of a back-end.
//!
//! An unknown of each component whose level is open is held at 0, by a [`Pin`]. Rows and columns are divided by powers of two before elimination. A singular matrix shows
//! as a row or column of zeros, as a column without pivot, or as a condition number beyond double precision. The condition number is
//! estimated with a few solves: W. W. Hager, Condition estimates, SIAM J. Sci. Stat. Comput. 5 (1984), doi:10.1137/0905023; N. J. Higham,
//! FORTRAN codes for estimating the one-norm of a real or complex matrix, ACM TOMS 14 (1988), doi:10.1145/50063.214386.

use crate::linalg::matrix::csr::Csr;
use crate::linalg::matrix::scaling::power_of_two_near;
use crate::linalg::null_space::coupled::blocks;
use crate::linalg::null_space::{LeftNullVector, NullSpace};

/// An equation that is replaced by "this unknown is 0".
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::linalg) struct Pin {
    pub row: usize,
    pub column: usize,
}

/// Why there are no factors, or no solution with them.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::linalg) enum FactorError {
    /// The matrix is singular to working precision; says how that showed.
    Singular(String),
    /// A row or a column of the matrix is zero; says which.
    Zero(String),
    /// Not enough memory for the factors.
    OutOfMemory,
    /// The direct solver of a back-end gives no answer; says why.
    Unanswered(String),
    /// The run has been asked to end.
    Interrupted,
}

/// A place where matrices are factorised.
pub(in crate::linalg) trait Elimination {
    /// Factorises, reusing what is kept. `matrix` has an entry at each pin; in the row and in the column of a pin everything counts as 0 but
    /// the pin, which counts as 1.
    fn factorize(&mut self, matrix: &Csr, pinned: &[Pin]) -> Result<(), FactorError>;
    /// `x = A^-1 b`, in place, with the matrix factorised last; `x = A^-T b` if asked for. Not finite if a pivot was zero.
    fn solve(&mut self, x: &mut [f64], transposed: bool) -> Result<(), FactorError>;
}

/// What goes with numerical factors.
#[derive(Debug)]
pub(in crate::linalg) struct Factored {
    /// With the pinned rows and columns.
    pub values: Vec<f64>,
    /// By which rows have been divided, and then columns.
    pub row_scale: Vec<f64>,
    pub column_scale: Vec<f64>,
}

impl Factored {
    /// Solves by what solves with the scaled matrix.
    pub(in crate::linalg) fn solve(
        &self,
        x: &mut [f64],
        transposed: bool,
        solve_scaled: impl FnOnce(&mut [f64]) -> Result<(), FactorError>,
    ) -> Result<(), FactorError> {
        let (before, after) = if transposed { (&self.column_scale, &self.row_scale) } else { (&self.row_scale, &self.column_scale) };
        x.iter_mut().zip(before).for_each(|(x, scale)| *x /= scale);
        solve_scaled(x)?;
        x.iter_mut().zip(after).for_each(|(x, scale)| *x /= scale);
        Ok(())
    }
}

/// The values with the pinned rows and columns replaced.
pub(in crate::linalg) fn pin(matrix: &Csr, pinned: &[Pin]) -> Vec<f64> {
    let mut values = matrix.values().to_vec();
    if pinned.is_empty() {
        return values;
    }
    let mut column_of = vec![None; matrix.n_rows()];
    let mut is_pinned_column = vec![false; matrix.n_cols()];
    for pin in pinned {
        column_of[pin.row] = Some(pin.column);
        is_pinned_column[pin.column] = true;
    }
    for (ends, own) in matrix.row_ptr().windows(2).zip(column_of) {
        let range = ends[0]..ends[1];
        for (&column, value) in matrix.col_idx()[range.clone()].iter().zip(&mut values[range]) {
            let column = column as usize;
            if own == Some(column) {
                *value = 1.0;
            } else if own.is_some() || is_pinned_column[column] {
                *value = 0.0;
            }
        }
    }
    values
}

/// Powers of two by which rows, then columns, are divided to bring their largest entries near 1.
pub(in crate::linalg) fn equilibrate(matrix: &Csr, values: &[f64]) -> Result<(Vec<f64>, Vec<f64>), FactorError> {
    let n = matrix.n_rows();
    let mut row_scale = Vec::with_capacity(n);
    let mut largest = vec![0.0f64; n];
    for row in 0..n {
        let range = matrix.row_ptr()[row]..matrix.row_ptr()[row + 1];
        let own = &values[range.clone()];
        if own.iter().all(|value| *value == 0.0) {
            return Err(FactorError::Zero(format!("row {row} is zero, so equation {row} depends on no unknown")));
        }
        let scale = power_of_two_near(own).unwrap_or(f64::NAN);
        for (&column, value) in matrix.col_idx()[range].iter().zip(own) {
            let most = &mut largest[column as usize];
            *most = most.max((value / scale).abs());
        }
        row_scale.push(scale);
    }
    if let Some(column) = largest.iter().position(|most| *most == 0.0) {
        return Err(FactorError::Zero(format!("column {column} is zero, so no equation depends on unknown {column}")));
    }
    let column_scale = largest.iter().map(|most| power_of_two_near(&[*most]).unwrap_or(f64::NAN)).collect();
    Ok((row_scale, column_scale))
}

/// Powers of two, and signs of the diagonal with the rows, that bring the diagonal of a matrix near 1 and keep its symmetry where the diagonal has one sign; `None` if an element of the diagonal is
/// zero.
pub(in crate::linalg) fn symmetric_scales(matrix: &Csr, values: &[f64]) -> Option<(Vec<f64>, Vec<f64>)> {
    // Roots of half a matrix are not those of the whole: the rows take the unit of the equations.
    let unit = power_of_two_near(matrix.values())?;
    let mut row_scale = Vec::with_capacity(matrix.n_rows());
    let mut column_scale = Vec::with_capacity(matrix.n_rows());
    for (row, ends) in matrix.row_ptr().windows(2).enumerate() {
        let own = &matrix.col_idx()[ends[0]..ends[1]];
        let diagonal = values[ends[0] + own.binary_search(&(row as u32)).ok()?];
        let scale = power_of_two_near(&[(diagonal.abs() / unit).sqrt()]).filter(|_| diagonal != 0.0)?;
        row_scale.push((unit * scale).copysign(diagonal));
        column_scale.push(scale);
    }
    Some((row_scale, column_scale))
}

/// The values with rows and columns divided.
pub(in crate::linalg) fn scaled_values(matrix: &Csr, values: &[f64], row_scale: &[f64], column_scale: &[f64]) -> Vec<f64> {
    let mut scaled = values.to_vec();
    for (ends, row_scale) in matrix.row_ptr().windows(2).zip(row_scale) {
        let range = ends[0]..ends[1];
        for (&column, value) in matrix.col_idx()[range.clone()].iter().zip(&mut scaled[range]) {
            *value = *value / row_scale / column_scale[column as usize];
        }
    }
    scaled
}

/// Largest column sum of magnitudes.
pub(in crate::linalg) fn one_norm(matrix: &Csr, values: &[f64]) -> f64 {
    let mut sums = vec![0.0; matrix.n_cols()];
    matrix.col_idx().iter().zip(values).for_each(|(&column, value)| sums[column as usize] += value.abs());
    sums.iter().fold(0.0, |most: f64, sum| most.max(*sum))
}

/// A singular matrix, rounded, is a regular one with a condition number near this one over [`f64::EPSILON`]; rounding errors of elimination
/// grow like the square root of the number of unknowns. A solution from a matrix that is worse than this has no correct digit.
fn worst_condition(n: usize) -> f64 {
    1.0 / (f64::EPSILON * (n as f64).sqrt().max(10.0))
}

/// Refuses a scaled matrix of this 1-norm that is singular to working precision, by solves with it and with its transpose.
pub(in crate::linalg) fn check_condition(
    n: usize,
    norm: f64,
    solve: impl FnMut(&mut [f64], bool) -> Result<(), FactorError>,
) -> Result<(), FactorError> {
    let condition = norm * inverse_norm(n, solve)?;
    // NaN counts as singular.
    if condition.is_nan() || condition > worst_condition(n) {
        let text = format!("its condition number is about {condition:.1e} after scaling, so no digit of a solution would be correct");
        return Err(FactorError::Singular(text));
    }
    Ok(())
}

/// A lower bound, rarely below a third, of the 1-norm of the inverse of a matrix (Hager 1984, Higham 1988). The start is a
/// vector of fixed pseudo-random signs rather than ones, which the inverse of a nearly singular Laplacian may not magnify at all.
/// Infinite or NaN if a pivot was zero.
fn inverse_norm(n: usize, mut solve: impl FnMut(&mut [f64], bool) -> Result<(), FactorError>) -> Result<f64, FactorError> {
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    let mut x: Vec<f64> = (0..n)
        .map(|_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            if state >> 63 == 0 { 1.0 / n as f64 } else { -1.0 / n as f64 }
        })
        .collect();
    let mut best = 0.0;
    let mut visited = Vec::new();
    for _ in 0..5 {
        solve(&mut x, false)?;
        let size: f64 = x.iter().map(|x| x.abs()).sum();
        if !size.is_finite() {
            return Ok(f64::INFINITY);
        }
        if size <= best {
            break;
        }
        best = size;
        x.iter_mut().for_each(|x| *x = if *x < 0.0 { -1.0 } else { 1.0 });
        solve(&mut x, true)?;
        let steepest = x.iter().enumerate().fold((0, 0.0), |most: (usize, f64), (i, x)| if x.abs() > most.1 { (i, x.abs()) } else { most });
        if !steepest.1.is_finite() {
            return Ok(f64::INFINITY);
        }
        if visited.contains(&steepest.0) {
            break;
        }
        visited.push(steepest.0);
        x.fill(0.0);
        x[steepest.0] = 1.0;
    }
    Ok(best)
}

/// For each component the equation to leave out, one that the others imply, and the unknown to hold at 0. If its left null vector is known, the
/// equation with the largest weight; else one of the equations of a block (the component's own block in the first attempt), which is wrong if
/// its weight turns out to be 0: then the factorisation finds a singular matrix.
pub(in crate::linalg) fn pins(matrix: &Csr, null_space: &NullSpace, ends: &[usize], attempt: usize) -> Vec<Pin> {
    let blocks = blocks(ends);
    let choose = |component: &crate::linalg::null_space::Component| {
        let first = component.unknowns[0];
        let own = blocks.iter().position(|block| block.contains(&first)).unwrap_or(0);
        if let Some(row) = component.left.as_ref().and_then(LeftNullVector::heaviest_row) {
            // On the diagonal if possible: it is there in most matrices.
            let column = if component.unknowns.binary_search(&row).is_ok() { row } else { first };
            return Pin { row, column };
        }
        if attempt == 0 {
            return Pin { row: first, column: first };
        }
        let block = blocks[(own + attempt) % blocks.len()].clone();
        let start = block.start;
        let larger = |most: (usize, f64), row| {
            let size = matrix.entry(row, first).abs();
            if size > most.1 { (row, size) } else { most }
        };
        Pin { row: block.fold((start, 0.0), larger).0, column: first }
    };
    null_space.components.iter().map(choose).collect()
}

/// The matrix with a place for each pin; `None` if they have one.
pub(in crate::linalg) fn with_places(matrix: &Csr, pinned: &[Pin]) -> Option<Csr> {
    let is_missing = |pin: &&Pin| !matrix.row(pin.row).any(|(column, _)| column == pin.column);
    let missing: Vec<(usize, usize, f64)> = pinned.iter().filter(is_missing).map(|pin| (pin.row, pin.column, 0.0)).collect();
    if missing.is_empty() {
        return None;
    }
    let n = matrix.n_rows();
    let mut entries: Vec<(usize, usize, f64)> =
        (0..n).flat_map(|row| matrix.row(row).map(move |(column, value)| (row, column, value))).collect();
    entries.extend(missing);
    Csr::from_triplets(n, n, &entries).ok()
}

/// The components with their left null vectors: `w` with `A^T w = 0` that is 1 in the component's pinned row and 0 in those of the others. Those
/// that are known are found again if they should be `anew`.
pub(in crate::linalg) fn left_null_vectors(
    matrix: &Csr,
    null_space: &NullSpace,
    pinned: &[Pin],
    factors: &mut impl Elimination,
    anew: bool,
) -> Result<NullSpace, FactorError> {
    let mut known = null_space.clone();
    for (component, own) in known.components.iter_mut().zip(pinned) {
        if component.left.is_some() && !anew {
            continue;
        }
        // The other rows of the pinned matrix, transposed, with minus the pinned row on the right.
        let mut w = vec![0.0; matrix.n_rows()];
        matrix.row(own.row).for_each(|(column, value)| w[column] -= value);
        pinned.iter().for_each(|pin| w[pin.column] = 0.0);
        w[own.column] = 1.0;
        factors.solve(&mut w, true)?;
        component.left = LeftNullVector::from_dense(&w);
    }
    Ok(known)
}
