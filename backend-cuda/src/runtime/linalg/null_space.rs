//! Projections along null spaces on the device: the right-hand side and every product are made
//! orthogonal to the left null vectors, and the solution gets mean zero on each component.
//! [`equelle_runtime::linalg::null_space`] computes the null vectors.

use equelle_runtime::Error;
use equelle_runtime::linalg::null_space::{NullSpace, round_off};
use equelle_runtime::linalg::{Csr, MatrixSpace, VectorSpace};

use crate::runtime::linalg::csr::DeviceMatrix;
use crate::runtime::linalg::scalars::DeviceNumber;
use crate::runtime::linalg::space::DeviceVector;
use crate::runtime::linalg::space::Space;

/// Largest number of vectors with separate dot products and updates; more of them, which are
/// shorter, form rows of a matrix.
const FEW: usize = 8;

/// Projections of a matrix with a null space.
#[derive(Debug)]
pub struct Projection {
    /// Known left null vectors.
    left: Vectors,
    /// 1 on the unknowns of each component.
    ones: Vectors,
}

/// Vectors with disjoint elements.
#[derive(Debug)]
enum Vectors {
    /// Each with its square norm.
    Few(Vec<(DeviceVector, DeviceNumber)>),
    Many {
        /// One in each row.
        rows: DeviceMatrix,
        /// One in each column.
        columns: DeviceMatrix,
        /// Inverses of their square norms.
        inverse_squares: DeviceVector,
    },
}

impl Vectors {
    /// Vectors of `n` elements, given by ascending indices and values.
    fn new(rt: &mut Space<f64>, n: usize, vectors: &[(&[usize], Vec<f64>)]) -> Result<Self, Error> {
        if vectors.len() <= FEW {
            let mut few = Vec::with_capacity(vectors.len());
            for (places, values) in vectors {
                let mut dense = vec![0.0; n];
                places.iter().zip(values).for_each(|(&place, &value)| dense[place] = value);
                let vector = rt.vector(dense)?;
                let square = rt.dot(&vector, &vector);
                few.push((vector, square));
            }
            return Ok(Vectors::Few(few));
        }
        let mut row_ptr = vec![0];
        let (mut columns, mut values) = (Vec::new(), Vec::new());
        let mut inverse_squares = Vec::with_capacity(vectors.len());
        for (places, elements) in vectors {
            columns.extend(places.iter().map(|&place| place as u32));
            values.extend_from_slice(elements);
            row_ptr.push(columns.len());
            inverse_squares.push(1.0 / elements.iter().map(|value| value * value).sum::<f64>());
        }
        let rows = Csr::new(vectors.len(), n, row_ptr, columns, values);
        let rows = rows.map_err(|what| Error::internal(format!("null vectors: {what}")))?;
        let columns = rt.matrix(rows.transpose())?;
        Ok(Vectors::Many { rows: rt.matrix(rows)?, columns, inverse_squares: rt.vector(inverse_squares)? })
    }

    /// The vectors, if they are few.
    fn few(&self) -> Option<&[(DeviceVector, DeviceNumber)]> {
        match self {
            Vectors::Few(few) => Some(few),
            Vectors::Many { .. } => None,
        }
    }

    /// Makes `y` orthogonal to the vectors.
    fn remove(&self, rt: &mut Space<f64>, y: &mut DeviceVector) {
        match self {
            Vectors::Few(few) => {
                for (vector, square) in few {
                    let along = rt.dot(vector, y);
                    let factor = rt.ratio(&along, square);
                    rt.sub_scaled(y, &factor, vector);
                }
            }
            Vectors::Many { rows, columns, inverse_squares } => {
                let vectors = rt.new_vector_of(inverse_squares.len).and_then(|along| Ok((along, rt.new_vector_of(inverse_squares.len)?)));
                let Some((mut along, mut factors)) = rt.executor.attempt(vectors) else { return };
                rt.multiply(&mut along, rows, y);
                rt.add_diagonal(&mut factors, 0.0, 1.0, inverse_squares, &along);
                rt.multiply_sub(y, columns, &factors);
            }
        }
    }
}

impl Projection {
    /// Projections for a matrix of `n` rows with these null vectors.
    ///
    /// # Errors
    /// `Backend`: not enough memory.
    pub(crate) fn of(rt: &mut Space<f64>, n: usize, null_space: &NullSpace) -> Result<Self, Error> {
        let known = null_space.components.iter().filter_map(|component| component.left.as_ref());
        let left: Vec<(&[usize], Vec<f64>)> = known.map(|left| (&left.rows[..], left.weights.clone())).collect();
        let ones: Vec<(&[usize], Vec<f64>)> =
            null_space.components.iter().map(|component| (&component.unknowns[..], vec![1.0; component.unknowns.len()])).collect();
        Ok(Projection { left: Vectors::new(rt, n, &left)?, ones: Vectors::new(rt, n, &ones)? })
    }

    /// True if a matrix still has this null space and these left null vectors, by entries with this
    /// rounding; false if there are too many to check. One small copy to the host.
    ///
    /// # Errors
    /// `Backend`: not enough memory.
    pub(crate) fn holds(&self, rt: &mut Space<f64>, matrix: &DeviceMatrix, rounding: f64) -> Result<bool, Error> {
        let (Some(ones), Some(left)) = (self.ones.few(), self.left.few()) else { return Ok(false) };
        if ones.len() != left.len() {
            return Ok(false);
        }
        let (n, changed) = (matrix.rows.len() as u32, rt.zero_bytes(8)?);
        let transposed = rt.transposed(matrix)?;
        for ((ones, _), (weights, _)) in ones.iter().zip(left) {
            let call = rt.solver_call("equelle_still_open")?.arg(n).arg(matrix.args()).arg(ones.address()).arg(round_off(rounding));
            rt.executor.launch_over(call.arg(changed.address()), matrix.rows.len())?;
            let call = rt.solver_call("equelle_still_null")?.arg(n).arg(transposed.args()).arg(weights.address()).arg(round_off(rounding));
            rt.executor.launch_over(call.arg(changed.address()), matrix.rows.len())?;
        }
        Ok(rt.executor.download_one::<u32>(changed.address())? == 0)
    }

    /// Makes `y` orthogonal to the left null vectors.
    pub(crate) fn to_range(&self, rt: &mut Space<f64>, y: &mut DeviceVector) {
        self.left.remove(rt, y);
    }

    /// Subtracts the mean of `x` on each component.
    pub(crate) fn remove_mean(&self, rt: &mut Space<f64>, x: &mut DeviceVector) {
        self.ones.remove(rt, x);
    }
}
