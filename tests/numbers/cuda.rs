//! The operation level of the CUDA runtime on its emulator: examples and programs of the tests,
//! interpreted, against the serial runtime. Every operation is a launch of one of the runtime's
//! kernels. Needs a C++ compiler; without one nothing is tested, and `cargo xtask cuda-host-tests`
//! insists on one. With `EQUELLE_CUDA_DEVICE=gpu` it all runs on a GPU.

mod joined_sides;

use std::path::Path;
use std::process::Command;
use std::rc::Rc;
use std::sync::{Arc, Mutex};
use std::{env, fs, io};

use backend_cuda::runtime::device::Device;
use backend_cuda::runtime::device::emulator::Emulator;
use backend_cuda::runtime::device::gpu::GpuDevice;
use backend_cuda::runtime::{CudaRuntime, Precision};
use backend_serial::runtime::SerialRuntime;
use equelle::registry::costs;
use equelle::{interpret, pipeline};
use equelle_front::ir::Numbers;
use equelle_front::passes::{Derivatives, OptLevel};
use equelle_front::source::SourceMap;
use equelle_front::verify::Verified;
use equelle_runtime::output::Record;
use equelle_runtime::report::{MessageFormat as Messages, ProgressStyle};
use equelle_runtime::session::Options;
use equelle_runtime::{Error, Session};
use equellec::console::{Console, MessageFormat};

/// The host, or the GPU if that is asked for; `None` where there is no C++ compiler.
fn device() -> Option<Rc<dyn Device>> {
    if env::var("EQUELLE_CUDA_DEVICE").is_ok_and(|device| device == "gpu") {
        return Some(Rc::new(GpuDevice::open().expect("there is a GPU")));
    }
    let compiler = Command::new("c++").arg("--version").output().is_ok_and(|output| output.status.success());
    compiler.then(|| Rc::new(Emulator::new()) as Rc<dyn Device>)
}

/// Outputs of a program, run by `run`.
fn records(words: &[String], verified: &Verified, source: &SourceMap, run: impl FnOnce(Session) -> Result<(), Error>) -> Vec<Record> {
    let program = interpret::program(source, verified);
    let mut session = Session::open_with(program, words, Options::silent()).unwrap_or_else(|error| panic!("{error:?}"));
    let records = session.record_outputs();
    run(session).unwrap_or_else(|error| panic!("{}: {error:?}", source.name()));
    records.take()
}

/// The numbers of an output, with its tag.
fn numbers(record: &Record) -> (&str, Vec<f64>) {
    match record {
        Record::Scalar { tag, value } => (tag, vec![*value]),
        Record::Bool { tag, value } => (tag, vec![f64::from(u8::from(*value))]),
        Record::Text { tag, .. } => (tag, Vec::new()),
        Record::Vector { tag, components } => (tag, components.clone()),
        Record::Vectors { tag, values } => (tag, values.concat()),
        Record::Collection { tag, values } => (tag, values.clone()),
    }
}

/// Runs a program on both runtimes at operation level, and with `--ad=spgemm`; outputs agree to
/// `tolerance` of the largest value of each, or to the bit.
fn agree(path: &str, words: &[&str], tolerance: f64) {
    let Some(device) = device() else { return };
    for level in [OptLevel::O0, OptLevel::O2] {
        let (source, verified) = compiled(path, level);
        // Explicit programs have no derivatives.
        if level == OptLevel::O2 && !source.text().contains("NewtonSolve") {
            continue;
        }
        // Reads by index are of Cartesian grids alone.
        let layouts: &[&str] = if verified.module().structure.is_some() { &["auto"] } else { &["auto", "unstructured"] };
        for layout in layouts {
            let mut all: Vec<String> = words.iter().map(ToString::to_string).collect();
            all.extend(["output_to_file=false".to_owned(), "verbose=0".to_owned(), format!("grid_layout={layout}")]);
            let expected = records(&all, &verified, &source, |session| interpret::run_session(&verified, session));
            let found = records(&all, &verified, &source, |session| {
                equelle_interp::interpret(&verified, &mut CudaRuntime::on_device(session, Rc::clone(&device))?)
            });
            compare(&format!("{path}, {level:?}, {layout}"), &found, &expected, tolerance);
        }
    }
}

/// A program at a level, with derivatives by sparse matrices.
fn compiled(path: &str, level: OptLevel) -> (SourceMap, Verified) {
    compiled_in(path, level, Numbers::default())
}

fn compiled_in(path: &str, level: OptLevel, numbers: Numbers) -> (SourceMap, Verified) {
    let console = Console { format: MessageFormat::Human, color: false };
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let source = pipeline::read(&root.join(path)).unwrap_or_else(|failure| panic!("{failure:?}"));
    let options = pipeline::Options {
        level,
        nondimensional: true,
        derivatives: Derivatives::SparseMatrices,
        numbers,
        costs: costs(&[&backend_cuda::codegen::Cuda]),
        ..Default::default()
    };
    let verified = pipeline::compile(&source, options, &console).unwrap_or_else(|failure| panic!("{path}: {failure:?}"));
    (source, verified)
}

/// Outputs are the same to `tolerance` of the largest value of each.
fn compare(what: &str, found: &[Record], expected: &[Record], tolerance: f64) {
    assert!(!expected.is_empty());
    assert_eq!(found.len(), expected.len(), "{what}");
    for (place, (a, b)) in found.iter().zip(expected).enumerate() {
        let ((tag, a), (other, b)) = (numbers(a), numbers(b));
        assert_eq!((tag, a.len()), (other, b.len()), "{what}");
        let scale = b.iter().fold(0.0, |scale: f64, value| scale.max(value.abs()));
        for (k, (a, b)) in a.iter().zip(&b).enumerate() {
            let same = a.to_bits() == b.to_bits() || (a - b).abs() <= tolerance * scale;
            assert!(same, "{what}: output {place} `{tag}`, element {k}: {a:e} instead of {b:e}");
        }
    }
}

fn example(name: &str, more: &[&str], tolerance: f64) {
    let case = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("examples/{name}/case.param")).display().to_string();
    let words: Vec<&str> = [case.as_str()].into_iter().chain(more.iter().copied()).collect();
    agree(&format!("examples/{name}/{name}.equelle"), &words, tolerance);
}

/// Runs an example in single precision on both runtimes at operation level; outputs agree to
/// `tolerance` of the largest value of each.
fn single(name: &str, more: &[&str], tolerance: f64) {
    let Some(device) = device() else { return };
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let case = root.join(format!("examples/{name}/case.param")).display().to_string();
    let path = format!("examples/{name}/{name}.equelle");
    let (source, verified) = compiled(&path, OptLevel::O0);
    for layout in ["auto", "unstructured"] {
        let what = format!("{path} in single precision, {layout}");
        let mut words: Vec<String> = [case.as_str()].iter().chain(more).map(ToString::to_string).collect();
        words.extend(["output_to_file=false".to_owned(), "verbose=0".to_owned(), format!("grid_layout={layout}")]);
        let expected = records(&words, &verified, &source, |session| {
            equelle_interp::interpret(&verified, &mut SerialRuntime::<f32>::with_precision(session))
        });
        let found = records(&words, &verified, &source, |session| {
            let runtime = CudaRuntime::with_precision(session, Rc::clone(&device), Precision::Single);
            equelle_interp::interpret(&verified, &mut runtime?)
        });
        compare(&what, &found, &expected, tolerance);
        let double = records(&words, &verified, &source, |session| interpret::run_session(&verified, session));
        assert!(double != found, "{what}: the numbers are those of double precision");
    }
}

/// Operations are those of the serial runtime in its order: the same bits on any grid.
const BITS: f64 = 0.0;

/// Rows of a ternary have the entries of the branch chosen here and of both there; the
/// factorisation of a matrix with another pattern rounds differently, and Newton's method leaves
/// that as it is.
const PIVOTS: f64 = 1e-12;

/// Linear systems solved to 1e-10 by the Krylov methods of the device and of the host, which are
/// not the same to the bit; the condition of the Jacobians, 1e3 to 1e4, multiplies that.
const SOLVER: f64 = 1e-6;

/// A file with the first of the time steps of an example, as a parameter.
fn few_steps(folder: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let text = fs::read_to_string(root.join(folder).join("timesteps.txt")).unwrap();
    let steps: Vec<&str> = text.split_whitespace().take(5).collect();
    let name = format!("cuda-steps-{}-{}.txt", folder.replace('/', "-"), std::process::id());
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::write(&file, steps.join("\n")).unwrap();
    format!("timesteps_filename={}", file.display())
}

#[test]
fn explicit_heat() {
    example("heat_explicit_2d", &[&few_steps("examples/heat_explicit_2d")], BITS);
    example("heat_explicit_3d", &[&few_steps("examples/heat_explicit_3d")], BITS);
}

/// Domains by condition on a grid whose numbers are not those of the file.
#[test]
fn domains_by_condition() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("cuda-where-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    for renumber in ["renumber=no", "renumber=yes"] {
        let mut words = crate::programs::where_case::where_words(&folder);
        words.push(renumber.to_owned());
        agree("tests/programs/where.equelle", &words.iter().map(String::as_str).collect::<Vec<_>>(), BITS);
    }
    fs::remove_dir_all(&folder).unwrap();
}

/// Values and derivatives of tables, straight lines and cubics.
#[test]
fn tables() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("cuda-tables-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let (curves, smooth) = (folder.join("curves.csv"), folder.join("smooth.txt"));
    fs::write(&curves, "x,lower,upper\n0,0.5,0.75\n0.25,0.5,1\n0.75,1.25,1.5\n1,2,1.75\n").unwrap();
    fs::write(&smooth, "x y\n-1 0.5\n0.5 1\n0.75 1.5\n2 2\n").unwrap();
    let plane = folder.join("plane.csv");
    fs::write(&plane, "x,y,z\n0,0,1\n0,0.25,2\n0,1,1.5\n0.5,0,0.5\n0.5,0.25,1\n0.5,1,0.25\n").unwrap();
    let files =
        [("curves", curves), ("smooth", smooth), ("plane", plane)].map(|(name, file)| format!("{name}_filename={}", file.display()));
    let words =
        [&files[0], &files[1], &files[2], "smooth_interpolation=monotone", "u_expression=x*y", "nx=5", "ny=4", "dx=0.25", "dy=0.25"];
    agree("tests/programs/tables.equelle", &words, PIVOTS);
    fs::remove_dir_all(&folder).unwrap();
}

/// Cells far from the sides find numbers stored on faces by the axis and the first cell of a face.
#[test]
fn numbers_of_faces() {
    let Some(device) = device() else { return };
    let path = "tests/programs/numbers_of_faces.equelle";
    let (source, verified) = compiled(path, OptLevel::O2);
    for (grid, along) in [("nx=9 dx=0.5", "x"), ("nx=7 ny=6 dx=0.5 dy=0.25", "x+2*y"), ("nx=5 ny=6 nz=4 dx=0.5 dy=0.25 dz=1", "x+2*y-z")] {
        let mut words: Vec<String> = grid.split(' ').map(str::to_owned).collect();
        words.push(format!("grid_dim={}", words.len() / 2));
        words.extend([
            format!("u0_expression=Sin({along})"),
            format!("k_expression=1+Cos({along})"),
            format!("l_expression=2+Sin(3*({along}))"),
        ]);
        words.push("output_to_file=false".to_owned());
        let expected = records(&words, &verified, &source, |session| interpret::run_in(interpret::Kernels::Lanes, &verified, session));
        let (found, _) = joined_sides::by_kernels(&words, &(source.clone(), verified.clone()), &device, Precision::Double);
        compare(&format!("{path}, {grid}"), &found, &expected, BITS);
    }
}

#[test]
fn shallow_water() {
    example("shallow_water", &[&few_steps("examples/shallow_water")], BITS);
}

/// A cell at an offset is read by every rule beyond the grid.
#[test]
fn reads_by_index() {
    let words = ["nx=5", "ny=4", "dx=0.5", "dy=0.25", "u_expression=x*x+3*y"];
    agree("tests/programs/reads_by_index.equelle", &words, BITS);
    let words = ["grid_dim=3", "nx=5", "ny=3", "nz=4", "dx=0.5", "dy=0.25", "dz=1", "u_expression=x*x+3*y*z"];
    agree("tests/programs/planes_by_index.equelle", &words, BITS);
    let words = ["grid_dim=3", "nx=5", "ny=3", "nz=4", "dx=0.5", "dy=0.25", "dz=1", "u_expression=x*x+3*y*z"];
    agree("tests/programs/corners_by_index.equelle", &words, BITS);
    let words = ["grid_dim=2", "nx=6", "ny=5", "dx=0.5", "dy=0.25", "u_expression=Sin(x)+y"];
    agree("tests/programs/implicit_corners.equelle", &words, PIVOTS);
    example("mhd", &["nx=5", "ny=4", "nz=4", "timesteps=0.02"], BITS);
    example("heat_stencils_3d", &["nx=6", "ny=5", "nz=4", "timesteps=3*0.025"], BITS);
    example("sod", &["nx=32", "timesteps=8*0.003125"], BITS);
    example("tracer_whirl", &["nx=8", "ny=7", "timesteps=3*0.03"], BITS);
}

#[test]
fn implicit_heat() {
    example("heat_implicit_2d", &[], PIVOTS);
    example("heat_implicit_triangles", &[], PIVOTS);
}

#[test]
fn krylov_methods() {
    let steps = few_steps("examples/heat_implicit_3d");
    example("heat_implicit_3d", &[&steps, "solver=bicgstab", "solver_tol=1e-10"], SOLVER);
    example("heat_implicit_2d", &["solver=cg", "solver_tol=1e-10"], SOLVER);
}

/// 9120 unknowns: CG with multigrid is chosen on both back-ends, with different groups. Newton's
/// method multiplies what is left of a linear system, 1e-10, by the condition of the matrix, which
/// is below 10.
#[test]
fn multigrid_is_chosen_and_set_up() {
    let steps = few_steps("examples/heat_implicit_3d");
    example("heat_implicit_3d", &["solver=auto", "solver_tol=1e-10", &steps], 1e-8);
}

#[test]
fn gas() {
    example("gas_1d", &[], PIVOTS);
    example("gas_1d", &["solver=bicgstab", "solver_tol=1e-10"], SOLVER);
}

#[test]
fn two_phases() {
    example("two_phase", &[], PIVOTS);
    example("two_phase_conservation", &[], PIVOTS);
    example("two_phase_gravity", &[], PIVOTS);
    example("two_phase_implicit", &[], PIVOTS);
}

/// A faulted deck with wells: polyhedra, sets by conditions on arrays, reductions in sources.
#[test]
fn wells() {
    example("two_phase_wells", &["timesteps=2*31536000"], PIVOTS);
    example("two_phase_wells_implicit", &["timesteps=31536000"], PIVOTS);
}

#[test]
fn computed_steps() {
    example("dam_break", &["nx=60", "dx=16", "end=8"], BITS);
    example("fisher", &["nx=100", "dx=0.5"], PIVOTS);
}

/// Steps of twice the pores of a cell, which leave the bounds of saturations that the case has.
#[test]
fn bounds_of_unknowns() {
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("cuda-long-steps-{}.txt", std::process::id()));
    fs::write(&file, "400000 400000").unwrap();
    example("two_phase_implicit", &[&format!("timesteps_filename={}", file.display())], PIVOTS);
}

/// Written text, for those who hold a copy.
#[derive(Clone, Default)]
struct Text(Arc<Mutex<Vec<u8>>>);

impl io::Write for Text {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The events of a run on a device, or on the serial back-end, and what it puts out.
fn told(
    source: &SourceMap,
    verified: &Verified,
    words: &[String],
    device: Option<&Rc<dyn Device>>,
) -> (Vec<serde_json::Value>, Vec<Record>) {
    let text = Text::default();
    let options = Options {
        quiet: false,
        format: Messages::Json,
        progress: ProgressStyle::Lines,
        stderr: Box::new(text.clone()),
        ..Options::silent()
    };
    let program = interpret::program(source, verified);
    let mut session = Session::open_with(program, words, options).unwrap_or_else(|error| panic!("{error:?}"));
    let outputs = session.record_outputs();
    let run = match device {
        Some(device) => equelle_interp::interpret(verified, &mut CudaRuntime::on_device(session, Rc::clone(device)).unwrap()),
        None => interpret::run_session(verified, session),
    };
    run.unwrap_or_else(|error| panic!("{error:?}"));
    let text = String::from_utf8(text.0.lock().unwrap().clone()).unwrap();
    (text.lines().map(|line| serde_json::from_str(line).unwrap()).collect(), outputs.take())
}

/// Heat conduction over a step whose first residual is 2 dt times the root of 1152, as a cell has 1
/// to 3 of 864 sides at the boundary: 339. A linear solve may leave 1e-8 of that, 3e-6, and
/// Newton's method is content with 1e-6. All linear solvers go on for that, so that one correction
/// is enough, however often a back-end looks at residuals.
#[test]
fn one_correction_is_enough_for_what_is_linear() {
    let Some(device) = device() else { return };
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("cuda-linear-steps-{}.txt", std::process::id()));
    fs::write(&file, "5").unwrap();
    let steps = format!("timesteps_filename={}", file.display());
    let (source, verified) = compiled("tests/implicit/heat_contrast.equelle", OptLevel::O2);
    for (solver, preconditioner) in [("cg", "amg"), ("cg", "jacobi"), ("bicgstab", "jacobi"), ("gmres", "ilu0")] {
        let asked = [format!("solver={solver}"), format!("preconditioner={preconditioner}"), steps.clone()];
        let words: Vec<String> = "grid_dim=3 nx=12 ny=12 nz=12 k=1 u_initial=1".split(' ').map(str::to_owned).chain(asked).collect();
        for device in [None, Some(&device)] {
            let (events, _) = told(&source, &verified, &words, device);
            let solve = events.iter().find(|event| event["event"] == "newton").unwrap();
            // The residual of the guess, and that of the solution.
            let norms: Vec<f64> =
                solve["iterations"].as_array().unwrap().iter().map(|iteration| iteration["norm"].as_f64().unwrap()).collect();
            assert!((norms[0] - 10.0 * 1152f64.sqrt()).abs() < 1e-9, "{norms:?}");
            assert!(norms.len() == 2 && norms[1] <= 1e-6, "{solver} with {preconditioner}, on the device: {}: {norms:?}", device.is_some());
        }
    }
}

/// Least and greatest of the unknowns of an event.
fn ranges(event: &serde_json::Value) -> Vec<(String, f64, f64)> {
    let unknowns = event["unknowns"].as_array().unwrap_or_else(|| panic!("{event}"));
    let number = |value: &serde_json::Value| value.as_f64().unwrap_or(f64::NAN);
    unknowns.iter().map(|range| (range["name"].as_str().unwrap().to_owned(), number(&range["least"]), number(&range["greatest"]))).collect()
}

/// Rounding of the JSON reader: the last bit.
const PARSED: f64 = f64::EPSILON;

/// Ranges of unknowns are those of the collections that are put out after each solve, and those of
/// the run the widest. Without bounds, steps of twice the pores of a cell end at negative
/// saturations, where the equations hold as well; the ranges show it.
#[test]
fn ranges_are_those_of_what_is_put_out() {
    let Some(device) = device() else { return };
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("cuda-unbounded-steps-{}.txt", std::process::id()));
    fs::write(&file, "400000 400000").unwrap();
    let case = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/two_phase_implicit/case.param").display().to_string();
    let steps = format!("timesteps_filename={}", file.display());
    let words = [&case, &steps, "unknown_min_s=-1e9", "unknown_max_s=1e9", "max_iter=50", "output_to_file=false"].map(str::to_owned);
    let (source, verified) = compiled("examples/two_phase_implicit/two_phase_implicit.equelle", OptLevel::O2);
    let run = |on_device: bool| {
        let (events, outputs) = told(&source, &verified, &words, on_device.then_some(&device));
        let solves: Vec<_> = events.iter().filter(|event| event["event"] == "newton").map(ranges).collect();
        let summary = events.iter().find(|event| event["event"] == "summary").unwrap();
        (solves, ranges(&summary["solves"][0]), outputs)
    };
    for on_device in [false, true] {
        let (solves, all, outputs) = run(on_device);
        let extremes = |at: &[Record], tag: &str| {
            let values = at.iter().map(numbers).filter(|(other, _)| *other == tag).flat_map(|(_, values)| values);
            values.fold((f64::INFINITY, f64::NEG_INFINITY), |(least, greatest), value| (least.min(value), greatest.max(value)))
        };
        let expected = |at: &[Record]| {
            let range = |(name, tag): (&str, &str)| (name.to_owned(), extremes(at, tag).0, extremes(at, tag).1);
            [("p", "pressure"), ("s", "saturation")].map(range).to_vec()
        };
        // Pressure and saturation before the first step, and after each.
        assert_eq!(outputs.len(), 6);
        let (first, second) = (expected(&outputs[2..4]), expected(&outputs[4..]));
        for (found, expected) in solves.iter().chain([&all]).zip([first, second, expected(&outputs[2..])]) {
            assert_eq!(found.len(), expected.len());
            for (found, expected) in found.iter().zip(&expected) {
                let is_near = |a: f64, b: f64| (a - b).abs() <= PARSED * b.abs();
                let same = found.0 == expected.0 && is_near(found.1, expected.1) && is_near(found.2, expected.2);
                assert!(same, "on the device: {on_device}: {found:?} instead of {expected:?}");
            }
        }
        assert_eq!(solves.len(), 2);
        assert!(all[1].1 < 0.0, "a second solution: {all:?}");
    }
}

/// Criteria beside the norm of the residual end solves of both runtimes after the same iterations,
/// before they run out. Without a tolerance for that norm they alone decide.
#[test]
fn other_criteria() {
    let Some(device) = device() else { return };
    let case = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/two_phase_implicit/case.param").display().to_string();
    let (source, verified) = compiled("examples/two_phase_implicit/two_phase_implicit.equelle", OptLevel::O2);
    const MAX_ITER: usize = 20;
    let iterations = |device: Option<&Rc<dyn Device>>, more: &[&str]| -> Vec<usize> {
        let most = format!("max_iter={MAX_ITER}");
        let words: Vec<String> =
            [&[&case, "abs_res_tol=0", &most, "output_to_file=false"], more].concat().iter().map(ToString::to_string).collect();
        let (events, _) = told(&source, &verified, &words, device);
        let solves = events.iter().filter(|event| event["event"] == "newton");
        solves.map(|event| event["iterations"].as_array().unwrap().len()).collect()
    };
    let mut counts = Vec::new();
    for criterion in ["abs_res_tol_2=1e-2", "abs_res_tol_2=1e-9", "update_tol=1e-1", "update_tol=1e-4", "rel_res_tol=1e-2"] {
        for more in ["unknown_min_s=0", "newton_line_search=true"] {
            let expected = iterations(None, &[criterion, more]);
            assert_eq!(iterations(Some(&device), &[criterion, more]), expected, "{criterion} {more}");
            assert!(expected.len() == 2 && expected.iter().all(|count| *count < MAX_ITER), "{criterion} {more}: {expected:?}");
            counts.push(expected);
        }
    }
    // In the first step saturations are below a tenth almost everywhere: a correction that stops at
    // a bound is small, but no convergence.
    let bounded = ["update_tol=1e-2", "unknown_min_s=0.1", "newton_failure=continue"];
    let expected = iterations(None, &bounded);
    assert_eq!(iterations(Some(&device), &bounded), expected);
    assert_eq!(expected[0], MAX_ITER + 1);
    // A stricter tolerance takes more.
    assert!(counts[0] < counts[2] && counts[4] < counts[6], "{counts:?}");
}

/// Without a tolerance both runtimes end after the same iterations, and by what the device brings
/// with the norm of the residual: sizes of corrections, and terms where nothing is left but
/// rounding.
#[test]
fn without_a_tolerance() {
    let Some(device) = device() else { return };
    for (name, most) in [("heat_implicit_2d", 1), ("gas_1d", 1), ("two_phase_gravity", 10), ("two_phase_implicit", 10)] {
        let case = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("examples/{name}/case.param")).display().to_string();
        let (source, verified) = compiled(&format!("examples/{name}/{name}.equelle"), OptLevel::O2);
        let iterations = |device: Option<&Rc<dyn Device>>| -> Vec<usize> {
            let words = [case.clone(), "output_to_file=false".to_owned()];
            let (events, _) = told(&source, &verified, &words, device);
            let solves = events.iter().filter(|event| event["event"] == "newton");
            solves.map(|event| event["iterations"].as_array().unwrap().len() - 1).collect()
        };
        let expected = iterations(None);
        assert_eq!(iterations(Some(&device)), expected, "{name}");
        assert!(!expected.is_empty() && expected.iter().all(|count| (1..=most).contains(count)), "{name}: {expected:?}");
    }
}

/// Early corrections that are computed roughly take fewer iterations of the linear solver, on both
/// runtimes, and lead to the same tolerance. Gas on 400 cells from one end to the other.
#[test]
fn rough_corrections() {
    let Some(device) = device() else { return };
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("rough_corrections");
    std::fs::create_dir_all(&folder).unwrap();
    let file = |name: &str, text: String| {
        let path = folder.join(name);
        std::fs::write(&path, text).unwrap();
        path.display().to_string()
    };
    let sources = file("sources", format!("0.01\n{}-0.01\n", "0\n".repeat(398)));
    let steps = file("steps", "1e5 1e5\n".to_owned());
    let (source, verified) = compiled("examples/gas_1d/gas_1d.equelle", OptLevel::O2);
    let run = |device: Option<&Rc<dyn Device>>, forcing: &str| -> (u64, Vec<f64>) {
        let words = [
            "grid_dim=2",
            "nx=400",
            "ny=1",
            "dx=100",
            "dy=100",
            "source_from_file=true",
            &format!("source_filename={sources}"),
            &format!("timesteps_filename={steps}"),
            "output_to_file=false",
            "solver=bicgstab",
            "preconditioner=jacobi",
            &format!("newton_forcing={forcing}"),
        ]
        .map(str::to_owned);
        let (events, _) = told(&source, &verified, &words, device);
        let solves = events.iter().filter(|event| event["event"] == "newton").map(|event| event["iterations"].as_array().unwrap());
        let norms = solves.clone().map(|iterations| iterations.last().unwrap()["norm"].as_f64().unwrap()).collect();
        (solves.flatten().filter_map(|iteration| iteration["linear_iterations"].as_u64()).sum(), norms)
    };
    for device in [None, Some(&device)] {
        let (exact, _) = run(device, "0");
        let (rough, norms) = run(device, "0.5");
        assert!(5 * rough < 4 * exact, "{rough} and {exact} iterations of the linear solver");
        assert!(norms.len() == 2 && norms.iter().all(|norm| *norm <= 1e-6), "{norms:?}");
    }
}

/// A few spacings of singles at the largest value, where a factorisation that rounds differently
/// may end.
const SINGLE_PIVOTS: f64 = 4.0 * f32::EPSILON as f64;

#[test]
fn single_precision() {
    single("heat_explicit_2d", &[&few_steps("examples/heat_explicit_2d")], BITS);
    single("shallow_water", &[&few_steps("examples/shallow_water")], BITS);
    single("heat_implicit_2d", &["abs_res_tol=1e-3"], SINGLE_PIVOTS);
    single("heat_implicit_triangles", &["abs_res_tol=1e-3", "solver=bicgstab"], SINGLE_PIVOTS);
    single("gas_1d", &["abs_res_tol=1e-4"], SINGLE_PIVOTS);
    single("two_phase_gravity", &[], SINGLE_PIVOTS);
}

#[test]
fn every_example_is_here() {
    let text = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/numbers/cuda.rs")).unwrap();
    for entry in fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("examples")).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().to_string_lossy().into_owned();
        if entry.path().join(format!("{name}.equelle")).is_file() {
            assert!(text.contains(&format!("example(\"{name}\"")), "{name}");
        }
    }
}

#[test]
fn programs_of_the_tests() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let heat = root.join("examples/heat_explicit_3d/case.param").display().to_string();
    agree("tests/run/heat_declared.equelle", &[&heat, &few_steps("examples/heat_explicit_3d")], BITS);
    let edges = root.join("tests/run/edges_and_vertices/case.param").display().to_string();
    agree("tests/run/edges_and_vertices.equelle", &[&edges], BITS);
}

/// The files that a run leaves, what it prints, and the error that ends it; on a device, or on the
/// serial back-end.
fn ended(path: &str, words: &[String], folder: &Path, device: Option<&Rc<dyn Device>>) -> (Vec<(String, String)>, String, Error) {
    let (source, verified) = compiled(path, OptLevel::O0);
    let _ = fs::remove_dir_all(folder);
    let words = [words, &["output_to_file=true".to_owned(), format!("output_dir={}", folder.display())]].concat();
    let printed = Text::default();
    let options = Options { stdout: Box::new(printed.clone()), ..Options::silent() };
    let session = Session::open_with(interpret::program(&source, &verified), &words, options).unwrap();
    let result = match device {
        Some(device) => {
            backend_cuda::runtime::run_on(session, Rc::clone(device), Precision::Double, |rt| equelle_interp::interpret(&verified, rt))
        }
        None => interpret::run_session(&verified, session),
    };
    let mut files: Vec<(String, String)> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap())
        // A folder has what the failure leaves.
        .filter(|entry| entry.path().is_file())
        .map(|entry| (entry.file_name().into_string().unwrap(), fs::read_to_string(entry.path()).unwrap()))
        // The record of a run has times in it.
        .filter(|(name, _)| name.ends_with(".output") || name.ends_with(".part"))
        .collect();
    files.sort();
    let printed = String::from_utf8(printed.0.lock().unwrap().clone()).unwrap();
    (files, printed, result.unwrap_err())
}

/// Runs that blow up, where it is seen at an output while files are still being written, and at the
/// state: `tests/numbers/run/finite.rs` says what the serial back-end gives.
#[test]
fn numbers_that_are_not_finite() {
    let Some(device) = device() else { return };
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("cuda-finite-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let file = |name: &str, numbers: &[f64]| {
        let path = folder.join(name);
        fs::write(&path, numbers.iter().map(|x| format!("{x:e}\n")).collect::<String>()).unwrap();
        path.display().to_string()
    };
    let mut u = [0.0; 20];
    u[0] = 1.0;
    let u = file("u.txt", &u);
    for (program, count) in [("tests/run/blow_up.equelle", 30), ("tests/run/unseen.equelle", 30), ("tests/run/unseen.equelle", 300)] {
        let steps = file("steps.txt", &vec![1e30; count]);
        let words: Vec<String> =
            ["nx=20", "grid_dim=1", "u_initial_from_file=true", &format!("u_initial_filename={u}"), &format!("timesteps_filename={steps}")]
                .map(str::to_owned)
                .into();
        let expected = ended(program, &words, &folder.join("serial"), None);
        assert!(expected.2.message.contains("is not finite") && expected.2.lines.len() == 1, "{:?}", expected.2);
        let found = ended(program, &words, &folder.join("cuda"), Some(&device));
        // The other lines name the state that is kept: which one depends on the time of a copy.
        let [(found, found_error), (expected, expected_error)] = [found, expected].map(|(files, printed, error)| {
            assert!(error.message.lines().count() == 3 && error.message.contains(" has the state after step "), "{error}");
            let first = error.message.lines().next().unwrap_or_default().to_owned();
            ((files, printed), Error { message: first, ..error })
        });
        assert_eq!(found, expected, "{program}, {count} steps");
        assert_eq!(found_error, expected_error, "{program}, {count} steps");
    }
}
