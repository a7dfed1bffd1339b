//! Sparse matrices.

use equelle_runtime::linalg::{Csr, CsrError, Symmetry};

use crate::common::{Random, dense, triplets};

#[test]
fn checks() {
    let new = |row_ptr: &[usize], col_idx: &[u32], n: usize| Csr::new(2, 2, row_ptr.to_vec(), col_idx.to_vec(), vec![1.0; n]).err();
    assert_eq!(new(&[0, 1, 3], &[0, 0, 1], 3), None);
    assert_eq!(new(&[0, 1, 3], &[0, 0, 1], 2), Some(CsrError::Lengths));
    assert_eq!(new(&[0, 3], &[0, 0, 1], 3), Some(CsrError::RowPointers));
    assert_eq!(new(&[1, 1, 3], &[0, 0, 1], 3), Some(CsrError::RowPointers));
    assert_eq!(new(&[0, 4, 3], &[0, 0, 1], 3), Some(CsrError::RowPointers));
    assert_eq!(new(&[0, 1, 2], &[0, 0, 1], 3), Some(CsrError::RowPointers));
    assert_eq!(new(&[0, 1, 3], &[0, 0, 2], 3), Some(CsrError::ColumnOutOfRange(1)));
    assert_eq!(new(&[0, 1, 3], &[0, 1, 0], 3), Some(CsrError::ColumnsNotAscending(1)));
    assert_eq!(new(&[0, 1, 3], &[0, 1, 1], 3), Some(CsrError::ColumnsNotAscending(1)));
    assert_eq!(Csr::new(0, 0, vec![], vec![], vec![]).err(), Some(CsrError::RowPointers));
    assert_eq!(Csr::from_triplets(2, 2, &[(0, 2, 1.0)]).err(), Some(CsrError::ColumnOutOfRange(0)));
    assert_eq!(Csr::from_triplets(2, 2, &[(2, 0, 1.0)]).err(), Some(CsrError::ColumnOutOfRange(2)));
}

#[test]
fn products_and_entries() {
    // Rows 0 and 3 are empty; (1, 2) is given twice.
    let matrix = Csr::from_triplets(4, 3, &[(1, 2, 1.0), (2, 0, 5.0), (1, 0, 2.0), (1, 2, 3.0)]).unwrap();
    assert_eq!(matrix.row_ptr(), [0, 0, 2, 3, 3]);
    assert_eq!(matrix.col_idx(), [0, 2, 0]);
    assert_eq!(matrix.values(), [2.0, 4.0, 5.0]);
    assert_eq!(matrix.mul(&[1.0, 10.0, 100.0]), [0.0, 402.0, 5.0, 0.0]);
    assert_eq!(matrix.diagonal(), [0.0, 0.0, 0.0]);
    assert_eq!((matrix.entry(1, 2), matrix.entry(1, 1), matrix.entry(9, 0)), (4.0, 0.0, 0.0));
    assert_eq!(dense([[2.0, 1.0], [0.0, 3.0]]).diagonal(), [2.0, 3.0]);
}

#[test]
fn symmetry_by_hand() {
    assert_eq!(dense([[2.0, 1.0], [1.0, 3.0]]).symmetry(0.0), Symmetry::Symmetric);
    assert_eq!(dense([[2.0, 1.0], [0.0, 3.0]]).symmetry(0.5), Symmetry::Structural { row: 0, column: 1 });
    assert_eq!(dense([[2.0, 0.0], [1.0, 3.0]]).symmetry(0.5), Symmetry::Structural { row: 1, column: 0 });
    assert_eq!(dense([[2.0, 1.0], [1.5, 3.0]]).symmetry(0.1), Symmetry::Numerical { row: 0, column: 1 });
    // 0.5 apart where the largest entry is 3.
    assert_eq!(dense([[2.0, 1.0], [1.5, 3.0]]).symmetry(0.2), Symmetry::Symmetric);
    // Stored zeros without a mirror place do not count.
    assert_eq!(triplets(2, &[(0, 0, 1.0), (0, 1, 0.0), (1, 1, 1.0)]).symmetry(0.0), Symmetry::Symmetric);
    assert_eq!(triplets(2, &[(0, 0, 1.0), (1, 0, 0.0), (1, 1, 1.0)]).symmetry(0.0), Symmetry::Symmetric);
    assert_eq!(Csr::from_triplets(1, 2, &[]).unwrap().symmetry(0.0), Symmetry::NotSquare);
}

#[test]
fn symmetry_agrees_with_a_search_for_each_mirror_entry() {
    let mut random = Random(1);
    let (mut symmetric, mut structural, mut numerical) = (0, 0, 0);
    for _ in 0..600 {
        let n = 1 + random.below(6);
        let mut entries = Vec::new();
        for _ in 0..random.below(2 * n) {
            let (i, j, value) = (random.below(n), random.below(n), (random.below(3)) as f64);
            entries.push((i, j, value));
            if random.below(4) != 0 && i != j {
                entries.push((j, i, if random.below(9) == 0 { value + 1.0 } else { value }));
            }
        }
        let matrix = triplets(n, &entries);
        let is_zero = |i: usize, j: usize| matrix.entry(i, j) == 0.0;
        let is_stored = |i: usize, j: usize| matrix.row(i).any(|(column, _)| column == j);
        let pairs = || (0..n).flat_map(|i| (0..n).map(move |j| (i, j)));
        let has_structural = pairs().any(|(i, j)| !is_zero(i, j) && !is_stored(j, i));
        let has_numerical = pairs().any(|(i, j)| matrix.entry(i, j) != matrix.entry(j, i));
        match matrix.symmetry(0.0) {
            Symmetry::Symmetric => {
                assert!(!has_numerical, "{matrix:?}");
                symmetric += 1;
            }
            Symmetry::Structural { row, column } => {
                assert!(has_structural && !is_zero(row, column) && !is_stored(column, row), "{matrix:?}");
                structural += 1;
            }
            Symmetry::Numerical { row, column } => {
                assert!(!has_structural && matrix.entry(row, column) != matrix.entry(column, row), "{matrix:?}");
                numerical += 1;
            }
            Symmetry::NotSquare => unreachable!("square"),
        }
    }
    assert!(symmetric > 50 && structural > 50 && numerical > 10, "{symmetric} {structural} {numerical}");
}
