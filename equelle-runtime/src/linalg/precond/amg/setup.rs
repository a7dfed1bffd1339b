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
        let first = S::shape(&matrix);
        assert_eq!(first.columns, first.rows, "a square matrix");
        let mut fields = space.fields(ends)?;
        let mut levels: Vec<LevelParts<S>> = Vec::new();
        let mut sizes = vec![first.rows];
        let mut entries = first.entries;
        let mut current = matrix;
        let mut theta = options.strength;
        while S::shape(&current).rows > options.coarse_size && levels.len() < options.max_levels && !space.is_interrupted() {
            match space.coarsen(current, &fields, theta, options)? {
                Coarsened::Level(level, coarse, coarse_fields) => {
                    let shape = S::shape(&coarse);
                    levels.push(level);
                    sizes.push(shape.rows);
                    entries += shape.entries;
                    (current, fields) = (coarse, coarse_fields);
                    theta *= options.strength_factor;
                }
                Coarsened::Ended(matrix) => {
                    current = matrix;
                    break;
                }
            }
        }
        let complexity = entries as f64 / first.entries.max(1) as f64;
        let coarse = coarsest(space, &levels, current, options)?;
        Ok(Hierarchy { levels, coarse, sizes, complexity })
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
