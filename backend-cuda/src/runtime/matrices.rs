//! Sparse matrices of the linear solvers on the device, and what preconditioners do with them.

use std::cell::OnceCell;
use std::rc::Rc;

use equelle_runtime::Error;
use equelle_runtime::linalg::matrix::schedule::Schedule;
use equelle_runtime::linalg::precond::amg::AmgOptions;
use equelle_runtime::linalg::precond::ilu::BlockFactors;
use equelle_runtime::linalg::space::matrix_space::{Correction, Direction, Shape, Smoothed};
use equelle_runtime::linalg::{Csr, MatrixSpace, Preconditioner};

use crate::runtime::args::{Call, EqRows};
use crate::runtime::device::DevicePtr;
use crate::runtime::factors::DeviceFactors;
use crate::runtime::forms::{EqForm, Form};
use crate::runtime::grid::bytes_of;
use crate::runtime::kernels::{SINGLES_MODULE, SOLVERS_MODULE};
use crate::runtime::krylov::{DeviceNumber, DeviceVector};
use crate::runtime::passes::{Operand, Summand};
use crate::runtime::pool::Buffer;
use crate::runtime::precision::Precision;
use crate::runtime::program::CudaRuntime;
use crate::runtime::rows::Rows;
use crate::runtime::schedule::{DeviceSchedule, gauss_seidel};

/// A sparse matrix by compressed rows: a pattern, which several matrices may share, and its entries.
#[derive(Debug)]
pub struct DeviceMatrix {
    pub(super) rows: Rc<Rows>,
    pub(super) entries: Rc<Buffer>,
    /// How it is arranged, once products have been announced; shared, as the entries are.
    pub(super) form: Rc<OnceCell<Form>>,
    /// Rows by colours, once they are swept over.
    colours: OnceCell<DeviceSchedule>,
    /// The same matrix on the host, once it has been asked for.
    pub(super) host: OnceCell<Csr>,
}

/// Operations of the kernels of products.
#[derive(Clone, Copy, Debug)]
pub(super) enum Product {
    Set = 0,
    Add = 1,
    Sub = 2,
    Residual = 3,
}

impl DeviceMatrix {
    pub(super) fn new(rows: Rc<Rows>, entries: Rc<Buffer>) -> Self {
        DeviceMatrix { rows, entries, form: Rc::default(), colours: OnceCell::new(), host: OnceCell::new() }
    }

    /// The same matrix again; nothing is copied.
    pub fn share(&self) -> Self {
        DeviceMatrix { form: Rc::clone(&self.form), ..DeviceMatrix::new(Rc::clone(&self.rows), Rc::clone(&self.entries)) }
    }

    /// As kernels take it.
    pub(super) fn args(&self) -> EqRows {
        self.rows.args(&self.entries)
    }
}

impl CudaRuntime {
    /// A call of a kernel of the solvers.
    pub(super) fn solver_call(&mut self, name: &'static str) -> Result<Call, Error> {
        self.call(&SOLVERS_MODULE, name)
    }

    /// The same of those on vectors and matrices of a precision.
    pub(super) fn solver_call_in(&mut self, precision: Precision, name: &'static str) -> Result<Call, Error> {
        match precision {
            Precision::Double => self.solver_call(name),
            Precision::Single => self.call(&SINGLES_MODULE, name),
        }
    }

    /// A product with an arranged matrix of `n` rows, over vectors of a precision.
    pub(super) fn form_product(
        &mut self,
        precision: Precision,
        product: Product,
        (n, a): (usize, &EqForm),
        [b, x, y]: [DevicePtr; 3],
    ) -> Result<(), Error> {
        let call = self.solver_call_in(precision, "equelle_form_product")?;
        let call = call.arg(product as u32).arg(n as u32).arg(*a).arg(b).arg(x).arg(y);
        self.launch_over_form(call, a, n)
    }

    /// Fills a vector of a precision with zeros.
    pub(super) fn clear_in(&mut self, precision: Precision, n: usize, x: DevicePtr) -> Result<(), Error> {
        let call = self.solver_call_in(precision, "equelle_fill")?.arg(n as u32).arg(0.0).arg(x);
        self.launch_over(call, n)
    }

    /// `z = a z + b D r`, of vectors of a precision.
    pub(super) fn add_diagonal_in(
        &mut self,
        precision: Precision,
        n: usize,
        [a, b]: [f64; 2],
        [z, d, r]: [DevicePtr; 3],
    ) -> Result<(), Error> {
        let call = self.solver_call_in(precision, "equelle_add_diagonal")?.arg(n as u32).arg(a).arg(b).arg(d).arg(r).arg(z);
        self.launch_over(call, n)
    }

    fn product(&mut self, product: Product, y: &DeviceVector, b: &DeviceVector, a: &DeviceMatrix, x: &DeviceVector) {
        let n = a.rows.len();
        debug_assert!(y.len == n && x.len == a.rows.n_cols(), "vectors of the matrix's size");
        let result = match a.form() {
            Some(form) => self.form_product(Precision::Double, product, (n, &form), [b.address(), x.address(), y.address()]),
            None => self.solver_call("equelle_product").and_then(|call| {
                let call = call.arg(product as u32).arg(n as u32).arg(a.args()).arg(b.address()).arg(x.address()).arg(y.address());
                self.launch_over(call, n)
            }),
        };
        self.attempt(result);
    }

    fn sweep(&mut self, x: &DeviceVector, a: &DeviceMatrix, d: &DeviceVector, b: &DeviceVector, direction: Direction) -> Result<(), Error> {
        let colours = match a.colours.get() {
            Some(known) => known,
            None => {
                let pattern = a.rows.host(self)?;
                let made = DeviceSchedule::new(self, &Schedule::colours(&pattern.row_ptr, &pattern.columns))?;
                a.colours.get_or_init(|| made)
            }
        };
        gauss_seidel(self, colours, a.args(), d.address(), b.address(), x.address(), direction)
    }
}

impl MatrixSpace for CudaRuntime {
    type Matrix = DeviceMatrix;
    type Factors = DeviceFactors;

    fn zeros_of(&mut self, len: usize) -> Result<DeviceVector, Error> {
        let mut vector = self.new_vector_of(len)?;
        self.clear(&mut vector);
        Ok(vector)
    }

    fn vector(&mut self, values: Vec<f64>) -> Result<DeviceVector, Error> {
        let buffer = self.upload("a vector of the linear solver", &bytes_of(&values, f64::to_le_bytes))?;
        Ok(DeviceVector { buffer, len: values.len() })
    }

    fn matrix(&mut self, matrix: Csr) -> Result<DeviceMatrix, Error> {
        let what = "a matrix of the linear solver";
        let row_ptr = self.upload(what, &bytes_of(matrix.row_ptr(), |start| (start as u64).to_le_bytes()))?;
        let columns = self.upload(what, &bytes_of(matrix.col_idx(), u32::to_le_bytes))?;
        let entries = self.upload(what, &bytes_of(matrix.values(), f64::to_le_bytes))?;
        let rows = Rows::on_device(row_ptr, columns, matrix.n_rows(), matrix.n_entries(), matrix.n_cols());
        Ok(DeviceMatrix::new(Rc::new(rows), entries))
    }

    fn factors(&mut self, factors: BlockFactors) -> Result<DeviceFactors, Error> {
        DeviceFactors::new(self, &factors)
    }

    fn shape(a: &DeviceMatrix) -> Shape {
        Shape { rows: a.rows.len(), columns: a.rows.n_cols(), entries: a.rows.entries(), fields: 1 }
    }

    /// On the device, where a cycle is of singles if they will do.
    fn multigrid(&mut self, matrix: Csr, ends: &[usize], options: &AmgOptions) -> Result<Box<dyn Preconditioner<CudaRuntime>>, Error> {
        let matrix = self.matrix(matrix)?;
        self.multigrid_of(matrix, ends, options)
    }

    fn clear(&mut self, x: &mut DeviceVector) {
        let result = self.clear_in(Precision::Double, x.len, x.address());
        self.attempt(result);
    }

    fn multiply(&mut self, y: &mut DeviceVector, a: &DeviceMatrix, x: &DeviceVector) {
        self.product(Product::Set, y, y, a, x);
    }

    fn multiply_add(&mut self, y: &mut DeviceVector, a: &DeviceMatrix, x: &DeviceVector) {
        self.product(Product::Add, y, y, a, x);
    }

    fn multiply_sub(&mut self, y: &mut DeviceVector, a: &DeviceMatrix, x: &DeviceVector) {
        self.product(Product::Sub, y, y, a, x);
    }

    fn residual(&mut self, r: &mut DeviceVector, b: &DeviceVector, a: &DeviceMatrix, x: &DeviceVector) {
        self.product(Product::Residual, r, b, a, x);
    }

    fn add_diagonal(&mut self, z: &mut DeviceVector, a: f64, b: f64, d: &DeviceVector, r: &DeviceVector) {
        let result = self.add_diagonal_in(Precision::Double, z.len, [a, b], [z.address(), d.address(), r.address()]);
        self.attempt(result);
    }

    fn multiply_dot(&mut self, y: &mut DeviceVector, a: &DeviceMatrix, x: &DeviceVector, w: &DeviceVector) -> DeviceNumber {
        let a = (a.rows.len(), Operand::of(a));
        self.make_number(|rt, out| rt.rows_dot_into(a, y.address(), x.address(), w.address(), out, None))
    }

    fn multiply_dots(&mut self, y: &mut DeviceVector, a: &DeviceMatrix, x: &DeviceVector, w: &DeviceVector) -> [DeviceNumber; 2] {
        let a = (a.rows.len(), Operand::of(a));
        let result = self.new_number().and_then(|out| {
            let square = self.new_number()?;
            self.rows_dot_into(a, y.address(), x.address(), w.address(), out.address(), Some(square.address()))?;
            Ok([out, square])
        });
        self.attempt(result).map_or([None, None], |out| out.map(Some))
    }

    fn will_multiply(&mut self, a: &DeviceMatrix) {
        let result = self.arrange(a);
        self.attempt(result);
    }

    fn smooth_from_zero(&mut self, y: &mut DeviceVector, on: Smoothed<'_, Self>, c: [f64; 3], [_r, d]: [&mut DeviceVector; 2], keep: bool) {
        let result = self.smoothing(on).and_then(|on| self.smooth_from_zero_into(&on, c, [y.address(), d.address()], keep));
        self.attempt(result);
    }

    fn smooth(
        &mut self,
        y: &mut DeviceVector,
        x: &DeviceVector,
        on: Smoothed<'_, Self>,
        c: [f64; 2],
        [_r, d]: [&mut DeviceVector; 2],
        keep: bool,
    ) {
        let result = self.smoothing(on).and_then(|on| self.smooth_into(&on, c, [y.address(), x.address(), d.address()], keep));
        self.attempt(result);
    }

    fn smooth_dot(
        &mut self,
        y: &mut DeviceVector,
        x: &DeviceVector,
        on: Smoothed<'_, Self>,
        c: [f64; 2],
        [_r, d]: [&mut DeviceVector; 2],
    ) -> DeviceNumber {
        self.make_number(|rt, out| {
            let on = rt.smoothing(on)?;
            rt.smooth_dot_into(&on, c, [y.address(), x.address(), d.address()], out)
        })
    }

    fn correct(&mut self, x: &mut DeviceVector, d: &mut DeviceVector, r: &mut DeviceVector, by: Correction<'_, Self>, c: f64) {
        let result = self.correction(by).and_then(|by| self.correct_into(&by, x.len, c, [x.address(), d.address(), r.address()]));
        self.attempt(result);
    }

    /// `z` is not written.
    fn advance_diagonal(
        &mut self,
        r: &mut DeviceVector,
        a: &DeviceNumber,
        q: &DeviceVector,
        _z: &mut DeviceVector,
        d: &DeviceVector,
    ) -> DeviceNumber {
        let (a, x, d) = (a.as_ref()?.address(), q.address(), d.address());
        self.sum_of(r, Summand::UpdatedDiagonal { a, x, d })
    }

    /// `z` is not written.
    fn apply_diagonal_dot(&mut self, _z: &mut DeviceVector, d: &DeviceVector, r: &DeviceVector) -> DeviceNumber {
        self.sum_of(r, Summand::Diagonal { d: d.address() })
    }

    fn step_diagonal(&mut self, [x, p]: [&mut DeviceVector; 2], [a, b]: [&DeviceNumber; 2], [_z, d, r]: [&DeviceVector; 3]) {
        if let (Some(a), Some(b)) = (a, b) {
            let (vectors, numbers) = ([x.address(), p.address()], [a.address(), b.address()]);
            let result = CudaRuntime::step(self, x.len, vectors, numbers, Some(d.address()), r.address());
            self.attempt(result);
        }
    }

    /// By colours.
    fn gauss_seidel(&mut self, x: &mut DeviceVector, a: &DeviceMatrix, d: &DeviceVector, b: &DeviceVector, direction: Direction) {
        let result = self.sweep(x, a, d, b, direction);
        self.attempt(result);
    }

    fn solve_factors(&mut self, z: &mut DeviceVector, factors: &DeviceFactors, r: &DeviceVector) {
        let result = factors.solve(self, z.address(), r.address());
        self.attempt(result);
    }
}
