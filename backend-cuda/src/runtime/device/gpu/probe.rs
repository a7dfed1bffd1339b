//! What of CUDA is there. cudarc panics when a library or symbol is missing, so everything used is looked up here first.

use std::path::PathBuf;
use std::sync::OnceLock;

use cudarc::{cusparse as cusparse_crate, driver, nvrtc as nvrtc_crate};
use equelle_runtime::{Error, ErrorKind};

const DRIVER_SYMBOLS: &[&str] = &[
    "cuInit",
    "cuDriverGetVersion",
    "cuDeviceGet",
    "cuDeviceGetCount",
    "cuDeviceGetName",
    "cuDeviceGetAttribute",
    "cuDeviceTotalMem_v2",
    "cuDevicePrimaryCtxRetain",
    "cuDevicePrimaryCtxRelease_v2",
    "cuCtxSetCurrent",
    "cuStreamCreate",
    "cuStreamDestroy_v2",
    "cuStreamSynchronize",
    "cuMemAlloc_v2",
    "cuMemFree_v2",
    "cuMemGetInfo_v2",
    "cuMemHostAlloc",
    "cuMemFreeHost",
    "cuEventCreate",
    "cuEventRecord",
    "cuEventSynchronize",
    "cuEventDestroy_v2",
    "cuStreamWaitEvent",
    "cuMemcpyHtoDAsync_v2",
    "cuMemcpyDtoHAsync_v2",
    "cuMemcpyDtoDAsync_v2",
    "cuModuleLoadData",
    "cuModuleUnload",
    "cuModuleGetFunction",
    "cuLaunchKernel",
    "cuGraphCreate",
    "cuGraphAddKernelNode_v2",
    "cuGraphAddDependencies_v2",
    "cuGraphInstantiateWithFlags",
    "cuGraphLaunch",
    "cuGraphExecDestroy",
    "cuGraphDestroy",
    "cuGetErrorName",
    "cuGetErrorString",
];

const NVRTC_SYMBOLS: &[&str] = &[
    "nvrtcVersion",
    "nvrtcCreateProgram",
    "nvrtcCompileProgram",
    "nvrtcDestroyProgram",
    "nvrtcGetProgramLog",
    "nvrtcGetProgramLogSize",
    "nvrtcGetCUBIN",
    "nvrtcGetCUBINSize",
    "nvrtcGetPTX",
    "nvrtcGetPTXSize",
    "nvrtcGetNumSupportedArchs",
    "nvrtcGetSupportedArchs",
];

const CUSPARSE_SYMBOLS: &[&str] = &[
    "cusparseCreate",
    "cusparseDestroy",
    "cusparseSetStream",
    "cusparseGetErrorString",
    "cusparseGetProperty",
    "cusparseCreateCsr",
    "cusparseDestroySpMat",
    "cusparseCsrSetPointers",
    "cusparseSpMatGetSize",
    "cusparseSpGEMM_createDescr",
    "cusparseSpGEMM_destroyDescr",
    "cusparseSpGEMM_workEstimation",
    "cusparseSpGEMM_compute",
    "cusparseSpGEMM_copy",
];

/// Whether the driver library and all of it that is used are there.
///
/// # Errors
/// `Backend`, naming what is missing.
pub fn driver() -> Result<(), Error> {
    static ANSWER: OnceLock<Result<(), Error>> = OnceLock::new();
    ANSWER.get_or_init(look_for_driver).clone()
}

/// Whether the run-time compiler and all of it that is used are there.
///
/// # Errors
/// `Backend`, naming what is missing.
pub fn nvrtc() -> Result<(), Error> {
    static ANSWER: OnceLock<Result<(), Error>> = OnceLock::new();
    ANSWER.get_or_init(look_for_nvrtc).clone()
}

/// Whether the library for sparse matrices and all of it that is used are there. Derivatives of residuals at operation level need it, nothing else.
///
/// # Errors
/// `Backend`, naming what is missing.
pub fn cusparse() -> Result<(), Error> {
    static ANSWER: OnceLock<Result<(), Error>> = OnceLock::new();
    ANSWER.get_or_init(look_for_cusparse).clone()
}

fn look_for_driver() -> Result<(), Error> {
    // SAFETY: loading the vendor's library runs its initialisation, which is what using it means; nothing else is called.
    if !unsafe { driver::sys::is_culib_present() } {
        return Err(missing("no NVIDIA driver was found (library `libcuda.so.1`)", "install the NVIDIA driver, or use --backend serial"));
    }
    // SAFETY: as above; the library was found, so this does not panic.
    let library = unsafe { driver::sys::culib() };
    let absent = first_absent(library, DRIVER_SYMBOLS);
    absent.map_or(Ok(()), |name| {
        let message = format!("the NVIDIA driver is too old: it has no `{name}`");
        Err(missing(&message, "install a driver for CUDA 13.0 or later, or use --backend serial"))
    })
}

fn look_for_nvrtc() -> Result<(), Error> {
    // SAFETY: as for the driver.
    if !unsafe { nvrtc_crate::sys::is_culib_present() } {
        load_from_usual_places("libnvrtc.so.13");
    }
    // SAFETY: as for the driver.
    if !unsafe { nvrtc_crate::sys::is_culib_present() } {
        let hint = "install the CUDA toolkit 13.0 and put its library folder on LD_LIBRARY_PATH, or use --backend serial";
        return Err(missing("CUDA's run-time compiler was not found (library `libnvrtc.so`)", hint));
    }
    // SAFETY: as for the driver.
    let library = unsafe { nvrtc_crate::sys::culib() };
    let absent = first_absent(library, NVRTC_SYMBOLS);
    absent.map_or(Ok(()), |name| {
        let message = format!("CUDA's run-time compiler is too old: it has no `{name}`");
        Err(missing(&message, "install the CUDA toolkit 13.0 or later, or use --backend serial"))
    })
}

fn look_for_cusparse() -> Result<(), Error> {
    // SAFETY: as for the driver.
    if !unsafe { cusparse_crate::sys::is_culib_present() } {
        load_from_usual_places("libcusparse.so.12");
    }
    let hint =
        "install the CUDA toolkit 13.0 and put its library folder on LD_LIBRARY_PATH, use -O2 without --ad=spgemm, or --backend serial";
    // SAFETY: as for the driver.
    if !unsafe { cusparse_crate::sys::is_culib_present() } {
        return Err(missing("cuSPARSE was not found (library `libcusparse.so`), which derivatives at operation level need", hint));
    }
    // SAFETY: as for the driver.
    let library = unsafe { cusparse_crate::sys::culib() };
    let absent = first_absent(library, CUSPARSE_SYMBOLS);
    absent.map_or(Ok(()), |name| Err(missing(&format!("cuSPARSE is too old: it has no `{name}`"), hint)))
}

fn first_absent<'a>(library: &libloading::Library, symbols: &[&'a str]) -> Option<&'a str> {
    // SAFETY: the symbol is only looked up, never called through this type.
    symbols.iter().copied().find(|name| unsafe { library.get::<unsafe extern "C" fn()>(name.as_bytes()) }.is_err())
}

/// Where a file is below the folders in which toolkits usually are: they are often installed without being on the loader's path.
pub(super) fn usual_places(file: &str) -> impl Iterator<Item = PathBuf> {
    let set = ["CUDA_HOME", "CUDA_PATH"].into_iter().filter_map(std::env::var_os).map(PathBuf::from);
    let roots = set.chain(["/usr/local/cuda", "/opt/cuda"].map(PathBuf::from));
    let folders = ["lib64", "lib", "targets/x86_64-linux/lib", "targets/sbsa-linux/lib"];
    let paths = roots.flat_map(move |root| folders.map(|folder| root.join(folder)));
    let file = file.to_owned();
    paths.map(move |folder| folder.join(&file)).filter(|path| path.is_file())
}

/// A library that is already loaded is found by its name alone, so one that the loader does not find is loaded from where toolkits usually are.
pub(super) fn load_from_usual_places(file: &str) {
    // SAFETY: as for the driver.
    if let Some(library) = usual_places(file).find_map(|path| unsafe { libloading::Library::new(&path) }.ok()) {
        // It stays loaded for good, as cudarc's own handle does.
        std::mem::forget(library);
    }
}

fn missing(message: &str, hint: &str) -> Error {
    Error::new(ErrorKind::Backend, message).hint(hint)
}
