//! Choices, interruptions and lost ranks: all ranks decide alike.

use std::sync::Arc;

use equelle_runtime::interrupt::{Interrupt, Signal};
use equelle_runtime::linalg::space::host::HostSpace;
use equelle_runtime::linalg::{
    Csr, LinearCache, LinearErrorKind, LinearOptions, Method, Preconditioning, RankSpace, Rows, solve_blocks, solve_on_ranks,
};

use super::parts::{Whole, on_ranks};
use super::systems::upwind;
use super::{laplacian, owners};
use crate::common::{Random, distance, relative_residual, triplets};

/// Rows of a matrix times powers of two, chosen by the row.
fn with_row_scales(matrix: &Csr, power: impl Fn(usize) -> i32) -> Csr {
    matrix.scaled_rows(&(0..matrix.n_rows()).map(|row| 2f64.powi(power(row))).collect::<Vec<_>>())
}

/// A penalty on the diagonal of some rows.
fn with_penalties(matrix: &Csr, every: usize) -> Csr {
    let mut entries: Vec<_> =
        (0..matrix.n_rows()).flat_map(|row| matrix.row(row).map(move |(column, value)| (row, column, value))).collect();
    entries.extend((0..matrix.n_rows()).step_by(every).map(|row| (row, row, 1e6)));
    triplets(matrix.n_rows(), &entries)
}

/// The choice of `auto`, and its reason, is that of one process word for word: so are all
/// properties of the matrix, and the treatment of its rows.
#[test]
fn choices_are_those_of_one_process() {
    let mut random = Random(19);
    let smooth = laplacian([13, 12, 11], [1.0, 2.0, 4.0], 2.0);
    let n = smooth.n_rows();
    let two = {
        let entries = (0..n).flat_map(|row| smooth.row(row).map(move |(column, value)| (row, column, value)));
        let both = entries.flat_map(|(row, column, value)| {
            [(row, column, value), (n + row, n + column, 1e6 * value), (row, n + column, 0.1 * value), (n + row, column, 1e5 * value)]
        });
        triplets(2 * n, &both.collect::<Vec<_>>())
    };
    let cases: [(&str, Csr, Vec<usize>); 7] = [
        ("smooth", smooth.clone(), vec![n]),
        ("negative", smooth.scaled(-3.0), vec![n]),
        ("upwind", upwind([13, 12, 11]), vec![n]),
        ("other units", with_row_scales(&smooth, |row| (row % 5) as i32 * 5), vec![n]),
        ("penalties", with_penalties(&smooth, 37), vec![n]),
        ("two units", two.clone(), vec![n, 2 * n]),
        ("two units and penalties", with_penalties(&two, 113), vec![n, 2 * n]),
    ];
    for (name, matrix, ends) in &cases {
        let b = random.numbers(matrix.n_rows());
        let options = LinearOptions::default();
        let mut cache = LinearCache::default();
        let alone = solve_blocks(matrix, ends, &b, &options, &mut cache).unwrap();
        for n_ranks in [1, 2, 3, 6] {
            let by_element = owners(&mut random, n, n_ranks);
            let found = Whole::new(matrix, ends, n_ranks, |element| by_element[element]).solve(&b, &options).unwrap();
            assert_eq!(
                (found.method, found.preconditioner, &found.note),
                (alone.method, alone.preconditioner, &alone.note),
                "{name}, {n_ranks}"
            );
            let size = alone.x.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
            assert!(distance(&alone.x, &found.x) <= 1e-4 * size, "{name}, {n_ranks} ranks");
        }
        let is_even = matches!(cache.rows(), Rows::Even);
        assert_eq!(is_even, ["smooth", "negative", "upwind"].contains(name), "{name}");
    }
}

/// Levels that are spread over ranks, some of which have no unknown, for symmetric, nonsymmetric
/// and coupled matrices and all cycles.
#[test]
fn spread_levels_solve_matrices_of_any_kind() {
    use equelle_runtime::linalg::precond::amg::{AmgCycle, AmgOptions, AmgSmoother};
    let mut random = Random(31);
    let shape = [32, 31, 30];
    let symmetric = laplacian(shape, [1.0, 3.0, 9.0], 2.0);
    let closed = laplacian(shape, [1.0, 3.0, 9.0], 0.0);
    let n = symmetric.n_rows();
    let two = {
        let entries = (0..n).flat_map(|row| symmetric.row(row).map(move |(column, value)| (row, column, value)));
        let both = entries.flat_map(|(row, column, value)| [(row, column, value), (n + row, n + column, 2.0 * value)]);
        let beside = (0..n).flat_map(|row| [(row, n + row, -0.05), (n + row, row, -0.05)]);
        triplets(2 * n, &both.chain(beside).collect::<Vec<_>>())
    };
    let cases = [
        (symmetric, vec![n], Method::Cg, AmgOptions::default()),
        (closed, vec![n], Method::Cg, AmgOptions { cycle: AmgCycle::K, ..AmgOptions::default() }),
        (upwind(shape), vec![n], Method::BiCgStab, AmgOptions { smoother: Some(AmgSmoother::GaussSeidel), ..AmgOptions::default() }),
        (two, vec![n, 2 * n], Method::Cg, AmgOptions { smoothed: false, smoother: Some(AmgSmoother::Jacobi), ..AmgOptions::default() }),
    ];
    for (number, (matrix, ends, method, amg)) in cases.iter().enumerate() {
        let mut b = random.numbers(matrix.n_rows());
        let mean = b.iter().sum::<f64>() / b.len() as f64;
        b.iter_mut().for_each(|b| *b -= mean);
        let options =
            LinearOptions { method: Some(*method), preconditioner: Some(Preconditioning::Amg), amg: *amg, ..LinearOptions::default() };
        let alone = solve_blocks(matrix, ends, &b, &options, &mut LinearCache::default()).unwrap();
        for (n_ranks, owner) in [(3, 2), (4, 3)] {
            // The last rank has none.
            let found = Whole::new(matrix, ends, n_ranks, |element| element * owner / n).solve(&b, &options);
            let found = found.unwrap_or_else(|error| panic!("case {number}, {n_ranks} ranks: {error}"));
            assert!(relative_residual(matrix, &b, &found.x) <= 1.01e-8);
            assert!(2 * found.iterations <= 3 * alone.iterations + 2, "case {number}: {} {}", found.iterations, alone.iterations);
        }
    }
}

/// A run that is interrupted on one rank ends on all.
#[test]
fn an_interruption_ends_all_ranks() {
    let shape = [30, 30, 30];
    let matrix = laplacian(shape, [1.0, 1.0, 1.0], 2.0);
    let n = matrix.n_rows();
    let ends = [n];
    let whole = Whole::new(&matrix, &ends, 3, |element| element * 3 / n);
    for (method, preconditioner) in [
        (Method::Cg, Preconditioning::Jacobi),
        (Method::Cg, Preconditioning::Amg),
        (Method::Cg, Preconditioning::Fsai),
        (Method::Lu, Preconditioning::None),
    ] {
        let options = LinearOptions { method: Some(method), preconditioner: Some(preconditioner), ..LinearOptions::default() };
        let kinds = on_ranks(3, |ranks| {
            let interrupt = Interrupt::default();
            if ranks.rank().0 == 0 {
                interrupt.ask(Signal::Interrupt);
            }
            let part = whole.part(&ranks);
            let mut space = RankSpace::new(HostSpace::new(part.own.len()).interruptible(&interrupt), ranks);
            let b = vec![1.0; part.own.len()];
            solve_on_ranks(&mut space, &part.matrix, &part.ends, b, &options, &mut LinearCache::default()).unwrap().unwrap_err().kind
        });
        assert_eq!(kinds, [LinearErrorKind::Interrupted; 3], "{method:?}, {preconditioner:?}");
    }
}

/// Ranks whose neighbour has ended get its error, and no solution.
#[test]
fn a_lost_rank_is_an_error() {
    let matrix = laplacian([8, 8, 8], [1.0, 1.0, 1.0], 2.0);
    let ends = [512];
    let whole = Whole::new(&matrix, &ends, 3, |element| element * 3 / 512);
    for preconditioner in [Preconditioning::Jacobi, Preconditioning::Amg] {
        let options = LinearOptions { method: Some(Method::Cg), preconditioner: Some(preconditioner), ..LinearOptions::default() };
        let errors = on_ranks(3, |ranks| {
            let part = whole.part(&ranks);
            if ranks.rank().0 == 1 {
                return None;
            }
            let mut space = RankSpace::new(HostSpace::new(part.own.len()), Arc::clone(&ranks));
            drop(ranks);
            let b = vec![1.0; part.own.len()];
            Some(solve_on_ranks(&mut space, &part.matrix, &part.ends, b, &options, &mut LinearCache::default()).is_err())
        });
        assert_eq!(errors, [Some(true), None, Some(true)]);
    }
}

/// LU takes systems up to a size, and names other solvers beyond.
#[test]
fn large_systems_are_not_gathered_for_lu() {
    let n = equelle_runtime::linalg::ranks::MAX_GATHERED_UNKNOWNS + 1;
    let matrix = Csr::new(n, n, (0..=n).collect(), (0..n as u32).collect(), vec![2.0; n]).unwrap();
    let options = LinearOptions { method: Some(Method::Lu), ..LinearOptions::default() };
    let ends = [n];
    let error = Whole::new(&matrix, &ends, 2, |element| element % 2).solve(&vec![1.0; n], &options).unwrap_err();
    assert_eq!(error.kind, LinearErrorKind::Unsuitable);
    assert_eq!(
        error.to_string(),
        "LU cannot be used: on several ranks it takes up to 200000 unknowns, and there are 200001 (relative residual 1.0e0); \
         use solver=cg, solver=bicgstab or solver=gmres, or one process"
    );
}
