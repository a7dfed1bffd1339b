//! Incomplete factorisation without fill on the device, and the inverses of diagonal blocks. The
//! host orders the pattern once; entries stay on the device.

use std::rc::Rc;

use equelle_runtime::Error;
use equelle_runtime::linalg::matrix::schedule::Schedule;
use equelle_runtime::linalg::precond::blocks::BlockCsr;
use equelle_runtime::linalg::precond::simple::BlockJacobi;
use equelle_runtime::linalg::space::matrix_space::Direction;
use equelle_runtime::linalg::{Csr, Preconditioner};

use crate::runtime::executor::Executor;
use crate::runtime::executor::arguments::Argument;
use crate::runtime::executor::pool::Buffer;
use crate::runtime::kernels::FACTORISATION_MODULE;
use crate::runtime::linalg::csr::CsrPattern;
use crate::runtime::linalg::csr::DeviceMatrix;
use crate::runtime::linalg::precond::triangular_solve::{CASES, DeviceFactors, FactorPattern, Placed};
use crate::runtime::linalg::space::DeviceVector;
use crate::runtime::linalg::space::Space;

/// Largest number of levels for which the order of the rows is kept. Each costs a launch or a step
/// of one block, 2 or 3 microseconds, twice in every solve: 64 of them cost about the traffic of a
/// million rows.
const MAX_LEVELS: usize = 64;
/// Number of cached patterns.
const KNOWN: usize = 4;

/// The elimination order of a pattern, and the destinations of a matrix's entries.
#[derive(Debug)]
pub(crate) struct Elimination {
    /// Its pattern.
    of: Rc<CsrPattern>,
    pattern: Rc<FactorPattern>,
    /// For each number of the blocks its entry, from 1, or 0.
    source: Rc<Buffer>,
    /// Position of each element's row in the schedule.
    positions: Rc<Buffer>,
    numbers: usize,
    order: Order,
}

/// The pattern of diagonal blocks, by rows and fields of each element.
struct BlockDiagonal {
    of: (usize, usize),
    pattern: Rc<CsrPattern>,
}

/// True if a kernel left a flag at zero.
fn is_zero(executor: &Executor, flag: &Buffer) -> Result<bool, Error> {
    Ok(executor.download_one::<u32>(flag.address())? == 0)
}

/// The order in which rows are eliminated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Order {
    /// By their numbers, level by level.
    Levels,
    /// Colour by colour.
    Colours { colours: usize, levels: usize },
}

/// Arguments of the elimination kernels.
struct Workspace<'a> {
    positions: &'a Buffer,
    blocks: &'a Buffer,
    inverse: &'a Buffer,
    singular: &'a Buffer,
}

impl Argument for Workspace<'_> {
    fn words(&self, words: &mut Vec<u64>) {
        words.extend([self.positions, self.blocks, self.inverse, self.singular].map(|part| part.address().0));
    }
}

impl Elimination {
    /// Orders a pattern; `None` if the kernels do not support it.
    fn new(executor: &Executor, rows: &Rc<CsrPattern>, k: usize) -> Result<Option<Self>, Error> {
        if k > CASES || rows.entries() * k * k >= u32::MAX as usize {
            return Ok(None);
        }
        // Entries are numbered from 1 as the values of a matrix, which is then cut into blocks:
        // `f64` represents such numbers exactly.
        let numbered = {
            let host = rows.host(executor)?;
            let numbers = (1..=rows.entries()).map(|number| number as f64).collect();
            Csr::new(rows.len(), rows.n_cols(), host.row_ptr.clone(), host.columns.clone(), numbers)
        };
        let blocks = BlockCsr::new(&numbered.map_err(|what| Error::internal(format!("a matrix is malformed: {what}")))?, k);
        let (row_ptr, columns, source) = blocks.parts();
        let levels = Schedule::levels(row_ptr, columns);
        let (schedule, order) = if levels.len() <= MAX_LEVELS {
            (levels, Order::Levels)
        } else {
            let colours = Schedule::colours(row_ptr, columns);
            let order = Order::Colours { colours: colours.len(), levels: levels.len() };
            (colours, order)
        };
        let mut positions = vec![0u32; blocks.n_rows()];
        schedule.rows().iter().zip(0..).for_each(|(&row, position)| positions[row as usize] = position);
        let rank = |column: u32| match order {
            Order::Levels => column,
            Order::Colours { .. } => positions[column as usize],
        };
        let Placed { places, pattern } = FactorPattern::placed(executor, k, (row_ptr, columns), &schedule, rank)?;
        let size = k * k;
        let source: Vec<u32> =
            places.iter().flat_map(|place| source[place * size..(place + 1) * size].iter().map(|&number| number as u32)).collect();
        Ok(Some(Elimination {
            of: Rc::clone(rows),
            pattern: Rc::new(pattern),
            source: executor.upload("triangular factors", &source)?,
            positions: executor.upload("triangular factors", &positions)?,
            numbers: places.len() * size,
            order,
        }))
    }

    /// Factors of `sign` times a matrix of this pattern; `None` if a block is singular.
    fn factorize(&self, executor: &Executor, a: &DeviceMatrix, sign: f64) -> Result<Option<DeviceFactors>, Error> {
        let what = "triangular factors";
        let (n, k) = (self.pattern.n, self.pattern.k);
        let blocks = executor.buffer(what, 8 * self.numbers as u64)?;
        let inverse = executor.buffer(what, 8 * (n * k * k) as u64)?;
        let singular = executor.upload(what, &[0u32])?;
        let call =
            executor.call(&FACTORISATION_MODULE, "equelle_gather_blocks")?.arg(self.numbers as u32).arg(self.source.address()).arg(sign);
        executor.launch_over(call.arg(a.entries.address()).arg(blocks.address()), self.numbers)?;
        let factors = DeviceFactors { pattern: Rc::clone(&self.pattern), blocks, inverse };
        let workspace =
            || Workspace { positions: &self.positions, blocks: &factors.blocks, inverse: &factors.inverse, singular: &singular };
        let kernels = (&FACTORISATION_MODULE, ["equelle_eliminate", "equelle_eliminate_groups"]);
        self.pattern.schedule.launch(executor, kernels, Direction::Forward, |call| call.arg(&factors).arg(workspace()))?;
        // A single number always has an inverse, if necessary of a replaced pivot.
        let is_regular = k == 1 || is_zero(executor, &singular)?;
        Ok(is_regular.then_some(factors))
    }
}

/// ILU(0) factorised on the device.
#[derive(Debug)]
struct DeviceIlu {
    factors: DeviceFactors,
    order: Order,
}

impl Preconditioner<Space<f64>> for DeviceIlu {
    fn apply(&self, rt: &mut Space<f64>, z: &mut DeviceVector, r: &DeviceVector) {
        let pattern = &self.factors.pattern;
        rt.traffic.solve_factors(pattern.k, pattern.n, pattern.n_outside_diagonal(), 8);
        let result = self.factors.solve(&rt.executor, z.address(), r.address());
        rt.executor.attempt(result);
    }

    fn note(&self) -> Option<String> {
        match self.order {
            Order::Levels => None,
            Order::Colours { colours, levels } => {
                Some(format!("factorised in the order of {colours} colours, because rows in their own order have {levels} levels"))
            }
        }
    }
}

impl Space<f64> {
    /// ILU(0) of `sign` times a matrix of `k` fields; `None` if the host has to factorise.
    ///
    /// # Errors
    /// `Backend`: not enough memory, or a lost device.
    pub(crate) fn factorize(
        &mut self,
        a: &DeviceMatrix,
        sign: f64,
        k: usize,
    ) -> Result<Option<Box<dyn Preconditioner<Space<f64>>>>, Error> {
        let known = self.setups.find::<Elimination>(|known| Rc::ptr_eq(&known.of, &a.rows) && known.pattern.k == k);
        let elimination = match known {
            Some(known) => known,
            None => match Elimination::new(&self.executor, &a.rows, k)? {
                Some(made) => self.setups.insert(made, KNOWN),
                None => return Ok(None),
            },
        };
        let factors = elimination.factorize(&self.executor, a, sign)?;
        let order = elimination.order;
        Ok(factors.map(|factors| Box::new(DeviceIlu { factors, order }) as Box<dyn Preconditioner<Space<f64>>>))
    }

    /// The inverses of the diagonal blocks of `sign` times a matrix of `k` fields; `None` if the
    /// host has to invert.
    ///
    /// # Errors
    /// `Backend`: not enough memory, or a lost device.
    pub(crate) fn block_jacobi(&mut self, a: &DeviceMatrix, sign: f64, k: usize) -> Result<Option<BlockJacobi<Space<f64>>>, Error> {
        Ok(self.block_inverse(a, sign, k)?.map(BlockJacobi::from_inverse))
    }

    /// [`Self::block_jacobi`] as a matrix: a row for each unknown, with an entry for each field of
    /// its element.
    ///
    /// # Errors
    /// `Backend`: not enough memory, or a lost device.
    pub(crate) fn block_inverse(&mut self, a: &DeviceMatrix, sign: f64, k: usize) -> Result<Option<DeviceMatrix>, Error> {
        let rows = a.rows.len();
        if k > CASES || rows * k > u32::MAX as usize {
            return Ok(None);
        }
        let n = rows / k;
        let what = "the inverses of diagonal blocks";
        let known = self.setups.find::<BlockDiagonal>(|known| known.of == (rows, k));
        let pattern = match known {
            Some(known) => Rc::clone(&known.pattern),
            None => {
                let row_ptr: Vec<u64> = (0..=rows).map(|row| (row * k) as u64).collect();
                let columns: Vec<u32> = (0..rows).flat_map(|row| (0..k).map(move |field| (field * n + row % n) as u32)).collect();
                let (row_ptr, columns) = (self.executor.upload(what, &row_ptr)?, self.executor.upload(what, &columns)?);
                let pattern = Rc::new(CsrPattern::on_device(row_ptr, columns, rows, rows * k, rows));
                Rc::clone(&self.setups.insert(BlockDiagonal { of: (rows, k), pattern }, KNOWN).pattern)
            }
        };
        let entries = self.executor.buffer(what, 8 * (rows * k) as u64)?;
        let singular = self.executor.upload(what, &[0u32])?;
        let call =
            self.executor.call(&FACTORISATION_MODULE, "equelle_invert_diagonal")?.arg(n as u32).arg(k as u32).arg(a.args()).arg(sign);
        self.executor.launch_over(call.arg(entries.address()).arg(singular.address()), n)?;
        if !is_zero(&self.executor, &singular)? {
            return Ok(None);
        }
        Ok(Some(DeviceMatrix::new(pattern, entries)))
    }
}

#[cfg(test)]
mod tests {
    use equelle_runtime::linalg::precond::ilu::BlockFactors;
    use equelle_runtime::linalg::{MatrixSpace, SystemSpace};

    use super::*;
    use crate::runtime::test_support::{bits, box_matrix, numbers, spaces};

    /// The result of ILU(0) on a vector, on every device.
    fn on_devices(matrix: &Csr, sign: f64, k: usize, r: &[f64]) -> Vec<(Vec<u64>, Option<String>)> {
        let apply = |mut rt: Space<f64>| {
            let a = rt.matrix(matrix.clone()).expect("memory");
            let ilu = rt.factorize(&a, sign, k).expect("a device").expect("regular blocks");
            // The order is cached for the next matrix of the pattern.
            assert_eq!(rt.setups.count::<Elimination>(), 1);
            let again = rt.factorize(&a, sign, k).expect("a device").expect("regular blocks");
            assert_eq!(rt.setups.count::<Elimination>(), 1);
            let r = rt.vector(r.to_vec()).expect("memory");
            let mut z = [rt.vector(vec![0.0; r.len]).expect("memory"), rt.vector(vec![0.0; r.len]).expect("memory")];
            ilu.apply(&mut rt, &mut z[0], &r);
            again.apply(&mut rt, &mut z[1], &r);
            let found = z.map(|z| bits(&rt.host_vector(&z).expect("a device")));
            assert_eq!(found[0], found[1]);
            (found[0].clone(), ilu.note())
        };
        spaces().into_iter().map(apply).collect()
    }

    #[test]
    fn levels_give_the_factors_of_the_host() {
        for k in 1..=4 {
            let matrix = box_matrix([6, 5, 4], k);
            let r = numbers(3, matrix.n_rows());
            for sign in [1.0, -1.0] {
                let mut expected = vec![0.0; r.len()];
                BlockFactors::new(&matrix.scaled(sign), k).solve(&mut expected, &r);
                for (found, note) in on_devices(&matrix, sign, k, &r) {
                    assert_eq!((found, note), (bits(&expected), None));
                }
            }
        }
        // Vanishing pivots: (1 1; 1 1), and a missing diagonal entry.
        let entries = [(0, 0, 1.0), (0, 1, 1.0), (1, 0, 1.0), (1, 1, 1.0), (2, 1, 3.0), (1, 2, 2.0)];
        let matrix = Csr::from_triplets(3, 3, &entries).expect("legal entries");
        let mut expected = vec![0.0; 3];
        BlockFactors::new(&matrix, 1).solve(&mut expected, &[1.0, 2.0, 3.0]);
        for (found, _) in on_devices(&matrix, 1.0, 1, &[1.0, 2.0, 3.0]) {
            assert_eq!(found, bits(&expected));
        }
    }

    /// 100 rows in a line have 100 levels, and two colours: the factors are those of the host for
    /// the matrix with even rows first.
    #[test]
    fn many_levels_are_two_colours() {
        for (size, k) in [([100, 1, 1], 1), ([70, 2, 1], 2)] {
            let matrix = box_matrix(size, k);
            let n = matrix.n_rows() / k;
            let r = numbers(3, n * k);
            // New numbers of elements: red ones first, in their order.
            let parity = |element: usize| (element % size[0] + element / size[0]) % 2;
            let order: Vec<usize> = (0..2).flat_map(|colour| (0..n).filter(move |&element| parity(element) == colour)).collect();
            let mut number = vec![0; n];
            order.iter().enumerate().for_each(|(new, &old)| number[old] = new);
            let to = |unknown: usize| unknown / n * n + number[unknown % n];
            let entries: Vec<_> = (0..n * k).flat_map(|row| matrix.row(row).map(move |(column, value)| (row, column, value))).collect();
            let entries: Vec<_> = entries.into_iter().map(|(row, column, value)| (to(row), to(column), value)).collect();
            let permuted = Csr::from_triplets(n * k, n * k, &entries).expect("legal entries");
            let (mut r_permuted, mut z_permuted) = (vec![0.0; n * k], vec![0.0; n * k]);
            r.iter().enumerate().for_each(|(unknown, &r)| r_permuted[to(unknown)] = r);
            BlockFactors::new(&permuted, k).solve(&mut z_permuted, &r_permuted);
            let expected: Vec<f64> = (0..n * k).map(|unknown| z_permuted[to(unknown)]).collect();
            for (found, note) in on_devices(&matrix, 1.0, k, &r) {
                assert_eq!(found, bits(&expected));
                let levels = size[0] + size[1] - 1;
                let words = format!("factorised in the order of 2 colours, because rows in their own order have {levels} levels");
                assert_eq!(note, Some(words));
            }
        }
    }

    #[test]
    fn singular_blocks_and_large_ones_are_left_to_the_host() {
        // The block of element 0 is (1 1; 1 1).
        let entries = [(0, 0, 1.0), (0, 2, 1.0), (2, 0, 1.0), (2, 2, 1.0), (1, 1, 2.0), (3, 3, 4.0)];
        let singular = Csr::from_triplets(4, 4, &entries).expect("legal entries");
        let large = box_matrix([2, 1, 1], 5);
        for mut rt in spaces() {
            for (matrix, k) in [(&singular, 2), (&large, 5)] {
                let a = rt.matrix(matrix.clone()).expect("memory");
                assert!(rt.factorize(&a, 1.0, k).expect("a device").is_none());
                assert!(rt.block_jacobi(&a, 1.0, k).expect("a device").is_none());
            }
        }
    }
}
