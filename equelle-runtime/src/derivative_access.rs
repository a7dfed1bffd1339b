//! Derivatives of collections, outside of kernels.

use crate::checkpoint::Checkpoint;
use crate::error::Error;

/// Derivatives in plain vectors: for the interpreter, which evaluates kernels itself, and the
/// tests. Never on a hot path.
pub trait DerivativeAccess: Checkpoint {
    /// Adds derivatives to a collection, row by row: an entry is the number of an unknown, the
    /// position in its domain, and the derivative with respect to that element. No element occurs
    /// twice in a row.
    ///
    /// # Errors
    /// `Backend` if an unknown is not a collection, or if there is no such element.
    fn with_derivatives(
        &mut self,
        values: &Self::ScalarCollection,
        unknowns: &[Self::ScalarCollection],
        rows: &[Vec<(usize, usize, f64)>],
    ) -> Result<Self::ScalarCollection, Error>;

    /// The derivatives of a collection, row by row: the index among all values of the unknowns,
    /// ascending, and the derivative. No rows if the collection does not depend on an unknown.
    ///
    /// # Errors
    /// `Backend`, if they cannot be copied from a device.
    fn derivatives(&mut self, values: &Self::ScalarCollection) -> Result<Vec<Vec<(usize, f64)>>, Error>;
}
