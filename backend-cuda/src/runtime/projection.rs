//! Matrices that leave the level of unknowns open, on the device: the right-hand side and every product are made orthogonal to the left null vectors, and the solution gets
//! the mean zero on each open part. See [`equelle_runtime::linalg::null_space`]; the null vectors come from there.

use equelle_runtime::Error;
use equelle_runtime::linalg::null_space::NullSpace;
use equelle_runtime::linalg::{LinearOperator, VectorSpace};

use crate::runtime::grid::bytes_of;
use crate::runtime::krylov::{DeviceMatrix, DeviceNumber, DeviceSpace, DeviceVector};

/// More open parts than this are left to the host: each costs a dot product and an update in every product with the matrix.
const MOST: usize = 8;

/// The open parts of a matrix.
#[derive(Default)]
pub(super) struct Projection {
    parts: Vec<Part>,
}

struct Part {
    /// The left null vector, and its product with itself.
    left: DeviceVector,
    square: DeviceNumber,
    /// 1 on the unknowns of the part.
    ones: DeviceVector,
    /// How many they are.
    count: DeviceNumber,
}

impl Projection {
    /// Onto the range of a matrix with these null vectors; `None` where they are not all known, or too many.
    ///
    /// # Errors
    /// `Backend`: not enough memory.
    pub(super) fn of(space: &mut DeviceSpace<'_>, null_space: &NullSpace) -> Result<Option<Self>, Error> {
        let mut parts = Vec::new();
        if null_space.components.len() > MOST {
            return Ok(None);
        }
        for component in &null_space.components {
            let Some(left) = &component.left else { return Ok(None) };
            let mut values = vec![0.0; space.len()];
            left.rows.iter().zip(&left.weights).for_each(|(&row, &weight)| values[row] = weight);
            let left = space.rt.upload("a null vector", &bytes_of(&values, f64::to_le_bytes))?;
            values.fill(0.0);
            component.unknowns.iter().for_each(|&unknown| values[unknown] = 1.0);
            let ones = space.rt.upload("a null vector", &bytes_of(&values, f64::to_le_bytes))?;
            let square = space.dot(&left, &left);
            let count = space.constant(component.unknowns.len() as f64);
            parts.push(Part { left, square, ones, count });
        }
        Ok(Some(Projection { parts }))
    }

    /// `|w . b| / |w|` of each part: the residual of the best solution there.
    ///
    /// # Errors
    /// Those of the device.
    pub(super) fn imbalances(&self, space: &mut DeviceSpace<'_>, b: &DeviceVector) -> Result<Vec<f64>, Error> {
        let mut found = Vec::with_capacity(self.parts.len());
        for part in &self.parts {
            let along = space.dot(&part.left, b);
            let [along, square] = space.read([&along, &part.square])?;
            found.push(along.abs() / square.sqrt());
        }
        Ok(found)
    }

    /// Makes `y` orthogonal to the left null vectors.
    pub(super) fn to_range(&self, space: &mut DeviceSpace<'_>, y: &mut DeviceVector) {
        for part in &self.parts {
            let along = space.dot(&part.left, y);
            let factor = space.ratio(&along, &part.square);
            space.sub_scaled(y, &factor, &part.left);
        }
    }

    /// Gives `x` the mean zero on each part.
    pub(super) fn remove_mean(&self, space: &mut DeviceSpace<'_>, x: &mut DeviceVector) {
        for part in &self.parts {
            let sum = space.dot(&part.ones, x);
            let mean = space.ratio(&sum, &part.count);
            space.sub_scaled(x, &mean, &part.ones);
        }
    }

    /// Number of open parts.
    pub(super) fn len(&self) -> usize {
        self.parts.len()
    }
}

/// `P A`, where `P` removes what round-off has put outside the range.
pub(super) struct Projected<'a> {
    pub matrix: &'a DeviceMatrix,
    pub projection: &'a Projection,
}

impl LinearOperator<DeviceSpace<'_>> for Projected<'_> {
    fn apply(&self, space: &mut DeviceSpace<'_>, y: &mut DeviceVector, x: &DeviceVector) {
        self.matrix.apply(space, y, x);
        self.projection.to_range(space, y);
    }
}
