//! Strong couplings and aggregates.
//!
//! P. Vanek, J. Mandel and M. Brezina, Algebraic multigrid by smoothed aggregation for second and
//! fourth order elliptic problems, Computing 56 (1996), doi:10.1007/BF02238511. Diagonally dominant
//! rows are left to the smoother: Y. Notay, An aggregation-based algebraic multigrid method,
//! Electron. Trans. Numer. Anal. 37 (2010).

use std::borrow::Cow;

use super::Grouping;
use crate::linalg::matrix::csr::Csr;

/// The group of an unknown that is in no group.
pub(in crate::linalg) const NONE: u32 = u32::MAX;

/// A row whose diagonal is this many times the sum of its other magnitudes needs no coarse grid:
/// damped Jacobi reduces its error by at least 2/3 a sweep.
const DOMINANT: f64 = 3.0;

/// The matrix without weak couplings.
pub(in crate::linalg) struct StrongCouplings<'m> {
    /// Strong off-diagonal entries and the diagonal, to which the weak entries of the row are
    /// added; couplings between fields are dropped.
    pub filtered: Cow<'m, Csr>,
    /// Rows that are diagonally dominant and need no coarse grid.
    pub is_dominant: Vec<bool>,
}

/// Sizes of couplings of unknowns.
#[derive(Clone, Debug, Default)]
pub(in crate::linalg) struct Couplings {
    /// The largest coupling of each row within its own field.
    pub size: Vec<f64>,
    /// Rows that are diagonally dominant.
    pub is_dominant: Vec<bool>,
}

impl Couplings {
    /// Those of the rows of a matrix. `field` is the field of each column, the first of which are
    /// those of the rows; empty for one field.
    pub fn new(matrix: &Csr, field: &[u8]) -> Couplings {
        let n = matrix.n_rows();
        let mut size = vec![0.0f64; n];
        let mut is_dominant = vec![false; n];
        for row in 0..n {
            let (mut diagonal, mut sum) = (0.0f64, 0.0f64);
            for (column, value) in matrix.row(row) {
                if column == row {
                    diagonal = value.abs();
                } else if field.is_empty() || field[row] == field[column] {
                    size[row] = size[row].max(value.abs());
                    sum += value.abs();
                }
            }
            is_dominant[row] = diagonal > DOMINANT * sum;
        }
        Couplings { size, is_dominant }
    }
}

/// Couplings with `|a_ij| > theta sqrt(s_i s_j)` are strong, where `s` is the largest coupling of a
/// row within its own field. `field` is the field of each unknown; empty for one field. `measure`
/// is the matrix itself, or for a nonsymmetric one the mean of the magnitudes of it and its
/// transpose on its pattern. `couplings` are those of all columns, of which the first are those of
/// the rows.
pub(in crate::linalg) fn strong<'m>(matrix: &'m Csr, measure: &Csr, field: &[u8], couplings: Couplings, theta: f64) -> StrongCouplings<'m> {
    let n = matrix.n_rows();
    let same = |i: usize, j: usize| field.is_empty() || field[i] == field[j];
    let Couplings { size, is_dominant } = couplings;
    let is_strong = |row: usize, column: usize, measured: f64| {
        let are_both = !is_dominant[row] && !is_dominant[column];
        are_both && same(row, column) && measured * measured > theta * theta * size[row] * size[column]
    };
    let whole = |row: usize| {
        let (mut all, mut has_diagonal) = (true, false);
        for (column, measured) in measure.row(row) {
            has_diagonal |= column == row;
            all &= column == row || is_strong(row, column, measured);
        }
        all && has_diagonal
    };
    if (0..n).all(whole) {
        return StrongCouplings { filtered: Cow::Borrowed(matrix), is_dominant };
    }
    let entries = matrix.n_entries();
    let (mut row_ptr, mut col_idx, mut values) = (Vec::with_capacity(n + 1), Vec::with_capacity(entries), Vec::with_capacity(entries));
    row_ptr.push(0);
    for row in 0..n {
        let start = col_idx.len();
        let mut diagonal = 0.0;
        let mut at_diagonal = None;
        for ((column, value), (_, measured)) in matrix.row(row).zip(measure.row(row)) {
            if column > row && at_diagonal.is_none() {
                at_diagonal = Some(col_idx.len());
                col_idx.push(row as u32);
                values.push(0.0);
            }
            if column == row {
                diagonal += value;
            } else if same(row, column) {
                if is_strong(row, column, measured) {
                    col_idx.push(column as u32);
                    values.push(value);
                } else {
                    diagonal += value;
                }
            }
        }
        let at = at_diagonal.unwrap_or_else(|| {
            col_idx.push(row as u32);
            values.push(0.0);
            col_idx.len() - 1
        });
        debug_assert!(at >= start);
        values[at] = diagonal;
        row_ptr.push(col_idx.len());
    }
    StrongCouplings { filtered: Cow::Owned(Csr::from_valid(n, matrix.n_cols(), row_ptr, col_idx, values)), is_dominant }
}

/// Position of a row in the order of [`Grouping::Scattered`], before rows with larger numbers: a
/// bijection that mixes the bits of the row number (finaliser of MurmurHash3, A. Appleby).
pub fn scattered(row: u32) -> u32 {
    let mut mixed = row;
    mixed = (mixed ^ mixed >> 16).wrapping_mul(0x85eb_ca6b);
    mixed = (mixed ^ mixed >> 13).wrapping_mul(0xc2b2_ae35);
    mixed ^ mixed >> 16
}

/// Aggregates of strongly coupled unknowns: the group of each unknown, or [`NONE`], and the number
/// of groups. The result depends on the matrix alone.
///
/// In a fixed order, rows whose neighbourhoods are free become roots of groups: a maximal set of
/// disjoint neighbourhoods, which can be computed in parallel as well (N. Bell, S. Dalton and L.
/// Olson, Exposing fine-grained parallelism in algebraic multigrid methods, SIAM J. Sci. Comput. 34
/// (2012), doi:10.1137/110838844). Rows that are `cut` have strong couplings elsewhere: they come
/// after all others, since half a neighbourhood is a poor group.
pub(in crate::linalg) fn aggregate(strong: &StrongCouplings<'_>, grouping: Grouping, cut: &[bool]) -> (Vec<u32>, usize) {
    let graph = &strong.filtered;
    let n = graph.n_rows();
    let neighbours = |row: usize| graph.row(row).filter(move |(column, _)| *column != row);
    // Whole neighbourhoods, identified by their roots.
    let mut root = vec![NONE; n];
    let mut begin = |row: usize| {
        if root[row] == NONE && neighbours(row).next().is_some() && neighbours(row).all(|(column, _)| root[column] == NONE) {
            root[row] = row as u32;
            neighbours(row).for_each(|(column, _)| root[column] = row as u32);
        }
    };
    let is_cut = |row: &usize| cut.get(*row) == Some(&true);
    match grouping {
        Grouping::InOrder => {
            (0..n).filter(|row| !is_cut(row)).for_each(&mut begin);
            (0..n).filter(is_cut).for_each(begin);
        }
        Grouping::Scattered => {
            let mut order: Vec<usize> = (0..n).collect();
            order.sort_unstable_by_key(|&row| (is_cut(&row), scattered(row as u32)));
            order.into_iter().for_each(begin);
        }
    }
    let mut count = 0u32;
    let mut number = vec![NONE; n];
    for (row, number) in number.iter_mut().enumerate().filter(|(row, _)| root[*row] == *row as u32) {
        debug_assert!(root[row] != NONE);
        *number = count;
        count += 1;
    }
    let mut group: Vec<u32> = root.iter().map(|&root| if root == NONE { NONE } else { number[root as usize] }).collect();
    // The rest joins its strongest neighbour, the first of several.
    let first = group.clone();
    for (row, own) in group.iter_mut().enumerate() {
        if *own == NONE {
            let joined = neighbours(row)
                .filter(|(column, _)| first[*column] != NONE)
                .fold((NONE, 0.0f64), |most, (column, value)| if value.abs() > most.1 { (first[column], value.abs()) } else { most });
            *own = joined.0;
        }
    }
    // Unknowns without such a neighbour. A row with weak couplings only becomes a group: without it
    // no coarse correction could be smooth across it.
    for row in 0..n {
        if group[row] != NONE || strong.is_dominant[row] {
            continue;
        }
        group[row] = count;
        for (column, _) in neighbours(row) {
            if group[column] == NONE {
                group[column] = count;
            }
        }
        count += 1;
    }
    (group, count as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matrix(n: usize, entries: &[(usize, usize, f64)]) -> Csr {
        Csr::from_triplets(n, n, entries).expect("legal")
    }

    fn strong_couplings<'m>(matrix: &'m Csr, field: &[u8], theta: f64) -> StrongCouplings<'m> {
        strong(matrix, matrix, field, Couplings::new(matrix, field), theta)
    }

    /// Four unknowns in a row. The largest couplings are 1/16, and that in the middle is a quarter
    /// of them, which is not more than a quarter.
    #[test]
    fn weak_couplings_are_added_to_the_diagonal() {
        let (d, a, weak) = (0.125, -0.0625, -0.015625);
        let both = |i, j, value| [(i, j, value), (j, i, value)];
        let diagonal = (0..4).map(|i| (i, i, d));
        let entries: Vec<_> = diagonal.chain(both(0, 1, a)).chain(both(1, 2, weak)).chain(both(2, 3, a)).collect();
        let row = matrix(4, &entries);
        let found = strong_couplings(&row, &[], 0.25);
        let left: Vec<_> = (0..4).map(|i| found.filtered.row(i).collect::<Vec<_>>()).collect();
        let middle = d + weak;
        assert_eq!(left, [vec![(0, d), (1, a)], vec![(0, a), (1, middle)], vec![(2, middle), (3, a)], vec![(2, a), (3, d)]]);
        assert_eq!(found.is_dominant, [false; 4]);
        assert_eq!(aggregate(&found, Grouping::InOrder, &[]), (vec![0, 0, 1, 1], 2));
        // Below a quarter all are strong, and the matrix is taken as it is.
        assert!(matches!(strong_couplings(&row, &[], 0.249).filtered, Cow::Borrowed(_)));
        // Between two fields they are dropped, and added to nothing.
        let fields = strong_couplings(&row, &[0, 0, 1, 1], 0.25).filtered.into_owned();
        assert_eq!(fields.diagonal(), [d, d, d, d]);
        assert_eq!((fields.n_entries(), fields.row(1).next()), (8, Some((0, a))));
    }

    /// Smoothers divide by the diagonal: a row that lacks one gets it, though none is weak.
    #[test]
    fn each_row_has_a_diagonal() {
        for missing in [0, 1] {
            let held = 1 - missing;
            let lacking = matrix(2, &[(held, held, 1.0), (0, 1, -1.0), (1, 0, -1.0)]);
            let found = strong_couplings(&lacking, &[], 0.1).filtered.into_owned();
            assert_eq!(found.n_entries(), 4);
            assert_eq!((found.diagonal()[missing], found.diagonal()[held]), (0.0, 1.0));
        }
    }

    /// A coupling of zero, which a nonsymmetric matrix may store, joins nothing: the last unknown
    /// becomes a group and leaves its neighbour where it is. Nor does a dominant row become one.
    #[test]
    fn what_joins_no_group_takes_none_away() {
        let graph = matrix(4, &[(0, 0, 2.0), (0, 1, -1.0), (1, 0, -1.0), (1, 1, 2.0), (2, 1, 0.0), (2, 2, 2.0), (3, 3, 2.0)]);
        let strong = StrongCouplings { filtered: Cow::Owned(graph), is_dominant: vec![false, false, false, true] };
        assert_eq!(aggregate(&strong, Grouping::InOrder, &[]), (vec![0, 0, 1, NONE], 2));
    }
}
