//! Small programs that differ in a line, each beside the sum of its parts.
//!
//! `benches/cliffs.equelle` has one loop for each. Comments name them: `#| flux` is a part, and
//! `#| index_flux: flux + index` is held to at most [`ALLOWED`] times its parts.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;

use super::{Options, print_machine};
use crate::tools::{self, Failure, read, root};

/// A variation may take so many times as long as its parts together.
const ALLOWED: f64 = 1.5;

/// Cells along each axis, where none are given.
const CELLS: usize = 500;

/// The programs.
const PROGRAM: &str = "benches/cliffs.equelle";

/// A loop of the program.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Variation {
    name: String,
    /// None of a part itself.
    parts: Vec<String>,
    /// The line of its loop.
    line: u64,
}

/// Measures all of them for one thread and for two; fails if one is above its parts.
pub(super) fn run(options: &Options) -> Result<(), Failure> {
    let variations = variations(&read(&root().join(PROGRAM))?)?;
    let folder = root().join("target/bench/cliffs");
    write_tables(&folder)?;
    print_machine();
    let cells = options.cells.first().copied().unwrap_or(CELLS);
    let mut above = Vec::new();
    for threads in [1, 2] {
        let seconds = measure(options, &folder, cells, threads)?;
        println!("\n{cells}^2 cells, threads={threads}, ns a cell and step\n\n| program | ns | parts | ratio |\n| --- | --- | --- | --- |");
        let scale = 1e9 / (cells * cells * options.steps) as f64;
        for variation in &variations {
            let of = |name: &str| {
                let known = variations.iter().find(|known| known.name == name);
                known.and_then(|known| seconds.get(&known.line)).map(|seconds| seconds * scale).ok_or(format!("`{name}` was not measured"))
            };
            let own = of(&variation.name)?;
            let parts = variation.parts.iter().map(|part| of(part)).sum::<Result<f64, Failure>>()?;
            if variation.parts.is_empty() {
                println!("| `{}` | {own:.2} | | |", variation.name);
                continue;
            }
            println!("| `{}` | {own:.2} | {parts:.2} | {:.2} |", variation.name, own / parts);
            if own > ALLOWED * parts {
                above.push(format!("{} ({threads}): {:.2}", variation.name, own / parts));
            }
        }
    }
    if above.is_empty() { Ok(()) } else { Err(format!("above {ALLOWED} times their parts: {}", above.join(", "))) }
}

/// The loops that comments name.
fn variations(text: &str) -> Result<Vec<Variation>, Failure> {
    let mut found: Vec<Variation> = Vec::new();
    let mut open: Option<(String, Vec<String>)> = None;
    for (number, line) in text.lines().enumerate() {
        if let Some(named) = line.strip_prefix("#| ") {
            let (name, parts) = named.split_once(": ").unwrap_or((named, ""));
            let parts: Vec<String> = parts.split(" + ").filter(|part| !part.is_empty()).map(str::to_owned).collect();
            if let Some(unknown) = parts.iter().find(|part| !found.iter().any(|known| known.name == **part && known.parts.is_empty())) {
                return Err(format!("{PROGRAM}:{}: `{unknown}` is no part", number + 1));
            }
            open = Some((name.to_owned(), parts));
        } else if line.starts_with("For ")
            && let Some((name, parts)) = open.take()
        {
            found.push(Variation { name, parts, line: number as u64 + 1 });
        }
    }
    Ok(found)
}

/// Seconds of each loop, by its line: the least of all repetitions.
fn measure(options: &Options, folder: &Path, cells: usize, threads: usize) -> Result<BTreeMap<u64, f64>, Failure> {
    let mut least: BTreeMap<u64, f64> = BTreeMap::new();
    for _ in 0..options.repetitions {
        let mut equellec = tools::equellec("dev")?;
        let file = |name: &str| format!("{}", folder.join(name).display());
        equellec.args(["run", PROGRAM, "--compiled", "--profile", "--message-format=json"]).args(["--target-cpu", &options.target_cpu]);
        equellec.args([format!("nx={cells}"), format!("ny={cells}"), format!("rounds={}*1", options.steps), format!("threads={threads}")]);
        equellec.args(["grid_dim=2", "lx=1", "ly=1", "u0_expression=1+0.1*Sin(6*x)*Cos(9*y)"]);
        equellec.args([format!("kt_filename={}", file("kt.csv")), format!("pvt_filename={}", file("pvt.csv"))]);
        equellec.arg(format!("output_dir={}", file("out")));
        let output = equellec.output().map_err(|error| format!("equellec cannot be run: {error}"))?;
        let text = String::from_utf8_lossy(&output.stderr);
        if !output.status.success() {
            return Err(format!("the programs failed:\n{text}"));
        }
        let events = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        let profile = events.into_iter().find(|event| event["event"] == "profile").ok_or("the run told no profile")?;
        for of_loop in profile["loops"].as_array().into_iter().flatten() {
            if let (Some(line), Some(seconds)) = (of_loop["line"].as_u64(), of_loop["seconds"].as_f64()) {
                least.entry(line).and_modify(|least| *least = least.min(seconds)).or_insert(seconds);
            }
        }
    }
    Ok(least)
}

/// The tables that the programs read.
fn write_tables(folder: &Path) -> Result<(), Failure> {
    let at = |k: usize| -2.0 + 0.1 * k as f64;
    let one: String = (0..=60).map(|k| format!("{},{}\n", at(k), 1.0 + 0.1 * at(k).tanh())).collect();
    tools::write(&folder.join("kt.csv"), &format!("x,k\n{one}"))?;
    let rows = (0..=30).flat_map(|k| (0..=30).map(move |l| (at(2 * k), at(2 * l))));
    let two: String = rows.map(|(p, rs)| format!("{p},{rs},{}\n", 1.0 + 0.05 * (p + rs).tanh())).collect();
    tools::write(&folder.join("pvt.csv"), &format!("p,rs,mu\n{two}"))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_loop_of_the_programs_is_named() {
        let text = read(&root().join(PROGRAM)).expect("the programs");
        let found = variations(&text).expect("known parts");
        assert_eq!(found.len(), text.lines().filter(|line| line.starts_with("For ")).count());
        assert!(found.iter().filter(|variation| !variation.parts.is_empty()).count() >= 50);
    }

    #[test]
    fn parts_come_before_what_they_are_parts_of() {
        let error = variations("#| flux\nFor n In r {\n}\n#| both: flux + index\nFor n In r {\n}\n").expect_err("no index");
        assert!(error.contains("cliffs.equelle:4: `index` is no part"), "{error}");
    }
}
