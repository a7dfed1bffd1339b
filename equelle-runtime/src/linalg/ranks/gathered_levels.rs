//! The lower levels of multigrid over ranks, whole on every rank.

use std::cell::RefCell;

use super::gathered::gathered_everywhere;
use super::matrix::RankMatrix;
use super::numbering::Numbering;
use super::space::{InMemory, RankSpace, sure};
use crate::error::Error;
use crate::linalg::precond::amg::AmgOptions;
use crate::linalg::space::host::HostSpace;
use crate::linalg::space::host_matrix::HostMatrix;
use crate::linalg::space::vector_space::Preconditioner;
use crate::rank_id::RankId;

/// The lower levels, whole on every rank: a residual is gathered, and each takes its part of the
/// result.
pub(super) struct GatheredLevels {
    levels: Box<dyn Preconditioner<HostSpace>>,
    /// Where the unknowns of each rank begin, and their number: `[ranks + 1]`.
    starts: Vec<usize>,
    work: RefCell<Work>,
}

/// A whole residual, a whole correction, and their space.
struct Work {
    space: HostSpace,
    r: Vec<f64>,
    z: Vec<f64>,
}

impl GatheredLevels {
    /// Levels of a matrix that is gathered, whose own unknowns have these fields.
    ///
    /// # Errors
    /// `Backend` if another rank has ended.
    pub(super) fn new(
        space: &mut RankSpace<HostSpace>,
        a: &RankMatrix<HostMatrix>,
        fields: &[u8],
        options: &AmgOptions,
    ) -> Result<Self, Error> {
        let numbering = Numbering::new(&space.ranks, &[a.n_rows()])?;
        let matrix = gathered_everywhere(&space.ranks, a, &numbering)?;
        let fields = space.ranks.lists(fields)?.concat();
        let mut starts = vec![0];
        (0..space.ranks.n_ranks()).for_each(|rank| starts.push(starts[rank] + numbering.n_of(rank)));
        let n = matrix.n_rows();
        let whole = HostSpace::on(space.inner.threads(), n).interruptible(&space.interrupt);
        let mut whole = if space.inner.in_double_precision { whole.in_double_precision() } else { whole };
        let levels = sure(whole.multigrid_for(matrix, fields, options));
        Ok(GatheredLevels { levels, starts, work: RefCell::new(Work { space: whole, r: vec![0.0; n], z: vec![0.0; n] }) })
    }

    /// Gathers a residual.
    fn gather<S: InMemory>(&self, space: &RankSpace<S>, whole: &mut [f64], own: &S::Vector) -> Result<(), Error> {
        let (ranks, rank) = (&space.ranks, space.ranks.rank().index());
        space.checked()?;
        let others = || (0..ranks.n_ranks()).filter(|&other| other != rank);
        let part = &mut whole[self.starts[rank]..self.starts[rank + 1]];
        part.iter_mut().enumerate().for_each(|(at, value)| *value = S::get(own, at));
        others().try_for_each(|other| ranks.send(RankId(other as u32), part.iter().copied()))?;
        others().try_for_each(|other| {
            let part = &mut whole[self.starts[other]..self.starts[other + 1]];
            ranks.receive(RankId(other as u32), |at, value| part[at] = value)
        })
    }
}

impl<S: InMemory> Preconditioner<RankSpace<S>> for GatheredLevels {
    fn apply(&self, space: &mut RankSpace<S>, z: &mut S::Vector, r: &S::Vector) {
        let work = &mut *self.work.borrow_mut();
        let gathered = self.gather(space, &mut work.r, r);
        space.note(gathered);
        self.levels.apply(&mut work.space, &mut work.z, &work.r);
        let rank = space.ranks.rank().index();
        let part = &work.z[self.starts[rank]..self.starts[rank + 1]];
        part.iter().enumerate().for_each(|(at, value)| S::set(z, at, *value));
    }

    fn is_variable(&self) -> bool {
        self.levels.is_variable()
    }

    fn is_rounded(&self) -> bool {
        self.levels.is_rounded()
    }
}
