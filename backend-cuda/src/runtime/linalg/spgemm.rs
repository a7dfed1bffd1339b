//! Products of sparse matrices (SpGEMM) by the library of the device, with 32-bit offsets.

use std::rc::Rc;

use equelle_runtime::{Error, ErrorKind};

use crate::runtime::device::DevicePtr;
use crate::runtime::device::sparse::SparseMatrix;
use crate::runtime::executor::Executor;
use crate::runtime::executor::pool::Buffer;
use crate::runtime::kernels::DERIVATIVES_MODULE;
use crate::runtime::linalg::csr::CsrPattern;

/// A number of entries or columns as a 32-bit integer for products of matrices.
///
/// # Errors
/// `Backend`: there are too many.
pub(crate) fn narrow(count: usize) -> Result<i32, Error> {
    i32::try_from(count).map_err(|_| {
        let message = format!("a sparse matrix with {count} entries or columns: products of them take at most {}", i32::MAX);
        Error::new(ErrorKind::Backend, message).hint("use a smaller grid, or -O2 without --ad=spgemm")
    })
}

impl CsrPattern {
    /// Row pointers as 32-bit integers for products of matrices.
    ///
    /// # Errors
    /// `Backend`: there are too many entries, or not enough memory.
    pub(crate) fn narrow_offsets(&self, executor: &Executor) -> Result<Rc<Buffer>, Error> {
        narrow(self.n_cols())?;
        narrow(self.entries())?;
        let offsets = executor.buffer("rows of a matrix", 4 * (self.len() + 1) as u64)?;
        let call = executor.call(&DERIVATIVES_MODULE, "equelle_narrow")?.arg((self.len() + 1) as u32);
        executor.launch_over(call.arg(self.row_ptr.address()).arg(offsets.address()), self.len() + 1)?;
        Ok(offsets)
    }
}

/// The product of a matrix in device memory, owned by the caller, with another one. Neither is
/// empty, and their sizes fit 32 bits.
///
/// # Errors
/// `Backend`: not enough memory, or the library is missing or refuses.
pub(crate) fn sparse_product(
    executor: &Executor,
    left: &SparseMatrix,
    rows: &CsrPattern,
    entries: &Buffer,
) -> Result<(CsrPattern, Rc<Buffer>), Error> {
    let (n, n_cols) = (left.rows, rows.n_cols());
    let offsets = rows.narrow_offsets(executor)?;
    // The library runs after the queued work.
    executor.flush()?;
    let right = SparseMatrix {
        rows: rows.len(),
        columns: n_cols,
        entries: rows.entries(),
        row_ptr: offsets.address(),
        col_idx: rows.columns.address(),
        values: entries.address(),
        precision: left.precision,
    };
    let mut taken: Vec<Rc<Buffer>> = Vec::new();
    // SAFETY: both matrices are owned here or by the caller, were written by kernels of this device
    // as described, and their sizes are checked above.
    let product = unsafe {
        executor.device().product(left, &right, &mut |bytes| {
            let buffer = executor.buffer("a product of sparse matrices", bytes)?;
            let address = buffer.address();
            taken.push(buffer);
            Ok(address)
        })
    }?;
    let held = |at: DevicePtr| {
        let found = taken.iter().find(|buffer| buffer.address() == at);
        found.map(Rc::clone).ok_or_else(|| Error::internal("a product of matrices outside its memory"))
    };
    let (columns, entries) = (held(product.col_idx)?, held(product.values)?);
    let row_ptr = executor.buffer("rows of a matrix", 8 * (n + 1) as u64)?;
    let call = executor.call(&DERIVATIVES_MODULE, "equelle_widen")?.arg((n + 1) as u32).arg(product.row_ptr).arg(row_ptr.address());
    executor.launch_over(call, n + 1)?;
    Ok((CsrPattern::on_device(row_ptr, columns, n, product.entries, n_cols), entries))
}
