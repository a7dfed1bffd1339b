//! Sides of cells, and neighbours by index, in rows of a Cartesian grid.

use std::ops::Range;

use equelle_runtime::grid::{Cartesian, mapped};

use super::bindings::CellOffset;
use super::regions::Regions;
use crate::program::CellSide;

/// Lanes whose cells are consecutive in one row of cells.
#[derive(Clone, Debug)]
pub struct Segment {
    pub lanes: Range<usize>,
    /// Position of the first of these cells.
    pub ijk: [usize; 3],
}

/// The cell of lane 0 and its position.
#[derive(Clone, Copy, Debug, Default)]
pub struct Origin {
    pub cell: usize,
    pub ijk: [usize; 3],
}

impl Origin {
    /// The origin at a cell.
    pub fn new(shape: &Cartesian, cell: usize) -> Self {
        Origin { cell, ijk: shape.cell_ijk(cell) }
    }

    /// Goes on by some cells.
    #[inline(always)]
    pub fn advance(&mut self, shape: &Cartesian, cells: usize) {
        self.cell += cells;
        let [i, j, k] = self.ijk;
        self.ijk = match i + cells {
            along if along < shape.n[0] => [along, j, k],
            along if along == shape.n[0] && j + 1 < shape.n[1] => [0, j + 1, k],
            along if along == shape.n[0] => [0, 0, k + 1],
            _ => shape.cell_ijk(self.cell),
        };
    }

    /// Position of the cell of a lane. Without a division where the lane is in the row of lane 0.
    #[inline(always)]
    fn at(self, shape: &Cartesian, lane: usize) -> [usize; 3] {
        let [i, j, k] = self.ijk;
        if i + lane < shape.n[0] { [i + lane, j, k] } else { shape.cell_ijk(self.cell + lane) }
    }
}

/// The segments of the lanes `lo..hi`.
#[inline(always)]
pub fn segments(shape: &Cartesian, origin: Origin, lo: usize, hi: usize) -> impl Iterator<Item = Segment> {
    let n = shape.n;
    let mut ijk = origin.at(shape, lo);
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

/// The cells of a segment with a neighbour at a side, or those at the boundary there.
#[inline(always)]
fn lanes_at_side(shape: &Cartesian, segment: &Segment, side: CellSide) -> Range<usize> {
    let CellSide { axis, high, boundary } = side;
    let (axis, Segment { lanes, ijk }) = (usize::from(axis), segment);
    if axis > 0 {
        let is_at = if high { ijk[axis] + 1 == shape.n[axis] } else { ijk[axis] == 0 };
        return if is_at == boundary { lanes.clone() } else { lanes.end..lanes.end };
    }
    // The side is at one of the ends of the row.
    let (is_here, end) = if high { (ijk[0] + lanes.len() == shape.n[0], lanes.end - 1) } else { (ijk[0] == 0, lanes.start) };
    match (boundary, is_here, high) {
        (true, true, _) => end..end + 1,
        (true, false, _) => lanes.end..lanes.end,
        (false, true, true) => lanes.start..end,
        (false, true, false) => end + 1..lanes.end,
        (false, false, _) => lanes.clone(),
    }
}

/// Calls `take` with the lanes of the cells with a neighbour at a side, or at the boundary there,
/// as many as follow each other.
#[inline(always)]
pub fn each_at_side(shape: &Cartesian, origin: Origin, lanes: usize, side: CellSide, mut take: impl FnMut(Range<usize>)) {
    let mut open = 0..0;
    for segment in segments(shape, origin, 0, lanes) {
        let range = lanes_at_side(shape, &segment, side);
        if range.start == open.end {
            open.end = range.end;
            continue;
        }
        if !open.is_empty() {
            take(open);
        }
        open = range;
    }
    if !open.is_empty() {
        take(open);
    }
}

/// Opens the region of the cells at the boundary on a side, or of those that are not.
#[inline(always)]
pub fn enter_side(regions: &mut Regions, shape: &Cartesian, origin: Origin, side: CellSide) -> bool {
    let CellSide { axis, high, boundary } = side;
    let axis = usize::from(axis);
    let region = regions.region();
    let first = origin.at(shape, region.lo);
    let at = |ijk: [usize; 3]| if high { ijk[axis] + 1 == shape.n[axis] } else { ijk[axis] == 0 };
    if first[0] + (region.hi - region.lo) <= shape.n[0] {
        let lanes = lanes_at_side(shape, &Segment { lanes: region.lo..region.hi, ijk: first }, side);
        return !lanes.is_empty() && regions.enter_between(lanes.start, lanes.end);
    }
    if axis > 0 && segments(shape, origin, region.lo, region.hi).all(|segment| at(segment.ijk) == boundary) {
        return regions.enter_between(region.lo, region.hi);
    }
    if axis > 0 && segments(shape, origin, region.lo, region.hi).all(|segment| at(segment.ijk) != boundary) {
        return false;
    }
    let mut wanted = [false; crate::program::LANES];
    for Segment { lanes, ijk } in segments(shape, origin, region.lo, region.hi) {
        if axis > 0 {
            wanted[lanes].fill(at(ijk) == boundary);
        } else {
            for (k, wanted) in wanted[lanes].iter_mut().enumerate() {
                *wanted = at([ijk[0] + k, ijk[1], ijk[2]]) == boundary;
            }
        }
    }
    regions.enter(
        #[inline(always)]
        |lanes, active| active.copy_from_slice(&wanted[lanes]),
    )
}

/// Loads elements of an array on all faces at a side of cells.
#[inline(always)]
pub fn load_side<T: Copy>(
    dst: &mut [T],
    array: &[T],
    shape: &Cartesian,
    origin: Origin,
    (lo, hi): (usize, usize),
    axis: usize,
    high: bool,
) {
    for Segment { lanes, ijk } in segments_of_faces(shape, origin, (lo, hi), axis, high) {
        let first = shape.cell_face(shape.cell(ijk), axis, high);
        dst[lanes.clone()].copy_from_slice(&array[first..first + lanes.len()]);
    }
}

/// [`segments`] in which the faces at a side follow each other: where the ends of rows are joined,
/// the low side of the first cell has the last number of the row.
#[inline(always)]
fn segments_of_faces(
    shape: &Cartesian,
    origin: Origin,
    (lo, hi): (usize, usize),
    axis: usize,
    high: bool,
) -> impl Iterator<Item = Segment> {
    let wraps = axis == 0 && !high && shape.joined[0];
    segments(shape, origin, lo, hi).flat_map(move |Segment { lanes, ijk }| {
        let first = if wraps && ijk[0] == 0 { lanes.start + 1 } else { lanes.start };
        let rest = Segment { lanes: first..lanes.end, ijk: [ijk[0] + first - lanes.start, ijk[1], ijk[2]] };
        let first = Segment { lanes: lanes.start..first, ijk };
        [first, rest].into_iter().filter(|segment| !segment.lanes.is_empty())
    })
}

/// The faces at a side of cells.
#[inline(always)]
pub fn side_faces(dst: &mut [u32], shape: &Cartesian, origin: Origin, (lo, hi): (usize, usize), axis: usize, high: bool) {
    for Segment { lanes, ijk } in segments_of_faces(shape, origin, (lo, hi), axis, high) {
        let first = shape.cell_face(shape.cell(ijk), axis, high) as u32;
        for (dst, face) in dst[lanes].iter_mut().zip(first..) {
            *dst = face;
        }
    }
}

/// Calls `take` with lanes and the first of the consecutive cells at an offset from theirs.
#[inline(always)]
fn at_offset(shape: &Cartesian, origin: Origin, (lo, hi): (usize, usize), offset: CellOffset, mut take: impl FnMut(Range<usize>, usize)) {
    let CellOffset { by, beyond } = offset;
    let along = |at: usize, axis: usize| {
        let maps = [beyond[2 * axis], beyond[2 * axis + 1]];
        if by[axis] == 0 { at } else { mapped(at as i64 + i64::from(by[axis]), shape.n[axis] as i64, maps) as usize }
    };
    for Segment { lanes, ijk } in segments(shape, origin, lo, hi) {
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
pub fn load_offset<T: Copy>(dst: &mut [T], array: &[T], shape: &Cartesian, origin: Origin, lanes: (usize, usize), offset: CellOffset) {
    at_offset(
        shape,
        origin,
        lanes,
        offset,
        #[inline(always)]
        |lanes, first| dst[lanes.clone()].copy_from_slice(&array[first..first + lanes.len()]),
    );
}
