//! Many programs in one binary: the packages that the compiler writes become modules of one
//! package, which is built once and runs any of them in one process.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{env, fs};

use equelle::package::{PackageOptions, generate};
use equelle::registry::{BACKENDS, costs, find};
use equelle_front::backend::Backend;
use equelle_front::ir::Precision;
use equelle_front::verify::Verified;

use crate::compare::compile_for;
use crate::data::Fixtures;
use crate::generate::{Purpose, program};
use crate::outcome::{Outcome, Tolerance};
use crate::project::{Subject, repository};
pub use crate::serve::Plan;
use crate::serve::{outcomes, written};

/// A program as it is compiled.
pub struct Module<'v> {
    /// A Rust identifier that no other module of the binary has.
    pub name: String,
    /// The program.
    pub verified: &'v Verified,
}

/// The start of the program of a binary.
const MAIN: &str = "use std::sync::Arc;

use equelle_random::outcome::{Outcome, run_by};
use equelle_random::rank_cut::{RankCut, run_compiled};
use equelle_runtime::{Error, Program, Session};

fn main() {
    equelle_random::serve::serve(run).expect(\"the pipes of a test\");
}

fn of(
    program: &Arc<Program>,
    ranks: Option<RankCut>,
    words: &[String],
    simulate: impl Fn(Session) -> Result<(), Error> + Sync,
) -> Option<Outcome> {
    match ranks {
        None => Some(run_by(program, words, simulate)),
        Some(cut) => run_compiled(program, words, cut, simulate),
    }
}
";

/// A binary that has been built.
pub struct Binary {
    path: PathBuf,
}

/// Profile in which a binary is built.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Profile {
    /// As tests build: nothing is optimised.
    Test,
    /// Small, for other machines.
    Small,
}

impl Profile {
    /// Words for cargo, and the folder in the target folder.
    fn cargo(self) -> (&'static [&'static str], &'static str) {
        match self {
            Profile::Test => (&[], "debug"),
            Profile::Small => (&["--release"], "release"),
        }
    }

    /// Returns the end of its manifest. For tests it is the workspace's profile without
    /// optimisation, and the workspace's features of the one crate of which other crates enable
    /// more there: then the crates that the tests have built serve, the direct solver above all.
    fn manifest(self) -> String {
        match self {
            Profile::Test => {
                let workspace = fs::read_to_string(repository().join("Cargo.toml")).expect("the workspace has a manifest");
                let (_, profiles) = workspace.split_once("[profile.dev]").expect("the workspace has a profile of tests");
                let (dev, _) = profiles.split_once("[profile.release]").expect("that of releases is after it");
                // Programs run for moments, and optimising them takes most of a minute.
                let (before, after) = dev.split_once("opt-level = 1").expect("tests are optimised a little");
                let dev = format!("{before}opt-level = 0{after}");
                format!("[dependencies.bitflags]\nversion = \"2\"\nfeatures = [\"std\"]\n\n[profile.dev]{dev}")
            }
            Profile::Small => "[profile.release]\nopt-level = \"s\"\nstrip = \"symbols\"\n".to_owned(),
        }
    }
}

impl Binary {
    /// Builds the programs in a folder, with the profile and the target folder of the workspace, so
    /// that what it has built is not built again. Called by a test, whose own path tells the target
    /// folder.
    ///
    /// # Panics
    /// If a program cannot be compiled, naming it.
    pub fn build(name: &str, modules: &[Module<'_>], folder: &Path) -> Binary {
        let mut dispatch = String::new();
        for (number, module) in modules.iter().enumerate() {
            let (name, run) = (&module.name, entry_point(module));
            let _ = writeln!(
                dispatch,
                "        {number} => of(&Arc::new({name}::program()), ranks, words, |session| backend_serial::runtime::{run}(session, {name}::simulate)),"
            );
        }
        let main = format!(
            "{MAIN}\nfn run(number: usize, ranks: Option<RankCut>, words: &[String]) -> Option<Outcome> {{\n    match number {{\n{dispatch}        _ => panic!(\"no such program\"),\n    }}\n}}\n"
        );
        write_package(name, modules, &[backend("serial")], &main, Profile::Test, folder);
        let this = env::current_exe().expect("this test has a path");
        let target = this.ancestors().nth(3).expect("it is in target/debug/deps");
        Binary { path: build(name, folder, target, Profile::Test) }
    }

    /// Runs programs, one after another in one process; what each gave, none where there are no
    /// such ranks.
    ///
    /// # Panics
    /// If a program panics.
    pub fn run(&self, plans: &[Plan]) -> Vec<Option<Outcome>> {
        let mut child = Command::new(&self.path).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("what was built starts");
        let lines = written(plans);
        let mut stdin = child.stdin.take().expect("a pipe");
        let writer = std::thread::spawn(move || stdin.write_all(lines.as_bytes()));
        let output = child.wait_with_output().expect("it ends");
        writer.join().expect("the writer ends").expect("all plans are read");
        assert!(output.status.success(), "the programs panicked");
        let outcomes = outcomes(&String::from_utf8(output.stdout).expect("text"));
        assert_eq!(outcomes.len(), plans.len(), "a run per plan");
        outcomes
    }
}

fn backend(name: &str) -> &'static dyn Backend {
    find(BACKENDS, name).expect("it is registered")
}

/// The function of a back-end's runtime that runs a module's program.
fn entry_point(module: &Module<'_>) -> &'static str {
    match module.verified.module().numbers.precision {
        Precision::Double => "run",
        Precision::Single => "run_with_precision::<f32>",
    }
}

/// A program of a differential test.
pub struct TestProgram {
    /// A Rust identifier that no other one has.
    pub name: String,
    /// Its text.
    pub text: String,
    /// True if units are checked.
    pub units: bool,
    /// The [`Origin`](crate::differential::Origin) as Rust.
    origin: String,
}

impl TestProgram {
    /// The random programs of some seeds, which run on the grids of `fixtures`.
    pub fn random<'w>(seeds: impl Iterator<Item = u64> + 'w, fixtures: &'w Fixtures) -> impl Iterator<Item = TestProgram> + 'w {
        seeds.map(|seed| {
            let random = program(seed, Purpose::Run, &fixtures.ranges);
            TestProgram { name: format!("p{seed}"), text: random.text(), units: random.units, origin: format!("Random({seed})") }
        })
    }

    /// A program of the project on its data, whose place `moved` tells. How far outputs may be
    /// apart: as between the ways of one back-end where equations are solved; else not at all.
    pub fn from_subject(subject: &Subject, moved: impl Fn(&str) -> String) -> TestProgram {
        let mut runs = String::new();
        for case in &subject.cases {
            for layout in case.layouts().iter().copied() {
                let words: Vec<String> = case.words(layout).iter().map(|word| format!("{:?}", moved(word))).collect();
                let _ = write!(runs, "&[{}], ", words.join(", "));
            }
        }
        let allowed = subject.solved.unwrap_or(Tolerance::BITS);
        let origin = format!("Project {{ name: {:?}, runs: &[{runs}], allowed: {allowed:?} }}", subject.name);
        TestProgram { name: subject.name.clone(), text: subject.text().to_owned(), units: subject.units, origin }
    }
}

/// Builds a binary that runs programs on the serial and on the CUDA back-end and compares:
/// [`crate::differential::main`]. Programs are compiled for CUDA to kernels, to kernels with
/// derivatives by sparse matrices if they have any, and to operations.
///
/// # Panics
/// If a program cannot be compiled, naming it, or a folder cannot be written.
pub fn differential(name: &str, programs: impl Iterator<Item = TestProgram>, folder: &Path, target: &Path, profile: Profile) -> PathBuf {
    let mut compiled = Vec::new();
    for TestProgram { name, text, units, origin } in programs {
        let ways = compile_for(&text, units, costs(&[backend("cuda")]));
        let mut ways = ways.unwrap_or_else(|failure| panic!("{name}: {}\n{text}", failure.text));
        let last = ways.passes.pop().expect("there are passes").1;
        let all = [
            Some(("kernels", "-O2", last)),
            ways.matrices.map(|m| ("matrices", "--ad=spgemm", m)),
            Some(("operations", "-O0", ways.plain)),
        ];
        compiled.extend(all.into_iter().flatten().map(|(word, way, verified)| (origin.clone(), format!("{name}_{word}"), way, verified)));
    }
    let modules: Vec<Module> = compiled.iter().map(|(_, name, _, verified)| Module { name: name.clone(), verified }).collect();
    let mut main = String::from(
        "use std::rc::Rc;\n\nuse backend_cuda::runtime::{Precision, device::Device, open_device, run_on};\nuse equelle_random::differential::{self, Entry, Origin::*};\nuse equelle_random::outcome::Tolerance;\n\nconst ENTRIES: &[Entry<Rc<dyn Device>>] = &[\n",
    );
    for (origin, name, way, _) in &compiled {
        let _ = writeln!(
            main,
            "    Entry {{ origin: {origin}, way: {way:?}, program: {name}::program, expected: |session| backend_serial::runtime::run(session, {name}::simulate), found: |session, device| run_on(session, Rc::clone(device), Precision::Double, {name}::simulate) }},"
        );
    }
    main.push_str("];\n\nfn main() -> std::process::ExitCode {\n    differential::main(ENTRIES, open_device)\n}\n");
    write_package(name, &modules, BACKENDS, &main, profile, folder);
    build(name, folder, target, profile)
}

/// Crates that the modules of a package are shared out among: cargo compiles these at once, and of
/// a single one most of the compiler's work is not parallel.
const PARTS: usize = 2;

/// Writes a package with a module for each program, in [`PARTS`] crates of its own.
fn write_package(name: &str, modules: &[Module<'_>], backends: &[&dyn Backend], main: &str, profile: Profile, folder: &Path) {
    let root = repository();
    let mut dependencies = format!(
        "[dependencies]\nequelle-runtime = {{ path = \"{}/equelle-runtime\", default-features = false, features = [\"lu\", \"threads\"] }}\n",
        root.display()
    );
    for backend in backends {
        let (name, root) = (backend.runtime_crate(), root.display());
        let _ = writeln!(
            dependencies,
            "{name} = {{ path = \"{root}/{name}\", default-features = false, features = [\"runtime\", \"solvers\"] }}"
        );
    }
    let package = |name: &str| format!("[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n{dependencies}");
    let mut text = String::from("//! All programs.\n#![allow(warnings)]\n\n");
    let mut manifest = package(name);
    for (part, modules) in modules.chunks(modules.len().div_ceil(PARTS).max(1)).enumerate() {
        let part = format!("part_{part}");
        let source = folder.join(&part).join("src");
        // Files that another run left there are no part of this binary.
        let _ = fs::remove_dir_all(&source);
        fs::create_dir_all(&source).expect("the target folder can be written");
        let mut library = String::from("//! Programs.\n#![allow(warnings)]\n\n");
        for module in modules {
            write_module(module, backends, &source.join(&module.name), &root);
            let _ = writeln!(library, "pub mod {};", module.name);
        }
        fs::write(source.join("lib.rs"), library).expect("the target folder can be written");
        // Packages of other tests have parts of other names in the same target folder.
        let full_name = format!("{name}-{part}");
        fs::write(folder.join(&part).join("Cargo.toml"), package(&full_name)).expect("the target folder can be written");
        let _ = writeln!(manifest, "{part} = {{ package = \"{full_name}\", path = \"{part}\" }}");
        let _ = writeln!(text, "use {part}::*;");
    }
    let source = folder.join("src");
    fs::create_dir_all(&source).expect("the target folder can be written");
    fs::write(source.join("main.rs"), text + "\n" + main).expect("the target folder can be written");
    let _ = write!(
        manifest,
        "equelle-random = {{ path = \"{}/equelle-random\", default-features = false }}\n\n{}\n[workspace]\n",
        root.display(),
        profile.manifest()
    );
    fs::write(folder.join("Cargo.toml"), manifest).expect("the target folder can be written");
    fs::copy(repository().join("Cargo.lock"), folder.join("Cargo.lock")).expect("the workspace has a lock file");
}

/// Builds the package of a folder; where its binary is.
fn build(name: &str, folder: &Path, target: &Path, profile: Profile) -> PathBuf {
    let (flags, built_in) = profile.cargo();
    let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.args(["build", "--offline", "--quiet", "--manifest-path"]).arg(folder.join("Cargo.toml")).args(flags);
    let built = cargo.arg("--target-dir").arg(target).current_dir(folder).output().expect("cargo starts");
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    target.join(built_in).join(name)
}

/// The library of a package as a module: its root is another, and so is its distance from the
/// source.
fn write_module(module: &Module<'_>, backends: &[&dyn Backend], folder: &Path, root: &Path) {
    let options = PackageOptions { backends, runtime_crates: root };
    let package = generate(module.verified, &options).unwrap_or_else(|error| panic!("{}: {error}", module.name));
    fs::create_dir_all(folder).expect("the target folder can be written");
    for (path, text) in &package.files {
        if path.ends_with(".equelle") || path.starts_with("imports/") {
            let file = folder.join(path);
            file.parent().map(fs::create_dir_all).transpose().expect("the target folder can be written");
            fs::write(file, text).expect("the target folder can be written");
        }
        let Some(file) = path.strip_prefix("src/").filter(|file| *file != "main.rs") else { continue };
        let text = text.replace("crate::", &format!("crate::{}::", module.name)).replace("include_str!(\"../", "include_str!(\"");
        let file = if file == "lib.rs" { "mod.rs" } else { file };
        fs::write(folder.join(file), text).expect("the target folder can be written");
    }
}
