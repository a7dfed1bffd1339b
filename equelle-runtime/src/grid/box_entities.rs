//! Numbers, layers and owners of the cells and faces of a rank's box, worked out from their
//! positions.

use std::fmt;
use std::sync::OnceLock;

use super::{BoxLocation, Cartesian, CartesianFace, NONE};
use crate::entity::EntityKind;
use crate::rank_id::RankId;

/// The cells and faces of a box, and of the whole grid that it is cut out of.
pub(super) struct BoxEntities {
    shape: Cartesian,
    whole: Cartesian,
    place: BoxLocation,
    own: RankId,
    owner: Box<dyn Fn([usize; 3]) -> RankId + Send + Sync>,
    /// In the order of the file, where that is another one.
    cells: OnceLock<Vec<u32>>,
    faces: OnceLock<Vec<u32>>,
}

impl BoxEntities {
    /// Those of the box `shape`, which is at `place`, for the rank that owns it; `owner` has the
    /// rank of each cell of `whole`.
    pub fn new(
        shape: Cartesian,
        place: BoxLocation,
        whole: Cartesian,
        own: RankId,
        owner: impl Fn([usize; 3]) -> RankId + Send + Sync + 'static,
    ) -> BoxEntities {
        let shape = Cartesian { place: Some(place), ..shape };
        BoxEntities { shape, whole, place, own, owner: Box::new(owner), cells: OnceLock::new(), faces: OnceLock::new() }
    }

    /// Its place in the whole grid.
    pub fn place(&self) -> &BoxLocation {
        &self.place
    }

    /// The shape of the box.
    pub fn shape(&self) -> &Cartesian {
        &self.shape
    }

    /// Number of cells or faces of the box.
    pub fn len(&self, kind: EntityKind) -> usize {
        count(&self.shape, kind)
    }

    /// Number of cells or faces of the whole grid.
    pub fn n_whole(&self, kind: EntityKind) -> usize {
        count(&self.whole, kind)
    }

    fn layer_of_cell(&self, ijk: [usize; 3]) -> usize {
        (0..self.shape.dim).map(|axis| self.place.layer_along(axis, ijk[axis])).max().unwrap_or(0)
    }

    /// The layer of a cell, or the least one of the cells of a face.
    pub fn layer(&self, kind: EntityKind, entity: u32) -> Option<usize> {
        let index = entity as usize;
        if index >= self.len(kind) {
            return None;
        }
        if kind == EntityKind::Cell {
            return Some(self.layer_of_cell(self.shape.cell_ijk(index)));
        }
        let cells = self.shape.face_cells(index).into_iter().filter(|&cell| cell != NONE);
        cells.map(|cell| self.layer_of_cell(self.shape.cell_ijk(cell as usize))).min()
    }

    /// The rank that owns a cell, or the first cell of a face.
    pub fn owner(&self, kind: EntityKind, entity: u32) -> Option<RankId> {
        // Owners are searched for at the rim alone: almost all entities are between own cells.
        let is_own = |cell: u32| cell != NONE && self.layer_of_cell(self.shape.cell_ijk(cell as usize)) == 0;
        let index = entity as usize;
        let cell = match kind {
            _ if index >= self.len(kind) => return None,
            EntityKind::Cell if is_own(entity) => return Some(self.own),
            EntityKind::Cell => self.in_file(kind, entity)?,
            EntityKind::Face | EntityKind::Edge | EntityKind::Vertex => {
                if self.shape.face_cells(index).into_iter().all(is_own) {
                    return Some(self.own);
                }
                let [first, second] = self.whole.face_cells(self.in_file(kind, entity)? as usize);
                if first == NONE { second } else { first }
            }
        };
        Some((self.owner)(self.whole.cell_ijk(cell as usize)))
    }

    /// The number in the whole grid.
    pub fn in_file(&self, kind: EntityKind, entity: u32) -> Option<u32> {
        let index = entity as usize;
        if index >= self.len(kind) {
            return None;
        }
        let number = match kind {
            EntityKind::Cell => {
                let ijk = self.shape.cell_ijk(index);
                self.whole.cell(std::array::from_fn(|axis| self.shape.whole_index(axis, ijk[axis])))
            }
            EntityKind::Face | EntityKind::Edge | EntityKind::Vertex => {
                let CartesianFace { axis, ijk } = self.shape.face_ijk(index);
                let ijk = std::array::from_fn(|other| {
                    if other == axis { self.node_in_whole(axis, ijk[axis]) } else { self.shape.whole_index(other, ijk[other]) }
                });
                self.whole.face(CartesianFace { axis, ijk })
            }
        };
        Some(number as u32)
    }

    /// The number in the whole grid of the faces with a number along their axis: a count of nodes,
    /// and of the cells below them where the whole grid is joined.
    fn node_in_whole(&self, axis: usize, at: usize) -> usize {
        let cell = |at: usize| self.shape.whole_index(axis, at);
        if self.shape.joined[axis] {
            return cell(at);
        }
        match (self.whole.joined[axis], at.checked_sub(1).map(cell)) {
            (false, Some(below)) => below + 1,
            (false, None) => cell(at),
            (true, Some(below)) => below,
            (true, None) => (cell(at) + self.whole.n[axis] - 1) % self.whole.n[axis],
        }
    }

    /// The entity with a number in the whole grid: the one of the least layer, where the box goes
    /// around the grid.
    pub fn find(&self, kind: EntityKind, in_file: u32) -> Option<u32> {
        let index = in_file as usize;
        if index >= self.n_whole(kind) {
            return None;
        }
        let (across, ijk) = match kind {
            EntityKind::Cell => (None, self.whole.cell_ijk(index)),
            EntityKind::Face | EntityKind::Edge | EntityKind::Vertex => {
                let CartesianFace { axis, ijk } = self.whole.face_ijk(index);
                (Some(axis), ijk)
            }
        };
        let along = |axis: usize| {
            let is_across = across == Some(axis);
            let layers = self.shape.n[axis] + usize::from(is_across && !self.shape.joined[axis]);
            let (whole, first) = (self.whole.n[axis] as i64, ijk[axis] as i64 - self.place.start[axis]);
            // Once more or less around the grid, and a node further where nodes are counted so.
            let turns = (-1..=2).flat_map(move |turn| (-1..=1).map(move |by| first + turn * whole + by));
            turns.filter_map(move |at| usize::try_from(at).ok().filter(|&at| at < layers)).filter(move |&at| {
                let there = if is_across { self.node_in_whole(axis, at) } else { self.shape.whole_index(axis, at) };
                there == ijk[axis]
            })
        };
        let places = along(0).flat_map(|i| along(1).flat_map(move |j| along(2).map(move |k| [i, j, k])));
        let entities = places.map(|ijk| match across {
            None => self.shape.cell(ijk) as u32,
            Some(axis) => self.shape.face(CartesianFace { axis, ijk }) as u32,
        });
        entities.min_by_key(|&entity| (self.layer(kind, entity), entity))
    }

    /// All cells or faces in the order of the file; `None` if that is the order here.
    pub fn in_file_order(&self, kind: EntityKind) -> Option<&[u32]> {
        let is_ordered = |axis: usize| {
            let starts_at_seam = self.whole.joined[axis] && !self.shape.joined[axis] && self.place.start[axis] <= 0;
            self.shape.turn(axis).is_none() && !starts_at_seam
        };
        if (0..self.shape.dim).all(is_ordered) {
            return None;
        }
        let order = if kind == EntityKind::Cell { &self.cells } else { &self.faces };
        let order = order.get_or_init(|| {
            let mut order: Vec<u32> = (0..self.len(kind) as u32).collect();
            order.sort_by_cached_key(|&entity| (self.in_file(kind, entity), self.layer(kind, entity)));
            order
        });
        Some(order)
    }

    /// The numbers in the whole grid of all cells or faces.
    pub fn all_in_file(&self, kind: EntityKind) -> Vec<u32> {
        (0..self.len(kind) as u32).filter_map(|entity| self.in_file(kind, entity)).collect()
    }

    /// The rank that has the box.
    pub fn own(&self) -> RankId {
        self.own
    }

    /// The rank of a cell of the whole grid.
    pub fn owner_in_whole(&self, ijk: [usize; 3]) -> RankId {
        (self.owner)(ijk)
    }
}

fn count(shape: &Cartesian, kind: EntityKind) -> usize {
    match kind {
        EntityKind::Cell => shape.n_cells(),
        EntityKind::Face | EntityKind::Edge | EntityKind::Vertex => shape.n_faces(),
    }
}

impl fmt::Debug for BoxEntities {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BoxEntities").field("shape", &self.shape).finish_non_exhaustive()
    }
}
