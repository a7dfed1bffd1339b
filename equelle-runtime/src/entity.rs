//! Kinds of grid entity, and their canonical sets.

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

    /// The plural of the word.
    pub fn nouns(self) -> &'static str {
        match self {
            EntityKind::Cell => "cells",
            EntityKind::Face => "faces",
            EntityKind::Edge => "edges",
            EntityKind::Vertex => "vertices",
        }
    }
}

/// The part of the entities of a kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Extent {
    /// Entities that do not touch the boundary.
    Interior,
    /// Entities that touch the boundary.
    Boundary,
    /// All.
    All,
}

/// One of the twelve canonical sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CanonicalSet {
    /// Kind of its entities.
    pub kind: EntityKind,
    /// The part of them.
    pub extent: Extent,
}
