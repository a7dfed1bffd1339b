//! Bytes a second of iterations of CG against the rate of a copy on the same device:
//! `cargo bench -p backend-cuda --features runtime --bench krylov`. Arguments: cells along an edge,
//! 100 and 200 if there are none; `jacobi` or `amg` for that preconditioner alone; `doubles` for
//! cycles of multigrid in double precision too; `every=40` for so many iterations between two looks
//! at the residual. Without a GPU the emulator runs, which tells how many bytes an iteration must
//! move and nothing of speed.

use std::rc::Rc;
use std::time::Instant;

use backend_cuda::runtime::device::Device;
use backend_cuda::runtime::device::emulator::Emulator;
use backend_cuda::runtime::device::gpu::GpuDevice;
use backend_cuda::runtime::{CudaRuntime, Space};
use equelle_runtime::Error;
use equelle_runtime::grid::{Cartesian, Grid};
use equelle_runtime::linalg::krylov::cg::Cg;
use equelle_runtime::linalg::krylov::iteration::{Control, System, Target, iterate};
use equelle_runtime::linalg::precond::amg::{AmgOptions, Grouping};
use equelle_runtime::linalg::precond::{Setting, build};
use equelle_runtime::linalg::space::matrix_space::Plain;
use equelle_runtime::linalg::space::traffic::{Traffic, Written};
use equelle_runtime::linalg::{Csr, MatrixSpace, Preconditioner, Preconditioning, SystemSpace};
use equelle_runtime::params::Parameters;
use equelle_runtime::session::{Options, Session};
use equelle_runtime::simulator::Program;

/// Iterations between two looks at the residual, unless others are asked for.
const CHECK_EVERY: usize = 10;
/// Iterations of the shorter and the longer run: what both have besides iterations drops out.
const RUNS: [usize; 2] = [20, 120];

/// Implicit heat on a cube of `edge` cells an edge, closed but for one side: a step so long that
/// the matrix is near the Laplacian.
fn heat(edge: usize) -> Csr {
    let n = edge * edge * edge;
    let conductance = 10.0;
    let strides = [edge * edge, edge, 1];
    let (mut row_ptr, mut columns, mut values) = (Vec::with_capacity(n + 1), Vec::with_capacity(7 * n), Vec::with_capacity(7 * n));
    row_ptr.push(0);
    for cell in 0..n {
        let place = strides.map(|stride| cell / stride % edge);
        let below = (0..3).filter(|&axis| place[axis] > 0).map(|axis| cell - strides[axis]);
        let above = (0..3).rev().filter(|&axis| place[axis] + 1 < edge).map(|axis| cell + strides[axis]);
        let (below, above): (Vec<usize>, Vec<usize>) = (below.collect(), above.collect());
        let fixed = if place[2] == 0 { 2.0 } else { 0.0 };
        let diagonal = 1.0 + conductance * ((below.len() + above.len()) as f64 + fixed);
        let entries = below.iter().map(|&other| (other, -conductance)).chain([(cell, diagonal)]);
        for (column, value) in entries.chain(above.iter().map(|&other| (other, -conductance))) {
            columns.push(column as u32);
            values.push(value);
        }
        row_ptr.push(columns.len());
    }
    Csr::new(n, n, row_ptr, columns, values).expect("columns ascend")
}

/// Makes exactly so many iterations; nothing is small enough to stop before.
fn iterations<S: MatrixSpace>(
    space: &mut S,
    a: &S::Matrix,
    m: &impl Preconditioner<S>,
    b: &S::Vector,
    [count, check_every]: [usize; 2],
) -> Result<(), S::Error> {
    let control = Control { target: Target::just(0.0), max_iterations: count, check_every, patience: usize::MAX };
    let mut method = Cg::new(space)?;
    let mut x = space.zeros()?;
    iterate(space, &mut method, System { operator: &Plain(a), preconditioner: m }, &mut x, b, control).map(drop)
}

/// A measured case: a preconditioner, and for multigrid whether its cycles may be of singles.
type Kind = (Preconditioning, bool);

fn title((kind, in_single_precision): Kind) -> String {
    let precision = match (kind, in_single_precision) {
        (Preconditioning::Amg, true) => " of singles",
        (Preconditioning::Amg, false) => " of doubles",
        _ => "",
    };
    format!("CG+{}{precision}", kind.title())
}

fn measure(rt: &mut Space<f64>, edge: usize, kind: Kind, every: usize, copy_rate: Option<f64>) -> Result<(), Error> {
    let title = title(kind);
    let (kind, in_single_precision) = kind;
    let matrix = heat(edge);
    let n = matrix.n_rows();
    // Groups as the device forms them.
    let amg = AmgOptions { grouping: Grouping::Scattered, ..AmgOptions::default() };
    let setting = Setting { ends: &[n], symmetric: true, singular: false, pressure: 0, amg };
    let more = RUNS[1] - RUNS[0];

    let traffic = Traffic::new(n, Written::Unread).with_slices();
    let mut traffic = if in_single_precision { traffic.with_single_precision() } else { traffic };
    let Ok(m) = build(&mut traffic, &matrix, kind, setting);
    let Ok(a) = traffic.matrix(matrix.clone());
    let bytes = RUNS.map(|count| {
        traffic.take();
        let Ok(()) = iterations(&mut traffic, &a, &m, &n, [count, every]);
        traffic.take()
    });
    let bytes = (bytes[1] - bytes[0]) as f64 / more as f64;

    rt.set_len(n);
    let a = rt.matrix(matrix)?;
    let m = rt.set_up(&a, 1.0, kind, setting)?;
    let b = rt.vector((0..n).map(|k| (k % 17) as f64 - 8.0).collect())?;
    // The first runs compile kernels, find buffers and record graphs.
    let mut best = [f64::INFINITY; 2];
    for round in 0..6 {
        for (run, count) in RUNS.into_iter().enumerate() {
            let start = Instant::now();
            iterations(rt, &a, &m, &b, [count, every])?;
            if round > 2 {
                best[run] = best[run].min(start.elapsed().as_secs_f64());
            }
        }
    }
    let before = rt.counters();
    iterations(rt, &a, &m, &b, [RUNS[1], every])?;
    let after = rt.counters();
    let seconds = (best[1] - best[0]) / more as f64;
    let share = copy_rate.map_or(String::new(), |rate| format!(", {:.0} % of the copy rate", 100.0 * bytes / seconds / rate));
    println!(
        "{title}, {edge}^3 unknowns: {:.4} ms an iteration, {:.0} bytes an unknown, {:.2} TB/s{share}; in {} iterations {} kernels, {} graphs, {} waits",
        1e3 * seconds,
        bytes / n as f64,
        bytes / seconds / 1e12,
        RUNS[1],
        after.kernels - before.kernels,
        after.graphs - before.graphs,
        after.synchronisations - before.synchronisations,
    );
    Ok(())
}

fn main() {
    let given: Vec<usize> = std::env::args().skip(1).filter_map(|word| word.parse().ok()).collect();
    let every = std::env::args().find_map(|word| word.strip_prefix("every=")?.parse().ok()).unwrap_or(CHECK_EVERY);
    let sizes = if given.is_empty() { vec![100, 200] } else { given };
    let asked = |key: &str| std::env::args().any(|word| word == key);
    let kinds = [(Preconditioning::Jacobi, false), (Preconditioning::Amg, true), (Preconditioning::Amg, false)];
    let any = kinds.iter().any(|(kind, _)| asked(kind.key()));
    let is_wanted = |&(kind, in_single_precision): &Kind| {
        (!any || asked(kind.key())) && (in_single_precision || kind == Preconditioning::Jacobi || asked("doubles"))
    };
    let kinds: Vec<Kind> = kinds.into_iter().filter(is_wanted).collect();
    let (device, copy_rate): (Rc<dyn Device>, Option<f64>) = match GpuDevice::open() {
        Ok(gpu) => {
            let rate = gpu.copy_rate().expect("a copy");
            (Rc::new(gpu), Some(rate))
        }
        Err(error) => {
            eprintln!("no GPU ({error}); on the emulator");
            (Rc::new(Emulator::new()), None)
        }
    };
    if let Some(rate) = copy_rate {
        println!("{}: copy rate {:.2} TB/s, bytes read and written", device.properties().name, rate / 1e12);
    }
    for edge in sizes {
        for kind in kinds.iter().copied() {
            let grid = Grid::cartesian(Cartesian::line(2, 1.0)).expect("a grid");
            let session = Session::on_grid(Program::named("krylov"), Parameters::default(), grid, Options::silent()).expect("a session");
            // A runtime for each, so that each begins with no graphs and no memory.
            let measured = CudaRuntime::on_device(session, Rc::clone(&device)).and_then(|rt| {
                let space = rt.linear_space();
                let mut rt = if kind.1 { space } else { space.in_double_precision() };
                measure(&mut rt, edge, kind, every, copy_rate)
            });
            if let Err(error) = measured {
                println!("{}, {edge}^3 unknowns: {error}", title(kind));
                std::process::exit(1);
            }
        }
    }
}
