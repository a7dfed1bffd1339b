//! Direct solvers: [`solver`] is what a back-end brings. With the feature `lu`: `elimination` (what surrounds each of
//! them), `device_lu` (with the solver of a back-end), `lu` (on the host), `interruptible` (work on a thread of its own).

#[cfg(feature = "lu")]
pub(super) mod device_lu;
#[cfg(feature = "lu")]
pub(super) mod elimination;
#[cfg(feature = "lu")]
mod interruptible;
#[cfg(feature = "lu")]
pub(super) mod lu;
pub mod solver;
