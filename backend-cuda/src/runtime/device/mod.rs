//! What the runtime needs of a device, and nothing more.
//!
//! Two implementations: [`crate::runtime::device::gpu::GpuDevice`] and, for tests without a GPU, the emulator. Work goes to one stream: launches and copies run in the order of the calls; but what
//! is put out is copied beside it.

pub mod direct;
pub mod emulator;
pub mod gpu;
pub mod sparse;

use self::direct::DirectSolves;
use self::sparse::SparseProducts;
pub use crate::runtime::kernels::CompileOptions;
use crate::runtime::kernels::KernelModule;
use equelle_runtime::Error;

/// Address in device memory; never 0 for memory that exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DevicePtr(pub u64);

/// A loaded module of kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ModuleId(pub u32);

/// A kernel of a loaded module.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FunctionId(pub u32);

/// A copy beside the stream; later ones have larger numbers, and end later.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CopyId(pub u64);

/// Bytes on their way from the device to a buffer of the host, which is free again when this is dropped.
pub trait PendingCopy: Send {
    /// Waits until they are there.
    ///
    /// # Errors
    /// `Backend`: the device is lost, or work before the copy failed.
    fn bytes(&mut self) -> Result<&[u8], Error>;
}

/// A copy beside the stream, and its bytes.
pub type AsyncCopy = (CopyId, Box<dyn PendingCopy>);

/// Buffers of the host for copies beside the stream: what is on its way is bounded.
pub const STAGING_BUFFERS: usize = 3;

/// An instantiated graph of launches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct GraphId(pub u32);

/// Numbers of blocks and of threads per block along each axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LaunchShape {
    /// Blocks.
    pub grid: [u32; 3],
    /// Threads of a block.
    pub block: [u32; 3],
}

/// One launch of a kernel.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Launch {
    /// The kernel.
    pub function: FunctionId,
    /// Its name, for messages.
    pub name: &'static str,
    /// Its shape.
    pub shape: LaunchShape,
    /// Argument values, each from a multiple of 8 bytes on.
    pub words: Vec<u64>,
    /// Where in `words` each argument begins.
    pub offsets: Vec<u32>,
}

/// What is known of a device.
#[derive(Clone, Debug, PartialEq)]
pub struct DeviceFacts {
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
    fn facts(&self) -> &DeviceFacts;
    /// Compiles (or takes from the cache) and loads a module; one that is loaded already stays the same.
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
    /// `memory` comes from [`Device::allocate`] of this device, is not used again, and no work in flight uses it.
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
    /// Begins to copy pieces of device memory to one buffer of the host, beside the stream: after all work that it has been given, while it goes on. Waits until one of [`STAGING_BUFFERS`] buffers
    /// is free; another thread has them. `None`: the host has no room for such a buffer.
    ///
    /// # Safety
    /// Each piece is of memory allocated here, which no work that is appended before [`Device::await_copy`] writes, and which is not freed before [`Device::synchronise`].
    unsafe fn copy_to_host_async(&self, pieces: &[(DevicePtr, usize)]) -> Result<Option<AsyncCopy>, Error>;
    /// Makes work that is appended from now on wait for a copy; the host does not wait.
    fn await_copy(&self, copy: CopyId) -> Result<(), Error>;
    /// Appends a launch to the stream.
    ///
    /// # Safety
    /// The arguments match the kernel's parameters, and every address among them points to memory large enough for what the kernel does.
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
    /// Waits for all work, and for copies beside the stream.
    fn synchronise(&self) -> Result<(), Error>;
}
