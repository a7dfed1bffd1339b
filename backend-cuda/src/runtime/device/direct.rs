//! Direct solves on a device by a library.
//!
//! On GPUs this is cuDSS, if installed. It allocates its factors itself, outside of the runtime's
//! pool. The emulator has no such library, except in tests.

use equelle_runtime::linalg::{Definiteness, DirectError};

use super::ids::DevicePtr;

/// A system in device memory. Offsets and columns are signed 32-bit integers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DirectSystem {
    /// Number of rows, and of columns.
    pub n: usize,
    /// Number of entries.
    pub entries: usize,
    /// Row pointers. `[n + 1]`
    pub row_ptr: DevicePtr,
    /// Column of each entry, ascending within a row. `[entries]`
    pub col_idx: DevicePtr,
    /// Value of each entry. `[entries]`
    pub values: DevicePtr,
    /// The right-hand side. `[n]`
    pub b: DevicePtr,
    /// The solution. `[n]`
    pub x: DevicePtr,
    /// Definiteness of the matrix.
    pub definiteness: Definiteness,
}

/// A factorisation on a device, in order with its other work.
pub trait DirectEngine {
    /// Its name and version.
    fn name(&self) -> String;
    /// Orders the unknowns of a system and factorises symbolically; drops the previous system.
    ///
    /// # Errors
    /// The reason.
    ///
    /// # Safety
    /// The system is in memory of this device, as described, fully written, and stays there until
    /// another one is analysed or the engine is dropped.
    unsafe fn analyse(&mut self, system: &DirectSystem) -> Result<(), DirectError>;
    /// Factorises the current values of the system.
    ///
    /// # Errors
    /// The reason; there are no factors then.
    ///
    /// # Safety
    /// The last analysed system still exists.
    unsafe fn factorize(&mut self) -> Result<(), DirectError>;
    /// Writes the solution of the system, or of its transpose.
    ///
    /// # Errors
    /// The reason.
    ///
    /// # Safety
    /// The last analysed system still exists.
    unsafe fn solve(&mut self, transposed: bool) -> Result<(), DirectError>;
}

/// Devices that may have a library for direct solves.
pub trait DirectSolves {
    /// A new engine; the error says what is missing, as text for users.
    ///
    /// # Errors
    /// The missing part.
    ///
    /// # Safety
    /// The engine is dropped before the device.
    unsafe fn direct_engine(&self) -> Result<Box<dyn DirectEngine>, String>;
}
