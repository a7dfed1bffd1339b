//! Exact answers: conservation, steady states.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use crate::support::{EVERY_WAY, How, Outputs, assert_close, run, scratch};

const PROGRAM: &str = "examples/heat_explicit_3d/heat_explicit_3d.equelle";

/// A heat problem on a Cartesian grid, with data written to a folder.
struct Problem<'a> {
    dim: usize,
    n: [usize; 3],
    spacing: [f64; 3],
    /// Temperature at the start, one value a cell.
    start: &'a [f64],
    /// Faces of given temperature, ascending, and the temperatures.
    given: &'a [(usize, f64)],
    dt: f64,
    steps: usize,
}

fn column(values: impl Iterator<Item = String>) -> String {
    values.fold(String::new(), |mut text, value| {
        let _ = writeln!(text, "{value}");
        text
    })
}

impl Problem<'_> {
    fn run(&self, how: How, layout: &str, folder: &Path) -> Outputs {
        let write = |name: &str, text: String| fs::write(folder.join(name), text).unwrap();
        write("start.txt", column(self.start.iter().map(f64::to_string)));
        write("faces.txt", column(self.given.iter().map(|(face, _)| face.to_string())));
        write("values.txt", column(self.given.iter().map(|(_, value)| value.to_string())));
        write("steps.txt", column(std::iter::repeat_n(self.dt.to_string(), self.steps)));
        let mut text = format!("grid_dim = {}\ngrid_layout = {layout}\nk = 0.3\n", self.dim);
        for (axis, name) in ["x", "y", "z"].into_iter().enumerate().take(self.dim) {
            let _ = write!(text, "n{name} = {}\nd{name} = {}\n", self.n[axis], self.spacing[axis]);
        }
        for (name, file) in [("u_initial", "start"), ("dirichlet_boundary", "faces"), ("dirichlet_val", "values"), ("timesteps", "steps")] {
            let _ = write!(text, "{name}_from_file = true\n{name}_filename = {file}.txt\n");
        }
        write("case.param", text);
        run(how, PROGRAM, &[&folder.join("case.param").to_string_lossy()])
    }
}

/// Numbers in [0, 1) that look random: the fractional parts of the multiples of the golden ratio.
fn scattered(n: usize) -> Vec<f64> {
    (1..=n).map(|i| (i as f64 * 0.618_033_988_749_895).fract()).collect()
}

#[test]
fn heat_is_conserved_without_flow_through_the_boundary() {
    let start: Vec<f64> = scattered(7 * 5 * 4).iter().map(|x| 300.0 + 100.0 * x).collect();
    let problem = Problem { dim: 3, n: [7, 5, 4], spacing: [0.9, 1.1, 1.3], start: &start, given: &[], dt: 0.4, steps: 50 };
    let before: f64 = start.iter().sum();
    let folder = scratch("conservation");
    for how in EVERY_WAY {
        for layout in ["auto", "unstructured"] {
            let outputs = problem.run(how, layout, &folder);
            let after: f64 = outputs.last("expU").iter().sum();
            // Each step rounds each cell a few times: 50 steps x a few units of 1.1e-16, relative
            // to the mean.
            assert!((after - before).abs() <= 1e-13 * before, "{how:?} {layout}: {before} became {after}");
            let range = |u: &[f64]| u.iter().fold(f64::MIN, |a, &b| a.max(b)) - u.iter().fold(f64::MAX, |a, &b| a.min(b));
            assert!(range(outputs.last("expU")) < 0.5 * range(&start), "{how:?} {layout}: heat does spread");
        }
    }
    fs::remove_dir_all(&folder).unwrap();
}

/// A linear profile between two given temperatures is an exact steady state of two-point fluxes.
#[test]
fn linear_steady_state_stays() {
    for (dim, n) in [(1, [8, 1, 1]), (2, [8, 3, 1]), (3, [8, 3, 2])] {
        // With a spacing of 1 everything is a binary fraction and nothing changes; with 0.7
        // differences of centroids are rounded: about 1e-16 of 900 per step, and the scheme damps
        // them.
        for (spacing, tolerance) in [(1.0, 0.0), (0.7, 1e-14)] {
            let rows = n[1] * n[2];
            let start: Vec<f64> = (0..8 * rows).map(|cell| 100.0 + 100.0 * ((cell % 8) as f64 + 0.5)).collect();
            let given: Vec<(usize, f64)> = (0..rows).flat_map(|row| [(9 * row, 100.0), (9 * row + 8, 900.0)]).collect();
            let problem = Problem { dim, n, spacing: [spacing; 3], start: &start, given: &given, dt: 0.25, steps: 40 };
            let folder = scratch(&format!("steady-{dim}-{spacing}"));
            for how in EVERY_WAY {
                for layout in ["auto", "unstructured"] {
                    let outputs = problem.run(how, layout, &folder);
                    assert_close(outputs.last("expU"), &start, tolerance, &format!("{how:?} {layout}, {dim}D, spacing {spacing}"));
                }
            }
            fs::remove_dir_all(&folder).unwrap();
        }
    }
}
