//! Systems that are solved.

use equelle_runtime::linalg::krylov::iteration::{Pursuit, Target};
use equelle_runtime::linalg::{Csr, LinearCache, LinearOptions, Method, Preconditioning, solve};

use crate::common::{Random, dense, distance, neumann, options, plain, relative_residual, solved, triplets};

/// Those without a set-up that a method takes.
fn simple(method: Method) -> &'static [Preconditioning] {
    if method == Method::Lu { &[Preconditioning::None] } else { &[Preconditioning::None, Preconditioning::Jacobi] }
}

#[test]
fn hand_computed_systems() {
    // 4x + y = 6, x + 3y = 7 has x = 1, y = 2. Symmetric positive definite, so each method takes
    // it.
    let spd = dense([[4.0, 1.0], [1.0, 3.0]]);
    // 2x + y = 3, -x + 2z = 5, 3y + z = 0: y = 3 - 2x, z = (5 + x) / 2, so 9 - 6x + 2.5 + x/2 = 0
    // and x = 23/11, y = -13/11, z = 39/11.
    let general = dense([[2.0, 1.0, 0.0], [-1.0, 0.0, 2.0], [0.0, 3.0, 1.0]]);
    let expected = [23.0 / 11.0, -13.0 / 11.0, 39.0 / 11.0];
    for method in Method::ALL {
        for &preconditioner in simple(method) {
            // The condition numbers are below 10, so x is within 1e-11 for a residual of 1e-13.
            let options = LinearOptions { tolerance: 1e-13, preconditioner: Some(preconditioner), ..options(method) };
            let solution = solved(&spd, &[6.0, 7.0], &options);
            assert!(distance(&solution.x, &[1.0, 2.0]) < 1e-11, "{method:?}: {:?}", solution.x);
            assert_eq!((solution.method, solution.note), (method, None));
            if method != Method::Cg {
                let solution = solved(&general, &[3.0, 5.0, 0.0], &options);
                assert!(distance(&solution.x, &expected) < 1e-11, "{method:?}: {:?}", solution.x);
            }
        }
    }
}

#[test]
fn three_cells_between_a_source_and_a_level() {
    // Three cells in a row with closed ends: -p0 + p1 = 1/3, p0 - 2 p1 + p2 = 0, p1 - p2 = -1/3 and
    // p0 = 0 gives 0, 1/3, 2/3.
    let matrix = dense([[1.0, 0.0, 0.0], [-1.0, 2.0, -1.0], [0.0, -1.0, 1.0]]);
    let rhs = [0.0, 0.0, 1.0 / 3.0];
    for method in [Method::Lu, Method::BiCgStab, Method::Gmres] {
        let solution = solved(&matrix, &rhs, &LinearOptions { tolerance: 1e-13, ..options(method) });
        assert!(distance(&solution.x, &[0.0, 1.0 / 3.0, 2.0 / 3.0]) < 1e-12, "{method:?}: {:?}", solution.x);
    }
}

#[test]
fn nothing_to_do() {
    let matrix = dense([[4.0, 1.0], [1.0, 3.0]]);
    let empty = Csr::from_triplets(0, 0, &[]).unwrap();
    for method in Method::ALL {
        let solution = solve(&matrix, &[0.0, 0.0], &options(method), &mut LinearCache::default()).unwrap();
        assert_eq!((solution.x, solution.iterations, solution.relative_residual), (vec![0.0, 0.0], 0, 0.0));
        assert_eq!(solve(&empty, &[], &options(method), &mut LinearCache::default()).unwrap().x, [0.0; 0]);
    }
}

/// Pattern with `per_row` random places off the diagonal in each row, mirrored if asked.
fn random_entries(random: &mut Random, n: usize, per_row: usize, mirrored: bool) -> Vec<(usize, usize, f64)> {
    let mut entries = Vec::new();
    for i in 0..n {
        for _ in 0..per_row {
            let (j, value) = (random.below(n), random.number());
            if j != i {
                entries.push((i, j, value));
                if mirrored {
                    entries.push((j, i, value));
                }
            }
        }
    }
    entries
}

/// Adds a diagonal that exceeds the other magnitudes of its row by a random part, at least `least`.
fn dominate(random: &mut Random, n: usize, mut entries: Vec<(usize, usize, f64)>, least: f64, signs: bool) -> Csr {
    let mut sums = vec![0.0; n];
    entries.iter().for_each(|&(i, _, value)| sums[i] += f64::abs(value));
    for (i, sum) in sums.into_iter().enumerate() {
        let diagonal = sum * (1.0 + least + random.number().abs()) + 0.1;
        entries.push((i, i, if signs && random.below(2) == 0 { -diagonal } else { diagonal }));
    }
    triplets(n, &entries)
}

/// Solves 200 systems with both preconditioners, each look at the residual after 1 and after 7
/// iterations, and counts iterations.
fn two_hundred(method: Method, system: impl Fn(&mut Random, usize) -> Csr) {
    let mut random = Random(method as u64 + 10);
    let mut iterations = 0;
    for case in 0..200 {
        let n = 1 + random.below(60);
        let matrix = system(&mut random, n);
        // The image of a vector of ones and less: where the rows have different units, a right-hand
        // side without them has no x that meets the tolerance.
        let rhs = matrix.mul(&random.numbers(n));
        for &preconditioner in simple(method) {
            for check_every in [1, 7] {
                let options = LinearOptions { preconditioner: Some(preconditioner), check_every, ..options(method) };
                let solution = solved(&matrix, &rhs, &options);
                iterations += solution.iterations;
                assert!(relative_residual(&matrix, &rhs, &solution.x) <= 1e-8 * (1.0 + 1e-6), "case {case}");
            }
        }
    }
    assert_eq!(iterations > 0, method != Method::Lu, "{iterations} iterations");
}

#[test]
fn cg_on_random_symmetric_positive_definite_systems() {
    two_hundred(Method::Cg, |random, n| {
        let entries = random_entries(random, n, 3, true);
        dominate(random, n, entries, 1e-3, false)
    });
}

#[test]
fn bicgstab_on_random_dominant_systems() {
    two_hundred(Method::BiCgStab, |random, n| {
        let entries = random_entries(random, n, 4, false);
        dominate(random, n, entries, 0.1, false)
    });
}

#[test]
fn gmres_on_random_dominant_systems() {
    two_hundred(Method::Gmres, |random, n| {
        let entries = random_entries(random, n, 4, false);
        dominate(random, n, entries, 0.1, false)
    });
}

#[test]
fn lu_on_random_general_systems() {
    two_hundred(Method::Lu, |random, n| {
        // A permutation away from the diagonal makes it regular in nearly all cases; pivots must be
        // searched for.
        let shift = random.below(n);
        let mut entries = random_entries(random, n, 3, false);
        entries.extend((0..n).map(|i| (i, (i + shift) % n, 2.0 + random.number())));
        // Equations in very different units.
        let units: Vec<f64> = (0..n).map(|_| 10.0f64.powi(random.below(24) as i32 - 12)).collect();
        let entries: Vec<_> = entries.into_iter().map(|(i, j, value)| (i, j, value * units[i])).collect();
        triplets(n, &entries)
    });
}

#[test]
fn what_is_not_of_the_class_is_solved_or_refused() {
    // Neither dominant nor definite: the iterative methods may fail, but must not claim success
    // (`attempt` checks), and LU solves them.
    let mut random = Random(5);
    let mut failures = 0;
    for _ in 0..200 {
        let n = 2 + random.below(30);
        let mut entries = random_entries(&mut random, n, 2, false);
        entries.extend((0..n).map(|i| (i, i, random.number())));
        let matrix = triplets(n, &entries);
        let rhs = random.numbers(n);
        for method in [Method::BiCgStab, Method::Gmres, Method::Cg] {
            let short = LinearOptions { max_iterations: 200, restart: 10, ..plain(method) };
            if let Err(error) = crate::common::attempt(&matrix, &rhs, &short) {
                failures += 1;
                assert!(error.relative_residual > 1e-8, "{error}");
            }
        }
    }
    assert!(failures > 200, "CG alone should refuse all of them: {failures}");
}

#[test]
fn very_large_and_very_small_numbers() {
    let matrix = dense([[4e-12, 1e-12], [1e-12, 3e-12]]);
    for method in Method::ALL {
        for unit in [1e-290, 1e280] {
            let solution = solved_scaled(&matrix, &[6.0 * unit, 7.0 * unit], &options(method));
            // x = (1, 2) * 1e12 * unit; residual 1e-8 and condition below 3.
            assert!(distance(&solution, &[1e12 * unit, 2e12 * unit]) < 1e-7 * 1e12 * unit, "{method:?} {unit:e}: {solution:?}");
        }
    }
}

/// `solved` without its independent residual, whose squares would overflow.
fn solved_scaled(matrix: &Csr, rhs: &[f64], options: &LinearOptions) -> Vec<f64> {
    solve(matrix, rhs, options, &mut LinearCache::default()).unwrap_or_else(|error| panic!("{error}")).x
}

#[test]
fn negative_definite_systems_suit_cg() {
    let solution = solved(&dense([[-4.0, -1.0], [-1.0, -3.0]]), &[-6.0, -7.0], &LinearOptions { tolerance: 1e-13, ..options(Method::Cg) });
    assert!(distance(&solution.x, &[1.0, 2.0]) < 1e-11, "{:?}", solution.x);
}

/// Heat on a grid: the Neumann matrix and 1 on the diagonal.
fn heat(n: usize, coefficient: f64) -> Csr {
    let matrix = neumann(n, n, || coefficient);
    let mut entries: Vec<_> = (0..n * n).flat_map(|i| matrix.row(i).map(move |(j, value)| (i, j, value)).collect::<Vec<_>>()).collect();
    entries.extend((0..n * n).map(|i| (i, i, 1.0)));
    triplets(n * n, &entries)
}

#[test]
fn same_bits_twice_with_and_without_cache() {
    // More than one leaf of the reduction order.
    let n = 40;
    let (first, second) = (heat(n, 3.0), heat(n, 5.0));
    let rhs = Random(3).numbers(n * n);
    for method in Method::ALL {
        let mut cache = LinearCache::default();
        let mut bits = |matrix: &Csr| -> Vec<u64> {
            let x = solve(matrix, &rhs, &options(method), &mut cache).unwrap_or_else(|error| panic!("{error}")).x;
            x.iter().map(|x| x.to_bits()).collect()
        };
        let fresh = |matrix: &Csr| -> Vec<u64> {
            solve(matrix, &rhs, &options(method), &mut LinearCache::default()).unwrap().x.iter().map(|x| x.to_bits()).collect()
        };
        // The second has the pattern of the first; the third call changes nothing; the fourth goes
        // back.
        let results = [bits(&first), bits(&second), bits(&second), bits(&first)];
        assert_ne!(results[0], results[1]);
        assert_eq!(results[1], results[2], "{method:?}");
        assert_eq!(results[0], results[3], "{method:?}");
        assert_eq!(results[0], fresh(&first), "{method:?}");
        assert_eq!(results[1], fresh(&second), "{method:?}");
        // Another pattern, another size.
        let small = dense([[4.0, 1.0], [1.0, 3.0]]);
        let x = solve(&small, &[6.0, 7.0], &options(method), &mut cache).unwrap().x;
        assert!(distance(&x, &[1.0, 2.0]) < 1e-7, "{method:?}: {x:?}");
    }
}

#[test]
fn looking_seldom_costs_a_few_iterations_only() {
    let matrix = heat(20, 10.0);
    let rhs = Random(8).numbers(400);
    for method in [Method::Cg, Method::BiCgStab, Method::Gmres] {
        let often = solved(&matrix, &rhs, &options(method));
        let seldom = solved(&matrix, &rhs, &LinearOptions { check_every: 10, ..options(method) });
        assert!(seldom.iterations >= often.iterations && seldom.iterations < often.iterations + 10, "{method:?}: {seldom:?}");
        // Both have residual 1e-8, and the smallest eigenvalue is 1.
        assert!(distance(&often.x, &seldom.x) < 1e-6);
    }
}

#[test]
fn cg_ends_within_as_many_iterations_as_there_are_eigenvalues() {
    // Diagonal with three distinct eigenvalues: three iterations in exact arithmetic, whatever the
    // size.
    let n = 300;
    let matrix = triplets(n, &(0..n).map(|i| (i, i, [1.0, 2.0, 5.0][i % 3])).collect::<Vec<_>>());
    assert_eq!(solved(&matrix, &vec![1.0; n], &plain(Method::Cg)).iterations, 3);
    assert_eq!(solved(&matrix, &vec![1.0; n], &options(Method::Cg)).iterations, 1, "Jacobi is the inverse");
    assert_eq!(solved(&matrix, &vec![1.0; n], &plain(Method::Gmres)).iterations, 3);
    // BiCGStab spends two products on an iteration; its polynomial of degree 2k holds the three in
    // two iterations only by chance.
    assert_eq!(solved(&matrix, &vec![1.0; n], &plain(Method::BiCgStab)).iterations, 3);
}

#[test]
fn aims_are_near() {
    let of = |accept, saves| Target::toward(1.0, accept, saves, Pursuit::Near);
    assert_eq!(of(1e-6, 1e-7), Target { accept: 1e-6, aim: 1e-7, pursuit: Pursuit::Near });
    // Two powers of ten at most, unless the rate decides.
    assert_eq!(of(0.99e-5, 1e-7).aim, 1e-7);
    assert_eq!(of(1.01e-5, 1e-7), Target::just(1.01e-5));
    assert_eq!(Target::toward(1.0, 1e-5, 1.1e-10, Pursuit::Affordable).aim, 1.1e-10);
    assert_eq!(Target::toward(1.0, 1e-5, 0.9e-10, Pursuit::Affordable).aim, 1e-5);
    // Nothing more is to be had, or nobody asks.
    assert_eq!((of(1e-8, 1e-7), of(1e-8, 0.0)), (Target::just(1e-8), Target::just(1e-8)));
    assert_eq!(Target::toward(1.0, 1e-8, 0.0, Pursuit::Saved).aim, 1e-8);
}

/// Where a residual that saves the caller a solve is near, it is reached, by few iterations more;
/// where it is not, nothing changes.
#[test]
fn a_residual_that_saves_a_solve_is_aimed_at() {
    let matrix = neumann(40, 40, || 1.0);
    let n = matrix.n_rows();
    // Diagonal more by 0.1: condition 81, so that convergence is even.
    let shifted = triplets(
        n,
        &(0..n)
            .flat_map(|row| matrix.row(row).map(move |(column, value)| (row, column, value)))
            .chain((0..n).map(|row| (row, row, 0.1)))
            .collect::<Vec<_>>(),
    );
    let b = shifted.mul(&Random(4).numbers(n));
    for method in [Method::Cg, Method::BiCgStab, Method::Gmres] {
        let run = |negligible: f64| {
            let options = LinearOptions { negligible, restart: 200, ..options(method) };
            let solution = solved(&shifted, &b, &options);
            (solution.iterations, relative_residual(&shifted, &b, &solution.x))
        };
        let (plain, left) = run(0.0);
        assert!(left > 1e-9, "{method:?} ends soon after 1e-8: {left:e}");
        let (more, left) = run(1e-9);
        assert!(left <= 1e-9, "{method:?}: {left:e}");
        // One power of ten after eight, at the same rate.
        assert!(more > plain && more <= plain + plain / 3, "{method:?}: {more} after {plain}");
        assert_eq!(run(1e-11).0, plain, "{method:?}");
    }
}

/// The rate tells what a residual that is far away costs, also to GMRES, whose cycles end before
/// it: condition 81, so that each power of ten takes as many iterations.
#[test]
fn an_aim_that_saves_a_solve_is_reached_at_the_rate_seen() {
    let matrix = neumann(40, 40, || 1.0);
    let n = matrix.n_rows();
    let diagonal = (0..n).map(|row| (row, row, 0.1));
    let entries: Vec<_> = (0..n).flat_map(|row| matrix.row(row).map(move |(column, value)| (row, column, value))).chain(diagonal).collect();
    let shifted = triplets(n, &entries);
    let b = shifted.mul(&Random(4).numbers(n));
    for method in [Method::Cg, Method::BiCgStab, Method::Gmres] {
        let run = |tolerance: f64, aim: f64, pursuit: Pursuit| {
            let options = LinearOptions { tolerance, negligible: aim, pursuit, restart: 20, ..options(method) };
            let solution = solved(&shifted, &b, &options);
            (solution.iterations, relative_residual(&shifted, &b, &solution.x))
        };
        let (plain, _) = run(1e-4, 0.0, Pursuit::Near);
        // Three powers of ten after four cost less than those, six cost more.
        let (more, left) = run(1e-4, 1e-7, Pursuit::Affordable);
        assert!(left <= 1e-7 && more > plain, "{method:?}: {left:e} after {more}");
        assert_eq!(run(1e-4, 1e-12, Pursuit::Affordable).0, plain, "{method:?}");
        let (all, left) = run(1e-4, 1e-12, Pursuit::Saved);
        assert!(left <= 1e-12 && all > more, "{method:?}: {left:e} after {all}");
    }
}

/// A solution near 1e6 in entries near 1 that cancel: their products leave roundings of 1e-10 in
/// each row, 2e-9 in the norm of 400 of them. What is accepted is more than that, and what is aimed
/// at less. It is as solved as without an aim, and soon.
#[test]
fn an_aim_out_of_reach_is_given_up() {
    let n = 400;
    let entries: Vec<_> = (0..n).flat_map(|i| [(i, i, 2.0 + 1e-6), (i, (i + 1) % n, -1.0), ((i + 1) % n, i, -1.0)]).collect();
    let matrix = triplets(n, &entries);
    let b: Vec<f64> = Random(2).numbers(n).into_iter().map(|x| 1.0 + x).collect();
    for method in [Method::Cg, Method::BiCgStab, Method::Gmres] {
        let options = LinearOptions { tolerance: 2e-9, negligible: 2e-11, restart: 2 * n, ..options(method) };
        let solution = solved(&matrix, &b, &options);
        let left = relative_residual(&matrix, &b, &solution.x);
        assert!(left > 2e-11 && solution.iterations < 3 * n, "{method:?}: {left:e} after {}", solution.iterations);
    }
}
