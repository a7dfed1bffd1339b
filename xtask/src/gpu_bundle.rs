//! Programs and data to run on a machine with an NVIDIA GPU that need nothing of this repository
//! there.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use equelle_random::binary::{self, Profile, TestProgram};
use equelle_random::data::Fixtures;
use equelle_random::project::subjects;

use crate::tools::{self, Failure, cargo, examples, read, root};

/// Targets of backend-cuda that go into the bundle: what cargo calls them, the name of the
/// executable, and the folder.
const GPU_TARGETS: [(&str, &str, &str); 6] = [
    ("--lib", "backend_cuda", "tests"),
    ("--test=device", "device", "tests"),
    ("--bench=krylov", "krylov", "benches"),
    ("--bench=multigrid", "multigrid", "benches"),
    ("--bench=direct", "direct", "benches"),
    ("--bench=costs", "costs", "benches"),
];

/// Processor of the serial back-end, since times are compared with it: any processor beside a GPU
/// of the last ten years has these instructions.
const PROCESSOR: &str = if cfg!(target_arch = "x86_64") { "x86-64-v3" } else { "generic" };

/// The executable of random programs, and how many it holds.
const RANDOM: &str = "random_programs";
const RANDOM_PROGRAMS: u64 = 200;
/// That of the programs of the project.
const PROJECT: &str = "project_programs";

/// Fills `.gpu/`: stripped programs with both back-ends, the data of the examples, hand-written
/// CUDA to compare with if it is available, and a script.
pub(crate) fn collect(only: &str) -> Result<(), Failure> {
    let bundle = root().join(".gpu");
    let program = |source: &Path, flags: &[&str], way: Way, bundle: &Path| {
        let wanted = source.file_stem().is_some_and(|stem| is_wanted(&stem.to_string_lossy(), only));
        if wanted { program(source, flags, way, bundle) } else { Ok(()) }
    };
    let made = if bundle.exists() { fs::remove_dir_all(&bundle) } else { Ok(()) };
    made.map_err(|error| format!("cannot empty `{}`: {error}", bundle.display()))?;
    for example in examples()? {
        let folder = root().join("examples").join(&example.name);
        let source = root().join(example.program());
        program(&source, &[], Way::Kernels, &bundle)?;
        program(&source, &[], Way::Operations, &bundle)?;
        if example.implicit {
            program(&source, &[], Way::SparseProducts, &bundle)?;
        } else {
            program(&source, &[], Way::Single, &bundle)?;
        }
        copy(&folder, &bundle.join("examples").join(&example.name), |file| file.ends_with(".txt") || file.ends_with(".param"))?;
        if example.implicit {
            tools::write(&bundle.join("examples").join(&example.name).join("implicit"), "")?;
        }
    }
    let others = [
        root().join("benches/heat.equelle"),
        root().join("tests/run/edges_and_vertices.equelle"),
        silent("shallow_water", "Output(\"water\", SumReduce(q[0]))")?,
        silent("heat_implicit_3d", "Output(\"heat\", SumReduce(u0))")?,
    ];
    for source in others {
        program(&source, &[], Way::Kernels, &bundle)?;
        program(&source, &[], Way::Operations, &bundle)?;
        program(&source, &[], Way::Single, &bundle)?;
    }
    copy(&root().join("tests/run/edges_and_vertices"), &bundle.join("examples/edges_and_vertices"), |_| true)?;
    // The same with free rounding, under another name.
    let fast = root().join("target/gpu-bundle/shallow_water_fast.equelle");
    tools::write(&fast, &read(&silent("shallow_water", "Output(\"water\", SumReduce(q[0]))")?)?)?;
    program(&fast, &["--fp", "fast"], Way::Kernels, &bundle)?;
    program(&fast, &["--fp", "fast"], Way::Operations, &bundle)?;
    // Programs of `xtask converge` and `xtask crossover`.
    program(&root().join("tests/implicit/heat_contrast.equelle"), &["--nondimensional"], Way::Kernels, &bundle)?;
    program(&root().join("tests/implicit/pressure_neumann.equelle"), &[], Way::Kernels, &bundle)?;
    program(&silent("two_phase", "Output(\"water\", SumReduce(s0))")?, &[], Way::Kernels, &bundle)?;
    copy(&root().join("grids"), &bundle.join("grids"), |file| file.ends_with(".grid"))?;
    tests(&bundle)?;
    tools_of_bundle(&bundle)?;
    if is_wanted(RANDOM, only) {
        random_programs(&bundle)?;
    }
    if is_wanted(PROJECT, only) {
        project_programs(&bundle)?;
    }
    let yardsticks = root().join("../shared/yardsticks");
    if yardsticks.is_dir() {
        copy(&yardsticks, &bundle.join("yardsticks"), |file| file.ends_with(".cu"))?;
    }
    tools::write(&bundle.join("run.sh"), &read(&root().join("xtask/src/gpu_bundle.sh"))?)?;
    eprintln!("xtask: copy `{}` to a machine with a GPU and start `bash run.sh` there", bundle.display());
    Ok(())
}

/// True if a name contains one of these parts, which commas separate.
fn is_wanted(name: &str, only: &str) -> bool {
    only.split(',').any(|part| name.contains(part))
}

/// An example without outputs, for measurements, but for one line at its end.
fn silent(example: &str, last: &str) -> Result<PathBuf, Failure> {
    let text = read(&root().join(format!("examples/{example}/{example}.equelle")))?;
    let silent: Vec<&str> = text.lines().filter(|line| !line.trim_start().starts_with("Output(")).collect();
    let path = root().join(format!("target/gpu-bundle/{example}_silent.equelle"));
    tools::write(&path, &format!("{}\n{last}\n", silent.join("\n")))?;
    Ok(path)
}

/// How a program is compiled, which the name of its executable ends with.
#[derive(Clone, Copy)]
enum Way {
    /// As kernels.
    Kernels,
    /// At operation level.
    Operations,
    /// As kernels, but for residuals, which carry sparse matrices.
    SparseProducts,
    /// As kernels, with collections of single precision.
    Single,
}

impl Way {
    fn suffix(self) -> &'static str {
        match self {
            Way::Kernels => "",
            Way::Operations => "_O0",
            Way::SparseProducts => "_spgemm",
            Way::Single => "_f32",
        }
    }

    fn flags(self) -> &'static [&'static str] {
        match self {
            Way::Kernels => &[],
            Way::Operations => &["-O0"],
            Way::SparseProducts => &["--ad=spgemm"],
            Way::Single => &["--precision", "f32"],
        }
    }
}

/// Builds a program with both back-ends into the bundle.
fn program(source: &Path, flags: &[&str], way: Way, bundle: &Path) -> Result<(), Failure> {
    let stem = source.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default() + way.suffix();
    let package = root().join("target/gpu-bundle").join(&stem);
    let mut equellec = tools::equellec("release")?;
    equellec
        .arg("build")
        .arg(source)
        .args(flags)
        .args(way.flags())
        .args(["--backend", "serial,cuda", "--target-cpu", PROCESSOR, "--force", "-o"])
        .arg(&package);
    // It runs on another machine. A cache of its own: what is built here is stripped.
    equellec.env("EQUELLE_CACHE_DIR", root().join("target/gpu-cache")).env("CARGO_PROFILE_RELEASE_STRIP", "symbols");
    let output = equellec.output().map_err(|error| format!("equellec cannot be run: {error}"))?;
    eprint!("{}", String::from_utf8_lossy(&output.stderr));
    if !output.status.success() {
        return Err(format!("equellec cannot build `{}`", source.display()));
    }
    let built = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    let target = bundle.join("bin").join(&stem);
    let copied = fs::create_dir_all(bundle.join("bin")).and_then(|()| fs::copy(&built, &target));
    copied.map(drop).map_err(|error| format!("cannot write `{}`: {error}", target.display()))
}

/// The tests and benchmarks of the CUDA runtime that run on a GPU where there is one.
fn tests(bundle: &Path) -> Result<(), Failure> {
    let mut build = cargo();
    build.args(["test", "--package", "backend-cuda", "--features", "codegen,runtime", "--no-run"]);
    build.args(GPU_TARGETS.map(|(target, ..)| target));
    executables(&mut build, &GPU_TARGETS.map(|(_, name, folder)| (name, folder)), bundle)
}

/// These commands, and the generators of grids that they start.
fn tools_of_bundle(bundle: &Path) -> Result<(), Failure> {
    let mut build = cargo();
    // With the features that the tests ask for, so that nothing is compiled twice.
    build.args(["build", "--package", "xtask", "--package", "backend-cuda", "--features", "backend-cuda/codegen,backend-cuda/runtime"]);
    build.args(["--package", "equelle-runtime", "--bin", "xtask", "--example", "triangles", "--example", "polyhedra"]);
    executables(&mut build, &["xtask", "triangles", "polyhedra"].map(|name| (name, "tools")), bundle)
}

/// Builds stripped executables, and copies these (name, folder) into the bundle.
fn executables(build: &mut Command, wanted: &[(&str, &str)], bundle: &Path) -> Result<(), Failure> {
    build.args(["--release", "--message-format", "json"]);
    build.env("CARGO_PROFILE_RELEASE_STRIP", "symbols").arg("--target-dir").arg(root().join("target/gpu-tests"));
    let output = build.output().map_err(|error| format!("cargo cannot be run: {error}"))?;
    if !output.status.success() {
        return Err(format!("what goes along cannot be built\n{}", String::from_utf8_lossy(&output.stderr)));
    }
    let messages = String::from_utf8_lossy(&output.stdout).into_owned();
    for (name, folder) in wanted {
        // One JSON object a line; that of an executable names its file, which for tests ends with a
        // hash.
        let is_wanted = |path: &&str| {
            let stem = Path::new(path).file_stem().unwrap_or_default().to_string_lossy();
            stem.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
        };
        let built = messages.lines().filter_map(|line| line.split("\"executable\":\"").nth(1)?.split('"').next()).find(is_wanted);
        let built = built.ok_or_else(|| format!("cargo built no `{name}`"))?;
        let target = bundle.join(folder).join(name);
        let copied = fs::create_dir_all(bundle.join(folder)).and_then(|()| fs::copy(built, &target));
        copied.map_err(|error| format!("cannot write `{}`: {error}", target.display()))?;
    }
    Ok(())
}

/// Random programs, all in one executable that compares both back-ends.
fn random_programs(bundle: &Path) -> Result<(), Failure> {
    let data = root().join("target/gpu-bundle/random-data");
    let fixtures =
        Fixtures::write(&data, &root().join("grids/triangles-6x5.grid")).map_err(|error| format!("`{}`: {error}", data.display()))?;
    differential(RANDOM, TestProgram::random(1..=RANDOM_PROGRAMS, &fixtures), bundle)
}

/// Every program of the project, examples and those of the tests, likewise, and the data that they
/// run on.
fn project_programs(bundle: &Path) -> Result<(), Failure> {
    let here = |path: &Path| path.canonicalize().map_err(|error| format!("`{}`: {error}", path.display()));
    let (repository, bundle) = (here(&root())?, here(bundle)?);
    let subjects = subjects(&bundle.join("project/data"));
    let at = |folder: &Path| format!("{}/", folder.display());
    let moved = |word: &str| word.replace(&at(&bundle), "").replace(&at(&repository), "project/");
    // Files beside a parameter file are named in it, and grids of the repository.
    copy(&repository.join("grids"), &bundle.join("project/grids"), |file| file.ends_with(".grid") || file.ends_with(".grdecl"))?;
    let words = subjects.iter().flat_map(|subject| &subject.cases).flat_map(|case| case.words(&[]));
    for folder in words.filter(|word| word.ends_with(".param")).filter_map(|file| Path::new(&file).parent().map(Path::to_owned)) {
        let to = bundle.join(moved(&folder.display().to_string()));
        copy(&folder, &to, |file| file.ends_with(".txt") || file.ends_with(".param"))?;
    }
    differential(PROJECT, subjects.iter().map(|subject| TestProgram::from_subject(subject, moved)), &bundle)
}

/// Programs in one executable that compares both back-ends.
fn differential(name: &str, programs: impl Iterator<Item = TestProgram>, bundle: &Path) -> Result<(), Failure> {
    let folder = root().join("target/gpu-bundle").join(name);
    let built = binary::differential(name, programs, &folder, &root().join("target/gpu-random"), Profile::Small);
    let target = bundle.join("bin").join(name);
    let copied = fs::create_dir_all(bundle.join("bin")).and_then(|()| fs::copy(built, &target));
    copied.map(drop).map_err(|error| format!("cannot write `{}`: {error}", target.display()))
}

/// Copies the files of a folder whose names are wanted.
fn copy(from: &Path, to: &Path, wanted: impl Fn(&str) -> bool) -> Result<(), Failure> {
    let listed = fs::create_dir_all(to).and_then(|()| fs::read_dir(from)?.collect::<Result<Vec<_>, _>>());
    for entry in listed.map_err(|error| format!("cannot copy `{}`: {error}", from.display()))? {
        let name = entry.file_name();
        if entry.path().is_file() && wanted(&name.to_string_lossy()) {
            fs::copy(entry.path(), to.join(&name)).map_err(|error| format!("cannot copy `{}`: {error}", entry.path().display()))?;
        }
    }
    Ok(())
}
