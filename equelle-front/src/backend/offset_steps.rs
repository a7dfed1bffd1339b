//! Cells that are the same steps away from all cells.

use std::collections::BTreeMap;

use crate::ir::{LocalId, Path};
use crate::ops::SideMap;

/// Offsets along one axis in turn, none of them 0, with the maps of the low and the high side.
pub type Steps = Vec<(i8, [SideMap; 2])>;

/// The steps along each axis from the current cell to the end of a path, where they are the same
/// for all cells; `cells` are locals whose paths are known.
pub fn offset_steps(path: &Path, cells: &BTreeMap<LocalId, Path>) -> Option<[Steps; 3]> {
    match path {
        Path::Here => Some(Default::default()),
        Path::Local(id) => offset_steps(cells.get(id)?, cells),
        Path::Offset { from, by, beyond } => {
            let mut steps = offset_steps(from, cells)?;
            for (axis, steps) in steps.iter_mut().enumerate().filter(|(axis, _)| by[*axis] != 0) {
                steps.push((by[axis], [beyond[2 * axis], beyond[2 * axis + 1]]));
            }
            Some(steps)
        }
        Path::First(_)
        | Path::Second(_)
        | Path::Through { .. }
        | Path::Select { .. }
        | Path::SideFace(_)
        | Path::Shift { .. }
        | Path::Empty => None,
    }
}
