//! A GPU as a [`Device`]: one context, one stream.

use crate::runtime::device::{CompileOptions, Device, DeviceFacts, DevicePtr, FunctionId, GraphId, Launch, ModuleId};
use crate::runtime::gpu::{libraries, nvrtc};
use crate::runtime::module::KernelModule;
use cudarc::driver::sys;
use equelle_runtime::{Error, ErrorKind};
use std::cell::RefCell;
use std::ffi::{CStr, CString, c_char, c_void};
use std::ptr::null_mut;

/// A GPU. Used from the thread that made it (the context is current there).
pub struct GpuDevice {
    device: sys::CUdevice,
    stream: sys::CUstream,
    facts: DeviceFacts,
    modules: RefCell<Vec<sys::CUmodule>>,
    functions: RefCell<Vec<sys::CUfunction>>,
    graphs: RefCell<Vec<Option<sys::CUgraphExec>>>,
}

/// Version of CUDA that the driver supports.
pub(crate) fn driver_version() -> Result<(i32, i32), Error> {
    libraries::driver()?;
    let mut version = 0;
    // SAFETY: the address is valid for writing; this call needs no initialisation.
    check(unsafe { sys::cuDriverGetVersion(&mut version) }, "asking for the driver's version")?;
    Ok((version / 1000, version % 1000 / 10))
}

impl GpuDevice {
    /// Opens the GPU of a number, from 0, as the driver counts.
    ///
    /// # Errors
    /// `Backend`: a library is missing, there is no such GPU, or the driver refuses.
    pub fn open(ordinal: usize) -> Result<Self, Error> {
        libraries::driver()?;
        libraries::nvrtc()?;
        // SAFETY (here and below): addresses passed are valid for writing; handles passed come from the calls before.
        let outcome = unsafe { sys::cuInit(0) };
        if outcome == sys::CUresult::CUDA_ERROR_NO_DEVICE {
            return Err(no_gpu());
        }
        check(outcome, "starting the NVIDIA driver")?;
        let mut count = 0;
        // SAFETY: see above.
        check(unsafe { sys::cuDeviceGetCount(&mut count) }, "counting GPUs")?;
        if count == 0 {
            return Err(no_gpu());
        }
        let number = i32::try_from(ordinal).ok().filter(|&n| n < count).ok_or_else(|| {
            let message = format!("there is no GPU number {ordinal}: this machine has {count}, counted from 0");
            Error::new(ErrorKind::Backend, message).hint("set EQUELLE_CUDA_DEVICE to one of them, or unset it")
        })?;
        let mut device = 0;
        // SAFETY: see above.
        check(unsafe { sys::cuDeviceGet(&mut device, number) }, "opening the GPU")?;
        let mut name = [0 as c_char; 256];
        // SAFETY: `name` has the length that is passed.
        check(unsafe { sys::cuDeviceGetName(name.as_mut_ptr(), name.len() as i32, device) }, "asking for the GPU's name")?;
        let name: Vec<u8> = name.iter().map(|&c| c as u8).take_while(|&c| c != 0).collect();
        let mut memory = 0;
        // SAFETY: see above.
        check(unsafe { sys::cuDeviceTotalMem_v2(&mut memory, device) }, "asking for the GPU's memory")?;
        let capability = capability(device)?;
        let facts = DeviceFacts { name: String::from_utf8_lossy(&name).into_owned(), arch: nvrtc::target(capability)?, memory: memory as u64 };
        let mut context = null_mut();
        // SAFETY: see above.
        check(unsafe { sys::cuDevicePrimaryCtxRetain(&mut context, device) }, "making a context on the GPU")?;
        let mut this = GpuDevice {
            device,
            stream: null_mut(),
            facts,
            modules: RefCell::default(),
            functions: RefCell::default(),
            graphs: RefCell::default(),
        };
        // From here on dropping `this` releases the context.
        // SAFETY: see above.
        check(unsafe { sys::cuCtxSetCurrent(context) }, "making the GPU's context current")?;
        let flags = sys::CUstream_flags_enum::CU_STREAM_NON_BLOCKING as u32;
        // SAFETY: see above.
        check(unsafe { sys::cuStreamCreate(&mut this.stream, flags) }, "making a stream on the GPU")?;
        Ok(this)
    }

    /// Copies within the device, for measuring.
    ///
    /// # Safety
    /// Both point to at least `bytes` bytes allocated here, and do not overlap.
    pub(crate) unsafe fn copy(&self, to: DevicePtr, from: DevicePtr, bytes: usize) -> Result<(), Error> {
        // SAFETY: the caller's promise.
        check(unsafe { sys::cuMemcpyDtoDAsync_v2(to.0, from.0, bytes, self.stream) }, "copying on the GPU")
    }

    fn function_handle(&self, id: FunctionId) -> Result<sys::CUfunction, Error> {
        self.functions.borrow().get(id.0 as usize).copied().ok_or_else(|| internal("a kernel of another device"))
    }

    fn load_image(&self, image: &[u8]) -> Result<sys::CUmodule, Error> {
        let mut module = null_mut();
        // SAFETY: the image is machine code, or PTX with a zero byte at its end, as NVRTC wrote it.
        check(unsafe { sys::cuModuleLoadData(&mut module, image.as_ptr().cast::<c_void>()) }, "loading kernels onto the GPU")?;
        Ok(module)
    }
}

impl Device for GpuDevice {
    fn facts(&self) -> &DeviceFacts {
        &self.facts
    }

    fn load(&self, module: &KernelModule, options: CompileOptions) -> Result<ModuleId, Error> {
        let (image, cached) = nvrtc::compile_module(module, &self.facts.arch, options, true)?;
        let handle = match self.load_image(&image) {
            // A cached image that the driver refuses (a changed driver, say) is compiled anew.
            Err(_) if cached => self.load_image(&nvrtc::compile_module(module, &self.facts.arch, options, false)?.0)?,
            outcome => outcome?,
        };
        let mut modules = self.modules.borrow_mut();
        modules.push(handle);
        Ok(ModuleId(modules.len() as u32 - 1))
    }

    fn function(&self, module: ModuleId, name: &str) -> Result<FunctionId, Error> {
        let module = self.modules.borrow().get(module.0 as usize).copied().ok_or_else(|| internal("a module of another device"))?;
        let c_name = CString::new(name).map_err(|_| internal("a kernel name with a zero byte"))?;
        let mut function = null_mut();
        // SAFETY: the module is loaded; the name is a C string.
        let outcome = unsafe { sys::cuModuleGetFunction(&mut function, module, c_name.as_ptr()) };
        check(outcome, &format!("finding the kernel `{name}`"))?;
        let mut functions = self.functions.borrow_mut();
        functions.push(function);
        Ok(FunctionId(functions.len() as u32 - 1))
    }

    fn allocate(&self, bytes: u64) -> Result<Option<DevicePtr>, Error> {
        let Ok(bytes) = usize::try_from(bytes) else { return Ok(None) };
        let mut address = 0;
        // SAFETY: the address is valid for writing.
        let outcome = unsafe { sys::cuMemAlloc_v2(&mut address, bytes.max(1)) };
        if outcome == sys::CUresult::CUDA_ERROR_OUT_OF_MEMORY {
            return Ok(None);
        }
        check(outcome, "taking memory on the GPU")?;
        Ok(Some(DevicePtr(address)))
    }

    fn memory(&self) -> Result<(u64, u64), Error> {
        let (mut free, mut total) = (0, 0);
        // SAFETY: both addresses are valid for writing.
        check(unsafe { sys::cuMemGetInfo_v2(&mut free, &mut total) }, "asking for free memory of the GPU")?;
        Ok((free as u64, total as u64))
    }

    unsafe fn free(&self, memory: DevicePtr) {
        // SAFETY: the caller's promise. A failure (a lost device) has been reported by the call that met it first.
        let _ = unsafe { sys::cuMemFree_v2(memory.0) };
    }

    unsafe fn upload(&self, to: DevicePtr, bytes: &[u8]) -> Result<(), Error> {
        if bytes.is_empty() {
            return Ok(());
        }
        // SAFETY: the caller's promise for `to`; waiting below keeps `bytes` borrowed until the copy is done.
        let outcome = unsafe { sys::cuMemcpyHtoDAsync_v2(to.0, bytes.as_ptr().cast::<c_void>(), bytes.len(), self.stream) };
        let waited = self.synchronise();
        check(outcome, &format!("copying {} bytes to the GPU", bytes.len()))?;
        waited
    }

    unsafe fn download(&self, from: DevicePtr, bytes: &mut [u8]) -> Result<(), Error> {
        if bytes.is_empty() {
            return self.synchronise();
        }
        // SAFETY: the caller's promise for `from`; waiting below keeps `bytes` borrowed until the copy is done.
        let outcome = unsafe { sys::cuMemcpyDtoHAsync_v2(bytes.as_mut_ptr().cast::<c_void>(), from.0, bytes.len(), self.stream) };
        let waited = self.synchronise();
        check(outcome, &format!("copying {} bytes from the GPU", bytes.len()))?;
        waited
    }

    unsafe fn launch(&self, launch: &Launch) -> Result<(), Error> {
        let function = self.function_handle(launch.function)?;
        let mut arguments = argument_pointers(launch);
        let ([gx, gy, gz], [bx, by, bz]) = (launch.shape.grid, launch.shape.block);
        // SAFETY: the caller's promise for the arguments, which the driver copies before it returns.
        let outcome = unsafe {
            sys::cuLaunchKernel(function, gx, gy, gz, bx, by, bz, 0, self.stream, arguments.as_mut_ptr(), null_mut())
        };
        check(outcome, &launch_text(launch))
    }

    unsafe fn build_graph(&self, launches: &[Launch]) -> Result<GraphId, Error> {
        let mut graph = null_mut();
        // SAFETY: the address is valid for writing.
        check(unsafe { sys::cuGraphCreate(&mut graph, 0) }, "making a graph")?;
        // SAFETY: the graph was just made; the caller's promise for the arguments.
        let outcome = unsafe { self.fill_and_instantiate(graph, launches) };
        // SAFETY: the graph was made above and is destroyed once; an instantiated graph does not need it.
        let _ = unsafe { sys::cuGraphDestroy(graph) };
        let executable = outcome?;
        let mut graphs = self.graphs.borrow_mut();
        graphs.push(Some(executable));
        Ok(GraphId(graphs.len() as u32 - 1))
    }

    unsafe fn launch_graph(&self, graph: GraphId) -> Result<(), Error> {
        let executable = self.graphs.borrow().get(graph.0 as usize).copied().flatten().ok_or_else(|| internal("a graph that was freed"))?;
        // SAFETY: the graph exists; the caller's promise for the memory that it uses.
        check(unsafe { sys::cuGraphLaunch(executable, self.stream) }, "launching a graph")
    }

    fn free_graph(&self, graph: GraphId) {
        if let Some(executable) = self.graphs.borrow_mut().get_mut(graph.0 as usize).and_then(Option::take) {
            // SAFETY: the graph exists and is taken out of the list, so that this happens once.
            let _ = unsafe { sys::cuGraphExecDestroy(executable) };
        }
    }

    fn synchronise(&self) -> Result<(), Error> {
        // SAFETY: the stream exists.
        check(unsafe { sys::cuStreamSynchronize(self.stream) }, "waiting for the GPU")
    }
}

impl GpuDevice {
    /// A chain of kernel nodes, instantiated.
    ///
    /// # Safety
    /// As for [`Device::build_graph`]; the graph exists and is empty.
    unsafe fn fill_and_instantiate(&self, graph: sys::CUgraph, launches: &[Launch]) -> Result<sys::CUgraphExec, Error> {
        let mut before: Option<sys::CUgraphNode> = None;
        for launch in launches {
            let mut arguments = argument_pointers(launch);
            let ([gx, gy, gz], [bx, by, bz]) = (launch.shape.grid, launch.shape.block);
            let parameters = sys::CUDA_KERNEL_NODE_PARAMS {
                func: self.function_handle(launch.function)?,
                gridDimX: gx,
                gridDimY: gy,
                gridDimZ: gz,
                blockDimX: bx,
                blockDimY: by,
                blockDimZ: bz,
                sharedMemBytes: 0,
                kernelParams: arguments.as_mut_ptr(),
                extra: null_mut(),
                kern: null_mut(),
                ctx: null_mut(),
            };
            let mut node = null_mut();
            let (dependencies, count) = match &before {
                Some(previous) => (std::ptr::from_ref(previous), 1),
                None => (std::ptr::null(), 0),
            };
            // SAFETY: the graph exists; the arguments are copied before the call returns; `dependencies` points to `count` nodes of the graph.
            let outcome = unsafe { sys::cuGraphAddKernelNode_v2(&mut node, graph, dependencies, count, &parameters) };
            check(outcome, &format!("adding the kernel `{}` to a graph", launch.name))?;
            before = Some(node);
        }
        let mut executable = null_mut();
        // SAFETY: the graph exists and is complete; the address is valid for writing.
        check(unsafe { sys::cuGraphInstantiateWithFlags(&mut executable, graph, 0) }, "instantiating a graph")?;
        Ok(executable)
    }
}

impl Drop for GpuDevice {
    fn drop(&mut self) {
        // Failures here (a lost device) have been reported by the call that met them first.
        let _ = self.synchronise();
        // SAFETY: every handle was made by this device and is destroyed once; nothing is in flight after the synchronisation.
        unsafe {
            for graph in self.graphs.get_mut().drain(..).flatten() {
                let _ = sys::cuGraphExecDestroy(graph);
            }
            for module in self.modules.get_mut().drain(..) {
                let _ = sys::cuModuleUnload(module);
            }
            if !self.stream.is_null() {
                let _ = sys::cuStreamDestroy_v2(self.stream);
            }
            let _ = sys::cuDevicePrimaryCtxRelease_v2(self.device);
        }
    }
}

/// Compute capability as 10 major + minor.
fn capability(device: sys::CUdevice) -> Result<u32, Error> {
    use sys::CUdevice_attribute::{CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR as MAJOR, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR as MINOR};
    let (mut major, mut minor) = (0, 0);
    // SAFETY: the addresses are valid for writing; the device is the driver's.
    check(unsafe { sys::cuDeviceGetAttribute(&mut major, MAJOR, device) }, "asking for the compute capability")?;
    // SAFETY: as above.
    check(unsafe { sys::cuDeviceGetAttribute(&mut minor, MINOR, device) }, "asking for the compute capability")?;
    Ok((10 * major + minor).unsigned_abs())
}

/// Addresses of the arguments, as the driver wants them. They stay valid as long as the launch; the driver only reads through them.
fn argument_pointers(launch: &Launch) -> Vec<*mut c_void> {
    launch.offsets.iter().map(|&at| std::ptr::from_ref(&launch.words[at as usize]).cast_mut().cast::<c_void>()).collect()
}

fn launch_text(launch: &Launch) -> String {
    let ([gx, gy, gz], [bx, by, bz]) = (launch.shape.grid, launch.shape.block);
    format!("launching the kernel `{}` ({gx} x {gy} x {gz} blocks of {bx} x {by} x {bz} threads)", launch.name)
}

fn no_gpu() -> Error {
    Error::new(ErrorKind::Backend, "the NVIDIA driver finds no GPU").hint("check `nvidia-smi` and CUDA_VISIBLE_DEVICES, or run with the serial back-end")
}

fn internal(what: &str) -> Error {
    Error::new(ErrorKind::Backend, format!("internal error of the CUDA back-end: {what}"))
}

fn check(outcome: sys::CUresult, what: &str) -> Result<(), Error> {
    if outcome == sys::CUresult::CUDA_SUCCESS {
        return Ok(());
    }
    let mut text: *const c_char = std::ptr::null();
    // SAFETY: the address is valid for writing; the driver answers with a string that lives forever, or null.
    let described = unsafe { sys::cuGetErrorString(outcome, &mut text) } == sys::CUresult::CUDA_SUCCESS && !text.is_null();
    // SAFETY: not null, see above.
    let described = if described { unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned() } else { "no description".to_owned() };
    let error = Error::new(ErrorKind::Backend, format!("{what} failed: {described} ({outcome:?})"));
    use sys::CUresult as R;
    Err(match outcome {
        R::CUDA_ERROR_ILLEGAL_ADDRESS | R::CUDA_ERROR_LAUNCH_FAILED | R::CUDA_ERROR_MISALIGNED_ADDRESS | R::CUDA_ERROR_ILLEGAL_INSTRUCTION => {
            error.hint("a kernel went wrong, which is a defect of equellec: please report it with the program; outputs written so far are intact")
        }
        R::CUDA_ERROR_OUT_OF_MEMORY => error.hint("use a coarser grid or a GPU with more memory"),
        R::CUDA_ERROR_ECC_UNCORRECTABLE | R::CUDA_ERROR_HARDWARE_STACK_ERROR | R::CUDA_ERROR_DEVICE_UNAVAILABLE => {
            error.hint("the GPU was lost; outputs written so far are intact")
        }
        R::CUDA_ERROR_UNSUPPORTED_PTX_VERSION | R::CUDA_ERROR_NO_BINARY_FOR_GPU | R::CUDA_ERROR_SYSTEM_DRIVER_MISMATCH => {
            error.hint("the NVIDIA driver is older than NVRTC: update the driver, or use an NVRTC of the driver's CUDA version")
        }
        _ => error,
    })
}
