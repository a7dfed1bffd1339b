//! Reads by index: the cell at an offset, and where cells are in a Cartesian grid.

use equelle_runtime::grid::SideMap;
use equelle_runtime::{EntityKind, Error};

use crate::runtime::executor::arguments::{Argument, EqCartesian, pair};
use crate::runtime::grid::arrays::cartesian_args;
use crate::runtime::operations::arithmetic::operation;
use crate::runtime::runtime::CudaRuntime;
use crate::runtime::values::collections::{BoolCollection, Collection, EntityCollection};

/// An offset along each axis, and the map of each side.
struct Offset {
    by: [i8; 3],
    beyond: [SideMap; 6],
}

impl Argument for Offset {
    fn words(&self, words: &mut Vec<u64>) {
        let word = |number: i32| number as u32;
        let [i, j, k] = self.by.map(|by| word(i32::from(by)));
        let [a, b, c, d, e, f] = self.beyond.map(|map| match map {
            SideMap::Wrap => 0,
            SideMap::Mirror => 1,
            SideMap::MirrorAt => 2,
            SideMap::Clamp | SideMap::Never => 3,
        });
        words.extend([pair(i, j), pair(k, a), pair(b, c), pair(d, e), pair(f, 0)]);
    }
}

fn shape(rt: &CudaRuntime) -> Result<EqCartesian, Error> {
    Ok(cartesian_args(rt.session.cartesian_shape()?))
}

/// The cell at an offset from each cell; Empty of Empty.
pub(super) fn offset_cells(
    rt: &mut CudaRuntime,
    cells: &EntityCollection,
    by: [i8; 3],
    beyond: [SideMap; 6],
) -> Result<EntityCollection, Error> {
    let (shape, n) = (shape(rt)?, cells.domain().len());
    let out = rt.new_entity_collection(cells.domain(), EntityKind::Cell)?;
    let call = operation(rt, "equelle_offset_cells")?.arg(n as u32).arg(cells.pointer()).arg(shape);
    rt.executor.launch_over(call.arg(Offset { by, beyond }).arg(out.pointer()), n)?;
    Ok(out)
}

/// True if the cell this many cells further along an axis is beyond the side there.
pub(super) fn is_outside(rt: &mut CudaRuntime, cells: &EntityCollection, axis: usize, by: i8) -> Result<BoolCollection, Error> {
    let (shape, n) = (shape(rt)?, cells.domain().len());
    let out = rt.new_bool_collection(cells.domain())?;
    let call = operation(rt, "equelle_is_outside")?.arg(n as u32).arg(cells.pointer()).arg(shape).arg(axis as u32);
    rt.executor.launch_over(call.arg(Offset { by: [by, 0, 0], beyond: [SideMap::Never; 6] }).arg(out.pointer()), n)?;
    Ok(out)
}

/// True if the sum of the numbers of each cell along some axes is even.
pub(super) fn is_even(rt: &mut CudaRuntime, cells: &EntityCollection, axes: [bool; 3]) -> Result<BoolCollection, Error> {
    let (shape, n) = (shape(rt)?, cells.domain().len());
    let out = rt.new_bool_collection(cells.domain())?;
    let axes = (0..3).map(|axis| u32::from(axes[axis]) << axis).sum::<u32>();
    let call = operation(rt, "equelle_is_even")?.arg(n as u32).arg(cells.pointer()).arg(shape);
    rt.executor.launch_over(call.arg(axes).arg(out.pointer()), n)?;
    Ok(out)
}

/// The number of each cell along an axis.
pub(super) fn index_along(rt: &mut CudaRuntime, cells: &EntityCollection, axis: usize) -> Result<Collection, Error> {
    let (shape, n) = (shape(rt)?, cells.domain().len());
    let out = rt.new_collection(cells.domain())?;
    let call = operation(rt, "equelle_index_along")?.arg(n as u32).arg(cells.pointer()).arg(shape);
    rt.executor.launch_over(call.arg(axis as u32).arg(out.pointer()), n)?;
    Ok(out)
}
