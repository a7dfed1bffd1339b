//! The box of a uniform Cartesian grid that one rank holds, in closed form: a smaller Cartesian
//! grid, widened by the layers of its halo.
//!
//! A widened box ends at a side of the whole grid, where rules of `Halo` hold as ever, or beyond
//! cells of the halo, where whatever kernels compute at its sides is not read by layers within.
//! Along an axis around which programs read, a box goes on at the other end of the grid. The layer
//! of a cell is the largest distance along an axis, so that corners are of the first layer.

use std::sync::Arc;

use super::numbering::{Numbering, Permutation};
use super::part_owners::{GridPart, KindPart, LazySkeleton};
use super::part_skeleton::box_skeleton;
use super::{BoxLocation, Cartesian, CartesianFace, Grid, NONE};
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
    /// The part of a Cartesian grid that a rank holds, as a Cartesian grid. `owner` has the rank of
    /// a cell.
    ///
    /// # Errors
    /// `Data` if this is no Cartesian grid, or a box that reads around an axis is so thin that its
    /// halo goes around more than once.
    pub fn box_of(&self, part: PartBox, owner: impl Fn([usize; 3]) -> RankId + Send + Sync + 'static) -> Result<Grid, Error> {
        let whole = *self.cartesian_shape().ok_or_else(|| Error::internal("boxes are cut out of a Cartesian grid"))?;
        let PartBox { start, len, layers, wraps } = part;
        let (mut first, mut n) = ([0; 3], [1; 3]);
        for axis in 0..whole.dim {
            let is_cut = len[axis] < whole.n[axis];
            let (low, high) = match (is_cut, wraps[axis]) {
                (false, _) => (0, 0),
                (true, true) => (layers, layers),
                (true, false) => (layers.min(start[axis]), layers.min(whole.n[axis] - start[axis] - len[axis])),
            };
            if low + len[axis] + high > 2 * whole.n[axis] {
                let name = ["x", "y", "z"][axis];
                let message = format!("{layers} layers around {} cells along {name} go around a grid of {}", len[axis], whole.n[axis]);
                return Err(Error::new(ErrorKind::Data, message).hint("use fewer ranks"));
            }
            first[axis] = start[axis] as i64 - low as i64;
            n[axis] = low + len[axis] + high;
        }
        let shape = Cartesian { n, place: Some(BoxLocation { start: first, whole: whole.n }), ..whole };
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
        let (mut face_layers, mut face_numbers, mut face_owners) = (Vec::new(), Vec::new(), Vec::new());
        for face in 0..shape.n_faces() {
            let ends = shape.face_cells(face).into_iter().filter(|&cell| cell != NONE);
            face_layers.push(ends.map(|cell| cell_layers[cell as usize]).min().unwrap_or(u8::MAX));
            let number = face_in_whole(&shape, &whole, shape.face_ijk(face));
            face_numbers.push(number);
            let [low, high] = whole.face_cells(number as usize);
            face_owners.push(owner(whole.cell_ijk(if low == NONE { high } else { low } as usize)));
        }
        let told = GridPart {
            cells: KindPart {
                owners: cells.iter().map(|&ijk| owner(in_whole(ijk))).collect(),
                layers: cell_layers.clone(),
                whole: whole.n_cells(),
            },
            faces: KindPart { owners: face_owners, layers: face_layers.clone(), whole: whole.n_faces() },
            skeleton: LazySkeleton::new(move || box_skeleton(&shape, &whole, &layer_along, &owner)),
        };
        let mut grid = Grid::cartesian(shape)?;
        let cells = Some(Permutation::from_part(cell_numbers, &cell_layers));
        let faces = Some(Permutation::from_part(face_numbers, &face_layers));
        grid.numbering = Arc::new(Numbering { cells, faces, interior_first: None });
        grid.part = Some(Arc::new(told));
        grid.set_threads(self.threads().clone());
        Ok(grid)
    }
}

/// The number in the whole grid of a face of a box.
fn face_in_whole(shape: &Cartesian, whole: &Cartesian, face: CartesianFace) -> u32 {
    let CartesianFace { axis, ijk } = face;
    let mut place: [usize; 3] = std::array::from_fn(|other| shape.whole_index(other, ijk[other]));
    // Along its axis a face counts nodes: the last one is that above the last cell.
    if ijk[axis] > 0 {
        place[axis] = shape.whole_index(axis, ijk[axis] - 1) + 1;
    }
    whole.face(CartesianFace { axis, ijk: place }) as u32
}
