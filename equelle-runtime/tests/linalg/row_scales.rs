//! Rows of very different sizes: none hides behind another one, whatever the solver is.

use equelle_runtime::linalg::{Csr, LinearCache, LinearOptions, Method, Preconditioning, Solution, refusal, solve, solve_blocks};

use crate::common::{Random, distance, relative_residual, triplets};
use crate::grids::{Cells, blocks_of};

fn entries(matrix: &Csr) -> Vec<(usize, usize, f64)> {
    (0..matrix.n_rows()).flat_map(|row| matrix.row(row).map(move |(column, value)| (row, column, value))).collect()
}

/// Rows times factors.
fn with_factors(matrix: &Csr, factors: &[f64]) -> Csr {
    let entries: Vec<_> = entries(matrix).into_iter().map(|(row, column, value)| (row, column, factors[row] * value)).collect();
    triplets(matrix.n_rows(), &entries)
}

fn products(x: &[f64], y: &[f64]) -> Vec<f64> {
    x.iter().zip(y).map(|(x, y)| x * y).collect()
}

/// Powers of two from 2^-most to 2^most.
fn powers(n: usize, most: i32, seed: u64) -> Vec<f64> {
    let mut random = Random(seed);
    (0..n).map(|_| 2.0_f64.powi(random.below(2 * most as usize + 1) as i32 - most)).collect()
}

/// The choice of the driver, and all pairs of a method and a preconditioner for one field; Krylov
/// methods without a preconditioner depend on the condition.
fn pairs() -> Vec<LinearOptions> {
    let wide = LinearOptions { restart: 300, ..LinearOptions::default() };
    let mut pairs = vec![LinearOptions::default()];
    for method in Method::ALL {
        for preconditioner in Preconditioning::ALL {
            let is_plain = preconditioner == Preconditioning::None && method != Method::Lu;
            if is_plain || preconditioner == Preconditioning::Cpr || refusal(method, preconditioner).is_some() {
                continue;
            }
            pairs.push(LinearOptions { method: Some(method), preconditioner: Some(preconditioner), ..wide.clone() });
        }
    }
    pairs
}

fn solved(matrix: &Csr, b: &[f64], options: &LinearOptions) -> Solution {
    solve(matrix, b, options, &mut LinearCache::default())
        .unwrap_or_else(|error| panic!("{:?} {:?}: {error}", options.method, options.preconditioner))
}

/// `|D (b - A x)| / |D b|`, where each row is divided by its largest magnitude.
fn scaled_residual(matrix: &Csr, b: &[f64], x: &[f64]) -> f64 {
    let factors: Vec<f64> =
        (0..matrix.n_rows()).map(|row| 1.0 / matrix.row(row).fold(0.0, |largest: f64, (_, value)| largest.max(value.abs()))).collect();
    relative_residual(&with_factors(matrix, &factors), &products(b, &factors), x)
}

/// A cell in the middle of a cube is held at 1 by an equation of its own, times a unit; the walls
/// hold 0. No method may be content with that equation alone.
#[test]
fn a_cell_that_is_held() {
    let cells = Cells::cube(11);
    let n = cells.count();
    let held = n / 2;
    let poisson = cells.poisson();
    let mut b = vec![0.0; n];
    b[held] = 1.0;
    let with_unit = |unit: f64| {
        let mut all: Vec<_> = entries(&poisson).into_iter().filter(|(row, ..)| *row != held).map(|(i, j, a)| (i, j, 1e-7 * a)).collect();
        all.push((held, held, unit));
        (triplets(n, &all), b.iter().map(|b| unit * b).collect::<Vec<_>>())
    };
    let (matrix, rhs) = with_unit(1e-7);
    let right = solved(&matrix, &rhs, &LinearOptions { method: Some(Method::Lu), ..LinearOptions::default() }).x;
    // Neighbours of the cell are near a fifth: far from what they would be without it.
    assert!(right[held + 1] > 0.1 && (right[held] - 1.0).abs() < 1e-12);
    for unit in [1e-30, 1e-14, 1.0, 1e12, 1e30] {
        let (matrix, rhs) = with_unit(unit);
        for options in pairs().iter().filter(|options| options.method != Some(Method::Cg)) {
            let x = solved(&matrix, &rhs, options).x;
            // The tolerance 1e-8 of the one right-hand side, times the condition of a grid of 11^3
            // cells, 4 (11 / 3.14)^2 = 50, and the root of its number of cells, 36.
            assert!(distance(&x, &right) < 2e-5, "{unit}: {:?} {:?}: {}", options.method, options.preconditioner, distance(&x, &right));
        }
    }
}

/// Cells are held by a large coefficient on the diagonal: the matrix stays symmetric, so CG keeps
/// running on it, and the answer tends to that of cells that are held exactly.
#[test]
fn a_penalty_of_any_size() {
    let cells = Cells::cube(12);
    let n = cells.count();
    let held = |cell: usize| cells.place(cell)[0] < 3 && cells.place(cell)[1] < 3;
    let poisson = cells.poisson();
    let solve_with = |large: f64, options: &LinearOptions| {
        let mut all = entries(&poisson);
        all.extend((0..n).filter(|cell| held(*cell)).map(|cell| (cell, cell, large)));
        let b: Vec<f64> = (0..n).map(|cell| if held(cell) { 5.0 * large } else { 0.01 }).collect();
        solved(&triplets(n, &all), &b, options)
    };
    let right = solve_with(1e9, &LinearOptions { method: Some(Method::Lu), ..LinearOptions::default() }).x;
    for large in [1e5, 1e10, 1e20, 1e30] {
        for options in pairs() {
            let solution = solve_with(large, &options);
            // A penalty leaves 6 * 5 / 1e5 in the cells; beside it the tolerance as above.
            let allowed = 30.0 / large * 1.1 + 2e-5 * 5.0;
            assert!(distance(&solution.x, &right) < allowed, "{large}: {:?} {:?}", solution.method, solution.preconditioner);
            if options.method.is_none() {
                assert_eq!(solution.method, Method::Cg);
            }
        }
    }
}

/// A symmetric matrix whose equations have factors is no longer symmetric. It takes at most twice
/// the iterations of the symmetric one with CG, and is as accurate in the equations as given.
#[test]
fn a_symmetric_matrix_scaled_from_one_side() {
    let cells = Cells::cube(20);
    let n = cells.count();
    let matrix = cells.poisson();
    let b = Random(5).numbers(n);
    let plain = solved(&matrix, &b, &LinearOptions::default());
    assert_eq!(plain.method, Method::Cg);
    let exact = solved(&matrix, &b, &LinearOptions { tolerance: 1e-13, ..LinearOptions::default() }).x;
    for (most, seed) in [(6, 1), (20, 2), (60, 3), (200, 4)] {
        let factors = powers(n, most, seed);
        let (scaled, rhs) = (with_factors(&matrix, &factors), products(&b, &factors));
        let solution = solved(&scaled, &rhs, &LinearOptions::default());
        assert!(scaled_residual(&scaled, &rhs, &solution.x) < 2e-8);
        // |A^-1| is 1 / (3 (pi / 20)^2) = 14, and |b| / sqrt(3) is the root of n.
        assert!(distance(&solution.x, &exact) < 2e-8 * 14.0 * (n as f64).sqrt(), "2^{most}: {}", distance(&solution.x, &exact));
        assert!(solution.iterations <= 2 * plain.iterations, "2^{most}: {} after {}", solution.iterations, plain.iterations);
    }
}

/// Matrices that are not symmetric: any powers of two by rows give the same bits, also with what
/// was kept from a solve before.
#[test]
fn factors_of_rows_change_no_bit() {
    let cells = Cells([9, 8, 7]);
    let n = cells.count();
    let small = Cells([5, 4, 3]);
    let m = small.count();
    let systems = [
        (cells.transport([3.0, -2.0, 1.0]), vec![n]),
        (cells.poisson(), vec![n]),
        (small.two_phase(&blocks_of(small, 2, 1e3, 3), 1e-2, 9), vec![m, 2 * m]),
    ];
    for (matrix, ends) in &systems {
        let size = matrix.n_rows();
        let b = matrix.mul(&Random(2).numbers(size));
        for options in pairs().iter().filter(|options| options.method != Some(Method::Cg)) {
            let run = |seed: u64| {
                let factors = powers(size, 30, seed);
                let (scaled, rhs) = (with_factors(matrix, &factors), products(&b, &factors));
                let mut cache = LinearCache::default();
                [(); 2].map(|()| match solve_blocks(&scaled, ends, &rhs, options, &mut cache) {
                    Ok(solution) => Ok((solution.x.iter().map(|x| x.to_bits()).collect::<Vec<_>>(), solution.iterations)),
                    Err(error) => Err((error.method, error.iterations, error.relative_residual.to_bits())),
                })
            };
            let expected = run(1);
            assert!((2..5).all(|seed| run(seed) == expected), "{:?} {:?}", options.method, options.preconditioner);
        }
    }
}

/// Coefficients over five decades belong to balances in one unit: what cells with large entries
/// lose together stays small beside what flows, which scaled rows alone do not tell. A block of
/// conductivity 1e5 within 1 has a value of its own that its thin hull decides.
#[test]
fn a_contrast_keeps_its_balance() {
    let cells = Cells::cube(14);
    let n = cells.count();
    let inside = |cell: usize| cells.place(cell).iter().all(|k| (5..9).contains(k));
    let conductivity: Vec<f64> = (0..n).map(|cell| if inside(cell) { 1e5 } else { 1.0 }).collect();
    let matrix = cells.heterogeneous(&conductivity);
    let b: Vec<f64> = (0..n).map(|cell| if inside(cell) { 1.0 } else { 0.0 }).collect();
    let right = solved(&matrix, &b, &LinearOptions { method: Some(Method::Lu), ..LinearOptions::default() }).x;
    for options in pairs() {
        let x = solved(&matrix, &b, &options).x;
        assert!(relative_residual(&matrix, &b, &x) < 1.001e-8 && scaled_residual(&matrix, &b, &x) < 2e-8);
        let largest = right.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
        // The tolerance times the condition of the grid without the contrast, 4 (14 / 3.14)^2 = 80,
        // and the root of the 64 sources in one block.
        assert!(distance(&x, &right) < 1e-8 * 80.0 * 8.0 * largest, "{:?} {:?}", options.method, options.preconditioner);
    }
}

/// Two equations of a system, in units of their own by a power of two each: the same bits in all
/// units, also where the one with the larger numbers holds already and the rows of an equation
/// differ by five decades, and every right-hand side is met.
#[test]
fn equations_in_units_of_their_own() {
    let cells = Cells([6, 5, 4]);
    let n = cells.count();
    let wind = cells.transport([3.0, -2.0, 1.0]);
    let contrast: Vec<f64> = (0..n).map(|cell| if cells.place(cell)[0] < 3 { 1e5 } else { 1.0 }).collect();
    for first in [cells.poisson(), cells.heterogeneous(&contrast)] {
        // A x + T y = 0 and y + x / 2 = b: all of the first equation is on its left.
        let mut all = entries(&first);
        all.extend(entries(&wind).into_iter().map(|(row, column, value)| (row, n + column, value)));
        all.extend((0..n).flat_map(|cell| [(n + cell, cell, 0.5), (n + cell, n + cell, 1.0)]));
        let matrix = triplets(2 * n, &all);
        let b: Vec<f64> = (0..2 * n).map(|row| if row < n { 0.0 } else { 1.0 }).collect();
        for options in pairs().iter().filter(|options| options.method != Some(Method::Cg)) {
            let run = |[first, second]: [i32; 2]| {
                let factors: Vec<f64> = (0..2 * n).map(|row| 2.0_f64.powi(if row < n { first } else { second })).collect();
                let (scaled, rhs) = (with_factors(&matrix, &factors), products(&b, &factors));
                let solution = solve_blocks(&scaled, &[n, 2 * n], &rhs, options, &mut LinearCache::default());
                let Solution { x, iterations, .. } = match solution {
                    Ok(solution) => solution,
                    // Some pairs fail, in all units.
                    Err(error) => return Err((error.method, error.iterations)),
                };
                assert!(
                    relative_residual(&matrix, &b, &x) < 1e-6,
                    "2^{first}, 2^{second}: {:?} {:?}",
                    options.method,
                    options.preconditioner
                );
                Ok((x.iter().map(|x| x.to_bits()).collect::<Vec<_>>(), iterations))
            };
            let expected = run([40, -10]);
            let is_direct = options.method.is_none_or(|method| method == Method::Lu);
            assert!(!is_direct || expected.is_ok(), "{:?} {:?}", options.method, options.preconditioner);
            for units in [[-40, 60], [0, -30], [33, 0], [70, 1]] {
                assert!(run(units) == expected, "{units:?}: {:?} {:?}", options.method, options.preconditioner);
            }
        }
    }
}

/// Nearly constant solutions, as pressures in a closed reservoir: terms are 4 / 1e-8 times as large
/// as the right-hand side, so that their rounding, 2e-16, leaves up to 1e-7 of it, and no method
/// reaches 1e-8. Rows are uneven and equations have their own units: that counts as solved.
#[test]
fn what_the_terms_of_uneven_rows_round_counts_as_solved() {
    let n = 200;
    let large = |cell: usize| 2.0_f64.powf(12.0 * cell as f64 / n as f64);
    let (units, held) = ([1.0, 2.0_f64.powi(-20)], 1e-8);
    let mut all = Vec::new();
    let mut b = vec![0.0; 2 * n];
    for (equation, unit) in units.into_iter().enumerate() {
        let at = |cell: usize| equation * n + cell;
        for cell in 0..n {
            b[at(cell)] = unit * held * large(cell);
            all.push((at(cell), at(cell), b[at(cell)]));
        }
        for cell in 1..n {
            let between = unit * large(cell);
            let places = [at(cell - 1), at(cell)];
            all.extend([(0, 0, 1.0), (0, 1, -1.0), (1, 0, -1.0), (1, 1, 1.0)].map(|(i, j, sign)| (places[i], places[j], sign * between)));
        }
    }
    let matrix = triplets(2 * n, &all);
    let mut above = 0;
    for options in pairs() {
        let solved = solve_blocks(&matrix, &[n, 2 * n], &b, &options, &mut LinearCache::default());
        let solution = solved.unwrap_or_else(|error| panic!("{:?} {:?}: {error}", options.method, options.preconditioner));
        above += usize::from(solution.relative_residual > options.tolerance);
        // A residual of 1e-7 of the right-hand side changes the constant by as much; the rest is
        // the condition of the chain, which the rounding of terms meets once more.
        let error = solution.x.iter().fold(0.0, |most: f64, x| most.max((x - 1.0).abs()));
        assert!(error < 1e-5, "{:?} {:?}: {error:e}", options.method, options.preconditioner);
    }
    assert!(above > 0, "the tolerance can be reached");
    // Residuals that are no round-off are not accepted.
    let few = LinearOptions {
        method: Some(Method::Gmres),
        preconditioner: Some(Preconditioning::Jacobi),
        max_iterations: 5,
        ..LinearOptions::default()
    };
    assert!(solve_blocks(&matrix, &[n, 2 * n], &b, &few, &mut LinearCache::default()).is_err());
}
