//! The loops that an expert would write for any grid, in safe Rust: values that faces need of a
//! cell are computed once and kept together, the flux through a face is computed once and stored,
//! and cells gather the fluxes of their faces.

use std::hint::black_box;

use super::flux::{central_upwind, wet};
use super::{Bottom, Bowl, DRY, DT, finished, surface};
use crate::harness::{Problem, Run};
use crate::measure::now;

/// Bytes a cell in one stage: state read twice and written once (72), what faces need written and
/// read (128), of two faces a cell two cells (16), area and normal (48), flux written and read
/// (96); in a cell the offset (4) and four faces (16), inverse volume (8) and the bottom, its
/// middle twice (48).
const STAGE: usize = 72 + 128 + 16 + 48 + 96 + 4 + 16 + 8 + 48;
/// Bytes a cell, both stages; the second reads the old state too.
pub const TRAFFIC: usize = 2 * STAGE + 24;

/// Any grid. Faces between cells come first, then walls.
struct Mesh {
    /// First and second cell. `[inner faces]`
    face_cells: Vec<[u32; 2]>,
    /// The cell at a wall. `[walls]`
    wall_cells: Vec<u32>,
    /// Area and unit normal from the first to the second cell; outwards at a wall. `[faces]`
    face_shape: Vec<[f64; 3]>,
    /// Start of each cell's faces. `[cells + 1]`
    cell_face_pos: Vec<u32>,
    /// Twice the number of the face, plus one where the normal points into the cell.
    cell_faces: Vec<u32>,
    /// `[cells]`
    inverse_volume: Vec<f64>,
}

impl Mesh {
    /// A square of unit cells.
    fn square(n: usize) -> Mesh {
        let (mut face_cells, mut wall_cells, mut face_shape) = (Vec::new(), Vec::new(), Vec::new());
        let mut faces = vec![[0_u32; 4]; n * n];
        // In the order of the cells, so that faces of neighbours are near each other.
        for cell in 0..n * n {
            for (axis, along, beyond) in [(0, cell % n, cell + 1), (1, cell / n, cell + n)] {
                if along + 1 < n {
                    let face = face_cells.len() as u32;
                    face_cells.push([cell as u32, beyond as u32]);
                    face_shape.push([1.0, (1 - axis) as f64, axis as f64]);
                    faces[cell][2 * axis + 1] = 2 * face;
                    faces[beyond][2 * axis] = 2 * face + 1;
                }
            }
        }
        for cell in 0..n * n {
            for (axis, along) in [(0, cell % n), (1, cell / n)] {
                for (slot, sign) in [(0, -1.0), (1, 1.0)] {
                    if along == slot * (n - 1) {
                        let face = face_shape.len() as u32;
                        wall_cells.push(cell as u32);
                        face_shape.push([1.0, sign * (1 - axis) as f64, sign * axis as f64]);
                        faces[cell][2 * axis + slot] = 2 * face;
                    }
                }
            }
        }
        let cell_face_pos = (0..=n * n).map(|cell| 4 * cell as u32).collect();
        Mesh { face_cells, wall_cells, face_shape, cell_face_pos, cell_faces: faces.concat(), inverse_volume: vec![1.0; n * n] }
    }
}

type State = [Vec<f64>; 3];

/// State, discharges of wet cells, velocity, speed of waves and pressure are 9 numbers; the
/// discharges of a wet cell are those of the state. `[w, hu, hv, wet, u, v, wave, pressure]`, where
/// `wet` is 1 or 0: one line of the cache.
type Cell = [f64; 8];

/// Runs all steps. `PROGRAM`: with the operations of the Equelle program, which evaluates a flux
/// along each axis for every face, with four divisions each; otherwise one along the normal, with
/// one division.
pub fn run<const PROGRAM: bool>(problem: &Problem) -> Run {
    let n = problem.n;
    let bowl = Bowl::new(n);
    let bottom = Bottom::of(&bowl);
    let mesh = Mesh::square(n);
    let zeros = || vec![0.0; n * n];
    let mut q = [surface(&bowl), zeros(), zeros()];
    let (mut ahead, mut new) = ([zeros(), zeros(), zeros()], [zeros(), zeros(), zeros()]);
    let mut cells: Vec<Cell> = vec![[0.0; 8]; n * n];
    let mut fluxes = vec![[0.0; 3]; mesh.face_shape.len()];
    let mut once = || {
        let dt = black_box(DT);
        gather::<PROGRAM>(&q, &bottom.middle, &mut cells);
        faces::<PROGRAM>(&mesh, &cells, &mut fluxes);
        update::<false>(dt, &mesh, &fluxes, &bottom, &q, &q, &mut ahead);
        gather::<PROGRAM>(&ahead, &bottom.middle, &mut cells);
        faces::<PROGRAM>(&mesh, &cells, &mut fluxes);
        update::<true>(dt, &mesh, &fluxes, &bottom, &ahead, &q, &mut new);
        std::mem::swap(&mut q, &mut new);
    };
    once();
    let start = now();
    (1..problem.steps).for_each(|_| once());
    let step = (now() - start) / (problem.steps - 1) as f64;
    finished(step, q)
}

#[inline(never)]
fn gather<const PROGRAM: bool>(q: &State, bottom: &[f64], cells: &mut [Cell]) {
    let n = cells.len();
    let ([w, hu, hv], bottom) = (q.each_ref().map(|field| &field[..n]), &bottom[..n]);
    for i in 0..n {
        let wet = wet::<PROGRAM>(w[i], hu[i], hv[i], bottom[i]);
        let is_wet = if w[i] - bottom[i] > DRY { 1.0 } else { 0.0 };
        cells[i] = [w[i], hu[i], hv[i], is_wet, wet.u, wet.v, wet.wave, wet.pressure];
    }
}

#[inline(never)]
fn faces<const PROGRAM: bool>(mesh: &Mesh, cells: &[Cell], fluxes: &mut [[f64; 3]]) {
    let (inner, walls) = fluxes.split_at_mut(mesh.face_cells.len());
    let (inner_shape, wall_shape) = mesh.face_shape.split_at(inner.len());
    for ((flux, &[first, second]), &[area, nx, ny]) in inner.iter_mut().zip(&mesh.face_cells).zip(inner_shape) {
        let pair = [&cells[first as usize], &cells[second as usize]];
        let q = pair.map(|c| [c[0], c[1], c[2]]);
        if PROGRAM {
            let along = |axis: usize| {
                let velocity = pair.map(|c| c[4 + axis]);
                let f = pair.map(|c| {
                    let mut f = [c[3] * c[1 + axis], c[1] * c[4 + axis], c[2] * c[4 + axis]];
                    f[1 + axis] += c[7];
                    f
                });
                central_upwind::<true>(q, f, velocity, pair.map(|c| c[6]))
            };
            let (x, y) = (along(0), along(1));
            *flux = [0, 1, 2].map(|i| area * (nx.abs() * x[i] + ny.abs() * y[i]));
            continue;
        }
        let velocity = pair.map(|c| nx * c[4] + ny * c[5]);
        let f = [0, 1].map(|side| {
            let (c, un) = (pair[side], velocity[side]);
            [c[3] * (nx * c[1] + ny * c[2]), c[1] * un + nx * c[7], c[2] * un + ny * c[7]]
        });
        *flux = central_upwind::<false>(q, f, velocity, pair.map(|c| c[6])).map(|f| area * f);
    }
    for ((flux, &cell), &[area, nx, ny]) in walls.iter_mut().zip(&mesh.wall_cells).zip(wall_shape) {
        let force = area * cells[cell as usize][7];
        *flux = [0.0, nx * force, ny * force];
    }
}

#[inline(never)]
fn update<const LAST: bool>(dt: f64, mesh: &Mesh, fluxes: &[[f64; 3]], bottom: &Bottom, q: &State, old: &State, new: &mut State) {
    let n = q[0].len();
    let q = q.each_ref().map(|field| &field[..n]);
    let old = old.each_ref().map(|field| &field[..n]);
    let [new0, new1, new2] = new.each_mut().map(|field| &mut field[..n]);
    let (middle, pos, inverse_volume) = (&bottom.middle[..n], &mesh.cell_face_pos[..n + 1], &mesh.inverse_volume[..n]);
    let (push_x, mean_x, push_y, mean_y) = (&bottom.push_x[..n], &bottom.mean_x[..n], &bottom.push_y[..n], &bottom.mean_y[..n]);
    for i in 0..n {
        let mut sum = [0.0; 3];
        for &face in &mesh.cell_faces[pos[i] as usize..pos[i + 1] as usize] {
            let sign = if face & 1 == 0 { 1.0 } else { -1.0 };
            let flux = &fluxes[(face >> 1) as usize];
            sum = [0, 1, 2].map(|k| sum[k] + sign * flux[k]);
        }
        let w = q[0][i];
        let wet = w - middle[i] > DRY;
        let push = |factor: f64, mean: f64| if wet { factor * (w - mean) } else { 0.0 };
        let pushes = [0.0, push(push_x[i], mean_x[i]), push(push_y[i], mean_y[i])];
        [new0[i], new1[i], new2[i]] = [0, 1, 2].map(|k| {
            let euler = q[k][i] + dt * (pushes[k] - inverse_volume[i] * sum[k]);
            if LAST { 0.5 * old[k][i] + 0.5 * euler } else { euler }
        });
    }
}
