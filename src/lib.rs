//! The driver: what the `equellec` command does with the library `equelle`.
//!
//! Reading order: [`cli`] (arguments to actions), [`console`] and [`build_bar`] (what the user
//! sees), [`doctor`].

#![forbid(unsafe_code)]

pub mod build_bar;
pub mod cli;
pub mod console;
pub mod doctor;
mod emitter;
