//! Parallel orders of rows that depend on each other: levels and colours.
//!
//! Levels keep the order of dependent rows, so that a substitution gives the same bits as row by
//! row: E. Anderson and Y. Saad, Solving sparse triangular linear systems on parallel computers,
//! Int. J. High Speed Comput. 1 (1989), doi:10.1142/S0129053389000056. Colours reorder rows into
//! few groups: Y. Saad, Iterative Methods for Sparse Linear Systems, 2nd ed., SIAM, 2003, section
//! 12.4, doi:10.1137/1.9780898718003.

/// Values sorted by key, stably: the index of the first value of each of `count` keys, and the
/// values.
fn sorted(count: usize, pairs: impl Iterator<Item = (u32, u32)> + Clone) -> (Vec<usize>, Vec<u32>) {
    let mut starts = vec![0; count + 1];
    pairs.clone().for_each(|(key, _)| starts[key as usize + 1] += 1);
    (0..count).for_each(|key| starts[key + 1] += starts[key]);
    let mut next = starts.clone();
    let mut values = vec![0; starts[count]];
    for (key, value) in pairs {
        values[next[key as usize]] = value;
        next[key as usize] += 1;
    }
    (starts, values)
}

/// Groups of independent rows, ascending within a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schedule {
    rows: Vec<u32>,
    starts: Vec<usize>,
}

impl Schedule {
    /// From the group of each row.
    pub fn from_groups(groups: &[u32]) -> Schedule {
        let count = groups.iter().max().map_or(0, |&last| last as usize + 1);
        let (starts, rows) = sorted(count, groups.iter().copied().zip(0..));
        Schedule { rows, starts }
    }

    /// Levels of a square pattern: a row comes after all earlier rows that it is coupled to in
    /// either direction. Columns may be in any order. The levels in order suit a forward
    /// substitution and an incomplete factorisation, in reverse a backward substitution.
    pub fn levels(row_ptr: &[usize], col_idx: &[u32]) -> Schedule {
        let n = row_ptr.len() - 1;
        let mut levels = vec![0u32; n];
        for row in 0..n {
            let columns = &col_idx[row_ptr[row]..row_ptr[row + 1]];
            let before = columns.iter().filter(|&&column| (column as usize) < row);
            levels[row] = before.map(|&column| levels[column as usize] + 1).fold(levels[row], u32::max);
            for &column in columns.iter().filter(|&&column| column as usize > row) {
                levels[column as usize] = levels[column as usize].max(levels[row] + 1);
            }
        }
        Schedule::from_groups(&levels)
    }

    /// Colours of a square pattern: rows of a colour are not coupled. Each row takes the first
    /// colour without a neighbour, so there is at most one colour more than the largest number of
    /// neighbours.
    pub fn colours(row_ptr: &[usize], col_idx: &[u32]) -> Schedule {
        let n = row_ptr.len() - 1;
        let entries = (0..n).flat_map(|row| col_idx[row_ptr[row]..row_ptr[row + 1]].iter().map(move |&column| (column, row as u32)));
        let (back_ptr, back_idx) = sorted(n, entries);
        const NONE: u32 = u32::MAX;
        let mut colours = vec![NONE; n];
        // The last row with a neighbour of each colour.
        let mut met: Vec<u32> = Vec::new();
        for row in 0..n {
            let neighbours = col_idx[row_ptr[row]..row_ptr[row + 1]].iter().chain(&back_idx[back_ptr[row]..back_ptr[row + 1]]);
            for &neighbour in neighbours {
                if let Some(met) = met.get_mut(colours[neighbour as usize] as usize) {
                    *met = row as u32;
                }
            }
            let free = met.iter().position(|&met| met != row as u32).unwrap_or_else(|| {
                met.push(NONE);
                met.len() - 1
            });
            colours[row] = free as u32;
        }
        Schedule::from_groups(&colours)
    }

    /// All rows, group by group: `[n]`.
    pub fn rows(&self) -> &[u32] {
        &self.rows
    }

    /// Index of the first row of each group in [`Schedule::rows`]: `[groups + 1]`.
    pub fn starts(&self) -> &[usize] {
        &self.starts
    }

    /// Number of groups.
    pub fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// True if there is no row.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The rows of a group, ascending.
    ///
    /// # Panics
    /// If there is no such group.
    pub fn group(&self, group: usize) -> &[u32] {
        &self.rows[self.starts[group]..self.starts[group + 1]]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows 0 - 1 - 2 in a line, and 3, which only row 1 is coupled to.
    const ROW_PTR: [usize; 5] = [0, 2, 6, 8, 9];
    const COL_IDX: [u32; 9] = [0, 1, 0, 1, 2, 3, 1, 2, 3];

    #[test]
    fn levels_follow_entries_of_both_triangles() {
        let levels = Schedule::levels(&ROW_PTR, &COL_IDX);
        assert_eq!((levels.rows(), levels.starts()), (&[0, 1, 2, 3][..], &[0, 1, 2, 4][..]));
        assert_eq!(levels.group(2), [2, 3]);
    }

    #[test]
    fn neighbours_differ_in_colour() {
        let colours = Schedule::colours(&ROW_PTR, &COL_IDX);
        assert_eq!((colours.rows(), colours.starts()), (&[0, 2, 3, 1][..], &[0, 3, 4][..]));
        // Only the diagonal; an empty pattern.
        assert_eq!(Schedule::colours(&[0, 1, 2], &[0, 1]).len(), 1);
        let nothing = Schedule::colours(&[0], &[]);
        assert!(nothing.is_empty() && Schedule::levels(&[0], &[]).is_empty());
    }
}
