//! Loops beside a bound that follows from the report of the compiler.
//!
//! A kernel moves bytes and does operations, which `--report` counts for an element; a copy and
//! loops of one kind of operation tell what this machine takes for them. The longer of both times
//! is the bound of a kernel, the sum over its kernels that of a loop. No loop is to take more than
//! [`ALLOWED`] times its bound, but the first one of a program, which touches memory for the first
//! time.

use std::path::PathBuf;

use serde_json::Value;

use super::cliffs;
use super::explicit::{self, Reads};
use super::loops::{KernelTime, NamedLoop, Times, folder, loops, measure, words};
use super::options::{Options, print_machine};
use crate::tools::{self, Failure, read, root};

/// A loop may take so many times its bound.
const ALLOWED: f64 = 3.0;

/// Loops of a random program: what one build serves.
const LOOPS: usize = 50;

/// How often at least the rates are measured, on which all bounds depend.
const RATE_REPETITIONS: usize = 15;

/// Loops whose times tell those of operations.
const RATES: &str = "\
# dimensions: ignore
u0 = InputCollectionOfScalar(\"u0\", AllCells())
kt = InputTable(\"kt\", \"x\", \"k\")
rounds = InputSequenceOfScalar(\"rounds\")
u : Mutable Collection Of Scalar On AllCells()
step(p, x) = { -> (((p * x + 0.5) * x + 0.25) * x + 0.125) * x + 0.0625 }
#| nothing
u = u0
For n In rounds { u = u + 1e-6 * u }
#| arithmetic
u = u0
For n In rounds { u = u + 1e-6 * step(step(step(step(step(u, u), u), u), u), u) }
#| quotients
u = u0
For n In rounds { u = u + 1e-6 * (1 / (1 + u) + 1 / (2 + u) + 1 / (3 + u) + 1 / (4 + u) + 1 / (5 + u) + 1 / (6 + u)) }
#| functions
u = u0
For n In rounds { u = u + 1e-6 * (Exp(-u) + Log(u)) }
#| powers
u = u0
For n In rounds { u = u + 1e-6 * (u^1.5 + (1 + u)^0.7) }
#| look_ups
u = u0
For n In rounds { u = u + 1e-6 * (Interpolate(kt, u) + Interpolate(kt, 0.5 * u)) }
Output(\"s\", SumReduce(u))
";

/// Rates of a machine.
#[derive(Clone, Copy, Debug)]
struct Rates {
    /// Seconds of a byte.
    byte: f64,
    /// Seconds of an operation, in the order of [`KINDS`].
    operations: [f64; 5],
}

/// Kinds of operations, as reports name them but for the first, and how many more of them than
/// `nothing` the loop of that name does.
const KINDS: [(&str, f64); 5] = [("arithmetic", 40.0), ("quotients", 6.0), ("functions", 2.0), ("powers", 2.0), ("look_ups", 2.0)];

/// A program on a grid.
struct Case {
    program: PathBuf,
    dim: usize,
    cells: usize,
    unstructured: bool,
}

/// A loop and its bound, in seconds of a step.
struct Bounded {
    name: String,
    seconds: f64,
    bound: f64,
    /// Its kernels: name, form, seconds and bound.
    kernels: Vec<(String, String, f64, f64)>,
}

/// Measures all programs; fails if one is above its bound.
pub(super) fn run(options: &Options) -> Result<(), Failure> {
    print_machine();
    let folder = folder();
    let rates = rates(options)?;
    let times: Vec<String> =
        KINDS.iter().zip(rates.operations).map(|((kind, _), seconds)| format!("{kind} {:.3}", 1e9 * seconds)).collect();
    println!("- copy: {:.1} GB/s\n- ns of an operation: {}", 1e-9 / rates.byte, times.join(", "));
    let written = |name: &str, dim, cells, unstructured| Case { program: root().join(name), dim, cells, unstructured };
    let mut cases = vec![
        written(cliffs::PROGRAM, 2, cliffs::CELLS, false),
        written("benches/cliffs_more.equelle", 2, 500, false),
        written("benches/cliffs_more.equelle", 3, 64, false),
        written("benches/cliffs_more.equelle", 2, 300, true),
        written("benches/cliffs_cube.equelle", 3, 64, false),
    ];
    for batch in 0..options.programs.div_ceil(LOOPS) {
        let seed = options.seed + batch as u64;
        let reads = [Reads::Index(2), Reads::Faces, Reads::Index(3), Reads::Faces][batch % 4];
        let program = folder.join(format!("random_{seed}.equelle"));
        tools::write(&program, &explicit::program(seed, LOOPS.min(options.programs - batch * LOOPS), reads))?;
        let random = |dim, cells, unstructured| Case { program: program.clone(), dim, cells, unstructured };
        match reads {
            Reads::Index(2) => cases.push(random(2, 300, false)),
            Reads::Index(_) => cases.push(random(3, 48, false)),
            Reads::Faces => cases.extend([random(2, 300, false), random(3, 48, false), random(2, 300, true)]),
        }
    }
    println!("\n| program | grid | loops | median of bounds | above {ALLOWED} |\n| --- | --- | ---: | ---: | ---: |");
    let mut above = Vec::new();
    for case in &cases {
        let text = read(&case.program)?;
        let program = case.program.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let named = loops(&program, &text)?;
        let mut words = words(case.dim, case.cells, &folder)?;
        words.push("threads=1".to_owned());
        words.extend(case.unstructured.then(|| "grid_layout=unstructured".to_owned()));
        let times = measure(options, options.repetitions, &case.program, &words)?;
        let bounded: Vec<Bounded> = named.iter().skip(1).filter_map(|of| bounded(of, &times, case, rates, options.steps)).collect();
        let mut ratios: Vec<f64> = bounded.iter().map(|of| of.seconds / of.bound).collect();
        ratios.sort_by(f64::total_cmp);
        let grid = format!("{}^{}{}", case.cells, case.dim, if case.unstructured { ", unstructured" } else { "" });
        let too_slow: Vec<&Bounded> = bounded.iter().filter(|of| of.seconds > ALLOWED * of.bound).collect();
        let median = ratios.get(ratios.len() / 2).copied().unwrap_or(0.0);
        println!("| `{program}` | {grid} | {} | {median:.2} | {} |", bounded.len(), too_slow.len());
        for of in too_slow {
            let cell = 1e9 * of.seconds / (case.cells as f64).powi(case.dim as i32);
            let shown = format!("`{program}`, {grid}: {cell:.1} ns a cell and step\n{}", describe(of, &text));
            // A long run may be ended before all is measured.
            eprintln!("\n{:.1} times its bound: {shown}", of.seconds / of.bound);
            above.push((of.seconds / of.bound, shown));
        }
    }
    above.sort_by(|a, b| b.0.total_cmp(&a.0));
    above.iter().for_each(|(ratio, shown)| println!("\n{ratio:.1} times its bound: {shown}"));
    if above.is_empty() { Ok(()) } else { Err(format!("{} loops are above {ALLOWED} times their bounds", above.len())) }
}

/// The kernels of a loop, and its text.
fn describe(of: &Bounded, text: &str) -> String {
    let kernels = of
        .kernels
        .iter()
        .map(|(name, form, seconds, bound)| format!("  {name} ({form}): {:.0} us, bound {:.0} us\n", 1e6 * seconds, 1e6 * bound));
    let from = text.find(&format!("#| {}\n", of.name)).or_else(|| text.find(&format!("#| {}:", of.name))).unwrap_or(0);
    let lines = text[from..].lines().skip(1).take_while(|line| !line.starts_with("#|") && !line.starts_with("Output("));
    format!("#| {}\n{}  {}", of.name, kernels.collect::<String>(), lines.collect::<Vec<_>>().join("\n  "))
}

/// Measures the rates of this machine.
fn rates(options: &Options) -> Result<Rates, Failure> {
    let folder = folder();
    let program = folder.join("rates.equelle");
    tools::write(&program, RATES)?;
    let mut words = words(2, cliffs::CELLS, &folder)?;
    words.push("threads=1".to_owned());
    let times = measure(options, options.repetitions.max(RATE_REPETITIONS), &program, &words)?;
    let named = loops("rates", RATES)?;
    let evaluations = (cliffs::CELLS * cliffs::CELLS * options.steps) as f64;
    let seconds = |name: &str| {
        let line = named.iter().find(|of| of.name == name).map(|of| of.line);
        line.and_then(|line| times.loops.get(&line)).map(|seconds| seconds / evaluations).ok_or(format!("`{name}` was not measured"))
    };
    let nothing = seconds("nothing")?;
    let mut operations = [0.0; 5];
    for (rate, (kind, count)) in operations.iter_mut().zip(KINDS) {
        *rate = (seconds(kind)? - nothing).max(0.0) / count;
    }
    // `nothing` copies 16 bytes an element, which a cache may hold.
    Ok(Rates { byte: (nothing / 16.0).min(1.0 / times.copy_rate), operations })
}

/// The bound of a loop, from the kernels that the report lists for it.
fn bounded(of: &NamedLoop, times: &Times, case: &Case, rates: Rates, steps: usize) -> Option<Bounded> {
    let parts = times.report["parts"].as_array()?;
    let part = parts.iter().find(|part| part["when"] == "loop" && part["line"].as_u64() == Some(of.line))?;
    let dimension = times.report_dimension(case.dim)?;
    let mut kernels = Vec::new();
    for item in part["items"].as_array()? {
        let Some(name) = item["kernel"].as_str() else { continue };
        let Some(time) = times.kernels.get(name) else { continue };
        let counts = match (&item["cartesian"], case.unstructured) {
            (Value::Array(of_cartesian), false) => &of_cartesian[dimension],
            _ => &item["general"][dimension],
        };
        let per_step = 1.0 / steps as f64;
        kernels.push((name.to_owned(), time.form.clone(), time.seconds * per_step, bound(time, counts, rates) * per_step));
    }
    let bound: f64 = kernels.iter().map(|kernel| kernel.3).sum();
    let seconds = times.loops.get(&of.line)? / steps as f64;
    (bound > 0.0).then(|| Bounded { name: of.name.clone(), seconds, bound, kernels })
}

/// Seconds that all calls of a kernel take at least.
fn bound(time: &KernelTime, counts: &Value, rates: Rates) -> f64 {
    let number = |key: &str| counts[key].as_f64().unwrap_or(0.0);
    let slow: Vec<f64> = KINDS[1..].iter().map(|(kind, _)| number(kind)).collect();
    let simple = number("flops") - slow.iter().sum::<f64>();
    let with_element: f64 = std::iter::once(simple).chain(slow).zip(rates.operations).map(|(count, seconds)| count * seconds).sum();
    // As many elements as the bytes of the run are of.
    let elements = if number("bytes") > 0.0 { time.bytes / number("bytes").round() } else { 0.0 };
    (time.bytes * rates.byte).max(elements * with_element)
}

impl Times {
    /// Which of the counts of a kernel are for a grid.
    fn report_dimension(&self, dim: usize) -> Option<usize> {
        let part = self.report["parts"].as_array()?.iter().flat_map(|part| part["items"].as_array().into_iter().flatten());
        let counts = part.filter_map(|item| item["general"].as_array()).next()?;
        counts.iter().position(|of| of["dimensions"].as_u64() == Some(dim as u64))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const SIMPLE: Rates = Rates { byte: 1e-9, operations: [1e-9, 8e-9, 16e-9, 64e-9, 32e-9] };

    #[test]
    fn the_longer_of_bytes_and_operations_bounds_a_kernel() {
        let time = KernelTime { seconds: 1.0, bytes: 16e6, form: "rows".to_owned() };
        // 10^6 elements.
        let few = json!({ "bytes": 16.0, "flops": 12, "quotients": 0, "functions": 0, "powers": 0, "look_ups": 0 });
        assert!((bound(&time, &few, SIMPLE) - 16e-3).abs() < 1e-12);
        let many = json!({ "bytes": 16.0, "flops": 12, "quotients": 2, "functions": 1, "powers": 0, "look_ups": 1 });
        assert!((bound(&time, &many, SIMPLE) - (8.0 + 16.0 + 16.0 + 32.0) * 1e-3).abs() < 1e-12);
    }

    #[test]
    fn rates_are_of_named_loops() {
        let named = loops("rates", RATES).expect("no parts");
        assert!(KINDS.iter().all(|(kind, _)| named.iter().any(|of| of.name == *kind)));
    }
}
