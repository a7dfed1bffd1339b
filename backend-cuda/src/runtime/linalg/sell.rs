//! Storage formats of matrices for products: slices of rows (SELL) where padding is small, else
//! rows shared by several threads.

use std::rc::Rc;

use equelle_runtime::Error;

use crate::runtime::device::DevicePtr;
use crate::runtime::executor::Executor;
use crate::runtime::executor::arguments::{Call, EqRows};
use crate::runtime::executor::pool::Buffer;
use crate::runtime::kernels::PRODUCTS_MODULE;
use crate::runtime::linalg::csr::{CsrPattern, DeviceMatrix};
use crate::runtime::linalg::spmv_format::{EqSparseMatrix, SellPattern, SpmvFormat};

/// Rows of a slice: `EQ_SLICE_ROWS` of the kernels.
const SLICE: usize = 32;
/// Largest ratio of slices to compressed rows.
const MAX_WASTE: f64 = 1.25;
/// Entries of a row up to which a single thread is efficient for any number of rows.
const FEW_ENTRIES: f64 = 16.0;
/// Number of threads that keep the device busy.
const ENOUGH_THREADS: usize = 1 << 16;
/// Entries of a row for each of its threads.
const ENTRIES_OF_A_LANE: f64 = 4.0;
/// Largest number of threads for a row: a warp.
const MAX_LANES: u32 = 32;

const WHAT: &str = "a matrix of the linear solver";

/// Number of threads for a row.
pub(crate) fn lanes(rows: &CsrPattern) -> u32 {
    let n = rows.len();
    let mean = rows.entries() as f64 / n.max(1) as f64;
    let mut lanes = 1;
    while lanes < MAX_LANES
        && (f64::from(lanes) * ENTRIES_OF_A_LANE < mean || (n * lanes as usize) < ENOUGH_THREADS && f64::from(2 * lanes) <= mean)
    {
        lanes *= 2;
    }
    lanes
}

#[cfg(test)]
impl SellPattern {
    /// The part of the storage of `n` rows in slices whose entries have column indices.
    pub fn listed(&self, executor: &Executor, n: usize) -> f64 {
        let last = DevicePtr(self.lists.address().0 + 8 * n.div_ceil(SLICE) as u64);
        let listed: u64 = executor.download_one(last).expect("a device");
        SLICE as f64 * listed as f64 / self.capacity as f64
    }
}

/// Converts a matrix for products.
pub(crate) fn build_format(executor: &Executor, a: &DeviceMatrix) -> Result<(), Error> {
    if a.format.get().is_some() {
        return Ok(());
    }
    let format = match slices(executor, &a.rows)? {
        Some(slices) => {
            let values = executor.buffer(WHAT, 8 * slices.capacity as u64)?;
            let call = slices_call(executor, "equelle_slice_values", a, &slices)?;
            executor.launch_over(call.arg(values.address()), a.rows.len().next_multiple_of(SLICE))?;
            SpmvFormat::Slices(values)
        }
        None => SpmvFormat::Rows(lanes(&a.rows)),
    };
    let _ = a.format.set(format);
    Ok(())
}

/// The values of a matrix times `scale` in slices, in single precision.
pub(crate) fn f32_slices(executor: &Executor, a: &DeviceMatrix, slices: &SellPattern, scale: f64) -> Result<Rc<Buffer>, Error> {
    let values = executor.buffer(WHAT, 4 * slices.capacity as u64)?;
    let call = slices_call(executor, "equelle_slice_f32_values", a, slices)?.arg(scale);
    executor.launch_over(call.arg(values.address()), a.rows.len().next_multiple_of(SLICE))?;
    Ok(values)
}

fn slices_call(executor: &Executor, name: &'static str, a: &DeviceMatrix, slices: &SellPattern) -> Result<Call, Error> {
    let call = executor.call(&PRODUCTS_MODULE, name)?.arg(a.rows.len() as u32).arg(a.args());
    Ok(call.arg(slices.starts.address()).arg(slices.lists.address()).arg(slices.shifts.address()))
}

/// The sliced pattern of rows, if it pays; computed once.
pub(crate) fn slices(executor: &Executor, rows: &CsrPattern) -> Result<Option<Rc<SellPattern>>, Error> {
    if let Some(known) = rows.slices.get() {
        return Ok(known.clone());
    }
    let made = new_slices(executor, rows)?.map(Rc::new);
    Ok(rows.slices.get_or_init(|| made).clone())
}

/// The sliced pattern, if it pays; the host waits for its size.
fn new_slices(executor: &Executor, rows: &CsrPattern) -> Result<Option<SellPattern>, Error> {
    let (n, entries) = (rows.len(), rows.entries());
    let few = entries as f64 <= FEW_ENTRIES * n as f64;
    if entries == 0 || i32::try_from(rows.n_cols()).is_err() || !(few || n >= ENOUGH_THREADS) {
        return Ok(None);
    }
    let count = n.div_ceil(SLICE);
    // One number more each, one array behind the other.
    let (starts, lists) = (executor.buffer(WHAT, 8 * (count + 1) as u64)?, executor.buffer(WHAT, 8 * (count + 1) as u64)?);
    let args = EqRows { row_ptr: rows.row_ptr.address().0, columns: rows.columns.address().0, entries: 0 };
    let padded = n.next_multiple_of(SLICE);
    let call = executor.call(&PRODUCTS_MODULE, "equelle_slice_widths")?.arg(n as u32).arg(args);
    executor.launch_over(call.arg(starts.address()).arg(lists.address()), padded)?;
    let mut totals = [0; 2];
    for (total, sizes) in totals.iter_mut().zip([&starts, &lists]) {
        executor.running_sums(DevicePtr(sizes.address().0 + 8), count)?;
        *total = executor.download_one::<u64>(DevicePtr(sizes.address().0 + 8 * count as u64))? as usize;
    }
    let [values, listed] = totals;
    if (8 * values + 4 * listed) as f64 * SLICE as f64 > MAX_WASTE * 12.0 * entries as f64 {
        return Ok(None);
    }
    let (shifts, columns) = (executor.buffer(WHAT, 4 * values as u64)?, executor.buffer(WHAT, (4 * SLICE * listed) as u64)?);
    let call = executor.call(&PRODUCTS_MODULE, "equelle_slice_columns")?.arg(n as u32).arg(args).arg(starts.address()).arg(lists.address());
    executor.launch_over(call.arg(shifts.address()).arg(columns.address()), padded)?;
    let index_bytes = (16 * count + 4 * SLICE * listed + 4 * (values - listed)) as u64;
    Ok(Some(SellPattern { starts, lists, shifts, columns, capacity: SLICE * values, index_bytes }))
}

/// Queues a call with the number of threads that the format needs.
pub(crate) fn launch_over_format(executor: &Executor, call: Call, a: &EqSparseMatrix, n: usize) -> Result<(), Error> {
    executor.launch_over(call, n * a.lanes as usize)
}
