//! A matrix of blocks beside the same matrix in compressed rows: pressure and saturation of two
//! phases on cubes, linearised at random saturations. What a step of Newton's method asks of its
//! matrix, each in turn with either; the fastest of all turns.
//!
//! Arguments: cells along an edge, separated by commas, by default 46,100; and how often everything
//! takes its turn, by default 15; whole solves twice.

use std::hint::black_box;
use std::time::Instant;

use equelle_runtime::linalg::precond::Setting;
use equelle_runtime::linalg::precond::amg::AmgOptions;
use equelle_runtime::linalg::space::host::HostSpace;
use equelle_runtime::linalg::{
    BlockMatrix, Csr, HostMatrix, LinearCache, LinearOptions, MatrixSpace, Method, Preconditioner, Preconditioning, SystemSpace, solve_in,
};

/// In [0, 1), always the same.
fn number(seed: usize) -> f64 {
    let mixed = (seed as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    ((mixed ^ (mixed >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 11) as f64 / (1u64 << 53) as f64
}

/// The balance of all volume and that of water in every cell, by pressure and saturation:
/// mobilities s and (1 - s) / 10, taken from the side that the flow comes from, along a falling
/// pressure with some noise; a step that moves about a tenth of what is in a cell. Pressure is held
/// beyond the first layer of cells.
fn two_phase(m: usize) -> Csr {
    let n = m * m * m;
    let saturation: Vec<f64> = (0..n).map(|cell| 0.2 + 0.6 * number(cell)).collect();
    let pressure: Vec<f64> = (0..n).map(|cell| -((cell / (m * m)) as f64) + 0.3 * number(n + cell)).collect();
    let strides = [1, m, m * m];
    let (mut row_ptr, mut columns) = (vec![0], Vec::new());
    let mut values = Vec::with_capacity(4 * 7 * n);
    for equation in 0..2 {
        for cell in 0..n {
            let place = [cell % m, cell / m % m, cell / (m * m)];
            let low = (0..3).rev().filter(|&axis| place[axis] > 0).map(|axis| cell - strides[axis]);
            let high = (0..3).filter(|&axis| place[axis] + 1 < m).map(|axis| cell + strides[axis]);
            let cells: Vec<usize> = low.chain([cell]).chain(high).collect();
            let own = cells.iter().position(|other| *other == cell).unwrap_or(0);
            let (mut by_pressure, mut by_saturation) = (vec![0.0; cells.len()], vec![0.0; cells.len()]);
            for (at, &other) in cells.iter().enumerate().filter(|(at, _)| *at != own) {
                let drive = pressure[cell] - pressure[other];
                let (from, up) = if drive >= 0.0 { (own, cell) } else { (at, other) };
                let s = saturation[up];
                // Total mobility and its slope; of water for the second equation, times the part of
                // a cell that flows.
                let (mobility, slope) = if equation == 0 { (s + (1.0 - s) / 10.0, 0.9) } else { (0.1 * s, 0.1) };
                by_pressure[own] += mobility;
                by_pressure[at] -= mobility;
                by_saturation[from] += slope * drive;
            }
            if equation == 1 {
                by_saturation[own] += 1.0;
            } else if place[2] == 0 {
                by_pressure[own] += 1.0;
            }
            columns.extend(cells.iter().map(|&cell| cell as u32));
            columns.extend(cells.iter().map(|&cell| (n + cell) as u32));
            values.extend(by_pressure.iter().chain(&by_saturation));
            row_ptr.push(columns.len());
        }
    }
    Csr::new(2 * n, 2 * n, row_ptr, columns, values).unwrap_or_default()
}

/// Turns of whole solves at most.
const SOLVES: usize = 2;

/// The fastest turn so far of each way.
struct Times(Vec<(String, [f64; 2])>);

impl Times {
    fn take<T>(&mut self, what: &str, way: usize, run: impl FnOnce() -> T) -> T {
        let started = Instant::now();
        let made = black_box(run());
        let seconds = started.elapsed().as_secs_f64();
        match self.0.iter_mut().find(|(known, _)| known == what) {
            Some((_, best)) => best[way] = best[way].min(seconds),
            None => self.0.push((what.to_owned(), std::array::from_fn(|other| if other == way { seconds } else { f64::INFINITY }))),
        }
        made
    }
}

fn turn(times: &mut Times, matrix: &HostMatrix, way: usize, b: &[f64]) {
    let n = b.len();
    let ends = [n / 2, n];
    let mut space = HostSpace::new(n);
    let (x, mut y) = (b.to_vec(), vec![0.0; n]);
    times.take("product", way, || space.multiply(&mut y, matrix, &x));
    let Ok(_) = times.take("what the matrix is like", way, || space.inspect(matrix, &ends, f64::EPSILON));
    let Ok(_) = times.take("which unknown is elliptic", way, || space.departure_from_elliptic(matrix, 2));
    let setting = Setting { ends: &ends, symmetric: false, singular: false, pressure: 0, amg: AmgOptions::default() };
    for kind in [Preconditioning::BlockJacobi, Preconditioning::BlockIlu0, Preconditioning::Cpr] {
        let Ok(made) = times.take(&format!("set-up of {}", kind.key()), way, || space.set_up(matrix, 1.0, kind, setting));
        times.take(&format!("{} once", kind.key()), way, || made.apply(&mut space, &mut y, &x));
    }
}

/// A solve with the two-stage preconditioner, and as many iterations as are made with the other one
/// until the limit.
fn solves(times: &mut Times, matrix: &HostMatrix, way: usize, b: &[f64]) {
    let mut space = HostSpace::new(b.len());
    let ends = [b.len() / 2, b.len()];
    for (kind, max_iterations, what) in [
        (Preconditioning::Cpr, 1000, "whole solve by gmres with cpr"),
        (Preconditioning::BlockIlu0, 40, "40 iterations of gmres with block_ilu0"),
    ] {
        let options = LinearOptions { method: Some(Method::Gmres), preconditioner: Some(kind), max_iterations, ..LinearOptions::default() };
        let (rhs, mut cache) = (b.to_vec(), LinearCache::default());
        let Ok(solved) = times.take(what, way, || solve_in(&mut space, matrix, &ends, rhs, &options, &mut cache));
        let iterations = solved.map_or_else(|error| error.iterations, |solution| solution.iterations);
        println!("{what}: {iterations} iterations");
    }
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let sizes = arguments.next().unwrap_or_else(|| "46,100".to_owned());
    let turns = arguments.next().and_then(|turns| turns.parse::<usize>().ok()).unwrap_or(15);
    for m in sizes.split(',').filter_map(|size| size.parse::<usize>().ok()) {
        let rows = two_phase(m);
        let Some(blocks) = BlockMatrix::from_csr(&rows, 2) else { continue };
        let parts: Vec<Vec<f64>> = (0..2).map(|equation| blocks.equation(equation).to_vec()).collect();
        let of_rows = (rows.pattern().n_entries() * 12 + 8 * (rows.n_rows() + 1), 8 * rows.n_entries());
        let of_blocks = (8 * rows.n_entries() + blocks.pattern().bytes(), 0);
        let b: Vec<f64> = (0..rows.n_rows()).map(|row| number(row) - 0.5).collect();
        let matrices = [HostMatrix::from(rows), HostMatrix::from(blocks)];
        let mut times = Times(Vec::new());
        let mut whole = Vec::new();
        for _ in 0..turns {
            times.take("from what kernels wrote to the matrix", 0, || {
                whole.clear();
                whole.reserve_exact(2 * parts[0].len());
                parts.iter().for_each(|part| whole.extend(part.iter().map(|value| black_box(*value))));
            });
            matrices.iter().enumerate().for_each(|(way, matrix)| turn(&mut times, matrix, way, &b));
        }
        for _ in 0..turns.min(SOLVES) {
            matrices.iter().enumerate().for_each(|(way, matrix)| solves(&mut times, matrix, way, &b));
        }
        println!(
            "\n{} cells, {} entries; seconds, the fastest of {turns}, of solves of {}\n",
            m * m * m,
            matrices[0].rows().n_entries(),
            turns.min(SOLVES)
        );
        println!("| | compressed rows | blocks | ratio |\n| --- | ---: | ---: | ---: |");
        for (what, [rows, blocks]) in &times.0 {
            if blocks.is_finite() {
                println!("| {what} | {rows:.4} | {blocks:.4} | {:.2} |", rows / blocks);
            } else {
                println!("| {what} | {rows:.4} | nothing is done | |");
            }
        }
        println!("| bytes of the matrix | {} | {} | {:.2} |", of_rows.0, of_blocks.0, of_rows.0 as f64 / of_blocks.0 as f64);
        let with = [of_rows.0 + of_rows.1, of_blocks.0 + of_blocks.1];
        println!("| with what kernels write | {} | {} | {:.2} |", with[0], with[1], with[0] as f64 / with[1] as f64);
    }
}
