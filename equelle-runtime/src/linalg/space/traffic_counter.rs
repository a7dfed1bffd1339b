//! Bytes of each operation of a space, by the sizes of its vectors and matrices. A space that
//! computes calls these methods beside its kernels: a few additions for a pass over all numbers.

use super::matrix_space::Shape;

/// Cost of writing memory that was not read before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Written {
    /// Write-allocate, as on most processors: 16 bytes a number.
    Fetched,
    /// No fetch before the write, as on GPUs: 8 bytes a number.
    Unread,
}

/// Bytes of an `f64`, and of an `f32`.
pub(super) const DOUBLE: u64 = 8;
pub(super) const SINGLE: u64 = 4;

/// A matrix: its size, and the bytes of its entries and indices.
#[derive(Clone, Copy, Debug)]
pub struct Stored {
    /// Its size.
    pub shape: Shape,
    /// Bytes of its entries and indices.
    pub bytes: u64,
}

/// Bytes of the column of an entry or block.
pub(super) const COLUMN: u64 = 4;
/// Bytes of a row pointer.
pub(in crate::linalg) const ROW: u64 = 8;
impl From<Shape> for Stored {
    /// A matrix of `f64` in compressed rows, or in blocks if it has some.
    fn from(shape: Shape) -> Stored {
        by_rows(shape, DOUBLE)
    }
}

/// A matrix in compressed rows, or in blocks if it has some, with `number` bytes an entry.
pub(super) fn by_rows(shape: Shape, number: u64) -> Stored {
    let Shape { rows, entries, fields, .. } = shape;
    let places = COLUMN * (entries / (fields * fields)) as u64 + ROW * (rows / fields) as u64;
    Stored { shape, bytes: number * entries as u64 + places }
}

/// Counts bytes that passes read and write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TrafficCounter {
    written: Written,
    /// Bytes of a number of vectors.
    number: u64,
    bytes: u64,
}

impl TrafficCounter {
    /// For vectors of `f64`.
    pub const fn in_double_precision(written: Written) -> TrafficCounter {
        TrafficCounter { written, number: 8, bytes: 0 }
    }

    /// For vectors of `f32` in the same memory.
    #[must_use]
    pub const fn in_single_precision(&self) -> TrafficCounter {
        TrafficCounter { written: self.written, number: 4, bytes: 0 }
    }

    /// Bytes since the last call.
    pub fn take(&mut self) -> u64 {
        std::mem::take(&mut self.bytes)
    }

    /// Adds the bytes of a pass that is none of those below.
    pub fn add(&mut self, bytes: u64) {
        self.bytes += bytes;
    }

    /// Bytes of a number that is read.
    pub fn read(&self) -> u64 {
        self.number
    }

    /// Bytes of a number that is updated.
    pub fn changed(&self) -> u64 {
        2 * self.number
    }

    /// Bytes of a number that is written without being read before.
    pub fn written(&self) -> u64 {
        match self.written {
            Written::Fetched => 2 * self.number,
            Written::Unread => self.number,
        }
    }

    /// Adds so many bytes for each of `n` elements.
    pub fn each(&mut self, n: usize, bytes: u64) {
        self.bytes += n as u64 * bytes;
    }

    /// `y = x`
    pub fn copy(&mut self, n: usize) {
        self.each(n, self.read() + self.written());
    }

    /// A vector of zeros.
    pub fn clear(&mut self, n: usize) {
        self.each(n, self.written());
    }

    /// `x . y`; one vector is read if both are the same.
    pub fn dot(&mut self, n: usize, is_same: bool) {
        self.each(n, if is_same { self.read() } else { 2 * self.read() });
    }

    /// `y` updated by another vector, as `y = y + a x`.
    pub fn update(&mut self, n: usize) {
        self.each(n, self.changed() + self.read());
    }

    /// `y = a y`
    pub fn scale(&mut self, n: usize) {
        self.each(n, self.changed());
    }

    /// `y = y - a x`, and `y . y`, or the product with another vector.
    pub fn sub_scaled_dot(&mut self, n: usize, with_other: bool) {
        self.each(n, self.changed() + self.read() + if with_other { self.read() } else { 0 });
    }

    /// `x = x + a p`, and `p = z + b p`.
    pub fn step(&mut self, n: usize) {
        self.each(n, 2 * self.changed() + self.read());
    }

    /// `y` updated by two vectors.
    pub fn update_by_two(&mut self, n: usize) {
        self.each(n, self.changed() + 2 * self.read());
    }

    /// A product; `row` are the bytes of a row beside the matrix.
    pub fn product(&mut self, a: &Stored, row: u64) {
        self.bytes += a.bytes;
        self.each(a.shape.columns, self.read());
        self.each(a.shape.rows, row);
    }

    /// `y = A x`
    pub fn multiply(&mut self, a: &Stored) {
        self.product(a, self.written());
    }

    /// `y` updated by `A x`.
    pub fn multiply_add(&mut self, a: &Stored) {
        self.product(a, self.changed());
    }

    /// `r = b - A x`
    pub fn residual(&mut self, a: &Stored) {
        self.product(a, self.read() + self.written());
    }

    /// `y = A x`, and `w . y`; `w` may be `x`.
    pub fn multiply_dot(&mut self, a: &Stored, is_same: bool) {
        self.product(a, self.written() + if is_same { 0 } else { self.read() });
    }

    /// `z = a z + b D r`; `a` may be 0.
    pub fn add_diagonal(&mut self, n: usize, a: f64) {
        self.each(n, 2 * self.read() + if a == 0.0 { self.written() } else { self.changed() });
    }

    /// `r = r - a q`, and `r . D r`.
    pub fn advance_diagonal(&mut self, n: usize) {
        self.each(n, self.changed() + 2 * self.read());
    }

    /// `r . D r`
    pub fn apply_diagonal_dot(&mut self, n: usize) {
        self.each(n, 2 * self.read());
    }

    /// `x = x + a p`, and `p = D r + b p`.
    pub fn step_diagonal(&mut self, n: usize) {
        self.each(n, 2 * self.changed() + 2 * self.read());
    }

    /// Two steps of a smoother from zero: `b`, the diagonal and `y`, and the step if it is kept.
    pub fn smooth_from_zero(&mut self, a: &Stored, keep: bool) {
        self.product(a, self.read() + self.written());
        self.each(a.shape.rows, if keep { self.written() } else { 0 });
    }

    /// A step of a smoother: `x`, `b`, the diagonal and `y`, and the step before and after.
    pub fn smooth(&mut self, a: &Stored, reads_step: bool, keep: bool) {
        self.product(a, 2 * self.read() + self.written());
        self.each(a.shape.rows, if reads_step { self.read() } else { 0 } + if keep { self.written() } else { 0 });
    }

    /// The correction of a coarse level with the first step after it, of `n` unknowns. One pass
    /// reads the coarse vector once for both matrices.
    pub fn correct(&mut self, n: usize, image: &Stored, prolongation: &Stored) {
        self.product(image, 0);
        self.bytes += prolongation.bytes;
        self.each(n, 2 * self.read() + self.changed() + self.written());
    }

    /// A sweep: one more write of `x` a row, the inverse diagonal and the right-hand side.
    pub fn gauss_seidel(&mut self, a: &Stored) {
        self.product(a, self.read() + 2 * self.read());
    }

    /// Substitutions with factors of `n` rows of blocks `[k, k]`, `blocks` of them beside the
    /// diagonal: each triangle with its columns, the inverse diagonal twice, `r`, and `z`, which
    /// the second substitution reads and writes again.
    pub fn solve_factors(&mut self, k: usize, n: usize, blocks: usize, row_start: u64) {
        let size = 8 * (k * k) as u64;
        self.each(blocks, size + 4);
        self.each(n, 2 * (size + row_start) + k as u64 * (self.read() + self.written() + self.changed()));
    }
}
