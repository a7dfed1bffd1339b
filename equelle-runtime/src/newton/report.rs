//! What Newton's method did, for messages.

use std::fmt::Write as _;

use crate::number::write_shortest;
use crate::traits::EntityKind;

/// One line of the history.
#[derive(Clone, Debug, PartialEq)]
pub struct Iteration {
    /// Norm of the residual after it.
    pub norm: f64,
    /// Iterations of the linear solver that led to it; `None` before the first linear solve and after a direct solver.
    pub linear_iterations: Option<usize>,
}

/// The iterations so far; the first entry is the guess.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct History {
    /// In order.
    pub iterations: Vec<Iteration>,
}

impl History {
    /// Iterations done; the guess does not count.
    pub fn count(&self) -> usize {
        self.iterations.len().saturating_sub(1)
    }

    /// Norm of the residual at the last iterate.
    pub fn norm(&self) -> f64 {
        self.iterations.last().map_or(f64::NAN, |last| last.norm)
    }

    /// A table, one line an iteration.
    pub fn table(&self) -> String {
        let mut text = "iteration  residual norm  linear iterations\n".to_owned();
        for (number, iteration) in self.iterations.iter().enumerate() {
            let linear = match iteration.linear_iterations {
                Some(count) => count.to_string(),
                None if number == 0 => String::new(),
                None => "direct".to_owned(),
            };
            // Writing to a String cannot fail.
            let _ = writeln!(text, "{}", format!("{number:9}  {:>13}  {linear}", format!("{:.6e}", iteration.norm)).trim_end());
        }
        text
    }
}

/// An entry of the residual.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// Equation it belongs to, from 0, in the order of the unknowns.
    pub equation: usize,
    /// Kind of the entity it is on.
    pub kind: EntityKind,
    /// Index of the entity in the grid.
    pub entity: u32,
    /// Its value.
    pub value: f64,
    /// Centroid of the entity, one number a dimension.
    pub centroid: Vec<f64>,
}

/// One line an entry; `equations` is how many there are.
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
