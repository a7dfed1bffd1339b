//! Random programs run the same at operation level on the serial and on the CUDA runtime, there on
//! its emulator, or on a GPU with `EQUELLE_CUDA_DEVICE=gpu`.

use std::path::Path;
use std::process::Command;
use std::rc::Rc;

use backend_cuda::runtime::device::Device;
use backend_cuda::runtime::device::emulator::Emulator;
use backend_cuda::runtime::device::gpu::GpuDevice;
use backend_cuda::runtime::{Precision, run_on};
use equelle_interp::Options;
use equelle_random::compare::{self, Compiled};
use equelle_random::data::{Fixture, Fixtures, grids};
use equelle_random::differential::allowed;
use equelle_random::generate::{self, Purpose};
use equelle_random::outcome::{Outcome, run_by, same};

const PROGRAMS: u64 = 200;

/// A GPU if that is asked for, else the host; `None` where there is no C++ compiler.
fn device() -> Option<Rc<dyn Device>> {
    if std::env::var("EQUELLE_CUDA_DEVICE").is_ok_and(|device| device == "gpu") {
        return Some(Rc::new(GpuDevice::open().expect("there is a GPU")));
    }
    let compiler = Command::new("c++").arg("--version").output().is_ok_and(|output| output.status.success());
    compiler.then(|| Rc::new(Emulator::new()) as Rc<dyn Device>)
}

fn on_cuda(compiled: &Compiled, fixture: &Fixture, device: &Rc<dyn Device>) -> Outcome {
    let words: Vec<String> = fixture.words_for(compiled.runnable).map(str::to_owned).collect();
    run_by(compiled.runnable, &words, |session| {
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
            let expected = compare::run(&compiled.plain, compiled.runnable, fixture, Options::default());
            let found = on_cuda(&compiled, fixture, &device);
            if let Err(difference) = same(&expected, &found, &allowed(&program)) {
                failures.push(format!("seed {seed} on the grid {}: {difference}\n{text}", fixture.name));
                break;
            }
        }
    }
    assert!(failures.is_empty(), "{} of {PROGRAMS} programs differ\n{}", failures.len(), failures[..failures.len().min(3)].join("\n"));
}
