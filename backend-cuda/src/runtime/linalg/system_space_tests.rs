//! Tests of linear systems on the device against the host: vectors and products to the bit,
//! preconditioners likewise if both process rows in one order, and the driver by its solutions,
//! choices and refusals.

use equelle_runtime::linalg::driver::choose::MatrixProperties;
use equelle_runtime::linalg::null_space::NullSpace;
use equelle_runtime::linalg::precond::amg::{AmgOptions, AmgSmoother, Grouping};
use equelle_runtime::linalg::precond::{Setting, build};
use equelle_runtime::linalg::space::host::HostSpace;
use equelle_runtime::linalg::space::system_space::Inspection;
use equelle_runtime::linalg::{
    Csr, HostMatrix, LinearCache, LinearError, LinearErrorKind, LinearOptions, MatrixSpace, Method, Preconditioning, Solution, Symmetry,
    SystemSpace, VectorSpace, refusal, solve_blocks, solve_in,
};

use crate::runtime::linalg::csr::DeviceMatrix;
use crate::runtime::linalg::space::DeviceVector;
use crate::runtime::linalg::space::Space;
use crate::runtime::test_support::{bits, box_matrix, laplacian, numbers, spaces};

fn here(rt: &mut Space<f64>, values: &[f64]) -> DeviceVector {
    rt.vector(values.to_vec()).expect("memory")
}

fn values(rt: &mut Space<f64>, x: &DeviceVector) -> Vec<f64> {
    rt.host_vector(x).expect("what was computed")
}

/// Solves on the device.
fn solve(
    rt: &mut Space<f64>,
    matrix: &Csr,
    ends: &[usize],
    rhs: &[f64],
    options: &LinearOptions,
    cache: &mut LinearCache<Space<f64>>,
) -> Result<Solution, LinearError> {
    let a = rt.matrix(matrix.clone()).expect("memory");
    let b = here(rt, rhs);
    let Solution { x, iterations, relative_residual, method, preconditioner, note } =
        solve_in(rt, &a, ends, b, options, cache).expect("a device")?;
    Ok(Solution { x: values(rt, &x), iterations, relative_residual, method, preconditioner, note })
}

#[test]
fn operations_on_matrices_have_the_bits_of_the_host() {
    // Rows of 7, a rectangular matrix with empty rows, and rows wider than a block buffers at a
    // time (3 x 2000 > 2048 entries).
    let wide = Csr::new(3, 2000, vec![0, 2000, 2000, 4000], (0..4000).map(|k| k % 2000).collect(), numbers(3, 4000)).expect("a matrix");
    let tall = Csr::from_triplets(300, 5, &[(0, 1, 2.0), (7, 0, -1.0), (7, 4, 0.5), (299, 3, 1.0 / 3.0)]).expect("legal entries");
    for matrix in [box_matrix([9, 8, 7], 1), wide, tall] {
        let (rows, columns) = (matrix.n_rows(), matrix.n_cols());
        let (x, y, b) = (numbers(1, columns), numbers(2, rows), numbers(3, rows));
        let (mut host, there) = (HostSpace::new(rows), HostMatrix::from(matrix.clone()));
        for mut rt in spaces() {
            let a = rt.matrix(matrix.clone()).expect("memory");
            assert_eq!(*rt.host_matrix(&a).expect("a device"), matrix);
            let (on_x, on_b) = (here(&mut rt, &x), here(&mut rt, &b));
            let mut check = |on_host: &dyn Fn(&mut HostSpace, &mut Vec<f64>), on_device: &dyn Fn(&mut Space<f64>, &mut DeviceVector)| {
                let (mut expected, mut found) = (y.clone(), here(&mut rt, &y));
                let _ = (host.take_traffic(), rt.take_traffic());
                on_host(&mut host, &mut expected);
                on_device(&mut rt, &mut found);
                assert_eq!(rt.take_traffic(), host.take_traffic(), "bytes of the kernel");
                assert_eq!(bits(&values(&mut rt, &found)), bits(&expected));
            };
            check(&|s, y| s.multiply(y, &there, &x), &|s, y| s.multiply(y, &a, &on_x));
            check(&|s, y| s.multiply_add(y, &there, &x), &|s, y| s.multiply_add(y, &a, &on_x));
            check(&|s, y| s.multiply_sub(y, &there, &x), &|s, y| s.multiply_sub(y, &a, &on_x));
            check(&|s, y| s.residual(y, &b, &there, &x), &|s, y| s.residual(y, &on_b, &a, &on_x));
            check(&|s, y| s.add_diagonal(y, 0.3, 0.7, &b, &b), &|s, y| s.add_diagonal(y, 0.3, 0.7, &on_b, &on_b));
            check(&|s, y| s.add_diagonal(y, 0.0, -0.7, &b, &b), &|s, y| s.add_diagonal(y, 0.0, -0.7, &on_b, &on_b));
            check(&|s, y| s.clear(y), &|s, y| s.clear(y));
        }
    }
}

#[test]
fn the_largest_magnitude() {
    for mut rt in spaces() {
        let mut largest = |x: Vec<f64>| {
            let x = here(&mut rt, &x);
            let largest = rt.largest(&x);
            let [largest] = rt.read([&largest]).expect("a device");
            largest
        };
        let mut x = numbers(4, 5000);
        x[4321] = -3.5;
        assert_eq!(largest(x.clone()), 3.5);
        x[17] = f64::NEG_INFINITY;
        assert_eq!(largest(x.clone()), f64::INFINITY);
        x[4999] = f64::NAN;
        assert!(largest(x).is_nan());
        assert_eq!(largest(vec![0.0; 3]), 0.0);
        assert_eq!(largest(Vec::new()), 0.0);
    }
}

/// Properties of a matrix on the device, compared with the host.
#[test]
fn matrices_are_looked_at_as_on_the_host() {
    let n = 40;
    let mut entries: Vec<_> = (0..n).flat_map(|i| [(i, i, 4.0), (i, (i + 1) % n, -1.0)]).collect();
    let upwind = Csr::from_triplets(n, n, &entries).expect("legal entries");
    entries.extend((0..n).map(|i| ((i + 1) % n, i, -1.0)));
    let ring = Csr::from_triplets(n, n, &entries).expect("legal entries");
    entries.push((5, 6, -1e-3));
    let skew = Csr::from_triplets(n, n, &entries).expect("legal entries");
    entries.push((9, 9, -9.0));
    let indefinite = Csr::from_triplets(n, n, &entries).expect("legal entries");
    let negative = laplacian([4, 3, 5], true, -2.0);
    let closed = laplacian([4, 3, 5], false, 1.0);
    let empty_row = Csr::from_triplets(2, 2, &[(1, 1, 3.0)]).expect("legal entries");
    for matrix in [upwind, ring, skew, indefinite, negative, closed, empty_row, box_matrix([3, 3, 3], 2)] {
        let n = matrix.n_rows();
        let host = MatrixProperties::new(&matrix, &[n], false);
        for mut rt in spaces() {
            let a = rt.matrix(matrix.clone()).expect("memory");
            let Inspection { not_finite, null_space, properties } = rt.inspect(&a, &[n], f64::EPSILON).expect("a device");
            assert_eq!(not_finite, None);
            assert_eq!(*null_space, NullSpace::find(&matrix, f64::EPSILON));
            // Which of several asymmetric entries is reported differs.
            assert_eq!(std::mem::discriminant(&properties.symmetry), std::mem::discriminant(&host.symmetry));
            if let Symmetry::Structural { row, column } | Symmetry::Numerical { row, column } = properties.symmetry {
                assert!(matrix.entry(row, column) != matrix.entry(column, row));
            }
            assert_eq!(MatrixProperties { symmetry: host.symmetry, ..properties }, host);
        }
    }
}

/// Scales of rows, whether rows agree in their unit, and solutions of such systems. A cell in the
/// middle of a box is held by an equation of its own; in a small unit it does not agree with its
/// neighbours, in a large one it is like a penalty.
#[test]
fn uneven_rows_are_treated_as_on_the_host() {
    let open = laplacian([7, 6, 5], true, 1.0);
    let n = open.n_rows();
    let held = n / 2;
    let with_unit = |unit: f64| {
        let rows = (0..n).filter(|row| *row != held).flat_map(|row| open.row(row).map(move |(column, value)| (row, column, value)));
        let entries: Vec<_> = rows.chain([(held, held, unit)]).collect();
        let rhs: Vec<f64> = (0..n).map(|row| if row == held { unit } else { 0.0 }).collect();
        (Csr::from_triplets(n, n, &entries).expect("legal entries"), rhs)
    };
    let exact = {
        let (matrix, rhs) = with_unit(1.0);
        let lu = LinearOptions { method: Some(Method::Lu), ..LinearOptions::default() };
        solve_blocks(&matrix, &[n], &rhs, &lu, &mut LinearCache::default()).expect("a regular matrix").x
    };
    for (unit, agrees) in [(1e-20, false), (1.0, true), (1e20, true)] {
        let (matrix, rhs) = with_unit(unit);
        let (mut host, there) = (HostSpace::new(n), HostMatrix::from(matrix.clone()));
        let Ok(expected) = host.row_scales(&there);
        for mut rt in spaces() {
            let a = rt.matrix(matrix.clone()).expect("memory");
            let scales = rt.row_scales(&a).expect("memory");
            assert_eq!(bits(&values(&mut rt, &scales)), bits(&expected));
            let scaled = rt.scaled_rows(&a, &scales).expect("memory");
            assert_eq!(*rt.host_matrix(&scaled).expect("a device"), matrix.scaled_rows(&expected));
            assert_eq!(rt.rows_agree(&a, &[n]).expect("a device"), agrees);
            assert_eq!(host.rows_agree(&there, &[n]), Ok(agrees));
            for (method, preconditioner) in [
                (None, None),
                (Some(Method::BiCgStab), Some(Preconditioning::Jacobi)),
                (Some(Method::Gmres), Some(Preconditioning::Ilu0)),
                (Some(Method::BiCgStab), Some(Preconditioning::Amg)),
            ] {
                let options = LinearOptions { method, preconditioner, ..LinearOptions::default() };
                let found = solve(&mut rt, &matrix, &[n], &rhs, &options, &mut LinearCache::default());
                let found = found.unwrap_or_else(|error| panic!("{unit} {method:?}: {error}"));
                // 1e-8 of the one source, times a condition of 20 and the root of 210 cells.
                let error = found.x.iter().zip(&exact).fold(0.0, |most: f64, (x, exact)| most.max((x - exact).abs()));
                assert!(error < 3e-6, "{unit} {method:?} {preconditioner:?}: {error}");
            }
        }
    }
}

/// The kinds of preconditioners, and multigrid with each smoother.
fn kinds() -> Vec<(Preconditioning, Option<AmgSmoother>)> {
    let mut kinds: Vec<_> = Preconditioning::ALL.into_iter().map(|kind| (kind, None)).collect();
    kinds.extend(AmgSmoother::ALL.into_iter().map(|smoother| (Preconditioning::Amg, Some(smoother))));
    kinds
}

#[test]
fn preconditioners_have_the_bits_of_the_host() {
    let n = 8 * 8 * 7;
    let matrix = box_matrix([8, 8, 7], 2);
    let ends = [n, 2 * n];
    let r = numbers(6, 2 * n);
    for (kind, smoother) in kinds() {
        // Sweeps on the device are in the order of colours.
        if smoother == Some(AmgSmoother::GaussSeidel) {
            continue;
        }
        // The host uses the aggregates of the device.
        let grouping = Grouping::Scattered;
        let amg = AmgOptions { smoother: smoother.or(Some(AmgSmoother::Chebyshev)), grouping, ..AmgOptions::default() };
        let setting = Setting { ends: &ends, symmetric: true, singular: false, pressure: 1, amg };
        let mut host = HostSpace::new(2 * n).in_double_precision();
        let Ok(there) = build(&mut host, &matrix, kind, setting);
        let mut expected = vec![0.0; 2 * n];
        there.apply(&mut host, &mut expected, &r);
        for rt in spaces() {
            let mut rt = rt.in_double_precision();
            rt.set_len(2 * n);
            let a = rt.matrix(matrix.clone()).expect("memory");
            let made = rt.set_up(&a, 1.0, kind, setting).expect("memory");
            let (mut z, r) = (rt.zeros().expect("memory"), here(&mut rt, &r));
            let before = rt.executor.counters().synchronisations;
            made.apply(&mut rt, &mut z, &r);
            assert!(rt.executor.counters().synchronisations <= before + 1, "{kind:?} waits for the device");
            let found = values(&mut rt, &z);
            if matches!(kind, Preconditioning::Amg | Preconditioning::Cpr) {
                // Long rows of coarse levels are added by several threads, and the library for
                // products of matrices adds in its own order: a few roundings on each level.
                let largest = expected.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
                let apart = expected.iter().zip(&found).fold(0.0, |most: f64, (a, b)| most.max((a - b).abs()));
                assert!(apart <= 1e-11 * largest, "{kind:?} {smoother:?}: {apart}");
            } else {
                assert_eq!(bits(&found), bits(&expected), "{kind:?} {smoother:?}");
            }
        }
    }
}

/// A system times a power of two has the same bits on the device too, even for odd powers, whose
/// roots are no powers of two.
#[test]
fn systems_have_no_unit() {
    let n = 8 * 8 * 7;
    let matrix = box_matrix([8, 8, 7], 2);
    let (ends, rhs) = ([n, 2 * n], numbers(9, 2 * n));
    for (preconditioner, smoother) in kinds() {
        let amg = AmgOptions { smoother, ..AmgOptions::default() };
        let options = LinearOptions { method: Some(Method::Gmres), preconditioner: Some(preconditioner), amg, ..LinearOptions::default() };
        for mut rt in spaces() {
            let mut run = |factor: f64| {
                let rhs: Vec<f64> = rhs.iter().map(|b| b * factor).collect();
                let found = solve(&mut rt, &matrix.scaled(factor), &ends, &rhs, &options, &mut LinearCache::default());
                found.map(|found| (bits(&found.x), found.iterations)).map_err(|error| error.iterations)
            };
            let expected = run(1.0);
            for power in [-40, 3] {
                assert_eq!(run(2.0_f64.powi(power)), expected, "2^{power}, {preconditioner:?} {smoother:?}");
            }
        }
    }
}

/// A method with every preconditioner: the solution is that of the host, up to the tolerance times
/// the condition number (below 50), or both refuse.
fn with_every_preconditioner(method: Method, matrix: &Csr, ends: &[usize]) {
    let rhs = numbers(9, matrix.n_rows());
    for mut rt in spaces() {
        for (preconditioner, smoother) in kinds() {
            let amg = AmgOptions { smoother, ..AmgOptions::default() };
            let options = LinearOptions {
                method: Some(method),
                preconditioner: Some(preconditioner),
                tolerance: 1e-10,
                amg,
                ..LinearOptions::default()
            };
            let host = solve_blocks(matrix, ends, &rhs, &options, &mut LinearCache::default());
            let device = solve(&mut rt, matrix, ends, &rhs, &options, &mut LinearCache::default());
            let what = format!("{method:?} {preconditioner:?} {smoother:?}");
            match (host, device) {
                (Ok(host), Ok(device)) => {
                    let largest = host.x.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
                    let apart = host.x.iter().zip(&device.x).fold(0.0, |most: f64, (a, b)| most.max((a - b).abs()));
                    assert!(apart <= 1e-8 * largest, "{what}: {apart}");
                    // The device checks the residual every tenth iteration; that of BiCGStab may be
                    // small between two checks and larger at the second. Colours change a sweep a
                    // little.
                    let slack = match method {
                        Method::BiCgStab => 20,
                        _ if smoother.is_none() => 10,
                        _ => 14,
                    };
                    assert!(device.iterations.abs_diff(host.iterations) <= slack, "{what}");
                }
                (Err(host), Err(device)) => {
                    assert_eq!(
                        (host.kind, host.method, host.preconditioner),
                        (device.kind, device.method, device.preconditioner),
                        "{what}"
                    );
                }
                (host, device) => panic!("{what}: {host:?} but {device:?}"),
            }
            if let Some(reason) = refusal(method, preconditioner) {
                let error = solve(&mut rt, matrix, ends, &rhs, &options, &mut LinearCache::default()).expect_err("refused");
                assert_eq!((error.kind, &*error.detail), (LinearErrorKind::Unsuitable, reason));
            }
        }
    }
}

/// One test for each, so that memory checkers, which take a hundred times as long, run them in
/// parallel.
macro_rules! every_method {
    ($($name:ident $method:ident;)*) => {
        $(mod $name {
            use super::*;

            #[test]
            fn symmetric() {
                with_every_preconditioner(Method::$method, &laplacian([9, 6, 5], true, 1.0), &[270]);
            }

            #[test]
            fn negative_definite() {
                with_every_preconditioner(Method::$method, &laplacian([9, 6, 5], true, -1.0), &[270]);
            }

            #[test]
            fn two_fields() {
                with_every_preconditioner(Method::$method, &box_matrix([6, 5, 4], 2), &[120, 240]);
            }
        })*

        #[test]
        fn every_method_has_its_tests() {
            assert_eq!(Method::ALL, [$(Method::$method),*]);
        }
    };
}

every_method! {
    lu Lu;
    cg Cg;
    bicgstab BiCgStab;
    gmres Gmres;
}

/// By default, the choice is that of the host, in the same words; the choice is cached.
#[test]
fn the_device_chooses_as_the_host_does() {
    let symmetric = laplacian([14, 9, 9], true, 1.0);
    let system = box_matrix([12, 9, 9], 2);
    for mut rt in spaces() {
        for (matrix, ends) in [(&symmetric, vec![1134]), (&system, vec![972, 1944])] {
            let rhs = numbers(9, matrix.n_rows());
            let (mut on_host, mut on_device) = (LinearCache::default(), LinearCache::default());
            for _ in 0..2 {
                let options = LinearOptions::default();
                let host = solve_blocks(matrix, &ends, &rhs, &options, &mut on_host).expect("a regular matrix");
                let device = solve(&mut rt, matrix, &ends, &rhs, &options, &mut on_device).expect("a regular matrix");
                assert_eq!((device.method, device.preconditioner, &device.note), (host.method, host.preconditioner, &host.note));
            }
        }
    }
}

/// Null spaces of one vector, and of more than there are separate dot products for.
#[test]
fn null_spaces_keep_their_mean() {
    let part = laplacian([5, 4, 3], false, 1.0);
    let n = part.n_rows();
    for parts in [1, 12] {
        let entries: Vec<_> = (0..parts)
            .flat_map(|p| (0..n).flat_map(move |row| [(p, row)]))
            .flat_map(|(p, row)| part.row(row).map(move |(column, value)| (p * n + row, p * n + column, value)).collect::<Vec<_>>())
            .collect();
        let total = parts * n;
        let matrix = Csr::from_triplets(total, total, &entries).expect("legal entries");
        // The image of a vector, so that it is compatible.
        let rhs = matrix.mul(&numbers(2, total));
        for (method, preconditioner) in
            [(Method::Cg, Preconditioning::Amg), (Method::BiCgStab, Preconditioning::Jacobi), (Method::Lu, Preconditioning::None)]
        {
            let amg = AmgOptions { grouping: Grouping::Scattered, ..AmgOptions::default() };
            let options = LinearOptions { method: Some(method), preconditioner: Some(preconditioner), amg, ..LinearOptions::default() };
            solve_blocks(&matrix, &[total], &rhs, &options, &mut LinearCache::default()).expect("it fits");
            for mut rt in spaces() {
                let found = solve(&mut rt, &matrix, &[total], &rhs, &options, &mut LinearCache::default()).expect("it fits");
                assert!(found.note.is_some_and(|note| note.contains("singular")));
                for part in found.x.chunks(n) {
                    // Sums of 60 numbers of the size 1.
                    assert!(part.iter().sum::<f64>().abs() < 1e-12 * n as f64);
                }
                let mut beyond = rhs.clone();
                beyond[0] += 1.0;
                let error = solve(&mut rt, &matrix, &[total], &beyond, &options, &mut LinearCache::default()).expect_err("it does not fit");
                assert!(matches!(error.kind, LinearErrorKind::Incompatible { .. }), "{error:?}");
            }
        }
    }
}

/// The host computes the null space once for a pattern; then the device checks whether it holds.
/// Matrices of one pattern: closed, twice that, with volumes (another left null vector), the same
/// again, closed except for one cell, in two components, and with one one-sided coupling.
#[test]
fn null_spaces_are_looked_for_once() {
    let closed = laplacian([9, 4, 3], false, 1.0);
    let n = closed.n_rows();
    let changed = |f: &dyn Fn(usize, usize, f64) -> f64| {
        let mut matrix = closed.clone();
        let places: Vec<_> = (0..n).flat_map(|row| closed.row(row).map(move |(column, value)| (row, column, value))).collect();
        matrix.values_mut().iter_mut().zip(places).for_each(|(entry, (row, column, value))| *entry = f(row, column, value));
        matrix
    };
    let volume = |row: usize, _: usize, value: f64| value / if row.is_multiple_of(2) { 1.0 } else { 4.0 };
    // No coupling between the fourth and the fifth layer along x.
    let apart = |row: usize, column: usize, value: f64| {
        let across = |a: usize, b: usize| a % 9 == 3 && b == a + 1;
        if across(row, column) || across(column, row) {
            0.0
        } else if row == column && [3, 4].contains(&(row % 9)) {
            value - 1.0
        } else {
            value
        }
    };
    let one_way =
        |row: usize, column: usize, value: f64| if row == 0 && column <= 1 { value + if column == 0 { 1.0 } else { -1.0 } } else { value };
    // Matrices, and whether the host inspects their entries.
    let matrices = [
        (closed.clone(), true),
        (changed(&|_, _, value| 2.0 * value), false),
        (changed(&volume), true),
        (changed(&volume), false),
        (changed(&|row, column, value| if row == 5 && column == 5 { value + 1.0 } else { value }), false),
        (changed(&apart), true),
        (changed(&apart), true),
        (changed(&one_way), true),
    ];
    for mut rt in spaces() {
        let first = rt.matrix(closed.clone()).expect("memory");
        for (number, (matrix, looks)) in matrices.iter().enumerate() {
            let entries = rt.executor.put(matrix.values());
            let a = DeviceMatrix::new(std::rc::Rc::clone(&first.rows), entries);
            let before = rt.executor.counters().downloaded_bytes;
            let Inspection { null_space, .. } = rt.inspect(&a, &[n], f64::EPSILON).expect("a device");
            assert_eq!(*null_space, NullSpace::find(matrix, f64::EPSILON), "matrix {number}");
            let read = rt.executor.counters().downloaded_bytes - before;
            // The entries, or a few flags and sizes; for the first matrix also its pattern.
            let most = 8 * matrix.n_entries() as u64;
            assert_eq!(read >= most, *looks, "matrix {number}: {read} bytes");
            let [one, two] = [(); 2].map(|()| rt.null_vectors(&null_space).expect("memory"));
            assert_eq!(std::rc::Rc::ptr_eq(&one, &two), !null_space.is_empty(), "matrix {number}");
        }
    }
}

#[test]
fn failures_are_told_as_on_the_host() {
    let n = 30;
    let entries: Vec<_> = (0..n).flat_map(|i| [(i, i, 4.0), (i, (i + 1) % n, -1.0)]).collect();
    let upwind = Csr::from_triplets(n, n, &entries).expect("legal entries");
    let mut broken = upwind.clone();
    broken.values_mut()[7] = f64::NAN;
    let mut infinite = vec![1.0; n];
    infinite[11] = f64::INFINITY;
    let singular = Csr::from_triplets(2, 2, &[(0, 0, 1.0), (0, 1, 2.0), (1, 0, 1.0), (1, 1, 2.0)]).expect("legal entries");
    let asked = |method, preconditioner| LinearOptions { method, preconditioner, ..LinearOptions::default() };
    let (cg, jacobi) = (Some(Method::Cg), Some(Preconditioning::Jacobi));
    let few = LinearOptions { max_iterations: 10, ..asked(cg, Some(Preconditioning::None)) };
    let laplacian = laplacian([20, 20, 1], true, 1.0);
    let cases = [
        (&upwind, vec![1.0; n], asked(cg, jacobi)),
        (&broken, vec![1.0; n], LinearOptions::default()),
        (&upwind, infinite, LinearOptions::default()),
        (&singular, vec![1.0, 2.0], LinearOptions::default()),
        (&laplacian, numbers(1, 400), few),
        (&upwind, vec![1.0; n], asked(Some(Method::Gmres), Some(Preconditioning::Cpr))),
    ];
    for (matrix, rhs, options) in cases {
        let ends = [matrix.n_rows()];
        let host = solve_blocks(matrix, &ends, &rhs, &options, &mut LinearCache::default()).expect_err("it cannot be solved");
        for mut rt in spaces() {
            let device = solve(&mut rt, matrix, &ends, &rhs, &options, &mut LinearCache::default()).expect_err("it cannot be solved");
            assert_eq!(device.kind, host.kind);
            assert_eq!((device.detail, device.before), (host.detail.clone(), host.before.clone()));
        }
    }
}

#[test]
fn nothing_to_do() {
    for mut rt in spaces() {
        let matrix = laplacian([3, 1, 1], true, 1.0);
        let found = solve(&mut rt, &matrix, &[3], &[0.0; 3], &LinearOptions::default(), &mut LinearCache::default()).expect("zero");
        assert_eq!((found.x, found.iterations), (vec![0.0; 3], 0));
        let none = Csr::from_triplets(0, 0, &[]).expect("legal entries");
        assert!(solve(&mut rt, &none, &[0], &[], &LinearOptions::default(), &mut LinearCache::default()).expect("zero").x.is_empty());
    }
}
