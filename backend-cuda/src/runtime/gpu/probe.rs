//! What of CUDA is there. cudarc panics when a library or symbol is missing, so everything used is looked up here first.

use cudarc::{driver, nvrtc as nvrtc_crate};
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
    "cuMemcpyHtoDAsync_v2",
    "cuMemcpyDtoHAsync_v2",
    "cuMemcpyDtoDAsync_v2",
    "cuModuleLoadData",
    "cuModuleUnload",
    "cuModuleGetFunction",
    "cuLaunchKernel",
    "cuGraphCreate",
    "cuGraphAddKernelNode_v2",
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
];

/// Whether the driver library and all of it that is used are there.
///
/// # Errors
/// `Backend`, naming what is missing.
pub fn driver() -> Result<(), Error> {
    // SAFETY: loading the vendor's library runs its initialisation, which is what using it means; nothing else is called.
    if !unsafe { driver::sys::is_culib_present() } {
        return Err(missing("no NVIDIA driver was found (library `libcuda.so.1`)", "install the NVIDIA driver, or use --backend serial"));
    }
    for name in DRIVER_SYMBOLS {
        // SAFETY: the library is there; the symbol is only looked up, never called through this type.
        if unsafe { driver::sys::culib().get::<unsafe extern "C" fn()>(name.as_bytes()) }.is_err() {
            let message = format!("the NVIDIA driver is too old: it has no `{name}`");
            return Err(missing(&message, "install a driver for CUDA 13.0 or later, or use --backend serial"));
        }
    }
    Ok(())
}

/// Whether the run-time compiler and all of it that is used are there.
///
/// # Errors
/// `Backend`, naming what is missing.
pub fn nvrtc() -> Result<(), Error> {
    // SAFETY: as for the driver.
    if !unsafe { nvrtc_crate::sys::is_culib_present() } {
        let hint = "install the CUDA toolkit 13.0 and put its library folder on LD_LIBRARY_PATH, or use --backend serial";
        return Err(missing("CUDA's run-time compiler was not found (library `libnvrtc.so`)", hint));
    }
    for name in NVRTC_SYMBOLS {
        // SAFETY: as for the driver.
        if unsafe { nvrtc_crate::sys::culib().get::<unsafe extern "C" fn()>(name.as_bytes()) }.is_err() {
            let message = format!("CUDA's run-time compiler is too old: it has no `{name}`");
            return Err(missing(&message, "install the CUDA toolkit 13.0 or later, or use --backend serial"));
        }
    }
    Ok(())
}

fn missing(message: &str, hint: &str) -> Error {
    Error::new(ErrorKind::Backend, message).hint(hint)
}
