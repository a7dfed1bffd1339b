//! Runs that the caller follows: their state after each round of a loop of the main program.
//! Programs hand it over by [`crate::observed::Observed`].

mod cell_box;

pub use cell_box::CellBox;

use crate::error::Error;
use crate::operators::Reduction;
use crate::output::StepTime;

/// The value of a variable; elements are in the order of the grid's file.
#[derive(Clone, Debug, PartialEq)]
pub enum StateValue {
    /// One number.
    Scalar(f64),
    /// One truth value.
    Bool(bool),
    /// One Vector, `[dim]`.
    Vector(Vec<f64>),
    /// A number for each element.
    Scalars(Vec<f64>),
    /// A truth value for each element.
    Bools(Vec<bool>),
    /// A Vector for each element, `[n * dim]`, element by element.
    Vectors {
        /// Axes of space.
        dim: usize,
        /// Components, element by element.
        values: Vec<f64>,
    },
}

/// The state of a run between two rounds.
pub trait RunState {
    /// Step and time of the round that is over.
    fn moment(&mut self) -> StepTime;

    /// Names of the mutable variables that have a value.
    fn variables(&self) -> Vec<String>;

    /// A copy of a variable. Copies from the device, where there is one.
    ///
    /// # Errors
    /// `Usage` if there is none of that name, or it cannot be read; those of the device.
    fn read(&mut self, name: &str) -> Result<StateValue, Error>;

    /// Gives a variable another value of its type and size.
    ///
    /// # Errors
    /// `Usage` if there is none of that name, or the value does not fit; those of the device.
    fn write(&mut self, name: &str, value: StateValue) -> Result<(), Error>;

    /// A reduction of a collection of numbers, where the run has it.
    ///
    /// # Errors
    /// `Usage` if there is no such collection; those of the device.
    fn reduce(&mut self, name: &str, reduction: Reduction) -> Result<f64, Error>;

    /// Cells along each axis of a Cartesian grid, x first; `None` for other grids.
    fn cells(&mut self) -> Option<Vec<usize>>;

    /// The values of a collection in a box of cells, x fastest. Costs a copy of the collection.
    ///
    /// # Errors
    /// Those of [`RunState::read`]; `Usage` if it is not on all cells of a Cartesian grid, or the
    /// box is not inside.
    fn read_box(&mut self, name: &str, cells: &CellBox) -> Result<StateValue, Error> {
        let grid = self.cells();
        let whole = self.read(name)?;
        cells.part(name, grid.as_deref(), &whole)
    }

    /// Gives the values in a box of cells others, x fastest. Costs two copies of the collection.
    ///
    /// # Errors
    /// Those of [`RunState::read_box`] and [`RunState::write`].
    fn write_box(&mut self, name: &str, cells: &CellBox, part: StateValue) -> Result<(), Error> {
        let grid = self.cells();
        let mut whole = self.read(name)?;
        cells.replace(name, grid.as_deref(), &mut whole, part)?;
        self.write(name, whole)
    }
}

/// Called after each round; an error ends the run.
pub type OnRound = dyn FnMut(&mut dyn RunState) -> Result<(), Error> + Send;
