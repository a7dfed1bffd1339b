//! Report on a compiled program: kernels in their order, what each reads and writes, and what is
//! computed on its own and why.
//!
//! [`Report::of`] walks a module after the passes ([`walk`]) and looks up the reasons that the
//! passes noted themselves ([`crate::passes::Notes`]). [`traffic`] counts what a kernel reads,
//! writes and computes for one element, of which [`bytes`] gives profiles the part they need;
//! [`summary`] adds it up by part. This folder gives data; the driver renders it.

mod bytes;
mod memory;
mod ranks;
mod slow;
mod summary;
mod traffic;
mod walk;

use crate::backend::forms::{ChosenForm, LoopForm, Refusal};
use crate::ir::{CheckKind, KernelId, Module};
use crate::passes::{CallNotInlined, Why};

pub use bytes::KernelBytes;
pub use memory::{Memory, System};
pub use ranks::{Exchange, Ranks};
pub use slow::SlowOperations;
pub use summary::{PartTotals, PerCell};
pub use traffic::Traffic;

/// Report on a compiled program.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// Name of the Equelle file, without its folder.
    pub file: String,
    /// Numbers of space axes for which traffic is given.
    pub dimensions: Vec<u32>,
    /// First the part that runs once, then those that run in each round of a loop, in each
    /// evaluation of a residual, in each call of a function.
    pub parts: Vec<Part>,
    /// Memory and linear systems: [`Report::add_memory`].
    pub memory: Option<Memory>,
    /// Halo and exchanges on several ranks: [`Report::add_ranks`].
    pub ranks: Option<Ranks>,
}

/// Items that run together.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    /// Time at which it runs.
    pub when: When,
    /// Number of loops and solves around it.
    pub depth: usize,
    /// In the order of the run.
    pub items: Vec<Item>,
}

impl Report {
    /// Adds the loops that a back-end chose, by kernel of the module.
    pub fn add_forms(&mut self, backend: &'static str, forms: &[ChosenForm]) {
        for item in self.parts.iter_mut().flat_map(|part| &mut part.items) {
            if let Item::Kernel(kernel) = item
                && let Some(form) = forms.get(kernel.kernel.0 as usize)
            {
                kernel.forms.push((backend, *form));
            }
        }
    }

    /// Adds what a module, as back-ends get it, needs on several ranks.
    pub fn add_ranks(&mut self, module: &Module) {
        self.ranks = Some(Ranks::from_module(module));
    }

    /// Kernels that a back-end runs more slowly than row by row, with the construct.
    pub fn slower_kernels(&self) -> impl Iterator<Item = (&KernelItem, &'static str, LoopForm, Refusal)> {
        let forms = self.parts.iter().flat_map(Part::kernels).flat_map(|kernel| kernel.forms.iter().map(move |form| (kernel, form)));
        forms.filter_map(|(kernel, (backend, chosen))| chosen.refused.map(|refusal| (kernel, *backend, chosen.form, refusal)))
    }
}

impl Part {
    /// Its kernels, in order.
    pub fn kernels(&self) -> impl Iterator<Item = &KernelItem> {
        self.items.iter().filter_map(|item| match item {
            Item::Kernel(kernel) => Some(kernel.as_ref()),
            Item::Operation { .. } | Item::Solve { .. } | Item::Loop { .. } | Item::Call { .. } => None,
        })
    }
}

/// Time at which a part runs.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // The line of a variant explains its fields.
pub enum When {
    /// Once in a run: what is outside loops, or has been moved there.
    Once,
    /// In each round of a loop.
    Loop { line: u32 },
    /// In each evaluation of the residuals of a solve.
    Evaluation { line: u32 },
    /// In each call of a function that was not inlined.
    Call { function: String, line: u32 },
}

/// One action of a part.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)] // The line of a variant explains its fields.
pub enum Item {
    /// Launches a kernel.
    Kernel(Box<KernelItem>),
    /// Computes a collection by an operation of the runtime; `why` if a pass decided so.
    Operation { name: String, line: u32, operation: &'static str, why: Option<Why> },
    /// Runs Newton's method, whose evaluations are a part of their own. `untreated`: the construct
    /// because of which derivatives are followed operation by operation.
    Solve { line: u32, unknowns: Vec<String>, by_kernels: bool, untreated: Option<&'static str> },
    /// Runs a loop, which is a part of its own.
    Loop { line: u32, length: RoundLength, steps: Steps },
    /// Calls a function, which is a part of its own.
    Call { function: String, line: u32, why: Option<CallNotInlined> },
}

/// True if the steps of a loop can be taken again in parts (see [`crate::time_steps`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // The line of a variant explains its fields.
pub enum Steps {
    /// Nothing is solved in them.
    Explicit,
    /// They can.
    Divisible,
    /// They cannot, because of this construct, in this line.
    Indivisible { construct: &'static str, line: u32 },
}

/// Step by which the time of outputs advances in a round of a loop.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // The line of a variant explains its fields.
pub enum RoundLength {
    /// The element of the sequence.
    Element,
    /// A Scalar that the body computes.
    Computed { name: String },
    /// One: no Scalar plays the step.
    Round,
}

/// A kernel where it is launched.
#[derive(Clone, Debug, PartialEq)]
pub struct KernelItem {
    /// Its name.
    pub name: String,
    /// Equelle lines of what it computes, ascending.
    pub lines: Vec<u32>,
    /// Name of the set over which it runs; empty for one evaluation.
    pub over: String,
    /// Elements of this set for each cell of a large grid; 0 for sets made at run time, on the
    /// boundary, and for one evaluation. `[dimensions]`
    pub per_cell: Vec<f64>,
    /// The unknown whose equation it is, with the derivatives.
    pub equation_of: Option<String>,
    /// Results that it computes.
    pub results: Vec<ResultItem>,
    /// In programs that read by index: which cells around its own it reads.
    pub points: Option<Points>,
    /// Conditions on the grid or data that it checks.
    pub checks: Vec<CheckKind>,
    /// For any grid. `[dimensions]`
    pub general: Vec<Traffic>,
    /// For uniform Cartesian grids.
    pub cartesian: Cartesian,
    /// The kernel of the module.
    pub kernel: KernelId,
    /// Its loop on Cartesian grids, by name of the back-end: [`Report::add_forms`].
    pub forms: Vec<(&'static str, ChosenForm)>,
}

/// The cells around its own that a kernel reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Points {
    /// Their number, its own cell with them.
    pub count: usize,
    /// Those of each collection.
    pub params: Vec<ParamPoints>,
}

/// The cells of which a kernel reads the values of a collection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParamPoints {
    /// Name of the collection in the kernel.
    pub name: String,
    /// Its name or formula in the program, if it has one.
    pub written: String,
    /// Number of cells.
    pub count: usize,
    /// Distances, backwards and forwards along each axis.
    pub reach: [[u8; 2]; 3],
}

/// Evaluation of a kernel on a uniform Cartesian grid.
#[derive(Clone, Debug, PartialEq)]
pub enum Cartesian {
    /// As on any grid.
    General,
    /// One evaluation per axis: nothing is loaded or stored per element.
    PerAxis,
    /// A body of its own. `[dimensions]`
    Full(Vec<Traffic>),
}

/// A result of a kernel.
#[derive(Clone, Debug, PartialEq)]
pub struct ResultItem {
    /// Its name in the kernel.
    pub name: String,
    /// Its name or formula in the program; `None` for residuals.
    pub written: Option<String>,
    /// The Equelle line of the expression.
    pub line: u32,
    /// Reason why it is not computed inside its readers; `None` for residuals.
    pub why: Option<Why>,
    /// The same for the equations of a solve that read it.
    pub before_solve: Option<Why>,
    /// The collection whose memory it takes, as the kernel calls it.
    pub in_place: Option<String>,
    /// The same as the program writes it.
    pub replaces: Option<String>,
}
