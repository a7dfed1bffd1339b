//! Reports of Newton's method for messages.

use std::fmt::Write as _;

use super::range::Range;
use crate::entity::EntityKind;
use crate::number::write_shortest;
use crate::report::seconds;

/// One line of the history.
#[derive(Clone, Debug, PartialEq)]
pub struct Iteration {
    /// Norm of the residual after it.
    pub norm: f64,
    /// Iterations of the linear solver before it; `None` for the guess and after a direct solver.
    pub linear_iterations: Option<usize>,
    /// Fraction of the correction that was applied; 1 for the guess.
    pub length: f64,
    /// Its time.
    pub times: Times,
}

/// Seconds of the parts of an iteration.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Times {
    /// Residuals and Jacobians, with those of trials.
    pub assembly: f64,
    /// Set-up of linear solves: preconditioners, factorisations.
    pub set_up: f64,
    /// Linear solves without set-up.
    pub solve: f64,
}

impl std::ops::AddAssign for Times {
    fn add_assign(&mut self, other: Times) {
        self.assembly += other.assembly;
        self.set_up += other.set_up;
        self.solve += other.solve;
    }
}

/// The end of a solve.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SolveOutcome {
    /// A criterion holds.
    Converged,
    /// The limit on iterations was reached.
    NotConverged,
    /// The residual is not finite, a linear system could not be solved, or an error of the program.
    Failed,
}

/// The cause of a failed solve, from which all advice comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailureCause {
    /// The limit on iterations was reached.
    IterationLimit,
    /// The limit was reached while residuals alternated: the corrections overshoot.
    Alternating,
    /// The residual is not finite.
    NotFinite,
    /// The linear solver failed; another one may succeed.
    LinearSolver,
    /// The linear system has no unique solution, so no solver can succeed.
    LinearSystem,
    /// Evaluation of the residual failed.
    Residual,
}

/// The iterations so far; the first entry is the guess. The other fields are set at the end of a
/// solve.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct History {
    /// In order.
    pub iterations: Vec<Iteration>,
    /// Ranges of the unknowns at the end; empty if not known.
    pub ranges: Vec<Range>,
    /// Ranges of the unknowns at the guess.
    pub first_ranges: Vec<Range>,
    /// True if the program goes on with the last iterate.
    pub is_kept: bool,
    /// The cause of a failure; `None` for a solve that converged.
    pub cause: Option<FailureCause>,
}

/// Number of last iterations whose norms are compared with those of two iterations before.
const COMPARED: usize = 4;

/// Relative difference up to which two norms count as the same.
const SAME: f64 = 0.05;

impl History {
    /// Number of iterations; the guess does not count.
    pub fn count(&self) -> usize {
        self.iterations.len().saturating_sub(1)
    }

    /// True if the last norms alternate between two values: the corrections overshoot.
    pub fn alternates(&self) -> bool {
        let norms: Vec<f64> = self.iterations.iter().rev().take(COMPARED + 2).map(|iteration| iteration.norm).collect();
        let returns = norms.windows(3).all(|three| (three[0] - three[2]).abs() <= SAME * three[0].max(three[2]));
        let (least, greatest) =
            norms.iter().fold((f64::INFINITY, 0.0_f64), |(least, greatest), norm| (least.min(*norm), greatest.max(*norm)));
        norms.len() == COMPARED + 2 && returns && least > 0.0 && greatest.is_finite()
    }

    /// Norm of the residual at the last iterate.
    pub fn norm(&self) -> f64 {
        self.iterations.last().map_or(f64::NAN, |last| last.norm)
    }

    /// Total iterations of the linear solver.
    pub fn linear_iterations(&self) -> usize {
        self.iterations.iter().filter_map(|iteration| iteration.linear_iterations).sum()
    }

    /// Seconds of all iterations.
    pub fn times(&self) -> Times {
        let mut all = Times::default();
        self.iterations.iter().for_each(|iteration| all += iteration.times);
        all
    }

    /// A table with one line per iteration.
    pub fn table(&self) -> String {
        self.lines(false)
    }

    /// The table with the time of each part.
    pub fn table_with_times(&self) -> String {
        self.lines(true)
    }

    fn lines(&self, with_times: bool) -> String {
        let shortened = self.iterations.iter().any(|iteration| iteration.length != 1.0);
        let mut text = "iteration  residual norm  linear iterations".to_owned();
        text.push_str(if shortened { "    length" } else { "" });
        text.push_str(if with_times { "    assembly      set-up       solve" } else { "" });
        text.push('\n');
        for (number, iteration) in self.iterations.iter().enumerate() {
            let linear = match iteration.linear_iterations {
                Some(count) => count.to_string(),
                None if number == 0 => String::new(),
                None => "direct".to_owned(),
            };
            let mut line = format!("{number:9}  {:>13}  {linear:17}", format!("{:.6e}", iteration.norm));
            if shortened {
                let length = if number == 0 { String::new() } else { format!("{:.3e}", iteration.length) };
                let _ = write!(line, "  {length:>8}");
            }
            if with_times {
                let Times { assembly, set_up, solve } = iteration.times;
                let linear = |value: f64| if number == 0 { String::new() } else { seconds(value) };
                let _ = write!(line, "  {:>10}  {:>10}  {:>10}", seconds(assembly), linear(set_up), linear(solve));
            }
            // Writing to a String cannot fail.
            let _ = writeln!(text, "{}", line.trim_end());
        }
        text
    }
}

/// An entry of the residual.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// Its equation, from 0, in the order of the unknowns.
    pub equation: usize,
    /// Kind of its entity.
    pub kind: EntityKind,
    /// Index of the entity in the grid.
    pub entity: u32,
    /// Its value.
    pub value: f64,
    /// Centroid of the entity, one number a dimension.
    pub centroid: Vec<f64>,
}

/// A table with one line for each entry; `equations` is the number of equations.
pub(super) fn worst_table(entries: &[Entry], equations: usize) -> String {
    let mut text = String::new();
    for entry in entries {
        let kind = match entry.kind {
            EntityKind::Cell => "cell",
            EntityKind::Face => "face",
            EntityKind::Edge => "edge",
            EntityKind::Vertex => "vertex",
        };
        let mut centroid = String::new();
        for (axis, x) in entry.centroid.iter().enumerate() {
            centroid.push_str(if axis == 0 { "" } else { ", " });
            write_shortest(&mut centroid, *x);
        }
        let equation = if equations > 1 { format!("equation {}, ", entry.equation + 1) } else { String::new() };
        let _ = writeln!(text, "  {equation}{kind} {} at ({centroid}): {:.6e}", entry.entity, entry.value);
    }
    text
}
