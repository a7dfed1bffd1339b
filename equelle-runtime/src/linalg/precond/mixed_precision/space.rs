//! Vectors in single precision on the host, with the operations of a cycle.

use std::convert::Infallible;

use super::matrix::F32Matrix;
use crate::linalg::matrix::csr::Csr;
use crate::linalg::precond::ilu::BlockFactors;
use crate::linalg::space::host::{HostSpace, scalars_on_the_host};
use crate::linalg::space::matrix_space::{Correction, Direction, MatrixSpace, Shape, Smoothed};
use crate::linalg::space::traffic_counter::ROW;
use crate::linalg::space::traffic_counter::TrafficCounter;
use crate::linalg::space::vector_space::VectorSpace;
use crate::operators::Reduction;
use crate::reduce;
use crate::threads::Threads;

/// Vectors as `Vec<f32>`; scalars are `f64`.
#[derive(Clone, Debug)]
pub(in crate::linalg) struct F32Space {
    n: usize,
    leaves: Vec<f64>,
    threads: Threads,
    /// Bytes of the kernels.
    pub traffic: TrafficCounter,
}

impl F32Space {
    /// Vectors of `n` elements, with the threads of a space.
    pub fn of(space: &HostSpace, n: usize) -> F32Space {
        F32Space { n, leaves: Vec::new(), threads: space.threads().clone(), traffic: space.traffic.in_single_precision() }
    }

    /// `y[i] = f(y[i], x[i])`
    fn update(&self, y: &mut [f32], x: &[f32], f: impl Fn(f32, f32) -> f32 + Sync) {
        assert_eq!(x.len(), y.len(), "vectors of one length");
        self.threads.each_cheap(y.len(), y, |range, y| y.iter_mut().zip(&x[range]).for_each(|(y, x)| *y = f(*y, *x)));
    }

    /// `y[i] = f(y[i], other[i], (A x)[i])`
    fn rows(&self, y: &mut [f32], a: &F32Matrix, x: &[f32], other: &[f32], f: impl Fn(f32, f32, f32) -> f32 + Sync) {
        self.threads.each(a.shape().rows, y, |range, y| {
            let start = range.start;
            a.products(range, x, |rows, products| {
                let y = &mut y[rows.start - start..rows.end - start];
                y.iter_mut().zip(&other[rows]).zip(products).for_each(|((y, other), product)| *y = f(*y, *other, *product));
            });
        });
    }

    /// `d = step(d, (A x)[i] of the right-hand side and inverse diagonal)`, then `y = x + d`;
    /// `before` selects the initial `d`.
    fn polynomial_step(&self, y: &mut [f32], d: &mut [f32], x: &[f32], on: Smoothed<'_, Self>, [a, b]: [f32; 2], before: Before) {
        let (right, inverse) = (&on.right[..], &on.inverse_diagonal[..]);
        self.threads.each(x.len(), (y, d), |range, (y, d)| {
            let start = range.start;
            on.matrix.products(range, x, |rows, products| {
                let own = rows.start - start..rows.end - start;
                let (y, d) = (&mut y[own.clone()], &mut d[own]);
                let (x, right, inverse) = (&x[rows.clone()], &right[rows.clone()], &inverse[rows]);
                let ends = y.iter_mut().zip(d.iter_mut()).zip(x.iter().zip(products)).zip(right.iter().zip(inverse));
                match before {
                    Before::Zero => ends.for_each(|(((y, d), (x, product)), (right, inverse))| {
                        *d = b * (inverse * (right - product));
                        *y = x + *d;
                    }),
                    Before::Iterate => ends.for_each(|(((y, d), (x, product)), (right, inverse))| {
                        *d = a * x + b * (inverse * (right - product));
                        *y = x + *d;
                    }),
                    Before::Step => ends.for_each(|(((y, d), (x, product)), (right, inverse))| {
                        *d = a * *d + b * (inverse * (right - product));
                        *y = x + *d;
                    }),
                }
            });
        });
    }
}

/// The previous step of a smoother.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Before {
    /// None.
    Zero,
    /// The step from zero to the iterate.
    Iterate,
    /// The stored step.
    Step,
}

impl VectorSpace for F32Space {
    type Vector = Vec<f32>;
    type Scalar = f64;
    type Error = Infallible;

    fn zeros(&mut self) -> Result<Vec<f32>, Infallible> {
        self.zeros_of(self.n)
    }

    fn copy(&mut self, y: &mut Vec<f32>, x: &Vec<f32>) {
        self.traffic.copy(y.len());
        self.update(y, x, |_, x| x);
    }

    fn dot(&mut self, x: &Vec<f32>, y: &Vec<f32>) -> f64 {
        self.traffic.dot(x.len(), std::ptr::eq(x, y));
        assert_eq!(x.len(), y.len(), "vectors of one length");
        self.leaves.resize(reduce::leaf_count(x.len()), 0.0);
        let products = |range: std::ops::Range<usize>| x[range.clone()].iter().zip(&y[range]).map(|(x, y)| f64::from(*x) * f64::from(*y));
        reduce::reduce_leaves(&self.threads, Reduction::Sum, x.len(), &mut self.leaves, products).unwrap_or(0.0)
    }

    fn add_scaled(&mut self, y: &mut Vec<f32>, a: &f64, x: &Vec<f32>) {
        self.traffic.update(y.len());
        let a = *a as f32;
        self.update(y, x, |y, x| y + a * x);
    }

    fn sub_scaled(&mut self, y: &mut Vec<f32>, a: &f64, x: &Vec<f32>) {
        self.traffic.update(y.len());
        let a = *a as f32;
        self.update(y, x, |y, x| y - a * x);
    }

    fn scale_add(&mut self, y: &mut Vec<f32>, a: &f64, x: &Vec<f32>) {
        self.traffic.update(y.len());
        let a = *a as f32;
        self.update(y, x, |y, x| x + a * y);
    }

    fn scale(&mut self, y: &mut Vec<f32>, a: &f64) {
        self.traffic.scale(y.len());
        let a = *a as f32;
        self.threads.each_cheap(y.len(), &mut y[..], |_, y| y.iter_mut().for_each(|y| *y *= a));
    }

    scalars_on_the_host!();

    /// Zero if a sum of products in single precision has cancelled.
    fn zero_if_cancelled(&mut self, a: &f64, b: &f64) -> f64 {
        if a.abs() <= 64.0 * f64::from(f32::EPSILON) * b.abs() { 0.0 } else { *a }
    }
}

impl MatrixSpace for F32Space {
    type Matrix = F32Matrix;
    type Factors = BlockFactors;

    fn zeros_of(&mut self, len: usize) -> Result<Vec<f32>, Infallible> {
        self.traffic.clear(len);
        Ok(vec![0.0; len])
    }

    fn vector(&mut self, values: Vec<f64>) -> Result<Vec<f32>, Infallible> {
        Ok(values.into_iter().map(|value| value as f32).collect())
    }

    fn matrix(&mut self, matrix: Csr) -> Result<F32Matrix, Infallible> {
        Ok(F32Matrix::for_level(&matrix, 1.0))
    }

    /// Factors stay in double precision.
    fn factors(&mut self, factors: BlockFactors) -> Result<BlockFactors, Infallible> {
        Ok(factors)
    }

    fn shape(a: &F32Matrix) -> Shape {
        a.shape()
    }

    fn clear(&mut self, x: &mut Vec<f32>) {
        self.traffic.clear(x.len());
        self.threads.each_cheap(x.len(), &mut x[..], |_, x| x.fill(0.0));
    }

    fn multiply(&mut self, y: &mut Vec<f32>, a: &F32Matrix, x: &Vec<f32>) {
        self.traffic.multiply(&a.stored());
        self.threads.each(a.shape().rows, &mut y[..], |range, y| {
            let start = range.start;
            a.products(range, x, |rows, products| y[rows.start - start..rows.end - start].copy_from_slice(products));
        });
    }

    fn multiply_add(&mut self, y: &mut Vec<f32>, a: &F32Matrix, x: &Vec<f32>) {
        self.traffic.multiply_add(&a.stored());
        self.threads.each(a.shape().rows, &mut y[..], |range, y| {
            let start = range.start;
            a.products(range, x, |rows, products| {
                y[rows.start - start..rows.end - start].iter_mut().zip(products).for_each(|(y, product)| *y += product);
            });
        });
    }

    fn multiply_sub(&mut self, y: &mut Vec<f32>, a: &F32Matrix, x: &Vec<f32>) {
        self.traffic.multiply_add(&a.stored());
        self.threads.each(a.shape().rows, &mut y[..], |range, y| {
            let start = range.start;
            a.products(range, x, |rows, products| {
                y[rows.start - start..rows.end - start].iter_mut().zip(products).for_each(|(y, product)| *y -= product);
            });
        });
    }

    fn residual(&mut self, r: &mut Vec<f32>, b: &Vec<f32>, a: &F32Matrix, x: &Vec<f32>) {
        self.traffic.residual(&a.stored());
        self.rows(r, a, x, b, |_, b, product| b - product);
    }

    fn add_diagonal(&mut self, z: &mut Vec<f32>, a: f64, b: f64, d: &Vec<f32>, r: &Vec<f32>) {
        self.traffic.add_diagonal(z.len(), a);
        let (a, b) = (a as f32, b as f32);
        self.threads.each_cheap(z.len(), &mut z[..], |range, z| {
            let products = d[range.clone()].iter().zip(&r[range]).map(|(d, r)| b * (d * r));
            if a == 0.0 {
                z.iter_mut().zip(products).for_each(|(z, product)| *z = product);
            } else {
                z.iter_mut().zip(products).for_each(|(z, product)| *z = a * *z + product);
            }
        });
    }

    fn smooth_from_zero(&mut self, y: &mut Vec<f32>, on: Smoothed<'_, Self>, c: [f64; 3], [r, d]: [&mut Vec<f32>; 2], _keep: bool) {
        self.add_diagonal(r, 0.0, c[0], on.inverse_diagonal, on.right);
        self.traffic.smooth(&on.matrix.stored(), false, true);
        let before = if c[1] == 0.0 { Before::Zero } else { Before::Iterate };
        self.polynomial_step(y, d, r, on, [c[1] as f32, c[2] as f32], before);
    }

    fn smooth(&mut self, y: &mut Vec<f32>, x: &Vec<f32>, on: Smoothed<'_, Self>, c: [f64; 2], [_r, d]: [&mut Vec<f32>; 2], _keep: bool) {
        self.traffic.smooth(&on.matrix.stored(), c[0] != 0.0, true);
        let before = if c[0] == 0.0 { Before::Zero } else { Before::Step };
        self.polynomial_step(y, d, x, on, c.map(|c| c as f32), before);
    }

    fn correct(&mut self, x: &mut Vec<f32>, d: &mut Vec<f32>, r: &mut Vec<f32>, by: Correction<'_, Self>, c: f64) {
        self.multiply_add(x, by.prolongation, by.coarse);
        let row = 2 * self.traffic.read() + self.traffic.changed() + self.traffic.written();
        self.traffic.product(&by.image.stored(), row);
        let c = c as f32;
        let (r, inverse) = (&r[..], &by.inverse_diagonal[..]);
        self.threads.each(r.len(), (&mut x[..], &mut d[..]), |range, (x, d)| {
            let start = range.start;
            by.image.products(range, by.coarse, |rows, products| {
                let own = rows.start - start..rows.end - start;
                let ends = x[own.clone()].iter_mut().zip(&mut d[own]).zip(products).zip(r[rows.clone()].iter().zip(&inverse[rows]));
                for (((x, d), product), (r, inverse)) in ends {
                    *d = c * (inverse * (r - product));
                    *x += *d;
                }
            });
        });
    }

    /// In the order of the rows, or the reverse.
    fn gauss_seidel(&mut self, x: &mut Vec<f32>, a: &F32Matrix, d: &Vec<f32>, b: &Vec<f32>, direction: Direction) {
        self.traffic.gauss_seidel(&a.stored());
        let n = x.len();
        for step in 0..n {
            let row = match direction {
                Direction::Forward => step,
                Direction::Backward => n - 1 - step,
            };
            let product: f32 = a.row(row).map(|(column, value)| value * x[column]).sum();
            x[row] += d[row] * (b[row] - product);
        }
    }

    fn solve_factors(&mut self, z: &mut Vec<f32>, factors: &BlockFactors, r: &Vec<f32>) {
        self.traffic.solve_factors(factors.k(), factors.n_blocks(), factors.n_outside_diagonal(), ROW);
        let mut space = HostSpace::on(&self.threads, r.len());
        let wide: Vec<f64> = r.iter().map(|r| f64::from(*r)).collect();
        let mut solved = wide.clone();
        space.solve_factors(&mut solved, factors, &wide);
        z.iter_mut().zip(solved).for_each(|(z, solved)| *z = solved as f32);
    }
}
