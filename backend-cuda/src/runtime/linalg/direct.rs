//! Direct solves on the device: the [`DirectSolver`] of the linear-solver driver, over the device's
//! [`DirectEngine`]. The system is in pool memory.

use std::rc::Rc;

use equelle_runtime::linalg::{Direct, DirectError, DirectMatrix, DirectSolver};
use equelle_runtime::{Error, ErrorKind};

use crate::runtime::device::Device;
use crate::runtime::device::direct::{DirectEngine, DirectSystem};
use crate::runtime::executor::pool::Buffer;
use crate::runtime::linalg::space::Space;

/// The buffers of a system.
struct SystemBuffers {
    system: DirectSystem,
    values: Rc<Buffer>,
    b: Rc<Buffer>,
    x: Rc<Buffer>,
    _pattern: [Rc<Buffer>; 2],
}

/// Direct solves by a library of the device.
struct OnDevice {
    // In the order in which they must be dropped.
    engine: Box<dyn DirectEngine>,
    buffers: Option<SystemBuffers>,
    _device: Rc<dyn Device>,
}

impl Space<f64> {
    /// A direct solver on the device, or the reason why there is none.
    pub(crate) fn new_direct_solver(&self) -> Direct<Space<f64>> {
        // SAFETY: the owner of the engine owns the device as well, and drops the engine first.
        match unsafe { self.executor.device().direct_engine() } {
            Ok(engine) => Direct::Solver(Box::new(OnDevice { engine, buffers: None, _device: Rc::clone(self.executor.device()) })),
            Err(reason) => Direct::Unavailable(reason),
        }
    }

    /// Waits until all queued work is done, before calls of an engine.
    fn synchronise(&mut self) -> Result<(), DirectError> {
        self.executor.flush().and_then(|()| self.executor.synchronise()).map_err(failed)
    }
}

/// Converts a device error for a direct solver; the next use of the device returns it again.
fn failed(error: Error) -> DirectError {
    DirectError::Failed(error.message)
}

/// A count in the type of the library.
fn signed(what: &str, number: usize) -> Result<i32, Error> {
    i32::try_from(number).map_err(|_| Error::new(ErrorKind::Backend, format!("{what} are more than 32 bits count")))
}

impl SystemBuffers {
    fn new(rt: &mut Space<f64>, matrix: &DirectMatrix<'_>) -> Result<SystemBuffers, Error> {
        let what = "the system of a direct solve";
        let (n, entries) = (matrix.n(), matrix.values.len());
        signed("the rows of the matrix", n)?;
        signed("the entries of the matrix", entries)?;
        // Checked above: no row begins behind the last entry, no column is behind the last row.
        let row_ptr = rt.executor.upload(what, &matrix.row_ptr.iter().map(|&start| start as i32).collect::<Vec<_>>())?;
        let col_idx = rt.executor.upload(what, &matrix.col_idx.iter().map(|&column| column as i32).collect::<Vec<_>>())?;
        let values = rt.executor.upload(what, matrix.values)?;
        let zeros = vec![0.0f64; n];
        let (b, x) = (rt.executor.upload(what, &zeros)?, rt.executor.upload(what, &zeros)?);
        let system = DirectSystem {
            n,
            entries,
            row_ptr: row_ptr.address(),
            col_idx: col_idx.address(),
            values: values.address(),
            b: b.address(),
            x: x.address(),
            definiteness: matrix.definiteness,
        };
        Ok(SystemBuffers { system, values, b, x, _pattern: [row_ptr, col_idx] })
    }
}

/// The error of a call without analysis, which callers do not make.
fn nothing_analysed() -> DirectError {
    DirectError::Failed("no system has been analysed".to_owned())
}

impl DirectSolver<Space<f64>> for OnDevice {
    fn name(&self) -> String {
        self.engine.name()
    }

    fn analyse(&mut self, rt: &mut Space<f64>, matrix: DirectMatrix<'_>) -> Result<(), DirectError> {
        let buffers = SystemBuffers::new(rt, &matrix).map_err(failed)?;
        rt.synchronise()?;
        // SAFETY: the system was just written; it lives until the next one is analysed or the
        // engine is dropped.
        let analysed = unsafe { self.engine.analyse(&buffers.system) };
        self.buffers = Some(buffers);
        analysed
    }

    fn factorize(&mut self, rt: &mut Space<f64>, values: &[f64]) -> Result<(), DirectError> {
        let buffers = self.buffers.as_ref().filter(|buffers| buffers.system.entries == values.len()).ok_or_else(nothing_analysed)?;
        rt.executor.upload_to(&buffers.values, values).map_err(failed)?;
        rt.synchronise()?;
        // SAFETY: the system is alive.
        unsafe { self.engine.factorize() }
    }

    fn solve(&mut self, rt: &mut Space<f64>, x: &mut [f64], transposed: bool) -> Result<(), DirectError> {
        let buffers = self.buffers.as_ref().filter(|buffers| buffers.system.n == x.len()).ok_or_else(nothing_analysed)?;
        rt.executor.upload_to(&buffers.b, x).map_err(failed)?;
        rt.synchronise()?;
        // SAFETY: the system is alive.
        unsafe { self.engine.solve(transposed) }?;
        x.copy_from_slice(&rt.executor.download(buffers.x.address(), x.len()).map_err(failed)?);
        Ok(())
    }
}
