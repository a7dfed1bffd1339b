//! The pool of device memory: buffers that return when their last handle drops.
//!
//! All work runs in one stream, so a buffer may be reused at once: its remaining readers were
//! launched before its next writer. Of the free buffers of a size the pool takes the one with the
//! lowest address, so that equal requests with equal buffers in use get equal addresses, whatever
//! the order of returns. A buffer of an asynchronous copy to the host is reused as well; the stream
//! then waits for that copy. A loop over steps or iterations thus cycles through a few buffers:
//! steady steps allocate nothing, and their launches repeat with the same arguments.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use crate::runtime::device::{CopyId, Device, DevicePtr};
use equelle_runtime::Error;

/// Sizes are rounded up to this many bytes.
const GRAIN: u64 = 256;

/// Device memory with one owner; shared as `Rc<Buffer>`.
#[derive(Debug)]
pub struct Buffer {
    address: DevicePtr,
    size: u64,
    free: Rc<RefCell<FreeLists>>,
}

type FreeLists = BTreeMap<u64, BTreeSet<u64>>;

impl Buffer {
    /// Its address.
    pub fn address(&self) -> DevicePtr {
        self.address
    }

    /// The address of one of its numbers of 8 bytes.
    pub(crate) fn number(&self, index: u32) -> DevicePtr {
        DevicePtr(self.address.0 + 8 * u64::from(index))
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        self.free.borrow_mut().entry(self.size).or_default().insert(self.address.0);
    }
}

/// The pool.
#[derive(Debug, Default)]
pub(crate) struct Pool {
    free: Rc<RefCell<FreeLists>>,
    all: Vec<DevicePtr>,
    bytes: u64,
    /// Copies of buffers that may be in flight, by address.
    copies: BTreeMap<u64, CopyId>,
}

impl Pool {
    /// A buffer of at least `bytes` bytes with undefined contents, and whether it was allocated on
    /// the device; `None` if the device has too little memory.
    pub(crate) fn take(&mut self, device: &dyn Device, bytes: u64) -> Result<Option<(Buffer, bool)>, Error> {
        let size = bytes.max(1).div_ceil(GRAIN) * GRAIN;
        if let Some(address) = self.free.borrow_mut().get_mut(&size).and_then(BTreeSet::pop_first) {
            if let Some(copy) = self.copies.remove(&address) {
                device.await_copy(copy)?;
            }
            let address = DevicePtr(address);
            return Ok(Some((Buffer { address, size, free: Rc::clone(&self.free) }, false)));
        }
        let Some(address) = device.allocate(size)? else { return Ok(None) };
        self.all.push(address);
        self.bytes += size;
        Ok(Some((Buffer { address, size, free: Rc::clone(&self.free) }, true)))
    }

    /// Records an asynchronous copy of a buffer, which must not be written before its end.
    pub(crate) fn is_copied(&mut self, buffer: &Buffer, copy: CopyId) {
        self.copies.insert(buffer.address.0, copy);
    }

    /// Makes the stream wait for the copy of a buffer that is about to be written.
    pub(crate) fn await_copy(&mut self, device: &dyn Device, buffer: &Buffer) -> Result<(), Error> {
        self.copies.remove(&buffer.address.0).map_or(Ok(()), |copy| device.await_copy(copy))
    }

    /// Frees the unused buffers on the device.
    ///
    /// # Safety
    /// No work in flight, no copy and no graph uses them.
    pub(crate) unsafe fn trim(&mut self, device: &dyn Device) {
        for (size, addresses) in std::mem::take(&mut *self.free.borrow_mut()) {
            for address in addresses.into_iter().map(DevicePtr) {
                self.all.retain(|&a| a != address);
                self.copies.remove(&address.0);
                self.bytes -= size;
                // SAFETY: the address came from this device and has no owner; the caller promises
                // that no work uses it.
                unsafe { device.free(address) };
            }
        }
    }

    /// Frees all buffers on the device.
    ///
    /// # Safety
    /// No work in flight, no copy and no graph uses it, and no buffer that still has an owner is
    /// used again.
    pub(crate) unsafe fn release(&mut self, device: &dyn Device) {
        self.free.borrow_mut().clear();
        self.copies.clear();
        for address in std::mem::take(&mut self.all) {
            // SAFETY: the address came from this device and is forgotten; the rest is the caller's
            // promise.
            unsafe { device.free(address) };
        }
        self.bytes = 0;
    }

    /// Bytes of buffers in use.
    #[cfg(test)]
    pub(crate) fn in_use(&self) -> u64 {
        self.bytes - self.free.borrow().iter().map(|(size, addresses)| size * addresses.len() as u64).sum::<u64>()
    }

    /// Bytes allocated on the device.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }
}
