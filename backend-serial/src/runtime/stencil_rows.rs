//! Rows of a Cartesian grid for kernels that read by index: their order and their parts. The rows
//! around them are in [`super::row_offsets`], what is read of these in [`super::lanes`].

use std::ops::Range;

use equelle_runtime::Real;

use super::cartesian_grid::CartesianGrid;

/// A row of cells, or the part of one that a range has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CellRow {
    /// The first cell of the row.
    pub start: usize,
    /// Its position along the second and the third axis.
    pub at: [usize; 2],
    /// The current cells, by their positions along the first axis.
    pub cells: Range<usize>,
}

/// Cells of one row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// Position of the first one along the first axis.
    pub first: usize,
    /// Their number.
    pub len: usize,
    /// True if everything that they read in rows is in the grid.
    pub inside: bool,
}

/// Division of rows into segments by a kernel.
#[derive(Clone, Copy, Debug)]
pub struct Cuts {
    /// Cells that it reads beyond its own, towards the low and the high end of a row.
    pub reach: [usize; 2],
    /// The most cells of a segment.
    pub longest: usize,
    /// The cells at an end of a row that are evaluated together.
    pub end: usize,
    /// True if cells at the ends of rows are evaluated with all others, in rows that are copied.
    pub joins_ends: bool,
}

/// The most cells of a strip, whose values between two parts of a kernel stay in the nearest cache.
pub const STRIP: usize = 128;

/// The most cells of a segment that is evaluated in one go, and of a row that is copied.
pub(super) const MAX_SEGMENT: usize = 2048;

/// Segments of these lengths but for the last one are whole vectors.
const VECTORS: usize = 16;

impl Cuts {
    /// For kernels that evaluate a row in one go. What their cells at the ends of long rows read is
    /// gathered, with so many neighbours that a segment is worth its slices.
    pub const fn whole(reach: [usize; 2]) -> Self {
        Cuts { reach, longest: MAX_SEGMENT, end: 256, joins_ends: true }
    }

    /// For kernels that ask where the ends of rows are: as few of these cells as vector
    /// instructions want.
    pub const fn ends(reach: [usize; 2]) -> Self {
        Cuts { reach, longest: MAX_SEGMENT, end: 8, joins_ends: false }
    }

    /// For kernels that evaluate a strip of cells part by part.
    pub const fn strips(reach: [usize; 2]) -> Self {
        Cuts { reach, longest: STRIP, end: STRIP, joins_ends: true }
    }

    /// For such kernels that ask where the ends of rows are. A strip costs its slices, so that
    /// those at the ends are as long as others.
    pub const fn strips_and_ends(reach: [usize; 2]) -> Self {
        Cuts { joins_ends: false, ..Cuts::strips(reach) }
    }

    /// The segments of a row.
    #[inline]
    pub fn segments(self, n: usize, row: &CellRow) -> Segments {
        let [low, high] = self.reach.map(|reach| if reach == 0 { 0 } else { reach.max(self.end) });
        let is_short = low + high + VECTORS / 2 > n || self.joins_ends && n <= MAX_SEGMENT;
        let inside = if is_short && low + high > 0 { n..n } else { low..n - high };
        Segments { cells: row.cells.clone(), inside, longest: self.longest }
    }
}

/// Parts of a row that are not too long, those with cells inside and those with others.
#[derive(Clone, Debug)]
pub struct Segments {
    /// Those that are left.
    cells: Range<usize>,
    inside: Range<usize>,
    longest: usize,
}

impl Iterator for Segments {
    type Item = Segment;

    #[inline]
    fn next(&mut self) -> Option<Segment> {
        let Range { start: first, end } = self.cells;
        if first >= end {
            return None;
        }
        let (to, inside) = if first < self.inside.start {
            (self.inside.start, false)
        } else if first < self.inside.end {
            (self.inside.end, true)
        } else {
            (end, false)
        };
        let mut len = to.min(end) - first;
        if len > self.longest {
            len = len.div_ceil(len.div_ceil(self.longest)).next_multiple_of(VECTORS).min(self.longest);
        }
        self.cells.start += len;
        Some(Segment { first, len, inside })
    }
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
    pub fn segments<R: Real>(self, grid: &CartesianGrid<R>, row: &CellRow) -> Segments {
        let n = grid.n[0];
        let is_inside = (0..2).all(|k| {
            let [low, high] = self.reach[k + 1];
            row.at[k] >= low && row.at[k] + high < grid.n[k + 1]
        });
        let [low, high] = self.reach[0];
        let inside = if is_inside && low + high < n { low..n - high } else { n..n };
        Segments { cells: row.cells.clone(), inside, longest: MAX_SEGMENT }
    }
}

/// Reads of a kernel around a row, as far as the order of rows depends on them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reads {
    /// Bytes of a cell in all arrays.
    pub bytes: usize,
    /// Number of rows and of planes that it reads besides its own.
    pub around: [usize; 2],
    /// The cache that a tile of rows stays in.
    pub cache: TileCache,
}

/// A cache of a processor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TileCache {
    /// The second-level one.
    L2,
    /// The third-level one, for kernels with so many operations for a cell that it is near enough.
    L3,
}

/// Memory in which rows stay until the next plane reads them: half of a usual second-level cache,
/// and a share of the third-level one.
const L2: usize = 512 << 10;
const L3: usize = 2 << 20;

/// Memory that the first-level cache has for rows that have just been copied.
const L1: usize = 16 << 10;

/// The fewest rows of a tile: below, its edges are read twice too often.
const MIN_TILE_ROWS: usize = 8;

impl Reads {
    /// Rows are in ascending order.
    pub(super) const NOTHING: Reads = Reads { bytes: 0, around: [0, 0], cache: TileCache::L2 };

    /// Number of rows of a plane that are evaluated before the next plane.
    pub(super) fn tile<R: Real>(self, grid: &CartesianGrid<R>) -> usize {
        if self.around[1] == 0 {
            return grid.n[1];
        }
        let (cache, least) = match self.cache {
            TileCache::L2 => (L2, MIN_TILE_ROWS),
            TileCache::L3 => (L3, 2 * MIN_TILE_ROWS),
        };
        self.fits(grid, cache).max(least).min(grid.n[1])
    }

    /// Number of rows of a plane that are copied at a time, if other planes do not need the copies.
    pub(super) fn tile_of_copies<R: Real>(self, grid: &CartesianGrid<R>) -> usize {
        self.fits(grid, L1).max(MIN_TILE_ROWS).min(grid.n[1])
    }

    /// The tile that fits a cache, with the rows around it.
    fn fits<R: Real>(self, grid: &CartesianGrid<R>, cache: usize) -> usize {
        let [rows, planes] = self.around;
        (cache / (grid.n[0] * self.bytes * (planes + 1)).max(1)).saturating_sub(rows)
    }
}

/// The rows of a range of cells: plane by plane, in tiles of rows that a cache holds.
pub fn cell_rows<R: Real>(grid: &CartesianGrid<R>, cells: &Range<usize>, reads: Reads) -> CellRows {
    let [n, n_rows, _] = grid.n;
    let rows = cells.start / n..cells.end.div_ceil(n);
    let planes = rows.start / n_rows..rows.end.div_ceil(n_rows);
    let (tile, plane) = (reads.tile(grid), planes.start);
    let mut all = CellRows { n, n_rows, cells: cells.clone(), rows, planes, tile, from: 0, plane, of_plane: 0..0 };
    all.enter_plane();
    all
}

/// Rows of cells in this order.
#[derive(Clone, Debug)]
pub struct CellRows {
    n: usize,
    n_rows: usize,
    cells: Range<usize>,
    rows: Range<usize>,
    planes: Range<usize>,
    tile: usize,
    /// The first row of the current tile.
    from: usize,
    plane: usize,
    /// The rows that are left of this plane.
    of_plane: Range<usize>,
}

impl CellRows {
    /// Begins with the rows of the tile in a plane.
    fn enter_plane(&mut self) {
        let first = self.plane * self.n_rows;
        let to = first + (self.from + self.tile).min(self.n_rows);
        self.of_plane = (first + self.from).max(self.rows.start)..to.min(self.rows.end);
    }

    /// True if there is another plane with this tile, or another tile.
    fn next_plane(&mut self) -> bool {
        self.plane += 1;
        if self.plane >= self.planes.end {
            self.plane = self.planes.start;
            self.from += self.tile;
        }
        let there = self.from < self.n_rows && !self.planes.is_empty();
        if there {
            self.enter_plane();
        }
        there
    }
}

impl Iterator for CellRows {
    type Item = CellRow;

    #[inline]
    fn next(&mut self) -> Option<CellRow> {
        while self.of_plane.is_empty() {
            if !self.next_plane() {
                return None;
            }
        }
        let row = self.of_plane.start;
        self.of_plane.start += 1;
        let start = row * self.n;
        let cells = self.cells.start.saturating_sub(start)..(self.cells.end - start).min(self.n);
        Some(CellRow { start, at: [row - self.plane * self.n_rows, self.plane], cells })
    }
}

#[cfg(test)]
mod tests {
    use equelle_runtime::grid::Cartesian;

    use super::*;

    const FEW: Reads = Reads::NOTHING;

    /// Tiles have every row of a range once, and a thread's range may begin and end in a plane.
    #[test]
    fn tiles_are_all_rows() {
        let grid = CartesianGrid::new(&Cartesian::block([4, 50, 3], [1.0; 3]));
        // A plane of 17 rows fits.
        let reads = Reads { bytes: L2 / (4 * 20 * 3), around: [3, 2], cache: TileCache::L2 };
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
            for cuts in [Cuts::whole(reach), Cuts::ends(reach), Cuts::strips(reach), Cuts::strips_and_ends(reach)] {
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
}
