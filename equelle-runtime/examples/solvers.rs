//! Multigrid-preconditioned CG on the seven-point Laplacian of cubes, a table of iterations and
//! times. `benches/peers/solvers.py` computes the same systems with PyAMG.
//!
//! The preconditioner is that of a simulation on the processor: the levels are of singles but with
//! sweeps of Gauss-Seidel, the iterative method is of doubles.
//!
//! Arguments: cells along an edge, separated by commas; by default 32,64.

use std::time::Instant;

use equelle_runtime::linalg::krylov::cg::Cg;
use equelle_runtime::linalg::krylov::iteration::{Control, End, System, Target, iterate};
use equelle_runtime::linalg::precond::amg::{AmgOptions, AmgSmoother, Hierarchy};
use equelle_runtime::linalg::space::host::{HostSpace, norm};
use equelle_runtime::linalg::{Csr, MultigridSpace};

/// 6 on the diagonal and -1 for each neighbour, with the value beyond the boundary held.
fn poisson(n: usize) -> Csr {
    let (mut row_ptr, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
    for cell in 0..n * n * n {
        let place = [cell % n, cell / n % n, cell / (n * n)];
        let strides = [1, n, n * n];
        let mut add = |column: usize, value: f64| {
            columns.push(column as u32);
            values.push(value);
        };
        (0..3).rev().filter(|&axis| place[axis] > 0).for_each(|axis| add(cell - strides[axis], -1.0));
        add(cell, 6.0);
        (0..3).filter(|&axis| place[axis] + 1 < n).for_each(|axis| add(cell + strides[axis], -1.0));
        row_ptr.push(columns.len());
    }
    Csr::new(n * n * n, n * n * n, row_ptr, columns, values).unwrap_or_default()
}

fn main() {
    let sizes = std::env::args().nth(1).unwrap_or_else(|| "32,64".to_owned());
    println!("| cells | smoother | levels | complexity | iterations | set-up s | solve s | residual |");
    println!("| ---: | --- | ---: | ---: | ---: | ---: | ---: | ---: |");
    for n in sizes.split(',').filter_map(|size| size.parse::<usize>().ok()) {
        let matrix = poisson(n);
        let rows = matrix.n_rows();
        let b: Vec<f64> = (0..rows).map(|i| ((i * 7919) % 1009) as f64 / 1009.0).collect();
        for (smoother, sweeps) in [(AmgSmoother::Jacobi, 1), (AmgSmoother::Chebyshev, 2), (AmgSmoother::GaussSeidel, 1)] {
            let options = AmgOptions { smoother: Some(smoother), sweeps: Some(sweeps), ..AmgOptions::default() };
            let mut space = HostSpace::new(rows);
            let Ok(Hierarchy { sizes, complexity, .. }) = Hierarchy::new(&mut space, matrix.clone().into(), &[rows], &options);
            let levels = sizes.len();
            let started = Instant::now();
            let Ok(amg) = space.multigrid(matrix.clone(), &[rows], &options);
            let set_up = started.elapsed().as_secs_f64();
            let Ok(mut cg) = Cg::new(&mut space);
            let mut x = vec![0.0; rows];
            let control = Control { target: Target::just(1e-8 * norm(&b)), max_iterations: 500, check_every: 1, patience: 500 };
            let started = Instant::now();
            let system = System { operator: &matrix, preconditioner: &amg };
            let Ok(outcome) = iterate(&mut space, &mut cg, system, &mut x, &b, control);
            let solve = started.elapsed().as_secs_f64();
            let iterations = if outcome.end == End::Converged { outcome.iterations.to_string() } else { format!("{:?}", outcome.end) };
            let residual = outcome.residual / norm(&b);
            println!(
                "| {n}^3 | {} {sweeps} | {levels} | {complexity:.2} | {iterations} | {set_up:.2} | {solve:.2} | {residual:.1e} |",
                smoother.key()
            );
        }
    }
}
