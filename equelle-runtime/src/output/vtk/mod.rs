//! Parts that VTK's XML formats share: which file of a step holds a field, names and bytes of
//! arrays, and the document with its appended data.
//!
//! Formats: Kitware, "The VTK User's Guide", chapter on file formats (XML, appended raw data).

mod array;
mod document;

pub use array::Compression;
pub(super) use array::{Array, Encoded, NumberType};
pub(super) use document::{Document, escaped};

use super::field::{Field, StepFields};
use crate::EntityKind;

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

/// Entities of a file to which an array belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Association {
    /// Its points.
    Points,
    /// Its cells.
    Cells,
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
    pub(super) fn kind(self) -> EntityKind {
        match self {
            VtkPart::Cells => EntityKind::Cell,
            VtkPart::Faces => EntityKind::Face,
            VtkPart::Edges => EntityKind::Edge,
        }
    }
}

/// Writes the fields of a step that belong to a file of a grid, and time and single numbers.
pub(super) struct Step<'s> {
    pub dim: usize,
    pub part: VtkPart,
    pub fields: &'s StepFields<'s>,
}

impl<'s> Step<'s> {
    /// Time, step and the outputs that are single numbers, as data of the whole file.
    pub fn field_data(&self, document: &mut Document<'s>) {
        document.open("FieldData", &[]);
        // ParaView and VTK take the time of a file from an array of this name.
        if self.fields.time.is_finite() {
            document.array(Array::number("TimeValue", self.fields.time));
        }
        document.array(Array::index("step", self.fields.step as i64));
        for (name, value) in self.fields.scalars {
            if name != "TimeValue" && name != "step" {
                document.array(Array::number(name, *value));
            }
        }
        document.close("FieldData");
    }

    /// The arrays of points or cells.
    pub fn arrays(&self, association: Association, document: &mut Document<'s>) {
        let tag = match association {
            Association::Points => "PointData",
            Association::Cells => "CellData",
        };
        let belongs = |field: &&Field| VtkPart::of(field.support.kind, self.dim) == (self.part, association);
        document.open(tag, &[]);
        self.fields.fields.iter().filter(belongs).for_each(|field| document.array(Array::from_field(field)));
        document.close(tag);
    }
}
