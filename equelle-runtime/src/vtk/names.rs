//! Names in VTK's XML formats.

/// Entities of a file to which an array belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Association {
    /// Its points.
    Points,
    /// Its cells.
    Cells,
}

impl Association {
    /// The tag around the arrays.
    pub(super) fn tag(self) -> &'static str {
        match self {
            Association::Points => "PointData",
            Association::Cells => "CellData",
        }
    }
}

/// The beginning of names of arrays that tell which cells belong to a set.
pub const SET: &str = "set:";

/// The tag around numbers of the whole file.
pub(super) const FIELD_DATA: &str = "FieldData";

/// Time of a file, as ParaView and VTK take it.
pub(super) const TIME: &str = "TimeValue";

/// Number of the step of a file.
pub(super) const STEP: &str = "step";

/// Corners of all cells, one cell behind the other.
pub(super) const CONNECTIVITY: &str = "connectivity";

/// End of each cell's corners.
pub(super) const OFFSETS: &str = "offsets";

/// VTK's number of the type of each cell.
pub(super) const TYPES: &str = "types";

/// Faces of polyhedra: of each cell their number, then of each the number of its points and them.
pub(super) const FACES: &str = "faces";

/// End of each cell's part of [`FACES`].
pub(super) const FACE_OFFSETS: &str = "faceoffsets";

/// Compression by zlib.
pub(super) const ZLIB: &str = "vtkZLibDataCompressor";
