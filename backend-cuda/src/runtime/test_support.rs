//! Helpers for unit tests of the runtime.

use std::rc::Rc;

use equelle_runtime::grid::{Cartesian, Grid};
use equelle_runtime::linalg::Csr;
use equelle_runtime::params::Parameters;
use equelle_runtime::session::{Options, Session};
use equelle_runtime::simulator::Program;

use crate::runtime::device::emulator::Emulator;
use crate::runtime::device::gpu::GpuDevice;
use crate::runtime::device::{Device, DevicePtr};
use crate::runtime::executor::Executor;
use crate::runtime::executor::arguments::EqRows;
use crate::runtime::executor::pool::Buffer;
use crate::runtime::linalg::space::Space;
use crate::runtime::runtime::CudaRuntime;

/// Runtimes on the emulator, if there is a C++ compiler, and on the GPU, if there is one.
pub(super) fn runtimes() -> Vec<CudaRuntime> {
    let mut devices: Vec<Rc<dyn Device>> = Vec::new();
    if std::process::Command::new("c++").arg("--version").output().is_ok_and(|output| output.status.success()) {
        devices.push(Rc::new(Emulator::new()));
    }
    if let Ok(device) = GpuDevice::open() {
        devices.push(Rc::new(device));
    }
    devices.into_iter().map(runtime_on).collect()
}

/// Spaces in double precision on the same devices.
pub(super) fn spaces() -> Vec<Space<f64>> {
    runtimes().into_iter().map(|rt| rt.linear_space()).collect()
}

/// A runtime on a device.
pub(super) fn runtime_on(device: Rc<dyn Device>) -> CudaRuntime {
    let grid = Grid::cartesian(Cartesian::line(2, 1.0)).expect("a grid of two cells");
    let session = Session::on_grid(Program::named("test"), Parameters::default(), grid, Options::silent()).expect("a session");
    CudaRuntime::on_device(session, device).expect("a runtime")
}

impl Executor {
    /// Copies numbers to the device.
    pub(super) fn put(&self, values: &[f64]) -> Rc<Buffer> {
        self.upload("test data", values).expect("memory")
    }

    /// Copies a matrix to the device; the buffers own its memory.
    pub(super) fn put_matrix(&self, matrix: &Csr) -> (EqRows, [Rc<Buffer>; 3]) {
        let row_ptr: Vec<u64> = matrix.row_ptr().iter().map(|&start| start as u64).collect();
        let row_ptr = self.upload("test data", &row_ptr).expect("memory");
        let columns = self.upload("test data", matrix.col_idx()).expect("memory");
        let parts = [row_ptr, columns, self.put(matrix.values())];
        let [row_ptr, columns, entries] = [0, 1, 2].map(|part: usize| parts[part].address().0);
        (EqRows { row_ptr, columns, entries }, parts)
    }

    /// The bits of numbers on the device.
    pub(super) fn bits(&self, from: DevicePtr, len: usize) -> Vec<u64> {
        self.download(from, len).expect("what was computed")
    }
}

/// The bits of numbers.
pub(super) fn bits(values: &[f64]) -> Vec<u64> {
    values.iter().map(|value| value.to_bits()).collect()
}

/// A fixed sequence of pseudo-random numbers in [-1, 1) (Knuth's MMIX multiplier).
pub(super) fn numbers(seed: u64, n: usize) -> Vec<f64> {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    };
    (0..n).map(|_| next()).collect()
}

/// The seven-point matrix of a box with `k` fields in each cell: every block is random, diagonal
/// blocks dominate.
pub(super) fn box_matrix([nx, ny, nz]: [usize; 3], k: usize) -> Csr {
    let n = nx * ny * nz;
    let mut entries = Vec::new();
    let mut random = numbers(5, 16 * n * k * k).into_iter();
    let mut block = |i: usize, j: usize, diagonal: f64| {
        for (f, g) in (0..k).flat_map(|f| (0..k).map(move |g| (f, g))) {
            let value = if f == g { diagonal } else { 0.0 };
            entries.push((f * n + i, g * n + j, value + 0.4 / k as f64 * random.next().unwrap_or(0.5)));
        }
    };
    for cell in 0..n {
        let place = [cell % nx, cell / nx % ny, cell / (nx * ny)];
        block(cell, cell, 6.5);
        for (at, (size, stride)) in place.into_iter().zip([(nx, 1), (ny, nx), (nz, nx * ny)]) {
            if at > 0 {
                block(cell, cell - stride, -1.0);
            }
            if at + 1 < size {
                block(cell, cell + stride, -1.0);
            }
        }
    }
    Csr::from_triplets(n * k, n * k, &entries).expect("legal entries")
}

/// The seven-point Laplacian of a box with Dirichlet walls (`fixed`) or closed ones, times `scale`.
pub(super) fn laplacian([nx, ny, nz]: [usize; 3], fixed: bool, scale: f64) -> Csr {
    let mut entries = Vec::new();
    for cell in 0..nx * ny * nz {
        let place = [cell % nx, cell / nx % ny, cell / (nx * ny)];
        let mut diagonal = if fixed && place[0] == 0 { 2.0 } else { 0.0 };
        for (at, (size, stride)) in place.into_iter().zip([(nx, 1), (ny, nx), (nz, nx * ny)]) {
            let mut neighbour = |other: usize| {
                entries.push((cell, other, -scale));
                diagonal += 1.0;
            };
            if at > 0 {
                neighbour(cell - stride);
            }
            if at + 1 < size {
                neighbour(cell + stride);
            }
        }
        entries.push((cell, cell, scale * diagonal));
    }
    Csr::from_triplets(nx * ny * nz, nx * ny * nz, &entries).expect("legal entries")
}
