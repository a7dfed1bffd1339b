//! Matrices in single precision on the device, converted from double precision.

use std::rc::Rc;

use equelle_runtime::Error;
use equelle_runtime::linalg::precond::amg::setup::CoarseParts;
use equelle_runtime::linalg::precond::amg::{Hierarchy, LevelParts};
use equelle_runtime::linalg::space::matrix_space::Shape;
use equelle_runtime::linalg::space::traffic_counter::Stored;
use equelle_runtime::linalg::{MatrixSpace, SystemSpace, VectorSpace};

use crate::runtime::device::DevicePtr;
use crate::runtime::executor::arguments::EqRows;
use crate::runtime::executor::pool::Buffer;
use crate::runtime::linalg::csr::CsrPattern;
use crate::runtime::linalg::csr::DeviceMatrix;
use crate::runtime::linalg::sell::{f32_slices, lanes, slices};
use crate::runtime::linalg::space::DeviceVector;
use crate::runtime::linalg::space::Space;
use crate::runtime::linalg::spmv_format::{EqSparseMatrix, SellPattern};

const WHAT: &str = "multigrid in single precision";

/// A sparse matrix in single precision: a pattern, which a matrix in double precision may share,
/// and values.
#[derive(Debug)]
pub struct SingleMatrix {
    shape: Shape,
    entries: Entries,
}

#[derive(Debug)]
enum Entries {
    Slices(Rc<SellPattern>, Rc<Buffer>),
    /// In rows, each added by this number of threads.
    Rows(Rc<CsrPattern>, Rc<Buffer>, u32),
}

impl SingleMatrix {
    /// Converts a matrix times `scale`, to slices if these pay.
    ///
    /// # Errors
    /// `Backend`: not enough memory.
    pub(crate) fn from_matrix(rt: &mut Space<f64>, a: &DeviceMatrix, scale: f64) -> Result<SingleMatrix, Error> {
        match slices(&rt.executor, &a.rows)? {
            Some(slices) => {
                let values = f32_slices(&rt.executor, a, &slices, scale)?;
                Ok(SingleMatrix { shape: <Space<f64> as MatrixSpace>::shape(a), entries: Entries::Slices(slices, values) })
            }
            None => SingleMatrix::by_rows(rt, a, scale),
        }
    }

    /// Converts a matrix times `scale`, in rows.
    ///
    /// # Errors
    /// As for [`SingleMatrix::from_matrix`].
    fn by_rows(rt: &mut Space<f64>, a: &DeviceMatrix, scale: f64) -> Result<SingleMatrix, Error> {
        let entries = rt.narrowed(a.entries.address(), a.rows.entries(), scale)?;
        let entries = Entries::Rows(Rc::clone(&a.rows), entries, lanes(&a.rows));
        Ok(SingleMatrix { shape: <Space<f64> as MatrixSpace>::shape(a), entries })
    }

    pub(crate) fn shape(&self) -> Shape {
        self.shape
    }

    /// Its size and bytes.
    pub(crate) fn stored(&self) -> Stored {
        let bytes = match &self.entries {
            Entries::Slices(slices, _) => 4 * slices.capacity as u64 + slices.index_bytes,
            Entries::Rows(rows, ..) => rows.stored(None, 4).bytes,
        };
        Stored { shape: self.shape, bytes }
    }

    /// The kernel argument of products.
    pub(crate) fn format(&self) -> EqSparseMatrix {
        match &self.entries {
            Entries::Slices(slices, values) => EqSparseMatrix::from_sell(slices, values, self.shape.columns),
            Entries::Rows(rows, entries, lanes) => EqSparseMatrix::from_csr(rows.args(entries), *lanes, self.shape.columns),
        }
    }

    /// The matrix in rows.
    ///
    /// # Errors
    /// `Backend` (an internal error) if it is in slices.
    pub(crate) fn rows(&self) -> Result<EqRows, Error> {
        match &self.entries {
            Entries::Rows(rows, entries, _) => Ok(rows.args(entries)),
            Entries::Slices(..) => Err(Error::internal("a prolongation in slices where rows are needed")),
        }
    }
}

impl Space<f64> {
    /// Numbers times `scale`, rounded.
    fn narrowed(&mut self, from: DevicePtr, n: usize, scale: f64) -> Result<Rc<Buffer>, Error> {
        let made = self.executor.buffer(WHAT, 4 * n as u64)?;
        let call = self.multigrid_call("equelle_narrow_entries")?.arg(n as u32).arg(from).arg(scale).arg(made.address());
        self.executor.launch_over(call, n)?;
        Ok(made)
    }

    /// A vector times `scale`, rounded.
    ///
    /// # Errors
    /// `Backend`: not enough memory.
    pub(crate) fn narrowed_vector(&mut self, x: &DeviceVector, scale: f64) -> Result<DeviceVector<f32>, Error> {
        Ok(DeviceVector::new(self.narrowed(x.address(), x.len, scale)?, x.len))
    }

    /// The least and the largest nonzero magnitude of a diagonal, from its inverse; infinity and 0
    /// if there are none. Waits for the device.
    ///
    /// # Errors
    /// `Backend`: a lost device.
    pub(crate) fn range_of(&mut self, inverse_diagonal: &DeviceVector) -> Result<(f64, f64), Error> {
        let (of_inverse, of_diagonal) = (self.largest(inverse_diagonal), self.largest_of(inverse_diagonal, true));
        let [of_inverse, most] = self.read([&of_inverse, &of_diagonal])?;
        Ok((1.0 / of_inverse, most))
    }
}

/// True if launches with one thread per entry can number all entries.
pub(crate) fn counts(hierarchy: &Hierarchy<Space<f64>>) -> bool {
    let of_matrix = |matrix: &DeviceMatrix| u32::try_from(matrix.rows.entries()).is_ok();
    let of_level = |level: &LevelParts<Space<f64>>| {
        [Some(&level.matrix), level.image.as_ref(), Some(&level.prolongation), Some(&level.restriction)]
            .into_iter()
            .flatten()
            .all(of_matrix)
    };
    let coarse = match &hierarchy.coarse {
        CoarseParts::Direct(inverse) => of_matrix(inverse),
        CoarseParts::Smoothed(level) => of_level(level),
    };
    coarse && hierarchy.levels.iter().all(of_level)
}

/// Converts a hierarchy to `scale` times the matrix. Level by level, so that the memory of each
/// level is reused for the next.
///
/// # Errors
/// `Backend`: not enough memory.
pub(crate) fn narrow(rt: &mut Space<f64>, hierarchy: Hierarchy<Space<f64>>, scale: f64) -> Result<Hierarchy<Space<f32>>, Error> {
    let levels = hierarchy.levels.into_iter().map(|level| narrow_level(rt, level, scale)).collect::<Result<_, _>>()?;
    let coarse = match hierarchy.coarse {
        CoarseParts::Direct(inverse) => CoarseParts::Direct(SingleMatrix::from_matrix(rt, &inverse, 1.0 / scale)?),
        CoarseParts::Smoothed(level) => CoarseParts::Smoothed(Box::new(narrow_level(rt, *level, scale)?)),
    };
    Ok(Hierarchy { levels, coarse, sizes: hierarchy.sizes, complexity: hierarchy.complexity })
}

fn narrow_level(rt: &mut Space<f64>, level: LevelParts<Space<f64>>, scale: f64) -> Result<LevelParts<Space<f32>>, Error> {
    let matrix = SingleMatrix::from_matrix(rt, &level.matrix, scale)?;
    let image = level.image.as_ref().map(|image| SingleMatrix::from_matrix(rt, image, scale)).transpose()?;
    // A fused correction with the image reads the prolongation by rows.
    let prolongation = match image {
        Some(_) => SingleMatrix::by_rows(rt, &level.prolongation, 1.0)?,
        None => SingleMatrix::from_matrix(rt, &level.prolongation, 1.0)?,
    };
    let restriction = SingleMatrix::from_matrix(rt, &level.restriction, 1.0)?;
    let inverse_diagonal = rt.narrowed_vector(&level.inverse_diagonal, 1.0 / scale)?;
    Ok(LevelParts { matrix, prolongation, image, restriction, inverse_diagonal, radius: level.radius })
}
