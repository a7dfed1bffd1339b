//! Change of collections in a round, for loops that it ends (`stop_when_change`). Reductions run on
//! the device; the host reads two numbers of each.

use std::rc::Rc;

use equelle_runtime::Error;
use equelle_runtime::session::{Measured, RoundChange};

use crate::runtime::device::DevicePtr;
use crate::runtime::executor::pool::Buffer;
use crate::runtime::runtime::CudaRuntime;
use crate::runtime::values::collections::Collection;

impl CudaRuntime {
    /// Measures a dense collection, `components` stored one after the other, if the round that is
    /// ending is measured.
    pub(crate) fn measure_change(&mut self, values: &Collection, components: usize) -> Result<(), Error> {
        let Some(variable) = self.session.loops().measured_variable() else { return Ok(()) };
        let n = values.domain.len();
        let bytes = self.executor.precision().bytes();
        if variable.is_first {
            self.before_round.truncate(variable.number);
        }
        let change = match self.before_round.get(variable.number) {
            Some(Some(before)) if n > 0 => {
                let change = self.executor.buffer("changes", bytes * (components * n) as u64)?;
                let call = self.executor.collection_call("equelle_change")?.arg((components * n) as u32).arg(values.pointer());
                self.executor.launch_over(call.arg(before.address()).arg(change.address()), components * n)?;
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
            let [least, greatest] = self.extremes_of(n, part(values.pointer()))?;
            let change = match &change {
                Some(change) => Some(self.extremes_of(n, part(change.address()))?[1]),
                None => None,
            };
            found.push(RoundChange { least, greatest, change });
        }
        if variable.is_first {
            let before = self.copy_of(values, components)?;
            self.before_round.resize(variable.number, None);
            self.before_round.push(before);
        }
        self.session.loops().record_change(Measured::Collection, &found);
        Ok(())
    }

    fn extremes_of(&mut self, n: usize, values: DevicePtr) -> Result<[f64; 2], Error> {
        let found = self.executor.extremes(n, values)?;
        let numbers: Vec<f64> = self.executor.download(found.address(), 2)?;
        Ok([numbers[0], numbers[1]])
    }

    /// A copy of the values; `None` where there are none.
    fn copy_of(&mut self, values: &Collection, components: usize) -> Result<Option<Rc<Buffer>>, Error> {
        let n = components * values.domain.len();
        if n == 0 {
            return Ok(None);
        }
        let (copy, change) = {
            let bytes = self.executor.precision().bytes() * n as u64;
            (self.executor.buffer("values before a round", bytes)?, self.executor.buffer("changes", bytes)?)
        };
        let call = self.executor.collection_call("equelle_change")?.arg(n as u32).arg(values.pointer());
        self.executor.launch_over(call.arg(copy.address()).arg(change.address()), n)?;
        Ok(Some(copy))
    }
}
