//! Multigrid over ranks: smoothed aggregation with aggregates that stay on a rank, while
//! prolongations and products cross ranks. A level with fewer than [`GATHERED_BELOW`] unknowns is
//! gathered, and every rank goes on by itself with the whole of it.

use std::sync::Arc;

use super::columns::HaloColumns;
use super::gathered_levels::GatheredLevels;
use super::matrix::RankMatrix;
use super::mirrored::mirrored;
use super::mixed_precision::MixedPrecisionLevels;
use super::space::{RankSpace, sure};
use crate::error::Error;
use crate::linalg::matrix::csr::Csr;
use crate::linalg::matrix::scaling::power_of_two_near;
use crate::linalg::precond::Setting;
use crate::linalg::precond::amg::aggregate::{Couplings, NONE, StrongCouplings, aggregate, strong};
use crate::linalg::precond::amg::coarsest::coarsest;
use crate::linalg::precond::amg::host::{field_of_groups, inverse_diagonal, mean_magnitudes, smoothed_rows, tentative};
use crate::linalg::precond::amg::noise::{NOISE_SEED, noises_from};
use crate::linalg::precond::amg::setup::{Descent, image_is_worth_it, is_worth_it};
use crate::linalg::precond::amg::spectrum::spectral_radius;
use crate::linalg::precond::amg::{Amg, AmgOptions, Coarsen, Coarsened, Hierarchy, LevelParts};
use crate::linalg::space::host::HostSpace;
use crate::linalg::space::host_matrix::HostMatrix;
use crate::linalg::space::matrix_space::{MatrixSpace, MultigridSpace};
use crate::linalg::space::vector_space::Preconditioner;
use crate::operators::Reduction;
use crate::rank_id::RankId;

/// Unknowns of all ranks below which a level is gathered: a cycle over these costs each rank about
/// as much as the messages of levels that are spread.
const GATHERED_BELOW: usize = 20_000;

impl RankSpace<HostSpace> {
    /// Multigrid for `factor` times a matrix.
    pub(super) fn multigrid_of(
        &mut self,
        a: &RankMatrix<HostMatrix>,
        factor: f64,
        setting: Setting<'_>,
    ) -> Result<Box<dyn Preconditioner<Self>>, Error> {
        let options = AmgOptions { symmetric: setting.symmetric, singular: setting.singular, ..setting.amg };
        let scaled = if factor == 1.0 { a.clone() } else { a.scaled(factor) };
        let all = scaled.in_rows();
        let fields = self.fields(setting.ends)?;
        self.multigrid_over(all, fields, &options)
    }

    /// Multigrid for unknowns of these fields.
    pub(super) fn multigrid_over(
        &mut self,
        a: RankMatrix<HostMatrix>,
        fields: Vec<u8>,
        options: &AmgOptions,
    ) -> Result<Box<dyn Preconditioner<Self>>, Error> {
        self.tell_parts(&a)?;
        let scale = MixedPrecisionLevels::scale(self, &a, options)?;
        let size = if self.ranks.n_ranks() == 1 { usize::MAX } else { GATHERED_BELOW };
        let Descent { levels, rest, fields, theta, .. } = Descent::new(self, a, fields, options, size)?;
        let below = AmgOptions { strength: theta, max_levels: options.max_levels.saturating_sub(levels.len()), ..*options };
        if Self::parts(&rest).whole.rows > size {
            // Coarsening has ended before.
            let coarse = coarsest(self, &levels, rest, options)?;
            let hierarchy = Hierarchy { levels, coarse, sizes: Vec::new(), complexity: 1.0 };
            return Ok(Box::new(Amg::new(self, hierarchy, options)?));
        }
        if levels.is_empty() {
            return Ok(Box::new(GatheredLevels::new(self, &rest, &fields, &below)?));
        }
        if let Some(scale) = scale {
            let gathered = GatheredLevels::new(self, &rest.scaled(scale), &fields, &below)?;
            return Ok(Box::new(MixedPrecisionLevels::new(self, levels, gathered, scale, options)?));
        }
        let gathered = GatheredLevels::new(self, &rest, &fields, &below)?;
        Ok(Box::new(Amg::above(self, levels, Box::new(gathered), options)?))
    }

    /// The magnitudes of a matrix and its transpose, averaged on its pattern; all columns.
    fn mean_magnitudes(&mut self, a: &RankMatrix<HostMatrix>) -> Result<Csr, Error> {
        let mirror = mirrored(&self.ranks, a)?.values;
        let own = mean_magnitudes(a.own().rows());
        let rim = a.rim().changed(|_, at, value| 0.5 * (value.abs() + mirror[at].abs()));
        Ok(a.with(own.into(), rim).all_columns())
    }

    /// Couplings of all columns, from those of own rows.
    fn couplings(&mut self, columns: &HaloColumns, all: &Csr, field: &[u8]) -> Result<Couplings, Error> {
        let mut own = Couplings::new(all, field);
        let beyond = columns.exchange(&self.ranks, |row| (own.size[row], own.is_dominant[row]))?;
        own.size.extend(beyond.iter().map(|(size, _)| size));
        own.is_dominant.extend(beyond.iter().map(|(_, is_dominant)| is_dominant));
        Ok(own)
    }

    /// The prolongation from the groups of own unknowns.
    fn prolongation(
        &mut self,
        a: &RankMatrix<HostMatrix>,
        filtered: Csr,
        (group, count): (&[u32], usize),
        radius: f64,
        options: &AmgOptions,
    ) -> Result<RankMatrix<HostMatrix>, Error> {
        let columns = a.columns();
        if !options.smoothed {
            let made = RankMatrix::local(tentative(group, count).into());
            self.tell_parts(&made)?;
            return Ok(made);
        }
        let inverse = inverse_diagonal(&filtered);
        // Without weak couplings the filtered matrix is the matrix.
        let mut left = [filtered.n_entries() as f64, a.shape().entries as f64];
        self.combine_all(Reduction::Sum, &mut left);
        let radius = if left[0] == left[1] {
            radius
        } else {
            let filtered = RankMatrix::from_all_columns(&filtered, Arc::clone(columns));
            self.tell_parts(&filtered)?;
            spectral_radius(self, &filtered, &inverse, options.symmetric)?
        };
        let there = columns.exchange(&self.ranks, |own| group[own])?;
        let mut halo: Vec<(RankId, u32)> =
            there.iter().zip(columns.halo()).filter(|(group, _)| **group != NONE).map(|(group, (owner, _))| (*owner, *group)).collect();
        halo.sort_unstable();
        halo.dedup();
        let place = |group: u32, owner: RankId| (count + halo.partition_point(|other| *other < (owner, group))) as u32;
        let beyond = there.iter().zip(columns.halo()).map(|(&group, (owner, _))| if group == NONE { NONE } else { place(group, *owner) });
        let group: Vec<u32> = group.iter().copied().chain(beyond).collect();
        let all = smoothed_rows(&filtered, &inverse, options.prolongation_damping / radius, &group, count + halo.len());
        let coarse = Arc::new(HaloColumns::new(&self.ranks, count, &halo)?);
        let made = RankMatrix::from_all_columns(&all, coarse);
        self.tell_parts(&made)?;
        Ok(made)
    }
}

impl MultigridSpace for RankSpace<HostSpace> {
    /// The matrix has no columns of other ranks.
    fn multigrid(&mut self, matrix: Csr, ends: &[usize], options: &AmgOptions) -> Result<Box<dyn Preconditioner<Self>>, Error> {
        let fields = self.fields(ends)?;
        self.multigrid_over(RankMatrix::local(matrix.into()), fields, options)
    }
}

impl Coarsen for RankSpace<HostSpace> {
    /// Fields of own unknowns; empty for one field.
    type Fields = Vec<u8>;

    fn fields(&mut self, ends: &[usize]) -> Result<Vec<u8>, Error> {
        Ok(sure(self.inner.fields(ends)))
    }

    fn coarsen(
        &mut self,
        matrix: RankMatrix<HostMatrix>,
        fields: &Vec<u8>,
        theta: f64,
        options: &AmgOptions,
    ) -> Result<Coarsened<Self>, Error> {
        let columns = Arc::clone(matrix.columns());
        let (all, n) = (matrix.all_columns(), matrix.n_rows());
        // All ranks have several fields, or none has.
        let beyond = columns.exchange(&self.ranks, |own| fields.get(own).copied().unwrap_or(0))?;
        let field: Vec<u8> = if fields.is_empty() { Vec::new() } else { fields.iter().copied().chain(beyond).collect() };
        let mean = if options.symmetric { None } else { Some(self.mean_magnitudes(&matrix)?) };
        let measure = mean.as_ref().unwrap_or(&all);
        let couplings = self.couplings(&columns, measure, &field)?;
        let StrongCouplings { filtered, is_dominant } = strong(&all, measure, &field, couplings, theta);
        drop(mean);
        let filtered = filtered.into_owned();
        let here = filtered.block(0..n, 0..n);
        let here = StrongCouplings { filtered: std::borrow::Cow::Owned(here), is_dominant };
        let is_cut: Vec<bool> = (0..n).map(|row| filtered.row(row).any(|(column, _)| column >= n)).collect();
        let (group, count) = aggregate(&here, options.grouping, &is_cut);
        drop(here);
        let [whole_count, whole_n] = self.sums([count as f64, n as f64]);
        self.checked()?;
        if !is_worth_it(whole_count as usize, whole_n as usize) || self.agree()? {
            return Ok(Coarsened::Ended(matrix));
        }
        let inverse_diagonal = inverse_diagonal(matrix.own().rows());
        let radius = spectral_radius(self, &matrix, &inverse_diagonal, options.symmetric)?;
        let mut prolongation = self.prolongation(&matrix, filtered, (&group, count), radius, options)?;
        if self.agree()? {
            return Ok(Coarsened::Ended(matrix));
        }
        let restriction = self.transposed(&prolongation)?;
        let image = self.product(&matrix, &prolongation)?;
        let coarse = self.product(&restriction, &image)?;
        let coarse = self.pruned(&coarse)?;
        let is_worth_it = image_is_worth_it(Self::parts(&matrix).whole.entries, Self::parts(&image).whole.entries);
        if is_worth_it {
            // One exchange brings the values for both.
            prolongation = prolongation.in_columns(image.columns());
        }
        let image = is_worth_it.then_some(image);
        let coarse_fields = field_of_groups(fields, &group, count);
        Ok(Coarsened::Level(LevelParts { matrix, prolongation, image, restriction, inverse_diagonal, radius }, coarse, coarse_fields))
    }

    fn diagonal_inverse(&mut self, a: &RankMatrix<HostMatrix>) -> Result<Vec<f64>, Error> {
        Ok(inverse_diagonal(a.own().rows()))
    }

    fn row_bound(&mut self, a: &RankMatrix<HostMatrix>, d: &Vec<f64>) -> Result<(f64, bool), Error> {
        let own = a.own().rows();
        let mut sums: Vec<f64> = (0..own.n_rows()).map(|row| own.row(row).map(|(_, value)| (value * d[row]).abs()).sum()).collect();
        a.rim().each().for_each(|(row, _, _, value)| sums[row] += (value * d[row]).abs());
        let is_negative = if d.iter().any(|d| *d < 0.0) { 1.0 } else { 0.0 };
        let mut most = [sums.into_iter().fold(0.0, f64::max), is_negative];
        self.combine_all(Reduction::Max, &mut most);
        self.checked()?;
        Ok((most[0], most[1] == 1.0))
    }

    fn roots(&mut self, x: &Vec<f64>) -> Result<Vec<f64>, Error> {
        Ok(sure(self.inner.roots(x)))
    }

    fn reciprocal_roots(&mut self, x: &Vec<f64>) -> Result<Vec<f64>, Error> {
        let mut most = [x.iter().fold(0.0f64, |most, x| most.max(x.abs()))];
        self.combine_all(Reduction::Max, &mut most);
        self.checked()?;
        let unit = power_of_two_near(&most).unwrap_or(1.0);
        let root = |x: &f64| 1.0 / (x / unit).sqrt();
        Ok(x.iter().map(root).map(|root| if root.is_finite() { root } else { 0.0 }).collect())
    }

    /// Each rank has a seed of its own.
    fn noise(&mut self, n: usize) -> Result<Vec<f64>, Error> {
        let seed = NOISE_SEED.wrapping_mul(2 * u64::from(self.ranks.rank().0) + 1);
        Ok(noises_from(seed, n).collect())
    }
}
