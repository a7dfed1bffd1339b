//! A CUDA device through the driver interface.

mod async_copy;
pub mod cudss;
pub mod cusparse;
mod graph;
pub mod nvrtc;
pub mod probe;

use std::cell::RefCell;
use std::collections::HashMap;
use std::ffi::CString;

use cudarc::driver::{result, sys};
use equelle_runtime::{Error, ErrorKind};

use crate::runtime::cache;
use crate::runtime::device::{AsyncCopy, CompileOptions, CopyId, Device, DeviceFacts, DevicePtr, FunctionId, GraphId, Launch, ModuleId};
use crate::runtime::kernels::{FloatingPoint, KernelModule};

/// The first CUDA device of the machine, with one stream, and another one for copies beside it.
#[derive(Debug)]
pub struct GpuDevice {
    facts: DeviceFacts,
    device: sys::CUdevice,
    context: sys::CUcontext,
    stream: sys::CUstream,
    /// Copies beside the stream, from the first one on.
    copies: RefCell<Option<async_copy::AsyncCopies>>,
    sparse: cusparse::LazyLibrary,
    /// Whether a kernel may be started while the one before it in a graph ends.
    overlaps: bool,
    state: RefCell<State>,
}

#[derive(Debug, Default)]
struct State {
    modules: Vec<(sys::CUmodule, KernelModule)>,
    /// By what they are made of.
    loaded: HashMap<u128, ModuleId>,
    functions: Vec<graph::Kernel>,
    graphs: Vec<Option<sys::CUgraphExec>>,
}

/// An error of the driver as ours.
fn failed(what: &str, error: &result::DriverError) -> Error {
    let text = error.error_string().ok().and_then(|s| s.to_str().ok()).unwrap_or("unknown error").to_owned();
    let name = error.error_name().ok().and_then(|s| s.to_str().ok()).unwrap_or("").to_owned();
    Error::new(ErrorKind::Backend, format!("{what} failed on the GPU: {text} ({name})"))
}

impl GpuDevice {
    /// Opens device 0.
    ///
    /// # Errors
    /// `Backend`: no driver, no device, or the driver refuses.
    pub fn open() -> Result<GpuDevice, Error> {
        probe::driver()?;
        let no_device =
            |e: result::DriverError| failed("starting CUDA", &e).hint("check that `nvidia-smi` shows a GPU, or use --backend serial");
        result::init().map_err(no_device)?;
        if result::device::get_count().map_err(no_device)? == 0 {
            let error = Error::new(ErrorKind::Backend, "no CUDA device was found");
            return Err(error.hint("check that `nvidia-smi` shows a GPU, or use --backend serial"));
        }
        let device = result::device::get(0).map_err(no_device)?;
        // SAFETY: the device came from the driver.
        let (major, minor, memory) = unsafe {
            use sys::CUdevice_attribute as A;
            let major = result::device::get_attribute(device, A::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR).map_err(no_device)?;
            let minor = result::device::get_attribute(device, A::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR).map_err(no_device)?;
            (major, minor, result::device::total_mem(device).map_err(no_device)?)
        };
        let arch = nvrtc::target((10 * major + minor).unsigned_abs())?;
        // SAFETY: the device came from the driver; the context is released when this is dropped.
        let context = unsafe { result::primary_ctx::retain(device) }.map_err(no_device)?;
        // SAFETY: the context was retained above.
        unsafe { result::ctx::set_current(context) }.map_err(no_device)?;
        let stream = result::stream::create(result::stream::StreamKind::NonBlocking).map_err(no_device)?;
        let name = result::device::get_name(device).unwrap_or_else(|_| "CUDA device".to_owned());
        let facts = DeviceFacts { name, arch, memory: memory as u64 };
        let (sparse, state) = (cusparse::LazyLibrary::new(), RefCell::new(State::default()));
        // `EQ_START` is nothing in kernels that are compiled for less.
        let overlaps = facts.arch.trim_start_matches(|c: char| !c.is_ascii_digit()).parse().is_ok_and(|arch: u32| arch >= 90);
        Ok(GpuDevice { facts, device, context, stream, copies: RefCell::new(None), sparse, overlaps, state })
    }

    /// Version of the driver's CUDA, such as `13.0`.
    ///
    /// # Errors
    /// `Backend`: no driver.
    pub fn driver_version() -> Result<String, Error> {
        probe::driver()?;
        let mut version = 0;
        // SAFETY: the number outlives the call.
        unsafe { sys::cuDriverGetVersion(&raw mut version) }.result().map_err(|e| failed("asking for the driver's version", &e))?;
        Ok(format!("{}.{}", version / 1000, version % 1000 / 10))
    }

    /// Bytes per second of a copy within the device's memory, read and written bytes counted, from ten copies of 256 MiB.
    ///
    /// # Errors
    /// `Backend`.
    pub fn copy_rate(&self) -> Result<f64, Error> {
        const BYTES: usize = 256 << 20;
        let report = |e: result::DriverError| failed("measuring the copy rate", &e);
        // SAFETY: both buffers are of the size copied, and freed after the stream is idle.
        unsafe {
            let from = result::malloc_sync(BYTES).map_err(report)?;
            let to = result::malloc_sync(BYTES).map_err(report)?;
            let mut best = 0.0f64;
            for _ in 0..10 {
                let start = std::time::Instant::now();
                for _ in 0..4 {
                    result::memcpy_dtod_async(to, from, BYTES, self.stream).map_err(report)?;
                }
                result::stream::synchronize(self.stream).map_err(report)?;
                best = best.max(8.0 * BYTES as f64 / start.elapsed().as_secs_f64());
            }
            result::free_sync(from).map_err(report)?;
            result::free_sync(to).map_err(report)?;
            Ok(best)
        }
    }
}

impl Device for GpuDevice {
    fn facts(&self) -> &DeviceFacts {
        &self.facts
    }

    fn load(&self, module: &KernelModule, options: CompileOptions) -> Result<ModuleId, Error> {
        let mut flags = options.definitions();
        if module.floating_point == FloatingPoint::Fast {
            flags.push("--fmad=true".to_owned());
        }
        let source = module.full_source();
        let key = cache::hash(&[source.as_bytes(), flags.join(" ").as_bytes(), self.facts.arch.as_bytes(), nvrtc::version()?.as_bytes()]);
        if let Some(&id) = self.state.borrow().loaded.get(&key) {
            return Ok(id);
        }
        let image = match cache::read(key, "cubin") {
            Some(image) => image,
            None => {
                let image = nvrtc::compile(&source, &self.facts.arch, &flags).map_err(|error| module.with_kernel(error))?;
                cache::write(key, "cubin", &image);
                image
            }
        };
        // SAFETY: the image is what NVRTC made, whole (the cache checks a checksum).
        let loaded = unsafe { result::module::load_data(image.as_ptr().cast()) }.map_err(|e| failed("loading kernels", &e))?;
        let mut state = self.state.borrow_mut();
        state.modules.push((loaded, *module));
        let id = ModuleId(state.modules.len() as u32 - 1);
        state.loaded.insert(key, id);
        Ok(id)
    }

    fn function(&self, module: ModuleId, name: &str) -> Result<FunctionId, Error> {
        let mut state = self.state.borrow_mut();
        let c_name = CString::new(name).map_err(|_| Error::new(ErrorKind::Backend, "internal error: a kernel name holds a zero byte"))?;
        let (module, text) = state.modules[module.0 as usize];
        // SAFETY: the module was loaded by `load` and is unloaded only on drop.
        let function = unsafe { result::module::get_function(module, c_name) }
            .map_err(|e| failed(&format!("internal error: finding kernel `{name}`"), &e))?;
        let waits_by_itself = self.overlaps && text.waits_by_itself(name);
        state.functions.push(graph::Kernel { function, waits_by_itself });
        Ok(FunctionId(state.functions.len() as u32 - 1))
    }

    fn allocate(&self, bytes: u64) -> Result<Option<DevicePtr>, Error> {
        // SAFETY: the memory is freed through `free` or with the context.
        match unsafe { result::malloc_sync(bytes as usize) } {
            Ok(address) => Ok(Some(DevicePtr(address))),
            Err(result::DriverError(sys::CUresult::CUDA_ERROR_OUT_OF_MEMORY)) => Ok(None),
            Err(e) => Err(failed("allocating memory", &e)),
        }
    }

    fn memory(&self) -> Result<(u64, u64), Error> {
        let (free, total) = result::mem_get_info().map_err(|e| failed("asking for free memory", &e))?;
        Ok((free as u64, total as u64))
    }

    unsafe fn free(&self, memory: DevicePtr) {
        // SAFETY: as the caller promises. An error here is one of earlier work and comes up at the next call that can report it.
        let _ = unsafe { result::free_sync(memory.0) };
    }

    unsafe fn upload(&self, to: DevicePtr, bytes: &[u8]) -> Result<(), Error> {
        if bytes.is_empty() {
            return Ok(());
        }
        // SAFETY: as the caller promises; the wait lets the host reuse `bytes`.
        unsafe {
            result::memcpy_htod_async(to.0, bytes, self.stream).map_err(|e| failed("copying to the GPU", &e))?;
            result::stream::synchronize(self.stream).map_err(|e| failed("copying to the GPU", &e))
        }
    }

    unsafe fn download(&self, from: DevicePtr, bytes: &mut [u8]) -> Result<(), Error> {
        if bytes.is_empty() {
            return self.synchronise();
        }
        // SAFETY: as the caller promises; the copy has finished when the stream has.
        unsafe {
            result::memcpy_dtoh_async(bytes, from.0, self.stream).map_err(|e| failed("copying from the GPU", &e))?;
            result::stream::synchronize(self.stream).map_err(|e| failed("the kernels before a copy from the GPU", &e))
        }
    }

    unsafe fn copy_to_host_async(&self, pieces: &[(DevicePtr, usize)]) -> Result<Option<AsyncCopy>, Error> {
        let report = |e: result::DriverError| failed("copying from the GPU", &e);
        let mut copies = self.copies.borrow_mut();
        if copies.is_none() {
            *copies = Some(async_copy::AsyncCopies::new(self.context).map_err(report)?);
        }
        let Some(copies) = &mut *copies else { return Ok(None) };
        // SAFETY: as the caller promises.
        unsafe { copies.copy(self.stream, pieces) }.map_err(report)
    }

    fn await_copy(&self, copy: CopyId) -> Result<(), Error> {
        let copies = self.copies.borrow();
        let waited = copies.as_ref().map_or(Ok(()), |copies| copies.wait(self.stream, copy));
        waited.map_err(|e| failed("waiting for a copy from the GPU", &e))
    }

    unsafe fn launch(&self, launch: &Launch) -> Result<(), Error> {
        let function = self.state.borrow().functions[launch.function.0 as usize].function;
        let s = launch.shape;
        let mut arguments = graph::addresses(launch);
        // SAFETY: as the caller promises; the driver copies the arguments before it returns.
        unsafe {
            result::launch_kernel(
                function,
                (s.grid[0], s.grid[1], s.grid[2]),
                (s.block[0], s.block[1], s.block[2]),
                0,
                self.stream,
                &mut arguments,
            )
        }
        .map_err(|e| failed(&format!("launching kernel `{}`", launch.name), &e))
    }

    unsafe fn build_graph(&self, launches: &[Launch]) -> Result<GraphId, Error> {
        let report = |e: result::DriverError| failed("building a graph", &e);
        let mut graph: sys::CUgraph = std::ptr::null_mut();
        // SAFETY: `graph` outlives the call.
        unsafe { sys::cuGraphCreate(&raw mut graph, 0) }.result().map_err(report)?;
        let mut previous = None;
        let mut exec: sys::CUgraphExec = std::ptr::null_mut();
        let built = (|| {
            for launch in launches {
                let kernel = self.state.borrow().functions[launch.function.0 as usize];
                previous = Some(graph::append(graph, previous, kernel, launch).map_err(report)?);
            }
            // SAFETY: the graph is complete; `exec` outlives the call.
            unsafe { sys::cuGraphInstantiateWithFlags(&raw mut exec, graph, 0) }.result().map_err(report)
        })();
        // SAFETY: the graph was created above; the executable one does not need it.
        let _ = unsafe { sys::cuGraphDestroy(graph) }.result();
        built?;
        let mut state = self.state.borrow_mut();
        state.graphs.push(Some(exec));
        Ok(GraphId(state.graphs.len() as u32 - 1))
    }

    unsafe fn launch_graph(&self, graph: GraphId) -> Result<(), Error> {
        let exec = self.state.borrow().graphs.get(graph.0 as usize).copied().flatten();
        let Some(exec) = exec else { return Err(Error::new(ErrorKind::Backend, "internal error: a freed graph was launched")) };
        // SAFETY: the graph exists; the caller vouches for its memory.
        unsafe { result::graph::launch(exec, self.stream) }.map_err(|e| failed("launching a graph", &e))
    }

    fn free_graph(&self, graph: GraphId) {
        if let Some(exec) = self.state.borrow_mut().graphs.get_mut(graph.0 as usize).and_then(Option::take) {
            // SAFETY: taken out of the table, so destroyed once.
            let _ = unsafe { result::graph::exec_destroy(exec) };
        }
    }

    fn synchronise(&self) -> Result<(), Error> {
        // SAFETY: the stream lives as long as this.
        unsafe { result::stream::synchronize(self.stream) }.map_err(|e| failed("a kernel", &e))?;
        let copies = self.copies.borrow();
        copies.as_ref().map_or(Ok(()), async_copy::AsyncCopies::synchronise).map_err(|e| failed("copying from the GPU", &e))
    }
}

impl Drop for GpuDevice {
    fn drop(&mut self) {
        let state = self.state.take();
        drop(self.sparse.take());
        drop(self.copies.take());
        // SAFETY: everything was made by this device and nothing is in flight after the wait.
        unsafe {
            let _ = result::stream::synchronize(self.stream);
            for exec in state.graphs.into_iter().flatten() {
                let _ = result::graph::exec_destroy(exec);
            }
            for (module, _) in state.modules {
                let _ = result::module::unload(module);
            }
            let _ = result::stream::destroy(self.stream);
            let _ = result::primary_ctx::release(self.device);
        }
    }
}
