//! Multigrid on the Laplacian of cubes: set-up, iterations and time of CG on the device,
//! `cargo bench -p backend-cuda --features runtime --bench multigrid`. Arguments: cells along an
//! edge, 32, 64, 128 and 256 if there are none. Without a GPU the emulator runs, which tells
//! iterations and nothing of speed.

mod common;

use std::rc::Rc;
use std::time::Instant;

use backend_cuda::runtime::Space;
use equelle_runtime::Error;
use equelle_runtime::linalg::krylov::cg::Cg;
use equelle_runtime::linalg::krylov::iteration::{Control, End, System, Target, iterate};
use equelle_runtime::linalg::precond::amg::{AmgOptions, Hierarchy};
use equelle_runtime::linalg::space::matrix_space::Plain;
use equelle_runtime::linalg::{MatrixSpace, SystemSpace, VectorSpace};

/// Factor by which iterations may grow from the smallest to the largest cube.
const MAX_GROWTH: f64 = 1.8;
/// Tolerance of the relative residual.
const TOLERANCE: f64 = 1e-8;

/// Waits for everything that has been asked of the device.
fn wait(rt: &mut Space<f64>) -> Result<(), Error> {
    let number = rt.constant(1.0);
    rt.read([&number]).map(drop)
}

/// Iterations of CG.
fn measure(rt: &mut Space<f64>, edge: usize) -> Result<usize, Error> {
    let options = AmgOptions::default();
    let matrix = common::poisson(edge);
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
        let properties = (hierarchy.sizes.clone(), hierarchy.complexity);
        made = Some((rt.cycle(hierarchy, &options)?, properties));
        wait(rt)?;
        best = best.min(start.elapsed().as_secs_f64());
    }
    let Some((cycle, (sizes, complexity))) = made else { return Ok(0) };
    let square = rt.dot(&b, &b);
    let [square] = rt.read([&square])?;
    let control = Control { target: Target::just(TOLERANCE * square.sqrt()), max_iterations: 200, check_every: 1, patience: 200 };
    let mut fastest = f64::INFINITY;
    let mut iterations = 0;
    for _ in 0..4 {
        let mut method = Cg::new(rt)?;
        let mut x = rt.zeros()?;
        wait(rt)?;
        let start = Instant::now();
        let outcome = iterate(rt, &mut method, System { operator: &Plain(&a), preconditioner: &cycle }, &mut x, &b, control)?;
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
    let device = common::device();
    let mut found = Vec::new();
    for edge in sizes {
        // A runtime for each, so that each begins with no memory.
        match common::runtime(Rc::clone(&device)).and_then(|rt| measure(&mut rt.linear_space(), edge)) {
            Ok(iterations) => found.push(iterations),
            Err(error) => {
                println!("multigrid, Laplacian of {edge}^3: {error}");
                std::process::exit(1);
            }
        }
    }
    if let (Some(&first), Some(&last)) = (found.first(), found.last()) {
        let growth = last as f64 / first.max(1) as f64;
        println!("multigrid: iterations grow {growth:.2} times (goal: {MAX_GROWTH})");
        if growth > MAX_GROWTH {
            std::process::exit(1);
        }
    }
}
