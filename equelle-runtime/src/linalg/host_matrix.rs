//! Matrices and factors on the host.

use std::convert::Infallible;

use super::csr::Csr;
use super::host::HostSpace;
use super::matrix_space::{Direction, MatrixSpace};
use super::precond::ilu::BlockFactors;

/// `(A x)_row`, in ascending column order.
fn row_product(a: &Csr, row: usize, x: &[f64]) -> f64 {
    let range = a.row_ptr()[row]..a.row_ptr()[row + 1];
    let mut sum = 0.0;
    for (&column, &value) in a.col_idx()[range.clone()].iter().zip(&a.values()[range]) {
        sum += value * x[column as usize];
    }
    sum
}

impl MatrixSpace for HostSpace {
    type Matrix = Csr;
    type Factors = BlockFactors;

    fn zeros_of(&mut self, len: usize) -> Result<Vec<f64>, Infallible> {
        Ok(vec![0.0; len])
    }

    fn vector(&mut self, values: Vec<f64>) -> Result<Vec<f64>, Infallible> {
        Ok(values)
    }

    fn matrix(&mut self, matrix: Csr) -> Result<Csr, Infallible> {
        Ok(matrix)
    }

    fn factors(&mut self, factors: BlockFactors) -> Result<BlockFactors, Infallible> {
        Ok(factors)
    }

    fn clear(&mut self, x: &mut Vec<f64>) {
        x.fill(0.0);
    }

    fn multiply(&mut self, y: &mut Vec<f64>, a: &Csr, x: &Vec<f64>) {
        a.mul_into(y, x);
    }

    fn multiply_add(&mut self, y: &mut Vec<f64>, a: &Csr, x: &Vec<f64>) {
        y.iter_mut().enumerate().for_each(|(row, y)| *y += row_product(a, row, x));
    }

    fn multiply_sub(&mut self, y: &mut Vec<f64>, a: &Csr, x: &Vec<f64>) {
        y.iter_mut().enumerate().for_each(|(row, y)| *y -= row_product(a, row, x));
    }

    fn residual(&mut self, r: &mut Vec<f64>, b: &Vec<f64>, a: &Csr, x: &Vec<f64>) {
        r.iter_mut().zip(b).enumerate().for_each(|(row, (r, b))| *r = b - row_product(a, row, x));
    }

    fn add_diagonal(&mut self, z: &mut Vec<f64>, a: f64, b: f64, d: &Vec<f64>, r: &Vec<f64>) {
        let products = d.iter().zip(r).map(|(d, r)| b * (d * r));
        if a == 0.0 {
            z.iter_mut().zip(products).for_each(|(z, product)| *z = product);
        } else {
            z.iter_mut().zip(products).for_each(|(z, product)| *z = a * *z + product);
        }
    }

    /// In the order of the rows, or the opposite.
    fn gauss_seidel(&mut self, x: &mut Vec<f64>, a: &Csr, d: &Vec<f64>, b: &Vec<f64>, direction: Direction) {
        let n = x.len();
        for step in 0..n {
            let row = match direction {
                Direction::Forward => step,
                Direction::Backward => n - 1 - step,
            };
            x[row] += d[row] * (b[row] - row_product(a, row, x));
        }
    }

    fn solve_factors(&mut self, z: &mut Vec<f64>, factors: &BlockFactors, r: &Vec<f64>) {
        factors.solve(z, r);
    }
}
