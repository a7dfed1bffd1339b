//! Matrices and factors on the host. Products run on the threads of the space; sweeps and substitutions, where each row needs those before it,
//! on the calling thread, so that their order is that of the rows.

use std::convert::Infallible;

use super::csr::Csr;
use super::host::HostSpace;
use super::matrix_space::{Direction, MatrixSpace, Shape};
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

    fn shape(a: &Csr) -> Shape {
        Shape { rows: a.n_rows(), columns: a.n_cols(), entries: a.n_entries() }
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

    fn advance_diagonal(&mut self, r: &mut Vec<f64>, a: &f64, q: &Vec<f64>, _z: &mut Vec<f64>, d: &Vec<f64>) -> f64 {
        self.update_sum(r, |k, r| {
            *r -= a * q[k];
            *r * (d[k] * *r)
        })
    }

    fn look_diagonal(&mut self, _z: &mut Vec<f64>, d: &Vec<f64>, r: &Vec<f64>) -> f64 {
        self.sum(r.len(), |range| d[range.clone()].iter().zip(&r[range]).map(|(d, r)| r * (d * r)))
    }

    fn step_diagonal(&mut self, [x, p]: [&mut Vec<f64>; 2], [a, b]: [&f64; 2], [_z, d, r]: [&Vec<f64>; 3]) {
        self.threads().each_cheap(x.len(), (&mut x[..], &mut p[..]), |range, (x, p)| {
            for ((x, p), (d, r)) in x.iter_mut().zip(p).zip(d[range.clone()].iter().zip(&r[range])) {
                *x += a * *p;
                *p = d * r + b * *p;
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::precond::simple::Jacobi;
    use crate::linalg::{Preconditioner, VectorSpace};
    use crate::threads::Threads;

    /// Numbers with many bits: a quotient each.
    fn numbers(n: usize, seed: f64) -> Vec<f64> {
        (0..n).map(|k| seed / (1.0 + k as f64) - 0.3).collect()
    }

    /// Operations in one pass give the bits of those that they stand for, on lengths of no, half a and several leaves.
    #[test]
    fn passes_that_do_several_things_give_the_same_bits() {
        for n in [0, 500, 40_000] {
            let mut space = HostSpace::on(&Threads::new(2), n);
            let (a, b) = (1.0 / 3.0, -0.7);
            let (x, z, w, d) = (numbers(n, 1.1), numbers(n, -0.9), numbers(n, 3.3), numbers(n, 0.7));

            for w in [None, Some(&w)] {
                let (mut y, mut expected) = (numbers(n, 2.3), numbers(n, 2.3));
                let sum = space.sub_scaled_dot(&mut y, &a, &x, w);
                space.sub_scaled(&mut expected, &a, &x);
                let other = w.unwrap_or(&expected).clone();
                assert_eq!((sum.to_bits(), &y), (space.dot(&other, &expected).to_bits(), &expected));
            }

            let (mut u, mut p) = (numbers(n, 2.3), numbers(n, 0.2));
            let (mut u_expected, mut p_expected) = (u.clone(), p.clone());
            space.step(&mut u, &a, &mut p, &b, &z);
            space.add_scaled(&mut u_expected, &a, &p_expected);
            space.scale_add(&mut p_expected, &b, &z);
            assert_eq!((&u, &p), (&u_expected, &p_expected));
            space.add_scaled_two(&mut u, &a, &x, &b, &z);
            space.add_scaled(&mut u_expected, &a, &x);
            space.add_scaled(&mut u_expected, &b, &z);
            space.turn(&mut p, &a, &x, &b, &z);
            space.sub_scaled(&mut p_expected, &a, &x);
            space.scale_add(&mut p_expected, &b, &z);
            assert_eq!((&u, &p), (&u_expected, &p_expected));

            // Jacobi in the passes of CG, against a product of its own.
            let jacobi = Jacobi::new(&mut space, &d.iter().map(|d| 1.0 / d).collect::<Vec<_>>()).unwrap();
            let (mut r, mut r_expected) = (numbers(n, 0.4), numbers(n, 0.4));
            let (mut here, mut product) = (vec![0.0; n], vec![0.0; n]);
            let sum = jacobi.advance(&mut space, &mut r, &a, &x, &mut here);
            space.sub_scaled(&mut r_expected, &a, &x);
            jacobi.apply(&mut space, &mut product, &r_expected);
            let expected = space.dot(&r_expected, &product);
            assert_eq!((sum.to_bits(), &r), (expected.to_bits(), &r_expected));
            assert_eq!(jacobi.look(&mut space, &mut here, &r).to_bits(), expected.to_bits());
            jacobi.step(&mut space, [&mut u, &mut p], [&a, &b], [&here, &r]);
            space.step(&mut u_expected, &a, &mut p_expected, &b, &product);
            assert_eq!((u, p), (u_expected, p_expected));
        }
    }
}
