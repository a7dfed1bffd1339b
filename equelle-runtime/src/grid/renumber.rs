//! Renumbering: cells and faces of a grid in an order in which kernels walk through memory.
//!
//! * cells by reverse Cuthill–McKee (`cuthill_mckee`), unless the file's order has neighbours close
//!   together already;
//! * interior faces before boundary faces, so that the position of a face in InteriorFaces() is its
//!   index, and in BoundaryFaces() its index less a constant;
//! * both kinds of faces in the order of the cells that have them.
//!
//! Users see the numbering of the file: a grid knows the index that an entity has there
//! ([`Grid::file_index`]), and a domain the order of its elements there
//! ([`crate::domain::Domain::file_order`]). The part of a rank is renumbered as a grid is, whatever
//! the layers of its cells. The faces of a cell stay in the file's order, which is
//! the order of sums over them; first and second cells and normals stay what they are. Edges and
//! vertices that are nothing else keep their numbers.

use std::borrow::Cow;
use std::sync::{Arc, OnceLock};

use super::numbering::{Numbering, Numbers, Permutation};
use super::part_owners::KindPart;
use super::{Geometry, Grid, NONE, Topology, cuthill_mckee};
use crate::entity::EntityKind;
use crate::error::{Error, ErrorKind};
use crate::params::Parameters;
use crate::threads::Threads;

/// Choice of the grids that are renumbered: parameter `renumber`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Renumber {
    /// Unstructured grids of [`LARGE`] cells or more; their cells only if neighbours are far from
    /// each other in the file's order.
    #[default]
    Auto,
    /// None.
    No,
    /// All unstructured grids, and their cells whatever their order.
    Yes,
}

/// Order of the interior faces, and of the boundary faces, of a renumbered grid whose cells keep
/// their order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FaceOrder {
    /// By the first cell that has them: for loops that visit cell after cell.
    #[default]
    OfCells,
    /// That of the file: for processors that read the same face of many cells at a time, which lie
    /// behind one another in most files.
    OfFile,
}

/// Cells from which renumbering is worth its time. With fewer, the arrays that a kernel reads, some
/// 200 bytes a cell, fit into the caches of a core, and any order is as good.
pub const LARGE: usize = 10_000;

impl Renumber {
    /// From `renumber` (`auto`).
    ///
    /// # Errors
    /// `Data` for another word than `auto`, `no` or `yes`.
    pub fn from_parameters(parameters: &Parameters) -> Result<Renumber, Error> {
        match parameters.text("renumber") {
            None | Some("auto") => Ok(Renumber::Auto),
            Some("no") => Ok(Renumber::No),
            Some("yes") => Ok(Renumber::Yes),
            Some(other) => {
                let message = format!("parameter `renumber` must be `auto`, `no` or `yes`, not `{other}`");
                Err(Error::new(ErrorKind::Data, message))
            }
        }
    }
}

/// Numbers in the file of the entities of a kind; `None` where they are those here.
fn numbers_of(grid: &Grid, kind: EntityKind) -> Option<&Numbers> {
    match kind.on_grid_of(grid.dim) {
        EntityKind::Cell => grid.numbering.cells.as_ref(),
        EntityKind::Face => grid.numbering.faces.as_ref(),
        kind @ (EntityKind::Edge | EntityKind::Vertex) => Some(&grid.part()?.skeleton.get().find(kind)?.numbers),
    }
}

impl Grid {
    /// Renumbers cells and faces, before anything has been asked of the grid. A grid that is used
    /// as a Cartesian one keeps its numbering, unless sides are joined and numbers are asked for.
    ///
    /// Memory in the end: 8 bytes for each cell and face that is renumbered.
    pub fn renumber(&mut self, how: Renumber) {
        self.renumber_with(how, FaceOrder::default());
    }

    /// The same, with a choice for the faces.
    pub fn renumber_with(&mut self, how: Renumber, order: FaceOrder) {
        let wanted = match how {
            Renumber::No => false,
            Renumber::Auto => self.n_cells >= LARGE,
            Renumber::Yes => true,
        };
        let is_closed = self.shape.joined.is_some() && how != Renumber::Yes;
        if !wanted || self.shape.cartesian.is_some() || is_closed || self.numbering.interior_first.is_some() {
            return;
        }
        self.shape.joined = None;
        self.topology();
        let Some(old) = Arc::get_mut(&mut self.topology).and_then(OnceLock::take) else { return };
        self.neighbours = Arc::default();
        let cells = new_cells(&old, how, self.dim, &self.threads);
        let (faces, interior) = new_faces(&old, cells.as_ref(), order, &self.threads);
        self.topology = Arc::new(OnceLock::from(renumbered(old, cells.as_ref(), faces.as_ref(), &self.threads)));
        if let Some(geometry) = self.geometry.take() {
            self.geometry = OnceLock::from(in_new_order(geometry, cells.as_ref(), faces.as_ref(), &self.threads));
        }
        if let (Some(faces), Some(nodes)) = (&faces, &mut self.skeleton.nodes) {
            let mut pos = Vec::with_capacity(nodes.face_node_pos.len());
            let mut face_nodes = Vec::with_capacity(nodes.face_nodes.len());
            pos.push(0);
            for &face in &faces.to_file {
                face_nodes.extend_from_slice(nodes.face_nodes(face as usize));
                pos.push(face_nodes.len());
            }
            let nodes = Arc::make_mut(nodes);
            (nodes.face_node_pos, nodes.face_nodes) = (pos, face_nodes);
            let second_sides = std::mem::take(&mut nodes.second_sides).into_iter();
            nodes.second_sides = second_sides.map(|(face, nodes)| (faces.from_file[face as usize], nodes)).collect();
        }
        let (cells, faces) = match &mut self.part {
            None => (cells.map(Numbers::Table), faces.map(Numbers::Table)),
            Some(part) => {
                let part = Arc::make_mut(part);
                let Numbering { cells: old_cells, faces: old_faces, .. } = &*self.numbering;
                (part.cells.renumber(old_cells, cells), part.faces.renumber(old_faces, faces))
            }
        };
        self.numbering = Arc::new(Numbering { cells, faces, interior_first: Some(interior) });
    }

    /// True if the numbering of cells or faces is not that of the file.
    pub fn is_renumbered(&self) -> bool {
        self.numbering.cells.is_some() || self.numbering.faces.is_some()
    }

    /// Number of interior faces, if the grid has been renumbered so that they come first: face f is
    /// element f of InteriorFaces(), or element f less this number of BoundaryFaces().
    pub fn interior_faces_first(&self) -> Option<usize> {
        self.numbering.interior_first
    }

    /// Index in the file of an entity; [`NONE`] stays what it is.
    pub fn file_index(&self, kind: EntityKind, entity: u32) -> u32 {
        match numbers_of(self, kind) {
            None => entity,
            Some(numbers) => numbers.in_file(entity).unwrap_or(entity),
        }
    }

    /// The entity that has an index in the file; what the grid does not have stays what it is.
    pub fn entity_of_file(&self, kind: EntityKind, index: u32) -> u32 {
        self.find_entity(kind, index).unwrap_or(index)
    }

    /// The entity that has an index in the file; `None` if the grid does not have it.
    pub fn find_entity(&self, kind: EntityKind, index: u32) -> Option<u32> {
        match numbers_of(self, kind) {
            None => self.n_entities(kind).is_ok_and(|n| (index as usize) < n).then_some(index),
            Some(numbers) => numbers.find(index),
        }
    }

    /// All entities of a kind in the order of the file; `None` if that is the order here.
    pub(crate) fn in_file_order(&self, kind: EntityKind) -> Option<&[u32]> {
        numbers_of(self, kind)?.in_file_order()
    }
}

impl Numbering {
    /// Geometry as the file has it, in the order here.
    pub(super) fn in_order(&self, geometry: Geometry, threads: &Threads) -> Geometry {
        let [cells, faces] = [&self.cells, &self.faces].map(|numbers| numbers.as_ref().and_then(Numbers::table));
        in_new_order(geometry, cells, faces, threads)
    }
}

/// Topology in a new order of cells and faces.
fn renumbered(mut old: Topology, cells: Option<&Permutation>, faces: Option<&Permutation>, threads: &Threads) -> Topology {
    if let Some(faces) = faces {
        old.face_cells = in_order(old.face_cells, faces, threads);
        threads.each_cheap(old.cell_faces.len(), &mut old.cell_faces[..], |_, part| {
            for face in part {
                *face = faces.from_file[*face as usize];
            }
        });
    }
    if let Some(cells) = cells {
        for cell in old.face_cells.iter_mut().flatten().filter(|cell| **cell != NONE) {
            *cell = cells.from_file[*cell as usize];
        }
        let mut pos = Vec::with_capacity(old.cell_face_pos.len());
        let mut cell_faces = Vec::with_capacity(old.cell_faces.len());
        pos.push(0);
        for &cell in &cells.to_file {
            cell_faces.extend_from_slice(old.faces_of(cell as usize));
            pos.push(cell_faces.len());
        }
        (old.cell_face_pos, old.cell_faces) = (pos, cell_faces);
    }
    old
}

impl KindPart {
    /// Brings owners and layers into a new order. `old` has the numbers in the file of the old
    /// order, and the result those of the new one.
    fn renumber(&mut self, old: &Option<Numbers>, new: Option<Permutation>) -> Option<Numbers> {
        let (Some(old), Some(new)) = (old, new) else { return old.clone() };
        let owners = new.to_file.iter().filter_map(|&entity| self.owner(entity)).collect();
        let layers: Vec<u8> = new.to_file.iter().filter_map(|&entity| self.layer(entity)).collect();
        let to_file = new.to_file.iter().filter_map(|&entity| old.in_file(entity)).collect();
        let numbers = Permutation::from_part(to_file, &layers);
        *self = KindPart::Table { owners, layers, whole: self.n_whole() };
        Some(Numbers::Table(numbers))
    }
}

fn in_new_order(mut geometry: Geometry, cells: Option<&Permutation>, faces: Option<&Permutation>, threads: &Threads) -> Geometry {
    if let Some(cells) = cells {
        geometry.cell_volumes = in_order(geometry.cell_volumes, cells, threads);
        geometry.cell_centroids = in_order(geometry.cell_centroids, cells, threads);
    }
    if let Some(faces) = faces {
        geometry.face_areas = in_order(geometry.face_areas, faces, threads);
        geometry.face_centroids = in_order(geometry.face_centroids, faces, threads);
        geometry.face_normals = in_order(geometry.face_normals, faces, threads);
        geometry.face_gaps = in_order(geometry.face_gaps, faces, threads);
        geometry.face_transmissibilities = in_order(geometry.face_transmissibilities, faces, threads);
        geometry.faces_without_geometry.iter_mut().for_each(|face| *face = faces.from_file[*face as usize]);
        geometry.faces_without_geometry.sort_unstable();
    }
    geometry
}

/// Values in the order here; takes them, so that of the arrays of a grid only one is there twice at
/// a time. What has been given up stays empty.
fn in_order<T: Copy + Default + Send + Sync>(values: Vec<T>, numbers: &Permutation, threads: &Threads) -> Vec<T> {
    threads.values(values.len(), |new| values[numbers.to_file[new] as usize])
}

fn new_cells(topology: &Topology, how: Renumber, dim: usize, threads: &Threads) -> Option<Permutation> {
    // In a cube that is numbered row by row, neighbours are on average a third of a cross-section
    // apart, and no order is much better.
    let n = topology.cell_face_pos.len() - 1;
    let cross_section = (n as f64).powf(1.0 - 1.0 / dim as f64);
    let before = cuthill_mckee::reach(topology, threads, |cell| cell);
    if how == Renumber::Auto && before <= cross_section {
        return None;
    }
    let numbers = Permutation::new(cuthill_mckee::order(topology))?;
    let after = cuthill_mckee::reach(topology, threads, |cell| numbers.from_file[cell as usize]);
    (how == Renumber::Yes || after < before).then_some(numbers)
}

/// Interior faces first, both kinds by the first of their cells in the new order and then as in the
/// file, or as in the file alone; and how many are interior.
fn new_faces(topology: &Topology, cells: Option<&Permutation>, faces: FaceOrder, threads: &Threads) -> (Option<Permutation>, usize) {
    let n_faces = topology.face_cells.len();
    if cells.is_none() && faces == FaceOrder::OfFile {
        let mut order = threads.filtered(n_faces, |face| !topology.is_boundary_face(face));
        let count = order.len();
        order.append(&mut threads.filtered(n_faces, |face| topology.is_boundary_face(face)));
        return (Permutation::new(order), count);
    }
    let mut interior = Vec::with_capacity(n_faces);
    let mut boundary = Vec::new();
    let mut known = vec![false; n_faces];
    let mut add = |face: u32| {
        if !std::mem::replace(&mut known[face as usize], true) {
            if topology.is_boundary_face(face as usize) { boundary.push(face) } else { interior.push(face) }
        }
    };
    let n_cells = topology.cell_face_pos.len() - 1;
    let order = cells.map_or_else(|| Cow::Owned((0..n_cells as u32).collect()), |cells| Cow::Borrowed(&cells.to_file[..]));
    order.iter().flat_map(|&cell| topology.faces_of(cell as usize)).for_each(|&face| add(face));
    // Faces that no cell lists.
    (0..n_faces as u32).for_each(add);
    let count = interior.len();
    interior.append(&mut boundary);
    (Permutation::new(interior), count)
}
