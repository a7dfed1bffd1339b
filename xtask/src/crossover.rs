//! From which number of cells on a GPU is faster than all cores of the processor beside it: a table
//! for docs/benchmarks, from programs of the GPU bundle.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use crate::tools::{self, Failure};

/// Options of `crossover`.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// The GPU bundle
    #[arg(long)]
    bundle: PathBuf,
    /// Only programs whose names contain this
    #[arg(long, default_value = "")]
    only: String,
    /// Cells along an edge of the cubes, separated by commas
    #[arg(long, default_value = "10,16,22,32,46,64,100", value_delimiter = ',')]
    cells: Vec<usize>,
    /// Seconds that the steps which are timed take at least
    #[arg(long, default_value_t = 0.3)]
    seconds: f64,
    /// Seconds after which no larger grid of a problem is begun
    #[arg(long, default_value_t = 60.0)]
    limit: f64,
}

/// A program of the bundle on cubes of cells.
struct Problem {
    name: &'static str,
    program: &'static str,
    /// Parameters on a cube with so many cells along an edge; files go to a folder.
    words: fn(usize, &Path) -> Result<Vec<String>, Failure>,
    /// Length of a time step on that cube.
    step: fn(usize) -> f64,
    /// Steps of the short run, and how many more the long one has at least.
    steps: [usize; 2],
}

const PROBLEMS: [Problem; 3] = [
    Problem { name: "explicit heat", program: "heat", words: explicit_heat, step: |_| 0.5, steps: [200, 200] },
    Problem { name: "implicit heat", program: "heat_implicit_3d_silent", words: implicit_heat, step: |_| 0.5, steps: [4, 4] },
    Problem { name: "two phases, one after the other", program: "two_phase_silent", words: two_phases, step: flow_step, steps: [2, 2] },
];

/// More steps than this are not taken: their file would be long.
const MAX_STEPS: usize = 1_000_000;
/// The best of so many runs counts, unless a run takes [`LONG`].
const REPETITIONS: usize = 2;
/// Seconds.
const LONG: f64 = 2.0;
/// Where a run of the fewest steps on CUDA takes less time than the serial one by this factor,
/// larger grids would tell nothing about where they cross.
const CLEAR: f64 = 3.0;
/// Numbers of steps for which the crossover of whole runs is told.
const RUNS: [f64; 3] = [100.0, 1000.0, 10000.0];

/// Seconds of a step once the first ones are over, and of everything before it.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Times {
    step: f64,
    start: f64,
}

impl Times {
    fn run_seconds(self, steps: f64) -> f64 {
        self.start + steps * self.step
    }
}

/// One row of the table.
struct Row {
    cells: f64,
    serial: Times,
    cuda: Times,
}

/// Times all problems on both back-ends and prints the tables.
pub(crate) fn run(options: &Options) -> Result<(), Failure> {
    let bundle = options.bundle.canonicalize().map_err(|error| format!("cannot find `{}`: {error}", options.bundle.display()))?;
    let folder = bundle.join("crossover");
    fs::create_dir_all(&folder).map_err(|error| format!("cannot make `{}`: {error}", folder.display()))?;
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    for problem in PROBLEMS.iter().filter(|problem| problem.name.contains(&options.only)) {
        println!("{}, cubes of cells, serial on {cores} cores; the kernels of the device are compiled already", problem.name);
        println!("| cells | serial, a step ms | cuda | serial over cuda | serial, start s | cuda | steps from which cuda is done first |");
        println!("| ---: | ---: | ---: | ---: | ---: | ---: | ---: |");
        let begun = Instant::now();
        let mut rows: Vec<Row> = Vec::new();
        for &n in &options.cells {
            let times = |backend| time(&bundle, &folder, problem, n, backend, options.seconds);
            let row = Row { cells: n.pow(3) as f64, serial: times("serial")?, cuda: times("cuda")? };
            println!("{}", line(&row));
            let is_clear = row.serial.run_seconds(RUNS[0]) > CLEAR * row.cuda.run_seconds(RUNS[0]);
            rows.push(row);
            if is_clear {
                break;
            }
            if begun.elapsed().as_secs_f64() > options.limit {
                println!("no larger grids: {} s are over", options.limit);
                break;
            }
        }
        println!("\n{}: steps cross at {}", problem.name, shown(crossing(&rows, |times| times.step)));
        for steps in RUNS {
            println!("{}: runs of {steps} steps cross at {}", problem.name, shown(crossing(&rows, |times| times.run_seconds(steps))));
        }
        println!();
    }
    Ok(())
}

fn line(row: &Row) -> String {
    let Row { cells, serial, cuda } = row;
    let gain = serial.step - cuda.step;
    let even = if gain > 0.0 { format!("{:.0}", ((cuda.start - serial.start) / gain).max(0.0).ceil()) } else { "never".to_owned() };
    format!(
        "| {cells} | {:.4} | {:.4} | {:.2} | {:.3} | {:.3} | {even} |",
        1e3 * serial.step,
        1e3 * cuda.step,
        serial.step / cuda.step,
        serial.start,
        cuda.start
    )
}

/// Grid size at which one becomes cheaper than the other.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Crossing {
    /// CUDA is cheaper on the smallest grid already.
    Below(f64),
    /// About here, by a power law between two sizes.
    At(f64),
    /// The processor is still cheaper on the largest grid.
    Above(f64),
}

/// The last size from which CUDA is cheaper on all larger ones.
fn crossing(rows: &[Row], cost: impl Fn(Times) -> f64) -> Option<Crossing> {
    let logarithm = |row: &Row| (cost(row.serial) / cost(row.cuda)).ln();
    let (first, last) = (rows.first()?, rows.last()?);
    if logarithm(last) <= 0.0 {
        return Some(Crossing::Above(last.cells));
    }
    let slower = rows.iter().rposition(|row| logarithm(row) <= 0.0);
    let Some([a, b]) = slower.and_then(|place| rows.get(place..place + 2)) else { return Some(Crossing::Below(first.cells)) };
    let share = logarithm(a) / (logarithm(a) - logarithm(b));
    Some(Crossing::At((a.cells.ln() + share * (b.cells / a.cells).ln()).exp()))
}

fn shown(crossing: Option<Crossing>) -> String {
    match crossing {
        Some(Crossing::Below(cells)) => format!("less than {cells} cells"),
        Some(Crossing::At(cells)) => format!("about {cells:.0} cells"),
        Some(Crossing::Above(cells)) => format!("more than {cells} cells"),
        None => "no size: nothing was measured".to_owned(),
    }
}

/// From the difference of two runs of different lengths: what both do once is in neither step.
fn time(bundle: &Path, folder: &Path, problem: &Problem, n: usize, backend: &str, least: f64) -> Result<Times, Failure> {
    let mut words = (problem.words)(n, folder)?;
    words.extend(["grid_dim=3".to_owned(), "output_to_file=true".to_owned(), format!("output_dir={}", folder.join("out").display())]);
    words.extend(["nx", "ny", "nz"].map(|key| format!("{key}={n}")));
    let seconds = |steps: usize| -> Result<f64, Failure> {
        let path = folder.join("steps.txt");
        tools::write(&path, &format!("{}\n", (problem.step)(n)).repeat(steps))?;
        let mut best = f64::INFINITY;
        for _ in 0..REPETITIONS {
            let started = Instant::now();
            let mut command = Command::new(bundle.join("bin").join(problem.program));
            command.args(["--backend", backend, "--quiet"]).args(&words).arg(format!("timesteps_filename={}", path.display()));
            let output = command.output().map_err(|error| format!("`{}` cannot be run: {error}", problem.program))?;
            if !output.status.success() {
                return Err(format!("{}, {n}^3, {backend}: {}", problem.name, String::from_utf8_lossy(&output.stderr)));
            }
            best = best.min(started.elapsed().as_secs_f64());
            if best > LONG {
                break;
            }
        }
        Ok(best)
    };
    let [few, mut more] = problem.steps;
    let short = seconds(few)?;
    loop {
        let difference = seconds(few + more)? - short;
        if difference >= least || few + 4 * more > MAX_STEPS {
            // Below the resolution of the clock of processes nothing can be said.
            let step = difference.max(1e-9) / more as f64;
            return Ok(Times { step, start: (short - few as f64 * step).max(0.0) });
        }
        more *= 4;
    }
}

/// One side at 100, the rest closed.
fn explicit_heat(n: usize, folder: &Path) -> Result<Vec<String>, Failure> {
    let side = side(n, folder)?;
    Ok(vec!["u_initial=500".to_owned(), "dirichlet_val=100".to_owned(), format!("dirichlet_boundary_filename={}", side.display())])
}

fn implicit_heat(n: usize, folder: &Path) -> Result<Vec<String>, Failure> {
    let side = side(n, folder)?;
    let words = ["k=0.3", "cv=1", "u_initial=500", "dir_val=100"].map(str::to_owned);
    Ok(words.into_iter().chain([format!("dir_boundary_filename={}", side.display())]).collect())
}

/// The faces of the cube at its lower end of the first axis.
fn side(n: usize, folder: &Path) -> Result<PathBuf, Failure> {
    let path = folder.join("side.txt");
    tools::write(&path, &(0..n * n).map(|row| format!("{}\n", row * (n + 1))).collect::<String>())?;
    Ok(path)
}

/// Volume per second through the wells.
const RATE: f64 = 1e-3;

/// From one corner to the one opposite.
fn two_phases(n: usize, folder: &Path) -> Result<Vec<String>, Failure> {
    let (wells, rates) = (folder.join("wells.txt"), folder.join("rates.txt"));
    tools::write(&wells, &format!("0\n{}\n", n.pow(3) - 1))?;
    tools::write(&rates, &format!("{RATE}\n{}\n", -RATE))?;
    let mut words =
        ["dx=10", "dy=10", "dz=10", "perm=1e-12", "poro=0.2", "sw_initial=0", "source_values_from_file=true"].map(str::to_owned).to_vec();
    words.push(format!("source_cells_filename={}", wells.display()));
    words.push(format!("source_values_filename={}", rates.display()));
    Ok(words)
}

/// A step injects twice what the pores of a cell hold.
fn flow_step(_: usize) -> f64 {
    2.0 * 0.2 * 1000.0 / RATE
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(cells: f64, serial: f64, cuda: f64) -> Row {
        Row { cells, serial: Times { step: serial, start: 0.0 }, cuda: Times { step: cuda, start: 1.0 } }
    }

    /// Steps of cells / 1e6 seconds against 0.01 s for all sizes are equal at 10^4 cells: half way
    /// between 10^3 and 10^5 in the logarithm.
    #[test]
    fn crossing_follows_a_power_law() {
        let rows = [row(1e3, 1e-3, 1e-2), row(1e5, 1e-1, 1e-2)];
        let Some(Crossing::At(cells)) = crossing(&rows, |times| times.step) else { panic!("they cross") };
        assert!((cells / 1e4 - 1.0).abs() < 1e-12, "{cells}");
        // A run of one step never pays the second that the device needs first.
        assert_eq!(crossing(&rows, |times| times.run_seconds(1.0)), Some(Crossing::Above(1e5)));
        assert_eq!(crossing(&rows[1..], |times| times.step), Some(Crossing::Below(1e5)));
        assert_eq!(crossing(&[], |times| times.step), None);
        // 1 s over 0.1 s - 0.01 s a step.
        assert_eq!(line(&rows[1]), "| 100000 | 100.0000 | 10.0000 | 10.00 | 0.000 | 1.000 | 12 |");
        assert!(line(&rows[0]).ends_with("| never |"));
    }
}
