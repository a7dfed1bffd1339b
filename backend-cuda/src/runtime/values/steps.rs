//! Steps that a program computes: the host reads a step with the condition of its loop, while the
//! device goes on with the round.

use std::rc::Rc;

use equelle_runtime::Error;

use crate::runtime::device::DevicePtr;
use crate::runtime::executor::early_read::EarlyRead;
use crate::runtime::runtime::CudaRuntime;
use crate::runtime::values::collections::{Bool, Scalar};
use crate::runtime::values::pending_step::PendingStep;

impl CudaRuntime {
    /// Waits for the pending step, if there is one, and shows it to the session.
    ///
    /// # Errors
    /// `Simulation` if it is not finite; `Backend` if the device is lost.
    pub(crate) fn resolve_step(&mut self) -> Result<(), Error> {
        resolve_step_and(self, None).map(|_| ())
    }
}

/// Takes the step of a round. The session sees it before anything else that can be observed, or
/// with the condition of the loop.
pub(crate) fn take(rt: &mut CudaRuntime, length: &Scalar) -> Result<Scalar, Error> {
    rt.resolve_step()?;
    // A part of a step is a number of the host.
    if let Scalar::Device(buffer) = length
        && rt.session.loops().step_scale() == 1.0
    {
        rt.pending_step = Some(PendingStep { length: Rc::clone(buffer), line: rt.session.current_line() });
        return Ok(length.clone());
    }
    let value = length.value(&rt.executor)?;
    let taken = rt.session.loops().take_step(value)?;
    Ok(if taken == value { length.clone() } else { Scalar::Host(taken) })
}

/// The condition of a loop; the pending step is resolved.
pub(crate) fn condition_of_round(rt: &mut CudaRuntime, condition: &Bool) -> Result<bool, Error> {
    match condition {
        Bool::Device(buffer) => resolve_step_and(rt, Some(buffer.address())),
        Bool::Host(value) => rt.resolve_step().map(|()| *value),
    }
}

fn resolve_step_and(rt: &mut CudaRuntime, condition: Option<DevicePtr>) -> Result<bool, Error> {
    let pending = rt.pending_step.take();
    let number = pending.as_ref().map(|step| step.length.address());
    if number.is_none() && condition.is_none() {
        return Ok(false);
    }
    let (number, condition) = rt.executor.read_early(EarlyRead { number, condition })?;
    if let Some(step) = pending {
        let line = rt.session.current_line();
        rt.session.line(step.line);
        rt.session.loops().take_step(number)?;
        rt.session.line(line);
    }
    Ok(condition)
}
