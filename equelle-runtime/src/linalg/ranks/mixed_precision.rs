//! Multigrid over ranks with levels in single precision, as that of one process
//! ([`crate::linalg::precond::mixed_precision`]): set up in double precision, then converted.

use std::cell::RefCell;

use super::gathered_levels::GatheredLevels;
use super::matrix::RankMatrix;
use super::space::RankSpace;
use crate::error::Error;
use crate::linalg::matrix::csr::Csr;
use crate::linalg::precond::amg::{Amg, AmgOptions, LevelParts};
use crate::linalg::precond::mixed_precision::matrix::F32Matrix;
use crate::linalg::precond::mixed_precision::space::F32Space;
use crate::linalg::precond::mixed_precision::{
    convert_level, range_of, scale_of, suits, to_double_precision, to_single_precision, unit_of,
};
use crate::linalg::space::host::HostSpace;
use crate::linalg::space::host_matrix::HostMatrix;
use crate::linalg::space::system_space::SystemSpace;
use crate::linalg::space::vector_space::{Preconditioner, VectorSpace};
use crate::operators::Reduction;

/// Most own entries of a matrix: prolongations and their images have at most a few times as many.
const MAX_ENTRIES: usize = (u32::MAX / 8) as usize;

/// A multigrid cycle over ranks whose levels are in single precision, above gathered ones.
pub(super) struct MixedPrecisionLevels {
    amg: Amg<RankSpace<F32Space>>,
    /// Factor of the matrix, a power of two.
    scale: f64,
    work: RefCell<Work>,
}

struct Work {
    space: RankSpace<F32Space>,
    r: Vec<f32>,
    z: Vec<f32>,
}

impl MixedPrecisionLevels {
    /// The factor of a matrix for levels in single precision; `None` if they have to be in double
    /// precision. The same on all ranks.
    ///
    /// # Errors
    /// `Backend` if another rank has ended.
    pub fn scale(space: &mut RankSpace<HostSpace>, a: &RankMatrix<HostMatrix>, options: &AmgOptions) -> Result<Option<f64>, Error> {
        let own = a.own().rows();
        let (least, most) = range_of(&own.diagonal());
        // An infinite range where 32 bits may not count the entries of a level.
        let mut range = [if own.n_entries() > MAX_ENTRIES { f64::INFINITY } else { most }, -least];
        space.combine_all(Reduction::Max, &mut range);
        space.checked()?;
        let [most, least] = [range[0], -range[1]];
        Ok(scale_of(least, most).filter(|_| suits(options) && !space.inner().in_double_precision))
    }

    /// Converts levels, for a matrix times [`MixedPrecisionLevels::scale`]; `below` are those of
    /// the scaled matrix.
    ///
    /// # Errors
    /// `Backend` if another rank has ended.
    pub fn new(
        space: &mut RankSpace<HostSpace>,
        levels: Vec<LevelParts<RankSpace<HostSpace>>>,
        below: GatheredLevels,
        scale: f64,
        options: &AmgOptions,
    ) -> Result<Self, Error> {
        let n = levels.first().map_or(0, |level| level.matrix.n_rows());
        let matrices: Vec<_> = levels.iter().map(|level| converted(&level.matrix, scale, F32Matrix::for_level)).collect();
        // The way around an image decides what ranks send.
        let mut by_diagonals: Vec<f64> = matrices.iter().map(|matrix| if matrix.own().is_by_diagonals() { 1.0 } else { 0.0 }).collect();
        space.combine_all(Reduction::Min, &mut by_diagonals);
        space.checked()?;
        let of_level = |((level, matrix), by_diagonals)| {
            convert_level(level, matrix, by_diagonals != 1.0, scale, |matrix, factor| converted(matrix, factor, F32Matrix::new))
        };
        let levels = levels.into_iter().zip(matrices).zip(by_diagonals).map(of_level).collect();
        let singles = F32Space::of(space.inner(), n);
        let mut singles = space.with_inner(singles);
        let amg = Amg::above(&mut singles, levels, Box::new(below), options)?;
        Ok(MixedPrecisionLevels { amg, scale, work: RefCell::new(Work { space: singles, r: vec![0.0; n], z: vec![0.0; n] }) })
    }

    /// Runs a cycle on `r`, whose size is about `size`, if known.
    fn cycle(&self, space: &mut RankSpace<HostSpace>, z: &mut [f64], r: &Vec<f64>, size: Option<f64>) {
        let size = unit_of(size, || space.largest(r));
        let Work { space: singles, r: narrow, z: made } = &mut *self.work.borrow_mut();
        let threads = space.inner().threads().clone();
        to_single_precision(&threads, narrow, r, 1.0 / size);
        self.amg.apply(singles, made, narrow);
        space.note(singles.checked());
        let of_cycle = singles.inner().traffic.take();
        let traffic = &mut space.inner().traffic;
        traffic.add(of_cycle);
        traffic.each(r.len(), 8 + 4 + 4 + 8);
        to_double_precision(&threads, z, made, size * self.scale);
    }
}

impl Preconditioner<RankSpace<HostSpace>> for MixedPrecisionLevels {
    fn apply(&self, space: &mut RankSpace<HostSpace>, z: &mut Vec<f64>, r: &Vec<f64>) {
        self.cycle(space, z, r, None);
    }

    fn is_variable(&self) -> bool {
        self.amg.is_variable()
    }

    fn is_rounded(&self) -> bool {
        true
    }

    fn apply_dot_with_norm(&self, space: &mut RankSpace<HostSpace>, z: &mut Vec<f64>, r: &Vec<f64>, square: &f64) -> f64 {
        self.cycle(space, z, r, Some(square.sqrt()));
        space.dot(r, z)
    }
}

/// A matrix times a factor in single precision, own entries as `convert` stores them.
fn converted(a: &RankMatrix<HostMatrix>, factor: f64, convert: fn(&Csr, f64) -> F32Matrix) -> RankMatrix<F32Matrix> {
    a.converted(convert(a.own().rows(), factor), a.rim().changed(|_, _, value| factor * value))
}
