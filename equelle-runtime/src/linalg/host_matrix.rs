//! Matrices and factors on the host. Products run on the threads of the space; sweeps and substitutions, where each row needs those before it,
//! on the calling thread, so that their order is that of the rows.

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

/// `y_row = f(y_row, row, (A x)_row)`
fn for_rows(space: &HostSpace, y: &mut [f64], a: &Csr, x: &[f64], f: impl Fn(f64, usize, f64) -> f64 + Sync) {
    space.threads().each(a.n_rows(), y, |rows, y| {
        for (row, y) in rows.zip(y) {
            *y = f(*y, row, row_product(a, row, x));
        }
    });
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
        self.threads().each_cheap(x.len(), &mut x[..], |_, x| x.fill(0.0));
    }

    fn multiply(&mut self, y: &mut Vec<f64>, a: &Csr, x: &Vec<f64>) {
        a.mul_into_on(self.threads(), y, x);
    }

    fn multiply_add(&mut self, y: &mut Vec<f64>, a: &Csr, x: &Vec<f64>) {
        for_rows(self, y, a, x, |y, _, product| y + product);
    }

    fn multiply_sub(&mut self, y: &mut Vec<f64>, a: &Csr, x: &Vec<f64>) {
        for_rows(self, y, a, x, |y, _, product| y - product);
    }

    fn residual(&mut self, r: &mut Vec<f64>, b: &Vec<f64>, a: &Csr, x: &Vec<f64>) {
        for_rows(self, r, a, x, |_, row, product| b[row] - product);
    }

    fn add_diagonal(&mut self, z: &mut Vec<f64>, a: f64, b: f64, d: &Vec<f64>, r: &Vec<f64>) {
        self.threads().each_cheap(z.len(), &mut z[..], |range, z| {
            let products = d[range.clone()].iter().zip(&r[range]).map(|(d, r)| b * (d * r));
            if a == 0.0 {
                z.iter_mut().zip(products).for_each(|(z, product)| *z = product);
            } else {
                z.iter_mut().zip(products).for_each(|(z, product)| *z = a * *z + product);
            }
        });
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
