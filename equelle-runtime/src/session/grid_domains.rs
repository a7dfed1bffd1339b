//! The grid of a run and the domains on it.

use std::sync::{Arc, Weak};

use super::context::RunContext;
use crate::domain::Domain;
use crate::entity::{CanonicalSet, EntityKind, Extent};
use crate::error::Error;
use crate::grid::{FaceOrder, GeometryArray, Grid, Renumber};
use crate::output::Support;
use crate::threads::Threads;

/// The canonical sets of every grid; edges and vertices of a grid from arrays need nodes.
pub const SUPPORTED_SETS: [CanonicalSet; 6] = [
    CanonicalSet::new(EntityKind::Cell, Extent::All),
    CanonicalSet::new(EntityKind::Cell, Extent::Interior),
    CanonicalSet::new(EntityKind::Cell, Extent::Boundary),
    CanonicalSet::new(EntityKind::Face, Extent::All),
    CanonicalSet::new(EntityKind::Face, Extent::Interior),
    CanonicalSet::new(EntityKind::Face, Extent::Boundary),
];

/// Subsets whose entities are remembered for outputs.
const MAX_SUBSETS: usize = 16;

/// The grid of a run with the domains that were made on it, each once. The grid changes its
/// numbering before the first domain only.
pub struct GridDomains {
    grid: Arc<Grid>,
    /// The grid without geometry for domains, so that geometry can be freed.
    without_geometry: Option<Arc<Grid>>,
    renumber: Renumber,
    canonical: Vec<(CanonicalSet, Arc<Domain>)>,
    /// Those that the program has made of conditions.
    filtered: Vec<Weak<Domain>>,
    /// Entities of the subsets that were put out, by index in the grid's file.
    subsets: Vec<(Weak<Domain>, Arc<Vec<u32>>)>,
}

impl GridDomains {
    pub(super) fn new(grid: Grid, renumber: Renumber) -> GridDomains {
        let grid = Arc::new(grid);
        GridDomains { grid, without_geometry: None, renumber, canonical: Vec::new(), filtered: Vec::new(), subsets: Vec::new() }
    }

    pub(super) fn grid(&self) -> &Arc<Grid> {
        &self.grid
    }

    /// True if the grid was asked to be renumbered and has no other numbering.
    pub(super) fn ignores_renumber(&self) -> bool {
        self.renumber == Renumber::Yes && self.grid.cartesian_shape().is_some()
    }

    /// The threads that make arrays of the grid, unless it is shared.
    pub(super) fn set_threads(&mut self, threads: &Threads) {
        if let Some(grid) = Arc::get_mut(&mut self.grid) {
            grid.set_threads(threads.clone());
        }
    }

    /// Renumbers the grid if parameter `renumber` says so, for back-ends whose kernels gain from
    /// it; must be called first. Other back-ends use the numbering of the file. See
    /// [`Grid::renumber`].
    ///
    /// # Panics
    /// If a domain exists, or the grid is shared.
    pub fn renumber(&mut self) {
        self.renumber_with(FaceOrder::default());
    }

    /// [`GridDomains::renumber`] with a choice for the faces.
    ///
    /// # Panics
    /// As for [`GridDomains::renumber`].
    pub fn renumber_with(&mut self, faces: FaceOrder) {
        assert!(self.canonical.is_empty(), "a grid is renumbered before its domains are made");
        let grid = Arc::get_mut(&mut self.grid);
        grid.expect("a grid is renumbered before it is shared").renumber_with(self.renumber, faces);
    }

    /// Frees the geometry of the grid except for these arrays. Cell centroids from a grid file
    /// stay: messages give them. So do positions and normals of faces if `of_inputs`: inputs are
    /// chosen by them.
    pub(super) fn keep_geometry(&mut self, arrays: &[GeometryArray], of_inputs: bool) {
        // Other owners of the grid keep reading it unchanged.
        if let Some(grid) = Arc::get_mut(&mut self.grid) {
            let mut kept = arrays.to_vec();
            kept.extend((!grid.has_shape()).then_some(GeometryArray::CellCentroids));
            if of_inputs && !grid.has_shape() {
                kept.extend([GeometryArray::FaceCentroids, GeometryArray::FaceNormals]);
            }
            grid.keep_geometry(&kept);
        }
    }

    /// The grid without geometry, which holds no memory of it.
    pub(super) fn without_geometry(&mut self) -> &Arc<Grid> {
        self.without_geometry.get_or_insert_with(|| self.grid.without_geometry().shared())
    }

    /// A canonical set; created once.
    ///
    /// # Errors
    /// `Data` for edges and vertices of a grid of arrays without nodes, and where there are too
    /// many for 32-bit indices.
    pub(super) fn canonical(&mut self, set: CanonicalSet, run: &RunContext) -> Result<Arc<Domain>, Error> {
        run.progress.messages().send_start();
        if let Some((_, domain)) = self.canonical.iter().find(|(known, _)| *known == set) {
            return Ok(Arc::clone(domain));
        }
        let domain = Domain::canonical(self.without_geometry(), set).map_err(|error| run.locate(error))?;
        self.canonical.push((set, Arc::clone(&domain)));
        Ok(domain)
    }

    /// A domain of those elements of another for which a condition on it holds; see
    /// [`Domain::filtered`].
    ///
    /// # Panics
    /// If there is not one value for each element.
    pub fn filtered(&mut self, name: &str, within: &Arc<Domain>, holds: &[bool]) -> Arc<Domain> {
        let domain = Domain::filtered(name, within, holds);
        self.filtered.retain(|known| known.strong_count() > 0);
        self.filtered.push(Arc::downgrade(&domain));
        domain
    }

    /// The domains of conditions that are still in use.
    pub(super) fn all_filtered(&self) -> impl Iterator<Item = Arc<Domain>> {
        self.filtered.iter().filter_map(Weak::upgrade)
    }

    /// The entities of a domain, by index in the grid's file.
    pub(super) fn support(&mut self, domain: &Arc<Domain>) -> Support {
        let kind = domain.kind();
        let n_entities = self.grid.n_entities(kind).unwrap_or(domain.len());
        if domain.is_all() {
            return Support { kind, n_entities, subset: None };
        }
        if let Some((_, subset)) = self.subsets.iter().find(|(known, _)| known.as_ptr() == Arc::as_ptr(domain)) {
            return Support { kind, n_entities, subset: Some(Arc::clone(subset)) };
        }
        let elements = domain.in_file_order(domain.elements());
        let subset: Arc<Vec<u32>> = Arc::new(elements.iter().map(|&element| self.grid.file_index(kind, element)).collect());
        // Domains that are gone, and a bound for programs that make new ones.
        self.subsets.retain(|(known, _)| known.strong_count() > 0);
        self.subsets.truncate(MAX_SUBSETS - 1);
        self.subsets.push((Arc::downgrade(domain), Arc::clone(&subset)));
        Support { kind, n_entities, subset: Some(subset) }
    }
}
