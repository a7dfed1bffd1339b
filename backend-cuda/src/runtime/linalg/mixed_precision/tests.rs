//! Tests of cycles in single precision on the device against double precision, and of CG with them.

use equelle_runtime::linalg::krylov::cg::Cg;
use equelle_runtime::linalg::krylov::iteration::{Control, End, Outcome, System, Target, iterate};
use equelle_runtime::linalg::precond::amg::{AmgCycle, AmgOptions, AmgSmoother, Grouping};
use equelle_runtime::linalg::space::host::{HostSpace, norm};
use equelle_runtime::linalg::space::matrix_space::Plain;
use equelle_runtime::linalg::{
    Csr, LinearCache, LinearErrorKind, LinearOptions, MatrixSpace, Method, MultigridSpace, Preconditioning, solve_in,
};

use super::*;
use crate::runtime::test_support::{bits, box_matrix, laplacian, numbers, spaces};

/// Allowed difference of a cycle in single precision, relative to the largest element: a hundred
/// roundings. Rounding coarse matrices changes their smallest eigenvalues the more, the more
/// unknowns are in a row.
const APART: f64 = 1e-5;

fn values(rt: &mut Space<f64>, x: &DeviceVector) -> Vec<f64> {
    rt.host_vector(x).expect("what was computed")
}

/// The result of a cycle on `r`.
fn applied(rt: &mut Space<f64>, m: &dyn Preconditioner<Space<f64>>, r: &[f64]) -> Vec<f64> {
    let (r, mut z) = (rt.vector(r.to_vec()).expect("memory"), rt.zeros_of(r.len()).expect("memory"));
    m.apply(rt, &mut z, &r);
    values(rt, &z)
}

fn largest(x: &[f64]) -> f64 {
    x.iter().fold(0.0, |most: f64, x| most.max(x.abs()))
}

fn apart(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).fold(0.0, |most: f64, (a, b)| most.max((a - b).abs()))
}

/// Cells with conductivities between 1 and `contrast`.
fn heterogeneous(size: [usize; 3], contrast: f64) -> Csr {
    let mut matrix = laplacian(size, true, 1.0);
    let n = matrix.n_rows();
    let root: Vec<f64> = numbers(11, n).iter().map(|x| contrast.powf(0.25 * (x + 1.0))).collect();
    let places: Vec<(usize, usize)> =
        (0..n).flat_map(|row| matrix.row(row).map(move |(column, _)| (row, column)).collect::<Vec<_>>()).collect();
    matrix.values_mut().iter_mut().zip(places).for_each(|(value, (row, column))| *value *= root[row] * root[column]);
    matrix
}

/// Two boxes, a line, and a box of two fields.
fn matrices() -> Vec<(Csr, Vec<usize>)> {
    let line = laplacian([500, 1, 1], true, 1.0);
    [laplacian([14, 12, 11], true, 1.0), heterogeneous([14, 12, 11], 1e6), line]
        .into_iter()
        .map(|matrix| {
            let n = matrix.n_rows();
            (matrix, vec![n])
        })
        .chain([(box_matrix([9, 8, 7], 2), vec![504, 1008])])
        .collect()
}

/// The results of a cycle on `r` with single precision allowed, and without.
fn in_both(rt: &mut Space<f64>, matrix: &Csr, ends: &[usize], options: &AmgOptions, r: &[f64]) -> [Vec<f64>; 2] {
    [false, true].map(|in_double_precision| {
        rt.in_double_precision = in_double_precision;
        let a = rt.matrix(matrix.clone()).expect("memory");
        let m = rt.multigrid_of(a, ends, options).expect("memory");
        applied(rt, &*m, r)
    })
}

fn check_cycles(cycle: AmgCycle, smoother: AmgSmoother, sweeps: [usize; 2]) {
    for (matrix, ends) in matrices() {
        let n = matrix.n_rows();
        let r = numbers(3, n);
        for mut rt in spaces() {
            for sweeps in sweeps {
                let options = AmgOptions { cycle, smoother: Some(smoother), sweeps: Some(sweeps), ..AmgOptions::default() };
                let [single, double] = in_both(&mut rt, &matrix, &ends, &options, &r);
                let (apart, most) = (apart(&single, &double), largest(&double));
                assert!(apart > 0.0 && apart <= APART * most, "{cycle:?} {smoother:?} {sweeps} on {n}: {apart:e} of {most}");
            }
        }
    }
}

/// Separate tests, because compute-sanitizer takes minutes for each.
mod a_cycle_is_that_of_doubles_but_for_roundings {
    use super::*;

    #[test]
    fn v_jacobi() {
        check_cycles(AmgCycle::V, AmgSmoother::Jacobi, [1, 2]);
    }

    #[test]
    fn v_chebyshev() {
        check_cycles(AmgCycle::V, AmgSmoother::Chebyshev, [2, 3]);
    }

    #[test]
    fn k_jacobi() {
        check_cycles(AmgCycle::K, AmgSmoother::Jacobi, [1, 2]);
    }

    #[test]
    fn k_chebyshev() {
        check_cycles(AmgCycle::K, AmgSmoother::Chebyshev, [2, 3]);
    }
}

/// Values out of range, Gauss-Seidel, which gains nothing, and matrices with a direct solve stay in
/// double precision.
#[test]
fn doubles_where_singles_will_not_do() {
    let good = laplacian([9, 8, 7], true, 1.0);
    let sweeps = AmgOptions { smoother: Some(AmgSmoother::GaussSeidel), ..AmgOptions::default() };
    let cases = [
        (heterogeneous([9, 8, 7], 1e16), AmgOptions::default()),
        (good.clone(), sweeps),
        (laplacian([5, 4, 2], true, 1.0), AmgOptions::default()),
    ];
    for (matrix, options) in cases {
        let r = numbers(3, matrix.n_rows());
        for mut rt in spaces() {
            let [single, double] = in_both(&mut rt, &matrix, &[matrix.n_rows()], &options, &r);
            assert_eq!(bits(&single), bits(&double));
        }
    }
}

/// A cycle is linear in powers of two, for residuals of any size; zero gives zero, and values that
/// are not finite stay so.
#[test]
fn residuals_of_any_size() {
    let matrix = laplacian([9, 8, 7], true, 1.0);
    let n = matrix.n_rows();
    let r = numbers(3, n);
    for mut rt in spaces() {
        for scale in [1.0, 1e-150, 1e150] {
            let a = rt.matrix(matrix.scaled(scale)).expect("memory");
            let m = rt.multigrid_of(a, &[n], &AmgOptions::default()).expect("memory");
            let z = applied(&mut rt, &*m, &r);
            assert!(largest(&z) > 0.0);
            for exponent in [-400, -1, 300] {
                let factor = 2f64.powi(exponent);
                let scaled = applied(&mut rt, &*m, &r.iter().map(|r| r * factor).collect::<Vec<_>>());
                assert!(scaled.iter().zip(&z).all(|(scaled, z)| *scaled == z * factor), "2^{exponent}");
            }
            assert_eq!(applied(&mut rt, &*m, &vec![0.0; n]), vec![0.0; n]);
            for strange in [f64::INFINITY, f64::NAN] {
                let mut r = r.clone();
                r[17] = strange;
                assert!(applied(&mut rt, &*m, &r).iter().any(|z| !z.is_finite()));
            }
        }
    }
}

/// Fused passes of CG against their parts: the residual to the bit, sums and directions up to
/// roundings of single precision.
#[test]
fn passes_of_conjugate_gradients() {
    let matrix = laplacian([14, 12, 11], true, 1.0);
    let n = matrix.n_rows();
    for mut rt in spaces() {
        for cycle in AmgCycle::ALL {
            let a = rt.matrix(matrix.scaled(1e-20)).expect("memory");
            let m = rt.multigrid_of(a, &[n], &AmgOptions { cycle, ..AmgOptions::default() }).expect("memory");
            // A residual that decreases by 1e-4 in every step.
            let mut left = numbers(3, n);
            let [mut r, q, mut z, mut x, mut p] = [3, 4, 5, 6, 7].map(|seed| rt.vector(numbers(seed, n)).expect("memory"));
            let mut direction = numbers(7, n);
            for round in 0..8 {
                let sum = if round == 0 {
                    m.apply_dot(&mut rt, &mut z, &r)
                } else if round == 5 {
                    let square = rt.dot(&r, &r);
                    m.apply_dot_with_norm(&mut rt, &mut z, &r, &square)
                } else {
                    let factor = 1e-4f64.powi(round);
                    let step: Vec<f64> = left.iter().zip(numbers(9, n)).map(|(left, other)| left - factor * other).collect();
                    let (a, q) =
                        (VectorSpace::constant(&mut rt, 0.5), rt.vector(step.iter().map(|step| 2.0 * step).collect()).expect("memory"));
                    left.iter_mut().zip(&step).for_each(|(left, step)| *left -= 0.5 * (2.0 * step));
                    m.advance(&mut rt, &mut r, &a, &q, &mut z)
                };
                assert_eq!(bits(&values(&mut rt, &r)), bits(&left));
                let [a, b] = [0.3, 0.7].map(|number| VectorSpace::constant(&mut rt, number));
                m.step(&mut rt, [&mut x, &mut p], [&a, &b], [&z, &r]);
                let made = applied(&mut rt, &*m, &left);
                let expected: f64 = left.iter().zip(&made).map(|(left, made)| left * made).sum();
                let [found] = rt.read([&sum]).expect("a device");
                assert!((found - expected).abs() <= APART * expected, "{cycle:?} {round}: {found} {expected}");
                let wanted: Vec<f64> = made.iter().zip(&direction).map(|(made, p)| made + 0.7 * p).collect();
                direction = values(&mut rt, &p);
                assert!(apart(&direction, &wanted) <= APART * largest(&wanted), "{cycle:?} {round}");
            }
            drop(q);
        }
    }
}

/// Iterates on the device from zero, with `check_every` iterations between two checks.
fn device_iterations(rt: &mut Space<f64>, matrix: &Csr, b: &[f64], target: f64, [most, check_every]: [usize; 2]) -> Outcome {
    let n = matrix.n_rows();
    rt.set_len(n);
    let a = rt.matrix(matrix.clone()).expect("memory");
    let m = rt.multigrid_of(a.share(), &[n], &AmgOptions::default()).expect("memory");
    let mut cg = Cg::new(rt).expect("memory");
    let (mut x, b) = (rt.zeros().expect("memory"), rt.vector(b.to_vec()).expect("memory"));
    let control = Control { target: Target::just(target), max_iterations: most, check_every, patience: most };
    iterate(rt, &mut cg, System { operator: &Plain(&a), preconditioner: &m }, &mut x, &b, control).expect("a device")
}

/// CG takes the iterations of double precision and of the serial back-end with the device's
/// aggregates, up to one; the size of matrices and right-hand sides changes nothing.
#[test]
fn iterations_are_those_of_doubles() {
    for edge in [16, 24] {
        let matrix = laplacian([edge; 3], true, 1.0);
        let n = matrix.n_rows();
        let b = numbers(5, n);
        let target = 1e-8 * norm(&b);
        let mut space = HostSpace::new(n);
        let options = AmgOptions { grouping: Grouping::Scattered, ..AmgOptions::default() };
        let Ok(m) = space.multigrid(matrix.clone(), &[n], &options);
        let Ok(mut cg) = Cg::new(&mut space);
        let control = Control { target: Target::just(target), max_iterations: 100, check_every: 1, patience: 100 };
        let system = System { operator: &matrix, preconditioner: &m };
        let Ok(host) = iterate(&mut space, &mut cg, system, &mut vec![0.0; n], &b, control);
        for mut rt in spaces() {
            rt.in_double_precision = true;
            let double = device_iterations(&mut rt, &matrix, &b, target, [100, 1]);
            rt.in_double_precision = false;
            let first = device_iterations(&mut rt, &matrix, &b, target, [100, 1]);
            assert_eq!(first.end, End::Converged);
            assert!(first.iterations.abs_diff(double.iterations) <= 1, "{} {}", first.iterations, double.iterations);
            // A library for products of matrices adds in its own order, which may change
            // aggregates.
            if rt.executor.device().properties().arch == "host" {
                assert!(first.iterations.abs_diff(host.iterations) <= 1, "{} {}", first.iterations, host.iterations);
            }
            // Powers of two round nothing.
            let (small, large) = (2f64.powi(-83), 2f64.powi(83));
            for (of_matrix, of_rhs) in [(small, 1.0), (large, 1.0), (1.0, small), (1.0, large), (small, large), (large, small)] {
                let b: Vec<f64> = b.iter().map(|b| b * of_rhs).collect();
                let again = device_iterations(&mut rt, &matrix.scaled(of_matrix), &b, target * of_rhs, [100, 1]);
                assert_eq!((again.end, again.iterations), (End::Converged, first.iterations), "{of_matrix:e} {of_rhs:e}");
                assert_eq!(again.residual, first.residual * of_rhs);
            }
            for (of_matrix, of_rhs) in [(1e-20, 1e25), (1e20, 1e-25)] {
                let b: Vec<f64> = b.iter().map(|b| b * of_rhs).collect();
                let again = device_iterations(&mut rt, &matrix.scaled(of_matrix), &b, target * of_rhs, [100, 1]);
                assert_eq!(again.end, End::Converged);
                assert!(again.iterations.abs_diff(first.iterations) <= 1 && again.residual <= target * of_rhs, "{of_matrix:e} {of_rhs:e}");
            }
        }
    }
}

/// Through the driver, contrasts, a singular matrix and a long chain take the iterations of double
/// precision, of which it checks every second; a tolerance beyond the digits of single precision is
/// met.
#[test]
fn hard_systems() {
    for matrix in [heterogeneous([12, 11, 10], 1e9), laplacian([12, 11, 10], false, 1.0), laplacian([3000, 1, 1], true, 1.0)] {
        let n = matrix.n_rows();
        let b = matrix.mul(&numbers(5, n));
        for mut rt in spaces() {
            for tolerance in [1e-8, 1e-12] {
                let amg = Some(Preconditioning::Amg);
                let options = LinearOptions { method: Some(Method::Cg), preconditioner: amg, tolerance, ..LinearOptions::default() };
                let [single, double] = [false, true].map(|in_double_precision| {
                    rt.in_double_precision = in_double_precision;
                    let (a, b) = (rt.matrix(matrix.clone()).expect("memory"), rt.vector(b.clone()).expect("memory"));
                    solve_in(&mut rt, &a, &[n], b, &options, &mut LinearCache::default())
                        .expect("a device")
                        .expect("it converges")
                        .iterations
                });
                assert!(single <= double + (double / 10).max(2), "{n} unknowns to {tolerance:e}: {single} {double}");
            }
        }
    }
}

/// A residual that leaves the range of single precision between two checks is rescaled in each
/// iteration.
#[test]
fn residuals_fall_without_a_look() {
    let matrix = laplacian([9, 8, 7], true, 1.0);
    let b = numbers(5, matrix.n_rows());
    for mut rt in spaces() {
        // By a power of ten an iteration at least: the last ones are below 1e-60, whose squares fit
        // double precision.
        let outcome = device_iterations(&mut rt, &matrix, &b, 0.0, [70, 70]);
        assert_eq!((outcome.end, outcome.iterations), (End::MaxIterations, 70));
    }
}

/// Levels in single precision take less memory, and the levels in double precision are freed.
#[test]
fn memory_of_levels() {
    let matrix = laplacian([24; 3], true, 1.0);
    let n = matrix.n_rows();
    for mut rt in spaces() {
        let a = rt.matrix(matrix.clone()).expect("memory");
        let made = [true, false].map(|in_double_precision| {
            rt.in_double_precision = in_double_precision;
            let before = rt.executor.pool_in_use();
            let m = rt.multigrid_of(a.share(), &[n], &AmgOptions::default()).expect("memory");
            let taken = rt.executor.pool_in_use() - before;
            drop(m);
            taken
        });
        assert!(3 * made[1] <= 2 * made[0], "{made:?} bytes");
    }
}

/// An indefinite matrix ends CG as in double precision.
#[test]
fn failures_show() {
    let mut matrix = laplacian([9, 8, 7], true, 1.0);
    let n = matrix.n_rows();
    // Eigenvalues of the Laplacian lie between 0 and 12.
    matrix.values_mut().iter_mut().filter(|value| **value > 0.0).for_each(|value| *value -= 2.0);
    let options = LinearOptions { method: Some(Method::Cg), preconditioner: Some(Preconditioning::Amg), ..LinearOptions::default() };
    for mut rt in spaces() {
        let kinds = [false, true].map(|in_double_precision| {
            rt.in_double_precision = in_double_precision;
            let (a, b) = (rt.matrix(matrix.clone()).expect("memory"), rt.vector(numbers(5, n)).expect("memory"));
            let solved = solve_in(&mut rt, &a, &[n], b, &options, &mut LinearCache::default()).expect("a device");
            solved.map(|solution| solution.iterations).expect_err("not definite").kind
        });
        assert_eq!(kinds, [LinearErrorKind::Breakdown; 2]);
    }
}
