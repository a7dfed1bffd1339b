//! Set-up of preconditioners on the device.

pub(crate) mod amg_setup;
mod cpr;
mod fsai;
mod ilu0;
pub(crate) mod triangular_solve;
