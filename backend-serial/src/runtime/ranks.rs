//! Positions of entities in sets, for kernels.

use equelle_runtime::domain::Domain;
use equelle_runtime::grid::NONE;

/// Positions of entities in a domain.
pub trait Positions: Copy + Sync {
    /// Position of an entity; beyond every collection if it is not in the domain.
    ///
    /// # Panics
    /// May panic if the grid has no such entity.
    fn of(&self, entity: u32) -> usize;
    /// True if an entity is in the domain; [`NONE`] is in none.
    fn contains(&self, entity: u32) -> bool;
}

/// Positions of entities in a domain.
#[derive(Clone, Copy, Debug)]
pub enum Ranks<'a> {
    /// For an All-set: the index itself.
    All {
        /// Number of elements.
        len: usize,
    },
    /// For a set with a map over the All-set.
    Map(&'a [u32]),
    /// For any other set.
    Domain(&'a Domain),
}

impl<'a> Ranks<'a> {
    /// Positions in a domain, by a map if possible.
    pub(super) fn mapped(domain: &'a Domain) -> Self {
        match domain.base() {
            None => Ranks::All { len: domain.len() },
            // A map over the All-set is one look-up, and worth its memory in a kernel of every
            // step.
            Some(base) if base.is_all() => match domain.rank_map() {
                Some(map) => Ranks::Map(map),
                None => Ranks::Domain(domain),
            },
            Some(_) => Ranks::Domain(domain),
        }
    }
}

impl Positions for Ranks<'_> {
    #[inline]
    fn of(&self, entity: u32) -> usize {
        let rank = match self {
            Ranks::All { len } => return if (entity as usize) < *len { entity as usize } else { usize::MAX },
            Ranks::Map(map) => map.get(entity as usize).copied().unwrap_or(NONE),
            Ranks::Domain(domain) => domain.rank(entity).unwrap_or(NONE),
        };
        if rank == NONE { usize::MAX } else { rank as usize }
    }

    #[inline]
    fn contains(&self, entity: u32) -> bool {
        self.of(entity) != usize::MAX
    }
}

/// Positions in a domain by position in its canonical superset; empty for canonical sets. One
/// look-up for a kernel that knows the position in the superset in closed form, as for boundary
/// faces of a Cartesian grid.
#[derive(Clone, Copy, Debug)]
pub struct SubsetRanks<'a>(&'a [u32]);

impl<'a> SubsetRanks<'a> {
    /// Positions in a subset.
    pub fn new(domain: &'a Domain) -> Self {
        SubsetRanks(domain.rank_map().unwrap_or(&[]))
    }

    /// Position of the entity at a position of the canonical superset; `usize::MAX` if it is not in
    /// the subset.
    #[inline]
    pub fn of(&self, position: usize) -> usize {
        match self.0.get(position) {
            Some(&rank) if rank != NONE => rank as usize,
            _ => usize::MAX,
        }
    }

    /// True if the entity at a position of the canonical superset is in the subset.
    #[inline]
    pub fn contains(&self, position: usize) -> bool {
        self.of(position) != usize::MAX
    }
}

/// Positions in a canonical set: index minus a constant if its elements are consecutive, else a map
/// over all entities of the kind. A type of its own, since this single predictable branch without a
/// call keeps the loop around it in registers.
#[derive(Clone, Copy, Debug)]
pub struct MapRanks<'d> {
    /// The element at position 0.
    offset: u32,
    /// Number of consecutive elements; 0 for a set with a map.
    len: u32,
    /// Empty if the elements are consecutive.
    map: &'d [u32],
}

impl<'d> MapRanks<'d> {
    pub(super) fn new(domain: &'d Domain) -> Self {
        match domain.offset() {
            Some(offset) => MapRanks { offset, len: domain.len() as u32, map: &[] },
            None => MapRanks { offset: 0, len: 0, map: domain.rank_map().unwrap_or(&[]) },
        }
    }
}

impl Positions for MapRanks<'_> {
    #[inline]
    fn of(&self, entity: u32) -> usize {
        // An entity outside the set gets a position beyond every collection: below 0 it wraps
        // around, and `NONE` exceeds any number of entities.
        if self.map.is_empty() { entity.wrapping_sub(self.offset) as usize } else { self.map[entity as usize] as usize }
    }

    #[inline]
    fn contains(&self, entity: u32) -> bool {
        if self.map.is_empty() {
            entity.wrapping_sub(self.offset) < self.len
        } else {
            self.map.get(entity as usize).is_some_and(|&rank| rank != NONE)
        }
    }
}

/// Positions in a run-time set by a map over its canonical superset.
#[derive(Clone, Copy, Debug)]
pub struct SubsetMapRanks<'d> {
    base: MapRanks<'d>,
    map: &'d [u32],
}

impl<'d> SubsetMapRanks<'d> {
    pub(super) fn new(domain: &'d Domain) -> Self {
        let base = domain.base().map_or(MapRanks { offset: 0, len: 0, map: &[] }, |base| MapRanks::new(base));
        SubsetMapRanks { base, map: domain.rank_map().unwrap_or(&[]) }
    }

    #[inline]
    fn find(&self, entity: u32) -> Option<&u32> {
        let position =
            if self.base.map.is_empty() { entity.wrapping_sub(self.base.offset) } else { *self.base.map.get(entity as usize)? };
        self.map.get(position as usize)
    }
}

impl Positions for SubsetMapRanks<'_> {
    #[inline]
    fn of(&self, entity: u32) -> usize {
        self.find(entity).map_or(usize::MAX, |&rank| rank as usize)
    }

    #[inline]
    fn contains(&self, entity: u32) -> bool {
        self.find(entity).is_some_and(|&rank| rank != NONE)
    }
}
