//! Random programs compiled, many to one binary: bit for bit what the interpreter gives, for any number of threads.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use backend_serial::codegen::Serial;
use equelle_front::verify::Verified;
use equelle_interp::Options;
use equelle_random::compare::{Outcome, compile, grids, numbers, run, same};
use equelle_random::data::{World, Worlds};
use equelle_random::generate::{Purpose, program};
use equellec::package::{PackageOptions, generate};

/// Programs of a test run, and the first seed.
const PROGRAMS: u64 = 100;
const SEED: u64 = 500_000;

/// A program at one level, as a module of the binary.
struct Built {
    module: String,
    seed: u64,
    text: String,
    verified: Verified,
    runnable: &'static equelle_runtime::Program,
}

fn repository(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(path)
}

/// Reads plans, a line each: the number of a program and the words of a run. Runs them and writes outputs as bits.
const MAIN: &str = r#"
use std::io::{BufRead, Write};

use backend_serial::runtime::run;
use equelle_runtime::output::Record;
use equelle_runtime::session::Options;
use equelle_runtime::{Error, Program, Session};

fn session(program: &'static Program, words: &[String]) -> Result<(Session, equelle_runtime::output::Records), Error> {
    let mut session = Session::open_with(program, words, Options::silent())?;
    let records = session.record_outputs();
    Ok((session, records))
}

fn main() {
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    for line in std::io::stdin().lock().lines() {
        let line = line.expect("a line");
        let mut words = line.split('\t').map(str::to_owned);
        let number: usize = words.next().and_then(|w| w.parse().ok()).expect("a number");
        let words: Vec<String> = words.collect();
        let (result, records) = one(number, &words);
        for record in records {
            let (tag, values): (&str, Vec<f64>) = match &record {
                Record::Scalar { tag, value } => (tag, vec![*value]),
                Record::Bool { tag, value } => (tag, vec![f64::from(u8::from(*value))]),
                Record::Text { tag, value } => (tag, value.bytes().map(f64::from).collect()),
                Record::Vector { tag, components } => (tag, components.clone()),
                Record::Vectors { tag, values } => (tag, values.concat()),
                Record::Collection { tag, values } => (tag, values.clone()),
            };
            write!(out, "{tag}").expect("standard output");
            for value in values {
                write!(out, " {:x}", value.to_bits()).expect("standard output");
            }
            writeln!(out).expect("standard output");
        }
        match result {
            Ok(()) => writeln!(out, "= well"),
            Err(error) => writeln!(out, "= {:?} {}", error.kind, error.message.lines().next().unwrap_or_default()),
        }
        .expect("standard output");
    }
}

fn one(number: usize, words: &[String]) -> (Result<(), Error>, Vec<Record>) {
    match number {
"#;

/// Writes a package of all programs and builds it.
fn build(programs: &[Built], folder: &Path) -> PathBuf {
    let source = folder.join("src");
    fs::create_dir_all(&source).expect("the target folder can be written");
    let mut main = String::from("//! All programs.\n#![allow(warnings)]\n\n");
    let mut dispatch = String::new();
    for (number, built) in programs.iter().enumerate() {
        let module = &built.module;
        let options = PackageOptions { backends: &[&Serial], runtime_crates: &repository("") };
        let package = generate(&built.verified, &options).unwrap_or_else(|e| panic!("seed {}: {e}\n{}", built.seed, built.text));
        let inner = source.join(module);
        fs::create_dir_all(&inner).expect("the target folder can be written");
        for (path, text) in &package.files {
            let Some(name) = path.strip_prefix("src/").filter(|name| *name != "main.rs") else { continue };
            // The library becomes a module: its root is another, and so is its distance from the source.
            let text = text.replace("crate::", &format!("crate::{module}::")).replace("include_str!(\"../", "include_str!(\"");
            let name = if name == "lib.rs" { "mod.rs" } else { name };
            fs::write(inner.join(name), text).expect("the target folder can be written");
        }
        fs::write(inner.join("random.equelle"), &built.text).expect("the target folder can be written");
        let _ = writeln!(main, "mod {module};");
        let _ = writeln!(
            dispatch,
            "        {number} => match session(&{module}::PROGRAM, words) {{\n            Ok((session, records)) => {{ let result = run(session, {module}::simulate); (result, records.take()) }}\n            Err(error) => (Err(error), Vec::new()),\n        }},"
        );
    }
    let _ = write!(main, "{MAIN}{dispatch}        _ => panic!(\"no such program\"),\n    }}\n}}\n");
    fs::write(source.join("main.rs"), main).expect("the target folder can be written");
    let root = repository("").canonicalize().expect("the repository is there");
    let manifest = format!(
        "[package]\nname = \"random-programs\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[dependencies]\nequelle-runtime = {{ path = \"{0}/equelle-runtime\", default-features = false, features = [\"lu\", \"threads\"] }}\nbackend-serial = {{ path = \"{0}/backend-serial\", default-features = false, features = [\"runtime\"] }}\n\n[profile.dev]\ndebug = \"line-tables-only\"\nopt-level = 1\n\n[profile.dev.package.\"*\"]\nopt-level = 0\n\n[workspace]\n",
        root.display()
    );
    fs::write(folder.join("Cargo.toml"), manifest).expect("the target folder can be written");
    fs::copy(repository("Cargo.lock"), folder.join("Cargo.lock")).expect("the workspace has a lock file");
    // With the profile and the target folder of the workspace, so that what it has built is not built again.
    let this = env::current_exe().expect("this test has a path");
    let target = this.ancestors().nth(3).expect("it is in target/debug/deps").to_owned();
    let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.args(["build", "--offline", "--quiet", "--manifest-path"]).arg(folder.join("Cargo.toml")).arg("--target-dir").arg(&target);
    let built = cargo.current_dir(folder).output().expect("cargo starts");
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    target.join("debug/random-programs")
}

/// What a compiled run printed.
struct Printed {
    outputs: Vec<(String, Vec<u64>)>,
    end: String,
}

fn run_all(binary: &Path, plans: &[String]) -> Vec<Printed> {
    use std::io::Write as _;
    let mut child = Command::new(binary)
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .expect("what was built starts");
    let text = plans.join("\n") + "\n";
    let mut stdin = child.stdin.take().expect("a pipe");
    let writer = std::thread::spawn(move || stdin.write_all(text.as_bytes()));
    let output = child.wait_with_output().expect("it ends");
    writer.join().expect("the writer ends").expect("all plans are read");
    assert!(output.status.success(), "the programs panicked");
    let mut runs = Vec::new();
    let mut outputs = Vec::new();
    for line in String::from_utf8(output.stdout).expect("text").lines() {
        if let Some(end) = line.strip_prefix("= ") {
            runs.push(Printed { outputs: std::mem::take(&mut outputs), end: end.to_owned() });
            continue;
        }
        let mut words = line.split(' ');
        let tag = words.next().unwrap_or_default().to_owned();
        outputs.push((tag, words.map(|word| u64::from_str_radix(word, 16).expect("bits")).collect()));
    }
    runs
}

fn differs(expected: &Outcome, printed: &Printed) -> Option<String> {
    let end = expected.error.as_ref().map_or("well", |error| error.lines().next().unwrap_or_default());
    if end != printed.end {
        return Some(format!("it ends with `{}`, not `{end}`", printed.end));
    }
    if expected.records.len() != printed.outputs.len() {
        return Some(format!("it has {} outputs, not {}", printed.outputs.len(), expected.records.len()));
    }
    for (record, (tag, bits)) in expected.records.iter().zip(&printed.outputs) {
        let (expected_tag, values) = numbers(record);
        if expected_tag != tag || values.len() != bits.len() {
            return Some(format!("it puts out {tag}, not {expected_tag}"));
        }
        if let Some(at) = values.iter().zip(bits).position(|(value, bits)| value.to_bits() != *bits && !value.is_nan()) {
            let found = f64::from_bits(bits[at]);
            return Some(format!("`{tag}` at {at} is {found:e}, not {:e} (difference {:e})", values[at], (found - values[at]).abs()));
        }
    }
    None
}

#[test]
fn compiled_programs_give_what_the_interpreter_gives() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("random-compiled");
    let worlds = Worlds::write(&folder.join("data"), &repository("grids/triangles-6x5.grid")).expect("the target folder can be written");
    let mut built = Vec::new();
    let mut sources = Vec::new();
    for seed in SEED..SEED + PROGRAMS {
        let random = program(seed, Purpose::Run, &worlds.facts);
        let text = random.text();
        let compiled = compile(&text, random.units).unwrap_or_else(|f| panic!("seed {seed}: {}\n{text}", f.text));
        let (runnable, last) = (compiled.runnable, compiled.passes.into_iter().next_back().expect("there are passes").1);
        for (level, verified) in [(0, compiled.plain), (2, last)] {
            built.push(Built { module: format!("p{seed}_{level}"), seed, text: text.clone(), verified, runnable });
        }
        sources.push(random);
    }
    let binary = build(&built, &folder.join("package"));
    let mut plans = Vec::new();
    let mut wanted: Vec<(usize, &World, &str)> = Vec::new();
    for (number, one) in built.iter().enumerate() {
        for world in grids(&sources[number / 2], &worlds) {
            for threads in ["1", "2", "4"] {
                let words: Vec<&str> = world.words_for(one.runnable).collect();
                plans.push(format!("{number}\t{}\tthreads={threads}", words.join("\t")));
                wanted.push((number, world, threads));
            }
        }
    }
    let printed = run_all(&binary, &plans);
    assert_eq!(printed.len(), wanted.len());
    let mut expected: BTreeMap<(usize, &str), Outcome> = BTreeMap::new();
    let mut failures = Vec::new();
    for ((number, world, threads), printed) in wanted.into_iter().zip(&printed) {
        let one = &built[number];
        let options = Options { cartesian_forms: !world.unstructured, ..Options::default() };
        let outcome = expected.entry((number, world.name)).or_insert_with(|| run(&one.verified, one.runnable, world, options));
        if let Some(difference) = differs(outcome, printed) {
            failures.push(format!("{} on the grid {} with {threads} threads: {difference}", one.module, world.name));
        }
    }
    assert!(failures.is_empty(), "{} of {} runs differ\n{}", failures.len(), printed.len(), failures[..failures.len().min(20)].join("\n"));
    // The levels agree as well, but for what depends on solutions of equations.
    for (number, random) in sources.iter().enumerate() {
        let errors: BTreeMap<&str, f64> = random.errors.iter().map(|(tag, error)| (tag.as_str(), *error)).collect();
        for world in grids(random, &worlds) {
            let of = |level: usize| &expected[&(2 * number + level, world.name)];
            same(of(0), of(1), &errors).unwrap_or_else(|d| panic!("seed {} on the grid {}: {d}", random.seed, world.name));
        }
    }
}
