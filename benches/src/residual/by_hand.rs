//! The loops that an expert would write, in safe Rust: the residual and the values of the matrix in
//! one pass over the cells.

use std::hint::black_box;

use super::{DT, ENDS, K, START};
use crate::cube::{Mesh, OUTSIDE};
use crate::harness::{Problem, Run};
use crate::measure::now;

/// Bytes a cell: unknown and old value read, residual and seven entries written; the norm reads the
/// residual from cache.
pub const CARTESIAN_TRAFFIC: usize = 16 + 8 + 56;
/// Besides: offsets of faces and entries (8), six faces (24) and their slots (6), of three faces
/// two cells (24) and a transmissibility (24), inverse volume (8).
pub const UNSTRUCTURED_TRAFFIC: usize = CARTESIAN_TRAFFIC + 8 + 24 + 6 + 24 + 24 + 8;

/// Variant of the loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// Index arithmetic.
    Cartesian,
    /// Lists of faces and cells.
    Mesh,
}

/// Residual and matrix. Rows have their columns in ascending order.
struct System {
    n: usize,
    mesh: Option<Mesh>,
    /// `[cells + 1]`
    row_ptr: Vec<u32>,
    columns: Vec<u32>,
    /// Slot in its row of the neighbour beyond each face of a cell, and after them that of the cell
    /// itself. `[cell_faces + cells]`
    slots: Vec<u8>,
    values: Vec<f64>,
    residual: Vec<f64>,
}

impl System {
    fn new(style: Style, n: usize) -> System {
        let mesh = Mesh::cube(n, K, ENDS);
        let cells = n.pow(3);
        let (mut row_ptr, mut columns, mut slots) = (vec![0], Vec::new(), Vec::new());
        for cell in 0..cells {
            let faces = &mesh.cell_faces[mesh.cell_face_pos[cell] as usize..mesh.cell_face_pos[cell + 1] as usize];
            let beyond = |face: u32| {
                let [first, second] = mesh.face_cells[face as usize];
                if first == cell as u32 { second } else { first }
            };
            let mut row: Vec<u32> = faces.iter().map(|&face| beyond(face)).filter(|&c| c != OUTSIDE).collect();
            row.push(cell as u32);
            row.sort_unstable();
            let slot = |column: u32| row.binary_search(&column).unwrap_or(0) as u8;
            slots.extend(faces.iter().map(|&face| slot(beyond(face))));
            slots.push(slot(cell as u32));
            columns.extend_from_slice(&row);
            row_ptr.push(columns.len() as u32);
        }
        let values = vec![0.0; columns.len()];
        System { n, mesh: (style == Style::Mesh).then_some(mesh), row_ptr, columns, slots, values, residual: vec![0.0; cells] }
    }

    /// Evaluates; the norm of the residual.
    fn evaluate(&mut self, dt: f64, u: &[f64], old: &[f64]) -> f64 {
        match &self.mesh {
            Some(mesh) => mesh_rows(dt, mesh, &self.row_ptr, &self.slots, u, old, &mut self.residual, &mut self.values),
            None => cartesian_rows(self.n, [dt * K; 3], u, old, &mut self.residual, &mut self.values),
        }
        let mut sums = [0.0; 8];
        let (chunks, rest) = self.residual.as_chunks::<8>();
        for chunk in chunks {
            sums.iter_mut().zip(chunk).for_each(|(sum, r)| *sum += r * r);
        }
        (sums.iter().sum::<f64>() + rest.iter().map(|r| r * r).sum::<f64>()).sqrt()
    }

    /// Matrix times a field.
    fn times(&self, x: &[f64]) -> Vec<f64> {
        let row = |cell: usize| self.row_ptr[cell] as usize..self.row_ptr[cell + 1] as usize;
        (0..x.len())
            .map(|cell| self.values[row(cell)].iter().zip(&self.columns[row(cell)]).map(|(a, &c)| a * x[c as usize]).sum())
            .collect()
    }
}

/// Evaluates once a step, always at the same place.
pub fn evaluations(style: Style, problem: &Problem) -> Run {
    let mut system = System::new(style, problem.n);
    let u = vec![START; problem.n.pow(3)];
    let old = u.clone();
    let mut once = || black_box(system.evaluate(black_box(DT), black_box(&u), black_box(&old)));
    assert!(once() > 0.0, "nothing happens");
    let start = now();
    for _ in 1..problem.steps {
        once();
    }
    Run { step: (now() - start) / (problem.steps - 1) as f64, values: u }
}

/// The field after some steps; linear systems are solved by conjugate gradients.
pub fn steps(style: Style, problem: &Problem) -> Vec<f64> {
    let mut system = System::new(style, problem.n);
    let mut u = vec![START; problem.n.pow(3)];
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    for _ in 0..problem.steps {
        let old = u.clone();
        while system.evaluate(DT, &u, &old) > 1e-8 {
            let mut r = system.residual.clone();
            let mut p = r.clone();
            let mut size = dot(&r, &r);
            let small = 1e-26 * size;
            while size > small {
                let ap = system.times(&p);
                let alpha = size / dot(&p, &ap);
                for i in 0..u.len() {
                    u[i] -= alpha * p[i];
                    r[i] -= alpha * ap[i];
                }
                let next = dot(&r, &r);
                p.iter_mut().zip(&r).for_each(|(p, r)| *p = r + next / size * *p);
                size = next;
            }
        }
    }
    u
}

/// A cube of unit cells. `g` is conductivity times time step, per axis.
fn cartesian_rows(n: usize, g: [f64; 3], u: &[f64], old: &[f64], residual: &mut [f64], mut values: &mut [f64]) {
    let stride = [1, n, n * n];
    for k in 0..n {
        for j in 0..n {
            let start = n * n * k + n * j;
            let at_rim = j == 0 || j + 1 == n || k == 0 || k + 1 == n;
            let mut cell = |i: usize, values: &mut [f64]| {
                let (c, here) = (start + i, u[start + i]);
                let (mut sum, mut diagonal, mut row, mut len) = (0.0, 1.0, [0.0; 7], 0);
                let at = [i, j, k];
                for axis in (0..3).rev().filter(|&axis| at[axis] > 0) {
                    (row[len], len) = (-g[axis], len + 1);
                }
                let own = len;
                len += 1;
                for axis in (0..3).filter(|&axis| at[axis] + 1 < n) {
                    (row[len], len) = (-g[axis], len + 1);
                }
                for axis in 0..3 {
                    for (inside, offset, end) in [(at[axis] > 0, -1_isize, 0), (at[axis] + 1 < n, 1, 1)] {
                        if inside {
                            sum += g[axis] * (here - u[c.wrapping_add_signed(offset * stride[axis] as isize)]);
                            diagonal += g[axis];
                        } else if axis == 0 {
                            sum += 2.0 * g[0] * (here - ENDS[end]);
                            diagonal += 2.0 * g[0];
                        }
                    }
                }
                row[own] = diagonal;
                residual[c] = here - old[c] + sum;
                values[..len].copy_from_slice(&row[..len]);
                len
            };
            if at_rim {
                for i in 0..n {
                    let len = cell(i, values);
                    values = &mut values[len..];
                }
                continue;
            }
            let len = cell(0, values);
            let (inside, rest) = values[len..].split_at_mut(7 * (n - 2));
            values = rest;
            let len = cell(n - 1, values);
            values = &mut values[len..];
            let (first, len) = (start + 1, n - 2);
            let at = |offset: usize| &u[offset..offset + len];
            let sides = [at(first - 1), at(first + 1), at(first - n), at(first + n), at(first - n * n), at(first + n * n)];
            row(g, at(first), &old[first..first + len], sides, &mut residual[first..first + len], inside);
        }
    }
}

/// The inside of a row; sides are low and high, axis by axis.
#[inline(never)]
fn row(g: [f64; 3], here: &[f64], old: &[f64], sides: [&[f64]; 6], residual: &mut [f64], values: &mut [f64]) {
    let len = residual.len();
    let (here, old, [west, east, south, north, below, above]) = (&here[..len], &old[..len], sides.map(|side| &side[..len]));
    for i in 0..len {
        let twice = 2.0 * here[i];
        let (x, y, z) = (west[i] - twice + east[i], south[i] - twice + north[i], below[i] - twice + above[i]);
        residual[i] = here[i] - old[i] - (g[0] * x + g[1] * y + g[2] * z);
    }
    let entries = [-g[2], -g[1], -g[0], 1.0 + 2.0 * (g[0] + g[1] + g[2]), -g[0], -g[1], -g[2]];
    for row in values.as_chunks_mut::<7>().0 {
        *row = entries;
    }
}

#[allow(clippy::too_many_arguments)]
#[inline(never)]
fn mesh_rows(dt: f64, mesh: &Mesh, row_ptr: &[u32], slots: &[u8], u: &[f64], old: &[f64], residual: &mut [f64], values: &mut [f64]) {
    let (face_cells, trans, given) = (&mesh.face_cells[..], &mesh.trans[..], &mesh.given[..]);
    let cells = residual.len();
    let (u, old, inverse_volume, pos) = (&u[..cells], &old[..cells], &mesh.inverse_volume[..cells], &mesh.cell_face_pos[..cells + 1]);
    let row_ptr = &row_ptr[..cells + 1];
    let mut slots = slots;
    for cell in 0..cells {
        let here = u[cell];
        let factor = dt * inverse_volume[cell];
        let faces = &mesh.cell_faces[pos[cell] as usize..pos[cell + 1] as usize];
        let row = &mut values[row_ptr[cell] as usize..row_ptr[cell + 1] as usize];
        let (own, rest) = slots.split_at(faces.len() + 1);
        slots = rest;
        let (mut sum, mut diagonal) = (0.0, 0.0);
        for (&face, &slot) in faces.iter().zip(own) {
            let face = face as usize;
            let [first, second] = face_cells[face];
            let t = trans[face];
            diagonal += t;
            let there = if first == cell as u32 { u.get(second as usize) } else { u.get(first as usize) };
            match there {
                Some(there) => {
                    sum += t * (here - there);
                    row[usize::from(slot)] = -factor * t;
                }
                None => sum += t * (here - given[face]),
            }
        }
        residual[cell] = here - old[cell] + factor * sum;
        row[usize::from(own[faces.len()])] = 1.0 + factor * diagonal;
    }
}
