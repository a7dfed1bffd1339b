//! Factorised sparse approximate inverses (FSAI): two products with triangular matrices, so that
//! all rows are independent.
//!
//! Symmetric: L. Yu. Kolotilina and A. Yu. Yeremin, Factorized sparse approximate inverse
//! preconditionings I. Theory, SIAM J. Matrix Anal. Appl. 14 (1993), doi:10.1137/0614004.
//! Nonsymmetric: the same conditions for both factors, A. Yu. Yeremin and A. A. Nikishin,
//! Factorized-sparse-approximate-inverse preconditionings of linear systems with unsymmetric
//! matrices, J. Math. Sci. 121 (2004), doi:10.1023/B:JOTH.0000026282.04114.11. Patterns of powers
//! of the matrix: E. Chow, A priori sparsity patterns for parallel sparse approximate inverse
//! preconditioners, SIAM J. Sci. Comput. 21 (2000), doi:10.1137/S106482759833913X.

use std::cell::RefCell;

use crate::linalg::matrix::csr::Csr;
use crate::linalg::matrix::dense::solve_in_place;
use crate::linalg::space::matrix_space::MatrixSpace;
use crate::linalg::space::vector_space::{Preconditioner, ROWS_PER_CHECK};

/// The pattern of the factors.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FsaiPattern {
    /// Power of the matrix whose pattern is used: 1 or 2.
    pub power: usize,
    /// Entries with `|a_ij| <= drop sqrt(|a_ii a_jj|)` are left out of the pattern.
    pub drop: f64,
}

impl Default for FsaiPattern {
    fn default() -> Self {
        FsaiPattern { power: 2, drop: 0.01 }
    }
}

/// `A^-1` is about `right left`, where `left` is lower and `right` upper triangular.
#[derive(Clone, Debug, PartialEq)]
pub struct FsaiFactors {
    /// `[n, n]`, lower triangular.
    pub left: Csr,
    /// `[n, n]`, upper triangular; the transpose of `left` for a symmetric matrix.
    pub right: Csr,
}

/// Largest number of entries in a row of the factors. The local systems are dense and cost its
/// cube.
const WIDEST_ROW: usize = 48;

impl FsaiFactors {
    /// Factors of a square matrix. With `symmetric`, they are each other's transpose, and their
    /// product is positive definite for any matrix; where a local system has no positive solution,
    /// the row is that of the magnitude of the inverse diagonal.
    ///
    /// # Panics
    /// If the matrix is not square.
    pub fn new(matrix: &Csr, symmetric: bool, pattern: FsaiPattern) -> FsaiFactors {
        FsaiFactors::begun(matrix, symmetric, pattern, &|| false).0
    }

    /// [`FsaiFactors::new`]; `None` once `stop`, evaluated every some rows, returns true.
    ///
    /// # Panics
    /// If the matrix is not square.
    pub fn new_unless(matrix: &Csr, symmetric: bool, pattern: FsaiPattern, stop: &dyn Fn() -> bool) -> Option<FsaiFactors> {
        let (factors, is_complete) = FsaiFactors::begun(matrix, symmetric, pattern, stop);
        is_complete.then_some(factors)
    }

    /// Factors of the rows before `stop`, and whether these are all.
    fn begun(matrix: &Csr, symmetric: bool, pattern: FsaiPattern, stop: &dyn Fn() -> bool) -> (FsaiFactors, bool) {
        let n = matrix.n_rows();
        assert_eq!(matrix.n_cols(), n, "a square matrix");
        let neighbours = Neighbours::new(matrix, pattern);
        let (mut row_ptr, mut col_idx) = (vec![0], Vec::new());
        let (mut left, mut right): (Vec<f64>, Vec<f64>) = (Vec::new(), Vec::new());
        let mut place = vec![0usize; n];
        let mut is_complete = true;
        for row in 0..n {
            is_complete = is_complete && !(row.is_multiple_of(ROWS_PER_CHECK) && stop());
            if !is_complete {
                row_ptr.push(col_idx.len());
                continue;
            }
            let columns = &neighbours.lower_row(row)[..];
            let local = gather(matrix, columns, &mut place);
            let (g, h) = if symmetric { symmetric_row(columns.len(), &local) } else { general_row(columns.len(), local) };
            let (g, h) = if g.iter().chain(&h).all(|value| value.is_finite()) { (g, h) } else { diagonal_row(columns.len(), 1.0) };
            debug_assert_eq!(columns.last().copied(), Some(row as u32));
            col_idx.extend_from_slice(columns);
            left.extend(g);
            right.extend(h);
            row_ptr.push(col_idx.len());
        }
        let right = Csr::from_valid(n, n, row_ptr.clone(), col_idx.clone(), right).transpose();
        (FsaiFactors { left: Csr::from_valid(n, n, row_ptr, col_idx, left), right }, is_complete)
    }
}

/// The columns of each row of the lower factor, ascending, always with the diagonal, from the
/// pattern of `A + A^T`.
///
/// # Panics
/// If the matrix is not square.
pub fn lower_pattern(matrix: &Csr, pattern: FsaiPattern) -> Vec<Vec<u32>> {
    let neighbours = Neighbours::new(matrix, pattern);
    (0..matrix.n_rows()).map(|row| neighbours.lower_row(row)).collect()
}

/// The couplings in the pattern.
struct Neighbours {
    /// The other columns of each row, ascending.
    rows: Vec<Vec<u32>>,
    power: usize,
}

impl Neighbours {
    fn new(matrix: &Csr, pattern: FsaiPattern) -> Neighbours {
        let n = matrix.n_rows();
        let diagonal = matrix.diagonal();
        let counts = |row: usize, column: usize, value: f64| {
            value != 0.0 && value * value > pattern.drop * pattern.drop * (diagonal[row] * diagonal[column]).abs()
        };
        let mut rows: Vec<Vec<u32>> = vec![Vec::new(); n];
        for row in 0..n {
            for (column, value) in matrix.row(row).filter(|(column, _)| *column != row) {
                if counts(row, column, value) {
                    rows[row].push(column as u32);
                    rows[column].push(row as u32);
                }
            }
        }
        for own in &mut rows {
            own.sort_unstable();
            own.dedup();
        }
        Neighbours { rows, power: pattern.power }
    }

    /// The columns of a row of the lower factor.
    fn lower_row(&self, row: usize) -> Vec<u32> {
        let below = |column: &&u32| (**column as usize) < row;
        let mut columns: Vec<u32> = self.rows[row].iter().filter(below).copied().collect();
        columns.truncate(WIDEST_ROW - 1);
        if self.power > 1 {
            let nearest = columns.clone();
            'all: for &neighbour in &self.rows[row] {
                for &next in self.rows[neighbour as usize].iter().filter(below) {
                    if columns.len() >= WIDEST_ROW - 1 {
                        break 'all;
                    }
                    if nearest.binary_search(&next).is_err() && !columns[nearest.len()..].contains(&next) {
                        columns.push(next);
                    }
                }
            }
        }
        columns.push(row as u32);
        columns.sort_unstable();
        columns
    }
}

/// The dense submatrix with these rows and columns. `place` is all zero before and after.
fn gather(matrix: &Csr, columns: &[u32], place: &mut [usize]) -> Vec<f64> {
    let size = columns.len();
    columns.iter().enumerate().for_each(|(position, &column)| place[column as usize] = position + 1);
    let mut local = vec![0.0; size * size];
    for (position, &row) in columns.iter().enumerate() {
        for (column, value) in matrix.row(row as usize) {
            if place[column] > 0 {
                local[position * size + place[column] - 1] = value;
            }
        }
    }
    columns.iter().for_each(|&column| place[column as usize] = 0);
    local
}

fn diagonal_row(size: usize, value: f64) -> (Vec<f64>, Vec<f64>) {
    let mut row = vec![0.0; size];
    row[size - 1] = value;
    (row.clone(), row)
}

/// `A_JJ y = e`, `g = y / sqrt(y_last)`.
fn symmetric_row(size: usize, local: &[f64]) -> (Vec<f64>, Vec<f64>) {
    let mut y = vec![0.0; size];
    y[size - 1] = 1.0;
    let diagonal = local[size * size - 1];
    if solve_in_place(size, &mut local.to_vec(), &mut y) && y[size - 1] > 0.0 {
        let factor = 1.0 / y[size - 1].sqrt();
        y.iter_mut().for_each(|y| *y *= factor);
        return (y.clone(), y);
    }
    diagonal_row(size, 1.0 / diagonal.abs().sqrt())
}

/// `g A_JJ = e^T` and `A_JJ h = e`, `g` divided by its last element, which is that of `h` as well.
fn general_row(size: usize, mut local: Vec<f64>) -> (Vec<f64>, Vec<f64>) {
    let diagonal = local[size * size - 1];
    let mut transposed: Vec<f64> = (0..size * size).map(|at| local[at % size * size + at / size]).collect();
    let mut g = vec![0.0; size];
    g[size - 1] = 1.0;
    let mut h = g.clone();
    if solve_in_place(size, &mut transposed, &mut g) && solve_in_place(size, &mut local, &mut h) && g[size - 1] != 0.0 {
        let last = g[size - 1];
        g.iter_mut().for_each(|g| *g /= last);
        return (g, h);
    }
    (diagonal_row(size, 1.0).0, diagonal_row(size, 1.0 / diagonal).0)
}

/// FSAI as a preconditioner. Memory traffic: 12 bytes an entry of the factors and 64 a row.
#[derive(Debug)]
pub struct Fsai<S: MatrixSpace> {
    left: S::Matrix,
    right: S::Matrix,
    work: RefCell<S::Vector>,
}

impl<S: MatrixSpace> Fsai<S> {
    /// Takes factors from the host.
    ///
    /// # Errors
    /// Out of memory.
    pub fn new(space: &mut S, factors: FsaiFactors) -> Result<Fsai<S>, S::Error> {
        let n = factors.left.n_rows();
        let (left, right) = (space.matrix(factors.left)?, space.matrix(factors.right)?);
        Fsai::from_factors(space, left, right, n)
    }

    /// Takes factors of `n` rows that are on the device.
    ///
    /// # Errors
    /// Out of memory.
    pub fn from_factors(space: &mut S, left: S::Matrix, right: S::Matrix, n: usize) -> Result<Fsai<S>, S::Error> {
        Ok(Fsai { left, right, work: RefCell::new(space.zeros_of(n)?) })
    }
}

impl<S: MatrixSpace> Preconditioner<S> for Fsai<S> {
    fn apply(&self, space: &mut S, z: &mut S::Vector, r: &S::Vector) {
        let work = &mut *self.work.borrow_mut();
        space.multiply(work, &self.left, r);
        space.multiply(z, &self.right, work);
    }
}
