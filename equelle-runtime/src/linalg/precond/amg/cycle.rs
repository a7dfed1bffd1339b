//! V- and K-cycles over the operations of a back-end.

use std::cell::RefCell;

use super::AmgOptions;
use super::hierarchy::{CoarseParts, Coarsen, Hierarchy, LevelParts};
use super::setup::visits_twice;
use super::smoother::{Scratch, Smoother, Work};
use crate::linalg::space::matrix_space::MatrixSpace;
use crate::linalg::space::vector_space::Preconditioner;

/// A level on the device: four operators (matrix, smoother, restriction, prolongation) and work
/// vectors.
struct Level<S: MatrixSpace> {
    matrix: S::Matrix,
    restriction: S::Matrix,
    prolongation: S::Matrix,
    smoother: Smoother<S>,
    scratch: RefCell<Scratch<S::Vector>>,
    /// Right-hand side and solution of the next level.
    next: RefCell<(S::Vector, S::Vector)>,
    /// Work vectors of the K-cycle, which visits the next level twice.
    krylov: Option<RefCell<Krylov<S::Vector>>>,
}

/// Search directions of the next level and their images.
#[derive(Debug)]
struct Krylov<V> {
    first: V,
    first_image: V,
    second: V,
    second_image: V,
}

/// The coarsest level.
enum Coarse<S: MatrixSpace> {
    Direct(S::Matrix),
    Smoothed(Box<Level<S>>),
    /// Another preconditioner, with levels of its own.
    Other(Box<dyn Preconditioner<S>>),
}

/// One multigrid cycle as a preconditioner. A V-cycle with a symmetric smoother is symmetric
/// positive definite for such a matrix; a K-cycle depends on its argument nonlinearly.
pub struct Amg<S: MatrixSpace> {
    levels: Vec<Level<S>>,
    coarse: Coarse<S>,
    symmetric: bool,
}

/// Sweeps on a coarsest level that is too large for a direct solve.
const COARSE_SWEEPS: usize = 4;

impl<S: Coarsen> Amg<S> {
    /// Sets up the cycle for a matrix whose unknowns of each field end at `ends`.
    ///
    /// # Errors
    /// Out of memory.
    ///
    /// # Panics
    /// If the matrix is not square.
    pub fn set_up(space: &mut S, matrix: S::Matrix, ends: &[usize], options: &AmgOptions) -> Result<Amg<S>, S::Error> {
        let hierarchy = Hierarchy::new(space, matrix, ends, options)?;
        Amg::new(space, hierarchy, options)
    }
}

impl<S: MatrixSpace> Amg<S> {
    /// Takes a hierarchy that is set up.
    ///
    /// # Errors
    /// Out of memory.
    pub fn new(space: &mut S, hierarchy: Hierarchy<S>, options: &AmgOptions) -> Result<Amg<S>, S::Error> {
        let coarse = match hierarchy.coarse {
            CoarseParts::Direct(inverse) => Coarse::Direct(inverse),
            CoarseParts::Smoothed(level) => {
                let options = AmgOptions { sweeps: Some(COARSE_SWEEPS * options.smoothing().1), ..*options };
                Coarse::Smoothed(Box::new(Level::new(space, *level, &options, false)?))
            }
        };
        Amg::over(space, hierarchy.levels, coarse, options)
    }

    /// Takes levels that are set up, above those of another preconditioner.
    ///
    /// # Errors
    /// Out of memory.
    pub fn above(
        space: &mut S,
        levels: Vec<LevelParts<S>>,
        coarse: Box<dyn Preconditioner<S>>,
        options: &AmgOptions,
    ) -> Result<Amg<S>, S::Error> {
        Amg::over(space, levels, Coarse::Other(coarse), options)
    }

    fn over(space: &mut S, parts: Vec<LevelParts<S>>, coarse: Coarse<S>, options: &AmgOptions) -> Result<Amg<S>, S::Error> {
        let entries: Vec<usize> = parts.iter().map(|level| S::parts(&level.matrix).whole.entries).collect();
        let mut levels = Vec::with_capacity(parts.len());
        for (number, level) in parts.into_iter().enumerate() {
            // The coarsest level is solved exactly: a second visit would add nothing.
            let twice = entries.get(number + 1).is_some_and(|next| visits_twice(options.cycle, entries[number], *next));
            levels.push(Level::new(space, level, options, twice)?);
        }
        Ok(Amg { levels, coarse, symmetric: options.symmetric })
    }

    /// `x` becomes about `A^-1 b` on a level. Returns `b . x` if `ask` is set and the last pass
    /// computes it.
    fn solve(&self, space: &mut S, number: usize, x: &mut S::Vector, b: &S::Vector, ask: bool) -> Option<S::Scalar> {
        let Some(level) = self.levels.get(number) else {
            match &self.coarse {
                Coarse::Direct(inverse) => space.multiply(x, inverse, b),
                Coarse::Other(coarse) => coarse.apply(space, x, b),
                Coarse::Smoothed(level) => {
                    let scratch = &mut *level.scratch.borrow_mut();
                    level.smoother.solve(space, &mut Work { a: &level.matrix, b, x, scratch });
                }
            }
            return None;
        };
        let scratch = &mut *level.scratch.borrow_mut();
        let (next_b, next_x) = &mut *level.next.borrow_mut();
        let mut work = Work { a: &level.matrix, b, x, scratch };
        level.smoother.before(space, &mut work);
        space.multiply(next_b, &level.restriction, &work.scratch.r);
        match (&level.krylov, self.levels.get(number + 1)) {
            (Some(krylov), Some(next)) => self.solve_twice(space, number + 1, next, next_x, next_b, &mut krylov.borrow_mut()),
            _ => {
                self.solve(space, number + 1, next_x, next_b, false);
            }
        }
        level.smoother.after(space, &mut work, &level.prolongation, next_x, ask)
    }

    /// Two iterations of flexible CG, or of GCR for a nonsymmetric matrix; overwrites `b`. Dot
    /// products that vanish give steps of zero.
    fn solve_twice(
        &self,
        space: &mut S,
        number: usize,
        level: &Level<S>,
        x: &mut S::Vector,
        b: &mut S::Vector,
        krylov: &mut Krylov<S::Vector>,
    ) {
        let Krylov { first, first_image, second, second_image } = krylov;
        self.solve(space, number, first, b, false);
        space.multiply(first_image, &level.matrix, first);
        // Dots with the direction minimise the error in the A-norm, dots with its image the
        // residual.
        let (rho, alpha) = {
            let test = if self.symmetric { &*first } else { &*first_image };
            (space.dot(test, first_image), space.dot(test, b))
        };
        let step = space.ratio(&alpha, &rho);
        space.sub_scaled(b, &step, first_image);
        self.solve(space, number, second, b, false);
        space.multiply(second_image, &level.matrix, second);
        let test = if self.symmetric { &*second } else { &*second_image };
        let gamma = space.dot(test, first_image);
        let beta = space.dot(test, second_image);
        let alpha = space.dot(test, b);
        // second' = second - (gamma / rho) first is conjugate to first.
        let overlap = space.ratio(&gamma, &rho);
        let lost = space.mul(&overlap, &gamma);
        let rho = space.sub(&beta, &lost);
        let rho = space.zero_if_cancelled(&rho, &beta);
        let second_step = space.ratio(&alpha, &rho);
        let back = space.mul(&overlap, &second_step);
        let first_step = space.sub(&step, &back);
        space.clear(x);
        space.add_scaled(x, &first_step, first);
        space.add_scaled(x, &second_step, second);
    }
}

impl<S: MatrixSpace> Level<S> {
    fn new(space: &mut S, level: LevelParts<S>, options: &AmgOptions, twice: bool) -> Result<Level<S>, S::Error> {
        let (n, next) = (S::shape(&level.matrix).rows, S::shape(&level.prolongation).columns);
        let krylov = if twice {
            let mut zeros = || space.zeros_of(next);
            Some(RefCell::new(Krylov { first: zeros()?, first_image: zeros()?, second: zeros()?, second_image: zeros()? }))
        } else {
            None
        };
        for matrix in [&level.matrix, &level.prolongation, &level.restriction].into_iter().chain(&level.image) {
            space.will_multiply(matrix);
        }
        let smoother = Smoother::new(level.inverse_diagonal, level.radius, level.image, options);
        Ok(Level {
            scratch: RefCell::new(smoother.scratch(space, n)?),
            smoother,
            next: RefCell::new((space.zeros_of(next)?, space.zeros_of(next)?)),
            matrix: level.matrix,
            restriction: level.restriction,
            prolongation: level.prolongation,
            krylov,
        })
    }
}

impl<S: MatrixSpace> Preconditioner<S> for Amg<S> {
    fn apply(&self, space: &mut S, z: &mut S::Vector, r: &S::Vector) {
        self.solve(space, 0, z, r, false);
    }

    /// The sum is computed in the last step of the finest smoother, if that is a polynomial of at
    /// least two steps.
    fn apply_dot(&self, space: &mut S, z: &mut S::Vector, r: &S::Vector) -> S::Scalar {
        match self.solve(space, 0, z, r, true) {
            Some(sum) => sum,
            None => space.dot(r, z),
        }
    }

    fn is_variable(&self) -> bool {
        let is_other = matches!(&self.coarse, Coarse::Other(coarse) if coarse.is_variable());
        is_other || self.levels.iter().any(|level| level.krylov.is_some())
    }

    fn is_rounded(&self) -> bool {
        self.is_variable() || matches!(&self.coarse, Coarse::Other(coarse) if coarse.is_rounded())
    }
}

#[cfg(test)]
mod tests {
    use super::super::AmgSmoother;
    use super::*;
    use crate::linalg::matrix::csr::Csr;
    use crate::linalg::space::host::HostSpace;

    /// Without levels above it, 600 unknowns are too many for an inverse: eight sweeps of damped
    /// Jacobi are all. For `(10, -1, -1)` the eigenvalues of `D^-1 A` are from 0.8 to 1.2, so that
    /// each sweep with a damping from 2/3 to 1 leaves at most half of the residual.
    #[test]
    fn a_coarsest_level_that_is_too_large_is_smoothed() {
        let n = 600;
        let entries: Vec<_> = (0..n).flat_map(|i| [(i, i, 10.0), (i, (i + 1) % n, -1.0), ((i + 1) % n, i, -1.0)]).collect();
        let matrix = Csr::from_triplets(n, n, &entries).expect("legal");
        let mut space = HostSpace::new(n);
        let options = AmgOptions { smoother: Some(AmgSmoother::Jacobi), max_levels: 0, ..AmgOptions::default() };
        let Ok(amg) = Amg::set_up(&mut space, matrix.clone().into(), &[n], &options);
        assert!(amg.levels.is_empty() && matches!(amg.coarse, Coarse::Smoothed(_)));
        let b: Vec<f64> = (0..n).map(|i| ((i * 7) % 11) as f64 - 5.0).collect();
        let mut x = vec![0.0; n];
        amg.apply(&mut space, &mut x, &b);
        let norm = |values: &[f64]| values.iter().map(|value| value * value).sum::<f64>().sqrt();
        let left: Vec<f64> = (0..n).map(|row| b[row] - matrix.row(row).map(|(column, value)| value * x[column]).sum::<f64>()).collect();
        assert!(norm(&left) <= 0.5f64.powi(8) * norm(&b), "{}", norm(&left) / norm(&b));
    }
}
