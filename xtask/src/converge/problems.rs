//! Grids of all kinds, and implicit programs with their parameters on them.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::tools::{self, Failure, cargo};

/// A grid: name, parameters, and volumes of its cells.
pub(super) struct Grid {
    pub name: &'static str,
    pub words: Vec<String>,
    pub volumes: Vec<f64>,
    /// Width of a typical cell, from which the time step of heat conduction follows.
    pub width: f64,
}

/// A program with its parameters on a grid.
pub(super) struct Case {
    pub name: &'static str,
    pub program: &'static str,
    pub nondimensional: bool,
    pub words: Vec<String>,
    /// Outputs, whose values lie in `within` if the state is physical.
    pub states: [&'static str; 2],
    pub within: [f64; 2],
}

/// Executables that generate grids.
pub(super) enum Generators {
    /// Examples of the runtime.
    Workspace,
    /// Executables in a folder.
    Folder(PathBuf),
}

impl Generators {
    /// The generator of this name.
    fn command(&self, name: &str) -> Command {
        match self {
            Generators::Workspace => {
                let mut command = cargo();
                command.args(["run", "--quiet", "-p", "equelle-runtime", "--example", name, "--"]);
                command
            }
            Generators::Folder(folder) => Command::new(folder.join(name)),
        }
    }
}

/// The grids, of about so many cells; files go to a folder.
pub(super) fn grids(cells: usize, generators: &Generators, folder: &Path) -> Result<Vec<Grid>, Failure> {
    let root_of = |count: usize, power: f64| (count as f64).powf(1.0 / power).round().max(2.0) as usize;
    let (plane, cube) = (root_of(cells, 2.0), root_of(cells, 3.0));
    let boxes = |name, n: [usize; 3], dim: usize, widths: [f64; 3], width| {
        let mut words = vec![format!("grid_dim={dim}")];
        let (counts, lengths) = (["nx", "ny", "nz"], ["dx", "dy", "dz"]);
        (0..dim).for_each(|axis| words.extend([format!("{}={}", counts[axis], n[axis]), format!("{}={}", lengths[axis], widths[axis])]));
        let count: usize = n[..dim].iter().product();
        Grid { name, words, volumes: vec![widths[..dim].iter().product(); count], width }
    };
    let mut grids = vec![
        boxes("squares", [plane, plane, 1], 2, [10.0, 10.0, 1.0], 10.0),
        boxes("cubes", [cube; 3], 3, [10.0; 3], 10.0),
        // Heat goes through a cell sideways a million times slower than upwards.
        boxes("boxes, 1000:1", [cube; 3], 3, [1000.0, 1000.0, 1.0], 30.0),
    ];
    let half = root_of(cells / 2, 2.0);
    let sixth = root_of(cells / 6, 3.0);
    let scale = cells as f64 / 45_000.0;
    let [nx, ny, nz] = [46.0, 112.0, 22.0].map(|n: f64| (n * scale.powf(1.0 / 3.0)).round().max(2.0) as usize);
    let generated: [(&'static str, &str, Vec<usize>); 3] = [
        ("triangles", "triangles", vec![half, half]),
        ("tetrahedra", "polyhedra tetrahedra", vec![sixth; 3]),
        ("box with holes", "polyhedra clusters", vec![nx, ny, nz, nx * ny * nz * 45_000 / 113_344]),
    ];
    for (name, generator, sizes) in generated {
        let mut words = generator.split(' ');
        let mut command = generators.command(words.next().unwrap_or_default());
        command.args(words).args(sizes.iter().map(usize::to_string));
        let output = command.output().map_err(|error| format!("the generator of {name} cannot be run: {error}"))?;
        if !output.status.success() {
            return Err(String::from_utf8_lossy(&output.stderr).into_owned());
        }
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let path = folder.join(format!("{}.grid", name.replace(' ', "-")));
        tools::write(&path, &text)?;
        let volumes = volumes(&text).ok_or_else(|| format!("{}: no grid", path.display()))?;
        let dim = if name == "triangles" { 2.0 } else { 3.0 };
        let width = (volumes.iter().sum::<f64>() / volumes.len() as f64).powf(1.0 / dim);
        grids.push(Grid { name, words: vec![format!("grid_filename={}", path.display())], volumes, width });
    }
    Ok(grids)
}

/// Volumes of the cells of a grid file, which stand before the centroids at its end.
fn volumes(text: &str) -> Option<Vec<f64>> {
    let words: Vec<&str> = text.split_ascii_whitespace().collect();
    let (dim, cells): (usize, usize) = (words.first()?.parse().ok()?, words.get(1)?.parse().ok()?);
    let end = words.len().checked_sub(dim * cells)?;
    words.get(end.checked_sub(cells)?..end)?.iter().map(|word| word.parse().ok()).collect()
}

/// The programs on a grid; files go to a folder.
pub(super) fn cases(grid: &Grid, folder: &Path) -> Result<Vec<Case>, Failure> {
    let n = grid.volumes.len();
    let pore_volume = 0.2 * grid.volumes.iter().sum::<f64>();
    let mut random = random();
    // Neighbouring cells differ by up to six powers of ten.
    let mut contrast = |least: f64| (0..n).map(|_| least * 10.0_f64.powf(6.0 * random())).collect::<Vec<f64>>();
    let (conductivity, permeability) = (contrast(1e-6), contrast(1e-18));
    let initial: Vec<f64> = contrast(1e-6);
    let mut source = vec![0.0; n];
    let rate = 1e-3;
    (source[0], source[n - 1]) = (rate, -rate);
    let file = |name: &str, values: &[f64]| -> Result<PathBuf, Failure> {
        let mut text = String::new();
        for value in values {
            // Writing to a String cannot fail.
            let _ = writeln!(text, "{value:e}");
        }
        let path = folder.join(format!("{}-{name}.txt", grid.name.replace([' ', ','], "-")));
        tools::write(&path, &text)?;
        Ok(path)
    };
    let input = |key: &str, path: PathBuf| [format!("{key}_from_file=true"), format!("{key}_filename={}", path.display())];
    let wells = folder.join(format!("{}-wells.txt", grid.name.replace([' ', ','], "-")));
    tools::write(&wells, &format!("0\n{}\n", n - 1))?;
    let mut of_wells = vec![format!("source_cells_filename={}", wells.display())];
    of_wells.extend(input("source_values", file("rates", &[rate, -rate])?));
    let steps = |name: &str, length: f64| file(name, &[length; 3]).map(|path| format!("timesteps_filename={}", path.display()));
    // k dt / dx^2 is 1000 where the conductivity is 1.
    let mut heat = vec![steps("heat", 1000.0 * grid.width * grid.width)?];
    heat.extend(input("k", file("k", &conductivity)?).into_iter().chain(input("u_initial", file("u", &initial)?)));
    let mut pressure_words = of_wells.clone();
    pressure_words.extend(input("perm", file("perm", &permeability)?));
    // A step injects twice what the pores of a cell hold.
    let mut two_phase = of_wells;
    two_phase.extend(["perm=1e-12", "poro=0.2", "sw_initial=0"].map(str::to_owned));
    two_phase.push(steps("flow", 2.0 * pore_volume / n as f64 / rate)?);
    // Negative saturations solve the equations of both phases together too, and the guess of 0.5
    // leads there.
    let bounded = [&two_phase[..], &["unknown_min_2=0", "unknown_max_2=1"].map(str::to_owned)].concat();
    let mut gas = vec![steps("gas-steps", 1e5)?];
    gas.extend(input("source", file("source", &source)?));
    let any = [f64::MIN, f64::MAX];
    let case = |name, program, nondimensional, words, states, within| Case { name, program, nondimensional, words, states, within };
    let (pressure, saturation) = (["pressure", ""], ["saturation", ""]);
    Ok(vec![
        // The maximum principle: between the boundary value and the largest initial one.
        case("heat, contrast 1e6", "tests/implicit/heat_contrast.equelle", true, heat, ["least", "largest"], [0.0, 1.0]),
        case("pressure without a level, contrast 1e6", "tests/implicit/pressure_neumann.equelle", false, pressure_words, pressure, any),
        case("two phases, one after the other", "examples/two_phase/two_phase.equelle", false, two_phase, saturation, [0.0, 1.0]),
        case("two phases together", "examples/two_phase_implicit/two_phase_implicit.equelle", true, bounded, saturation, [0.0, 1.0]),
        case("gas", "examples/gas_1d/gas_1d.equelle", false, gas, pressure, [0.0, f64::MAX]),
    ])
}

/// Numbers from 0 to 1: Numerical Recipes' quick 32-bit generator, its upper 16 bits; any fixed
/// sequence will do.
fn random() -> impl FnMut() -> f64 {
    let mut state: u32 = 50;
    move || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        f64::from(state >> 16) / 65536.0
    }
}
