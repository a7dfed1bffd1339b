//! The levels of a hierarchy, and what a back-end does to make them.

use super::AmgOptions;
use crate::linalg::space::host::HostSpace;
use crate::linalg::space::matrix_space::MatrixSpace;
use crate::linalg::space::system_space::SystemSpace;

/// A level: the matrix, how it is smoothed, and the way to the next one.
#[derive(Clone, Debug)]
pub struct LevelParts<S: MatrixSpace> {
    /// Its matrix `[n, n]`.
    pub matrix: S::Matrix,
    /// From the next level `[n, n_next]`.
    pub prolongation: S::Matrix,
    /// The matrix times that, `[n, n_next]`, with which the residual after a correction takes less than with the matrix, where [`image_is_worth_it`](super::setup::image_is_worth_it).
    pub image: Option<S::Matrix>,
    /// To the next level `[n_next, n]`.
    pub restriction: S::Matrix,
    /// Inverse of the diagonal, 0 where it is 0: `[n]`.
    pub inverse_diagonal: S::Vector,
    /// Estimate of the largest eigenvalue of `D^-1 A`.
    pub radius: f64,
}

/// What the coarsest level does.
pub enum CoarseParts<S: MatrixSpace> {
    /// A product with the (generalised) inverse, all entries stored.
    Direct(S::Matrix),
    /// It is too large for that, because coarsening came to an end: sweeps of the smoother, which its prolongation to nothing makes a level.
    Smoothed(Box<LevelParts<S>>),
}

/// All levels.
pub struct Hierarchy<S: MatrixSpace> {
    /// Finest first, without the coarsest.
    pub levels: Vec<LevelParts<S>>,
    /// The coarsest one.
    pub coarse: CoarseParts<S>,
    /// Unknowns of each level, the coarsest included.
    pub sizes: Vec<usize>,
    /// Stored entries of all matrices over those of the first.
    pub complexity: f64,
}

/// What came of coarsening.
pub enum Coarsened<S: Coarsen> {
    /// A level, the matrix of the next one, and the fields of its unknowns.
    Level(LevelParts<S>, S::Matrix, S::Fields),
    /// It does not help: the matrix itself.
    Ended(S::Matrix),
}

/// Coarsening where the computation happens. The driver, [`Hierarchy::new`], needs no more of a matrix.
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
    /// The largest row sum of magnitudes of `D A` with a diagonal matrix, and whether `D` has a negative element.
    ///
    /// # Errors
    /// The device was lost.
    fn row_bound(&mut self, a: &Self::Matrix, d: &Self::Vector) -> Result<(f64, bool), Self::Error>;
    /// The square root of each element.
    ///
    /// # Errors
    /// Out of memory.
    fn roots(&mut self, x: &Self::Vector) -> Result<Self::Vector, Self::Error>;
    /// One over the square root of each element, 0 where that is not finite, times a number: of all elements over a power of two
    /// near the largest, so that the bits do not depend on the unit.
    ///
    /// # Errors
    /// Out of memory.
    fn reciprocal_roots(&mut self, x: &Self::Vector) -> Result<Self::Vector, Self::Error>;
    /// Pseudo-random numbers in `[-1, 1)`, always the same: [`noise`](super::noise::noise).
    ///
    /// # Errors
    /// Out of memory.
    fn noise(&mut self, n: usize) -> Result<Self::Vector, Self::Error>;
    /// The largest eigenvalue of `D A` for a symmetric matrix and a diagonal matrix without negative elements, to some per cent from below, where a back-end has a way of its own.
    ///
    /// # Errors
    /// Out of memory.
    fn estimate_radius(&mut self, _a: &Self::Matrix, _d: &Self::Vector) -> Result<Option<f64>, Self::Error> {
        Ok(None)
    }
}

impl Hierarchy<HostSpace> {
    /// The same elsewhere.
    ///
    /// # Errors
    /// Out of memory.
    pub fn brought_to<S: MatrixSpace>(self, space: &mut S) -> Result<Hierarchy<S>, S::Error> {
        let levels = self.levels.into_iter().map(|level| level.brought_to(space)).collect::<Result<_, _>>()?;
        let coarse = match self.coarse {
            CoarseParts::Direct(inverse) => CoarseParts::Direct(space.matrix(inverse.into_rows())?),
            CoarseParts::Smoothed(level) => CoarseParts::Smoothed(Box::new(level.brought_to(space)?)),
        };
        Ok(Hierarchy { levels, coarse, sizes: self.sizes, complexity: self.complexity })
    }
}

impl LevelParts<HostSpace> {
    fn brought_to<S: MatrixSpace>(self, space: &mut S) -> Result<LevelParts<S>, S::Error> {
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
