//! Tests of direct solves on a device: calls of its library, handling of its failures, and
//! agreement with the host. The emulator has a dense library without pivoting here; a GPU has cuDSS
//! or nothing.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use equelle_runtime::linalg::{
    Csr, Definiteness, DirectError, LinearCache, LinearError, LinearErrorKind, LinearOptions, MatrixSpace, Method, Solution, SystemSpace,
    solve_blocks, solve_in,
};

use crate::runtime::device::DevicePtr;
use crate::runtime::device::direct::{DirectEngine, DirectSystem};
use crate::runtime::device::emulator::Emulator;
use crate::runtime::linalg::space::Space;
use crate::runtime::test_support::{box_matrix, numbers, runtime_on, spaces};

thread_local! {
    /// Calls of engines on this thread.
    static ASKED: RefCell<Vec<&'static str>> = const { RefCell::new(Vec::new()) };
    /// True if there is memory for factors.
    static FITS: Cell<bool> = const { Cell::new(true) };
}

/// The calls since the last call of this function.
fn asked() -> Vec<&'static str> {
    ASKED.take()
}

/// Dense elimination without pivoting.
#[derive(Default)]
struct Dense {
    system: Option<DirectSystem>,
    /// L below the diagonal, U on and above it. `[n][n]`
    factors: Vec<Vec<f64>>,
}

impl Dense {
    fn boxed() -> Box<dyn DirectEngine> {
        Box::new(Dense::default())
    }
}

/// A slice of the emulator's memory.
///
/// # Safety
/// The memory is allocated, and nothing writes to it while the slice lives.
unsafe fn there<'a, T>(at: DevicePtr, len: usize) -> &'a [T] {
    // SAFETY: the caller's promise.
    unsafe { std::slice::from_raw_parts(at.0 as *const T, len) }
}

impl DirectEngine for Dense {
    fn name(&self) -> String {
        "dense rows".to_owned()
    }

    unsafe fn analyse(&mut self, system: &DirectSystem) -> Result<(), DirectError> {
        let what = match system.definiteness {
            Definiteness::General => "analyse",
            Definiteness::Symmetric => "analyse as definite",
        };
        ASKED.with_borrow_mut(|asked| asked.push(what));
        self.factors.clear();
        self.system = Some(*system);
        Ok(())
    }

    unsafe fn factorize(&mut self) -> Result<(), DirectError> {
        ASKED.with_borrow_mut(|asked| asked.push("factorize"));
        let system = self.system.expect("an analysed system");
        if !FITS.get() {
            return Err(DirectError::OutOfMemory("there is not enough memory".to_owned()));
        }
        let n = system.n;
        // SAFETY: the caller promises that the system is allocated.
        let (row_ptr, col_idx, values) = unsafe {
            (there::<i32>(system.row_ptr, n + 1), there::<i32>(system.col_idx, system.entries), there::<f64>(system.values, system.entries))
        };
        let mut rows = vec![vec![0.0; n]; n];
        for (row, ends) in row_ptr.windows(2).enumerate() {
            for at in ends[0] as usize..ends[1] as usize {
                rows[row][col_idx[at] as usize] = values[at];
            }
        }
        for step in 0..n {
            let pivot = rows[step][step];
            if system.definiteness == Definiteness::Symmetric && pivot <= 0.0 {
                return Err(DirectError::NotDefinite);
            }
            let (above, below) = rows.split_at_mut(step + 1);
            for row in below {
                row[step] /= pivot;
                let factor = row[step];
                row[step + 1..].iter_mut().zip(&above[step][step + 1..]).for_each(|(to, from)| *to -= factor * from);
            }
        }
        self.factors = rows;
        Ok(())
    }

    unsafe fn solve(&mut self, transposed: bool) -> Result<(), DirectError> {
        let system = self.system.expect("an analysed system");
        let n = system.n;
        // SAFETY: the caller promises that the system is allocated.
        let mut x = unsafe { there::<f64>(system.b, n) }.to_vec();
        let a = |row: usize, column: usize| if transposed { self.factors[column][row] } else { self.factors[row][column] };
        // The first of the two factors has a unit diagonal, unless it is the transpose of the
        // second.
        for row in 0..n {
            (0..row).for_each(|column| x[row] -= a(row, column) * x[column]);
            if transposed {
                x[row] /= a(row, row);
            }
        }
        for row in (0..n).rev() {
            (row + 1..n).for_each(|column| x[row] -= a(row, column) * x[column]);
            if !transposed {
                x[row] /= a(row, row);
            }
        }
        // SAFETY: the caller promises that the solution has memory there.
        unsafe { std::ptr::copy_nonoverlapping(x.as_ptr(), system.x.0 as *mut f64, n) };
        Ok(())
    }
}

/// Runtimes on the emulator with this library, and on the GPU if there is one.
fn with_library() -> Vec<Space<f64>> {
    let mut found = spaces();
    if let Some(first) = found.first_mut().filter(|rt| rt.executor.device().properties().arch == "host") {
        *first = runtime_on(Rc::new(Emulator::with_direct_engine(Dense::boxed))).linear_space();
    }
    found
}

/// The emulator with this library, if there is a C++ compiler.
fn host_with_library() -> Option<Space<f64>> {
    with_library().into_iter().find(|rt| rt.executor.device().properties().arch == "host")
}

fn options() -> LinearOptions {
    LinearOptions { method: Some(Method::Lu), tolerance: 1e-12, ..LinearOptions::default() }
}

fn solve(rt: &mut Space<f64>, matrix: &Csr, rhs: &[f64], cache: &mut LinearCache<Space<f64>>) -> Result<Solution, LinearError> {
    let a = rt.matrix(matrix.clone()).expect("memory");
    let b = rt.vector(rhs.to_vec()).expect("memory");
    let found = solve_in(rt, &a, &[matrix.n_rows()], b, &options(), cache).expect("a device")?;
    let x = rt.host_vector(&found.x).expect("what was computed");
    let Solution { iterations, relative_residual, method, preconditioner, note, .. } = found;
    Ok(Solution { x, iterations, relative_residual, method, preconditioner, note })
}

fn on_host(matrix: &Csr, rhs: &[f64]) -> Result<Solution, LinearError> {
    solve_blocks(matrix, &[matrix.n_rows()], rhs, &options(), &mut LinearCache::default())
}

/// A dense matrix with all its entries.
fn full<const N: usize>(rows: [[f64; N]; N]) -> Csr {
    let columns = (0..N as u32).collect::<Vec<_>>().repeat(N);
    Csr::new(N, N, (0..=N).map(|row| row * N).collect(), columns, rows.concat()).expect("legal")
}

/// Both solve to 1e-12 of the right-hand side; matrices here have condition numbers below 1e3, and
/// values are of the size 1.
fn assert_near(found: &[f64], expected: &[f64]) {
    assert!(found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-8), "{found:?}\n{expected:?}");
}

#[test]
fn a_pattern_is_analysed_once_and_values_are_factorised_once() {
    let Some(mut rt) = host_with_library() else { return };
    let mut cache = LinearCache::default();
    asked();
    let matrix = full([[2.0, 1.0], [0.5, 4.0]]);
    let other = full([[4.0, 1.0], [0.5, 2.0]]);
    assert_eq!(cache.direct_note(), None);
    assert_near(&solve(&mut rt, &matrix, &[3.0, 4.5], &mut cache).expect("regular").x, &[1.0, 1.0]);
    assert_eq!(asked(), ["analyse", "factorize"]);
    assert_eq!(cache.direct_note().as_deref(), Some("LU runs on the device, by dense rows"));
    assert_near(&solve(&mut rt, &matrix, &[2.0, 0.5], &mut cache).expect("regular").x, &[1.0, 0.0]);
    assert!(asked().is_empty());
    assert_near(&solve(&mut rt, &other, &[4.0, 0.5], &mut cache).expect("regular").x, &[1.0, 0.0]);
    assert_eq!(asked(), ["factorize"]);
    // Another pattern; symmetric, with a diagonal of one sign.
    let symmetric = Csr::new(2, 2, vec![0, 1, 2], vec![0, 1], vec![-2.0, -4.0]).expect("legal");
    assert_near(&solve(&mut rt, &symmetric, &[2.0, 4.0], &mut cache).expect("regular").x, &[-1.0, -1.0]);
    assert_eq!(asked(), ["analyse as definite", "factorize"]);
}

#[test]
fn what_is_not_definite_is_factorised_as_any_other_and_not_tried_again() {
    let Some(mut rt) = host_with_library() else { return };
    let mut cache = LinearCache::default();
    asked();
    // Eigenvalues 3 and -1.
    assert_near(&solve(&mut rt, &full([[1.0, 2.0], [2.0, 1.0]]), &[3.0, 3.0], &mut cache).expect("regular").x, &[1.0, 1.0]);
    assert_eq!(asked(), ["analyse as definite", "factorize", "analyse", "factorize"]);
    assert_near(&solve(&mut rt, &full([[1.0, 3.0], [3.0, 1.0]]), &[4.0, 4.0], &mut cache).expect("regular").x, &[1.0, 1.0]);
    assert_eq!(asked(), ["factorize"]);
}

/// The decision is that of the host in every case, and the device remains in use where it was
/// right.
#[test]
fn singular_matrices_are_refused_as_on_the_host() {
    for mut rt in with_library() {
        let mut cache = LinearCache::default();
        for matrix in [
            full([[1.0, 2.0, 0.0], [0.0, 0.0, 0.0], [1.0, 0.0, 1.0]]),
            full([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0]]),
            full([[2.0, 1.0, 3.0], [1.0, 2.0, 3.0], [3.0, 3.0, 6.0]]),
        ] {
            let rhs = [1.0, 2.0, 4.0];
            let (found, expected) = (solve(&mut rt, &matrix, &rhs, &mut cache), on_host(&matrix, &rhs));
            let (found, expected) = (found.expect_err("singular"), expected.expect_err("singular"));
            assert_eq!(found.kind, LinearErrorKind::Singular);
            assert_eq!((found.kind, found.detail), (expected.kind, expected.detail));
        }
        asked();
        assert_near(&solve(&mut rt, &full([[2.0, 1.0], [0.5, 4.0]]), &[3.0, 4.5], &mut cache).expect("regular").x, &[1.0, 1.0]);
        if rt.executor.device().properties().arch == "host" {
            assert_eq!(asked(), ["analyse", "factorize"]);
        }
    }
}

/// By default, small systems stay on the host.
#[test]
fn small_systems_are_solved_on_the_host_unless_asked_for() {
    let Some(mut rt) = host_with_library() else { return };
    let mut cache = LinearCache::default();
    asked();
    let a = rt.matrix(full([[2.0, 1.0], [0.5, 4.0]])).expect("memory");
    let b = rt.vector(vec![3.0, 4.5]).expect("memory");
    let found = solve_in(&mut rt, &a, &[2], b, &LinearOptions::default(), &mut cache).expect("a device").expect("regular");
    assert_eq!(found.method, Method::Lu);
    assert!(asked().is_empty());
    assert_eq!(cache.direct_note().as_deref(), Some("LU runs on the host: the system is small"));
}

/// A zero pivot stops elimination without pivoting; the host pivots.
#[test]
fn what_the_device_cannot_solve_the_host_solves() {
    let Some(mut rt) = host_with_library() else { return };
    let mut cache = LinearCache::default();
    asked();
    let matrix = full([[0.0, 1.0], [2.0, 1.0]]);
    assert_near(&solve(&mut rt, &matrix, &[1.0, 3.0], &mut cache).expect("regular").x, &[1.0, 1.0]);
    assert_eq!(asked(), ["analyse", "factorize"]);
    let note = cache.direct_note().expect("a note");
    assert!(note.starts_with("LU runs on the host: dense rows has no solution: its condition number is about inf"), "{note}");
    assert_near(&solve(&mut rt, &matrix, &[1.0, 3.0], &mut cache).expect("regular").x, &[1.0, 1.0]);
    assert!(asked().is_empty());

    // An elimination order of other values is first replaced by a new one.
    let mut cache = LinearCache::default();
    solve(&mut rt, &full([[1.0, 1.0], [3.0, 1.0]]), &[2.0, 4.0], &mut cache).expect("regular");
    assert_eq!(asked(), ["analyse", "factorize"]);
    assert_near(&solve(&mut rt, &matrix, &[1.0, 3.0], &mut cache).expect("regular").x, &[1.0, 1.0]);
    assert_eq!(asked(), ["factorize", "analyse", "factorize"]);
}

#[test]
fn factors_that_do_not_fit_are_made_on_the_host() {
    let Some(mut rt) = host_with_library() else { return };
    let matrix = full([[2.0, 1.0], [0.5, 4.0]]);
    FITS.set(false);
    let mut cache = LinearCache::default();
    assert_near(&solve(&mut rt, &matrix, &[3.0, 4.5], &mut cache).expect("regular").x, &[1.0, 1.0]);
    FITS.set(true);
    let note = cache.direct_note();
    assert_eq!(note.as_deref(), Some("LU runs on the host: dense rows has no solution: there is not enough memory"));
}

/// Diffusion, transport, and both as singular systems, compared with the host: solutions, refusals
/// of incompatible right-hand sides, and the same bits in a second run.
#[test]
fn systems_are_solved_as_on_the_host() {
    let pattern = box_matrix([6, 5, 4], 1);
    let n = pattern.n_rows();
    // Flow between neighbours, stronger one way with `lean`; the diagonal makes the row sums
    // `open`.
    let flow = |lean: f64, open: f64| {
        let coupling = |row: usize, column: usize| if column < row { -1.0 - lean } else { -1.0 };
        let mut matrix = pattern.clone();
        let entry = |row: usize, column: usize| {
            let others = pattern.row(row).filter(|(other, _)| *other != row);
            if row == column { open - others.map(|(other, _)| coupling(row, other)).sum::<f64>() } else { coupling(row, column) }
        };
        let entries: Vec<f64> =
            (0..n).flat_map(|row| pattern.row(row).map(move |(column, _)| (row, column))).map(|(row, column)| entry(row, column)).collect();
        matrix.values_mut().copy_from_slice(&entries);
        matrix
    };
    let definite = "analyse as definite";
    for (matrix, way) in [
        (flow(0.0, 0.5), definite),
        (flow(0.0, 0.5).scaled(-1.0), definite),
        (flow(1.0, 0.5), "analyse"),
        (flow(0.0, 0.0), definite),
        (flow(0.0, 0.0).scaled(-1.0), definite),
        (flow(0.5, 0.0), "analyse"),
    ] {
        let rhs = matrix.mul(&numbers(2, n));
        let expected = on_host(&matrix, &rhs).expect("a solution");
        for mut rt in with_library() {
            asked();
            let found = solve(&mut rt, &matrix, &rhs, &mut LinearCache::default()).expect("a solution");
            if rt.executor.device().properties().arch == "host" {
                assert_eq!(asked(), [way, "factorize"]);
            }
            assert!(found.relative_residual <= 1e-12);
            assert_near(&found.x, &expected.x);
            assert_eq!(found.note, expected.note);
            let again = solve(&mut rt, &matrix, &rhs, &mut LinearCache::default()).expect("a solution");
            assert_eq!(again.x, found.x);
            if expected.note.is_some() {
                let mut beyond = rhs.clone();
                beyond[0] += 1.0;
                let (found, expected) = (solve(&mut rt, &matrix, &beyond, &mut LinearCache::default()), on_host(&matrix, &beyond));
                let (found, expected) = (found.expect_err("it does not fit"), expected.expect_err("it does not fit"));
                assert_eq!(found.detail, expected.detail);
            }
        }
    }
}
