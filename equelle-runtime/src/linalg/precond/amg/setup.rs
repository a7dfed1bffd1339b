//! The levels of a hierarchy, set up where the computation happens.

use std::borrow::Cow;
use std::convert::Infallible;

use super::aggregate::{NONE, aggregate, strong};
use super::coarsest::coarsest;
use super::spectrum::spectral_radius;
use super::{AmgCycle, AmgOptions};
use crate::linalg::matrix::csr::Csr;
use crate::linalg::matrix::scaling::power_of_two_near;
use crate::linalg::precond::mixed_precision::radius_in_singles;
use crate::linalg::space::host::HostSpace;
use crate::linalg::space::host_matrix::HostMatrix;
use crate::linalg::space::matrix_space::MatrixSpace;
use crate::linalg::space::system_space::SystemSpace;
use crate::linalg::space::vector_space::VectorSpace;

/// A level: the matrix, how it is smoothed, and the way to the next one.
#[derive(Clone, Debug)]
pub struct LevelParts<S: MatrixSpace> {
    /// Its matrix `[n, n]`.
    pub matrix: S::Matrix,
    /// From the next level `[n, n_next]`.
    pub prolongation: S::Matrix,
    /// The matrix times that, `[n, n_next]`, with which the residual after a correction takes less than with the matrix, where [`image_is_worth_it`].
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
    /// Pseudo-random numbers in `[-1, 1)`, always the same: [`noise`].
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

/// The multiplier and the increment of the sequence that [`noise`] shows the upper bits of (D. E. Knuth's MMIX).
pub const NOISE: (u64, u64) = (6_364_136_223_846_793_005, 1_442_695_040_888_963_407);
/// Its beginning.
pub const NOISE_SEED: u64 = 0x9e37_79b9_7f4a_7c15;

/// A number in `[-1, 1)` from a state of the sequence.
pub fn noise(state: u64) -> f64 {
    (state >> 11) as f64 / (1u64 << 52) as f64 - 1.0
}

/// So many of them.
pub(in crate::linalg::precond) fn noises(n: usize) -> impl Iterator<Item = f64> {
    let mut state = NOISE_SEED;
    (0..n).map(move |_| {
        state = state.wrapping_mul(NOISE.0).wrapping_add(NOISE.1);
        noise(state)
    })
}

/// A coarse grid with more than this part of the unknowns is not worth its level.
const LEAST_COARSENING: f64 = 0.8;

impl<S: Coarsen> Hierarchy<S> {
    /// Sets up the levels for a matrix; `ends` tells where the unknowns of each field end. Only the coarsest matrix goes to the host. Where the run is asked to end meanwhile, the
    /// levels so far, which are not to be used.
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

/// Whether a coarse grid of so many unknowns is worth its level.
pub fn is_worth_it(coarse: usize, fine: usize) -> bool {
    coarse as f64 <= LEAST_COARSENING * fine as f64
}

/// Whether the image of a prolongation saves work: where it has fewer entries than the matrix, as on all levels of a grid but the finest.
pub fn image_is_worth_it(matrix_entries: usize, image_entries: usize) -> bool {
    image_entries < matrix_entries
}

fn inverse_diagonal(matrix: &Csr) -> Vec<f64> {
    let inverse = |d: &f64| if (1.0 / d).is_finite() { 1.0 / d } else { 0.0 };
    matrix.diagonal().iter().map(inverse).collect()
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

    /// In single precision, which is enough for an estimate.
    fn estimate_radius(&mut self, a: &HostMatrix, d: &Vec<f64>) -> Result<Option<f64>, Infallible> {
        Ok(if self.in_doubles { None } else { radius_in_singles(self, a.rows(), d) })
    }
}

/// The magnitudes of a matrix and its transpose, averaged on the pattern of the matrix.
fn mean_magnitudes(matrix: &Csr) -> Csr {
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
    let strong = strong(matrix, mean.as_ref().unwrap_or(matrix), field, theta);
    drop(mean);
    let (group, count) = aggregate(&strong, options.grouping);
    let filtered = strong.filtered;
    if !is_worth_it(count, n) || space.is_interrupted() {
        drop(filtered);
        return Ok(Coarsened::Ended(system));
    }
    let mut coarse_field = if field.is_empty() { Vec::new() } else { vec![0; count] };
    if !field.is_empty() {
        group.iter().zip(field).filter(|(group, _)| **group != NONE).for_each(|(group, field)| coarse_field[*group as usize] = *field);
    }
    let inverse_diagonal = inverse_diagonal(matrix);
    let radius = spectral_radius(space, &system, &inverse_diagonal, options.symmetric)?;
    let prolongation = if options.smoothed {
        // Without weak couplings it is the same matrix.
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

/// Constant on each group.
fn tentative(group: &[u32], count: usize) -> Csr {
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

/// `(I - omega D^-1 A) T` for the filtered matrix and the tentative prolongation `T`; `radius` is that of `D^-1 A` if it is known.
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
    let omega = options.prolongation_damping / radius;
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
    Ok(Csr::from_valid(n, count, row_ptr, col_idx, values))
}

/// Cycles visit the next level twice only where that is cheap: below it the work must shrink by this factor.
pub(super) fn visits_twice(cycle: AmgCycle, entries: usize, entries_next: usize) -> bool {
    cycle == AmgCycle::K && entries_next * 3 <= entries
}
