//! Methods of [`crate::EquelleRuntime`] for values of several types: a trait is implemented once
//! for each of them.

use crate::error::Error;

/// Outputs of one type.
pub trait Output<T> {
    /// Writes single values as `tag = value` to standard output, a Vector with as many components
    /// as the grid has dimensions. Writes collections to standard output or to a file, an element a
    /// row in the order of the grid's file: the components of a Vector, 1 or 0 for a Bool, the
    /// index of an entity in its kind or -1 for Empty.
    ///
    /// # Errors
    /// Those of the file, and of operations before.
    fn output(&mut self, tag: &str, value: &T) -> Result<(), Error>;
}

/// Checks of mutable variables of one type.
pub trait Check<T> {
    /// Checks that a mutable variable of this name is finite.
    ///
    /// # Errors
    /// `Simulation` if it is not, with the current line, and the first element in the order of the
    /// grid's file.
    fn check(&mut self, name: &str, value: &T) -> Result<(), Error>;
}

/// Exchanges of collections of one type between ranks.
pub trait Exchange<C> {
    /// Brings the values of the first `depth` layers of the halo from the ranks that own them.
    /// Nothing on one rank.
    ///
    /// # Errors
    /// Those of messages.
    fn exchange(&mut self, _values: &mut C, _depth: u32) -> Result<(), Error> {
        Ok(())
    }
}
