//! CUDA without a GPU: NVRTC compiles all kernels, and generated programs run on the host, compared
//! with the serial back-end.
//!
//! The tests of the CUDA runtime are among those of the workspace; here only those run that need
//! NVRTC, or more time. Needs pip (NVRTC comes as a Python wheel), a C++ compiler, and fails when
//! one is missing.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::mpsc;
use std::{env, fs, thread};

use equelle_random::project;

use crate::compile_kernels::SINGLES;
use crate::differential;
use crate::tools::{self, Failure, cargo, examples, root};

/// The NVRTC that is used: that of the CUDA version which the runtime is built for.
const WHEEL: &str = "nvidia-cuda-nvrtc==13.0.*";

// The programs here test packages of the compiler. All programs of the project are also compared in
// one executable, at both levels and with both ways of differentiation.

/// Examples whose packages in double precision are never built: other packages have what theirs
/// have, and they are among the programs in one executable. Their kernels are compiled.
const NOT_BUILT: [&str; 4] = ["heat_explicit_2d", "two_phase_conservation", "two_phase_gravity", "two_phase_wells_implicit"];

/// Cases whose packages are built for every change, by [`Case::name`]: by grid file, both
/// precisions. Programs in one executable have several unknowns and both ways of differentiation.
/// All are implicit, so that the runtime is compiled with one set of features.
const OF_EVERY_CHANGE: [&str; 2] = ["heat_implicit_2d__nondimensional__precisionf32", "heat_implicit_triangles"];

/// Packages that are built and run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Packages {
    /// Those of [`OF_EVERY_CHANGE`].
    Some,
    /// All but [`NOT_BUILT`].
    All,
}

/// A program besides the examples, with the parameter file that it runs with.
const MORE: (&str, &str) = ("tests/run/edges_and_vertices.equelle", "tests/run/edges_and_vertices/case.param");

/// An example that is also compiled with derivatives by sparse matrices, and what the compiler is
/// told for that.
const MATRICES: (&str, &[&str]) = ("gas_1d", &["--ad=spgemm"]);

/// Examples that are also compiled in single precision, with what they need to run so: a tolerance
/// of Newton's method that singles can reach.
const SINGLE: [(&str, &[&str]); 4] =
    [("heat_explicit_3d", &[]), ("shallow_water", &[]), ("heat_implicit_2d", &["abs_res_tol=1e-3"]), ("two_phase_gravity", &[])];

/// An example compiled to single precision and free rounding together, and what the compiler is
/// told.
const FAST: (&str, &[&str]) = ("heat_explicit_3d", &["--precision", "f32", "--fp", "fast"]);

/// How far free rounding may be off there: CUDA on the host rounds as written, the serial back-end
/// leaves roundings out, of which an operation has at most 1.5 more or fewer, of 2^-24 each. Steps
/// take means, so that roundings add up at most: 150 steps of at most 20 operations a cell.
const FREE_ROUNDING: f64 = 1.5 * 150.0 * 20.0 * (0.5 * f32::EPSILON as f64);

/// A program and what it runs with.
struct Case {
    program: String,
    /// Its parameter file.
    case: String,
    /// Flags for the compiler.
    flags: &'static [&'static str],
    /// Words of each run, beside the parameter file.
    words: &'static [&'static str],
    implicit: bool,
}

impl Case {
    /// A name that no other case has: of the program, and of how it is compiled.
    fn name(&self) -> String {
        let flags = self.flags.concat().replace(|c: char| !c.is_ascii_alphanumeric(), "_");
        stem(&self.program) + &flags
    }

    /// True if its package is built and run.
    fn is_built(&self, packages: Packages) -> bool {
        match packages {
            Packages::Some => OF_EVERY_CHANGE.contains(&self.name().as_str()),
            Packages::All => self.is_single() || !NOT_BUILT.contains(&stem(&self.program).as_str()),
        }
    }

    /// True if its collections are of single precision.
    fn is_single(&self) -> bool {
        self.flags.contains(&"f32")
    }

    /// Differences of both back-ends that are allowed, relative to the largest value.
    fn tolerance(&self) -> f64 {
        if self.flags.contains(&"fast") { FREE_ROUNDING } else { ROUND_OFF }
    }
}

/// Differences relative to the largest value: the two may order the roundings of geometry
/// differently on spacings that are not powers of two.
const ROUND_OFF: f64 = 1e-12;

/// The same where linear systems are solved to 1e-10 by different iterations: Newton's method
/// multiplies what they leave by the condition of the Jacobian, 1e3 to 1e4 in these examples.
const SOLVER: f64 = 1e-6;

/// Random programs that run on the host: so many first ones, and the first with each of
/// [`CONSTRUCTS`]. More of them run on a GPU: they are part of the bundle.
const FIRST_SEEDS: u64 = 3;
const CONSTRUCTS: [&str; 5] = ["FaceSum(", "FaceMax(", "InnerCell(", "NewtonSolveSystem(", "InputDomainSubsetOf(\"no_"];

/// Does all of it, with these packages.
pub(crate) fn run(packages: Packages) -> Result<(), Failure> {
    compiler()?;
    let libraries = install_nvrtc()?;
    let mut programs = Vec::new();
    for example in examples()? {
        let case = |flags, words| Case { program: example.program(), case: example.case(), flags, words, implicit: example.implicit };
        programs.push(case(&[], &[]));
        programs.extend((example.name == MATRICES.0).then(|| case(MATRICES.1, &[])));
        let single = SINGLE.into_iter().filter(|(name, _)| *name == example.name);
        programs.extend(single.map(|(_, words)| case(&["--nondimensional", "--precision", "f32"], words)));
        programs.extend((example.name == FAST.0).then(|| case(FAST.1, &[])));
    }
    programs.push(Case { program: MORE.0.into(), case: MORE.1.into(), flags: &[], words: &[], implicit: false });

    let kernels = all_kernels(&programs)?;
    // In a process of its own: the loader reads its path when a process starts.
    let this = env::current_exe().map_err(|error| format!("this program is not found: {error}"))?;
    let path = library_path(&libraries);
    let compile = |folder: &Path, targets: &str| {
        tools::run(Command::new(&this).arg("compile-kernels").arg(folder).args(["--targets", targets]).env("LD_LIBRARY_PATH", &path))
    };
    compile(&kernels, if packages == Packages::All { "all" } else { "in-turn" })?;
    // Tests of the whole workspace, so that what its other tests have built serves here.
    let tests = |target: &str| {
        let mut tests = cargo();
        tests.args(["test", "--workspace", "--test", target]).env("LD_LIBRARY_PATH", &path).env("EQUELLE_NVRTC", "required");
        tests
    };
    tools::run(&mut tests("nvrtc"))?;
    if packages == Packages::All {
        // Programs that have no source: every construct of kernels.
        tools::run(tests("numbers").args(["package::", "--", "--ignored"]))?;
    }

    // While one runs, for which a C++ compiler takes most of the time, the next is built; both use
    // one core.
    let (sender, built) = mpsc::sync_channel(2);
    let programs: Vec<&Case> = programs.iter().filter(|case| case.is_built(packages)).collect();
    let number = programs.len();
    if packages == Packages::Some && number != OF_EVERY_CHANGE.len() {
        return Err(format!("{number} cases have one of the {} names that every change builds", OF_EVERY_CHANGE.len()));
    }
    thread::scope(|scope| {
        scope.spawn(move || {
            for program in programs {
                let result = build(program);
                // The other end is gone after an error, which it reports.
                if sender.send((program, result)).is_err() {
                    break;
                }
            }
        });
        for (program, built) in built {
            compare_layouts(&built?, program)?;
        }
        Ok::<(), Failure>(())
    })?;
    differential::run(differential::first_seeds(FIRST_SEEDS, &CONSTRUCTS)?.into_iter(), true, Some("host"))?;
    // Kernels that have run on the host there, of programs of all tests and random ones, are
    // compiled for GPUs too.
    compile(&differential::folder(), "in-turn")?;
    compare_verb("host", &[0])?;
    // Without a usable GPU the simulator says so.
    compare_verb("gpu", &[0, 6])?;
    eprintln!("xtask: {number} packages give the same numbers on the host's CUDA as on the serial back-end");
    Ok(())
}

/// Layouts of grids on which a program runs: neighbours by index are those of Cartesian grids.
fn layouts(program: &Case) -> &'static [&'static str] {
    if project::reads_by_index(&program.program) { &["auto"] } else { &["auto", "unstructured"] }
}

/// Runs a program on both back-ends, with its grid as it is and as an unstructured one.
fn compare_layouts(built: &Path, program: &Case) -> Result<(), Failure> {
    for &layout in layouts(program) {
        // Linear systems of this size are solved directly, on the host; the Krylov methods of the
        // device are asked for.
        end_to_end(built, program, layout, &[], program.tolerance())?;
        if layout == "unstructured" {
            end_to_end(built, program, layout, &["renumber=yes"], program.tolerance())?;
        }
        if program.implicit {
            end_to_end(built, program, layout, &["solver=bicgstab", "solver_tol=1e-10"], SOLVER)?;
        }
    }
    polite_refusal(built, &program.case)
}

/// Makes sure that there is a C++ compiler.
fn compiler() -> Result<(), Failure> {
    let name = env::var_os("CXX").unwrap_or_else(|| "c++".into());
    match Command::new(&name).arg("--version").output() {
        Ok(output) if output.status.success() => Ok(()),
        _ => Err(format!("no C++ compiler: `{}` cannot be run", name.to_string_lossy())),
    }
}

/// Installs NVRTC below target/ unless it is there; returns the folder of its libraries.
fn install_nvrtc() -> Result<PathBuf, Failure> {
    let folder = root().join("target/nvrtc");
    let find = || library_folder(&folder);
    if let Some(found) = find() {
        return Ok(found);
    }
    let mut pip = Command::new("python3");
    pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--upgrade", "--target"]).arg(&folder).arg(WHEEL);
    tools::run(&mut pip)?;
    find().ok_or_else(|| format!("{WHEEL} holds no libnvrtc"))
}

/// The folder below another one that holds libnvrtc.
fn library_folder(folder: &Path) -> Option<PathBuf> {
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            let name = entry.file_name();
            if name.to_string_lossy().starts_with("libnvrtc.so") {
                return Some(folder);
            }
            if entry.path().is_dir() {
                folders.push(entry.path());
            }
        }
    }
    None
}

fn library_path(folder: &Path) -> std::ffi::OsString {
    let mut path = folder.as_os_str().to_owned();
    if let Some(others) = env::var_os("LD_LIBRARY_PATH").filter(|others| !others.is_empty()) {
        path.push(":");
        path.push(others);
    }
    path
}

/// A folder with the kernels of all programs: generated (`generated/*.cu`, and [`SINGLES`], which
/// need the runtime's prelude) and written by hand (`by-hand/*.cu`).
fn all_kernels(programs: &[Case]) -> Result<PathBuf, Failure> {
    let folder = root().join("target/cuda-host/kernels");
    let made = if folder.exists() { fs::remove_dir_all(&folder) } else { Ok(()) };
    made.map_err(|error| format!("cannot empty `{}`: {error}", folder.display()))?;
    for case in programs {
        let Case { program, flags, .. } = case;
        let output = tools::equellec("dev")?.args(["emit", "cuda", program]).args(*flags).output().map_err(|error| error.to_string())?;
        if !output.status.success() {
            return Err(format!("{program}: {}", String::from_utf8_lossy(&output.stderr)));
        }
        let place = folder.join(if case.is_single() { SINGLES } else { "generated" });
        tools::write(&place.join(format!("{}.cu", case.name())), &String::from_utf8_lossy(&output.stdout))?;
    }
    // Kernels of IR programs without a source.
    let goldens = root().join("tests/golden/cuda");
    for entry in fs::read_dir(&goldens).map_err(|error| format!("cannot list `{}`: {error}", goldens.display()))?.flatten() {
        let name = format!("golden_{}.cu", entry.file_name().to_string_lossy());
        tools::write(&folder.join("generated").join(name), &tools::read(&entry.path().join("kernels.cu"))?)?;
    }
    let by_hand = root().join("tests/ir/kernels");
    for entry in fs::read_dir(&by_hand).map_err(|error| format!("cannot list `{}`: {error}", by_hand.display()))?.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.ends_with(".cu") {
            tools::write(&folder.join("by-hand").join(name), &tools::read(&entry.path())?)?;
        }
    }
    Ok(folder)
}

/// Builds a program with both back-ends.
fn build(case: &Case) -> Result<PathBuf, Failure> {
    let Case { program, flags, .. } = case;
    let package = root().join("target/cuda-host").join(case.name());
    let mut build = tools::equellec("dev")?;
    build.args(["build", program, "--backend", "serial,cuda", "--force", "-o"]).arg(&package).args(*flags);
    let output = build.output().map_err(|error| format!("equellec cannot be run: {error}"))?;
    if !output.status.success() {
        return Err(format!("{program}: {}", String::from_utf8_lossy(&output.stderr)));
    }
    Ok(root().join(String::from_utf8_lossy(&output.stdout).trim()))
}

/// On a machine without a usable GPU the program says so, without a panic, and ends with code 6.
fn polite_refusal(built: &Path, case: &str) -> Result<(), Failure> {
    let folder = root().join("target/cuda-host/output/refusal");
    let mut command = Command::new(built);
    command.current_dir(root()).args(["--quiet", "--backend", "cuda"]).arg(root().join(case)).env_remove("EQUELLE_CUDA_DEVICE");
    let output = command.arg(format!("output_dir={}", folder.display())).output();
    let output = output.map_err(|error| format!("`{}` cannot be run: {error}", built.display()))?;
    let message = String::from_utf8_lossy(&output.stderr);
    match output.status.code() {
        Some(0) => Ok(()),
        Some(6) if message.starts_with("error: ") && !message.contains("panicked") => Ok(()),
        code => Err(format!("`{}` without a GPU ends with {code:?}: {message}", built.display())),
    }
}

/// `equellec compare` of both back-ends, with free rounding: CUDA on the host rounds as written, so
/// that what differs is the rounding of the serial back-end.
fn compare_verb(device: &str, codes: &[i32]) -> Result<(), Failure> {
    let mut compare = tools::equellec("dev")?;
    compare.args(["compare", "--backend", "serial,cuda", "--fp", "fast", "examples/heat_implicit_2d/heat_implicit_2d.equelle"]);
    let output = compare.arg("examples/heat_implicit_2d/case.param").env("EQUELLE_CUDA_DEVICE", device).output();
    let output = output.map_err(|error| format!("equellec cannot be run: {error}"))?;
    if output.status.code().is_some_and(|code| codes.contains(&code)) {
        return Ok(());
    }
    Err(format!(
        "equellec compare on the device `{device}` ends with {:?}: {}",
        output.status.code(),
        String::from_utf8_lossy(&output.stderr)
    ))
}

/// Runs a program on the serial back-end and on CUDA kernels compiled for the host; outputs must
/// agree to `tolerance` of the largest value.
fn end_to_end(built: &Path, program: &Case, layout: &str, more: &[&str], tolerance: f64) -> Result<(), Failure> {
    let case = &program.case;
    let name = built.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
    let mut texts = Vec::new();
    let mut folders = Vec::new();
    for backend in ["serial", "cuda"] {
        let folder = root().join("target/cuda-host/output").join(format!("{name}-{backend}"));
        let _ = fs::remove_dir_all(&folder);
        let mut command = Command::new(built);
        command.current_dir(root()).args(["--quiet", "--backend", backend]).arg(root().join(case)).arg(format!("grid_layout={layout}"));
        command
            .args(program.words)
            .args(more)
            .args(["output_to_file=true", &format!("output_dir={}", folder.display())])
            .env("EQUELLE_CUDA_DEVICE", "host");
        let output = command.output().map_err(|error| format!("`{}` cannot be run: {error}", built.display()))?;
        if !output.status.success() {
            return Err(format!("{name} on {backend}, {layout}: {}", String::from_utf8_lossy(&output.stderr)));
        }
        texts.push(String::from_utf8_lossy(&output.stdout).into_owned());
        folders.push(folder);
    }
    let what = [&[name.as_str(), layout], more].concat().join(", ");
    compare_scalars(&texts[1], &texts[0], &what, tolerance)?;
    let same = compare_fields(&folders[1], &folders[0], &what, tolerance)? && texts[0] == texts[1];
    let how = if same { ", bit for bit".to_owned() } else { format!(" to {tolerance:e}") };
    eprintln!("xtask: {what}: CUDA on the host agrees with serial{how}");
    Ok(())
}

fn compare_scalars(found: &str, expected: &str, what: &str, tolerance: f64) -> Result<(), Failure> {
    let values = |text: &str| -> Vec<f64> { text.lines().filter_map(|line| line.rsplit_once(" = ")?.1.parse().ok()).collect() };
    close(&values(found), &values(expected), what, tolerance)
}

/// Compares the files of two folders; tells whether they are the same to the bit.
fn compare_fields(found: &Path, expected: &Path, what: &str, tolerance: f64) -> Result<bool, Failure> {
    let names = |folder: &Path| -> Vec<_> {
        let mut names: Vec<_> = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.file_name()).collect();
        // Beside them is the record of the run.
        names.retain(|name| name.to_string_lossy().ends_with(".output"));
        names.sort();
        names
    };
    if names(found) != names(expected) || names(expected).is_empty() {
        return Err(format!("{what}: different output files"));
    }
    let mut same = true;
    for name in names(expected) {
        let (a, b) = (tools::read(&found.join(&name))?, tools::read(&expected.join(&name))?);
        same &= a == b;
        let values = |text: &str| -> Vec<f64> { text.split_whitespace().map(|word| word.parse().unwrap_or(f64::NAN)).collect() };
        close(&values(&a), &values(&b), &format!("{what}, {}", name.to_string_lossy()), tolerance)?;
    }
    Ok(same)
}

/// max|a - b| <= tolerance max|b|
fn close(found: &[f64], expected: &[f64], what: &str, tolerance: f64) -> Result<(), Failure> {
    let scale = expected.iter().fold(0.0_f64, |scale, value| scale.max(value.abs()));
    if found.len() != expected.len() {
        return Err(format!("{what}: {} values instead of {}", found.len(), expected.len()));
    }
    let far = |(a, b): &(&f64, &f64)| {
        let difference = (*a - *b).abs();
        difference.is_nan() || difference > tolerance * scale
    };
    match found.iter().zip(expected).find(far) {
        None => Ok(()),
        Some((a, b)) => Err(format!("{what}: {a} instead of {b}")),
    }
}

fn stem(program: &str) -> String {
    Path::new(program).file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned())
}
