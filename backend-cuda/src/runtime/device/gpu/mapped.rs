//! Page-locked memory of the host that kernels write.

use std::ffi::c_void;
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use cudarc::driver::result::DriverError;
use cudarc::driver::{CudaContext, sys};

use crate::runtime::device::{DevicePtr, MappedWords};

/// Words at an address of the host and at one of the device.
#[derive(Debug)]
pub(super) struct MappedMemory {
    host: NonNull<AtomicU64>,
    count: usize,
    device: DevicePtr,
    /// Memory is freed before its context.
    _context: Arc<CudaContext>,
}

impl MappedMemory {
    /// So many words of 0.
    pub(super) fn new(context: &Arc<CudaContext>, count: usize) -> Result<MappedMemory, DriverError> {
        context.bind_to_thread()?;
        let mut memory: *mut c_void = std::ptr::null_mut();
        let bytes = count * size_of::<AtomicU64>();
        // SAFETY: the pointer outlives the call.
        unsafe { sys::cuMemHostAlloc(&raw mut memory, bytes, sys::CU_MEMHOSTALLOC_DEVICEMAP) }.result()?;
        let Some(host) = NonNull::new(memory.cast::<AtomicU64>()) else {
            return Err(DriverError(sys::CUresult::CUDA_ERROR_OUT_OF_MEMORY));
        };
        // SAFETY: the driver has allocated so many bytes, aligned to pages, that nobody else uses.
        unsafe { std::ptr::write_bytes(host.as_ptr(), 0, count) };
        let mut mapped = MappedMemory { host, count, device: DevicePtr(0), _context: Arc::clone(context) };
        let mut address = 0;
        // SAFETY: mapped memory of this context; an error drops it.
        unsafe { sys::cuMemHostGetDevicePointer_v2(&raw mut address, memory, 0) }.result()?;
        mapped.device = DevicePtr(address);
        Ok(mapped)
    }
}

impl MappedWords for MappedMemory {
    fn address(&self) -> DevicePtr {
        self.device
    }

    fn words(&self) -> &[AtomicU64] {
        // SAFETY: initialised words, which the device and the host change atomically.
        unsafe { std::slice::from_raw_parts(self.host.as_ptr(), self.count) }
    }
}

impl Drop for MappedMemory {
    fn drop(&mut self) {
        // SAFETY: allocated by `new`; the executor, which owns this, has waited for the device.
        let _ = unsafe { sys::cuMemFreeHost(self.host.as_ptr().cast()) };
    }
}
