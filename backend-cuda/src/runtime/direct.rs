//! Direct solves on the device: a library there behind [`DirectEngine`], and the [`DirectSolver`] that the front door of linear systems asks.
//!
//! On GPUs that is cuDSS, where it is found. It keeps its factors in memory of its own, beside the pool of the runtime; the system is in the pool. The host device has nothing
//! of the kind, unless a test gives it something.

use std::rc::Rc;

use equelle_runtime::linalg::{Definiteness, Direct, DirectFault, DirectMatrix, DirectSolver};
use equelle_runtime::{Error, ErrorKind};

use crate::runtime::device::{Device, DevicePtr};
use crate::runtime::grid::bytes_of;
use crate::runtime::pool::Buffer;
use crate::runtime::precision::doubles;
use crate::runtime::program::CudaRuntime;

/// A system in device memory. Offsets and columns are signed numbers of 32 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DirectSystem {
    /// Number of rows, and of columns.
    pub n: usize,
    /// Number of entries.
    pub entries: usize,
    /// Where rows begin. `[n + 1]`
    pub row_ptr: DevicePtr,
    /// Column of each entry, ascending within a row. `[entries]`
    pub col_idx: DevicePtr,
    /// Value of each entry. `[entries]`
    pub values: DevicePtr,
    /// The right-hand side. `[n]`
    pub b: DevicePtr,
    /// The solution. `[n]`
    pub x: DevicePtr,
    /// What is known of the matrix.
    pub definiteness: Definiteness,
}

/// Factorises and solves on a device, in order with its other work.
pub trait DirectEngine {
    /// Its name and version.
    fn name(&self) -> String;
    /// Orders the unknowns of a system and factorises symbolically; forgets the system before.
    ///
    /// # Errors
    /// Why not.
    ///
    /// # Safety
    /// The system is in memory of this device, as it says, and stays there until another one is analysed or the engine is dropped; all of it has been written.
    unsafe fn analyse(&mut self, system: &DirectSystem) -> Result<(), DirectFault>;
    /// Factorises the values that the system has.
    ///
    /// # Errors
    /// Why not; there are no factors then.
    ///
    /// # Safety
    /// The system that was analysed last is still there.
    unsafe fn factorize(&mut self) -> Result<(), DirectFault>;
    /// Writes the solution of the system, or of its transpose.
    ///
    /// # Errors
    /// Why not.
    ///
    /// # Safety
    /// The system that was analysed last is still there.
    unsafe fn solve(&mut self, transposed: bool) -> Result<(), DirectFault>;
}

/// Devices that may have a library for direct solves.
pub trait DirectSolves {
    /// A new engine; the error says what is missing, for people.
    ///
    /// # Errors
    /// What is missing.
    ///
    /// # Safety
    /// The engine is dropped before the device.
    unsafe fn direct_engine(&self) -> Result<Box<dyn DirectEngine>, String>;
}

/// The memory of a system.
struct Held {
    system: DirectSystem,
    values: Rc<Buffer>,
    b: Rc<Buffer>,
    x: Rc<Buffer>,
    _pattern: [Rc<Buffer>; 2],
}

/// Direct solves by the library of a device.
struct OnDevice {
    // In the order in which they must be dropped.
    engine: Box<dyn DirectEngine>,
    held: Option<Held>,
    _device: Rc<dyn Device>,
}

impl CudaRuntime {
    /// A direct solver on the device, or why there is none.
    pub(super) fn new_direct_solver(&self) -> Direct<CudaRuntime> {
        // SAFETY: what holds the engine holds the device as well, and drops the engine first.
        match unsafe { self.device.direct_engine() } {
            Ok(engine) => Direct::Solver(Box::new(OnDevice { engine, held: None, _device: Rc::clone(&self.device) })),
            Err(reason) => Direct::Unavailable(reason),
        }
    }

    /// Waits until everything queued so far is done, for calls of an engine.
    fn settle(&mut self) -> Result<(), DirectFault> {
        self.flush().and_then(|()| self.synchronise()).map_err(failed)
    }
}

/// An error of the device in the terms of a direct solver; whoever uses the device next gets it again.
fn failed(error: Error) -> DirectFault {
    DirectFault::Failed(error.message)
}

/// Numbers as the library takes them.
fn signed(what: &str, number: usize) -> Result<i32, Error> {
    i32::try_from(number).map_err(|_| Error::new(ErrorKind::Backend, format!("{what} are more than 32 bits count")))
}

impl Held {
    fn new(rt: &mut CudaRuntime, matrix: &DirectMatrix<'_>) -> Result<Held, Error> {
        let what = "the system of a direct solve";
        let (n, entries) = (matrix.n(), matrix.values.len());
        signed("the rows of the matrix", n)?;
        signed("the entries of the matrix", entries)?;
        // Checked above: no row begins behind the last entry, no column is behind the last row.
        let row_ptr = rt.upload(what, &bytes_of(matrix.row_ptr, |start| (start as i32).to_le_bytes()))?;
        let col_idx = rt.upload(what, &bytes_of(matrix.col_idx, |column| (column as i32).to_le_bytes()))?;
        let values = rt.upload(what, &bytes_of(matrix.values, f64::to_le_bytes))?;
        let zeros = vec![0; 8 * n];
        let (b, x) = (rt.upload(what, &zeros)?, rt.upload(what, &zeros)?);
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
        Ok(Held { system, values, b, x, _pattern: [row_ptr, col_idx] })
    }
}

/// What was not analysed, which callers do not ask for.
fn nothing_analysed() -> DirectFault {
    DirectFault::Failed("no system has been analysed".to_owned())
}

impl DirectSolver<CudaRuntime> for OnDevice {
    fn name(&self) -> String {
        self.engine.name()
    }

    fn analyse(&mut self, rt: &mut CudaRuntime, matrix: DirectMatrix<'_>) -> Result<(), DirectFault> {
        let held = Held::new(rt, &matrix).map_err(failed)?;
        rt.settle()?;
        // SAFETY: the system is what was just written; it is kept until the next one has been analysed or the engine is dropped.
        let analysed = unsafe { self.engine.analyse(&held.system) };
        self.held = Some(held);
        analysed
    }

    fn factorize(&mut self, rt: &mut CudaRuntime, values: &[f64]) -> Result<(), DirectFault> {
        let held = self.held.as_ref().filter(|held| held.system.entries == values.len()).ok_or_else(nothing_analysed)?;
        rt.upload_to(&held.values, &bytes_of(values, f64::to_le_bytes)).map_err(failed)?;
        rt.settle()?;
        // SAFETY: the system is held.
        unsafe { self.engine.factorize() }
    }

    fn solve(&mut self, rt: &mut CudaRuntime, x: &mut [f64], transposed: bool) -> Result<(), DirectFault> {
        let held = self.held.as_ref().filter(|held| held.system.n == x.len()).ok_or_else(nothing_analysed)?;
        rt.upload_to(&held.b, &bytes_of(x, f64::to_le_bytes)).map_err(failed)?;
        rt.settle()?;
        // SAFETY: the system is held.
        unsafe { self.engine.solve(transposed) }?;
        let told = rt.download(held.x.address(), 8 * x.len()).map_err(failed)?;
        x.copy_from_slice(&doubles(&told));
        Ok(())
    }
}
