//! Sparse matrices by diagonals (DIA), as those of Cartesian grids are: no columns, and products
//! that vectorise.

use std::ops::Range;
use std::sync::Arc;

use super::csr::{Csr, Pattern};
use crate::threads::{BLOCK, Columns, PerBlock, Threads};

/// Most diagonals: more than the neighbours of a cell in three dimensions.
const MAX_DIAGONALS: usize = 32;
/// Least number of rows: smaller matrices stay in the cache.
const MIN_ROWS: usize = 4 * BLOCK;
/// Most numbers by diagonals for an entry, so that they take no more memory than rows do: 12 bytes
/// against 8 for an entry.
const MAX_FILL_RATIO: f64 = 1.25;

/// Rows whose sums stay in registers.
const LANES: usize = 8;

/// Column minus row of each diagonal with entries, ascending.
pub type Offsets = Arc<[isize]>;

/// The diagonals of a square pattern if all entries lie on few of them. Cost: one pass.
pub fn offsets(pattern: &Pattern) -> Option<Offsets> {
    let (n, row_ptr) = (pattern.n_rows(), pattern.row_ptr());
    if n != pattern.n_cols() || n < MIN_ROWS {
        return None;
    }
    let mut found: Vec<isize> = Vec::with_capacity(MAX_DIAGONALS);
    for (row, ends) in row_ptr.windows(2).enumerate() {
        let mut at = 0;
        for &column in &pattern.col_idx()[ends[0]..ends[1]] {
            let offset = column as isize - row as isize;
            while found.get(at).is_some_and(|known| *known < offset) {
                at += 1;
            }
            if found.get(at) != Some(&offset) {
                if found.len() == MAX_DIAGONALS {
                    return None;
                }
                found.insert(at, offset);
            }
        }
    }
    (!found.is_empty() && (found.len() * n) as f64 <= MAX_FILL_RATIO * pattern.n_entries() as f64).then(|| found.into())
}

/// Values by diagonals.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Diagonals {
    n: usize,
    offsets: Vec<isize>,
    values: Stored,
}

/// Storage of the values; 0 where a row has no entry.
#[derive(Clone, Debug, PartialEq)]
enum Stored {
    /// For each [`BLOCK`] rows, and there for each [`LANES`] rows, their values on one diagonal
    /// after the other, so that a product reads one stream.
    All(Vec<Vec<[f64; LANES]>>),
    /// Where mirrored entries have the same bits: the diagonals of offset 0 and above, by row. A
    /// product reads those below again while they are in the cache. `[offsets / 2 + 1][n]`
    Mirrored(Vec<Vec<f64>>),
}

impl Default for Stored {
    fn default() -> Self {
        Stored::All(Vec::new())
    }
}

impl Diagonals {
    /// Takes the values of a matrix whose diagonals are [`offsets`]; reuses its memory. Where
    /// mirrored entries have the same bits (`is_mirrored`), only one of each two is stored. Cost:
    /// reads the entries and writes them once.
    pub fn fill(&mut self, threads: &Threads, a: &Csr, offsets: &[isize], is_mirrored: bool) {
        self.n = a.n_rows();
        self.offsets = offsets.to_vec();
        let is_symmetric = offsets.iter().zip(offsets.iter().rev()).all(|(low, high)| *low == -*high);
        if is_mirrored && is_symmetric && offsets.len() % 2 == 1 {
            let known = match std::mem::take(&mut self.values) {
                Stored::Mirrored(known) => known,
                Stored::All(_) => Vec::new(),
            };
            self.values = Stored::Mirrored(upper(known, threads, a, offsets));
        } else {
            let known = match std::mem::take(&mut self.values) {
                Stored::All(known) => known,
                Stored::Mirrored(_) => Vec::new(),
            };
            self.values = Stored::All(blocks(known, threads, a, offsets));
        }
    }

    /// Bytes of the values.
    pub fn bytes(&self) -> u64 {
        let numbers = match &self.values {
            Stored::All(blocks) => blocks.iter().map(|block| block.len() * LANES).sum::<usize>(),
            Stored::Mirrored(upper) => upper.iter().map(Vec::len).sum(),
        };
        8 * numbers as u64
    }

    /// `(A x)` of the rows of a block, each summed in ascending column order. The bits are those of
    /// compressed rows where `x` is finite. Memory traffic: 8 bytes an entry; where mirrored ones
    /// are the same, for the diagonal and the entries above.
    ///
    /// # Panics
    /// If `rows` is not a block of [`BLOCK`] rows, or the rest of the last one.
    pub fn product(&self, rows: Range<usize>, x: &[f64], out: &mut [f64]) {
        let (start, len, count) = (rows.start, rows.len(), self.offsets.len());
        let is_block = start.is_multiple_of(BLOCK) && len == BLOCK.min(self.n - start) && out.len() == len;
        assert!(is_block, "the rows of a block");
        // Rows whose columns all exist; the others are few and lie at both ends of the matrix.
        let lowest = self.offsets.first().map_or(0, |offset| (-offset).max(0) as usize);
        let highest = self.offsets.last().map_or(0, |offset| (*offset).max(0) as usize);
        let first = (lowest.clamp(start, start + len) - start).next_multiple_of(LANES).min(len);
        let end = self.n.saturating_sub(highest).clamp(start + first, start + len) - start;
        let end = first + (end - first) / LANES * LANES;
        if first < end {
            let out = &mut out[first..end];
            match &self.values {
                Stored::All(blocks) => {
                    let values = &blocks[start / BLOCK][count * (first / LANES)..count * (end / LANES)];
                    Inside { values, start: start + first, x }.product(&self.offsets, out);
                }
                Stored::Mirrored(upper) => InsideMirrored { upper, start: start + first, x }.product(&self.offsets, out),
            }
        }
        for row in (0..first).chain(end..len) {
            let mut sum = 0.0;
            for (number, &offset) in self.offsets.iter().enumerate() {
                if let Some(x) = (start + row).checked_add_signed(offset).and_then(|column| x.get(column)) {
                    sum += self.value(start + row, number) * x;
                }
            }
            out[row] = sum;
        }
    }

    /// The value of a row on a diagonal, whose column exists.
    fn value(&self, row: usize, number: usize) -> f64 {
        let middle = self.offsets.len() / 2;
        match &self.values {
            Stored::All(blocks) => blocks[row / BLOCK][row % BLOCK / LANES * self.offsets.len() + number][row % LANES],
            Stored::Mirrored(upper) if number < middle => upper[middle - number][row.wrapping_add_signed(self.offsets[number])],
            Stored::Mirrored(upper) => upper[number - middle][row],
        }
    }
}

/// All values, in memory of others.
fn blocks(mut blocks: Vec<Vec<[f64; LANES]>>, threads: &Threads, a: &Csr, offsets: &[isize]) -> Vec<Vec<[f64; LANES]>> {
    blocks.resize(a.n_rows().div_ceil(BLOCK), Vec::new());
    let (row_ptr, col_idx, entries) = (a.row_ptr(), a.col_idx(), a.values());
    threads.each(a.n_rows(), PerBlock(&mut blocks[..]), |range, PerBlock(blocks)| {
        for (start, values) in range.clone().step_by(BLOCK).zip(blocks) {
            let len = BLOCK.min(range.end - start);
            values.resize(offsets.len() * len.div_ceil(LANES), [0.0; LANES]);
            for (chunk, values) in values.chunks_exact_mut(offsets.len()).enumerate() {
                let rows = start + chunk * LANES..(start + (chunk + 1) * LANES).min(range.end);
                fill_lanes(values, rows, offsets, row_ptr, col_idx, entries);
            }
        }
    });
    blocks
}

/// The values on the diagonals of offset 0 and above, in memory of others.
fn upper(mut columns: Vec<Vec<f64>>, threads: &Threads, a: &Csr, offsets: &[isize]) -> Vec<Vec<f64>> {
    let middle = offsets.len() / 2;
    let above = &offsets[middle..];
    columns.resize(above.len(), Vec::new());
    columns.iter_mut().for_each(|column| column.resize(a.n_rows(), 0.0));
    let (row_ptr, col_idx, entries) = (a.row_ptr(), a.col_idx(), a.values());
    let parts = Columns(columns.iter_mut().map(|column| &mut column[..]).collect());
    threads.each(a.n_rows(), parts, |range, Columns(mut columns)| {
        for (local, row) in range.enumerate() {
            let own = row_ptr[row]..row_ptr[row + 1];
            if own.len() == offsets.len() {
                // Most rows have an entry on each diagonal.
                columns.iter_mut().zip(&entries[own.start + middle..own.end]).for_each(|(column, value)| column[local] = *value);
                continue;
            }
            columns.iter_mut().for_each(|column| column[local] = 0.0);
            let mut diagonal = 0;
            for (&column, &value) in col_idx[own.clone()].iter().zip(&entries[own]).filter(|(column, _)| **column as usize >= row) {
                let offset = column as isize - row as isize;
                while above[diagonal] < offset {
                    diagonal += 1;
                }
                columns[diagonal][local] = value;
            }
        }
    });
    columns
}

/// Sorts the entries of at most [`LANES`] rows by their diagonals.
fn fill_lanes(values: &mut [[f64; LANES]], rows: Range<usize>, offsets: &[isize], row_ptr: &[usize], col_idx: &[u32], entries: &[f64]) {
    for (lane, row) in rows.enumerate() {
        let own = row_ptr[row]..row_ptr[row + 1];
        // Most rows have an entry on each diagonal.
        let is_full = own.len() == offsets.len();
        if !is_full {
            values.iter_mut().for_each(|values| values[lane] = 0.0);
        }
        let mut diagonal = 0;
        for (&column, &value) in col_idx[own.clone()].iter().zip(&entries[own]) {
            if !is_full {
                let offset = column as isize - row as isize;
                while offsets[diagonal] < offset {
                    diagonal += 1;
                }
            }
            values[diagonal][lane] = value;
            diagonal += 1;
        }
    }
}

/// Rows whose columns all exist, a multiple of [`LANES`].
#[derive(Clone, Copy)]
struct Inside<'a> {
    values: &'a [[f64; LANES]],
    /// The first row.
    start: usize,
    x: &'a [f64],
}

impl Inside<'_> {
    fn product(self, offsets: &[isize], out: &mut [f64]) {
        let (rows, values) = (out.as_chunks_mut::<LANES>().0, self.values.chunks_exact(offsets.len()));
        for (k, (sums, values)) in rows.iter_mut().zip(values).enumerate() {
            let mut sum = [0.0; LANES];
            for (values, &offset) in values.iter().zip(offsets) {
                let column = (self.start + k * LANES).wrapping_add_signed(offset);
                sum.iter_mut().zip(values).zip(&self.x[column..column + LANES]).for_each(|((sum, value), x)| *sum += value * x);
            }
            *sums = sum;
        }
    }
}

/// Rows whose columns all exist, a multiple of [`LANES`], of a matrix whose mirrored entries are
/// the same.
#[derive(Clone, Copy)]
struct InsideMirrored<'a> {
    upper: &'a [Vec<f64>],
    /// The first row.
    start: usize,
    x: &'a [f64],
}

impl InsideMirrored<'_> {
    fn product(self, offsets: &[isize], out: &mut [f64]) {
        let (len, middle) = (out.len(), offsets.len() / 2);
        // Values and numbers of each diagonal, from the first row on.
        let mut sides = [(&[][..], &[][..]); MAX_DIAGONALS];
        for (number, (side, &offset)) in sides.iter_mut().zip(offsets).enumerate() {
            let column = self.start.wrapping_add_signed(offset);
            // The value of row i below the diagonal is that of its column above.
            let (values, from) =
                if number < middle { (&self.upper[middle - number], column) } else { (&self.upper[number - middle], self.start) };
            let of = |all: &'_ [f64], from: usize| -> std::ops::Range<usize> { from..(from + len).min(all.len()) };
            *side = (values[of(values, from)].as_chunks::<LANES>().0, self.x[of(self.x, column)].as_chunks::<LANES>().0);
        }
        for (k, sums) in out.as_chunks_mut::<LANES>().0.iter_mut().enumerate() {
            let mut sum = [0.0; LANES];
            for (values, x) in &sides[..offsets.len()] {
                sum.iter_mut().zip(&values[k]).zip(&x[k]).for_each(|((sum, value), x)| *sum += value * x);
            }
            *sums = sum;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The 7-point pattern of a box, with values of many digits, and some entries left out.
    fn seven_point_matrix(shape: [usize; 3]) -> Csr {
        let [nx, ny, nz] = shape;
        let n = nx * ny * nz;
        let mut entries = Vec::new();
        for row in 0..n {
            let at = [row % nx, row / nx % ny, row / (nx * ny)];
            for (axis, stride) in [1, nx, nx * ny].into_iter().enumerate() {
                let value = 1.0 / (3.0 + (row * 7 + axis) as f64);
                if at[axis] > 0 && row % 11 != 3 {
                    entries.push((row, row - stride, -value));
                }
                if at[axis] + 1 < shape[axis] {
                    entries.push((row, row + stride, value - 2.0));
                }
            }
            entries.push((row, row, 6.5 + (row as f64).sin()));
        }
        Csr::from_triplets(n, n, &entries).expect("legal")
    }

    /// Products by diagonals have the bits of products by rows, on blocks that are whole and cut.
    #[test]
    fn products_have_the_bits_of_rows() {
        for shape in [[16, 16, 16], [17, 19, 23], [2048, 4, 1], [5000, 1, 1], [1, 70, 70]] {
            let a = seven_point_matrix(shape);
            let found = offsets(a.pattern()).unwrap_or_else(|| panic!("{shape:?}"));
            let x: Vec<f64> = (0..a.n_rows()).map(|k| (k as f64 * 0.37).sin() * 1e3).collect();
            for threads in [1, 3] {
                let mut by_diagonals = Diagonals::default();
                by_diagonals.fill(&Threads::new(threads), &a, &found, false);
                let mut y = vec![f64::NAN; a.n_rows()];
                for (block, y) in y.chunks_mut(BLOCK).enumerate() {
                    by_diagonals.product(block * BLOCK..block * BLOCK + y.len(), &x, y);
                }
                let bits = |y: &[f64]| y.iter().map(|y| y.to_bits()).collect::<Vec<_>>();
                assert_eq!(bits(&y), bits(&a.mul(&x)), "{shape:?}");
                // Memory of another matrix is overwritten.
                let other =
                    Csr::with_pattern(Arc::clone(a.pattern()), a.values().iter().map(|value| 2.0 * value).collect()).expect("legal");
                by_diagonals.fill(&Threads::one(), &other, &found, false);
                let mut twice = vec![0.0; BLOCK];
                by_diagonals.product(0..BLOCK, &x, &mut twice);
                assert!(twice.iter().zip(&y).all(|(twice, y)| *twice == 2.0 * y));
            }
        }
    }

    /// So do those of matrices of which one of two mirrored entries is stored, with rows that lack
    /// entries, and zeros of both signs.
    #[test]
    fn products_of_mirrored_entries_have_the_bits_of_rows() {
        for shape in [[16, 16, 16], [17, 19, 23], [2048, 4, 1], [5000, 1, 1], [1, 70, 70]] {
            let [nx, ny, nz] = shape;
            let n = nx * ny * nz;
            let mut entries = Vec::new();
            for row in 0..n {
                let at = [row % nx, row / nx % ny, row / (nx * ny)];
                for (axis, stride) in [1, nx, nx * ny].into_iter().enumerate() {
                    if at[axis] + 1 < shape[axis] && row % 11 != 3 {
                        let value = if row % 13 == 5 { -0.0 } else { -1.0 / (3.0 + (row * 7 + axis) as f64) };
                        entries.extend([(row, row + stride, value), (row + stride, row, value)]);
                    }
                }
                entries.push((row, row, 6.5 + (row as f64).sin()));
            }
            let a = Csr::from_triplets(n, n, &entries).expect("legal");
            let found = offsets(a.pattern()).unwrap_or_else(|| panic!("{shape:?}"));
            let x: Vec<f64> = (0..n).map(|k| (k as f64 * 0.37).sin() * 1e3).collect();
            for threads in [1, 3] {
                let mut by_diagonals = Diagonals::default();
                // Memory of another form and of another matrix is given back or overwritten.
                by_diagonals.fill(&Threads::one(), &a, &found, false);
                by_diagonals.fill(&Threads::new(threads), &a.scaled(3.0), &found, true);
                by_diagonals.fill(&Threads::new(threads), &a, &found, true);
                assert!(matches!(by_diagonals.values, Stored::Mirrored(_)), "{shape:?}");
                let mut y = vec![f64::NAN; n];
                for (block, y) in y.chunks_mut(BLOCK).enumerate() {
                    by_diagonals.product(block * BLOCK..block * BLOCK + y.len(), &x, y);
                }
                let bits = |y: &[f64]| y.iter().map(|y| y.to_bits()).collect::<Vec<_>>();
                assert_eq!(bits(&y), bits(&a.mul(&x)), "{shape:?}");
            }
        }
    }

    #[test]
    fn other_patterns_have_no_diagonals() {
        let n = MIN_ROWS;
        let diagonal = |row| (row, row, 1.0);
        let scattered: Vec<_> = (0..n).flat_map(|row| [diagonal(row), (row, row * 7919 % n, 0.5)]).collect();
        assert_eq!(offsets(Csr::from_triplets(n, n, &scattered).expect("legal").pattern()), None);
        // One far entry in a row of a hundred is a diagonal of zeros.
        let sparse: Vec<_> = (0..n).map(diagonal).chain((0..n / 100).map(|row| (row, row + 200, 1.0))).collect();
        assert_eq!(offsets(Csr::from_triplets(n, n, &sparse).expect("legal").pattern()), None);
        let wide: Vec<_> = (0..n).map(diagonal).collect();
        assert_eq!(offsets(Csr::from_triplets(n, n + 1, &wide).expect("legal").pattern()), None);
        assert_eq!(offsets(Csr::from_triplets(n, n, &wide).expect("legal").pattern()).as_deref(), Some(&[0][..]));
        assert_eq!(offsets(Csr::from_triplets(n - 1, n - 1, &wide[..n - 1]).expect("legal").pattern()), None);
    }
}
