//! Triangular factors on the device: solves by levels, with the bits of [`BlockFactors::solve`].

use std::rc::Rc;

use equelle_runtime::Error;
use equelle_runtime::linalg::matrix_space::Direction;
use equelle_runtime::linalg::precond::ilu::BlockFactors;

use crate::runtime::args::Argument;
use crate::runtime::device::DevicePtr;
use crate::runtime::grid::bytes_of;
use crate::runtime::pool::Buffer;
use crate::runtime::program::CudaRuntime;
use crate::runtime::schedule::DeviceSchedule;

/// Sizes of blocks whose sums stay in registers: the cases of the kernel.
const CASES: usize = 4;

/// Factors `(D + L) D^-1 (D + U)` of a matrix of `k` by `k` blocks, rows in the order in which they are solved for.
#[derive(Debug)]
pub struct DeviceFactors {
    schedule: DeviceSchedule,
    n: usize,
    k: usize,
    row_ptr: Rc<Buffer>,
    lower: Rc<Buffer>,
    columns: Rc<Buffer>,
    blocks: Rc<Buffer>,
    inverse: Rc<Buffer>,
    /// Sums of a row, for blocks that are larger than those.
    work: Option<Rc<Buffer>>,
}

impl DeviceFactors {
    /// Brings factors to the device.
    ///
    /// # Errors
    /// `Backend`: not enough memory.
    pub(super) fn new(rt: &mut CudaRuntime, factors: &BlockFactors) -> Result<Self, Error> {
        let (n, k) = (factors.n_blocks(), factors.k());
        let schedule = factors.levels();
        let (host_ptr, host_columns, host_blocks) = factors.blocks().parts();
        let size = k * k;
        let (mut row_ptr, mut lower) = (vec![0u64], Vec::with_capacity(n));
        let mut columns: Vec<u32> = Vec::with_capacity(host_columns.len());
        let mut blocks: Vec<f64> = Vec::with_capacity(host_blocks.len());
        let mut inverse: Vec<f64> = Vec::with_capacity(n * size);
        for &row in schedule.rows() {
            let row = row as usize;
            let range = host_ptr[row]..host_ptr[row + 1];
            lower.push((factors.diagonal()[row] - range.start) as u32);
            columns.extend_from_slice(&host_columns[range.clone()]);
            blocks.extend_from_slice(&host_blocks[range.start * size..range.end * size]);
            inverse.extend_from_slice(&factors.inverse()[row * size..(row + 1) * size]);
            row_ptr.push(columns.len() as u64);
        }
        let what = "triangular factors";
        Ok(DeviceFactors {
            n,
            k,
            row_ptr: rt.upload(what, &bytes_of(&row_ptr, u64::to_le_bytes))?,
            lower: rt.upload(what, &bytes_of(&lower, u32::to_le_bytes))?,
            columns: rt.upload(what, &bytes_of(&columns, u32::to_le_bytes))?,
            blocks: rt.upload(what, &bytes_of(&blocks, f64::to_le_bytes))?,
            inverse: rt.upload(what, &bytes_of(&inverse, f64::to_le_bytes))?,
            work: if k > CASES { Some(rt.buffer(what, 8 * (n * k) as u64)?) } else { None },
            schedule: DeviceSchedule::new(rt, &schedule)?,
        })
    }

    /// `z = (L D U)^-1 r`; vectors of `n k` numbers that do not overlap. Nothing waits.
    ///
    /// # Errors
    /// `Backend`: the kernels cannot be compiled or loaded.
    pub(super) fn solve(&self, rt: &mut CudaRuntime, z: DevicePtr, r: DevicePtr) -> Result<(), Error> {
        let kernels = ["equelle_substitute", "equelle_substitute_groups"];
        for direction in [Direction::Forward, Direction::Backward] {
            self.schedule.launch(rt, kernels, direction, |call| call.arg(self).arg(r).arg(z))?;
        }
        Ok(())
    }
}

impl Argument for &DeviceFactors {
    fn words(&self, words: &mut Vec<u64>) {
        let parts = [&self.row_ptr, &self.lower, &self.columns, &self.blocks, &self.inverse];
        words.extend(parts.map(|part| part.address().0));
        words.push(self.work.as_ref().map_or(0, |work| work.address().0));
        words.push(self.n as u64 | (self.k as u64) << 32);
    }
}

#[cfg(test)]
mod tests {
    use equelle_runtime::linalg::Csr;

    use super::*;
    use crate::runtime::test_support::{bits, box_matrix, numbers, runtimes};

    /// Solves with the factors of a matrix on every device and compares bits with the host.
    fn same_as_on_the_host(matrix: &Csr, k: usize) {
        let factors = BlockFactors::new(matrix, k);
        let n = matrix.n_rows();
        let r = numbers(7, n);
        let mut expected = vec![0.0; n];
        factors.solve(&mut expected, &r);
        for mut rt in runtimes() {
            let here = DeviceFactors::new(&mut rt, &factors).expect("room");
            let (r, z) = (rt.put(&r), rt.put(&numbers(8, n)));
            let before = rt.counters().synchronisations;
            here.solve(&mut rt, z.address(), r.address()).expect("kernels");
            assert_eq!(rt.counters().synchronisations, before, "nothing waits");
            assert_eq!(rt.bits(z.address(), n), bits(&expected));
        }
    }

    #[test]
    fn solves_have_the_bits_of_the_host() {
        same_as_on_the_host(&box_matrix([7, 5, 4], 1), 1);
        // Blocks with cases of their own, and beyond.
        for k in 2..=6 {
            same_as_on_the_host(&box_matrix([4, 3, 3], k), k);
        }
        // A pattern that is not symmetric: row i has entries in i - 1 and i + 3.
        let n = 50;
        let entries: Vec<_> = (0..n)
            .flat_map(|i| [(i, i, 4.0), (i, i.max(1) - 1, -1.0), (i, (i + 3).min(n - 1), -0.7)])
            .filter(|&(i, j, value)| i != j || value == 4.0)
            .collect();
        same_as_on_the_host(&Csr::from_triplets(n, n, &entries).expect("legal entries"), 1);
        // A diagonal matrix, and none.
        same_as_on_the_host(&Csr::from_triplets(2, 2, &[(0, 0, 2.0), (1, 1, -4.0)]).expect("legal entries"), 1);
        same_as_on_the_host(&Csr::from_triplets(0, 0, &[]).expect("legal entries"), 1);
    }

    /// Two levels of 1500 rows and then 20 of one: two launches of many blocks and one of a single block, each way.
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
        for mut rt in runtimes() {
            let here = DeviceFactors::new(&mut rt, &factors).expect("room");
            let vector = rt.put(&vec![1.0; n]);
            let z = rt.put(&vec![0.0; n]);
            rt.flush().expect("a device");
            let before = rt.counters().kernels;
            here.solve(&mut rt, z.address(), vector.address()).expect("kernels");
            rt.flush().expect("a device");
            assert_eq!(rt.counters().kernels - before, 6);
        }
    }
}
