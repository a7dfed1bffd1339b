//! Jacobians of collections at operation level: sparse matrices with one row per element of the domain and one column per unknown of the Newton solve in
//! progress. [`Rows`] is the pattern.
//!
//! **Rows of branches that are not chosen are not there.** So no factor, infinite or undefined as it may be, lets them through; the pattern follows the state. Entries
//! that are zero by value stay.
//!
//! Rows are made in two launches: their lengths, of which running sums tell where they begin, then entries. The host reads one number in between, how many there are.

use std::rc::Rc;

use equelle_runtime::{Error, ErrorKind};

use crate::runtime::args::{Call, EqBool, EqRows};
use crate::runtime::arithmetic::Numbers;
use crate::runtime::collections::Derivatives;
use crate::runtime::derivatives::Rule;
use crate::runtime::device::DevicePtr;
use crate::runtime::device::sparse::SparseMatrix;
use crate::runtime::grid::bytes_of;
use crate::runtime::kernels::DERIVATIVES_MODULE;
use crate::runtime::pool::Buffer;
use crate::runtime::program::CudaRuntime;
use crate::runtime::rows::{Rows, fault};

/// Partial derivatives of a collection's elements: a pattern and its entries.
#[derive(Clone, Debug)]
pub struct Jacobian {
    pub(super) rows: Rc<Rows>,
    pub(super) entries: Rc<Buffer>,
}

impl From<Jacobian> for Derivatives {
    fn from(Jacobian { rows, entries }: Jacobian) -> Derivatives {
        Derivatives::Rows { rows, entries }
    }
}

impl Jacobian {
    fn args(&self) -> EqRows {
        self.rows.args(&self.entries)
    }

    /// The call of a kernel that writes columns and entries.
    fn written_by(&self, call: Call) -> Call {
        call.arg(self.rows.row_ptr.address()).arg(self.rows.columns.address()).arg(self.entries.address())
    }
}

/// As kernels take rows that may not be there.
fn args_of(jacobian: Option<&Jacobian>) -> EqRows {
    jacobian.map_or(EqRows { row_ptr: 0, columns: 0, entries: 0 }, Jacobian::args)
}

/// A matrix of the grid, of which products are made.
#[derive(Debug)]
pub(super) struct GridMatrix {
    rows: usize,
    columns: usize,
    entries: usize,
    row_ptr: Rc<Buffer>,
    col_idx: Rc<Buffer>,
    values: Rc<Buffer>,
}

impl CudaRuntime {
    fn derivative_call(&mut self, name: &'static str) -> Result<Call, Error> {
        self.call(&DERIVATIVES_MODULE, name)
    }

    /// Derivatives of the unknowns `first .. first + n` themselves, of `n_cols` in total.
    pub(super) fn identity_rows(&mut self, first: usize, n: usize, n_cols: usize) -> Result<Jacobian, Error> {
        let row_ptr = self.buffer("rows of the Jacobian", 8 * (n + 1) as u64)?;
        let columns = self.buffer("columns of the Jacobian", 4 * n as u64)?;
        let entries = self.reals("the Jacobian", n)?;
        let call = self.derivative_call("equelle_identity")?.arg(n as u32).arg(first as u32);
        self.launch_over(call.arg(row_ptr.address()).arg(columns.address()).arg(entries.address()), n.max(1))?;
        Ok(Jacobian { rows: Rc::new(Rows::on_device(row_ptr, columns, n, n, n_cols)), entries })
    }

    /// Entries of a function of operands `a` and `b` with the result `v`, of which one alone has derivatives.
    pub(super) fn scaled_rows(&mut self, rule: Rule, of: &Jacobian, a: &Numbers, b: &Numbers, v: &Numbers) -> Result<Jacobian, Error> {
        if rule == Rule::Keep {
            return Ok(of.clone());
        }
        let n = of.rows.len();
        let entries = self.new_entries(&of.rows)?;
        let call = self.derivative_call("equelle_scale_rows")?.arg(rule.number()).arg(n as u32).arg(of.args());
        self.launch_over(call.arg(a.operand).arg(b.operand).arg(v.operand).arg(entries.address()), n)?;
        Ok(Jacobian { rows: Rc::clone(&of.rows), entries })
    }

    /// Entries of a function of operands that both have derivatives. Pattern: the union.
    pub(super) fn united_rows(
        &mut self,
        rules: (Rule, Rule),
        [left, right]: [&Jacobian; 2],
        [a, b, v]: [&Numbers; 3],
    ) -> Result<Jacobian, Error> {
        let n = left.rows.len();
        let row_ptr = self.buffer("rows of the Jacobian", 8 * (n + 1) as u64)?;
        let call = self.derivative_call("equelle_union_lengths")?.arg(n as u32).arg(left.args()).arg(right.args());
        self.launch_over(call.arg(row_ptr.address()), n.max(1))?;
        let made = self.begin_rows(row_ptr, n, left.rows.n_cols())?;
        let call = self.derivative_call("equelle_union_rows")?.arg(rules.0.number()).arg(rules.1.number()).arg(n as u32);
        let call = call.arg(left.args()).arg(right.args()).arg(a.operand).arg(b.operand).arg(v.operand);
        self.launch_over(made.written_by(call), n)?;
        Ok(made)
    }

    /// Rows of `a` where the condition holds, else of `b`: those that `sources` names, or all in order. `None` has no entries.
    pub(super) fn picked_rows(
        &mut self,
        n: usize,
        condition: EqBool,
        sources: Option<&Buffer>,
        [a, b]: [Option<&Jacobian>; 2],
    ) -> Result<Option<Jacobian>, Error> {
        let Some(n_cols) = a.or(b).map(|jacobian| jacobian.rows.n_cols()) else { return Ok(None) };
        let sources = sources.map_or(DevicePtr(0), Buffer::address);
        let row_ptr = self.buffer("rows of the Jacobian", 8 * (n + 1) as u64)?;
        let call = self.derivative_call("equelle_pick_lengths")?.arg(n as u32).arg(condition).arg(sources);
        self.launch_over(call.arg(args_of(a)).arg(args_of(b)).arg(row_ptr.address()), n.max(1))?;
        let made = self.begin_rows(row_ptr, n, n_cols)?;
        let call = self.derivative_call("equelle_pick_rows")?.arg(n as u32).arg(condition).arg(sources);
        self.launch_over(made.written_by(call.arg(args_of(a)).arg(args_of(b))), n)?;
        Ok(Some(made))
    }

    /// Room for rows whose lengths have been written behind the first entry of `row_ptr`, for the kernel that writes them.
    pub(super) fn begin_rows(&mut self, row_ptr: Rc<Buffer>, n: usize, n_cols: usize) -> Result<Jacobian, Error> {
        self.running_sums(DevicePtr(row_ptr.address().0 + 8), n)?;
        let total = self.download(DevicePtr(row_ptr.address().0 + 8 * n as u64), 8)?;
        let total = total.try_into().map_or(0, u64::from_le_bytes) as usize;
        let columns = self.buffer("columns of the Jacobian", 4 * total as u64)?;
        let entries = self.reals("the Jacobian", total)?;
        Ok(Jacobian { rows: Rc::new(Rows::on_device(row_ptr, columns, n, total, n_cols)), entries })
    }

    /// Turns `n` numbers into their running sums: within groups of 256, then over the groups.
    pub(super) fn running_sums(&mut self, values: DevicePtr, n: usize) -> Result<(), Error> {
        let groups = n.div_ceil(256);
        if groups == 0 {
            return Ok(());
        }
        let totals = self.buffer("partial results", 8 * groups as u64)?;
        let call = self.derivative_call("equelle_running_sums")?.arg(n as u64).arg(values).arg(totals.address());
        self.launch_over(call, groups)?;
        if groups > 1 {
            self.running_sums(totals.address(), groups)?;
            let call = self.derivative_call("equelle_add_totals")?.arg(n as u64).arg(values).arg(totals.address());
            self.launch_over(call, n)?;
        }
        Ok(())
    }

    /// A matrix known to the host: column and value of the entries of each row.
    pub(super) fn grid_matrix(&mut self, columns: usize, rows: &[Vec<(u32, f64)>]) -> Result<GridMatrix, Error> {
        let mut ends = Vec::with_capacity(rows.len() + 1);
        ends.push(0i32);
        let mut total = 0;
        for row in rows {
            total += row.len();
            ends.push(self.narrow(total)?);
        }
        let all = || rows.iter().flatten();
        let row_ptr = self.upload("a matrix of the grid", &bytes_of(&ends, i32::to_le_bytes))?;
        let col_idx: Vec<u32> = all().map(|&(column, _)| column).collect();
        let col_idx = self.upload("a matrix of the grid", &bytes_of(&col_idx, u32::to_le_bytes))?;
        let values: Vec<f64> = all().map(|&(_, value)| value).collect();
        let values = self.upload_reals("a matrix of the grid", &values)?;
        Ok(GridMatrix { rows: rows.len(), columns, entries: total, row_ptr, col_idx, values })
    }

    /// A number of entries or columns as products of matrices take it.
    pub(super) fn narrow(&self, count: usize) -> Result<i32, Error> {
        i32::try_from(count).map_err(|_| {
            let message = format!("a sparse matrix with {count} entries or columns: products of them take at most {}", i32::MAX);
            self.session.locate(Error::new(ErrorKind::Backend, message).hint("use a smaller grid, or -O2 without --ad=spgemm"))
        })
    }

    /// A matrix of the grid times a Jacobian.
    pub(super) fn multiplied(&mut self, matrix: &GridMatrix, of: &Jacobian) -> Result<Jacobian, Error> {
        let (n, n_cols) = (matrix.rows, of.rows.n_cols());
        if matrix.columns != of.rows.len() {
            return Err(fault("a product of matrices that do not fit"));
        }
        if matrix.entries == 0 || of.rows.entries() == 0 {
            let row_ptr = self.upload("rows of the Jacobian", &vec![0; 8 * (n + 1)])?;
            let columns = self.buffer("columns of the Jacobian", 0)?;
            let entries = self.buffer("the Jacobian", 0)?;
            return Ok(Jacobian { rows: Rc::new(Rows::on_device(row_ptr, columns, n, 0, n_cols)), entries });
        }
        let left = SparseMatrix {
            rows: n,
            columns: matrix.columns,
            entries: matrix.entries,
            row_ptr: matrix.row_ptr.address(),
            col_idx: matrix.col_idx.address(),
            values: matrix.values.address(),
            precision: self.precision,
        };
        let (rows, entries) = self.product_with(&left, &of.rows, &of.entries)?;
        Ok(Jacobian { rows: Rc::new(rows), entries })
    }

    /// Offsets of rows as products of matrices take them.
    pub(super) fn narrow_offsets(&mut self, rows: &Rows) -> Result<Rc<Buffer>, Error> {
        self.narrow(rows.n_cols())?;
        self.narrow(rows.entries())?;
        let offsets = self.buffer("rows of a matrix", 4 * (rows.len() + 1) as u64)?;
        let call = self.derivative_call("equelle_narrow")?.arg((rows.len() + 1) as u32);
        self.launch_over(call.arg(rows.row_ptr.address()).arg(offsets.address()), rows.len() + 1)?;
        Ok(offsets)
    }

    /// The product of a matrix in device memory, which the caller holds, with another one. Neither is without rows, columns or entries, and they fit.
    pub(super) fn product_with(&mut self, left: &SparseMatrix, rows: &Rows, entries: &Buffer) -> Result<(Rows, Rc<Buffer>), Error> {
        let (n, n_cols) = (left.rows, rows.n_cols());
        let offsets = self.narrow_offsets(rows)?;
        // What the library does comes after what waits in the queue.
        self.flush()?;
        let right = SparseMatrix {
            rows: rows.len(),
            columns: n_cols,
            entries: rows.entries(),
            row_ptr: offsets.address(),
            col_idx: rows.columns.address(),
            values: entries.address(),
            precision: left.precision,
        };
        let device = Rc::clone(&self.device);
        let mut taken: Vec<Rc<Buffer>> = Vec::new();
        // SAFETY: both matrices are held here and by the caller, made by kernels of this device as they are described; their sizes have been looked at above.
        let product = unsafe {
            device.product(left, &right, &mut |bytes| {
                let buffer = self.buffer("a product of sparse matrices", bytes)?;
                let address = buffer.address();
                taken.push(buffer);
                Ok(address)
            })
        };
        let product = self.located(product)?;
        let held = |at: DevicePtr| {
            let found = taken.iter().find(|buffer| buffer.address() == at);
            found.map(Rc::clone).ok_or_else(|| fault("a product of matrices outside its room"))
        };
        let (columns, entries) = (held(product.col_idx)?, held(product.values)?);
        let row_ptr = self.buffer("rows of a matrix", 8 * (n + 1) as u64)?;
        let call = self.derivative_call("equelle_widen")?.arg((n + 1) as u32).arg(product.row_ptr).arg(row_ptr.address());
        self.launch_over(call, n + 1)?;
        Ok((Rows::on_device(row_ptr, columns, n, product.entries, n_cols), entries))
    }

    /// The pattern of `new`, as the handle `old` if that has the same one. One small copy to the host.
    pub(super) fn same_pattern(&mut self, old: &Rc<Rows>, new: &Rc<Rows>) -> Result<Rc<Rows>, Error> {
        if Rc::ptr_eq(old, new) || old.len() != new.len() || old.entries() != new.entries() || old.n_cols() != new.n_cols() {
            return Ok(Rc::clone(new));
        }
        let same = self.upload("whether patterns are the same", &[1])?;
        let bare = |rows: &Rows| EqRows { row_ptr: rows.row_ptr.address().0, columns: rows.columns.address().0, entries: 0 };
        let call = self.derivative_call("equelle_compare_patterns")?.arg(new.len() as u32).arg(bare(old)).arg(bare(new));
        self.launch_over(call.arg(same.address()), new.len())?;
        let same = self.download(same.address(), 1)? == [1];
        Ok(Rc::clone(if same { old } else { new }))
    }
}
