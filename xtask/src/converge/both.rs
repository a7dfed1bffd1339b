//! The same problems on the serial back-end and on the GPU, with programs of the GPU bundle: Newton
//! iterations must be the same, and results agree.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use super::problems::{Case, Generators, Grid, cases, grids};
use super::{Options, check_states, events, wanted};
use crate::tools::{self, Failure};

/// Largest difference of a value that both back-ends agree to, relative to the largest value of its
/// output. Both end with a residual below the same tolerance, by other iterations of linear
/// solvers; what that leaves in the results is at most its product with the condition of the last
/// Jacobian.
const AGREEMENT: f64 = 1e-6;

/// Results of one back-end.
struct Run {
    /// Line and Newton iterations of each solve, in the order of the run.
    newton: Vec<(u64, usize)>,
    /// By line: linear iterations.
    linear: BTreeMap<u64, u64>,
    /// Time of the whole run.
    seconds: f64,
    /// Times of its solves: assembly, set-up of preconditioners, linear solves; seconds.
    parts: [f64; 3],
    /// By name: what was put out.
    outputs: BTreeMap<String, Vec<f64>>,
}

impl Run {
    /// Newton iterations of the solves at each line, `3 + 13`.
    fn newton(&self) -> String {
        let mut lines: BTreeMap<u64, usize> = BTreeMap::new();
        for (line, count) in &self.newton {
            *lines.entry(*line).or_default() += count;
        }
        joined(lines.values())
    }

    fn linear(&self) -> String {
        joined(self.linear.values())
    }

    fn parts(&self) -> String {
        joined(self.parts.map(|seconds| format!("{seconds:.2}")).iter())
    }
}

fn joined<T: ToString>(values: impl Iterator<Item = T>) -> String {
    values.map(|value| value.to_string()).collect::<Vec<_>>().join(" + ")
}

/// Runs the programs of the bundle on every grid and both back-ends, and prints the table; fails if
/// one did not converge or the two differ.
pub(super) fn run(options: &Options, bundle: &Path) -> Result<(), Failure> {
    let bundle = bundle.canonicalize().map_err(|error| format!("cannot find `{}`: {error}", bundle.display()))?;
    let folder = bundle.join("converge");
    fs::create_dir_all(&folder).map_err(|error| format!("cannot make `{}`: {error}", folder.display()))?;
    let mut failed = 0;
    println!(
        "| grid | cells | program | Newton iterations, serial | cuda | linear iterations, serial | cuda | largest difference | assembly + set-up + linear solves s, serial | cuda | run s, serial | cuda |"
    );
    println!("| --- | ---: | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |");
    for grid in grids(options.cells, &Generators::Folder(bundle.join("tools")), &folder)? {
        for case in cases(&grid, &folder)? {
            if !wanted(options, &grid, &case) {
                continue;
            }
            let start = format!("| {} | {} | {} |", grid.name, grid.volumes.len(), case.name);
            match compare(&bundle, &grid, &case, &folder)? {
                Ok(line) => println!("{start} {line} |"),
                Err(message) => {
                    failed += 1;
                    println!("{start} FAILED: {} |", message.replace('\n', " "));
                }
            }
        }
    }
    if failed == 0 { Ok(()) } else { Err(format!("{failed} did not converge, or differ")) }
}

/// The end of a line of the table; or what is wrong.
fn compare(bundle: &Path, grid: &Grid, case: &Case, folder: &Path) -> Result<Result<String, String>, Failure> {
    let mut runs = Vec::new();
    for backend in ["serial", "cuda"] {
        match one(bundle, grid, case, backend, &folder.join(backend))? {
            Ok(run) => runs.push(run),
            Err(message) => return Ok(Err(format!("{backend}: {message}"))),
        }
    }
    let [serial, cuda] = &runs[..] else { return Err("two back-ends ran".to_owned()) };
    let difference = match difference(&cuda.outputs, &serial.outputs) {
        Ok(difference) => difference,
        Err(message) => return Ok(Err(message)),
    };
    let line = format!(
        "{} | {} | {} | {} | {difference:.1e} | {} | {} | {:.2} | {:.2}",
        serial.newton(),
        cuda.newton(),
        serial.linear(),
        cuda.linear(),
        serial.parts(),
        cuda.parts(),
        serial.seconds,
        cuda.seconds
    );
    Ok(if serial.newton != cuda.newton {
        Err(format!("Newton iterations differ: {line}"))
    } else if difference.is_nan() || difference > AGREEMENT {
        Err(format!("results differ by more than {AGREEMENT:e}: {line}"))
    } else {
        Ok(line)
    })
}

fn one(bundle: &Path, grid: &Grid, case: &Case, backend: &str, outputs: &Path) -> Result<Result<Run, String>, Failure> {
    let _ = fs::remove_dir_all(outputs);
    let stem = Path::new(case.program).file_stem().unwrap_or_default();
    let mut command = Command::new(bundle.join("bin").join(stem));
    command.current_dir(bundle).args(["--backend", backend, "--message-format", "json", "output_to_file=true"]);
    command.arg(format!("output_dir={}", outputs.display())).args(&grid.words).args(&case.words);
    let (events, results) = match events(&mut command)? {
        Ok(found) => found,
        Err(message) => return Ok(Err(message)),
    };
    if let Err(message) = check_states(case, &results, outputs)? {
        return Ok(Err(message));
    }
    let solve = |event: &Value| Some((event["line"].as_u64()?, event["iterations"].as_array()?.len().saturating_sub(1)));
    let newton = events.iter().filter(|event| event["event"] == "newton").filter_map(solve).collect();
    let mut run = Run { newton, linear: BTreeMap::new(), seconds: 0.0, parts: [0.0; 3], outputs: values(&results, outputs)? };
    let summary = events.last().ok_or("a run without a summary")?;
    run.seconds = summary["seconds"].as_f64().unwrap_or(f64::NAN);
    for solve in summary["solves"].as_array().into_iter().flatten() {
        run.linear.insert(solve["line"].as_u64().unwrap_or(0), solve["linear_iterations"].as_u64().unwrap_or(0));
        for (part, key) in run.parts.iter_mut().zip(["assembly", "set_up", "solve"]) {
            *part += solve[key].as_f64().unwrap_or(f64::NAN);
        }
    }
    Ok(Ok(run))
}

/// Outputs of a run by name: files, and lines of the results, those with one tag together.
fn values(results: &str, outputs: &Path) -> Result<BTreeMap<String, Vec<f64>>, Failure> {
    let mut values: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    for (tag, value) in results.lines().filter_map(|line| line.split_once(" = ")) {
        values.entry(tag.to_owned()).or_default().push(value.parse().unwrap_or(f64::NAN));
    }
    for entry in fs::read_dir(outputs).into_iter().flatten().flatten() {
        if entry.path().extension().is_none_or(|extension| extension != "output") {
            continue;
        }
        let text = tools::read(&entry.path())?;
        let numbers = text.split_whitespace().map(|word| word.parse().unwrap_or(f64::NAN)).collect();
        values.insert(entry.file_name().to_string_lossy().into_owned(), numbers);
    }
    Ok(values)
}

/// Largest difference of two runs, relative to the largest value of each output; NaN if one of them
/// has values that are no numbers.
fn difference(found: &BTreeMap<String, Vec<f64>>, expected: &BTreeMap<String, Vec<f64>>) -> Result<f64, String> {
    if expected.is_empty() || !found.keys().eq(expected.keys()) {
        return Err("different outputs".to_owned());
    }
    let mut all = 0.0_f64;
    for ((name, a), b) in found.iter().zip(expected.values()) {
        if a.len() != b.len() {
            return Err(format!("{name}: {} values instead of {}", a.len(), b.len()));
        }
        let scale = b.iter().fold(0.0_f64, |scale, value| scale.max(value.abs()));
        // `max` would drop a NaN.
        let worst = a.iter().zip(b).fold(0.0_f64, |worst, (a, b)| {
            let difference = (a - b).abs();
            if difference.is_nan() || difference > worst { difference } else { worst }
        });
        let relative = if worst == 0.0 { 0.0 } else { worst / scale };
        all = if relative.is_nan() || all.is_nan() { f64::NAN } else { all.max(relative) };
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outputs(values: &[f64]) -> BTreeMap<String, Vec<f64>> {
        BTreeMap::from([("u-00000.output".to_owned(), values.to_vec()), ("zero".to_owned(), vec![0.0])])
    }

    #[test]
    fn differences_are_relative_to_the_largest_value() {
        let expected = outputs(&[1.0, -4.0]);
        assert_eq!(difference(&expected, &expected), Ok(0.0));
        assert_eq!(difference(&outputs(&[1.0, -3.0]), &expected), Ok(0.25));
        assert_eq!(difference(&outputs(&[1.5, -4.0]), &expected), Ok(0.125));
        assert!(difference(&outputs(&[f64::NAN, -4.0]), &expected).is_ok_and(f64::is_nan));
        assert!(difference(&outputs(&[2.0, f64::NAN]), &expected).is_ok_and(f64::is_nan));
        assert_eq!(difference(&outputs(&[1.0]), &expected), Err("u-00000.output: 1 values instead of 2".to_owned()));
        assert_eq!(difference(&BTreeMap::new(), &expected), Err("different outputs".to_owned()));
    }
}
