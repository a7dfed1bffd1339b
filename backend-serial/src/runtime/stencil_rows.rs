//! Rows of a Cartesian grid for kernels that read by index.
//!
//! What a kernel reads at an offset is a *lane*: as many values as the row has cells, and some more
//! at both ends. Which row of the grid they are from is the same for a whole row; where the rows
//! end, the values beyond are gathered into a buffer by the maps of the sides.

use std::array::from_fn;
use std::ops::Range;

use equelle_runtime::Real;
use equelle_runtime::grid::{SideMap, mapped};

use super::cartesian_grid::CartesianGrid;

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
    /// Where it begins, from the first cell, inside a row.
    begins: isize,
}

impl Lane {
    /// A lane of these parts.
    pub const fn new(array: usize, row: usize, reach: [i8; 2], along: Steps) -> Self {
        Lane { array, row, reach, along, begins: reach[0] as isize + sum(along) }
    }

    /// Its length for a segment.
    #[inline]
    fn len(&self, segment: &Segment) -> usize {
        segment.len.wrapping_add_signed(isize::from(self.reach[1]) - isize::from(self.reach[0]))
    }

    /// Whether its values are gathered.
    #[inline]
    fn gathers(&self, segment: &Segment) -> bool {
        !segment.inside && !self.along.is_empty()
    }
}

/// A row of the grid that a kernel reads.
#[derive(Clone, Copy, Debug, Default)]
pub struct LaneRow {
    /// Its first cell.
    pub start: usize,
    /// Its position along the second and the third axis.
    pub at: [usize; 2],
}

/// A row of cells, or the part of one that a range has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CellRow {
    /// The first cell of the row.
    pub start: usize,
    /// Its position along the second and the third axis.
    pub at: [usize; 2],
    /// The cells at hand, by their positions along the first axis.
    pub cells: Range<usize>,
}

/// Cells of one row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// Position of the first one along the first axis.
    pub first: usize,
    /// Their number.
    pub len: usize,
    /// Whether everything that they read in rows is in the grid.
    pub inside: bool,
}

/// How a kernel cuts rows into segments.
#[derive(Clone, Copy, Debug)]
pub struct Cuts {
    /// How far it reads beyond its cells, to the low and the high end of a row.
    pub reach: [usize; 2],
    /// The most cells of a segment.
    pub longest: usize,
    /// The cells at an end of a row that are evaluated together.
    pub end: usize,
}

/// The most cells of a strip, whose values between two parts of a kernel stay in the nearest cache.
pub const STRIP: usize = 128;

/// The most cells of a segment that is evaluated in one go.
const LONGEST: usize = 2048;

/// Segments of these lengths but for the last one are whole vectors.
const VECTORS: usize = 16;

impl Cuts {
    /// For kernels that evaluate a row in one go. What their cells at the ends of rows read is
    /// gathered, with so many neighbours that short rows are not cut.
    pub const fn whole(reach: [usize; 2]) -> Self {
        Cuts { reach, longest: LONGEST, end: 256 }
    }

    /// For kernels that ask where the ends of rows are: as few of these cells as vector
    /// instructions want.
    pub const fn ends(reach: [usize; 2]) -> Self {
        Cuts { reach, longest: LONGEST, end: 8 }
    }

    /// For kernels that evaluate a strip of cells part by part: a strip costs its slices, so that
    /// those at the ends of rows are as long as others.
    pub const fn strips(reach: [usize; 2]) -> Self {
        Cuts { reach, longest: STRIP, end: STRIP }
    }

    /// The segments of a row.
    #[inline]
    pub fn segments(self, n: usize, row: &CellRow) -> impl Iterator<Item = Segment> + use<> {
        let [low, high] = self.reach.map(|reach| if reach == 0 { 0 } else { reach.max(self.end) });
        // A short row is one piece.
        let ends = if low + high + VECTORS / 2 > n && low + high > 0 { [n, n] } else { [low, n - high] };
        let pieces = [(0, ends[0], false), (ends[0], ends[1], true), (ends[1], n, false)];
        cut(pieces, row.cells.clone(), self.longest)
    }
}

/// The cells of a row in pieces, as segments that are not too long.
#[inline]
fn cut(pieces: [(usize, usize, bool); 3], cells: Range<usize>, longest: usize) -> impl Iterator<Item = Segment> {
    pieces.into_iter().flat_map(move |(from, to, inside)| {
        let (from, to) = (from.max(cells.start), to.min(cells.end));
        let mut len = to.saturating_sub(from);
        if len > longest {
            len = len.div_ceil(len.div_ceil(longest)).next_multiple_of(VECTORS).min(longest);
        }
        let mut next = from;
        std::iter::from_fn(move || {
            let segment = Segment { first: next, len: len.min(to.saturating_sub(next)), inside };
            next += segment.len;
            (segment.len > 0).then_some(segment)
        })
    })
}

/// The cells that are at least this far from the low and the high side of each axis.
#[derive(Clone, Copy, Debug)]
pub struct Inside {
    reach: [[usize; 2]; 3],
}

impl Inside {
    /// For a kernel that reads this far.
    pub const fn new(reach: [[usize; 2]; 3]) -> Self {
        Inside { reach }
    }

    /// The segments of a row, those with cells inside and those with others.
    #[inline]
    pub fn segments<R: Real>(self, grid: &CartesianGrid<R>, row: &CellRow) -> impl Iterator<Item = Segment> + use<R> {
        let n = grid.n[0];
        let is_inside = (0..2).all(|k| {
            let [low, high] = self.reach[k + 1];
            row.at[k] >= low && row.at[k] + high < grid.n[k + 1]
        });
        let [low, high] = self.reach[0];
        let (from, to) = if is_inside && low + high < n { (low, n - high) } else { (n, n) };
        cut([(0, from, false), (from, to, true), (to, n, false)], row.cells.clone(), LONGEST)
    }
}

/// What a kernel reads around a row, as far as the order of rows depends on it.
#[derive(Clone, Copy, Debug)]
pub struct Reads {
    /// Bytes of a cell in all arrays.
    pub bytes: usize,
    /// How many rows and planes of the grid it reads, but for the own one.
    pub around: [usize; 2],
}

/// Memory in which rows stay until the next plane reads them: half of a usual second-level cache.
const CACHE: usize = 512 << 10;

/// The fewest rows of a tile: below, its edges are read twice too often.
const LEAST: usize = 8;

impl Reads {
    /// Rows are in ascending order.
    pub(super) const NOTHING: Reads = Reads { bytes: 0, around: [0, 0] };

    /// How many rows of a plane are evaluated before the next plane.
    fn tile<R: Real>(self, grid: &CartesianGrid<R>) -> usize {
        let [rows, planes] = self.around;
        if planes == 0 {
            return grid.n[1];
        }
        let fit = CACHE / (grid.n[0] * self.bytes * (planes + 1)).max(1);
        fit.saturating_sub(rows).clamp(LEAST.min(grid.n[1]), grid.n[1])
    }
}

/// The rows of a range of cells: plane by plane, in tiles of rows that a cache holds.
pub fn cell_rows<R: Real>(grid: &CartesianGrid<R>, cells: &Range<usize>, reads: Reads) -> impl Iterator<Item = CellRow> + use<R> {
    let (n, n_rows, cells, tile) = (grid.n[0], grid.n[1], cells.clone(), reads.tile(grid));
    let range = cells.start / n..cells.end.div_ceil(n);
    let planes = range.start / n_rows..range.end.div_ceil(n_rows);
    (0..n_rows).step_by(tile).flat_map(move |from| {
        let (range, cells) = (range.clone(), cells.clone());
        planes.clone().flat_map(move |plane| {
            let first = plane * n_rows;
            let rows = (first + from).max(range.start)..(first + (from + tile).min(n_rows)).min(range.end);
            let cells = cells.clone();
            rows.map(move |row| {
                let start = row * n;
                let cells = cells.start.saturating_sub(start)..(cells.end - start).min(n);
                CellRow { start, at: [row - first, plane], cells }
            })
        })
    })
}

/// Where a row is that a kernel reads around each row.
#[derive(Clone, Copy, Debug)]
pub struct RowOffset {
    /// The way there along the second and the third axis.
    steps: [Steps; 2],
    /// The sums of the steps.
    by: [isize; 2],
    /// Whether there is no more than one step along either.
    direct: bool,
}

impl RowOffset {
    /// By these steps along the second and the third axis.
    pub const fn new(y: Steps, z: Steps) -> Self {
        RowOffset { steps: [y, z], by: [sum(y), sum(z)], direct: y.len() <= 1 && z.len() <= 1 }
    }
}

/// How far steps lead inside the grid.
const fn sum(steps: Steps) -> isize {
    let (mut sum, mut step) = (0, 0);
    while step < steps.len() {
        sum += steps[step].0 as isize;
        step += 1;
    }
    sum
}

/// The rows that a kernel reads around a row, into `rows`: arrays that are copied would be read
/// before they are written.
#[inline]
pub fn lane_rows<R: Real, const N: usize>(grid: &CartesianGrid<R>, row: &CellRow, offsets: &[RowOffset; N], rows: &mut [LaneRow; N]) {
    for (offset, lane_row) in offsets.iter().zip(rows) {
        let mut at: [usize; 2] = from_fn(|axis| row.at[axis].wrapping_add_signed(offset.by[axis]));
        if !offset.direct || at[0] >= grid.n[1] || at[1] >= grid.n[2] {
            at = from_fn(|axis| after(row.at[axis], offset.steps[axis], grid.n[axis + 1]));
        }
        *lane_row = LaneRow { start: at[0] * grid.stride[1] + at[1] * grid.stride[2], at };
    }
}

/// The lanes of a kernel for a segment, into `slices`. `ends` holds what is gathered.
#[inline]
pub fn lanes_of<'a, T: Copy, R: Real, const N: usize>(
    grid: &CartesianGrid<R>,
    segment: &Segment,
    rows: &[LaneRow],
    lanes: &[Lane; N],
    arrays: &[&'a [T]],
    ends: &'a mut Vec<T>,
    slices: &mut [&'a [T]; N],
) {
    if !segment.inside {
        let gathered = || lanes.iter().filter(|lane| lane.gathers(segment));
        let Some(&any) = arrays.iter().find_map(|array| array.first()) else { return };
        ends.resize(gathered().map(|lane| lane.len(segment)).sum(), any);
        let mut rest = &mut ends[..];
        for lane in gathered() {
            let row = &arrays[lane.array][rows[lane.row].start..][..grid.n[0]];
            let (values, others) = rest.split_at_mut(lane.len(segment));
            gather(values, row, segment.first as i64 + i64::from(lane.reach[0]), lane.along);
            rest = others;
        }
    }
    let mut gathered = &ends[..];
    for (lane, slice) in lanes.iter().zip(slices) {
        if lane.gathers(segment) {
            let (values, rest) = gathered.split_at(lane.len(segment));
            (*slice, gathered) = (values, rest);
        } else {
            let start = (rows[lane.row].start + segment.first).wrapping_add_signed(lane.begins);
            *slice = &arrays[lane.array][start..][..lane.len(segment)];
        }
    }
}

/// The values of a row from a place on, those beyond it by the maps.
#[inline]
fn gather<T: Copy>(values: &mut [T], row: &[T], from: i64, steps: Steps) {
    let n = row.len() as i64;
    let &[(by, maps)] = steps else {
        for (value, at) in values.iter_mut().zip(from..) {
            *value = row[along(at, steps, n as usize) as usize];
        }
        return;
    };
    // One step: places in the row stand for themselves.
    let from = from + i64::from(by);
    let to = from + values.len() as i64;
    let inside = 0.clamp(from, to)..n.clamp(from, to);
    let (low, rest) = values.split_at_mut((inside.start - from) as usize);
    let (middle, high) = rest.split_at_mut((inside.end - inside.start) as usize);
    // First, as it brings the row into the nearest cache.
    if inside.start < inside.end {
        copy(middle, &row[inside.start as usize..]);
    }
    for (values, from) in [(low, from), (high, inside.end)] {
        for (value, at) in values.iter_mut().zip(from..) {
            *value = row[mapped(at, n, maps) as usize];
        }
    }
}

/// Copies the first values of a slice; those at the end of a row are so few that a call would take
/// longer.
#[inline]
fn copy<T: Copy>(to: &mut [T], from: &[T]) {
    let from = &from[..to.len()];
    let (mut to, mut from) = (to.chunks_exact_mut(8), from.chunks_exact(8));
    for (to, from) in to.by_ref().zip(from.by_ref()) {
        to.copy_from_slice(from);
    }
    for (to, from) in to.into_remainder().iter_mut().zip(from.remainder()) {
        *to = *from;
    }
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
    const FEW: Reads = Reads::NOTHING;

    /// Tiles have every row of a range once, and a thread's range may begin and end in a plane.
    #[test]
    fn tiles_are_all_rows() {
        let grid = CartesianGrid::new(&Cartesian::block([4, 50, 3], [1.0; 3]));
        // A plane of 17 rows fits.
        let reads = Reads { bytes: CACHE / (4 * 20 * 3), around: [3, 2] };
        assert_eq!(reads.tile(&grid), 17);
        for range in [0..600, 12..380, 200..204] {
            let rows: Vec<_> = cell_rows(&grid, &range, reads).collect();
            assert!(rows.iter().all(|row| row.start == 4 * (row.at[0] + 50 * row.at[1]) && row.cells == (0..4)));
            let mut starts: Vec<_> = rows.iter().map(|row| row.start).collect();
            assert!(range.len() < 50 || !starts.is_sorted());
            starts.sort_unstable();
            assert_eq!(starts, range.step_by(4).collect::<Vec<_>>());
        }
    }

    /// Every cell once, in order, those called inside being those that are far from all sides.
    #[test]
    fn cells_are_inside_where_they_are_far_from_sides() {
        for (n, reach) in
            [([9, 5, 1], [[1, 2], [2, 1], [0, 0]]), ([3, 4, 5], [[1, 1], [2, 2], [1, 0]]), ([5000, 1, 1], [[3, 3], [0, 0], [0, 0]])]
        {
            let grid = CartesianGrid::new(&Cartesian::block(n, [1.0; 3]));
            let mut next = 0;
            for row in cell_rows(&grid, &(0..grid.n_cells()), FEW) {
                for segment in Inside::new(reach).segments(&grid, &row) {
                    for cell in segment.first..segment.first + segment.len {
                        assert_eq!(row.start + cell, next);
                        next += 1;
                        let at = [cell, row.at[0], row.at[1]];
                        let far = (0..3).all(|a| at[a] >= reach[a][0] && at[a] + reach[a][1] < n[a]);
                        assert_eq!(segment.inside, far, "{at:?} of {n:?}");
                    }
                }
            }
            assert_eq!(next, grid.n_cells());
        }
    }

    /// Every cell once, in order, and nothing called inside that reads beyond.
    #[test]
    fn segments_are_all_cells() {
        for (n, reach) in [(1, [1, 1]), (5, [3, 0]), (24, [3, 2]), (40, [0, 0]), (40, [2, 9]), (700, [3, 3]), (5000, [0, 1])] {
            let grid = CartesianGrid::new(&Cartesian::block([n, 3, 2], [1.0; 3]));
            for cuts in [Cuts::whole(reach), Cuts::ends(reach), Cuts::strips(reach)] {
                for range in [0..grid.n_cells(), n..5 * n] {
                    let mut next = range.start;
                    for row in cell_rows(&grid, &range, FEW) {
                        assert_eq!(row.start, n * (row.at[0] + 3 * row.at[1]));
                        for segment in cuts.segments(n, &row) {
                            assert_eq!(row.start + segment.first, next);
                            assert!(segment.len <= cuts.longest, "{segment:?}");
                            next += segment.len;
                            let fits = segment.first >= reach[0] && segment.first + segment.len + reach[1] <= n;
                            assert!(!segment.inside || fits, "{segment:?}");
                        }
                    }
                    assert_eq!(next, range.end);
                }
            }
        }
        // A part of a row.
        let line = CartesianGrid::new(&Cartesian::line(40, 1.0));
        let rows: Vec<_> = cell_rows(&line, &(5..39), FEW).collect();
        assert_eq!(rows, [CellRow { start: 0, at: [0, 0], cells: 5..39 }]);
        let found: Vec<_> = Cuts::ends([1, 1]).segments(40, &rows[0]).map(|s| (s.first, s.len, s.inside)).collect();
        assert_eq!(found, [(5, 3, false), (8, 24, true), (32, 7, false)]);
    }

    /// Lanes hold what the grid's own offsets find.
    #[test]
    fn lanes_are_what_offsets_find() {
        const ROWS: [RowOffset; 2] = [RowOffset::new(&[], &[]), RowOffset::new(&[(-1, MIRROR)], &[(2, WRAP)])];
        const LANES: [Lane; 4] = [
            Lane::new(0, 0, [-3, 2], &[(0, WRAP)]),
            Lane::new(0, 1, [0, 0], &[]),
            Lane::new(0, 1, [0, 0], &[(-2, MIRROR), (1, WRAP)]),
            Lane::new(0, 0, [0, 0], &[(2, MIRROR)]),
        ];
        for (n, cuts) in [(3, Cuts::whole([3, 2])), (30, Cuts::ends([3, 2])), (30, Cuts::whole([3, 2])), (300, Cuts::strips([3, 2]))] {
            let shape = Cartesian::block([n, 3, 4], [1.0; 3]);
            let grid = CartesianGrid::new(&shape);
            let u: Vec<f64> = (0..grid.n_cells()).map(|cell| cell as f64).collect();
            let mut ends = Vec::new();
            for row in cell_rows(&grid, &(0..grid.n_cells()), FEW) {
                let mut rows = [LaneRow::default(); 2];
                lane_rows(&grid, &row, &ROWS, &mut rows);
                for segment in cuts.segments(n, &row) {
                    let mut lanes = [&[][..]; 4];
                    lanes_of(&grid, &segment, &rows, &LANES, &[&u], &mut ends, &mut lanes);
                    let [a, b, c, d] = lanes;
                    for i in 0..segment.len {
                        let cell = (row.start + segment.first + i) as u32;
                        let at = |cell, by: [i8; 3], map| f64::from(shape.offset_cell(cell, by, [map; 6]));
                        for by in -3..=2i8 {
                            assert_eq!(a[(i as isize + isize::from(by) + 3) as usize], at(cell, [by, 0, 0], SideMap::Wrap));
                        }
                        let there =
                            shape.offset_cell(shape.offset_cell(cell, [0, -1, 0], [SideMap::Mirror; 6]), [0, 0, 2], [SideMap::Wrap; 6]);
                        assert_eq!(b[i], f64::from(there));
                        let twice = shape.offset_cell(there, [-2, 0, 0], [SideMap::Mirror; 6]);
                        assert_eq!(c[i], at(twice, [1, 0, 0], SideMap::Wrap));
                        assert_eq!(d[i], at(cell, [2, 0, 0], SideMap::Mirror));
                    }
                }
            }
        }
    }
}
