//! Input data of the examples, and what they must give.
//!
//! The expected results come from plain loops over (i, j, k) that share nothing with the compiler
//! or its runtime. Those of `heat_explicit_3d` are results of the original Equelle implementation;
//! here they are checked, not written. Implicit examples are in `implicit_data`.

use crate::tools::{self, Failure, lines, read, root, samples};

/// Writes everything, or with `check` fails if something would change.
pub(crate) fn write(check: bool) -> Result<(), Failure> {
    let box_case = heat_box();
    let mut files = box_case.inputs("heat_explicit_3d");
    compare_with_reference(&box_case)?;
    let plate = heat_plate();
    files.extend(plate.inputs("heat_explicit_2d"));
    for steps in [1, 10, 100] {
        let name = format!("heat_explicit_2d/expected/u-step{steps:04}.txt");
        files.push((name, lines(plate.solve(steps).iter())));
    }
    files.extend(crate::implicit_data::files()?);
    files.extend(crate::shallow_water_data::files());
    let mut stale = Vec::new();
    for (name, text) in files {
        let path = root().join("examples").join(&name);
        if check {
            if read(&path).ok().as_deref() != Some(&text) {
                stale.push(name);
            }
        } else {
            tools::write(&path, &text)?;
        }
    }
    if stale.is_empty() { Ok(()) } else { Err(format!("run `cargo xtask example-data`; out of date: {}", stale.join(", "))) }
}

/// A heat problem on a uniform Cartesian grid of 2 or 3 dimensions.
struct HeatCase {
    n: [usize; 3],
    spacing: [f64; 3],
    dim: usize,
    /// Conductivity.
    k: f64,
    /// Heat capacity per volume.
    cv: f64,
    dt: f64,
    steps: usize,
    /// One value a cell; empty for a uniform start.
    initial: Vec<f64>,
    uniform: f64,
    /// Given temperatures on x-faces: (high side?, j, k, value), ascending in face index.
    dirichlet: Vec<(bool, usize, usize, f64)>,
}

/// 19 x 24 x 20 unit cubes; 50 z at x = 0 and 1000 - 50 z at x = 19, z at the centroid of the face.
fn heat_box() -> HeatCase {
    let mut dirichlet = Vec::new();
    for k in 0..20 {
        for j in 0..24 {
            let z = k as f64 + 0.5;
            dirichlet.push((false, j, k, 50.0 * z));
            dirichlet.push((true, j, k, 1000.0 - 50.0 * z));
        }
    }
    let (n, spacing) = ([19, 24, 20], [1.0; 3]);
    HeatCase { n, spacing, dim: 3, k: 0.3, cv: 1.0, dt: 0.5, steps: 150, initial: Vec::new(), uniform: 500.0, dirichlet }
}

/// A copper plate with a hot spot: 300 K on the left side, 350 K on the upper half of the right
/// side.
fn heat_plate() -> HeatCase {
    let (n, spacing) = ([20, 10, 1], [0.01, 0.01, 1.0]);
    let mut initial = Vec::new();
    for j in 0..n[1] {
        for i in 0..n[0] {
            let (x, y) = ((i as f64 + 0.5) * 0.01 - 0.06, (j as f64 + 0.5) * 0.01 - 0.05);
            let value = 300.0 + 100.0 * (-(x * x + y * y) / (2.0 * 0.02 * 0.02)).exp();
            // Rounded, so that the file does not depend on the last bits of the exponential
            // function.
            initial.push((value * 1000.0).round() / 1000.0);
        }
    }
    let mut dirichlet = Vec::new();
    for j in 0..n[1] {
        dirichlet.push((false, j, 0, 300.0));
        if 2 * j >= n[1] {
            dirichlet.push((true, j, 0, 350.0));
        }
    }
    HeatCase { n, spacing, dim: 2, k: 401.0, cv: 3.45e6, dt: 0.1, steps: 100, initial, uniform: 0.0, dirichlet }
}

impl HeatCase {
    /// Data files of the example in this folder.
    fn inputs(&self, folder: &str) -> Vec<(String, String)> {
        let row = self.n[0] + 1;
        let faces = self.dirichlet.iter().map(|&(high, j, k, _)| if high { self.n[0] } else { 0 } + row * (j + self.n[1] * k));
        let mut files = vec![
            (format!("{folder}/dirichlet_boundary.txt"), lines(faces)),
            (format!("{folder}/dirichlet_val.txt"), lines(self.dirichlet.iter().map(|face| face.3))),
            (format!("{folder}/timesteps.txt"), lines(std::iter::repeat_n(self.dt, self.steps))),
        ];
        if !self.initial.is_empty() {
            files.push((format!("{folder}/u_initial.txt"), lines(self.initial.iter())));
        }
        files
    }

    /// The temperature after some steps of forward Euler with two-point fluxes, cells x fastest.
    fn solve(&self, steps: usize) -> Vec<f64> {
        let [nx, ny, nz] = self.n;
        let volume: f64 = self.spacing[..self.dim].iter().product();
        // Transmissibility of a face across an axis; that of half a cell is twice it.
        let trans = |axis: usize| self.k * (volume / self.spacing[axis]) / self.spacing[axis];
        let cell = |i: usize, j: usize, k: usize| i + nx * (j + ny * k);
        let mut u = if self.initial.is_empty() { vec![self.uniform; nx * ny * nz] } else { self.initial.clone() };
        for _ in 0..steps {
            // Heat that leaves each cell per unit of time.
            let mut out = vec![0.0; u.len()];
            let mut exchange = |axis: usize, a: usize, b: usize| {
                let heat = trans(axis) * (u[a] - u[b]);
                out[a] += heat;
                out[b] -= heat;
            };
            for k in 0..nz {
                for j in 0..ny {
                    for i in 0..nx {
                        if i + 1 < nx {
                            exchange(0, cell(i, j, k), cell(i + 1, j, k));
                        }
                        if j + 1 < ny {
                            exchange(1, cell(i, j, k), cell(i, j + 1, k));
                        }
                        if k + 1 < nz {
                            exchange(2, cell(i, j, k), cell(i, j, k + 1));
                        }
                    }
                }
            }
            for &(high, j, k, value) in &self.dirichlet {
                let a = cell(if high { nx - 1 } else { 0 }, j, k);
                out[a] += 2.0 * trans(0) * (u[a] - value);
            }
            for (u, out) in u.iter_mut().zip(&out) {
                *u -= self.dt / (self.cv * volume) * out;
            }
        }
        u
    }
}

/// The loops here must agree with the original implementation: 1e-12 relative, far above the
/// rounding of 150 steps (each at most a few units in the 16th digit, and the scheme damps errors).
fn compare_with_reference(case: &HeatCase) -> Result<(), Failure> {
    for steps in [1, 50, 100, 150] {
        let path = root().join(format!("examples/heat_explicit_3d/expected/u-step{steps:04}-samples.txt"));
        let field = case.solve(steps);
        for (cell, expected) in samples(&path)? {
            let found = *field.get(cell).ok_or_else(|| format!("{}: there is no cell {cell}", path.display()))?;
            if (found - expected).abs() > 1e-12 * expected.abs() {
                return Err(format!("{}: cell {cell} is {expected}, computed {found}", path.display()));
            }
        }
    }
    Ok(())
}
