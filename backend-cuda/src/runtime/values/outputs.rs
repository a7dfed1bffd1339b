//! Outputs to files: the numbers are copied asynchronously, and a thread of the session writes
//! them, while device and host go on.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use equelle_runtime::session::finite::Nonfinite;
use equelle_runtime::{Error, ErrorKind};

use crate::runtime::device::PendingCopy;
use crate::runtime::executor::precision::Precision;
use crate::runtime::runtime::CudaRuntime;
use crate::runtime::values::collections::Collection;
use crate::runtime::values::conditions::HOLD;

/// Numbers of an asynchronous copy, with the flag of conditions at that time.
struct PendingOutput {
    bytes: Box<dyn PendingCopy>,
    /// Bytes of a component.
    component: usize,
    components: usize,
    /// True if the flag follows the numbers.
    flagged: bool,
    failed: Arc<AtomicU64>,
}

impl PendingOutput {
    /// The components, once copied. Releases the buffer of the host.
    fn arrive<R: bytemuck::Pod>(mut self) -> Result<Vec<Vec<R>>, Error> {
        let bytes = self.bytes.bytes()?;
        let (values, flag) = bytes.split_at(self.component * self.components);
        if self.flagged {
            let flag = flag.try_into().map_or(HOLD, u64::from_le_bytes);
            if flag != HOLD {
                self.failed.store(flag, Ordering::Release);
                // The runtime adds the condition: see `Conditions::with_failed`.
                return Err(Error::new(ErrorKind::Simulation, "a condition does not hold"));
            }
        }
        Ok(values.chunks_exact(self.component).map(|bytes| bytemuck::pod_collect_to_vec(bytes)).collect())
    }
}

/// Writes a dense collection, component after component, without waiting; false if outputs do
/// not go to files now, or there is nothing to copy.
pub(crate) fn output_async(rt: &mut CudaRuntime, tag: &str, values: &Collection, components: usize) -> Result<bool, Error> {
    let n = values.domain.len();
    if n == 0 || !rt.session.outputs().go_to_files(n) {
        return Ok(false);
    }
    let component = rt.executor.precision().bytes() as usize * n;
    // Printing meanwhile reads the flags, and so comes after an output that fails.
    if rt.session.nonfinite() != Nonfinite::Allow {
        rt.conditions.mark_not_finite(values, components)?;
    }
    let flag = rt.conditions.flag_now()?;
    let mut pieces = vec![(&values.buffer, component * components)];
    pieces.extend(flag.as_ref().map(|flag| (flag, 8)));
    let Some((_, bytes)) = rt.executor.copy_to_host_async(&pieces)? else { return Ok(false) };
    let pending = PendingOutput { bytes, component, components, flagged: flag.is_some(), failed: Arc::clone(&rt.conditions.failed_output) };
    let domain = &values.domain;
    let result = match rt.executor.precision() {
        Precision::Double => rt.session.outputs().later(tag, domain, move || pending.arrive::<f64>()),
        Precision::Single => rt.session.outputs().later(tag, domain, move || pending.arrive::<f32>()),
    };
    rt.conditions.with_failed(result)?;
    Ok(true)
}

impl CudaRuntime {
    /// Waits until all outputs are in their files.
    pub(crate) fn wait_for_outputs(&mut self) -> Result<(), Error> {
        // Copies complete even if nothing more is launched.
        let device = self.executor.device().synchronise();
        let result = self.session.outputs().complete();
        self.conditions.with_failed(result)?;
        self.located(device)
    }

    /// The error of a failed run, after writing its outputs. An error of outputs came earlier, and
    /// so did a failed condition that no output has read; a lost device or an interrupt is reported
    /// as it is.
    pub(crate) fn ended_by(&mut self, error: Error) -> Error {
        let _ = self.executor.device().synchronise();
        let result = self.session.outputs().complete();
        if let Some(first) = self.conditions.with_failed(result).err().filter(|first| first.kind != ErrorKind::Backend) {
            return first;
        }
        match error.kind {
            ErrorKind::Backend | ErrorKind::Interrupted(_) | ErrorKind::HandedOver => error,
            ErrorKind::Usage | ErrorKind::Simulation | ErrorKind::Data | ErrorKind::Io => {
                self.check_flag().err().filter(|first| first.kind != ErrorKind::Backend).unwrap_or(error)
            }
        }
    }
}
