//! Whether implicit programs converge with default parameters, on grids of all kinds: a table for docs/benchmarks.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::tools::{self, Failure, cargo, root};

/// What to run.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// About how many cells grids have
    #[arg(long, default_value_t = 45_000)]
    cells: usize,
    /// Only grids and programs whose names contain this
    #[arg(long, default_value = "")]
    only: String,
}

/// A grid: what it is called, its parameters, and the volumes of its cells.
struct Grid {
    name: &'static str,
    words: Vec<String>,
    volumes: Vec<f64>,
    /// Width that a cell has, for the time step of heat conduction.
    width: f64,
}

/// A program with its parameters on a grid.
struct Case {
    name: &'static str,
    program: &'static str,
    nondimensional: bool,
    words: Vec<String>,
    /// Outputs, and what they may be if the state is one that there is.
    states: [&'static str; 2],
    within: [f64; 2],
}

/// Norms of residuals may be as large as this, the default of `abs_res_tol`, and outputs as far outside of what they may be.
const TOLERANCE: f64 = 1e-6;

/// Runs every program on every grid, and prints the table; fails if one did not converge, or converged to what cannot be.
pub(crate) fn run(options: &Options) -> Result<(), Failure> {
    let folder = root().join("target/converge");
    fs::create_dir_all(&folder).map_err(|error| format!("cannot make `{}`: {error}", folder.display()))?;
    // What takes time are the simulators, which are optimised in either case.
    let equellec = tools::equellec("dev")?;
    let mut failed = 0;
    println!("| grid | cells | program | solves | Newton iterations | linear iterations | assembly s | set-up s | linear solves s |");
    println!("| --- | ---: | --- | ---: | ---: | ---: | ---: | ---: | ---: |");
    for grid in grids(options.cells, &folder)? {
        for case in cases(&grid, &folder)? {
            if !format!("{} {}", grid.name, case.name).contains(&options.only) {
                continue;
            }
            let start = format!("| {} | {} | {} |", grid.name, grid.volumes.len(), case.name);
            match solve(&equellec, &grid, &case, &folder)? {
                Ok(solves) => solves.iter().for_each(|solve| println!("{start} {solve}")),
                Err(message) => {
                    failed += 1;
                    println!("{start} {} |", message.replace('\n', " "));
                }
            }
        }
    }
    if failed == 0 { Ok(()) } else { Err(format!("{failed} did not converge")) }
}

/// The end of a line for each solve of the program; or why it failed.
fn solve(equellec: &Command, grid: &Grid, case: &Case, folder: &Path) -> Result<Result<Vec<String>, String>, Failure> {
    let outputs = folder.join("out");
    let _ = fs::remove_dir_all(&outputs);
    let mut command = Command::new(equellec.get_program());
    command
        .current_dir(root())
        .envs(equellec.get_envs().filter_map(|(key, value)| Some((key, value?))))
        .args(["run", "--message-format", "json"])
        .args(case.nondimensional.then_some("--nondimensional"))
        .arg(case.program);
    command.args(["output_to_file=true", &format!("output_dir={}", outputs.display())]).args(&grid.words).args(&case.words);
    let (summary, results) = match summary(&mut command)? {
        Ok(found) => found,
        Err(message) => return Ok(Err(message)),
    };
    let states = states(case, &results, &outputs)?;
    if let Some(wrong) = states.iter().find(|state| !(case.within[0] - TOLERANCE..=case.within[1] + TOLERANCE).contains(*state)) {
        let [least, greatest] = case.within;
        return Ok(Err(format!("converged to {} of {wrong:e}, which is not from {least} to {greatest}", case.states.join(" or "))));
    }
    let number = |solve: &Value, key: &str| format!("{:.2}", solve[key].as_f64().unwrap_or(f64::NAN));
    let line = |solve: &Value| {
        let counts = ["solves", "iterations", "linear_iterations"].map(|key| solve[key].to_string()).join(" | ");
        let times = ["assembly", "set_up", "solve"].map(|key| number(solve, key)).join(" | ");
        format!("{counts} | {times} |")
    };
    Ok(Ok(summary["solves"].as_array().into_iter().flatten().map(line).collect()))
}

/// All values of the outputs that tell the state: from lines of the results, and from files.
fn states(case: &Case, results: &str, outputs: &Path) -> Result<Vec<f64>, Failure> {
    let of_line =
        |line: &str| line.split_once(" = ").filter(|(tag, _)| case.states.contains(tag)).and_then(|(_, value)| value.parse().ok());
    let mut values: Vec<f64> = results.lines().filter_map(of_line).collect();
    for entry in fs::read_dir(outputs).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.rsplit_once('-').is_some_and(|(tag, _)| case.states.contains(&tag)) {
            values.extend(tools::read(&entry.path())?.lines().map(|line| line.parse().unwrap_or(f64::NAN)));
        }
    }
    if values.is_empty() { Err(format!("{} has no output that tells the state", case.program)) } else { Ok(values) }
}

/// The summary of a run with `--message-format json`, and its results; or why it failed.
pub(crate) fn summary(command: &mut Command) -> Result<Result<(Value, String), String>, Failure> {
    let output = command.output().map_err(|error| format!("equellec cannot be run: {error}"))?;
    let text = String::from_utf8_lossy(&output.stderr);
    let mut events = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    if output.status.success()
        && let Some(summary) = events.clone().find(|event| event["event"] == "summary")
    {
        return Ok(Ok((summary, String::from_utf8_lossy(&output.stdout).into_owned())));
    }
    let error = events.find(|event| event["severity"] == "error");
    Ok(Err(error.and_then(|error| error["message"].as_str().map(str::to_owned)).unwrap_or_else(|| text.into_owned())))
}

fn grids(cells: usize, folder: &Path) -> Result<Vec<Grid>, Failure> {
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
        let mut command = cargo();
        command.args(["run", "--quiet", "-p", "equelle-runtime", "--example", words.next().unwrap_or_default(), "--"]);
        command.args(words).args(sizes.iter().map(usize::to_string));
        let output = command.output().map_err(|error| format!("cargo cannot be run: {error}"))?;
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

/// Volumes of the cells of a grid file: what comes before the centroids, at its end.
fn volumes(text: &str) -> Option<Vec<f64>> {
    let words: Vec<&str> = text.split_ascii_whitespace().collect();
    let (dim, cells): (usize, usize) = (words.first()?.parse().ok()?, words.get(1)?.parse().ok()?);
    let end = words.len().checked_sub(dim * cells)?;
    words.get(end.checked_sub(cells)?..end)?.iter().map(|word| word.parse().ok()).collect()
}

fn cases(grid: &Grid, folder: &Path) -> Result<Vec<Case>, Failure> {
    let n = grid.volumes.len();
    let pore_volume = 0.2 * grid.volumes.iter().sum::<f64>();
    let mut random = random();
    // Six powers of ten, from cell to cell.
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
    // Negative saturations solve the equations of both phases together too, and the guess of 0.5 leads there.
    let bounded = [&two_phase[..], &["unknown_min_2=0", "unknown_max_2=1"].map(str::to_owned)].concat();
    let mut gas = vec![steps("gas-steps", 1e5)?];
    gas.extend(input("source", file("source", &source)?));
    let any = [f64::MIN, f64::MAX];
    let case = |name, program, nondimensional, words, states, within| Case { name, program, nondimensional, words, states, within };
    let (pressure, saturation) = (["pressure", ""], ["saturation", ""]);
    Ok(vec![
        // Between what is outside and what was there at first.
        case("heat, contrast 1e6", "tests/implicit/heat_contrast.equelle", true, heat, ["least", "largest"], [0.0, 1.0]),
        case("pressure without a level, contrast 1e6", "tests/implicit/pressure_neumann.equelle", false, pressure_words, pressure, any),
        case("two phases, one after the other", "examples/two_phase/two_phase.equelle", false, two_phase, saturation, [0.0, 1.0]),
        case("two phases together", "examples/two_phase_implicit/two_phase_implicit.equelle", true, bounded, saturation, [0.0, 1.0]),
        case("gas", "examples/gas_1d/gas_1d.equelle", false, gas, pressure, [0.0, f64::MAX]),
    ])
}

/// Numbers from 0 to 1: Numerical Recipes' quick 32-bit generator, its upper 16 bits; any fixed sequence will do.
fn random() -> impl FnMut() -> f64 {
    let mut state: u32 = 50;
    move || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        f64::from(state >> 16) / 65536.0
    }
}
