//! Equelle as a library: the text of a program in, results of its runs out. Nothing is printed and
//! no process ends here; files are read and written where the caller names them.
//!
//! Reading order: [`imports`] (files of a program), [`pipeline`] (text to verified IR; [`keys`] and
//! [`columns`] find names that clash), [`registry`] (the back-ends), [`compiled`] (a program for
//! some of them), [`inputs`] (what it reads), [`simulation`] (runs in memory),
//! [`interpret`] (running without a build), [`ranks`] and [`rank_plan`] (running on several ranks,
//! and what that will take), [`mpi`] (that of this machine), [`package`] (verified IR to a cargo
//! package), [`cache`] (where the runtime crates and built simulators live), [`cargo`] and
//! [`background`] (building one), [`processor`] (for which processor), [`report`] (what the
//! compiler did), [`emitter`] and [`failure`] (messages), [`files`] (writing them).

#![forbid(unsafe_code)]

pub mod background;
pub mod cache;
pub mod cargo;
pub mod columns;
pub mod compiled;
pub mod emitter;
pub mod failure;
pub mod files;
pub mod imports;
pub mod inputs;
pub mod interpret;
pub mod keys;
pub mod mpi;
pub mod package;
pub mod pipeline;
pub mod processor;
pub mod rank_plan;
pub mod rank_program;
pub mod ranks;
pub mod registry;
pub mod report;
pub mod simulation;
