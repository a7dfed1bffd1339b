//! The rows around a row of a Cartesian grid, and where steps along an axis lead.

use std::array::from_fn;

use equelle_runtime::Real;
use equelle_runtime::grid::{SideMap, mapped};

use super::cartesian_grid::CartesianGrid;
use super::stencil_rows::CellRow;

/// Offsets along one axis in turn, each with the maps of the low and the high side.
pub type Steps = &'static [(i8, [SideMap; 2])];

/// A row of the grid that a kernel reads.
#[derive(Clone, Copy, Debug)]
pub struct LaneRow {
    /// Its first cell.
    pub start: usize,
    /// Its position along the second and the third axis.
    pub at: [usize; 2],
}

impl Default for LaneRow {
    /// No row.
    fn default() -> Self {
        LaneRow { start: usize::MAX, at: [usize::MAX; 2] }
    }
}

/// Position of a row that a kernel reads around each row.
#[derive(Clone, Copy, Debug)]
pub struct RowOffset {
    /// The way there along the second and the third axis.
    pub(super) steps: [Steps; 2],
    /// The sums of the steps.
    pub(super) by: [isize; 2],
    /// True if there is no more than one step along either.
    pub(super) direct: bool,
}

impl RowOffset {
    /// By these steps along the second and the third axis.
    pub const fn new(y: Steps, z: Steps) -> Self {
        RowOffset { steps: [y, z], by: [sum(y), sum(z)], direct: y.len() <= 1 && z.len() <= 1 }
    }
}

/// The rows that a kernel reads around each row, that row first.
#[derive(Clone, Copy, Debug)]
pub struct RowOffsets<const N: usize> {
    pub(super) all: [RowOffset; N],
    /// The least and the greatest distance of what lies on the ways, along either axis.
    pub(super) reach: [[isize; 2]; 2],
}

impl<const N: usize> RowOffsets<N> {
    /// Creates the offsets of these rows.
    pub const fn new(all: [RowOffset; N]) -> Self {
        let mut reach = [[0, 0], [0, 0]];
        let mut axis = 0;
        while axis < 2 {
            let mut row = 0;
            while row < N {
                let steps = all[row].steps[axis];
                let (mut at, mut step) = (0, 0);
                while step < steps.len() {
                    at += steps[step].0 as isize;
                    if at < reach[axis][0] {
                        reach[axis][0] = at;
                    }
                    if at > reach[axis][1] {
                        reach[axis][1] = at;
                    }
                    step += 1;
                }
                row += 1;
            }
            axis += 1;
        }
        RowOffsets { all, reach }
    }

    /// True if a row comes after another one, both so far from the sides that all rows around it
    /// come after those around the other one.
    #[inline]
    fn is_next<R: Real>(&self, grid: &CartesianGrid<R>, [last_y, last_z]: [usize; 2], [y, z]: [usize; 2]) -> bool {
        let [low, high] = self.reach[0].map(isize::unsigned_abs);
        last_z == z && last_y >= low && last_y.wrapping_add(1) == y && y + high < grid.n[1]
    }
}

/// How far steps lead inside the grid.
pub(super) const fn sum(steps: Steps) -> isize {
    let (mut sum, mut step) = (0, 0);
    while step < steps.len() {
        sum += steps[step].0 as isize;
        step += 1;
    }
    sum
}

/// The rows that a kernel reads around a row, into `rows`, which has those of another row or
/// nothing.
#[inline]
pub fn lane_rows<R: Real, const N: usize>(grid: &CartesianGrid<R>, row: &CellRow, offsets: &RowOffsets<N>, rows: &mut [LaneRow; N]) {
    if offsets.is_next(grid, rows[0].at, row.at) {
        for lane_row in rows {
            lane_row.start += grid.n[0];
            lane_row.at[0] += 1;
        }
        return;
    }
    for (offset, lane_row) in offsets.all.iter().zip(rows) {
        let mut at: [usize; 2] = from_fn(|axis| row.at[axis].wrapping_add_signed(offset.by[axis]));
        if !offset.direct || at[0] >= grid.n[1] || at[1] >= grid.n[2] {
            at = from_fn(|axis| after(row.at[axis], offset.steps[axis], grid.n[axis + 1]));
        }
        *lane_row = LaneRow { start: at[0] * grid.stride[1] + at[1] * grid.stride[2], at };
    }
}

/// Where steps along an axis of `n` cells lead.
#[inline]
pub(super) fn along(at: i64, steps: Steps, n: usize) -> i64 {
    steps.iter().fold(at, |at, (by, maps)| mapped(at + i64::from(*by), n as i64, *maps))
}

/// Where steps along an axis of `n` cells lead from a cell.
#[inline]
pub fn after(at: usize, steps: Steps, n: usize) -> usize {
    along(at as i64, steps, n) as usize
}

/// [`after`] along a row, for cells that may be at its `ENDS`, else without the maps.
#[inline(always)]
pub fn after_in_row<const ENDS: bool>(at: usize, steps: Steps, n: usize) -> usize {
    if ENDS {
        return after(at, steps, n);
    }
    steps.iter().fold(at, |at, (by, _)| at.wrapping_add_signed(isize::from(*by)))
}

/// True if a place is beyond an axis of `n` cells.
#[inline(always)]
pub fn is_beyond(at: usize, by: i8, n: usize) -> bool {
    at.wrapping_add_signed(isize::from(by)) >= n
}
