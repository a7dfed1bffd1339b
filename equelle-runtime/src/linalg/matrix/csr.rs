//! Sparse matrices in compressed rows (CSR).

use std::fmt;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use super::dia::{self, Offsets};
use super::mirror::Mirror;
use crate::threads::Threads;

/// Pattern of a sparse matrix. Columns ascend strictly within a row. Matrices and assembly share
/// it.
///
/// Memory: 4 bytes an entry and 8 a row.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pattern {
    n_rows: usize,
    n_cols: usize,
    row_ptr: Arc<Vec<usize>>,
    col_idx: Arc<Vec<u32>>,
    found: Found,
}

/// Properties of a pattern that are found on first use; no part of its identity.
#[derive(Clone, Debug, Default)]
struct Found {
    diagonals: OnceLock<Option<Offsets>>,
    mirror: OnceLock<Option<Mirror>>,
}

impl PartialEq for Found {
    fn eq(&self, _: &Found) -> bool {
        true
    }
}

impl Eq for Found {}

impl Pattern {
    /// From `row_ptr` `[n_rows + 1]` and `col_idx` `[n_entries]`.
    ///
    /// # Errors
    /// The arrays do not fit each other, or the columns of a row do not ascend strictly.
    pub fn new(n_rows: usize, n_cols: usize, row_ptr: Arc<Vec<usize>>, col_idx: Arc<Vec<u32>>) -> Result<Pattern, CsrError> {
        let ends = row_ptr.first() == Some(&0) && row_ptr.last() == Some(&col_idx.len());
        if row_ptr.len() != n_rows + 1 || !ends || row_ptr.windows(2).any(|pair| pair[0] > pair[1]) {
            return Err(CsrError::RowPointers);
        }
        for row in 0..n_rows {
            let columns = &col_idx[row_ptr[row]..row_ptr[row + 1]];
            if columns.iter().any(|&column| column as usize >= n_cols) {
                return Err(CsrError::ColumnOutOfRange(row));
            }
            if columns.windows(2).any(|pair| pair[0] >= pair[1]) {
                return Err(CsrError::ColumnsNotAscending(row));
            }
        }
        Ok(Pattern { n_rows, n_cols, row_ptr, col_idx, found: Found::default() })
    }

    /// From arrays that are known to be valid.
    pub(in crate::linalg) fn from_valid(n_rows: usize, n_cols: usize, row_ptr: Vec<usize>, col_idx: Vec<u32>) -> Pattern {
        let (row_ptr, col_idx) = (Arc::new(row_ptr), Arc::new(col_idx));
        debug_assert!(Pattern::new(n_rows, n_cols, Arc::clone(&row_ptr), Arc::clone(&col_idx)).is_ok(), "arrays that fit");
        Pattern { n_rows, n_cols, row_ptr, col_idx, found: Found::default() }
    }

    /// Number of rows.
    pub fn n_rows(&self) -> usize {
        self.n_rows
    }

    /// Number of columns.
    pub fn n_cols(&self) -> usize {
        self.n_cols
    }

    /// Its diagonals, if all entries lie on few of them. Cost: one pass at the first call.
    pub(in crate::linalg) fn diagonals(&self) -> Option<&Offsets> {
        self.found.diagonals.get_or_init(|| dia::offsets(self)).as_ref()
    }

    /// The mirrored entries, if all have one. Cost: one pass at the first call, and 4 bytes for
    /// each pair of entries.
    pub(in crate::linalg) fn mirror(&self) -> Option<&Mirror> {
        self.found.mirror.get_or_init(|| Mirror::new(self.n_cols, &self.row_ptr, &self.col_idx)).as_ref()
    }

    /// Number of entries.
    pub fn n_entries(&self) -> usize {
        self.col_idx.len()
    }

    /// Index of the first entry of each row, and the number of entries: `[n_rows + 1]`.
    pub fn row_ptr(&self) -> &[usize] {
        &self.row_ptr
    }

    /// Column of each entry: `[n_entries]`.
    pub fn col_idx(&self) -> &[u32] {
        &self.col_idx
    }
}

/// A sparse matrix of `f64` in compressed rows. Columns ascend strictly within a row; stored zeros
/// are allowed.
///
/// Memory: 12 bytes an entry and 8 a row; with a shared pattern 8 an entry.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Csr {
    pattern: Arc<Pattern>,
    values: Vec<f64>,
}

/// Error of the arrays of a matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CsrError {
    /// `row_ptr` must have one entry more than there are rows, start with 0, never descend and end
    /// with the number of entries.
    RowPointers,
    /// `col_idx` and `values` differ in length.
    Lengths,
    /// A column index is not below the number of columns; with the row.
    ColumnOutOfRange(usize),
    /// Columns do not ascend strictly; with the row.
    ColumnsNotAscending(usize),
}

impl fmt::Display for CsrError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CsrError::RowPointers => f.write_str("the row pointers do not start at 0, ascend and end with the number of entries"),
            CsrError::Lengths => f.write_str("there are not as many column indices as values"),
            CsrError::ColumnOutOfRange(row) => write!(f, "row {row} has a column beyond the last"),
            CsrError::ColumnsNotAscending(row) => write!(f, "the columns of row {row} do not ascend"),
        }
    }
}

impl std::error::Error for CsrError {}

impl Csr {
    /// From `row_ptr` `[n_rows + 1]`, `col_idx` and `values` `[n_entries]`.
    ///
    /// # Errors
    /// The arrays do not fit each other, or the columns of a row do not ascend strictly.
    pub fn new(n_rows: usize, n_cols: usize, row_ptr: Vec<usize>, col_idx: Vec<u32>, values: Vec<f64>) -> Result<Csr, CsrError> {
        let pattern = Pattern::new(n_rows, n_cols, Arc::new(row_ptr), Arc::new(col_idx))?;
        Csr::with_pattern(Arc::new(pattern), values)
    }

    /// Takes values for a pattern: `[n_entries]`, without a copy.
    ///
    /// # Errors
    /// The number of values differs from that of entries.
    pub fn with_pattern(pattern: Arc<Pattern>, values: Vec<f64>) -> Result<Csr, CsrError> {
        if pattern.n_entries() == values.len() { Ok(Csr { pattern, values }) } else { Err(CsrError::Lengths) }
    }

    /// The pattern.
    pub fn pattern(&self) -> &Arc<Pattern> {
        &self.pattern
    }

    /// The values, as a buffer to overwrite.
    pub fn into_values(self) -> Vec<f64> {
        self.values
    }

    /// From arrays that are known to be valid, as results of algorithms in this module.
    pub(in crate::linalg) fn from_valid(n_rows: usize, n_cols: usize, row_ptr: Vec<usize>, col_idx: Vec<u32>, values: Vec<f64>) -> Csr {
        debug_assert_eq!(col_idx.len(), values.len(), "arrays that fit");
        Csr { pattern: Arc::new(Pattern::from_valid(n_rows, n_cols, row_ptr, col_idx)), values }
    }

    /// From entries (row, column, value) in any order; duplicates are summed in the given order.
    ///
    /// # Errors
    /// An entry lies outside (with its row; a row beyond the last counts as out of range too).
    pub fn from_triplets(n_rows: usize, n_cols: usize, entries: &[(usize, usize, f64)]) -> Result<Csr, CsrError> {
        let mut sorted: Vec<(usize, u32, f64)> = Vec::with_capacity(entries.len());
        for &(row, column, value) in entries {
            let Some(narrow) = u32::try_from(column).ok().filter(|_| row < n_rows && column < n_cols) else {
                return Err(CsrError::ColumnOutOfRange(row));
            };
            sorted.push((row, narrow, value));
        }
        sorted.sort_by_key(|&(row, column, _)| (row, column));
        let (mut row_ptr, mut col_idx, mut values) = (vec![0; n_rows + 1], Vec::new(), Vec::new());
        let mut last = None;
        for (row, column, value) in sorted {
            if last == Some((row, column)) {
                if let Some(sum) = values.last_mut() {
                    *sum += value;
                }
            } else {
                col_idx.push(column);
                values.push(value);
                row_ptr[row + 1] = values.len();
                last = Some((row, column));
            }
        }
        for row in 0..n_rows {
            row_ptr[row + 1] = row_ptr[row + 1].max(row_ptr[row]);
        }
        let (row_ptr, col_idx) = (Arc::new(row_ptr), Arc::new(col_idx));
        Ok(Csr { pattern: Arc::new(Pattern { n_rows, n_cols, row_ptr, col_idx, found: Found::default() }), values })
    }

    /// Number of rows.
    pub fn n_rows(&self) -> usize {
        self.pattern.n_rows
    }

    /// Number of columns.
    pub fn n_cols(&self) -> usize {
        self.pattern.n_cols
    }

    /// Number of stored entries.
    pub fn n_entries(&self) -> usize {
        self.values.len()
    }

    /// Index of the first entry of each row, and the number of entries: `[n_rows + 1]`.
    pub fn row_ptr(&self) -> &[usize] {
        &self.pattern.row_ptr
    }

    /// Column of each entry: `[n_entries]`.
    pub fn col_idx(&self) -> &[u32] {
        &self.pattern.col_idx
    }

    /// Value of each entry: `[n_entries]`.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// The values, to overwrite on an unchanged pattern.
    pub fn values_mut(&mut self) -> &mut [f64] {
        &mut self.values
    }

    /// Entries of a row as (column, value), ascending.
    ///
    /// # Panics
    /// If there is no such row.
    pub fn row(&self, row: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        let range = self.row_ptr()[row]..self.row_ptr()[row + 1];
        self.col_idx()[range.clone()].iter().zip(&self.values[range]).map(|(&column, &value)| (column as usize, value))
    }

    /// An entry; 0 where none is stored.
    pub fn entry(&self, row: usize, column: usize) -> f64 {
        let Ok(narrow) = u32::try_from(column) else { return 0.0 };
        if row >= self.n_rows() {
            return 0.0;
        }
        let start = self.row_ptr()[row];
        self.col_idx()[start..self.row_ptr()[row + 1]].binary_search(&narrow).map_or(0.0, |at| self.values[start + at])
    }

    /// [`Csr::entry`] on the diagonal, by a search from the middle of the row, where it mostly is.
    pub(in crate::linalg) fn diagonal_entry(&self, row: usize) -> f64 {
        let own = self.row_ptr()[row]..self.row_ptr()[row + 1];
        let middle = own.start + own.len() / 2;
        match self.col_idx()[own].get(middle - self.row_ptr()[row]) {
            Some(&column) if column as usize == row => self.values[middle],
            _ => self.entry(row, row),
        }
    }

    /// `y = A x`, each row summed in ascending column order.
    ///
    /// Memory traffic: 12 bytes an entry; a row costs 8 for the row pointer, 16 for `y` (written
    /// and fetched), and 8 for `x` (neighbours come from cache).
    ///
    /// # Panics
    /// If `x` is not `[n_cols]` or `y` not `[n_rows]`.
    pub fn mul_into(&self, y: &mut [f64], x: &[f64]) {
        self.mul_into_on(&Threads::one(), y, x);
    }

    /// [`Csr::mul_into`] on several threads: the same bits.
    ///
    /// # Panics
    /// As for [`Csr::mul_into`].
    pub fn mul_into_on(&self, threads: &Threads, y: &mut [f64], x: &[f64]) {
        assert!(x.len() == self.n_cols() && y.len() == self.n_rows(), "vectors of the matrix's size");
        threads.each(self.n_rows(), y, |rows, y| self.products(rows, x, y));
    }

    /// `A x` of these rows, each summed in ascending column order.
    ///
    /// # Panics
    /// If there are no such rows, or `x` is shorter than a row.
    pub(in crate::linalg) fn products(&self, rows: Range<usize>, x: &[f64], y: &mut [f64]) {
        let ends = &self.row_ptr()[rows.start..=rows.end];
        let (mut columns, mut values) = (&self.col_idx()[ends[0]..], &self.values[ends[0]..]);
        for (ends, y) in ends.windows(2).zip(y) {
            let (own_columns, own_values);
            (own_columns, columns) = columns.split_at(ends[1] - ends[0]);
            (own_values, values) = values.split_at(ends[1] - ends[0]);
            *y = product_of_row(own_columns, own_values, x);
        }
    }

    /// `(A x)_row`, in ascending column order.
    pub(in crate::linalg) fn row_product(&self, row: usize, x: &[f64]) -> f64 {
        let range = self.row_ptr()[row]..self.row_ptr()[row + 1];
        product_of_row(&self.col_idx()[range.clone()], &self.values[range], x)
    }

    /// `A x`
    ///
    /// # Panics
    /// If `x` is not `[n_cols]`.
    pub fn mul(&self, x: &[f64]) -> Vec<f64> {
        let mut y = vec![0.0; self.n_rows()];
        self.mul_into(&mut y, x);
        y
    }

    /// Diagonal; 0 where no entry is stored. `[min(n_rows, n_cols)]`
    pub fn diagonal(&self) -> Vec<f64> {
        let own = |row: usize| self.row(row).find(|(column, _)| *column == row).map_or(0.0, |(_, value)| value);
        (0..self.n_rows().min(self.n_cols())).map(own).collect()
    }

    /// Compares the matrix with its transpose, which is not formed. Values are equal if they differ
    /// by at most `tolerance` times the largest magnitude in the two rows concerned. An entry
    /// without mirrored entry is a structural difference unless it is 0.
    pub fn symmetry(&self, tolerance: f64) -> Symmetry {
        if self.n_rows() != self.n_cols() {
            return Symmetry::NotSquare;
        }
        let largest: Vec<f64> =
            (0..self.n_rows()).map(|row| self.row(row).fold(0.0, |most: f64, (_, value)| most.max(value.abs()))).collect();
        let mut numerical = None;
        // The rows with column `j` come in ascending order, so a pointer into each row finds
        // mirrored entries in one sweep.
        let mut next: Vec<usize> = self.row_ptr()[..self.n_rows()].to_vec();
        for row in 0..self.n_rows() {
            for (column, value) in self.row(row) {
                // Entries of row `column` left of `row` that were skipped have no mirrored entry.
                let end = self.row_ptr()[column + 1];
                let mirror = loop {
                    let at = next[column];
                    if at == end || self.col_idx()[at] as usize > row {
                        break None;
                    }
                    next[column] += 1;
                    if self.col_idx()[at] as usize == row {
                        break Some(self.values[at]);
                    }
                    if self.values[at] != 0.0 {
                        return Symmetry::Structural { row: column, column: self.col_idx()[at] as usize };
                    }
                };
                match mirror {
                    None if value != 0.0 => return Symmetry::Structural { row, column },
                    None => {}
                    Some(other) => {
                        let near = (value - other).abs() <= tolerance * largest[row].max(largest[column]);
                        if !near && numerical.is_none() {
                            numerical = Some(Symmetry::Numerical { row, column });
                        }
                    }
                }
            }
        }
        for (row, &start) in next.iter().enumerate() {
            for at in start..self.row_ptr()[row + 1] {
                if self.values[at] != 0.0 {
                    return Symmetry::Structural { row, column: self.col_idx()[at] as usize };
                }
            }
        }
        numerical.unwrap_or(Symmetry::Symmetric)
    }
}

/// A row times a vector, in ascending column order. Loops of a fixed length for each usual one
/// were slower: the processor guesses the length of a row less often than the end of its loop.
#[inline(always)]
fn product_of_row(columns: &[u32], values: &[f64], x: &[f64]) -> f64 {
    columns.iter().zip(values).fold(0.0, |sum, (&column, value)| sum + value * x[column as usize])
}

/// True if a matrix is symmetric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Symmetry {
    /// It is.
    Symmetric,
    /// It is not square.
    NotSquare,
    /// An entry has no mirrored entry.
    Structural {
        /// Its row.
        row: usize,
        /// Its column.
        column: usize,
    },
    /// An entry differs from its mirrored entry.
    Numerical {
        /// Its row.
        row: usize,
        /// Its column.
        column: usize,
    },
}
