//! Outputs to files: the numbers are copied beside the stream, and a thread of the session writes them, while the device and the host go on.

use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use equelle_runtime::{Error, ErrorKind};

use crate::runtime::collections::Collection;
use crate::runtime::conditions::HOLD;
use crate::runtime::device::{DevicePtr, PendingCopy};
use crate::runtime::pool::Buffer;
use crate::runtime::precision::{Precision, doubles, singles};
use crate::runtime::program::CudaRuntime;

/// Numbers on their way, and with them whether all conditions held when they were made.
struct Coming {
    bytes: Box<dyn PendingCopy>,
    /// Bytes of a component.
    component: usize,
    components: usize,
    /// Whether the flag follows the numbers.
    flagged: bool,
    failed: Arc<AtomicU64>,
}

impl Coming {
    /// The components, once they are here. The buffer of the host is free again then.
    fn arrive<R>(mut self, numbers: impl Fn(&[u8]) -> Vec<R>) -> Result<Vec<Vec<R>>, Error> {
        let bytes = self.bytes.bytes()?;
        let (values, flag) = bytes.split_at(self.component * self.components);
        if self.flagged {
            let flag = flag.try_into().map_or(HOLD, u64::from_le_bytes);
            if flag != HOLD {
                self.failed.store(flag, Ordering::Release);
                // The runtime says which one: see `CudaRuntime::settled`.
                return Err(Error::new(ErrorKind::Simulation, "a condition does not hold"));
            }
        }
        Ok(values.chunks_exact(self.component).map(numbers).collect())
    }
}

impl CudaRuntime {
    /// Puts out a collection stored densely, component after component, without waiting for it; false where outputs do not go to files at present, or there is nothing to copy.
    pub(super) fn output_aside(&mut self, tag: &str, values: &Collection, components: usize) -> Result<bool, Error> {
        let n = values.domain.len();
        if n == 0 || !self.session.outputs_go_to_files(n) {
            return Ok(false);
        }
        let component = self.precision.bytes() as usize * n;
        // What is printed meanwhile asks the flags, and so comes after an output that fails.
        self.mark_not_finite(values, components)?;
        let flag = self.flag_now()?;
        self.flush()?;
        let mut pieces: Vec<(DevicePtr, usize)> = vec![(values.pointer(), component * components)];
        pieces.extend(flag.as_ref().map(|flag| (flag.address(), 8)));
        // SAFETY: both buffers have these lengths at least. Kernels write to buffers that the pool handed out for their results, and the pool lets the stream wait for the copy first; memory
        // is given back after a wait for all work.
        let begun = unsafe { self.device.copy_to_host_async(&pieces) };
        let Some((copy, bytes)) = self.located(begun)? else { return Ok(false) };
        let lent: [Option<&Rc<Buffer>>; 2] = [Some(&values.buffer), flag.as_ref()];
        lent.into_iter().flatten().for_each(|buffer| self.pool.is_copied(buffer, copy));
        self.counters.downloads += pieces.len() as u64;
        self.counters.downloaded_bytes += pieces.iter().map(|piece| piece.1 as u64).sum::<u64>();
        let coming = Coming { bytes, component, components, flagged: flag.is_some(), failed: Arc::clone(&self.failed_output) };
        let domain = &values.domain;
        let result = match self.precision {
            Precision::Double => self.session.output_later(tag, domain, move || coming.arrive(doubles)),
            Precision::Single => self.session.output_later(tag, domain, move || coming.arrive(singles)),
        };
        self.settled(result)?;
        Ok(true)
    }

    /// Waits until all outputs are in their files.
    pub(super) fn settle_outputs(&mut self) -> Result<(), Error> {
        // Copies are made even where nothing more is launched.
        let device = self.device.synchronise();
        let result = self.session.settle_outputs();
        self.settled(result)?;
        self.located(device)
    }

    /// The error of a run that an error ends: its outputs are in their files then. What went wrong with them came before, and so did a condition that no output has looked at.
    /// That the device is lost, or the user had enough, the error itself says.
    pub(super) fn ended_by(&mut self, error: Error) -> Error {
        let _ = self.device.synchronise();
        let result = self.session.settle_outputs();
        if let Some(first) = self.settled(result).err().filter(|first| first.kind != ErrorKind::Backend) {
            return first;
        }
        match error.kind {
            ErrorKind::Backend | ErrorKind::Interrupted(_) => error,
            ErrorKind::Usage | ErrorKind::Simulation | ErrorKind::Data | ErrorKind::Io => {
                self.check_flag().err().filter(|first| first.kind != ErrorKind::Backend).unwrap_or(error)
            }
        }
    }

    /// What the thread that writes said, with the condition that does not hold in words.
    fn settled(&mut self, result: Result<(), Error>) -> Result<(), Error> {
        let Err(error) = result else { return Ok(()) };
        Err(match self.failed_output.swap(HOLD, Ordering::Acquire) {
            HOLD => error,
            flag => self.condition_error(flag),
        })
    }
}
