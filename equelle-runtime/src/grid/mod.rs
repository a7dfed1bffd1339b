//! The grid: topology and geometry (`docs/language/grid.md`).
//!
//! A Cartesian grid keeps its arrays unbuilt until something asks for them, so that programs whose
//! kernels run in Cartesian form never pay for them.
//!
//! Reading order: [`Grid`] here, [`Cartesian`] numbering in `cartesian` and `cartesian_edges`, its
//! arrays in `build`, grids of graded widths in `rectilinear`, edges and vertices in `skeleton`,
//! canonical sets in `sets`, what is beyond faces in `neighbours`, geometry that is given back in
//! `geometry`, grids from cells in `builder`, entities by their corners for files of meshes in
//! `corners` (faces that are turned outwards in `outwards`), sets and arrays of a mesh in `named`,
//! sides in `sides`, those that are joined in `join`,
//! grid files in [`io`], what they store against what their nodes give in `stored` (measures in
//! `shapes`, precision of text in `digits`), the order of cells and faces in memory in `renumber`
//! and `cuthill_mckee`, the part that a rank holds in `part` and `box_part`.

mod arrays;
mod box_entities;
mod box_part;
mod build;
pub(crate) mod builder;
mod cartesian;
mod cartesian_edges;
mod corners;
mod cuthill_mckee;
mod digits;
mod geometry;
pub mod io;
mod join;
mod named;
pub(crate) mod nearest;
mod neighbours;
mod numbering;
mod outwards;
mod part;
mod part_owners;
mod part_skeleton;
mod rectilinear;
mod renumber;
mod sets;
mod shapes;
pub(crate) mod sides;
mod skeleton;
mod stored;
mod structured;

use std::sync::{Arc, OnceLock};

use crate::entity::EntityKind;
use crate::error::{Error, ErrorKind};
use crate::threads::Threads;

pub use arrays::{Geometry, GeometryArray, NONE, Nodes, Topology};
pub use box_part::PartBox;
pub use builder::{BuildError, CellShape, GridBuilder, Repairs};
pub use cartesian::{BoxLocation, Cartesian, CartesianFace};
pub use cartesian_edges::CartesianEdge;
pub use corners::{Corners, EntityShape};
pub use geometry::Centroids;
pub use join::JoinedSides;
pub use named::{Named, NamedArray, NamedSet};
pub use neighbours::{MAX_CELLS_OF_ARRAYS, Neighbour};
pub use part_owners::GridPart;
pub use renumber::{FaceOrder, LARGE, Renumber};
pub use stored::StoredGeometry;
pub use structured::{SideMap, mapped};

pub(crate) use arrays::too_many_of;
use arrays::{MAX_ENTITIES, RectilinearNodes, Skeleton, too_many};
use numbering::Numbering;

/// A grid of 1, 2 or 3 dimensions.
#[derive(Clone, Debug)]
pub struct Grid {
    dim: usize,
    n_cells: usize,
    n_faces: usize,
    shape: GridShape,
    topology: Arc<OnceLock<Topology>>,
    neighbours: Arc<OnceLock<Vec<Neighbour>>>,
    geometry: OnceLock<Geometry>,
    /// Arrays of geometry that nothing will read.
    given_up: Vec<GeometryArray>,
    skeleton: Skeleton,
    /// Numbers of cells and faces in the file.
    numbering: Arc<Numbering>,
    named: Arc<Named>,
    has_joined_sides: bool,
    /// Notes for the user about its file.
    notes: Arc<[String]>,
    /// For making arrays.
    threads: Threads,
    /// Owners and layers, if it is a part of the grid of a run on ranks.
    part: Option<Arc<GridPart>>,
}

/// Numbers and widths of the cells of a grid that is made of them; nothing for one of arrays.
#[derive(Clone, Debug, Default)]
struct GridShape {
    /// The shape of a Cartesian grid that may be treated as such.
    cartesian: Option<Cartesian>,
    /// The shape of which unbuilt arrays are made; stays when `cartesian` is hidden.
    arrays: Option<Cartesian>,
    /// Positions along the axes where widths differ; `arrays` has the mean widths then.
    rectilinear: Option<Arc<RectilinearNodes>>,
    /// The shape, if whole sides of a Cartesian grid are joined and its numbering is that of the
    /// file.
    joined: Option<Cartesian>,
}

impl Grid {
    /// A uniform Cartesian grid. No array is built yet.
    ///
    /// # Errors
    /// `Data` if the dimension is not 1, 2 or 3, an axis has no cells, an unused axis has more than
    /// one, a width is not positive and finite, or the grid has too many cells or faces for 32-bit
    /// indices.
    pub fn cartesian(shape: Cartesian) -> Result<Grid, Error> {
        shape.check()?;
        let mut grid = Grid::new(shape.dim, shape.n_cells(), shape.n_faces());
        grid.shape = GridShape { cartesian: Some(shape), arrays: Some(shape), ..GridShape::default() };
        Ok(grid)
    }

    /// A grid with neither shape nor arrays.
    fn new(dim: usize, n_cells: usize, n_faces: usize) -> Grid {
        Grid {
            dim,
            n_cells,
            n_faces,
            shape: GridShape::default(),
            topology: Arc::default(),
            neighbours: Arc::default(),
            geometry: OnceLock::new(),
            given_up: Vec::new(),
            skeleton: Skeleton::default(),
            numbering: Arc::default(),
            named: Arc::default(),
            has_joined_sides: false,
            notes: Arc::default(),
            threads: Threads::one(),
            part: None,
        }
    }

    /// A grid of given arrays, which must fit each other (readers of grid files check them and say
    /// where they do not). It has cells and faces; edges and vertices come from
    /// [`Grid::with_nodes`].
    ///
    /// # Errors
    /// `Data` if the dimension is not 1, 2 or 3, a length does not fit, an index is out of range or
    /// there are too many entities.
    pub fn unstructured(dim: usize, topology: Topology, geometry: Geometry) -> Result<Grid, Error> {
        let bad = |what: &str| Err(Error::new(ErrorKind::Data, format!("the grid's arrays do not fit: {what}")));
        if !(1..=3).contains(&dim) {
            return bad("the dimension must be 1, 2 or 3");
        }
        let n_cells = geometry.cell_volumes.len();
        let n_faces = geometry.face_areas.len();
        if n_cells > MAX_CELLS_OF_ARRAYS {
            return Err(too_many_of("cells", MAX_CELLS_OF_ARRAYS));
        }
        if n_faces > MAX_ENTITIES {
            return Err(too_many("faces"));
        }
        if geometry.cell_centroids.len() != n_cells || geometry.face_centroids.len() != n_faces || geometry.face_normals.len() != n_faces {
            return bad("geometry of unequal length");
        }
        if topology.face_cells.len() != n_faces || topology.cell_face_pos.len() != n_cells + 1 {
            return bad("topology and geometry of unequal length");
        }
        let pos = &topology.cell_face_pos;
        if pos[0] != 0 || pos[n_cells] != topology.cell_faces.len() || pos.windows(2).any(|w| w[0] > w[1]) {
            return bad("cell_face_pos does not partition cell_faces");
        }
        if topology.cell_faces.iter().any(|&f| f as usize >= n_faces)
            || topology.face_cells.iter().flatten().any(|&c| c != NONE && c as usize >= n_cells)
        {
            return bad("an index is out of range");
        }
        let mut grid = Grid::new(dim, n_cells, n_faces);
        (grid.topology, grid.geometry) = (Arc::new(OnceLock::from(topology)), OnceLock::from(geometry));
        Ok(grid)
    }

    /// The same grid, treated as unstructured: [`Grid::cartesian_shape`] is `None`. Numbering and
    /// geometry stay; [`Grid::renumber`] may change the numbering. It should have no more than
    /// [`MAX_CELLS_OF_ARRAYS`] cells.
    #[must_use]
    pub fn as_unstructured(mut self) -> Grid {
        (self.shape.cartesian, self.shape.joined) = (None, None);
        self
    }

    /// Arrays are made by these threads from now on.
    pub fn set_threads(&mut self, threads: Threads) {
        self.threads = threads;
    }

    /// The threads that make its arrays.
    pub fn threads(&self) -> &Threads {
        &self.threads
    }

    /// Number of space axes: 1, 2 or 3.
    pub fn dim(&self) -> usize {
        self.dim
    }

    /// Number of cells.
    pub fn n_cells(&self) -> usize {
        self.n_cells
    }

    /// Number of faces.
    pub fn n_faces(&self) -> usize {
        self.n_faces
    }

    /// Number of entities of a kind. Counting the edges of a grid of 3 dimensions that is not
    /// Cartesian makes their table.
    ///
    /// # Errors
    /// `Data` for edges and vertices of a grid of arrays without nodes, and where there are too
    /// many for 32-bit indices.
    pub fn n_entities(&self, kind: EntityKind) -> Result<usize, Error> {
        match kind.on_grid_of(self.dim) {
            EntityKind::Cell => Ok(self.n_cells),
            EntityKind::Face => Ok(self.n_faces),
            EntityKind::Edge => self.n_own_edges(),
            EntityKind::Vertex => self.n_own_vertices(),
        }
    }

    /// The shape, if the grid is Cartesian and may be treated as such in this run.
    pub fn cartesian_shape(&self) -> Option<&Cartesian> {
        self.shape.cartesian.as_ref()
    }

    /// [`Grid::cartesian_shape`], or that of a Cartesian grid with joined sides: for Cartesian
    /// forms of kernels.
    pub fn closed_shape(&self) -> Option<&Cartesian> {
        self.shape.cartesian.as_ref().or(self.shape.joined.as_ref())
    }

    /// True if its arrays are made of the numbers and widths of its cells.
    pub fn has_shape(&self) -> bool {
        self.shape.arrays.is_some()
    }

    /// The numbers of cells of which its arrays are made, in the numbering of the file.
    pub(crate) fn shape(&self) -> Option<&Cartesian> {
        self.shape.arrays.as_ref()
    }

    /// Its nodes, if it has been made with some.
    pub(crate) fn nodes(&self) -> Option<&Nodes> {
        self.skeleton.nodes.as_deref()
    }

    /// Cells and faces; built on first use. For a Cartesian grid of 3 dimensions about 56 bytes a
    /// cell.
    pub fn topology(&self) -> &Topology {
        self.topology.get_or_init(|| self.shape().map(|shape| build::topology(shape, &self.threads)).unwrap_or_default())
    }

    /// Measures, centroids and normals; built on first use. For a Cartesian grid of 3 dimensions
    /// about 200 bytes a cell. Arrays that have been given up are empty.
    pub fn geometry(&self) -> &Geometry {
        self.geometry.get_or_init(|| {
            let built = self.shape().map(|shape| build::geometry(shape, &self.shape.axes(shape), &self.given_up, &self.threads));
            let built = built.unwrap_or_default();
            // The arrays of a box are made in its own numbering.
            if self.part.is_some() { built } else { self.numbering.in_order(built, &self.threads) }
        })
    }

    /// Neighbours across the faces of all cells, in the order of `cell_faces`; built on first use.
    /// `[n_cell_faces]`, 4 bytes each. Numbers of cells must not change afterwards.
    pub fn neighbours(&self) -> &[Neighbour] {
        self.neighbours.get_or_init(|| neighbours::list(self.topology(), &self.threads))
    }

    /// The same grid with named sets and arrays.
    ///
    /// # Errors
    /// `Data` if a member is out of range, an array has another length than the grid has entities,
    /// or a set or array belongs to neither cells nor faces.
    pub fn with_named(mut self, named: Named) -> Result<Grid, Error> {
        let count = |kind: EntityKind| match kind {
            EntityKind::Cell => Ok(self.n_cells),
            EntityKind::Face => Ok(self.n_faces),
            EntityKind::Edge | EntityKind::Vertex => {
                Err(Error::new(ErrorKind::Data, format!("named sets and arrays are of cells or faces, not of {}", kind.nouns())))
            }
        };
        for set in named.sets() {
            let n = count(set.kind)?;
            if let Some(&last) = set.members.last().filter(|&&last| last as usize >= n) {
                let message = format!("set `{}` has {} {last}, and the grid has {n} {}", set.name, set.kind.noun(), set.kind.nouns());
                return Err(Error::new(ErrorKind::Data, message));
            }
        }
        for array in named.arrays() {
            let n = count(array.kind)?;
            if array.values.len() != n {
                let message =
                    format!("array `{}` has {} values, and the grid has {n} {}", array.name, array.values.len(), array.kind.nouns());
                return Err(Error::new(ErrorKind::Data, message));
            }
        }
        self.named = Arc::new(named);
        Ok(self)
    }

    /// Named sets and arrays; none unless its file has some.
    pub fn named(&self) -> &Named {
        &self.named
    }

    /// True if faces of its boundary have been joined ([`Grid::with_joined_sides`]).
    pub fn has_joined_sides(&self) -> bool {
        self.has_joined_sides
    }

    /// The same grid with what a user should know of its file.
    #[must_use]
    pub fn with_notes(mut self, notes: Vec<String>) -> Grid {
        self.notes = notes.into();
        self
    }

    /// Notes for the user about its file: units that were assumed, parts that were left out.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Shares the grid.
    #[must_use]
    pub fn shared(self) -> Arc<Grid> {
        Arc::new(self)
    }
}
