//! Input data of the implicit examples, and what they must give, from loops over the links between
//! cells.
//!
//! Each backward Euler step is one symmetric system, solved here with conjugate gradients to
//! rounding. Results of the original Equelle implementation are checked, not written.

use std::path::Path;

use crate::tools::{Failure, lines, read, root, samples};

/// A plain sum of solver and rounding errors of all steps stays below this, relative to the largest
/// value.
const TOLERANCE: f64 = 1e-11;

/// Data files as path below `examples/` and text.
pub(crate) fn files() -> Result<Vec<(String, String)>, Failure> {
    let mut files = Vec::new();

    let heat_box = box_case();
    compare_samples(&heat_box)?;
    files.extend(heat_box.inputs("heat_implicit_3d"));

    let plate = plate_case();
    for steps in [1, 2] {
        let path = root().join(format!("examples/heat_implicit_2d/expected/u-step{steps:04}.txt"));
        let expected: Vec<f64> = read(&path)?.lines().filter_map(|line| line.parse().ok()).collect();
        compare(&plate.solve(steps), &expected, &path)?;
    }
    files.extend(plate.inputs("heat_implicit_2d"));

    let triangles = triangles_case()?;
    files.extend(triangles.inputs("heat_implicit_triangles"));
    for steps in [1, 3, 5] {
        let name = format!("heat_implicit_triangles/expected/u-step{steps:04}.txt");
        files.push((name, lines(triangles.solve(steps).iter())));
    }

    files.push(("gas_1d/source.txt".to_owned(), lines([0.001, 0.0, -0.001].iter())));
    files.push(("gas_1d/timesteps.txt".to_owned(), lines([1000.0, 1000.0].iter())));
    Ok(files)
}

/// Backward Euler heat conduction between cells.
struct Conduction {
    /// Heat capacity of each cell.
    capacity: Vec<f64>,
    /// Pairs of cells and the transmissibility between them.
    links: Vec<(usize, usize, f64)>,
    /// Faces of given temperature, ascending: face, cell inside, transmissibility, temperature.
    fixed: Vec<(usize, usize, f64, f64)>,
    initial: Vec<f64>,
    /// True if the initial values are in a file.
    initial_file: bool,
    timesteps: Vec<f64>,
}

/// 19 x 24 x 20 unit cubes; 50 z at x = 0 and 1000 - 50 z at x = 19, z at the centroid of the face.
fn box_case() -> Conduction {
    cartesian([19, 24, 20], 1.0, 0.3, 1.0, 500.0, vec![4.0; 20], |high, _, k| {
        let z = k as f64 + 0.5;
        Some(if high { 1000.0 - 50.0 * z } else { 50.0 * z })
    })
}

/// 4 x 3 cells of 10 m; 1000 K at the lowest face of the left side, 0 K at that of the right side.
fn plate_case() -> Conduction {
    cartesian([4, 3, 1], 10.0, 2.85, 2.17e6, 500.0, vec![1e8; 2], |high, j, _| (j == 0).then_some(if high { 0.0 } else { 1000.0 }))
}

/// A uniform grid of cubes (or squares, with a depth of 1). `given`: temperature of the face (high
/// side?, j, k) across x.
fn cartesian(
    n: [usize; 3],
    width: f64,
    k: f64,
    cv: f64,
    initial: f64,
    timesteps: Vec<f64>,
    given: impl Fn(bool, usize, usize) -> Option<f64>,
) -> Conduction {
    let [nx, ny, nz] = n;
    let dim = if nz == 1 { 2 } else { 3 };
    // Area over distance, in as many dimensions as there are.
    let trans = k * width.powi(dim - 2);
    let cell = |i: usize, j: usize, k: usize| i + nx * (j + ny * k);
    let (mut links, mut fixed) = (Vec::new(), Vec::new());
    for k in 0..nz {
        for j in 0..ny {
            for i in 0..nx {
                if i + 1 < nx {
                    links.push((cell(i, j, k), cell(i + 1, j, k), trans));
                }
                if j + 1 < ny {
                    links.push((cell(i, j, k), cell(i, j + 1, k), trans));
                }
                if k + 1 < nz {
                    links.push((cell(i, j, k), cell(i, j, k + 1), trans));
                }
            }
            let row = (nx + 1) * (j + ny * k);
            for (high, face, inside) in [(false, row, cell(0, j, k)), (true, row + nx, cell(nx - 1, j, k))] {
                if let Some(value) = given(high, j, k) {
                    fixed.push((face, inside, 2.0 * trans, value));
                }
            }
        }
    }
    let cells = nx * ny * nz;
    let capacity = vec![cv * width.powi(dim); cells];
    Conduction { capacity, links, fixed, initial: vec![initial; cells], initial_file: false, timesteps }
}

/// The triangles of `grids/triangles-6x5.grid`: 100 + 50 y at x = 0, 20 - 10 y at x = 1.
fn triangles_case() -> Result<Conduction, Failure> {
    let path = root().join("grids/triangles-6x5.grid");
    let text = read(&path)?;
    let broken = || format!("{}: not a grid of triangles in OPM's text format", path.display());
    let mut words = text.split_whitespace().map(|word| word.parse::<f64>());
    let mut take = |count: usize| -> Result<Vec<f64>, Failure> {
        let found: Vec<f64> = words.by_ref().take(count).collect::<Result<_, _>>().map_err(|_| broken())?;
        if found.len() == count { Ok(found) } else { Err(broken()) }
    };
    let header = take(10)?;
    let [cells, faces, nodes, face_nodes, cell_faces] = [1, 2, 3, 4, 5].map(|i| header[i] as usize);
    if header[0] != 2.0 || header[6..8] != [0.0, 0.0] {
        return Err(broken());
    }
    take(2 * nodes + faces + 1 + face_nodes)?;
    let neighbours = take(2 * faces)?;
    let (areas, face_centroids) = (take(faces)?, take(2 * faces)?);
    take(2 * faces + cells + 1 + cell_faces)?;
    let (volumes, cell_centroids) = (take(cells)?, take(2 * cells)?);

    let (k, cv) = (2.85, 2.17e6);
    let distance = |a: &[f64], b: &[f64]| ((a[0] - b[0]).powi(2) + (a[1] - b[1]).powi(2)).sqrt();
    let (mut links, mut fixed) = (Vec::new(), Vec::new());
    for face in 0..faces {
        let inside: Vec<usize> =
            neighbours[2 * face..2 * face + 2].iter().filter(|&&cell| cell >= 0.0).map(|&cell| cell as usize).collect();
        let centroid = &face_centroids[2 * face..2 * face + 2];
        let at = |cell: usize| &cell_centroids[2 * cell..2 * cell + 2];
        match inside[..] {
            [a, b] => links.push((a, b, k * areas[face] / distance(at(a), at(b)))),
            [cell] => {
                let trans = k * areas[face] / distance(centroid, at(cell));
                if centroid[0] < 1e-9 {
                    fixed.push((face, cell, trans, 100.0 + 50.0 * centroid[1]));
                } else if centroid[0] > 1.0 - 1e-9 {
                    fixed.push((face, cell, trans, 20.0 - 10.0 * centroid[1]));
                }
            }
            _ => return Err(broken()),
        }
    }
    let initial = cell_centroids.chunks(2).map(|x| {
        let value = 50.0 + 30.0 * (3.0 * x[0]).sin() * (5.0 * x[1]).cos();
        // Rounded, so that the file does not depend on the last bits of sine and cosine.
        (value * 1000.0).round() / 1000.0
    });
    let initial = initial.collect();
    let capacity = volumes.iter().map(|v| cv * v).collect();
    Ok(Conduction { capacity, links, fixed, initial, initial_file: true, timesteps: vec![600.0, 3600.0, 7200.0, 36000.0, 86400.0] })
}

impl Conduction {
    fn inputs(&self, folder: &str) -> Vec<(String, String)> {
        let mut files = vec![
            (format!("{folder}/dir_boundary.txt"), lines(self.fixed.iter().map(|face| face.0))),
            (format!("{folder}/dir_val.txt"), lines(self.fixed.iter().map(|face| face.3))),
            (format!("{folder}/timesteps.txt"), lines(self.timesteps.iter())),
        ];
        if self.initial_file {
            files.push((format!("{folder}/u_initial.txt"), lines(self.initial.iter())));
        }
        files
    }

    /// The temperature after some steps.
    fn solve(&self, steps: usize) -> Vec<f64> {
        self.timesteps[..steps].iter().fold(self.initial.clone(), |u, &dt| self.step(&u, dt))
    }

    /// (C/dt + T) u = C/dt u_old + given heat
    fn step(&self, old: &[f64], dt: f64) -> Vec<f64> {
        let apply = |u: &[f64]| {
            let mut out: Vec<f64> = u.iter().zip(&self.capacity).map(|(u, c)| c / dt * u).collect();
            for &(a, b, trans) in &self.links {
                out[a] += trans * (u[a] - u[b]);
                out[b] += trans * (u[b] - u[a]);
            }
            for &(_, cell, trans, _) in &self.fixed {
                out[cell] += trans * u[cell];
            }
            out
        };
        let mut rhs: Vec<f64> = old.iter().zip(&self.capacity).map(|(u, c)| c / dt * u).collect();
        for &(_, cell, trans, value) in &self.fixed {
            rhs[cell] += trans * value;
        }
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let mut u = old.to_vec();
        let mut r: Vec<f64> = rhs.iter().zip(apply(&u)).map(|(b, a)| b - a).collect();
        let mut p = r.clone();
        let mut rr = dot(&r, &r);
        let goal = 1e-15 * dot(&rhs, &rhs).sqrt();
        for _ in 0..10 * u.len() {
            if rr.sqrt() <= goal {
                break;
            }
            let ap = apply(&p);
            let alpha = rr / dot(&p, &ap);
            u.iter_mut().zip(&p).for_each(|(u, p)| *u += alpha * p);
            r.iter_mut().zip(&ap).for_each(|(r, ap)| *r -= alpha * ap);
            let before = std::mem::replace(&mut rr, dot(&r, &r));
            p.iter_mut().zip(&r).for_each(|(p, r)| *p = r + rr / before * *p);
        }
        u
    }
}

fn compare_samples(case: &Conduction) -> Result<(), Failure> {
    for steps in [1, 5, 10, 20] {
        let path = root().join(format!("examples/heat_implicit_3d/expected/u-step{steps:04}-samples.txt"));
        let field = case.solve(steps);
        let (cells, expected): (Vec<usize>, Vec<f64>) = samples(&path)?.into_iter().unzip();
        let found: Vec<f64> = cells.iter().filter_map(|&cell| field.get(cell).copied()).collect();
        compare(&found, &expected, &path)?;
    }
    Ok(())
}

fn compare(found: &[f64], expected: &[f64], path: &Path) -> Result<(), Failure> {
    if found.len() != expected.len() || expected.is_empty() {
        return Err(format!("{}: {} values, computed {}", path.display(), expected.len(), found.len()));
    }
    let scale = expected.iter().fold(0.0_f64, |most, value| most.max(value.abs()));
    for (number, (found, expected)) in found.iter().zip(expected).enumerate() {
        // Written so that NaN fails.
        let close = (found - expected).abs() <= TOLERANCE * scale;
        if !close {
            return Err(format!("{}: number {number} is {expected}, computed {found}", path.display()));
        }
    }
    Ok(())
}
