//! Asynchronous copies to the host: their own stream, and a few reusable buffers of pinned memory.

use std::sync::{Arc, Condvar, Mutex, PoisonError};

use cudarc::driver::result::{self, DriverError};
use cudarc::driver::{CudaContext, CudaEvent, CudaStream, PinnedHostSlice, sys};
use equelle_runtime::Error;

use super::error::During;
use crate::runtime::device::{AsyncCopy, CopyId, DevicePtr, PendingCopy, STAGING_BUFFERS};

/// State of copies, created with the first one.
#[derive(Debug)]
pub(super) struct AsyncCopies {
    stream: Arc<CudaStream>,
    /// Event after the work whose results are copied.
    ready: CudaEvent,
    /// For each staging buffer the last copy into it, and the event after that.
    last: Vec<(CopyId, Arc<CudaEvent>)>,
    staging: Arc<Staging>,
    copies: u64,
}

/// Free staging buffers.
#[derive(Debug)]
struct Staging {
    free: Mutex<Vec<StagingBuffer>>,
    returned: Condvar,
}

#[derive(Debug)]
struct StagingBuffer {
    index: usize,
    memory: Option<PinnedHostSlice<u8>>,
    /// Event after the last copy into it.
    done: Arc<CudaEvent>,
}

impl Staging {
    /// Takes a buffer; waits until one is free.
    fn take(&self) -> StagingBuffer {
        let mut free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            match free.pop() {
                Some(buffer) => return buffer,
                None => free = self.returned.wait(free).unwrap_or_else(PoisonError::into_inner),
            }
        }
    }

    fn give_back(&self, buffer: StagingBuffer) {
        self.free.lock().unwrap_or_else(PoisonError::into_inner).push(buffer);
        self.returned.notify_one();
    }
}

/// A copy in flight.
struct InFlight {
    /// `None` once released.
    buffer: Option<StagingBuffer>,
    len: usize,
    staging: Arc<Staging>,
}

impl PendingCopy for InFlight {
    fn bytes(&mut self) -> Result<&[u8], Error> {
        let Some(StagingBuffer { memory: Some(memory), done, .. }) = &self.buffer else { return Ok(&[]) };
        done.synchronize().during("the kernels before a copy from the GPU")?;
        Ok(&memory.as_slice().during("waiting for a copy from the GPU")?[..self.len])
    }
}

impl Drop for InFlight {
    fn drop(&mut self) {
        if let Some(buffer) = self.buffer.take() {
            self.staging.give_back(buffer);
        }
    }
}

impl AsyncCopies {
    pub(super) fn new(context: &Arc<CudaContext>) -> Result<AsyncCopies, DriverError> {
        let stream = context.new_stream()?;
        let (mut last, mut free) = (Vec::new(), Vec::new());
        for index in 0..STAGING_BUFFERS {
            // The waiting thread sleeps.
            let done = Arc::new(context.new_event(Some(sys::CUevent_flags::CU_EVENT_BLOCKING_SYNC))?);
            last.push((CopyId(0), Arc::clone(&done)));
            free.push(StagingBuffer { index, memory: None, done });
        }
        let staging = Arc::new(Staging { free: Mutex::new(free), returned: Condvar::new() });
        Ok(AsyncCopies { stream, ready: context.new_event(None)?, last, staging, copies: 0 })
    }

    /// Begins a copy of pieces, after the work of the main stream so far.
    ///
    /// # Safety
    /// As for [`crate::runtime::device::Device::copy_to_host_async`].
    pub(super) unsafe fn copy(&mut self, main: &CudaStream, pieces: &[(DevicePtr, usize)]) -> Result<Option<AsyncCopy>, DriverError> {
        let len = pieces.iter().map(|piece| piece.1).sum();
        let mut in_flight = InFlight { buffer: Some(self.staging.take()), len, staging: Arc::clone(&self.staging) };
        let Some(buffer) = &mut in_flight.buffer else { return Ok(None) };
        if buffer.memory.as_ref().map_or(0, PinnedHostSlice::len) < len && !self.grow(buffer, len)? {
            return Ok(None);
        }
        self.ready.record(main)?;
        self.stream.wait(&self.ready)?;
        let mut to = match &mut buffer.memory {
            Some(memory) => memory.as_mut_slice()?,
            None => &mut [],
        };
        for &(from, bytes) in pieces {
            let (piece, behind) = to.split_at_mut(bytes);
            // SAFETY: nobody reads the buffer before the event; the caller vouches for the piece.
            unsafe { result::memcpy_dtoh_async(piece, from.0, self.stream.cu_stream()) }?;
            to = behind;
        }
        buffer.done.record(&self.stream)?;
        self.copies += 1;
        let copy = CopyId(self.copies);
        self.last[buffer.index].0 = copy;
        Ok(Some((copy, Box::new(in_flight))))
    }

    /// Grows a buffer to `len` bytes; false if there is too little memory.
    fn grow(&self, buffer: &mut StagingBuffer, len: usize) -> Result<bool, DriverError> {
        // No copy into the buffer is in flight after the wait.
        self.stream.synchronize()?;
        buffer.memory = None;
        // SAFETY: all bytes are initialised, so that slices of them are sound.
        unsafe {
            match self.stream.context().alloc_pinned_with_flags(len, 0) {
                Ok(mut memory) => {
                    std::ptr::write_bytes(memory.as_mut_ptr()?, 0, len);
                    buffer.memory = Some(memory);
                    Ok(true)
                }
                Err(DriverError(sys::CUresult::CUDA_ERROR_OUT_OF_MEMORY)) => Ok(false),
                Err(error) => Err(error),
            }
        }
    }

    /// Makes the main stream wait for a copy.
    pub(super) fn wait(&self, main: &CudaStream, copy: CopyId) -> Result<(), DriverError> {
        // Copies end in order: if the buffer has been reused, a later copy suffices.
        match self.last.iter().filter(|(last, _)| *last >= copy).min_by_key(|(last, _)| *last) {
            Some((_, done)) => main.wait(done),
            None => Ok(()),
        }
    }

    /// Waits for all copies.
    pub(super) fn synchronise(&self) -> Result<(), DriverError> {
        self.stream.synchronize()
    }
}

impl Drop for AsyncCopies {
    fn drop(&mut self) {
        // Buffers may be freed from now on.
        let _ = self.synchronise();
    }
}
