//! The runtime on every device that there is: the emulator, and a GPU where there is one. The
//! bundle for a GPU holds this executable.
#![cfg(feature = "runtime")]

#[path = "../common/mod.rs"]
mod common;

mod choices;
mod divisions;
mod extremes;
mod heat_by_hand;
mod numbering;
mod operations;
mod outputs;
mod places;
mod steady_state;
mod steps;
