//! What the runtime needs of a device, and nothing more.
//!
//! Two implementations: [`gpu::GpuDevice`] and, for tests without a GPU, [`emulator::Emulator`].
//! Work goes to one stream: launches and copies run in the order of the calls. Asynchronous copies
//! to the host, for outputs, run in a second stream.

pub mod direct;
pub mod emulator;
pub mod gpu;
mod ids;
pub mod sparse;

pub use ids::{CopyId, DevicePtr, FunctionId, GraphId, Launch, LaunchShape, ModuleId};

use self::direct::DirectSolves;
use self::sparse::SparseProducts;
pub use crate::runtime::kernels::CompileOptions;
use crate::runtime::kernels::KernelModule;
use equelle_runtime::Error;

/// Bytes on their way from the device to a buffer of the host, which is free again when this is
/// dropped.
pub trait PendingCopy: Send {
    /// Waits until they are there.
    ///
    /// # Errors
    /// `Backend`: the device is lost, or work before the copy failed.
    fn bytes(&mut self) -> Result<&[u8], Error>;
}

/// An asynchronous copy to the host, and its bytes.
pub type AsyncCopy = (CopyId, Box<dyn PendingCopy>);

/// Buffers of the host for asynchronous copies: what is on its way is bounded.
pub const STAGING_BUFFERS: usize = 3;

/// What is known of a device.
#[derive(Clone, Debug, PartialEq)]
pub struct DeviceProperties {
    /// Name as the vendor gives it.
    pub name: String,
    /// Architecture that kernels are compiled for, such as `sm_90`.
    pub arch: String,
    /// Bytes of memory.
    pub memory: u64,
}

/// A device. Methods return errors without a line; the runtime adds it.
pub trait Device: SparseProducts + DirectSolves {
    /// What it is.
    fn facts(&self) -> &DeviceProperties;
    /// Compiles (or takes from the cache) and loads a module; one that is loaded stays the same.
    fn load(&self, module: &KernelModule, options: CompileOptions) -> Result<ModuleId, Error>;
    /// Finds a kernel.
    fn function(&self, module: ModuleId, name: &str) -> Result<FunctionId, Error>;
    /// Memory of at least `bytes` bytes, aligned to 256; `None` when there is not enough.
    fn allocate(&self, bytes: u64) -> Result<Option<DevicePtr>, Error>;
    /// Free and total bytes now.
    fn memory(&self) -> Result<(u64, u64), Error>;

    /// Gives memory back.
    ///
    /// # Safety
    /// `memory` comes from [`Device::allocate`] of this device, is not used again, and no work in
    /// flight uses it.
    unsafe fn free(&self, memory: DevicePtr);
    /// Copies to the device; `bytes` may be reused on return.
    ///
    /// # Safety
    /// `to` points to at least `bytes.len()` bytes allocated here.
    unsafe fn upload(&self, to: DevicePtr, bytes: &[u8]) -> Result<(), Error>;
    /// Waits for all work, then copies from the device.
    ///
    /// # Safety
    /// `from` points to at least `bytes.len()` bytes allocated here.
    unsafe fn download(&self, from: DevicePtr, bytes: &mut [u8]) -> Result<(), Error>;
    /// Begins to copy pieces of device memory to one buffer of the host, after all work so far and
    /// beside all later work. Waits until another thread has freed one of [`STAGING_BUFFERS`]
    /// buffers. `None`: the host has not enough memory for such a buffer.
    ///
    /// # Safety
    /// Each piece is of memory allocated here, which no work that is appended before
    /// [`Device::await_copy`] writes, and which is not freed before [`Device::synchronise`].
    unsafe fn copy_to_host_async(&self, pieces: &[(DevicePtr, usize)]) -> Result<Option<AsyncCopy>, Error>;
    /// Makes work that is appended from now on wait for a copy; the host does not wait.
    fn await_copy(&self, copy: CopyId) -> Result<(), Error>;
    /// Appends a launch to the stream.
    ///
    /// # Safety
    /// The arguments match the kernel's parameters, and every address among them points to memory
    /// large enough for what the kernel does.
    unsafe fn launch(&self, launch: &Launch) -> Result<(), Error>;
    /// Prepares a sequence of launches for repeated use.
    ///
    /// # Safety
    /// As for [`Device::launch`], at every [`Device::launch_graph`].
    unsafe fn build_graph(&self, launches: &[Launch]) -> Result<GraphId, Error>;
    /// Appends a graph to the stream.
    ///
    /// # Safety
    /// Memory that its launches use still exists; the graph has not been freed.
    unsafe fn launch_graph(&self, graph: GraphId) -> Result<(), Error>;
    /// Frees a graph; unknown ones are ignored. Waits for nothing: a graph in flight finishes.
    fn free_graph(&self, graph: GraphId);
    /// Waits for all work, and for asynchronous copies.
    fn synchronise(&self) -> Result<(), Error>;
}
