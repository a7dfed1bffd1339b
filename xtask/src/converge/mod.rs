//! Convergence of implicit programs with default parameters, on grids of all kinds: a table for
//! docs/benchmarks.

mod both;
mod problems;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use self::problems::{Case, Generators, Grid, cases, grids};
use crate::tools::{self, Failure, root};

/// Options of `converge`.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// About how many cells grids have
    #[arg(long, default_value_t = 45_000)]
    cells: usize,
    /// Only grids and programs whose names contain this
    #[arg(long, default_value = "")]
    only: String,
    /// A GPU bundle: its programs run on both back-ends, which must take the same Newton iterations
    /// and agree
    #[arg(long)]
    bundle: Option<PathBuf>,
}

/// Outputs may be as far outside of what they may be.
const TOLERANCE: f64 = 1e-6;

/// Runs every program on every grid, and prints the table; fails if one did not converge, or
/// converged to what cannot be.
pub(crate) fn run(options: &Options) -> Result<(), Failure> {
    if let Some(bundle) = &options.bundle {
        return both::run(options, bundle);
    }
    let folder = root().join("target/converge");
    fs::create_dir_all(&folder).map_err(|error| format!("cannot make `{}`: {error}", folder.display()))?;
    // The simulators take the time; they are optimised in either case.
    let equellec = tools::equellec("dev")?;
    let mut failed = 0;
    println!("| grid | cells | program | solves | Newton iterations | linear iterations | assembly s | set-up s | linear solves s |");
    println!("| --- | ---: | --- | ---: | ---: | ---: | ---: | ---: | ---: |");
    for grid in grids(options.cells, &Generators::Workspace, &folder)? {
        for case in cases(&grid, &folder)? {
            if !wanted(options, &grid, &case) {
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

/// True if the options ask for this one.
fn wanted(options: &Options, grid: &Grid, case: &Case) -> bool {
    format!("{} {}", grid.name, case.name).contains(&options.only)
}

/// The end of a line for each solve of the program; or why it failed.
fn solve(equellec: &Command, grid: &Grid, case: &Case, folder: &Path) -> Result<Result<Vec<String>, String>, Failure> {
    let outputs = folder.join("out");
    let _ = fs::remove_dir_all(&outputs);
    let mut command = Command::new(equellec.get_program());
    command
        .current_dir(root())
        .envs(equellec.get_envs().filter_map(|(key, value)| Some((key, value?))))
        .args(["run", "--compiled", "--message-format", "json"])
        .args(case.nondimensional.then_some("--nondimensional"))
        .arg(case.program);
    command.args(["output_to_file=true", &format!("output_dir={}", outputs.display())]).args(&grid.words).args(&case.words);
    let (summary, results) = match summary(&mut command)? {
        Ok(found) => found,
        Err(message) => return Ok(Err(message)),
    };
    if let Err(message) = check_states(case, &results, &outputs)? {
        return Ok(Err(message));
    }
    let number = |solve: &Value, key: &str| format!("{:.2}", solve[key].as_f64().unwrap_or(f64::NAN));
    let line = |solve: &Value| {
        let counts = ["solves", "iterations", "linear_iterations"].map(|key| solve[key].to_string()).join(" | ");
        let times = ["assembly", "set_up", "solve"].map(|key| number(solve, key)).join(" | ");
        format!("{counts} | {times} |")
    };
    Ok(Ok(summary["solves"].as_array().into_iter().flatten().map(line).collect()))
}

/// True if the state at the end is one that there is; or what it is.
fn check_states(case: &Case, results: &str, outputs: &Path) -> Result<Result<(), String>, Failure> {
    let [least, greatest] = case.within;
    let states = states(case, results, outputs)?;
    Ok(match states.iter().find(|state| !(least - TOLERANCE..=greatest + TOLERANCE).contains(*state)) {
        Some(wrong) => Err(format!("converged to {} of {wrong:e}, which is not from {least} to {greatest}", case.states.join(" or "))),
        None => Ok(()),
    })
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
    Ok(events(command)?.map(|(mut events, results)| (events.pop().unwrap_or_default(), results)))
}

/// The events of a run with `--message-format json`, the last of which is the summary, and its
/// results; or why it failed.
pub(crate) fn events(command: &mut Command) -> Result<Result<(Vec<Value>, String), String>, Failure> {
    let output = command.output().map_err(|error| format!("`{}` cannot be run: {error}", command.get_program().to_string_lossy()))?;
    let text = String::from_utf8_lossy(&output.stderr);
    let mut events: Vec<Value> = text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    if output.status.success()
        && let Some(last) = events.iter().position(|event| event["event"] == "summary")
    {
        events.truncate(last + 1);
        return Ok(Ok((events, String::from_utf8_lossy(&output.stdout).into_owned())));
    }
    let error = events.into_iter().find(|event| event["severity"] == "error");
    Ok(Err(error.and_then(|error| error["message"].as_str().map(str::to_owned)).unwrap_or_else(|| text.into_owned())))
}
