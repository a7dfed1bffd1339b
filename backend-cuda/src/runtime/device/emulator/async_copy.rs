//! Asynchronous copies of the emulator: immediate, or as late as the runtime allows, which reveals
//! memory that is overwritten too early.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, PoisonError};

use equelle_runtime::Error;

use crate::runtime::device::{AsyncCopy, CopyId, DevicePtr, PendingCopy, STAGING_BUFFERS};

/// Pending copies, and the buffers in use.
#[derive(Debug, Default)]
pub(super) struct AsyncCopies {
    /// True if copies are made as late as possible.
    pub late: bool,
    waiting: VecDeque<Waiting>,
    in_use: Arc<InUse>,
    copies: u64,
}

/// A pending copy.
#[derive(Debug)]
struct Waiting {
    copy: CopyId,
    pieces: Vec<(DevicePtr, usize)>,
    to: Arc<Staged>,
}

/// Number of buffers in use.
#[derive(Debug, Default)]
struct InUse {
    number: Mutex<usize>,
    returned: Condvar,
}

/// The bytes of a copy, once it is done.
#[derive(Debug, Default)]
struct Staged {
    bytes: Mutex<Option<Vec<u8>>>,
    made: Condvar,
}

struct InFlight {
    from: Arc<Staged>,
    bytes: Vec<u8>,
    in_use: Arc<InUse>,
}

impl PendingCopy for InFlight {
    fn bytes(&mut self) -> Result<&[u8], Error> {
        let mut bytes = self.from.bytes.lock().unwrap_or_else(PoisonError::into_inner);
        while bytes.is_none() && self.bytes.is_empty() {
            bytes = self.from.made.wait(bytes).unwrap_or_else(PoisonError::into_inner);
        }
        if let Some(bytes) = bytes.take() {
            self.bytes = bytes;
        }
        Ok(&self.bytes)
    }
}

impl Drop for InFlight {
    fn drop(&mut self) {
        *self.in_use.number.lock().unwrap_or_else(PoisonError::into_inner) -= 1;
        self.in_use.returned.notify_one();
    }
}

impl AsyncCopies {
    /// # Safety
    /// As for [`crate::runtime::device::Device::copy_to_host_async`].
    pub unsafe fn copy(&mut self, pieces: &[(DevicePtr, usize)]) -> AsyncCopy {
        let in_use = Arc::clone(&self.in_use);
        let mut number = in_use.number.lock().unwrap_or_else(PoisonError::into_inner);
        while *number == STAGING_BUFFERS {
            // The owner of a buffer waits for its bytes.
            self.complete(CopyId(u64::MAX));
            number = in_use.returned.wait(number).unwrap_or_else(PoisonError::into_inner);
        }
        *number += 1;
        drop(number);
        self.copies += 1;
        let staged = Arc::new(Staged::default());
        self.waiting.push_back(Waiting { copy: CopyId(self.copies), pieces: pieces.to_vec(), to: Arc::clone(&staged) });
        if !self.late {
            self.complete(CopyId(self.copies));
        }
        (CopyId(self.copies), Box::new(InFlight { from: staged, bytes: Vec::new(), in_use }))
    }

    /// Completes the copies up to one.
    pub fn complete(&mut self, last: CopyId) {
        while self.waiting.front().is_some_and(|waiting| waiting.copy <= last) {
            let Some(Waiting { pieces, to, .. }) = self.waiting.pop_front() else { return };
            let mut bytes = Vec::new();
            for (from, len) in pieces {
                // SAFETY: allocated here and not written yet, as the caller of the copy promised.
                bytes.extend_from_slice(unsafe { std::slice::from_raw_parts(from.0 as *const u8, len) });
            }
            *to.bytes.lock().unwrap_or_else(PoisonError::into_inner) = Some(bytes);
            to.made.notify_all();
        }
    }
}
