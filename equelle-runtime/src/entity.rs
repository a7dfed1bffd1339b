//! Kinds of grid entity, and the canonical sets of them.

/// Kinds of grid entity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum EntityKind {
    /// Cells.
    Cell,
    /// Faces.
    Face,
    /// Edges.
    Edge,
    /// Vertices.
    Vertex,
}

impl EntityKind {
    /// The word for one entity, in messages.
    pub fn noun(self) -> &'static str {
        match self {
            EntityKind::Cell => "cell",
            EntityKind::Face => "face",
            EntityKind::Edge => "edge",
            EntityKind::Vertex => "vertex",
        }
    }

    /// The word for several.
    pub fn nouns(self) -> &'static str {
        match self {
            EntityKind::Cell => "cells",
            EntityKind::Face => "faces",
            EntityKind::Edge => "edges",
            EntityKind::Vertex => "vertices",
        }
    }
}

/// Which part of the entities of a kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Extent {
    /// Not touching the boundary.
    Interior,
    /// Touching the boundary.
    Boundary,
    /// All.
    All,
}

/// One of the twelve canonical sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CanonicalSet {
    /// Kind of its entities.
    pub kind: EntityKind,
    /// Which of them.
    pub extent: Extent,
}
