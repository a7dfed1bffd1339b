//! Sweeps over the rows of a Cartesian grid that evaluate the common terms of neighbouring rows
//! once.
//!
//! A row takes three steps: values of cells in the rows around it, terms of faces from them, the
//! cells of the row from the terms. Values of cells, and terms of faces between this row and the
//! next one, are buffered for the next row. Long rows are cut into strips of the grid, so that the
//! buffers stay in a cache.

use std::ops::Range;

use equelle_runtime::Real;
use equelle_runtime::domain::Domain;

use super::kernel::CartesianGrid;

/// A run of faces along a row, each between two cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FaceRun {
    /// First cell of the first face; those of the others follow.
    pub first: usize,
    /// Second cell of the first face.
    pub second: usize,
    /// Number of faces.
    pub len: usize,
    /// The axis that crosses them.
    pub axis: usize,
    /// Position of the cell that has the first face as a side.
    pub at: [usize; 3],
    /// True if the face is on the high side of that cell.
    pub high: bool,
}

/// Bytes of buffers that stay in a core's private cache (half of the smallest usual second level of
/// servers).
const CACHE: usize = 1 << 19;

/// Least cells of a strip: narrower ones cost more, through less prefetching along rows, than a
/// buffer outside the cache.
const MIN_STRIP: usize = 1024;

/// Number of cells of several rows that are processed together.
const TOGETHER: usize = 1024;

/// A row of cells, its part in a strip of the grid, or several rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Strip {
    /// First cell.
    pub start: usize,
    /// Position of the first cell.
    pub at: [usize; 3],
    /// Number of cells.
    pub len: usize,
    /// Number of rows, at least 1.
    pub rows: usize,
    /// True if all sides are interior except the outer ones of the cells at the ends of rows, and
    /// the cells before the first and after the last one exist.
    pub inside: bool,
}

impl Strip {
    /// The low boundary sides of its rows.
    pub fn low_ends<R: Real>(&self, grid: &CartesianGrid<R>) -> impl Iterator<Item = Side> + use<R> {
        let (strip, n) = (*self, grid.n[0]);
        let rows = if strip.at[0] == 0 { strip.rows } else { 0 };
        (0..rows).map(move |row| Side { cell: strip.start + row * n, at: [0, strip.at[1] + row, strip.at[2]], axis: 0, high: false })
    }

    /// The high boundary sides of its rows.
    pub fn high_ends<R: Real>(&self, grid: &CartesianGrid<R>) -> impl Iterator<Item = Side> + use<R> {
        let (strip, n) = (*self, grid.n[0]);
        let last = strip.at[0] + strip.len - (strip.rows - 1) * n - 1;
        let rows = if last + 1 == n { strip.rows } else { 0 };
        (0..rows).map(move |row| {
            let at = [last, strip.at[1] + row, strip.at[2]];
            Side { cell: strip.start - strip.at[0] + row * n + last, at, axis: 0, high: true }
        })
    }
}

/// The rows of [`strips`], with short rows inside the grid joined.
fn blocks<R: Real>(grid: &CartesianGrid<R>, range: &Range<usize>, widest: usize) -> impl Iterator<Item = Strip> + use<R> {
    let (grid, n) = (*grid, grid.n[0]);
    let most = TOGETHER / n;
    let long = (most < 2).then(|| strips(&grid, range, widest)).into_iter().flatten();
    let (mut row, end) = (range.start / n, if most < 2 { 0 } else { range.end / n });
    let short = std::iter::from_fn(move || {
        if row >= end {
            return None;
        }
        let at = [0, row % grid.n[1], row / grid.n[1]];
        let inside = is_inside(&grid, at);
        let rows = if inside { most.min(grid.n[1] - 1 - at[1]).min(end - row) } else { 1 };
        let strip = Strip { start: row * n, at, len: rows * n, rows, inside };
        row += rows;
        Some(strip)
    });
    long.chain(short)
}

/// True if the rows beside a row are in the grid, and the cells before and after it.
fn is_inside<R: Real>(grid: &CartesianGrid<R>, at: [usize; 3]) -> bool {
    grid.dim > 1 && grid.n[0] > 1 && (1..grid.dim).all(|axis| at[axis] > 0 && at[axis] + 1 < grid.n[axis])
}

/// The cells of a range of whole rows as strips, each at most `widest` cells along a row, row after
/// row.
fn strips<R: Real>(grid: &CartesianGrid<R>, range: &Range<usize>, widest: usize) -> impl Iterator<Item = Strip> + use<R> {
    let (grid, range) = (*grid, range.clone());
    let n = grid.n[0];
    let width = n.div_ceil(n.div_ceil(widest).max(1)).max(1);
    (0..n).step_by(width).flat_map(move |first| {
        grid.rows_in(&range).map(move |row| {
            let at = [first, row.j, row.k];
            Strip { start: row.start + first, at, len: width.min(n - first), rows: 1, inside: is_inside(&grid, at) }
        })
    })
}

/// The cells of a range that are in a set.
pub fn cells_in<'a>(set: &'a Domain, range: &Range<usize>) -> impl Iterator<Item = usize> + use<'a> {
    // Elements ascend.
    let elements = set.elements();
    let from = |cell: usize| elements.partition_point(|&element| (element as usize) < cell);
    elements[from(range.start)..from(range.end)].iter().map(|&cell| cell as usize)
}

/// Values of a row of cells.
struct Cells<T, const C: usize> {
    /// First cell; `None` while the buffer is empty.
    start: Option<usize>,
    values: [Vec<T>; C],
}

/// A boundary side of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Side {
    /// The cell.
    pub cell: usize,
    /// Its position.
    pub at: [usize; 3],
    /// The axis across the side.
    pub axis: usize,
    /// True if it is the high side.
    pub high: bool,
}

/// The buffers of a sweep: `C` values of a cell, `F` terms of a face.
pub struct Sweep<T, const DIM: usize, const C: usize, const F: usize> {
    grid: CartesianGrid<T>,
    cells: Vec<Cells<T, C>>,
    /// Terms of the faces along the row, the low side of its first cell first.
    x: [Vec<T>; F],
    /// Terms of the faces below and above the row, across each other axis.
    sides: Vec<[[Vec<T>; F]; 2]>,
    /// Number of cells of the row.
    len: usize,
    /// First cell of the last row whose terms across the second axis were computed.
    last: Option<usize>,
    /// True if the terms between that row and the next one have overwritten those below it.
    in_place: bool,
}

/// Inputs of a row together with the faces between it and the next row across the second axis.
pub struct Around<'a, T, const DIM: usize, const C: usize, const F: usize> {
    /// Terms of the low sides of the cells, for each axis except the second.
    pub low: [[&'a [T]; DIM]; F],
    /// Terms of their high sides.
    pub high: [[&'a [T]; DIM]; F],
    /// Terms of the low sides across the second axis, to be overwritten by those of the high sides.
    pub between: [&'a mut [T]; F],
    /// Buffered values of the cells of the row.
    pub here: [&'a [T]; C],
    /// Buffered values of the cells of the next row.
    pub next: [&'a [T]; C],
    /// The faces.
    pub faces: FaceRun,
}

impl<T: Real, const DIM: usize, const C: usize, const F: usize> Sweep<T, DIM, C, F> {
    /// Largest number of cells of a strip whose buffers stay in a cache.
    const WIDEST: usize = {
        // Without a third axis the cells of two consecutive rows are buffered, else also those of
        // the rows on both sides.
        let cells = if DIM > 2 { 5 } else { DIM };
        let bytes = size_of::<T>() * (cells * C + (2 * DIM - 1) * F);
        let most = match CACHE.checked_div(bytes) {
            Some(cells) => cells,
            None => CACHE,
        };
        if most < MIN_STRIP { MIN_STRIP } else { most }
    };

    /// Cells of a strip at most: where the ends of rows are joined, a strip is a row.
    fn widest(grid: &CartesianGrid<T>) -> usize {
        if grid.joined[0] { grid.n[0] } else { Self::WIDEST }
    }

    /// The strips of a range of whole rows, row after row.
    pub fn strips(&self, range: &Range<usize>) -> impl Iterator<Item = Strip> + use<T, DIM, C, F> {
        strips(&self.grid, range, Self::widest(&self.grid))
    }

    /// [`Self::strips`] with short rows inside the grid joined.
    pub fn blocks(&self, range: &Range<usize>) -> impl Iterator<Item = Strip> + use<T, DIM, C, F> {
        blocks(&self.grid, range, Self::widest(&self.grid))
    }

    /// Empty buffers.
    pub fn new(grid: &CartesianGrid<T>) -> Self {
        let widest = grid.n[0].min(Self::widest(grid));
        let buffer = |len: usize| vec![T::default(); len];
        let cells = if C == 0 { 0 } else { 2 * DIM - 1 };
        Sweep {
            grid: *grid,
            // A row and its neighbours at both ends.
            cells: (0..cells).map(|_| Cells { start: None, values: std::array::from_fn(|_| buffer(widest + 2)) }).collect(),
            x: std::array::from_fn(|_| buffer(widest + 1)),
            sides: (1..DIM).map(|_| std::array::from_fn(|_| std::array::from_fn(|_| buffer(widest)))).collect(),
            len: 0,
            last: None,
            in_place: false,
        }
    }

    /// Computes the terms of the faces of one row: along the row, and between it and its
    /// neighbours, except for the next row across the second axis if the row is processed
    /// `with_next` ([`Sweep::around`]). `cells` computes the values of some cells, `faces` the
    /// terms of some faces from the values of their first and second cells, `boundary` those of one
    /// boundary face.
    pub fn advance(
        &mut self,
        row: &Strip,
        with_next: bool,
        cells: impl Fn(Range<usize>, [&mut [T]; C]),
        faces: impl Fn(&FaceRun, [&[T]; C], [&[T]; C], [&mut [T]; F]),
        boundary: impl Fn(&Side) -> [T; F],
    ) {
        let (grid, start, at, len) = (self.grid, row.start, row.at, row.len);
        let (n, i) = (grid.n[0], at[0]);
        self.len = len;
        let follows = DIM > 1 && at[1] > 0 && self.last == Some(start - n);
        self.last = Some(start);
        // Cells of the row beyond the ends of the strip.
        let (before, after) = (usize::from(i > 0), usize::from(i + len < n));
        let mut wanted = [start - before; 5];
        for axis in 1..DIM {
            // The terms below exist if the last row was the one below.
            if !(grid.is_boundary_side(at, axis, false) || (axis == 1 && follows)) {
                wanted[2 * axis - 1] = grid.beside(start, at, axis, false) - before;
            }
            if !grid.is_boundary_side(at, axis, true) {
                wanted[2 * axis] = grid.beside(start, at, axis, true) - before;
            }
        }
        self.make_cells(&wanted, before + len + after, cells);
        let rows = &self.cells;
        // Buffered values from a cell on, which is in the row of cells around `of`.
        let part = |of: usize, from: usize, len: usize| -> [&[T]; C] {
            let (row, from) = (position(rows, of - before), from - (of - before));
            std::array::from_fn(|value| &rows[row].values[value][from..][..len])
        };
        // From the face between the first two cells, or before the first one.
        let first = start - before;
        let run = FaceRun { first, second: first + 1, len: before + len + after - 1, axis: 0, at: [i - before, at[1], at[2]], high: true };
        let skipped = 1 - before;
        let terms = self.x.each_mut().map(|terms| &mut terms[skipped..][..run.len]);
        faces(&run, part(start, first, run.len), part(start, (first + 1).min(start + len), run.len), terms);
        for (there, offset, face, high) in [(before > 0, 0, 0, false), (after > 0, len - 1, len, true)] {
            if !there && grid.joined[0] {
                let (cell, last) = (start - i, start - i + n - 1);
                let run = FaceRun { first: last, second: cell, len: 1, axis: 0, at: [n - 1, at[1], at[2]], high: true };
                faces(&run, part(start, last, 1), part(start, cell, 1), self.x.each_mut().map(|terms| &mut terms[face..=face]));
            } else if !there {
                let side = Side { cell: start + offset, at: [i + offset, at[1], at[2]], axis: 0, high };
                self.x.iter_mut().zip(boundary(&side)).for_each(|(terms, term)| terms[face] = term);
            }
        }
        for axis in 1..DIM {
            let [below, above] = &mut self.sides[axis - 1];
            let on_boundary = |high: bool, terms: &mut [Vec<T>; F]| {
                for offset in 0..len {
                    let side = Side { cell: start + offset, at: [i + offset, at[1], at[2]], axis, high };
                    terms.iter_mut().zip(boundary(&side)).for_each(|(terms, term)| terms[offset] = term);
                }
            };
            let between = |first: usize, second: usize, high: bool, terms: &mut [Vec<T>; F]| {
                // A face between joined sides is the high side of its first cell.
                let wraps = !high && at[axis] == 0;
                let layer = if wraps { grid.n[axis] - 1 } else { at[axis] };
                let at = std::array::from_fn(|a| if a == axis { layer } else { at[a] });
                let run = FaceRun { first, second, len, axis, at, high: high || wraps };
                faces(&run, part(first, first, len), part(second, second, len), terms.each_mut().map(|terms| &mut terms[..len]));
            };
            match at[axis] {
                _ if axis == 1 && follows && self.in_place => {}
                _ if axis == 1 && follows => std::mem::swap(below, above),
                _ if grid.is_boundary_side(at, axis, false) => on_boundary(false, below),
                _ => between(grid.beside(start, at, axis, false), start, false, below),
            }
            if grid.is_boundary_side(at, axis, true) {
                on_boundary(true, above);
            } else if !(axis == 1 && with_next) {
                between(start, grid.beside(start, at, axis, true), true, above);
            }
        }
        self.in_place = with_next;
    }

    /// Calls `end` for the cells at both ends of rows inside the grid with the terms of the face
    /// there, low and high: of a boundary side, or of the face between joined ends. For kernels
    /// that buffer no values of cells.
    #[inline]
    pub fn each_end(
        &self,
        row: &Strip,
        faces: impl Fn(&FaceRun, [&[T]; C], [&[T]; C], [&mut [T]; F]),
        boundary: impl Fn(&Side) -> [T; F],
        mut end: impl FnMut(&Side, [Option<[T; F]>; 2]),
    ) {
        let grid = &self.grid;
        if !grid.joined[0] {
            row.low_ends(grid).for_each(|side| end(&side, [Some(boundary(&side)), None]));
            row.high_ends(grid).for_each(|side| end(&side, [None, Some(boundary(&side))]));
            return;
        }
        for (low, high) in row.low_ends(grid).zip(row.high_ends(grid)) {
            let run = FaceRun { first: high.cell, second: low.cell, len: 1, axis: 0, at: high.at, high: true };
            let mut terms = [T::default(); F];
            faces(&run, [&[]; C], [&[]; C], terms.each_mut().map(std::slice::from_mut));
            end(&low, [Some(terms), None]);
            end(&high, [None, Some(terms)]);
        }
    }

    /// Inputs of the last row together with the faces between it and the next row.
    ///
    /// # Panics
    /// If the grid has one axis.
    pub fn around(&mut self, row: &Strip) -> Around<'_, T, DIM, C, F> {
        let (start, len, stride) = (row.start, row.len, self.grid.stride[1]);
        let Sweep { cells, x, sides, .. } = self;
        let before = usize::from(row.at[0] > 0);
        let stored = |start: usize| -> [&[T]; C] {
            let of = position(cells, start - before);
            std::array::from_fn(|value| &cells[of].values[value][before..][..len])
        };
        let [second, others @ ..] = &mut sides[..] else { panic!("no second axis") };
        let [below, _] = second;
        let side = |number: usize, high: usize| {
            std::array::from_fn(|axis| match axis {
                0 => &x[number][high..][..len],
                1 => &[],
                _ => &others[axis - 2][high][number][..len],
            })
        };
        Around {
            low: std::array::from_fn(|number| side(number, 0)),
            high: std::array::from_fn(|number| side(number, 1)),
            between: below.each_mut().map(|terms| &mut terms[..len]),
            here: stored(start),
            next: stored(start + stride),
            faces: FaceRun { first: start, second: start + stride, len, axis: 1, at: row.at, high: true },
        }
    }

    /// Computes the needed rows of cells that are not buffered.
    fn make_cells(&mut self, wanted: &[usize; 5], len: usize, cells: impl Fn(Range<usize>, [&mut [T]; C])) {
        if C == 0 {
            return;
        }
        for &start in wanted {
            if self.cells.iter().any(|row| row.start == Some(start)) {
                continue;
            }
            // There are as many buffers as needed rows.
            if let Some(row) = self.cells.iter_mut().find(|row| row.start.is_none_or(|start| !wanted.contains(&start))) {
                cells(start..start + len, row.values.each_mut().map(|values| &mut values[..len]));
                row.start = Some(start);
            }
        }
    }

    /// Term `number` of the low sides of the cells of the row, for each axis.
    pub fn low(&self, number: usize) -> [&[T]; DIM] {
        let len = self.len;
        std::array::from_fn(|axis| if axis == 0 { &self.x[number][..len] } else { &self.sides[axis - 1][0][number][..len] })
    }

    /// Term `number` of their high sides.
    pub fn high(&self, number: usize) -> [&[T]; DIM] {
        let len = self.len;
        std::array::from_fn(|axis| if axis == 0 { &self.x[number][1..][..len] } else { &self.sides[axis - 1][1][number][..len] })
    }
}

/// Index of the buffered row that begins with a cell; 0 if no values are buffered.
fn position<T, const C: usize>(rows: &[Cells<T, C>], start: usize) -> usize {
    rows.iter().position(|row| row.start == Some(start)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use equelle_runtime::grid::Cartesian;

    use super::*;

    /// Sweeps all rows; returns how many cells, interior faces and boundary faces were evaluated.
    /// Rows are processed with the faces to the next row, where there is one, or without.
    fn swept<const DIM: usize>(n: [usize; 3], with_next: bool) -> [usize; 3] {
        let grid = CartesianGrid::new(&Cartesian { dim: DIM, n, spacing: [1.0; 3], joined: [false; 3], place: None });
        let mut sweep = Sweep::<f64, DIM, 1, 1>::new(&grid);
        let counts = [(); 3].map(|()| Cell::new(0));
        let count = |what: usize, more: usize| counts[what].set(counts[what].get() + more);
        for row in strips(&grid, &(0..grid.n_cells()), MIN_STRIP) {
            let with_next = with_next && row.at[1] + 1 < n[1];
            sweep.advance(
                &row,
                with_next,
                |cells, [values]| {
                    count(0, cells.len());
                    cells.zip(values).for_each(|(cell, value)| *value = cell as f64);
                },
                |faces, [first], [second], [terms]| {
                    count(1, faces.len);
                    assert_eq!((first.len(), second.len(), terms.len()), (faces.len, faces.len, faces.len));
                    for i in 0..faces.len {
                        assert_eq!((first[i], second[i]), ((faces.first + i) as f64, (faces.second + i) as f64));
                        terms[i] = 1e3 * first[i] + second[i];
                    }
                },
                |side| {
                    count(2, 1);
                    assert_eq!(side.at[side.axis], if side.high { grid.n[side.axis] - 1 } else { 0 });
                    assert_eq!(side.at, grid.at(side.cell));
                    [-(side.cell as f64)]
                },
            );
            let term = |axis: usize, cell: usize, high: bool| {
                let (at, stride) = (grid.at(cell), grid.stride[axis]);
                let of = |first: usize| (1000 * first + first + stride) as f64;
                match high {
                    false if at[axis] > 0 => of(cell - stride),
                    true if at[axis] + 1 < n[axis] => of(cell),
                    false | true => -(cell as f64),
                }
            };
            let cells = row.start..row.start + row.len;
            if with_next {
                let Around { low, high, between, here, next, faces } = sweep.around(&row);
                count(1, faces.len);
                assert_eq!((faces.axis, faces.first, faces.second), (1, row.start, row.start + n[0]));
                for (i, cell) in cells.enumerate() {
                    for axis in (0..DIM).filter(|axis| *axis != 1) {
                        assert_eq!((low[0][axis][i], high[0][axis][i]), (term(axis, cell, false), term(axis, cell, true)), "{cell} {axis}");
                    }
                    assert_eq!((here[0][i], next[0][i]), (cell as f64, (cell + n[0]) as f64));
                    assert_eq!(between[0][i], term(1, cell, false), "{cell}");
                    between[0][i] = term(1, cell, true);
                }
                continue;
            }
            for axis in 0..DIM {
                for (i, cell) in cells.clone().enumerate() {
                    let (low, high) = (sweep.low(0)[axis][i], sweep.high(0)[axis][i]);
                    assert_eq!((low, high), (term(axis, cell, false), term(axis, cell, true)), "{cell} {axis}");
                }
            }
        }
        counts.map(Cell::into_inner)
    }

    #[test]
    fn rows_get_the_terms_of_their_faces() {
        for with_next in [false, true] {
            assert_eq!(swept::<1>([5, 1, 1], with_next), [5, 4, 2]);
            assert_eq!(swept::<1>([1, 1, 1], with_next), [1, 0, 2]);
            // Each row of cells once, 4 times 4 faces along rows, 3 times 5 between them.
            assert_eq!(swept::<2>([5, 4, 1], with_next), [20, 31, 18]);
            assert_eq!(swept::<2>([3, 1, 1], with_next), [3, 2, 8]);
        }
    }

    #[test]
    fn blocks_cover_the_grid_and_know_their_ends() {
        for (n, dim) in [([5, 9, 6], 3), ([2000, 4, 1], 2), ([1, 4, 4], 3), ([2, 3, 3], 3), ([40, 60, 1], 2), ([7, 1, 1], 1)] {
            let grid = CartesianGrid::new(&Cartesian { dim, n, spacing: [1.0; 3], joined: [false; 3], place: None });
            let mut seen = vec![0; grid.n_cells()];
            for block in blocks(&grid, &(0..grid.n_cells()), MIN_STRIP) {
                assert!(block.rows == 1 || block.inside && block.len == block.rows * n[0], "{block:?}");
                (block.start..block.start + block.len).for_each(|cell| seen[cell] += 1);
                let cells = block.start..block.start + block.len;
                let on_boundary = |high: bool| cells.clone().filter(move |&cell| grid.at(cell)[0] == if high { n[0] - 1 } else { 0 });
                for (sides, high) in [(block.low_ends(&grid).collect::<Vec<_>>(), false), (block.high_ends(&grid).collect(), true)] {
                    assert!(sides.iter().map(|side| side.cell).eq(on_boundary(high)), "{block:?} {high}");
                    assert!(sides.iter().all(|side| side.at == grid.at(side.cell) && side.axis == 0 && side.high == high));
                }
                if block.inside {
                    let boundary = |cell: usize| (1..dim).any(|axis| grid.at(cell)[axis] == 0 || grid.at(cell)[axis] + 1 == n[axis]);
                    assert!(!cells.clone().any(boundary) && block.start > 0 && block.start + block.len < grid.n_cells(), "{block:?}");
                }
            }
            assert!(seen.iter().all(|&times| times == 1), "{n:?}: {seen:?}");
        }
        let grid = CartesianGrid::new(&Cartesian { dim: 3, n: [100, 20, 3], spacing: [1.0; 3], joined: [false; 3], place: None });
        assert_eq!(blocks(&grid, &(0..grid.n_cells()), MIN_STRIP).map(|block| block.rows).max(), Some(10), "of 18 rows inside a slab");
    }

    #[test]
    fn long_rows_are_cut() {
        for with_next in [false, true] {
            // Two strips: 3 rows of 2000 cells, and two cells and their face once more where the
            // strips meet.
            assert_eq!(swept::<2>([2000, 3, 1], with_next), [3 * (2000 + 2), 3 * (1999 + 1) + 2 * 2000, 3 * 2 + 2 * 2000]);
        }
    }

    #[test]
    fn the_more_waits_the_narrower_are_strips() {
        let widest = |n: usize| {
            let grid = CartesianGrid::new(&Cartesian { dim: 2, n: [n, 1, 1], spacing: [1.0; 3], joined: [false; 3], place: None });
            let most = |strips: &mut dyn Iterator<Item = Strip>| strips.map(|strip| strip.len).max();
            let (few, many) = (Sweep::<f64, 2, 10, 3>::new(&grid), Sweep::<f64, 2, 100, 3>::new(&grid));
            [most(&mut few.strips(&(0..n))), most(&mut many.strips(&(0..n)))].map(Option::unwrap_or_default)
        };
        // A cell buffers 8 bytes of two rows of 10 values and of 3 terms on three sides, 232 in
        // all: 2259 cells take half a MiB. With 200 values and 9 terms the minimum is 1024 cells.
        assert_eq!(widest(1000), [1000, 1000]);
        assert_eq!(widest(2259), [2259, 753]);
        assert_eq!(widest(2260), [1130, 754]);
    }

    #[test]
    fn faces_across_the_third_axis_are_evaluated_by_both_rows() {
        // 8 rows of 2 faces along them, 4 times 3 across the second axis, twice 12 across the
        // third.
        for with_next in [false, true] {
            let [_, faces, boundary] = swept::<3>([3, 4, 2], with_next);
            assert_eq!((faces, boundary), (16 + 18 + 24, 16 + 12 + 24));
        }
    }
}
