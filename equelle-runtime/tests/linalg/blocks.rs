//! Matrices of blocks: the same numbers as in compressed rows, bit for bit.

use std::sync::Arc;

use equelle_runtime::linalg::driver::choose::MatrixProperties;
use equelle_runtime::linalg::null_space::NullSpace;
use equelle_runtime::linalg::precond::blocks::{BlockCsr, block_diagonal_inverse, inverse_of_block_diagonal};
use equelle_runtime::linalg::precond::cpr::{departure_from_elliptic, departure_of_blocks};
use equelle_runtime::linalg::space::host::HostSpace;
use equelle_runtime::linalg::space::matrix_space::{Direction, Shape};
use equelle_runtime::linalg::space::traffic::{Traffic, Written};
use equelle_runtime::linalg::{
    BlockMatrix, BlockPattern, Csr, CsrError, HostMatrix, LinearCache, LinearOptions, MatrixSpace, Method, Preconditioning, SparseRows,
    Symmetry, SystemSpace, refusal, solve_in,
};
use equelle_runtime::threads::{Threads, WORTH_SHARING};

use crate::common::{Random, triplets};
use crate::grids::Cells;

/// The matrix with zeros where a block of `k` fields has no entry, and with diagonal blocks.
fn filled(matrix: &Csr, k: usize) -> Csr {
    let n = matrix.n_rows() / k;
    let mut entries: Vec<(usize, usize, f64)> = Vec::new();
    let every = |row: usize, column: usize| (0..k * k).map(move |at| (at / k * n + row, at % k * n + column, 0.0));
    for row in 0..matrix.n_rows() {
        entries.extend(every(row % n, row % n));
        for (column, value) in matrix.row(row) {
            entries.push((row, column, value));
            entries.extend(every(row % n, column % n));
        }
    }
    triplets(k * n, &entries)
}

/// Random blocks for the neighbours on a line of `n` elements, with one far neighbour; symmetric
/// with `symmetric`.
fn random(k: usize, n: usize, symmetric: bool) -> Csr {
    let mut random = Random(11);
    let mut entries = Vec::new();
    for element in 0..n {
        for other in [element, element + 1, element + 37].into_iter().filter(|other| *other < n) {
            for at in 0..k * k {
                let value = random.number();
                let (row, column) = (at / k * n + element, at % k * n + other);
                if row == column {
                    entries.push((row, column, 8.0 + value));
                } else if symmetric && (element != other || row < column) {
                    entries.extend([(row, column, value), (column, row, value)]);
                } else if !symmetric {
                    entries.push((row, column, value));
                    entries.extend((other != element).then(|| (at / k * n + other, at % k * n + element, random.number())));
                }
            }
        }
    }
    triplets(k * n, &entries)
}

fn blocks(matrix: &Csr, k: usize) -> BlockMatrix {
    BlockMatrix::from_csr(matrix, k).expect("dense blocks")
}

fn bits(values: &[f64]) -> Vec<u64> {
    values.iter().map(|value| value.to_bits()).collect()
}

#[test]
fn blocks_by_hand() {
    // Two elements that depend on each other, two fields; then a pattern of the first element
    // alone.
    let rows = [[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0], [9.0, 10.0, 11.0, 12.0], [13.0, 14.0, 15.0, 16.0]];
    let pattern = Arc::new(BlockPattern::from_equations(&[(&[0, 4, 8][..], &[0, 1, 2, 3, 0, 1, 2, 3][..]); 2]).expect("dense blocks"));
    assert_eq!((pattern.k(), pattern.n(), pattern.row_ptr(), pattern.col_idx()), (2, 2, &[0, 2, 4][..], &[0, 1, 0, 1][..]));
    let values = vec![[rows[0], rows[1]].concat(), [rows[2], rows[3]].concat()];
    let matrix = BlockMatrix::with_pattern(Arc::clone(&pattern), values).expect("as many values as entries");
    // Equation 1 of element 0 by unknown 0 of both; the block of element 1 beside element 0.
    assert_eq!((matrix.derivatives(1, 0, 0), matrix.entry(3, 1)), (&[9.0, 10.0][..], 14.0));
    let mut block = [0.0; 4];
    matrix.block(1, 0, &mut block);
    assert_eq!(block, [2.0, 4.0, 10.0, 12.0]);
    let all: Vec<(usize, usize, f64)> = (0..16).map(|at| (at / 4, at % 4, rows[at / 4][at % 4])).collect();
    assert_eq!((matrix.rows(), matrix.clone().into_rows()), (&triplets(4, &all), triplets(4, &all)));
    assert_eq!(matrix.row(2).collect::<Vec<_>>(), [(0, 9.0), (1, 10.0), (2, 11.0), (3, 12.0)]);
    assert_eq!(matrix.scaled(-2.0).entry(0, 3), -8.0);
    assert_eq!(BlockCsr::of(&matrix), BlockCsr::new(matrix.rows(), 2));
    let short = BlockMatrix::with_pattern(Arc::clone(&pattern), vec![vec![0.0; 8], vec![0.0; 7]]);
    assert_eq!(short, Err(CsrError::Lengths));
    assert_eq!(BlockMatrix::with_pattern(pattern, vec![vec![0.0; 8]]), Err(CsrError::Lengths));
}

#[test]
fn what_is_no_matrix_of_dense_blocks() {
    let of = |rows: &[usize], columns: &[u32], other: &[u32]| BlockPattern::from_equations(&[(rows, columns), (rows, other)]);
    let full = &[0, 1, 2, 3, 0, 1, 2, 3];
    assert!(of(&[0, 4, 8], full, full).is_some());
    // Equations that differ; one unknown missing in a row; no diagonal block; columns beyond the
    // unknowns; other elements of the second unknown.
    assert_eq!(of(&[0, 4, 8], full, &[0, 1, 2, 3, 0, 1, 2, 9]), None);
    assert_eq!(of(&[0, 3, 7], &[0, 1, 2, 0, 1, 2, 3], &[0, 1, 2, 0, 1, 2, 3]), None);
    assert_eq!(of(&[0, 2, 4], &[1, 3, 1, 3], &[1, 3, 1, 3]), None);
    assert_eq!(of(&[0, 4, 6], &[0, 2, 4, 6, 1, 3], &[0, 2, 4, 6, 1, 3]), None);
    assert_eq!(of(&[0, 2, 4], &[0, 3, 1, 3], &[0, 3, 1, 3]), None);
    assert_eq!(of(&[0, 0, 2], &[1, 3], &[1, 3]), None, "a row without entries");
    assert_eq!(BlockPattern::from_equations(&[]), None);
    assert_eq!(BlockMatrix::from_csr(&Cells([3, 3, 3]).poisson(), 2), None, "27 rows are no pairs");
    assert_eq!(BlockMatrix::from_csr(&Cells([4, 3, 3]).poisson(), 2), None, "the halves of a grid");
    assert_eq!(BlockMatrix::from_csr(&triplets(2, &[]), 0), None);
}

#[test]
fn products_have_the_bits_of_compressed_rows() {
    for k in 1..=5 {
        // Long enough for loops over rows to be shared, and short.
        for n in [5, WORTH_SHARING + 77] {
            let matrix = random(k, n, false);
            let [x, y, b, d] = [1, 2, 3, 4].map(|seed| Random(seed).numbers(k * n));
            let (there, here) = (HostMatrix::from(matrix.clone()), HostMatrix::from(blocks(&matrix, k)));
            for threads in [1, 2, 3] {
                let mut space = HostSpace::on(&Threads::new(threads), k * n);
                let mut same = |operation: &dyn Fn(&mut HostSpace, &mut Vec<f64>, &HostMatrix)| {
                    let mut found = [y.clone(), y.clone()];
                    found.iter_mut().zip([&there, &here]).for_each(|(y, a)| operation(&mut space, y, a));
                    assert_eq!(bits(&found[0]), bits(&found[1]), "{k} fields, {n} elements, {threads} threads");
                };
                same(&|space, y, a| space.multiply(y, a, &x));
                same(&|space, y, a| space.multiply_add(y, a, &x));
                same(&|space, y, a| space.multiply_sub(y, a, &x));
                same(&|space, y, a| space.residual(y, &b, a, &x));
                same(&|space, y, a| space.gauss_seidel(y, a, &d, &b, Direction::Forward));
                same(&|space, y, a| space.gauss_seidel(y, a, &d, &b, Direction::Backward));
            }
        }
    }
    let empty = HostMatrix::from(blocks(&triplets(0, &[]), 2));
    HostSpace::new(0).multiply(&mut Vec::new(), &empty, &Vec::new());
}

#[test]
fn what_a_matrix_is_like() {
    let mut cases: Vec<(Csr, usize)> =
        (1..=3).flat_map(|k| [random(k, 60, true), random(k, 60, false)].map(|matrix| (matrix, k))).collect();
    cases.push((filled(&Cells([6, 5, 4]).two_phase(&vec![1.0; 120], 1e-2, 9), 2), 2));
    // Blocks on one side alone, which hold zeros or not; a closed level.
    cases.push((filled(&triplets(6, &[(0, 1, 0.0), (0, 0, 1.0), (3, 4, 2.0)]), 2), 2));
    cases.push((filled(&triplets(6, &[(0, 1, 1.0)]), 2), 2));
    let closed = Cells([4, 3, 2]).diffusion(|_, _, _| 1.0, [0.0; 3]);
    let twice = |row: usize| closed.row(row % 24).map(move |(column, value)| (row, row / 24 * 24 + column, value)).collect::<Vec<_>>();
    let two: Vec<(usize, usize, f64)> = (0..48).flat_map(twice).collect();
    cases.push((filled(&triplets(48, &two), 2), 2));
    // A little off symmetric: within the tolerance and beyond.
    for difference in [1e-12, 1e-6] {
        let mut nearly = random(2, 60, true);
        let last = nearly.n_entries() - 2;
        nearly.values_mut()[last] += difference;
        cases.push((nearly, 2));
    }
    let mut seen = Vec::new();
    for (number, (matrix, k)) in cases.iter().enumerate() {
        let (matrix, k) = (filled(matrix, *k), *k);
        let here = blocks(&matrix, k);
        let n = matrix.n_rows() / k;
        let ends: Vec<usize> = (1..=k).map(|field| field * n).collect();
        assert_eq!(here.rows(), &matrix, "case {number}");
        assert_eq!(MatrixProperties::new(&here, &ends, false), MatrixProperties::new(&matrix, &ends, false), "case {number}");
        let open = NullSpace::find_in_blocks(&matrix, &ends, f64::EPSILON);
        assert_eq!(NullSpace::find_in_blocks(&here, &ends, f64::EPSILON), open, "case {number}");
        assert_eq!(bits(&departure_of_blocks(&here)), bits(&departure_from_elliptic(&matrix, k)), "case {number}");
        assert_eq!(BlockCsr::of(&here), BlockCsr::new(&matrix, k), "case {number}");
        for (row, columns) in [(0, 0..n), (n - 1, n / 2..k * n), (k * n - 1, 1..k * n - 1), (0, 3..3)] {
            let [found, expected] = [here.row_within(row, columns.clone()).collect::<Vec<_>>(), matrix.row_within(row, columns).collect()];
            assert_eq!(found, expected, "case {number}, row {row}");
        }
        assert_eq!(inverse_of_block_diagonal(&here), block_diagonal_inverse(&matrix, k), "case {number}");
        seen.push((std::mem::discriminant(&matrix.symmetry(1e-10)), open.is_empty()));
    }
    // The cases tell what they should: symmetric or not in either way, and open.
    for symmetry in [Symmetry::Symmetric, Symmetry::Structural { row: 0, column: 0 }, Symmetry::Numerical { row: 0, column: 0 }] {
        assert!(seen.iter().any(|(seen, _)| *seen == std::mem::discriminant(&symmetry)), "{symmetry:?}");
    }
    assert!(seen.iter().any(|(_, is_closed)| !is_closed));

    let mut broken = filled(&random(2, 6, true), 2);
    let last = broken.n_entries() - 1;
    broken.values_mut()[last] = f64::NAN;
    let mut space = HostSpace::new(12);
    let Ok(found) = space.inspect(&blocks(&broken, 2).into(), &[6, 12], f64::EPSILON);
    assert_eq!(found.not_finite.map(|(row, column, value)| (row, column, value.is_nan())), Some((11, 11, true)));
}

#[test]
fn solutions_have_the_bits_of_compressed_rows() {
    let cells = Cells([9, 8, 7]);
    let n = cells.count();
    let two_phase = filled(&cells.two_phase(&vec![1.0; n], 1e-2, 9), 2);
    let definite = filled(&random(2, n, true), 2);
    for (matrix, name) in [(&two_phase, "two-phase"), (&definite, "definite"), (&definite.scaled(-1.0), "negative definite")] {
        let b = matrix.mul(&Random(2).numbers(2 * n));
        let solved = |matrix: HostMatrix, options: &LinearOptions| {
            let mut cache = LinearCache::default();
            // Twice, with what is kept from the first time.
            [(); 2].map(|()| {
                let mut space = HostSpace::on(&options.threads, 2 * n);
                let Ok(solved) = solve_in(&mut space, &matrix, &[n, 2 * n], b.clone(), options, &mut cache);
                solved.map(|mut solution| (bits(&std::mem::take(&mut solution.x)), solution)).map_err(|error| error.to_string())
            })
        };
        let mut tried = 0;
        let chosen = Method::ALL.into_iter().flat_map(|method| Preconditioning::ALL.map(|preconditioner| Some((method, preconditioner))));
        for choice in chosen.chain([None]) {
            let (method, preconditioner) = (choice.map(|choice| choice.0), choice.map(|choice| choice.1));
            if choice.is_some_and(|(method, preconditioner)| refusal(method, preconditioner).is_some()) {
                continue;
            }
            tried += 1;
            let options =
                LinearOptions { method, preconditioner, threads: Threads::new(2), max_iterations: 200, ..LinearOptions::default() };
            let here = solved(blocks(matrix, 2).into(), &options);
            assert_eq!(here, solved(matrix.clone().into(), &options), "{name}: {choice:?}");
        }
        assert!(tried > 15, "{tried}");
    }
}

#[test]
fn a_block_has_one_column() {
    let shape = |fields: usize| Shape { rows: 2000, columns: 2000, entries: 4 * 7000, fields };
    let mut traffic = Traffic::new(2000, Written::Unread);
    traffic.multiply(&mut 2000, &shape(2).into(), &2000);
    // 8 bytes an entry, 4 a block; what is read and written, and where an element begins.
    assert_eq!(traffic.take(), 8 * 28_000 + 4 * 7000 + 16 * 2000 + 8 * 1000);
    traffic.multiply(&mut 2000, &shape(1).into(), &2000);
    assert_eq!(traffic.take(), 12 * 28_000 + 24 * 2000);
}
