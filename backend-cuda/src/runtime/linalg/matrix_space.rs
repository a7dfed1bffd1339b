//! Sparse matrices of the linear solvers on the device, with the operations of preconditioners.

use std::rc::Rc;

use equelle_runtime::linalg::matrix::schedule::Schedule;
use equelle_runtime::linalg::precond::amg::AmgOptions;
use equelle_runtime::linalg::precond::ilu::BlockFactors;
use equelle_runtime::linalg::space::matrix_space::{Correction, Direction, Shape, Smoothed};
use equelle_runtime::linalg::{Csr, MatrixSpace, MultigridSpace, Preconditioner};
use equelle_runtime::{Error, Real};

use crate::runtime::device::DevicePtr;
use crate::runtime::linalg::csr::DeviceMatrix;
use crate::runtime::linalg::fused_blas1::MatrixOperand;
use crate::runtime::linalg::precond::triangular_solve::DeviceFactors;
use crate::runtime::linalg::scalars::{DeviceNumber, Summand};
use crate::runtime::linalg::schedule::{DeviceSchedule, gauss_seidel};
use crate::runtime::linalg::sell::{build_format, launch_over_format};
use crate::runtime::linalg::space::{DeviceVector, Space};
use crate::runtime::linalg::spmv_format::EqSparseMatrix;

/// Operations of the kernels of products.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Product {
    Set = 0,
    Add = 1,
    Sub = 2,
    Residual = 3,
}

impl<T: Real> Space<T> {
    /// A product with a converted matrix of `n` rows.
    ///
    /// # Errors
    /// `Backend`: the kernels cannot be compiled or loaded.
    pub(crate) fn format_product(
        &self,
        product: Product,
        (n, a): (usize, &EqSparseMatrix),
        [b, x, y]: [DevicePtr; 3],
    ) -> Result<(), Error> {
        let call = self.solver_call("equelle_format_product")?;
        let call = call.arg(product as u32).arg(n as u32).arg(*a).arg(b).arg(x).arg(y);
        launch_over_format(&self.executor, call, a, n)
    }

    /// `z = a z + b D r`; an error is deferred.
    pub(crate) fn scale_by_diagonal(&self, z: &DeviceVector<T>, [a, b]: [f64; 2], d: &DeviceVector<T>, r: &DeviceVector<T>) {
        let result = self.solver_call("equelle_add_diagonal").and_then(|call| {
            let call = call.arg(z.len as u32).arg(a).arg(b).arg(d.address()).arg(r.address()).arg(z.address());
            self.executor.launch_over(call, z.len)
        });
        self.executor.attempt(result);
    }
}

impl Space<f64> {
    fn product(&mut self, product: Product, y: &DeviceVector, b: &DeviceVector, a: &DeviceMatrix, x: &DeviceVector) {
        let n = a.rows.len();
        debug_assert!(y.len == n && x.len == a.rows.n_cols(), "vectors of the matrix's size");
        let result = match a.format() {
            Some(format) => self.format_product(product, (n, &format), [b.address(), x.address(), y.address()]),
            None => self.solver_call("equelle_product").and_then(|call| {
                let call = call.arg(product as u32).arg(n as u32).arg(a.args()).arg(b.address()).arg(x.address()).arg(y.address());
                self.executor.launch_over(call, n)
            }),
        };
        self.executor.attempt(result);
    }

    fn sweep(&mut self, x: &DeviceVector, a: &DeviceMatrix, d: &DeviceVector, b: &DeviceVector, direction: Direction) -> Result<(), Error> {
        let colours = match a.colours.get() {
            Some(known) => known,
            None => {
                let pattern = a.rows.host(&self.executor)?;
                let made = DeviceSchedule::new(&self.executor, &Schedule::colours(&pattern.row_ptr, &pattern.columns))?;
                a.colours.get_or_init(|| made)
            }
        };
        gauss_seidel(&self.executor, colours, a.args(), d.address(), b.address(), x.address(), direction)
    }
}

impl MatrixSpace for Space<f64> {
    type Matrix = DeviceMatrix;
    type Factors = DeviceFactors;

    fn zeros_of(&mut self, len: usize) -> Result<DeviceVector, Error> {
        self.traffic.clear(len);
        self.new_zeros(len)
    }

    fn vector(&mut self, values: Vec<f64>) -> Result<DeviceVector, Error> {
        Ok(DeviceVector::new(self.executor.upload("a vector of the linear solver", &values)?, values.len()))
    }

    fn matrix(&mut self, matrix: Csr) -> Result<DeviceMatrix, Error> {
        DeviceMatrix::upload(&self.executor, &matrix)
    }

    fn factors(&mut self, factors: BlockFactors) -> Result<DeviceFactors, Error> {
        DeviceFactors::new(&self.executor, &factors)
    }

    fn shape(a: &DeviceMatrix) -> Shape {
        Shape { rows: a.rows.len(), columns: a.rows.n_cols(), entries: a.rows.entries(), fields: 1 }
    }

    fn clear(&mut self, x: &mut DeviceVector) {
        self.traffic.clear(x.len);
        self.fill_zero(x);
    }

    fn multiply(&mut self, y: &mut DeviceVector, a: &DeviceMatrix, x: &DeviceVector) {
        self.traffic.multiply(&a.stored());
        self.product(Product::Set, y, y, a, x);
    }

    fn multiply_add(&mut self, y: &mut DeviceVector, a: &DeviceMatrix, x: &DeviceVector) {
        self.traffic.multiply_add(&a.stored());
        self.product(Product::Add, y, y, a, x);
    }

    fn multiply_sub(&mut self, y: &mut DeviceVector, a: &DeviceMatrix, x: &DeviceVector) {
        self.traffic.multiply_add(&a.stored());
        self.product(Product::Sub, y, y, a, x);
    }

    fn residual(&mut self, r: &mut DeviceVector, b: &DeviceVector, a: &DeviceMatrix, x: &DeviceVector) {
        self.traffic.residual(&a.stored());
        self.product(Product::Residual, r, b, a, x);
    }

    fn add_diagonal(&mut self, z: &mut DeviceVector, a: f64, b: f64, d: &DeviceVector, r: &DeviceVector) {
        self.traffic.add_diagonal(z.len, a);
        self.scale_by_diagonal(z, [a, b], d, r);
    }

    fn multiply_dot(&mut self, y: &mut DeviceVector, a: &DeviceMatrix, x: &DeviceVector, w: &DeviceVector) -> DeviceNumber {
        self.traffic.multiply_dot(&a.stored(), std::ptr::eq(x, w));
        let a = (a.rows.len(), MatrixOperand::of(a));
        let executor = Rc::clone(&self.executor);
        executor.make_scalar(|out| self.rows_dot_into(a, y.address(), x.address(), w.address(), out, None))
    }

    fn multiply_dots(&mut self, y: &mut DeviceVector, a: &DeviceMatrix, x: &DeviceVector, w: &DeviceVector) -> [DeviceNumber; 2] {
        self.traffic.multiply_dot(&a.stored(), std::ptr::eq(x, w));
        let a = (a.rows.len(), MatrixOperand::of(a));
        let result = self.executor.new_number().and_then(|out| {
            let square = self.executor.new_number()?;
            self.rows_dot_into(a, y.address(), x.address(), w.address(), out.address(), Some(square.address()))?;
            Ok([out, square])
        });
        self.executor.attempt(result).map_or([None, None], |out| out.map(Some))
    }

    fn will_multiply(&mut self, a: &DeviceMatrix) {
        let result = build_format(&self.executor, a);
        self.executor.attempt(result);
    }

    fn smooth_from_zero(&mut self, y: &mut DeviceVector, on: Smoothed<'_, Self>, c: [f64; 3], [_r, d]: [&mut DeviceVector; 2], keep: bool) {
        self.traffic.smooth_from_zero(&on.matrix.stored(), keep);
        let result = self.smoothing(on).and_then(|on| self.smooth_from_zero_into(&on, c, [y.address(), d.address()], keep));
        self.executor.attempt(result);
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
        self.traffic.smooth(&on.matrix.stored(), c[0] != 0.0, keep);
        let result = self.smoothing(on).and_then(|on| self.smooth_into(&on, c, [y.address(), x.address(), d.address()], keep));
        self.executor.attempt(result);
    }

    fn smooth_dot(
        &mut self,
        y: &mut DeviceVector,
        x: &DeviceVector,
        on: Smoothed<'_, Self>,
        c: [f64; 2],
        [_r, d]: [&mut DeviceVector; 2],
    ) -> DeviceNumber {
        self.traffic.smooth(&on.matrix.stored(), c[0] != 0.0, false);
        let executor = Rc::clone(&self.executor);
        executor.make_scalar(|out| {
            let on = self.smoothing(on)?;
            self.smooth_dot_into(&on, c, [y.address(), x.address(), d.address()], out)
        })
    }

    fn correct(&mut self, x: &mut DeviceVector, d: &mut DeviceVector, r: &mut DeviceVector, by: Correction<'_, Self>, c: f64) {
        self.traffic.correct(x.len, &by.image.stored(), &by.prolongation.stored());
        let result = self.correction(by).and_then(|by| self.correct_into(&by, x.len, c, [x.address(), d.address(), r.address()]));
        self.executor.attempt(result);
    }

    /// Does not write `z`.
    fn advance_diagonal(
        &mut self,
        r: &mut DeviceVector,
        a: &DeviceNumber,
        q: &DeviceVector,
        _z: &mut DeviceVector,
        d: &DeviceVector,
    ) -> DeviceNumber {
        self.traffic.advance_diagonal(r.len);
        let (a, x, d) = (a.as_ref()?.address(), q.address(), d.address());
        self.sum_of(r, Summand::UpdatedDiagonal { a, x, d })
    }

    /// Does not write `z`.
    fn apply_diagonal_dot(&mut self, _z: &mut DeviceVector, d: &DeviceVector, r: &DeviceVector) -> DeviceNumber {
        self.traffic.apply_diagonal_dot(r.len);
        self.sum_of(r, Summand::Diagonal { d: d.address() })
    }

    fn step_diagonal(&mut self, [x, p]: [&mut DeviceVector; 2], [a, b]: [&DeviceNumber; 2], [_z, d, r]: [&DeviceVector; 3]) {
        self.traffic.step_diagonal(x.len);
        if let (Some(a), Some(b)) = (a, b) {
            let (vectors, numbers) = ([x.address(), p.address()], [a.address(), b.address()]);
            let result = self.step_into(x.len, vectors, numbers, Some(d.address()), r.address());
            self.executor.attempt(result);
        }
    }

    /// In the order of colours.
    fn gauss_seidel(&mut self, x: &mut DeviceVector, a: &DeviceMatrix, d: &DeviceVector, b: &DeviceVector, direction: Direction) {
        self.traffic.gauss_seidel(&a.stored());
        let result = self.sweep(x, a, d, b, direction);
        self.executor.attempt(result);
    }

    fn solve_factors(&mut self, z: &mut DeviceVector, factors: &DeviceFactors, r: &DeviceVector) {
        self.traffic.solve_factors(factors.pattern.k, factors.pattern.n, factors.pattern.n_outside_diagonal(), 8);
        let result = factors.solve(&self.executor, z.address(), r.address());
        self.executor.attempt(result);
    }
}

impl MultigridSpace for Space<f64> {
    /// On the device; the cycle is in single precision where that is enough.
    fn multigrid(&mut self, matrix: Csr, ends: &[usize], options: &AmgOptions) -> Result<Box<dyn Preconditioner<Space<f64>>>, Error> {
        let matrix = self.matrix(matrix)?;
        self.multigrid_of(matrix, ends, options)
    }
}
