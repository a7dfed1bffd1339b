//! Compilation of kernels by NVRTC, which needs the library but no GPU.

use std::ffi::CString;

use cudarc::nvrtc::{result, sys};
use equelle_runtime::Error;

use super::error::GpuError;
use super::probe;
use crate::runtime::kernels::before_kernels;

/// Compiles a kernel source as a program does, with the prelude and strict floating point, for a
/// GPU architecture such as `sm_90` and a grid of `dim` dimensions. Needs NVRTC, but no GPU.
///
/// # Errors
/// As for [`compile`].
pub fn compile_with_nvrtc(source: &str, arch: &str, dim: usize) -> Result<Vec<u8>, Error> {
    compile(&format!("{}\n#line 1 \"kernels.cu\"\n{source}\n", before_kernels()), arch, &[format!("-DDIM={dim}")])
}

/// The compile target for a device of a compute capability (10 major + minor): its machine code if
/// NVRTC knows it, else PTX of the newest earlier architecture, which the driver translates.
///
/// # Errors
/// `Backend`: NVRTC is missing, or the device is too old for it.
pub fn target(capability: u32) -> Result<String, Error> {
    probe::nvrtc()?;
    let mut count = 0;
    // SAFETY: `count` outlives the call.
    unsafe { sys::nvrtcGetNumSupportedArchs(&raw mut count) }.result().map_err(GpuError::Nvrtc)?;
    let mut known = vec![0; usize::try_from(count).unwrap_or(0)];
    // SAFETY: the array has the length that NVRTC asked for.
    unsafe { sys::nvrtcGetSupportedArchs(known.as_mut_ptr()) }.result().map_err(GpuError::Nvrtc)?;
    let known = known.into_iter().filter_map(|arch| u32::try_from(arch).ok());
    match known.filter(|&arch| arch <= capability).max() {
        Some(arch) if arch == capability => Ok(format!("sm_{arch}")),
        Some(arch) => Ok(format!("compute_{arch}")),
        None => Err(GpuError::OldDevice { capability, nvrtc: version()? }.into()),
    }
}

/// Compiles CUDA C++ source for an architecture to machine code, as for `sm_90`, or to PTX with a
/// zero byte at its end, as for `compute_90`. Without contraction to fused multiply-add, unless an
/// option enables it.
///
/// # Errors
/// `Backend`: NVRTC is missing, or (an internal error, with the compiler's messages) the source
/// does not compile.
pub fn compile(source: &str, arch: &str, options: &[String]) -> Result<Vec<u8>, Error> {
    Ok(compile_with_log(source, arch, options)?.0)
}

/// Resources of a multiprocessor that a kernel takes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct KernelRegisters {
    /// Its name.
    pub kernel: String,
    /// 32-bit registers of a thread.
    pub registers: u32,
    /// Bytes a thread stores to local memory for want of registers.
    pub spill_stores: u32,
    /// Bytes a thread loads from there.
    pub spill_loads: u32,
}

/// The machine code of a source and the resources of its kernels, which only real architectures
/// have, as `sm_90`.
///
/// # Errors
/// As for [`compile`].
pub fn compile_with_resources(source: &str, arch: &str, options: &[String]) -> Result<(Vec<u8>, Vec<KernelRegisters>), Error> {
    let mut all = options.to_vec();
    if arch.starts_with("sm_") {
        all.push("--ptxas-options=-v".to_owned());
    }
    let (image, log) = compile_with_log(source, arch, &all)?;
    let found = resources_in(&log);
    if !found.is_empty() || !arch.starts_with("sm_") {
        return Ok((image, found));
    }
    // NVRTC 13 has a cache of its own, whose code comes without a report. Others do not know this.
    all.push("--no-cache".to_owned());
    match compile_with_log(source, arch, &all) {
        Ok((image, log)) => Ok((image, resources_in(&log))),
        Err(_) => Ok((image, found)),
    }
}

/// Parses the assembler's report of each kernel.
fn resources_in(log: &str) -> Vec<KernelRegisters> {
    let mut found = Vec::new();
    let mut kernel = None;
    let mut spills = (0, 0);
    let before = |text: &str, after: &str| -> Option<u32> {
        text.split(after).next()?.rsplit([' ', ',']).find(|word| !word.is_empty())?.parse().ok()
    };
    for line in log.lines() {
        if let Some((_, rest)) = line.split_once("Compiling entry function '") {
            kernel = rest.split('\'').next().map(str::to_owned);
        } else if line.contains("bytes spill stores") {
            spills = (before(line, " bytes spill stores").unwrap_or(0), before(line, " bytes spill loads").unwrap_or(0));
        } else if line.contains("Used ")
            && let Some(registers) = before(line, " registers")
            && let Some(kernel) = kernel.take()
        {
            found.push(KernelRegisters { kernel, registers, spill_stores: spills.0, spill_loads: spills.1 });
        }
    }
    found
}

/// The code, and what the compiler and the assembler print.
fn compile_with_log(source: &str, arch: &str, options: &[String]) -> Result<(Vec<u8>, String), Error> {
    probe::nvrtc()?;
    let text = CString::new(source).map_err(|_| GpuError::ZeroByte("the kernel text"))?;
    let program = result::create_program(&text, Some(c"kernels.cu")).map_err(GpuError::Nvrtc)?;
    // Suppresses warnings on unused parts of the prelude, which would precede an error.
    let mut all = vec![format!("--gpu-architecture={arch}"), "--std=c++17".to_owned(), "--diag-suppress=177".to_owned()];
    if !options.iter().any(|option| option.starts_with("--fmad")) {
        all.push("--fmad=false".to_owned());
    }
    all.extend(options.iter().cloned());
    // SAFETY: the program was created above and is destroyed once, below.
    unsafe {
        let compiled = result::compile_program(program, &all);
        let log = result::get_program_log(program).unwrap_or_default();
        let log = bytemuck::cast_slice(&log).split(|&byte: &u8| byte == 0).next().unwrap_or_default();
        let log = String::from_utf8_lossy(log).into_owned();
        let image = match compiled {
            Ok(()) if arch.starts_with("sm_") => cubin(program),
            Ok(()) => ptx(program),
            Err(_) => Err(GpuError::Compile(log.clone())),
        };
        let _ = result::destroy_program(program);
        Ok((image?, log))
    }
}

/// # Safety
/// `program` has been compiled for a real architecture.
unsafe fn cubin(program: sys::nvrtcProgram) -> Result<Vec<u8>, GpuError> {
    let mut size = 0;
    // SAFETY: `size` outlives the call.
    unsafe { sys::nvrtcGetCUBINSize(program, &raw mut size) }.result()?;
    let mut image = vec![0u8; size];
    // SAFETY: the buffer has the size that NVRTC asked for.
    unsafe { sys::nvrtcGetCUBIN(program, image.as_mut_ptr().cast()) }.result()?;
    Ok(image)
}

/// # Safety
/// `program` has been compiled.
unsafe fn ptx(program: sys::nvrtcProgram) -> Result<Vec<u8>, GpuError> {
    // SAFETY: as the caller promises.
    Ok(bytemuck::cast_vec(unsafe { result::get_ptx(program) }?))
}

/// Version of the library, such as `13.0`.
pub fn version() -> Result<String, Error> {
    probe::nvrtc()?;
    let (mut major, mut minor) = (0, 0);
    // SAFETY: both numbers outlive the call.
    unsafe { sys::nvrtcVersion(&raw mut major, &raw mut minor) }.result().map_err(GpuError::Nvrtc)?;
    Ok(format!("{major}.{minor}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn resources_are_those_of_the_log() {
        let log = "ptxas info    : 0 bytes gmem\n\
            ptxas info    : Compiling entry function 'compute_u' for 'sm_90'\n\
            ptxas info    : Function properties for compute_u\n\
            \u{20}   16 bytes stack frame, 24 bytes spill stores, 28 bytes spill loads\n\
            ptxas info    : Used 32 registers, used 0 barriers, 16 bytes cumulative stack size\n\
            ptxas info    : Compiling entry function 'compute_v' for 'sm_90'\n\
            ptxas info    : Function properties for compute_v\n\
            \u{20}   0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n\
            ptxas info    : Used 18 registers, used 1 barriers\n";
        let kernel = |name: &str, registers, spill_stores, spill_loads| KernelRegisters {
            kernel: name.to_owned(),
            registers,
            spill_stores,
            spill_loads,
        };
        assert_eq!(resources_in(log), [kernel("compute_u", 32, 24, 28), kernel("compute_v", 18, 0, 0)]);
    }
}
