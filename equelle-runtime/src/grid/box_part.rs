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

use super::numbering::{Numbering, Permutation};
use super::part::local_geometry;
use super::part_owners::{GridPart, KindPart, LazySkeleton};
use super::part_skeleton::{array_skeleton, box_skeleton};
use super::{BoxLocation, Cartesian, CartesianFace, Grid, NONE, Topology};
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
        let layer_along = move |axis: usize, at: usize| {
            let at = at as i64 + first[axis];
            let (start, end) = (start[axis] as i64, (start[axis] + len[axis]) as i64);
            (start - at).max(at - end + 1).max(0)
        };
        let cell_layer = |ijk: [usize; 3]| {
            let layer = (0..3).map(|axis| layer_along(axis, ijk[axis])).max().unwrap_or(0);
            u8::try_from(layer).unwrap_or(u8::MAX)
        };
        let in_whole = |ijk: [usize; 3]| std::array::from_fn(|axis| shape.whole_index(axis, ijk[axis]));
        let cells: Vec<[usize; 3]> = (0..shape.n_cells()).map(|cell| shape.cell_ijk(cell)).collect();
        let cell_layers: Vec<u8> = cells.iter().map(|&ijk| cell_layer(ijk)).collect();
        let cell_numbers = cells.iter().map(|&ijk| whole.cell(in_whole(ijk)) as u32).collect();
        let own = owner(start);
        let (mut face_layers, mut face_numbers, mut face_owners) = (Vec::new(), Vec::new(), Vec::new());
        for face in 0..shape.n_faces() {
            let ends = shape.face_cells(face);
            let layers = ends.map(|cell| cell_layers.get(cell as usize).copied());
            face_layers.push(layers.into_iter().flatten().min().unwrap_or(u8::MAX));
            let number = face_in_whole(&shape, &whole, shape.face_ijk(face));
            face_numbers.push(number);
            // Owners are computed at the rim alone: almost all faces are between own cells.
            face_owners.push(if layers == [Some(0); 2] {
                own
            } else {
                let [low, high] = whole.face_cells(number as usize);
                owner(whole.cell_ijk(if low == NONE { high } else { low } as usize))
            });
        }
        let owners = cells.iter().zip(&cell_layers);
        let cell_owners: Vec<RankId> = owners.map(|(&ijk, &layer)| if layer == 0 { own } else { owner(in_whole(ijk)) }).collect();
        let cells = Permutation::from_part(cell_numbers, &cell_layers);
        let faces = Permutation::from_part(face_numbers, &face_layers);
        let has_joined_sides = self.has_joined_sides;
        let mut grid = if has_joined_sides { joined_box(self, shape, &cells, &faces)? } else { Grid::cartesian(shape)? };
        let skeleton = if has_joined_sides {
            let (of_skeleton, here, layers) = (self.without_geometry().shared(), cells.to_file.clone(), cell_layers.clone());
            LazySkeleton::new(move || {
                let owners: Vec<RankId> = (0..whole.n_cells()).map(|cell| owner(whole.cell_ijk(cell))).collect();
                array_skeleton(&of_skeleton, &owners, own, &here, &layers)
            })
        } else {
            LazySkeleton::new(move || box_skeleton(&shape, &whole, &layer_along, &owner))
        };
        let told = GridPart {
            cells: KindPart { owners: cell_owners, layers: cell_layers, whole: whole.n_cells() },
            faces: KindPart { owners: face_owners, layers: face_layers, whole: whole.n_faces() },
            skeleton,
        };
        grid.numbering = Arc::new(Numbering { cells: Some(cells), faces: Some(faces), interior_first: None });
        grid.part = Some(Arc::new(told));
        grid.set_threads(self.threads().clone());
        Ok(grid)
    }
}

/// A box of a grid with joined sides, as arrays in the numbering of its shape. Geometry is that
/// of the whole grid, where the low side of a cell comes before the high one too.
fn joined_box(whole: &Grid, shape: Cartesian, cells: &Permutation, faces: &Permutation) -> Result<Grid, Error> {
    let mut topology = Topology { cell_face_pos: vec![0], ..Topology::default() };
    for cell in 0..shape.n_cells() {
        let sides = (0..shape.dim).flat_map(|axis| [(axis, false), (axis, true)]);
        topology.cell_faces.extend(sides.map(|(axis, high)| shape.cell_face(cell, axis, high) as u32));
        topology.cell_face_pos.push(topology.cell_faces.len());
    }
    topology.face_cells = (0..shape.n_faces()).map(|face| shape.face_cells(face)).collect();
    let mut grid = Grid::unstructured(whole.dim, topology, local_geometry(whole.geometry(), cells, faces))?;
    (grid.has_joined_sides, grid.joined_shape) = (true, Some(shape));
    Ok(grid)
}

/// The number in the whole grid of a face of a box.
fn face_in_whole(shape: &Cartesian, whole: &Cartesian, face: CartesianFace) -> u32 {
    let CartesianFace { axis, ijk } = face;
    let mut place: [usize; 3] = std::array::from_fn(|other| shape.whole_index(other, ijk[other]));
    // Along its axis a face counts nodes, and the cells below it where the whole grid is joined.
    if !shape.joined[axis] {
        let below = ijk[axis].checked_sub(1).map(|below| shape.whole_index(axis, below));
        place[axis] = match (whole.joined[axis], below) {
            (false, below) => below.map_or(place[axis], |below| below + 1),
            (true, Some(below)) => below,
            (true, None) => (place[axis] + whole.n[axis] - 1) % whole.n[axis],
        };
    }
    whole.face(CartesianFace { axis, ijk: place }) as u32
}
