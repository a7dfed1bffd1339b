//! Bytes that the host counts beside its kernels (`--profile`) are those of the passes.

use std::convert::Infallible;

use equelle_runtime::linalg::driver::options::{LinearOptions, Method};
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
use equelle_runtime::linalg::{
    Csr, HostMatrix, LinearCache, MatrixSpace, MultigridSpace, Preconditioner, Preconditioning, SystemSpace, solve_on_host,
};

use crate::grids::Cells;

fn setting(n: &usize) -> Setting<'_> {
    Setting { ends: std::slice::from_ref(n), symmetric: true, singular: false, pressure: 0, amg: AmgOptions::default() }
}

/// A run of a method in any space: the bytes that `take` returns for `count` iterations.
fn run<S: MultigridSpace<Error = Infallible>, C: Cycle<S>>(
    space: &mut S,
    matrix: &Csr,
    kind: Preconditioning,
    method: impl FnOnce(&mut S) -> Result<C, Infallible>,
    take: impl Fn(&mut S) -> u64,
    count: usize,
) -> u64 {
    let n = matrix.n_rows();
    let Ok(a) = space.matrix(matrix.clone());
    let Ok(m) = build(space, matrix, kind, setting(&n));
    let control = Control { target: Target::just(0.0), max_iterations: count, check_every: usize::MAX, patience: usize::MAX };
    let Ok(mut method) = method(space);
    let (Ok(mut x), Ok(b)) = (space.zeros(), space.vector((0..n).map(|i| ((i * 7919) % 1009) as f64 - 400.0).collect()));
    take(space);
    let Ok(outcome) = iterate(space, &mut method, System { operator: &Plain(&a), preconditioner: &m }, &mut x, &b, control);
    assert_eq!(outcome.iterations, count);
    take(space)
}

/// CG and Jacobi by hand, for a matrix of 504 rows.
#[test]
fn bytes_of_cg_and_jacobi_by_hand() {
    let matrix = Cells([9, 8, 7]).poisson();
    // Each cell has its own entry, each face two.
    let (n, entries) = (504u64, 504 + 2 * (8 * 8 * 7 + 9 * 7 * 7 + 9 * 8 * 6));
    assert_eq!(matrix.n_entries() as u64, entries);
    let k = 10;
    let made = run(&mut HostSpace::new(504), &matrix, Preconditioning::Jacobi, Cg::new, |space| space.take_traffic(), k as usize);
    // Values, columns, where rows begin, the vector and the result.
    let product = 12 * entries + (8 + 16) * n;
    // The residual: zeros; then twice a product, an update (24) and a norm (8).
    let residuals = 8 * n + 2 * (product + 32 * n);
    // The first direction: Jacobi 24, a copy 16, a dot 16.
    let first = 56 * n;
    // The residual with its product (32), both updates (48); the last time 24 for each of both.
    let iterations = (k - 1) * (product + 80 * n) + product + 48 * n;
    assert_eq!(made, residuals + first + iterations);
}

/// The host counts what the space that computes nothing counts.
#[test]
fn the_host_counts_its_passes() {
    let matrix = Cells([9, 8, 7]).poisson();
    let n = matrix.n_rows();
    let host = || HostSpace::new(n);
    let counted = || Traffic::new(n, Written::Unread);
    let (of_host, of_counted) = (|space: &mut HostSpace| space.take_traffic(), |space: &mut Traffic| space.take());
    for kind in [Preconditioning::None, Preconditioning::Jacobi, Preconditioning::Ilu0, Preconditioning::Fsai] {
        let both = [run(&mut host(), &matrix, kind, Cg::new, of_host, 12), run(&mut counted(), &matrix, kind, Cg::new, of_counted, 12)];
        assert_eq!(both[0], both[1], "{kind:?} and CG");
        let both =
            [run(&mut host(), &matrix, kind, BiCgStab::new, of_host, 9), run(&mut counted(), &matrix, kind, BiCgStab::new, of_counted, 9)];
        // The host reads the result of a product again, in a pass for each of its two dots.
        assert_eq!(both[0], both[1] + 9 * 16 * n as u64, "{kind:?} and BiCGSTAB");
        let both = [
            run(&mut host(), &matrix, kind, |space| Gmres::new(space, 30), of_host, 11),
            run(&mut counted(), &matrix, kind, |space| Gmres::new(space, 30), of_counted, 11),
        ];
        assert_eq!(both[0], both[1], "{kind:?} and GMRES");
    }
}

/// A matrix of seven diagonals whose mirrored entries are the same: four numbers a row, no columns.
#[test]
fn products_by_diagonals() {
    let matrix = HostMatrix::from(Cells::cube(17).poisson());
    let n = 17 * 17 * 17;
    let mut space = HostSpace::new(n);
    let (x, mut y) = (vec![1.0; n], vec![0.0; n]);
    let Ok(_) = space.inspect(&matrix, &[n], f64::EPSILON);
    let product = |space: &mut HostSpace, y: &mut Vec<f64>| {
        space.take_traffic();
        space.multiply(y, &matrix, &x);
        space.take_traffic()
    };
    let entries = (n + 2 * 3 * 16 * 17 * 17) as u64;
    assert_eq!(product(&mut space, &mut y), 12 * entries + (8 + 16) * n as u64);
    space.will_multiply(&matrix);
    assert_eq!(product(&mut space, &mut y), (8 * 4 + 16) * n as u64);
}

/// A V-cycle of two levels on the host: the passes of `bytes_of_a_cycle`, of which the two steps
/// from zero are a pass of their own and one that stores both results, and the last step is stored.
#[test]
fn bytes_of_a_cycle_on_the_host() {
    let matrix = Cells([6, 5, 5]).poisson();
    let n = matrix.n_rows();
    let Ok(hierarchy) = Hierarchy::new(&mut HostSpace::new(n), matrix.clone().into(), &[n], &AmgOptions::default());
    let ([level], CoarseParts::Direct(inverse)) = (&hierarchy.levels[..], &hierarchy.coarse) else { panic!("two levels") };
    let rows = |a: &HostMatrix| 12 * HostSpace::shape(a).entries as u64 + 8 * HostSpace::shape(a).rows as u64;
    let (fine, coarse) = (n as u64, HostSpace::shape(inverse).rows as u64);
    // The first step (b, the diagonal, its result); the second (x twice, b, the diagonal, both
    // results).
    let from_zero = 24 * fine + 5 * 8 * fine;
    let rest = 3 * 8 * fine + 8 * (fine + coarse) + 16 * coarse + (16 * fine + 8 * coarse) + 5 * 8 * fine + 6 * 8 * fine;
    let expected = from_zero + rest + 4 * rows(&level.matrix) + rows(&level.restriction) + rows(inverse) + rows(&level.prolongation);
    let cycle = |space: HostSpace| {
        let mut space = space;
        let Ok(m) = build(&mut space, &matrix, Preconditioning::Amg, setting(&n));
        space.take_traffic();
        m.apply(&mut space, &mut vec![0.0; n], &vec![1.0; n]);
        space.take_traffic()
    };
    let doubles = cycle(HostSpace::new(n).in_double_precision());
    assert_eq!(doubles, expected);
    // Half as much, but for indices, and conversions.
    let singles = cycle(HostSpace::new(n)) as f64 / doubles as f64;
    assert!((0.4..0.8).contains(&singles), "{singles}");
}

/// The driver hands on what it counted, once.
#[test]
fn a_solve_has_its_bytes() {
    let matrix = Cells([9, 8, 7]).poisson();
    let n = matrix.n_rows();
    let options = LinearOptions { method: Some(Method::Cg), preconditioner: Some(Preconditioning::Jacobi), ..LinearOptions::default() };
    let mut cache = LinearCache::default();
    let a = HostMatrix::from(matrix);
    let solved = solve_on_host(&mut HostSpace::new(n), &a, &[n], vec![1.0; n], &options, &mut cache).expect("solved");
    let traffic = cache.take_traffic();
    assert_eq!((traffic.solves, traffic.iterations), (1, solved.iterations as u64));
    // More than the products, and less than twice an iteration of them.
    let product = 12 * HostSpace::shape(&a).entries as u64;
    assert!((product..3 * product).contains(&(traffic.bytes / traffic.iterations)), "{traffic:?}");
    assert!(traffic.seconds > 0.0 && cache.take_traffic().solves == 0);
}
