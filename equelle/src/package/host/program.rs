//! Data shared by the functions of a program.

use std::collections::BTreeSet;

use equelle_front::backend::{KernelNames, Namer};
use equelle_front::checkpoint::Checkpoints;
use equelle_front::ir::Module;
use equelle_front::memory::geometry::GeometryArray;
use equelle_front::time_steps::TimeLoop;
use proc_macro2::TokenStream;

/// Data shared by functions.
pub(super) struct Program<'a> {
    pub module: &'a Module,
    pub kernels: Vec<KernelNames>,
    /// Rust names of the functions.
    pub functions: Vec<String>,
    /// Names that locals must not hide.
    pub globals: Namer,
    /// Bound of the runtime parameter.
    pub bound: TokenStream,
    /// True if there is a function `memory`.
    pub planned: bool,
    /// The loops that solve equations.
    pub time_loops: &'a [TimeLoop],
    /// Contents of checkpoints, and what a restarted run leaves out.
    pub checkpoints: &'a Checkpoints,
    /// Arrays of geometry that are read from a statement of the main block on.
    pub geometry: Vec<(usize, BTreeSet<GeometryArray>)>,
}
