//! Run-time errors.

use std::fmt;

use crate::interrupt::Signal;

/// The cause of an error, which decides the exit code.
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
    /// The run was interrupted (130 or 143).
    Interrupted(Signal),
    /// Another program goes on with the run ([`Handover`]): no failure, whatever its exit code (1).
    ///
    /// [`Handover`]: crate::handover::Handover
    HandedOver,
}

impl ErrorKind {
    /// Exit code of a program that ends with this error.
    pub fn exit_code(self) -> u8 {
        match self {
            ErrorKind::Usage => 2,
            ErrorKind::Simulation => 3,
            ErrorKind::Data => 4,
            ErrorKind::Io => 5,
            ErrorKind::Backend => 6,
            ErrorKind::Interrupted(signal) => signal.exit_code(),
            ErrorKind::HandedOver => 1,
        }
    }
}

/// A run-time error: the failure, its lines in the Equelle program, and a hint.
#[derive(Clone, Debug, PartialEq)]
pub struct Error {
    /// The cause.
    pub kind: ErrorKind,
    /// One sentence; for data with file, line and item.
    pub message: String,
    /// Equelle lines it concerns, innermost first.
    pub lines: Vec<u32>,
    /// One concrete suggestion.
    pub hint: Option<String>,
    /// The remedy for a linear system that was not solved; `None` for other errors.
    pub remedy: Option<Remedy>,
    /// Index in the grid's file of the element that it is about, which orders errors of ranks.
    pub element: Option<u32>,
}

/// A remedy for a linear system that was not solved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Remedy {
    /// Another linear solver.
    Solver,
    /// Another system: with this one every solver fails.
    System,
    /// Sources that sum to zero, or a condition that takes up their sum.
    Sources,
}

/// Hint for data or geometry read at an Empty element.
const OF_EMPTY_ELEMENT: &str =
    "on the boundary one cell of a face is Empty: restrict to InteriorFaces(), or ask the other cell, `IsEmpty(A) ? B : A` instead of `A`";

/// Hint where the branches of a `? :` read data at different entities.
pub(crate) const OF_CHOICE: &str =
    "both branches of `c ? (u On A) : (u On B)` are evaluated, whatever is chosen: choose the entity, `u On (c ? A : B)`";

impl Error {
    /// An error without line or hint.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Error { kind, message: message.into(), lines: Vec::new(), hint: None, remedy: None, element: None }
    }

    /// The error of a write to a place, such as "checkpoint `u.checkpoint`".
    pub(crate) fn cannot_write(place: &str, error: &std::io::Error) -> Self {
        let failed = Error::new(ErrorKind::Io, format!("cannot write {place}: {error}"));
        match error.kind() {
            std::io::ErrorKind::FileTooLarge => failed.hint("a limit of file sizes is set: `ulimit -f unlimited` lifts it"),
            std::io::ErrorKind::StorageFull => failed.hint("make room, or choose a folder on another disk with output_dir=DIR"),
            _ => failed,
        }
    }

    /// Sets the element that it is about, by index in the grid's file.
    #[must_use]
    pub fn with_element(mut self, element: u32) -> Error {
        self.element = Some(element);
        self
    }

    /// A mistake of ours, not of the program or its data.
    pub fn internal(what: impl fmt::Display) -> Self {
        Error::new(ErrorKind::Backend, format!("internal error: {what}"))
    }

    /// The error of data or geometry read at an Empty element, which belongs to entity `element`
    /// (of this kind).
    pub fn empty_element(kind: &str, element: Option<u32>) -> Error {
        let whose = element.map_or_else(String::new, |element| format!(": the one that belongs to {kind} {element}"));
        Error::new(ErrorKind::Simulation, format!("an Empty element has no data and no geometry{whose}")).hint(OF_EMPTY_ELEMENT)
    }

    /// The error of a face with two cells where one has to be; it belongs to entity `element` (of
    /// this kind).
    pub fn two_cells(kind: &str, element: Option<u32>) -> Error {
        let whose = element.map_or_else(String::new, |element| format!(": the one that belongs to {kind} {element}"));
        Error::new(ErrorKind::Simulation, format!("a face with two cells has no inner cell and no outward normal{whose}"))
            .hint("pass faces of the boundary alone: `BoundaryFaces()`, or a subset of it")
    }

    /// True if it is an [`Error::empty_element`].
    pub fn asks_empty_element(&self) -> bool {
        self.hint.as_deref() == Some(OF_EMPTY_ELEMENT)
    }

    /// Checks that a Vector has as many components as the grid has dimensions.
    ///
    /// # Errors
    /// `Data` if not.
    pub fn vector_size(components: usize, dim: usize) -> Result<(), Error> {
        if components == dim {
            return Ok(());
        }
        let given = if components == 1 { "1 component".to_owned() } else { format!("{components} components") };
        Err(Error::new(ErrorKind::Data, format!("a Vector of {given} on a grid of dimension {dim}"))
            .hint(format!("run on a grid of dimension {components}, or give Vector {dim} components")))
    }

    /// Checks that a Vector on a grid of dimension `dim` has a component.
    ///
    /// # Errors
    /// `Data` if not.
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

    /// The error of a face operation on entities of another kind.
    pub fn needs_faces(operation: &str, kind: &str) -> Error {
        Error::new(ErrorKind::Backend, format!("{operation} of a {kind} is not defined: it needs faces"))
    }

    /// The error of a property of an Empty entity, which belongs to `owner`.
    pub fn empty_entity(kind: &str, what: &str, owner: &str) -> Error {
        Error::new(ErrorKind::Simulation, format!("an Empty {kind} has no {what}: the one that belongs to {owner}"))
            .hint("choose another entity where this one is Empty, with IsEmpty(...) ? ... : ...")
    }

    /// The error of an `On` at an entity outside the data's domain; the target belongs to `owner`.
    pub fn no_data_at(kind: &str, entity: Option<u32>, owner: &str) -> Error {
        let entity = entity.map_or_else(|| format!("a {kind} that"), |entity| format!("{kind} {entity}, which"));
        let message = format!("`On` needs data at {entity} the data's domain does not hold (target of {owner})");
        Error::new(ErrorKind::Simulation, message).hint("extend the data to a domain that holds the whole target")
    }

    /// The error of an `Extend` to a domain without an entity of the data's domain.
    pub fn not_in_larger_domain(kind: &str, entity: u32) -> Error {
        Error::new(ErrorKind::Simulation, format!("`Extend` cannot place {kind} {entity}: the larger domain does not hold it"))
            .hint("extend to a domain that holds the data's whole domain")
    }

    /// Adds a hint.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Adds the Equelle lines of a kernel that failed: that of the failing statement, 0 if unknown,
    /// then those of its other statements.
    #[must_use]
    pub fn in_kernel(mut self, line: u32, others: &[u32]) -> Self {
        for &line in std::iter::once(&line).chain(others).filter(|&&line| line > 0) {
            if !self.lines.contains(&line) {
                self.lines.push(line);
            }
        }
        self
    }

    /// Adds the Equelle line unless there is one; 0 is no line.
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
