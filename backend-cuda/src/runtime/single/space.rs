//! Vectors and matrices of singles on the device, with the operations of a cycle.

use std::convert::Infallible;
use std::rc::Rc;

use equelle_runtime::Error;
use equelle_runtime::linalg::precond::ilu::BlockFactors;
use equelle_runtime::linalg::space::matrix_space::{Correction, Direction, Shape, Smoothed};
use equelle_runtime::linalg::{Csr, MatrixSpace, VectorSpace};

use super::matrix::SingleMatrix;
use crate::runtime::device::DevicePtr;
use crate::runtime::krylov::{DeviceNumber, Update};
use crate::runtime::matrices::Product;
use crate::runtime::passes::{Number, Summand};
use crate::runtime::pool::Buffer;
use crate::runtime::precision::Precision;
use crate::runtime::program::CudaRuntime;
use crate::runtime::rows::fault;
use crate::runtime::smoothing::{Corrections, Smoothing};

/// A runtime as the space of vectors and matrices of singles. Scalars are doubles.
#[repr(transparent)]
pub(in crate::runtime) struct Singles(CudaRuntime);

/// A vector: singles in device memory.
#[derive(Debug)]
pub(in crate::runtime) struct SingleVector {
    pub buffer: Rc<Buffer>,
    pub len: usize,
}

impl SingleVector {
    pub fn address(&self) -> DevicePtr {
        self.buffer.address()
    }
}

impl Singles {
    /// A runtime seen as this space.
    pub fn of(rt: &mut CudaRuntime) -> &mut Singles {
        // SAFETY: the only field is the runtime and the representation that of the field; the reference is as unique as the one it is made of, and lives no longer.
        unsafe { &mut *std::ptr::from_mut(rt).cast::<Singles>() }
    }

    fn product(&mut self, product: Product, y: &SingleVector, b: &SingleVector, a: &SingleMatrix, x: &SingleVector) {
        debug_assert!(y.len == a.shape().rows && x.len == a.shape().columns, "vectors of the matrix's size");
        let (form, vectors) = ((a.shape().rows, &a.form()), [b.address(), x.address(), y.address()]);
        let result = self.0.form_product(Precision::Single, product, form, vectors);
        self.0.attempt(result);
    }

    fn update(&mut self, update: Update, y: &SingleVector, a: DevicePtr, x: &SingleVector) {
        debug_assert_eq!(y.len, x.len, "vectors of one length");
        let result = self.0.update_in(Precision::Single, update, y.len, y.address(), a, x.address());
        self.0.attempt(result);
    }

    fn scaled(&mut self, update: Update, y: &SingleVector, a: &DeviceNumber, x: &SingleVector) {
        if let Some(a) = a {
            self.update(update, y, a.address(), x);
        }
    }
}

/// A system as kernels take it.
fn smoothing(on: Smoothed<'_, Singles>) -> Smoothing {
    let (inverse_diagonal, right) = (on.inverse_diagonal.address(), on.right.address());
    Smoothing { precision: Precision::Single, n: on.matrix.shape().rows, matrix: on.matrix.form(), inverse_diagonal, right }
}

/// A correction as kernels take it.
fn correction(by: Correction<'_, Singles>) -> Result<Corrections, Error> {
    let (coarse, inverse_diagonal) = (by.coarse.address(), by.inverse_diagonal.address());
    Ok(Corrections {
        precision: Precision::Single,
        image: by.image.form(),
        prolongation: by.prolongation.rows()?,
        coarse,
        inverse_diagonal,
    })
}

impl VectorSpace for Singles {
    type Vector = SingleVector;
    type Scalar = DeviceNumber;
    type Error = Error;

    fn zeros(&mut self) -> Result<SingleVector, Error> {
        self.zeros_of(self.0.space.len)
    }

    fn is_interrupted(&self) -> bool {
        self.0.is_interrupted()
    }

    fn copy(&mut self, y: &mut SingleVector, x: &SingleVector) {
        self.update(Update::Copy, y, DevicePtr(0), x);
    }

    fn dot(&mut self, x: &SingleVector, y: &SingleVector) -> DeviceNumber {
        let summand = Summand::Product { w: x.address() };
        self.0.make_number(|rt, out| rt.sum_in(Precision::Single, y.len, y.address(), summand, out))
    }

    fn add_scaled(&mut self, y: &mut SingleVector, a: &DeviceNumber, x: &SingleVector) {
        self.scaled(Update::AddScaled, y, a, x);
    }

    fn sub_scaled(&mut self, y: &mut SingleVector, a: &DeviceNumber, x: &SingleVector) {
        self.scaled(Update::SubScaled, y, a, x);
    }

    fn scale_add(&mut self, y: &mut SingleVector, a: &DeviceNumber, x: &SingleVector) {
        self.scaled(Update::ScaleAdd, y, a, x);
    }

    fn scale(&mut self, y: &mut SingleVector, a: &DeviceNumber) {
        self.scaled(Update::Scale, y, a, y);
    }

    fn constant(&mut self, value: f64) -> DeviceNumber {
        VectorSpace::constant(&mut self.0, value)
    }

    fn add(&mut self, a: &DeviceNumber, b: &DeviceNumber) -> DeviceNumber {
        self.0.add(a, b)
    }

    fn sub(&mut self, a: &DeviceNumber, b: &DeviceNumber) -> DeviceNumber {
        self.0.sub(a, b)
    }

    fn mul(&mut self, a: &DeviceNumber, b: &DeviceNumber) -> DeviceNumber {
        self.0.mul(a, b)
    }

    fn ratio(&mut self, a: &DeviceNumber, b: &DeviceNumber) -> DeviceNumber {
        self.0.ratio(a, b)
    }

    /// What is left of a sum of products of singles.
    fn zero_if_cancelled(&mut self, a: &DeviceNumber, b: &DeviceNumber) -> DeviceNumber {
        self.0.number_of(Number::ZeroIfCancelledSingles, a, b)
    }

    fn sqrt(&mut self, a: &DeviceNumber) -> DeviceNumber {
        self.0.sqrt(a)
    }

    fn min(&mut self, a: &DeviceNumber, b: &DeviceNumber) -> DeviceNumber {
        self.0.min(a, b)
    }

    fn read<const N: usize>(&mut self, scalars: [&DeviceNumber; N]) -> Result<[f64; N], Error> {
        self.0.read(scalars)
    }
}

impl MatrixSpace for Singles {
    type Matrix = SingleMatrix;
    /// There are none: cycles of singles smooth by polynomials.
    type Factors = Infallible;

    fn zeros_of(&mut self, len: usize) -> Result<SingleVector, Error> {
        let mut vector = SingleVector { buffer: self.0.buffer("a vector of singles", 4 * len as u64)?, len };
        self.clear(&mut vector);
        Ok(vector)
    }

    fn vector(&mut self, values: Vec<f64>) -> Result<SingleVector, Error> {
        let vector = self.0.vector(values)?;
        self.0.narrowed_vector(&vector, 1.0)
    }

    fn matrix(&mut self, matrix: Csr) -> Result<SingleMatrix, Error> {
        let matrix = self.0.matrix(matrix)?;
        SingleMatrix::arranged(&mut self.0, &matrix, 1.0)
    }

    fn factors(&mut self, _: BlockFactors) -> Result<Infallible, Error> {
        Err(fault("factors of singles"))
    }

    fn shape(a: &SingleMatrix) -> Shape {
        a.shape()
    }

    fn clear(&mut self, x: &mut SingleVector) {
        let result = self.0.clear_in(Precision::Single, x.len, x.address());
        self.0.attempt(result);
    }

    fn multiply(&mut self, y: &mut SingleVector, a: &SingleMatrix, x: &SingleVector) {
        self.product(Product::Set, y, y, a, x);
    }

    fn multiply_add(&mut self, y: &mut SingleVector, a: &SingleMatrix, x: &SingleVector) {
        self.product(Product::Add, y, y, a, x);
    }

    fn multiply_sub(&mut self, y: &mut SingleVector, a: &SingleMatrix, x: &SingleVector) {
        self.product(Product::Sub, y, y, a, x);
    }

    fn residual(&mut self, r: &mut SingleVector, b: &SingleVector, a: &SingleMatrix, x: &SingleVector) {
        self.product(Product::Residual, r, b, a, x);
    }

    fn add_diagonal(&mut self, z: &mut SingleVector, a: f64, b: f64, d: &SingleVector, r: &SingleVector) {
        let result = self.0.add_diagonal_in(Precision::Single, z.len, [a, b], [z.address(), d.address(), r.address()]);
        self.0.attempt(result);
    }

    fn smooth_from_zero(&mut self, y: &mut SingleVector, on: Smoothed<'_, Self>, c: [f64; 3], [_r, d]: [&mut SingleVector; 2], keep: bool) {
        let result = self.0.smooth_from_zero_into(&smoothing(on), c, [y.address(), d.address()], keep);
        self.0.attempt(result);
    }

    fn smooth(
        &mut self,
        y: &mut SingleVector,
        x: &SingleVector,
        on: Smoothed<'_, Self>,
        c: [f64; 2],
        [_r, d]: [&mut SingleVector; 2],
        keep: bool,
    ) {
        let result = self.0.smooth_into(&smoothing(on), c, [y.address(), x.address(), d.address()], keep);
        self.0.attempt(result);
    }

    fn smooth_dot(
        &mut self,
        y: &mut SingleVector,
        x: &SingleVector,
        on: Smoothed<'_, Self>,
        c: [f64; 2],
        [_r, d]: [&mut SingleVector; 2],
    ) -> DeviceNumber {
        self.0.make_number(|rt, out| rt.smooth_dot_into(&smoothing(on), c, [y.address(), x.address(), d.address()], out))
    }

    fn correct(&mut self, x: &mut SingleVector, d: &mut SingleVector, r: &mut SingleVector, by: Correction<'_, Self>, c: f64) {
        let vectors = [x.address(), d.address(), r.address()];
        let result = correction(by).and_then(|by| self.0.correct_into(&by, x.len, c, vectors));
        self.0.attempt(result);
    }

    /// A failure, which the next read reports: sweeps stay in double precision.
    fn gauss_seidel(&mut self, _: &mut SingleVector, _: &SingleMatrix, _: &SingleVector, _: &SingleVector, _: Direction) {
        let result: Result<(), Error> = Err(fault("a sweep over singles"));
        self.0.attempt(result);
    }

    fn solve_factors(&mut self, _: &mut SingleVector, factors: &Infallible, _: &SingleVector) {
        match *factors {}
    }
}
