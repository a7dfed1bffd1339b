//! A whole implicit time step: compiled derivatives and the default solver against products of
//! sparse matrices and BiCGStab with Jacobi.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::converge::summary;
use crate::tools::{self, Failure, root};

/// Options of `implicit-step`.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// Cells along each axis of the cube
    #[arg(long, default_value_t = 100)]
    cells: usize,
    /// How often both take their turn; the fastest run of each counts
    #[arg(long, default_value_t = 3)]
    repetitions: usize,
    /// k dt / dx^2
    #[arg(long, default_value_t = 1000.0)]
    number: f64,
}

/// The ways that are compared: what they are called, options of the compiler, parameters.
const WAYS: [(&str, &[&str], &[&str]); 2] = [
    ("compiled derivatives, default solver", &[], &[]),
    ("sparse matrices, BiCGStab with Jacobi", &["--ad=spgemm"], &["solver=bicgstab", "preconditioner=jacobi", "solver_max_iter=100000"]),
];

/// Seconds of the parts of a step.
#[derive(Clone, Copy, Debug)]
struct Parts {
    assembly: f64,
    set_up: f64,
    solve: f64,
    iterations: u64,
    linear_iterations: u64,
}

impl Parts {
    fn of(solve: &Value) -> Parts {
        let seconds = |key: &str| solve[key].as_f64().unwrap_or(f64::NAN);
        let count = |key: &str| solve[key].as_u64().unwrap_or(0);
        let (assembly, set_up) = (seconds("assembly"), seconds("set_up"));
        Parts { assembly, set_up, solve: seconds("solve"), iterations: count("iterations"), linear_iterations: count("linear_iterations") }
    }

    fn total(self) -> f64 {
        self.assembly + self.set_up + self.solve
    }
}

/// One step of heat conduction on one thread, both ways in turn; prints a table and the ratio.
pub(crate) fn run(options: &Options) -> Result<(), Failure> {
    if options.cells == 0 || options.repetitions == 0 {
        return Err("at least one cell and one repetition are needed".to_owned());
    }
    let folder = root().join("target/implicit-step");
    let steps = folder.join("steps.txt");
    tools::write(&steps, &format!("{}\n", options.number))?;
    let equellec = tools::equellec("release")?;
    let mut best: [Option<Parts>; 2] = [None; 2];
    for _ in 0..options.repetitions {
        for (best, (_, flags, parameters)) in best.iter_mut().zip(WAYS) {
            let parts = one(&equellec, flags, parameters, options, &steps)?;
            if best.is_none_or(|best| parts.total() < best.total()) {
                *best = Some(parts);
            }
        }
    }
    let [Some(compiled), Some(sparse)] = best else { return Err("nothing ran".to_owned()) };
    println!(
        "One step of heat conduction, {0}^3 cells, k dt / dx^2 = {1}, one thread; the fastest of {2}.\n",
        options.cells, options.number, options.repetitions
    );
    println!("| | Newton iterations | linear iterations | assembly s | set-up s | linear solves s | all s |");
    println!("| --- | ---: | ---: | ---: | ---: | ---: | ---: |");
    for ((name, ..), parts) in WAYS.iter().zip([compiled, sparse]) {
        let Parts { assembly, set_up, solve, iterations, linear_iterations } = parts;
        println!("| {name} | {iterations} | {linear_iterations} | {assembly:.3} | {set_up:.3} | {solve:.3} | {:.3} |", parts.total());
    }
    println!(
        "\nThe step is {:.1} times faster, assembly {:.1} times.",
        sparse.total() / compiled.total(),
        sparse.assembly / compiled.assembly
    );
    Ok(())
}

fn one(equellec: &Command, flags: &[&str], parameters: &[&str], options: &Options, steps: &Path) -> Result<Parts, Failure> {
    let mut command = Command::new(equellec.get_program());
    command.current_dir(root()).envs(equellec.get_envs().filter_map(|(key, value)| Some((key, value?))));
    command
        .args(["run", "--compiled", "--nondimensional", "--message-format", "json"])
        .args(flags)
        .arg("tests/implicit/heat_contrast.equelle");
    command.args(["grid_dim=3", "k=1", "u_initial=1", "threads=1"]).args(parameters);
    command.args(["nx", "ny", "nz"].map(|key| format!("{key}={}", options.cells))).arg(format!("timesteps_filename={}", steps.display()));
    let (summary, _) = summary(&mut command)?.map_err(|message| format!("the run failed: {message}"))?;
    summary["solves"].get(0).map(Parts::of).ok_or_else(|| "the program solves nothing".to_owned())
}
