//! Owners, layers and numbers of the entities of a part of a grid.

use std::fmt;
use std::sync::{Arc, OnceLock};

use super::arrays::Edges;
use super::numbering::Permutation;
use crate::entity::EntityKind;
use crate::rank_id::RankId;

/// Owners and layers of the entities of a part of a grid.
#[derive(Clone, Debug)]
pub struct GridPart {
    pub(super) cells: KindPart,
    pub(super) faces: KindPart,
    pub(super) skeleton: LazySkeleton,
}

/// Those of one kind.
#[derive(Clone, Debug)]
pub(super) struct KindPart {
    /// The rank that owns each.
    pub owners: Vec<RankId>,
    /// The layer of each.
    pub layers: Vec<u8>,
    /// Number of entities of the whole grid.
    pub whole: usize,
}

impl GridPart {
    fn of(&self, kind: EntityKind) -> Option<&KindPart> {
        match kind {
            EntityKind::Cell => Some(&self.cells),
            EntityKind::Face => Some(&self.faces),
            EntityKind::Edge | EntityKind::Vertex => self.skeleton.get().find(kind).map(|numbered| &numbered.part),
        }
    }

    /// The rank that owns an entity.
    pub fn owner(&self, kind: EntityKind, entity: u32) -> Option<RankId> {
        self.of(kind)?.owners.get(entity as usize).copied()
    }

    /// The layer of an entity.
    pub fn layer(&self, kind: EntityKind, entity: u32) -> Option<usize> {
        self.of(kind)?.layers.get(entity as usize).map(|&layer| usize::from(layer))
    }

    /// True if a rank owns an entity, and not only a copy of it in its halo.
    pub fn owns(&self, rank: RankId, kind: EntityKind, entity: u32) -> bool {
        self.owner(kind, entity) == Some(rank) && self.layer(kind, entity) == Some(0)
    }

    /// Number of entities of the whole grid; `None` for edges and vertices of one without nodes.
    pub fn n_whole(&self, kind: EntityKind) -> Option<usize> {
        self.of(kind).map(|part| part.whole)
    }
}

/// Edges and vertices of a part, made on first use.
#[derive(Clone)]
pub(super) struct LazySkeleton {
    made: OnceLock<SkeletonPart>,
    make: Arc<dyn Fn() -> SkeletonPart + Send + Sync>,
}

impl LazySkeleton {
    pub(super) fn new(make: impl Fn() -> SkeletonPart + Send + Sync + 'static) -> LazySkeleton {
        LazySkeleton { made: OnceLock::new(), make: Arc::new(make) }
    }

    pub(super) fn get(&self) -> &SkeletonPart {
        self.made.get_or_init(|| (self.make)())
    }
}

impl fmt::Debug for LazySkeleton {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LazySkeleton").finish_non_exhaustive()
    }
}

/// Edges and vertices that are neither faces nor cells.
#[derive(Clone, Default)]
pub(super) struct SkeletonPart {
    /// In 3 dimensions.
    pub edges: Option<NumberedPart>,
    /// In 2 and 3 dimensions.
    pub vertices: Option<NumberedPart>,
    /// Those of a part without a shape.
    pub tables: Option<SkeletonTables>,
}

/// Owners, layers and numbers in the file of the entities of a kind.
#[derive(Clone)]
pub(super) struct NumberedPart {
    pub part: KindPart,
    pub numbers: Permutation,
}

/// Arrays of edges and vertices.
#[derive(Clone, Default)]
pub(super) struct SkeletonTables {
    pub edges: Edges,
    /// `[n_vertices]`
    pub positions: Vec<[f64; 3]>,
    /// True for vertices of boundary faces of the whole grid. `[n_vertices]`
    pub on_boundary: Vec<bool>,
}

impl SkeletonPart {
    pub(super) fn find(&self, kind: EntityKind) -> Option<&NumberedPart> {
        match kind {
            EntityKind::Edge => self.edges.as_ref(),
            EntityKind::Vertex => self.vertices.as_ref(),
            EntityKind::Cell | EntityKind::Face => None,
        }
    }
}
