//! Reads by index of kernels, row by row of a Cartesian grid.
//!
//! An element at an offset is `u_xp1[i]`, a part of a lane
//! (`backend_serial::runtime::lanes`). Where a cell is along the second and third axis is
//! known before the loop over the cells of a row.

use std::collections::{BTreeMap, BTreeSet};

use equelle_front::backend::offset_steps::Steps;
use equelle_front::ir::{LocalId, ParamId, Path};
use equelle_front::ops::{Offset, SideMap};
use proc_macro2::{Ident, TokenStream};

/// How a row is reached: along the second and the third axis.
pub(in crate::codegen) type RowSteps = [Steps; 2];

/// Numbers one after the other: a parameter, or a component of one that has Vectors.
pub(in crate::codegen) type Array = (ParamId, Option<u32>);

/// Elements that a kernel reads: of an array, in a row, steps along it.
pub(in crate::codegen) type Read = (Array, usize, Steps);

/// Reads so far of the row function of a kernel.
#[derive(Default)]
pub(in crate::codegen) struct StencilReads {
    /// Rows, the row of the cell first.
    pub rows: Vec<RowSteps>,
    /// Elements and the slices that hold them.
    pub slices: Vec<(Read, Ident)>,
    /// Elements on faces and the slices that hold them: parameter, axis, offset of the first cell.
    pub faces: Vec<((ParamId, usize, Offset), Ident)>,
    /// Those of the elements of cells that have been read since this was cleared.
    pub touched: BTreeSet<usize>,
    /// Values that are evaluated before the loop over the cells of a row: text, name, value.
    pub before: Vec<(String, Ident, TokenStream)>,
    /// Cells read towards both ends of a row.
    pub reach: [i8; 2],
    /// True if the text asks whether cells are at the ends of a row.
    pub asks_ends: bool,
    /// True if the text refers to the rows.
    pub asks_rows: bool,
    /// True if it refers to the place of a cell along the row.
    pub asks_first: bool,
    /// Locals of cells.
    pub cells: BTreeMap<LocalId, Path>,
}

/// A lane: elements of an array in a row.
#[derive(Debug, PartialEq)]
pub(in crate::codegen) struct Lane {
    pub array: Array,
    pub row: usize,
    /// From where to where beyond the row it reaches.
    pub reach: [i8; 2],
    /// More than one step, each with its own maps; else none.
    pub chain: Steps,
    /// The maps of the low and the high side, where it reaches beyond them.
    pub maps: [Option<SideMap>; 2],
}

impl Lane {
    /// True if elements these steps away may be of this lane; then they are.
    fn takes(&mut self, array: Array, row: usize, steps: &[(i8, [SideMap; 2])]) -> bool {
        if (self.array, self.row) != (array, row) {
            return false;
        }
        let (by, map) = match steps {
            [] if self.chain.is_empty() => (0, None),
            // Where nothing is read beyond a side, any map will do.
            [(by, maps)] if self.chain.is_empty() => (*by, Some(maps[usize::from(*by > 0)]).filter(|map| *map != SideMap::Never)),
            [] | [_] => return false,
            chain => return chain == self.chain,
        };
        let own = &mut self.maps[usize::from(by > 0)];
        if own.is_some() && map.is_some() && *own != map {
            return false;
        }
        if map.is_some() {
            *own = map;
        }
        self.reach = [self.reach[0].min(by), self.reach[1].max(by)];
        true
    }

    /// The steps as the runtime takes them.
    pub(in crate::codegen) fn steps(&self) -> Steps {
        if self.reach == [0, 0] {
            return self.chain.clone();
        }
        vec![(0, self.maps.map(|map| map.unwrap_or(SideMap::Never)))]
    }
}

impl StencilReads {
    /// The lanes of all elements, and for each element its lane.
    pub(in crate::codegen) fn lanes(&self) -> (Vec<Lane>, Vec<usize>) {
        let mut lanes: Vec<Lane> = Vec::new();
        let mut number_of = Vec::new();
        for ((array, row, steps), _) in &self.slices {
            let number = lanes.iter_mut().position(|lane| lane.takes(*array, *row, steps)).unwrap_or_else(|| {
                let chain = if steps.len() > 1 { steps.clone() } else { Steps::new() };
                let mut lane = Lane { array: *array, row: *row, reach: [0, 0], chain, maps: [None; 2] };
                lane.takes(*array, *row, steps);
                lanes.push(lane);
                lanes.len() - 1
            });
            number_of.push(number);
        }
        (lanes, number_of)
    }

    /// The number of a row; a new one where it has not been read.
    pub(super) fn row(&mut self, steps: RowSteps) -> usize {
        if self.rows.is_empty() {
            self.rows.push(RowSteps::default());
        }
        self.rows.iter().position(|row| *row == steps).unwrap_or_else(|| {
            self.rows.push(steps);
            self.rows.len() - 1
        })
    }

    /// Notes that cells are read after these steps, and this far beyond.
    pub(in crate::codegen) fn reaches(&mut self, steps: &[(i8, [SideMap; 2])], beyond: i8) {
        let mut at = 0;
        for by in steps.iter().map(|(by, _)| *by).chain([beyond]) {
            at += by;
            self.reach = [self.reach[0].min(at), self.reach[1].max(at)];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::text::ident;
    use super::*;

    const NEVER: SideMap = SideMap::Never;

    /// One lane for reads of a row that agree about the sides, another one where they do not.
    #[test]
    fn reads_share_lanes() {
        let wrap = |by: i8| if by < 0 { (by, [SideMap::Wrap, NEVER]) } else { (by, [NEVER, SideMap::Wrap]) };
        let mirror = (-1, [SideMap::Mirror, NEVER]);
        let chain = vec![wrap(1), mirror];
        let reads = [vec![], vec![wrap(3)], vec![wrap(-2)], vec![mirror], chain.clone(), vec![wrap(-1)]];
        let slices = reads.into_iter().map(|steps| (((ParamId(0), None), 0, steps), ident("u"))).collect();
        let (lanes, numbers) = StencilReads { slices, ..StencilReads::default() }.lanes();
        assert_eq!(numbers, [0, 0, 0, 1, 2, 0]);
        let reach: Vec<_> = lanes.iter().map(|lane| lane.reach).collect();
        assert_eq!(reach, [[-2, 3], [-1, 0], [0, 0]]);
        assert_eq!(lanes[0].steps(), [(0, [SideMap::Wrap, SideMap::Wrap])]);
        assert_eq!(lanes[2].steps(), chain);
    }
}
