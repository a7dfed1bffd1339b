//! Collections of one step on the host, as the encoders of file formats take them.

use std::borrow::Cow;
use std::sync::Arc;

use crate::entity::EntityKind;

/// One collection of an `Output`, on the host, in the order of its domain in the numbering of the
/// grid's file.
#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    /// As given to `Output`.
    pub tag: String,
    /// Entities that have values.
    pub support: Support,
    /// One value for each element of the support.
    pub values: FieldValues,
    /// The unit by which the program divides, if it does so.
    pub unit: Option<Arc<str>>,
}

impl Field {
    /// Its name in files: the tag, with the unit behind it if the program divides by one.
    pub fn label(&self) -> Cow<'_, str> {
        label(&self.tag, self.unit.as_deref())
    }
}

/// [`Field::label`] of a tag and a unit.
pub(super) fn label<'t>(tag: &'t str, unit: Option<&str>) -> Cow<'t, str> {
    unit.map_or(Cow::Borrowed(tag), |unit| Cow::Owned(format!("{tag} [{unit}]")))
}

/// Entities that have values: all of a kind, or some of them.
#[derive(Clone, Debug, PartialEq)]
pub struct Support {
    /// Kind of the entities.
    pub kind: EntityKind,
    /// Number of entities of the kind in the grid.
    pub n_entities: usize,
    /// Indices in the numbering of the grid's file, one for each value; `None` for all entities.
    pub subset: Option<Arc<Vec<u32>>>,
}

impl Support {
    /// Number of values.
    pub fn len(&self) -> usize {
        self.subset.as_ref().map_or(self.n_entities, |subset| subset.len())
    }

    /// True if there are no values.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Values by component: one column for a number, as many as the grid has dimensions for a Vector;
/// each of the length of the support.
#[derive(Clone, Debug, PartialEq)]
pub enum FieldValues {
    /// In double precision.
    F64(Vec<Vec<f64>>),
    /// In single precision.
    F32(Vec<Vec<f32>>),
    /// Bools, 1 and 0.
    Bool(Vec<u8>),
    /// Entities, by index in the grid's file; -1 for Empty.
    Entity(Vec<i64>),
}

impl FieldValues {
    /// Number of components.
    pub fn components(&self) -> usize {
        match self {
            FieldValues::F64(columns) => columns.len(),
            FieldValues::F32(columns) => columns.len(),
            FieldValues::Bool(_) | FieldValues::Entity(_) => 1,
        }
    }

    /// Number of elements; 0 without components.
    pub fn len(&self) -> usize {
        match self {
            FieldValues::F64(columns) => columns.first().map_or(0, Vec::len),
            FieldValues::F32(columns) => columns.first().map_or(0, Vec::len),
            FieldValues::Bool(values) => values.len(),
            FieldValues::Entity(values) => values.len(),
        }
    }

    /// True if there are no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Content of one file of a step.
#[derive(Clone, Copy, Debug)]
pub struct StepFields<'a> {
    /// Round of the outermost loop, from 1; 0 before the first.
    pub step: u64,
    /// Time of the step.
    pub time: f64,
    /// In the order of the `Output` statements, each tag once.
    pub fields: &'a [Field],
    /// Outputs that are single numbers.
    pub scalars: &'a [(String, f64)],
}
