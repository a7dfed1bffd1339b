//! Products of sparse matrices, which the operation level needs: cuSPARSE on GPUs, plain loops on
//! the emulator.

use equelle_runtime::Error;

use super::ids::DevicePtr;
use crate::runtime::executor::precision::Precision;

/// A CSR matrix in device memory. Offsets and columns are signed numbers of 32 bits, as cuSPARSE
/// takes them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SparseMatrix {
    /// Number of rows.
    pub rows: usize,
    /// Number of columns.
    pub columns: usize,
    /// Number of entries.
    pub entries: usize,
    /// Where rows begin. `[rows + 1]`
    pub row_ptr: DevicePtr,
    /// Column of each entry. `[entries]`
    pub col_idx: DevicePtr,
    /// Value of each entry. `[entries]`
    pub values: DevicePtr,
    /// Of the values; that of both factors and of their product.
    pub precision: Precision,
}

/// Gives device memory of at least so many bytes, which stays as long as whoever asked for the
/// product wants.
pub type Allocate<'a> = dyn FnMut(u64) -> Result<DevicePtr, Error> + 'a;

/// A library for sparse matrices.
pub trait SparseProducts {
    /// `a b`, in order with the other work of the device; its columns ascend within a row, and
    /// entries that are zero by value are there. The same bits every time: terms of an entry are
    /// added in a fixed order, that of the entries of `a` on the emulator.
    ///
    /// # Errors
    /// `Backend`: the library is missing, or refuses. Those of `allocate`.
    ///
    /// # Safety
    /// Both matrices are in memory of this device, as they say; `a` has as many columns as `b` has
    /// rows, neither is without rows, columns or entries, and their columns are below their numbers
    /// of columns.
    unsafe fn product(&self, a: &SparseMatrix, b: &SparseMatrix, allocate: &mut Allocate<'_>) -> Result<SparseMatrix, Error>;
}
