//! Products of sparse matrices on the emulator: plain loops.

use equelle_runtime::{Error, ErrorKind, Real};

use super::Emulator;
use crate::runtime::device::DevicePtr;
use crate::runtime::device::sparse::{Allocate, SparseMatrix, SparseProducts};
use crate::runtime::executor::precision::Precision;

/// `len` values at an address of the emulator.
///
/// # Safety
/// The values are allocated, written and aligned, and nothing writes to them while the slice lives.
unsafe fn values<'a, T>(at: DevicePtr, len: usize) -> &'a [T] {
    // SAFETY: the caller's promise.
    unsafe { std::slice::from_raw_parts(at.0 as *const T, len) }
}

/// Stores these values in new memory.
///
/// # Safety
/// `allocate` returns memory of the emulator.
unsafe fn stored<T: Copy>(values: &[T], allocate: &mut Allocate<'_>) -> Result<DevicePtr, Error> {
    let at = allocate(size_of_val(values) as u64)?;
    // SAFETY: the memory is new, as long as the values and at least as aligned.
    unsafe { std::ptr::copy_nonoverlapping(values.as_ptr(), at.0 as *mut T, values.len()) };
    Ok(at)
}

impl SparseProducts for Emulator {
    unsafe fn product(&self, a: &SparseMatrix, b: &SparseMatrix, allocate: &mut Allocate<'_>) -> Result<SparseMatrix, Error> {
        // SAFETY: what the caller promises.
        match a.precision {
            Precision::Double => unsafe { product::<f64>(a, b, allocate) },
            Precision::Single => unsafe { product::<f32>(a, b, allocate) },
        }
    }
}

/// The product of matrices of `R`.
///
/// # Safety
/// As for [`SparseProducts::product`].
unsafe fn product<R: Real>(a: &SparseMatrix, b: &SparseMatrix, allocate: &mut Allocate<'_>) -> Result<SparseMatrix, Error> {
    // SAFETY: the caller promises that the matrices are as described, and kernels of this device
    // have finished when their launch returns.
    let (a_ends, a_columns, a_values, b_ends, b_columns, b_values) = unsafe {
        (
            values::<i32>(a.row_ptr, a.rows + 1),
            values::<i32>(a.col_idx, a.entries),
            values::<R>(a.values, a.entries),
            values::<i32>(b.row_ptr, b.rows + 1),
            values::<i32>(b.col_idx, b.entries),
            values::<R>(b.values, b.entries),
        )
    };
    const ABSENT: usize = usize::MAX;
    let (mut ends, mut columns, mut sums): (Vec<i32>, Vec<i32>, Vec<R>) = (vec![0], Vec::new(), Vec::new());
    // Position of each column in the current row.
    let mut places = vec![ABSENT; b.columns];
    let mut row: Vec<(i32, R)> = Vec::new();
    for a_row in a_ends.windows(2) {
        for i in a_row[0] as usize..a_row[1] as usize {
            let middle = a_columns[i] as usize;
            for j in b_ends[middle] as usize..b_ends[middle + 1] as usize {
                let (column, term) = (b_columns[j], a_values[i] * b_values[j]);
                let place = &mut places[column as usize];
                match row.get_mut(*place) {
                    Some((_, sum)) => *sum += term,
                    None => {
                        *place = row.len();
                        row.push((column, term));
                    }
                }
            }
        }
        row.sort_unstable_by_key(|&(column, _)| column);
        for (column, sum) in row.drain(..) {
            places[column as usize] = ABSENT;
            columns.push(column);
            sums.push(sum);
        }
        let end = i32::try_from(columns.len());
        ends.push(end.map_err(|_| Error::new(ErrorKind::Backend, "a product of sparse matrices has too many entries"))?);
    }
    // SAFETY: the caller promises what `allocate` returns.
    let (row_ptr, col_idx, values) = unsafe { (stored(&ends, allocate)?, stored(&columns, allocate)?, stored(&sums, allocate)?) };
    Ok(SparseMatrix { rows: a.rows, columns: b.columns, entries: columns.len(), row_ptr, col_idx, values, precision: a.precision })
}
