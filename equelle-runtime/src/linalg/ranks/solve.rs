//! The entry point: the driver on ranks.

use super::matrix::RankMatrix;
use super::numbering::Numbering;
use super::space::RankSpace;
use crate::error::Error;
use crate::linalg::driver::cache::LinearCache;
use crate::linalg::driver::error::LinearError;
use crate::linalg::driver::options::LinearOptions;
use crate::linalg::driver::solution::Solution;
use crate::linalg::driver::solve::solve_in;
use crate::linalg::space::host::HostSpace;
use crate::linalg::space::host_matrix::HostMatrix;

/// [`solve_in`] on ranks, compiled in this crate. Each rank calls it with its rows; `ends` are
/// those of the fields of its own unknowns, and the right-hand side and the solution have these.
/// Results, errors and notes are the same on all ranks; rows and unknowns in messages have their
/// number in the whole system: by field, then by rank, then as in `ends`.
///
/// # Errors
/// The outer error: `Backend` if another rank has ended. The inner one: as for
/// [`crate::linalg::solve()`].
///
/// # Panics
/// As for [`solve_in`].
pub fn solve_on_ranks(
    space: &mut RankSpace<HostSpace>,
    matrix: &RankMatrix<HostMatrix>,
    ends: &[usize],
    rhs: Vec<f64>,
    options: &LinearOptions,
    cache: &mut LinearCache<RankSpace<HostSpace>>,
) -> Result<Result<Solution, LinearError>, Error> {
    space.numbering = Numbering::new(&space.ranks, ends)?;
    space.tell_parts(matrix)?;
    let solved = solve_in(space, matrix, ends, rhs, options, cache)?;
    space.checked()?;
    Ok(solved)
}

impl RankSpace<HostSpace> {
    /// Tells the other ranks the size of this part of a matrix.
    pub(super) fn tell_parts(&mut self, matrix: &RankMatrix<HostMatrix>) -> Result<(), Error> {
        if matrix.parts().is_some() {
            return Ok(());
        }
        let own = matrix.shape();
        let all = self.gather([own.rows as f64, own.columns as f64, own.entries as f64])?;
        matrix.set_parts(super::matrix::parts_of(&all, own.fields));
        Ok(())
    }
}
