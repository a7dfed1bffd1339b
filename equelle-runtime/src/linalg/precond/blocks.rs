//! Matrices of several fields on the same elements in block form, and the block Jacobi
//! preconditioner.

use std::sync::Arc;

use crate::linalg::matrix::block_matrix::{BlockMatrix, BlockPattern};
use crate::linalg::matrix::csr::Csr;
use crate::linalg::matrix::dense::{ROUND_OFF, generalised_inverse, solve_in_place};

/// A square matrix of `[k, k]` blocks in compressed rows (BSR). Block (i, j) couples the equations
/// of element i to the unknowns of element j. Each row has its diagonal block.
#[derive(Clone, Debug, PartialEq)]
pub struct BlockCsr {
    pattern: Arc<BlockPattern>,
    values: Vec<f64>,
}

impl BlockCsr {
    /// Converts a matrix whose rows and columns are field by field: unknown `f` of element `e` has
    /// number `f n + e`, and so has its equation.
    ///
    /// # Panics
    /// If the matrix is not square or its size no multiple of `k`.
    pub fn new(matrix: &Csr, k: usize) -> BlockCsr {
        assert!(matrix.n_rows() == matrix.n_cols() && k > 0 && matrix.n_rows().is_multiple_of(k), "k fields on the same elements");
        let n = matrix.n_rows() / k;
        let size = k * k;
        let mut row_ptr = Vec::with_capacity(n + 1);
        row_ptr.push(0);
        let mut col_idx: Vec<u32> = Vec::with_capacity(matrix.n_entries() / size + n);
        let mut values: Vec<f64> = Vec::with_capacity(col_idx.capacity() * size);
        // Position of each column in the current row, plus 1.
        let mut place = vec![0usize; n];
        let mut columns: Vec<u32> = Vec::new();
        for row in 0..n {
            columns.clear();
            columns.push(row as u32);
            place[row] = 1;
            for equation in 0..k {
                for (column, _) in matrix.row(equation * n + row) {
                    let element = column % n;
                    if place[element] == 0 {
                        place[element] = 1;
                        columns.push(element as u32);
                    }
                }
            }
            columns.sort_unstable();
            let start = col_idx.len();
            columns.iter().enumerate().for_each(|(position, &column)| place[column as usize] = start + position);
            col_idx.extend_from_slice(&columns);
            values.resize(col_idx.len() * size, 0.0);
            for equation in 0..k {
                for (column, value) in matrix.row(equation * n + row) {
                    values[place[column % n] * size + equation * k + column / n] = value;
                }
            }
            columns.iter().for_each(|&column| place[column as usize] = 0);
            row_ptr.push(col_idx.len());
        }
        BlockCsr { pattern: Arc::new(BlockPattern::from_valid(k, row_ptr, col_idx)), values }
    }

    /// Converts a [`BlockMatrix`], with the same pattern, in one pass over the values.
    pub fn of(matrix: &BlockMatrix) -> BlockCsr {
        let pattern = Arc::clone(matrix.pattern());
        let k = pattern.k();
        let size = k * k;
        let mut values = vec![0.0; size * pattern.n_blocks()];
        for (element, ends) in pattern.row_ptr().windows(2).enumerate() {
            let blocks = &mut values[size * ends[0]..size * ends[1]];
            for equation in 0..k {
                for unknown in 0..k {
                    let places = blocks[equation * k + unknown..].iter_mut().step_by(size);
                    places.zip(matrix.derivatives(equation, element, unknown)).for_each(|(place, value)| *place = *value);
                }
            }
        }
        BlockCsr { pattern, values }
    }

    /// Size of a block.
    pub fn k(&self) -> usize {
        self.pattern.k()
    }

    /// Number of rows of blocks.
    pub fn n_rows(&self) -> usize {
        self.pattern.n()
    }

    /// Row pointers, columns, and blocks row by row: `[n + 1]`, `[n_blocks]`, `[n_blocks, k, k]`.
    pub fn parts(&self) -> (&[usize], &[u32], &[f64]) {
        (self.pattern.row_ptr(), self.pattern.col_idx(), &self.values)
    }

    pub(super) fn parts_mut(&mut self) -> (&[usize], &[u32], &mut [f64]) {
        (self.pattern.row_ptr(), self.pattern.col_idx(), &mut self.values)
    }

    /// Columns of a row, ascending.
    ///
    /// # Panics
    /// If there is no such row.
    pub fn columns(&self, row: usize) -> &[u32] {
        self.pattern.columns(row)
    }

    /// Index of the diagonal block of a row among all blocks.
    ///
    /// # Panics
    /// If there is no such row.
    pub fn diagonal(&self, row: usize) -> usize {
        self.pattern.diagonal(row)
    }

    /// A block, row by row.
    ///
    /// # Panics
    /// If there is no such block.
    pub fn block(&self, index: usize) -> &[f64] {
        let size = self.k() * self.k();
        &self.values[index * size..(index + 1) * size]
    }
}

/// The inverse of a block, `None` if it is singular.
fn inverse(k: usize, block: &[f64]) -> Option<Vec<f64>> {
    let mut inverse = vec![0.0; k * k];
    write_inverse(k, block, &mut inverse, &mut vec![0.0; k * k + k]).then_some(inverse)
}

/// Writes the inverse of a block; `false` if it is singular, then `inverse` is undefined.
/// `workspace` is a workspace of `[k k + k]`.
pub(super) fn write_inverse(k: usize, block: &[f64], inverse: &mut [f64], workspace: &mut [f64]) -> bool {
    let (copy, column) = workspace.split_at_mut(k * k);
    for j in 0..k {
        column.fill(0.0);
        column[j] = 1.0;
        copy.copy_from_slice(block);
        if !solve_in_place(k, copy, column) {
            return false;
        }
        (0..k).for_each(|i| inverse[i * k + j] = column[i]);
    }
    true
}

/// The inverse of the block diagonal (block Jacobi) as a matrix. A singular block gets its
/// generalised inverse, a zero block the identity.
pub fn block_diagonal_inverse(matrix: &Csr, k: usize) -> Csr {
    let blocks = BlockCsr::new(matrix, k);
    inverse_of_diagonal(k, blocks.n_rows(), |row, block| block.copy_from_slice(blocks.block(blocks.diagonal(row))))
}

/// [`block_diagonal_inverse`] of a matrix of blocks; reads only the diagonal.
pub fn inverse_of_block_diagonal(matrix: &BlockMatrix) -> Csr {
    let pattern = matrix.pattern();
    inverse_of_diagonal(pattern.k(), pattern.n(), |row, block| matrix.block(pattern.diagonal(row), row, block))
}

/// `diagonal` writes the diagonal block of a row.
fn inverse_of_diagonal(k: usize, n: usize, diagonal: impl Fn(usize, &mut [f64])) -> Csr {
    let identity = |i: usize, j: usize| if i == j { 1.0 } else { 0.0 };
    let mut block = vec![0.0; k * k];
    let inverses: Vec<Vec<f64>> = (0..n)
        .map(|row| {
            diagonal(row, &mut block);
            let inverse = inverse(k, &block).unwrap_or_else(|| generalised_inverse(k, &block, ROUND_OFF));
            let usable = inverse.iter().all(|value| value.is_finite()) && inverse.iter().any(|value| *value != 0.0);
            if usable { inverse } else { (0..k * k).map(|at| identity(at / k, at % k)).collect() }
        })
        .collect();
    let mut row_ptr = Vec::with_capacity(n * k + 1);
    row_ptr.push(0);
    let (mut col_idx, mut values) = (Vec::with_capacity(n * k * k), Vec::with_capacity(n * k * k));
    for equation in 0..k {
        for (row, inverse) in inverses.iter().enumerate() {
            for field in 0..k {
                col_idx.push((field * n + row) as u32);
                values.push(inverse[equation * k + field]);
            }
            row_ptr.push(col_idx.len());
        }
    }
    Csr::from_valid(n * k, n * k, row_ptr, col_idx, values)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_of_two_fields() {
        // Two elements; equation 0 of element 0 (row 0) depends on unknown 1 of element 1 (column
        // 3).
        let matrix =
            Csr::from_triplets(4, 4, &[(0, 0, 1.0), (0, 3, 2.0), (1, 1, 3.0), (2, 0, 4.0), (2, 2, 5.0), (3, 3, 6.0)]).expect("legal");
        let blocks = BlockCsr::new(&matrix, 2);
        assert_eq!(blocks.columns(0), [0, 1]);
        assert_eq!(blocks.columns(1), [1]);
        assert_eq!((blocks.block(0), blocks.block(1)), (&[1.0, 0.0, 4.0, 5.0][..], &[0.0, 2.0, 0.0, 0.0][..]));
        assert_eq!((blocks.diagonal(1), blocks.block(2)), (2, &[3.0, 0.0, 0.0, 6.0][..]));
        // (1 0; 4 5)^-1 = (1 0; -0.8 0.2)
        let inverse = block_diagonal_inverse(&matrix, 2);
        // One quotient and one product each.
        let near = |row: usize, column: usize, value: f64| assert!((inverse.entry(row, column) - value).abs() < 1e-15, "{inverse:?}");
        let places = [(0, 0, 1.0), (0, 2, 0.0), (2, 0, -0.8), (2, 2, 0.2), (1, 1, 1.0 / 3.0), (3, 3, 1.0 / 6.0), (0, 3, 0.0)];
        places.into_iter().for_each(|(row, column, value)| near(row, column, value));
    }
}
