//! Random programs run the same on the serial and on the CUDA runtime, there on its emulator, or on
//! a GPU with `EQUELLE_CUDA_DEVICE=gpu`: at operation level, and with kernels that are compiled in
//! this process.

use std::path::Path;
use std::process::Command;
use std::rc::Rc;
use std::sync::Arc;

use backend_cuda::runtime::device::Device;
use backend_cuda::runtime::device::emulator::Emulator;
use backend_cuda::runtime::device::gpu::GpuDevice;
use backend_cuda::runtime::{Precision, run_on};
use equelle_cuda::CudaKernels;
use equelle_front::ir::Numbers;
use equelle_front::passes::OptLevel;
use equelle_front::verify::Verified;
use equelle_interp::Options;
use equelle_random::compare::{self, Compiled};
use equelle_random::data::{Fixture, Fixtures, grids};
use equelle_random::differential::allowed;
use equelle_random::generate::{self, Purpose};
use equelle_random::outcome::{Outcome, Tolerance, or_any_zero, run_by, same};
use equelle_random::project::subjects;
use equelle_runtime::Program;

const PROGRAMS: u64 = 200;

/// The same with kernels: on the host each takes seconds to compile.
const WITH_KERNELS: u64 = 6;

/// Geometry in closed form is rounded in another order.
const GEOMETRY: Tolerance = Tolerance::relative(1e-12);

/// On the host, one of so many programs of the project.
const OF_PROJECT: usize = 12;

fn has_gpu() -> bool {
    std::env::var("EQUELLE_CUDA_DEVICE").is_ok_and(|device| device == "gpu")
}

/// A GPU if that is asked for, else the host; `None` where there is no C++ compiler.
fn device() -> Option<Rc<dyn Device>> {
    if has_gpu() {
        return Some(Rc::new(GpuDevice::open().expect("there is a GPU")));
    }
    let compiler = Command::new("c++").arg("--version").output().is_ok_and(|output| output.status.success());
    compiler.then(|| Rc::new(Emulator::new()) as Rc<dyn Device>)
}

fn on_cuda(compiled: &Compiled, fixture: &Fixture, device: &Rc<dyn Device>) -> Outcome {
    let words: Vec<String> = fixture.words_for(&compiled.runnable).map(str::to_owned).collect();
    run_by(&compiled.runnable, &words, |session| {
        run_on(session, Rc::clone(device), Precision::Double, |runtime| equelle_interp::interpret(&compiled.plain, runtime))
    })
}

#[test]
fn operations_on_cuda_give_the_numbers_of_the_serial_runtime() {
    let Some(device) = device() else { return };
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("random-cuda");
    let triangles = Path::new(env!("CARGO_MANIFEST_DIR")).join("../grids/triangles-6x5.grid");
    let fixtures = Fixtures::write(&folder, &triangles).expect("the target folder can be written");
    let mut failures = Vec::new();
    for seed in 1..=PROGRAMS {
        let program = generate::program(seed, Purpose::Run, &fixtures.ranges);
        let text = program.text();
        let compiled = compare::compile(&text, program.units).unwrap_or_else(|failure| panic!("seed {seed}: {}", failure.text));
        for fixture in grids(&program, &fixtures) {
            let expected = compare::run(&compiled.plain, &compiled.runnable, fixture, Options::default());
            let found = on_cuda(&compiled, fixture, &device);
            if let Err(difference) = same(&expected, &found, &allowed(&program)) {
                failures.push(format!("seed {seed} on the grid {}: {difference}\n{text}", fixture.name));
                break;
            }
        }
    }
    assert!(failures.is_empty(), "{} of {PROGRAMS} programs differ\n{}", failures.len(), failures[..failures.len().min(3)].join("\n"));
}

/// Interprets a module with kernels that the device compiles now.
fn by_kernels(module: &Verified, runnable: &Arc<Program>, words: &[String], device: &Rc<dyn Device>) -> Outcome {
    let mut kernels = CudaKernels::new(module).expect("the back-end expresses the program");
    run_by(runnable, words, |session| {
        let options = Options::default();
        run_on(session, Rc::clone(device), Precision::Double, |rt| equelle_interp::interpret_by(module, rt, options, &mut kernels))
    })
}

#[test]
fn kernels_on_cuda_give_the_numbers_of_the_serial_runtime() {
    let Some(device) = device() else { return };
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("random-cuda-kernels");
    let triangles = Path::new(env!("CARGO_MANIFEST_DIR")).join("../grids/triangles-6x5.grid");
    let fixtures = Fixtures::write(&folder, &triangles).expect("the target folder can be written");
    let mut failures = Vec::new();
    for seed in 1..=if has_gpu() { PROGRAMS } else { WITH_KERNELS } {
        let program = generate::program(seed, Purpose::Run, &fixtures.ranges);
        let text = program.text();
        let compiled = compare::compile(&text, program.units).unwrap_or_else(|failure| panic!("seed {seed}: {}", failure.text));
        let module = &compiled.passes.last().expect("passes").1;
        for fixture in grids(&program, &fixtures) {
            let expected = compare::run(&compiled.plain, &compiled.runnable, fixture, Options::default());
            let words: Vec<String> = fixture.words_for(&compiled.runnable).map(str::to_owned).collect();
            let found = by_kernels(module, &compiled.runnable, &words, &device);
            if let Err(difference) = same(&expected, &found, &or_any_zero(&allowed(&program))) {
                failures.push(format!("seed {seed} on the grid {}: {difference}\n{text}", fixture.name));
                break;
            }
        }
    }
    assert!(failures.is_empty(), "{} programs differ\n{}", failures.len(), failures[..failures.len().min(3)].join("\n"));
}

#[test]
fn programs_of_the_project_run_with_kernels_on_cuda() {
    let Some(device) = device() else { return };
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("project-cuda-kernels");
    let mut failures = Vec::new();
    for subject in subjects(&folder).iter().step_by(if has_gpu() { 1 } else { OF_PROJECT }) {
        let module = subject.compile(OptLevel::O2, Numbers::default());
        for case in &subject.cases {
            let allowed = subject.solved.unwrap_or(if case.exact { Tolerance::NUMBERS } else { GEOMETRY });
            for layout in case.layouts() {
                let words = case.words(layout);
                let expected = compare::run_on(&module, &subject.runnable, &words, Options::default());
                let found = by_kernels(&module, &subject.runnable, &words, &device);
                if let Err(difference) = same(&expected, &found, &|_| allowed) {
                    failures.push(format!("{} {} {layout:?}: {difference}", subject.name, case.name));
                }
            }
        }
    }
    assert!(failures.is_empty(), "{} differ\n{}", failures.len(), failures.join("\n"));
}
