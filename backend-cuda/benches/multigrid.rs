//! Multigrid on the Laplacian of cubes: set-up, iterations and time of CG on the device, `cargo bench -p backend-cuda --features runtime --bench multigrid`. Arguments: cells along an
//! edge, 32, 64, 128 and 256 if there are none. Without a GPU the host device runs, which tells iterations and nothing of speed.

use std::rc::Rc;
use std::time::Instant;

use backend_cuda::runtime::CudaRuntime;
use backend_cuda::runtime::device::Device;
use backend_cuda::runtime::gpu::GpuDevice;
use backend_cuda::runtime::host::HostDevice;
use equelle_runtime::Error;
use equelle_runtime::grid::{Cartesian, Grid};
use equelle_runtime::launch::Program;
use equelle_runtime::linalg::cg::Cg;
use equelle_runtime::linalg::krylov::{Control, End, System, iterate};
use equelle_runtime::linalg::matrix_space::Plain;
use equelle_runtime::linalg::precond::amg::{Amg, AmgOptions, Hierarchy};
use equelle_runtime::linalg::{Csr, MatrixSpace, SystemSpace, VectorSpace};
use equelle_runtime::params::Parameters;
use equelle_runtime::session::{Options, Session};
use equelle_runtime::source::Source;

static PROGRAM: Program = Program {
    name: "multigrid",
    source: Source { file: "multigrid.equelle", text: "" },
    inputs: &[],
    min_dim: 1,
    retries: &[],
    solves: &[],
};

/// By which iterations may grow from the smallest to the largest cube.
const MOST_GROWTH: f64 = 1.8;
/// Of the residual, relative.
const TOLERANCE: f64 = 1e-8;

/// The Laplacian of a cube with walls of a fixed value.
fn poisson(edge: usize) -> Csr {
    let n = edge * edge * edge;
    let strides = [edge * edge, edge, 1];
    let (mut row_ptr, mut columns, mut values) = (Vec::with_capacity(n + 1), Vec::with_capacity(7 * n), Vec::with_capacity(7 * n));
    row_ptr.push(0);
    for cell in 0..n {
        let place = strides.map(|stride| cell / stride % edge);
        let below = (0..3).filter(|&axis| place[axis] > 0).map(|axis| (cell - strides[axis], -1.0));
        let above = (0..3).rev().filter(|&axis| place[axis] + 1 < edge).map(|axis| (cell + strides[axis], -1.0));
        for (column, value) in below.chain([(cell, 6.0)]).chain(above) {
            columns.push(column as u32);
            values.push(value);
        }
        row_ptr.push(columns.len());
    }
    Csr::new(n, n, row_ptr, columns, values).expect("columns ascend")
}

/// Waits for everything that has been asked of the device.
fn wait(rt: &mut CudaRuntime) -> Result<(), Error> {
    let number = rt.constant(1.0);
    rt.read([&number]).map(drop)
}

/// Iterations of CG.
fn measure(rt: &mut CudaRuntime, edge: usize) -> Result<usize, Error> {
    let options = AmgOptions::default();
    let matrix = poisson(edge);
    let n = matrix.n_rows();
    rt.set_len(n);
    let a = rt.matrix(matrix)?;
    let b = rt.vector((0..n).map(|i| ((i * 7919) % 1009) as f64 / 1009.0).collect())?;
    let mut best = f64::INFINITY;
    let mut made = None;
    // The first one compiles kernels and finds memory.
    for _ in 0..3 {
        drop(made.take());
        wait(rt)?;
        let start = Instant::now();
        let hierarchy = Hierarchy::new(rt, a.share(), &[n], &options)?;
        let facts = (hierarchy.sizes.clone(), hierarchy.complexity);
        made = Some((Amg::new(rt, hierarchy, &options)?, facts));
        wait(rt)?;
        best = best.min(start.elapsed().as_secs_f64());
    }
    let Some((amg, (sizes, complexity))) = made else { return Ok(0) };
    let square = rt.dot(&b, &b);
    let [square] = rt.read([&square])?;
    let control = Control { target: TOLERANCE * square.sqrt(), max_iterations: 200, check_every: 1, patience: 200 };
    let mut fastest = f64::INFINITY;
    let mut iterations = 0;
    for _ in 0..4 {
        let mut method = Cg::new(rt)?;
        let mut x = rt.zeros()?;
        wait(rt)?;
        let start = Instant::now();
        let outcome = iterate(rt, &mut method, System { operator: &Plain(&a), preconditioner: &amg }, &mut x, &b, control)?;
        fastest = fastest.min(start.elapsed().as_secs_f64());
        assert_eq!(outcome.end, End::Converged);
        iterations = outcome.iterations;
    }
    println!(
        "multigrid, Laplacian of {edge}^3: set-up {:.2} ms, {iterations} iterations of CG to {TOLERANCE:.0e} in {:.2} ms ({:.3} ms each); levels {sizes:?}, complexity {complexity:.2}",
        1e3 * best,
        1e3 * fastest,
        1e3 * fastest / iterations.max(1) as f64,
    );
    Ok(iterations)
}

fn main() {
    let given: Vec<usize> = std::env::args().skip(1).filter_map(|word| word.parse().ok()).collect();
    let sizes = if given.is_empty() { vec![32, 64, 128, 256] } else { given };
    let device: Rc<dyn Device> = match GpuDevice::open() {
        Ok(gpu) => Rc::new(gpu),
        Err(error) => {
            eprintln!("no GPU ({error}); on the host device");
            Rc::new(HostDevice::new())
        }
    };
    let mut found = Vec::new();
    for edge in sizes {
        let grid = Grid::cartesian(Cartesian::line(2, 1.0)).expect("a grid");
        let session = Session::on_grid(&PROGRAM, Parameters::default(), grid, Options::silent()).expect("a session");
        // A runtime for each, so that each begins with no memory.
        match CudaRuntime::on_device(session, Rc::clone(&device)).and_then(|mut rt| measure(&mut rt, edge)) {
            Ok(iterations) => found.push(iterations),
            Err(error) => {
                println!("multigrid, Laplacian of {edge}^3: {error}");
                std::process::exit(1);
            }
        }
    }
    if let (Some(&first), Some(&last)) = (found.first(), found.last()) {
        let growth = last as f64 / first.max(1) as f64;
        println!("multigrid: iterations grow {growth:.2} times (goal: {MOST_GROWTH})");
        if growth > MOST_GROWTH {
            std::process::exit(1);
        }
    }
}
