//! Compilation of kernels by NVRTC. Needs the library, no GPU.

use std::ffi::CString;

use cudarc::nvrtc::{result, sys};
use equelle_runtime::{Error, ErrorKind};

use super::probe;

/// Machine code of CUDA C++ text for an architecture such as `sm_90`.
///
/// # Errors
/// `Backend`: NVRTC is missing, or (an internal error, with the compiler's messages) the text does not compile.
pub fn compile(source: &str, arch: &str, options: &[String]) -> Result<Vec<u8>, Error> {
    probe::nvrtc()?;
    let text = CString::new(source).map_err(|_| internal("the kernel text holds a zero byte"))?;
    let program = result::create_program(&text, Some(c"kernels.cu")).map_err(|e| internal(&format!("NVRTC: {e}")))?;
    let mut all = vec![format!("--gpu-architecture={arch}"), "--std=c++17".to_owned(), "--fmad=false".to_owned()];
    all.extend(options.iter().cloned());
    // SAFETY: the program was created above and is destroyed once, below.
    unsafe {
        let image = match result::compile_program(program, &all) {
            Ok(()) => cubin(program),
            Err(_) => {
                let log = result::get_program_log(program).unwrap_or_default();
                let bytes: Vec<u8> = log.iter().map(|&c| c as u8).take_while(|&c| c != 0).collect();
                Err(internal(&format!("generated kernels do not compile\n{}", String::from_utf8_lossy(&bytes))))
            }
        };
        let _ = result::destroy_program(program);
        image
    }
}

/// # Safety
/// `program` has been compiled for a real architecture.
unsafe fn cubin(program: sys::nvrtcProgram) -> Result<Vec<u8>, Error> {
    let mut size = 0;
    // SAFETY: `size` outlives the call.
    unsafe { sys::nvrtcGetCUBINSize(program, &raw mut size) }.result().map_err(|e| internal(&format!("NVRTC: {e}")))?;
    let mut image = vec![0u8; size];
    // SAFETY: the buffer has the size that NVRTC asked for.
    unsafe { sys::nvrtcGetCUBIN(program, image.as_mut_ptr().cast()) }.result().map_err(|e| internal(&format!("NVRTC: {e}")))?;
    Ok(image)
}

/// Version of the library, such as `13.0`.
pub fn version() -> Result<String, Error> {
    probe::nvrtc()?;
    let (mut major, mut minor) = (0, 0);
    // SAFETY: both numbers outlive the call.
    unsafe { sys::nvrtcVersion(&raw mut major, &raw mut minor) }.result().map_err(|e| internal(&format!("NVRTC: {e}")))?;
    Ok(format!("{major}.{minor}"))
}

fn internal(message: &str) -> Error {
    Error::new(ErrorKind::Backend, format!("internal error: {message}"))
}
