//! Places in a Cartesian grid.

use equelle_runtime::grid::{Cartesian, NONE, SideMap};
use equelle_runtime::{EntityKind, Error, Real};

use super::SerialRuntime;
use super::collections::{BoolCollection, EntityCollection, ScalarCollection};

/// The cell at an offset from each cell; Empty of Empty.
pub(super) fn offset_cells<R: Real>(
    rt: &SerialRuntime<R>,
    cells: &EntityCollection,
    by: [i8; 3],
    beyond: [SideMap; 6],
) -> Result<EntityCollection, Error> {
    let shape = *rt.session.cartesian_shape()?;
    let mut out = rt.take_entity_buffer(cells.values.len());
    for (out, &cell) in out.iter_mut().zip(cells.values.iter()) {
        *out = if cell == NONE { NONE } else { shape.offset_cell(cell, by, beyond) };
    }
    Ok(rt.entity_collection_from(&cells.domain, EntityKind::Cell, out))
}

/// A truth value of each cell.
pub(super) fn truths<R: Real>(
    rt: &SerialRuntime<R>,
    cells: &EntityCollection,
    of: impl Fn(&Cartesian, u32) -> bool,
) -> Result<BoolCollection, Error> {
    let shape = *rt.session.cartesian_shape()?;
    let mut out = rt.take_bool_buffer(cells.values.len());
    for (out, &cell) in out.iter_mut().zip(cells.values.iter()) {
        *out = cell != NONE && of(&shape, cell);
    }
    Ok(rt.bool_collection_from(&cells.domain, out))
}

/// The number of each cell along an axis.
pub(super) fn index_along<R: Real>(rt: &SerialRuntime<R>, cells: &EntityCollection, axis: usize) -> Result<ScalarCollection<R>, Error> {
    let shape = *rt.session.cartesian_shape()?;
    let mut out = rt.take_buffer(cells.values.len());
    for (out, &cell) in out.iter_mut().zip(cells.values.iter()) {
        *out = R::from_f64(if cell == NONE { 0.0 } else { shape.index_along(cell, axis) as f64 });
    }
    Ok(rt.scalar_collection_from(&cells.domain, out))
}
