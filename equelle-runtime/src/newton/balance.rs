//! Sums of the residual that no values of the unknowns change: those of a conservation law whose
//! fluxes cancel, where no boundary condition and no time derivative is left.

use crate::linalg::Csr;

/// Sum of a column over that of its magnitudes, up to which its entries cancel: rounding of sums of
/// thousands of entries.
const CANCELS: f64 = 1e-10;

/// Sum of an equation over that of its magnitudes, up to which it may be zero.
const BALANCED: f64 = 1e-8;

/// The first equation, of those with these numbers of rows, whose residual has a sum that is not
/// zero and that no correction changes; with this sum, in the unit of the residual.
pub(super) fn fixed_sum(matrix: &Csr, sizes: &[usize], residual: &[f64]) -> Option<(usize, f64)> {
    let mut first = 0;
    for (equation, size) in sizes.iter().enumerate() {
        let rows = first..first + size;
        first = rows.end;
        let (sum, magnitude) = sums(residual.get(rows.clone())?.iter().copied());
        if rows.end <= matrix.n_rows() && sum.abs() > BALANCED * magnitude && cancels(matrix, rows) {
            return Some((equation, sum));
        }
    }
    None
}

/// True if the entries of these rows cancel in every column, and some are not zero.
fn cancels(matrix: &Csr, rows: std::ops::Range<usize>) -> bool {
    let mut columns = vec![(0.0, 0.0); matrix.n_cols()];
    let range = matrix.row_ptr()[rows.start]..matrix.row_ptr()[rows.end];
    for (column, value) in matrix.col_idx()[range.clone()].iter().zip(&matrix.values()[range]) {
        let (sum, magnitude) = &mut columns[*column as usize];
        *sum += value;
        *magnitude += value.abs();
    }
    columns.iter().any(|(_, magnitude)| *magnitude > 0.0)
        && columns.iter().all(|(sum, magnitude): &(f64, f64)| sum.abs() <= CANCELS * magnitude)
}

/// Sum, and sum of magnitudes.
fn sums(values: impl Iterator<Item = f64>) -> (f64, f64) {
    values.fold((0.0, 0.0), |(sum, magnitude), value| (sum + value, magnitude + value.abs()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two cells that exchange a flux with coefficients of their own; a third equation for itself.
    fn exchange(diagonal: f64) -> Csr {
        let (row_ptr, col_idx) = (vec![0, 2, 4, 5], vec![0, 1, 0, 1, 2]);
        Csr::new(3, 3, row_ptr, col_idx, vec![2.0 + diagonal, -3.0, -2.0, 3.0, 1.0]).expect("a matrix")
    }

    #[test]
    fn a_sum_that_no_correction_changes() {
        assert_eq!(fixed_sum(&exchange(0.0), &[2, 1], &[1.0, 0.5, 7.0]), Some((0, 1.5)));
        // Sources that sum to zero, a boundary condition, equations that do not cancel alone.
        assert_eq!(fixed_sum(&exchange(0.0), &[2, 1], &[1.0, -1.0, 7.0]), None);
        assert_eq!(fixed_sum(&exchange(0.1), &[2, 1], &[1.0, 0.5, 7.0]), None);
        assert_eq!(fixed_sum(&exchange(0.0), &[3], &[1.0, 0.5, 7.0]), None);
        assert_eq!(fixed_sum(&exchange(0.0), &[4], &[1.0, 0.5, 7.0]), None);
    }
}
