//! The levels of a multigrid hierarchy, and the operations of a back-end that build them.

use super::AmgOptions;
use crate::linalg::space::host::HostSpace;
use crate::linalg::space::matrix_space::MatrixSpace;
use crate::linalg::space::system_space::SystemSpace;

/// A level: its matrix, its smoother, the transfer to the next level.
#[derive(Clone, Debug)]
pub struct LevelParts<S: MatrixSpace> {
    /// Its matrix `[n, n]`.
    pub matrix: S::Matrix,
    /// Prolongation from the next level `[n, n_next]`.
    pub prolongation: S::Matrix,
    /// The matrix times the prolongation, `[n, n_next]`, for a cheaper residual after a correction,
    /// where [`image_is_worth_it`](super::setup::image_is_worth_it).
    pub image: Option<S::Matrix>,
    /// Restriction to the next level `[n_next, n]`.
    pub restriction: S::Matrix,
    /// Inverse of the diagonal, 0 where it is 0: `[n]`.
    pub inverse_diagonal: S::Vector,
    /// Estimate of the largest eigenvalue of `D^-1 A`.
    pub radius: f64,
}

/// The solver of the coarsest level.
pub enum CoarseParts<S: MatrixSpace> {
    /// A product with the (generalised) inverse, all entries stored.
    Direct(S::Matrix),
    /// Sweeps of the smoother, where coarsening ended above the size of a direct solve; a level
    /// with an empty prolongation.
    Smoothed(Box<LevelParts<S>>),
}

/// All levels.
pub struct Hierarchy<S: MatrixSpace> {
    /// Finest first, without the coarsest.
    pub levels: Vec<LevelParts<S>>,
    /// The coarsest level.
    pub coarse: CoarseParts<S>,
    /// Unknowns of each level, with the coarsest.
    pub sizes: Vec<usize>,
    /// Operator complexity: stored entries of all matrices over those of the first.
    pub complexity: f64,
}

/// The result of a coarsening step.
pub enum Coarsened<S: Coarsen> {
    /// A level, the matrix of the next one, and the fields of its unknowns.
    Level(LevelParts<S>, S::Matrix, S::Fields),
    /// Coarsening does not pay: the matrix itself.
    Ended(S::Matrix),
}

/// Coarsening on the device: all that [`Hierarchy::new`] needs of a back-end.
pub trait Coarsen: SystemSpace + Sized {
    /// The field of each unknown of a level.
    type Fields;

    /// The fields of unknowns that end at `ends`.
    ///
    /// # Errors
    /// Out of memory.
    fn fields(&mut self, ends: &[usize]) -> Result<Self::Fields, Self::Error>;
    /// A level for this matrix; couplings above the part `theta` of the largest ones are strong.
    ///
    /// # Errors
    /// Out of memory.
    fn coarsen(
        &mut self,
        matrix: Self::Matrix,
        fields: &Self::Fields,
        theta: f64,
        options: &AmgOptions,
    ) -> Result<Coarsened<Self>, Self::Error>;
    /// Inverse of the diagonal, 0 where it is 0 or its inverse overflows: `[n]`.
    ///
    /// # Errors
    /// Out of memory.
    fn diagonal_inverse(&mut self, a: &Self::Matrix) -> Result<Self::Vector, Self::Error>;
    /// The largest row sum of magnitudes of `D A` with a diagonal matrix, and whether `D` has a
    /// negative element.
    ///
    /// # Errors
    /// The device was lost.
    fn row_bound(&mut self, a: &Self::Matrix, d: &Self::Vector) -> Result<(f64, bool), Self::Error>;
    /// The square root of each element.
    ///
    /// # Errors
    /// Out of memory.
    fn roots(&mut self, x: &Self::Vector) -> Result<Self::Vector, Self::Error>;
    /// One over the square root of each element, 0 where that is not finite, times a number: the
    /// elements are scaled by a power of two near the largest, so that the bits do not depend on
    /// the unit.
    ///
    /// # Errors
    /// Out of memory.
    fn reciprocal_roots(&mut self, x: &Self::Vector) -> Result<Self::Vector, Self::Error>;
    /// Reproducible pseudo-random numbers in `[-1, 1)`: [`noise`](super::noise::noise).
    ///
    /// # Errors
    /// Out of memory.
    fn noise(&mut self, n: usize) -> Result<Self::Vector, Self::Error>;
    /// The largest eigenvalue of `D A`, from below to some per cent, for a symmetric matrix and a
    /// nonnegative diagonal matrix; `None` if the back-end has no method of its own.
    ///
    /// # Errors
    /// Out of memory.
    fn estimate_radius(&mut self, _a: &Self::Matrix, _d: &Self::Vector) -> Result<Option<f64>, Self::Error> {
        Ok(None)
    }
}

impl Hierarchy<HostSpace> {
    /// Copies the hierarchy to the device of another space.
    ///
    /// # Errors
    /// Out of memory.
    pub fn copy_to<S: MatrixSpace>(self, space: &mut S) -> Result<Hierarchy<S>, S::Error> {
        let levels = self.levels.into_iter().map(|level| level.copy_to(space)).collect::<Result<_, _>>()?;
        let coarse = match self.coarse {
            CoarseParts::Direct(inverse) => CoarseParts::Direct(space.matrix(inverse.into_rows())?),
            CoarseParts::Smoothed(level) => CoarseParts::Smoothed(Box::new(level.copy_to(space)?)),
        };
        Ok(Hierarchy { levels, coarse, sizes: self.sizes, complexity: self.complexity })
    }
}

impl LevelParts<HostSpace> {
    fn copy_to<S: MatrixSpace>(self, space: &mut S) -> Result<LevelParts<S>, S::Error> {
        Ok(LevelParts {
            matrix: space.matrix(self.matrix.into_rows())?,
            prolongation: space.matrix(self.prolongation.into_rows())?,
            image: self.image.map(|image| space.matrix(image.into_rows())).transpose()?,
            restriction: space.matrix(self.restriction.into_rows())?,
            inverse_diagonal: space.vector(self.inverse_diagonal)?,
            radius: self.radius,
        })
    }
}
