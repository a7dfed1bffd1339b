//! Matrices arranged for products: by slices of rows where that wastes little, else by several threads to a row. See `products.cu`.

use std::rc::Rc;

use equelle_runtime::Error;

use crate::runtime::args::{Argument, Call, EqRows, pair};
use crate::runtime::device::DevicePtr;
use crate::runtime::matrices::DeviceMatrix;
use crate::runtime::pool::Buffer;
use crate::runtime::program::CudaRuntime;
use crate::runtime::rows::Rows;

/// Rows of a slice: `EQ_SLICE_ROWS` of the kernels.
const SLICE: usize = 32;
/// By which slices may be larger than compressed rows.
const MOST_WASTE: f64 = 1.25;
/// Entries of a row up to which a thread alone does well with it however few rows there are.
const FEW_ENTRIES: f64 = 16.0;
/// Threads that there should be for the device to be busy.
const ENOUGH_THREADS: usize = 1 << 16;
/// Entries of a row for each of the threads that add it.
const ENTRIES_OF_A_LANE: f64 = 4.0;
/// Most threads that add a row: as many as run in step.
const MOST_LANES: u32 = 32;

const WHAT: &str = "a matrix of the linear solver";

/// The pattern of a matrix by slices.
#[derive(Debug)]
pub(super) struct Slices {
    starts: Rc<Buffer>,
    lists: Rc<Buffer>,
    shifts: Rc<Buffer>,
    columns: Rc<Buffer>,
    /// Slots for values.
    pub room: usize,
}

/// What a matrix has beside its rows.
#[derive(Debug)]
pub(super) enum Form {
    /// Values by slices.
    Slices(Rc<Buffer>),
    /// Nothing: so many threads add a row.
    Rows(u32),
}

/// A matrix as kernels take it: `EqForm` of `products.cu`.
#[derive(Clone, Copy, Debug)]
pub(super) struct EqForm {
    rows: EqRows,
    /// Addresses of starts, lists, shifts, columns and values; 0 without slices.
    slices: [u64; 5],
    /// Threads that add a row.
    pub lanes: u32,
    n_cols: u32,
}

impl EqForm {
    /// A matrix by slices, with its values.
    pub fn of_slices(pattern: &Slices, values: &Buffer, n_cols: usize) -> EqForm {
        let parts = [&pattern.starts, &pattern.lists, &pattern.shifts, &pattern.columns].map(|part| part.address().0);
        let [starts, lists, shifts, columns] = parts;
        let rows = EqRows { row_ptr: 0, columns: 0, entries: 0 };
        EqForm { rows, slices: [starts, lists, shifts, columns, values.address().0], lanes: 1, n_cols: n_cols as u32 }
    }

    /// A matrix by rows, each added by so many threads.
    pub fn of_rows(rows: EqRows, lanes: u32, n_cols: usize) -> EqForm {
        EqForm { rows, slices: [0; 5], lanes, n_cols: n_cols as u32 }
    }

    /// Whether it is by slices.
    pub fn is_by_slices(&self) -> bool {
        self.slices[0] != 0
    }
}

impl Argument for EqForm {
    fn words(&self, words: &mut Vec<u64>) {
        self.rows.words(words);
        words.extend(self.slices);
        words.push(pair(self.lanes, self.n_cols));
    }
}

/// How many threads add a row.
pub(super) fn lanes(rows: &Rows) -> u32 {
    let n = rows.len();
    let mean = rows.entries() as f64 / n.max(1) as f64;
    let mut lanes = 1;
    while lanes < MOST_LANES
        && (f64::from(lanes) * ENTRIES_OF_A_LANE < mean || (n * lanes as usize) < ENOUGH_THREADS && f64::from(2 * lanes) <= mean)
    {
        lanes *= 2;
    }
    lanes
}

#[cfg(test)]
impl Slices {
    /// Which part of the room for values of `n` rows is in slices whose entries have columns.
    pub fn listed(&self, rt: &mut CudaRuntime, n: usize) -> f64 {
        let last = DevicePtr(self.lists.address().0 + 8 * n.div_ceil(SLICE) as u64);
        let listed = u64::from_le_bytes(rt.download(last, 8).expect("a device").try_into().expect("eight bytes"));
        SLICE as f64 * listed as f64 / self.room as f64
    }
}

impl DeviceMatrix {
    /// As kernels of products take it, once it has been arranged.
    pub(super) fn form(&self) -> Option<EqForm> {
        match (self.form.get()?, self.rows.slices.get()) {
            (Form::Slices(values), Some(Some(slices))) => Some(EqForm::of_slices(slices, values, self.rows.n_cols())),
            (Form::Slices(_), _) => None,
            (Form::Rows(lanes), _) => Some(EqForm::of_rows(self.args(), *lanes, self.rows.n_cols())),
        }
    }
}

impl CudaRuntime {
    /// Arranges a matrix for products.
    pub(super) fn arrange(&mut self, a: &DeviceMatrix) -> Result<(), Error> {
        if a.form.get().is_some() {
            return Ok(());
        }
        let form = match self.slices(&a.rows)? {
            Some(slices) => {
                let values = self.buffer(WHAT, 8 * slices.room as u64)?;
                let call = self.slices_call("equelle_slice_values", a, &slices)?;
                self.launch_over(call.arg(values.address()), a.rows.len().next_multiple_of(SLICE))?;
                Form::Slices(values)
            }
            None => Form::Rows(lanes(&a.rows)),
        };
        let _ = a.form.set(form);
        Ok(())
    }

    /// The values of a matrix times `scale` by slices, as singles.
    pub(super) fn slices_of_singles(&mut self, a: &DeviceMatrix, slices: &Slices, scale: f64) -> Result<Rc<Buffer>, Error> {
        let values = self.buffer(WHAT, 4 * slices.room as u64)?;
        let call = self.slices_call("equelle_slice_singles", a, slices)?.arg(scale);
        self.launch_over(call.arg(values.address()), a.rows.len().next_multiple_of(SLICE))?;
        Ok(values)
    }

    fn slices_call(&mut self, name: &'static str, a: &DeviceMatrix, slices: &Slices) -> Result<Call, Error> {
        let call = self.solver_call(name)?.arg(a.rows.len() as u32).arg(a.args());
        Ok(call.arg(slices.starts.address()).arg(slices.lists.address()).arg(slices.shifts.address()))
    }

    /// The pattern of rows by slices, if it is worth it; sought once.
    pub(super) fn slices(&mut self, rows: &Rows) -> Result<Option<Rc<Slices>>, Error> {
        if let Some(known) = rows.slices.get() {
            return Ok(known.clone());
        }
        let made = self.new_slices(rows)?.map(Rc::new);
        Ok(rows.slices.get_or_init(|| made).clone())
    }

    /// The pattern by slices, if it is worth it; the host waits for their sizes.
    fn new_slices(&mut self, rows: &Rows) -> Result<Option<Slices>, Error> {
        let (n, entries) = (rows.len(), rows.entries());
        let few = entries as f64 <= FEW_ENTRIES * n as f64;
        if entries == 0 || i32::try_from(rows.n_cols()).is_err() || !(few || n >= ENOUGH_THREADS) {
            return Ok(None);
        }
        let count = n.div_ceil(SLICE);
        // One number more each, behind each other.
        let (starts, lists) = (self.buffer(WHAT, 8 * (count + 1) as u64)?, self.buffer(WHAT, 8 * (count + 1) as u64)?);
        let args = EqRows { row_ptr: rows.row_ptr.address().0, columns: rows.columns.address().0, entries: 0 };
        let padded = n.next_multiple_of(SLICE);
        let call = self.solver_call("equelle_slice_widths")?.arg(n as u32).arg(args);
        self.launch_over(call.arg(starts.address()).arg(lists.address()), padded)?;
        let mut totals = [0; 2];
        for (total, sizes) in totals.iter_mut().zip([&starts, &lists]) {
            self.running_sums(DevicePtr(sizes.address().0 + 8), count)?;
            let last = self.download(DevicePtr(sizes.address().0 + 8 * count as u64), 8)?;
            *total = last.try_into().map_or(0, u64::from_le_bytes) as usize;
        }
        let [values, listed] = totals;
        if (8 * values + 4 * listed) as f64 * SLICE as f64 > MOST_WASTE * 12.0 * entries as f64 {
            return Ok(None);
        }
        let (shifts, columns) = (self.buffer(WHAT, 4 * values as u64)?, self.buffer(WHAT, (4 * SLICE * listed) as u64)?);
        let call = self.solver_call("equelle_slice_columns")?.arg(n as u32).arg(args).arg(starts.address()).arg(lists.address());
        self.launch_over(call.arg(shifts.address()).arg(columns.address()), padded)?;
        Ok(Some(Slices { starts, lists, shifts, columns, room: SLICE * values }))
    }

    /// Queues a call with the threads that a matrix takes.
    pub(super) fn launch_over_form(&mut self, call: Call, a: &EqForm, n: usize) -> Result<(), Error> {
        self.launch_over(call, n * a.lanes as usize)
    }
}
