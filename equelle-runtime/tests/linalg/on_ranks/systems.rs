//! Random systems with every method and preconditioner.

use equelle_runtime::linalg::{Csr, LinearErrorKind, LinearOptions, Method, Preconditioning, refusal};

use super::parts::Whole;
use super::{laplacian, owners};
use crate::common::{Random, distance, relative_residual, triplets};

/// A diagonally dominant matrix of `k` fields on `n` elements, symmetric if asked.
fn random_matrix(random: &mut Random, n: usize, k: usize, is_symmetric: bool) -> Csr {
    let mut entries = Vec::new();
    let mut sums = vec![0.0; k * n];
    for _ in 0..3 * n {
        let (a, b) = (random.below(n), random.below(n));
        for e in 0..k {
            for u in 0..k {
                let (row, column) = (e * n + a, u * n + b);
                let value = random.number();
                let back = if is_symmetric { value } else { random.number() };
                if row != column {
                    entries.extend([(row, column, value), (column, row, back)]);
                    sums[row] += value.abs();
                    sums[column] += back.abs();
                }
            }
        }
    }
    entries.extend((0..k * n).map(|row| (row, row, 1.2 * sums[row] + 0.1)));
    triplets(k * n, &entries)
}

/// All pairs of methods and preconditioners, on partitions of any kind, some of which leave ranks
/// without unknowns; solutions to the tolerance.
#[test]
fn every_method_solves_random_systems() {
    let mut random = Random(7);
    for case in 0..24 {
        let (n, k, is_symmetric) = (4 + random.below(60), 1 + random.below(3), case % 2 == 0);
        let n_ranks = 1 + case % 8;
        let matrix = random_matrix(&mut random, n, k, is_symmetric);
        let ends: Vec<usize> = (1..=k).map(|field| field * n).collect();
        let by_element = owners(&mut random, n, n_ranks);
        let mut whole = Whole::new(&matrix, &ends, n_ranks, |element| by_element[element]);
        whole.in_blocks = case % 3 == 0;
        let b = random.numbers(k * n);
        for method in [Method::Cg, Method::BiCgStab, Method::Gmres, Method::Lu] {
            for preconditioner in Preconditioning::ALL {
                let needs_fields = preconditioner == Preconditioning::Cpr && k < 2;
                let is_unsuitable =
                    method == Method::Cg && !is_symmetric || method == Method::Lu && preconditioner != Preconditioning::None;
                if refusal(method, preconditioner).is_some() || needs_fields || is_unsuitable {
                    continue;
                }
                let options = LinearOptions { method: Some(method), preconditioner: Some(preconditioner), ..LinearOptions::default() };
                let what = format!("case {case}: {n} elements, {k} fields, {n_ranks} ranks, {method:?}, {preconditioner:?}");
                let solution = whole.solve(&b, &options).unwrap_or_else(|error| panic!("{what}: {error}"));
                let residual = relative_residual(&matrix, &b, &solution.x);
                assert!(residual <= options.tolerance * (1.0 + 1e-6), "{what}: {residual:e}");
            }
        }
        let solution = whole.solve(&b, &LinearOptions::default()).unwrap();
        assert!(relative_residual(&matrix, &b, &solution.x) <= 1.001e-8);
    }
}

/// Without a preconditioner and with Jacobi the iterates are those of one process up to round-off.
#[test]
fn iterations_with_jacobi_are_those_of_one_process() {
    let mut random = Random(3);
    for (matrix, method) in [
        (laplacian([12, 11, 10], [1.0, 1.0, 1.0], 2.0), Method::Cg),
        (laplacian([9, 8, 13], [1.0, 2.0, 100.0], 2.0), Method::Cg),
        (upwind([14, 9, 7]), Method::BiCgStab),
        (upwind([9, 11, 8]), Method::Gmres),
    ] {
        let n = matrix.n_rows();
        let b = random.numbers(n);
        for preconditioner in [Preconditioning::None, Preconditioning::Jacobi] {
            let options = LinearOptions { method: Some(method), preconditioner: Some(preconditioner), ..LinearOptions::default() };
            let alone = equelle_runtime::linalg::solve(&matrix, &b, &options, &mut Default::default()).unwrap();
            for n_ranks in [1, 2, 5, 8] {
                let by_element = owners(&mut random, n, n_ranks);
                let found = Whole::new(&matrix, &[n], n_ranks, |element| by_element[element]).solve(&b, &options).unwrap();
                let difference = found.iterations.abs_diff(alone.iterations);
                assert!(difference <= 2, "{method:?}, {preconditioner:?}: {} instead of {}", found.iterations, alone.iterations);
                let size = alone.x.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
                assert!(distance(&alone.x, &found.x) <= 1e-5 * size);
            }
        }
    }
}

/// Diffusion and transport along the first axis.
pub fn upwind(shape: [usize; 3]) -> Csr {
    let matrix = laplacian(shape, [1.0, 1.0, 1.0], 2.0);
    let n = matrix.n_rows();
    let mut entries: Vec<_> = (0..n).flat_map(|row| matrix.row(row).map(move |(column, value)| (row, column, value))).collect();
    for cell in 0..n {
        entries.push((cell, cell, 8.0));
        if !cell.is_multiple_of(shape[0]) {
            entries.push((cell, cell - 1, -8.0));
        }
    }
    triplets(n, &entries)
}

/// The same partition gives the same bits each time; with a cache and other right-hand sides too.
#[test]
fn a_partition_gives_the_same_bits_each_time() {
    let matrix = laplacian([17, 18, 19], [1.0, 1.0, 40.0], 2.0);
    let n = matrix.n_rows();
    let mut random = Random(5);
    let b: Vec<Vec<f64>> = (0..3).map(|_| random.numbers(n)).collect();
    let rhs: Vec<&[f64]> = b.iter().map(|b| &b[..]).collect();
    for preconditioner in [Preconditioning::Jacobi, Preconditioning::Amg, Preconditioning::Fsai] {
        let options = LinearOptions { preconditioner: Some(preconditioner), ..LinearOptions::default() };
        let ends = [n];
        let whole = Whole::new(&matrix, &ends, 3, |element| element * 3 / n);
        let bits = |_: usize| -> Vec<u64> {
            let solved = whole.solve_all(&rhs, &options);
            solved.into_iter().flat_map(|solution| solution.unwrap().x).map(f64::to_bits).collect()
        };
        assert_eq!(bits(0), bits(1), "{preconditioner:?}");
    }
}

/// Errors have the same words on all ranks, and name rows by numbers of the whole system.
#[test]
fn errors_are_the_same_on_all_ranks() {
    let n = 60;
    let mut chain: Vec<_> = (0..n).map(|i| (i, i, 3.0)).collect();
    chain.extend((1..n).flat_map(|i| [(i, i - 1, -1.0), (i - 1, i, -1.0)]));
    let matrix = triplets(n, &chain);
    let ends = [n];
    let solve = |matrix: &Csr, b: &[f64], options: &LinearOptions| {
        Whole::new(matrix, &ends, 3, |element| element * 3 / n).solve(b, options).unwrap_err()
    };
    let mut b = vec![1.0; n];
    b[47] = f64::INFINITY;
    let error = solve(&matrix, &b, &LinearOptions::default());
    assert_eq!((error.kind, &error.detail[..]), (LinearErrorKind::NonFinite, "the right-hand side is inf in row 47"));

    let mut broken = chain.clone();
    broken.push((20, 45, f64::NEG_INFINITY));
    let error = solve(&triplets(n, &broken), &vec![1.0; n], &LinearOptions::default());
    assert_eq!((error.kind, &error.detail[..]), (LinearErrorKind::NonFinite, "the matrix is -inf in row 20, column 45"));

    let mut uneven = chain.clone();
    uneven.push((19, 20, 0.25));
    let options = LinearOptions { method: Some(Method::Cg), preconditioner: Some(Preconditioning::Jacobi), ..LinearOptions::default() };
    let error = solve(&triplets(n, &uneven), &vec![1.0; n], &options);
    let expected = "the matrix is not symmetric: -7.5e-1 in row 19, column 20, but -1e0 in the mirror place";
    assert_eq!((error.kind, &error.detail[..]), (LinearErrorKind::Breakdown, expected));

    // The rows of two unknowns are equal.
    let mut singular: Vec<_> = chain.iter().copied().filter(|(row, ..)| *row != 41).collect();
    singular.extend(chain.iter().filter(|(row, ..)| *row == 40).map(|&(_, column, value)| (41, column, value)));
    let error = solve(&triplets(n, &singular), &(0..n).map(|i| i as f64).collect::<Vec<_>>(), &LinearOptions::default());
    assert_eq!(error.kind, LinearErrorKind::Singular, "{error}");
}
