//! Matrices and factors on the host. Smoothers and corrections of multigrid use compressed rows.
//! Products run on the threads of the space; sweeps and substitutions, with dependent rows, on the
//! calling thread in row order.

use std::convert::Infallible;
use std::ops::{Deref, Range};
use std::sync::{Arc, OnceLock};

use super::host::HostSpace;
use super::matrix_space::{Correction, Direction, MatrixSpace, Shape, Smoothed};
use super::traffic_counter::{ROW, Stored};
use crate::linalg::matrix::block_matrix::BlockMatrix;
use crate::linalg::matrix::csr::Csr;
use crate::linalg::matrix::dia::Diagonals;
use crate::linalg::matrix::sparse_rows::SparseRows;
use crate::linalg::precond::ilu::BlockFactors;
use crate::linalg::space::vector_space::VectorSpace;
use crate::threads::BLOCK;

/// Compressed rows, and the same values by diagonals where the matrix has few of them and will be
/// multiplied many times.
#[derive(Clone, Debug)]
pub struct RowMatrix {
    rows: Csr,
    diagonals: OnceLock<Arc<Diagonals>>,
    /// True if mirrored entries have the same bits, once known.
    is_mirrored: OnceLock<bool>,
}

impl RowMatrix {
    /// The rows, without a copy.
    pub fn into_rows(self) -> Csr {
        self.rows
    }

    /// Remembers whether mirrored entries have the same bits.
    pub(in crate::linalg) fn set_mirrored(&self, is_mirrored: bool) {
        let _ = self.is_mirrored.set(is_mirrored);
    }

    /// Its size and the bytes that a product reads of it.
    fn stored(&self) -> Stored {
        let shape = Shape { rows: self.n_rows(), columns: self.n_cols(), entries: self.n_entries(), fields: 1 };
        self.diagonals.get().map_or(Stored::from(shape), |diagonals| Stored { shape, bytes: diagonals.bytes() })
    }

    /// `A x` of the rows of a block of [`BLOCK`] rows, each summed in ascending column order.
    fn product(&self, rows: Range<usize>, x: &[f64], out: &mut [f64]) {
        match self.diagonals.get() {
            Some(diagonals) => diagonals.product(rows, x, out),
            None => self.rows.products(rows, x, out),
        }
    }
}

impl Deref for RowMatrix {
    type Target = Csr;

    fn deref(&self) -> &Csr {
        &self.rows
    }
}

impl PartialEq for RowMatrix {
    fn eq(&self, other: &RowMatrix) -> bool {
        self.rows == other.rows
    }
}

/// A sparse matrix on the host.
#[derive(Clone, Debug, PartialEq)]
pub enum HostMatrix {
    /// In compressed rows.
    Rows(RowMatrix),
    /// In blocks, for several fields with the same stencil.
    Blocks(BlockMatrix),
}

impl HostMatrix {
    /// In compressed rows. For blocks computed on first use, at the cost of a copy of the values,
    /// and cached.
    pub fn rows(&self) -> &Csr {
        match self {
            HostMatrix::Rows(matrix) => matrix,
            HostMatrix::Blocks(matrix) => matrix.rows(),
        }
    }

    /// Its size and the bytes that a product reads of it.
    fn stored(&self) -> Stored {
        match self {
            HostMatrix::Rows(a) => a.stored(),
            HostMatrix::Blocks(_) => HostSpace::shape(self).into(),
        }
    }

    /// Its size and bytes in compressed rows, which loops that do more than a product read.
    fn stored_by_rows(&self) -> Stored {
        Stored::from(Shape { fields: 1, ..HostSpace::shape(self) })
    }

    /// [`HostMatrix::rows`], where the matrix is no longer needed.
    pub fn into_rows(self) -> Csr {
        match self {
            HostMatrix::Rows(matrix) => matrix.into_rows(),
            HostMatrix::Blocks(matrix) => matrix.into_rows(),
        }
    }
}

impl From<Csr> for HostMatrix {
    fn from(matrix: Csr) -> HostMatrix {
        HostMatrix::Rows(RowMatrix { rows: matrix, diagonals: OnceLock::new(), is_mirrored: OnceLock::new() })
    }
}

impl From<BlockMatrix> for HostMatrix {
    fn from(matrix: BlockMatrix) -> HostMatrix {
        HostMatrix::Blocks(matrix)
    }
}

/// `a d + b D (b - A x)` of a row; `d` is ignored where `a` is 0.
fn smoothing_step(d: f64, on: Smoothed<'_, HostSpace>, matrix: &Csr, [a, b]: [f64; 2], row: usize, x: &[f64]) -> f64 {
    let step = b * (on.inverse_diagonal[row] * (on.right[row] - matrix.row_product(row, x)));
    if a == 0.0 { step } else { a * d + step }
}

/// `r = r - a q`, and the products of `r` and `d r`.
#[inline(never)]
fn advance_by_diagonal(r: &mut [f64], products: &mut [f64], a: f64, q: &[f64], d: &[f64]) {
    for (((product, r), q), d) in products.iter_mut().zip(r).zip(q).zip(d) {
        *r -= a * q;
        *product = *r * (d * *r);
    }
}

/// `x = x + a p`, then `p = d r + b p`. A function of its own is vectorised: its arguments do not
/// overlap.
#[inline(never)]
fn step_by_diagonal(x: &mut [f64], p: &mut [f64], [a, b]: [f64; 2], d: &[f64], r: &[f64]) {
    for (((x, p), d), r) in x.iter_mut().zip(p).zip(d).zip(r) {
        *x += a * *p;
        *p = d * r + b * *p;
    }
}

/// `y_row = f(y_row, row, (A x)_row)`
fn for_rows(space: &HostSpace, y: &mut [f64], a: &HostMatrix, x: &[f64], f: impl Fn(f64, usize, f64) -> f64 + Sync) {
    match a {
        HostMatrix::Rows(a) => space.threads().each(a.n_rows(), y, |rows, y| {
            let mut products = [0.0; BLOCK];
            for (start, y) in rows.step_by(BLOCK).zip(y.chunks_mut(BLOCK)) {
                let products = &mut products[..y.len()];
                a.product(start..start + y.len(), x, products);
                for ((row, y), product) in (start..).zip(y).zip(products) {
                    *y = f(*y, row, *product);
                }
            }
        }),
        HostMatrix::Blocks(a) => a.for_rows_on(space.threads(), y, x, f),
    }
}

impl MatrixSpace for HostSpace {
    type Matrix = HostMatrix;
    type Factors = BlockFactors;

    fn zeros_of(&mut self, len: usize) -> Result<Vec<f64>, Infallible> {
        self.traffic.clear(len);
        Ok(vec![0.0; len])
    }

    fn vector(&mut self, values: Vec<f64>) -> Result<Vec<f64>, Infallible> {
        Ok(values)
    }

    fn matrix(&mut self, matrix: Csr) -> Result<HostMatrix, Infallible> {
        Ok(matrix.into())
    }

    fn factors(&mut self, factors: BlockFactors) -> Result<BlockFactors, Infallible> {
        Ok(factors)
    }

    fn shape(a: &HostMatrix) -> Shape {
        match a {
            HostMatrix::Rows(a) => Shape { rows: a.n_rows(), columns: a.n_cols(), entries: a.n_entries(), fields: 1 },
            HostMatrix::Blocks(a) => {
                let k = a.pattern().k();
                Shape { rows: a.n_rows(), columns: a.n_cols(), entries: k * k * a.pattern().n_blocks(), fields: k }
            }
        }
    }

    fn clear(&mut self, x: &mut Vec<f64>) {
        self.traffic.clear(x.len());
        self.threads().each_cheap(x.len(), &mut x[..], |_, x| x.fill(0.0));
    }

    fn multiply(&mut self, y: &mut Vec<f64>, a: &HostMatrix, x: &Vec<f64>) {
        self.traffic.multiply(&a.stored());
        match a {
            HostMatrix::Rows(a) => self.threads().each(a.n_rows(), &mut y[..], |rows, y| {
                for (start, y) in rows.step_by(BLOCK).zip(y.chunks_mut(BLOCK)) {
                    a.product(start..start + y.len(), x, y);
                }
            }),
            HostMatrix::Blocks(a) => a.for_rows_on(self.threads(), y, x, |_, _, product| product),
        }
    }

    /// Copies the values by diagonals, where the matrix has few.
    fn will_multiply(&mut self, a: &HostMatrix) {
        let HostMatrix::Rows(a) = a else { return };
        if let (None, Some(offsets)) = (a.diagonals.get(), a.pattern().diagonals()) {
            let is_mirrored = a.is_mirrored.get().copied().unwrap_or_default();
            let _ = a.diagonals.set(self.by_diagonals(a, offsets, is_mirrored));
        }
    }

    fn multiply_dot(&mut self, y: &mut Vec<f64>, a: &HostMatrix, x: &Vec<f64>, w: &Vec<f64>) -> f64 {
        match a {
            HostMatrix::Rows(a) => {
                self.traffic.multiply_dot(&a.stored(), std::ptr::eq(x, w));
                self.update_sums(y, |rows, y, products| {
                    a.product(rows.clone(), x, y);
                    products.iter_mut().zip(&w[rows]).zip(y).for_each(|((product, w), y)| *product = w * *y);
                })
            }
            HostMatrix::Blocks(_) => {
                self.multiply(y, a, x);
                self.dot(w, y)
            }
        }
    }

    fn multiply_add(&mut self, y: &mut Vec<f64>, a: &HostMatrix, x: &Vec<f64>) {
        self.traffic.multiply_add(&a.stored());
        for_rows(self, y, a, x, |y, _, product| y + product);
    }

    fn multiply_sub(&mut self, y: &mut Vec<f64>, a: &HostMatrix, x: &Vec<f64>) {
        self.traffic.multiply_add(&a.stored());
        for_rows(self, y, a, x, |y, _, product| y - product);
    }

    fn residual(&mut self, r: &mut Vec<f64>, b: &Vec<f64>, a: &HostMatrix, x: &Vec<f64>) {
        self.traffic.residual(&a.stored());
        for_rows(self, r, a, x, |_, row, product| b[row] - product);
    }

    fn add_diagonal(&mut self, z: &mut Vec<f64>, a: f64, b: f64, d: &Vec<f64>, r: &Vec<f64>) {
        self.traffic.add_diagonal(z.len(), a);
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
        self.traffic.advance_diagonal(r.len());
        let a = *a;
        self.update_sums(r, |range, r, products| advance_by_diagonal(r, products, a, &q[range.clone()], &d[range]))
    }

    fn apply_diagonal_dot(&mut self, _z: &mut Vec<f64>, d: &Vec<f64>, r: &Vec<f64>) -> f64 {
        self.traffic.apply_diagonal_dot(r.len());
        self.sum_products(r.len(), |range, products| {
            products.iter_mut().zip(&d[range.clone()]).zip(&r[range]).for_each(|((product, d), r)| *product = r * (d * r));
        })
    }

    fn step_diagonal(&mut self, [x, p]: [&mut Vec<f64>; 2], [a, b]: [&f64; 2], [_z, d, r]: [&Vec<f64>; 3]) {
        self.traffic.step_diagonal(x.len());
        let ab = [*a, *b];
        self.threads().each_cheap(x.len(), (&mut x[..], &mut p[..]), |range, (x, p)| {
            step_by_diagonal(x, p, ab, &d[range.clone()], &r[range]);
        });
    }

    fn smooth_from_zero(&mut self, y: &mut Vec<f64>, on: Smoothed<'_, Self>, c: [f64; 3], [r, d]: [&mut Vec<f64>; 2], _keep: bool) {
        self.add_diagonal(r, 0.0, c[0], on.inverse_diagonal, on.right);
        // The pass that follows reads the first step, and writes the second one.
        self.traffic.smooth(&on.matrix.stored_by_rows(), false, true);
        let (first, matrix) = (&r[..], on.matrix.rows());
        self.threads().each(first.len(), (&mut y[..], &mut d[..]), |rows, (y, d)| {
            for (row, (y, d)) in rows.zip(y.iter_mut().zip(d)) {
                *d = smoothing_step(first[row], on, matrix, [c[1], c[2]], row, first);
                *y = first[row] + *d;
            }
        });
    }

    fn smooth(&mut self, y: &mut Vec<f64>, x: &Vec<f64>, on: Smoothed<'_, Self>, c: [f64; 2], [_r, d]: [&mut Vec<f64>; 2], _keep: bool) {
        self.traffic.smooth(&on.matrix.stored_by_rows(), c[0] != 0.0, true);
        let matrix = on.matrix.rows();
        self.threads().each(x.len(), (&mut y[..], &mut d[..]), |rows, (y, d)| {
            for (row, (y, d)) in rows.zip(y.iter_mut().zip(d)) {
                *d = smoothing_step(*d, on, matrix, c, row, x);
                *y = x[row] + *d;
            }
        });
    }

    fn correct(&mut self, x: &mut Vec<f64>, d: &mut Vec<f64>, r: &mut Vec<f64>, by: Correction<'_, Self>, c: f64) {
        self.traffic.correct(x.len(), &by.image.stored_by_rows(), &by.prolongation.stored_by_rows());
        let (image, prolongation) = (by.image.rows(), by.prolongation.rows());
        self.threads().each(r.len(), (&mut x[..], &mut d[..]), |rows, (x, d)| {
            for (row, (x, d)) in rows.zip(x.iter_mut().zip(d)) {
                let left = r[row] - image.row_product(row, by.coarse);
                *d = c * (by.inverse_diagonal[row] * left);
                *x = *x + prolongation.row_product(row, by.coarse) + *d;
            }
        });
    }

    /// In the order of the rows, or the reverse.
    fn gauss_seidel(&mut self, x: &mut Vec<f64>, a: &HostMatrix, d: &Vec<f64>, b: &Vec<f64>, direction: Direction) {
        self.traffic.gauss_seidel(&a.stored_by_rows());
        let (n, a) = (x.len(), a.rows());
        for step in 0..n {
            let row = match direction {
                Direction::Forward => step,
                Direction::Backward => n - 1 - step,
            };
            x[row] += d[row] * (b[row] - a.row_product(row, x));
        }
    }

    fn solve_factors(&mut self, z: &mut Vec<f64>, factors: &BlockFactors, r: &Vec<f64>) {
        self.traffic.solve_factors(factors.k(), factors.n_blocks(), factors.n_outside_diagonal(), ROW);
        factors.solve(z, r);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::precond::simple::Jacobi;
    use crate::linalg::{Preconditioner, VectorSpace};
    use crate::threads::Threads;

    /// Numbers with many significant bits: quotients.
    fn numbers(n: usize, seed: f64) -> Vec<f64> {
        (0..n).map(|k| seed / (1.0 + k as f64) - 0.3).collect()
    }

    /// Fused operations give the bits of their parts, on lengths of no, half a and several leaves.
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
            space.bicgstab_direction(&mut p, &a, &x, &b, &z);
            space.sub_scaled(&mut p_expected, &a, &x);
            space.scale_add(&mut p_expected, &b, &z);
            assert_eq!((&u, &p), (&u_expected, &p_expected));

            // Jacobi fused into the passes of CG, compared with a product of its own.
            let jacobi = Jacobi::new(&mut space, &d.iter().map(|d| 1.0 / d).collect::<Vec<_>>()).unwrap();
            let (mut r, mut r_expected) = (numbers(n, 0.4), numbers(n, 0.4));
            let (mut here, mut product) = (vec![0.0; n], vec![0.0; n]);
            let sum = jacobi.advance(&mut space, &mut r, &a, &x, &mut here);
            space.sub_scaled(&mut r_expected, &a, &x);
            jacobi.apply(&mut space, &mut product, &r_expected);
            let expected = space.dot(&r_expected, &product);
            assert_eq!((sum.to_bits(), &r), (expected.to_bits(), &r_expected));
            assert_eq!(jacobi.apply_dot(&mut space, &mut here, &r).to_bits(), expected.to_bits());
            jacobi.step(&mut space, [&mut u, &mut p], [&a, &b], [&here, &r]);
            space.step(&mut u_expected, &a, &mut p_expected, &b, &product);
            assert_eq!((u, p), (u_expected, p_expected));
        }
    }

    /// Fused steps of smoothers give the bits of their parts.
    #[test]
    fn steps_of_smoothers_give_the_same_bits() {
        let n = 1200;
        let entries: Vec<_> =
            (0..n).flat_map(|i| [(i, i, 3.1 + 1.0 / (1.0 + i as f64)), (i, (i + 1) % n, -1.0), (i, (i + 37) % n, -0.7)]).collect();
        let rows = Csr::from_triplets(n, n, &entries).expect("legal");
        let mut space = HostSpace::on(&Threads::new(2), n);
        let inverse: Vec<f64> = rows.diagonal().iter().map(|d| 1.0 / d).collect();
        let b = numbers(n, 1.7);
        let a = HostMatrix::from(rows.clone());
        let on = Smoothed { matrix: &a, inverse_diagonal: &inverse, right: &b };
        let add = |x: &[f64], d: &[f64]| -> Vec<f64> { x.iter().zip(d).map(|(x, d)| x + d).collect() };
        let (mut r, mut d) = (vec![0.0; n], vec![0.0; n]);

        for c in [[0.3, 0.0, 0.4], [0.3, -0.2, 0.4]] {
            let mut first = vec![0.0; n];
            space.add_diagonal(&mut first, 0.0, c[0], &inverse, &b);
            space.residual(&mut r, &b, &a, &first);
            let mut step = first.clone();
            space.add_diagonal(&mut step, c[1], c[2], &inverse, &r);
            let mut y = vec![f64::NAN; n];
            space.smooth_from_zero(&mut y, on, c, [&mut r, &mut d], true);
            assert_eq!((&y, &d), (&add(&first, &step), &step));

            space.residual(&mut r, &b, &a, &y);
            space.add_diagonal(&mut step, c[1], c[2], &inverse, &r);
            let mut z = vec![f64::NAN; n];
            let sum = space.smooth_dot(&mut z, &y, on, [c[1], c[2]], [&mut r, &mut d]);
            assert_eq!(z, add(&y, &step));
            assert_eq!(sum.to_bits(), space.dot(&b, &z).to_bits());
        }

        let half: Vec<_> = (0..n).map(|i| (i, i / 2, 1.0 / (1.0 + i as f64))).collect();
        let prolongation = Csr::from_triplets(n, n / 2, &half).expect("legal");
        let image = HostMatrix::from(rows.product(&prolongation));
        let prolongation = HostMatrix::from(prolongation);
        let coarse = numbers(n / 2, 0.9);
        let (mut x, mut left) = (numbers(n, 0.6), numbers(n, -1.3));
        let (mut x_expected, mut step) = (x.clone(), vec![0.0; n]);
        let mut r_expected = left.clone();
        space.multiply_add(&mut x_expected, &prolongation, &coarse);
        space.multiply_sub(&mut r_expected, &image, &coarse);
        space.add_diagonal(&mut step, 0.0, 0.6, &inverse, &r_expected);
        let by = Correction { prolongation: &prolongation, image: &image, coarse: &coarse, inverse_diagonal: &inverse };
        space.correct(&mut x, &mut d, &mut left, by, 0.6);
        assert_eq!((x, &d), (add(&x_expected, &step), &step));
    }
}
