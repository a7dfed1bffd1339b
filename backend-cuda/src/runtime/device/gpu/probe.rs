//! Checks of the installed CUDA libraries. cudarc panics for a missing library or symbol, so we
//! look all of them up first.

use std::sync::OnceLock;

use cudarc::{cusparse as cusparse_crate, driver as driver_crate, nvrtc as nvrtc_crate};
use equelle_runtime::Error;

use super::error::GpuError;
use crate::libraries::in_toolkits;

/// A library of CUDA, for cudarc and for messages.
struct Library {
    is_present: unsafe fn() -> bool,
    handle: unsafe fn() -> &'static libloading::Library,
    /// Its file name in toolkit folders, if it may be there.
    file: Option<&'static str>,
    /// The symbols that we use, separated by blanks.
    symbols: &'static str,
    missing: &'static str,
    install: &'static str,
    /// The name of what is too old if a symbol is missing.
    name: &'static str,
    update: &'static str,
    answer: OnceLock<Result<(), Error>>,
}

static DRIVER: Library = Library {
    is_present: driver_crate::sys::is_culib_present,
    handle: driver_crate::sys::culib,
    file: None,
    symbols: "cuInit cuDriverGetVersion cuDeviceGet cuDeviceGetCount cuDeviceGetName \
        cuDeviceGetAttribute cuDeviceTotalMem_v2 cuDevicePrimaryCtxRetain \
        cuDevicePrimaryCtxRelease_v2 cuCtxGetCurrent cuCtxSetCurrent cuCtxSynchronize \
        cuStreamCreate cuStreamDestroy_v2 cuStreamSynchronize cuMemAlloc_v2 cuMemFree_v2 \
        cuMemGetInfo_v2 cuMemHostAlloc cuMemFreeHost cuEventCreate cuEventRecord \
        cuEventSynchronize cuEventDestroy_v2 cuStreamWaitEvent cuMemcpyHtoDAsync_v2 \
        cuMemcpyDtoHAsync_v2 cuMemcpyDtoDAsync_v2 cuModuleLoadData cuModuleUnload \
        cuModuleGetFunction cuFuncGetAttribute \
        cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags cuLaunchKernel cuGraphCreate cuGraphAddKernelNode_v2 \
        cuGraphAddDependencies_v2 cuGraphInstantiateWithFlags cuGraphLaunch cuGraphExecDestroy \
        cuGraphDestroy cuGraphAddEventRecordNode cuEventElapsedTime_v2 cuGetErrorName cuGetErrorString",
    missing: "no NVIDIA driver was found (library `libcuda.so.1`)",
    install: "install the NVIDIA driver, or use --backend serial",
    name: "the NVIDIA driver",
    update: "install a driver for CUDA 13.0 or later, or use --backend serial",
    answer: OnceLock::new(),
};

static NVRTC: Library = Library {
    is_present: nvrtc_crate::sys::is_culib_present,
    handle: nvrtc_crate::sys::culib,
    file: Some("libnvrtc.so.13"),
    symbols: "nvrtcVersion nvrtcCreateProgram nvrtcCompileProgram nvrtcDestroyProgram nvrtcGetProgramLog \
        nvrtcGetProgramLogSize nvrtcGetCUBIN nvrtcGetCUBINSize nvrtcGetPTX nvrtcGetPTXSize \
        nvrtcGetNumSupportedArchs nvrtcGetSupportedArchs",
    missing: "CUDA's run-time compiler was not found (library `libnvrtc.so`)",
    install: "install the CUDA toolkit 13.0 and put its library folder on LD_LIBRARY_PATH, or use --backend serial",
    name: "CUDA's run-time compiler",
    update: "install the CUDA toolkit 13.0 or later, or use --backend serial",
    answer: OnceLock::new(),
};

const CUSPARSE_HINT: &str =
    "install the CUDA toolkit 13.0 and put its library folder on LD_LIBRARY_PATH, use -O2 without --ad=spgemm, or --backend serial";

static CUSPARSE: Library = Library {
    is_present: cusparse_crate::sys::is_culib_present,
    handle: cusparse_crate::sys::culib,
    file: Some("libcusparse.so.12"),
    symbols: "cusparseCreate cusparseDestroy cusparseSetStream cusparseGetErrorString \
        cusparseGetProperty cusparseCreateCsr cusparseDestroySpMat cusparseCsrSetPointers \
        cusparseSpMatGetSize cusparseSpGEMM_createDescr cusparseSpGEMM_destroyDescr \
        cusparseSpGEMM_workEstimation cusparseSpGEMM_compute cusparseSpGEMM_copy",
    missing: "cuSPARSE was not found (library `libcusparse.so`), which derivatives at operation level need",
    install: CUSPARSE_HINT,
    name: "cuSPARSE",
    update: CUSPARSE_HINT,
    answer: OnceLock::new(),
};

impl Library {
    /// Checks that the library and all symbols exist.
    fn check(&self) -> Result<(), Error> {
        // SAFETY: loading the vendor's library runs its initialisation, as intended; nothing else
        // is called.
        let is_present = || unsafe { (self.is_present)() };
        if let Some(file) = self.file
            && !is_present()
        {
            load_from_toolkits(file);
        }
        if !is_present() {
            return Err(GpuError::Library { message: self.missing.to_owned(), hint: self.install }.into());
        }
        // SAFETY: as above; the library was found, so this does not panic.
        let library = unsafe { (self.handle)() };
        // SAFETY: the symbol is only looked up, never called through this type.
        let is_absent = |name: &&str| unsafe { library.get::<unsafe extern "C" fn()>(name.as_bytes()) }.is_err();
        self.symbols.split_whitespace().find(is_absent).map_or(Ok(()), |symbol| {
            let message = format!("{} is too old: it has no `{symbol}`", self.name);
            Err(GpuError::Library { message, hint: self.update }.into())
        })
    }
}

/// Checks that the driver library and all symbols exist.
///
/// # Errors
/// `Backend`, naming what is missing.
pub fn driver() -> Result<(), Error> {
    DRIVER.answer.get_or_init(|| DRIVER.check()).clone()
}

/// Checks that the run-time compiler and all symbols exist.
///
/// # Errors
/// `Backend`, naming what is missing.
pub fn nvrtc() -> Result<(), Error> {
    NVRTC.answer.get_or_init(|| NVRTC.check()).clone()
}

/// Checks that cuSPARSE and all symbols exist. Only derivatives of residuals at the operation level
/// need it.
///
/// # Errors
/// `Backend`, naming what is missing.
pub fn cusparse() -> Result<(), Error> {
    CUSPARSE.answer.get_or_init(|| CUSPARSE.check()).clone()
}

/// Loads a library from a toolkit folder outside the loader's path: once loaded, it is found by
/// name.
pub(super) fn load_from_toolkits(file: &str) {
    // SAFETY: loading the vendor's library runs its initialisation, as intended.
    if let Some(library) = in_toolkits(file).find_map(|path| unsafe { libloading::Library::new(&path) }.ok()) {
        // It is never unloaded, like cudarc's own handle.
        std::mem::forget(library);
    }
}
