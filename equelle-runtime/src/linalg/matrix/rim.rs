//! Entries of some rows of a matrix in columns beyond its own.

use super::csr::Csr;

/// Entries of the rows of a matrix that have some in further columns, those of other ranks.
#[derive(Clone, Debug, PartialEq)]
pub struct Rim {
    /// Rows with such an entry, ascending.
    rows: Vec<u32>,
    /// Their entries: `[rows, further columns]`.
    entries: Csr,
}

impl Default for Rim {
    fn default() -> Rim {
        Rim { rows: Vec::new(), entries: Csr::from_valid(0, 0, vec![0], Vec::new(), Vec::new()) }
    }
}

impl Rim {
    /// From entries of all rows: `[rows, further columns]`.
    pub fn new(entries: Csr) -> Rim {
        let n_columns = entries.n_cols();
        let row_ptr = entries.row_ptr();
        let rows: Vec<u32> = (0..entries.n_rows()).filter(|&row| row_ptr[row] < row_ptr[row + 1]).map(|row| row as u32).collect();
        let mut compact = Vec::with_capacity(rows.len() + 1);
        compact.push(0);
        compact.extend(rows.iter().map(|&row| row_ptr[row as usize + 1]));
        let col_idx = entries.col_idx().to_vec();
        let entries = Csr::from_valid(rows.len(), n_columns, compact, col_idx, entries.into_values());
        Rim { rows, entries }
    }

    /// Rows with an entry, ascending.
    pub fn rows(&self) -> &[u32] {
        &self.rows
    }

    /// Entries of these rows: `[rows, further columns]`.
    pub fn entries(&self) -> &Csr {
        &self.entries
    }

    /// Number of the first of these rows that is not before `row`.
    pub fn first_from(&self, row: usize) -> usize {
        self.rows.partition_point(|&other| (other as usize) < row)
    }

    /// Entries of a row as (further column, value), ascending.
    pub fn row(&self, row: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        let found = u32::try_from(row).ok().and_then(|row| self.rows.binary_search(&row).ok());
        found.into_iter().flat_map(|at| self.entries.row(at))
    }

    /// Position of an entry among all.
    pub fn position(&self, row: usize, column: u32) -> Option<usize> {
        let at = self.rows.binary_search(&u32::try_from(row).ok()?).ok()?;
        let start = self.entries.row_ptr()[at];
        let within = self.entries.col_idx()[start..self.entries.row_ptr()[at + 1]].binary_search(&column).ok()?;
        Some(start + within)
    }

    /// Takes `(row, (A x)_row)` of each row, where `x` has the further columns.
    pub fn products(&self, x: &[f64], mut take: impl FnMut(usize, f64)) {
        for (at, &row) in self.rows.iter().enumerate() {
            take(row as usize, self.entries.row_product(at, x));
        }
    }

    /// All entries as (row, position among all, further column, value).
    pub fn each(&self) -> impl Iterator<Item = (usize, usize, usize, f64)> + '_ {
        let row_ptr = self.entries.row_ptr();
        self.rows.iter().enumerate().flat_map(move |(at, &row)| {
            self.entries.row(at).enumerate().map(move |(within, (column, value))| (row as usize, row_ptr[at] + within, column, value))
        })
    }

    /// The same places with other values: `change(row, position, value)`.
    #[must_use]
    pub fn changed(&self, change: impl Fn(usize, usize, f64) -> f64) -> Rim {
        let mut changed = self.clone();
        for (row, at, _, value) in self.each() {
            changed.entries.values_mut()[at] = change(row, at, value);
        }
        changed
    }

    /// The same entries in other columns: `number` of each, in the same order.
    #[must_use]
    pub fn renumbered(&self, number: &[u32], n_columns: usize) -> Rim {
        let col_idx = self.entries.col_idx().iter().map(|&column| number[column as usize]).collect();
        let entries = Csr::from_valid(self.rows.len(), n_columns, self.entries.row_ptr().to_vec(), col_idx, self.entries.values().to_vec());
        Rim { rows: self.rows.clone(), entries }
    }
}
