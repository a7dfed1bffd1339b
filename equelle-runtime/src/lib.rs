//! Runtime of generated Equelle programs.
//!
//! Reading order: [`traits`] (the interface between generated code and back-ends), [`entity`],
//! [`operators`], [`grid`], [`domain`], [`real`], [`reduce`], [`threads`] (loops on all cores),
//! [`io`] (files or memory, texts of parameters), [`vtk`], [`params`], [`number`], [`input`],
//! [`output`], [`report`], [`newton`] (Newton's method), [`checkpoint`], [`observer`],
//! [`observed`], [`session`] (all for one run), [`simulator`] (the command line of a simulator),
//! [`error`]. The crate is independent of Equelle's syntax and IR.

#![forbid(unsafe_code)]
// Without solvers nothing calls the functions of the session that report solves.
#![cfg_attr(not(feature = "solvers"), allow(dead_code))]

#[cfg(feature = "cache")]
pub mod cache;
pub mod checkpoint;
pub mod data_array;
mod decimal;
pub mod derivative_access;
pub mod domain;
pub mod entity;
pub mod error;
pub mod grid;
pub mod handover;
pub mod hash;
pub mod input;
pub mod interrupt;
pub mod io;
mod json;
pub mod kernel_info;
pub mod keys;
#[cfg(feature = "solvers")]
pub mod linalg;
pub mod math;
pub mod memory;
pub mod newton;
pub mod number;
pub mod observed;
pub mod observer;
pub mod operations;
pub mod operators;
pub mod output;
pub mod params;
mod program;
mod rank_id;
pub mod rank_parts;
pub mod rank_run;
pub mod ranks;
pub mod real;
pub mod reduce;
pub mod report;
pub mod run;
pub mod session;
pub mod simulator;
pub mod solve_traffic;
pub mod source;
pub mod temporary;
pub mod threads;
pub mod traits;
pub mod value_traits;
pub mod vtk;
pub mod wire;

pub use checkpoint::Checkpoint;
pub use data_array::{ArrayValues, DataArray};
pub use derivative_access::DerivativeAccess;
pub use domain::Domain;
pub use entity::{CanonicalSet, EntityKind, Extent};
pub use error::{Error, ErrorKind};
pub use grid::{GeometryArray, Grid};
pub use kernel_info::{KernelBytes, KernelInfo};
pub use math::table2::TablePart;
pub use memory::{Buffers, MemoryPlan, SetMemory, SolveMemory};
pub use observed::{Observed, Variable};
pub use operations::Operations;
pub use operators::{Binary, BinaryMath, BoolReduction, Comparison, Elementary, FaceReduction, Logic, Reduction, Unary};
pub use params::Parameters;
pub use program::{
    AxisUnits, HaloNeeds, InputInfo, InputKind, InputUnit, OutputInfo, OutputKind, OutputUnit, Program, RankNeeds, RankRefusal, Retry,
    Solve, TableColumn, TableColumns,
};
pub use real::{Float, Real};
pub use session::{RoundLength, Session};
pub use simulator::Backend;
pub use source::{ImportedSource, Source};
pub use traits::*;
pub use value_traits::{Check, Exchange, Output};
