//! State of a [`Writer`](super::writer::Writer) for cells that are read by index.

use std::collections::BTreeMap;

use equelle_front::backend::offset_steps::Steps;
use equelle_front::ir::{LocalId, ParamId, Path};
use equelle_front::ops::SideMap;

/// Reads that several cells of a row share.
#[derive(Clone, Debug, Default)]
pub(in crate::codegen) struct RowsTogether {
    /// Lines before the loop over the cells.
    pub definitions: Vec<String>,
    /// Names of arrays of values, by parameter and steps along the second and the third axis.
    pub loads: Vec<(ParamId, [Steps; 2], String)>,
    /// Values that threads keep, if they go from plane to plane.
    pub run: Option<RunOfPlanes>,
}

/// Values that a thread keeps while it goes from plane to plane.
#[derive(Clone, Debug, Default)]
pub(in crate::codegen) struct RunOfPlanes {
    /// Lines before the loop over the planes.
    pub definitions: Vec<String>,
    /// Values above and below the current cells, with their names.
    pub columns: Vec<(Stretch, String)>,
    /// Values beside the cells in a row, each loaded once for all cells; with their names, where
    /// they have been asked for.
    pub beside: Vec<(Stretch, [Steps; 2], Option<String>)>,
}

impl RunOfPlanes {
    /// The arrays of `row` values each that it keeps, and those beside the cells that it loads.
    pub(in crate::codegen) fn arrays(&self, row: u32) -> usize {
        let kept = self.columns.iter().map(|(column, _)| column.len()).sum::<usize>();
        let loaded = self.beside.iter().filter(|(.., name)| name.is_some());
        let beside = |stretch: &Stretch| stretch.ends.iter().map(|by| u32::from(by.unsigned_abs()).div_ceil(row) as usize).sum::<usize>();
        let is_kept = |stretch: &Stretch, [y, z]: &[Steps; 2]| {
            y.is_empty() && self.columns.iter().any(|(column, _)| column.step(stretch.param, z).is_some())
        };
        kept + loaded.map(|(stretch, rows, _)| beside(stretch) + usize::from(!is_kept(stretch, rows))).sum::<usize>()
    }
}

/// Values of a parameter at consecutive steps along an axis.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::codegen) struct Stretch {
    pub param: ParamId,
    /// Steps to the first and to the last of them, at most and at least 0.
    pub ends: [i8; 2],
    /// The maps of the low and the high side, where a step leads towards it.
    pub maps: [SideMap; 2],
}

impl Stretch {
    /// Stretches that have all these steps along an axis: steps from the current cell to one place,
    /// whose value depends on the place alone. Where a read is never beyond, any map will do.
    pub(in crate::codegen) fn of(param: ParamId, steps: &[&Steps]) -> Vec<Stretch> {
        let mut stretches: Vec<Stretch> = Vec::new();
        for steps in steps {
            let &[(by, maps)] = steps.as_slice() else { continue };
            let side = usize::from(by > 0);
            let fits = |known: &Stretch| known.maps[side] == SideMap::Never || is_met_by(maps[side], known.maps[side]);
            let at = stretches.iter().position(fits).unwrap_or_else(|| {
                stretches.push(Stretch { param, ends: [0; 2], maps: [SideMap::Never; 2] });
                stretches.len() - 1
            });
            let known = &mut stretches[at];
            known.ends[side] = if by > 0 { known.ends[side].max(by) } else { known.ends[side].min(by) };
            if known.maps[side] == SideMap::Never {
                known.maps[side] = maps[side];
            }
        }
        stretches
    }

    /// How far a read of a parameter is along it, if it is one of these values.
    pub(in crate::codegen) fn step(&self, param: ParamId, steps: &Steps) -> Option<i8> {
        let (by, known) = match steps.as_slice() {
            [] => (0, true),
            &[(by, maps)] => {
                let side = usize::from(by > 0);
                (by, is_met_by(maps[side], self.maps[side]) && (self.ends[0]..=self.ends[1]).contains(&by))
            }
            _ => return None,
        };
        (known && param == self.param).then_some(by)
    }

    /// The number of values.
    pub(in crate::codegen) fn len(&self) -> usize {
        usize::from(self.ends[1].abs_diff(self.ends[0])) + 1
    }
}

/// True if a read with the first map finds its value in what is loaded with the second.
fn is_met_by(read: SideMap, loaded: SideMap) -> bool {
    read == SideMap::Never || read == loaded
}

/// Cells that a body reads by index, by the steps that lead there from the current cell.
#[derive(Clone, Debug, Default)]
pub(in crate::codegen) struct CellsAround {
    /// True if the text has a place for the definitions of names.
    pub(super) named: bool,
    /// True if the current cell is so far from the sides that no rule beyond them is asked for.
    pub inside: bool,
    /// Names of places along each axis.
    pub(super) places: [Vec<(Steps, String)>; 3],
    /// Names of the first cells of rows, by steps along the second and the third axis.
    pub(super) rows: Vec<([Steps; 2], String)>,
    /// Lines that define these names.
    pub(super) definitions: Vec<String>,
    /// Shared definitions, in a text for several cells of a row.
    pub(in crate::codegen) together: Option<RowsTogether>,
    /// Locals of cells.
    pub(super) cells: BTreeMap<LocalId, Path>,
}
