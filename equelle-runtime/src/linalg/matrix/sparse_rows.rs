//! Access to matrices row by row, for any storage format.

use std::ops::Range;

use super::csr::{Csr, Symmetry};

/// A sparse matrix as rows of entries.
pub trait SparseRows {
    /// Number of rows.
    fn n_rows(&self) -> usize;
    /// Number of columns.
    fn n_cols(&self) -> usize;
    /// Entries of a row as (column, value), ascending.
    ///
    /// # Panics
    /// If there is no such row.
    fn row(&self, row: usize) -> impl Iterator<Item = (usize, f64)> + '_;
    /// Entries of a row in a range of columns.
    ///
    /// # Panics
    /// If there is no such row.
    fn row_within(&self, row: usize, columns: Range<usize>) -> impl Iterator<Item = (usize, f64)> + '_ {
        self.row(row).filter(move |(column, _)| columns.contains(column))
    }
    /// An entry; 0 where none is stored.
    fn entry(&self, row: usize, column: usize) -> f64;
    /// Compares the matrix with its transpose: [`Csr::symmetry`].
    fn symmetry(&self, tolerance: f64) -> Symmetry;
}

impl SparseRows for Csr {
    fn n_rows(&self) -> usize {
        self.n_rows()
    }

    fn n_cols(&self) -> usize {
        self.n_cols()
    }

    fn row(&self, row: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        self.row(row)
    }

    fn entry(&self, row: usize, column: usize) -> f64 {
        self.entry(row, column)
    }

    fn symmetry(&self, tolerance: f64) -> Symmetry {
        self.symmetry(tolerance)
    }
}
