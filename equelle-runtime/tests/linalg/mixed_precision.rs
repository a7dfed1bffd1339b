//! Multigrid in single precision on the host: the iterations of double precision, the tolerance,
//! the same bits for any number of threads.

use std::convert::Infallible;

use equelle_runtime::linalg::krylov::cg::Cg;
use equelle_runtime::linalg::krylov::gmres::Gmres;
use equelle_runtime::linalg::krylov::iteration::{Control, Cycle, End, System, Target, iterate};
use equelle_runtime::linalg::precond::amg::{Amg, AmgCycle, AmgOptions, AmgSmoother};
use equelle_runtime::linalg::space::host::{HostSpace, norm};
use equelle_runtime::linalg::{Csr, MultigridSpace, Preconditioner, VectorSpace};
use equelle_runtime::threads::Threads;

use crate::common::Random;
use crate::grids::Cells;

/// Iterations of a method to `tolerance`, with levels as the host takes them and in double
/// precision.
fn iterations<C: Cycle<HostSpace>>(
    new: impl Fn(&mut HostSpace) -> Result<C, Infallible>,
    matrix: &Csr,
    b: &[f64],
    options: &AmgOptions,
    tolerance: f64,
) -> [usize; 2] {
    let n = matrix.n_rows();
    let mut space = HostSpace::new(n);
    let Ok(own) = space.multigrid(matrix.clone(), &[n], options);
    let Ok(double) = Amg::set_up(&mut space, matrix.clone().into(), &[n], options);
    let double: Box<dyn Preconditioner<HostSpace>> = Box::new(double);
    [own, double].map(|preconditioner| {
        let Ok(mut method) = new(&mut space);
        let mut x = vec![0.0; n];
        let control = Control { target: Target::just(tolerance * norm(b)), max_iterations: 300, check_every: 1, patience: 300 };
        let system = System { operator: matrix, preconditioner: &preconditioner };
        let Ok(outcome) = iterate(&mut space, &mut method, system, &mut x, &b.to_vec(), control);
        assert_eq!(outcome.end, End::Converged);
        let r: Vec<f64> = matrix.mul(&x).iter().zip(b).map(|(ax, b)| b - ax).collect();
        assert!(norm(&r) <= tolerance * norm(b));
        outcome.iterations
    })
}

/// Single precision in a cycle costs an iteration at most, or one of ten where contrasts make them
/// many: CG loses its directions sooner.
#[test]
fn iterations_are_those_of_doubles() {
    let cells = Cells::cube(20);
    let b = Random(3).numbers(cells.count());
    let contrast: Vec<f64> = (0..cells.count()).map(|cell| 10f64.powi((cell * 7919 % 7) as i32)).collect();
    let matrices = [
        ("Laplacian", cells.poisson()),
        ("entries of 1e-150", cells.poisson().scaled(1e-150)),
        ("entries of 1e150", cells.poisson().scaled(1e150)),
        ("contrast of 1e6", cells.heterogeneous(&contrast)),
        // Cells a thousand times as wide as they are high.
        ("flat cells", cells.diffusion(|_, _, axis| if axis == 2 { 1e6 } else { 1.0 }, [1.0, 0.0, 0.0])),
        ("a chain", Cells([4000, 1, 1]).diffusion(|_, _, _| 1.0, [1.0, 0.0, 0.0])),
    ];
    for (name, matrix) in matrices {
        for cycle in AmgCycle::ALL {
            for smoother in [AmgSmoother::Jacobi, AmgSmoother::Chebyshev] {
                let options = AmgOptions { cycle, smoother: Some(smoother), ..AmgOptions::default() };
                let [single, double] = iterations(Cg::new, &matrix, &b[..matrix.n_rows()], &options, 1e-8);
                assert!(single <= double + (double / 10).max(1), "{name}, {cycle:?} {smoother:?}: {single} {double}");
            }
        }
    }
}

/// GMRES keeps what cycles made: the cycle of a combination of basis vectors differs from the
/// combination of their cycles by roundings of singles, times the condition of the matrix beside
/// the right-hand side.
#[test]
fn gmres_has_no_drift() {
    let matrix = Cells::cube(20).poisson();
    let smooth = matrix.mul(&vec![1.0; matrix.n_rows()]);
    for b in [Random(3).numbers(matrix.n_rows()), smooth] {
        let [single, double] = iterations(|space| Gmres::new(space, 30), &matrix, &b, &AmgOptions::default(), 1e-11);
        assert!(single <= double + 1, "{single} {double}");
    }
}

/// A range of numbers that singles cannot hold, and sweeps that do not gain from them, stay in
/// double precision.
#[test]
fn doubles_where_singles_will_not_do() {
    let cells = Cells::cube(12);
    let wide: Vec<f64> = (0..cells.count()).map(|cell| if cell % 12 < 6 { 1e-8 } else { 1e8 }).collect();
    let r = Random(3).numbers(cells.count());
    let sweeps = AmgOptions { smoother: Some(AmgSmoother::GaussSeidel), ..AmgOptions::default() };
    let cases = [
        (cells.heterogeneous(&wide), AmgOptions::default(), true),
        (cells.poisson(), sweeps, true),
        (cells.poisson(), AmgOptions::default(), false),
    ];
    for (matrix, options, is_double) in cases {
        let n = matrix.n_rows();
        let mut space = HostSpace::new(n);
        let Ok(own) = space.multigrid(matrix.clone(), &[n], &options);
        let Ok(double) = Amg::set_up(&mut space, matrix.into(), &[n], &options);
        let (mut z, mut expected) = (vec![0.0; n], vec![0.0; n]);
        own.apply(&mut space, &mut z, &r);
        double.apply(&mut space, &mut expected, &r);
        assert_eq!(z == expected, is_double);
        // A dozen roundings of singles, relative to the largest.
        let largest = expected.iter().fold(0.0f64, |most, z| most.max(z.abs()));
        assert!(z.iter().zip(&expected).all(|(z, expected)| (z - expected).abs() <= 1e-5 * largest));
    }
}

/// A cycle is linear in powers of two, however small or large the residual, and a residual of zero
/// gives zero.
#[test]
fn residuals_of_any_size() {
    let matrix = Cells::cube(12).poisson();
    let n = matrix.n_rows();
    let mut space = HostSpace::new(n);
    let Ok(own) = space.multigrid(matrix, &[n], &AmgOptions::default());
    let r = Random(3).numbers(n);
    let (mut z, mut scaled) = (vec![0.0; n], vec![f64::NAN; n]);
    own.apply(&mut space, &mut z, &r);
    for exponent in [-900, -300, -1, 300, 900] {
        let factor = 2f64.powi(exponent);
        own.apply(&mut space, &mut scaled, &r.iter().map(|r| r * factor).collect());
        assert!(scaled.iter().zip(&z).all(|(scaled, z)| *scaled == z * factor), "2^{exponent}");
    }
    own.apply(&mut space, &mut scaled, &vec![0.0; n]);
    assert!(scaled.iter().all(|z| *z == 0.0));
    // The passes of CG give the bits of the product and the dot.
    own.apply(&mut space, &mut z, &r);
    let expected = space.dot(&r, &z);
    assert_eq!(own.apply_dot(&mut space, &mut scaled, &r).to_bits(), expected.to_bits());
    assert_eq!(scaled, z);
    // However the size is told; of what has no size it is sought.
    for square in [space.dot(&r, &r), 0.0, f64::INFINITY] {
        scaled.fill(f64::NAN);
        assert_eq!(own.apply_dot_with_norm(&mut space, &mut scaled, &r, &square).to_bits(), expected.to_bits());
        assert_eq!(scaled, z);
    }
}

#[test]
fn threads_change_no_bit() {
    // Long enough for every loop to be shared.
    let matrix = Cells([64, 40, 20]).poisson();
    let n = matrix.n_rows();
    let r = Random(3).numbers(n);
    let made = [1, 2, 4].map(|number| {
        let mut space = HostSpace::on(&Threads::new(number), n);
        let Ok(own) = space.multigrid(matrix.clone(), &[n], &AmgOptions::default());
        let mut z = vec![0.0; n];
        own.apply(&mut space, &mut z, &r);
        z
    });
    assert_eq!(made[0], made[1]);
    assert_eq!(made[0], made[2]);
}
