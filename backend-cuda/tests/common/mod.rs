//! Helpers shared by the tests of the runtime: sessions, and the devices of this machine.
#![allow(dead_code)]

use std::rc::Rc;

use backend_cuda::runtime::device::Device;
use backend_cuda::runtime::device::emulator::Emulator;
use backend_cuda::runtime::device::gpu::GpuDevice;
use backend_cuda::runtime::{CudaRuntime, FloatingPoint, KernelModule, Precision};
use equelle_runtime::grid::{Cartesian, Grid};
use equelle_runtime::params::Parameters;
use equelle_runtime::session::{Options, Session};
use equelle_runtime::simulator::Program;
use equelle_runtime::{Error, ErrorKind};

/// A program without inputs.
/// Three kernels as they are generated, of which the second does not compile.
pub const BROKEN: KernelModule = KernelModule::constant(
    "broken",
    r#"// Kernels of broken.

// broken.equelle:3: whole = 2 * u
extern "C" __global__ void whole(const EqSpace space, double* __restrict__ out) {
  out[0] = 1.0;
}

// broken.equelle:5: flux = -k * Gradient(u)
// broken.equelle:9: v = u - Divergence(flux)
extern "C" __global__ void fused(const EqSpace space, double* __restrict__ out) {
  out[0] = undeclared;
}

extern "C" __global__ void last(const EqSpace space, double* __restrict__ out) {
  out[0] = 3.0;
}
"#,
    FloatingPoint::Strict,
);

/// An internal error with the compiler's words, the kernel and its lines, and of no other.
pub fn names_the_broken_kernel(error: &Error) {
    assert_eq!(error.kind, ErrorKind::Backend);
    let message = &error.message;
    assert!(message.starts_with("internal error: ") && message.contains("undeclared"), "{message}");
    let kernel = "in kernel `fused`, made of\n  broken.equelle:5: flux = -k * Gradient(u)\n  broken.equelle:9: v = u - Divergence(flux)";
    assert!(message.ends_with(kernel), "{message}");
}

/// True if there is a C++ compiler, which the emulator needs and a machine with only Rust may not
/// have. `cargo xtask cuda-host-tests` insists on one.
pub fn host_compiler() -> bool {
    let found = std::process::Command::new("c++").arg("--version").output().is_ok_and(|output| output.status.success());
    assert!(found || std::env::var("EQUELLE_NVRTC").as_deref() != Ok("required"), "no C++ compiler named `c++`");
    found
}

/// The emulator if there is a C++ compiler, and the GPU if there is one.
pub fn devices() -> Vec<Rc<dyn Device>> {
    let mut devices: Vec<Rc<dyn Device>> = Vec::new();
    if host_compiler() {
        devices.push(Rc::new(Emulator::new()));
    }
    match GpuDevice::open() {
        Ok(device) => devices.push(Rc::new(device)),
        Err(error) => eprintln!("no GPU: {error}"),
    }
    devices
}

/// A runtime on a grid, with `key=value` parameters.
pub fn runtime(device: Rc<dyn Device>, grid: Grid, parameters: &[String]) -> CudaRuntime {
    runtime_in(Precision::Double, device, grid, parameters)
}

/// The same with collections of a precision.
pub fn runtime_in(precision: Precision, device: Rc<dyn Device>, grid: Grid, parameters: &[String]) -> CudaRuntime {
    let parameters = Parameters::from_words(parameters).unwrap();
    let session = Session::on_grid(Program::named("test"), parameters, grid, Options::silent()).unwrap();
    CudaRuntime::with_precision(session, device, precision).unwrap()
}

/// Shapes that exercise every branch of the numbering: each dimension, one cell along an axis, rows
/// longer than a block.
pub fn shapes() -> Vec<Cartesian> {
    // Powers of two, so that every order of geometric operations gives the same bits.
    let spacing = [0.5, 2.0, 0.25];
    vec![
        Cartesian::line(9, 0.5),
        Cartesian::line(1, 0.5),
        Cartesian::plane([7, 5], [0.5, 2.0]),
        Cartesian::plane([70, 9], [0.5, 2.0]),
        Cartesian::plane([1, 6], [0.5, 2.0]),
        Cartesian::block([5, 4, 6], spacing),
        Cartesian::block([66, 3, 3], spacing),
        Cartesian::block([2, 1, 3], spacing),
    ]
}

/// Shapes with every combination of joined sides, of two cells along an axis too.
pub fn joined_shapes() -> Vec<Cartesian> {
    let spacing = [0.5, 2.0, 0.25];
    let open = [
        Cartesian::line(9, 0.5),
        Cartesian::line(2, 0.5),
        Cartesian::plane([7, 5], [0.5, 2.0]),
        Cartesian::plane([2, 3], [0.5, 2.0]),
        Cartesian::block([5, 4, 6], spacing),
        Cartesian::block([66, 2, 3], spacing),
    ];
    let combinations = |shape: Cartesian| {
        (1..1 << shape.dim).map(move |mask: u32| Cartesian { joined: std::array::from_fn(|axis| mask >> axis & 1 == 1), ..shape })
    };
    open.into_iter().flat_map(combinations).collect()
}

/// A grid of a shape.
pub fn grid(shape: Cartesian) -> Grid {
    let grid = Grid::cartesian(Cartesian { joined: [false; 3], ..shape }).unwrap();
    let sides: Vec<&str> =
        ["x-:x+", "y-:y+", "z-:z+"].into_iter().zip(shape.joined).filter(|(_, joined)| *joined).map(|(sides, _)| sides).collect();
    if sides.is_empty() { grid } else { grid.with_periodic_sides(&sides.join(",")).unwrap() }
}
