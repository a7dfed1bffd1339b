//! Products, smoothers and factors on ranks. Values of own unknowns are sent first, then the inner
//! space does its pass over own columns, then what arrived corrects the rows of the rim.

use super::matrix::RankMatrix;
use super::space::{InMemory, RankSpace, sure};
use crate::error::Error;
use crate::linalg::matrix::csr::Csr;
use crate::linalg::precond::ilu::BlockFactors;
use crate::linalg::space::matrix_space::{Correction, Direction, MatrixSpace, Parts, Shape, Smoothed};

/// Own columns of a smoothed system.
fn own<'a, S: InMemory>(on: Smoothed<'a, RankSpace<S>>) -> Smoothed<'a, S> {
    Smoothed { matrix: on.matrix.own(), inverse_diagonal: on.inverse_diagonal, right: on.right }
}

/// Adds to an element of a vector.
#[inline]
fn add<S: InMemory>(x: &mut S::Vector, at: usize, by: f64) {
    let sum = S::get(x, at) + by;
    S::set(x, at, sum);
}

impl<S: InMemory> RankSpace<S> {
    /// Subtracts what the halo adds to products from a step of a smoother with the factor `c`.
    fn correct_step(&mut self, y: &mut S::Vector, d: &mut S::Vector, on: Smoothed<'_, Self>, c: f64) {
        let (rim, columns) = (on.matrix.rim(), on.matrix.columns());
        self.end(columns, rim, |row, product| {
            let step = c * (S::get(on.inverse_diagonal, row) * product);
            add::<S>(d, row, -step);
            add::<S>(y, row, -step);
        });
    }
}

impl<S: InMemory> MatrixSpace for RankSpace<S> {
    type Matrix = RankMatrix<S::Matrix>;
    type Factors = BlockFactors;

    fn zeros_of(&mut self, len: usize) -> Result<S::Vector, Error> {
        Ok(sure(self.inner.zeros_of(len)))
    }

    fn vector(&mut self, values: Vec<f64>) -> Result<S::Vector, Error> {
        Ok(sure(self.inner.vector(values)))
    }

    /// A matrix without entries in columns of other ranks.
    fn matrix(&mut self, matrix: Csr) -> Result<RankMatrix<S::Matrix>, Error> {
        let n_columns = matrix.n_cols();
        Ok(RankMatrix::without_rim(sure(self.inner.matrix(matrix)), n_columns))
    }

    fn factors(&mut self, factors: BlockFactors) -> Result<BlockFactors, Error> {
        Ok(sure(self.inner.factors(factors)))
    }

    fn shape(a: &RankMatrix<S::Matrix>) -> Shape {
        a.with_rim(S::shape(a.own()))
    }

    fn parts(a: &RankMatrix<S::Matrix>) -> Parts {
        a.parts().unwrap_or(Parts { whole: Self::shape(a), sizes: 0 })
    }

    fn clear(&mut self, x: &mut S::Vector) {
        self.inner.clear(x);
    }

    fn multiply(&mut self, y: &mut S::Vector, a: &RankMatrix<S::Matrix>, x: &S::Vector) {
        self.begin(a.columns(), |own| S::get(x, own));
        self.inner.multiply(y, a.own(), x);
        self.end(a.columns(), a.rim(), |row, product| add::<S>(y, row, product));
    }

    fn multiply_add(&mut self, y: &mut S::Vector, a: &RankMatrix<S::Matrix>, x: &S::Vector) {
        self.begin(a.columns(), |own| S::get(x, own));
        self.inner.multiply_add(y, a.own(), x);
        self.end(a.columns(), a.rim(), |row, product| add::<S>(y, row, product));
    }

    fn multiply_sub(&mut self, y: &mut S::Vector, a: &RankMatrix<S::Matrix>, x: &S::Vector) {
        self.begin(a.columns(), |own| S::get(x, own));
        self.inner.multiply_sub(y, a.own(), x);
        self.end(a.columns(), a.rim(), |row, product| add::<S>(y, row, -product));
    }

    fn residual(&mut self, r: &mut S::Vector, b: &S::Vector, a: &RankMatrix<S::Matrix>, x: &S::Vector) {
        self.begin(a.columns(), |own| S::get(x, own));
        self.inner.residual(r, b, a.own(), x);
        self.end(a.columns(), a.rim(), |row, product| add::<S>(r, row, -product));
    }

    fn add_diagonal(&mut self, z: &mut S::Vector, a: f64, b: f64, d: &S::Vector, r: &S::Vector) {
        self.inner.add_diagonal(z, a, b, d, r);
    }

    fn multiply_dot(&mut self, y: &mut S::Vector, a: &RankMatrix<S::Matrix>, x: &S::Vector, w: &S::Vector) -> f64 {
        self.begin(a.columns(), |own| S::get(x, own));
        let own = self.inner.multiply_dot(y, a.own(), x, w);
        let mut beyond = 0.0;
        self.end(a.columns(), a.rim(), |row, product| {
            add::<S>(y, row, product);
            beyond += S::get(w, row) * product;
        });
        self.sum(own + beyond)
    }

    fn multiply_dots(&mut self, y: &mut S::Vector, a: &RankMatrix<S::Matrix>, x: &S::Vector, w: &S::Vector) -> [f64; 2] {
        self.multiply(y, a, x);
        let own = [self.inner.dot(w, y), self.inner.dot(y, y)];
        self.sums(own)
    }

    fn advance_diagonal(&mut self, r: &mut S::Vector, a: &f64, q: &S::Vector, z: &mut S::Vector, d: &S::Vector) -> f64 {
        let own = self.inner.advance_diagonal(r, a, q, z, d);
        self.sum(own)
    }

    fn apply_diagonal_dot(&mut self, z: &mut S::Vector, d: &S::Vector, r: &S::Vector) -> f64 {
        let own = self.inner.apply_diagonal_dot(z, d, r);
        self.sum(own)
    }

    fn step_diagonal(&mut self, xp: [&mut S::Vector; 2], ab: [&f64; 2], zdr: [&S::Vector; 3]) {
        self.inner.step_diagonal(xp, ab, zdr);
    }

    fn will_multiply(&mut self, a: &RankMatrix<S::Matrix>) {
        self.inner.will_multiply(a.own());
    }

    fn smooth_from_zero(&mut self, y: &mut S::Vector, on: Smoothed<'_, Self>, c: [f64; 3], [r, d]: [&mut S::Vector; 2], keep: bool) {
        self.begin(on.matrix.columns(), |own| c[0] * (S::get(on.inverse_diagonal, own) * S::get(on.right, own)));
        self.inner.smooth_from_zero(y, own(on), c, [r, d], keep);
        self.correct_step(y, d, on, c[2]);
    }

    fn smooth(&mut self, y: &mut S::Vector, x: &S::Vector, on: Smoothed<'_, Self>, c: [f64; 2], [r, d]: [&mut S::Vector; 2], keep: bool) {
        self.begin(on.matrix.columns(), |own| S::get(x, own));
        self.inner.smooth(y, x, own(on), c, [r, d], keep);
        self.correct_step(y, d, on, c[1]);
    }

    fn smooth_dot(&mut self, y: &mut S::Vector, x: &S::Vector, on: Smoothed<'_, Self>, c: [f64; 2], work: [&mut S::Vector; 2]) -> f64 {
        self.smooth(y, x, on, c, work, false);
        let own = self.inner.dot(on.right, y);
        self.sum(own)
    }

    fn correct(&mut self, x: &mut S::Vector, d: &mut S::Vector, r: &mut S::Vector, by: Correction<'_, Self>, c: f64) {
        let Correction { prolongation, image, coarse, inverse_diagonal } = by;
        self.begin(image.columns(), |own| S::get(coarse, own));
        let own = Correction { prolongation: prolongation.own(), image: image.own(), coarse, inverse_diagonal };
        self.inner.correct(x, d, r, own, c);
        self.end(image.columns(), image.rim(), |row, product| {
            let step = c * (S::get(inverse_diagonal, row) * product);
            add::<S>(d, row, -step);
            add::<S>(x, row, -step);
        });
        // The halo of the image has that of the prolongation.
        prolongation.rim().products(self.halo(), |row, product| add::<S>(x, row, product));
    }

    /// The halo has the values from before the sweep.
    fn gauss_seidel(&mut self, x: &mut S::Vector, a: &RankMatrix<S::Matrix>, d: &S::Vector, b: &S::Vector, direction: Direction) {
        if a.columns().sent().is_empty() && a.columns().received().is_empty() {
            return self.inner.gauss_seidel(x, a.own(), d, b, direction);
        }
        self.begin(a.columns(), |own| S::get(x, own));
        let mut left = sure(self.inner.zeros_of(S::shape(a.own()).rows));
        self.inner.copy(&mut left, b);
        self.end(a.columns(), a.rim(), |row, product| add::<S>(&mut left, row, -product));
        self.inner.gauss_seidel(x, a.own(), d, &left, direction);
    }

    fn solve_factors(&mut self, z: &mut S::Vector, factors: &BlockFactors, r: &S::Vector) {
        self.inner.solve_factors(z, factors, r);
    }
}
