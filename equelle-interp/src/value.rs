//! Values of a running program.

use equelle_front::{ops, types};
use equelle_runtime::{self as runtime, EquelleRuntime, Error, ErrorKind, Variable};

/// A value; entities of a domain are the domain.
#[allow(missing_docs)] // Their names are those of the types that they hold.
pub enum Value<R: EquelleRuntime> {
    Scalar(R::Scalar),
    Bool(R::Bool),
    Vector(R::Vector),
    Text(String),
    Sequence(R::Sequence),
    Table(R::Table),
    Domain(R::Domain),
    Scalars(R::ScalarCollection),
    Vectors(R::VectorCollection),
    Bools(R::BoolCollection),
    Entities(R::EntityCollection),
}

// Derived, it would ask for `R: Clone`.
impl<R: EquelleRuntime> Clone for Value<R> {
    fn clone(&self) -> Self {
        match self {
            Value::Scalar(v) => Value::Scalar(v.clone()),
            Value::Bool(v) => Value::Bool(v.clone()),
            Value::Vector(v) => Value::Vector(v.clone()),
            Value::Text(v) => Value::Text(v.clone()),
            Value::Sequence(v) => Value::Sequence(v.clone()),
            Value::Table(v) => Value::Table(v.clone()),
            Value::Domain(v) => Value::Domain(v.clone()),
            Value::Scalars(v) => Value::Scalars(v.clone()),
            Value::Vectors(v) => Value::Vectors(v.clone()),
            Value::Bools(v) => Value::Bools(v.clone()),
            Value::Entities(v) => Value::Entities(v.clone()),
        }
    }
}

impl<R: EquelleRuntime> Value<R> {
    /// Names its kind, for messages about defects.
    pub fn kind(&self) -> &'static str {
        match self {
            Value::Scalar(_) => "a Scalar",
            Value::Bool(_) => "a Bool",
            Value::Vector(_) => "a Vector",
            Value::Text(_) => "Text",
            Value::Sequence(_) => "a Sequence",
            Value::Table(_) => "a Table",
            Value::Domain(_) => "a domain",
            Value::Scalars(_) => "a Collection Of Scalar",
            Value::Vectors(_) => "a Collection Of Vector",
            Value::Bools(_) => "a Collection Of Bool",
            Value::Entities(_) => "a collection of entities",
        }
    }

    /// The value as a variable of a run that is followed.
    pub(crate) fn as_variable(&mut self) -> Variable<'_, R> {
        let kind = self.kind();
        match self {
            Value::Scalar(v) => Variable::Scalar(v),
            Value::Bool(v) => Variable::Bool(v),
            Value::Vector(v) => Variable::Vector(v),
            Value::Scalars(v) => Variable::Collection(v),
            Value::Vectors(v) => Variable::Vectors(v),
            Value::Bools(v) => Variable::Bools(v),
            Value::Text(_) | Value::Sequence(_) | Value::Table(_) | Value::Domain(_) | Value::Entities(_) => Variable::Other(kind),
        }
    }
}

/// A module that should not have passed verification, or something not supported.
pub fn defect(message: impl Into<String>) -> Error {
    Error::new(ErrorKind::Backend, format!("the interpreter cannot go on: {}", message.into()))
}

/// The kind of the runtime.
pub fn entity_kind(kind: types::EntityKind) -> runtime::EntityKind {
    match kind {
        types::EntityKind::Cell => runtime::EntityKind::Cell,
        types::EntityKind::Face => runtime::EntityKind::Face,
        types::EntityKind::Edge => runtime::EntityKind::Edge,
        types::EntityKind::Vertex => runtime::EntityKind::Vertex,
    }
}

/// The set of the runtime.
pub fn canonical_set(set: types::CanonicalSet) -> runtime::CanonicalSet {
    let extent = match set.extent {
        types::Extent::Interior => runtime::Extent::Interior,
        types::Extent::Boundary => runtime::Extent::Boundary,
        types::Extent::All => runtime::Extent::All,
    };
    runtime::CanonicalSet { kind: entity_kind(set.kind), extent }
}

/// The reduction of the runtime, of numbers or of truth values.
///
/// # Errors
/// A reduction of truth values is one of another type.
pub fn reduction(op: ops::Reduction) -> Result<runtime::Reduction, runtime::BoolReduction> {
    match op {
        ops::Reduction::Max => Ok(runtime::Reduction::Max),
        ops::Reduction::Min => Ok(runtime::Reduction::Min),
        ops::Reduction::Sum => Ok(runtime::Reduction::Sum),
        ops::Reduction::Prod => Ok(runtime::Reduction::Prod),
        ops::Reduction::Any => Err(runtime::BoolReduction::Any),
        ops::Reduction::All => Err(runtime::BoolReduction::All),
    }
}

/// The operator on truth values.
pub fn logic(op: ops::Logic, a: bool, b: bool) -> bool {
    match op {
        ops::Logic::And => a & b,
        ops::Logic::Or => a | b,
        ops::Logic::Xor => a ^ b,
    }
}

/// The operator of the runtime.
pub fn binary(op: ops::Arithmetic) -> runtime::Binary {
    match op {
        ops::Arithmetic::Add => runtime::Binary::Add,
        ops::Arithmetic::Sub => runtime::Binary::Sub,
        ops::Arithmetic::Mul => runtime::Binary::Mul,
        ops::Arithmetic::Div => runtime::Binary::Div,
    }
}
