//! Decisions of the passes and their reasons. Each is noted where it is made; [`crate::report`]
//! only looks it up.

use std::collections::{BTreeMap, BTreeSet};

use crate::ir::ValueId;
use crate::source::Span;

/// A Newton solve whose derivatives are followed operation by operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotDifferentiated {
    /// The solve.
    pub span: Span,
    /// The construct that stands in the way, as part of a sentence: `a reduction of the unknown`.
    pub construct: &'static str,
}

/// Decisions of the passes over one module.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Notes {
    /// Solves whose derivatives are followed operation by operation, in order.
    pub untreated: Vec<NotDifferentiated>,
    calls: BTreeMap<String, CallNotInlined>,
    placed: BTreeMap<(String, ValueId), Why>,
    for_solves: BTreeMap<(String, ValueId), Why>,
    generated_names: BTreeSet<(String, ValueId)>,
}

/// Reason why a call was not inlined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // The line of a variant explains its fields.
pub enum CallNotInlined {
    /// The caller has grown to the budget, in statements.
    Budget { budget: usize },
    /// The function has this many statements, more than `limit`, and is called more than once.
    Large { statements: usize, limit: usize },
}

/// Reason why a value is computed on its own instead of inside its readers.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // The line of a variant explains its fields.
pub enum Why {
    /// Somebody needs it in memory.
    Needed(BTreeSet<Need>),
    /// A reduction ends a kernel: its value is known when all elements are.
    Reduction,
    /// A sum over faces is evaluated at other cells: each cell would sum over the faces of its
    /// neighbours.
    SumElsewhere,
    /// A sum over faces is used at several places.
    SharedSum { places: u32 },
    /// It does not change in the loop, and evaluating it each round costs more than a load.
    Invariant { cost: u32, load: u32 },
    /// Used at several places and expensive.
    Shared { places: u32, cost: u32, limit: u32 },
    /// Read at several offsets of a Cartesian grid: each place would evaluate it again.
    ReadAtOffsets { places: u32, cost: u32, limit: u32 },
    /// Faces read it: each would evaluate it again for both of its cells.
    ReadByFaces { evaluations: u32, cost: u32, limit: u32 },
    /// A kernel would mix kinds of sums over faces, reads by index or centroids, which have no form
    /// for Cartesian grids in common.
    MixedForms,
    /// The user asks for it.
    ChosenByUser,
    /// More operations above one another than are substituted.
    Tall { limit: u32 },
    /// Choices inside others: kernels would evaluate it so often, more than `limit` times for each
    /// operation that reads it.
    Repeated { evaluations: u32, limit: u32 },
    /// No kernel computes such an operation, or values of its type.
    NoKernel,
    /// A kernel could not be built for it from what it reads.
    NotBuilt,
    /// It is not kept in memory as values of its type are not, but somebody needs it there.
    NotStorable,
}

/// Who needs a value in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Need {
    /// It is put out.
    Output,
    /// A mutable variable keeps it.
    Variable,
    /// The function returns it.
    Result,
    /// A function that was not inlined takes it.
    Call,
    /// Newton's method takes it.
    Solve,
    /// An operation outside kernels reads it.
    Operation,
    /// It is reduced and has a sum over faces.
    ReducedSum,
    /// Kernels ask whether entities are in a set.
    Membership,
}

impl Notes {
    /// Notes why calls of a function stay.
    pub(super) fn keep_call(&mut self, callee: &str, why: CallNotInlined) {
        self.calls.insert(callee.to_owned(), why);
    }

    /// Notes why a value of a function is computed on its own.
    pub(super) fn place(&mut self, function: &str, value: ValueId, why: Why) {
        self.placed.insert((function.to_owned(), value), why);
    }

    /// Notes why what a solve reads is not evaluated inside its equations.
    pub(super) fn place_before_solve(&mut self, function: &str, value: ValueId, why: Why) {
        self.for_solves.insert((function.to_owned(), value), why);
    }

    /// Notes that a pass gave a value of a function its name, as the program has none for it.
    pub(super) fn generate_name(&mut self, function: &str, value: ValueId) {
        self.generated_names.insert((function.to_owned(), value));
    }

    /// True if a pass gave the value its name.
    pub fn has_generated_name(&self, function: &str, value: ValueId) -> bool {
        self.generated_names.contains(&(function.to_owned(), value))
    }

    /// Reason why calls of the function `callee` stay.
    pub fn call(&self, callee: &str) -> Option<CallNotInlined> {
        self.calls.get(callee).copied()
    }

    /// Reason why a value of a function is computed on its own.
    pub fn why(&self, function: &str, value: ValueId) -> Option<&Why> {
        self.placed.get(&(function.to_owned(), value))
    }

    /// Reason why a value that a solve reads is not evaluated inside its equations.
    pub fn why_before_solve(&self, function: &str, value: ValueId) -> Option<&Why> {
        self.for_solves.get(&(function.to_owned(), value))
    }
}
