//! A CUDA device through the driver API.

mod async_copy;
mod compilation;
pub mod cudss;
pub mod cusparse;
mod error;
mod graph;
mod mapped;
pub mod nvrtc;
pub mod probe;
pub mod registers;

use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;
use std::panic::resume_unwind;
use std::rc::Rc;
use std::sync::Arc;
use std::thread;

use cudarc::driver::result::{self, DriverError};
use cudarc::driver::{CudaContext, CudaModule, CudaStream, sys};
use cudarc::nvrtc::Ptx;
use equelle_runtime::Error;
use equelle_runtime::report::event::KernelResources;

use self::async_copy::AsyncCopies;
use self::compilation::{Compilations, Job};
use self::error::{During, GpuError};
use self::graph::{Graph, Kernel, TimedGraph};
use self::mapped::MappedMemory;
use crate::runtime::device::direct::{DirectEngine, DirectSolves};
use crate::runtime::device::sparse::{Allocate, SparseMatrix, SparseProducts};
use crate::runtime::device::{
    AsyncCopy, CompileOptions, CopyId, Device, DeviceProperties, DevicePtr, FunctionId, GraphId, Launch, LaunchShape, MappedWords, ModuleId,
};
use crate::runtime::kernels::KernelModule;

/// The first CUDA device of the machine, with one stream, and another one for asynchronous copies.
/// Its context is the primary one, current in the thread that opened it.
#[derive(Debug)]
pub struct GpuDevice {
    // In the order in which they must be dropped.
    cusparse: OnceCell<cusparse::Library>,
    copies: RefCell<Option<AsyncCopies>>,
    compilations: RefCell<Compilations>,
    state: RefCell<State>,
    stream: Arc<CudaStream>,
    context: Arc<CudaContext>,
    properties: DeviceProperties,
    /// True if a kernel of a graph may start while the previous one ends (programmatic dependent
    /// launch).
    has_programmatic_launch: bool,
}

#[derive(Debug, Default)]
struct State {
    graphs: Vec<Option<Graph>>,
    kernels: Vec<Kernel>,
    modules: Vec<(Arc<CudaModule>, KernelModule)>,
    /// Loaded modules by the hash of their inputs.
    loaded: HashMap<u64, ModuleId>,
}

impl GpuDevice {
    /// Opens device 0.
    ///
    /// # Errors
    /// `Backend`: no driver, no device, or the driver refuses.
    pub fn open() -> Result<GpuDevice, Error> {
        GpuDevice::open_for(Vec::new())
    }

    /// Opens device 0 for a program that will load these modules: they are compiled while the
    /// driver makes a context, and after that.
    ///
    /// # Errors
    /// As for [`GpuDevice::open`].
    pub fn open_for(modules: Vec<(KernelModule, CompileOptions)>) -> Result<GpuDevice, Error> {
        probe::driver()?;
        if CudaContext::device_count().map_err(GpuError::Start)? == 0 {
            return Err(GpuError::NoDevice.into());
        }
        let capability = capability().map_err(GpuError::Start)?;
        let compile = move |modules: &[(KernelModule, CompileOptions)]| {
            let arch = nvrtc::target(capability)?;
            let mut compilations = Compilations::default();
            compilations.begin(modules, &arch)?;
            Ok::<_, Error>((arch, compilations))
        };
        let modules = Arc::new(modules);
        let for_thread = Arc::clone(&modules);
        // A system that gives no more threads compiles here.
        let compiler = thread::Builder::new().spawn(move || compile(&for_thread));
        let context = CudaContext::new(0);
        let compiler = match compiler {
            Ok(thread) => thread.join().unwrap_or_else(|panic| resume_unwind(panic)),
            Err(_) => compile(&modules),
        };
        let context = context.map_err(GpuError::Start)?;
        let (arch, compilations) = compiler?;
        let memory = context.total_mem().map_err(GpuError::Start)? as u64;
        let stream = context.new_stream().map_err(GpuError::Start)?;
        let name = context.name().unwrap_or_else(|_| "CUDA device".to_owned());
        // `EQ_START` is empty in kernels compiled for older architectures.
        let has_programmatic_launch = arch.trim_start_matches(|c: char| !c.is_ascii_digit()).parse().is_ok_and(|arch: u32| arch >= 90);
        Ok(GpuDevice {
            cusparse: OnceCell::new(),
            copies: RefCell::default(),
            compilations: RefCell::new(compilations),
            state: RefCell::default(),
            stream,
            context,
            properties: DeviceProperties { name, arch, memory },
            has_programmatic_launch,
        })
    }

    /// Version of the driver's CUDA, such as `13.0`.
    ///
    /// # Errors
    /// `Backend`: no driver.
    pub fn driver_version() -> Result<String, Error> {
        probe::driver()?;
        let mut version = 0;
        // SAFETY: the number outlives the call.
        unsafe { sys::cuDriverGetVersion(&raw mut version) }.result().during("asking for the driver's version")?;
        Ok(format!("{}.{}", version / 1000, version % 1000 / 10))
    }

    /// Bandwidth in bytes per second of copies within device memory, counting reads and writes,
    /// from ten copies of 256 MiB. Raw calls, since cudarc's copies record events, which would be
    /// measured.
    ///
    /// # Errors
    /// `Backend`.
    pub fn copy_rate(&self) -> Result<f64, Error> {
        const BYTES: usize = 256 << 20;
        const TASK: &str = "measuring the copy rate";
        // SAFETY: both buffers have the copied size, and are freed after the stream is idle.
        unsafe {
            let from = result::malloc_sync(BYTES).during(TASK)?;
            let to = result::malloc_sync(BYTES).during(TASK)?;
            let mut best = 0.0f64;
            for _ in 0..10 {
                let start = std::time::Instant::now();
                for _ in 0..4 {
                    result::memcpy_dtod_async(to, from, BYTES, self.stream.cu_stream()).during(TASK)?;
                }
                self.stream.synchronize().during(TASK)?;
                best = best.max(8.0 * BYTES as f64 / start.elapsed().as_secs_f64());
            }
            result::free_sync(from).during(TASK)?;
            result::free_sync(to).during(TASK)?;
            Ok(best)
        }
    }
}

/// The compute capability of device 0 (10 major + minor), which needs no context.
fn capability() -> Result<u32, DriverError> {
    use sys::CUdevice_attribute::{
        CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR as MAJOR, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR as MINOR,
    };
    let device = result::device::get(0)?;
    // SAFETY: the driver has just given this device.
    let [major, minor] = [MAJOR, MINOR].map(|attribute| unsafe { result::device::get_attribute(device, attribute) });
    Ok((10 * major? + minor?).unsigned_abs())
}

impl Device for GpuDevice {
    fn properties(&self) -> &DeviceProperties {
        &self.properties
    }

    fn load(&self, module: &KernelModule, options: CompileOptions) -> Result<ModuleId, Error> {
        let job = Job::new(module, options, &self.properties.arch)?;
        let key = job.key;
        if let Some(&id) = self.state.borrow().loaded.get(&key) {
            return Ok(id);
        }
        let image = self.compilations.borrow_mut().image(&job)?;
        let loaded = self.context.load_module(Ptx::from_binary(image)).during("loading kernels")?;
        let mut state = self.state.borrow_mut();
        state.modules.push((loaded, module.clone()));
        let id = ModuleId(state.modules.len() as u32 - 1);
        state.loaded.insert(key, id);
        Ok(id)
    }

    fn prepare(&self, modules: &[(KernelModule, CompileOptions)]) -> Result<(), Error> {
        self.compilations.borrow_mut().begin(modules, &self.properties.arch)
    }

    fn function(&self, module: ModuleId, name: &str) -> Result<FunctionId, Error> {
        let mut state = self.state.borrow_mut();
        let (loaded, text) = &state.modules[module.0 as usize];
        let function = loaded.load_function(name).during(&format!("internal error: finding kernel `{name}`"))?;
        let is_programmatic = self.has_programmatic_launch && text.is_programmatic(name);
        state.kernels.push(Kernel { function, is_programmatic });
        Ok(FunctionId(state.kernels.len() as u32 - 1))
    }

    fn allocate(&self, bytes: u64) -> Result<Option<DevicePtr>, Error> {
        // SAFETY: the memory is freed through `free` or with the context.
        match unsafe { result::malloc_sync(bytes as usize) } {
            Ok(address) => Ok(Some(DevicePtr(address))),
            Err(DriverError(sys::CUresult::CUDA_ERROR_OUT_OF_MEMORY)) => Ok(None),
            error @ Err(_) => error.during("allocating memory").map(|_| None),
        }
    }

    fn memory(&self) -> Result<(u64, u64), Error> {
        let (free, total) = self.context.mem_get_info().during("asking for free memory")?;
        Ok((free as u64, total as u64))
    }

    unsafe fn free(&self, memory: DevicePtr) {
        // SAFETY: as the caller promises. An error here is from earlier work and reappears in the
        // next call that can report it.
        let _ = unsafe { result::free_sync(memory.0) };
    }

    unsafe fn upload(&self, to: DevicePtr, bytes: &[u8]) -> Result<(), Error> {
        if bytes.is_empty() {
            return Ok(());
        }
        // SAFETY: as the caller promises; the wait lets the host reuse `bytes`.
        let copied = unsafe { result::memcpy_htod_async(to.0, bytes, self.stream.cu_stream()) };
        copied.and_then(|()| self.stream.synchronize()).during("copying to the GPU")
    }

    unsafe fn download(&self, from: DevicePtr, bytes: &mut [u8]) -> Result<(), Error> {
        if bytes.is_empty() {
            return self.synchronise();
        }
        // SAFETY: as the caller promises; the copy has finished when the stream has.
        unsafe { result::memcpy_dtoh_async(bytes, from.0, self.stream.cu_stream()) }.during("copying from the GPU")?;
        self.stream.synchronize().during("the kernels before a copy from the GPU")
    }

    fn mapped_words(&self, count: usize) -> Result<Rc<dyn MappedWords>, Error> {
        Ok(Rc::new(MappedMemory::new(&self.context, count).during("mapping memory of the host")?))
    }

    fn is_idle(&self) -> Result<bool, Error> {
        // SAFETY: the stream lives as long as this.
        match unsafe { sys::cuStreamQuery(self.stream.cu_stream()) } {
            sys::CUresult::CUDA_ERROR_NOT_READY => Ok(false),
            result => result.result().during("a kernel").map(|()| true),
        }
    }

    unsafe fn copy_to_host_async(&self, pieces: &[(DevicePtr, usize)]) -> Result<Option<AsyncCopy>, Error> {
        const TASK: &str = "copying from the GPU";
        let mut copies = self.copies.borrow_mut();
        let copies = match &mut *copies {
            Some(copies) => copies,
            none => none.insert(AsyncCopies::new(&self.context).during(TASK)?),
        };
        // SAFETY: as the caller promises.
        unsafe { copies.copy(&self.stream, pieces) }.during(TASK)
    }

    fn await_copy(&self, copy: CopyId) -> Result<(), Error> {
        let copies = self.copies.borrow();
        copies.as_ref().map_or(Ok(()), |copies| copies.wait(&self.stream, copy)).during("waiting for a copy from the GPU")
    }

    unsafe fn launch(&self, launch: &Launch) -> Result<(), Error> {
        let state = self.state.borrow();
        let function = &state.kernels[launch.function.0 as usize].function;
        let LaunchShape { grid, block } = launch.shape;
        let mut arguments = graph::addresses(launch);
        // SAFETY: as the caller promises; the driver copies the arguments before it returns. A raw
        // call, since cudarc's launch builder needs statically typed arguments.
        unsafe { result::launch_kernel(function.cu_function(), grid.into(), block.into(), 0, self.stream.cu_stream(), &mut arguments) }
            .during(&format!("launching kernel `{}`", launch.name))
    }

    unsafe fn build_graph(&self, launches: &[Launch]) -> Result<GraphId, Error> {
        let mut state = self.state.borrow_mut();
        let kernels = launches.iter().map(|launch| (&state.kernels[launch.function.0 as usize], launch));
        let graph = Graph::new(kernels).during("building a graph")?;
        state.graphs.push(Some(graph));
        Ok(GraphId(state.graphs.len() as u32 - 1))
    }

    unsafe fn launch_graph(&self, graph: GraphId) -> Result<(), Error> {
        let state = self.state.borrow();
        let Some(Some(graph)) = state.graphs.get(graph.0 as usize) else { return Err(GpuError::FreedGraph.into()) };
        // SAFETY: modules live as long as this; the caller vouches for the memory.
        unsafe { graph.launch(&self.stream) }.during("launching a graph")
    }

    unsafe fn time_launches(&self, launches: &[Launch]) -> Result<Option<Vec<f64>>, Error> {
        let state = self.state.borrow();
        let kernels = launches.iter().map(|launch| (&state.kernels[launch.function.0 as usize].function, launch));
        let Ok(graph) = TimedGraph::new(&self.context, kernels) else { return Ok(None) };
        // SAFETY: as the caller promises; modules live as long as this.
        unsafe { graph.run(&self.stream) }.map(Some).during("timing kernels")
    }

    fn copy_bandwidth(&self) -> Option<f64> {
        self.copy_rate().ok()
    }

    fn resources(&self, function: FunctionId, threads: u32) -> Option<KernelResources> {
        let state = self.state.borrow();
        let function = &state.kernels.get(function.0 as usize)?.function;
        let count = |count: i32| u32::try_from(count).ok();
        let registers = count(function.num_regs().ok()?)?;
        let local_bytes = count(function.get_attribute(sys::CUfunction_attribute::CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES).ok()?)?;
        let blocks = function.occupancy_max_active_blocks_per_multiprocessor(threads, 0, None).ok()?;
        let most = self.context.attribute(sys::CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR).ok()?;
        Some(KernelResources { registers, local_bytes, occupancy: f64::from(blocks * threads) / f64::from(most) })
    }

    fn free_graph(&self, graph: GraphId) {
        if let Some(graph) = self.state.borrow_mut().graphs.get_mut(graph.0 as usize) {
            *graph = None;
        }
    }

    fn synchronise(&self) -> Result<(), Error> {
        self.stream.synchronize().during("a kernel")?;
        self.copies.borrow().as_ref().map_or(Ok(()), AsyncCopies::synchronise).during("copying from the GPU")
    }
}

impl SparseProducts for GpuDevice {
    unsafe fn product(&self, a: &SparseMatrix, b: &SparseMatrix, allocate: &mut Allocate<'_>) -> Result<SparseMatrix, Error> {
        let library = match self.cusparse.get() {
            Some(library) => library,
            None => {
                let opened = cusparse::Library::open(&self.stream)?;
                self.cusparse.get_or_init(|| opened)
            }
        };
        // SAFETY: as the caller promises.
        unsafe { library.product(a, b, allocate) }
    }
}

impl DirectSolves for GpuDevice {
    unsafe fn direct_engine(&self) -> Result<Box<dyn DirectEngine>, String> {
        cudss::engine()
    }
}

impl Drop for GpuDevice {
    fn drop(&mut self) {
        // Nothing is in flight when graphs, modules and the stream are dropped.
        let _ = self.stream.synchronize();
    }
}
