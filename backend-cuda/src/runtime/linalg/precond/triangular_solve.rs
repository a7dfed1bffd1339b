//! Triangular solves on the device: by levels, with the bits of [`BlockFactors::solve`], or by
//! colours.

use std::rc::Rc;

use equelle_runtime::Error;
use equelle_runtime::linalg::matrix::schedule::Schedule;
use equelle_runtime::linalg::precond::ilu::BlockFactors;
use equelle_runtime::linalg::space::matrix_space::Direction;

use crate::runtime::device::DevicePtr;
use crate::runtime::executor::Executor;
use crate::runtime::executor::arguments::Argument;
use crate::runtime::executor::pool::Buffer;
use crate::runtime::kernels::SUBSTITUTION_MODULE;
use crate::runtime::linalg::schedule::DeviceSchedule;

/// Largest block size with sums in registers: the cases of the kernels.
pub(crate) const CASES: usize = 4;

/// The pattern of block factors, with rows in the order of elimination and solution.
#[derive(Debug)]
pub struct FactorPattern {
    pub(crate) schedule: DeviceSchedule,
    pub(crate) n: usize,
    pub(crate) k: usize,
    row_ptr: Rc<Buffer>,
    lower: Rc<Buffer>,
    columns: Rc<Buffer>,
    /// Sums of a row, for block sizes without a case.
    work: Option<Rc<Buffer>>,
    /// Number of blocks with the diagonal.
    n_blocks: usize,
}

/// The blocks of a matrix in the order of a schedule.
pub(crate) struct Placed {
    /// Index of each block in the matrix.
    pub places: Vec<usize>,
    pub pattern: FactorPattern,
}

impl FactorPattern {
    /// Number of blocks of both triangles.
    pub(crate) fn n_outside_diagonal(&self) -> usize {
        self.n_blocks - self.n
    }

    /// Orders the blocks of a matrix. Each row comes after the rows of lower `rank` that it has
    /// entries in.
    ///
    /// # Errors
    /// `Backend`: not enough memory.
    pub(crate) fn placed(
        executor: &Executor,
        k: usize,
        (host_ptr, host_columns): (&[usize], &[u32]),
        schedule: &Schedule,
        rank: impl Fn(u32) -> u32,
    ) -> Result<Placed, Error> {
        let n = host_ptr.len() - 1;
        let (mut row_ptr, mut lower) = (vec![0u64], Vec::with_capacity(n));
        let mut places: Vec<usize> = Vec::with_capacity(host_columns.len());
        for &row in schedule.rows() {
            let from = places.len();
            places.extend(host_ptr[row as usize]..host_ptr[row as usize + 1]);
            let own = &mut places[from..];
            own.sort_by_key(|&place| rank(host_columns[place]));
            lower.push(own.partition_point(|&place| rank(host_columns[place]) < rank(row)) as u32);
            row_ptr.push(places.len() as u64);
        }
        let what = "triangular factors";
        let pattern = FactorPattern {
            n,
            k,
            n_blocks: places.len(),
            row_ptr: executor.upload(what, &row_ptr)?,
            lower: executor.upload(what, &lower)?,
            columns: executor.upload(what, &places.iter().map(|&place| host_columns[place]).collect::<Vec<_>>())?,
            work: if k > CASES { Some(executor.buffer(what, 8 * (n * k) as u64)?) } else { None },
            schedule: DeviceSchedule::new(executor, schedule)?,
        };
        Ok(Placed { places, pattern })
    }
}

/// Factors `(D + L) D^-1 (D + U)` of a matrix of `k` by `k` blocks.
#[derive(Debug)]
pub struct DeviceFactors {
    pub(crate) pattern: Rc<FactorPattern>,
    pub(crate) blocks: Rc<Buffer>,
    pub(crate) inverse: Rc<Buffer>,
}

impl DeviceFactors {
    /// Copies factors to the device.
    ///
    /// # Errors
    /// `Backend`: not enough memory.
    pub(crate) fn new(executor: &Executor, factors: &BlockFactors) -> Result<Self, Error> {
        let schedule = factors.levels();
        let (row_ptr, columns, blocks) = factors.blocks().parts();
        let Placed { places, pattern } = FactorPattern::placed(executor, factors.k(), (row_ptr, columns), &schedule, |column| column)?;
        let size = factors.k() * factors.k();
        let gather = |values: &[f64], places: &mut dyn Iterator<Item = usize>| {
            places.flat_map(|place| &values[place * size..(place + 1) * size]).copied().collect::<Vec<f64>>()
        };
        let blocks = gather(blocks, &mut places.into_iter());
        let inverse = gather(factors.inverse(), &mut schedule.rows().iter().map(|&row| row as usize));
        let what = "triangular factors";
        Ok(DeviceFactors { pattern: Rc::new(pattern), blocks: executor.upload(what, &blocks)?, inverse: executor.upload(what, &inverse)? })
    }

    /// `z = (L D U)^-1 r` for vectors of `n k` numbers that do not overlap. Nothing waits.
    ///
    /// # Errors
    /// `Backend`: the kernels cannot be compiled or loaded.
    pub(crate) fn solve(&self, executor: &Executor, z: DevicePtr, r: DevicePtr) -> Result<(), Error> {
        let kernels = (&SUBSTITUTION_MODULE, ["equelle_substitute", "equelle_substitute_groups"]);
        for direction in [Direction::Forward, Direction::Backward] {
            self.pattern.schedule.launch(executor, kernels, direction, |call| call.arg(self).arg(r).arg(z))?;
        }
        Ok(())
    }
}

impl Argument for &DeviceFactors {
    fn words(&self, words: &mut Vec<u64>) {
        let of = &*self.pattern;
        words.extend([&of.row_ptr, &of.lower, &of.columns, &self.blocks, &self.inverse].map(|part| part.address().0));
        words.push(of.work.as_ref().map_or(0, |work| work.address().0));
        words.push(of.n as u64 | (of.k as u64) << 32);
    }
}

#[cfg(test)]
mod tests {
    use equelle_runtime::linalg::Csr;

    use super::*;
    use crate::runtime::test_support::{bits, box_matrix, numbers, spaces};

    /// Solves with the factors of a matrix on every device and compares bits with the host.
    fn same_as_on_the_host(matrix: &Csr, k: usize) {
        let factors = BlockFactors::new(matrix, k);
        let n = matrix.n_rows();
        let r = numbers(7, n);
        let mut expected = vec![0.0; n];
        factors.solve(&mut expected, &r);
        for rt in spaces() {
            let here = DeviceFactors::new(&rt.executor, &factors).expect("memory");
            let (r, z) = (rt.executor.put(&r), rt.executor.put(&numbers(8, n)));
            let before = rt.executor.counters().synchronisations;
            here.solve(&rt.executor, z.address(), r.address()).expect("kernels");
            assert_eq!(rt.executor.counters().synchronisations, before, "nothing waits");
            assert_eq!(rt.executor.bits(z.address(), n), bits(&expected));
        }
    }

    #[test]
    fn solves_have_the_bits_of_the_host() {
        same_as_on_the_host(&box_matrix([7, 5, 4], 1), 1);
        // Block sizes with their own cases, and larger ones.
        for k in 2..=6 {
            same_as_on_the_host(&box_matrix([4, 3, 3], k), k);
        }
        // An unsymmetric pattern: row i has entries in i - 1 and i + 3.
        let n = 50;
        let entries: Vec<_> = (0..n)
            .flat_map(|i| [(i, i, 4.0), (i, i.max(1) - 1, -1.0), (i, (i + 3).min(n - 1), -0.7)])
            .filter(|&(i, j, value)| i != j || value == 4.0)
            .collect();
        same_as_on_the_host(&Csr::from_triplets(n, n, &entries).expect("legal entries"), 1);
        // A diagonal matrix, and an empty one.
        same_as_on_the_host(&Csr::from_triplets(2, 2, &[(0, 0, 2.0), (1, 1, -4.0)]).expect("legal entries"), 1);
        same_as_on_the_host(&Csr::from_triplets(0, 0, &[]).expect("legal entries"), 1);
    }

    /// Two levels of 1500 rows and then 20 of one: two launches of many blocks and one of a single
    /// block, each way.
    #[test]
    fn levels_of_many_rows_have_launches_of_their_own() {
        let (wide, narrow) = (1500, 20);
        let n = 2 * wide + narrow;
        let mut entries: Vec<_> = (0..n).map(|i| (i, i, 3.0 + (i % 7) as f64)).collect();
        entries.extend((0..wide).flat_map(|i| [(i, wide + i, -1.0), (wide + i, i, -1.5)]));
        entries.extend((2 * wide..n).flat_map(|i| [(i, i - 1, -1.0), (i - 1, i, -0.5)]));
        let matrix = Csr::from_triplets(n, n, &entries).expect("legal entries");
        same_as_on_the_host(&matrix, 1);
        let factors = BlockFactors::new(&matrix, 1);
        for rt in spaces() {
            let here = DeviceFactors::new(&rt.executor, &factors).expect("memory");
            let vector = rt.executor.put(&vec![1.0; n]);
            let z = rt.executor.put(&vec![0.0; n]);
            rt.executor.flush().expect("a device");
            let before = rt.executor.counters().kernels;
            here.solve(&rt.executor, z.address(), vector.address()).expect("kernels");
            rt.executor.flush().expect("a device");
            assert_eq!(rt.executor.counters().kernels - before, 6);
        }
    }
}
