//! Preconditioners that are a single product.

use super::blocks::{block_diagonal_inverse, inverse_of_block_diagonal};
use crate::linalg::matrix::block_matrix::BlockMatrix;
use crate::linalg::matrix::csr::Csr;
use crate::linalg::space::matrix_space::MatrixSpace;
use crate::linalg::space::vector_space::Preconditioner;

/// The inverse of an element of the diagonal; 1 where it is 0 or its inverse overflows.
pub(in crate::linalg) fn inverse_of(d: f64) -> f64 {
    if (1.0 / d).is_finite() { 1.0 / d } else { 1.0 }
}

/// The inverse of the diagonal (Jacobi). Memory traffic: 32 bytes an element.
#[derive(Debug)]
pub struct Jacobi<S: MatrixSpace> {
    inverse: S::Vector,
}

impl<S: MatrixSpace> Jacobi<S> {
    /// From the diagonal. The factor is 1 where an element is 0 or its inverse overflows.
    ///
    /// # Errors
    /// Out of memory.
    pub fn new(space: &mut S, diagonal: &[f64]) -> Result<Jacobi<S>, S::Error> {
        Ok(Jacobi { inverse: space.vector(diagonal.iter().map(|&d| inverse_of(d)).collect())? })
    }

    /// Takes the inverse of the diagonal.
    pub fn from_inverse(inverse: S::Vector) -> Jacobi<S> {
        Jacobi { inverse }
    }
}

impl<S: MatrixSpace> Preconditioner<S> for Jacobi<S> {
    fn apply(&self, space: &mut S, z: &mut S::Vector, r: &S::Vector) {
        space.add_diagonal(z, 0.0, 1.0, &self.inverse, r);
    }

    fn advance(&self, space: &mut S, r: &mut S::Vector, a: &S::Scalar, q: &S::Vector, z: &mut S::Vector) -> S::Scalar {
        space.advance_diagonal(r, a, q, z, &self.inverse)
    }

    fn apply_dot(&self, space: &mut S, z: &mut S::Vector, r: &S::Vector) -> S::Scalar {
        space.apply_diagonal_dot(z, &self.inverse, r)
    }

    fn step(&self, space: &mut S, xp: [&mut S::Vector; 2], ab: [&S::Scalar; 2], [z, r]: [&S::Vector; 2]) {
        space.step_diagonal(xp, ab, [z, &self.inverse, r]);
    }
}

/// The inverse of the block diagonal of fields on the same elements (block Jacobi). Memory traffic:
/// 12 k + 32 bytes an unknown.
#[derive(Debug)]
pub struct BlockJacobi<S: MatrixSpace> {
    inverse: S::Matrix,
}

impl<S: MatrixSpace> BlockJacobi<S> {
    /// From a matrix of `k` fields.
    ///
    /// # Errors
    /// Out of memory.
    ///
    /// # Panics
    /// If the matrix is not square or its size no multiple of `k`.
    pub fn new(space: &mut S, matrix: &Csr, k: usize) -> Result<BlockJacobi<S>, S::Error> {
        Ok(BlockJacobi { inverse: space.matrix(block_diagonal_inverse(matrix, k))? })
    }

    /// From a matrix of blocks.
    ///
    /// # Errors
    /// Out of memory.
    pub fn from_blocks(space: &mut S, matrix: &BlockMatrix) -> Result<BlockJacobi<S>, S::Error> {
        Ok(BlockJacobi { inverse: space.matrix(inverse_of_block_diagonal(matrix))? })
    }

    /// Takes the inverse of the block diagonal.
    pub fn from_inverse(inverse: S::Matrix) -> BlockJacobi<S> {
        BlockJacobi { inverse }
    }
}

impl<S: MatrixSpace> Preconditioner<S> for BlockJacobi<S> {
    fn apply(&self, space: &mut S, z: &mut S::Vector, r: &S::Vector) {
        space.multiply(z, &self.inverse, r);
    }
}
