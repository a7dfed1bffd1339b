//! Sparse matrices in compressed rows on the device: shared patterns, and entries.

use std::cell::OnceCell;
use std::rc::Rc;

use equelle_runtime::Error;
use equelle_runtime::linalg::Csr;
use equelle_runtime::linalg::space::matrix_space::Shape;
use equelle_runtime::linalg::space::traffic_counter::Stored;

use crate::runtime::device::DevicePtr;
use crate::runtime::executor::Executor;
use crate::runtime::executor::arguments::{Call, EqRows, EqSlots};
use crate::runtime::executor::pool::Buffer;
use crate::runtime::linalg::schedule::DeviceSchedule;
use crate::runtime::linalg::spmv_format::{EqSparseMatrix, SellPattern, SpmvFormat};

/// The pattern of the rows of an equation.
#[derive(Debug)]
pub struct CsrPattern {
    pub(crate) row_ptr: Rc<Buffer>,
    pub(crate) columns: Rc<Buffer>,
    len: usize,
    entries: usize,
    n_cols: usize,
    /// Threads per block of the kernel that evaluates the equation.
    pub(crate) block: u32,
    /// Index of the first addition of each row, and the slots of additions in the row.
    slots: Option<(Rc<Buffer>, Rc<Buffer>)>,
    /// The pattern on the host, once used.
    host: OnceCell<HostPattern>,
    /// The sliced pattern, once computed; `None` if it does not pay.
    pub(crate) slices: OnceCell<Option<Rc<SellPattern>>>,
}

/// A pattern on the host.
#[derive(Debug)]
pub(crate) struct HostPattern {
    /// `[rows + 1]`
    pub row_ptr: Vec<usize>,
    /// Ascending within a row.
    pub columns: Vec<u32>,
}

/// Entries of the rows of a block that fit shared memory: `EQ_STAGED` of the prelude.
const STAGED: u64 = 2560;

/// Threads per block without staging.
const BLOCK: u32 = 256;

/// The largest block size whose rows always fit shared memory; if there is none, the largest of
/// all. `most` has the most entries of 32, 64, 128 and 256 rows.
pub(crate) fn block_of(most: [u64; 4]) -> u32 {
    let sizes = [32, 64, 128, BLOCK].into_iter().zip(most);
    sizes.rev().find(|&(_, entries)| entries <= STAGED).map_or(BLOCK, |(block, _)| block)
}

impl CsrPattern {
    /// A pattern on the device only: `len` rows of `n_cols` columns, with `entries` entries.
    pub(crate) fn on_device(row_ptr: Rc<Buffer>, columns: Rc<Buffer>, len: usize, entries: usize, n_cols: usize) -> Self {
        CsrPattern { row_ptr, columns, len, entries, n_cols, block: BLOCK, slots: None, host: OnceCell::new(), slices: OnceCell::new() }
    }

    /// Adds the data of an equation's kernel: threads per block, and slots of additions.
    pub(crate) fn with_kernel_data(self, block: u32, slots: Option<(Rc<Buffer>, Rc<Buffer>)>) -> Self {
        CsrPattern { block, slots, ..self }
    }

    /// The pattern on the host; copied at first use.
    pub(crate) fn host(&self, executor: &Executor) -> Result<&HostPattern, Error> {
        if let Some(known) = self.host.get() {
            return Ok(known);
        }
        let row_ptr = executor.download::<u64>(self.row_ptr.address(), self.len + 1)?;
        let row_ptr = row_ptr.into_iter().map(|end| end as usize).collect();
        let columns = executor.download(self.columns.address(), self.entries)?;
        Ok(self.host.get_or_init(|| HostPattern { row_ptr, columns }))
    }

    /// The kernel argument.
    pub fn args(&self, entries: &Buffer) -> EqRows {
        EqRows { row_ptr: self.row_ptr.address().0, columns: self.columns.address().0, entries: entries.address().0 }
    }

    /// Slots of additions as a kernel argument.
    ///
    /// # Errors
    /// `Backend` (an internal error) if the pattern was begun without them.
    pub fn slots(&self) -> Result<EqSlots, Error> {
        let (starts, slots) = self.slots.as_ref().ok_or_else(|| Error::internal("rows without places of additions"))?;
        Ok(EqSlots { starts: starts.address().0, slots: slots.address().0 })
    }

    /// Size and bytes of a matrix of numbers of so many bytes, in slices or by rows.
    pub(crate) fn stored(&self, slices: Option<&Rc<SellPattern>>, number: u64) -> Stored {
        let shape = Shape { rows: self.len, columns: self.n_cols, entries: self.entries, fields: 1 };
        let by_rows = |n: usize| (number + 4) * self.entries as u64 + 8 * n as u64;
        Stored { shape, bytes: slices.map_or_else(|| by_rows(self.len), |slices| number * slices.capacity as u64 + slices.index_bytes) }
    }

    /// Number of entries of all rows.
    pub fn entries(&self) -> usize {
        self.entries
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Number of columns: unknowns of the solve.
    pub(crate) fn n_cols(&self) -> usize {
        self.n_cols
    }

    /// True if there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// A sparse matrix in compressed rows: a pattern, which several matrices may share, and its
/// entries.
#[derive(Debug)]
pub struct DeviceMatrix {
    pub(crate) rows: Rc<CsrPattern>,
    pub(crate) entries: Rc<Buffer>,
    /// Its format for products, once announced; shared, as the entries are.
    pub(crate) format: Rc<OnceCell<SpmvFormat>>,
    /// Coloured rows, once used by a sweep.
    pub(crate) colours: OnceCell<DeviceSchedule>,
    /// The matrix on the host, once used.
    pub(crate) host: OnceCell<Csr>,
}

impl DeviceMatrix {
    pub(crate) fn new(rows: Rc<CsrPattern>, entries: Rc<Buffer>) -> Self {
        DeviceMatrix { rows, entries, format: Rc::default(), colours: OnceCell::new(), host: OnceCell::new() }
    }

    /// Another handle of the same matrix.
    pub fn share(&self) -> Self {
        DeviceMatrix { format: Rc::clone(&self.format), ..DeviceMatrix::new(Rc::clone(&self.rows), Rc::clone(&self.entries)) }
    }

    /// The kernel argument.
    pub(crate) fn args(&self) -> EqRows {
        self.rows.args(&self.entries)
    }

    /// Copies a matrix to the device.
    ///
    /// # Errors
    /// `Backend`: not enough memory.
    pub(crate) fn upload(executor: &Executor, matrix: &Csr) -> Result<Self, Error> {
        let what = "a matrix of the linear solver";
        let row_ptr: Vec<u64> = matrix.row_ptr().iter().map(|&start| start as u64).collect();
        let row_ptr = executor.upload(what, &row_ptr)?;
        let columns = executor.upload(what, matrix.col_idx())?;
        let entries = executor.upload(what, matrix.values())?;
        let rows = CsrPattern::on_device(row_ptr, columns, matrix.n_rows(), matrix.n_entries(), matrix.n_cols());
        Ok(DeviceMatrix::new(Rc::new(rows), entries))
    }

    /// The matrix on the host; copied on first use.
    ///
    /// # Errors
    /// `Backend`: a lost device.
    pub(crate) fn host(&self, executor: &Executor) -> Result<&Csr, Error> {
        if let Some(known) = self.host.get() {
            return Ok(known);
        }
        let values = executor.download(self.entries.address(), self.rows.entries())?;
        let pattern = self.rows.host(executor)?;
        let made = Csr::new(self.rows.len(), self.rows.n_cols(), pattern.row_ptr.clone(), pattern.columns.clone(), values);
        let made = made.map_err(|what| Error::internal(format!("a matrix is malformed: {what}")))?;
        Ok(self.host.get_or_init(|| made))
    }

    /// Its size and the bytes that a product reads of it.
    pub(crate) fn stored(&self) -> Stored {
        let slices = self.rows.slices.get().and_then(Option::as_ref).filter(|_| matches!(self.format.get(), Some(SpmvFormat::Slices(_))));
        self.rows.stored(slices, 8)
    }

    /// The kernel argument of products, once the matrix is converted.
    pub(crate) fn format(&self) -> Option<EqSparseMatrix> {
        match (self.format.get()?, self.rows.slices.get()) {
            (SpmvFormat::Slices(values), Some(Some(slices))) => Some(EqSparseMatrix::from_sell(slices, values, self.rows.n_cols())),
            (SpmvFormat::Slices(_), _) => None,
            (SpmvFormat::Rows(lanes), _) => Some(EqSparseMatrix::from_csr(self.args(), *lanes, self.rows.n_cols())),
        }
    }
}

/// Partial derivatives of a collection's elements: a pattern and its entries.
#[derive(Clone, Debug)]
pub struct Jacobian {
    pub(crate) rows: Rc<CsrPattern>,
    pub(crate) entries: Rc<Buffer>,
}

impl Jacobian {
    /// Allocates rows whose lengths follow the first entry of `row_ptr`, for the kernel that writes
    /// them.
    ///
    /// # Errors
    /// `Backend`: not enough memory.
    pub(crate) fn begin(executor: &Executor, row_ptr: Rc<Buffer>, n: usize, n_cols: usize) -> Result<Jacobian, Error> {
        executor.running_sums(DevicePtr(row_ptr.address().0 + 8), n)?;
        let total = executor.download_one::<u64>(DevicePtr(row_ptr.address().0 + 8 * n as u64))? as usize;
        let columns = executor.buffer("columns of the Jacobian", 4 * total as u64)?;
        let entries = executor.reals("the Jacobian", total)?;
        Ok(Jacobian { rows: Rc::new(CsrPattern::on_device(row_ptr, columns, n, total, n_cols)), entries })
    }

    pub(crate) fn args(&self) -> EqRows {
        self.rows.args(&self.entries)
    }

    /// Adds the arguments for a kernel that writes columns and entries.
    pub(crate) fn written_by(&self, call: Call) -> Call {
        call.arg(self.rows.row_ptr.address()).arg(self.rows.columns.address()).arg(self.entries.address())
    }
}
