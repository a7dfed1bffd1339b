//! Change of collections in a round, for loops that it ends (`stop_when_change`). Reductions run on
//! the device; the host reads two numbers of each.

use std::rc::Rc;

use equelle_runtime::session::{Measured, RoundChange};
use equelle_runtime::{Error, Session};

use crate::runtime::device::DevicePtr;
use crate::runtime::executor::Executor;
use crate::runtime::executor::pool::Buffer;
use crate::runtime::values::collections::Collection;

/// Values after the round before of the variables whose change ends a loop; `None` for those
/// without elements and for single numbers.
#[derive(Default)]
pub(crate) struct BeforeRound(Vec<Option<Rc<Buffer>>>);

impl BeforeRound {
    /// Measures a dense collection, `components` stored one after the other, if the round that is
    /// ending is measured.
    pub(crate) fn measure(
        &mut self,
        session: &mut Session,
        executor: &Executor,
        values: &Collection,
        components: usize,
    ) -> Result<(), Error> {
        let Some(variable) = session.loops().measured_variable() else { return Ok(()) };
        let n = values.domain.len();
        let bytes = executor.precision().bytes();
        if variable.is_first {
            self.0.truncate(variable.number);
        }
        let change = match self.0.get(variable.number) {
            Some(Some(before)) if n > 0 => {
                let change = executor.buffer("changes", bytes * (components * n) as u64)?;
                let call = executor.collection_call("equelle_change")?.arg((components * n) as u32).arg(values.pointer());
                executor.launch_over(call.arg(before.address()).arg(change.address()), components * n)?;
                Some(change)
            }
            Some(_) | None => None,
        };
        let mut found = Vec::with_capacity(components);
        for component in 0..components {
            let part = |from: DevicePtr| DevicePtr(from.0 + bytes * (component * n) as u64);
            if n == 0 {
                let change = (!variable.is_first).then_some(0.0);
                found.push(RoundChange { least: f64::INFINITY, greatest: f64::NEG_INFINITY, change });
                continue;
            }
            let [least, greatest] = extremes_of(executor, n, part(values.pointer()))?;
            let change = match &change {
                Some(change) => Some(extremes_of(executor, n, part(change.address()))?[1]),
                None => None,
            };
            found.push(RoundChange { least, greatest, change });
        }
        if variable.is_first {
            let before = copy_of(executor, values, components)?;
            self.0.resize(variable.number, None);
            self.0.push(before);
        }
        session.loops().record_change(Measured::Collection, &found);
        Ok(())
    }
}

fn extremes_of(executor: &Executor, n: usize, values: DevicePtr) -> Result<[f64; 2], Error> {
    let found = executor.extremes(n, values)?;
    let numbers: Vec<f64> = executor.download(found.address(), 2)?;
    Ok([numbers[0], numbers[1]])
}

/// A copy of the values; `None` where there are none.
fn copy_of(executor: &Executor, values: &Collection, components: usize) -> Result<Option<Rc<Buffer>>, Error> {
    let n = components * values.domain.len();
    if n == 0 {
        return Ok(None);
    }
    let (copy, change) = {
        let bytes = executor.precision().bytes() * n as u64;
        (executor.buffer("values before a round", bytes)?, executor.buffer("changes", bytes)?)
    };
    let call = executor.collection_call("equelle_change")?.arg(n as u32).arg(values.pointer());
    executor.launch_over(call.arg(copy.address()).arg(change.address()), n)?;
    Ok(Some(copy))
}
