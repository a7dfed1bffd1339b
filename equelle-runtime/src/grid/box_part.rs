//! The box of a uniform Cartesian grid that one rank holds, in closed form: a smaller Cartesian
//! grid, widened by the layers of its halo.
//!
//! A widened box ends at a side of the whole grid, where rules of `Halo` hold as ever, or beyond
//! cells of the halo, where whatever kernels compute at its sides is not read by layers within.
//! Along an axis around which programs read, or whose sides are joined, a box goes on at the other
//! end of the grid. The layer of a cell is the largest distance along an axis, so that corners are
//! of the first layer.
//!
//! The box of a grid with joined sides has arrays, as that has, in the numbering of its shape.

use std::sync::Arc;

use super::box_entities::BoxEntities;
use super::numbering::{Numbering, Numbers};
use super::part::local_geometry;
use super::part_owners::{GridPart, KindPart, LazySkeleton, SkeletonPart};
use super::part_skeleton::{array_skeleton, box_skeleton};
use super::{BoxLocation, Cartesian, Grid, Topology};
use crate::entity::EntityKind;
use crate::error::{Error, ErrorKind};
use crate::rank_id::RankId;

/// Cells of a box, and how far it is widened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PartBox {
    /// The first cell that the rank owns along each axis.
    pub start: [usize; 3],
    /// Cells that it owns along each axis.
    pub len: [usize; 3],
    /// Layers around them.
    pub layers: usize,
    /// True for the axes around which the program reads.
    pub wraps: [bool; 3],
}

impl Grid {
    /// The part of a Cartesian grid that a rank holds, as a Cartesian grid; sides may be joined
    /// ([`Grid::closed_shape`]). `owner` has the rank of a cell.
    ///
    /// # Errors
    /// `Data` if this is no Cartesian grid, or it has so few cells along an axis that a halo goes
    /// around more than once, or meets its box where sides are joined.
    pub fn box_of(&self, part: PartBox, owner: impl Fn([usize; 3]) -> RankId + Send + Sync + 'static) -> Result<Grid, Error> {
        let whole = *self.closed_shape().ok_or_else(|| Error::internal("boxes are cut out of a Cartesian grid"))?;
        let PartBox { start, len, layers, wraps } = part;
        let (mut first, mut own_start, mut n, mut joined) = ([0; 3], [0; 3], [1; 3], whole.joined);
        for axis in 0..whole.dim {
            let is_cut = len[axis] < whole.n[axis];
            joined[axis] &= !is_cut;
            let (low, high) = match (is_cut, wraps[axis] || whole.joined[axis]) {
                (false, _) => (0, 0),
                (true, true) => (layers, layers),
                (true, false) => (layers.min(start[axis]), layers.min(whole.n[axis] - start[axis] - len[axis])),
            };
            // Programs compare cells that they reach through faces: no cell may be here twice.
            let most = if whole.joined[axis] { whole.n[axis] } else { 2 * whole.n[axis] };
            if low + len[axis] + high > most {
                let name = ["x", "y", "z"][axis];
                let message = format!("{layers} layers around {} cells along {name} go around a grid of {}", len[axis], whole.n[axis]);
                return Err(Error::new(ErrorKind::Data, message).hint("use fewer ranks"));
            }
            first[axis] = start[axis] as i64 - low as i64;
            own_start[axis] = low;
            n[axis] = low + len[axis] + high;
        }
        let place = BoxLocation { start: first, whole: whole.n, own_start, own_len: len };
        let shape = Cartesian { n, joined, place: Some(place), ..whole };
        let entities = Arc::new(BoxEntities::new(shape, place, whole, owner(start), owner));
        let has_joined_sides = self.has_joined_sides;
        let mut grid = if has_joined_sides { joined_box(self, &entities)? } else { Grid::cartesian(shape)? };
        let of_skeleton = Arc::clone(&entities);
        let skeleton = if has_joined_sides {
            let whole_grid = self.without_geometry().shared();
            LazySkeleton::new(move || joined_skeleton(&whole_grid, &whole, &of_skeleton))
        } else {
            LazySkeleton::new(move || box_skeleton(&whole, &of_skeleton))
        };
        let part = |kind| KindPart::Box(Arc::clone(&entities), kind);
        grid.part = Some(Arc::new(GridPart { cells: part(EntityKind::Cell), faces: part(EntityKind::Face), skeleton }));
        let numbers = |kind| Some(Numbers::Box(Arc::clone(&entities), kind));
        let (cells, faces) = (numbers(EntityKind::Cell), numbers(EntityKind::Face));
        grid.numbering = Arc::new(Numbering { cells, faces, interior_first: None });
        grid.set_threads(self.threads().clone());
        Ok(grid)
    }
}

/// A box of a grid with joined sides, as arrays in the numbering of its shape. Geometry is that
/// of the whole grid, where the low side of a cell comes before the high one too.
fn joined_box(whole: &Grid, entities: &BoxEntities) -> Result<Grid, Error> {
    let shape = *entities.shape();
    let mut topology = Topology { cell_face_pos: vec![0], ..Topology::default() };
    for cell in 0..shape.n_cells() {
        let sides = (0..shape.dim).flat_map(|axis| [(axis, false), (axis, true)]);
        topology.cell_faces.extend(sides.map(|(axis, high)| shape.cell_face(cell, axis, high) as u32));
        topology.cell_face_pos.push(topology.cell_faces.len());
    }
    topology.face_cells = (0..shape.n_faces()).map(|face| shape.face_cells(face)).collect();
    let [cells, faces] = [EntityKind::Cell, EntityKind::Face].map(|kind| entities.all_in_file(kind));
    let geometry = local_geometry(whole.geometry(), &cells, &faces, |face| entities.find(EntityKind::Face, face));
    let mut grid = Grid::unstructured(whole.dim, topology, geometry)?;
    (grid.has_joined_sides, grid.shape.joined) = (true, Some(shape));
    Ok(grid)
}

/// Edges and vertices of such a box.
fn joined_skeleton(grid: &Grid, whole: &Cartesian, entities: &BoxEntities) -> SkeletonPart {
    let kind = EntityKind::Cell;
    let owners: Vec<RankId> = (0..whole.n_cells()).map(|cell| entities.owner_in_whole(whole.cell_ijk(cell))).collect();
    let layers = (0..entities.len(kind) as u32).filter_map(|cell| entities.layer(kind, cell));
    let layers: Vec<u8> = layers.map(|layer| u8::try_from(layer).unwrap_or(u8::MAX)).collect();
    array_skeleton(grid, &owners, entities.own(), &entities.all_in_file(kind), &layers)
}
