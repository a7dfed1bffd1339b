//! Constrained pressure residual (CPR): two stages for systems in which one unknown is elliptic and
//! the others are transported.
//!
//! J. R. Wallis, Incomplete Gaussian elimination as a preconditioning for generalized conjugate
//! gradient acceleration, SPE Reservoir Simulation Symposium, 1983, doi:10.2118/12265-MS; J. R.
//! Wallis, R. P. Kendall and T. E. Little, Constrained residual acceleration of conjugate residual
//! methods, SPE Reservoir Simulation Symposium, 1985, doi:10.2118/13536-MS. The pressure equation
//! is the combination of an element's equations that eliminates its other unknowns (quasi-IMPES):
//! S. Lacroix, Y. Vassilevski and M. Wheeler, Decoupling preconditioners in the implicit parallel
//! accurate reservoir simulator (IPARS), Numer. Linear Algebra Appl. 8 (2001), doi:10.1002/nla.264.
//!
//! First stage: multigrid for that equation. Second: block ILU(0) for the residual of the first.

use std::cell::RefCell;

use super::amg::AmgOptions;
use super::blocks::BlockCsr;
use super::ilu::incomplete;
use crate::linalg::matrix::block_matrix::BlockMatrix;
use crate::linalg::matrix::csr::{Csr, Symmetry};
use crate::linalg::matrix::dense::solve_in_place;
use crate::linalg::space::matrix_space::{MatrixSpace, MultigridSpace};
use crate::linalg::space::vector_space::Preconditioner;

/// Distance of each field from elliptic, `[k]`, from 0, by the matrix alone. An elliptic unknown
/// enters through its differences, so the entries of a row in its columns sum to nearly zero, and
/// it couples neighbours both ways, where upwinding couples one way. The mean over all rows of
/// `|sum| / sum of magnitudes`, plus that of `|a_ij - a_ji| / (|a_ij| + |a_ji|)` for the sum of the
/// equations.
///
/// # Panics
/// If the matrix is not square or its size no multiple of `k`.
pub fn departure_from_elliptic(matrix: &Csr, k: usize) -> Vec<f64> {
    assert!(k > 0 && matrix.n_rows() == matrix.n_cols() && matrix.n_rows().is_multiple_of(k), "k fields on the same elements");
    let n = matrix.n_rows() / k;
    let mut sums = vec![(0.0, 0usize); k];
    let mut row_sums = vec![(0.0f64, 0.0f64); k];
    for row in 0..matrix.n_rows() {
        row_sums.fill((0.0, 0.0));
        for (column, value) in matrix.row(row) {
            let own = &mut row_sums[column / n];
            *own = (own.0 + value, own.1 + value.abs());
        }
        for (total, (sum, size)) in sums.iter_mut().zip(&row_sums).filter(|(_, (_, size))| *size > 0.0) {
            *total = (total.0 + sum.abs() / size, total.1 + 1);
        }
    }
    let mean = |(total, count): (f64, usize)| if count == 0 { 1.0 } else { total / count as f64 };
    (0..k).map(|field| mean(sums[field]) + mean(one_way(matrix, field, k))).collect()
}

/// Sum over all pairs of neighbours of how one-sided their coupling through a field is, and the
/// number of pairs.
fn one_way(matrix: &Csr, field: usize, k: usize) -> (f64, usize) {
    let n = matrix.n_rows() / k;
    // For each pair, the equation with the strongest coupling both ways.
    let mut total = (0.0, 0);
    let columns: Vec<Csr> = (0..k).map(|equation| matrix.block(equation * n..(equation + 1) * n, field * n..(field + 1) * n)).collect();
    for block in &columns {
        let transpose = block.transpose();
        for row in 0..n {
            let mut mirror = transpose.row(row).peekable();
            for (column, value) in block.row(row).filter(|(column, value)| *column != row && *value != 0.0) {
                while mirror.next_if(|(other, _)| *other < column).is_some() {}
                let other = mirror.peek().filter(|(other, _)| *other == column).map_or(0.0, |(_, value)| *value);
                total = (total.0 + (value - other).abs() / (value.abs() + other.abs()), total.1 + 1);
            }
        }
    }
    total
}

/// [`departure_from_elliptic`] of a matrix of blocks: one pass, and one for each field over pairs
/// of mirrored blocks.
pub fn departure_of_blocks(matrix: &BlockMatrix) -> Vec<f64> {
    let pattern = matrix.pattern();
    let (k, n) = (pattern.k(), pattern.n());
    let Some(mirror) = pattern.mirror() else { return departure_from_elliptic(matrix.rows(), k) };
    let mean = |total: f64, count: usize| if count == 0 { 1.0 } else { total / count as f64 };
    let of_field = |field: usize| {
        let (mut sums, mut one_way) = ((0.0, 0), (0.0, 0));
        for equation in 0..k {
            for element in 0..n {
                let values = matrix.derivatives(equation, element, field);
                let (sum, size) = values.iter().fold((0.0f64, 0.0f64), |(sum, size), value| (sum + value, size + value.abs()));
                if size > 0.0 {
                    sums = (sums.0 + sum.abs() / size, sums.1 + 1);
                }
                let mirror = &mirror[pattern.row_ptr()[element]..];
                for ((&column, value), &place) in pattern.columns(element).iter().zip(values).zip(mirror) {
                    if column as usize != element && *value != 0.0 {
                        let other = matrix.derivatives(equation, column as usize, field)[place as usize];
                        one_way = (one_way.0 + (value - other).abs() / (value.abs() + other.abs()), one_way.1 + 1);
                    }
                }
            }
        }
        mean(sums.0, sums.1) + mean(one_way.0, one_way.1)
    };
    (0..k).map(of_field).collect()
}

/// Weights of each element's equations in the pressure equation, by equations: `[k, n]`. The
/// weighted sum of the diagonal block is 0 in the columns of the other unknowns. If no such sum
/// keeps the pressure, the equation that depends on it most has weight 1.
/// depends on the pressure most.
///
/// # Panics
/// If the matrix does not consist of blocks of `k` or `pressure` is not below `k`.
pub fn pressure_weights(matrix: &Csr, k: usize, pressure: usize) -> Vec<f64> {
    assert!(pressure < k, "one of the fields");
    weights_of(&BlockCsr::new(matrix, k), pressure)
}

pub(in crate::linalg) fn weights_of(blocks: &BlockCsr, pressure: usize) -> Vec<f64> {
    let (k, n) = (blocks.k(), blocks.n_rows());
    let mut weights = vec![0.0; k * n];
    let mut own = vec![0.0; k];
    for row in 0..n {
        let block = blocks.block(blocks.diagonal(row));
        // Scales equations by their largest entries, so that the test for a singular block does not
        // depend on units.
        let size = |equation: usize| block[equation * k..(equation + 1) * k].iter().fold(0.0f64, |most, value| most.max(value.abs()));
        let scale: Vec<f64> = (0..k).map(|equation| if size(equation) > 0.0 { 1.0 / size(equation) } else { 1.0 }).collect();
        let unknown_size = |unknown: usize| (0..k).fold(0.0f64, |most, e| most.max((block[e * k + unknown] * scale[e]).abs()));
        let mut transposed = vec![0.0; k * k];
        for unknown in 0..k {
            let size = unknown_size(unknown);
            for equation in 0..k {
                let value = block[equation * k + unknown] * scale[equation];
                transposed[unknown * k + equation] = if size > 0.0 { value / size } else { value };
            }
        }
        own.fill(0.0);
        own[pressure] = 1.0;
        if solve_in_place(k, &mut transposed, &mut own) {
            // The largest weight is 1, with the sign that makes the diagonal positive.
            let largest = (0..k).fold(0.0f64, |most, e| most.max((own[e] * scale[e]).abs()));
            (0..k).for_each(|equation| weights[equation * n + row] = own[equation] * scale[equation] / largest);
        } else {
            let strongest = (0..k).fold(0, |most, e| {
                let value = |e: usize| (block[e * k + pressure] * scale[e]).abs();
                if value(e) > value(most) { e } else { most }
            });
            weights[strongest * n + row] = if block[strongest * k + pressure] < 0.0 { -1.0 } else { 1.0 };
        }
    }
    weights
}

/// The two stages.
pub struct Cpr<S: MatrixSpace + 'static> {
    /// Restriction of all residuals to the pressure equation: `[n, k n]`.
    restriction: S::Matrix,
    /// Injection of the pressure into all unknowns: `[k n, n]`.
    injection: S::Matrix,
    /// The columns of the pressure: `[k n, n]`.
    pressure_columns: S::Matrix,
    amg: Box<dyn Preconditioner<S>>,
    second: Box<dyn Preconditioner<S>>,
    work: RefCell<Work<S::Vector>>,
}

/// The two stages as a back-end sets them up itself.
pub struct Stages<S: MatrixSpace + 'static> {
    /// Restriction of all residuals to the pressure equation: `[n, k n]`.
    pub restriction: S::Matrix,
    /// Injection of the pressure into all unknowns: `[k n, n]`.
    pub injection: S::Matrix,
    /// The columns of the pressure: `[k n, n]`.
    pub pressure_columns: S::Matrix,
    /// Preconditioner of the pressure equation.
    pub amg: Box<dyn Preconditioner<S>>,
    /// Preconditioner of all equations.
    pub second: Box<dyn Preconditioner<S>>,
}

/// Data from which the stages are set up.
struct Parts {
    k: usize,
    pressure: usize,
    /// [`Cpr::restriction`].
    restriction: Csr,
    /// [`Cpr::pressure_columns`].
    columns: Csr,
    /// Their product, the pressure equation: `[n, n]`.
    matrix: Csr,
    blocks: BlockCsr,
}

/// The weighted sum of each element's equations: `[n, k n]`.
pub(in crate::linalg) fn restriction(k: usize, weights: &[f64]) -> Csr {
    let n = weights.len() / k;
    let columns: Vec<u32> = (0..n).flat_map(|row| (0..k).map(move |equation| (equation * n + row) as u32)).collect();
    let values: Vec<f64> = columns.iter().map(|&column| weights[column as usize]).collect();
    Csr::from_valid(n, k * n, (0..=n).map(|row| row * k).collect(), columns, values)
}

/// Injection of the pressure into all unknowns: `[k n, n]`.
pub(in crate::linalg) fn injection(k: usize, n: usize, pressure: usize) -> Csr {
    let own = pressure * n..(pressure + 1) * n;
    let row_ptr = (0..=k * n).map(|row| row.clamp(own.start, own.end) - own.start).collect();
    Csr::from_valid(k * n, n, row_ptr, (0..n as u32).collect(), vec![1.0; n])
}

/// The columns of the pressure: `[k n, n]`.
pub(in crate::linalg) fn columns_of(matrix: &BlockMatrix, pressure: usize) -> Csr {
    let pattern = matrix.pattern();
    let (k, n) = (pattern.k(), pattern.n());
    let mut row_ptr = Vec::with_capacity(k * n + 1);
    row_ptr.push(0);
    let mut values = Vec::with_capacity(k * pattern.n_blocks());
    for equation in 0..k {
        for element in 0..n {
            values.extend_from_slice(matrix.derivatives(equation, element, pressure));
            row_ptr.push(values.len());
        }
    }
    Csr::from_valid(k * n, n, row_ptr, pattern.col_idx().repeat(k), values)
}

/// The weighted sum of the equations in the columns of the pressure, summed in the order of the
/// equations: `[n, n]`.
fn pressure_matrix(matrix: &BlockMatrix, pressure: usize, weights: &[f64]) -> Csr {
    let pattern = matrix.pattern();
    let (k, n) = (pattern.k(), pattern.n());
    let mut values = Vec::with_capacity(pattern.n_blocks());
    for element in 0..n {
        let first = values.len();
        values.extend(matrix.derivatives(0, element, pressure).iter().map(|value| weights[element] * value));
        for equation in 1..k {
            let weight = weights[equation * n + element];
            let terms = matrix.derivatives(equation, element, pressure);
            values[first..].iter_mut().zip(terms).for_each(|(sum, value)| *sum += weight * value);
        }
    }
    Csr::from_valid(n, n, pattern.row_ptr().to_vec(), pattern.col_idx().to_vec(), values)
}

struct Work<V> {
    pressure_residual: V,
    pressure: V,
    residual: V,
    correction: V,
}

impl<S: MultigridSpace> Cpr<S> {
    /// Sets up both stages for a matrix of `k` fields; number `pressure` (from 0) is elliptic.
    ///
    /// # Errors
    /// Out of memory.
    ///
    /// # Panics
    /// As for [`pressure_weights`].
    pub fn new(space: &mut S, matrix: &Csr, k: usize, pressure: usize, options: &AmgOptions) -> Result<Cpr<S>, S::Error> {
        assert!(pressure < k, "one of the fields");
        let n = matrix.n_rows() / k;
        let blocks = BlockCsr::new(matrix, k);
        let restriction = restriction(k, &weights_of(&blocks, pressure));
        let columns = matrix.block(0..k * n, pressure * n..(pressure + 1) * n);
        let matrix = restriction.product(&columns);
        Cpr::from_parts(space, Parts { k, pressure, restriction, columns, matrix, blocks }, options)
    }

    /// [`Cpr::new`] for a matrix of blocks.
    ///
    /// # Errors
    /// Out of memory.
    ///
    /// # Panics
    /// If `pressure` is not one of the fields.
    pub fn from_blocks(space: &mut S, matrix: &BlockMatrix, pressure: usize, options: &AmgOptions) -> Result<Cpr<S>, S::Error> {
        let k = matrix.pattern().k();
        assert!(pressure < k, "one of the fields");
        let blocks = BlockCsr::of(matrix);
        let weights = weights_of(&blocks, pressure);
        let (columns, pressure_matrix) = (columns_of(matrix, pressure), pressure_matrix(matrix, pressure, &weights));
        let parts = Parts { k, pressure, restriction: restriction(k, &weights), columns, matrix: pressure_matrix, blocks };
        Cpr::from_parts(space, parts, options)
    }

    fn from_parts(space: &mut S, parts: Parts, options: &AmgOptions) -> Result<Cpr<S>, S::Error> {
        let Parts { k, pressure, restriction, columns: pressure_columns, matrix: pressure_matrix, blocks } = parts;
        let n = pressure_matrix.n_rows();
        let injection = injection(k, n, pressure);
        let is_symmetric = pressure_matrix.symmetry(1e-10) == Symmetry::Symmetric && pressure_matrix.diagonal().iter().all(|d| *d > 0.0);
        let options = AmgOptions { symmetric: is_symmetric, ..*options };
        let stages = Stages {
            restriction: space.matrix(restriction)?,
            injection: space.matrix(injection)?,
            pressure_columns: space.matrix(pressure_columns)?,
            amg: space.multigrid(pressure_matrix, &[n], &options)?,
            second: incomplete(space, blocks)?,
        };
        Cpr::assemble(space, stages)
    }

    /// Takes stages that are set up.
    ///
    /// # Errors
    /// Out of memory.
    pub fn assemble(space: &mut S, stages: Stages<S>) -> Result<Cpr<S>, S::Error> {
        let Stages { restriction, injection, pressure_columns, amg, second } = stages;
        let (n, all) = (S::shape(&restriction).rows, S::shape(&restriction).columns);
        let work = Work {
            pressure_residual: space.zeros_of(n)?,
            pressure: space.zeros_of(n)?,
            residual: space.zeros_of(all)?,
            correction: space.zeros_of(all)?,
        };
        [&restriction, &injection, &pressure_columns].into_iter().for_each(|matrix| space.will_multiply(matrix));
        Ok(Cpr { restriction, injection, pressure_columns, amg, second, work: RefCell::new(work) })
    }
}

impl<S: MatrixSpace + 'static> Preconditioner<S> for Cpr<S> {
    fn apply(&self, space: &mut S, z: &mut S::Vector, r: &S::Vector) {
        let Work { pressure_residual, pressure, residual, correction } = &mut *self.work.borrow_mut();
        space.multiply(pressure_residual, &self.restriction, r);
        self.amg.apply(space, pressure, pressure_residual);
        space.residual(residual, r, &self.pressure_columns, pressure);
        self.second.apply(space, correction, residual);
        space.multiply(z, &self.injection, pressure);
        let one = space.constant(1.0);
        space.add_scaled(z, &one, correction);
    }

    fn is_variable(&self) -> bool {
        self.amg.is_variable()
    }

    fn is_rounded(&self) -> bool {
        self.amg.is_rounded()
    }
}
