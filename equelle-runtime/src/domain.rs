//! Domains: sets of distinct entities of one kind, ascending. Shared by all back-ends.
//!
//! A domain is one of the canonical sets of the grid, or a subset of one. Positions (ranks) of a
//! subset's elements are found through a map over its *canonical superset*, so a subset of
//! `BoundaryFaces()` takes memory in proportion to the boundary, not to the grid.
//!
//! Elements, positions and ranks are in the numbering of the grid, which may have been renumbered;
//! [`Domain::file_order`] maps to the numbering of its file.

use std::borrow::Cow;
use std::sync::{Arc, OnceLock};

use crate::entity::{CanonicalSet, EntityKind, Extent};
use crate::error::{Error, ErrorKind};
use crate::grid::{Grid, NONE};
use crate::rank_id::RankId;

/// A set of distinct entities of one kind, ascending.
#[derive(Debug)]
pub struct Domain {
    name: String,
    /// The smallest canonical set known to contain it; itself, if canonical.
    set: CanonicalSet,
    len: usize,
    body: Body,
    elements: OnceLock<Vec<u32>>,
    rank_map: OnceLock<Vec<u32>>,
    /// `None` inside if both orders are equal.
    file_order: OnceLock<Option<Vec<u32>>>,
}

#[derive(Debug)]
enum Body {
    Canonical { grid: Arc<Grid>, all: Option<Arc<Domain>> },
    Subset { parent: Arc<Domain>, base: Arc<Domain> },
}

impl Domain {
    /// A canonical set of the grid.
    ///
    /// # Errors
    /// As for [`Grid::n_entities`].
    pub fn canonical(grid: &Arc<Grid>, set: CanonicalSet) -> Result<Arc<Domain>, Error> {
        let elements = OnceLock::new();
        let n = grid.n_entities(set.kind)?;
        let len = match (set.extent, grid.cartesian_shape()) {
            (Extent::All, _) => n,
            (_, Some(shape)) => shape.set_len(set),
            (_, None) => elements.get_or_init(|| grid.canonical_elements(set).unwrap_or_default()).len(),
        };
        let all = match set.extent {
            Extent::All => None,
            Extent::Interior | Extent::Boundary => Some(Domain::canonical(grid, set.all())?),
        };
        let body = Body::Canonical { grid: Arc::clone(grid), all };
        Ok(Arc::new(Domain {
            name: set.name().to_string(),
            set,
            len,
            body,
            elements,
            rank_map: OnceLock::new(),
            file_order: OnceLock::new(),
        }))
    }

    /// A subset of a domain; `elements` are indices in the grid's numbering
    /// ([`Grid::entity_of_file`]).
    ///
    /// # Errors
    /// `Data` if they are not strictly ascending or one is not in `within`; the message names the
    /// first bad one.
    pub fn subset(name: impl Into<String>, within: &Arc<Domain>, elements: Vec<u32>) -> Result<Arc<Domain>, Error> {
        let name = name.into();
        if let Err(fault) = within.check_subset(&elements) {
            let (position, what) = fault;
            return Err(Error::new(ErrorKind::Data, format!("domain `{name}`: element {position} ({}): {what}", elements[position])));
        }
        Ok(Domain::trusted_subset(name, within, elements))
    }

    /// The subset of those elements of a domain for which a condition holds: one truth value for
    /// each element, in the numbering of the grid.
    ///
    /// # Panics
    /// If there is not one value for each element.
    pub fn filtered(name: impl Into<String>, within: &Arc<Domain>, holds: &[bool]) -> Arc<Domain> {
        assert_eq!(holds.len(), within.len(), "truth values of a domain of {} elements", within.len());
        let held = holds.iter().enumerate().filter(|(_, holds)| **holds);
        Domain::trusted_subset(name.into(), within, held.map(|(position, _)| within.element(position)).collect())
    }

    /// [`Domain::subset`] for elements already checked with [`Domain::check_subset`].
    pub(crate) fn trusted_subset(name: String, within: &Arc<Domain>, elements: Vec<u32>) -> Arc<Domain> {
        let base = match &within.body {
            Body::Canonical { .. } => Arc::clone(within),
            Body::Subset { base, .. } => Arc::clone(base),
        };
        let len = elements.len();
        let body = Body::Subset { parent: Arc::clone(within), base };
        Arc::new(Domain {
            name,
            set: within.set,
            len,
            body,
            elements: OnceLock::from(elements),
            rank_map: OnceLock::new(),
            file_order: OnceLock::new(),
        })
    }

    /// Position and description of the first element that violates the conditions of a subset.
    pub(crate) fn check_subset(&self, elements: &[u32]) -> Result<(), (usize, String)> {
        for (position, &element) in elements.iter().enumerate() {
            if position > 0 && element == elements[position - 1] {
                return Err((position, format!("{} {element} occurs twice", self.set.kind.noun())));
            }
            if position > 0 && element < elements[position - 1] {
                return Err((position, format!("not sorted: {element} comes after {}", elements[position - 1])));
            }
            if self.rank(element).is_none() {
                return Err((position, format!("{} {element} is not in {}", self.set.kind.noun(), self.name)));
            }
        }
        Ok(())
    }

    /// Name for messages: `InteriorFaces()`, or the name given to a subset.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Kind of its entities.
    pub fn kind(&self) -> EntityKind {
        self.set.kind
    }

    /// The smallest canonical set known to contain it.
    pub fn superset(&self) -> CanonicalSet {
        self.set
    }

    /// The canonical set, if it is one.
    pub fn canonical_set(&self) -> Option<CanonicalSet> {
        match self.body {
            Body::Canonical { .. } => Some(self.set),
            Body::Subset { .. } => None,
        }
    }

    /// True if it contains all entities of its kind: then element k is k.
    pub fn is_all(&self) -> bool {
        self.canonical_set().is_some_and(|set| set.extent == Extent::All)
    }

    /// The domain of which it is a subset; `None` for canonical sets.
    pub fn parent(&self) -> Option<&Arc<Domain>> {
        match &self.body {
            Body::Canonical { .. } => None,
            Body::Subset { parent, .. } => Some(parent),
        }
    }

    /// The domain of [`Domain::rank_map`]: the canonical superset of a subset, the All-set of
    /// another canonical set, `None` for an All-set, where the rank of an entity is its index.
    pub fn base(&self) -> Option<&Arc<Domain>> {
        match &self.body {
            Body::Canonical { all, .. } => all.as_ref(),
            Body::Subset { base, .. } => Some(base),
        }
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        self.len
    }

    /// True if it has no elements.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Its elements, ascending. Computed on first use for canonical sets; prefer [`Domain::is_all`]
    /// and counting where that suffices.
    pub fn elements(&self) -> &[u32] {
        self.elements.get_or_init(|| match &self.body {
            // The constructor has checked the kind.
            Body::Canonical { grid, .. } => grid.canonical_elements(self.set).unwrap_or_default(),
            Body::Subset { .. } => Vec::new(),
        })
    }

    /// Element at a position.
    ///
    /// # Panics
    /// If the position is not less than [`Domain::len`].
    pub fn element(&self, position: usize) -> u32 {
        if self.is_all() {
            assert!(position < self.len, "position {position} of a domain of {} elements", self.len);
            return position as u32;
        }
        self.elements()[position]
    }

    /// True if errors at a position are errors of the run; see [`Grid::is_own`].
    ///
    /// # Panics
    /// As for [`Domain::element`].
    pub fn is_own(&self, position: usize) -> bool {
        self.grid().is_own(self.kind(), self.element(position))
    }

    /// True if a rank owns the element at a position, as exactly one does; true in a run of one
    /// process.
    ///
    /// # Panics
    /// As for [`Domain::element`].
    pub fn is_owned_by(&self, rank: RankId, position: usize) -> bool {
        let grid = self.grid();
        grid.part().is_none_or(|part| part.owns(rank, self.kind().on_grid_of(grid.dim()), self.element(position)))
    }

    /// Position of an entity; `None` if it is not in the domain. Needs no arrays for canonical sets
    /// of Cartesian grids, nor for sets of faces if interior faces come first.
    pub fn rank(&self, entity: u32) -> Option<u32> {
        match &self.body {
            Body::Canonical { all: None, .. } => ((entity as usize) < self.len).then_some(entity),
            Body::Canonical { grid, all: Some(all) } => match grid.cartesian_shape() {
                Some(shape) => shape.set_rank(self.set, entity),
                None => match self.offset() {
                    Some(offset) => entity.checked_sub(offset).filter(|&rank| (rank as usize) < self.len),
                    None => self.mapped_rank(all, entity),
                },
            },
            Body::Subset { base, .. } => self.mapped_rank(base, entity),
        }
    }

    /// The element at position 0, if the elements are known to be consecutive: all entities of a
    /// kind, and interior or boundary faces of a grid that numbers interior faces first. The
    /// position of an element is then its index minus this. Also for an empty set.
    pub fn offset(&self) -> Option<u32> {
        let set = self.canonical_set()?;
        let interior_faces = match set.kind.on_grid_of(self.grid().dim()) {
            EntityKind::Face => self.grid().interior_faces_first(),
            EntityKind::Cell | EntityKind::Edge | EntityKind::Vertex => None,
        };
        match set.extent {
            Extent::All => Some(0),
            Extent::Interior => interior_faces.map(|_| 0),
            Extent::Boundary => interior_faces.map(|count| count as u32),
        }
    }

    fn mapped_rank(&self, base: &Domain, entity: u32) -> Option<u32> {
        let position = base.rank(entity)?;
        self.rank_map()?.get(position as usize).copied().filter(|&rank| rank != NONE)
    }

    /// The position of each element of [`Domain::base`] here, or [`NONE`]. Computed on first use.
    /// `None` for All-sets.
    pub fn rank_map(&self) -> Option<&[u32]> {
        let base = self.base()?;
        Some(self.rank_map.get_or_init(|| {
            let mut map = vec![NONE; base.len()];
            for (rank, &element) in self.elements().iter().enumerate() {
                if let Some(position) = base.rank(element) {
                    map[position as usize] = rank as u32;
                }
            }
            map
        }))
    }

    /// Positions of its elements in the order of the grid's file: entry k is the position here of
    /// the k-th element there. `None` if both orders are equal. Inputs, outputs and reductions use
    /// it. Computed on first use.
    pub fn file_order(&self) -> Option<&[u32]> {
        let (grid, kind) = (self.grid(), self.kind());
        let all = grid.in_file_order(kind)?;
        if self.is_all() {
            return Some(all);
        }
        let made = self.file_order.get_or_init(|| {
            let order = match self.body {
                Body::Canonical { .. } => all.iter().filter_map(|&entity| self.rank(entity)).collect(),
                // Cost in proportion to the subset, not to the grid.
                Body::Subset { .. } => {
                    let elements = self.elements();
                    let mut order: Vec<u32> = (0..self.len as u32).collect();
                    order.sort_unstable_by_key(|&position| grid.file_index(kind, elements[position as usize]));
                    order
                }
            };
            (!order.is_sorted()).then_some(order)
        });
        made.as_deref()
    }

    /// True if the order here is that of the file.
    pub fn has_file_order(&self) -> bool {
        self.file_order().is_none()
    }

    /// Reorders values from the order of the file to the order here.
    ///
    /// # Panics
    /// If there is not one value for each element.
    pub fn from_file_order<T: Copy + Default>(&self, values: Vec<T>) -> Vec<T> {
        let Some(order) = self.file_order() else { return values };
        assert_eq!(order.len(), values.len(), "values of a domain of {} elements", self.len);
        let mut out = vec![T::default(); values.len()];
        for (&position, value) in order.iter().zip(values) {
            out[position as usize] = value;
        }
        out
    }

    /// Reorders values from the order here to the order of the file.
    ///
    /// # Panics
    /// If there is not one value for each element.
    pub fn in_file_order<'a, T: Copy>(&self, values: &'a [T]) -> Cow<'a, [T]> {
        match self.file_order() {
            None => Cow::Borrowed(values),
            Some(order) => Cow::Owned(order.iter().map(|&position| values[position as usize]).collect()),
        }
    }

    /// The grid.
    pub fn grid(&self) -> &Grid {
        match &self.body {
            Body::Canonical { grid, .. } => grid,
            Body::Subset { base, .. } => base.grid(),
        }
    }

    /// True if two domains have the same elements. Cheap if they are the same object or both
    /// canonical.
    pub fn same_elements(&self, other: &Domain) -> bool {
        if std::ptr::eq(self, other) {
            return true;
        }
        if self.kind() != other.kind() || self.len != other.len {
            return false;
        }
        match (self.canonical_set(), other.canonical_set()) {
            (Some(a), Some(b)) if a == b => true,
            _ => self.elements() == other.elements(),
        }
    }
}
