//! Many programs in one binary: the packages that the compiler writes become modules of one package, which is built once and runs any of them in one process.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{env, fs};

use backend_serial::codegen::Serial;
use equelle_front::ir::Precision;
use equelle_front::verify::Verified;
use equellec::package::{PackageOptions, generate};

use crate::compare::Outcome;

/// A program as it is compiled.
pub struct Module<'v> {
    /// A Rust identifier that no other module of the binary has.
    pub name: String,
    /// The program.
    pub verified: &'v Verified,
}

/// A run of a program in a binary.
pub struct Plan {
    /// The number of the program among the modules of the binary.
    pub module: usize,
    /// As on the command line of a simulator.
    pub words: Vec<String>,
}

/// A binary that has been built.
pub struct Binary {
    path: PathBuf,
}

/// Reads plans, a line each: the number of a program and the words of a run. Runs them and writes outputs as bits.
const MAIN: &str = r#"
use std::io::{BufRead, Write};

use backend_serial::runtime::{run, run_with_precision};
use equelle_runtime::output::{Record, Records};
use equelle_runtime::session::Options;
use equelle_runtime::{Error, Program, Session};

fn session(program: &'static Program, words: &[String]) -> Result<(Session, Records), Error> {
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
            write!(out, ">{}", tag.replace('\n', "\u{1f}")).expect("standard output");
            for value in values {
                write!(out, "\t{:x}", value.to_bits()).expect("standard output");
            }
            writeln!(out).expect("standard output");
        }
        match result {
            Ok(()) => writeln!(out, "="),
            Err(error) => writeln!(out, "={:?} {}", error.kind, error.message.replace('\n', "\u{1f}")),
        }
        .expect("standard output");
    }
}

fn one(number: usize, words: &[String]) -> (Result<(), Error>, Vec<Record>) {
    match number {
"#;

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize().expect("the repository is there")
}

impl Binary {
    /// Builds the programs in a folder, with the profile and the target folder of the workspace, so that what it has built is not built again. Called by a test, whose
    /// own path tells the target folder.
    ///
    /// # Panics
    /// If a program cannot be compiled, naming it.
    pub fn build(name: &str, modules: &[Module<'_>], folder: &Path) -> Binary {
        let root = repository();
        let source = folder.join("src");
        // What another run left there is no part of this binary.
        let _ = fs::remove_dir_all(&source);
        fs::create_dir_all(&source).expect("the target folder can be written");
        let mut main = String::from("//! All programs.\n#![allow(warnings)]\n\n");
        let mut dispatch = String::new();
        for (number, module) in modules.iter().enumerate() {
            write_module(module, &source.join(&module.name), &root);
            let name = &module.name;
            let run = match module.verified.module().numbers.precision {
                Precision::Double => "run",
                Precision::Single => "run_with_precision::<f32>",
            };
            let _ = writeln!(main, "mod {name};");
            let _ = writeln!(
                dispatch,
                "        {number} => match session(&{name}::PROGRAM, words) {{\n            Ok((session, records)) => {{ let result = {run}(session, {name}::simulate); (result, records.take()) }}\n            Err(error) => (Err(error), Vec::new()),\n        }},"
            );
        }
        let _ = write!(main, "{MAIN}{dispatch}        _ => panic!(\"no such program\"),\n    }}\n}}\n");
        fs::write(source.join("main.rs"), main).expect("the target folder can be written");
        let manifest = format!(
            "[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[dependencies]\nequelle-runtime = {{ path = \"{0}/equelle-runtime\", default-features = false, features = [\"lu\", \"threads\"] }}\nbackend-serial = {{ path = \"{0}/backend-serial\", default-features = false, features = [\"runtime\"] }}\n\n[profile.dev]\ndebug = \"line-tables-only\"\nopt-level = 1\n\n[profile.dev.package.\"*\"]\nopt-level = 0\n\n[workspace]\n",
            root.display()
        );
        fs::write(folder.join("Cargo.toml"), manifest).expect("the target folder can be written");
        fs::copy(root.join("Cargo.lock"), folder.join("Cargo.lock")).expect("the workspace has a lock file");
        let this = env::current_exe().expect("this test has a path");
        let target = this.ancestors().nth(3).expect("it is in target/debug/deps");
        let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        cargo.args(["build", "--offline", "--quiet", "--manifest-path"]).arg(folder.join("Cargo.toml")).arg("--target-dir").arg(target);
        let built = cargo.current_dir(folder).output().expect("cargo starts");
        assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
        Binary { path: target.join("debug").join(name) }
    }

    /// Runs programs, one after another in one process; what each gave.
    ///
    /// # Panics
    /// If a program panics.
    pub fn run(&self, plans: &[Plan]) -> Vec<Outcome> {
        let mut child = Command::new(&self.path).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("what was built starts");
        let lines: Vec<String> = plans.iter().map(|plan| format!("{}\t{}\n", plan.module, plan.words.join("\t"))).collect();
        let mut stdin = child.stdin.take().expect("a pipe");
        let writer = std::thread::spawn(move || stdin.write_all(lines.concat().as_bytes()));
        let output = child.wait_with_output().expect("it ends");
        writer.join().expect("the writer ends").expect("all plans are read");
        assert!(output.status.success(), "the programs panicked");
        let outcomes = outcomes(&String::from_utf8(output.stdout).expect("text"));
        assert_eq!(outcomes.len(), plans.len(), "a run per plan");
        outcomes
    }
}

/// The library of a package as a module: its root is another, and so is its distance from the source.
fn write_module(module: &Module<'_>, folder: &Path, root: &Path) {
    let options = PackageOptions { backends: &[&Serial], runtime_crates: root };
    let package = generate(module.verified, &options).unwrap_or_else(|error| panic!("{}: {error}", module.name));
    fs::create_dir_all(folder).expect("the target folder can be written");
    for (path, text) in &package.files {
        if path.ends_with(".equelle") {
            fs::write(folder.join(path), text).expect("the target folder can be written");
        }
        let Some(file) = path.strip_prefix("src/").filter(|file| *file != "main.rs") else { continue };
        let text = text.replace("crate::", &format!("crate::{}::", module.name)).replace("include_str!(\"../", "include_str!(\"");
        let file = if file == "lib.rs" { "mod.rs" } else { file };
        fs::write(folder.join(file), text).expect("the target folder can be written");
    }
}

fn outcomes(text: &str) -> Vec<Outcome> {
    let mut all = Vec::new();
    let mut outcome = Outcome::default();
    for line in text.lines() {
        if let Some(end) = line.strip_prefix('=') {
            outcome.error = (!end.is_empty()).then(|| end.replace('\u{1f}', "\n"));
            all.push(std::mem::take(&mut outcome));
            continue;
        }
        let mut words = line.strip_prefix('>').expect("an output").split('\t');
        let tag = words.next().unwrap_or_default().replace('\u{1f}', "\n");
        let values = words.map(|word| f64::from_bits(u64::from_str_radix(word, 16).expect("bits")));
        outcome.outputs.push((tag, values.collect()));
    }
    all
}
