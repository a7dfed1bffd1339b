//! Common parts of LU factorisations on the host and by the [direct
//! solver](super::solver::DirectSolver) of a back-end.
//!
//! One unknown of each singular component is fixed at 0 by a [`Pin`]. Rows and columns are divided
//! by powers of two before elimination. A singular matrix appears as a zero row or column, a column
//! without pivot, or a condition number beyond double precision. The condition number is estimated
//! with a few solves: W. W. Hager, Condition estimates, SIAM J. Sci. Stat. Comput. 5 (1984),
//! doi:10.1137/0905023; N. J. Higham, FORTRAN codes for estimating the one-norm of a real or
//! complex matrix, ACM TOMS 14 (1988), doi:10.1145/50063.214386.

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

/// Failure of a factorisation or a solve.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::linalg) enum FactorError {
    /// The matrix is singular to working precision; with the evidence.
    Singular(String),
    /// A row or a column of the matrix is zero; with its number.
    Zero(String),
    /// Not enough memory for the factors.
    OutOfMemory,
    /// The direct solver of a back-end failed; with the reason.
    Unanswered(String),
    /// The run was interrupted.
    Interrupted,
}

/// An LU factorisation on the host or on a device.
pub(in crate::linalg) trait Elimination {
    /// Factorises with the cached symbolic factorisation where possible. `matrix` has an entry at
    /// each pin; row and column of a pin count as 0 except for the pin, which counts as 1.
    fn factorize(&mut self, matrix: &Csr, pinned: &[Pin]) -> Result<(), FactorError>;
    /// Overwrites `b` with `x = A^-1 b`, or `x = A^-T b` if `transposed`, for the matrix factorised
    /// last. Not finite if a pivot was zero.
    fn solve(&mut self, x: &mut [f64], transposed: bool) -> Result<(), FactorError>;
}

/// The matrix of numerical factors, with its scaling.
#[derive(Debug)]
pub(in crate::linalg) struct Factored {
    /// Values with pinned rows and columns.
    pub values: Vec<f64>,
    /// Divisors of the rows, and then of the columns.
    pub row_scale: Vec<f64>,
    pub column_scale: Vec<f64>,
}

impl Factored {
    /// Solves with a solver for the scaled matrix.
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

/// The values with pinned rows and columns replaced.
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

/// Powers of two by which rows, then columns, are divided so that their largest entries are near 1.
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

/// Powers of two, with the signs of the diagonal in the rows, that bring the diagonal near 1 and
/// keep the symmetry if the diagonal has one sign; `None` if a diagonal entry is zero.
pub(in crate::linalg) fn symmetric_scales(matrix: &Csr, values: &[f64]) -> Option<(Vec<f64>, Vec<f64>)> {
    // The rows carry the unit of the equations, since the root of a unit need not be a power of
    // two.
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

/// The values divided by the scales of rows and columns.
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

/// Largest condition number of a solution with a correct digit. A rounded singular matrix is
/// regular with about this one over [`f64::EPSILON`]; round-off of elimination grows like the
/// square root of the number of unknowns.
fn worst_condition(n: usize) -> f64 {
    1.0 / (f64::EPSILON * (n as f64).sqrt().max(10.0))
}

/// Refuses a scaled matrix of this 1-norm that is singular to working precision, by solves with it
/// and its transpose.
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

/// A lower bound, rarely below a third, of the 1-norm of the inverse (Hager 1984, Higham 1988). It
/// starts from fixed pseudo-random signs: the inverse of a nearly singular Laplacian may not
/// magnify a vector of ones. Infinite or NaN if a pivot was zero.
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

/// For each component, the redundant equation to leave out and the unknown to fix at 0. With a
/// known left null vector, the equation with the largest weight; else an equation of a block, first
/// of the component's own block. If its true weight is 0, the factorisation finds a singular matrix
/// and another attempt follows.
pub(in crate::linalg) fn pins(matrix: &Csr, null_space: &NullSpace, ends: &[usize], attempt: usize) -> Vec<Pin> {
    let blocks = blocks(ends);
    let choose = |component: &crate::linalg::null_space::Component| {
        let first = component.unknowns[0];
        let own = blocks.iter().position(|block| block.contains(&first)).unwrap_or(0);
        if let Some((row, _)) = component.left.as_ref().and_then(LeftNullVector::heaviest_row) {
            // On the diagonal if possible: most matrices have that entry.
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

/// The matrix with an entry for each pin; `None` if all exist.
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

/// The components with their left null vectors: `A^T w = 0`, where `w` is 1 in the component's
/// pinned row and 0 in those of the others. Computes known ones again if `anew`.
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
        // The other rows of the pinned matrix, transposed, with minus the pinned row as right-hand
        // side.
        let mut w = vec![0.0; matrix.n_rows()];
        matrix.row(own.row).for_each(|(column, value)| w[column] -= value);
        pinned.iter().for_each(|pin| w[pin.column] = 0.0);
        w[own.column] = 1.0;
        factors.solve(&mut w, true)?;
        component.left = LeftNullVector::from_dense(&w);
    }
    Ok(known)
}
