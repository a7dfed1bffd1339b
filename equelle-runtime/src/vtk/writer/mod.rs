//! Files of VTK's XML formats for the steps of a run: [`vtu`], [`vti`], and [`pvd`] with the times.
//!
//! Which file of a step holds a field stands here; `array` has the bytes of arrays, `document` the
//! document with its appended data.
//!
//! Formats: Kitware, "The VTK User's Guide", chapter on file formats (XML, appended raw data).

mod array;
mod document;
pub mod pvd;
pub mod vti;
pub mod vtu;

pub use array::Compression;
use array::{Array, Encoded};
use document::{Document, escaped};

use super::names::{Association, FIELD_DATA, STEP, TIME};
use crate::entity::EntityKind;
use crate::output::{Field, StepFields};

/// The files of VTK of one step: each has entities of one kind as its cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum VtkPart {
    /// Cells of the grid; its vertices are the points.
    Cells,
    /// Faces of a grid of 2 or 3 dimensions.
    Faces,
    /// Edges of a grid of 3 dimensions.
    Edges,
}

impl VtkPart {
    /// The file that holds fields on a kind of entities of a grid of `dim` dimensions, and where.
    pub fn of(kind: EntityKind, dim: usize) -> (VtkPart, Association) {
        match (kind.on_grid_of(dim), dim) {
            (EntityKind::Cell, _) => (VtkPart::Cells, Association::Cells),
            (EntityKind::Vertex, _) | (EntityKind::Face, 1) => (VtkPart::Cells, Association::Points),
            (EntityKind::Face, _) => (VtkPart::Faces, Association::Cells),
            (EntityKind::Edge, _) => (VtkPart::Edges, Association::Cells),
        }
    }

    /// Part of its files' names before the number: nothing, `-faces` or `-edges`.
    pub fn suffix(self) -> &'static str {
        match self {
            VtkPart::Cells => "",
            VtkPart::Faces => "-faces",
            VtkPart::Edges => "-edges",
        }
    }

    /// The kind of entities that are its cells.
    fn kind(self) -> EntityKind {
        match self {
            VtkPart::Cells => EntityKind::Cell,
            VtkPart::Faces => EntityKind::Face,
            VtkPart::Edges => EntityKind::Edge,
        }
    }
}

/// Writes the fields of a step that belong to a file of a grid, and time and single numbers.
struct Step<'s> {
    pub dim: usize,
    pub part: VtkPart,
    pub fields: &'s StepFields<'s>,
}

impl<'s> Step<'s> {
    /// Time, step and the outputs that are single numbers, as data of the whole file.
    fn field_data(&self, document: &mut Document<'s>) {
        document.open(FIELD_DATA, &[]);
        if self.fields.time.is_finite() {
            document.array(Array::number(TIME, self.fields.time));
        }
        document.array(Array::index(STEP, self.fields.step as i64));
        for (name, value) in self.fields.scalars {
            if name != TIME && name != STEP {
                document.array(Array::number(name, *value));
            }
        }
        document.close(FIELD_DATA);
    }

    /// The arrays of points or cells.
    fn arrays(&self, association: Association, document: &mut Document<'s>) {
        let tag = association.tag();
        let belongs = |field: &&Field| VtkPart::of(field.support.kind, self.dim) == (self.part, association);
        document.open(tag, &[]);
        self.fields.fields.iter().filter(belongs).for_each(|field| document.array(Array::from_field(field)));
        document.close(tag);
    }
}
