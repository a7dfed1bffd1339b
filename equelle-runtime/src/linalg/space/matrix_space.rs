//! Operations of a back-end for preconditioners, beyond [`VectorSpace`]: sparse matrices and
//! triangular factors on the device.
//!
//! A preconditioner is set up on the host from a [`Csr`] and copied; its application is written
//! once in [`crate::linalg::precond`] with these operations. None of them waits for the device or
//! reads a value.

use super::vector_space::{LinearOperator, Preconditioner, VectorSpace};
use crate::linalg::matrix::csr::Csr;
use crate::linalg::precond::amg::AmgOptions;
use crate::linalg::precond::ilu::BlockFactors;

/// The size of a matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Number of rows.
    pub rows: usize,
    /// Number of columns.
    pub columns: usize,
    /// Number of stored entries.
    pub entries: usize,
    /// Rows, and likewise columns, that share an index: the fields of a matrix of blocks, else 1.
    pub fields: usize,
}

/// The parts of a matrix that all ranks of a run have together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parts {
    /// The size of the whole matrix.
    pub whole: Shape,
    /// A number that differs, almost always, where parts have other sizes.
    pub sizes: u64,
}

/// The order of a Gauss-Seidel sweep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// An order of the back-end, the same each time: first row to last, or colour by colour.
    Forward,
    /// The exact reverse, so that both sweeps together are symmetric.
    Backward,
}

/// The system of a polynomial smoother.
#[derive(Debug)]
pub struct Smoothed<'a, S: MatrixSpace> {
    /// `A`, square.
    pub matrix: &'a S::Matrix,
    /// `D`, the inverse of its diagonal.
    pub inverse_diagonal: &'a S::Vector,
    /// `b`
    pub right: &'a S::Vector,
}

impl<S: MatrixSpace> Clone for Smoothed<'_, S> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<S: MatrixSpace> Copy for Smoothed<'_, S> {}

/// The correction from a coarse level.
#[derive(Debug)]
pub struct Correction<'a, S: MatrixSpace> {
    /// `P`
    pub prolongation: &'a S::Matrix,
    /// `A P`
    pub image: &'a S::Matrix,
    /// `e`, of the coarse level.
    pub coarse: &'a S::Vector,
    /// `D`, the inverse of the diagonal of `A`.
    pub inverse_diagonal: &'a S::Vector,
}

impl<S: MatrixSpace> Clone for Correction<'_, S> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<S: MatrixSpace> Copy for Correction<'_, S> {}

/// Matrices, and vectors of several lengths: the operations of [`VectorSpace`] take vectors of any
/// one length here.
pub trait MatrixSpace: VectorSpace {
    /// A sparse matrix, not always square.
    type Matrix;
    /// Triangular factors with the back-end's schedule of substitution ([`BlockFactors::levels`]
    /// computes one).
    type Factors;

    /// A vector of `len` zeros.
    ///
    /// # Errors
    /// Out of memory.
    fn zeros_of(&mut self, len: usize) -> Result<Self::Vector, Self::Error>;
    /// A vector with these elements.
    ///
    /// # Errors
    /// Out of memory.
    fn vector(&mut self, values: Vec<f64>) -> Result<Self::Vector, Self::Error>;
    /// Copies a matrix to the device.
    ///
    /// # Errors
    /// Out of memory.
    fn matrix(&mut self, matrix: Csr) -> Result<Self::Matrix, Self::Error>;
    /// Copies triangular factors to the device.
    ///
    /// # Errors
    /// Out of memory.
    fn factors(&mut self, factors: BlockFactors) -> Result<Self::Factors, Self::Error>;

    /// The size of a matrix; on ranks that of the rows and columns of this one.
    fn shape(a: &Self::Matrix) -> Shape;
    /// The parts of a matrix: whatever is decided by its size is decided by these, and so alike on
    /// all ranks.
    fn parts(a: &Self::Matrix) -> Parts {
        Parts { whole: Self::shape(a), sizes: 0 }
    }

    /// `x = 0`. Memory traffic: 16 bytes an element.
    fn clear(&mut self, x: &mut Self::Vector);
    /// `y = A x`. 12 bytes an entry and 32 a row, as in the next three; for a matrix of blocks 8 an
    /// entry, 4 a block, 24 a row and 8 an element.
    fn multiply(&mut self, y: &mut Self::Vector, a: &Self::Matrix, x: &Self::Vector);
    /// `y = y + A x`
    fn multiply_add(&mut self, y: &mut Self::Vector, a: &Self::Matrix, x: &Self::Vector);
    /// `y = y - A x`
    fn multiply_sub(&mut self, y: &mut Self::Vector, a: &Self::Matrix, x: &Self::Vector);
    /// `r = b - A x`
    fn residual(&mut self, r: &mut Self::Vector, b: &Self::Vector, a: &Self::Matrix, x: &Self::Vector);
    /// `z = a z + b D r` with a diagonal matrix; `z` is not read where `a` is 0. 40 bytes an
    /// element, 32 without `z`.
    fn add_diagonal(&mut self, z: &mut Self::Vector, a: f64, b: f64, d: &Self::Vector, r: &Self::Vector);
    /// `y = A x`, and `w . y`; fused 8 bytes a row more than the product, none where `w` is `x`.
    fn multiply_dot(&mut self, y: &mut Self::Vector, a: &Self::Matrix, x: &Self::Vector, w: &Self::Vector) -> Self::Scalar {
        self.multiply(y, a, x);
        self.dot(w, y)
    }
    /// `y = A x`, and `w . y` and `y . y`.
    fn multiply_dots(&mut self, y: &mut Self::Vector, a: &Self::Matrix, x: &Self::Vector, w: &Self::Vector) -> [Self::Scalar; 2] {
        self.multiply(y, a, x);
        [self.dot(w, y), self.dot(y, y)]
    }
    /// [`Preconditioner::advance`] with a diagonal matrix `D`; fused, where `z` need not be
    /// written, 32 bytes an element.
    ///
    /// [`Preconditioner::advance`]: super::vector_space::Preconditioner::advance
    fn advance_diagonal(
        &mut self,
        r: &mut Self::Vector,
        a: &Self::Scalar,
        q: &Self::Vector,
        z: &mut Self::Vector,
        d: &Self::Vector,
    ) -> Self::Scalar {
        self.sub_scaled(r, a, q);
        self.apply_diagonal_dot(z, d, r)
    }
    /// `r . z` with `z = D r`; fused, where `z` need not be written, 16 bytes.
    fn apply_diagonal_dot(&mut self, z: &mut Self::Vector, d: &Self::Vector, r: &Self::Vector) -> Self::Scalar {
        self.add_diagonal(z, 0.0, 1.0, d, r);
        self.dot(r, z)
    }
    /// `x = x + a p`, then `p = D r + b p`, with `z` and `r` from one of the two above; fused 48
    /// bytes.
    fn step_diagonal(&mut self, [x, p]: [&mut Self::Vector; 2], [a, b]: [&Self::Scalar; 2], [z, _d, _r]: [&Self::Vector; 3]) {
        self.step(x, a, p, b, z);
    }
    /// Announces many products with a matrix, so that a back-end may convert it.
    fn will_multiply(&mut self, _a: &Self::Matrix) {}

    /// Two steps of a polynomial smoother from zero: `d = c[0] D b`, and [`MatrixSpace::smooth`]
    /// from `d` with `c[1..]`. `r` is workspace; `d` holds the second step afterwards if `keep`,
    /// else it is undefined. Fused 12 bytes an entry and 24 a row.
    fn smooth_from_zero(&mut self, y: &mut Self::Vector, on: Smoothed<'_, Self>, c: [f64; 3], [r, d]: [&mut Self::Vector; 2], _keep: bool)
    where
        Self: Sized,
    {
        self.add_diagonal(d, 0.0, c[0], on.inverse_diagonal, on.right);
        self.residual(r, on.right, on.matrix, d);
        self.copy(y, d);
        self.add_diagonal(d, c[1], c[2], on.inverse_diagonal, r);
        let one = self.constant(1.0);
        self.add_scaled(y, &one, d);
    }
    /// A step of a polynomial smoother: `d = c[0] d + c[1] D (b - A x)`, then `y = x + d`. `d` is
    /// not read where `c[0]` is 0, and holds the step afterwards if `keep`, else it is undefined;
    /// `r` is workspace. Fused 12 bytes an entry and 32 a row, and 8 each if `d` is read and if it
    /// is kept.
    fn smooth(
        &mut self,
        y: &mut Self::Vector,
        x: &Self::Vector,
        on: Smoothed<'_, Self>,
        c: [f64; 2],
        [r, d]: [&mut Self::Vector; 2],
        _keep: bool,
    ) where
        Self: Sized,
    {
        self.residual(r, on.right, on.matrix, x);
        self.add_diagonal(d, c[0], c[1], on.inverse_diagonal, r);
        self.copy(y, x);
        let one = self.constant(1.0);
        self.add_scaled(y, &one, d);
    }
    /// The last [`MatrixSpace::smooth`], and `b . y`, with the same traffic if fused.
    fn smooth_dot(
        &mut self,
        y: &mut Self::Vector,
        x: &Self::Vector,
        on: Smoothed<'_, Self>,
        c: [f64; 2],
        work: [&mut Self::Vector; 2],
    ) -> Self::Scalar
    where
        Self: Sized,
    {
        self.smooth(y, x, on, c, work, false);
        self.dot(on.right, y)
    }
    /// The correction of a coarse level and the first step of a smoother, where `r` is the residual
    /// before: `x = x + P e`, `d = c D (r - A P e)`, `x = x + d`. `r` is undefined afterwards.
    /// Fused 12 bytes an entry of `P` and of `A P`, 8 an element of `e` and 40 a row.
    fn correct(&mut self, x: &mut Self::Vector, d: &mut Self::Vector, r: &mut Self::Vector, by: Correction<'_, Self>, c: f64)
    where
        Self: Sized,
    {
        self.multiply_add(x, by.prolongation, by.coarse);
        self.multiply_sub(r, by.image, by.coarse);
        self.add_diagonal(d, 0.0, c, by.inverse_diagonal, r);
        let one = self.constant(1.0);
        self.add_scaled(x, &one, d);
    }
    /// One Gauss-Seidel sweep for `A x = b`: in some order `x_i = x_i + d_i (b - A x)_i`, where `d`
    /// is the inverse of the diagonal (0 keeps the unknown).
    fn gauss_seidel(&mut self, x: &mut Self::Vector, a: &Self::Matrix, d: &Self::Vector, b: &Self::Vector, direction: Direction);
    /// `z = (L D U)^-1 r`
    fn solve_factors(&mut self, z: &mut Self::Vector, factors: &Self::Factors, r: &Self::Vector);
}

/// Multigrid over these matrices.
pub trait MultigridSpace: MatrixSpace + Sized + 'static {
    /// Multigrid for a square matrix whose unknowns of each field end at `ends`. Its levels may be
    /// in single precision: then the cycle runs in a space of its own and converts at both ends.
    ///
    /// # Errors
    /// Out of memory.
    fn multigrid(&mut self, matrix: Csr, ends: &[usize], options: &AmgOptions) -> Result<Box<dyn Preconditioner<Self>>, Self::Error>;
}

/// A matrix as an operator.
#[derive(Debug)]
pub struct Plain<'a, A>(pub &'a A);

impl<S: MatrixSpace> LinearOperator<S> for Plain<'_, S::Matrix> {
    fn apply(&self, space: &mut S, y: &mut S::Vector, x: &S::Vector) {
        space.multiply(y, self.0, x);
    }

    fn prepare(&self, space: &mut S) {
        space.will_multiply(self.0);
    }

    fn apply_dot(&self, space: &mut S, y: &mut S::Vector, x: &S::Vector, w: &S::Vector) -> S::Scalar {
        space.multiply_dot(y, self.0, x, w)
    }

    fn apply_dots(&self, space: &mut S, y: &mut S::Vector, x: &S::Vector, w: &S::Vector) -> [S::Scalar; 2] {
        space.multiply_dots(y, self.0, x, w)
    }
}
