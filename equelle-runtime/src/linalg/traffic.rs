//! Bytes that must go between memory and processor: a space that computes nothing and counts. What a method or preconditioner asks of a back-end is run on it, with each
//! operation of [`VectorSpace`] and [`MatrixSpace`] as one pass that reads and writes every number once.
//!
//! ```
//! use equelle_runtime::linalg::traffic::{Traffic, Written};
//! use equelle_runtime::linalg::{MatrixSpace, VectorSpace};
//!
//! let mut traffic = Traffic::new(1000, Written::Unread);
//! let (x, mut y) = (traffic.zeros()?, traffic.zeros()?);
//! traffic.take();
//! traffic.add_scaled(&mut y, &(), &x);
//! assert_eq!(traffic.take(), 24_000);
//! # Ok::<(), std::convert::Infallible>(())
//! ```

use std::convert::Infallible;

use super::csr::Csr;
use super::matrix_space::{Correction, Direction, MatrixSpace, Shape, Smoothed};
use super::precond::ilu::BlockFactors;
use super::space::VectorSpace;

/// What happens to memory that is written and not read before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Written {
    /// Its lines are fetched first, as on most processors: 16 bytes a number.
    Fetched,
    /// They are not, as on GPUs: 8 bytes a number.
    Unread,
}

/// Counts bytes. A vector is its length.
#[derive(Clone, Debug)]
pub struct Traffic {
    n: usize,
    written: u64,
    bytes: u64,
}

/// A number that is read, one that is changed.
const READ: u64 = 8;
const CHANGED: u64 = 16;
/// The column of an entry, or of a block of entries.
const COLUMN: u64 = 4;
/// Where a row begins.
const ROW: u64 = 8;

impl Traffic {
    /// Vectors of `n` numbers.
    pub fn new(n: usize, written: Written) -> Traffic {
        let written = match written {
            Written::Fetched => 16,
            Written::Unread => 8,
        };
        Traffic { n, written, bytes: 0 }
    }

    /// Bytes since this was asked last.
    pub fn take(&mut self) -> u64 {
        std::mem::take(&mut self.bytes)
    }

    fn count(&mut self, elements: usize, bytes: u64) {
        self.bytes += elements as u64 * bytes;
    }

    /// A product; `rows` is what a row costs beside its entries.
    fn product(&mut self, a: &Shape, rows: u64) {
        self.count(a.entries, READ);
        self.count(a.entries / (a.fields * a.fields), COLUMN);
        self.count(a.columns, READ);
        self.count(a.rows / a.fields, ROW);
        self.count(a.rows, rows);
    }
}

impl VectorSpace for Traffic {
    type Vector = usize;
    type Scalar = ();
    type Error = Infallible;

    fn zeros(&mut self) -> Result<usize, Infallible> {
        self.zeros_of(self.n)
    }

    fn copy(&mut self, y: &mut usize, _: &usize) {
        self.count(*y, READ + self.written);
    }

    fn dot(&mut self, x: &usize, y: &usize) {
        // Both may be the same; callers know, the type does not.
        self.count(*y, if std::ptr::eq(x, y) { READ } else { 2 * READ });
    }

    fn add_scaled(&mut self, y: &mut usize, (): &(), _: &usize) {
        self.count(*y, CHANGED + READ);
    }

    fn sub_scaled(&mut self, y: &mut usize, (): &(), _: &usize) {
        self.count(*y, CHANGED + READ);
    }

    fn scale_add(&mut self, y: &mut usize, (): &(), _: &usize) {
        self.count(*y, CHANGED + READ);
    }

    fn scale(&mut self, y: &mut usize, (): &()) {
        self.count(*y, CHANGED);
    }

    fn sub_scaled_dot(&mut self, y: &mut usize, (): &(), _: &usize, w: Option<&usize>) {
        self.count(*y, CHANGED + READ + if w.is_some() { READ } else { 0 });
    }

    fn step(&mut self, x: &mut usize, (): &(), _: &mut usize, (): &(), _: &usize) {
        self.count(*x, 2 * CHANGED + READ);
    }

    fn add_scaled_two(&mut self, y: &mut usize, (): &(), _: &usize, (): &(), _: &usize) {
        self.count(*y, CHANGED + 2 * READ);
    }

    fn turn(&mut self, p: &mut usize, (): &(), _: &usize, (): &(), _: &usize) {
        self.count(*p, CHANGED + 2 * READ);
    }

    fn constant(&mut self, _: f64) {}

    fn add(&mut self, (): &(), (): &()) {}

    fn sub(&mut self, (): &(), (): &()) {}

    fn mul(&mut self, (): &(), (): &()) {}

    fn ratio(&mut self, (): &(), (): &()) {}

    fn chop(&mut self, (): &(), (): &()) {}

    fn sqrt(&mut self, (): &()) {}

    fn min(&mut self, (): &(), (): &()) {}

    /// Every number is 1: nothing converges, and nothing breaks down.
    fn read<const N: usize>(&mut self, _: [&(); N]) -> Result<[f64; N], Infallible> {
        Ok([1.0; N])
    }
}

impl MatrixSpace for Traffic {
    type Matrix = Shape;
    type Factors = BlockFactors;

    fn zeros_of(&mut self, len: usize) -> Result<usize, Infallible> {
        self.count(len, self.written);
        Ok(len)
    }

    fn vector(&mut self, values: Vec<f64>) -> Result<usize, Infallible> {
        self.zeros_of(values.len())
    }

    fn matrix(&mut self, matrix: Csr) -> Result<Shape, Infallible> {
        Ok(Shape { rows: matrix.n_rows(), columns: matrix.n_cols(), entries: matrix.n_entries(), fields: 1 })
    }

    fn factors(&mut self, factors: BlockFactors) -> Result<BlockFactors, Infallible> {
        Ok(factors)
    }

    fn shape(a: &Shape) -> Shape {
        *a
    }

    fn clear(&mut self, x: &mut usize) {
        self.count(*x, self.written);
    }

    fn multiply(&mut self, _: &mut usize, a: &Shape, _: &usize) {
        self.product(a, self.written);
    }

    fn multiply_add(&mut self, _: &mut usize, a: &Shape, _: &usize) {
        self.product(a, CHANGED);
    }

    fn multiply_sub(&mut self, _: &mut usize, a: &Shape, _: &usize) {
        self.product(a, CHANGED);
    }

    fn residual(&mut self, _: &mut usize, _: &usize, a: &Shape, _: &usize) {
        self.product(a, READ + self.written);
    }

    fn add_diagonal(&mut self, z: &mut usize, a: f64, _: f64, _: &usize, _: &usize) {
        self.count(*z, 2 * READ + if a == 0.0 { self.written } else { CHANGED });
    }

    fn multiply_dot(&mut self, _: &mut usize, a: &Shape, x: &usize, w: &usize) {
        self.product(a, self.written + if std::ptr::eq(x, w) { 0 } else { READ });
    }

    fn multiply_dots(&mut self, y: &mut usize, a: &Shape, x: &usize, w: &usize) -> [(); 2] {
        self.multiply_dot(y, a, x, w);
        [(), ()]
    }

    fn advance_diagonal(&mut self, r: &mut usize, (): &(), _: &usize, _: &mut usize, _: &usize) {
        self.count(*r, CHANGED + 2 * READ);
    }

    fn look_diagonal(&mut self, _: &mut usize, _: &usize, r: &usize) {
        self.count(*r, 2 * READ);
    }

    fn step_diagonal(&mut self, [x, _]: [&mut usize; 2], _: [&(); 2], _: [&usize; 3]) {
        self.count(*x, 2 * CHANGED + 2 * READ);
    }

    /// `b` and the diagonal, which the first step is made of wherever a row asks for it.
    fn smooth_from_zero(&mut self, y: &mut usize, on: Smoothed<'_, Self>, _: [f64; 3], _: [&mut usize; 2], keep: bool) {
        self.product(on.matrix, READ + self.written);
        self.count(*y, if keep { self.written } else { 0 });
    }

    fn smooth(&mut self, y: &mut usize, _: &usize, on: Smoothed<'_, Self>, c: [f64; 2], _: [&mut usize; 2], keep: bool) {
        self.product(on.matrix, 2 * READ + self.written);
        self.count(*y, if c[0] == 0.0 { 0 } else { READ });
        self.count(*y, if keep { self.written } else { 0 });
    }

    fn smooth_dot(&mut self, y: &mut usize, x: &usize, on: Smoothed<'_, Self>, c: [f64; 2], work: [&mut usize; 2]) {
        self.smooth(y, x, on, c, work, false);
    }

    fn correct(&mut self, x: &mut usize, _: &mut usize, _: &mut usize, by: Correction<'_, Self>, _: f64) {
        self.product(by.image, 0);
        // Both in one pass, so that what they multiply is read once.
        self.count(by.prolongation.entries, READ + COLUMN);
        self.count(*x, ROW + 2 * READ + CHANGED + self.written);
    }

    fn gauss_seidel(&mut self, _: &mut usize, a: &Shape, _: &usize, _: &usize, _: Direction) {
        // Of `x` one number more a row, which is written; the inverse diagonal and the right-hand side.
        self.product(a, READ + 2 * READ);
    }

    /// Each triangle with its columns, the inverse diagonal twice, `r` and `z`, which the second substitution reads and writes again.
    fn solve_factors(&mut self, _: &mut usize, factors: &BlockFactors, _: &usize) {
        let (k, n) = (factors.k() as u64, factors.n_blocks());
        let blocks = factors.blocks().parts().1.len() - n;
        self.count(blocks, 8 * k * k + 4);
        self.count(n, 2 * (8 * k * k + ROW) + k * (READ + self.written + CHANGED));
    }
}
