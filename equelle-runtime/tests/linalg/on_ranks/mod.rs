//! Systems whose rows are spread over ranks that are threads, against one process.

mod agreement;
mod iterations;
mod null_spaces;
mod parts;
mod systems;

use equelle_runtime::linalg::Csr;

use crate::common::Random;

/// A box of cells with a coefficient for each axis, held at all sides by `outside` times that.
pub fn laplacian([nx, ny, nz]: [usize; 3], coefficients: [f64; 3], outside: f64) -> Csr {
    let n = nx * ny * nz;
    let mut entries = Vec::with_capacity(7 * n);
    let step = [1, nx, nx * ny];
    for cell in 0..n {
        let at = [cell % nx, cell / nx % ny, cell / (nx * ny)];
        let mut diagonal = 0.0;
        for axis in 0..3 {
            let (last, coefficient) = ([nx, ny, nz][axis] - 1, coefficients[axis]);
            for (is_inside, other) in [(at[axis] > 0, cell.wrapping_sub(step[axis])), (at[axis] < last, cell + step[axis])] {
                if is_inside {
                    entries.push((cell, other, -coefficient));
                    diagonal += coefficient;
                } else {
                    diagonal += outside * coefficient;
                }
            }
        }
        entries.push((cell, cell, diagonal));
    }
    Csr::from_triplets(n, n, &entries).expect("legal")
}

/// Owners of elements: in runs, scattered, or all of one rank but a few.
pub fn owners(random: &mut Random, n: usize, n_ranks: usize) -> Vec<usize> {
    match random.below(3) {
        0 => (0..n).map(|element| element * n_ranks / n).collect(),
        1 => (0..n).map(|_| random.below(n_ranks)).collect(),
        _ => (0..n).map(|_| if random.below(10) == 0 { random.below(n_ranks) } else { n_ranks - 1 }).collect(),
    }
}
