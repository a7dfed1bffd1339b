//! Several fields, one of which has an open level: pressure and saturation of flow between closed
//! boundaries.

use equelle_runtime::linalg::null_space::{LeftNullVector, NullSpace};
use equelle_runtime::linalg::{Csr, LinearCache, LinearErrorKind, LinearOptions, Method, Solution, solve_blocks};

use crate::common::{distance, neumann, options, relative_residual, triplets};

/// Where the equations of one matrix go: blocks of n rows and n columns, (row block, column block,
/// matrix, factor).
fn assemble(n: usize, parts: &[(usize, usize, &Csr, f64)]) -> Csr {
    let blocks = 1 + parts.iter().map(|part| part.0.max(part.1)).max().unwrap();
    let mut entries = Vec::new();
    for &(row_block, column_block, matrix, factor) in parts {
        for row in 0..n {
            entries.extend(matrix.row(row).map(|(column, value)| (row_block * n + row, column_block * n + column, factor * value)));
        }
    }
    triplets(blocks * n, &entries)
}

fn identity(n: usize) -> Csr {
    triplets(n, &(0..n).map(|row| (row, row, 1.0)).collect::<Vec<_>>())
}

fn attempt(matrix: &Csr, ends: &[usize], b: &[f64], options: &LinearOptions) -> Result<Solution, equelle_runtime::linalg::LinearError> {
    solve_blocks(matrix, ends, b, options, &mut LinearCache::default())
}

/// Solves for the `x` that made the right-hand side; the mean of its first field is 0.
fn check(matrix: &Csr, ends: &[usize], x: &[f64], methods: &[Method], what: &str) {
    let b = matrix.mul(x);
    for &method in methods {
        let solution = attempt(matrix, ends, &b, &LinearOptions { tolerance: 1e-12, ..options(method) });
        let solution = solution.unwrap_or_else(|error| panic!("{what}, {method:?}: {error}"));
        assert!(relative_residual(matrix, &b, &solution.x) <= 1.1e-12, "{what}, {method:?}");
        // Numbers near 1, condition numbers below 100.
        assert!(distance(&solution.x, x) < 1e-10, "{what}, {method:?}: {:?}", solution.x);
        assert!(solution.note.is_some_and(|note| note.contains("constant on 1 connected component")), "{what}");
    }
}

/// The flow equation and the transport equation of 2 x 2 cells: L p + 0.3 L s and 0.7 L p + s + 0.2
/// L s, in either order.
#[test]
fn the_level_of_one_field_is_open() {
    let n = 4;
    let (l, one) = (neumann(2, 2, || 1.0), identity(n));
    let x = [1.0, -2.0, 0.5, 0.5, 0.3, 0.1, 0.7, -0.4];
    for (flow, transport) in [(0, 1), (1, 0)] {
        let matrix = assemble(
            n,
            &[(flow, 0, &l, 1.0), (flow, 1, &l, 0.3), (transport, 0, &l, 0.7), (transport, 1, &one, 1.0), (transport, 1, &l, 0.2)],
        );
        let null_space = NullSpace::find_in_blocks(&matrix, &[n, 2 * n], f64::EPSILON);
        assert_eq!(null_space.components.len(), 1);
        assert_eq!(null_space.components[0].unknowns, [0, 1, 2, 3]);
        // The flow out of all cells is nothing.
        let rows: Vec<usize> = (flow * n..flow * n + n).collect();
        assert_eq!(null_space.components[0].left, Some(LeftNullVector { rows, weights: vec![1.0; 4] }));
        let methods: &[Method] = if flow == 0 { &[Method::Lu, Method::BiCgStab, Method::Gmres] } else { &[Method::Lu] };
        check(&matrix, &[n, 2 * n], &x, methods, &format!("flow in block {flow}"));

        let mut b = matrix.mul(&x);
        b[flow * n + 1] += 0.5;
        let error = attempt(&matrix, &[n, 2 * n], &b, &options(Method::Lu)).unwrap_err();
        let LinearErrorKind::Incompatible { imbalance } = error.kind else { panic!("{error}") };
        assert!((imbalance - 0.5).abs() < 1e-15, "{error}");
        // An imbalance in the other equation is no matter.
        b[flow * n + 1] -= 0.5;
        b[transport * n + 1] += 0.5;
        attempt(&matrix, &[n, 2 * n], &b, &options(Method::Lu)).unwrap_or_else(|error| panic!("{error}"));
    }
}

/// Balances of two phases over volumes v: water (0.4 L p + 0.5 L s) / v + s, oil (0.6 L p - 0.2 L
/// s) / v - s. Their sum times the volumes is a flow, which no single equation shows: the left null
/// vector is (v, v).
#[test]
fn all_equations_together_balance() {
    let n = 6;
    let (l, one) = (neumann(3, 2, || 1.0), identity(n));
    let volumes = [1.0, 2.0, 4.0, 1.0, 8.0, 2.0];
    let entries: Vec<_> = (0..n).flat_map(|i| l.row(i).map(|(j, value)| (i, j, value / volumes[i])).collect::<Vec<_>>()).collect();
    let l = triplets(n, &entries);
    let x = [1.0, -2.0, 0.5, 0.5, 1.0, -1.0, 0.3, 0.1, 0.7, -0.4, 0.2, 0.9];
    let matrix = assemble(n, &[(0, 0, &l, 0.4), (0, 1, &l, 0.5), (0, 1, &one, 1.0), (1, 0, &l, 0.6), (1, 1, &l, -0.2), (1, 1, &one, -1.0)]);
    let ends = [n, 2 * n];
    let null_space = NullSpace::find_in_blocks(&matrix, &ends, f64::EPSILON);
    assert!(null_space.components.len() == 1 && !null_space.is_known());
    check(&matrix, &ends, &x, &[Method::Lu], "two phases");

    let mut b = matrix.mul(&x);
    b[n + 1] += 1.0;
    let error = attempt(&matrix, &ends, &b, &options(Method::Lu)).unwrap_err();
    // The volumes divided by the largest: 2 / 8.
    let LinearErrorKind::Incompatible { imbalance } = error.kind else { panic!("{error}") };
    assert!((imbalance - 0.25).abs() < 1e-14, "{error}");
}

/// Cross-wise: field 0 appears as differences in both equations, and only the second balances, with
/// weights that differ. The first attempt, to leave out an equation of block 0, must fail and the
/// second must be made.
#[test]
fn the_equation_to_leave_out_is_found() {
    let n = 3;
    let (l, one) = (neumann(3, 1, || 1.0), identity(n));
    let volumes = [1.0, 2.0, 4.0];
    let entries: Vec<_> = (0..n).flat_map(|i| l.row(i).map(|(j, value)| (i, j, value / volumes[i])).collect::<Vec<_>>()).collect();
    let scaled = triplets(n, &entries);
    let matrix = assemble(n, &[(0, 0, &l, 0.7), (0, 1, &one, 1.0), (1, 0, &scaled, 1.0), (1, 1, &scaled, 0.5)]);
    let null_space = NullSpace::find_in_blocks(&matrix, &[n, 2 * n], f64::EPSILON);
    assert!(null_space.components.len() == 1 && !null_space.is_known());
    check(&matrix, &[n, 2 * n], &[1.0, 1.0, -2.0, 0.5, 0.25, 1.0], &[Method::Lu], "volumes in the second equation");
}

/// Two fields that only exchange something: no field alone is open, both together are.
#[test]
fn fields_that_exchange() {
    let n = 3;
    let (l, one) = (neumann(3, 1, || 1.0), identity(n));
    let matrix =
        assemble(n, &[(0, 0, &l, 1.0), (0, 0, &one, 1.0), (0, 1, &one, -1.0), (1, 1, &l, 2.0), (1, 1, &one, 1.0), (1, 0, &one, -1.0)]);
    let null_space = NullSpace::find_in_blocks(&matrix, &[n, 2 * n], f64::EPSILON);
    assert_eq!(null_space.components.len(), 1);
    assert_eq!(null_space.components[0].unknowns, [0, 1, 2, 3, 4, 5]);
    check(&matrix, &[n, 2 * n], &[1.0, 0.0, -1.0, 2.0, -3.0, 1.0], &[Method::Lu, Method::Cg], "exchange");
}

/// Each field has a level: nothing is open, and one of three that is cut off everywhere is told.
#[test]
fn regular_and_hopeless_systems() {
    let n = 3;
    let (l, one) = (neumann(3, 1, || 1.0), identity(n));
    let regular = assemble(n, &[(0, 0, &l, 1.0), (0, 0, &one, 1e-9), (0, 1, &one, 1.0), (1, 1, &one, 1.0)]);
    assert!(NullSpace::find_in_blocks(&regular, &[n, 2 * n], f64::EPSILON).is_empty());
    // Unknown 4 is in no equation, but equation 4 is not empty.
    let hopeless = triplets(6, &[(0, 0, 1.0), (1, 1, 1.0), (2, 2, 1.0), (3, 3, 1.0), (4, 0, 1.0), (5, 5, 1.0)]);
    let error = attempt(&hopeless, &[3, 6], &[1.0; 6], &options(Method::Lu)).unwrap_err();
    assert_eq!(error.kind, LinearErrorKind::Singular, "{error}");
    // A cell without flow, and without source: its equation and its unknown are empty.
    let cut_off = triplets(4, &[(0, 0, 2.0), (2, 2, 1.0), (3, 3, 4.0)]);
    let solution = attempt(&cut_off, &[2, 4], &[2.0, 0.0, 3.0, 4.0], &options(Method::Lu)).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(solution.x, [1.0, 0.0, 3.0, 1.0]);
    assert!(attempt(&cut_off, &[2, 4], &[2.0, 1.0, 3.0, 4.0], &options(Method::Lu)).is_err());
}

/// Round-off outside the range is refused beside a small right-hand side, unless it is called
/// negligible.
#[test]
fn negligible_imbalance() {
    let matrix = neumann(2, 1, || 1.0);
    let b = [1e-9 + 1e-14, -1e-9];
    let strict = options(Method::Lu);
    assert!(matches!(attempt(&matrix, &[2], &b, &strict).unwrap_err().kind, LinearErrorKind::Incompatible { .. }));
    // The part 5e-6 of the right-hand side.
    let solution = attempt(&matrix, &[2], &b, &LinearOptions { negligible: 7e-5, ..strict }).unwrap_or_else(|error| panic!("{error}"));
    // The half of 1e-14 that is taken from each equation, and the difference of 1e-9 + 0.5e-14.
    assert!(distance(&solution.x, &[0.5e-9, -0.5e-9]) < 1e-14, "{:?}", solution.x);
    assert!((solution.relative_residual - 5e-6).abs() < 1e-8, "{}", solution.relative_residual);
}
