//! Formats of matrices for products: slices of rows (SELL-C, Kreutzer et al. 2014,
//! doi:10.1137/130930352) where padding is small, else compressed rows with several threads each.
//! See `formats.cuh`.

use std::rc::Rc;

use crate::runtime::executor::arguments::{Argument, EqRows, pair};
use crate::runtime::executor::pool::Buffer;

/// The sliced pattern of a matrix.
#[derive(Debug)]
pub(crate) struct SellPattern {
    pub starts: Rc<Buffer>,
    pub lists: Rc<Buffer>,
    pub shifts: Rc<Buffer>,
    pub columns: Rc<Buffer>,
    /// Number of values with padding.
    pub capacity: usize,
    /// Bytes of starts and lists, of columns, and of one number for each of the other columns.
    pub index_bytes: u64,
}

/// The additional storage of a format.
#[derive(Debug)]
pub(crate) enum SpmvFormat {
    /// Values in slices.
    Slices(Rc<Buffer>),
    /// None: this number of threads adds each row.
    Rows(u32),
}

/// A matrix as kernel argument: `EqSparseMatrix` of `formats.cuh`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EqSparseMatrix {
    rows: EqRows,
    /// Addresses of starts, lists, shifts, columns and values; 0 without slices.
    slices: [u64; 5],
    /// Threads for each row.
    pub lanes: u32,
    n_cols: u32,
}

impl EqSparseMatrix {
    /// A matrix in slices, with its values.
    pub fn from_sell(pattern: &SellPattern, values: &Buffer, n_cols: usize) -> EqSparseMatrix {
        let parts = [&pattern.starts, &pattern.lists, &pattern.shifts, &pattern.columns].map(|part| part.address().0);
        let [starts, lists, shifts, columns] = parts;
        let rows = EqRows { row_ptr: 0, columns: 0, entries: 0 };
        EqSparseMatrix { rows, slices: [starts, lists, shifts, columns, values.address().0], lanes: 1, n_cols: n_cols as u32 }
    }

    /// A matrix in rows, each added by `lanes` threads.
    pub fn from_csr(rows: EqRows, lanes: u32, n_cols: usize) -> EqSparseMatrix {
        EqSparseMatrix { rows, slices: [0; 5], lanes, n_cols: n_cols as u32 }
    }

    /// True if it is in slices.
    pub fn is_by_slices(&self) -> bool {
        self.slices[0] != 0
    }
}

impl Argument for EqSparseMatrix {
    fn words(&self, words: &mut Vec<u64>) {
        self.rows.words(words);
        words.extend(self.slices);
        words.push(pair(self.lanes, self.n_cols));
    }
}
