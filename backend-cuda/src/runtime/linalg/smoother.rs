//! Fused steps of polynomial smoothers, each in one pass over a matrix, for [`MatrixSpace`]; the
//! kernels are in `smoothing.cu`.
//!
//! [`MatrixSpace`]: equelle_runtime::linalg::MatrixSpace

use equelle_runtime::linalg::space::matrix_space::{Correction, Smoothed};
use equelle_runtime::{Error, Real};

use crate::runtime::device::DevicePtr;
use crate::runtime::executor::arguments::EqRows;
use crate::runtime::linalg::csr::DeviceMatrix;
use crate::runtime::linalg::scalars::Summand;
use crate::runtime::linalg::sell::{build_format, launch_over_format};
use crate::runtime::linalg::space::Space;
use crate::runtime::linalg::spmv_format::EqSparseMatrix;

/// A system to smooth as kernel arguments, in a given precision.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Smoothing {
    /// Number of rows.
    pub n: usize,
    pub matrix: EqSparseMatrix,
    pub inverse_diagonal: DevicePtr,
    pub right: DevicePtr,
}

/// The correction of a coarse level as kernel arguments, in a given precision.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Corrections {
    pub image: EqSparseMatrix,
    pub prolongation: EqRows,
    pub coarse: DevicePtr,
    pub inverse_diagonal: DevicePtr,
}

impl Space<f64> {
    /// A matrix as kernel argument of products; converts it if necessary.
    fn with_format(&mut self, a: &DeviceMatrix) -> Result<EqSparseMatrix, Error> {
        build_format(&self.executor, a)?;
        a.format().ok_or_else(|| Error::internal("a matrix without a format for products"))
    }

    /// A system in double precision.
    pub(crate) fn smoothing(&mut self, on: Smoothed<'_, Space<f64>>) -> Result<Smoothing, Error> {
        let matrix = self.with_format(on.matrix)?;
        let (inverse_diagonal, right) = (on.inverse_diagonal.address(), on.right.address());
        Ok(Smoothing { n: on.matrix.rows.len(), matrix, inverse_diagonal, right })
    }

    /// A correction in double precision.
    pub(crate) fn correction(&mut self, by: Correction<'_, Space<f64>>) -> Result<Corrections, Error> {
        let image = self.with_format(by.image)?;
        let (coarse, inverse_diagonal) = (by.coarse.address(), by.inverse_diagonal.address());
        Ok(Corrections { image, prolongation: by.prolongation.args(), coarse, inverse_diagonal })
    }
}

impl<T: Real> Space<T> {
    /// The first step of a smoother from zero: writes `y`, and the step `d` if `keep`.
    ///
    /// # Errors
    /// `Backend`: the kernels cannot be compiled or loaded.
    pub(crate) fn smooth_from_zero_into(&mut self, on: &Smoothing, c: [f64; 3], [y, d]: [DevicePtr; 2], keep: bool) -> Result<(), Error> {
        let call = self.multigrid_call("equelle_smooth_from_zero")?.arg(on.n as u32).arg(on.matrix);
        let call = call.arg(c[0]).arg(c[1]).arg(c[2]).arg(on.inverse_diagonal).arg(on.right).arg(y).arg(d);
        launch_over_format(&self.executor, call.arg(u32::from(keep)), &on.matrix, on.n)
    }

    pub(crate) fn smooth_into(&mut self, on: &Smoothing, c: [f64; 2], [y, x, d]: [DevicePtr; 3], keep: bool) -> Result<(), Error> {
        let call = self.multigrid_call("equelle_smooth")?.arg(on.n as u32).arg(on.matrix);
        let call = call.arg(c[0]).arg(c[1]).arg(on.inverse_diagonal).arg(on.right).arg(x).arg(y).arg(d);
        launch_over_format(&self.executor, call.arg(u32::from(keep)), &on.matrix, on.n)
    }

    /// Writes the sum to `out`.
    pub(crate) fn smooth_dot_into(&mut self, on: &Smoothing, c: [f64; 2], [y, x, d]: [DevicePtr; 3], out: DevicePtr) -> Result<(), Error> {
        if !on.matrix.is_by_slices() {
            self.smooth_into(on, c, [y, x, d], false)?;
            return self.sum_into(on.n, y, Summand::Product { w: on.right }, out);
        }
        let call = self.multigrid_call("equelle_smooth_dot")?;
        self.sums(call, on.n, [Some(out), None], |call| {
            let call = call.arg(on.n as u32).arg(on.matrix).arg(c[0]).arg(c[1]).arg(on.inverse_diagonal).arg(on.right);
            call.arg(x).arg(y).arg(d)
        })
    }

    /// `n` is the number of rows.
    pub(crate) fn correct_into(&mut self, by: &Corrections, n: usize, c: f64, [x, d, r]: [DevicePtr; 3]) -> Result<(), Error> {
        let call = self.multigrid_call("equelle_correct")?.arg(n as u32).arg(by.image).arg(by.prolongation);
        let call = call.arg(by.coarse).arg(r).arg(by.inverse_diagonal).arg(c).arg(x).arg(d);
        launch_over_format(&self.executor, call, &by.image, n)
    }
}

#[cfg(test)]
mod tests {
    use equelle_runtime::linalg::space::host::HostSpace;
    use equelle_runtime::linalg::{Csr, HostMatrix, MatrixSpace, SystemSpace, VectorSpace};

    use super::*;
    use crate::runtime::linalg::space::DeviceVector;
    use crate::runtime::test_support::{bits, box_matrix, numbers, spaces};

    fn here(rt: &mut Space<f64>, values: &[f64]) -> DeviceVector {
        rt.vector(values.to_vec()).expect("memory")
    }

    fn told(rt: &mut Space<f64>, x: &DeviceVector) -> Vec<u64> {
        bits(&rt.host_vector(x).expect("what was computed"))
    }

    /// The cells of a box in random order: rows of a slice have no diagonals in common.
    fn shuffled(matrix: &Csr) -> Csr {
        let n = matrix.n_rows();
        let mut order: Vec<(u64, usize)> = numbers(9, n).iter().map(|number| number.to_bits()).zip(0..n).collect();
        order.sort_unstable();
        let place = |cell: usize| order[cell].1;
        let entries: Vec<_> =
            (0..n).flat_map(|row| matrix.row(row).map(|(column, value)| (place(row), place(column), value)).collect::<Vec<_>>()).collect();
        Csr::from_triplets(n, n, &entries).expect("legal entries")
    }

    /// Rows of 40 entries and of none.
    fn long() -> Csr {
        let n = 700;
        let entries: Vec<_> = (0..n)
            .filter(|row| row % 9 != 4)
            .flat_map(|row| (0..40).map(move |k| (row, (row * 7 + k * k) % n, 1.0 / (1.0 + (row + k) as f64))))
            .collect();
        Csr::from_triplets(n, n, &entries).expect("legal entries")
    }

    /// Matrices stored by diagonals (mostly, since a slice at the boundary may have few entries on
    /// many diagonals), by column lists, and by rows with several threads each; with the format,
    /// and the allowed difference of sums from the host. Where threads share a row, the magnitudes
    /// of the summands total below 40 for the long rows: 40 roundings of that.
    fn matrices() -> [(Csr, Option<bool>, f64); 4] {
        let of_box = box_matrix([14, 13, 12], 1);
        [
            (shuffled(&of_box), Some(true), 0.0),
            (of_box, Some(false), 0.0),
            (box_matrix([7, 6, 5], 2), Some(false), 0.0),
            (long(), None, 40.0 * 40.0 * f64::EPSILON),
        ]
    }

    fn assert_near(found: &[u64], expected: &[f64], apart: f64) {
        if apart == 0.0 {
            return assert_eq!(found, bits(expected));
        }
        let most = found.iter().zip(expected).map(|(found, expected)| (f64::from_bits(*found) - expected).abs()).fold(0.0, f64::max);
        assert!(most <= apart, "{most}");
    }

    #[test]
    fn products_of_arranged_matrices_have_the_bits_of_the_host() {
        for (matrix, listed, apart) in matrices() {
            let n = matrix.n_rows();
            let mut host = HostSpace::new(n);
            let (x, y, b) = (numbers(1, n), numbers(2, n), numbers(3, n));
            let there = HostMatrix::from(matrix.clone());
            for mut rt in spaces() {
                let a = rt.matrix(matrix.clone()).expect("memory");
                rt.will_multiply(&a);
                assert_eq!(a.format().expect("a format").is_by_slices(), listed.is_some());
                if let (Some(Some(slices)), Some(listed)) = (a.rows.slices.get(), listed) {
                    let part = slices.listed(&rt.executor, n);
                    assert!(if listed { part == 1.0 } else { part < 0.4 }, "{part}");
                }
                let (on_x, on_b) = (here(&mut rt, &x), here(&mut rt, &b));
                let mut check = |on_host: &dyn Fn(&mut HostSpace, &mut Vec<f64>),
                                 on_device: &dyn Fn(&mut Space<f64>, &mut DeviceVector)| {
                    let (mut expected, mut found) = (y.clone(), here(&mut rt, &y));
                    on_host(&mut host, &mut expected);
                    on_device(&mut rt, &mut found);
                    assert_near(&told(&mut rt, &found), &expected, apart);
                };
                check(&|s, y| s.multiply(y, &there, &x), &|s, y| s.multiply(y, &a, &on_x));
                check(&|s, y| s.multiply_add(y, &there, &x), &|s, y| s.multiply_add(y, &a, &on_x));
                check(&|s, y| s.multiply_sub(y, &there, &x), &|s, y| s.multiply_sub(y, &a, &on_x));
                check(&|s, y| s.residual(y, &b, &there, &x), &|s, y| s.residual(y, &on_b, &a, &on_x));
                let (mut expected, mut found) = (vec![0.0; n], here(&mut rt, &y));
                let sums = host.multiply_dots(&mut expected, &there, &x, &b);
                let [first, second] = rt.multiply_dots(&mut found, &a, &on_x, &on_b);
                let third = rt.multiply_dot(&mut found, &a, &on_x, &on_b);
                assert_near(&told(&mut rt, &found), &expected, apart);
                let found = rt.read([&first, &second, &third]).expect("a device");
                // Each of the n products may differ by that much, times a factor below 1, or below
                // 80 where both do.
                assert_near(&bits(&found), &[sums[0], sums[1], sums[0]], 80.0 * n as f64 * apart);
            }
        }
    }

    /// In a rectangular matrix with fewer columns than rows, the diagonals of a slice exceed it on
    /// both sides.
    #[test]
    fn diagonals_that_leave_the_matrix() {
        let entries: Vec<_> = (0..640).flat_map(|row| [(row, row % 40, 1.5), (row, 39 - row % 40, 0.25)]).collect();
        let matrix = Csr::from_triplets(640, 40, &entries).expect("legal entries");
        let x = numbers(1, 40);
        let mut expected = vec![0.0; 640];
        matrix.mul_into(&mut expected, &x);
        for mut rt in spaces() {
            let a = rt.matrix(matrix.clone()).expect("memory");
            rt.will_multiply(&a);
            let (x, mut y) = (here(&mut rt, &x), rt.zeros_of(640).expect("memory"));
            rt.multiply(&mut y, &a, &x);
            assert_eq!(told(&mut rt, &y), bits(&expected));
        }
    }

    #[test]
    fn steps_of_smoothers_have_the_bits_of_the_host() {
        for (matrix, _, apart) in matrices() {
            let n = matrix.n_rows();
            let mut host = HostSpace::new(n);
            let (b, inverse, e) = (numbers(3, n), numbers(4, n), numbers(5, n / 2));
            let half: Vec<_> = (0..n)
                .flat_map(|row| [(row, row / 2, 0.7), (row, (row / 2 + 3) % (n / 2), 0.1)])
                .filter(|entry| entry.0 % 7 != 3)
                .collect();
            let prolongation = Csr::from_triplets(n, n / 2, &half).expect("legal entries");
            let image = matrix.product(&prolongation);
            let [of_matrix, of_prolongation, of_image] = [&matrix, &prolongation, &image].map(|matrix| HostMatrix::from(matrix.clone()));
            for mut rt in spaces() {
                let [a, p, i] = [&matrix, &prolongation, &image].map(|matrix| rt.matrix(matrix.clone()).expect("memory"));
                let [on_b, on_inverse, on_e] = [&b, &inverse, &e].map(|vector| here(&mut rt, vector));
                let there = Smoothed { matrix: &of_matrix, inverse_diagonal: &inverse, right: &b };
                let on = Smoothed { matrix: &a, inverse_diagonal: &on_inverse, right: &on_b };
                let (mut r, mut d, mut x, mut y) = (numbers(6, n), vec![0.0; n], vec![0.0; n], vec![0.0; n]);
                let [mut on_r, mut on_d, mut on_x, mut on_y] = [&r, &d, &x, &y].map(|vector| here(&mut rt, vector));
                for (c, keep) in [([0.3, 0.0, 0.4], false), ([0.3, -0.2, 0.4], true)] {
                    host.smooth_from_zero(&mut x, there, c, [&mut r, &mut d], keep);
                    rt.smooth_from_zero(&mut on_x, on, c, [&mut on_r, &mut on_d], keep);
                    assert_near(&told(&mut rt, &on_x), &x, apart);
                    // Without the step before if that was not kept.
                    let again = if keep { 0.6 } else { 0.0 };
                    host.smooth(&mut y, &x, there, [again, 0.2], [&mut r, &mut d], true);
                    rt.smooth(&mut on_y, &on_x, on, [again, 0.2], [&mut on_r, &mut on_d], true);
                    assert_near(&told(&mut rt, &on_y), &y, 80.0 * apart);
                    assert_near(&told(&mut rt, &on_d), &d, 80.0 * apart);
                    let sum = host.smooth_dot(&mut x, &y, there, [0.6, 0.2], [&mut r, &mut d]);
                    let found = rt.smooth_dot(&mut on_x, &on_y, on, [0.6, 0.2], [&mut on_r, &mut on_d]);
                    assert_near(&told(&mut rt, &on_x), &x, 6400.0 * apart);
                    assert_near(&bits(&rt.read([&found]).expect("a device")), &[sum], 6400.0 * n as f64 * apart);
                }
                let (mut left, mut on_left) = (b.clone(), here(&mut rt, &b));
                let by = Correction { prolongation: &of_prolongation, image: &of_image, coarse: &e, inverse_diagonal: &inverse };
                host.correct(&mut x, &mut d, &mut left, by, 0.8);
                let by = Correction { prolongation: &p, image: &i, coarse: &on_e, inverse_diagonal: &on_inverse };
                rt.correct(&mut on_x, &mut on_d, &mut on_left, by, 0.8);
                // Rows of the image have up to 14 entries, or 80, which threads may share.
                assert_near(&told(&mut rt, &on_x), &x, 6400.0 * apart.max(14.0 * 14.0 * f64::EPSILON));
                assert_near(&told(&mut rt, &on_d), &d, apart.max(14.0 * 14.0 * f64::EPSILON));
            }
        }
    }
}
