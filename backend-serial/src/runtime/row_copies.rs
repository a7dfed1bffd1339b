//! Reads of a row by kernels, and copies of rows for those that read beyond the ends.

use std::hint::black_box;
use std::ops::Range;

use equelle_runtime::Real;

use super::cartesian_grid::CartesianGrid;
use super::row_offsets::{LaneRow, RowOffset, Steps, along, sum};
use super::stencil_rows::{MAX_SEGMENT, Reads, Segment};

/// Elements of one array that a kernel reads in one row.
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
    /// Where it begins, from the first cell, in a row, and how much longer it is than a segment.
    begins: isize,
    more: usize,
}

impl Lane {
    /// A lane of these parts.
    pub const fn new(array: usize, row: usize, reach: [i8; 2], along: Steps) -> Self {
        let more = reach[1] as isize - reach[0] as isize;
        Lane { array, row, reach, along, begins: reach[0] as isize + sum(along), more: more as usize }
    }

    /// Its length for a segment.
    #[inline]
    pub(super) fn len(&self, segment: &Segment) -> usize {
        segment.len + self.more
    }

    /// Where it begins in its array where all of it is in the row.
    #[inline]
    pub(super) fn start(&self, rows: &[LaneRow], segment: &Segment) -> usize {
        (rows[self.row].start + segment.first).wrapping_add_signed(self.begins)
    }
}

/// Bytes of a line of a cache, which is also the longest vector of a processor.
const LINE: usize = 64;

/// Copies of rows of the arrays of a kernel, with what stands beyond their ends.
///
/// A copy is in a place that follows from where its row is in a tile and along the third axis, so
/// that the rows around a row have different ones. It is made where the place has another row,
/// together with those of the next rows of the tile, and read by all lanes until it is replaced.
#[derive(Debug)]
pub struct RowCopies<T> {
    copied: Vec<Copied>,
    /// Rows of the kernel that are copied.
    rows: Vec<Row>,
    /// Where each lane begins in a place; none for lanes that read the array.
    begins: Vec<Option<usize>>,
    /// How far the ways to rows lead along the second axis.
    reach: [usize; 2],
    /// Rows of a tile, how many before and after it have places, and how many planes.
    tile: usize,
    around: [isize; 2],
    planes: isize,
    prefetch: Option<Prefetch>,
    places: CopyPlaces<T>,
    /// A row of cells, and how many rows from it on have all of their copies.
    at: [usize; 2],
    complete: usize,
    /// Where the rows of the kernel and its lanes begin for that row.
    of_rows: Vec<usize>,
    starts: Vec<usize>,
}

/// Memory for copies, a place for each row.
#[derive(Debug)]
struct CopyPlaces<T> {
    /// The first cell of the row in each place: planes of rows.
    first_cells: Vec<usize>,
    /// Values of a place.
    len: usize,
    /// All places; empty before the first copy.
    values: Vec<T>,
    /// Offset of the first place.
    aligned: usize,
}

impl<T: Copy> CopyPlaces<T> {
    /// For copies of this many values.
    fn new(places: usize, values: usize) -> Self {
        // An odd number of lines: rows do not push each other out of a cache.
        let len = ((values * size_of::<T>()).div_ceil(LINE) | 1) * LINE / size_of::<T>();
        CopyPlaces { first_cells: vec![usize::MAX; places], len, values: Vec::new(), aligned: 0 }
    }

    /// Allocates the places, with any value.
    fn allocate(&mut self, any: T) {
        let line = LINE / size_of::<T>();
        self.values = vec![any; self.first_cells.len() * self.len + line];
        self.aligned = self.values.as_ptr().align_offset(LINE).min(line);
    }

    /// Where the values of a place begin.
    fn start(&self, place: usize) -> usize {
        self.aligned + place * self.len
    }
}

/// A row of the kernel that is copied.
#[derive(Debug)]
struct Row {
    /// Its number.
    number: usize,
    /// Its distance from the row of the cells along the second and the third axis.
    by: [isize; 2],
    /// Where others may lead to another row at this distance, beyond the sides: its place there.
    own: Option<usize>,
}

impl Row {
    /// True if it is at its distance from a row, with no side between.
    fn is_inside(&self, [y, z]: [usize; 2], rows: &[LaneRow]) -> bool {
        rows[self.number].at == [y.wrapping_add_signed(self.by[0]), z.wrapping_add_signed(self.by[1])]
    }
}

/// The plane that is read first of all, where its rows are not copied.
#[derive(Debug)]
struct Prefetch {
    /// Its row.
    row: usize,
    arrays: Vec<usize>,
    /// Number of its rows that are read before the next plane.
    tile: usize,
}

impl<T: Copy + PartialEq> RowCopies<T> {
    /// For a kernel with these rows, whose ways reach so far along the second axis, and lanes.
    #[inline(never)]
    pub(super) fn new<R: Real>(grid: &CartesianGrid<R>, offsets: &[RowOffset], reach: [isize; 2], lanes: &[Lane], reads: Reads) -> Self {
        let n = grid.n[0];
        let copied = if n <= MAX_SEGMENT { copied::<T>(n, lanes) } else { Vec::new() };
        // A single row read beyond its ends is copied for it alone; other rows are read in place.
        let beyond = |row: &usize| lanes.iter().any(|lane| lane.row == *row && !lane.along.is_empty());
        let alone = (0..offsets.len()).filter(beyond).count() <= 1;
        let begins = |lane: &Lane| {
            let is_of = |copied: &&Copied| copied.array == lane.array && (lane.along.is_empty() && !alone || copied.along == lane.along);
            copied.iter().find(is_of).map(|copied| copied.first.wrapping_add_signed(isize::from(lane.reach[0])))
        };
        let begins: Vec<Option<usize>> = lanes.iter().map(begins).collect();
        let is_copied = |row: usize| lanes.iter().zip(&begins).any(|(lane, begins)| lane.row == row && begins.is_some());
        let used = || offsets.iter().enumerate().filter(|(row, _)| is_copied(*row));
        let [around, of_planes] = [0, 1].map(|axis| {
            let by = || used().map(|(_, offset)| offset.by[axis]);
            [by().min().unwrap_or(0), by().max().unwrap_or(0)]
        });
        let tile = if alone || reads.around[1] == 0 { reads.tile_of_copies(grid) } else { reads.tile(grid) };
        let planes = of_planes[1] - of_planes[0] + 1;
        let mut places = tile.wrapping_add_signed(around[1] - around[0]).wrapping_mul(planes.unsigned_abs());
        let mut rows: Vec<Row> = Vec::new();
        for (number, offset) in used() {
            let is_other_way = |other: &RowOffset| other.by[1] == offset.by[1] && other.steps[1] != offset.steps[1];
            let may_differ = !offset.direct || rows.iter().any(|row| row.by == offset.by) || used().any(|(_, other)| is_other_way(other));
            let own = may_differ.then_some(places);
            places += usize::from(own.is_some());
            rows.push(Row { number, by: offset.by, own });
        }
        let furthest = offsets.iter().map(|offset| offset.by[1]).max().unwrap_or(0);
        let row_ahead = offsets.iter().position(|offset| alone && furthest > 0 && offset.by == [0, furthest]);
        let arrays = |row| lanes.iter().filter(|lane| lane.row == row).map(|lane| lane.array).collect();
        let values = copied.last().map_or(0, |last| last.range(n).end);
        RowCopies {
            copied,
            rows,
            begins,
            reach: reach.map(isize::unsigned_abs),
            tile,
            around,
            planes,
            prefetch: row_ahead.map(|row| Prefetch { row, arrays: arrays(row), tile: reads.tile(grid) }),
            places: CopyPlaces::new(places, values),
            at: [usize::MAX; 2],
            complete: 0,
            of_rows: vec![0; offsets.len()],
            starts: vec![0; lanes.len()],
        }
    }

    /// Its bytes of copies.
    pub(super) fn bytes(&self) -> usize {
        self.places.values.capacity() * size_of::<T>()
    }

    /// Forgets all copies: their arrays have changed.
    pub(super) fn clear(&mut self) {
        self.places.first_cells.fill(usize::MAX);
        (self.at, self.complete) = ([usize::MAX; 2], 0);
    }

    /// True if anything is copied.
    pub(super) fn is_empty(&self) -> bool {
        self.copied.is_empty()
    }

    /// Memory for something else, where nothing is copied.
    pub(super) fn others(&mut self) -> &mut Vec<T> {
        &mut self.places.values
    }

    /// Returns the copy of a lane, from a place on that [`RowCopies::complete`] has found.
    #[inline]
    pub(super) fn lane(&self, number: usize, from: usize) -> Option<&[T]> {
        self.begins[number].is_some().then(|| &self.places.values[self.starts[number] + from..])
    }

    /// Copies what the rows of the kernel lack; where lanes begin for the first cell.
    #[inline]
    pub(super) fn complete<R: Real>(&mut self, grid: &CartesianGrid<R>, rows: &[LaneRow], lanes: &[Lane], arrays: &[&[T]]) -> usize {
        let later = rows[0].at[0].wrapping_sub(self.at[0]);
        if rows[0].at[1] == self.at[1] && later < self.complete {
            return later * self.places.len;
        }
        self.copy(grid, rows, lanes, arrays);
        0
    }

    /// Copies what the rows of the kernel lack, and what later rows of the tile will.
    #[inline(never)]
    fn copy<R: Real>(&mut self, grid: &CartesianGrid<R>, rows: &[LaneRow], lanes: &[Lane], arrays: &[&[T]]) {
        if self.places.values.is_empty() {
            let Some(&any) = arrays.iter().find_map(|array| array.first()) else { return };
            self.places.allocate(any);
        }
        self.at = rows[0].at;
        self.prefetch_rows(grid, rows, arrays);
        let ([y, z], [n, n_rows, _]) = (self.at, grid.n);
        let tile = y / self.tile * self.tile;
        let [to, end] = [0, self.around[1]].map(|more| (tile + self.tile).wrapping_add_signed(more).min(n_rows));
        // So far from the sides, the rows around the next row are the next rows.
        let last = n_rows.saturating_sub(self.reach[1]);
        let shares = |row: &Row| row.own.is_none() || row.is_inside([y, z], rows);
        let is_far = y >= self.reach[0] && y < last && self.rows.iter().all(shares);
        self.complete = if is_far { last.min(to) - y } else { 1 };
        let in_plane = self.tile as isize + self.around[1] - self.around[0];
        for row in &self.rows {
            let plane = (z as isize + row.by[1]).rem_euclid(self.planes);
            let in_tile = (y - tile) as isize + row.by[0] - self.around[0];
            let own = if shares(row) { None } else { row.own };
            let place = own.unwrap_or((plane * in_plane + in_tile) as usize);
            let LaneRow { start, at } = rows[row.number];
            // The rows after one that is where it would be without sides follow it.
            let number = if own.is_none() && at[0] == y.wrapping_add_signed(row.by[0]) { end - at[0] } else { 1 };
            self.complete = self.complete.min(number);
            let needed = if self.complete > 1 { number } else { 1 };
            if (0..needed).any(|k| self.places.first_cells[place + k] != start + k * n) {
                for copied in &self.copied {
                    let values = &arrays[copied.array][start..][..number * n];
                    // One row is read in order anyway.
                    if number > 1 {
                        touch(values);
                    }
                    for (k, row) in values.chunks_exact(n).enumerate() {
                        let from = self.places.start(place + k);
                        copied.copy(row, &mut self.places.values[from..][..self.places.len]);
                    }
                }
                (0..number).for_each(|k| self.places.first_cells[place + k] = start + k * n);
            }
            self.of_rows[row.number] = self.places.start(place);
        }
        for ((start, begins), lane) in self.starts.iter_mut().zip(&self.begins).zip(lanes) {
            *start = self.of_rows[lane.row] + begins.unwrap_or(0);
        }
    }

    /// Reads the rows of a tile in the plane that nothing has read yet.
    fn prefetch_rows<R: Real>(&self, grid: &CartesianGrid<R>, rows: &[LaneRow], arrays: &[&[T]]) {
        let Some(prefetch) = &self.prefetch else { return };
        let LaneRow { start, at } = rows[prefetch.row];
        if rows[0].at[0].is_multiple_of(prefetch.tile) {
            let number = prefetch.tile.min(grid.n[1] - at[0]);
            prefetch.arrays.iter().for_each(|&array| touch(&arrays[array][start..][..number * grid.n[0]]));
        }
    }
}

/// Reads a value of each line of some memory. Then it is in a cache, faster than if it were read
/// row by row.
fn touch<T: Copy + PartialEq>(values: &[T]) {
    let Some(&first) = values.first() else { return };
    let lines = values.chunks(LINE / size_of::<T>());
    black_box(lines.fold(0u32, |different, line| different + u32::from(line[0] != first)));
}

/// A row of an array, with what stands beyond its ends.
#[derive(Debug)]
struct Copied {
    array: usize,
    along: Steps,
    reach: [i8; 2],
    /// Where its first cell is among the values of a place.
    first: usize,
    /// The values that are in the row, and from where in it.
    inside: Range<usize>,
    from: usize,
    /// Other values, and the cells of the row that stand for them.
    beyond: Vec<(usize, usize)>,
}

impl Copied {
    fn new(lane: &Lane) -> Self {
        Copied { array: lane.array, along: lane.along, reach: lane.reach, first: 0, inside: 0..0, from: 0, beyond: Vec::new() }
    }

    /// Where its values are among those of a place, for rows of `n` cells.
    fn range(&self, n: usize) -> Range<usize> {
        let [low, high] = self.reach.map(isize::from);
        self.first.wrapping_add_signed(low)..(self.first + n).wrapping_add_signed(high)
    }

    /// Puts its first cell in a place, for rows of `n` cells.
    fn put(&mut self, first: usize, n: usize) {
        self.first = first;
        let (all, from) = (self.range(n), i64::from(self.reach[0]));
        let stands_for = |value: usize| along(value as i64 + from, self.along, n) as usize;
        let inside = inside(n, from, all.len(), self.along);
        self.inside = all.start + inside.start..all.start + inside.end;
        self.from = if inside.is_empty() { 0 } else { stands_for(inside.start) };
        let beyond = (0..inside.start).chain(inside.end..all.len());
        self.beyond = beyond.map(|value| (all.start + value, stands_for(value))).collect();
    }

    /// Copies a row.
    #[inline]
    fn copy<T: Copy>(&self, row: &[T], values: &mut [T]) {
        values[self.inside.clone()].copy_from_slice(&row[self.from..][..self.inside.len()]);
        for &(value, cell) in &self.beyond {
            values[value] = row[cell];
        }
    }
}

/// Returns the copies for rows of `n` cells: each array once for each way beyond the ends.
fn copied<T>(n: usize, lanes: &[Lane]) -> Vec<Copied> {
    let mut all: Vec<Copied> = Vec::new();
    for lane in lanes.iter().filter(|lane| !lane.along.is_empty()) {
        if let Some(same) = all.iter_mut().find(|copied| copied.array == lane.array && copied.along == lane.along) {
            same.reach = [same.reach[0].min(lane.reach[0]), same.reach[1].max(lane.reach[1])];
        } else {
            all.push(Copied::new(lane));
        }
    }
    let mut end = 0;
    for copied in &mut all {
        // First cells are where lines begin.
        let before = usize::from(copied.reach[0].min(0).unsigned_abs());
        copied.put((end + before).next_multiple_of(LINE / size_of::<T>()), n);
        end = copied.range(n).end;
    }
    all
}

/// Which of so many values from a place on are in a row of `n` cells, on all of their way.
pub(super) fn inside(n: usize, from: i64, len: usize, steps: Steps) -> Range<usize> {
    let (mut by, mut low, mut high) = (0, i64::MAX, i64::MIN);
    for (step, _) in steps {
        by += i64::from(*step);
        (low, high) = (low.min(by), high.max(by));
    }
    let start = (-low - from).clamp(0, len as i64);
    start as usize..(n as i64 - high - from).clamp(start, len as i64) as usize
}
