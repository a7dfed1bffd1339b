//! Values of a program on the device: handles, memory, host access, conditions, outputs, loops.

pub(crate) mod allocation;
pub(crate) mod change;
mod checkpoint;
pub(crate) mod checks;
pub mod collections;
pub(crate) mod conditions;
pub(crate) mod finite;
mod host_access;
pub(crate) mod outputs;
pub(crate) mod pending_step;
mod reduce;
pub(crate) mod steady;
pub(crate) mod steps;
