//! Checks that outputs and state are finite: a launch inspects them and marks a word beside the
//! flag of conditions. The host reads both in one copy, and then locates the number among the
//! values.

use equelle_runtime::Error;
use equelle_runtime::session::finite::Nonfinite;

use crate::runtime::device::DevicePtr;
use crate::runtime::runtime::CudaRuntime;
use crate::runtime::values::collections::Collection;
use crate::runtime::values::conditions::FINITE;

impl CudaRuntime {
    /// Queues a launch that marks the word if a number of a dense collection is not finite.
    pub(crate) fn mark_not_finite(&mut self, values: &Collection, components: usize) -> Result<(), Error> {
        let n = values.domain.len();
        if n == 0 || self.session.nonfinite() == Nonfinite::Allow {
            return Ok(());
        }
        let word = DevicePtr(self.conditions.flags()?.address().0 + 8);
        let call =
            self.executor.collection_call("equelle_mark_not_finite")?.arg(n as u32).arg(components as u32).arg(values.pointer()).arg(word);
        self.executor.launch_over(call, n)
    }

    /// Checks that a variable is finite; the error names the element. `components` are stored one
    /// after the other.
    pub(crate) fn check_finite(&mut self, name: &str, values: &Collection, components: usize) -> Result<(), Error> {
        self.measure_change(values, components)?;
        if self.session.nonfinite() == Nonfinite::Allow {
            return Ok(());
        }
        self.mark_not_finite(values, components)?;
        if self.read_flags()? == FINITE {
            return Ok(());
        }
        let n = values.domain.len();
        let all = self.executor.download_reals(values.pointer(), components * n)?;
        let columns: Vec<&[f64]> = all.chunks(n.max(1)).collect();
        self.session.check_collection(name, &values.domain, &columns)
    }
}
