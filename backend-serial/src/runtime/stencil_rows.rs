//! Rows of a Cartesian grid for kernels that read by index.
//!
//! What a kernel reads at an offset is a *lane*: as many values as the row has cells, and some more
//! at both ends. Which row of the grid they are from is the same for a whole row; where the rows
//! end, the values beyond are gathered into a buffer by the maps of the sides.

use std::array::from_fn;
use std::ops::Range;

use equelle_runtime::Real;
use equelle_runtime::grid::{SideMap, mapped};
use equelle_runtime::threads::Parts;

use super::SerialRuntime;
use super::kernel::CartesianGrid;

/// Offsets along one axis in turn, each with the maps of the low and the high side.
pub type Steps = &'static [(i8, [SideMap; 2])];

/// What a kernel reads of one array in one row.
#[derive(Clone, Copy, Debug)]
pub struct Lane {
    /// The array.
    pub array: usize,
    /// The row, among those of the kernel.
    pub row: usize,
    /// From where to where beyond the cells of the row it reads.
    pub reach: [i8; 2],
    /// The way from these places to the cells that stand for them.
    pub along: Steps,
}

impl Lane {
    /// A lane of these parts.
    pub const fn new(array: usize, row: usize, reach: [i8; 2], along: Steps) -> Self {
        Lane { array, row, reach, along }
    }
}

/// A row of the grid that a kernel reads.
#[derive(Clone, Copy, Debug)]
pub struct LaneRow {
    /// Its first cell.
    pub start: usize,
    /// Its position along the second and the third axis.
    pub at: [usize; 2],
}

/// Cells of one row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// Position of the first one along the first axis.
    pub first: usize,
    /// Their number.
    pub len: usize,
    /// Position of the row along the second and the third axis.
    pub at: [usize; 2],
    /// Whether everything that they read in rows is in the grid.
    pub inside: bool,
}

/// Cells at an end of a row that are evaluated together: vector instructions want some.
const END: usize = 8;

impl<R: Real> SerialRuntime<R> {
    /// The loop over the cells of a Cartesian grid, in ranges of whole rows where there is more
    /// than one row.
    pub fn each_row_or_part<P: Parts>(&self, grid: &CartesianGrid<impl Real>, outputs: P, body: impl Fn(Range<usize>, P) + Sync) {
        if grid.n[0] == grid.n_cells() {
            self.each(grid.n_cells(), outputs, body);
        } else {
            self.each_row(grid, outputs, body);
        }
    }
}

/// The cells of a range, for kernels that read so far to both ends of rows.
pub fn segments<R: Real>(grid: &CartesianGrid<R>, cells: &Range<usize>, reach: [usize; 2]) -> impl Iterator<Item = Segment> + use<R> {
    let (n, rows, cells) = (grid.n[0], grid.n[1], cells.clone());
    let [low, high] = reach.map(|reach| if reach == 0 { 0 } else { reach.max(END) });
    // A short row is one piece.
    let ends = if low + high + END > n && low + high > 0 { [n, n] } else { [low, n - high] };
    (cells.start / n..cells.end.div_ceil(n)).flat_map(move |row| {
        let (start, at) = (row * n, [row % rows, row / rows]);
        let pieces = [(0, ends[0], false), (ends[0], ends[1], true), (ends[1], n, false)];
        let cells = cells.clone();
        pieces.into_iter().filter_map(move |(from, to, inside)| {
            let (from, to) = (from.max(cells.start.saturating_sub(start)), to.min(cells.end - start));
            (from < to).then_some(Segment { first: from, len: to - from, at, inside })
        })
    })
}

/// The rows that a kernel reads around a row, by their offsets along the second and third axis.
pub fn lane_rows<R: Real, const N: usize>(grid: &CartesianGrid<R>, segment: &Segment, offsets: &[[Steps; 2]; N]) -> [LaneRow; N] {
    from_fn(|row| {
        let at = from_fn(|axis| after(segment.at[axis], offsets[row][axis], grid.n[axis + 1]));
        LaneRow { start: at[0] * grid.stride[1] + at[1] * grid.stride[2], at }
    })
}

/// The lanes of a kernel for a segment. `ends` holds what is gathered.
pub fn lanes_of<'a, T: Copy, R: Real, const N: usize>(
    grid: &CartesianGrid<R>,
    segment: &Segment,
    rows: &[LaneRow],
    lanes: &[Lane; N],
    arrays: &[&'a [T]],
    ends: &'a mut Vec<T>,
) -> [&'a [T]; N] {
    let len = |lane: &Lane| segment.len.wrapping_add_signed(isize::from(lane.reach[1]) - isize::from(lane.reach[0]));
    let gathers = |lane: &Lane| !segment.inside && !lane.along.is_empty();
    if !segment.inside {
        ends.clear();
        for lane in lanes.iter().filter(|lane| gathers(lane)) {
            let row = &arrays[lane.array][rows[lane.row].start..][..grid.n[0]];
            let from = segment.first as i64 + i64::from(lane.reach[0]);
            ends.extend((from..from + len(lane) as i64).map(|at| row[along(at, lane.along, grid.n[0]) as usize]));
        }
    }
    let mut gathered = &ends[..];
    from_fn(|number| {
        let lane = &lanes[number];
        if gathers(lane) {
            let (values, rest) = gathered.split_at(len(lane));
            gathered = rest;
            return values;
        }
        let by: isize = lane.along.iter().map(|(by, _)| isize::from(*by)).sum::<isize>() + isize::from(lane.reach[0]);
        &arrays[lane.array][(rows[lane.row].start + segment.first).wrapping_add_signed(by)..][..len(lane)]
    })
}

/// Where steps along an axis of `n` cells lead.
#[inline]
fn along(at: i64, steps: Steps, n: usize) -> i64 {
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

/// Whether a place is beyond an axis of `n` cells.
#[inline(always)]
pub fn is_beyond(at: usize, by: i8, n: usize) -> bool {
    at.wrapping_add_signed(isize::from(by)) >= n
}

#[cfg(test)]
mod tests {
    use equelle_runtime::grid::Cartesian;

    use super::*;

    const WRAP: [SideMap; 2] = [SideMap::Wrap; 2];
    const MIRROR: [SideMap; 2] = [SideMap::Mirror; 2];

    /// Every cell once, in order, and nothing called inside that reads beyond.
    #[test]
    fn segments_are_all_cells() {
        for (n, reach) in [(1, [1, 1]), (5, [3, 0]), (24, [3, 2]), (40, [0, 0]), (40, [2, 9])] {
            let grid = CartesianGrid::new(&Cartesian::block([n, 3, 2], [1.0; 3]));
            for range in [0..grid.n_cells(), n..5 * n] {
                let mut next = range.start;
                for segment in segments(&grid, &range, reach) {
                    assert_eq!(segment.first + n * (segment.at[0] + 3 * segment.at[1]), next);
                    next += segment.len;
                    assert!(!segment.inside || (segment.first >= reach[0] && segment.first + segment.len + reach[1] <= n), "{segment:?}");
                }
                assert_eq!(next, range.end);
            }
        }
        // A part of a row.
        let line = CartesianGrid::new(&Cartesian::line(40, 1.0));
        let found: Vec<_> = segments(&line, &(5..39), [1, 1]).map(|s| (s.first, s.len, s.inside)).collect();
        assert_eq!(found, [(5, 3, false), (8, 24, true), (32, 7, false)]);
    }

    /// Lanes hold what the grid's own offsets find.
    #[test]
    fn lanes_are_what_offsets_find() {
        const ROWS: [[Steps; 2]; 2] = [[&[], &[]], [&[(-1, MIRROR)], &[(2, WRAP)]]];
        const LANES: [Lane; 3] = [
            Lane { array: 0, row: 0, reach: [-3, 2], along: &[(0, WRAP)] },
            Lane { array: 0, row: 1, reach: [0, 0], along: &[] },
            Lane { array: 0, row: 1, reach: [0, 0], along: &[(-2, MIRROR), (1, WRAP)] },
        ];
        for n in [3, 30] {
            let shape = Cartesian::block([n, 3, 4], [1.0; 3]);
            let grid = CartesianGrid::new(&shape);
            let u: Vec<f64> = (0..grid.n_cells()).map(|cell| cell as f64).collect();
            let mut ends = Vec::new();
            for segment in segments(&grid, &(0..grid.n_cells()), [3, 2]) {
                let rows = lane_rows(&grid, &segment, &ROWS);
                let [a, b, c] = lanes_of(&grid, &segment, &rows, &LANES, &[&u], &mut ends);
                for i in 0..segment.len {
                    let cell = (segment.first + i + n * (segment.at[0] + 3 * segment.at[1])) as u32;
                    let at = |cell, by: [i8; 3], map| f64::from(shape.offset_cell(cell, by, [map; 6]));
                    for by in -3..=2i8 {
                        assert_eq!(a[(i as isize + isize::from(by) + 3) as usize], at(cell, [by, 0, 0], SideMap::Wrap));
                    }
                    let there = shape.offset_cell(shape.offset_cell(cell, [0, -1, 0], [SideMap::Mirror; 6]), [0, 0, 2], [SideMap::Wrap; 6]);
                    assert_eq!(b[i], f64::from(there));
                    let twice = shape.offset_cell(there, [-2, 0, 0], [SideMap::Mirror; 6]);
                    assert_eq!(c[i], at(twice, [1, 0, 0], SideMap::Wrap));
                }
            }
        }
    }
}
