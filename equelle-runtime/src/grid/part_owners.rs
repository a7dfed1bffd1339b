//! Owners, layers and numbers of the entities of a part of a grid.

use std::fmt;
use std::sync::{Arc, OnceLock};

use super::arrays::Edges;
use super::box_entities::BoxEntities;
use super::numbering::Numbers;
use crate::entity::EntityKind;
use crate::rank_id::RankId;

/// Owners and layers of the entities of a part of a grid.
#[derive(Clone, Debug)]
pub struct GridPart {
    pub(super) cells: KindPart,
    pub(super) faces: KindPart,
    pub(super) skeleton: LazySkeleton,
}

/// Owners and layers of one kind.
#[derive(Clone, Debug)]
pub(super) enum KindPart {
    /// Any part.
    Table {
        /// The rank that owns each.
        owners: Vec<RankId>,
        /// The layer of each.
        layers: Vec<u8>,
        /// Number of entities of the whole grid.
        whole: usize,
    },
    /// Cells or faces of a box.
    Box(Arc<BoxEntities>, EntityKind),
}

impl KindPart {
    pub(super) fn owner(&self, entity: u32) -> Option<RankId> {
        match self {
            KindPart::Table { owners, .. } => owners.get(entity as usize).copied(),
            KindPart::Box(entities, kind) => entities.owner(*kind, entity),
        }
    }

    pub(super) fn layer(&self, entity: u32) -> Option<u8> {
        match self {
            KindPart::Table { layers, .. } => layers.get(entity as usize).copied(),
            KindPart::Box(entities, kind) => entities.layer(*kind, entity).map(|layer| u8::try_from(layer).unwrap_or(u8::MAX)),
        }
    }

    pub(super) fn n_whole(&self) -> usize {
        match self {
            KindPart::Table { whole, .. } => *whole,
            KindPart::Box(entities, kind) => entities.n_whole(*kind),
        }
    }
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
        self.of(kind)?.owner(entity)
    }

    /// The layer of an entity.
    pub fn layer(&self, kind: EntityKind, entity: u32) -> Option<usize> {
        self.of(kind)?.layer(entity).map(usize::from)
    }

    /// True if a rank owns an entity, and not only a copy of it in its halo.
    pub fn owns(&self, rank: RankId, kind: EntityKind, entity: u32) -> bool {
        self.layer(kind, entity) == Some(0) && self.owner(kind, entity) == Some(rank)
    }

    /// Number of entities of the whole grid; `None` for edges and vertices of one without nodes.
    pub fn n_whole(&self, kind: EntityKind) -> Option<usize> {
        self.of(kind).map(KindPart::n_whole)
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
    pub numbers: Numbers,
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
