//! Formats of matrices for products: by slices of rows (SELL-C, Kreutzer et al. 2014, doi:10.1137/130930352) where that
//! wastes little, else by compressed rows with several threads to each. See `products.cu`.

use std::rc::Rc;

use crate::runtime::executor::arguments::{Argument, EqRows, pair};
use crate::runtime::executor::pool::Buffer;

/// The pattern of a matrix by slices.
#[derive(Debug)]
pub(crate) struct SellPattern {
    pub starts: Rc<Buffer>,
    pub lists: Rc<Buffer>,
    pub shifts: Rc<Buffer>,
    pub columns: Rc<Buffer>,
    /// Slots for values.
    pub capacity: usize,
}

/// What a matrix has beside its rows.
#[derive(Debug)]
pub(crate) enum Form {
    /// Values by slices.
    Slices(Rc<Buffer>),
    /// Nothing: so many threads add a row.
    Rows(u32),
}

/// A matrix as kernels take it: `EqSparseMatrix` of `products.cu`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EqSparseMatrix {
    rows: EqRows,
    /// Addresses of starts, lists, shifts, columns and values; 0 without slices.
    slices: [u64; 5],
    /// Threads that add a row.
    pub lanes: u32,
    n_cols: u32,
}

impl EqSparseMatrix {
    /// A matrix by slices, with its values.
    pub fn of_slices(pattern: &SellPattern, values: &Buffer, n_cols: usize) -> EqSparseMatrix {
        let parts = [&pattern.starts, &pattern.lists, &pattern.shifts, &pattern.columns].map(|part| part.address().0);
        let [starts, lists, shifts, columns] = parts;
        let rows = EqRows { row_ptr: 0, columns: 0, entries: 0 };
        EqSparseMatrix { rows, slices: [starts, lists, shifts, columns, values.address().0], lanes: 1, n_cols: n_cols as u32 }
    }

    /// A matrix by rows, each added by so many threads.
    pub fn of_rows(rows: EqRows, lanes: u32, n_cols: usize) -> EqSparseMatrix {
        EqSparseMatrix { rows, slices: [0; 5], lanes, n_cols: n_cols as u32 }
    }

    /// Whether it is by slices.
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
