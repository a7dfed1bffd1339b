//! Incomplete LU factorisation without fill, by points or by blocks.
//!
//! J. A. Meijerink and H. A. van der Vorst, An iterative solution method for linear systems of
//! which the coefficient matrix is a symmetric M-matrix, Math. Comp. 31 (1977),
//! doi:10.1090/S0025-5718-1977-0438681-4; Y. Saad, Iterative Methods for Sparse Linear Systems, 2nd
//! ed., SIAM, 2003, section 10.3, doi:10.1137/1.9780898718003. For a symmetric matrix the factors
//! are those of incomplete Cholesky, so CG may use them.
//!
//! In a system of `k` fields on the same elements, the block of an element has its `k` unknowns and
//! `k` equations. Blocks are inverted with pivoting, so an equation need not contain its own
//! unknown. One field is the case `k = 1`.

use crate::linalg::matrix::csr::Csr;
use crate::linalg::matrix::dense::{ROUND_OFF, generalised_inverse};
use crate::linalg::matrix::schedule::Schedule;
use crate::linalg::precond::blocks::{BlockCsr, write_inverse};
use crate::linalg::space::vector_space::ROWS_PER_CHECK;

/// `A` is about `(D + L) D^-1 (D + U)` with strictly triangular `L` and `U` by blocks and a block
/// diagonal `D`, on the pattern of `A`.
///
/// Blocks are `[k, k]` row by row. Unknown `f` of element `e` is number `f n + e` of a vector,
/// where `n` is the number of elements.
#[derive(Clone, Debug)]
pub struct BlockFactors {
    blocks: BlockCsr,
    /// Inverses of the diagonal blocks: `[n, k, k]`.
    inverse: Vec<f64>,
    /// Index of the diagonal block in each row: `[n]`.
    diagonal: Vec<usize>,
    n_replaced_pivots: usize,
}

/// A pivot below this part of its diagonal entry is replaced by that entry: only the error of the
/// missing fill is left.
const MIN_PIVOT: f64 = 1e-10;

impl BlockFactors {
    /// Factorises a matrix of `k` fields on the same elements.
    ///
    /// # Panics
    /// If the number of rows is no multiple of `k`, or the matrix not square.
    pub fn new(matrix: &Csr, k: usize) -> BlockFactors {
        BlockFactors::of(BlockCsr::new(matrix, k))
    }

    /// Factorises a matrix of blocks, in its memory.
    pub fn of(blocks: BlockCsr) -> BlockFactors {
        BlockFactors::begun(blocks, &|| false).0
    }

    /// [`BlockFactors::of`] that can be interrupted: `None` once `stop`, called every
    /// [`ROWS_PER_CHECK`] rows, returns true.
    pub fn factor_unless(blocks: BlockCsr, stop: &dyn Fn() -> bool) -> Option<BlockFactors> {
        let (factors, is_complete) = BlockFactors::begun(blocks, stop);
        is_complete.then_some(factors)
    }

    /// Factors of the rows before `stop`; true if these are all rows.
    fn begun(blocks: BlockCsr, stop: &dyn Fn() -> bool) -> (BlockFactors, bool) {
        let (n, k) = (blocks.n_rows(), blocks.k());
        let diagonal: Vec<usize> = (0..n).map(|row| blocks.diagonal(row)).collect();
        let mut factors = BlockFactors { inverse: vec![0.0; n * k * k], blocks, diagonal, n_replaced_pivots: 0 };
        let is_complete = if k == 1 { factors.factorize_points(stop) } else { factors.factorize_blocks(stop) };
        (factors, is_complete)
    }

    fn factorize_points(&mut self, stop: &dyn Fn() -> bool) -> bool {
        let n = self.blocks.n_rows();
        let (row_ptr, col_idx, values) = self.blocks.parts_mut();
        // Position of each column in the current row, plus 1.
        let mut place = vec![0usize; n];
        for row in 0..n {
            if row.is_multiple_of(ROWS_PER_CHECK) && stop() {
                return false;
            }
            let range = row_ptr[row]..row_ptr[row + 1];
            range.clone().for_each(|at| place[col_idx[at] as usize] = at + 1);
            let original = values[self.diagonal[row]];
            for at in range.start..self.diagonal[row] {
                let pivot_row = col_idx[at] as usize;
                let factor = values[at] * self.inverse[pivot_row];
                if factor == 0.0 {
                    continue;
                }
                for other in self.diagonal[pivot_row] + 1..row_ptr[pivot_row + 1] {
                    let target = place[col_idx[other] as usize];
                    if target > 0 {
                        values[target - 1] -= factor * values[other];
                    }
                }
            }
            range.for_each(|at| place[col_idx[at] as usize] = 0);
            let pivot = values[self.diagonal[row]];
            let usable = pivot.is_finite() && pivot.abs() > MIN_PIVOT * original.abs() && pivot * original >= 0.0;
            let pivot = if usable {
                pivot
            } else {
                self.n_replaced_pivots += 1;
                if original == 0.0 { 1.0 } else { original }
            };
            let inverse = 1.0 / pivot;
            self.inverse[row] = if inverse.is_finite() { inverse } else { 1.0 };
        }
        true
    }

    /// Common block sizes are constants, as in [`BlockFactors::solve_blocks`].
    fn factorize_blocks(&mut self, stop: &dyn Fn() -> bool) -> bool {
        match self.k() {
            2 => self.factorize_blocks_of(2, stop),
            3 => self.factorize_blocks_of(3, stop),
            4 => self.factorize_blocks_of(4, stop),
            k => self.factorize_blocks_of(k, stop),
        }
    }

    #[inline(always)]
    fn factorize_blocks_of(&mut self, k: usize, stop: &dyn Fn() -> bool) -> bool {
        let n = self.blocks.n_rows();
        let size = k * k;
        let (row_ptr, col_idx, values) = self.blocks.parts_mut();
        let mut place = vec![0usize; n];
        let mut factor = vec![0.0; size];
        let mut original = vec![0.0; size];
        let mut workspace = vec![0.0; size + k];
        for row in 0..n {
            if row.is_multiple_of(ROWS_PER_CHECK) && stop() {
                return false;
            }
            let range = row_ptr[row]..row_ptr[row + 1];
            range.clone().for_each(|at| place[col_idx[at] as usize] = at + 1);
            let own = self.diagonal[row] * size;
            original.copy_from_slice(&values[own..own + size]);
            for at in range.start..self.diagonal[row] {
                let pivot_row = col_idx[at] as usize;
                multiply(k, &mut factor, &values[at * size..(at + 1) * size], &self.inverse[pivot_row * size..(pivot_row + 1) * size]);
                for other in self.diagonal[pivot_row] + 1..row_ptr[pivot_row + 1] {
                    let target = place[col_idx[other] as usize];
                    if target > 0 {
                        subtract_product(k, values, (target - 1) * size, &factor, other * size);
                    }
                }
            }
            range.for_each(|at| place[col_idx[at] as usize] = 0);
            let inverse = &mut self.inverse[row * size..(row + 1) * size];
            if !regular_inverse(k, &values[own..own + size], &original, inverse, &mut workspace) {
                self.n_replaced_pivots += 1;
                inverse.copy_from_slice(&generalised_inverse(k, &original, ROUND_OFF));
            }
        }
        true
    }

    /// Unknowns of an element.
    pub fn k(&self) -> usize {
        self.blocks.k()
    }

    /// Number of elements.
    pub fn n_blocks(&self) -> usize {
        self.blocks.n_rows()
    }

    /// Number of blocks of L and U without the diagonal.
    pub fn n_outside_diagonal(&self) -> usize {
        self.blocks.parts().1.len() - self.n_blocks()
    }

    /// The blocks of L and U on the pattern of the matrix; the diagonal ones are replaced by
    /// [`BlockFactors::inverse`].
    pub fn blocks(&self) -> &BlockCsr {
        &self.blocks
    }

    /// Inverses of the blocks of D: `[n, k, k]`.
    pub fn inverse(&self) -> &[f64] {
        &self.inverse
    }

    /// Number of pivots that were replaced by their diagonal entries, because elimination left
    /// almost nothing of them.
    pub fn n_replaced_pivots(&self) -> usize {
        self.n_replaced_pivots
    }

    /// Level schedule of the elements: those of a level are independent, with the result of the
    /// sequential order.
    pub fn levels(&self) -> Schedule {
        let (row_ptr, col_idx, _) = self.blocks.parts();
        Schedule::levels(row_ptr, col_idx)
    }

    /// Index of the diagonal block in each row: `[n]`.
    pub fn diagonal(&self) -> &[usize] {
        &self.diagonal
    }

    /// `z = (L D U)^-1 r` by two substitutions, row by row.
    ///
    /// # Panics
    /// If the vectors do not have the size of the matrix.
    pub fn solve(&self, z: &mut [f64], r: &[f64]) {
        assert!(z.len() == r.len() && z.len() == self.n_blocks() * self.k(), "vectors of the matrix's size");
        if self.k() == 1 { self.solve_points(z, r) } else { self.solve_blocks(z, r) }
    }

    fn solve_points(&self, z: &mut [f64], r: &[f64]) {
        let (row_ptr, col_idx, values) = self.blocks.parts();
        let n = self.n_blocks();
        for row in 0..n {
            let mut sum = r[row];
            let range = row_ptr[row]..self.diagonal[row];
            for (&column, value) in col_idx[range.clone()].iter().zip(&values[range]) {
                sum -= value * z[column as usize];
            }
            z[row] = sum * self.inverse[row];
        }
        for row in (0..n).rev() {
            let mut sum = 0.0;
            let range = self.diagonal[row] + 1..row_ptr[row + 1];
            for (&column, value) in col_idx[range.clone()].iter().zip(&values[range]) {
                sum += value * z[column as usize];
            }
            z[row] -= sum * self.inverse[row];
        }
    }

    /// Common block sizes are constants, for which loops over a block are unrolled.
    fn solve_blocks(&self, z: &mut [f64], r: &[f64]) {
        match self.k() {
            2 => self.solve_blocks_of(2, z, r),
            3 => self.solve_blocks_of(3, z, r),
            4 => self.solve_blocks_of(4, z, r),
            k => self.solve_blocks_of(k, z, r),
        }
    }

    #[inline(always)]
    fn solve_blocks_of(&self, k: usize, z: &mut [f64], r: &[f64]) {
        let (row_ptr, col_idx, values) = self.blocks.parts();
        let n = self.n_blocks();
        let size = k * k;
        let mut sum = vec![0.0; k];
        let subtract = |sum: &mut [f64], range: std::ops::Range<usize>, z: &[f64]| {
            for (&column, block) in col_idx[range.clone()].iter().zip(values[range.start * size..range.end * size].chunks_exact(size)) {
                for g in 0..k {
                    let x = z[g * n + column as usize];
                    for f in 0..k {
                        sum[f] -= block[f * k + g] * x;
                    }
                }
            }
        };
        for row in 0..n {
            (0..k).for_each(|f| sum[f] = r[f * n + row]);
            subtract(&mut sum, row_ptr[row]..self.diagonal[row], z);
            let inverse = &self.inverse[row * size..(row + 1) * size];
            for f in 0..k {
                z[f * n + row] = product(&inverse[f * k..(f + 1) * k], &sum);
            }
        }
        for row in (0..n).rev() {
            sum.fill(0.0);
            subtract(&mut sum, self.diagonal[row] + 1..row_ptr[row + 1], z);
            let inverse = &self.inverse[row * size..(row + 1) * size];
            for f in 0..k {
                z[f * n + row] += product(&inverse[f * k..(f + 1) * k], &sum);
            }
        }
    }
}

fn product(a: &[f64], b: &[f64]) -> f64 {
    let mut sum = 0.0;
    for (a, b) in a.iter().zip(b) {
        sum += a * b;
    }
    sum
}

/// `c = a b` for blocks.
#[inline(always)]
fn multiply(k: usize, c: &mut [f64], a: &[f64], b: &[f64]) {
    c.fill(0.0);
    for f in 0..k {
        for h in 0..k {
            let factor = a[f * k + h];
            for g in 0..k {
                c[f * k + g] += factor * b[h * k + g];
            }
        }
    }
}

/// Subtracts from the block at `target` the product of `factor` and the block at `other`, which
/// differs from it.
#[inline(always)]
fn subtract_product(k: usize, values: &mut [f64], target: usize, factor: &[f64], other: usize) {
    for f in 0..k {
        for h in 0..k {
            let factor = factor[f * k + h];
            for g in 0..k {
                values[target + f * k + g] -= factor * values[other + h * k + g];
            }
        }
    }
}

/// Writes the inverse, unless the block is singular or elimination left almost nothing of the
/// original.
#[inline(always)]
fn regular_inverse(k: usize, block: &[f64], original: &[f64], inverse: &mut [f64], workspace: &mut [f64]) -> bool {
    let size = |block: &[f64]| block.iter().fold(0.0f64, |most, value| most.max(value.abs()));
    block.iter().all(|value| value.is_finite()) && size(block) > MIN_PIVOT * size(original) && write_inverse(k, block, inverse, workspace)
}
