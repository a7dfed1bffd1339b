//! Programs with many loops, each with a name in a comment: what their loops and kernels take.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::options::Options;
use crate::tools::{self, Failure, root};

/// A loop of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct NamedLoop {
    pub name: String,
    /// None of a part itself.
    pub parts: Vec<String>,
    /// The line of its loop.
    pub line: u64,
}

/// The loops that comments name: `#| name`, or `#| name: part + part` with parts that came before.
pub(super) fn loops(program: &str, text: &str) -> Result<Vec<NamedLoop>, Failure> {
    let mut found: Vec<NamedLoop> = Vec::new();
    let mut open: Option<(String, Vec<String>)> = None;
    for (number, line) in text.lines().enumerate() {
        if let Some(named) = line.strip_prefix("#| ") {
            let (name, parts) = named.split_once(": ").unwrap_or((named, ""));
            let parts: Vec<String> = parts.split(" + ").filter(|part| !part.is_empty()).map(str::to_owned).collect();
            if let Some(unknown) = parts.iter().find(|part| !found.iter().any(|known| known.name == **part && known.parts.is_empty())) {
                return Err(format!("{program}:{}: `{unknown}` is no part", number + 1));
            }
            open = Some((name.to_owned(), parts));
        } else if line.starts_with("For ")
            && let Some((name, parts)) = open.take()
        {
            found.push(NamedLoop { name, parts, line: number as u64 + 1 });
        }
    }
    Ok(found)
}

/// A kernel in all rounds of its loop.
#[derive(Clone, Debug)]
pub(super) struct KernelTime {
    pub seconds: f64,
    /// Bytes that it moves at least.
    pub bytes: f64,
    pub form: String,
}

/// Times of a program: the least of all repetitions.
#[derive(Clone, Debug, Default)]
pub(super) struct Times {
    /// Seconds of all rounds of a loop, by its line.
    pub loops: BTreeMap<u64, f64>,
    pub kernels: BTreeMap<String, KernelTime>,
    /// Bytes a second that a copy moves, the most of all repetitions.
    pub copy_rate: f64,
    /// The output of `--report`.
    pub report: Value,
}

/// Compiles a program and runs it so often, with these parameters.
pub(super) fn measure(options: &Options, repetitions: usize, program: &Path, words: &[String]) -> Result<Times, Failure> {
    let mut times = Times::default();
    for _ in 0..repetitions {
        let mut equellec = tools::equellec("dev")?;
        equellec.arg("run").arg(program).args(["--compiled", "--profile", "--report", "--message-format=json"]);
        equellec.args(["--target-cpu", &options.target_cpu]).args(words);
        equellec.args([format!("rounds={}*1", options.steps), format!("output_dir={}", folder().join("out").display())]);
        let output = equellec.output().map_err(|error| format!("equellec cannot be run: {error}"))?;
        let text = String::from_utf8_lossy(&output.stderr);
        if !output.status.success() {
            return Err(format!("{} failed:\n{text}", program.display()));
        }
        let events: Vec<Value> = text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
        let profile = events.iter().find(|event| event["event"] == "profile").ok_or("the run told no profile")?;
        times.report = events.iter().find(|event| event["parts"].is_array()).cloned().unwrap_or_default();
        times.add(profile);
    }
    Ok(times)
}

impl Times {
    fn add(&mut self, profile: &Value) {
        self.copy_rate = self.copy_rate.max(profile["bandwidth"].as_f64().unwrap_or(0.0));
        for of_loop in profile["loops"].as_array().into_iter().flatten() {
            if let (Some(line), Some(seconds)) = (of_loop["line"].as_u64(), of_loop["seconds"].as_f64()) {
                self.loops.entry(line).and_modify(|least| *least = least.min(seconds)).or_insert(seconds);
            }
        }
        for kernel in profile["kernels"].as_array().into_iter().flatten() {
            let number = |key: &str| kernel[key].as_f64().unwrap_or(0.0);
            let text = |key: &str| kernel[key].as_str().unwrap_or_default().to_owned();
            let found = KernelTime { seconds: number("seconds"), bytes: number("bytes"), form: text("form") };
            let least = self.kernels.entry(text("name")).or_insert_with(|| found.clone());
            least.seconds = least.seconds.min(found.seconds);
        }
    }
}

/// The parameters of a grid with so many cells along each axis, and of the tables and the state
/// that these programs read.
pub(super) fn words(dim: usize, cells: usize, folder: &Path) -> Result<Vec<String>, Failure> {
    let axes = ["x", "y", "z"].into_iter().take(dim);
    let sizes = axes.flat_map(|axis| [format!("n{axis}={cells}"), format!("l{axis}=1")]);
    let mut words: Vec<String> = [format!("grid_dim={dim}")].into_iter().chain(sizes).collect();
    words.push("u0_expression=1+0.1*Sin(6*x)*Cos(9*y)".to_owned());
    words.extend(write_tables(folder)?);
    Ok(words)
}

/// Folder for the files of a benchmark's programs.
pub(super) fn folder() -> PathBuf {
    root().join("target/bench/cliffs")
}

/// The tables that the programs read, and the parameters that name them.
fn write_tables(folder: &Path) -> Result<[String; 2], Failure> {
    let at = |k: usize| -2.0 + 0.1 * k as f64;
    let one: String = (0..=60).map(|k| format!("{},{}\n", at(k), 1.0 + 0.1 * at(k).tanh())).collect();
    let rows = (0..=30).flat_map(|k| (0..=30).map(move |l| (at(2 * k), at(2 * l))));
    let two: String = rows.map(|(p, rs)| format!("{p},{rs},{}\n", 1.0 + 0.05 * (p + rs).tanh())).collect();
    let (kt, pvt) = (folder.join("kt.csv"), folder.join("pvt.csv"));
    tools::write(&kt, &format!("x,k\n{one}"))?;
    tools::write(&pvt, &format!("p,rs,mu\n{two}"))?;
    Ok([format!("kt_filename={}", kt.display()), format!("pvt_filename={}", pvt.display())])
}
