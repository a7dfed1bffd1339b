//! Multigrid on the host: set-up of levels, and the space that they run in.

use std::borrow::Cow;
use std::convert::Infallible;

use super::AmgOptions;
use super::aggregate::{Couplings, NONE, aggregate, strong};
use super::cycle::Amg;
use super::hierarchy::{Coarsen, Coarsened, Hierarchy, LevelParts};
use super::noise::noises;
use super::setup::{image_is_worth_it, is_worth_it};
use super::spectrum::spectral_radius;
use crate::linalg::matrix::csr::Csr;
use crate::linalg::matrix::scaling::power_of_two_near;
use crate::linalg::precond::mixed_precision::{MixedPrecisionAmg, radius_f32};
use crate::linalg::space::host::HostSpace;
use crate::linalg::space::host_matrix::HostMatrix;
use crate::linalg::space::matrix_space::MultigridSpace;
use crate::linalg::space::vector_space::{Identity, Preconditioner, VectorSpace};

/// Inverse of the diagonal, 0 where it is 0 or its inverse overflows.
pub(in crate::linalg) fn inverse_diagonal(matrix: &Csr) -> Vec<f64> {
    let inverse = |d: &f64| if (1.0 / d).is_finite() { 1.0 / d } else { 0.0 };
    matrix.diagonal().iter().map(inverse).collect()
}

impl MultigridSpace for HostSpace {
    fn multigrid(&mut self, matrix: Csr, ends: &[usize], options: &AmgOptions) -> Result<Box<dyn Preconditioner<Self>>, Infallible> {
        let fields = self.fields(ends)?;
        self.multigrid_for(matrix, fields, options)
    }
}

impl HostSpace {
    /// Multigrid for unknowns of these [fields](Coarsen::Fields). Uses single precision for the
    /// levels where it is enough.
    pub(in crate::linalg) fn multigrid_for(
        &mut self,
        matrix: Csr,
        fields: Vec<u8>,
        options: &AmgOptions,
    ) -> Result<Box<dyn Preconditioner<Self>>, Infallible> {
        let suits = !self.in_double_precision && MixedPrecisionAmg::suits(&matrix, options);
        let hierarchy = Hierarchy::with_fields(self, matrix.into(), fields, options)?;
        if self.is_interrupted() {
            return Ok(Box::new(Identity));
        }
        Ok(if suits && MixedPrecisionAmg::counts(&hierarchy) {
            Box::new(MixedPrecisionAmg::new(self, hierarchy, options))
        } else {
            Box::new(Amg::new(self, hierarchy, options)?)
        })
    }
}

impl Coarsen for HostSpace {
    /// Empty for one field.
    type Fields = Vec<u8>;

    fn fields(&mut self, ends: &[usize]) -> Result<Vec<u8>, Infallible> {
        let mut field: Vec<u8> = Vec::new();
        if ends.len() > 1 {
            for (number, &end) in ends.iter().enumerate() {
                field.resize(end, number.min(255) as u8);
            }
        }
        Ok(field)
    }

    fn coarsen(
        &mut self,
        matrix: HostMatrix,
        fields: &Vec<u8>,
        theta: f64,
        options: &AmgOptions,
    ) -> Result<Coarsened<HostSpace>, Infallible> {
        coarsen(self, matrix, fields, theta, options)
    }

    fn diagonal_inverse(&mut self, a: &HostMatrix) -> Result<Vec<f64>, Infallible> {
        Ok(inverse_diagonal(a.rows()))
    }

    fn row_bound(&mut self, a: &HostMatrix, d: &Vec<f64>) -> Result<(f64, bool), Infallible> {
        let a = a.rows();
        let row_sum = |row: usize| a.row(row).map(|(_, value)| (value * d[row]).abs()).sum::<f64>();
        Ok(((0..a.n_rows()).map(row_sum).fold(0.0, f64::max), d.iter().any(|d| *d < 0.0)))
    }

    fn reciprocal_roots(&mut self, x: &Vec<f64>) -> Result<Vec<f64>, Infallible> {
        let unit = power_of_two_near(x).unwrap_or(1.0);
        let root = |x: &f64| 1.0 / (x / unit).sqrt();
        Ok(x.iter().map(root).map(|root| if root.is_finite() { root } else { 0.0 }).collect())
    }

    fn roots(&mut self, x: &Vec<f64>) -> Result<Vec<f64>, Infallible> {
        Ok(x.iter().map(|x| x.sqrt()).collect())
    }

    fn noise(&mut self, n: usize) -> Result<Vec<f64>, Infallible> {
        Ok(noises(n).collect())
    }

    /// Single precision is enough for an estimate.
    fn estimate_radius(&mut self, a: &HostMatrix, d: &Vec<f64>) -> Result<Option<f64>, Infallible> {
        Ok(if self.in_double_precision { None } else { radius_f32(self, a.rows(), d) })
    }
}

/// The magnitudes of a matrix and its transpose, averaged on the pattern of the matrix.
pub(in crate::linalg) fn mean_magnitudes(matrix: &Csr) -> Csr {
    let transpose = matrix.transpose();
    let mut mean = matrix.clone();
    let row_ptr = matrix.row_ptr();
    for row in 0..matrix.n_rows() {
        let mut mirror = transpose.row(row).peekable();
        let range = row_ptr[row]..row_ptr[row + 1];
        for (&column, value) in matrix.col_idx()[range.clone()].iter().zip(&mut mean.values_mut()[range]) {
            while mirror.next_if(|(other, _)| *other < column as usize).is_some() {}
            let other = mirror.peek().filter(|(other, _)| *other == column as usize).map_or(0.0, |(_, value)| *value);
            *value = 0.5 * (value.abs() + other.abs());
        }
    }
    mean
}

fn coarsen(
    space: &mut HostSpace,
    system: HostMatrix,
    field: &[u8],
    theta: f64,
    options: &AmgOptions,
) -> Result<Coarsened<HostSpace>, Infallible> {
    let matrix = system.rows();
    let n = matrix.n_rows();
    let mean = (!options.symmetric).then(|| mean_magnitudes(matrix));
    let measure = mean.as_ref().unwrap_or(matrix);
    let strong = strong(matrix, measure, field, Couplings::new(measure, field), theta);
    drop(mean);
    let (group, count) = aggregate(&strong, options.grouping, &[]);
    let filtered = strong.filtered;
    if !is_worth_it(count, n) || space.is_interrupted() {
        drop(filtered);
        return Ok(Coarsened::Ended(system));
    }
    let coarse_field = field_of_groups(field, &group, count);
    let inverse_diagonal = inverse_diagonal(matrix);
    let radius = spectral_radius(space, &system, &inverse_diagonal, options.symmetric)?;
    let prolongation = if options.smoothed {
        // Without weak couplings the filtered matrix is the matrix.
        let known = (filtered.n_entries() == matrix.n_entries()).then_some(radius);
        smoothed(space, filtered, known, &group, count, options)?
    } else {
        drop(filtered);
        tentative(&group, count)
    };
    if space.is_interrupted() {
        return Ok(Coarsened::Ended(system));
    }
    let restriction = prolongation.transpose();
    let image = matrix.product(&prolongation);
    let coarse = restriction.product(&image);
    let image = image_is_worth_it(matrix.n_entries(), image.n_entries()).then(|| image.into());
    let (prolongation, restriction) = (prolongation.into(), restriction.into());
    let level = LevelParts { matrix: system, prolongation, image, restriction, inverse_diagonal, radius };
    Ok(Coarsened::Level(level, coarse.into(), coarse_field))
}

/// The field of each group; empty for one field.
pub(in crate::linalg) fn field_of_groups(field: &[u8], group: &[u32], count: usize) -> Vec<u8> {
    let mut coarse = if field.is_empty() { Vec::new() } else { vec![0; count] };
    if !field.is_empty() {
        group.iter().zip(field).filter(|(group, _)| **group != NONE).for_each(|(group, field)| coarse[*group as usize] = *field);
    }
    coarse
}

/// The tentative prolongation: constant on each aggregate.
pub(in crate::linalg) fn tentative(group: &[u32], count: usize) -> Csr {
    let mut row_ptr = Vec::with_capacity(group.len() + 1);
    row_ptr.push(0);
    let mut col_idx = Vec::with_capacity(group.len());
    for &group in group {
        if group != NONE {
            col_idx.push(group);
        }
        row_ptr.push(col_idx.len());
    }
    let values = vec![1.0; col_idx.len()];
    Csr::from_valid(group.len(), count, row_ptr, col_idx, values)
}

/// `(I - omega D^-1 A) T` for the filtered matrix and the tentative prolongation `T`; `radius` is
/// that of `D^-1 A` if known.
fn smoothed(
    space: &mut HostSpace,
    filtered: Cow<'_, Csr>,
    radius: Option<f64>,
    group: &[u32],
    count: usize,
    options: &AmgOptions,
) -> Result<Csr, Infallible> {
    let inverse = inverse_diagonal(&filtered);
    let (radius, filtered) = match radius {
        Some(known) => (known, filtered),
        None => {
            let filtered = HostMatrix::from(filtered.into_owned());
            (spectral_radius(space, &filtered, &inverse, options.symmetric)?, Cow::Owned(filtered.into_rows()))
        }
    };
    Ok(smoothed_rows(&filtered, &inverse, options.prolongation_damping / radius, group, count))
}

/// `(I - omega D^-1 A) T` for the filtered matrix, where `T` is 1 in the group of each column of
/// it; `inverse` is `D^-1`.
pub(in crate::linalg) fn smoothed_rows(filtered: &Csr, inverse: &[f64], omega: f64, group: &[u32], count: usize) -> Csr {
    let n = filtered.n_rows();
    let mut row_ptr = Vec::with_capacity(n + 1);
    row_ptr.push(0);
    let (mut col_idx, mut values): (Vec<u32>, Vec<f64>) = (Vec::with_capacity(2 * n), Vec::with_capacity(2 * n));
    let mut row_entries: Vec<(u32, f64)> = Vec::new();
    for (row, inverse) in inverse.iter().enumerate() {
        row_entries.clear();
        for (column, value) in filtered.row(row).filter(|(column, _)| group[*column] != NONE) {
            let own = if column == row { 1.0 } else { 0.0 };
            let entry = own - omega * inverse * value;
            match row_entries.iter_mut().find(|(known, _)| *known == group[column]) {
                Some((_, sum)) => *sum += entry,
                None => row_entries.push((group[column], entry)),
            }
        }
        row_entries.sort_unstable_by_key(|(group, _)| *group);
        col_idx.extend(row_entries.iter().map(|(group, _)| *group));
        values.extend(row_entries.iter().map(|(_, value)| *value));
        row_ptr.push(col_idx.len());
    }
    Csr::from_valid(n, count, row_ptr, col_idx, values)
}
