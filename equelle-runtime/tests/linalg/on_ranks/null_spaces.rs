//! Systems that are singular up to a constant on components that cross ranks.

use equelle_runtime::linalg::{Csr, LinearErrorKind, LinearOptions, Method, Preconditioning, Solution, solve_blocks};

use super::parts::Whole;
use super::{laplacian, owners};
use crate::common::{Random, distance, triplets};

/// Makes the sum of a right-hand side with these weights zero on each component, of which `part`
/// gives the number.
fn balance(b: &mut [f64], weights: &[f64], part: impl Fn(usize) -> usize) {
    let count = (0..b.len()).map(&part).max().map_or(0, |last| last + 1);
    for number in 0..count {
        let members: Vec<usize> = (0..b.len()).filter(|&unknown| part(unknown) == number).collect();
        let along: f64 = members.iter().map(|&unknown| weights[unknown] * b[unknown]).sum();
        let square: f64 = members.iter().map(|&unknown| weights[unknown] * weights[unknown]).sum();
        members.iter().for_each(|&unknown| b[unknown] -= along / square * weights[unknown]);
    }
}

/// Two boxes that are closed, with numbers of the one between those of the other.
fn two_boxes(shape: [usize; 3]) -> Csr {
    let one = laplacian(shape, [1.0, 1.0, 1.0], 0.0);
    let n = one.n_rows();
    let entries: Vec<_> = (0..n)
        .flat_map(|row| {
            one.row(row).flat_map(move |(column, value)| [(2 * row, 2 * column, value), (2 * row + 1, 2 * column + 1, 3.0 * value)])
        })
        .collect();
    triplets(2 * n, &entries)
}

fn check(matrix: &Csr, ends: &[usize], b: &[f64], n_ranks: usize, by_element: &[usize], options: &LinearOptions) -> Solution {
    let alone = solve_blocks(matrix, ends, b, options, &mut Default::default()).unwrap();
    let found = Whole::new(matrix, ends, n_ranks, |element| by_element[element]).solve(b, options);
    let found = found.unwrap_or_else(|error| panic!("{n_ranks} ranks, {options:?}: {error}"));
    let size = alone.x.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
    assert!(distance(&alone.x, &found.x) <= 1e-5 * size, "{n_ranks} ranks: {:e} of {size:e}", distance(&alone.x, &found.x));
    assert_eq!(found.note.as_ref().map(|note| note.contains("singular up to a constant")), Some(true), "{:?}", found.note);
    let words = |note: &Option<String>| note.as_ref().and_then(|note| note.split("constant on ").nth(1)).map(str::to_owned);
    assert_eq!(words(&found.note), words(&alone.note));
    found
}

/// Pure Neumann, and two components, each over all ranks: recognised and solved as on one process.
#[test]
fn closed_boxes_are_solved() {
    let mut random = Random(11);
    let cases = [laplacian([9, 8, 7], [1.0, 1.0, 10.0], 0.0), two_boxes([6, 7, 8])];
    for (matrix, n_parts) in cases.iter().zip([1, 2]) {
        let n = matrix.n_rows();
        let mut b = random.numbers(n);
        balance(&mut b, &vec![1.0; n], |unknown| unknown % n_parts);
        for n_ranks in [1, 2, 3, 6] {
            let by_element = owners(&mut random, n, n_ranks);
            for (method, preconditioner) in [
                (Method::Cg, Preconditioning::Jacobi),
                (Method::Cg, Preconditioning::Amg),
                (Method::Gmres, Preconditioning::Ilu0),
                (Method::Lu, Preconditioning::None),
            ] {
                let options = LinearOptions { method: Some(method), preconditioner: Some(preconditioner), ..LinearOptions::default() };
                check(matrix, &[n], &b, n_ranks, &by_element, &options);
            }
        }
        // Sources that do not sum to zero have no solution, on any number of ranks.
        b[n / 2] += 3.0;
        let options = LinearOptions { method: Some(Method::Cg), preconditioner: Some(Preconditioning::Jacobi), ..LinearOptions::default() };
        let error = Whole::new(matrix, &[n], 3, |element| element * 3 / n).solve(&b, &options).unwrap_err();
        let alone = solve_blocks(matrix, &[n], &b, &options, &mut Default::default()).unwrap_err();
        let (LinearErrorKind::Incompatible { imbalance }, LinearErrorKind::Incompatible { imbalance: expected }) = (error.kind, alone.kind)
        else {
            panic!("{error}; {alone}")
        };
        assert!((imbalance - expected).abs() <= 1e-9 && (expected - 3.0).abs() < 1e-9, "{imbalance} {expected}");
        assert_eq!(error.detail, alone.detail);
    }
}

/// Rows that are divided by volumes: the left null vector is the volumes, found by detailed balance
/// across ranks.
#[test]
fn volumes_are_found_by_detailed_balance() {
    let mut random = Random(17);
    let box_matrix = two_boxes([7, 6, 5]);
    let n = box_matrix.n_rows();
    let volumes: Vec<f64> = (0..n).map(|_| 1.5 + random.number()).collect();
    let matrix = box_matrix.scaled_rows(&volumes.iter().map(|volume| 1.0 / volume).collect::<Vec<_>>());
    let mut b = random.numbers(n);
    balance(&mut b, &volumes, |unknown| unknown % 2);
    for n_ranks in [1, 2, 3, 7] {
        let by_element = owners(&mut random, n, n_ranks);
        let options =
            LinearOptions { method: Some(Method::BiCgStab), preconditioner: Some(Preconditioning::Jacobi), ..LinearOptions::default() };
        check(&matrix, &[n], &b, n_ranks, &by_element, &options);
        // Sources are weighed by the volumes.
        let mut unbalanced = b.clone();
        unbalanced[n / 3] += 1.0;
        let solve = |b: &[f64]| Whole::new(&matrix, &[n], n_ranks, |element| by_element[element]).solve(b, &options);
        let alone = solve_blocks(&matrix, &[n], &unbalanced, &options, &mut Default::default()).unwrap_err();
        let LinearErrorKind::Incompatible { imbalance: expected } = alone.kind else { panic!("{alone}") };
        match solve(&unbalanced).unwrap_err().kind {
            LinearErrorKind::Incompatible { imbalance } => assert!((imbalance - expected).abs() < 1e-9, "{imbalance} {expected}"),
            other => panic!("{n_ranks} ranks: {other:?}"),
        }
    }
}

/// A pressure that is determined up to a constant beside another field that is not.
#[test]
fn one_field_of_two_is_singular() {
    let mut random = Random(23);
    let pressure = laplacian([8, 7, 6], [1.0, 2.0, 3.0], 0.0);
    let n = pressure.n_rows();
    let mut entries = Vec::new();
    for row in 0..n {
        for (column, value) in pressure.row(row) {
            entries.extend([(row, column, value), (n + row, column, 0.3 * value)]);
        }
        entries.extend([(row, n + row, 0.0), (n + row, n + row, 4.0 + random.number())]);
    }
    let matrix = triplets(2 * n, &entries);
    let mut b = random.numbers(2 * n);
    balance(&mut b[..n], &vec![1.0; n], |_| 0);
    for n_ranks in [1, 2, 3, 5] {
        let by_element = owners(&mut random, n, n_ranks);
        for (method, preconditioner) in
            [(Method::Gmres, Preconditioning::BlockIlu0), (Method::Gmres, Preconditioning::Cpr), (Method::Lu, Preconditioning::None)]
        {
            let options = LinearOptions { method: Some(method), preconditioner: Some(preconditioner), ..LinearOptions::default() };
            check(&matrix, &[n, 2 * n], &b, n_ranks, &by_element, &options);
        }
    }
}

/// Entries that were rounded to single precision: the nearest matrix with the null space is solved.
#[test]
fn rounded_entries_are_restored() {
    let mut random = Random(29);
    let smooth = laplacian([9, 9, 9], [1.0 / 3.0, 1.0 / 7.0, 1.0 / 11.0], 0.0);
    let n = smooth.n_rows();
    let entries: Vec<_> =
        (0..n).flat_map(|row| smooth.row(row).map(move |(column, value)| (row, column, f64::from(value as f32)))).collect();
    let matrix = triplets(n, &entries);
    let mut b = random.numbers(n);
    balance(&mut b, &vec![1.0; n], |_| 0);
    let rounding = f64::from(f32::EPSILON);
    for (method, preconditioner) in [(Method::Cg, Preconditioning::Jacobi), (Method::Lu, Preconditioning::None)] {
        let options = LinearOptions { method: Some(method), preconditioner: Some(preconditioner), rounding, ..LinearOptions::default() };
        for n_ranks in [1, 3, 4] {
            let by_element = owners(&mut random, n, n_ranks);
            check(&matrix, &[n], &b, n_ranks, &by_element, &options);
        }
    }
}
