//! Run-time errors.

use std::fmt;

use crate::interrupt::Signal;

/// Whose fault it is; decides the exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// Wrong command line (2).
    Usage,
    /// The simulation failed: no convergence, not finite, `On` Empty (3).
    Simulation,
    /// Bad input data or parameters (4).
    Data,
    /// A file could not be read or written (5).
    Io,
    /// The back-end is unavailable or lost, or out of memory (6).
    Backend,
    /// The run was asked to end (130 or 143).
    Interrupted(Signal),
}

impl ErrorKind {
    /// Exit code of a program that ends with it.
    pub fn exit_code(self) -> u8 {
        match self {
            ErrorKind::Usage => 2,
            ErrorKind::Simulation => 3,
            ErrorKind::Data => 4,
            ErrorKind::Io => 5,
            ErrorKind::Backend => 6,
            ErrorKind::Interrupted(signal) => signal.exit_code(),
        }
    }
}

/// A run-time error: what happened, where in the Equelle program, and what to do.
#[derive(Clone, Debug, PartialEq)]
pub struct Error {
    /// Whose fault.
    pub kind: ErrorKind,
    /// One sentence; for data it names file, line and item.
    pub message: String,
    /// Equelle lines it concerns, innermost first.
    pub lines: Vec<u32>,
    /// One concrete thing to do.
    pub hint: Option<String>,
}

/// What to do about data or geometry asked of an Empty element.
const OF_EMPTY_ELEMENT: &str =
    "on the boundary one cell of a face is Empty: restrict to InteriorFaces(), or ask the other cell, `IsEmpty(A) ? B : A` instead of `A`";

/// The same where a `? :` chooses between data at one and at another entity.
pub(crate) const OF_CHOICE: &str =
    "both branches of `c ? (u On A) : (u On B)` are evaluated, whatever is chosen: choose the entity, `u On (c ? A : B)`";

impl Error {
    /// Without place or hint.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Error { kind, message: message.into(), lines: Vec::new(), hint: None }
    }

    /// The error of data or geometry asked of an Empty element: the one that belongs to the entity `element` (of this kind) of what was asked.
    pub fn empty_element(kind: &str, element: Option<u32>) -> Error {
        let whose = element.map_or_else(String::new, |element| format!(": the one that belongs to {kind} {element}"));
        Error::new(ErrorKind::Simulation, format!("an Empty element has no data and no geometry{whose}")).hint(OF_EMPTY_ELEMENT)
    }

    /// Whether it is an [`Error::empty_element`].
    pub fn asks_empty_element(&self) -> bool {
        self.hint.as_deref() == Some(OF_EMPTY_ELEMENT)
    }

    /// That a Vector is built of as many numbers as a grid has dimensions.
    ///
    /// # Errors
    /// `Data`, if it is not.
    pub fn vector_size(components: usize, dim: usize) -> Result<(), Error> {
        if components == dim {
            return Ok(());
        }
        let given = if components == 1 { "1 component".to_owned() } else { format!("{components} components") };
        Err(Error::new(ErrorKind::Data, format!("a Vector of {given} on a grid of dimension {dim}"))
            .hint(format!("run on a grid of dimension {components}, or give Vector {dim} components")))
    }

    /// That a Vector on a grid of dimension `dim` has a component.
    ///
    /// # Errors
    /// `Data`, if it has not.
    pub fn vector_component(index: usize, dim: usize) -> Result<(), Error> {
        if index < dim {
            return Ok(());
        }
        let message = match dim {
            1 => format!("component [{index}] of a Vector: the grid has dimension 1, so component [0] alone"),
            dim => format!("component [{index}] of a Vector: the grid has dimension {dim}, so components [0] to [{}]", dim - 1),
        };
        Err(Error::new(ErrorKind::Data, message).hint(format!("run on a grid of dimension {} or more", index + 1)))
    }

    /// An operation of faces takes no entities of this kind.
    pub fn needs_faces(operation: &str, kind: &str) -> Error {
        Error::new(ErrorKind::Backend, format!("{operation} of a {kind} is not defined: it needs faces"))
    }

    /// The entity of this kind that belongs to `owner` is Empty, so the grid has nothing on it.
    pub fn empty_entity(kind: &str, what: &str, owner: &str) -> Error {
        Error::new(ErrorKind::Simulation, format!("an Empty {kind} has no {what}: the one that belongs to {owner}"))
            .hint("choose another entity where this one is Empty, with IsEmpty(...) ? ... : ...")
    }

    /// An `On` looked for data at an entity, which belongs to `owner`, where there is none.
    pub fn no_data_at(kind: &str, entity: Option<u32>, owner: &str) -> Error {
        let entity = entity.map_or_else(|| format!("a {kind} that"), |entity| format!("{kind} {entity}, which"));
        let message = format!("`On` needs data at {entity} the data's domain does not hold (target of {owner})");
        Error::new(ErrorKind::Simulation, message).hint("extend the data to a domain that holds the whole target")
    }

    /// The domain that an `Extend` goes to does not hold an entity of the data's.
    pub fn not_in_larger_domain(kind: &str, entity: u32) -> Error {
        Error::new(ErrorKind::Simulation, format!("`Extend` cannot place {kind} {entity}: the larger domain does not hold it"))
            .hint("extend to a domain that holds the data's whole domain")
    }

    /// Adds what to do.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Adds the Equelle lines of a kernel that fails: that of the statement that says so, 0 if unknown, then the others that the kernel evaluates.
    #[must_use]
    pub fn in_kernel(mut self, line: u32, others: &[u32]) -> Self {
        for &line in std::iter::once(&line).chain(others).filter(|&&line| line > 0) {
            if !self.lines.contains(&line) {
                self.lines.push(line);
            }
        }
        self
    }

    /// Adds the Equelle line unless there is one already; 0 is no line.
    #[must_use]
    pub fn at(mut self, line: u32) -> Self {
        if self.lines.is_empty() && line > 0 {
            self.lines.push(line);
        }
        self
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {}
