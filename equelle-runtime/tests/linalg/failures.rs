//! Every way to fail, and that it is told from the others.

use std::cell::Cell;

use equelle_runtime::interrupt::{Interrupt, Signal};
use equelle_runtime::linalg::krylov::gmres::Gmres;
use equelle_runtime::linalg::krylov::iteration::{Control, Cycle, End, System, Target, iterate};
use equelle_runtime::linalg::precond::amg::{AmgOptions, Hierarchy};
use equelle_runtime::linalg::precond::blocks::BlockCsr;
use equelle_runtime::linalg::precond::fsai::{FsaiFactors, FsaiPattern};
use equelle_runtime::linalg::precond::ilu::BlockFactors;
use equelle_runtime::linalg::space::host::HostSpace;
use equelle_runtime::linalg::{
    LinearCache, LinearError, LinearErrorKind, LinearOperator, LinearOptions, Method, Preconditioner, Preconditioning, solve, solve_in,
};
use equelle_runtime::{Error, ErrorKind};

use crate::common::{Random, dense, options, plain, refused, relative_residual, triplets};
use crate::grids::Cells;

#[test]
fn cg_breaks_down_on_an_indefinite_matrix() {
    // p = r = (1, 1) and p.Ap = 0 in the first iteration.
    let error = refused(&dense([[1.0, 0.0], [0.0, -1.0]]), &[1.0, 1.0], &plain(Method::Cg));
    assert_eq!((error.kind, error.iterations, error.relative_residual), (LinearErrorKind::Breakdown, 1, 1.0));
    assert!(error.to_string().contains("not positive definite") && error.to_string().contains("bicgstab"), "{error}");
    // With the signed diagonal as preconditioner r.Mr = 0 as well.
    assert_eq!(refused(&dense([[1.0, 0.0], [0.0, -1.0]]), &[1.0, 1.0], &options(Method::Cg)).kind, LinearErrorKind::Breakdown);
    // Where the curvature is negative without being zero, here r.Ar = 0.25 - 1, CG may still happen
    // upon the solution; that is not refused.
    for check_every in [1, 10] {
        let solution =
            crate::common::solved(&dense([[1.0, 0.0], [0.0, -1.0]]), &[0.5, 1.0], &LinearOptions { check_every, ..plain(Method::Cg) });
        assert!(crate::common::distance(&solution.x, &[0.5, -1.0]) < 1e-7, "{solution:?}");
    }
}

#[test]
fn cg_refuses_what_is_not_symmetric() {
    let error = refused(&dense([[4.0, 1.0], [1.5, 3.0]]), &[1.0, 1.0], &options(Method::Cg));
    assert_eq!((error.kind, error.iterations), (LinearErrorKind::Breakdown, 0));
    assert!(error.detail.contains("not symmetric: 1e0 in row 0, column 1, but 1.5e0"), "{error}");
}

#[test]
fn bicgstab_breaks_down_on_a_rotation() {
    // A turns by a right angle, so the shadow residual r is orthogonal to A p = A r.
    let error = refused(&dense([[0.0, 1.0], [-1.0, 0.0]]), &[1.0, 0.0], &options(Method::BiCgStab));
    assert_eq!(error.kind, LinearErrorKind::Breakdown);
    assert!(error.to_string().contains("orthogonal"), "{error}");
    assert!(error.hint().contains("gmres"));
}

#[test]
fn gmres_breaks_down_where_the_krylov_space_ends_without_a_solution() {
    // A b = 0, though x = (0, 1) is a solution.
    let error = refused(&dense([[0.0, 1.0], [0.0, 0.0]]), &[1.0, 0.0], &options(Method::Gmres));
    assert_eq!(error.kind, LinearErrorKind::Breakdown, "{error}");
    assert_eq!(error.relative_residual, 1.0);
}

#[test]
fn gmres_stagnates_on_a_cyclic_shift() {
    // Brown (1991): A e_i = e_(i-1) and b = e_1 give no smaller residual before iteration n. With
    // fewer iterations a cycle nothing ever moves.
    let n = 20;
    let matrix = triplets(n, &(0..n).map(|i| (i, (i + 1) % n, 1.0)).collect::<Vec<_>>());
    let mut rhs = vec![0.0; n];
    rhs[0] = 1.0;
    let error = refused(&matrix, &rhs, &LinearOptions { restart: 10, ..options(Method::Gmres) });
    assert_eq!((error.kind, error.iterations, error.relative_residual), (LinearErrorKind::Stagnation, 10, 1.0));
    assert!(error.to_string().contains("solver_restart"), "{error}");
    // A cycle of n iterations solves it exactly.
    let solution = crate::common::solved(&matrix, &rhs, &LinearOptions { restart: n, ..options(Method::Gmres) });
    assert_eq!(solution.iterations, n);
    // x_(i+1) = b_i
    assert!(solution.x.iter().enumerate().all(|(i, x)| (x - f64::from(u8::from(i == 1))).abs() < 1e-12), "{:?}", solution.x);
}

/// The Hilbert matrix of order 12: condition number 1.7e16.
fn hilbert() -> equelle_runtime::linalg::Csr {
    let entries: Vec<_> = (0..12).flat_map(|i| (0..12).map(move |j| (i, j, 1.0 / (i + j + 1) as f64))).collect();
    triplets(12, &entries)
}

#[test]
fn what_double_precision_cannot_give_is_stagnation() {
    // Residuals cannot fall below about 1e-16 |A| |x|, and |x| is large beside |b|: for b = e_0,
    // x_i reaches 1e15.
    let mut rhs = vec![0.0; 12];
    rhs[11] = 1.0;
    for method in [Method::Cg, Method::BiCgStab, Method::Gmres] {
        let strict = LinearOptions { tolerance: 1e-15, ..options(method) };
        let error = refused(&hilbert(), &rhs, &strict);
        assert!(matches!(error.kind, LinearErrorKind::Stagnation | LinearErrorKind::Breakdown), "{method:?}: {error}");
        assert!(error.relative_residual > 1e-15, "{error}");
    }
    let error = refused(&hilbert(), &rhs, &LinearOptions { tolerance: 1e-15, ..options(Method::Cg) });
    assert_eq!(error.kind, LinearErrorKind::Stagnation, "{error}");
}

#[test]
fn too_few_iterations() {
    let matrix = crate::common::neumann(10, 10, || 1.0);
    let mut entries: Vec<_> = (0..100).flat_map(|i| matrix.row(i).map(move |(j, v)| (i, j, v)).collect::<Vec<_>>()).collect();
    entries.push((0, 0, 1.0));
    let matrix = triplets(100, &entries);
    let rhs = Random(2).numbers(100);
    for method in [Method::Cg, Method::BiCgStab, Method::Gmres] {
        for check_every in [1, 4] {
            let error = refused(&matrix, &rhs, &LinearOptions { max_iterations: 3, check_every, ..options(method) });
            assert_eq!((error.kind, error.iterations), (LinearErrorKind::MaxIterations, 3), "{method:?}: {error}");
            assert!(error.relative_residual > 1e-8 && error.relative_residual <= 1.0, "{error}");
            assert!(error.to_string().contains("solver_max_iter"), "{error}");
        }
    }
}

#[test]
fn singular_matrices() {
    let lu = options(Method::Lu);
    let kind = |error: LinearError| {
        assert!(matches!(error.kind, LinearErrorKind::Singular), "{error}");
        error.detail
    };
    // A zero row and a zero column, each connected to the rest through the other.
    assert!(kind(refused(&dense([[1.0, 1.0], [0.0, 0.0]]), &[1.0, 0.0], &lu)).contains("row 1 is zero"));
    assert!(kind(refused(&dense([[1.0, 0.0], [1.0, 0.0]]), &[1.0, 1.0], &lu)).contains("column 1 is zero"));
    // Structurally singular without either: rows 1 and 2 share column 0.
    let structural = dense([[1.0, 2.0, 3.0], [4.0, 0.0, 0.0], [5.0, 0.0, 0.0]]);
    kind(refused(&structural, &[1.0, 4.0, 5.0], &lu));
    // Rank 2, the right-hand side in the range (x = 1): the sum of the first two rows is the third.
    let rank = dense([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [5.0, 7.0, 9.0]]);
    assert!(kind(refused(&rank, &[6.0, 15.0, 21.0], &lu)).contains("condition number"));
    // The same with rounding errors and in other units.
    let rounded = dense([[0.1, 0.2, 0.3], [4e7, 5e7, 6e7], [0.5e-9, 0.7e-9, 0.9e-9]]);
    kind(refused(&rounded, &[0.6, 15e7, 2.1e-9], &lu));
    // Condition number 1.7e16.
    kind(refused(&hilbert(), &[1.0; 12], &lu));
}

#[test]
fn singular_matrices_of_random_rank() {
    // Twenty unknowns, the last row a combination of the others with random factors: dense, so that
    // elimination rounds everything.
    let mut random = Random(77);
    for _ in 0..50 {
        let n = 20;
        let mut rows: Vec<Vec<f64>> = (0..n - 1).map(|_| random.numbers(n)).collect();
        let factors = random.numbers(n - 1);
        rows.push((0..n).map(|j| (0..n - 1).map(|i| factors[i] * rows[i][j]).sum()).collect());
        let entries: Vec<_> = (0..n * n).map(|at| (at / n, at % n, rows[at / n][at % n])).collect();
        let matrix = triplets(n, &entries);
        // In the range up to round-off, so the residual alone would not show it.
        let rhs = matrix.mul(&random.numbers(n));
        assert_eq!(refused(&matrix, &rhs, &options(Method::Lu)).kind, LinearErrorKind::Singular);
    }
}

#[test]
fn lu_out_of_accuracy() {
    // Condition number 1e13 of the Hilbert matrix of order 10: regular, but no residual of 1e-17
    // exists in double precision.
    let entries: Vec<_> = (0..10).flat_map(|i| (0..10).map(move |j| (i, j, 1.0 / (i + j + 1) as f64))).collect();
    let error = refused(&triplets(10, &entries), &[1.0; 10], &LinearOptions { tolerance: 1e-17, ..options(Method::Lu) });
    assert_eq!(error.kind, LinearErrorKind::Stagnation, "{error}");
    assert!(error.relative_residual > 1e-17 && error.relative_residual < 1e-3, "{error}");
}

#[test]
fn numbers_that_are_not_finite() {
    for method in Method::ALL {
        for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            let error = refused(&dense([[4.0, 1.0], [1.0, bad]]), &[1.0, 1.0], &options(method));
            assert_eq!((error.kind, error.iterations), (LinearErrorKind::NonFinite, 0), "{error}");
            assert!(error.detail.contains("row 1, column 1"), "{error}");
            let error = refused(&dense([[4.0, 1.0], [1.0, 3.0]]), &[bad, 1.0], &options(method));
            assert_eq!(error.kind, LinearErrorKind::NonFinite, "{error}");
            assert!(error.detail.contains("right-hand side") && error.relative_residual.is_nan(), "{error}");
        }
    }
    // v.v and t.t are near 1e400; BiCGStab and GMRES overflow.
    let matrix = dense([[1e200, 0.3e200], [0.2e200, 2e200]]);
    for method in [Method::BiCgStab, Method::Gmres] {
        let error = refused(&matrix, &[1.0, 0.5], &plain(method));
        assert_eq!(error.kind, LinearErrorKind::NonFinite, "{error}");
    }
    // p.Ap = 4 x 1.5e308.
    let error = refused(&dense([[1.5e308, 1.5e308], [1.5e308, 1.5e308]]), &[1.0, 1.0], &plain(Method::Cg));
    assert_eq!(error.kind, LinearErrorKind::NonFinite, "{error}");
}

#[test]
fn errors_become_simulation_errors_with_a_hint() {
    let error = refused(&dense([[1.0, 0.0], [0.0, -1.0]]), &[1.0, 1.0], &plain(Method::Cg));
    let hint = error.hint();
    let error = Error::from(error);
    assert_eq!(error.kind, ErrorKind::Simulation);
    assert_eq!(
        error.message,
        "CG broke down after 1 iteration: p.Ap = 0.0e0, so the matrix is not positive definite (relative residual 1.0e0)"
    );
    assert_eq!(error.hint.as_deref(), Some(hint));
}

/// An equation without its unknown is no imbalance of sources: unknown 1 alone, and all three.
#[test]
fn derivatives_that_are_zero() {
    let one = dense([[2.0, 0.0, -1.0], [0.0, 0.0, 0.0], [-1.0, 0.0, 2.0]]);
    let all = dense([[0.0; 3]; 3]);
    for (matrix, count) in [(&one, 1), (&all, 3)] {
        for method in Method::ALL {
            let error = refused(matrix, &[1.0, -4.0, 1.0], &options(method));
            assert_eq!(error.kind, LinearErrorKind::ZeroDerivative { count, residual: 4.0 }, "{error}");
            let text = error.to_string();
            assert!(
                text.contains("zero, so no correction changes the residual of up to 4e0 there (it is largest for unknown number 1)"),
                "{text}"
            );
            assert!(text.contains("begin with a guess at which the residual changes") && !text.contains("sources"), "{text}");
        }
    }
}

/// A looser tolerance is suggested only where one helps: with the residual of a tenth of a matrix
/// that is not for the method it does not.
#[test]
fn looser_tolerances_are_suggested_where_they_help() {
    let error = |relative_residual: f64, kind: LinearErrorKind, method: Method| {
        let mut error = refused(&dense([[0.0, 0.0], [0.0, 0.0]]), &[1.0, 1.0], &options(method));
        (error.kind, error.relative_residual) = (kind, relative_residual);
        error.hint()
    };
    for method in Method::ALL {
        for kind in [LinearErrorKind::Stagnation, LinearErrorKind::MaxIterations] {
            assert!(error(1e-7, kind, method).contains("solver_tol"), "{method:?}");
            assert!(!error(0.1, kind, method).contains("solver_tol"), "{method:?}");
            assert!(!error(f64::NAN, kind, method).contains("solver_tol"), "{method:?}");
        }
    }
}

/// No method reaches a relative residual of 1e-18, below the rounding of the right-hand side
/// itself. Where a residual is as good as none, what was reached is enough; where none is, and
/// where it is above, the failure stays.
#[test]
fn residual_that_rounding_leaves_may_be_negligible() {
    let matrix = Cells::cube(6).poisson();
    let b: Vec<f64> = (0..216).map(|k| f64::from(k).sin()).collect();
    for method in [Method::Lu, Method::Cg, Method::BiCgStab, Method::Gmres] {
        let strict = LinearOptions { tolerance: 1e-18, ..options(method) };
        let error = refused(&matrix, &b, &strict);
        assert!(matches!(error.kind, LinearErrorKind::Stagnation | LinearErrorKind::Breakdown | LinearErrorKind::MaxIterations), "{error}");
        // Rounding leaves less than 1e-14 of the right-hand side.
        let with = |negligible| LinearOptions { negligible, ..strict.clone() };
        let solution = solve(&matrix, &b, &with(1e-13), &mut LinearCache::default()).unwrap_or_else(|error| panic!("{error}"));
        assert!(relative_residual(&matrix, &b, &solution.x) < 1e-13, "{method:?}");
        let note = solution.note.expect("a note");
        assert!(note.contains("above solver_tol=1.0e-18: Newton's method needs no smaller one"), "{note}");
        assert!(solve(&matrix, &b, &with(1e-19), &mut LinearCache::default()).is_err(), "{method:?}");
    }
}

/// A run that has been asked to end does not wait for a solver, whichever it is, and nothing else
/// is tried.
#[test]
fn iterations_end_when_the_run_is_asked_to() {
    let matrix = Cells::cube(12).poisson();
    let n = matrix.n_rows();
    let b = Random(3).numbers(n);
    for method in [Some(Method::Cg), Some(Method::BiCgStab), Some(Method::Gmres), None] {
        let interrupt = Interrupt::default();
        let options = LinearOptions { method, ..LinearOptions::default() };
        let mut cache = LinearCache::default();
        let mut solve = || {
            let mut space = HostSpace::new(n).interruptible(&interrupt);
            let Ok(solved) = solve_in(&mut space, &matrix.clone().into(), &[n], b.clone(), &options, &mut cache);
            solved
        };
        let iterations = solve().unwrap_or_else(|error| panic!("{error}")).iterations;
        assert!(iterations > 1);
        interrupt.ask(Signal::Terminate);
        // With a preconditioner from before, and with a new one.
        let error = solve().unwrap_err();
        assert_eq!((error.kind, error.iterations, error.before.len()), (LinearErrorKind::Interrupted, 1, 0), "{error}");
        assert!(error.to_string().contains("interrupted after 1 iteration:"), "{error}");
        cache = LinearCache::default();
        let mut space = HostSpace::new(n).interruptible(&interrupt);
        let Ok(solved) = solve_in(&mut space, &matrix.clone().into(), &[n], b.clone(), &options, &mut cache);
        assert_eq!(solved.unwrap_err().kind, LinearErrorKind::Interrupted);
    }
}

/// Multiplies by one number where a vector is positive and by another where it is not, and says
/// nothing of it.
struct Uneven;

impl Preconditioner<HostSpace> for Uneven {
    fn apply(&self, _: &mut HostSpace, z: &mut Vec<f64>, r: &Vec<f64>) {
        z.iter_mut().zip(r).for_each(|(z, r)| *z = if *r > 0.0 { 20.0 * r } else { 0.1 * r });
    }
}

/// GMRES applies the preconditioner to a combination of basis vectors, and gets another vector than
/// the combination of its results: the true residual stays where its own is gone. It must find out,
/// begin anew with all vectors kept, and solve the system, of which the basis spans all there is.
#[test]
fn gmres_allows_for_a_preconditioner_that_varies() {
    struct Matrix;
    impl LinearOperator<HostSpace> for Matrix {
        fn apply(&self, _: &mut HostSpace, y: &mut Vec<f64>, x: &Vec<f64>) {
            y.iter_mut().zip(x).enumerate().for_each(|(at, (y, x))| *y = (at + 1) as f64 * x);
        }
    }
    let n = 12;
    let b = Random(3).numbers(n);
    let control = Control { target: Target::just(1e-10), max_iterations: 100, check_every: 1, patience: 100 };
    let mut space = HostSpace::new(n);
    let Ok(mut gmres) = Gmres::new(&mut space, 30);
    let mut x = vec![0.0; n];
    let system = System { operator: &Matrix, preconditioner: &Uneven };
    let Ok(outcome) = iterate(&mut space, &mut gmres, system, &mut x, &b, control);
    assert_eq!(outcome.end, End::Converged, "{outcome:?}");
    assert!(!gmres.allow_for_variation(), "that was asked for");
    let worst = (0..n).fold(0.0f64, |worst, at| worst.max(((at + 1) as f64 * x[at] - b[at]).abs()));
    assert!(worst <= 1e-10, "{worst}");
}

/// Nor for a set-up: of two fields of 8000 unknowns, by every preconditioner that takes long, and
/// by LU, with systems in compressed rows and in blocks.
#[test]
fn set_ups_end_when_the_run_is_asked_to() {
    let poisson = Cells::cube(20).poisson();
    let n = poisson.n_rows();
    let field = |f: usize| {
        let row = move |(i, row): (usize, Vec<(usize, f64)>)| {
            row.into_iter().map(move |(j, value)| (f * n + i, f * n + j, value)).chain([(f * n + i, (1 - f) * n + i, 0.1)])
        };
        (0..n).map(|i| (i, poisson.row(i).collect())).flat_map(row).collect::<Vec<_>>()
    };
    let matrix = triplets(2 * n, &[field(0), field(1)].concat());
    let b = Random(3).numbers(2 * n);
    let interrupt = Interrupt::default();
    interrupt.ask(Signal::Interrupt);
    let kinds = [Preconditioning::Ilu0, Preconditioning::BlockIlu0, Preconditioning::Fsai, Preconditioning::Amg, Preconditioning::Cpr];
    let ways = kinds.map(|kind| (Method::Gmres, Some(kind), "it was being set up")).into_iter().chain([(
        Method::Lu,
        None,
        "it was being factorised",
    )]);
    for (method, preconditioner, told) in ways {
        let options = LinearOptions { preconditioner, ..options(method) };
        let mut space = HostSpace::new(2 * n).interruptible(&interrupt);
        let Ok(solved) = solve_in(&mut space, &matrix.clone().into(), &[n, 2 * n], b.clone(), &options, &mut LinearCache::default());
        let error = solved.unwrap_err();
        assert_eq!((error.kind, error.iterations, error.before.len()), (LinearErrorKind::Interrupted, 0, 0), "{error}");
        assert!(error.to_string().contains(told), "{error}");
    }

    // Each of them looks by itself: multigrid before each level, the others every so many rows.
    let mut space = HostSpace::new(n).interruptible(&interrupt);
    let Ok(begun) = Hierarchy::new(&mut space, poisson.clone().into(), &[n], &AmgOptions::default());
    let Ok(whole) = Hierarchy::new(&mut HostSpace::new(n), poisson.clone().into(), &[n], &AmgOptions::default());
    assert!(begun.sizes == [n] && whole.sizes.len() > 2, "{:?} {:?}", begun.sizes, whole.sizes);
    let looks = Cell::new(0);
    let second = || {
        looks.set(looks.get() + 1);
        looks.get() == 2
    };
    let blocks = |matrix, k| BlockCsr::new(matrix, k);
    assert!(BlockFactors::factor_unless(blocks(&poisson, 1), &second).is_none() && looks.take() == 2);
    assert!(BlockFactors::factor_unless(blocks(&matrix, 2), &second).is_none() && looks.take() == 2);
    assert!(FsaiFactors::new_unless(&poisson, true, FsaiPattern::default(), &second).is_none() && looks.take() == 2);
    assert_eq!(
        FsaiFactors::new_unless(&poisson, true, FsaiPattern::default(), &|| false),
        Some(FsaiFactors::new(&poisson, true, FsaiPattern::default()))
    );
}
