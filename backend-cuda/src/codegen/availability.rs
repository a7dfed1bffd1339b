//! Availability of the libraries of CUDA on this machine.

use std::path::PathBuf;

use equelle_front::backend::Availability;

use crate::libraries::find;

/// Instructions to install the library for direct solves on the GPU.
const GET_CUDSS: &str = "`pip install nvidia-cudss-cu13` has version 1, in a folder nvidia/cu13/lib for LD_LIBRARY_PATH";

/// Looks for them. Loading them is left to the programs that use them.
pub(super) fn look() -> Availability {
    // A test aid: the runtime then takes the host for a GPU.
    let is_host = std::env::var_os("EQUELLE_CUDA_DEVICE").is_some_and(|device| device == "host");
    let driver = find(&["libcuda.so.1", "nvcuda.dll"]);
    let compiler = find(&["libnvrtc.so", "libnvrtc.so.13", "libnvrtc.so.12", "nvrtc64_130_0.dll"]);
    let shown = |path: &Option<PathBuf>| path.as_ref().map_or_else(|| "not found".to_owned(), |path| path.display().to_string());
    let direct = match (find(&["libcudss.so.1"]), find(&["libcudss.so.0"])) {
        (Some(path), _) => format!("cuDSS 1: {}; for `solver=lu`, unless EQUELLE_CUDSS is off", path.display()),
        (None, Some(path)) => format!("cuDSS 0 is too old: {}; {GET_CUDSS}", path.display()),
        (None, None) => format!("cuDSS not found, `solver=lu` runs on the host; {GET_CUDSS}"),
    };
    Availability {
        runs: is_host || driver.is_some() && compiler.is_some(),
        found: vec![format!("driver: {}; run-time compiler: {}", shown(&driver), shown(&compiler)), format!("direct solves: {direct}")],
    }
}
