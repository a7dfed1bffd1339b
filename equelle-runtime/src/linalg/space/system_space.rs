//! Operations of a back-end for the linear-solver driver ([`mod@crate::linalg::driver::solve`]):
//! properties of a matrix, its null vectors, and copies to the host.

use std::borrow::Cow;
use std::convert::Infallible;
use std::ops::Range;
use std::rc::Rc;

use super::host::HostSpace;
use super::host_inspection::Entries;
use super::host_matrix::HostMatrix;
use super::matrix_space::{MatrixSpace, MultigridSpace};
use super::vector_space::Preconditioner;
use crate::linalg::direct::solver::Direct;
use crate::linalg::driver::choose::MatrixProperties;
use crate::linalg::driver::error::LinearError;
use crate::linalg::driver::options::{LinearOptions, Preconditioning};
use crate::linalg::driver::solution::Solution;
use crate::linalg::matrix::csr::Csr;
use crate::linalg::matrix::rim::Rim;
use crate::linalg::matrix::scaling::inverse_row_scale;
use crate::linalg::matrix::sparse_rows::SparseRows;
use crate::linalg::null_space::NullSpace;
use crate::linalg::precond::simple::{Jacobi, inverse_of};
use crate::linalg::precond::{Setting, build, build_of_blocks, cpr};
use crate::operators::Reduction;
use crate::reduce;
use crate::threads::Threads;

/// Properties of a square matrix.
#[derive(Clone, Debug)]
pub struct Inspection {
    /// Row, column and value of the first entry that is not finite; if there is one, the rest is
    /// undefined.
    pub not_finite: Option<(usize, usize, f64)>,
    /// Its null space.
    pub null_space: Rc<NullSpace>,
    /// Properties for the choice of a method. The caller sets
    /// [`MatrixProperties::is_range_unknown`].
    pub properties: MatrixProperties,
}

/// An entry that is this many times as large as its mirrored one and the diagonal of its column is
/// in another unit than these.
pub const UNITS_AGREE: f64 = 256.0;

/// Linear systems on the device.
pub trait SystemSpace: MultigridSpace {
    /// Null vectors on the device.
    type NullVectors;

    /// Sets the length of vectors of [`crate::linalg::VectorSpace::zeros`] to `n`.
    fn set_len(&mut self, n: usize);
    /// Iterations between two checks of the residual with this preconditioner, where the options
    /// have `asked`.
    fn check_every(&self, asked: usize, preconditioner: Preconditioning) -> usize;
    /// Bytes that kernels have read and written since the last call: the least that there can be,
    /// counted from shapes.
    fn take_traffic(&mut self) -> u64;
    /// Largest magnitude of the elements, 0 for none; NaN or infinite if one is.
    fn largest(&mut self, x: &Self::Vector) -> Self::Scalar;
    /// Copies a vector to the host; on ranks the part of this one.
    ///
    /// # Errors
    /// The device was lost.
    fn host_vector(&mut self, x: &Self::Vector) -> Result<Vec<f64>, Self::Error>;
    /// Copies a matrix to the host; on ranks all of it, to each.
    ///
    /// # Errors
    /// The device was lost.
    fn host_matrix<'m>(&mut self, a: &'m Self::Matrix) -> Result<Cow<'m, Csr>, Self::Error>;
    /// Combines numbers with those of other ranks of a run, in the order of ranks. An error of a
    /// message is that of the next [`crate::linalg::VectorSpace::read`].
    fn combine(&mut self, _how: Reduction, _numbers: &mut [f64]) {}
    /// Number of an unknown in the whole system, for messages: that of its field, then its rank.
    fn number(&self, unknown: usize) -> usize {
        unknown
    }
    /// An entry by its [numbers](Self::number) in the whole system.
    ///
    /// # Errors
    /// The device was lost.
    fn entry(&mut self, a: &Self::Matrix, row: usize, column: usize) -> Result<f64, Self::Error> {
        Ok(self.host_matrix(a)?.entry(row, column))
    }
    /// [`NullSpace::restore`]: the matrix without the rounding of its entries.
    ///
    /// # Errors
    /// Out of memory.
    fn restored(&mut self, a: &Self::Matrix, null_space: &NullSpace) -> Result<Self::Matrix, Self::Error> {
        let host = null_space.restore(&*self.host_matrix(a)?);
        self.matrix(host)
    }
    /// Solves a system by LU where the parts of it are gathered for that; `None` where the driver
    /// does it. `ends` are those of the fields.
    ///
    /// # Errors
    /// The outer error: the device was lost. The inner one: as for [`crate::linalg::solve()`].
    #[allow(clippy::type_complexity, reason = "an error of the device, and one of the system")]
    fn solve_gathered(
        &mut self,
        _a: &Self::Matrix,
        _ends: &[usize],
        _rhs: impl FnOnce(&mut Self) -> Result<Self::Vector, Self::Error>,
        _options: &LinearOptions,
    ) -> Result<Option<Result<Solution<Self::Vector>, LinearError>>, Self::Error>
    where
        Self: Sized,
    {
        Ok(None)
    }
    /// Distance of each of `k` fields from elliptic: [`cpr::departure_from_elliptic`]. `[k]`
    ///
    /// # Errors
    /// The device was lost.
    fn departure_from_elliptic(&mut self, a: &Self::Matrix, k: usize) -> Result<Vec<f64>, Self::Error> {
        Ok(cpr::departure_from_elliptic(&*self.host_matrix(a)?, k))
    }
    /// Computes the properties of a square matrix whose fields end at `ends`; `rounding` is that of
    /// its entries ([`crate::linalg::LinearOptions::rounding`]).
    ///
    /// # Errors
    /// The device was lost.
    fn inspect(&mut self, a: &Self::Matrix, ends: &[usize], rounding: f64) -> Result<Inspection, Self::Error>;
    /// Copies null vectors to the device.
    ///
    /// # Errors
    /// Out of memory.
    fn null_vectors(&mut self, null_space: &Rc<NullSpace>) -> Result<Self::NullVectors, Self::Error>;
    /// Powers of two that bring the largest magnitude of each row to between 1 and 2; 1 for a row
    /// of zeros ([`inverse_row_scale`]). `[rows]`
    ///
    /// # Errors
    /// Out of memory.
    fn row_scales(&mut self, a: &Self::Matrix) -> Result<Self::Vector, Self::Error>;
    /// True if the rows of each field, which end at `ends`, agree in their unit: no entry of a
    /// field's equation in its own unknowns is more than [`UNITS_AGREE`] times as large as both its
    /// mirrored entry and the diagonal of its column. So it is for equations of balance, where what
    /// leaves a cell is on its diagonal and what arrives elsewhere off it.
    ///
    /// # Errors
    /// The device was lost.
    fn rows_agree(&mut self, a: &Self::Matrix, ends: &[usize]) -> Result<bool, Self::Error>;
    /// The matrix with each row times its scale, with the same pattern.
    ///
    /// # Errors
    /// Out of memory.
    fn scaled_rows(&mut self, a: &Self::Matrix, scales: &Self::Vector) -> Result<Self::Matrix, Self::Error>;
    /// The matrix of the magnitudes of all entries.
    ///
    /// # Errors
    /// Out of memory, or the device was lost.
    fn magnitudes(&mut self, a: &Self::Matrix) -> Result<Self::Matrix, Self::Error> {
        let host = self.host_matrix(a)?.magnitudes();
        self.matrix(host)
    }
    /// Makes `y` orthogonal to the known left null vectors.
    fn to_range(&mut self, vectors: &Self::NullVectors, y: &mut Self::Vector);
    /// Subtracts the mean of `x` on each component.
    fn remove_mean(&mut self, vectors: &Self::NullVectors, x: &mut Self::Vector);
    /// Where matrices are factorised, with the direct solver if the back-end has one. Called once
    /// for each cache.
    fn direct_solver(&mut self) -> Direct<Self>
    where
        Self: Sized,
    {
        Direct::Host
    }
    /// Sets up a preconditioner for `factor` (a power of two with a sign) times the matrix. In an
    /// interrupted run ([`crate::linalg::VectorSpace::is_interrupted`]) it soon returns any other
    /// preconditioner, and the caller must check.
    ///
    /// # Errors
    /// Out of memory.
    fn set_up(
        &mut self,
        a: &Self::Matrix,
        factor: f64,
        kind: Preconditioning,
        setting: Setting<'_>,
    ) -> Result<Box<dyn Preconditioner<Self>>, Self::Error>
    where
        Self: Sized;
}

impl SystemSpace for HostSpace {
    type NullVectors = Rc<NullSpace>;

    fn set_len(&mut self, n: usize) {
        self.set_size(n);
    }

    fn check_every(&self, asked: usize, _: Preconditioning) -> usize {
        asked
    }

    fn take_traffic(&mut self) -> u64 {
        self.traffic.take()
    }

    fn largest(&mut self, x: &Vec<f64>) -> f64 {
        self.traffic.each(x.len(), 8);
        let mut leaves = vec![0.0; reduce::leaf_count(x.len())];
        let magnitudes = |range: Range<usize>| x[range].iter().map(|x| x.abs());
        reduce::reduce_leaves(self.threads(), Reduction::Max, x.len(), &mut leaves, magnitudes).unwrap_or(0.0)
    }

    fn host_vector(&mut self, x: &Vec<f64>) -> Result<Vec<f64>, Infallible> {
        Ok(x.clone())
    }

    fn host_matrix<'m>(&mut self, a: &'m HostMatrix) -> Result<Cow<'m, Csr>, Infallible> {
        Ok(Cow::Borrowed(a.rows()))
    }

    fn departure_from_elliptic(&mut self, a: &HostMatrix, k: usize) -> Result<Vec<f64>, Infallible> {
        Ok(match a {
            HostMatrix::Rows(a) => cpr::departure_from_elliptic(a, k),
            HostMatrix::Blocks(a) => cpr::departure_of_blocks(a),
        })
    }

    fn inspect(&mut self, a: &HostMatrix, ends: &[usize], rounding: f64) -> Result<Inspection, Infallible> {
        Ok(match a {
            HostMatrix::Rows(a) => {
                let (inspection, is_mirrored) = inspected_rows(self.threads(), a, ends, rounding);
                a.set_mirrored(is_mirrored);
                inspection
            }
            HostMatrix::Blocks(a) => inspected(a, ends, rounding),
        })
    }

    fn rows_agree(&mut self, a: &HostMatrix, ends: &[usize]) -> Result<bool, Infallible> {
        Ok(match a {
            HostMatrix::Rows(a) => rows_agree(&**a, ends),
            HostMatrix::Blocks(a) => rows_agree(a, ends),
        })
    }

    fn row_scales(&mut self, a: &HostMatrix) -> Result<Vec<f64>, Infallible> {
        fn scale(row: impl Iterator<Item = (usize, f64)>) -> f64 {
            inverse_row_scale(row.fold(0.0, |largest: f64, (_, value)| largest.max(value.abs())))
        }
        let rows = HostSpace::shape(a).rows;
        Ok(match a {
            HostMatrix::Rows(a) => self.threads().values(rows, |row| scale(a.row(row))),
            HostMatrix::Blocks(a) => self.threads().values(rows, |row| scale(a.row(row))),
        })
    }

    fn scaled_rows(&mut self, a: &HostMatrix, scales: &Vec<f64>) -> Result<HostMatrix, Infallible> {
        Ok(match a {
            HostMatrix::Rows(a) => a.scaled_rows(scales).into(),
            HostMatrix::Blocks(a) => a.scaled_rows(scales).into(),
        })
    }

    fn null_vectors(&mut self, null_space: &Rc<NullSpace>) -> Result<Rc<NullSpace>, Infallible> {
        Ok(Rc::clone(null_space))
    }

    fn to_range(&mut self, vectors: &Rc<NullSpace>, y: &mut Vec<f64>) {
        // The sum, then the update, of as many weights.
        self.traffic.dot(y.len(), false);
        self.traffic.update(y.len());
        vectors.project_to_range(y);
    }

    fn remove_mean(&mut self, vectors: &Rc<NullSpace>, x: &mut Vec<f64>) {
        self.traffic.dot(x.len(), true);
        self.traffic.scale(x.len());
        vectors.remove_mean(x);
    }

    fn set_up(
        &mut self,
        a: &HostMatrix,
        factor: f64,
        kind: Preconditioning,
        setting: Setting<'_>,
    ) -> Result<Box<dyn Preconditioner<HostSpace>>, Infallible> {
        if kind == Preconditioning::Jacobi {
            let rows = HostSpace::shape(a).rows;
            let inverse = match a {
                HostMatrix::Rows(a) => self.threads().values(rows, |row| inverse_of(factor * a.diagonal_entry(row))),
                HostMatrix::Blocks(a) => self.threads().values(rows, |row| inverse_of(factor * a.entry(row, row))),
            };
            return Ok(Box::new(Jacobi::from_inverse(inverse)));
        }
        match a {
            HostMatrix::Rows(a) => {
                let scaled = (factor != 1.0).then(|| a.scaled(factor));
                build(self, scaled.as_ref().unwrap_or(a), kind, setting)
            }
            HostMatrix::Blocks(a) => {
                let scaled = (factor != 1.0).then(|| a.scaled(factor));
                build_of_blocks(self, scaled.as_ref().unwrap_or(a), kind, setting)
            }
        }
    }
}

/// [`inspected`] of compressed rows, in one pass, with a pattern whose mirrored entries are known;
/// and whether these have the same bits.
fn inspected_rows(threads: &Threads, a: &Csr, ends: &[usize], rounding: f64) -> (Inspection, bool) {
    let Some(Entries { vanishes, is_mirrored, properties }) = Entries::new(threads, (a, &Rim::default()), ends, rounding) else {
        return (inspected(a, ends, rounding), false);
    };
    let has_null_space = vanishes || ends.len() > 1;
    let null_space = if has_null_space { NullSpace::find_in_blocks(a, ends, rounding) } else { NullSpace::default() };
    (Inspection { not_finite: None, null_space: Rc::new(null_space), properties }, is_mirrored)
}

fn rows_agree(a: &impl SparseRows, ends: &[usize]) -> bool {
    let mut begin = 0;
    ends.iter().all(|&end| {
        let field = std::mem::replace(&mut begin, end)..end;
        field.clone().all(|row| {
            a.row_within(row, field.clone()).all(|(column, value)| {
                value.abs() <= UNITS_AGREE * a.entry(column, column).abs() || value.abs() <= UNITS_AGREE * a.entry(column, row).abs()
            })
        })
    })
}

fn inspected(a: &impl SparseRows, ends: &[usize], rounding: f64) -> Inspection {
    let not_finite = (0..a.n_rows()).find_map(|row| {
        let (column, value) = a.row(row).find(|(_, value)| !value.is_finite())?;
        Some((row, column, value))
    });
    let null_space = Rc::new(if not_finite.is_none() { NullSpace::find_in_blocks(a, ends, rounding) } else { NullSpace::default() });
    Inspection { not_finite, null_space, properties: MatrixProperties::new(a, ends, false) }
}
