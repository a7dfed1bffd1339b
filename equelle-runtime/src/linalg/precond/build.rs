//! A preconditioner by name.

use super::amg::AmgOptions;
use super::blocks::BlockCsr;
use super::cpr::Cpr;
use super::fsai::{Fsai, FsaiFactors, FsaiPattern};
use super::ilu::{BlockFactors, Ilu};
use super::simple::{BlockJacobi, Jacobi};
use crate::linalg::driver::options::Preconditioning;
use crate::linalg::matrix::block_matrix::BlockMatrix;
use crate::linalg::matrix::csr::Csr;
use crate::linalg::matrix::sparse_rows::SparseRows;
use crate::linalg::space::matrix_space::{MatrixSpace, MultigridSpace};
use crate::linalg::space::vector_space::{Identity, Preconditioner};

/// What a set-up needs to know besides the matrix.
#[derive(Clone, Copy, Debug)]
pub struct Setting<'a> {
    /// Ends of the blocks of unknowns and equations, one a field.
    pub ends: &'a [usize],
    /// Whether the preconditioner is to be symmetric positive definite: the matrix is symmetric and its diagonal positive.
    pub symmetric: bool,
    /// Whether the level of some unknown is open.
    pub singular: bool,
    /// Number of the elliptic field, from 0, for the two-stage preconditioner.
    pub pressure: usize,
    /// For multigrid; [`AmgOptions::symmetric`] and [`AmgOptions::singular`] are taken from above.
    pub amg: AmgOptions,
}

/// Incomplete factors of a matrix; without them where the run is asked to end.
pub(super) fn incomplete<S: MatrixSpace + 'static>(space: &mut S, blocks: BlockCsr) -> Result<Box<dyn Preconditioner<S>>, S::Error> {
    Ok(match BlockFactors::of_unless(blocks, &|| space.is_interrupted()) {
        Some(factors) => Box::new(Ilu::new(space, factors)?),
        None => Box::new(Identity),
    })
}

/// Sets up a preconditioner. Those by blocks ask for fields of one size. Where the run is asked to end meanwhile ([`crate::linalg::VectorSpace::is_interrupted`]), it soon returns any
/// other one, and the caller is to look.
///
/// # Errors
/// Out of memory.
///
/// # Panics
/// If the matrix is not square, or fields differ in size where they must not.
pub fn build<S: MultigridSpace>(
    space: &mut S,
    matrix: &Csr,
    kind: Preconditioning,
    setting: Setting<'_>,
) -> Result<Box<dyn Preconditioner<S>>, S::Error> {
    let k = setting.ends.len().max(1);
    let amg = AmgOptions { symmetric: setting.symmetric, singular: setting.singular, ..setting.amg };
    Ok(match kind {
        Preconditioning::None => Box::new(Identity),
        Preconditioning::Jacobi => Box::new(Jacobi::new(space, &matrix.diagonal())?),
        Preconditioning::BlockJacobi => Box::new(BlockJacobi::new(space, matrix, k)?),
        Preconditioning::Ilu0 => incomplete(space, BlockCsr::new(matrix, 1))?,
        Preconditioning::BlockIlu0 => incomplete(space, BlockCsr::new(matrix, k))?,
        Preconditioning::Fsai => {
            match FsaiFactors::new_unless(matrix, setting.symmetric, FsaiPattern::default(), &|| space.is_interrupted()) {
                Some(factors) => Box::new(Fsai::new(space, factors)?),
                None => Box::new(Identity),
            }
        }
        Preconditioning::Amg => space.multigrid(matrix.clone(), setting.ends, &amg)?,
        Preconditioning::Cpr => Box::new(Cpr::new(space, matrix, k, setting.pressure, &amg)?),
    })
}

/// As [`build()`], of a matrix of blocks. Those by blocks take them as they are; ILU(0) by points, FSAI and multigrid for all unknowns at once know none, and the matrix is brought
/// into compressed rows for them.
///
/// # Errors
/// Out of memory.
pub fn build_of_blocks<S: MultigridSpace>(
    space: &mut S,
    matrix: &BlockMatrix,
    kind: Preconditioning,
    setting: Setting<'_>,
) -> Result<Box<dyn Preconditioner<S>>, S::Error> {
    let amg = AmgOptions { symmetric: setting.symmetric, singular: setting.singular, ..setting.amg };
    Ok(match kind {
        Preconditioning::Jacobi => {
            let diagonal: Vec<f64> = (0..matrix.n_rows()).map(|row| matrix.entry(row, row)).collect();
            Box::new(Jacobi::new(space, &diagonal)?)
        }
        Preconditioning::BlockJacobi => Box::new(BlockJacobi::of_blocks(space, matrix)?),
        Preconditioning::BlockIlu0 => incomplete(space, BlockCsr::of(matrix))?,
        Preconditioning::Cpr => Box::new(Cpr::of_blocks(space, matrix, setting.pressure, &amg)?),
        Preconditioning::None | Preconditioning::Ilu0 | Preconditioning::Fsai | Preconditioning::Amg => {
            return build(space, matrix.rows(), kind, setting);
        }
    })
}
