//! What a generated program knows of itself.

use crate::source::Source;

/// What a generated program knows of itself; a `static` there. An interpreter that makes one at run time leaks it.
#[derive(Clone, Copy, Debug)]
pub struct Program {
    /// Name of the program, such as `heat`.
    pub name: &'static str,
    /// Its Equelle source, for messages.
    pub source: Source,
    /// Its inputs, in the order of the source.
    pub inputs: &'static [InputInfo],
    /// Least number of grid dimensions it runs on.
    pub min_dim: usize,
    /// Of each loop that solves equations, in the order of the source: whether its steps can be taken again in parts.
    pub retries: &'static [Retry],
    /// Its solves of equations, in the order of the source.
    pub solves: &'static [Solve],
    /// Tags of the collections that it puts out, in the order of the source.
    pub outputs: &'static [&'static str],
}

/// A solve of equations by Newton's method.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Solve {
    /// Equelle line.
    pub line: u32,
    /// What its unknowns are called: the parameters of the first residual.
    pub unknowns: &'static [&'static str],
}

/// An input of a program.
#[derive(Clone, Copy, Debug)]
pub struct InputInfo {
    /// Name of the parameter.
    pub name: &'static str,
    /// What is read.
    pub kind: InputKind,
    /// The domain of a collection, or the superset of a domain, as written in Equelle; empty for scalars and sequences.
    pub domain: &'static str,
    /// Unit that values are in, as written in Equelle; empty if dimensionless or unknown.
    pub unit: &'static str,
    /// Default of a scalar, as written in Equelle; empty if none.
    pub default: &'static str,
    /// Equelle line that reads it.
    pub line: u32,
}

/// Kinds of input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InputKind {
    /// `InputScalarWithDefault`
    Scalar,
    /// `InputCollectionOfScalar`
    Collection,
    /// `InputDomainSubsetOf`
    Domain,
    /// `InputSequenceOfScalar`
    Sequence,
}

impl InputInfo {
    /// The keys that belong to it, including those that older parameter files give without need.
    pub fn keys(&self) -> Vec<String> {
        match self.kind {
            InputKind::Scalar => vec![self.name.to_string()],
            InputKind::Collection | InputKind::Domain | InputKind::Sequence => {
                let mut keys = vec![format!("{}_filename", self.name), format!("{}_from_file", self.name)];
                if self.kind == InputKind::Collection {
                    keys.push(self.name.to_string());
                }
                keys
            }
        }
    }
}

/// Whether the steps of a loop with implicit solves can be taken again in parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retry {
    /// Equelle line of the loop.
    pub line: u32,
    /// What stands in the way, as part of a sentence, and its Equelle line; `None` if its body is a function of its mutable state and the step.
    pub obstacle: Option<(&'static str, u32)>,
}
