//! Implicit programs converge with default parameters on grids of all kinds, and what they give
//! obeys the laws that they solve. `cargo xtask converge` does the same at 45,000 cells. Grids have
//! more than 1000 cells, so that the linear solvers are iterative ones.

use std::fs;
use std::path::{Path, PathBuf};

use crate::polyhedra;
use crate::support::{Dimensions, How, Outputs, run_with, scratch};
use crate::triangles;

/// A grid: its parameters, and the volumes of its cells.
struct Grid {
    name: &'static str,
    words: Vec<String>,
    volumes: Vec<f64>,
}

fn boxes(name: &'static str, n: &[usize], widths: &[f64]) -> Grid {
    let mut words = vec![format!("grid_dim={}", n.len())];
    for (axis, letter) in ["x", "y", "z"].into_iter().enumerate().take(n.len()) {
        words.extend([format!("n{letter}={}", n[axis]), format!("d{letter}={}", widths[axis])]);
    }
    Grid { name, words, volumes: vec![widths.iter().product(); n.iter().product()] }
}

/// A grid file: the volumes of the cells come before their centroids, at its end.
fn grid_from_text(name: &'static str, folder: &Path, text: &str) -> Grid {
    let path = folder.join("grid.txt");
    fs::write(&path, text).unwrap();
    let words: Vec<&str> = text.split_ascii_whitespace().collect();
    let [dim, cells] = [0, 1].map(|word: usize| words[word].parse::<usize>().unwrap());
    let end = words.len() - dim * cells;
    let volumes = words[end - cells..end].iter().map(|word| word.parse().unwrap()).collect();
    Grid { name, words: vec![format!("grid_filename={}", path.display())], volumes }
}

/// A source in the first cell and a sink in the last one, in m^3/s or kg/s.
const RATE: f64 = 1e-3;

/// All programs on a grid.
fn converges(grid: &Grid, folder: &Path) {
    let n = grid.volumes.len();
    assert!(n > 1000, "{}: {n} cells", grid.name);
    let file = |name: &str, values: &[f64]| -> PathBuf {
        let path = folder.join(name);
        fs::write(&path, values.iter().map(|value| format!("{value:e}\n")).collect::<String>()).unwrap();
        path
    };
    // Six powers of ten from cell to cell: the digits of multiples of the golden ratio are spread
    // evenly.
    let contrast: Vec<f64> = (0..n).map(|cell| 10.0_f64.powf(-6.0 * (cell as f64 * 0.618_033_988_749_895).fract())).collect();
    let run = |program: &str, dimensions, words: &[String]| -> Outputs {
        let words: Vec<&str> = grid.words.iter().chain(words).map(String::as_str).collect();
        run_with(How::Interpreted2, dimensions, program, &words)
    };
    let input = |key: &str, values: &[f64]| [format!("{key}_from_file=true"), format!("{key}_filename={}", file(key, values).display())];
    let steps = |name: &str, steps: &[f64]| format!("timesteps_filename={}", file(name, steps).display());
    let total: f64 = grid.volumes.iter().sum();
    let sum = |values: &[f64]| -> f64 { grid.volumes.iter().zip(values).map(|(volume, value)| volume * value).sum() };

    // Heat: temperatures stay between those around and those at first, up to 1e-6. Widths of cells
    // are 10 or less.
    let mut words = vec![steps("heat", &[1e5])];
    words.extend(input("k", &contrast).into_iter().chain(input("u_initial", &contrast)));
    let heat = run("tests/implicit/heat_contrast.equelle", Dimensions::Unchecked, &words);
    let (least, most) = (heat.scalars["least"][0], heat.scalars["largest"][0]);
    assert!(least >= -1e-6 && most > least && most <= 1.0 + 1e-6, "{}: heat between {least} and {most}", grid.name);

    // Pressure: its mean is that of the guess, and it is highest where something is injected.
    fs::write(folder.join("wells"), format!("0\n{}\n", n - 1)).unwrap();
    let mut wells = vec![format!("source_cells_filename={}", folder.join("wells").display())];
    wells.extend(input("source_values", &[RATE, -RATE]));
    let permeability: Vec<f64> = contrast.iter().map(|k| 1e-12 * k).collect();
    let words = [&wells[..], &input("perm", &permeability)].concat();
    let pressure = run("tests/implicit/pressure_neumann.equelle", Dimensions::Checked, &words);
    let p = pressure.last("pressure");
    let most = p.iter().fold(0.0_f64, |most, p| most.max(p.abs()));
    let mean = p.iter().sum::<f64>() / n as f64;
    assert!(p[0] == p.iter().fold(p[0], |a, &b| a.max(b)) && p[n - 1] == p.iter().fold(p[0], |a, &b| a.min(b)), "{}", grid.name);
    // Roundings of the largest pressure, as many as there are cells at most.
    assert!(mean.abs() < 1e-15 * n as f64 * most, "{}: mean {mean:e} of {most:e}", grid.name);

    // Two phases, three steps that inject twice what the pores of a cell hold: all the water that
    // was injected is there, and saturations are such. Together they need to be told so: negative
    // ones solve the equations in the cell of the sink too, and lie behind a pole that the iterates
    // from a guess of 0.5 jump over.
    let porosity = 0.2;
    let share = 2.0 / n as f64;
    let length = share * porosity * total / RATE;
    let mut words = [&wells[..], &["perm=1e-12", "poro=0.2", "sw_initial=0"].map(str::to_owned)].concat();
    words.push(steps("flow", &[length; 3]));
    for (program, dimensions, bounds) in [
        ("examples/two_phase/two_phase.equelle", Dimensions::Checked, &[][..]),
        ("examples/two_phase_implicit/two_phase_implicit.equelle", Dimensions::Unchecked, &["unknown_min_2=0", "unknown_max_2=1"]),
    ] {
        let bounds: Vec<String> = bounds.iter().map(|word: &&str| (*word).to_owned()).collect();
        let outputs = run(program, dimensions, &[&words[..], &bounds].concat());
        let s = outputs.last("saturation");
        let water = porosity * sum(s) / (3.0 * length * RATE);
        // A residual of 1e-6 in each cell at most, of saturations whose mean is `share` a step; the
        // pressure is solved to 1e-8 of the rate.
        assert!((water - 1.0).abs() < 1e-6 / share, "{} {program}: {water} of the water", grid.name);
        for s in outputs.fields("saturation") {
            assert!(s.iter().all(|s| (-1e-6..=1.0 + 1e-6).contains(s)), "{} {program}", grid.name);
        }
        assert!(s[0] > 10.0 * s[n - 1].abs(), "{} {program}", grid.name);
    }

    // Gas: what is injected is produced, so that the mass stays. The residual is in kg/s.
    let mut source = vec![0.0; n];
    (source[0], source[n - 1]) = (RATE, -RATE);
    let mut words = vec![steps("gas", &[1e5])];
    words.extend(input("source", &source));
    let gas = run("examples/gas_1d/gas_1d.equelle", Dimensions::Checked, &words);
    let p = gas.last("pressure");
    let before = 3e6;
    let gained: Vec<f64> = p.iter().map(|p| p - before).collect();
    // Density is p / (287.058 * 290); the norm of what is missing is below 1e-6 kg/s for 1e5 s, its
    // sum sqrt(n) times that; and roundings of the pressure.
    let mass = sum(&gained) / (287.058 * 290.0);
    let allowed = (n as f64).sqrt() * 1e-6 * 1e5 + 1e-15 * n as f64 * before * total / (287.058 * 290.0);
    assert!(mass.abs() < allowed, "{}: {mass:e} kg of gas, {allowed:e} are allowed", grid.name);
    assert!(p[0] > before && p[n - 1] < before, "{}: {} {}", grid.name, p[0], p[n - 1]);
}

#[test]
fn on_squares() {
    let folder = scratch("converges-squares");
    converges(&boxes("squares", &[34, 32], &[10.0, 10.0]), &folder);
    fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn on_cubes() {
    let folder = scratch("converges-cubes");
    converges(&boxes("cubes", &[11, 10, 10], &[10.0, 10.0, 10.0]), &folder);
    fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn on_boxes_a_thousand_times_longer_than_high() {
    let folder = scratch("converges-flat");
    converges(&boxes("flat boxes", &[11, 10, 10], &[1000.0, 1000.0, 1.0]), &folder);
    fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn on_triangles() {
    let folder = scratch("converges-triangles");
    converges(&grid_from_text("triangles", &folder, &triangles::triangles(24, 23, triangles::Order::Rows)), &folder);
    fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn on_tetrahedra() {
    let folder = scratch("converges-tetrahedra");
    let mesh = polyhedra::tetrahedra([6, 6, 5]);
    assert_eq!(mesh.n_cells(), 6 * 180);
    let grid = grid_from_text("tetrahedra", &folder, &mesh.text());
    // Together they fill the unit cube.
    assert!((grid.volumes.iter().sum::<f64>() - 1.0).abs() < 1e-12);
    converges(&grid, &folder);
    fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn on_a_box_with_holes() {
    let folder = scratch("converges-holes");
    let mesh = polyhedra::clusters([16, 20, 9], 1200);
    assert!((1001..=1200).contains(&mesh.n_cells()), "{}", mesh.n_cells());
    converges(&grid_from_text("a box with holes", &folder, &mesh.text()), &folder);
    fs::remove_dir_all(&folder).unwrap();
}
