//! Copies to the host beside the stream: a stream of their own, and a few buffers of pinned memory that are used again.

use std::ffi::c_void;
use std::sync::{Arc, Condvar, Mutex, PoisonError};

use cudarc::driver::{result, sys};
use equelle_runtime::Error;

use super::failed;
use crate::runtime::device::{AsyncCopy, CopyId, DevicePtr, PendingCopy, STAGING_BUFFERS};

/// What copies need, from the first one on.
#[derive(Debug)]
pub(super) struct AsyncCopies {
    stream: sys::CUstream,
    /// That what is copied has been computed.
    ready: sys::CUevent,
    /// By staging buffer: the last copy into it, and the event after that.
    last: Vec<(CopyId, sys::CUevent)>,
    staging: Arc<Staging>,
    copies: u64,
    context: sys::CUcontext,
}

/// Buffers that are not in use.
#[derive(Debug)]
struct Staging {
    free: Mutex<Vec<Slot>>,
    returned: Condvar,
}

/// A buffer of pinned memory.
#[derive(Debug)]
struct Slot {
    number: usize,
    memory: *mut c_void,
    capacity: usize,
    /// After the last copy into it.
    done: sys::CUevent,
}

// SAFETY: memory and event belong to whoever has the slot, and the driver takes them from any thread.
unsafe impl Send for Slot {}

impl Staging {
    /// A buffer; waits until there is one.
    fn take(&self) -> Slot {
        let mut free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            match free.pop() {
                Some(slot) => return slot,
                None => free = self.returned.wait(free).unwrap_or_else(PoisonError::into_inner),
            }
        }
    }

    fn give_back(&self, slot: Slot) {
        self.free.lock().unwrap_or_else(PoisonError::into_inner).push(slot);
        self.returned.notify_one();
    }
}

/// A copy in flight.
struct InFlight {
    /// `None` once given back.
    slot: Option<Slot>,
    len: usize,
    staging: Arc<Staging>,
    context: sys::CUcontext,
}

// SAFETY: the context outlives all copies (the device waits for them), and the driver takes it from any thread.
unsafe impl Send for InFlight {}

impl PendingCopy for InFlight {
    fn bytes(&mut self) -> Result<&[u8], Error> {
        let Some(slot) = &self.slot else { return Ok(&[]) };
        // SAFETY: the context exists, and so does the event; after it `len` bytes have been written, and nobody else has the slot.
        unsafe {
            result::ctx::set_current(self.context).map_err(|e| failed("waiting for a copy from the GPU", &e))?;
            sys::cuEventSynchronize(slot.done).result().map_err(|e| failed("the kernels before a copy from the GPU", &e))?;
            Ok(std::slice::from_raw_parts(slot.memory.cast(), self.len))
        }
    }
}

impl Drop for InFlight {
    fn drop(&mut self) {
        if let Some(slot) = self.slot.take() {
            self.staging.give_back(slot);
        }
    }
}

fn event() -> Result<sys::CUevent, result::DriverError> {
    // Whoever waits sleeps, and nobody asks for times.
    let mut event = std::ptr::null_mut();
    let flags = sys::CUevent_flags::CU_EVENT_BLOCKING_SYNC as u32 | sys::CUevent_flags::CU_EVENT_DISABLE_TIMING as u32;
    // SAFETY: the handle outlives the call.
    unsafe { sys::cuEventCreate(&raw mut event, flags) }.result()?;
    Ok(event)
}

impl AsyncCopies {
    /// In the context that is current.
    pub(super) fn new(context: sys::CUcontext) -> Result<AsyncCopies, result::DriverError> {
        let stream = result::stream::create(result::stream::StreamKind::NonBlocking)?;
        let ready = event()?;
        let mut last = Vec::new();
        let mut free = Vec::new();
        for number in 0..STAGING_BUFFERS {
            let done = event()?;
            last.push((CopyId(0), done));
            free.push(Slot { number, memory: std::ptr::null_mut(), capacity: 0, done });
        }
        let staging = Arc::new(Staging { free: Mutex::new(free), returned: Condvar::new() });
        Ok(AsyncCopies { stream, ready, last, staging, copies: 0, context })
    }

    /// Begins a copy of pieces, after what the main stream has been given.
    ///
    /// # Safety
    /// As for [`crate::runtime::device::Device::copy_to_host_async`].
    pub(super) unsafe fn copy(
        &mut self,
        main: sys::CUstream,
        pieces: &[(DevicePtr, usize)],
    ) -> Result<Option<AsyncCopy>, result::DriverError> {
        let len = pieces.iter().map(|piece| piece.1).sum();
        let mut slot = self.staging.take();
        if slot.capacity < len && !self.grow(&mut slot, len)? {
            self.staging.give_back(slot);
            return Ok(None);
        }
        let number = slot.number;
        // From here on the slot comes back whatever happens.
        let arriving = InFlight { len, staging: Arc::clone(&self.staging), context: self.context, slot: Some(slot) };
        let Some(slot) = &arriving.slot else { return Ok(None) };
        // SAFETY: streams and events exist; the slot holds `len` bytes, which nobody reads before the event; the pieces are the caller's promise.
        unsafe {
            result::event::record(self.ready, main)?;
            result::stream::wait_event(self.stream, self.ready, sys::CUevent_wait_flags::CU_EVENT_WAIT_DEFAULT)?;
            let mut to: *mut u8 = slot.memory.cast();
            for &(from, bytes) in pieces {
                result::memcpy_dtoh_async(std::slice::from_raw_parts_mut(to, bytes), from.0, self.stream)?;
                to = to.add(bytes);
            }
            result::event::record(slot.done, self.stream)?;
        }
        self.copies += 1;
        let copy = CopyId(self.copies);
        self.last[number].0 = copy;
        Ok(Some((copy, Box::new(arriving))))
    }

    /// Gives a slot room for `len` bytes; false where there is none.
    fn grow(&self, slot: &mut Slot, len: usize) -> Result<bool, result::DriverError> {
        // SAFETY: no copy into the slot is in flight after the wait, and nobody else has it.
        unsafe {
            result::stream::synchronize(self.stream)?;
            if !slot.memory.is_null() {
                result::free_host(std::mem::replace(&mut slot.memory, std::ptr::null_mut()))?;
            }
            slot.capacity = 0;
            match result::malloc_host(len, 0) {
                Ok(memory) => {
                    (slot.memory, slot.capacity) = (memory, len);
                    // Bytes that have values, so that slices of them are sound.
                    std::ptr::write_bytes(memory.cast::<u8>(), 0, len);
                    Ok(true)
                }
                Err(result::DriverError(sys::CUresult::CUDA_ERROR_OUT_OF_MEMORY)) => Ok(false),
                Err(error) => Err(error),
            }
        }
    }

    /// Makes the main stream wait for a copy.
    pub(super) fn wait(&self, main: sys::CUstream, copy: CopyId) -> Result<(), result::DriverError> {
        // Copies end in their order: where the buffer has been used again, the copy after it will do.
        match self.last.iter().filter(|(last, _)| *last >= copy).min_by_key(|(last, _)| *last) {
            // SAFETY: stream and event exist.
            Some((_, done)) => unsafe { result::stream::wait_event(main, *done, sys::CUevent_wait_flags::CU_EVENT_WAIT_DEFAULT) },
            None => Ok(()),
        }
    }

    /// Waits for all copies.
    pub(super) fn synchronise(&self) -> Result<(), result::DriverError> {
        // SAFETY: the stream lives as long as this.
        unsafe { result::stream::synchronize(self.stream) }
    }
}

impl Drop for AsyncCopies {
    fn drop(&mut self) {
        let _ = self.synchronise();
        // SAFETY: nothing is in flight after the wait. A buffer that somebody still has is left to the end of the process.
        unsafe {
            for slot in self.staging.free.lock().unwrap_or_else(PoisonError::into_inner).drain(..) {
                let _ = result::event::destroy(slot.done);
                if !slot.memory.is_null() {
                    let _ = result::free_host(slot.memory);
                }
            }
            let _ = result::event::destroy(self.ready);
            let _ = result::stream::destroy(self.stream);
        }
    }
}
