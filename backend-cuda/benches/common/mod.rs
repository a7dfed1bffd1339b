//! Helpers shared by the benchmarks of linear systems: the device, runtimes on it, and matrices.

use std::rc::Rc;

use backend_cuda::runtime::CudaRuntime;
use backend_cuda::runtime::device::Device;
use backend_cuda::runtime::device::emulator::Emulator;
use backend_cuda::runtime::device::gpu::GpuDevice;
use equelle_runtime::Error;
use equelle_runtime::grid::{Cartesian, Grid};
use equelle_runtime::linalg::Csr;
use equelle_runtime::params::Parameters;
use equelle_runtime::session::{Options, Session};
use equelle_runtime::simulator::Program;

/// The GPU; without one the emulator, which tells nothing of speed.
pub fn device() -> Rc<dyn Device> {
    match GpuDevice::open() {
        Ok(gpu) => Rc::new(gpu),
        Err(error) => {
            eprintln!("no GPU ({error}); on the emulator");
            Rc::new(Emulator::new())
        }
    }
}

/// A runtime with no memory yet.
pub fn runtime(device: Rc<dyn Device>) -> Result<CudaRuntime, Error> {
    let grid = Grid::cartesian(Cartesian::line(2, 1.0)).expect("a grid");
    let session = Session::on_grid(Program::named("linear"), Parameters::default(), grid, Options::silent()).expect("a session");
    CudaRuntime::on_device(session, device)
}

/// The Laplacian of a cube with walls of a fixed value.
pub fn poisson(edge: usize) -> Csr {
    let n = edge * edge * edge;
    let strides = [edge * edge, edge, 1];
    let (mut row_ptr, mut columns, mut values) = (Vec::with_capacity(n + 1), Vec::with_capacity(7 * n), Vec::with_capacity(7 * n));
    row_ptr.push(0);
    for cell in 0..n {
        let place = strides.map(|stride| cell / stride % edge);
        let below = (0..3).filter(|&axis| place[axis] > 0).map(|axis| (cell - strides[axis], -1.0));
        let above = (0..3).rev().filter(|&axis| place[axis] + 1 < edge).map(|axis| (cell + strides[axis], -1.0));
        for (column, value) in below.chain([(cell, 6.0)]).chain(above) {
            columns.push(column as u32);
            values.push(value);
        }
        row_ptr.push(columns.len());
    }
    Csr::new(n, n, row_ptr, columns, values).expect("columns ascend")
}
