//! Set-up of a multigrid hierarchy on the device.

use super::coarsest::coarsest;
use super::hierarchy::{Coarsen, Coarsened, Hierarchy, LevelParts};
use super::{AmgCycle, AmgOptions};

pub use super::hierarchy::CoarseParts;
pub use super::noise::{NOISE, NOISE_SEED, noise};

/// A coarse grid must have less than this part of the unknowns.
const MIN_COARSENING: f64 = 0.8;

impl<S: Coarsen> Hierarchy<S> {
    /// Sets up the levels for a matrix; `ends` are the ends of the fields. Only the coarsest matrix
    /// goes to the host. An interrupted run gets the levels so far, which must not be used.
    ///
    /// # Errors
    /// Out of memory.
    ///
    /// # Panics
    /// If the matrix is not square.
    pub fn new(space: &mut S, matrix: S::Matrix, ends: &[usize], options: &AmgOptions) -> Result<Self, S::Error> {
        let fields = space.fields(ends)?;
        Hierarchy::with_fields(space, matrix, fields, options)
    }

    /// The same for unknowns of these fields.
    ///
    /// # Errors
    /// Out of memory.
    ///
    /// # Panics
    /// If the matrix is not square.
    pub fn with_fields(space: &mut S, matrix: S::Matrix, fields: S::Fields, options: &AmgOptions) -> Result<Self, S::Error> {
        let first = S::parts(&matrix).whole;
        let Descent { levels, mut sizes, entries, rest, .. } = Descent::new(space, matrix, fields, options, options.coarse_size)?;
        let complexity = entries as f64 / first.entries.max(1) as f64;
        sizes.push(S::parts(&rest).whole.rows);
        let coarse = coarsest(space, &levels, rest, options)?;
        Ok(Hierarchy { levels, coarse, sizes, complexity })
    }
}

/// Levels down to a matrix that is not coarsened further.
pub(in crate::linalg) struct Descent<S: Coarsen> {
    /// Finest first.
    pub levels: Vec<LevelParts<S>>,
    /// Unknowns of each.
    pub sizes: Vec<usize>,
    /// Entries of all matrices, with the last.
    pub entries: usize,
    /// The matrix of the next level.
    pub rest: S::Matrix,
    /// The fields of its unknowns.
    pub fields: S::Fields,
    /// Its strength of couplings.
    pub theta: f64,
}

impl<S: Coarsen> Descent<S> {
    /// Coarsens until at most `size` unknowns are left, of all ranks.
    ///
    /// # Errors
    /// Out of memory.
    ///
    /// # Panics
    /// If the matrix is not square.
    pub fn new(space: &mut S, matrix: S::Matrix, fields: S::Fields, options: &AmgOptions, size: usize) -> Result<Self, S::Error> {
        let shape = S::shape(&matrix);
        assert_eq!(shape.columns, shape.rows, "a square matrix");
        let entries = S::parts(&matrix).whole.entries;
        let mut down = Descent { levels: Vec::new(), sizes: Vec::new(), entries, rest: matrix, fields, theta: options.strength };
        loop {
            let n = S::parts(&down.rest).whole.rows;
            if n <= size || down.levels.len() >= options.max_levels || space.is_interrupted() {
                return Ok(down);
            }
            match space.coarsen(down.rest, &down.fields, down.theta, options)? {
                Coarsened::Level(level, coarse, coarse_fields) => {
                    down.levels.push(level);
                    down.sizes.push(n);
                    down.entries += S::parts(&coarse).whole.entries;
                    (down.rest, down.fields) = (coarse, coarse_fields);
                    down.theta *= options.strength_factor;
                }
                Coarsened::Ended(rest) => return Ok(Descent { rest, ..down }),
            }
        }
    }
}

/// True if a coarse grid of this size is worth a level.
pub fn is_worth_it(coarse: usize, fine: usize) -> bool {
    coarse as f64 <= MIN_COARSENING * fine as f64
}

/// True if the image of a prolongation saves work: where it has fewer entries than the matrix, as
/// on all levels of a grid except the finest.
pub fn image_is_worth_it(matrix_entries: usize, image_entries: usize) -> bool {
    image_entries < matrix_entries
}

/// True if a K-cycle visits the next level twice: only where the work below shrinks by this factor.
pub(super) fn visits_twice(cycle: AmgCycle, entries: usize, entries_next: usize) -> bool {
    cycle == AmgCycle::K && entries_next * 3 <= entries
}
