//! The driver: what the `equellec` command does.
//!
//! Reading order: [`cli`] (arguments to actions), [`imports`] (files of a program), [`pipeline`]
//! (text to verified IR; [`keys`] and [`columns`] find names that clash), [`registry`] (the
//! back-ends), [`package`] (verified IR to a cargo package), [`cache`] (where the runtime crates
//! and built simulators live), [`cargo`] and [`build_bar`] (building one), [`processor`] (for which
//! processor), [`interpret`] (running without a build), [`report`] (what the compiler did),
//! [`console`] and [`failure`] (what the user sees), [`doctor`].

#![forbid(unsafe_code)]

pub mod build_bar;
pub mod cache;
pub mod cargo;
pub mod cli;
pub mod columns;
pub mod console;
pub mod doctor;
pub mod failure;
pub mod files;
pub mod imports;
pub mod interpret;
pub mod keys;
pub mod package;
pub mod pipeline;
pub mod processor;
pub mod registry;
pub mod report;
