//! Direct solves of implicit heat and of a system of two fields on cubes: each phase on the device,
//! and solves by the driver beside the LU of the host,
//! `cargo bench -p backend-cuda --features runtime --bench direct`. Arguments: cells along an edge,
//! 20 and 50 if there are none. The host solves the systems of at most 20,000 unknowns. Where the
//! device has no direct solver it says so, and that is no failure.

mod common;

use std::rc::Rc;
use std::time::Instant;

use backend_cuda::runtime::Space;
use equelle_runtime::Error;
use equelle_runtime::linalg::{
    Csr, Definiteness, Direct, DirectError, DirectMatrix, LinearCache, LinearOptions, MatrixSpace, Method, SystemSpace, solve_blocks,
    solve_in,
};

/// Tolerance of the relative residual.
const TOLERANCE: f64 = 1e-10;
/// Unknowns of the largest system that is solved.
const MAX_UNKNOWNS: usize = 300_000;
/// Unknowns that the host takes a few seconds for.
const MAX_ON_HOST: usize = 20_000;

/// An implicit step of heat conduction: symmetric.
fn heat(edge: usize) -> Csr {
    changed(&common::poisson(edge), 1, |_, _, side, value| if side == 0 { value + 1.0 } else { value })
}

/// Diffusion, and transport towards higher numbers, coupled in each cell so weakly that every
/// diagonal entry exceeds the sum of the others of its row: not symmetric, and regular at any size.
fn two_fields(edge: usize) -> Csr {
    changed(&common::poisson(edge), 2, |f, g, side, value| match (f, g, side) {
        (0, 0, 0) => value + 0.1,
        (0, 0, _) => value,
        (1, 1, 0) => 6.4,
        (1, 1, -1) => -2.0,
        (1, 1, _) => -0.1,
        (.., 0) => 0.05,
        _ => 0.0,
    })
}

/// A matrix of fields from one of a field: `entry(f, g, side, value)` couples equation `f` to
/// unknown `g` of a cell before (-1), the same (0) or behind (1). Zeros are left out.
fn changed(matrix: &Csr, fields: usize, entry: impl Fn(usize, usize, i32, f64) -> f64) -> Csr {
    let n = matrix.n_rows();
    let (mut row_ptr, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
    for (f, row) in (0..fields).flat_map(|f| (0..n).map(move |row| (f, row))) {
        for g in 0..fields {
            for (column, value) in matrix.row(row) {
                let side = (column > row) as i32 - (column < row) as i32;
                let value = entry(f, g, side, value);
                if value != 0.0 {
                    columns.push((g * n + column) as u32);
                    values.push(value);
                }
            }
        }
        row_ptr.push(columns.len());
    }
    Csr::new(fields * n, fields * n, row_ptr, columns, values).expect("columns ascend")
}

/// Seconds of a call, and its result.
fn timed<T>(call: impl FnOnce() -> T) -> (f64, T) {
    let start = Instant::now();
    let result = call();
    (start.elapsed().as_secs_f64(), result)
}

/// Each phase by itself; whether there is a direct solver.
fn phases(rt: &mut Space<f64>, name: &str, matrix: &Csr, definiteness: Definiteness) -> Result<bool, DirectError> {
    let mut solver = match rt.direct_solver() {
        Direct::Solver(solver) => solver,
        Direct::Unavailable(reason) => {
            println!("direct: skipped: {reason}");
            return Ok(false);
        }
        Direct::Host => return Ok(false),
    };
    let direct = DirectMatrix { row_ptr: matrix.row_ptr(), col_idx: matrix.col_idx(), values: matrix.values(), definiteness };
    let (analysis, done) = timed(|| solver.analyse(rt, direct));
    done?;
    let (first, done) = timed(|| solver.factorize(rt, matrix.values()));
    done?;
    let (again, done) = timed(|| solver.factorize(rt, matrix.values()));
    done?;
    let mut x: Vec<f64> = (0..matrix.n_rows()).map(|k| (k % 13) as f64 - 5.0).collect();
    solver.solve(rt, &mut x, false)?;
    let (solve, done) = timed(|| solver.solve(rt, &mut x, false));
    done?;
    println!(
        "direct, {name} by {}: analysis {:.1} ms, factorisation {:.1} ms and {:.1} ms again, solve {:.2} ms, copies of vectors with it; {} unknowns, {} entries, {} allocations of the pool",
        solver.name(),
        1e3 * analysis,
        1e3 * first,
        1e3 * again,
        1e3 * solve,
        matrix.n_rows(),
        matrix.values().len(),
        rt.counters().allocations,
    );
    Ok(true)
}

/// Solves by the driver: a first system, one with other values, one with the same and another
/// right-hand side; and whether a second run gives the same bits.
fn solves(rt: &mut Space<f64>, name: &str, matrix: &Csr, ends: &[usize]) -> Result<(), Error> {
    let options = LinearOptions { method: Some(Method::Lu), tolerance: TOLERANCE, ..LinearOptions::default() };
    let rhs: Vec<f64> = (0..matrix.n_rows()).map(|k| (k % 13) as f64 - 5.0).collect();
    let other = matrix.scaled(1.5);
    let mut found = Vec::new();
    let mut run = |print: bool| -> Result<(), Error> {
        let mut cache = LinearCache::default();
        let mut times = Vec::new();
        for matrix in [matrix, &other, &other] {
            let (a, b) = (rt.matrix(matrix.clone())?, rt.vector(rhs.clone())?);
            let (time, solved) = timed(|| solve_in(rt, &a, ends, b, &options, &mut cache));
            let solved = solved??;
            times.push((time, cache.take_set_up_time(), solved.iterations, solved.relative_residual));
            found.push(rt.host_vector(&solved.x)?);
        }
        if print {
            let note = cache.direct_note().unwrap_or_default();
            let times = times.iter().map(|(time, set_up, steps, left)| {
                format!("{:.1} ms, {:.1} ms of it set-up, {steps} refinements to {left:.1e}", 1e3 * time, 1e3 * set_up)
            });
            println!("direct, {name}, first, other values, same matrix: {}; {note}", times.collect::<Vec<_>>().join("; "));
        }
        Ok(())
    };
    run(true)?;
    run(false)?;
    let same = found[..3] == found[3..];
    println!("direct, {name}: same bits at a second run: {}", if same { "yes" } else { "no" });
    if matrix.n_rows() <= MAX_ON_HOST {
        let mut cache = LinearCache::default();
        let (first, solved) = timed(|| solve_blocks(matrix, ends, &rhs, &options, &mut cache));
        let expected = solved?;
        let (again, _) = timed(|| solve_blocks(matrix, ends, &rhs, &options, &mut cache));
        let largest = expected.x.iter().fold(0.0f64, |most, x| most.max(x.abs()));
        let apart = expected.x.iter().zip(&found[0]).fold(0.0f64, |most, (a, b)| most.max((a - b).abs())) / largest;
        println!(
            "direct, {name} on the host: {:.1} ms, same matrix {:.1} ms; solutions differ by {apart:.1e}: {}",
            1e3 * first,
            1e3 * again,
            if apart <= 1e-8 { "ok" } else { "FAILED" }
        );
        if apart > 1e-8 {
            std::process::exit(1);
        }
    }
    if !same {
        std::process::exit(1);
    }
    Ok(())
}

fn main() {
    let given: Vec<usize> = std::env::args().skip(1).filter_map(|word| word.parse().ok()).collect();
    let sizes = if given.is_empty() { vec![20, 50] } else { given };
    let device = common::device();
    for edge in sizes {
        let n = edge * edge * edge;
        let systems = [
            (format!("heat {edge}^3"), heat(edge), Definiteness::Symmetric, vec![n]),
            (format!("heat {edge}^3 as general"), heat(edge), Definiteness::General, vec![n]),
            (format!("two fields {edge}^3"), two_fields(edge), Definiteness::General, vec![n, 2 * n]),
        ];
        for (name, matrix, definiteness, ends) in systems {
            if matrix.n_rows() > MAX_UNKNOWNS {
                continue;
            }
            // A runtime for each, so that each begins with no memory.
            let mut rt = match common::runtime(Rc::clone(&device)) {
                Ok(rt) => rt.linear_space(),
                Err(error) => {
                    println!("direct, {name}: {error}");
                    std::process::exit(1);
                }
            };
            match phases(&mut rt, &name, &matrix, definiteness) {
                Ok(true) => {}
                Ok(false) => return,
                Err(fault) => {
                    println!("direct, {name}: FAILED: {fault:?}");
                    std::process::exit(1);
                }
            }
            if name.ends_with("as general") {
                continue;
            }
            if let Err(error) = solves(&mut rt, &name, &matrix, &ends) {
                println!("direct, {name}: FAILED: {error}");
                std::process::exit(1);
            }
        }
    }
}
