//! Fused passes over vectors for [`crate::runtime::linalg::space`]: sums with updates of vectors
//! before, and with operations on scalars after. All of them are queued.

use equelle_runtime::{Error, Real, Reduction, reduce};

use crate::runtime::device::{DevicePtr, LaunchShape};
use crate::runtime::executor::arguments::{Argument, Call, EqRows};
use crate::runtime::kernels::VECTORS_MODULE;
use crate::runtime::linalg::csr::DeviceMatrix;
use crate::runtime::linalg::scalars::{NoScalarOps, ScalarOp, Summand};
use crate::runtime::linalg::space::Space;
use crate::runtime::linalg::spmv_format::EqSparseMatrix;

/// Threads per block that computes a leaf: one for each chain.
const BLOCK: u32 = reduce::CHAINS as u32;
/// Largest number of leaves that one block adds: `EQ_MAX_LEAVES` of the kernels.
const MAX_LEAVES: usize = 256 * reduce::LEAF;

/// The matrix of a product with a sum.
#[derive(Clone, Copy, Debug)]
pub(crate) enum MatrixOperand {
    /// In rows, one thread each.
    Rows(EqRows),
    /// In slices.
    Sell(EqSparseMatrix),
}

impl MatrixOperand {
    /// In slices if the matrix is converted so.
    pub fn of(a: &DeviceMatrix) -> MatrixOperand {
        a.format().filter(EqSparseMatrix::is_by_slices).map_or(MatrixOperand::Rows(a.args()), MatrixOperand::Sell)
    }
}

impl Argument for MatrixOperand {
    fn words(&self, words: &mut Vec<u64>) {
        match self {
            MatrixOperand::Rows(rows) => rows.words(words),
            MatrixOperand::Sell(format) => format.words(words),
        }
    }
}

/// Destination of a kernel's sums.
struct Sums {
    leaves: DevicePtr,
    arrived: DevicePtr,
    out: [DevicePtr; 2],
}

impl Argument for Sums {
    fn words(&self, words: &mut Vec<u64>) {
        words.extend([self.leaves.0, self.arrived.0, self.out[0].0, self.out[1].0]);
    }
}

impl<T: Real> Space<T> {
    /// Queues the call of a kernel with one or two sums over `n` elements of vectors in a given
    /// precision; `arguments` precede the sums.
    pub(crate) fn sums(
        &mut self,
        call: Call,
        n: usize,
        out: [Option<DevicePtr>; 2],
        arguments: impl FnOnce(Call) -> Call,
    ) -> Result<(), Error> {
        let leaves = reduce::leaf_count(n);
        if leaves == 0 {
            let zero = self.executor.constant(0.0)?;
            return out.into_iter().flatten().try_for_each(|out| self.executor.scalar_op(ScalarOp::Copy, zero, zero, out));
        }
        let count = out.iter().flatten().count();
        let buffer = self.executor.buffer("partial results", 8 * (count * leaves) as u64)?;
        let arrived = if leaves <= MAX_LEAVES { self.executor.arrived()? } else { DevicePtr(0) };
        let sums = Sums { leaves: buffer.address(), arrived, out: out.map(|out| out.unwrap_or(DevicePtr(0))) };
        let call = arguments(call).arg(sums).arg(NoScalarOps);
        self.executor.push(call.shaped(LaunchShape { grid: [leaves as u32, 1, 1], block: [BLOCK, 1, 1] }));
        if leaves <= MAX_LEAVES {
            return Ok(());
        }
        for (number, out) in out.into_iter().flatten().enumerate() {
            let from = DevicePtr(buffer.address().0 + 8 * (number * leaves) as u64);
            self.executor.combine_into(Reduction::Sum, leaves, from, out)?;
        }
        Ok(())
    }

    /// Sums `n` elements into one number on the device, in the order of
    /// [`equelle_runtime::reduce`].
    ///
    /// # Errors
    /// `Backend`: not enough memory, or the kernels cannot be compiled or loaded.
    pub(crate) fn sum_into(&mut self, n: usize, y: DevicePtr, summand: Summand, out: DevicePtr) -> Result<(), Error> {
        let none = DevicePtr(0);
        let (operation, a, x, w) = match summand {
            Summand::Product { w } => (0u32, none, none, w),
            Summand::Updated { a, x, w } => (1, a, x, w.unwrap_or(none)),
            Summand::UpdatedDiagonal { a, x, d } => (2, a, x, d),
            Summand::Diagonal { d } => (3, none, none, d),
        };
        let call = self.solver_call("equelle_dot")?;
        self.sums(call, n, [Some(out), None], |call| call.arg(operation).arg(n as u32).arg(y).arg(a).arg(x).arg(w))
    }

    /// Computes `x . y` of `n` numbers into one number on the device.
    ///
    /// # Errors
    /// As for [`Space::sum_into`].
    pub(crate) fn dot_into(&mut self, n: usize, x: DevicePtr, y: DevicePtr, out: DevicePtr) -> Result<(), Error> {
        self.sum_into(n, y, Summand::Product { w: x }, out)
    }

    /// `y = A x` for a matrix of `n` rows; then `w . y` into `out`, and `y . y` into `square` if
    /// given. In double precision.
    ///
    /// # Errors
    /// As for [`Space::sum_into`].
    pub(crate) fn rows_dot_into(
        &mut self,
        (n, a): (usize, MatrixOperand),
        y: DevicePtr,
        x: DevicePtr,
        w: DevicePtr,
        out: DevicePtr,
        square: Option<DevicePtr>,
    ) -> Result<(), Error> {
        let name = match (a, square) {
            (MatrixOperand::Rows(_), None) => "equelle_rows_dot",
            (MatrixOperand::Rows(_), Some(_)) => "equelle_rows_dots",
            (MatrixOperand::Sell(_), None) => "equelle_format_dot",
            (MatrixOperand::Sell(_), Some(_)) => "equelle_format_dots",
        };
        let call = self.solver_call(name)?;
        self.sums(call, n, [Some(out), square], |call| call.arg(n as u32).arg(a).arg(y).arg(x).arg(w))
    }

    /// `x = x + a p`, then `p = z + b p`, or `p = D z + b p` with a diagonal matrix.
    ///
    /// # Errors
    /// `Backend`: the kernels cannot be compiled or loaded.
    pub(crate) fn step_into(
        &mut self,
        n: usize,
        [x, p]: [DevicePtr; 2],
        [a, b]: [DevicePtr; 2],
        d: Option<DevicePtr>,
        z: DevicePtr,
    ) -> Result<(), Error> {
        let call = self.executor.call(&VECTORS_MODULE, "equelle_step")?;
        let call = call.arg(n as u32).arg(x).arg(a).arg(p).arg(b).arg(d.unwrap_or(DevicePtr(0))).arg(z);
        self.executor.launch_over(call, n)
    }

    /// `y = (y + a x) + b z`.
    ///
    /// # Errors
    /// As for [`Space::step_into`].
    pub(crate) fn add_two_into(&mut self, n: usize, y: DevicePtr, [a, b]: [DevicePtr; 2], [x, z]: [DevicePtr; 2]) -> Result<(), Error> {
        let call = self.executor.call(&VECTORS_MODULE, "equelle_add_two")?.arg(n as u32).arg(y).arg(a).arg(x).arg(b).arg(z);
        self.executor.launch_over(call, n)
    }

    /// `p = r + b (p - a v)`.
    ///
    /// # Errors
    /// As for [`Space::step_into`].
    pub(crate) fn bicgstab_direction_into(
        &mut self,
        n: usize,
        p: DevicePtr,
        [a, b]: [DevicePtr; 2],
        [v, r]: [DevicePtr; 2],
    ) -> Result<(), Error> {
        let call = self.executor.call(&VECTORS_MODULE, "equelle_turn")?.arg(n as u32).arg(p).arg(a).arg(v).arg(b).arg(r);
        self.executor.launch_over(call, n)
    }
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use equelle_runtime::linalg::krylov::cg::Cg;
    use equelle_runtime::linalg::krylov::iteration::{Control, System, Target, iterate};
    use equelle_runtime::linalg::precond::simple::Jacobi;
    use equelle_runtime::linalg::space::host::HostSpace;
    use equelle_runtime::linalg::space::matrix_space::Plain;
    use equelle_runtime::linalg::{MatrixSpace, SystemSpace, VectorSpace};

    use super::*;
    use crate::runtime::executor::pool::Buffer;
    use crate::runtime::test_support::{bits, box_matrix, numbers, spaces};

    /// Copies vectors to the device.
    fn put<const N: usize>(rt: &mut Space<f64>, vectors: [&[f64]; N]) -> [Rc<Buffer>; N] {
        vectors.map(|vector| rt.executor.put(vector))
    }

    /// Compared with the separate operations of the host, for no leaf, one leaf, and more than a
    /// warp adds at once.
    #[test]
    fn passes_have_the_bits_of_the_host() {
        for n in [0, 700, 1025, 300 * reduce::LEAF + 7] {
            let mut space = HostSpace::new(n);
            let [y, x, w, d] = [1, 2, 3, 4].map(|seed| numbers(seed, n));
            let (a, b) = (1.0 / 3.0, -0.7);
            let mut updated = y.clone();
            space.sub_scaled(&mut updated, &a, &x);
            let mut scaled = vec![0.0; n];
            space.add_diagonal(&mut scaled, 0.0, 1.0, &d, &updated);
            let sums = [space.dot(&w, &y), space.dot(&w, &updated), space.dot(&updated, &updated), space.dot(&updated, &scaled)];
            let (mut stepped, mut turned) = (y.clone(), x.clone());
            space.add_scaled(&mut stepped, &a, &turned);
            space.scale_add(&mut turned, &b, &scaled);
            for mut rt in spaces() {
                let [xs, ws, ds] = put(&mut rt, [&x, &w, &d]).map(|vector| (vector.address(), vector));
                let (xs, ws, ds) = (&xs.0, &ws.0, &ds.0);
                let out = rt.executor.put(&[0.0; 5]);
                let numbers_at = rt.executor.put(&[a, b]);
                let at = |buffer: &Buffer, k: u64| DevicePtr(buffer.address().0 + 8 * k);
                let (at_a, at_b) = (at(&numbers_at, 0), at(&numbers_at, 1));
                let [y0, y1, y2, y3] = put(&mut rt, [&y, &y, &y, &y]);
                rt.dot_into(n, *ws, y0.address(), at(&out, 0)).expect("kernels");
                let of_w = Summand::Updated { a: at_a, x: *xs, w: Some(*ws) };
                rt.sum_into(n, y1.address(), of_w, at(&out, 1)).expect("kernels");
                rt.sum_into(n, y2.address(), Summand::Updated { a: at_a, x: *xs, w: None }, at(&out, 2)).expect("kernels");
                rt.sum_into(n, y3.address(), Summand::UpdatedDiagonal { a: at_a, x: *xs, d: *ds }, at(&out, 3)).expect("kernels");
                rt.sum_into(n, y3.address(), Summand::Diagonal { d: *ds }, at(&out, 4)).expect("kernels");
                assert_eq!(rt.executor.bits(out.address(), 4), bits(&sums));
                assert_eq!(rt.executor.bits(at(&out, 4), 1), bits(&sums[3..]));
                [y1, y2].iter().for_each(|y| assert_eq!(rt.executor.bits(y.address(), n), bits(&updated)));

                for d in [None, Some(*ds)] {
                    let [u, p, z] = put(&mut rt, [&y, &x, if d.is_some() { &updated } else { &scaled }]);
                    rt.step_into(n, [u.address(), p.address()], [at_a, at_b], d, z.address()).expect("kernels");
                    assert_eq!((rt.executor.bits(u.address(), n), rt.executor.bits(p.address(), n)), (bits(&stepped), bits(&turned)));
                }
                let [u, p] = put(&mut rt, [&y, &x]);
                rt.add_two_into(n, u.address(), [at_a, at_b], [*xs, *ws]).expect("kernels");
                rt.bicgstab_direction_into(n, p.address(), [at_a, at_b], [*ws, *ds]).expect("kernels");
                let two: Vec<f64> = (0..n).map(|k| (y[k] + a * x[k]) + b * w[k]).collect();
                let turn: Vec<f64> = (0..n).map(|k| d[k] + b * (x[k] - a * w[k])).collect();
                assert_eq!((rt.executor.bits(u.address(), n), rt.executor.bits(p.address(), n)), (bits(&two), bits(&turn)));
            }
        }
    }

    #[test]
    fn products_bring_their_dots() {
        let matrix = box_matrix([14, 13, 12], 1);
        let n = matrix.n_rows();
        let mut space = HostSpace::new(n);
        let (x, w) = (numbers(1, n), numbers(2, n));
        let mut y = vec![0.0; n];
        matrix.mul_into(&mut y, &x);
        let expected = [space.dot(&w, &y), space.dot(&w, &y), space.dot(&y, &y)];
        for mut rt in spaces() {
            let (a, _owner) = rt.executor.put_matrix(&matrix);
            let [x, w, here] = put(&mut rt, [&x, &w, &vec![0.0; n]]);
            let out = rt.executor.put(&[0.0; 3]);
            let at = |k: u64| DevicePtr(out.address().0 + 8 * k);
            rt.rows_dot_into((n, MatrixOperand::Rows(a)), here.address(), x.address(), w.address(), at(0), None).expect("kernels");
            rt.rows_dot_into((n, MatrixOperand::Rows(a)), here.address(), x.address(), w.address(), at(1), Some(at(2))).expect("kernels");
            assert_eq!(rt.executor.bits(out.address(), 3), bits(&expected));
            assert_eq!(rt.executor.bits(here.address(), n), bits(&y));
        }
    }

    /// Eighteen operations on scalars after a sum: the first eight share its launch, the rest share
    /// launches by eights.
    #[test]
    fn operations_on_numbers_share_launches() {
        for mut rt in spaces() {
            let (x, out) = (rt.executor.put(&[3.0, 4.0]), rt.executor.put(&[0.0; 2]));
            let total = DevicePtr(out.address().0 + 8);
            rt.executor.flush().expect("a device");
            let before = rt.executor.counters().kernels;
            rt.dot_into(2, x.address(), x.address(), out.address()).expect("kernels");
            // 25 -> 5, and then 5 + 5 k.
            rt.executor.scalar_op(ScalarOp::Sqrt, out.address(), out.address(), out.address()).expect("kernels");
            (0..16).for_each(|_| rt.executor.scalar_op(ScalarOp::Add, total, out.address(), total).expect("kernels"));
            assert_eq!(rt.executor.read_scalars(&[total]).expect("a device"), [80.0]);
            // The last operation is a copy.
            assert_eq!(rt.executor.counters().kernels - before, 3);
            // Each operation: 12 op 4, then unary operations and quotients by zero.
            let four = rt.executor.put(&[12.0, 4.0, 0.0, 1e-20]);
            let at = |k: u64| DevicePtr(four.address().0 + 8 * k);
            let values = [
                (ScalarOp::Copy, 0, 1, 12.0),
                (ScalarOp::Add, 0, 1, 16.0),
                (ScalarOp::Sub, 0, 1, 8.0),
                (ScalarOp::Mul, 0, 1, 48.0),
                (ScalarOp::Ratio, 0, 1, 3.0),
                (ScalarOp::Ratio, 0, 2, 0.0),
                (ScalarOp::ZeroIfCancelled, 3, 0, 0.0),
                (ScalarOp::ZeroIfCancelled, 1, 0, 4.0),
                (ScalarOp::Sqrt, 1, 1, 2.0),
                (ScalarOp::Min, 0, 1, 4.0),
            ];
            for (operation, a, b, expected) in values {
                rt.executor.scalar_op(operation, at(a), at(b), total).expect("kernels");
                assert_eq!(rt.executor.read_scalars(&[total]).expect("a device"), [expected], "{operation:?}");
            }
        }
    }

    /// Forty iterations of CG with Jacobi and a check of the residual after every tenth: three
    /// launches an iteration and one more for a check that goes on. The host waits for the checks
    /// and for the true residual before and after; the work between two waits becomes a graph at
    /// its second occurrence.
    #[test]
    fn iterations_wait_for_looks_alone() {
        let matrix = box_matrix([9, 8, 7], 1);
        let n = matrix.n_rows();
        for mut rt in spaces() {
            rt.set_len(n);
            let a = rt.matrix(matrix.clone()).expect("memory");
            let jacobi = Jacobi::new(&mut rt, &matrix.diagonal()).expect("memory");
            let b = rt.vector(numbers(3, n)).expect("memory");
            // No residual is small enough to stop earlier.
            let control = Control { target: Target::just(0.0), max_iterations: 40, check_every: 10, patience: usize::MAX };
            let mut run = || {
                let before = rt.executor.counters();
                let mut cg = Cg::new(&mut rt).expect("memory");
                let mut x = rt.zeros().expect("memory");
                let system = System { operator: &Plain(&a), preconditioner: &jacobi };
                let outcome = iterate(&mut rt, &mut cg, system, &mut x, &b, control).expect("a device");
                assert_eq!(outcome.iterations, 40);
                let after = rt.executor.counters();
                [after.kernels - before.kernels, after.graphs - before.graphs, after.synchronisations - before.synchronisations]
            };
            // The first two runs compile, allocate and record.
            run();
            run();
            let [kernels, graphs, waits] = run();
            assert_eq!(waits, 4 + 2);
            // Before and after: five vectors of zeros, two true residuals of three, the first
            // direction of three, the last update of x.
            assert_eq!(kernels, 3 * 40 + 3 + 5 + 2 * 3 + 3);
            // All but the short sequence before the first wait.
            assert!(graphs >= 5, "{graphs} graphs");
        }
    }
}
