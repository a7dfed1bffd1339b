//! The interface of a device.
//!
//! Two implementations: [`gpu::GpuDevice`] and, for tests without a GPU, [`emulator::Emulator`].
//! All work goes to one stream: launches and copies run in the order of the calls. Asynchronous
//! copies to the host, for outputs, run in a second stream.

pub mod direct;
pub mod emulator;
pub mod gpu;
mod ids;
pub mod sparse;

pub use ids::{CopyId, DevicePtr, FunctionId, GraphId, Launch, LaunchShape, ModuleId, Work};

use std::rc::Rc;
use std::sync::atomic::AtomicU64;

use self::direct::DirectSolves;
use self::sparse::SparseProducts;
pub use crate::runtime::kernels::CompileOptions;
use crate::runtime::kernels::KernelModule;
use equelle_runtime::Error;
use equelle_runtime::report::event::KernelResources;

/// A pending copy from the device to a buffer of the host, which is released on drop.
pub trait PendingCopy: Send {
    /// Waits until the copy is done.
    ///
    /// # Errors
    /// `Backend`: the device is lost, or work before the copy failed.
    fn bytes(&mut self) -> Result<&[u8], Error>;
}

/// Page-locked words of the host at an address of the device (mapped memory).
pub trait MappedWords: std::fmt::Debug {
    /// The address of the first word for kernels.
    fn address(&self) -> DevicePtr;
    /// The words.
    fn words(&self) -> &[AtomicU64];
}

/// An asynchronous copy to the host, and its bytes.
pub type AsyncCopy = (CopyId, Box<dyn PendingCopy>);

/// Number of staging buffers on the host for asynchronous copies, which bounds pending copies.
pub const STAGING_BUFFERS: usize = 3;

/// Properties of a device.
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
    /// Its properties.
    fn properties(&self) -> &DeviceProperties;
    /// Compiles (or takes from the cache) and loads a module; a loaded module is returned as it is.
    fn load(&self, module: &KernelModule, options: CompileOptions) -> Result<ModuleId, Error>;
    /// Begins to compile modules that will be loaded soon, beside what the caller does.
    ///
    /// # Errors
    /// As for [`Device::load`].
    fn prepare(&self, modules: &[(KernelModule, CompileOptions)]) -> Result<(), Error> {
        let _ = modules;
        Ok(())
    }
    /// Finds a kernel.
    fn function(&self, module: ModuleId, name: &str) -> Result<FunctionId, Error>;
    /// Allocates at least `bytes` bytes, aligned to 256; `None` if there is too little memory.
    fn allocate(&self, bytes: u64) -> Result<Option<DevicePtr>, Error>;
    /// Free and total bytes at present.
    fn memory(&self) -> Result<(u64, u64), Error>;

    /// Frees memory.
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
    /// Words of the host that kernels can write, and the host can read while the device works.
    ///
    /// # Errors
    /// `Backend`: the driver has no such memory.
    fn mapped_words(&self, count: usize) -> Result<Rc<dyn MappedWords>, Error>;
    /// True if all work so far is done; does not wait.
    ///
    /// # Errors
    /// `Backend`: the device is lost, or work failed.
    fn is_idle(&self) -> Result<bool, Error>;
    /// Begins to copy pieces of device memory to one buffer of the host, after all work so far and
    /// concurrently with later work. Waits until another thread has released one of
    /// [`STAGING_BUFFERS`] buffers. `None`: the host has too little memory for such a buffer.
    ///
    /// # Safety
    /// Each piece is of memory allocated here, which no work appended before [`Device::await_copy`]
    /// writes, and which is not freed before [`Device::synchronise`].
    unsafe fn copy_to_host_async(&self, pieces: &[(DevicePtr, usize)]) -> Result<Option<AsyncCopy>, Error>;
    /// Makes later work wait for a copy; the host does not wait.
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
    /// Memory of its launches still exists; the graph was not freed.
    unsafe fn launch_graph(&self, graph: GraphId) -> Result<(), Error>;
    /// Runs a sequence of launches and returns the seconds of each on the device. Waits for them.
    /// `None`: nothing was launched, since the device cannot time them.
    ///
    /// # Safety
    /// As for [`Device::launch`].
    unsafe fn time_launches(&self, launches: &[Launch]) -> Result<Option<Vec<f64>>, Error>;
    /// Bandwidth of a copy in device memory in bytes a second, reads and writes together; `None` if
    /// it cannot be measured.
    fn copy_bandwidth(&self) -> Option<f64>;
    /// Returns the resources of a kernel in blocks of so many threads; `None` if the device cannot
    /// tell.
    fn resources(&self, function: FunctionId, threads: u32) -> Option<KernelResources>;
    /// Frees a graph; ignores unknown ones. Does not wait: a graph in flight finishes.
    fn free_graph(&self, graph: GraphId);
    /// Waits for all work, and for asynchronous copies.
    fn synchronise(&self) -> Result<(), Error>;
}
