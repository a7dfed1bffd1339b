//! Values of a program on the device: handles, memory, host access, conditions, outputs, loops.

pub(crate) mod allocation;
mod change;
mod checkpoint;
pub(crate) mod checks;
pub mod collections;
pub(crate) mod conditions;
mod finite;
mod host_access;
mod outputs;
pub(crate) mod pending_step;
mod reduce;
pub(crate) mod steady;
pub(crate) mod steps;
