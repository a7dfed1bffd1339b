//! Operations on ranks that are threads, against those on whole matrices.

use std::rc::Rc;
use std::sync::Arc;

use super::columns::HaloColumns;
use super::matrix::RankMatrix;
use super::numbering::Numbering;
use super::space::RankSpace;
use crate::linalg::driver::choose::MatrixProperties;
use crate::linalg::matrix::csr::{Csr, Symmetry};
use crate::linalg::null_space::{Component, LeftNullVector, NullSpace};
use crate::linalg::precond::amg::{AmgOptions, Coarsen, Coarsened, LevelParts};
use crate::linalg::precond::mixed_precision::matrix::F32Matrix;
use crate::linalg::precond::mixed_precision::space::F32Space;
use crate::linalg::space::host::HostSpace;
use crate::linalg::space::host_matrix::HostMatrix;
use crate::linalg::space::matrix_space::{Correction, Direction, MatrixSpace, Smoothed};
use crate::linalg::space::system_space::{Inspection, SystemSpace};
use crate::ranks::{RankContext, RankId, ThreadTransport};

/// Runs a function on ranks that are threads.
fn on_ranks<T: Send>(n_ranks: usize, run: impl Fn(RankSpace<HostSpace>, usize) -> T + Sync) -> Vec<T> {
    std::thread::scope(|scope| {
        let run = &run;
        let ranks = ThreadTransport::connected(n_ranks, Some(1)).into_iter().enumerate();
        let start = |(rank, transport)| {
            let context = Arc::new(RankContext::new(Box::new(transport)));
            scope.spawn(move || run(RankSpace::new(HostSpace::new(0), context), rank))
        };
        let threads: Vec<_> = ranks.map(start).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}

/// Unknowns in an order of ranks: element `i` is owned by rank `owner(i)`.
struct RowPartition {
    owners: Vec<usize>,
    n_ranks: usize,
}

impl RowPartition {
    fn new(n: usize, n_ranks: usize, seed: usize) -> RowPartition {
        RowPartition { owners: (0..n).map(|i| (i * i + seed * i + seed) % (n_ranks + 1) % n_ranks).collect(), n_ranks }
    }

    fn own(&self, rank: usize) -> Vec<usize> {
        (0..self.owners.len()).filter(|&i| self.owners[i] == rank).collect()
    }

    fn local(&self, i: usize) -> u32 {
        (0..i).filter(|&other| self.owners[other] == self.owners[i]).count() as u32
    }
}

/// The part of a rank: rows by one partition, columns by another.
fn part(space: &RankSpace<HostSpace>, whole: &Csr, rows: &RowPartition, columns: &RowPartition) -> RankMatrix<HostMatrix> {
    let rank = space.ranks().rank().index();
    let own_columns = columns.own(rank);
    let others: Vec<usize> = (0..whole.n_cols()).filter(|&i| columns.owners[i] != rank).collect();
    // The halo has them in an order of its own.
    let others: Vec<usize> = others.into_iter().rev().collect();
    let halo: Vec<(RankId, u32)> = others.iter().map(|&i| (RankId(columns.owners[i] as u32), columns.local(i))).collect();
    let made = Arc::new(HaloColumns::new(space.ranks(), own_columns.len(), &halo).unwrap());
    let (mut own, mut beyond) = (Vec::new(), Vec::new());
    let rows = rows.own(rank);
    for (at, &row) in rows.iter().enumerate() {
        for (column, value) in whole.row(row) {
            match own_columns.binary_search(&column) {
                Ok(column) => own.push((at, column, value)),
                Err(_) => beyond.push((at, others.iter().position(|&other| other == column).unwrap(), value)),
            }
        }
    }
    let own = Csr::from_triplets(rows.len(), own_columns.len(), &own).unwrap();
    RankMatrix::new(own.into(), Csr::from_triplets(rows.len(), halo.len(), &beyond).unwrap(), made)
}

/// The whole matrix again, from the parts of all ranks.
fn joined(parts: &[RankMatrix<HostMatrix>], rows: &RowPartition, columns: &RowPartition) -> Csr {
    let mut entries = Vec::new();
    for (rank, part) in parts.iter().enumerate() {
        let (own_rows, own_columns) = (rows.own(rank), columns.own(rank));
        for (at, &row) in own_rows.iter().enumerate() {
            entries.extend(part.own().rows().row(at).map(|(column, value)| (row, own_columns[column], value)));
        }
        for (at, _, place, value) in part.rim().each() {
            let (owner, number) = part.columns().halo()[place];
            entries.push((own_rows[at], columns.own(owner.index())[number as usize], value));
        }
    }
    Csr::from_triplets(rows.owners.len(), columns.owners.len(), &entries).unwrap()
}

/// A matrix of small whole numbers, whose sums are exact in any order.
fn numbers(n_rows: usize, n_cols: usize, seed: usize) -> Csr {
    let mut entries = Vec::new();
    for row in 0..n_rows {
        for column in 0..n_cols {
            let hash = (row * 131 + column * 71 + seed * 17 + row * column) % 23;
            if hash < 5 {
                entries.push((row, column, hash as f64 - 2.5));
            }
        }
    }
    Csr::from_triplets(n_rows, n_cols, &entries).unwrap()
}

/// Products and transposes of matrices of any shape have the entries of the whole ones.
#[test]
fn products_and_transposes_are_those_of_whole_matrices() {
    for (n_ranks, seed) in [(1, 1), (2, 2), (3, 3), (5, 4), (8, 5)] {
        let [n, m, l] = [31, 17, 12];
        let (a, b) = (numbers(n, m, seed), numbers(m, l, seed + 1));
        let [on_n, on_m, on_l] = [n, m, l].map(|n| RowPartition::new(n, n_ranks, seed));
        let made = on_ranks(n_ranks, |mut space, _| {
            let (a, b) = (part(&space, &a, &on_n, &on_m), part(&space, &b, &on_m, &on_l));
            let product = space.product(&a, &b).unwrap();
            (space.transposed(&a).unwrap(), space.pruned(&product).unwrap(), product)
        });
        let (mut transposes, mut pruned, mut products) = (Vec::new(), Vec::new(), Vec::new());
        for (transpose, fewer, product) in made {
            assert!(fewer.columns().halo().len() <= product.columns().halo().len());
            transposes.push(transpose);
            pruned.push(fewer);
            products.push(product);
        }
        assert_eq!(joined(&transposes, &on_m, &on_n), a.transpose(), "{n_ranks} ranks");
        assert_eq!(joined(&products, &on_n, &on_l), a.product(&b), "{n_ranks} ranks");
        assert_eq!(joined(&pruned, &on_n, &on_l), a.product(&b), "{n_ranks} ranks");
    }
}

/// Every operation of a matrix with the sums that it takes is that of one process, exactly, in
/// either precision: all numbers are small multiples of powers of two.
#[test]
fn operations_are_those_of_one_process() {
    for (n_ranks, seed) in [(1, 1), (2, 2), (4, 3), (7, 4)] {
        let [n, m] = [37, 15];
        let (a, p) = (numbers(n, n, seed), numbers(n, m, seed + 1));
        let image = a.product(&p);
        let vector = |n: usize, seed: usize| -> Vec<f64> { (0..n).map(|i| ((i * 5 + seed * 3) % 11) as f64 - 4.0).collect() };
        let [on_n, on_m] = [n, m].map(|n| RowPartition::new(n, n_ranks, seed));
        let whole = [&vector(n, 1), &vector(n, 2), &vector(m, 2)].map(Vec::clone);
        let mut alone = HostSpace::new(n);
        let doubles = [&a, &p, &image].map(|a| HostMatrix::from(a.clone()));
        let expected = outcome(&mut alone, doubles.each_ref(), &whole);
        let singles = [&a, &p, &image].map(|a| F32Matrix::new(a, 1.0));
        assert_eq!(outcome(&mut F32Space::of(&alone, n), singles.each_ref(), &whole), expected, "single precision");
        let (vectors, sums) = expected;
        let found = on_ranks(n_ranks, |mut space, rank| {
            let image = part(&space, &image, &on_n, &on_m);
            let own = [part(&space, &a, &on_n, &on_n), part(&space, &p, &on_n, &on_m).in_columns(image.columns()), image];
            let of = |partition: &RowPartition, whole: &[f64]| -> Vec<f64> { partition.own(rank).iter().map(|&i| whole[i]).collect() };
            let parts = [of(&on_n, &whole[0]), of(&on_n, &whole[1]), of(&on_m, &whole[2])];
            let double_outcome = outcome(&mut space, own.each_ref(), &parts);
            let own = own.map(|a| a.converted(F32Matrix::new(a.own().rows(), 1.0), a.rim().clone()));
            let singles = F32Space::of(space.inner(), parts[0].len());
            (double_outcome, outcome(&mut space.with_inner(singles), own.each_ref(), &parts))
        });
        for (rank, (double_outcome, single_outcome)) in found.into_iter().enumerate() {
            for (own_vectors, own_sums) in [double_outcome, single_outcome] {
                assert_eq!(own_sums, sums, "{n_ranks} ranks");
                for (number, (own, whole)) in own_vectors.iter().zip(&vectors).enumerate() {
                    let expected: Vec<f64> = on_n.own(rank).iter().map(|&i| whole[i]).collect();
                    assert_eq!(own, &expected, "vector {number} of rank {rank} of {n_ranks}");
                }
            }
        }
    }
}

/// The vectors and sums of all operations, of two vectors of rows and one of columns.
fn outcome<V: Copy + From<f32> + Into<f64>, S: MatrixSpace<Vector = Vec<V>, Scalar = f64>>(
    space: &mut S,
    [a, p, image]: [&S::Matrix; 3],
    vectors: &[Vec<f64>; 3],
) -> (Vec<Vec<f64>>, Vec<f64>) {
    let rounded = |values: &[f64]| -> Vec<V> { values.iter().map(|value| V::from(*value as f32)).collect() };
    let [x, b, coarse] = vectors.each_ref().map(|values| rounded(values));
    let d = rounded(&vectors[0].iter().map(|x| if *x > 0.0 { 0.5 } else { 0.25 }).collect::<Vec<f64>>());
    let zeros = || vec![V::from(0.0); x.len()];
    let mut vectors = Vec::new();
    let mut sums = Vec::new();
    let mut y = zeros();
    space.multiply(&mut y, a, &x);
    vectors.push(y.clone());
    space.multiply_add(&mut y, p, &coarse);
    vectors.push(y.clone());
    space.multiply_sub(&mut y, image, &coarse);
    vectors.push(y.clone());
    space.residual(&mut y, &b, a, &x);
    vectors.push(y.clone());
    sums.push(space.multiply_dot(&mut y, a, &x, &b));
    vectors.push(y.clone());
    sums.extend(space.multiply_dots(&mut y, a, &b, &x));
    sums.push(space.dot(&x, &y));
    let on = Smoothed { matrix: a, inverse_diagonal: &d, right: &b };
    let (mut r, mut step) = (zeros(), zeros());
    space.smooth_from_zero(&mut y, on, [0.5, -0.25, 0.5], [&mut r, &mut step], true);
    vectors.extend([y.clone(), step.clone()]);
    let mut z = zeros();
    space.smooth(&mut z, &y, on, [0.5, 0.25], [&mut r, &mut step], true);
    vectors.extend([z.clone(), step.clone()]);
    sums.push(space.smooth_dot(&mut y, &z, on, [0.5, 0.25], [&mut r, &mut step]));
    vectors.push(y.clone());
    let (mut left, mut corrected) = (b.clone(), x.clone());
    let by = Correction { prolongation: p, image, coarse: &coarse, inverse_diagonal: &d };
    space.correct(&mut corrected, &mut step, &mut left, by, 0.5);
    vectors.extend([corrected, step.clone()]);
    sums.push(space.sub_scaled_dot(&mut y, &0.5, &x, Some(&b)));
    sums.push(space.apply_diagonal_dot(&mut z, &d, &b));
    sums.push(space.advance_diagonal(&mut left.clone(), &0.5, &x, &mut z, &d));
    (vectors.into_iter().map(|vector| vector.into_iter().map(Into::into).collect()).collect(), sums)
}

/// Sweeps take the values of other ranks from before the sweep.
#[test]
fn sweeps_use_the_values_of_others() {
    // Each row depends on the other one, and each rank has one.
    let whole = Csr::from_triplets(2, 2, &[(0, 0, 2.0), (0, 1, -1.0), (1, 0, -1.0), (1, 1, 2.0)]).unwrap();
    let partition = RowPartition { owners: vec![0, 1], n_ranks: 2 };
    let found = on_ranks(partition.n_ranks, |mut space, rank| {
        let a = part(&space, &whole, &partition, &partition);
        let mut x = vec![[4.0, 8.0][rank]];
        space.gauss_seidel(&mut x, &a, &vec![0.5], &vec![1.0], Direction::Forward);
        x[0]
    });
    assert_eq!(found, [4.5, 2.5]);
}

/// A chain of unknowns.
fn chain(n: usize) -> Csr {
    let inside = |i: usize| if i + 1 < n { vec![(i, i + 1, -1.0), (i + 1, i, -1.0)] } else { Vec::new() };
    let entries: Vec<_> = (0..n).flat_map(|i| [(i, i, 2.0)].into_iter().chain(inside(i))).collect();
    Csr::from_triplets(n, n, &entries).unwrap()
}

/// The prolongation keeps constants across ranks, and the coarse matrix is that of all ranks.
#[test]
fn a_coarse_level_crosses_ranks() {
    let n = 60;
    let whole = chain(n);
    let partition = RowPartition { owners: (0..n).map(|i| i / 20).collect(), n_ranks: 3 };
    let found = on_ranks(partition.n_ranks, |mut space, _| {
        let a = part(&space, &whole, &partition, &partition);
        space.tell_parts(&a).unwrap();
        match space.coarsen(a, &Vec::new(), 0.1, &AmgOptions::default()).unwrap() {
            Coarsened::Level(LevelParts { prolongation, restriction, .. }, coarse, _) => (prolongation, restriction, coarse),
            Coarsened::Ended(_) => panic!("a chain can be coarsened"),
        }
    });
    let groups: Vec<usize> = found.iter().enumerate().flat_map(|(rank, (p, ..))| vec![rank; p.columns().n_own()]).collect();
    let coarse_on_ranks = RowPartition { owners: groups, n_ranks: 3 };
    let (mut prolongations, mut restrictions, mut coarse) = (Vec::new(), Vec::new(), Vec::new());
    for (p, r, c) in found {
        prolongations.push(p);
        restrictions.push(r);
        coarse.push(c);
    }
    let p = joined(&prolongations, &partition, &coarse_on_ranks);
    assert_eq!(joined(&restrictions, &coarse_on_ranks, &partition), p.transpose());
    for row in 1..n - 1 {
        let sum: f64 = p.row(row).map(|(_, value)| value).sum();
        assert!((sum - 1.0).abs() < 1e-14, "row {row}: {sum}");
    }
    let expected = p.transpose().product(&whole.product(&p));
    let coarse = joined(&coarse, &coarse_on_ranks, &coarse_on_ranks);
    for row in 0..expected.n_rows() {
        for column in 0..expected.n_rows() {
            assert!((coarse.entry(row, column) - expected.entry(row, column)).abs() < 1e-14, "{row} {column}");
        }
    }
}

/// Two fields on a grid of `m` times `m` elements: balances of the one, the other beside it; some
/// rows with large entries, and one coupling that is in another unit.
fn two_fields(m: usize) -> Csr {
    let n = m * m;
    let mut entries = Vec::new();
    for element in 0..n {
        let right = (element % m + 1 < m).then_some(element + 1);
        let above = (element + m < n).then_some(element + m);
        for (other, t) in [(right, 1.0 + element as f64), (above, 0.25)] {
            let Some(other) = other else { continue };
            entries.extend([(element, element, t), (element, other, -t), (other, other, t), (other, element, -t)]);
            entries.extend([(n + element, other, 0.5 * t), (n + other, n + element, -t), (n + element, n + element, t)]);
        }
        entries.push((n + element, n + element, 1.0));
    }
    Csr::from_triplets(2 * n, 2 * n, &entries).unwrap()
}

/// Matrix properties that the driver asks for are those of one process.
#[test]
fn properties_are_those_of_one_process() {
    let m = 6;
    let n = m * m;
    let smooth = two_fields(m);
    // A column through which other rows get 1000 times of what is there.
    let mut entries: Vec<_> = (0..2 * n).flat_map(|row| smooth.row(row).map(move |(column, value)| (row, column, value))).collect();
    entries.push((7, 20, 1e5));
    let rough = Csr::from_triplets(2 * n, 2 * n, &entries).unwrap();
    for (whole, agree) in [(&smooth, true), (&rough, false)] {
        let mut alone = HostSpace::new(2 * n);
        let host = HostMatrix::from(whole.clone());
        let ends = [n, 2 * n];
        let Ok(Inspection { properties: expected, null_space, .. }) = alone.inspect(&host, &ends, f64::EPSILON);
        let n_components = null_space.components.len();
        let Ok(scales) = alone.row_scales(&host);
        let Ok(departure) = alone.departure_from_elliptic(&host, 2);
        assert_eq!(alone.rows_agree(&host, &ends), Ok(agree));
        let inverse: Vec<f64> = whole.diagonal().iter().map(|d| 1.0 / d).collect();
        let Ok(bound) = alone.row_bound(&host, &inverse);
        let Ok(roots) = alone.reciprocal_roots(&inverse);
        for n_ranks in [1, 2, 3, 5] {
            let elements = RowPartition::new(n, n_ranks, 3);
            let partition = RowPartition { owners: elements.owners.repeat(2), n_ranks };
            on_ranks(n_ranks, |mut space, rank| {
                let a = part(&space, whole, &partition, &partition);
                let own = partition.own(rank);
                let here = |whole: &[f64]| -> Vec<f64> { own.iter().map(|&i| whole[i]).collect() };
                let ends = [own.len() / 2, own.len()];
                space.numbering = Numbering::new(space.ranks(), &ends).unwrap();
                let found = space.inspect(&a, &ends, f64::EPSILON).unwrap();
                let is_other = matches!(found.properties.symmetry, Symmetry::Structural { .. });
                assert!(is_other && matches!(expected.symmetry, Symmetry::Structural { .. }));
                let symmetry = expected.symmetry;
                assert_eq!(MatrixProperties { symmetry, ..found.properties }, expected.clone());
                assert_eq!(found.null_space.components.len(), n_components);
                assert_eq!(space.row_scales(&a).unwrap(), here(&scales));
                assert_eq!(space.rows_agree(&a, &ends).unwrap(), agree, "{n_ranks} ranks");
                let departed = space.departure_from_elliptic(&a, 2).unwrap();
                let is_near = departed.iter().zip(&departure).all(|(found, expected)| (found - expected).abs() < 1e-12);
                assert!(is_near, "{n_ranks} ranks: {departed:?} {departure:?}");
                let (most, is_negative) = space.row_bound(&a, &here(&inverse)).unwrap();
                assert!((most - bound.0).abs() < 1e-12 && is_negative == bound.1);
                assert_eq!(space.reciprocal_roots(&here(&inverse)).unwrap(), here(&roots));
                let x = here(&inverse);
                let largest = space.largest(&x);
                assert_eq!(largest, inverse.iter().copied().fold(0.0, f64::max));
            });
        }
    }
}

/// Vectors are projected along null vectors of which each rank has a part, maybe none.
#[test]
fn projections_are_those_of_one_process() {
    let n = 40;
    let part_of = |i: usize| i % 2;
    let weight = |i: usize| 0.5 + 0.5 * (i % 5) as f64 / 4.0;
    let null_space = |own: &[usize]| {
        let component = |number: usize| {
            let unknowns: Vec<usize> = (0..own.len()).filter(|&at| part_of(own[at]) == number).collect();
            let weights = unknowns.iter().map(|&at| weight(own[at])).collect();
            Component { left: Some(LeftNullVector { rows: unknowns.clone(), weights }), unknowns }
        };
        NullSpace { components: vec![component(0), component(1)] }
    };
    let x: Vec<f64> = (0..n).map(|i| ((i * 7) % 13) as f64 - 4.0).collect();
    let whole = null_space(&(0..n).collect::<Vec<_>>());
    let (mut ranged, mut centred) = (x.clone(), x.clone());
    whole.project_to_range(&mut ranged);
    whole.remove_mean(&mut centred);
    let partition = RowPartition { owners: (0..n).map(|i| if i < 10 { 0 } else { 2 - i % 2 }).collect(), n_ranks: 4 };
    on_ranks(partition.n_ranks, |mut space, rank| {
        let own = partition.own(rank);
        let here = |whole: &[f64]| -> Vec<f64> { own.iter().map(|&i| whole[i]).collect() };
        let vectors = space.null_vectors(&Rc::new(null_space(&own))).unwrap();
        let (mut y, mut z) = (here(&x), here(&x));
        space.to_range(&vectors, &mut y);
        space.remove_mean(&vectors, &mut z);
        for (found, expected) in [(y, here(&ranged)), (z, here(&centred))] {
            assert!(found.iter().zip(&expected).all(|(found, expected)| (found - expected).abs() < 1e-13), "{found:?} {expected:?}");
        }
    });
}
