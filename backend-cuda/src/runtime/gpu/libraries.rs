//! The one place that decides whether the CUDA libraries are there.
//!
//! cudarc loads libraries on first use and panics when a library or a symbol is missing. [`driver`] and [`nvrtc`] look for each library and each
//! symbol that this crate calls, once, and say what is missing; nothing calls into cudarc before they have agreed.

use cudarc::{driver::sys as driver_sys, nvrtc::sys as nvrtc_sys};
use equelle_runtime::{Error, ErrorKind};
use std::ffi::CString;
use std::path::PathBuf;
use std::sync::OnceLock;

/// Every symbol of the driver that this crate calls.
const DRIVER_SYMBOLS: [&str; 30] = [
    "cuInit",
    "cuDriverGetVersion",
    "cuDeviceGetCount",
    "cuDeviceGet",
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
    "cuGetErrorString",
];

/// Every symbol of NVRTC that this crate calls.
const NVRTC_SYMBOLS: [&str; 12] = [
    "nvrtcVersion",
    "nvrtcCreateProgram",
    "nvrtcCompileProgram",
    "nvrtcDestroyProgram",
    "nvrtcGetProgramLogSize",
    "nvrtcGetProgramLog",
    "nvrtcGetPTXSize",
    "nvrtcGetPTX",
    "nvrtcGetCUBINSize",
    "nvrtcGetCUBIN",
    "nvrtcGetNumSupportedArchs",
    "nvrtcGetSupportedArchs",
];

/// Whether the driver can be called.
///
/// # Errors
/// `Backend`: the library or a symbol is missing.
pub fn driver() -> Result<(), Error> {
    static ANSWER: OnceLock<Result<(), Error>> = OnceLock::new();
    ANSWER
        .get_or_init(|| {
            // SAFETY: loading the driver library runs its initialisers, which have no precondition.
            if !unsafe { driver_sys::is_culib_present() } {
                return Err(Error::new(ErrorKind::Backend, "no NVIDIA driver on this machine: the library libcuda.so.1 was not found")
                    .hint("install the NVIDIA driver, or run with the serial back-end"));
            }
            // SAFETY: as above; the library has just been found, so that this does not panic.
            let library = unsafe { driver_sys::culib() };
            check_symbols(library, &DRIVER_SYMBOLS, "the NVIDIA driver (libcuda)", "install an NVIDIA driver of CUDA 12.0 or newer")
        })
        .clone()
}

/// Whether NVRTC can be called.
///
/// # Errors
/// `Backend`: the library or a symbol is missing.
pub fn nvrtc() -> Result<(), Error> {
    static ANSWER: OnceLock<Result<(), Error>> = OnceLock::new();
    ANSWER
        .get_or_init(|| {
            preload_nvrtc();
            // SAFETY: loading NVRTC runs its initialisers, which have no precondition.
            if !unsafe { nvrtc_sys::is_culib_present() } {
                return Err(Error::new(ErrorKind::Backend, "the compiler of GPU kernels is missing: the library libnvrtc.so was not found").hint(
                    "install the CUDA toolkit (or `pip install nvidia-cuda-nvrtc`) and put the folder of libnvrtc.so.13 on LD_LIBRARY_PATH",
                ));
            }
            // SAFETY: as above; the library has just been found, so that this does not panic.
            let library = unsafe { nvrtc_sys::culib() };
            check_symbols(library, &NVRTC_SYMBOLS, "NVRTC (libnvrtc)", "install NVRTC of CUDA 12.0 or newer")
        })
        .clone()
}

fn check_symbols(library: &libloading::Library, symbols: &[&str], whose: &str, hint: &str) -> Result<(), Error> {
    for symbol in symbols {
        let Ok(name) = CString::new(*symbol) else { continue };
        // SAFETY: the symbol is only looked up, not called.
        if unsafe { library.get::<unsafe extern "C" fn()>(name.as_bytes_with_nul()) }.is_err() {
            return Err(Error::new(ErrorKind::Backend, format!("{whose} is too old or damaged: it has no function {symbol}")).hint(hint));
        }
    }
    Ok(())
}

/// Toolkits are often installed without being on the loader's path. A library that is already loaded is found by its name alone, so NVRTC is loaded from
/// the usual places first.
fn preload_nvrtc() {
    // SAFETY: loading NVRTC runs its initialisers, which have no precondition.
    if unsafe { nvrtc_sys::is_culib_present() } {
        return;
    }
    let roots = ["CUDA_HOME", "CUDA_PATH"].into_iter().filter_map(std::env::var_os).map(PathBuf::from);
    for root in roots.chain([PathBuf::from("/usr/local/cuda"), PathBuf::from("/opt/cuda")]) {
        for folder in ["lib64", "lib", "targets/x86_64-linux/lib", "targets/sbsa-linux/lib"] {
            for name in ["libnvrtc.so.13", "libnvrtc.so.12"] {
                let path = root.join(folder).join(name);
                if !path.is_file() {
                    continue;
                }
                // SAFETY: as above.
                if let Ok(library) = unsafe { libloading::Library::new(&path) } {
                    // It has to stay loaded for as long as cudarc's handle, which is never closed.
                    std::mem::forget(library);
                    return;
                }
            }
        }
    }
}
