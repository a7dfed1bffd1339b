//! Matrices whose entries were computed in single precision: what cancels on paper cancels but for
//! roundings of singles.

use equelle_runtime::linalg::null_space::NullSpace;
use equelle_runtime::linalg::{Csr, LinearCache, LinearErrorKind, LinearOptions, Method, Solution, solve, solve_blocks};

use crate::common::{Random, distance, neumann, options, triplets};

const SINGLE: f64 = f32::EPSILON as f64;

/// Every entry, after a factor for its row, as a single.
fn rounded(matrix: &Csr, factors: &[f64]) -> Csr {
    let n = matrix.n_rows();
    let entries: Vec<_> = (0..n)
        .flat_map(|i| matrix.row(i).map(move |(j, value)| (i, j, f64::from((value * factors[i]) as f32))).collect::<Vec<_>>())
        .collect();
    triplets(n, &entries)
}

/// Rounded, with its sum taken out of the first number, so that they balance as singles do.
fn balanced(mut numbers: Vec<f64>) -> Vec<f64> {
    let mean = numbers.iter().sum::<f64>() / numbers.len() as f64;
    numbers.iter_mut().for_each(|b| *b = f64::from((*b - mean) as f32));
    numbers
}

fn single(method: Method) -> LinearOptions {
    LinearOptions { rounding: SINGLE, ..options(method) }
}

fn solved(matrix: &Csr, b: &[f64], options: &LinearOptions) -> Solution {
    solve(matrix, b, options, &mut LinearCache::default()).unwrap_or_else(|error| panic!("{:?}: {error}", options.method))
}

fn largest(x: &[f64]) -> f64 {
    x.iter().fold(0.0, |most: f64, x| most.max(x.abs()))
}

#[test]
fn a_closed_grid_keeps_its_mean() {
    let mut random = Random(7);
    for (nx, ny) in [(30, 1), (8, 7), (20, 15)] {
        let n = nx * ny;
        let exact = neumann(nx, ny, || 1.1 + random.number());
        let matrix = rounded(&exact, &vec![1.0; n]);
        // With roundings of doubles the level looks fixed, and with those of singles it is open.
        assert!(NullSpace::find(&matrix, f64::EPSILON).is_empty());
        let null_space = NullSpace::find(&matrix, SINGLE);
        assert!(null_space.components.len() == 1 && null_space.is_known());
        let b = balanced(random.numbers(n));
        let expected = solved(&exact, &b, &LinearOptions { tolerance: 1e-6, ..options(Method::Lu) });
        for method in Method::ALL {
            let solution = solved(&matrix, &b, &single(method));
            let x = &solution.x;
            assert!(x.iter().sum::<f64>().abs() <= 1e-13 * n as f64 * largest(x), "{method:?}");
            // (A + dA)(x + dx) = b: |dx| <= |dA x| / smallest eigenvalue, which is above 0.1 (pi /
            // 30)^2 = 1.1e-3; a row of dA has at most five entries, of at most 8.4, each off by
            // 6e-8 of that, and its diagonal takes up as much again.
            let bound = (n as f64).sqrt() * 10.0 * 8.4 * 0.5 * SINGLE * largest(x) / 1.1e-3;
            assert!(distance(x, &expected.x) <= bound, "{method:?}: {:e} of {bound:e}", distance(x, &expected.x));
            assert!(solution.note.is_some_and(|note| note.contains("constant on 1 connected component")), "{method:?}");
        }
        // A source without a sink of the same size is refused: 1e-4 of the largest is far above
        // roundings.
        let mut more = b.clone();
        more[n / 2] += 1e-4 * largest(&b) * n as f64;
        for method in Method::ALL {
            let error = solve(&matrix, &more, &single(method), &mut LinearCache::default()).expect_err("it does not balance");
            assert!(matches!(error.kind, LinearErrorKind::Incompatible { .. }), "{method:?}: {error}");
        }
    }
}

#[test]
fn equations_divided_by_volumes() {
    let mut random = Random(8);
    let n = 12 * 9;
    let exact = neumann(12, 9, || 1.1 + random.number());
    let volumes: Vec<f64> = (0..n).map(|_| 1.5 + random.number()).collect();
    let per_volume: Vec<f64> = volumes.iter().map(|v| 1.0 / v).collect();
    let matrix = rounded(&exact, &per_volume);
    let null_space = NullSpace::find(&matrix, SINGLE);
    assert!(null_space.components.len() == 1 && null_space.is_known());
    let weights = &null_space.components[0].left.as_ref().expect("known").weights;
    let heaviest = largest(&volumes);
    // A weight is a product of at most 19 quotients (the longest way from the first cell) of two
    // singles, and of the one that the others are divided by.
    let off = 2.0 * 19.0 * SINGLE;
    volumes.iter().zip(weights).for_each(|(v, w)| assert!((v / heaviest - w).abs() <= off * w, "{v} {w}"));
    let b = balanced(random.numbers(n));
    let expected = solved(&exact, &b, &LinearOptions { tolerance: 1e-6, ..options(Method::Lu) });
    let rhs: Vec<f64> = b.iter().zip(&per_volume).map(|(b, v)| f64::from((b * v) as f32)).collect();
    for method in [Method::Lu, Method::BiCgStab, Method::Gmres] {
        let solution = solved(&matrix, &rhs, &single(method));
        // As above, with the smallest eigenvalue above 0.1 (pi / 12)^2 = 6.8e-3, and three
        // roundings of each entry, volume and right-hand side.
        let bound = (n as f64).sqrt() * 30.0 * 8.4 * 0.5 * SINGLE * largest(&solution.x) / 6.8e-3;
        assert!(distance(&solution.x, &expected.x) <= bound, "{method:?}: {:e} of {bound:e}", distance(&solution.x, &expected.x));
    }
}

#[test]
fn what_is_more_than_a_rounding_fixes_the_level() {
    // A leak of 1e-3 of the diagonal in one cell: 250 roundings of the sum of magnitudes there.
    let exact = neumann(6, 5, || 1.0);
    let mut entries: Vec<_> = (0..30).flat_map(|i| exact.row(i).map(move |(j, value)| (i, j, value)).collect::<Vec<_>>()).collect();
    entries.push((14, 14, 4e-3));
    let matrix = rounded(&triplets(30, &entries), &[1.0; 30]);
    assert!(NullSpace::find(&matrix, SINGLE).is_empty());
    // x = 5 everywhere: only the leak gives something.
    let mut b = [0.0; 30];
    b[14] = 5.0 * (matrix.entry(14, 14) - 4.0);
    for method in Method::ALL {
        let x = solved(&matrix, &b, &LinearOptions { tolerance: 1e-12, ..single(method) }).x;
        // The smallest eigenvalue is about 4e-3 / 30; the residual is 1e-12 of 2e-2.
        assert!(distance(&x, &[5.0; 30]) < 1e-9, "{method:?}: {:e}", distance(&x, &[5.0; 30]));
    }
}

#[test]
fn the_level_of_one_field_of_two() {
    // L p + 0.3 L s and 0.7 L p + s + 0.2 L s.
    let mut random = Random(9);
    let n = 6 * 4;
    let laplace = neumann(6, 4, || 1.1 + random.number());
    let mut entries = Vec::new();
    for row in 0..n {
        for (column, value) in laplace.row(row) {
            let identity = if row == column { 1.0 } else { 0.0 };
            entries.push((row, column, value));
            entries.push((row, n + column, 0.3 * value));
            entries.push((n + row, column, 0.7 * value));
            entries.push((n + row, n + column, identity + 0.2 * value));
        }
    }
    let exact = triplets(2 * n, &entries);
    let matrix = rounded(&exact, &vec![1.0; 2 * n]);
    let ends = [n, 2 * n];
    assert!(NullSpace::find_in_blocks(&matrix, &ends, f64::EPSILON).is_empty());
    let null_space = NullSpace::find_in_blocks(&matrix, &ends, SINGLE);
    assert_eq!(null_space.components.len(), 1);
    assert_eq!(null_space.components[0].unknowns, (0..n).collect::<Vec<_>>());
    let mut x = random.numbers(2 * n);
    let mean = x[..n].iter().sum::<f64>() / n as f64;
    x[..n].iter_mut().for_each(|p| *p -= mean);
    let b: Vec<f64> = exact.mul(&x).into_iter().map(|b| f64::from(b as f32)).collect();
    for method in [Method::Lu, Method::BiCgStab, Method::Gmres] {
        let solution = solve_blocks(&matrix, &ends, &b, &single(method), &mut LinearCache::default());
        let solution = solution.unwrap_or_else(|error| panic!("{method:?}: {error}"));
        // Entries and right-hand side are off by 6e-8 of at most 9 each, nine to a row; condition
        // numbers are below 1000.
        let found = distance(&solution.x, &x);
        assert!(found <= 1000.0 * 10.0 * 0.5 * SINGLE * 9.0, "{method:?}: {found:e}");
    }
}
