//! Incomplete LU factorisation without fill (ILU(0)) as a preconditioner, and its [`factors`].

mod factors;

use super::blocks::BlockCsr;
use crate::linalg::space::matrix_space::MatrixSpace;
use crate::linalg::space::vector_space::{Identity, Preconditioner};

pub use factors::BlockFactors;

/// ILU(0) as a preconditioner. Memory traffic: 12 bytes an entry and 48 a row.
#[derive(Debug)]
pub struct Ilu<S: MatrixSpace> {
    factors: S::Factors,
}

impl<S: MatrixSpace> Ilu<S> {
    /// Takes factors from the host.
    ///
    /// # Errors
    /// Out of memory.
    pub fn new(space: &mut S, factors: BlockFactors) -> Result<Ilu<S>, S::Error> {
        Ok(Ilu { factors: space.factors(factors)? })
    }
}

/// Incomplete factors of a matrix; no preconditioner if the run is interrupted.
pub(in crate::linalg) fn incomplete<S: MatrixSpace + 'static>(
    space: &mut S,
    blocks: BlockCsr,
) -> Result<Box<dyn Preconditioner<S>>, S::Error> {
    Ok(match BlockFactors::factor_unless(blocks, &|| space.is_interrupted()) {
        Some(factors) => Box::new(Ilu::new(space, factors)?),
        None => Box::new(Identity),
    })
}

impl<S: MatrixSpace> Preconditioner<S> for Ilu<S> {
    fn apply(&self, space: &mut S, z: &mut S::Vector, r: &S::Vector) {
        space.solve_factors(z, &self.factors, r);
    }
}
