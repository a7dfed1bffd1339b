//! Loops that an expert would write, in safe Rust.

use std::hint::black_box;

use super::{DT, HIGH, K, LOW, START};
use crate::cube::Mesh;
use crate::harness::{Problem, Run};
use crate::measure::now;

/// Bytes a cell on a Cartesian grid: temperature read and written.
pub const CARTESIAN_TRAFFIC: usize = 16;

/// Bytes a cell on any grid: temperature read and written (16), inverse volume (8), offset (4), 6
/// faces (24), and of 3 faces a cell two cells (24) and a transmissibility (24).
pub const UNSTRUCTURED_TRAFFIC: usize = 16 + 8 + 4 + 24 + 24 + 24;

/// Variant of the loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// Index arithmetic, and the terms of an axis drawn together to a second difference:
    /// `g (low - 2 here + high)`.
    Stencil,
    /// Index arithmetic, and the floating-point operations of the Equelle program, which a compiler
    /// must not change: a flux per face, added in order.
    Fluxes,
    /// Lists of faces and cells.
    Mesh,
}

/// Runs all steps.
pub fn run(style: Style, problem: &Problem) -> Run {
    match style {
        Style::Stencil => steps(problem, |u, new| cartesian_step(problem.n, black_box([K * DT; 3]), u, new, stencil_row)),
        Style::Fluxes => steps(problem, |u, new| cartesian_step(problem.n, black_box([K * DT; 3]), u, new, flux_row)),
        Style::Mesh => {
            let mesh = Mesh::cube(problem.n, K, [LOW, HIGH]);
            steps(problem, |u, new| mesh_step(&mesh, black_box(DT), u, new))
        }
    }
}

fn steps(problem: &Problem, mut step: impl FnMut(&[f64], &mut [f64])) -> Run {
    let cells = problem.n.pow(3);
    let (mut u, mut new) = (vec![START; cells], vec![0.0; cells]);
    let mut once = || {
        step(&u, &mut new);
        std::mem::swap(&mut u, &mut new);
    };
    once();
    let start = now();
    (1..problem.steps).for_each(|_| once());
    let step = (now() - start) / (problem.steps - 1) as f64;
    assert!(u.iter().any(|u| *u != START), "nothing happened");
    Run { step, values: u }
}

/// One step on a cube: the inside of each row without tests, the rest cell by cell.
/// [`CARTESIAN_TRAFFIC`] bytes a cell.
///
/// `g` is diffusivity times time step over squared cell width, per axis. `row` is a function of its
/// own, so that the compiler knows that what is written overlaps nothing that is read.
fn cartesian_step(n: usize, g: [f64; 3], u: &[f64], new: &mut [f64], row: fn([f64; 3], &[f64], [&[f64]; 6], &mut [f64])) {
    let (y, z) = (n, n * n);
    for k in 0..n {
        for j in 0..n {
            let start = z * k + y * j;
            let at_rim = j == 0 || j + 1 == n || k == 0 || k + 1 == n;
            for i in (0..n).step_by(if at_rim { 1 } else { n - 1 }) {
                let (c, here) = (start + i, u[start + i]);
                let x_low = if i > 0 { u[c - 1] - here } else { 2.0 * (LOW - here) };
                let x_high = if i + 1 < n { u[c + 1] - here } else { 2.0 * (HIGH - here) };
                let y_low = if j > 0 { u[c - y] - here } else { 0.0 };
                let y_high = if j + 1 < n { u[c + y] - here } else { 0.0 };
                let z_low = if k > 0 { u[c - z] - here } else { 0.0 };
                let z_high = if k + 1 < n { u[c + z] - here } else { 0.0 };
                new[c] = here + g[0] * (x_low + x_high) + g[1] * (y_low + y_high) + g[2] * (z_low + z_high);
            }
            if !at_rim {
                let (first, len) = (start + 1, n - 2);
                let at = |offset: usize| &u[offset..offset + len];
                let sides = [at(first - 1), at(first + 1), at(first - y), at(first + y), at(first - z), at(first + z)];
                row(g, at(first), sides, &mut new[first..first + len]);
            }
        }
    }
}

/// The inside of a row in [`Style::Stencil`]; sides are low and high, axis by axis.
fn stencil_row(g: [f64; 3], here: &[f64], sides: [&[f64]; 6], new: &mut [f64]) {
    let len = new.len();
    let (here, [west, east, south, north, below, above]) = (&here[..len], sides.map(|side| &side[..len]));
    for i in 0..len {
        let twice = 2.0 * here[i];
        let (x, y, z) = (west[i] - twice + east[i], south[i] - twice + north[i], below[i] - twice + above[i]);
        new[i] = here[i] + g[0] * x + g[1] * y + g[2] * z;
    }
}

/// The inside of a row in [`Style::Fluxes`]. `g` holds the time step too, which the program
/// multiplies last; that is not more operations.
fn flux_row(g: [f64; 3], here: &[f64], sides: [&[f64]; 6], new: &mut [f64]) {
    let len = new.len();
    let (here, [west, east, south, north, below, above]) = (&here[..len], sides.map(|side| &side[..len]));
    let trans = g.map(|g| -g / DT);
    let factor = black_box(DT);
    for i in 0..len {
        let c = here[i];
        let mut sum = 0.0;
        sum -= trans[0] * (c - west[i]);
        sum += trans[0] * (east[i] - c);
        sum -= trans[1] * (c - south[i]);
        sum += trans[1] * (north[i] - c);
        sum -= trans[2] * (c - below[i]);
        sum += trans[2] * (above[i] - c);
        new[i] = c - factor * sum;
    }
}

/// One step on any grid: one pass over the cells, gathering over the faces of each.
/// [`UNSTRUCTURED_TRAFFIC`] bytes a cell.
///
/// This is the fastest of several variants in safe Rust: the test for the outside is the bounds
/// check that is needed anyway.
#[inline(never)]
fn mesh_step(mesh: &Mesh, dt: f64, u: &[f64], new: &mut [f64]) {
    let (face_cells, trans, given) = (&mesh.face_cells[..], &mesh.trans[..], &mesh.given[..]);
    let cells = new.len();
    let (u, inverse_volume, pos) = (&u[..cells], &mesh.inverse_volume[..cells], &mesh.cell_face_pos[..cells + 1]);
    for cell in 0..cells {
        let here = u[cell];
        let mut sum = 0.0;
        for &face in &mesh.cell_faces[pos[cell] as usize..pos[cell + 1] as usize] {
            let face = face as usize;
            let [first, second] = face_cells[face];
            let there = if first == cell as u32 { u.get(second as usize) } else { u.get(first as usize) };
            sum += trans[face] * (there.unwrap_or_else(|| &given[face]) - here);
        }
        new[cell] = here + dt * inverse_volume[cell] * sum;
    }
}
