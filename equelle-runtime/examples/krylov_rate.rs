//! Milliseconds of an iteration of a linear solver beside those of copying the bytes that it has
//! to move. `benches/peers/krylov.py` writes the matrices and runs this in turn with SciPy.
//!
//! Arguments: a file with a matrix (rows and entries as 64-bit numbers, where each row begins as
//! 64-bit numbers, columns as 32-bit ones, values as doubles), `jacobi` or `amg`, and a number of
//! threads. Prints a line of `name=number`.

use std::time::Instant;

use equelle_runtime::linalg::driver::options::{LinearOptions, Method, Preconditioning};
use equelle_runtime::linalg::krylov::cg::Cg;
use equelle_runtime::linalg::krylov::iteration::{Control, System, Target, iterate};
use equelle_runtime::linalg::precond::amg::AmgOptions;
use equelle_runtime::linalg::precond::{Setting, build};
use equelle_runtime::linalg::space::host::{HostSpace, norm};
use equelle_runtime::linalg::space::matrix_space::Plain;
use equelle_runtime::linalg::space::system_space::SystemSpace;
use equelle_runtime::linalg::space::traffic::{Traffic, Written};
use equelle_runtime::linalg::{Csr, HostMatrix, LinearCache, MatrixSpace, VectorSpace, solve_on_host};
use equelle_runtime::threads::Threads;

/// Iterations that are timed, and turns of which the fastest counts.
const ITERATIONS: usize = 30;
const TURNS: usize = 7;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [file, kind, threads] = &arguments[..] else { return eprintln!("krylov_rate FILE jacobi|amg THREADS") };
    let bytes = std::fs::read(file).unwrap_or_else(|error| panic!("{file}: {error}"));
    let matrix = read(&bytes).unwrap_or_else(|| panic!("{file} has no matrix"));
    let kind = if kind == "amg" { Preconditioning::Amg } else { Preconditioning::Jacobi };
    let threads = Threads::new(threads.parse().unwrap_or(1));
    let n = matrix.n_rows();
    let b: Vec<f64> = (0..n).map(|i| ((i * 7919) % 1009) as f64 / 1009.0).collect();
    let setting = Setting { ends: &[n], symmetric: true, singular: false, pressure: 0, amg: AmgOptions::default() };

    let mut space = HostSpace::on(&threads, n);
    let a = HostMatrix::from(matrix.clone());
    let (mut set_up, mut inspected) = (f64::INFINITY, f64::INFINITY);
    let mut preconditioner = None;
    for _ in 0..3 {
        let started = Instant::now();
        let Ok(_) = space.inspect(&a, &[n], f64::EPSILON);
        inspected = inspected.min(started.elapsed().as_secs_f64());
        let started = Instant::now();
        let Ok(made) = space.set_up(&a, 1.0, kind, setting);
        preconditioner = Some(made);
        set_up = set_up.min(started.elapsed().as_secs_f64());
    }
    let preconditioner = preconditioner.expect("a preconditioner");
    space.will_multiply(&a);
    let least = |run: &mut dyn FnMut()| (0..TURNS).map(|_| timed(&mut *run)).fold(f64::INFINITY, f64::min);
    let mut iterations = |count: usize| {
        let control = Control { target: Target::just(0.0), max_iterations: count, check_every: usize::MAX, patience: usize::MAX };
        let mut x = vec![0.0; n];
        let Ok(mut cg) = Cg::new(&mut space);
        let Ok(_) = iterate(&mut space, &mut cg, System { operator: &Plain(&a), preconditioner: &preconditioner }, &mut x, &b, control);
    };
    let iteration = least(&mut || iterations(ITERATIONS + 2)) - least(&mut || iterations(2));
    let mut y = vec![0.0; n];
    let product = least(&mut || (0..10).for_each(|_| space.multiply(&mut y, &a, &b)));

    let moved = traffic(&matrix, kind, setting);
    let mut from = vec![1.0f64; moved as usize / 16];
    let mut to = vec![0.0f64; from.len()];
    let copied = least(&mut || {
        threads.each(from.len(), &mut to[..], |range, to| to.copy_from_slice(&from[range]));
        std::mem::swap(&mut from, &mut to);
    });
    // A whole solve through the driver, the second with the same cache.
    let options =
        LinearOptions { method: Some(Method::Cg), preconditioner: Some(kind), threads: threads.clone(), ..LinearOptions::default() };
    let mut cache = LinearCache::default();
    let mut whole = [0.0; 2];
    let mut count = 0;
    for whole in &mut whole {
        let started = Instant::now();
        let solved = solve_on_host(&mut space, &a, &[n], b.clone(), &options, &mut cache);
        *whole = started.elapsed().as_secs_f64();
        count = solved.map_or(0, |solved| solved.iterations);
    }
    println!(
        "iteration={:.6} product={:.6} copy={copied:.6} bytes={moved} inspect={inspected:.6} set_up={set_up:.6} solve={:.6} again={:.6} iterations={count} size={:.3e}",
        iteration / ITERATIONS as f64,
        product / 10.0,
        whole[0],
        whole[1],
        norm(&y)
    );
}

fn timed(run: &mut dyn FnMut()) -> f64 {
    let started = Instant::now();
    run();
    started.elapsed().as_secs_f64()
}

/// Bytes of an iteration.
fn traffic(matrix: &Csr, kind: Preconditioning, setting: Setting<'_>) -> u64 {
    let mut space = Traffic::new(matrix.n_rows(), Written::Fetched);
    let Ok(a) = space.matrix(matrix.clone());
    let Ok(m) = build(&mut space, matrix, kind, setting);
    let mut run = |count| {
        let control = Control { target: Target::just(0.0), max_iterations: count, check_every: usize::MAX, patience: usize::MAX };
        let (Ok(mut cg), Ok(mut x), Ok(b)) = (Cg::new(&mut space), space.zeros(), space.zeros());
        space.take();
        let Ok(_) = iterate(&mut space, &mut cg, System { operator: &Plain(&a), preconditioner: &m }, &mut x, &b, control);
        space.take()
    };
    (run(12) - run(2)) / 10
}

fn read(bytes: &[u8]) -> Option<Csr> {
    let (rows, bytes) = numbers(bytes, 1, u64::from_le_bytes)?;
    let (entries, bytes) = numbers(bytes, 1, u64::from_le_bytes)?;
    let (n, entries) = (rows[0] as usize, entries[0] as usize);
    let (row_ptr, bytes) = numbers(bytes, n + 1, u64::from_le_bytes)?;
    let (columns, bytes) = numbers(bytes, entries, u32::from_le_bytes)?;
    let (values, _) = numbers(bytes, entries, f64::from_le_bytes)?;
    Csr::new(n, n, row_ptr.into_iter().map(|at| at as usize).collect(), columns, values).ok()
}

/// The first `count` numbers of `N` bytes, and what follows.
fn numbers<const N: usize, T>(bytes: &[u8], count: usize, from: impl Fn([u8; N]) -> T) -> Option<(Vec<T>, &[u8])> {
    let (own, rest) = bytes.split_at_checked(N * count)?;
    Some((own.as_chunks::<N>().0.iter().map(|bytes| from(*bytes)).collect(), rest))
}
