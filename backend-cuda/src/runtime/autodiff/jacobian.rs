//! Jacobians of collections at the operation level: sparse matrices with one row per element of the
//! domain and one column per unknown of the current Newton solve. [`CsrPattern`] is the pattern.
//!
//! **Rows of branches not chosen do not exist**, so that no infinite or undefined factor propagates
//! them; the pattern depends on the state. Entries that are zero by value stay.
//!
//! Rows take two launches: their lengths, whose prefix sums are the row pointers, then the entries.
//! The host reads the number of entries in between.

use std::rc::Rc;

use equelle_runtime::Error;

use crate::runtime::autodiff::grid_matrix::GridMatrix;
use crate::runtime::autodiff::rules::Rule;
use crate::runtime::device::DevicePtr;
use crate::runtime::device::sparse::SparseMatrix;
use crate::runtime::executor::Executor;
use crate::runtime::executor::arguments::{EqBool, EqOperand, EqRows};
use crate::runtime::executor::pool::Buffer;
use crate::runtime::kernels::DERIVATIVES_MODULE;
use crate::runtime::linalg::csr::{CsrPattern, Jacobian};
use crate::runtime::linalg::spgemm::{narrow, sparse_product};
use crate::runtime::values::collections::{Collection, Derivatives};

/// The kernel argument of rows that may not exist.
fn args_of(jacobian: Option<&Jacobian>) -> EqRows {
    jacobian.map_or(EqRows { row_ptr: 0, columns: 0, entries: 0 }, Jacobian::args)
}

/// The derivatives of a collection.
pub(crate) fn jacobian_of(executor: &Executor, c: &Collection) -> Result<Option<Jacobian>, Error> {
    match c.derivatives.as_deref() {
        None => Ok(None),
        Some(Derivatives::Rows { rows, entries }) => Ok(Some(Jacobian { rows: Rc::clone(rows), entries: Rc::clone(entries) })),
        Some(Derivatives::Unknown { first, n_cols, identity }) => {
            if let Some(known) = identity.get() {
                return Ok(Some(known.clone()));
            }
            let made = identity_rows(executor, *first, c.domain.len(), *n_cols)?;
            Ok(Some(identity.get_or_init(|| made).clone()))
        }
    }
}

/// Derivatives of the unknowns `first .. first + n` with respect to themselves, of `n_cols` in
/// total.
fn identity_rows(executor: &Executor, first: usize, n: usize, n_cols: usize) -> Result<Jacobian, Error> {
    let row_ptr = executor.buffer("rows of the Jacobian", 8 * (n + 1) as u64)?;
    let columns = executor.buffer("columns of the Jacobian", 4 * n as u64)?;
    let entries = executor.reals("the Jacobian", n)?;
    let call = executor.call(&DERIVATIVES_MODULE, "equelle_identity")?.arg(n as u32).arg(first as u32);
    executor.launch_over(call.arg(row_ptr.address()).arg(columns.address()).arg(entries.address()), n.max(1))?;
    Ok(Jacobian { rows: Rc::new(CsrPattern::on_device(row_ptr, columns, n, n, n_cols)), entries })
}

/// Entries of a function of operands `a` and `b` with the result `v`, only one of which has
/// derivatives.
pub(crate) fn scaled_rows(executor: &Executor, rule: Rule, of: &Jacobian, [a, b, v]: [EqOperand; 3]) -> Result<Jacobian, Error> {
    if rule == Rule::Keep {
        return Ok(of.clone());
    }
    let n = of.rows.len();
    let entries = executor.reals("the Jacobian", of.rows.entries())?;
    let call = executor.call(&DERIVATIVES_MODULE, "equelle_scale_rows")?.arg(rule.number()).arg(n as u32).arg(of.args());
    executor.launch_over(call.arg(a).arg(b).arg(v).arg(entries.address()), n)?;
    Ok(Jacobian { rows: Rc::clone(&of.rows), entries })
}

/// Entries of a table at an operand.
pub(crate) fn rows_by_slope(executor: &Executor, table: DevicePtr, of: &Jacobian, a: EqOperand) -> Result<Jacobian, Error> {
    let n = of.rows.len();
    let entries = executor.reals("the Jacobian", of.rows.entries())?;
    let call = executor.call(&DERIVATIVES_MODULE, "equelle_rows_by_slope")?.arg(n as u32).arg(table).arg(of.args());
    executor.launch_over(call.arg(a).arg(entries.address()), n)?;
    Ok(Jacobian { rows: Rc::clone(&of.rows), entries })
}

/// Entries of a function of operands that both have derivatives. Pattern: the union.
pub(crate) fn united_rows(
    executor: &Executor,
    rules: (Rule, Rule),
    [left, right]: [&Jacobian; 2],
    [a, b, v]: [EqOperand; 3],
) -> Result<Jacobian, Error> {
    let n = left.rows.len();
    let row_ptr = executor.buffer("rows of the Jacobian", 8 * (n + 1) as u64)?;
    let call = executor.call(&DERIVATIVES_MODULE, "equelle_union_lengths")?.arg(n as u32).arg(left.args()).arg(right.args());
    executor.launch_over(call.arg(row_ptr.address()), n.max(1))?;
    let made = Jacobian::begin(executor, row_ptr, n, left.rows.n_cols())?;
    let call = executor.call(&DERIVATIVES_MODULE, "equelle_union_rows")?.arg(rules.0.number()).arg(rules.1.number()).arg(n as u32);
    let call = call.arg(left.args()).arg(right.args()).arg(a).arg(b).arg(v);
    executor.launch_over(made.written_by(call), n)?;
    Ok(made)
}

/// Rows of `a` where the condition holds, else of `b`: those of `sources`, or all in order. `None`
/// has no entries.
pub(crate) fn picked_rows(
    executor: &Executor,
    n: usize,
    condition: EqBool,
    sources: Option<&Buffer>,
    [a, b]: [Option<&Jacobian>; 2],
) -> Result<Option<Jacobian>, Error> {
    let Some(n_cols) = a.or(b).map(|jacobian| jacobian.rows.n_cols()) else { return Ok(None) };
    let sources = sources.map_or(DevicePtr(0), Buffer::address);
    let row_ptr = executor.buffer("rows of the Jacobian", 8 * (n + 1) as u64)?;
    let call = executor.call(&DERIVATIVES_MODULE, "equelle_pick_lengths")?.arg(n as u32).arg(condition).arg(sources);
    executor.launch_over(call.arg(args_of(a)).arg(args_of(b)).arg(row_ptr.address()), n.max(1))?;
    let made = Jacobian::begin(executor, row_ptr, n, n_cols)?;
    let call = executor.call(&DERIVATIVES_MODULE, "equelle_pick_rows")?.arg(n as u32).arg(condition).arg(sources);
    executor.launch_over(made.written_by(call.arg(args_of(a)).arg(args_of(b))), n)?;
    Ok(Some(made))
}

/// Copies a matrix to the device, from column and value of the entries of each row.
pub(crate) fn grid_matrix(executor: &Executor, columns: usize, rows: &[Vec<(u32, f64)>]) -> Result<GridMatrix, Error> {
    let mut ends = Vec::with_capacity(rows.len() + 1);
    ends.push(0i32);
    let mut total = 0;
    for row in rows {
        total += row.len();
        ends.push(narrow(total)?);
    }
    let all = || rows.iter().flatten();
    let row_ptr = executor.upload("a matrix of the grid", &ends)?;
    let col_idx: Vec<u32> = all().map(|&(column, _)| column).collect();
    let col_idx = executor.upload("a matrix of the grid", &col_idx)?;
    let values: Vec<f64> = all().map(|&(_, value)| value).collect();
    let values = executor.upload_reals("a matrix of the grid", &values)?;
    Ok(GridMatrix { rows: rows.len(), columns, entries: total, row_ptr, col_idx, values })
}

/// A matrix of the grid times a Jacobian.
pub(crate) fn multiplied(executor: &Executor, matrix: &GridMatrix, of: &Jacobian) -> Result<Jacobian, Error> {
    let (n, n_cols) = (matrix.rows, of.rows.n_cols());
    if matrix.columns != of.rows.len() {
        return Err(Error::internal("a product of matrices that do not fit"));
    }
    if matrix.entries == 0 || of.rows.entries() == 0 {
        let row_ptr = executor.upload("rows of the Jacobian", &vec![0u64; n + 1])?;
        let columns = executor.buffer("columns of the Jacobian", 0)?;
        let entries = executor.buffer("the Jacobian", 0)?;
        return Ok(Jacobian { rows: Rc::new(CsrPattern::on_device(row_ptr, columns, n, 0, n_cols)), entries });
    }
    let left = SparseMatrix {
        rows: n,
        columns: matrix.columns,
        entries: matrix.entries,
        row_ptr: matrix.row_ptr.address(),
        col_idx: matrix.col_idx.address(),
        values: matrix.values.address(),
        precision: executor.precision(),
    };
    let (rows, entries) = sparse_product(executor, &left, &of.rows, &of.entries)?;
    Ok(Jacobian { rows: Rc::new(rows), entries })
}

/// The pattern of `new`, as the handle `old` if that is equal. One small copy to the host.
pub(crate) fn same_pattern(executor: &Executor, old: &Rc<CsrPattern>, new: &Rc<CsrPattern>) -> Result<Rc<CsrPattern>, Error> {
    if Rc::ptr_eq(old, new) || old.len() != new.len() || old.entries() != new.entries() || old.n_cols() != new.n_cols() {
        return Ok(Rc::clone(new));
    }
    let same = executor.upload("whether patterns are the same", &[1u8])?;
    let bare = |rows: &CsrPattern| EqRows { row_ptr: rows.row_ptr.address().0, columns: rows.columns.address().0, entries: 0 };
    let call = executor.call(&DERIVATIVES_MODULE, "equelle_compare_patterns")?.arg(new.len() as u32).arg(bare(old)).arg(bare(new));
    executor.launch_over(call.arg(same.address()), new.len())?;
    let same = executor.download_one::<u8>(same.address())? == 1;
    Ok(Rc::clone(if same { old } else { new }))
}
