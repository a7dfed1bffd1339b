//! The emulator, a device without a GPU: runs the same kernel sources on the host, compiled by the
//! system's C++ compiler, thread after thread.
//!
//! It tests generated programs end to end where there is no GPU. It is slow, and does not reveal
//! races.

mod async_copy;
mod sparse;

use std::alloc::{Layout, alloc, dealloc};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ffi::c_uint;
use std::path::Path;
use std::process::Command;
use std::rc::Rc;
use std::sync::OnceLock;
use std::sync::atomic::AtomicU64;
use std::time::Instant;

use equelle_runtime::report::event::KernelResources;
use equelle_runtime::{Error, ErrorKind};
use libloading::Library;

use self::async_copy::AsyncCopies;
use crate::runtime::device::direct::{DirectEngine, DirectSolves};
use crate::runtime::device::{
    AsyncCopy, CompileOptions, CopyId, Device, DeviceProperties, DevicePtr, FunctionId, GraphId, Launch, MappedWords, ModuleId,
};
use crate::runtime::executor::kernel_cache;
use crate::runtime::kernels::KernelModule;

const SHIM: &str = include_str!("shim.hpp");
/// A small device, so that programs that need too much memory fail.
const MEMORY: u64 = 4 << 30;

type Runner = unsafe extern "C" fn(*const c_uint, *const u64, *const c_uint);

/// Runs kernels on the host.
#[derive(Debug)]
pub struct Emulator {
    properties: DeviceProperties,
    copies: RefCell<AsyncCopies>,
    state: RefCell<State>,
    /// Creates engines for direct solves, if there are any.
    direct_engine: Option<fn() -> Box<dyn DirectEngine>>,
}

#[derive(Debug, Default)]
struct State {
    modules: Vec<Library>,
    /// Loaded modules by the hash of their inputs.
    loaded: BTreeMap<u64, ModuleId>,
    functions: Vec<Runner>,
    memory: BTreeMap<u64, Layout>,
    used: u64,
    graphs: BTreeMap<u32, Vec<Launch>>,
    next_graph: u32,
}

impl Emulator {
    /// A device without modules.
    pub fn new() -> Self {
        let properties = DeviceProperties { name: "host (no GPU)".to_owned(), arch: "host".to_owned(), memory: MEMORY };
        Emulator { properties, copies: RefCell::default(), state: RefCell::new(State::default()), direct_engine: None }
    }

    /// The emulator with asynchronous copies as late as the runtime allows: at the next download at
    /// the latest.
    pub fn with_late_copies() -> Self {
        let device = Self::new();
        device.copies.borrow_mut().late = true;
        device
    }

    /// The emulator with engines for direct solves from this function.
    pub fn with_direct_engine(new: fn() -> Box<dyn DirectEngine>) -> Self {
        let mut device = Self::new();
        device.direct_engine = Some(new);
        device
    }

    fn run(&self, launch: &Launch) {
        let runner = self.state.borrow().functions[launch.function.0 as usize];
        let s = launch.shape;
        let shape = [s.grid[0], s.grid[1], s.grid[2], s.block[0], s.block[1], s.block[2]];
        // SAFETY: the runner was made for this kernel; the caller of `launch` promises that words
        // and offsets match its parameters.
        unsafe { runner(shape.as_ptr(), launch.words.as_ptr(), launch.offsets.as_ptr()) };
    }
}

/// Words of the host, at the same address for kernels.
#[derive(Debug)]
struct HostWords(Box<[AtomicU64]>);

impl MappedWords for HostWords {
    fn address(&self) -> DevicePtr {
        DevicePtr(self.0.as_ptr() as u64)
    }

    fn words(&self) -> &[AtomicU64] {
        &self.0
    }
}

impl Default for Emulator {
    fn default() -> Self {
        Self::new()
    }
}

fn failed(message: String) -> Error {
    Error::new(ErrorKind::Backend, message)
}

/// Names of the kernels in a source.
fn kernel_names(source: &str) -> Vec<&str> {
    let kernels = source.split("extern \"C\" __global__ void ").skip(1);
    kernels
        .filter_map(|rest| rest.split('(').next())
        // Launch bounds may stand before the name.
        .filter_map(|words| words.split_whitespace().last())
        .collect()
}

/// Options of the C++ compiler: arithmetic as written, as NVRTC compiles it. Kernels run for
/// moments here, and compiling them takes most of the time.
const FLAGS: [&str; 7] = ["-std=c++17", "-O1", "-ffp-contract=off", "-fno-fast-math", "-shared", "-fPIC", "-Wno-unknown-pragmas"];

/// The version text of the C++ compiler; empty if there is none.
fn compiler_version() -> &'static [u8] {
    static VERSION: OnceLock<Vec<u8>> = OnceLock::new();
    VERSION.get_or_init(|| Command::new("c++").arg("--version").output().map_or_else(|_| Vec::new(), |output| output.stdout))
}

/// A library with these kernels at `target`: from the cache under `key`, or compiled.
fn library(key: u64, source: &str, options: &[String], target: &Path) -> Result<(), Error> {
    if kernel_cache::read(key, "so").is_some_and(|image| std::fs::write(target, image).is_ok()) {
        return Ok(());
    }
    compile(source, options, target)?;
    if let Ok(image) = std::fs::read(target) {
        kernel_cache::write(key, "so", &image);
    }
    Ok(())
}

fn cannot_write(error: std::io::Error) -> Error {
    failed(format!("cannot write the text of kernels: {error}"))
}

fn compile(source: &str, options: &[String], target: &Path) -> Result<(), Error> {
    let text = kernel_cache::scratch_path("cpp").map_err(cannot_write)?;
    std::fs::write(&text, source).map_err(cannot_write)?;
    let output = Command::new("c++").args(FLAGS).args(options).arg("-o").arg(target).arg(&text).output();
    let output = output.map_err(|e| failed(format!("the emulator needs a C++ compiler named `c++`: {e}")))?;
    if output.status.success() {
        return Ok(());
    }
    Err(Error::internal(format!("generated kernels do not compile\n{}", String::from_utf8_lossy(&output.stderr))))
}

impl Device for Emulator {
    fn properties(&self) -> &DeviceProperties {
        &self.properties
    }

    fn load(&self, module: &KernelModule, options: CompileOptions) -> Result<ModuleId, Error> {
        let mut source = format!("{SHIM}\n{}\n", module.full_source());
        for name in kernel_names(&module.source) {
            source.push_str(&format!(
                "extern \"C\" void {name}__run(const unsigned int* shape, const unsigned long long* words, const unsigned int* offsets) {{ eq_run({name}, shape, words, offsets); }}\n"
            ));
        }
        let options = options.definitions();
        let key = kernel_cache::hash(&[source.as_bytes(), options.join(" ").as_bytes(), FLAGS.join(" ").as_bytes(), compiler_version()]);
        if let Some(&id) = self.state.borrow().loaded.get(&key) {
            return Ok(id);
        }
        let library_path = kernel_cache::scratch_path("so").map_err(cannot_write)?;
        library(key, &source, &options, &library_path).map_err(|error| module.with_kernel(error))?;
        // SAFETY: the library was made from our kernels, whose initialisation does nothing.
        let library = unsafe { Library::new(&*library_path) };
        drop(library_path);
        let library = library.map_err(|e| failed(format!("cannot load compiled kernels: {e}")))?;
        let mut state = self.state.borrow_mut();
        state.modules.push(library);
        let id = ModuleId(state.modules.len() as u32 - 1);
        state.loaded.insert(key, id);
        Ok(id)
    }

    fn function(&self, module: ModuleId, name: &str) -> Result<FunctionId, Error> {
        let mut state = self.state.borrow_mut();
        let runner = {
            // SAFETY: the symbol was generated with this signature by `load`.
            let symbol = unsafe { state.modules[module.0 as usize].get::<Runner>(format!("{name}__run").as_bytes()) };
            *symbol.map_err(|e| Error::internal(format!("kernel `{name}` is missing: {e}")))?
        };
        state.functions.push(runner);
        Ok(FunctionId(state.functions.len() as u32 - 1))
    }

    fn allocate(&self, bytes: u64) -> Result<Option<DevicePtr>, Error> {
        let mut state = self.state.borrow_mut();
        if state.used + bytes > MEMORY {
            return Ok(None);
        }
        let Ok(layout) = Layout::from_size_align(bytes.max(1) as usize, 256) else { return Ok(None) };
        // SAFETY: the layout is not empty.
        let address = unsafe { alloc(layout) } as u64;
        if address == 0 {
            return Ok(None);
        }
        state.used += bytes;
        state.memory.insert(address, layout);
        Ok(Some(DevicePtr(address)))
    }

    fn memory(&self) -> Result<(u64, u64), Error> {
        Ok((MEMORY - self.state.borrow().used, MEMORY))
    }

    unsafe fn free(&self, memory: DevicePtr) {
        let mut state = self.state.borrow_mut();
        if let Some(layout) = state.memory.remove(&memory.0) {
            state.used -= layout.size() as u64;
            // SAFETY: allocated in `allocate` with this layout, and removed from the table, so
            // freed once.
            unsafe { dealloc(memory.0 as *mut u8, layout) };
        }
    }

    unsafe fn upload(&self, to: DevicePtr, bytes: &[u8]) -> Result<(), Error> {
        // SAFETY: the caller promises that `to` is long enough.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), to.0 as *mut u8, bytes.len()) };
        Ok(())
    }

    unsafe fn download(&self, from: DevicePtr, bytes: &mut [u8]) -> Result<(), Error> {
        // The reader may wait for pending copies next.
        self.copies.borrow_mut().complete(CopyId(u64::MAX));
        // SAFETY: the caller promises that `from` is that long.
        unsafe { std::ptr::copy_nonoverlapping(from.0 as *const u8, bytes.as_mut_ptr(), bytes.len()) };
        Ok(())
    }

    fn mapped_words(&self, count: usize) -> Result<Rc<dyn MappedWords>, Error> {
        Ok(Rc::new(HostWords((0..count).map(|_| AtomicU64::new(0)).collect())))
    }

    fn is_idle(&self) -> Result<bool, Error> {
        Ok(true)
    }

    unsafe fn copy_to_host_async(&self, pieces: &[(DevicePtr, usize)]) -> Result<Option<AsyncCopy>, Error> {
        // SAFETY: as the caller promises.
        Ok(Some(unsafe { self.copies.borrow_mut().copy(pieces) }))
    }

    fn await_copy(&self, copy: CopyId) -> Result<(), Error> {
        self.copies.borrow_mut().complete(copy);
        Ok(())
    }

    unsafe fn launch(&self, launch: &Launch) -> Result<(), Error> {
        self.run(launch);
        Ok(())
    }

    unsafe fn build_graph(&self, launches: &[Launch]) -> Result<GraphId, Error> {
        let mut state = self.state.borrow_mut();
        let id = state.next_graph;
        state.next_graph += 1;
        state.graphs.insert(id, launches.to_vec());
        Ok(GraphId(id))
    }

    unsafe fn launch_graph(&self, graph: GraphId) -> Result<(), Error> {
        let launches = self.state.borrow().graphs.get(&graph.0).cloned().unwrap_or_default();
        launches.iter().for_each(|l| self.run(l));
        Ok(())
    }

    unsafe fn time_launches(&self, launches: &[Launch]) -> Result<Option<Vec<f64>>, Error> {
        let seconds = |launch: &Launch| {
            let start = Instant::now();
            self.run(launch);
            start.elapsed().as_secs_f64()
        };
        Ok(Some(launches.iter().map(seconds).collect()))
    }

    fn copy_bandwidth(&self) -> Option<f64> {
        None
    }

    fn resources(&self, _function: FunctionId, _threads: u32) -> Option<KernelResources> {
        None
    }

    fn free_graph(&self, graph: GraphId) {
        self.state.borrow_mut().graphs.remove(&graph.0);
    }

    fn synchronise(&self) -> Result<(), Error> {
        self.await_copy(CopyId(u64::MAX))
    }
}

impl DirectSolves for Emulator {
    unsafe fn direct_engine(&self) -> Result<Box<dyn DirectEngine>, String> {
        self.direct_engine.map(|new| new()).ok_or_else(|| "the device is the host".to_owned())
    }
}

impl Drop for Emulator {
    fn drop(&mut self) {
        // Nobody waits for a copy any longer.
        self.copies.borrow_mut().complete(CopyId(u64::MAX));
        for (address, layout) in std::mem::take(&mut self.state.borrow_mut().memory) {
            // SAFETY: allocated in `allocate` with this layout, and taken out of the table.
            unsafe { dealloc(address as *mut u8, layout) };
        }
    }
}
