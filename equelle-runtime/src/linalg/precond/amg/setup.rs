//! The levels of a hierarchy, set up on the host.

use super::super::super::csr::Csr;
use super::super::super::dense::{ROUND_OFF, generalised_inverse};
use super::aggregate::{NONE, aggregate, strong};
use super::spectrum::spectral_radius;
use super::{AmgCycle, AmgOptions};

/// A level: the matrix, how it is smoothed, and the way to the next one.
#[derive(Clone, Debug)]
pub struct HostLevel {
    /// Its matrix `[n, n]`.
    pub matrix: Csr,
    /// From the next level `[n, n_next]`.
    pub prolongation: Csr,
    /// To the next level `[n_next, n]`.
    pub restriction: Csr,
    /// Inverse of the diagonal, 0 where it is 0: `[n]`.
    pub inverse_diagonal: Vec<f64>,
    /// Estimate of the largest eigenvalue of `D^-1 A`.
    pub radius: f64,
}

/// What the coarsest level does.
#[derive(Clone, Debug)]
pub enum HostCoarse {
    /// A product with the (generalised) inverse, all entries stored.
    Direct(Csr),
    /// It is too large for that, because coarsening came to an end: sweeps of the smoother, which its prolongation to nothing makes a level.
    Smoothed(Box<HostLevel>),
}

/// All levels.
#[derive(Clone, Debug)]
pub struct Hierarchy {
    /// Finest first, without the coarsest.
    pub levels: Vec<HostLevel>,
    /// The coarsest one.
    pub coarse: HostCoarse,
    /// Unknowns of each level, the coarsest included.
    pub sizes: Vec<usize>,
    /// Stored entries of all matrices over those of the first.
    pub complexity: f64,
}

/// Largest matrix that is inverted as a dense one when coarsening comes to an end before [`AmgOptions::coarse_size`].
const LARGEST_DENSE: usize = 500;
/// Where the matrix is singular, a pivot of the coarsest one below this part of the largest is what the products of all levels have left of
/// nothing; its inverse would bring nothing but the null space.
const LEAST_COARSE_PIVOT: f64 = 1e-10;
/// A coarse grid with more than this part of the unknowns is not worth its level.
const LEAST_COARSENING: f64 = 0.8;

impl Hierarchy {
    /// Sets up the levels for a matrix; `ends` tells where the unknowns of each field end.
    ///
    /// # Panics
    /// If the matrix is not square.
    pub fn new(matrix: &Csr, ends: &[usize], options: &AmgOptions) -> Hierarchy {
        let n = matrix.n_rows();
        assert_eq!(matrix.n_cols(), n, "a square matrix");
        let mut field: Vec<u8> = Vec::new();
        if ends.len() > 1 {
            for (number, &end) in ends.iter().enumerate() {
                field.resize(end, number.min(255) as u8);
            }
        }
        let mut levels: Vec<HostLevel> = Vec::new();
        let mut sizes = vec![n];
        let mut entries = matrix.n_entries();
        let mut current = matrix.clone();
        let mut theta = options.strength;
        while current.n_rows() > options.coarse_size && levels.len() < options.max_levels {
            let (level, coarse, coarse_field) = match coarsen(current, &field, theta, options) {
                Ok(coarser) => coarser,
                Err(matrix) => {
                    current = matrix;
                    break;
                }
            };
            levels.push(level);
            sizes.push(coarse.n_rows());
            entries += coarse.n_entries();
            (current, field) = (coarse, coarse_field);
            theta *= options.strength_factor;
        }
        let complexity = entries as f64 / (matrix.n_entries().max(1)) as f64;
        let coarse = coarsest(current, options);
        Hierarchy { levels, coarse, sizes, complexity }
    }
}

fn coarsest(matrix: Csr, options: &AmgOptions) -> HostCoarse {
    let n = matrix.n_rows();
    if n > LARGEST_DENSE.max(options.coarse_size) {
        let inverse_diagonal = inverse_diagonal(&matrix);
        let radius = spectral_radius(&matrix, &inverse_diagonal, options.symmetric);
        let nothing = Csr::from_valid(n, 0, vec![0; n + 1], Vec::new(), Vec::new());
        let restriction = nothing.transpose();
        return HostCoarse::Smoothed(Box::new(HostLevel { matrix, prolongation: nothing, restriction, inverse_diagonal, radius }));
    }
    let mut dense = vec![0.0; n * n];
    for row in 0..n {
        matrix.row(row).for_each(|(column, value)| dense[row * n + column] = value);
    }
    let least = if options.singular { LEAST_COARSE_PIVOT } else { ROUND_OFF };
    let inverse = generalised_inverse(n, &dense, least);
    let row_ptr = (0..=n).map(|row| row * n).collect();
    let col_idx = (0..n * n).map(|at| (at % n.max(1)) as u32).collect();
    HostCoarse::Direct(Csr::from_valid(n, n, row_ptr, col_idx, inverse))
}

fn inverse_diagonal(matrix: &Csr) -> Vec<f64> {
    let inverse = |d: &f64| if (1.0 / d).is_finite() { 1.0 / d } else { 0.0 };
    matrix.diagonal().iter().map(inverse).collect()
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

/// A level for this matrix, the matrix of the next one and the fields of its unknowns; the matrix itself where coarsening does not help.
fn coarsen(matrix: Csr, field: &[u8], theta: f64, options: &AmgOptions) -> Result<(HostLevel, Csr, Vec<u8>), Csr> {
    let n = matrix.n_rows();
    let mean = (!options.symmetric).then(|| mean_magnitudes(&matrix));
    let strong = strong(&matrix, mean.as_ref().unwrap_or(&matrix), field, theta);
    drop(mean);
    let (group, count) = aggregate(&strong);
    if count as f64 > LEAST_COARSENING * n as f64 {
        return Err(matrix);
    }
    let mut coarse_field = if field.is_empty() { Vec::new() } else { vec![0; count] };
    if !field.is_empty() {
        group.iter().zip(field).filter(|(group, _)| **group != NONE).for_each(|(group, field)| coarse_field[*group as usize] = *field);
    }
    let inverse_diagonal = inverse_diagonal(&matrix);
    let radius = spectral_radius(&matrix, &inverse_diagonal, options.symmetric);
    let prolongation = if options.smoothed {
        // Without weak couplings it is the same matrix.
        let known = (strong.filtered.n_entries() == matrix.n_entries()).then_some(radius);
        smoothed(&strong.filtered, known, &group, count, options)
    } else {
        tentative(&group, count)
    };
    drop(strong);
    let restriction = prolongation.transpose();
    let coarse = restriction.product(&matrix.product(&prolongation));
    Ok((HostLevel { matrix, prolongation, restriction, inverse_diagonal, radius }, coarse, coarse_field))
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
fn smoothed(filtered: &Csr, radius: Option<f64>, group: &[u32], count: usize, options: &AmgOptions) -> Csr {
    let inverse = inverse_diagonal(filtered);
    let radius = radius.unwrap_or_else(|| spectral_radius(filtered, &inverse, options.symmetric));
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
    Csr::from_valid(n, count, row_ptr, col_idx, values)
}

/// Cycles visit the next level twice only where that is cheap: below it the work must shrink by this factor.
pub(super) fn visits_twice(cycle: AmgCycle, entries: usize, entries_next: usize) -> bool {
    cycle == AmgCycle::K && entries_next * 3 <= entries
}
