//! Direct solves on a device: what a library there does.
//!
//! On GPUs that is cuDSS, where it is found. It keeps its factors in memory of its own, beside the
//! pool of the runtime. The emulator has nothing of the kind, unless a test gives it something.

use equelle_runtime::linalg::{Definiteness, DirectError};

use super::ids::DevicePtr;

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
    /// The system is in memory of this device, as it says, and stays there until another one is
    /// analysed or the engine is dropped; all of it has been written.
    unsafe fn analyse(&mut self, system: &DirectSystem) -> Result<(), DirectError>;
    /// Factorises the values that the system has.
    ///
    /// # Errors
    /// Why not; there are no factors then.
    ///
    /// # Safety
    /// The system that was analysed last is still there.
    unsafe fn factorize(&mut self) -> Result<(), DirectError>;
    /// Writes the solution of the system, or of its transpose.
    ///
    /// # Errors
    /// Why not.
    ///
    /// # Safety
    /// The system that was analysed last is still there.
    unsafe fn solve(&mut self, transposed: bool) -> Result<(), DirectError>;
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
