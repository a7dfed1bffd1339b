//! Matrices that leave the level of the unknown open: closed boundaries.

use equelle_runtime::linalg::null_space::{LeftNullVector, NullSpace};
use equelle_runtime::linalg::{Csr, LinearErrorKind, LinearOptions, Method};

use crate::common::{Random, dense, distance, neumann, options, plain, refused, solved, triplets};

fn mean(x: &[f64]) -> f64 {
    x.iter().sum::<f64>() / x.len() as f64
}

/// Multiplies each row by a factor, as dividing a residual by cell volumes does.
fn scale_rows(matrix: &Csr, factors: &[f64]) -> Csr {
    let n = matrix.n_rows();
    let entries: Vec<_> =
        (0..n).flat_map(|i| matrix.row(i).map(move |(j, value)| (i, j, value * factors[i])).collect::<Vec<_>>()).collect();
    triplets(n, &entries)
}

#[test]
fn three_cells_in_a_row() {
    // A third flows through: p1 - p0 = p2 - p1 = 1/3, and the mean is zero.
    let matrix = neumann(3, 1, || 1.0);
    let rhs = [-1.0 / 3.0, 0.0, 1.0 / 3.0];
    for method in Method::ALL {
        let solution = solved(&matrix, &rhs, &LinearOptions { tolerance: 1e-13, ..options(method) });
        assert!(distance(&solution.x, &[-1.0 / 3.0, 0.0, 1.0 / 3.0]) < 1e-12, "{method:?}: {:?}", solution.x);
        let from_first: Vec<f64> = solution.x.iter().map(|x| x - solution.x[0]).collect();
        assert!(distance(&from_first, &[0.0, 1.0 / 3.0, 2.0 / 3.0]) < 1e-12, "{method:?}");
        assert!(solution.note.is_some_and(|note| note.contains("constant on 1 connected component")));
    }
}

#[test]
fn incompatible_sources_are_refused_with_the_imbalance() {
    for matrix in [neumann(5, 1, || 1e-9), neumann(4, 3, || 1e-9)] {
        let n = matrix.n_rows();
        let mut rhs = vec![0.0; n];
        rhs[0] = 1e-4;
        rhs[n - 1] = -0.75e-4;
        for method in Method::ALL {
            let error = refused(&matrix, &rhs, &options(method));
            let LinearErrorKind::Incompatible { imbalance } = error.kind else { panic!("{error}") };
            // 1e-4 - 0.75e-4 with one rounding.
            assert!((imbalance - 0.25e-4).abs() < 1e-19, "{imbalance:e}");
            assert_eq!((error.iterations, error.relative_residual), (0, 1.0));
            let text = error.to_string();
            assert!(text.contains("imbalance is 2.5") && text.contains("sum to zero") && text.contains("boundary condition"), "{text}");
        }
    }
}

#[test]
fn the_tolerance_of_the_balance() {
    // The best x leaves |sum| / sqrt(n) = 5e-10 here, and |b| = sqrt(2): allowed is a tenth of 1e-8
    // |b| = 1.4e-9. Ten times the imbalance is too much.
    let matrix = neumann(4, 1, || 1.0);
    for method in Method::ALL {
        solved(&matrix, &[1.0, 0.0, 0.0, -1.0 + 1e-9], &options(method));
        let error = refused(&matrix, &[1.0, 0.0, 0.0, -1.0 + 1e-8], &options(method));
        assert!(matches!(error.kind, LinearErrorKind::Incompatible { .. }), "{error}");
    }
}

#[test]
fn random_grids_with_closed_boundaries() {
    let mut random = Random(42);
    for (nx, ny) in [(30, 1), (8, 7), (20, 15)] {
        let n = nx * ny;
        // Coefficients that do not cancel without round-off.
        let matrix = neumann(nx, ny, || 1.1 + random.number());
        let mut rhs = random.numbers(n);
        let excess = mean(&rhs);
        rhs.iter_mut().for_each(|b| *b -= excess);
        let mut found: Vec<Vec<f64>> = Vec::new();
        for method in Method::ALL {
            for settings in [options(method), plain(method)] {
                let solution = solved(&matrix, &rhs, &LinearOptions { tolerance: 1e-11, ..settings });
                // Removing the mean leaves round-off of the largest value.
                let largest = solution.x.iter().fold(0.0f64, |most, x| most.max(x.abs()));
                assert!(mean(&solution.x).abs() <= 1e-14 * largest, "{method:?}: {:e}", mean(&solution.x));
                found.push(solution.x);
            }
        }
        // |x - y| <= |residual| / smallest eigenvalue, which is above 0.1 (pi / 30)^2 = 1.1e-3; |b| < 20.
        for x in &found[1..] {
            assert!(distance(x, &found[0]) < 1e-11 * 20.0 * 2.0 / 1e-3);
        }
        rhs[n / 2] += 0.01;
        for method in Method::ALL {
            assert!(matches!(refused(&matrix, &rhs, &options(method)).kind, LinearErrorKind::Incompatible { .. }));
        }
    }
}

#[test]
fn equations_divided_by_volumes() {
    // The columns no longer sum to zero; the left null vector is the volumes 1, 4, 2.
    let volumes = [1.0, 4.0, 2.0];
    let matrix = scale_rows(&neumann(3, 1, || 1.0), &volumes.map(|v| 1.0 / v));
    let null_space = NullSpace::find(&matrix, f64::EPSILON);
    assert_eq!(null_space.components.len(), 1);
    assert_eq!(null_space.components[0].left, Some(LeftNullVector { rows: vec![0, 1, 2], weights: vec![0.25, 1.0, 0.5] }));
    for method in [Method::Lu, Method::BiCgStab, Method::Gmres] {
        let rhs = [-1.0 / 3.0, 0.0, 1.0 / 6.0];
        let solution = solved(&matrix, &rhs, &LinearOptions { tolerance: 1e-13, ..options(method) });
        assert!(distance(&solution.x, &[-1.0 / 3.0, 0.0, 1.0 / 3.0]) < 1e-12, "{method:?}: {:?}", solution.x);
        // These sum to zero, but not when weighted: 0.25 (-1) + 0.5 (1) = 0.25.
        let error = refused(&matrix, &[-1.0, 0.0, 1.0], &options(method));
        assert_eq!(error.kind, LinearErrorKind::Incompatible { imbalance: 0.25 }, "{error}");
    }
}

#[test]
fn left_null_vectors_that_only_a_factorisation_finds() {
    // A ring of three with upwinding: x_i minus its predecessor and a little of a second
    // predecessor. Rows sum to zero, columns do not, and the pattern is not balanced in detail:
    // a_01 a_12 a_20 differs from a_02 a_21 a_10.
    let matrix = dense([[3.0, -1.0, -2.0], [-4.0, 5.0, -1.0], [-1.0, -1.0, 2.0]]);
    let null_space = NullSpace::find(&matrix, f64::EPSILON);
    assert!(null_space.components.len() == 1 && !null_space.is_known());
    // The cofactors of the first column: 5 * 2 - 1, 1 * 2 + 2, 1 + 2 * 5.
    let w = [9.0, 4.0, 11.0];
    for column in 0..3 {
        assert_eq!((0..3).map(|row| w[row] * matrix.entry(row, column)).sum::<f64>(), 0.0);
    }
    let x = [1.0, 2.0, -3.0];
    let rhs = matrix.mul(&x);
    for method in [Method::Lu, Method::BiCgStab, Method::Gmres] {
        let solution = solved(&matrix, &rhs, &LinearOptions { tolerance: 1e-12, ..options(method) });
        assert!(distance(&solution.x, &x) < 1e-10, "{method:?}: {:?}", solution.x);
    }
    // w / 11 . (11, 0, 0) = 9
    let LinearErrorKind::Incompatible { imbalance } = refused(&matrix, &[11.0, 0.0, 0.0], &options(Method::Lu)).kind else { panic!() };
    assert!((imbalance - 9.0).abs() < 1e-12, "{imbalance}");
    for method in [Method::BiCgStab, Method::Gmres] {
        let error = refused(&matrix, &[11.0, 0.0, 0.0], &options(method));
        assert!(!matches!(error.kind, LinearErrorKind::Incompatible { .. }));
        assert!(error.to_string().contains("only solver=lu can tell"), "{error}");
    }
}

#[test]
fn several_parts_and_cells_cut_off() {
    // Cells 0-1-2 closed, 3-4 with a level at 3, 5 cut off: its row is empty.
    let entries = [
        (0, 0, 1.0),
        (0, 1, -1.0),
        (1, 0, -1.0),
        (1, 1, 2.0),
        (1, 2, -1.0),
        (2, 1, -1.0),
        (2, 2, 1.0),
        (3, 3, 3.0),
        (3, 4, -1.0),
        (4, 3, -1.0),
        (4, 4, 1.0),
    ];
    let matrix = triplets(6, &entries);
    let parts: Vec<_> = NullSpace::find(&matrix, f64::EPSILON).components.into_iter().map(|component| component.unknowns).collect();
    assert_eq!(parts, [vec![0, 1, 2], vec![5]]);
    for method in Method::ALL {
        let solution = solved(&matrix, &[1.0, 0.0, -1.0, 2.0, 4.0, 0.0], &LinearOptions { tolerance: 1e-13, ..options(method) });
        // p0 - p1 = 1, p1 - p2 = 1, mean 0; 3 p3 - p4 = 2 and p4 - p3 = 4: p3 = 3, p4 = 7; nothing
        // happens in cell 5.
        assert!(distance(&solution.x, &[1.0, 0.0, -1.0, 3.0, 7.0, 0.0]) < 1e-11, "{method:?}: {:?}", solution.x);
        assert!(solution.note.unwrap().contains("2 connected components"));
        // Balanced in all, but not part by part: the worst is the cell that is cut off.
        let error = refused(&matrix, &[1.0, 0.0, -1.0, 2.0, 4.0, 1.5], &options(method));
        assert_eq!(error.kind, LinearErrorKind::ZeroDerivative { count: 1, residual: 1.5 }, "{error}");
        assert!(error.detail.contains("unknown number 5"), "{error}");
    }
}

#[test]
fn a_weak_boundary_condition_is_not_taken_for_none() {
    // One cell is tied to a level with 1e-12 of the other coefficients: regular.
    let mut entries: Vec<_> = Vec::new();
    let closed = neumann(5, 1, || 1.0);
    (0..5).for_each(|i| entries.extend(closed.row(i).map(|(j, value)| (i, j, value))));
    entries.push((0, 0, 1e-12));
    let matrix = triplets(5, &entries);
    assert!(NullSpace::find(&matrix, f64::EPSILON).is_empty());
    // All of the source leaves through the weak tie: x = 1e12, nearly constant; 1 + 1e-12 holds the
    // tie to 4 digits only.
    let solution = solved(&matrix, &[0.0, 0.0, 0.0, 0.0, 1.0], &options(Method::Lu));
    assert!(solution.x.iter().all(|x| (x * 1e-12 - 1.0).abs() < 1e-3), "{:?}", solution.x);
}

#[test]
fn the_pressure_of_the_two_phase_example() {
    // 4 x 3 cells, transmissibility perm * lambda with injected water at 1e-4 in cell 0, produced
    // in cell 11 (oil everywhere, viscosity 0.005): 1e-12 / 0.005.
    let matrix = neumann(4, 3, || 1e-12 / 0.005);
    let mut rhs = vec![0.0; 12];
    (rhs[0], rhs[11]) = (1e-4, -1e-4);
    for method in Method::ALL {
        let p = solved(&matrix, &rhs, &LinearOptions { tolerance: 1e-12, ..options(method) }).x;
        // The reference lists 9 digits, so to 5e-4.
        for (from, to, listed) in [(0, 1, 268_115.942), (1, 2, 173_913.043), (10, 11, 268_115.942)] {
            assert!((p[from] - p[to] - listed).abs() < 1e-3, "{method:?}: {} {}", p[from] - p[to], listed);
        }
    }
}
