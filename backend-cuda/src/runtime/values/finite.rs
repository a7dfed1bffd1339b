//! Checks that outputs and state are finite: a launch inspects them and marks a word beside the
//! flag of conditions. The host reads both in one copy, and then locates the number among the
//! values.

use equelle_runtime::Error;
use equelle_runtime::session::finite::Nonfinite;

use crate::runtime::runtime::CudaRuntime;
use crate::runtime::values::collections::Collection;
use crate::runtime::values::conditions::FINITE;

/// Checks that a variable is finite; the error names the element. `components` are stored one after
/// the other.
pub(crate) fn check_finite(rt: &mut CudaRuntime, name: &str, values: &Collection, components: usize) -> Result<(), Error> {
    rt.before_round.measure(&mut rt.session, &rt.executor, values, components)?;
    if rt.session.nonfinite() == Nonfinite::Allow {
        return Ok(());
    }
    let n = values.domain.len();
    if n > 0 {
        rt.conditions.mark_not_finite(values, components)?;
    }
    if rt.read_flags()? == FINITE {
        return Ok(());
    }
    let all = rt.executor.download_reals(values.pointer(), components * n)?;
    let columns: Vec<&[f64]> = all.chunks(n.max(1)).collect();
    rt.session.check_collection(name, &values.domain, &columns)
}
