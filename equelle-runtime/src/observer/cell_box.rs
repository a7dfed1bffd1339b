//! Boxes of cells of Cartesian grids.

use std::ops::Range;

use super::StateValue;
use crate::error::{Error, ErrorKind};

/// A box of cells of a Cartesian grid: a range of indices along each axis, x first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CellBox(pub Vec<Range<usize>>);

impl CellBox {
    /// Cells of a line.
    pub fn line(x: Range<usize>) -> CellBox {
        CellBox(Vec::from([x]))
    }

    /// Cells of a 2D grid.
    pub fn plane(x: Range<usize>, y: Range<usize>) -> CellBox {
        CellBox(Vec::from([x, y]))
    }

    /// Cells of a 3D grid.
    pub fn block(x: Range<usize>, y: Range<usize>, z: Range<usize>) -> CellBox {
        CellBox(Vec::from([x, y, z]))
    }

    /// Number of cells.
    pub fn len(&self) -> usize {
        self.0.iter().map(Range::len).product()
    }

    /// True if it has no cell.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The values of a collection on all cells that are in the box.
    pub(super) fn part(&self, name: &str, grid: Option<&[usize]>, whole: &StateValue) -> Result<StateValue, Error> {
        let inside = self.inside(name, grid, whole)?;
        Ok(match whole {
            StateValue::Scalars(values) => StateValue::Scalars(inside.map(|cell| values[cell]).collect()),
            StateValue::Bools(values) => StateValue::Bools(inside.map(|cell| values[cell]).collect()),
            StateValue::Vectors { dim, values } => {
                StateValue::Vectors { dim: *dim, values: inside.flat_map(|cell| &values[cell * dim..][..*dim]).copied().collect() }
            }
            StateValue::Scalar(_) | StateValue::Bool(_) | StateValue::Vector(_) => return Err(not_on_cells(name)),
        })
    }

    /// Replaces the values of a collection on all cells that are in the box.
    pub(super) fn replace(&self, name: &str, grid: Option<&[usize]>, whole: &mut StateValue, part: StateValue) -> Result<(), Error> {
        let inside = self.inside(name, grid, whole)?;
        let fits = |found: usize| match self.len() {
            len if len == found => Ok(()),
            len => Err(Error::new(ErrorKind::Usage, format!("the box of `{name}` has {len} cells, and values for {found} were given"))),
        };
        match (whole, part) {
            (StateValue::Scalars(values), StateValue::Scalars(part)) => {
                fits(part.len())?;
                inside.zip(part).for_each(|(cell, value)| values[cell] = value);
            }
            (StateValue::Bools(values), StateValue::Bools(part)) => {
                fits(part.len())?;
                inside.zip(part).for_each(|(cell, value)| values[cell] = value);
            }
            (StateValue::Vectors { dim, values }, StateValue::Vectors { dim: axes, values: part }) if *dim == axes => {
                fits(part.len() / axes)?;
                inside.zip(part.chunks_exact(axes)).for_each(|(cell, value)| values[cell * axes..][..axes].copy_from_slice(value));
            }
            (_, _) => return Err(Error::new(ErrorKind::Usage, format!("`{name}` has values of another type than those given"))),
        }
        Ok(())
    }

    /// Numbers of its cells, x fastest.
    fn inside(&self, name: &str, grid: Option<&[usize]>, whole: &StateValue) -> Result<impl Iterator<Item = usize> + use<>, Error> {
        let grid = grid.ok_or_else(|| not_on_cells(name))?;
        let elements = match whole {
            StateValue::Scalars(values) => values.len(),
            StateValue::Bools(values) => values.len(),
            StateValue::Vectors { dim, values } => values.len() / dim,
            StateValue::Scalar(_) | StateValue::Bool(_) | StateValue::Vector(_) => return Err(not_on_cells(name)),
        };
        if elements != grid.iter().product::<usize>() {
            return Err(not_on_cells(name));
        }
        let is_inside = self.0.len() == grid.len() && self.0.iter().zip(grid).all(|(range, &n)| range.start <= range.end && range.end <= n);
        if !is_inside {
            let message = format!("the box {:?} is not inside of the {grid:?} cells of the grid", self.0);
            return Err(Error::new(ErrorKind::Usage, message).hint("a range of indices along each axis, from 0 up to the number of cells"));
        }
        let axis = |axis: usize| self.0.get(axis).cloned().unwrap_or(0..1);
        let (along_x, along_y, along_z) = (axis(0), axis(1), axis(2));
        let (nx, ny) = (grid[0], grid.get(1).copied().unwrap_or(1));
        Ok(along_z.flat_map(move |k| {
            let along_x = along_x.clone();
            along_y.clone().flat_map(move |j| along_x.clone().map(move |i| i + nx * (j + ny * k)))
        }))
    }
}

fn not_on_cells(name: &str) -> Error {
    let message = format!("`{name}` is not a collection on all cells of a Cartesian grid, which a box is read from");
    Error::new(ErrorKind::Usage, message)
}
