//! Construction of a preconditioner by name.

use super::amg::AmgOptions;
use super::blocks::BlockCsr;
use super::cpr::Cpr;
use super::fsai::{Fsai, FsaiFactors, FsaiPattern};
use super::ilu::incomplete;
use super::simple::{BlockJacobi, Jacobi};
use crate::linalg::driver::options::Preconditioning;
use crate::linalg::matrix::block_matrix::BlockMatrix;
use crate::linalg::matrix::csr::Csr;
use crate::linalg::matrix::sparse_rows::SparseRows;
use crate::linalg::space::matrix_space::MultigridSpace;
use crate::linalg::space::vector_space::{Identity, Preconditioner};

/// Properties of the system that a set-up depends on.
#[derive(Clone, Copy, Debug)]
pub struct Setting<'a> {
    /// Ends of the fields of unknowns and equations.
    pub ends: &'a [usize],
    /// True if the preconditioner must be symmetric positive definite: the matrix is symmetric and
    /// its diagonal positive.
    pub symmetric: bool,
    /// True if the matrix is singular up to a constant per connected component.
    pub singular: bool,
    /// Number of the elliptic field, from 0, for CPR.
    pub pressure: usize,
    /// Options of multigrid; [`AmgOptions::symmetric`] and [`AmgOptions::singular`] are replaced by
    /// those above.
    pub amg: AmgOptions,
}

/// Sets up a preconditioner. Block preconditioners need fields of one size. In an interrupted run
/// ([`crate::linalg::VectorSpace::is_interrupted`]) it soon returns any other preconditioner, and
/// the caller must check.
///
/// # Errors
/// Out of memory.
///
/// # Panics
/// If the matrix is not square, or a block preconditioner gets fields of different sizes.
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

/// [`build()`] for a matrix of blocks. Block preconditioners take the blocks as they are; pointwise
/// ILU(0), FSAI and AMG get the matrix in compressed rows.
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
        Preconditioning::BlockJacobi => Box::new(BlockJacobi::from_blocks(space, matrix)?),
        Preconditioning::BlockIlu0 => incomplete(space, BlockCsr::of(matrix))?,
        Preconditioning::Cpr => Box::new(Cpr::from_blocks(space, matrix, setting.pressure, &amg)?),
        Preconditioning::None | Preconditioning::Ilu0 | Preconditioning::Fsai | Preconditioning::Amg => {
            return build(space, matrix.rows(), kind, setting);
        }
    })
}
