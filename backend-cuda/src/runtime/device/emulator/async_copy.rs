//! Copies beside the stream: made at once, or as late as the runtime allows, which shows where it lets memory be written too early.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, PoisonError};

use equelle_runtime::Error;

use crate::runtime::device::{AsyncCopy, CopyId, DevicePtr, PendingCopy, STAGING_BUFFERS};

/// Copies that have not been made, and the buffers in use.
#[derive(Debug, Default)]
pub(super) struct AsyncCopies {
    /// Whether copies are made as late as possible.
    pub late: bool,
    waiting: VecDeque<Waiting>,
    in_use: Arc<InUse>,
    copies: u64,
}

/// A copy that has not been made.
#[derive(Debug)]
struct Waiting {
    copy: CopyId,
    pieces: Vec<(DevicePtr, usize)>,
    landing: Arc<Landing>,
}

/// Number of buffers in use.
#[derive(Debug, Default)]
struct InUse {
    number: Mutex<usize>,
    returned: Condvar,
}

/// Where the bytes of a copy land.
#[derive(Debug, Default)]
struct Landing {
    bytes: Mutex<Option<Vec<u8>>>,
    landed: Condvar,
}

struct InFlight {
    landing: Arc<Landing>,
    bytes: Vec<u8>,
    in_use: Arc<InUse>,
}

impl PendingCopy for InFlight {
    fn bytes(&mut self) -> Result<&[u8], Error> {
        let mut bytes = self.landing.bytes.lock().unwrap_or_else(PoisonError::into_inner);
        while bytes.is_none() && self.bytes.is_empty() {
            bytes = self.landing.landed.wait(bytes).unwrap_or_else(PoisonError::into_inner);
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
            // Whoever has a buffer waits for its bytes.
            self.make(CopyId(u64::MAX));
            number = in_use.returned.wait(number).unwrap_or_else(PoisonError::into_inner);
        }
        *number += 1;
        drop(number);
        self.copies += 1;
        let landing = Arc::new(Landing::default());
        self.waiting.push_back(Waiting { copy: CopyId(self.copies), pieces: pieces.to_vec(), landing: Arc::clone(&landing) });
        if !self.late {
            self.make(CopyId(self.copies));
        }
        (CopyId(self.copies), Box::new(InFlight { landing, bytes: Vec::new(), in_use }))
    }

    /// Makes the copies up to one.
    pub fn make(&mut self, last: CopyId) {
        while self.waiting.front().is_some_and(|waiting| waiting.copy <= last) {
            let Some(Waiting { pieces, landing, .. }) = self.waiting.pop_front() else { return };
            let mut bytes = Vec::new();
            for (from, len) in pieces {
                // SAFETY: allocated here and not written yet, as was promised when the copy began.
                bytes.extend_from_slice(unsafe { std::slice::from_raw_parts(from.0 as *const u8, len) });
            }
            *landing.bytes.lock().unwrap_or_else(PoisonError::into_inner) = Some(bytes);
            landing.landed.notify_all();
        }
    }
}
