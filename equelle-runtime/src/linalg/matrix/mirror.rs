//! Mirrored entries of a sparse matrix: of the entry in row i and column j, that in row j and
//! column i.

use crate::threads::BLOCK;

/// Positions of the mirrored entries of a pattern in which each entry has one. Found once for a
/// pattern, so that values are compared in one pass.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mirror {
    /// For each entry right of the diagonal, in order, the position of the mirrored one.
    of_right: Vec<u32>,
    /// The number of entries right of the diagonal in all rows before each block of [`BLOCK`] rows.
    before: Vec<usize>,
}

impl Mirror {
    /// From the compressed rows of a pattern. `None` if it is not square, an entry has no mirrored
    /// one, or there are too many for 32 bits.
    pub fn new(n_cols: usize, row_ptr: &[usize], col_idx: &[u32]) -> Option<Mirror> {
        let n = row_ptr.len().saturating_sub(1);
        if n != n_cols || u32::try_from(col_idx.len()).is_err() {
            return None;
        }
        // Rows that have column `j` left of their diagonal come in the order in which row `j` has
        // them, so one position for each row finds its entries left of the diagonal.
        let mut next: Vec<usize> = row_ptr[..n].to_vec();
        let mut of_right = Vec::with_capacity(col_idx.len() / 2);
        let mut before = Vec::with_capacity(n.div_ceil(BLOCK));
        for row in 0..n {
            if row.is_multiple_of(BLOCK) {
                before.push(of_right.len());
            }
            for &column in &col_idx[row_ptr[row]..row_ptr[row + 1]] {
                let column = column as usize;
                if column > row {
                    let at = next[column];
                    if at == row_ptr[column + 1] || col_idx[at] as usize != row {
                        return None;
                    }
                    next[column] += 1;
                    of_right.push(at as u32);
                }
            }
        }
        // All entries left of the diagonal have been met.
        let is_complete = (0..n).all(|row| next[row] == row_ptr[row + 1] || col_idx[next[row]] as usize >= row);
        is_complete.then_some(Mirror { of_right, before })
    }

    /// Positions of the mirrored entries of those right of the diagonal, from a block of rows on.
    ///
    /// # Panics
    /// If `row` does not begin a block of the matrix.
    pub fn from(&self, row: usize) -> &[u32] {
        assert!(row.is_multiple_of(BLOCK), "the first row of a block");
        &self.of_right[self.before[row / BLOCK]..]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::Csr;

    fn pattern(n: usize, places: &[(usize, usize)]) -> Csr {
        let entries: Vec<_> = places.iter().map(|&(row, column)| (row, column, 1.0)).collect();
        Csr::from_triplets(n, n, &entries).expect("legal")
    }

    fn mirror(matrix: &Csr) -> Option<Mirror> {
        Mirror::new(matrix.n_cols(), matrix.row_ptr(), matrix.col_idx())
    }

    #[test]
    fn mirrored_entries_are_found() {
        let places = [(0, 0), (0, 2), (0, 3), (1, 1), (1, 3), (2, 0), (3, 0), (3, 1), (3, 3)];
        let matrix = pattern(4, &places);
        let mirror = mirror(&matrix).expect("symmetric");
        assert_eq!(mirror.from(0), [5, 6, 7]);
    }

    #[test]
    fn each_entry_needs_a_mirrored_one() {
        for places in [&[(0, 1)][..], &[(1, 0)], &[(0, 0), (2, 1), (1, 1)], &[(0, 2), (2, 0), (2, 1)], &[(2, 0), (2, 1), (1, 2)]] {
            assert_eq!(mirror(&pattern(3, places)), None, "{places:?}");
        }
        assert!(mirror(&pattern(3, &[])).is_some());
        assert_eq!(mirror(&Csr::from_triplets(2, 3, &[]).expect("legal")), None);
    }

    /// Blocks of rows begin where the entries of the rows before them end.
    #[test]
    fn blocks_of_rows_have_their_own_entries() {
        let n = 2 * BLOCK + 100;
        let places: Vec<_> = (0..n).flat_map(|row| [(row, row), (row, (row + 1) % n), ((row + 1) % n, row)]).collect();
        let matrix = pattern(n, &places);
        let mirror = mirror(&matrix).expect("symmetric");
        for block in [0, BLOCK, 2 * BLOCK] {
            let at = mirror.from(block)[0] as usize;
            let row = matrix.row_ptr().partition_point(|&start| start <= at) - 1;
            assert_eq!(matrix.col_idx()[at] as usize, block);
            assert_eq!(row, block + 1);
        }
    }
}
