//! Values that kernels read by index in rows of a Cartesian grid.
//!
//! A *lane* holds the values that a kernel reads at an offset: as many as the row has cells, and
//! some more at both ends. All are from one row of the grid. Where a lane reads beyond the ends of
//! rows, it reads a copy of the row with what stands there: each row is copied once for all lanes,
//! and stays until the rows around it have been evaluated ([`RowCopies`]). If rows are too long to
//! be copied, only their ends are gathered.

use std::sync::Arc;

use equelle_runtime::Real;

use super::SerialRuntime;
use super::cartesian_grid::CartesianGrid;
use super::idle_copies::IdleCopies;
use super::row_copies::inside;
pub use super::row_copies::{Lane, RowCopies};
use super::row_offsets::{LaneRow, RowOffsets, Steps, along};
use super::stencil_rows::{Reads, Segment};

impl<R: Real> SerialRuntime<R> {
    /// Idle copies of rows of its grid, for a kernel with these rows and lanes.
    pub fn idle_copies<T: Copy + PartialEq + Send + 'static, const ROWS: usize>(
        &self,
        rows: &'static RowOffsets<ROWS>,
        lanes: &'static [Lane],
        reads: Reads,
    ) -> Arc<IdleCopies<T>> {
        self.copies_cache.idle(rows, lanes, reads)
    }
}

/// The lanes of a kernel for a segment, into `slices`. Apart from its caller, whose constants would
/// have all loops written out.
#[inline(never)]
pub fn lanes_of<'a, T: Copy + PartialEq, R: Real>(
    grid: &CartesianGrid<R>,
    segment: &Segment,
    rows: &[LaneRow],
    lanes: &[Lane],
    arrays: &[&'a [T]],
    copies: &'a mut RowCopies<T>,
    slices: &mut [&'a [T]],
) {
    let mut from = None;
    if !segment.inside {
        if copies.is_empty() {
            return gathered(grid, segment, rows, lanes, arrays, copies.others(), slices);
        }
        from = Some(copies.complete(grid, rows, lanes, arrays) + segment.first);
    }
    let copies = &*copies;
    for (number, (lane, slice)) in lanes.iter().zip(slices).enumerate() {
        let copied = from.and_then(|from| copies.lane(number, from));
        let values = copied.unwrap_or_else(|| &arrays[lane.array][lane.start(rows, segment)..]);
        *slice = &values[..lane.len(segment)];
    }
}

/// The same where no rows are copied: what may be beyond the ends of rows is gathered.
fn gathered<'a, T: Copy, R: Real>(
    grid: &CartesianGrid<R>,
    segment: &Segment,
    rows: &[LaneRow],
    lanes: &[Lane],
    arrays: &[&'a [T]],
    ends: &'a mut Vec<T>,
    slices: &mut [&'a [T]],
) {
    let beyond = || lanes.iter().filter(|lane| !lane.along.is_empty());
    let Some(&any) = arrays.iter().find_map(|array| array.first()) else { return };
    ends.resize(beyond().map(|lane| lane.len(segment)).sum(), any);
    let mut rest = &mut ends[..];
    for lane in beyond() {
        let row = &arrays[lane.array][rows[lane.row].start..][..grid.n[0]];
        let (values, others) = rest.split_at_mut(lane.len(segment));
        gather(values, row, segment.first as i64 + i64::from(lane.reach[0]), lane.along);
        rest = others;
    }
    let mut rest = &ends[..];
    for (lane, slice) in lanes.iter().zip(slices) {
        if lane.along.is_empty() {
            *slice = &arrays[lane.array][lane.start(rows, segment)..][..lane.len(segment)];
        } else {
            (*slice, rest) = rest.split_at(lane.len(segment));
        }
    }
}

/// The values of a row from a place on, those beyond it by the maps.
fn gather<T: Copy>(values: &mut [T], row: &[T], from: i64, steps: Steps) {
    let inside = inside(row.len(), from, values.len(), steps);
    for value in (0..inside.start).chain(inside.end..values.len()) {
        values[value] = row[along(from + value as i64, steps, row.len()) as usize];
    }
    if !inside.is_empty() {
        let first = along(from + inside.start as i64, steps, row.len()) as usize;
        values[inside.clone()].copy_from_slice(&row[first..][..inside.len()]);
    }
}

#[cfg(test)]
mod tests {
    use equelle_runtime::grid::{Cartesian, SideMap};

    use super::super::row_offsets::{RowOffset, RowOffsets, lane_rows};
    use super::super::stencil_rows::{Cuts, MAX_SEGMENT, TileCache, cell_rows};
    use super::*;

    const WRAP: [SideMap; 2] = [SideMap::Wrap; 2];
    const MIRROR: [SideMap; 2] = [SideMap::Mirror; 2];

    /// Lanes hold what the grid's own offsets find, with rows that are copied for others and with
    /// one that is copied for itself alone, also where two rows are as far away.
    #[test]
    fn lanes_are_what_offsets_find() {
        const ROWS: RowOffsets<6> = RowOffsets::new([
            RowOffset::new(&[], &[]),
            RowOffset::new(&[(-1, MIRROR)], &[(2, WRAP)]),
            RowOffset::new(&[(-1, WRAP)], &[(2, WRAP)]),
            RowOffset::new(&[(2, WRAP), (-1, MIRROR)], &[]),
            RowOffset::new(&[(-2, MIRROR), (2, MIRROR)], &[(1, MIRROR), (-1, WRAP)]),
            RowOffset::new(&[], &[(2, MIRROR)]),
        ]);
        const LANES: [Lane; 8] = [
            Lane::new(0, 0, [-3, 2], &[(0, WRAP)]),
            Lane::new(0, 1, [0, 0], &[]),
            Lane::new(0, 1, [0, 0], &[(-2, MIRROR), (1, WRAP)]),
            Lane::new(0, 0, [0, 0], &[(2, MIRROR)]),
            Lane::new(0, 2, [-1, 1], &[(0, MIRROR)]),
            Lane::new(0, 3, [0, 0], &[]),
            Lane::new(0, 4, [0, 0], &[]),
            Lane::new(0, 5, [0, 1], &[(0, WRAP)]),
        ];
        const ALONE: [Lane; 3] = [LANES[0], LANES[1], LANES[3]];
        // Tiles are as low as they may be.
        const READS: Reads = Reads { bytes: 1 << 20, around: [4, 2], cache: TileCache::L2 };
        let all = [Cuts::ends([3, 2]), Cuts::whole([3, 2]), Cuts::strips([3, 2]), Cuts::strips_and_ends([3, 2])];
        for (n, cuts) in [3, 30, 300, MAX_SEGMENT + 9].into_iter().flat_map(|n| all.map(|cuts| (n, cuts))) {
            let shape = Cartesian::block([n, 20, 4], [1.0; 3]);
            let grid = CartesianGrid::new(&shape);
            let u: Vec<f64> = (0..grid.n_cells()).map(|cell| cell as f64).collect();
            let (mut copies, mut alone) = (
                RowCopies::new(&grid, &ROWS.all, ROWS.reach[0], &LANES, READS),
                RowCopies::new(&grid, &ROWS.all, ROWS.reach[0], &ALONE, READS),
            );
            for row in cell_rows(&grid, &(0..grid.n_cells()), READS) {
                let mut rows = [LaneRow::default(); 6];
                lane_rows(&grid, &row, &ROWS, &mut rows);
                for segment in cuts.segments(n, &row) {
                    let (mut lanes, mut of_alone) = ([&[][..]; 8], [&[][..]; 3]);
                    lanes_of(&grid, &segment, &rows, &LANES, &[&u], &mut copies, &mut lanes);
                    lanes_of(&grid, &segment, &rows, &ALONE, &[&u], &mut alone, &mut of_alone);
                    let [a, b, c, d, e, f, g, h] = lanes;
                    assert_eq!(of_alone, [a, b, d]);
                    for i in 0..segment.len {
                        let cell = (row.start + segment.first + i) as u32;
                        let at = |cell, by: [i8; 3], map| f64::from(shape.offset_cell(cell, by, [map; 6]));
                        let row_at = |map| shape.offset_cell(shape.offset_cell(cell, [0, -1, 0], [map; 6]), [0, 0, 2], [SideMap::Wrap; 6]);
                        for by in -3..=2i8 {
                            assert_eq!(a[(i as isize + isize::from(by) + 3) as usize], at(cell, [by, 0, 0], SideMap::Wrap));
                        }
                        let there = row_at(SideMap::Mirror);
                        assert_eq!(b[i], f64::from(there));
                        let twice = shape.offset_cell(there, [-2, 0, 0], [SideMap::Mirror; 6]);
                        assert_eq!(c[i], at(twice, [1, 0, 0], SideMap::Wrap));
                        assert_eq!(d[i], at(cell, [2, 0, 0], SideMap::Mirror));
                        let by = |cell, by: [i8; 3], map| shape.offset_cell(cell, by, [map; 6]);
                        let (wrap, mirror) = (SideMap::Wrap, SideMap::Mirror);
                        assert_eq!(f[i], f64::from(by(by(cell, [0, 2, 0], wrap), [0, -1, 0], mirror)));
                        let low = by(by(cell, [0, -2, 0], mirror), [0, 2, 0], mirror);
                        assert_eq!(g[i], f64::from(by(by(low, [0, 0, 1], mirror), [0, 0, -1], wrap)));
                        let up = by(cell, [0, 0, 2], mirror);
                        assert_eq!(h[i..][..2], [f64::from(up), f64::from(by(up, [1, 0, 0], wrap))]);
                        for by in -1..=1i8 {
                            let found = e[(i as isize + isize::from(by) + 1) as usize];
                            assert_eq!(found, at(row_at(SideMap::Wrap), [by, 0, 0], SideMap::Mirror));
                        }
                    }
                }
            }
        }
    }
}
