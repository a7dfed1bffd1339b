//! The bytes that the methods and preconditioners move are those that their documentation names.

use std::convert::Infallible;

use equelle_runtime::linalg::krylov::bicgstab::BiCgStab;
use equelle_runtime::linalg::krylov::cg::Cg;
use equelle_runtime::linalg::krylov::gmres::Gmres;
use equelle_runtime::linalg::krylov::iteration::{Control, Cycle, System, Target, iterate};
use equelle_runtime::linalg::precond::amg::setup::CoarseParts;
use equelle_runtime::linalg::precond::amg::{AmgOptions, Hierarchy};
use equelle_runtime::linalg::precond::{Setting, build};
use equelle_runtime::linalg::space::host::HostSpace;
use equelle_runtime::linalg::space::matrix_space::Plain;
use equelle_runtime::linalg::space::traffic::{Traffic, Written};
use equelle_runtime::linalg::{Csr, MatrixSpace, Preconditioner, Preconditioning, VectorSpace};

use crate::grids::Cells;

fn setting(n: &usize) -> Setting<'_> {
    Setting { ends: std::slice::from_ref(n), symmetric: true, singular: false, pressure: 0, amg: AmgOptions::default() }
}

/// Bytes of one product, one application of the preconditioner, and an iteration without either:
/// the difference of `more` and `fewer` iterations, neither of which looks at the residual but at
/// its end.
fn bytes<C: Cycle<Traffic>>(
    matrix: &Csr,
    kind: Preconditioning,
    mut method: impl FnMut(&mut Traffic) -> Result<C, Infallible>,
    [fewer, more]: [usize; 2],
) -> [u64; 3] {
    let n = matrix.n_rows();
    let mut space = Traffic::new(n, Written::Unread);
    let Ok(a) = space.matrix(matrix.clone());
    let Ok(m) = build(&mut space, matrix, kind, setting(&n));
    let mut run = |max_iterations| {
        let control = Control { target: Target::just(0.0), max_iterations, check_every: usize::MAX, patience: usize::MAX };
        let Ok(mut method) = method(&mut space);
        let (Ok(mut x), Ok(b)) = (space.zeros(), space.zeros());
        space.take();
        let system = System { operator: &Plain(&a), preconditioner: &m };
        let Ok(_) = iterate(&mut space, &mut method, system, &mut x, &b, control);
        space.take()
    };
    let iteration = (run(more) - run(fewer)) / (more - fewer) as u64;
    let (mut y, x) = (n, n);
    space.multiply(&mut y, &a, &x);
    let product = space.take();
    m.apply(&mut space, &mut y, &x);
    [product, space.take(), iteration]
}

#[test]
fn bytes_of_iterations() {
    let matrix = Cells([9, 8, 7]).poisson();
    let (n, entries) = (matrix.n_rows() as u64, matrix.n_entries() as u64);
    let [product, jacobi, cg] = bytes(&matrix, Preconditioning::Jacobi, Cg::new, [10, 30]);
    // A row, what is read and what is written.
    assert_eq!((product, jacobi), (12 * entries + 24 * n, 24 * n));
    assert_eq!(cg, product + 80 * n);
    let [_, ilu, cg] = bytes(&matrix, Preconditioning::Ilu0, Cg::new, [10, 30]);
    // Twice the inverse diagonal and where a row begins; r, and z three times.
    assert_eq!(ilu, 12 * (entries - n) + (32 + 32) * n);
    assert_eq!(cg, product + ilu + 80 * n);
    let [_, _, bicgstab] = bytes(&matrix, Preconditioning::Ilu0, BiCgStab::new, [10, 30]);
    assert_eq!(bicgstab, 2 * (product + ilu) + 136 * n);
    // Iterations 10 to 19 (from 0) of a cycle: 32 (j + 1) + 16 each, 32 * 15.5 + 16 on average; the
    // update at its end 16; and a new basis vector of zeros 8.
    let [_, _, gmres] = bytes(&matrix, Preconditioning::Ilu0, |space| Gmres::new(space, 30), [10, 20]);
    assert_eq!(gmres, product + ilu + (496 + 16 + 16 + 8) * n);
}

/// Bytes of an iteration over those of a product, with levels in doubles. A cube has fewer entries
/// a row near its sides, and coarse levels that depend on its size: they may differ by a tenth.
#[test]
fn iterations_beside_products() {
    let matrix = Cells::cube(24).poisson();
    let near = |preconditioner: Preconditioning, cost: f64| {
        let [product, _, iteration] = bytes(&matrix, preconditioner, Cg::new, [10, 30]);
        let found = iteration as f64 / product as f64;
        assert!((found - cost).abs() <= 0.1 * cost, "{preconditioner:?}: {found:.2}, not {cost}");
    };
    near(Preconditioning::Jacobi, 1.74);
    near(Preconditioning::Amg, 9.0);
}

/// Memory whose lines are fetched before they are written: 8 more for each number that is only
/// written.
#[test]
fn lines_that_are_fetched_count() {
    let matrix = Cells([4, 4, 1]).poisson();
    let (n, entries) = (matrix.n_rows() as u64, matrix.n_entries() as u64);
    let mut space = Traffic::new(matrix.n_rows(), Written::Fetched);
    let Ok(a) = space.matrix(matrix);
    let (x, mut y) = (16, 16);
    space.multiply(&mut y, &a, &x);
    space.copy(&mut y, &x);
    space.add_diagonal(&mut y, 1.0, 1.0, &x, &x);
    assert_eq!(space.take(), 12 * entries + 32 * n + 24 * n + 32 * n);
}

/// A row of 64 cells by slices: three diagonals, of which a slice of 32 rows has all; and a matrix
/// each of whose entries is on a diagonal of its own.
#[test]
fn bytes_of_slices() {
    let line: Vec<_> = (0..64).flat_map(|i: usize| [(i, i, 2.0), (i, i.max(1) - 1, -1.0), (i, (i + 1).min(63), -1.0)]).collect();
    let both = [line, (0..64).map(|i| (i, 63 - i, 1.0)).collect()];
    let bytes = both.map(|entries| {
        let matrix = Csr::from_triplets(64, 64, &entries).expect("legal");
        let mut space = Traffic::new(64, Written::Unread).with_slices();
        let Ok(a) = space.matrix(matrix);
        space.multiply(&mut 64, &a, &64);
        space.take()
    });
    // 190 entries; of each slice where its values and columns begin and end, and three diagonals.
    assert_eq!(bytes[0], 8 * 190 + 2 * (32 + 3 * 4) + 16 * 64);
    assert_eq!(bytes[1], 12 * 64 + 2 * 32 + 16 * 64);
}

/// A V-cycle of two levels: what each pass moves, by the sizes of the hierarchy.
#[test]
fn bytes_of_a_cycle() {
    let matrix = Cells([6, 5, 5]).poisson();
    let n = matrix.n_rows();
    let Ok(hierarchy) = Hierarchy::new(&mut HostSpace::new(n), matrix.clone().into(), &[n], &AmgOptions::default());
    let ([level], CoarseParts::Direct(inverse)) = (&hierarchy.levels[..], &hierarchy.coarse) else { panic!("two levels") };
    let rows = |a: &<HostSpace as MatrixSpace>::Matrix| 12 * HostSpace::shape(a).entries as u64 + 8 * HostSpace::shape(a).rows as u64;
    let (fine, coarse) = (n as u64, HostSpace::shape(inverse).rows as u64);
    assert!(level.image.is_none());
    // Two steps from zero (b, the diagonal, x), the residual (x, b, r), its restriction, the direct
    // solution, its prolongation (x twice), a step of the polynomial (x, b, the diagonal, the next
    // x, the step), and the last one (which reads the step).
    let expected = 3 * 8 * fine + 3 * 8 * fine + 8 * (fine + coarse) + 16 * coarse + (16 * fine + 8 * coarse) + 5 * 8 * fine + 5 * 8 * fine;
    let expected = expected + 4 * rows(&level.matrix) + rows(&level.restriction) + rows(inverse) + rows(&level.prolongation);
    let mut space = Traffic::new(n, Written::Unread);
    let Ok(m) = build(&mut space, &matrix, Preconditioning::Amg, setting(&n));
    space.take();
    m.apply(&mut space, &mut n.clone(), &n);
    assert_eq!(space.take(), expected);
    // The dot of CG comes with the last step.
    m.apply_dot(&mut space, &mut n.clone(), &n);
    assert_eq!(space.take(), expected);
}

/// A cycle of singles moves half of what one of doubles does, but for columns and where rows begin,
/// and CG around it: the update of the residual with its copy 28 bytes an unknown, a step
/// 36. A look reads the residual once more, and twice where its norm is not known.
#[test]
fn bytes_of_a_cycle_of_singles() {
    let matrix = Cells([6, 5, 5]).poisson();
    let n = matrix.n_rows();
    let Ok(hierarchy) = Hierarchy::new(&mut HostSpace::new(n), matrix.clone().into(), &[n], &AmgOptions::default());
    let ([level], CoarseParts::Direct(inverse)) = (&hierarchy.levels[..], &hierarchy.coarse) else { panic!("two levels") };
    let places = |a: &<HostSpace as MatrixSpace>::Matrix| 4 * HostSpace::shape(a).entries as u64 + 8 * HostSpace::shape(a).rows as u64;
    let places = 4 * places(&level.matrix) + places(&level.restriction) + places(&level.prolongation) + places(inverse);
    let passes = |space: Traffic| {
        let mut space = space;
        let Ok(m) = build(&mut space, &matrix, Preconditioning::Amg, setting(&n));
        let (mut x, mut p, mut z) = (n, n, n);
        space.take();
        m.advance(&mut space, &mut x, &(), &n, &mut z);
        let advance = space.take();
        m.apply_dot(&mut space, &mut z, &n);
        let look = space.take();
        m.apply_dot_with_norm(&mut space, &mut z, &n, &());
        let sized = space.take();
        m.step(&mut space, [&mut x, &mut p], [&(), &()], [&n, &n]);
        let step = space.take();
        m.apply(&mut space, &mut z, &n);
        [advance, look, sized, step, space.take()]
    };
    let doubles = passes(Traffic::new(n, Written::Unread));
    let singles = passes(Traffic::new(n, Written::Unread).with_single_precision());
    let n = n as u64;
    let cycle = (doubles[1] - places) / 2 + places;
    assert_eq!(doubles, [doubles[1] + 24 * n, doubles[1], doubles[1], 40 * n, doubles[1]]);
    assert_eq!(singles, [cycle + 28 * n, cycle + 20 * n, cycle + 12 * n, 36 * n, cycle + 32 * n]);
}
