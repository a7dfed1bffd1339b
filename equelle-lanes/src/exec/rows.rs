//! What cells of a Cartesian grid have in rows: sides, and neighbours by index.

use std::ops::Range;

use equelle_runtime::grid::{Cartesian, mapped};

use super::bindings::CellOffset;
use super::regions::Regions;

/// Lanes whose cells are consecutive in one row of cells.
#[derive(Clone, Debug)]
pub struct Segment {
    pub lanes: Range<usize>,
    /// Position of the first of these cells.
    pub ijk: [usize; 3],
}

/// The segments of the lanes `lo..hi` where lane 0 is a cell.
#[inline(always)]
pub fn segments(shape: &Cartesian, cell: usize, lo: usize, hi: usize) -> impl Iterator<Item = Segment> {
    let n = shape.n;
    let mut ijk = shape.cell_ijk(cell + lo);
    let mut lane = lo;
    std::iter::from_fn(move || {
        if lane >= hi {
            return None;
        }
        let len = (n[0] - ijk[0]).min(hi - lane);
        let segment = Segment { lanes: lane..lane + len, ijk };
        lane += len;
        ijk[0] = 0;
        ijk[1] += 1;
        if ijk[1] == n[1] {
            ijk[1] = 0;
            ijk[2] += 1;
        }
        Some(segment)
    })
}

/// Opens the region of the cells at the boundary on a side, or of those that are not; lane 0 is a
/// cell.
#[inline(always)]
pub fn enter_side(regions: &mut Regions, shape: &Cartesian, cell: usize, axis: usize, high: bool, boundary: bool) -> bool {
    let region = regions.region();
    let first = shape.cell_ijk(cell + region.lo);
    let at = |ijk: [usize; 3]| if high { ijk[axis] + 1 == shape.n[axis] } else { ijk[axis] == 0 };
    if first[0] + (region.hi - region.lo) <= shape.n[0] {
        // One row: the side is at one of its ends, or all along it.
        if axis > 0 {
            return at(first) == boundary && regions.enter_between(region.lo, region.hi);
        }
        let end = if high { region.lo + shape.n[0] - 1 - first[0] } else { region.lo };
        let is_here = if high { end < region.hi } else { first[0] == 0 };
        return match (boundary, is_here, high) {
            (true, true, _) => regions.enter_between(end, end + 1),
            (true, false, _) => false,
            (false, true, true) => regions.enter_between(region.lo, end),
            (false, true, false) => regions.enter_between(end + 1, region.hi),
            (false, false, _) => regions.enter_between(region.lo, region.hi),
        };
    }
    let mut wanted = [false; crate::program::LANES];
    for Segment { lanes, ijk } in segments(shape, cell, region.lo, region.hi) {
        if axis > 0 {
            wanted[lanes].fill(at(ijk) == boundary);
        } else {
            for (k, wanted) in wanted[lanes].iter_mut().enumerate() {
                *wanted = at([ijk[0] + k, ijk[1], ijk[2]]) == boundary;
            }
        }
    }
    regions.enter(|lane| wanted[lane])
}

/// Loads elements of an array on all faces at a side of cells.
#[inline(always)]
pub fn load_side(dst: &mut [f64], array: &[f64], shape: &Cartesian, cell: usize, (lo, hi): (usize, usize), axis: usize, high: bool) {
    for Segment { lanes, ijk } in segments(shape, cell, lo, hi) {
        let first = shape.cell_face(shape.cell(ijk), axis, high);
        dst[lanes.clone()].copy_from_slice(&array[first..first + lanes.len()]);
    }
}

/// The faces at a side of cells.
#[inline(always)]
pub fn side_faces(dst: &mut [u32], shape: &Cartesian, cell: usize, (lo, hi): (usize, usize), axis: usize, high: bool) {
    for Segment { lanes, ijk } in segments(shape, cell, lo, hi) {
        let first = shape.cell_face(shape.cell(ijk), axis, high) as u32;
        for (dst, face) in dst[lanes].iter_mut().zip(first..) {
            *dst = face;
        }
    }
}

/// Calls `take` with lanes and the first of the consecutive cells at an offset from theirs.
#[inline(always)]
fn at_offset(shape: &Cartesian, cell: usize, (lo, hi): (usize, usize), offset: CellOffset, mut take: impl FnMut(Range<usize>, usize)) {
    let CellOffset { by, beyond } = offset;
    let along = |at: usize, axis: usize| {
        let maps = [beyond[2 * axis], beyond[2 * axis + 1]];
        if by[axis] == 0 { at } else { mapped(at as i64 + i64::from(by[axis]), shape.n[axis] as i64, maps) as usize }
    };
    for Segment { lanes, ijk } in segments(shape, cell, lo, hi) {
        let row = shape.cell([0, along(ijk[1], 1), along(ijk[2], 2)]);
        // The lanes whose cell is not beyond an end of the row.
        let shift = isize::from(by[0]);
        let inside = |lane: usize| (ijk[0] + lane - lanes.start) as isize + shift;
        let n = shape.n[0] as isize;
        let low = lanes.clone().take_while(|&lane| inside(lane) < 0).count();
        let high = lanes.clone().rev().take_while(|&lane| inside(lane) >= n).count().min(lanes.len() - low);
        let (from, to) = (lanes.start + low, lanes.end - high);
        if from < to {
            take(from..to, row + inside(from) as usize);
        }
        for lane in (lanes.start..from).chain(to..lanes.end) {
            take(lane..lane + 1, row + along(ijk[0] + lane - lanes.start, 0));
        }
    }
}

/// Loads elements of an array on all cells at an offset from cells.
#[inline(always)]
pub fn load_offset(dst: &mut [f64], array: &[f64], shape: &Cartesian, cell: usize, lanes: (usize, usize), offset: CellOffset) {
    at_offset(
        shape,
        cell,
        lanes,
        offset,
        #[inline(always)]
        |lanes, first| dst[lanes.clone()].copy_from_slice(&array[first..first + lanes.len()]),
    );
}
