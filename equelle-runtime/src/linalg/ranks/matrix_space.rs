//! Products, smoothers and factors on ranks. Values of own unknowns are sent first, then the inner
//! space does its pass over own columns, then what arrived corrects the rows of the rim.

use super::matrix::RankMatrix;
use super::space::{RankSpace, sure};
use crate::error::Error;
use crate::linalg::matrix::csr::Csr;
use crate::linalg::precond::ilu::BlockFactors;
use crate::linalg::space::host::HostSpace;
use crate::linalg::space::host_matrix::HostMatrix;
use crate::linalg::space::matrix_space::{Correction, Direction, MatrixSpace, Parts, Shape, Smoothed};
use crate::linalg::space::vector_space::VectorSpace;

/// Own columns of a smoothed system.
fn own<'a>(on: Smoothed<'a, RankSpace<HostSpace>>) -> Smoothed<'a, HostSpace> {
    Smoothed { matrix: on.matrix.own(), inverse_diagonal: on.inverse_diagonal, right: on.right }
}

impl RankSpace<HostSpace> {
    /// Subtracts what the halo adds to products from a step of a smoother with the factor `c`.
    fn correct_step(&mut self, y: &mut [f64], d: &mut [f64], on: Smoothed<'_, Self>, c: f64) {
        let (rim, columns) = (on.matrix.rim(), on.matrix.columns());
        self.end(columns, rim, |row, product| {
            let step = c * (on.inverse_diagonal[row] * product);
            d[row] -= step;
            y[row] -= step;
        });
    }
}

impl MatrixSpace for RankSpace<HostSpace> {
    type Matrix = RankMatrix<HostMatrix>;
    type Factors = BlockFactors;

    fn zeros_of(&mut self, len: usize) -> Result<Vec<f64>, Error> {
        Ok(sure(self.inner.zeros_of(len)))
    }

    fn vector(&mut self, values: Vec<f64>) -> Result<Vec<f64>, Error> {
        Ok(values)
    }

    /// A matrix without entries in columns of other ranks.
    fn matrix(&mut self, matrix: Csr) -> Result<RankMatrix<HostMatrix>, Error> {
        Ok(RankMatrix::local(matrix.into()))
    }

    fn factors(&mut self, factors: BlockFactors) -> Result<BlockFactors, Error> {
        Ok(factors)
    }

    fn shape(a: &RankMatrix<HostMatrix>) -> Shape {
        a.shape()
    }

    fn parts(a: &RankMatrix<HostMatrix>) -> Parts {
        a.parts().unwrap_or(Parts { whole: a.shape(), sizes: 0 })
    }

    fn clear(&mut self, x: &mut Vec<f64>) {
        self.inner.clear(x);
    }

    fn multiply(&mut self, y: &mut Vec<f64>, a: &RankMatrix<HostMatrix>, x: &Vec<f64>) {
        self.begin(a.columns(), |own| x[own]);
        self.inner.multiply(y, a.own(), x);
        self.end(a.columns(), a.rim(), |row, product| y[row] += product);
    }

    fn multiply_add(&mut self, y: &mut Vec<f64>, a: &RankMatrix<HostMatrix>, x: &Vec<f64>) {
        self.begin(a.columns(), |own| x[own]);
        self.inner.multiply_add(y, a.own(), x);
        self.end(a.columns(), a.rim(), |row, product| y[row] += product);
    }

    fn multiply_sub(&mut self, y: &mut Vec<f64>, a: &RankMatrix<HostMatrix>, x: &Vec<f64>) {
        self.begin(a.columns(), |own| x[own]);
        self.inner.multiply_sub(y, a.own(), x);
        self.end(a.columns(), a.rim(), |row, product| y[row] -= product);
    }

    fn residual(&mut self, r: &mut Vec<f64>, b: &Vec<f64>, a: &RankMatrix<HostMatrix>, x: &Vec<f64>) {
        self.begin(a.columns(), |own| x[own]);
        self.inner.residual(r, b, a.own(), x);
        self.end(a.columns(), a.rim(), |row, product| r[row] -= product);
    }

    fn add_diagonal(&mut self, z: &mut Vec<f64>, a: f64, b: f64, d: &Vec<f64>, r: &Vec<f64>) {
        self.inner.add_diagonal(z, a, b, d, r);
    }

    fn multiply_dot(&mut self, y: &mut Vec<f64>, a: &RankMatrix<HostMatrix>, x: &Vec<f64>, w: &Vec<f64>) -> f64 {
        self.begin(a.columns(), |own| x[own]);
        let own = self.inner.multiply_dot(y, a.own(), x, w);
        let mut beyond = 0.0;
        self.end(a.columns(), a.rim(), |row, product| {
            y[row] += product;
            beyond += w[row] * product;
        });
        self.sum(own + beyond)
    }

    fn multiply_dots(&mut self, y: &mut Vec<f64>, a: &RankMatrix<HostMatrix>, x: &Vec<f64>, w: &Vec<f64>) -> [f64; 2] {
        self.multiply(y, a, x);
        let own = [self.inner.dot(w, y), self.inner.dot(y, y)];
        self.sums(own)
    }

    fn advance_diagonal(&mut self, r: &mut Vec<f64>, a: &f64, q: &Vec<f64>, z: &mut Vec<f64>, d: &Vec<f64>) -> f64 {
        let own = self.inner.advance_diagonal(r, a, q, z, d);
        self.sum(own)
    }

    fn apply_diagonal_dot(&mut self, z: &mut Vec<f64>, d: &Vec<f64>, r: &Vec<f64>) -> f64 {
        let own = self.inner.apply_diagonal_dot(z, d, r);
        self.sum(own)
    }

    fn step_diagonal(&mut self, xp: [&mut Vec<f64>; 2], ab: [&f64; 2], zdr: [&Vec<f64>; 3]) {
        self.inner.step_diagonal(xp, ab, zdr);
    }

    fn will_multiply(&mut self, a: &RankMatrix<HostMatrix>) {
        self.inner.will_multiply(a.own());
    }

    fn smooth_from_zero(&mut self, y: &mut Vec<f64>, on: Smoothed<'_, Self>, c: [f64; 3], [r, d]: [&mut Vec<f64>; 2], keep: bool) {
        self.begin(on.matrix.columns(), |own| c[0] * (on.inverse_diagonal[own] * on.right[own]));
        self.inner.smooth_from_zero(y, own(on), c, [r, d], keep);
        self.correct_step(y, d, on, c[2]);
    }

    fn smooth(&mut self, y: &mut Vec<f64>, x: &Vec<f64>, on: Smoothed<'_, Self>, c: [f64; 2], [r, d]: [&mut Vec<f64>; 2], keep: bool) {
        self.begin(on.matrix.columns(), |own| x[own]);
        self.inner.smooth(y, x, own(on), c, [r, d], keep);
        self.correct_step(y, d, on, c[1]);
    }

    fn smooth_dot(&mut self, y: &mut Vec<f64>, x: &Vec<f64>, on: Smoothed<'_, Self>, c: [f64; 2], work: [&mut Vec<f64>; 2]) -> f64 {
        self.smooth(y, x, on, c, work, false);
        let own = self.inner.dot(on.right, y);
        self.sum(own)
    }

    fn correct(&mut self, x: &mut Vec<f64>, d: &mut Vec<f64>, r: &mut Vec<f64>, by: Correction<'_, Self>, c: f64) {
        let Correction { prolongation, image, coarse, inverse_diagonal } = by;
        self.begin(image.columns(), |own| coarse[own]);
        let own = Correction { prolongation: prolongation.own(), image: image.own(), coarse, inverse_diagonal };
        self.inner.correct(x, d, r, own, c);
        self.end(image.columns(), image.rim(), |row, product| {
            let step = c * (inverse_diagonal[row] * product);
            d[row] -= step;
            x[row] -= step;
        });
        // The halo of the image has that of the prolongation.
        prolongation.rim().products(self.halo(), |row, product| x[row] += product);
    }

    /// The halo has the values from before the sweep.
    fn gauss_seidel(&mut self, x: &mut Vec<f64>, a: &RankMatrix<HostMatrix>, d: &Vec<f64>, b: &Vec<f64>, direction: Direction) {
        if a.columns().sent().is_empty() && a.columns().received().is_empty() {
            return self.inner.gauss_seidel(x, a.own(), d, b, direction);
        }
        self.begin(a.columns(), |own| x[own]);
        let mut left = sure(self.inner.zeros_of(b.len()));
        self.inner.copy(&mut left, b);
        self.end(a.columns(), a.rim(), |row, product| left[row] -= product);
        self.inner.gauss_seidel(x, a.own(), d, &left, direction);
    }

    fn solve_factors(&mut self, z: &mut Vec<f64>, factors: &BlockFactors, r: &Vec<f64>) {
        self.inner.solve_factors(z, factors, r);
    }
}
