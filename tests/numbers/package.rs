//! Generated packages: their text compiles without a warning, and what they compute is what the
//! interpreter computes, bit for bit.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;
use std::{env, fs};

use backend_serial::runtime::SerialRuntime;
use equelle::package::{Package, PackageOptions, generate};
use equelle_front::backend::Backend;
use equelle_front::ir::{KERNEL_PREFIXES, text};
use equelle_front::passes::{self, OptLevel};
use equelle_front::verify::{Verified, verify};
use equelle_interp::{Options, interpret_with};
use equelle_runtime::output::Record;
use equelle_runtime::session::{self, Session};
use equelle_runtime::simulator::Program;

fn repository(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// A verified module of a file.
fn module(path: &str) -> Verified {
    let text = fs::read_to_string(repository(path)).unwrap_or_else(|e| panic!("{path}: {e}"));
    let module = text::parse(&text).unwrap_or_else(|e| panic!("{path}: {e}"));
    verify(module).unwrap_or_else(|errors| panic!("{path}: {errors:?}"))
}

fn package(module: &Verified) -> Package {
    package_for(module, &[&backend_serial::codegen::Serial])
}

fn package_for(module: &Verified, backends: &[&dyn Backend]) -> Package {
    generate(module, &PackageOptions { backends, runtime_crates: &repository("") }).unwrap_or_else(|e| panic!("{e}"))
}

/// A folder of this test run below the target folder.
fn scratch(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("packages").join(name);
    fs::create_dir_all(&folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    folder
}

/// Builds a package, with warnings as errors, and gives its program.
fn build(package: &Package) -> PathBuf {
    let folder = scratch(&package.name);
    for (path, text) in &package.files {
        let path = folder.join(path);
        fs::create_dir_all(path.parent().expect("a file is in a folder")).expect("the target folder can be written");
        fs::write(path, text).expect("the target folder can be written");
    }
    // The workspace's lock file, so that no registry is asked for newer versions.
    fs::copy(repository("Cargo.lock"), folder.join("Cargo.lock")).expect("the workspace has a lock file");
    let target = scratch("target");
    let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.args(["build", "--offline", "--quiet", "--manifest-path"]).arg(folder.join("Cargo.toml")).arg("--target-dir").arg(&target);
    let built = cargo.env("RUSTFLAGS", "-Dwarnings").current_dir(&folder).output().expect("cargo starts");
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    target.join("debug").join(&package.name)
}

/// One run's parameters, as on the command line.
#[derive(Clone)]
struct Case {
    folder: PathBuf,
    words: Vec<String>,
}

impl Case {
    fn new(name: &str, grid: &str) -> Self {
        Case { folder: scratch(name), words: grid.split(' ').map(str::to_owned).collect() }
    }

    fn word(mut self, word: &str) -> Self {
        self.words.push(word.to_owned());
        self
    }

    fn file(mut self, name: &str, text: &str) -> Self {
        let path = self.folder.join(format!("{name}.txt"));
        fs::write(&path, text).expect("the target folder can be written");
        self.words.push(format!("{name}_filename={}", path.display()));
        self
    }

    fn values(self, name: &str, values: impl IntoIterator<Item = f64>) -> Self {
        let text: Vec<String> = values.into_iter().map(|v| format!("{v:?}")).collect();
        self.file(name, &text.join("\n")).word(&format!("{name}_from_file=true"))
    }

    /// Outputs of the interpreter.
    fn interpreted(&self, module: &Verified, cartesian_forms: bool) -> Result<Vec<Record>, equelle_runtime::Error> {
        let mut session = Session::open_with(Program::named("test"), &self.words, session::Options::silent())?;
        let records = session.record_outputs();
        interpret_with(module, &mut SerialRuntime::new(session), Options { cartesian_forms, ..Options::default() })?;
        Ok(records.take())
    }

    fn run(&self, program: &Path, output: &Path) -> Output {
        fs::create_dir_all(output).expect("the target folder can be written");
        let mut command = Command::new(program);
        command
            .env("EQUELLE_CUDA_DEVICE", "host")
            .args(&self.words)
            .args(["output_to_file=true", "-q"])
            .arg(format!("output_dir={}", output.display()));
        command.output().expect("the program starts")
    }

    /// Runs the program and compares every output with the interpreter's. An unstructured grid is
    /// also renumbered, which must not change a bit of either.
    fn compare(&self, module: &Verified, program: &Path, layout: &str) {
        let case = self.clone().word(&format!("grid_layout={layout}"));
        let records = case.interpreted(module, layout == "auto").unwrap_or_else(|e| panic!("{e}"));
        case.compare_with(&records, program, layout);
        if layout == "unstructured" {
            let case = case.word("renumber=yes");
            case.compare_with(&records, program, "renumbered");
            assert_eq!(case.interpreted(module, false).unwrap_or_else(|e| panic!("{e}")), records, "interpreted");
        }
    }

    /// Runs the program and compares every output with records.
    fn compare_with(&self, records: &[Record], program: &Path, layout: &str) {
        let output = self.folder.join(layout);
        let _ = fs::remove_dir_all(&output);
        let run = self.run(program, &output);
        assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
        let printed = String::from_utf8_lossy(&run.stdout).into_owned();
        let mut counts = std::collections::BTreeMap::new();
        for record in records {
            let (tag, expected) = match record {
                Record::Collection { tag, values } => (tag, values.clone()),
                Record::Vectors { tag, values } => (tag, values.concat()),
                Record::Bool { tag, value } => {
                    let line = format!("{tag} = {value}");
                    assert!(printed.lines().any(|l| l == line), "{layout}: `{line}` is not in {printed}");
                    continue;
                }
                Record::Text { tag, value } => {
                    let line = format!("{tag} = {value}");
                    assert!(printed.lines().any(|l| l == line), "{layout}: `{line}` is not in {printed}");
                    continue;
                }
                // Numbers go to standard output, rounded; the collections that depend on them are
                // compared.
                Record::Scalar { .. } | Record::Vector { .. } => continue,
            };
            let number = counts.entry(tag.clone()).and_modify(|n| *n += 1).or_insert(0);
            let found =
                fs::read_to_string(output.join(format!("{tag}-{number:05}.output"))).unwrap_or_else(|e| panic!("{tag} {number}: {e}"));
            let found: Vec<f64> = found.split_whitespace().map(|v| v.parse().expect("a number")).collect();
            assert!(expected.iter().all(|v| v.is_finite()), "{tag}: a comparison of NaN proves nothing");
            let bits = |v: &[f64]| -> Vec<u64> { v.iter().map(|x| x.to_bits()).collect() };
            assert_eq!(bits(&found), bits(&expected), "{layout} {tag}: {found:?} {expected:?}");
        }
        assert!(!counts.is_empty(), "there is something to compare");
    }
}

/// Numbers between -1 and 1 without a pattern.
fn scattered(n: usize, seed: f64) -> impl Iterator<Item = f64> {
    (0..n).map(move |i| ((i as f64 + 1.0) * 12.9898 + seed).sin())
}

#[test]
fn heat_gives_the_reference_numbers() {
    let module = module("tests/ir/kernels/heat_dirichlet.eqir");
    let program = build(&package(&module));
    let case = Case::new("heat", "grid_dim=2 nx=4 ny=3")
        .word("u_initial=500")
        .file("dirichlet_boundary", "0 4")
        .values("dirichlet_val", [1000.0, 0.0])
        .file("timesteps", "0.5 0.5");
    let output = case.folder.join("out");
    let run = case.run(&program, &output);
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    // Output of the original implementation; every operation on these numbers is exact to within
    // 1000 * 2^-53, of which there are fewer than ten.
    let expected = [710.0, 522.5, 477.5, 290.0, 522.5, 500.0, 500.0, 477.5, 500.0, 500.0, 500.0, 500.0];
    let found = fs::read_to_string(output.join("expU-00001.output")).expect("two steps were put out");
    let found: Vec<f64> = found.split_whitespace().map(|v| v.parse().expect("a number")).collect();
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(expected) {
        assert!((found - expected).abs() <= 10.0 * 1000.0 * f64::EPSILON / 2.0, "{found} {expected}");
    }
    // Other shapes against the interpreter: a row, a column, no inside at all, a block; widths that
    // are not powers of two.
    for (name, grid, faces) in [
        ("heat-line", "grid_dim=1 nx=7 dx=0.3", "0 7"),
        ("heat-column", "grid_dim=2 nx=1 ny=5 dx=0.3 dy=0.7", "0 3 10 15"),
        ("heat-thin", "grid_dim=3 nx=2 ny=4 nz=3 dx=0.1 dy=0.3 dz=0.7", "0 2 5 37"),
        ("heat-block", "grid_dim=3 nx=6 ny=4 nz=5 dx=0.1 dy=0.3 dz=0.7", "0 6 7 140"),
    ] {
        let case = Case::new(name, grid)
            .word("k=0.001")
            .file("dirichlet_boundary", faces)
            .word("dirichlet_val=3")
            .word("u_initial=1")
            .file("timesteps", "0.5 0.25");
        for layout in ["auto", "unstructured"] {
            case.compare(&module, &program, layout);
        }
    }
}

/// The program of every construct, built once.
fn every_construct() -> &'static (Verified, PathBuf) {
    static BUILT: OnceLock<(Verified, PathBuf)> = OnceLock::new();
    BUILT.get_or_init(|| {
        let module = module("tests/package/every_construct.eqir");
        let program = build(&package(&module));
        (module, program)
    })
}

fn every_construct_case(name: &str, grid: &str, inlet: &str, cells: usize, faces: usize) -> Case {
    Case::new(name, grid)
        .file("wells", "1 3 4")
        .file("inlet", inlet)
        .values("u", scattered(cells, 0.0))
        .values("q", scattered(faces, 1.0))
        .values("rate", [0.5, -0.25, 3.0])
        .file("steps", "0.5 0.125")
}

#[test]
fn every_construct_agrees_with_the_interpreter() {
    let (module, program) = every_construct();
    // In 2D 5x4 has 6*4 + 5*5 = 49 faces; 4 and 9 are x-faces on the high side (5 + 6j would be,
    // for nx = 5: 5, 11).
    let plane = every_construct_case("every-2d", "grid_dim=2 nx=5 ny=4 dx=0.5 dy=0.25", "5 11", 20, 49);
    // In 3D 4x3x5: 5*3*5 + 4*4*5 + 4*3*6 = 227 faces.
    let block = every_construct_case("every-3d", "grid_dim=3 nx=4 ny=3 nz=5 dx=0.5 dy=0.3 dz=0.7", "4 9", 60, 227);
    for case in [plane, block] {
        for layout in ["auto", "unstructured"] {
            case.compare(module, program, layout);
        }
    }
}

fn every_type_case(name: &str, grid: &str, cells: usize) -> Case {
    Case::new(name, grid).file("wells", "1 3 4").file("nowhere", "").values("u", scattered(cells, 0.0))
}

#[test]
fn every_type_agrees_with_the_interpreter() {
    let module = module("tests/package/every_type.eqir");
    let program = build(&package(&module));
    for (name, k) in [("every-type", "0.25"), ("every-type-small", "0.0625")] {
        for (kind, grid, cells) in [("", "grid_dim=2 nx=5 ny=4 dx=0.5 dy=0.25", 20), ("-thin", "grid_dim=2 nx=9 ny=2 dx=0.3 dy=0.7", 18)] {
            let case = every_type_case(&format!("{name}{kind}"), grid, cells).word(&format!("k={k}"));
            for layout in ["auto", "unstructured"] {
                case.compare(&module, &program, layout);
            }
        }
    }
    // A Vector of two components on a line.
    let case = every_type_case("every-type-1d", "grid_dim=1 nx=20", 20);
    let run = case.run(&program, &case.folder.join("out"));
    let message = String::from_utf8_lossy(&run.stderr).into_owned();
    assert_eq!(run.status.code(), Some(4), "{message}");
    assert!(message.contains("2") && message.contains("dimension"), "{message}");
    let error = case.interpreted(&module, true).expect_err("the interpreter refuses it too");
    assert_eq!(error.kind.exit_code(), 4);
}

/// Kernels as CUDA C++, compiled for the host.
#[test]
#[ignore = "compiles the CUDA runtime; `cargo xtask cuda-host-tests` runs it"]
fn cuda_on_the_host_gives_the_serial_numbers() {
    let backends: [&dyn Backend; 2] = [&backend_serial::codegen::Serial, &backend_cuda::codegen::Cuda];
    // The operations among its kernels become kernels too.
    let constructs = passes::optimise(module("tests/package/every_construct.eqir").into_module(), OptLevel::O2);
    let constructs = verify(constructs).unwrap_or_else(|errors| panic!("{errors:?}"));
    let constructs = build(&package_for(&constructs, &backends));
    let types = build(&package_for(&module("tests/package/every_type.eqir"), &backends));
    let plane = every_construct_case("cuda-construct-2d", "grid_dim=2 nx=5 ny=4 dx=0.5 dy=0.25", "5 11", 20, 49);
    let block = every_construct_case("cuda-construct-3d", "grid_dim=3 nx=4 ny=3 nz=5 dx=0.5 dy=0.3 dz=0.7", "4 9", 60, 227);
    // More cells than two levels of a reduction take: a leaf has 1024.
    let large = every_type_case("cuda-type-large", "grid_dim=2 nx=600 ny=500 dx=0.5 dy=0.25", 300_000);
    let small = every_type_case("cuda-type-small", "grid_dim=2 nx=9 ny=2 dx=0.3 dy=0.7", 18).word("k=0.0625");
    for (program, case) in [(&constructs, &plane), (&constructs, &block), (&types, &large), (&types, &small)] {
        for layout in ["auto", "unstructured"] {
            let run = |backend: &str| {
                let mut case = case.clone().word(&format!("grid_layout={layout}"));
                case.words.splice(0..0, ["--backend".to_owned(), backend.to_owned()]);
                let output = case.folder.join(format!("{layout}-{backend}"));
                let _ = fs::remove_dir_all(&output);
                let run = case.run(program, &output);
                assert!(run.status.success(), "{backend}: {}", String::from_utf8_lossy(&run.stderr));
                (String::from_utf8_lossy(&run.stdout).into_owned(), output)
            };
            let (serial_text, serial) = run("serial");
            let (cuda_text, cuda) = run("cuda");
            close(&serial_text, &cuda_text, &format!("standard output, {layout}"));
            let mut files: Vec<_> = fs::read_dir(&serial).expect("a folder").map(|e| e.expect("an entry").file_name()).collect();
            files.retain(|name| name.to_string_lossy().ends_with(".output"));
            files.sort();
            assert!(files.len() >= 8, "{files:?}");
            for file in files {
                let read = |folder: &Path| fs::read_to_string(folder.join(&file)).unwrap_or_else(|e| panic!("{file:?}: {e}"));
                close(&read(&serial), &read(&cuda), &format!("{file:?}, {layout}"));
            }
        }
    }
}

/// The same words, and numbers to 1e-12 of the largest one: geometry is rounded differently on
/// widths that are not powers of two, and functions of numbers are those of another library, each
/// within two units in the last place (4e-16), which no step here magnifies by more than a
/// thousand.
fn close(expected: &str, found: &str, what: &str) {
    let number = |word: &str| word.parse::<f64>().ok();
    let (expected, found): (Vec<_>, Vec<_>) = (expected.split_whitespace().collect(), found.split_whitespace().collect());
    let scale = expected.iter().filter_map(|w| number(w)).fold(0.0, |a: f64, b| a.max(b.abs()));
    assert_eq!(expected.len(), found.len(), "{what}");
    for (expected, found) in expected.into_iter().zip(found) {
        match (number(expected), number(found)) {
            (Some(a), Some(b)) => assert!((a - b).abs() <= 1e-12 * scale, "{what}: {b} instead of {a}"),
            _ => assert_eq!(expected, found, "{what}"),
        }
    }
}

#[test]
fn on_empty_names_the_element() {
    let (module, program) = every_construct();
    // Face 0 is on the low side: it has no first cell.
    let case = every_construct_case("every-empty", "grid_dim=2 nx=5 ny=4", "0 5", 20, 49);
    let run = case.run(program, &case.folder.join("out"));
    let message = String::from_utf8_lossy(&run.stderr).into_owned();
    assert_eq!(run.status.code(), Some(3), "{message}");
    assert!(message.contains("Empty") && message.contains("face 0"), "{message}");
    let error = case.interpreted(module, true).expect_err("the interpreter sees it too");
    assert_eq!(error.kind.exit_code(), 3);
}

#[test]
fn components_beyond_the_grid_are_refused() {
    let (_, program) = every_construct();
    let case = every_construct_case("every-1d", "grid_dim=1 nx=20", "20", 20, 21);
    let run = case.run(program, &case.folder.join("out"));
    let message = String::from_utf8_lossy(&run.stderr).into_owned();
    assert_eq!(run.status.code(), Some(4), "{message}");
    assert!(message.contains("dimension"), "{message}");
}

#[test]
fn shallow_water_wells_and_upwinding_agree_with_the_interpreter() {
    let swe = module("tests/ir/kernels/swe_stage.eqir");
    let mut case = Case::new("swe", "grid_dim=2 nx=6 ny=5 dx=1.5 dy=0.75").word("u_init=0").word("v_init=0");
    for (name, base) in [("h_init", 2.0), ("b_north", 0.0), ("b_south", 0.0), ("b_east", 0.0), ("b_west", 0.0)] {
        case = case.values(name, scattered(30, base).map(|x| base + 0.1 * x));
    }
    let case = case.file("timesteps", "0.02 0.02");
    let program = build(&package(&swe));
    for layout in ["auto", "unstructured"] {
        case.compare(&swe, &program, layout);
    }
    let upwind = module("tests/ir/kernels/twophase_upwind.eqir");
    // 5x4 cells have 4*4 + 5*3 = 31 interior faces.
    let case = Case::new("upwind", "grid_dim=2 nx=5 ny=4 dx=10 dy=20")
        .word("poro=0.2")
        .values("s", scattered(20, 0.0).map(|x| 0.5 + 0.4 * x))
        .values("s0", scattered(20, 1.0).map(|x| 0.5 + 0.4 * x))
        .values("flux", scattered(31, 2.0).map(|x| 1e-4 * x))
        .file("source_cells", "0 7 19")
        .values("source_values", [1e-4, 2e-5, -1e-4]);
    let program = build(&package(&upwind));
    for layout in ["auto", "unstructured"] {
        case.compare(&upwind, &program, layout);
    }
}

#[test]
fn the_same_module_gives_the_same_bytes() {
    for path in ["tests/package/every_construct.eqir", "tests/ir/kernels/swe_stage.eqir"] {
        assert_eq!(package(&module(path)), package(&module(path)));
    }
}

#[test]
fn what_the_runtime_cannot_hold_is_refused_with_its_place() {
    // One entity as an argument of a function: entities come in collections.
    let text = "module entity\nsource \"entity.equelle\"\nfunction f(%b: Cell In AllCells() !3..4, %u: Scalar On AllCells()) -> (Scalar On AllCells()) {\n  return %u\n}\nmain {\n}\n";
    let module = verify(text::parse(text).unwrap_or_else(|e| panic!("{e}"))).unwrap_or_else(|e| panic!("{e:?}"));
    let serial = backend_serial::codegen::Serial;
    let error = generate(&module, &PackageOptions { backends: &[&serial], runtime_crates: Path::new("/") }).expect_err("no runtime type");
    assert!(error.message.contains("Entity"), "{}", error.message);
    assert_eq!((error.span.start, error.span.end), (3, 4));
}

/// Kernels are methods of the same value as those of the runtime traits.
#[test]
fn no_method_of_a_runtime_trait_is_named_like_a_kernel() {
    let read = |file: &str| fs::read_to_string(repository(&format!("equelle-runtime/src/{file}"))).expect("the traits");
    let traits = ["traits.rs", "value_traits.rs", "operations.rs"].map(read).concat();
    let methods: Vec<&str> = traits.lines().filter_map(|line| line.trim_start().strip_prefix("fn ")).collect();
    for known in ["input_scalar", "output", "first_cell", "select"] {
        assert!(methods.iter().any(|name| name.starts_with(known)), "this finds methods");
    }
    for prefix in KERNEL_PREFIXES {
        assert_eq!(methods.iter().find(|name| name.starts_with(prefix)), None, "{prefix}");
    }
}

#[test]
fn names_that_rust_reserves_are_avoided() {
    let text = "module type\nsource \"type.equelle\"\nmain {\n  %n: Text = \"x\"\n  %d: Scalar = 1.0\n  %fn: Scalar = InputScalar(%n, %d)\n  %rt: Scalar = sqrt(%fn)\n  Output(%n, %rt)\n}\n";
    let module = verify(text::parse(text).unwrap_or_else(|e| panic!("{e}"))).unwrap_or_else(|e| panic!("{e:?}"));
    let package = package(&module);
    let (_, library) = package.files.iter().find(|(path, _)| path == "src/lib.rs").expect("a library");
    assert!(library.contains("let fn_2 = rt.input_scalar(\"x\", &d)?;"), "{library}");
    assert!(library.contains("let rt_2 = rt.sqrt(&fn_2)?;"), "{library}");
    assert_eq!(package.name, "type-2");
}
