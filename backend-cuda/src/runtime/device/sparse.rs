//! Products of sparse matrices (SpGEMM) for the operation level: cuSPARSE on GPUs, plain loops on
//! the emulator.

use equelle_runtime::Error;

use super::ids::DevicePtr;
use crate::runtime::executor::precision::Precision;

/// A CSR matrix in device memory. Offsets and columns are signed 32-bit integers, as in cuSPARSE.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SparseMatrix {
    /// Number of rows.
    pub rows: usize,
    /// Number of columns.
    pub columns: usize,
    /// Number of entries.
    pub entries: usize,
    /// Row pointers. `[rows + 1]`
    pub row_ptr: DevicePtr,
    /// Column of each entry. `[entries]`
    pub col_idx: DevicePtr,
    /// Value of each entry. `[entries]`
    pub values: DevicePtr,
    /// Precision of the values; that of both factors and of their product.
    pub precision: Precision,
}

/// Allocates device memory of at least this size in bytes; the caller of the product owns it.
pub type Allocate<'a> = dyn FnMut(u64) -> Result<DevicePtr, Error> + 'a;

/// A library for sparse matrices.
pub trait SparseProducts {
    /// `a b`, in order with the other work of the device; columns ascend within a row, and entries
    /// that are zero by value stay. Equal bits every time: terms of an entry are added in a fixed
    /// order, on the emulator that of the entries of `a`.
    ///
    /// # Errors
    /// `Backend`: the library is missing or fails. Those of `allocate`.
    ///
    /// # Safety
    /// Both matrices are in memory of this device, as described; `a` has as many columns as `b` has
    /// rows, neither has zero rows, columns or entries, and their column indices are in range.
    unsafe fn product(&self, a: &SparseMatrix, b: &SparseMatrix, allocate: &mut Allocate<'_>) -> Result<SparseMatrix, Error>;
}
