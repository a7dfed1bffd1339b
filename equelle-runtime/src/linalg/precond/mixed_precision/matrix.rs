//! Sparse matrices in single precision for products.

use std::ops::Range;

use crate::linalg::matrix::csr::Csr;
use crate::linalg::space::matrix_space::Shape;
use crate::linalg::space::traffic_counter::Stored;

/// Rows whose products are computed together; threads share rows at multiples of it.
const BLOCK: usize = 256;
/// Largest number of diagonals for storage by diagonals.
const MAX_DIAGONALS: usize = 9;
/// Least filled part of these diagonals.
const MIN_FILL: f64 = 0.7;

/// A sparse matrix in single precision.
#[derive(Debug)]
pub(in crate::linalg) struct F32Matrix {
    shape: Shape,
    entries: Entries,
}

#[derive(Debug)]
enum Entries {
    /// By rows (CSR): row pointers, columns, values. 8 bytes an entry and 4 a row.
    Rows(Vec<u32>, Vec<u32>, Vec<f32>),
    /// By diagonals: column minus row of each, ascending, and values `[blocks, diagonals, BLOCK]`,
    /// 0 where none is stored. 4 bytes an entry, no column index, and contiguous rows.
    Diagonals(Vec<isize>, Vec<f32>),
}

impl F32Matrix {
    /// Converts a matrix times a number.
    ///
    /// # Panics
    /// If it has more entries than 32 bits can count.
    pub fn new(matrix: &Csr, scale: f64) -> F32Matrix {
        let row_ptr = matrix.row_ptr().iter().map(|start| u32::try_from(*start).expect("as many entries as 32 bits count")).collect();
        let values = matrix.values().iter().map(|value| (value * scale) as f32).collect();
        F32Matrix { shape: shape(matrix), entries: Entries::Rows(row_ptr, matrix.col_idx().to_vec(), values) }
    }

    /// Converts a matrix by diagonals if it has few of them, as on a Cartesian grid, else by rows.
    ///
    /// # Panics
    /// If it has more entries than 32 bits can count.
    pub fn for_level(matrix: &Csr, scale: f64) -> F32Matrix {
        let Some(offsets) = diagonals(matrix) else { return F32Matrix::new(matrix, scale) };
        let n = matrix.n_rows();
        let mut values = vec![0.0f32; n.div_ceil(BLOCK) * offsets.len() * BLOCK];
        for row in 0..n {
            let (block, at) = (row / BLOCK, row % BLOCK);
            let mut next = 0;
            for (column, value) in matrix.row(row) {
                let offset = column as isize - row as isize;
                while offsets[next] < offset {
                    next += 1;
                }
                values[(block * offsets.len() + next) * BLOCK + at] = (value * scale) as f32;
            }
        }
        F32Matrix { shape: shape(matrix), entries: Entries::Diagonals(offsets, values) }
    }

    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// Its size and bytes.
    pub fn stored(&self) -> Stored {
        let bytes = match &self.entries {
            Entries::Rows(row_ptr, columns, values) => 4 * (row_ptr.len() - 1 + columns.len() + values.len()),
            Entries::Diagonals(_, values) => 4 * values.len(),
        };
        Stored { shape: self.shape, bytes: bytes as u64 }
    }

    pub fn is_by_diagonals(&self) -> bool {
        match self.entries {
            Entries::Diagonals(..) => true,
            Entries::Rows(..) => false,
        }
    }

    /// Entries of a row as (column, value), ascending, with the zeros that fill diagonals.
    pub fn row(&self, row: usize) -> impl Iterator<Item = (usize, f32)> + '_ {
        let (by_rows, by_diagonals) = match &self.entries {
            Entries::Rows(row_ptr, columns, values) => {
                let range = row_ptr[row] as usize..row_ptr[row + 1] as usize;
                (Some(columns[range.clone()].iter().zip(&values[range]).map(|(column, value)| (*column as usize, *value))), None)
            }
            Entries::Diagonals(offsets, values) => {
                let first = row / BLOCK * offsets.len() * BLOCK + row % BLOCK;
                let n = self.shape.columns;
                let places = offsets.iter().zip(values[first..].iter().step_by(BLOCK));
                let place = move |(offset, value): (&isize, &f32)| Some((row.checked_add_signed(*offset)?, *value));
                (None, Some(places.filter_map(place).filter(move |(column, _)| *column < n)))
            }
        };
        by_rows.into_iter().flatten().chain(by_diagonals.into_iter().flatten())
    }

    /// Calls `f` with consecutive ranges of `rows`, of at most [`BLOCK`], and the products of these
    /// rows with `x`, each summed in ascending column order.
    ///
    /// # Panics
    /// If `x` is not `[columns]`.
    pub fn products(&self, rows: Range<usize>, x: &[f32], mut f: impl FnMut(Range<usize>, &[f32])) {
        assert_eq!(x.len(), self.shape.columns, "a vector of the matrix's size");
        let mut sums = [0.0f32; BLOCK];
        let mut start = rows.start;
        while start < rows.end {
            let end = ((start / BLOCK + 1) * BLOCK).min(rows.end);
            let sums = &mut sums[..end - start];
            match &self.entries {
                Entries::Rows(row_ptr, columns, values) => {
                    let mut from = row_ptr[start] as usize;
                    for (sum, to) in sums.iter_mut().zip(&row_ptr[start + 1..=end]) {
                        let range = from..*to as usize;
                        from = range.end;
                        let mut own = 0.0;
                        for (column, value) in columns[range.clone()].iter().zip(&values[range]) {
                            own += value * x[*column as usize];
                        }
                        *sum = own;
                    }
                }
                Entries::Diagonals(offsets, values) => {
                    sums.fill(0.0);
                    let first = start / BLOCK * offsets.len() * BLOCK + start % BLOCK;
                    for (number, offset) in offsets.iter().enumerate() {
                        let values = &values[first + number * BLOCK..][..sums.len()];
                        add_diagonal(sums, values, x, start as isize + offset);
                    }
                }
            }
            f(start..end, sums);
            start = end;
        }
    }
}

/// Adds the products of a diagonal that begins in column `at` in the first row; `at` may lie
/// outside of the matrix.
fn add_diagonal(sums: &mut [f32], values: &[f32], x: &[f32], at: isize) {
    let from = (-at).clamp(0, sums.len() as isize) as usize;
    let to = (x.len() as isize - at).clamp(from as isize, sums.len() as isize) as usize;
    let Some(column) = from.checked_add_signed(at).filter(|_| from < to) else { return };
    let x = &x[column..column + (to - from)];
    for ((sum, value), x) in sums[from..to].iter_mut().zip(&values[from..to]).zip(x) {
        *sum += value * x;
    }
}

fn shape(matrix: &Csr) -> Shape {
    Shape { rows: matrix.n_rows(), columns: matrix.n_cols(), entries: matrix.n_entries(), fields: 1 }
}

/// Column minus row of all entries, ascending, if these are few.
fn diagonals(matrix: &Csr) -> Option<Vec<isize>> {
    let mut offsets: Vec<isize> = Vec::new();
    for row in 0..matrix.n_rows() {
        let mut next = 0;
        for (column, _) in matrix.row(row) {
            let offset = column as isize - row as isize;
            while offsets.get(next).is_some_and(|known| *known < offset) {
                next += 1;
            }
            if offsets.get(next) != Some(&offset) {
                if offsets.len() == MAX_DIAGONALS {
                    return None;
                }
                offsets.insert(next, offset);
            }
        }
    }
    let is_worth_it = matrix.n_entries() as f64 >= MIN_FILL * (offsets.len() * matrix.n_rows()) as f64;
    (is_worth_it && matrix.n_rows() == matrix.n_cols()).then_some(offsets)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Row by row, with the entries of the matrix.
    fn expected(matrix: &Csr, x: &[f32]) -> Vec<f32> {
        (0..matrix.n_rows()).map(|row| matrix.row(row).fold(0.0f32, |sum, (column, value)| sum + value as f32 * x[column])).collect()
    }

    /// Products of rows in ranges that begin at `starts`.
    fn made(matrix: &F32Matrix, x: &[f32], starts: &[usize]) -> Vec<f32> {
        let mut y = vec![f32::NAN; matrix.shape().rows];
        let ends = starts[1..].iter().copied().chain([y.len()]);
        for (start, end) in starts.iter().zip(ends.collect::<Vec<_>>()) {
            matrix.products(*start..end, x, |rows, products| y[rows].copy_from_slice(products));
        }
        y
    }

    /// Both storage formats give the same bits for any ranges of rows; entries are summed in the
    /// order of their columns.
    #[test]
    fn products_of_both_forms() {
        // A plate of cells, 40 wide.
        let (n, wide) = (1000usize, 40usize);
        let value = |a: usize, b: usize| 1.0 / (1.0 + (a * 7 + b * 3) as f64 % 11.0);
        let entries: Vec<(usize, usize, f64)> = (0..n)
            .flat_map(|row| {
                let beside = [(row % wide > 0).then(|| row - 1), (row % wide + 1 < wide).then_some(row + 1)];
                let across = [row.checked_sub(wide), Some(row + wide).filter(|column| *column < n)];
                beside.into_iter().chain(across).chain([Some(row)]).flatten().map(move |column| (row, column, value(row, column)))
            })
            .collect();
        let matrix = Csr::from_triplets(n, n, &entries).expect("legal");
        let x: Vec<f32> = (0..n).map(|k| ((k * 37 % 101) as f32 - 50.0) / 7.0).collect();
        let (rows, diagonals) = (F32Matrix::new(&matrix, 1.0), F32Matrix::for_level(&matrix, 1.0));
        assert!(!rows.is_by_diagonals() && diagonals.is_by_diagonals());
        let wanted = expected(&matrix, &x);
        for matrix in [&rows, &diagonals] {
            assert_eq!(made(matrix, &x, &[0]), wanted);
            assert_eq!(made(matrix, &x, &[0, 300, 301]), wanted);
            let again: Vec<f32> = (0..n).map(|row| matrix.row(row).fold(0.0, |sum, (column, value)| sum + value * x[column])).collect();
            assert_eq!(again, wanted);
        }
    }

    #[test]
    fn few_diagonals_and_many() {
        let dense: Vec<_> = (0..12).flat_map(|i| (0..12).map(move |j| (i, j, 1.0))).collect();
        assert!(!F32Matrix::for_level(&Csr::from_triplets(12, 12, &dense).expect("legal"), 1.0).is_by_diagonals(), "23 diagonals");
        let corners = [(0, 11, 1.0), (11, 0, 1.0)];
        assert!(!F32Matrix::for_level(&Csr::from_triplets(12, 12, &corners).expect("legal"), 1.0).is_by_diagonals(), "nearly empty");
        let scaled = F32Matrix::for_level(&Csr::from_triplets(1, 1, &[(0, 0, 3.0)]).expect("legal"), 0.5);
        assert_eq!((made(&scaled, &[2.0], &[0]), scaled.is_by_diagonals()), (vec![3.0], true));
    }
}
