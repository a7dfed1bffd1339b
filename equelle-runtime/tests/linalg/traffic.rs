//! The bytes that the methods and preconditioners move are those that their documentation names.

use std::convert::Infallible;

use equelle_runtime::linalg::bicgstab::BiCgStab;
use equelle_runtime::linalg::cg::Cg;
use equelle_runtime::linalg::gmres::Gmres;
use equelle_runtime::linalg::krylov::{Control, Cycle, System, iterate};
use equelle_runtime::linalg::matrix_space::Plain;
use equelle_runtime::linalg::precond::amg::AmgOptions;
use equelle_runtime::linalg::precond::{Setting, build};
use equelle_runtime::linalg::traffic::{Traffic, Written};
use equelle_runtime::linalg::{Csr, MatrixSpace, Preconditioner, Preconditioning, VectorSpace};

use crate::grids::Cells;

fn setting(n: &usize) -> Setting<'_> {
    Setting { ends: std::slice::from_ref(n), symmetric: true, singular: false, pressure: 0, amg: AmgOptions::default() }
}

/// Bytes of one product, one application of the preconditioner, and an iteration without either: the difference of `more` and `fewer` iterations, neither of which looks at the
/// residual but at its end.
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
        let control = Control { target: 0.0, max_iterations, check_every: usize::MAX, patience: usize::MAX };
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
    // Iterations 10 to 19 (from 0) of a cycle: 32 (j + 1) + 16 each, 32 * 15.5 + 16 on average; the update at its end 16; and a new basis vector of zeros 8.
    let [_, _, gmres] = bytes(&matrix, Preconditioning::Ilu0, |space| Gmres::new(space, 30), [10, 20]);
    assert_eq!(gmres, product + ilu + (496 + 16 + 16 + 8) * n);
}

/// Memory whose lines are fetched before they are written: 8 more for each number that is only written.
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
