//! Memory traffic: a space that computes nothing and counts bytes. Methods and preconditioners run
//! on it with each operation of [`VectorSpace`] and [`MatrixSpace`] as one pass that reads and
//! writes every number once.
//!
//! ```
//! use equelle_runtime::linalg::space::traffic::{Traffic, Written};
//! use equelle_runtime::linalg::{MatrixSpace, VectorSpace};
//!
//! let mut traffic = Traffic::new(1000, Written::Unread);
//! let (x, mut y) = (traffic.zeros()?, traffic.zeros()?);
//! traffic.take();
//! traffic.add_scaled(&mut y, &(), &x);
//! assert_eq!(traffic.take(), 24_000);
//! # Ok::<(), std::convert::Infallible>(())
//! ```

mod mixed_precision;

use std::convert::Infallible;

use super::host::HostSpace;
use super::matrix_space::{Correction, Direction, MatrixSpace, MultigridSpace, Shape, Smoothed};
use super::traffic_counter::{COLUMN, DOUBLE, ROW, SINGLE, TrafficCounter, by_rows};
pub use super::traffic_counter::{Stored, Written};
use super::vector_space::{Preconditioner, VectorSpace};
use crate::linalg::matrix::csr::Csr;
use crate::linalg::precond::amg::{Amg, AmgOptions, Hierarchy};
use crate::linalg::precond::ilu::BlockFactors;
use mixed_precision::MixedPrecisionAmg;

/// Counts bytes. A vector is its length.
#[derive(Clone, Debug)]
pub struct Traffic {
    n: usize,
    counter: TrafficCounter,
    by_slices: bool,
    /// True if multigrid uses single precision where it is enough.
    in_single_precision: bool,
}

/// Number of rows in a slice.
const SLICE: usize = 32;
/// Bytes of the bounds of a slice's values and columns.
const SLICE_ENDS: u64 = 32;
/// Bytes of the offset of a diagonal in a slice.
const DIAGONAL: u64 = 4;

/// Bytes of a matrix in slices of rows (SELL), each with columns, or with diagonals where that is
/// less. Padding does not count. An entry takes `number` bytes.
fn by_slices(a: &Csr, number: u64) -> u64 {
    let mut bytes = 0;
    let mut diagonals: Vec<i64> = Vec::new();
    for from in (0..a.n_rows()).step_by(SLICE) {
        let to = a.n_rows().min(from + SLICE);
        let entries = (a.row_ptr()[to] - a.row_ptr()[from]) as u64;
        diagonals.clear();
        diagonals.extend((from..to).flat_map(|row| a.row(row).map(move |(column, _)| column as i64 - row as i64)));
        diagonals.sort_unstable();
        diagonals.dedup();
        bytes += SLICE_ENDS + ((number + COLUMN) * entries).min(number * entries + DIAGONAL * diagonals.len() as u64);
    }
    bytes
}

impl Traffic {
    /// Vectors of `n` numbers.
    pub fn new(n: usize, written: Written) -> Traffic {
        Traffic { n, counter: TrafficCounter::in_double_precision(written), by_slices: false, in_single_precision: false }
    }

    /// With the sliced format of a back-end, where it takes less than compressed rows.
    #[must_use]
    pub fn with_slices(self) -> Traffic {
        Traffic { by_slices: true, ..self }
    }

    /// With multigrid in single precision where it is enough, and with conversions in the passes of
    /// CG.
    #[must_use]
    pub fn with_single_precision(self) -> Traffic {
        Traffic { in_single_precision: true, ..self }
    }

    /// Bytes since the last call.
    pub fn take(&mut self) -> u64 {
        self.counter.take()
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
        self.counter.copy(*y);
    }

    fn dot(&mut self, x: &usize, y: &usize) {
        self.counter.dot(*y, std::ptr::eq(x, y));
    }

    fn add_scaled(&mut self, y: &mut usize, (): &(), _: &usize) {
        self.counter.update(*y);
    }

    fn sub_scaled(&mut self, y: &mut usize, (): &(), _: &usize) {
        self.counter.update(*y);
    }

    fn scale_add(&mut self, y: &mut usize, (): &(), _: &usize) {
        self.counter.update(*y);
    }

    fn scale(&mut self, y: &mut usize, (): &()) {
        self.counter.scale(*y);
    }

    fn sub_scaled_dot(&mut self, y: &mut usize, (): &(), _: &usize, w: Option<&usize>) {
        self.counter.sub_scaled_dot(*y, w.is_some());
    }

    fn step(&mut self, x: &mut usize, (): &(), _: &mut usize, (): &(), _: &usize) {
        self.counter.step(*x);
    }

    fn add_scaled_two(&mut self, y: &mut usize, (): &(), _: &usize, (): &(), _: &usize) {
        self.counter.update_by_two(*y);
    }

    fn bicgstab_direction(&mut self, p: &mut usize, (): &(), _: &usize, (): &(), _: &usize) {
        self.counter.update_by_two(*p);
    }

    fn constant(&mut self, _: f64) {}

    fn add(&mut self, (): &(), (): &()) {}

    fn sub(&mut self, (): &(), (): &()) {}

    fn mul(&mut self, (): &(), (): &()) {}

    fn ratio(&mut self, (): &(), (): &()) {}

    fn zero_if_cancelled(&mut self, (): &(), (): &()) {}

    fn sqrt(&mut self, (): &()) {}

    fn min(&mut self, (): &(), (): &()) {}

    /// Every number is 1: nothing converges, and nothing breaks down.
    fn read<const N: usize>(&mut self, _: [&(); N]) -> Result<[f64; N], Infallible> {
        Ok([1.0; N])
    }
}

impl MatrixSpace for Traffic {
    type Matrix = Stored;
    type Factors = BlockFactors;

    fn zeros_of(&mut self, len: usize) -> Result<usize, Infallible> {
        self.counter.clear(len);
        Ok(len)
    }

    fn vector(&mut self, values: Vec<f64>) -> Result<usize, Infallible> {
        self.zeros_of(values.len())
    }

    fn matrix(&mut self, matrix: Csr) -> Result<Stored, Infallible> {
        let shape = Shape { rows: matrix.n_rows(), columns: matrix.n_cols(), entries: matrix.n_entries(), fields: 1 };
        let by_rows = by_rows(shape, self.counter.read());
        Ok(if self.by_slices { Stored { bytes: by_rows.bytes.min(by_slices(&matrix, self.counter.read())), shape } } else { by_rows })
    }

    fn factors(&mut self, factors: BlockFactors) -> Result<BlockFactors, Infallible> {
        Ok(factors)
    }

    fn shape(a: &Stored) -> Shape {
        a.shape
    }

    fn clear(&mut self, x: &mut usize) {
        self.counter.clear(*x);
    }

    fn multiply(&mut self, _: &mut usize, a: &Stored, _: &usize) {
        self.counter.multiply(a);
    }

    fn multiply_add(&mut self, _: &mut usize, a: &Stored, _: &usize) {
        self.counter.multiply_add(a);
    }

    fn multiply_sub(&mut self, _: &mut usize, a: &Stored, _: &usize) {
        self.counter.multiply_add(a);
    }

    fn residual(&mut self, _: &mut usize, _: &usize, a: &Stored, _: &usize) {
        self.counter.residual(a);
    }

    fn add_diagonal(&mut self, z: &mut usize, a: f64, _: f64, _: &usize, _: &usize) {
        self.counter.add_diagonal(*z, a);
    }

    fn multiply_dot(&mut self, _: &mut usize, a: &Stored, x: &usize, w: &usize) {
        self.counter.multiply_dot(a, std::ptr::eq(x, w));
    }

    fn multiply_dots(&mut self, y: &mut usize, a: &Stored, x: &usize, w: &usize) -> [(); 2] {
        self.multiply_dot(y, a, x, w);
        [(), ()]
    }

    fn advance_diagonal(&mut self, r: &mut usize, (): &(), _: &usize, _: &mut usize, _: &usize) {
        self.counter.advance_diagonal(*r);
    }

    fn apply_diagonal_dot(&mut self, _: &mut usize, _: &usize, r: &usize) {
        self.counter.apply_diagonal_dot(*r);
    }

    fn step_diagonal(&mut self, [x, _]: [&mut usize; 2], _: [&(); 2], _: [&usize; 3]) {
        self.counter.step_diagonal(*x);
    }

    /// Each row recomputes the first step of its neighbours from `b` and the diagonal.
    fn smooth_from_zero(&mut self, _: &mut usize, on: Smoothed<'_, Self>, _: [f64; 3], _: [&mut usize; 2], keep: bool) {
        self.counter.smooth_from_zero(on.matrix, keep);
    }

    fn smooth(&mut self, _: &mut usize, _: &usize, on: Smoothed<'_, Self>, c: [f64; 2], _: [&mut usize; 2], keep: bool) {
        self.counter.smooth(on.matrix, c[0] != 0.0, keep);
    }

    fn smooth_dot(&mut self, y: &mut usize, x: &usize, on: Smoothed<'_, Self>, c: [f64; 2], work: [&mut usize; 2]) {
        self.smooth(y, x, on, c, work, false);
    }

    fn correct(&mut self, x: &mut usize, _: &mut usize, _: &mut usize, by: Correction<'_, Self>, _: f64) {
        self.counter.correct(*x, by.image, by.prolongation);
    }

    fn gauss_seidel(&mut self, _: &mut usize, a: &Stored, _: &usize, _: &usize, _: Direction) {
        self.counter.gauss_seidel(a);
    }

    fn solve_factors(&mut self, _: &mut usize, factors: &BlockFactors, _: &usize) {
        self.counter.solve_factors(factors.k(), factors.n_blocks(), factors.n_outside_diagonal(), ROW);
    }
}

impl MultigridSpace for Traffic {
    fn multigrid(&mut self, matrix: Csr, ends: &[usize], options: &AmgOptions) -> Result<Box<dyn Preconditioner<Traffic>>, Infallible> {
        let n = matrix.n_rows();
        let in_single_precision = self.in_single_precision && crate::linalg::precond::mixed_precision::suits(options);
        let hierarchy = Hierarchy::new(&mut HostSpace::new(n), matrix.into(), ends, options)?;
        if !in_single_precision {
            let hierarchy = hierarchy.copy_to(self)?;
            return Ok(Box::new(Amg::new(self, hierarchy, options)?));
        }
        Ok(Box::new(MixedPrecisionAmg::new(
            Traffic { n, counter: self.counter.in_single_precision(), ..self.clone() },
            hierarchy,
            options,
        )?))
    }
}
