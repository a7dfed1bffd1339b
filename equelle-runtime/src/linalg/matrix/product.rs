//! Transposes and products of sparse matrices for the set-up of preconditioners.
//!
//! Products row by row with a dense accumulator: F. G. Gustavson, Two fast algorithms for sparse
//! matrices: multiplication and permuted transposition, ACM TOMS 4 (1978),
//! doi:10.1145/355791.355796.

use std::sync::Arc;

use super::csr::Csr;

impl Csr {
    /// The transpose.
    pub fn transpose(&self) -> Csr {
        let (n_rows, n_cols) = (self.n_rows(), self.n_cols());
        let mut row_ptr = vec![0usize; n_cols + 1];
        self.col_idx().iter().for_each(|&column| row_ptr[column as usize + 1] += 1);
        for column in 0..n_cols {
            row_ptr[column + 1] += row_ptr[column];
        }
        let mut next = row_ptr.clone();
        let mut col_idx = vec![0u32; self.n_entries()];
        let mut values = vec![0.0; self.n_entries()];
        for row in 0..n_rows {
            let narrow = row as u32;
            for (column, value) in self.row(row) {
                let at = next[column];
                next[column] += 1;
                (col_idx[at], values[at]) = (narrow, value);
            }
        }
        Csr::from_valid(n_cols, n_rows, row_ptr, col_idx, values)
    }

    /// `self other`; products are summed in ascending order of the inner index. Entries whose
    /// products are all zero stay in the pattern.
    ///
    /// # Panics
    /// If the inner sizes differ.
    pub fn product(&self, other: &Csr) -> Csr {
        assert_eq!(self.n_cols(), other.n_rows(), "matrices that can be multiplied");
        let n_cols = other.n_cols();
        let mut row_ptr = Vec::with_capacity(self.n_rows() + 1);
        row_ptr.push(0);
        let (mut col_idx, mut values): (Vec<u32>, Vec<f64>) = (Vec::new(), Vec::new());
        // For each column, the row that used it last, plus 1, and its sum there.
        let mut sums = vec![(0usize, 0.0); n_cols];
        let mut columns: Vec<u32> = Vec::new();
        for row in 0..self.n_rows() {
            columns.clear();
            for (inner, left) in self.row(row) {
                let range = other.row_ptr()[inner]..other.row_ptr()[inner + 1];
                for (&column, right) in other.col_idx()[range.clone()].iter().zip(&other.values()[range]) {
                    let (met, sum) = &mut sums[column as usize];
                    if *met == row + 1 {
                        *sum += left * right;
                    } else {
                        (*met, *sum) = (row + 1, left * right);
                        columns.push(column);
                    }
                }
            }
            columns.sort_unstable();
            col_idx.extend_from_slice(&columns);
            values.extend(columns.iter().map(|&column| sums[column as usize].1));
            row_ptr.push(col_idx.len());
        }
        Csr::from_valid(self.n_rows(), n_cols, row_ptr, col_idx, values)
    }

    /// The entries for which `keep(row, column, value)` holds, values unchanged.
    pub fn filtered(&self, keep: impl Fn(usize, usize, f64) -> bool) -> Csr {
        let mut row_ptr = Vec::with_capacity(self.n_rows() + 1);
        row_ptr.push(0);
        let (mut col_idx, mut values) = (Vec::new(), Vec::new());
        for row in 0..self.n_rows() {
            for (column, value) in self.row(row) {
                if keep(row, column, value) {
                    col_idx.push(column as u32);
                    values.push(value);
                }
            }
            row_ptr.push(col_idx.len());
        }
        Csr::from_valid(self.n_rows(), self.n_cols(), row_ptr, col_idx, values)
    }

    /// The submatrix of these ranges of rows and columns.
    ///
    /// # Panics
    /// If the rows exceed the matrix.
    pub fn block(&self, rows: std::ops::Range<usize>, columns: std::ops::Range<usize>) -> Csr {
        let mut row_ptr = Vec::with_capacity(rows.len() + 1);
        row_ptr.push(0);
        let (mut col_idx, mut values) = (Vec::new(), Vec::new());
        for row in rows.clone() {
            for (column, value) in self.row(row).filter(|(column, _)| columns.contains(column)) {
                col_idx.push((column - columns.start) as u32);
                values.push(value);
            }
            row_ptr.push(col_idx.len());
        }
        Csr::from_valid(rows.len(), columns.len(), row_ptr, col_idx, values)
    }

    /// The matrix times a factor.
    pub fn scaled(&self, factor: f64) -> Csr {
        let mut scaled = self.clone();
        scaled.values_mut().iter_mut().for_each(|value| *value *= factor);
        scaled
    }

    /// The matrix of the magnitudes of all entries.
    pub fn magnitudes(&self) -> Csr {
        let mut magnitudes = self.clone();
        magnitudes.values_mut().iter_mut().for_each(|value| *value = value.abs());
        magnitudes
    }

    /// The matrix with each row times its factor, `[n_rows]`.
    ///
    /// # Panics
    /// If there are fewer factors than rows.
    pub fn scaled_rows(&self, factors: &[f64]) -> Csr {
        let mut values = self.values().to_vec();
        for (row, ends) in self.row_ptr().windows(2).enumerate() {
            values[ends[0]..ends[1]].iter_mut().for_each(|value| *value *= factors[row]);
        }
        Csr::with_pattern(Arc::clone(self.pattern()), values).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn triplets(n_rows: usize, n_cols: usize, entries: &[(usize, usize, f64)]) -> Csr {
        Csr::from_triplets(n_rows, n_cols, entries).expect("legal entries")
    }

    #[test]
    fn a_product_by_hand() {
        // (1 2 0; 0 0 3) (0 4; 5 0; 6 7) = (10 4; 18 21)
        let a = triplets(2, 3, &[(0, 0, 1.0), (0, 1, 2.0), (1, 2, 3.0)]);
        let b = triplets(3, 2, &[(0, 1, 4.0), (1, 0, 5.0), (2, 0, 6.0), (2, 1, 7.0)]);
        assert_eq!(a.product(&b), triplets(2, 2, &[(0, 0, 10.0), (0, 1, 4.0), (1, 0, 18.0), (1, 1, 21.0)]));
        assert_eq!(a.transpose(), triplets(3, 2, &[(0, 0, 1.0), (1, 0, 2.0), (2, 1, 3.0)]));
        assert_eq!(a.transpose().transpose(), a);
        // (A B)^T = B^T A^T
        assert_eq!(a.product(&b).transpose(), b.transpose().product(&a.transpose()));
        assert_eq!(b.block(1..3, 0..1), triplets(2, 1, &[(0, 0, 5.0), (1, 0, 6.0)]));
        assert_eq!(b.filtered(|row, column, _| row == column + 1), triplets(3, 2, &[(1, 0, 5.0), (2, 1, 7.0)]));
        assert_eq!(a.scaled(-2.0), triplets(2, 3, &[(0, 0, -2.0), (0, 1, -4.0), (1, 2, -6.0)]));
    }

    #[test]
    fn empty_rows_and_no_rows() {
        let empty = triplets(3, 0, &[]);
        assert_eq!(empty.transpose(), triplets(0, 3, &[]));
        assert_eq!(empty.product(&empty.transpose()), triplets(3, 3, &[]));
    }
}
