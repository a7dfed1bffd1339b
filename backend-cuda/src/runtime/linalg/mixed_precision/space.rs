//! Vectors and matrices in single precision on the device, with the operations of a cycle.

use std::convert::Infallible;
use std::rc::Rc;

use equelle_runtime::Error;
use equelle_runtime::linalg::precond::ilu::BlockFactors;
use equelle_runtime::linalg::space::matrix_space::{Correction, Direction, Shape, Smoothed};
use equelle_runtime::linalg::{Csr, MatrixSpace};

use super::matrix::SingleMatrix;
use crate::runtime::linalg::csr::DeviceMatrix;
use crate::runtime::linalg::matrix_space::Product;
use crate::runtime::linalg::scalars::DeviceNumber;
use crate::runtime::linalg::smoother::{Corrections, Smoothing};
use crate::runtime::linalg::space::{DeviceVector, Space};

/// A system as kernel arguments.
fn smoothing(on: Smoothed<'_, Space<f32>>) -> Smoothing {
    let (inverse_diagonal, right) = (on.inverse_diagonal.address(), on.right.address());
    Smoothing { n: on.matrix.shape().rows, matrix: on.matrix.format(), inverse_diagonal, right }
}

/// A correction as kernel arguments.
fn correction(by: Correction<'_, Space<f32>>) -> Result<Corrections, Error> {
    let (coarse, inverse_diagonal) = (by.coarse.address(), by.inverse_diagonal.address());
    Ok(Corrections { image: by.image.format(), prolongation: by.prolongation.rows()?, coarse, inverse_diagonal })
}

impl Space<f32> {
    fn product(&mut self, product: Product, y: &DeviceVector<f32>, b: &DeviceVector<f32>, a: &SingleMatrix, x: &DeviceVector<f32>) {
        debug_assert!(y.len == a.shape().rows && x.len == a.shape().columns, "vectors of the matrix's size");
        let result = self.format_product(product, (a.shape().rows, &a.format()), [b.address(), x.address(), y.address()]);
        self.executor.attempt(result);
    }

    /// A space in double precision on the same device.
    fn in_double_precision(&self) -> Space<f64> {
        Space::new(&self.executor)
    }
}

impl MatrixSpace for Space<f32> {
    type Matrix = SingleMatrix;
    /// None: cycles in single precision use polynomial smoothers.
    type Factors = Infallible;

    fn zeros_of(&mut self, len: usize) -> Result<DeviceVector<f32>, Error> {
        self.traffic.clear(len);
        self.new_zeros(len)
    }

    fn vector(&mut self, values: Vec<f64>) -> Result<DeviceVector<f32>, Error> {
        let mut wide = self.in_double_precision();
        let vector = wide.vector(values)?;
        wide.narrowed_vector(&vector, 1.0)
    }

    fn matrix(&mut self, matrix: Csr) -> Result<SingleMatrix, Error> {
        let matrix = DeviceMatrix::upload(&self.executor, &matrix)?;
        SingleMatrix::from_matrix(&mut self.in_double_precision(), &matrix, 1.0)
    }

    fn factors(&mut self, _: BlockFactors) -> Result<Infallible, Error> {
        Err(Error::internal("factors in single precision"))
    }

    fn shape(a: &SingleMatrix) -> Shape {
        a.shape()
    }

    fn clear(&mut self, x: &mut DeviceVector<f32>) {
        self.traffic.clear(x.len);
        self.fill_zero(x);
    }

    fn multiply(&mut self, y: &mut DeviceVector<f32>, a: &SingleMatrix, x: &DeviceVector<f32>) {
        self.traffic.multiply(&a.stored());
        self.product(Product::Set, y, y, a, x);
    }

    fn multiply_add(&mut self, y: &mut DeviceVector<f32>, a: &SingleMatrix, x: &DeviceVector<f32>) {
        self.traffic.multiply_add(&a.stored());
        self.product(Product::Add, y, y, a, x);
    }

    fn multiply_sub(&mut self, y: &mut DeviceVector<f32>, a: &SingleMatrix, x: &DeviceVector<f32>) {
        self.traffic.multiply_add(&a.stored());
        self.product(Product::Sub, y, y, a, x);
    }

    fn residual(&mut self, r: &mut DeviceVector<f32>, b: &DeviceVector<f32>, a: &SingleMatrix, x: &DeviceVector<f32>) {
        self.traffic.residual(&a.stored());
        self.product(Product::Residual, r, b, a, x);
    }

    fn add_diagonal(&mut self, z: &mut DeviceVector<f32>, a: f64, b: f64, d: &DeviceVector<f32>, r: &DeviceVector<f32>) {
        self.traffic.add_diagonal(z.len, a);
        self.scale_by_diagonal(z, [a, b], d, r);
    }

    fn smooth_from_zero(
        &mut self,
        y: &mut DeviceVector<f32>,
        on: Smoothed<'_, Self>,
        c: [f64; 3],
        [_r, d]: [&mut DeviceVector<f32>; 2],
        keep: bool,
    ) {
        self.traffic.smooth_from_zero(&on.matrix.stored(), keep);
        let result = self.smooth_from_zero_into(&smoothing(on), c, [y.address(), d.address()], keep);
        self.executor.attempt(result);
    }

    fn smooth(
        &mut self,
        y: &mut DeviceVector<f32>,
        x: &DeviceVector<f32>,
        on: Smoothed<'_, Self>,
        c: [f64; 2],
        [_r, d]: [&mut DeviceVector<f32>; 2],
        keep: bool,
    ) {
        self.traffic.smooth(&on.matrix.stored(), c[0] != 0.0, keep);
        let result = self.smooth_into(&smoothing(on), c, [y.address(), x.address(), d.address()], keep);
        self.executor.attempt(result);
    }

    fn smooth_dot(
        &mut self,
        y: &mut DeviceVector<f32>,
        x: &DeviceVector<f32>,
        on: Smoothed<'_, Self>,
        c: [f64; 2],
        [_r, d]: [&mut DeviceVector<f32>; 2],
    ) -> DeviceNumber {
        self.traffic.smooth(&on.matrix.stored(), c[0] != 0.0, false);
        let executor = Rc::clone(&self.executor);
        executor.make_scalar(|out| self.smooth_dot_into(&smoothing(on), c, [y.address(), x.address(), d.address()], out))
    }

    fn correct(
        &mut self,
        x: &mut DeviceVector<f32>,
        d: &mut DeviceVector<f32>,
        r: &mut DeviceVector<f32>,
        by: Correction<'_, Self>,
        c: f64,
    ) {
        self.traffic.correct(x.len, &by.image.stored(), &by.prolongation.stored());
        let vectors = [x.address(), d.address(), r.address()];
        let result = correction(by).and_then(|by| self.correct_into(&by, x.len, c, vectors));
        self.executor.attempt(result);
    }

    /// Fails at the next read: sweeps stay in double precision.
    fn gauss_seidel(&mut self, _: &mut DeviceVector<f32>, _: &SingleMatrix, _: &DeviceVector<f32>, _: &DeviceVector<f32>, _: Direction) {
        let result: Result<(), Error> = Err(Error::internal("a sweep in single precision"));
        self.executor.attempt(result);
    }

    fn solve_factors(&mut self, _: &mut DeviceVector<f32>, factors: &Infallible, _: &DeviceVector<f32>) {
        match *factors {}
    }
}
