//! Iterations with preconditioners over ranks, against those of one process.

use equelle_runtime::linalg::{Csr, LinearOptions, Method, Preconditioning, solve_blocks};

use super::laplacian;
use super::parts::Whole;
use crate::common::{Random, triplets};

/// Cuts of a box into this many smaller ones along its axes.
fn boxes(shape: [usize; 3], cuts: [usize; 3]) -> impl Fn(usize) -> usize {
    move |cell| {
        let at = [cell % shape[0], cell / shape[0] % shape[1], cell / (shape[0] * shape[1])];
        let part = |axis: usize| at[axis] * cuts[axis] / shape[axis];
        part(0) + cuts[0] * (part(1) + cuts[1] * part(2))
    }
}

/// Most iterations on ranks, against those of one process.
fn worst(matrix: &Csr, ends: &[usize], shape: [usize; 3], cuts: &[[usize; 3]], options: &LinearOptions) -> (usize, usize) {
    let mut random = Random(13);
    let b = random.numbers(matrix.n_rows());
    let alone = solve_blocks(matrix, ends, &b, options, &mut Default::default()).unwrap().iterations;
    let on_ranks = |&cuts: &[usize; 3]| {
        let whole = Whole::new(matrix, ends, cuts.iter().product(), boxes(shape, cuts));
        whole.solve(&b, options).unwrap_or_else(|error| panic!("{cuts:?}: {error}")).iterations
    };
    let found: Vec<usize> = cuts.iter().map(on_ranks).collect();
    eprintln!("{shape:?}: one process {alone}, ranks {found:?}");
    (found.into_iter().max().unwrap_or(0), alone)
}

const CUTS: [[usize; 3]; 4] = [[2, 1, 1], [1, 1, 2], [2, 2, 1], [2, 2, 2]];

fn cg_with_multigrid() -> LinearOptions {
    LinearOptions { method: Some(Method::Cg), preconditioner: Some(Preconditioning::Amg), ..LinearOptions::default() }
}

/// CG with multigrid needs at most a quarter more iterations on 2 to 8 ranks than on one process.
#[test]
fn multigrid_over_ranks_needs_few_more_iterations() {
    let shape = [40, 40, 40];
    for coefficients in [[1.0, 1.0, 1.0], [1.0, 1.0, 1000.0]] {
        let matrix = laplacian(shape, coefficients, 2.0);
        let (most, alone) = worst(&matrix, &[matrix.n_rows()], shape, &CUTS, &cg_with_multigrid());
        assert!(4 * most <= 5 * alone, "{coefficients:?}: {most} iterations instead of {alone}");
    }
}

/// The same at 60^3, and with other ratios.
#[test]
#[ignore = "a minute: `.ci/full`"]
fn multigrid_over_ranks_on_larger_boxes() {
    let shape = [60, 60, 60];
    for coefficients in [[1.0, 1.0, 1.0], [1.0, 1.0, 1000.0], [1000.0, 1.0, 1.0], [1.0, 30.0, 1000.0]] {
        let matrix = laplacian(shape, coefficients, 2.0);
        let (most, alone) = worst(&matrix, &[matrix.n_rows()], shape, &CUTS, &cg_with_multigrid());
        assert!(4 * most <= 5 * alone, "{coefficients:?}: {most} iterations instead of {alone}");
    }
}

/// A pressure and a saturation that is transported: the pressure of an elliptic equation moves
/// both.
fn two_phases(shape: [usize; 3], anisotropy: f64) -> Csr {
    let pressure = laplacian(shape, [1.0, 1.0, anisotropy], 0.0);
    let n = pressure.n_rows();
    let mut entries = Vec::new();
    for row in 0..n {
        for (column, value) in pressure.row(row) {
            let storage = if row == column { 1e-3 } else { 0.0 };
            entries.extend([(row, column, 0.7 * value + storage), (n + row, column, 0.3 * value + storage)]);
            // Upwind along the first axis.
            let flux = if column + 1 == row {
                -2.0
            } else if column == row {
                2.0
            } else {
                0.0
            };
            let own = if row == column { 1.0 } else { 0.0 };
            entries.extend([(row, n + column, own + flux), (n + row, n + column, -own - 0.5 * flux)]);
        }
    }
    triplets(2 * n, &entries)
}

/// CPR needs at most 1.4 times the iterations of one process on 2 to 8 ranks.
#[test]
fn two_stages_over_ranks_need_few_more_iterations() {
    let shape = [32, 32, 32];
    for anisotropy in [1.0, 1000.0] {
        let matrix = two_phases(shape, anisotropy);
        let n = matrix.n_rows() / 2;
        let options = LinearOptions { method: Some(Method::Gmres), preconditioner: Some(Preconditioning::Cpr), ..LinearOptions::default() };
        let (most, alone) = worst(&matrix, &[n, 2 * n], shape, &CUTS, &options);
        assert!(5 * most <= 7 * alone, "anisotropy {anisotropy}: {most} iterations instead of {alone}");
    }
}
