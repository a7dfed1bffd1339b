//! Incomplete LU factorisation without fill (ILU(0)) as a preconditioner, and its [`factors`].

mod factors;

use crate::linalg::space::matrix_space::MatrixSpace;
use crate::linalg::space::vector_space::Preconditioner;

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

impl<S: MatrixSpace> Preconditioner<S> for Ilu<S> {
    fn apply(&self, space: &mut S, z: &mut S::Vector, r: &S::Vector) {
        space.solve_factors(z, &self.factors, r);
    }
}
