//! Numbering of a Cartesian grid in closed form (`docs/language/grid.md`).
//!
//! With `N_a = n_a + 1` nodes along axis a: cell (i,j,k) is `i + nx (j + ny k)`; faces come axis by
//! axis, and within the block of axis a the index is that of a grid with `N_a` cells along a. All
//! normals point along positive axes: the first cell of a face is on its low side.

use std::ops::Range;

use super::arrays::{MAX_ENTITIES, NONE, too_many};
use super::cartesian_edges::{before_in_block, rank};
use crate::entity::{CanonicalSet, EntityKind, Extent};
use crate::error::{Error, ErrorKind};

/// A uniform Cartesian grid; numbering and orientation as in `docs/language/grid.md`. In 1D `n[1] =
/// n[2] = 1` and the `n[0] + 1` faces have area 1; in 2D `n[2] = 1`. Its functions expect a shape
/// that [`super::Grid::cartesian`] accepts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cartesian {
    /// 1, 2 or 3.
    pub dim: usize,
    /// Cells along each axis.
    pub n: [usize; 3],
    /// Cell widths dx, dy, dz.
    pub spacing: [f64; 3],
    /// True for the axes whose low and high sides are joined: the face between the last layer of
    /// cells and the first one is the high side of the last layer.
    pub joined: [bool; 3],
    /// Its place in a larger grid, if it is the box of a rank.
    pub place: Option<BoxLocation>,
}

/// Place of a box of cells in a Cartesian grid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BoxLocation {
    /// Its first cell along each axis; negative where the box goes on beyond a side, at the other
    /// end of the grid.
    pub start: [i64; 3],
    /// Cells of the whole grid along each axis.
    pub whole: [usize; 3],
    /// Its first cell along each axis that the rank owns, in its own numbering.
    pub own_start: [usize; 3],
    /// Cells along each axis that the rank owns.
    pub own_len: [usize; 3],
}

impl BoxLocation {
    /// The cells along an axis that are own ones or at most so many layers from them, also where
    /// the box ends before.
    pub fn within(&self, axis: usize, layers: usize) -> Range<usize> {
        let (start, end) = (self.own_start[axis], self.own_start[axis] + self.own_len[axis]);
        start.saturating_sub(layers)..end.saturating_add(layers)
    }

    /// The layer of the cells with a number along an axis, if they are own ones along the others.
    pub fn layer_along(&self, axis: usize, at: usize) -> usize {
        let own = self.within(axis, 0);
        own.start.saturating_sub(at).max((at + 1).saturating_sub(own.end))
    }
}

/// Position of a face of a Cartesian grid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CartesianFace {
    /// Axis of its normal.
    pub axis: usize,
    /// Position; along `axis` it counts nodes, 0 to n inclusive, and layers of cells whose high
    /// sides they are if the axis is joined.
    pub ijk: [usize; 3],
}

impl Cartesian {
    /// A line of cells with faces of area 1.
    pub fn line(n: usize, dx: f64) -> Self {
        Cartesian { dim: 1, n: [n, 1, 1], spacing: [dx, 1.0, 1.0], joined: [false; 3], place: None }
    }

    /// A 2D grid.
    pub fn plane(n: [usize; 2], spacing: [f64; 2]) -> Self {
        Cartesian { dim: 2, n: [n[0], n[1], 1], spacing: [spacing[0], spacing[1], 1.0], joined: [false; 3], place: None }
    }

    /// A 3D grid.
    pub fn block(n: [usize; 3], spacing: [f64; 3]) -> Self {
        Cartesian { dim: 3, n, spacing, joined: [false; 3], place: None }
    }

    /// Refuses shapes that no grid can have; see [`super::Grid::cartesian`].
    pub(super) fn check(&self) -> Result<(), Error> {
        let bad = |message: String| Err(Error::new(ErrorKind::Data, message));
        if !(1..=3).contains(&self.dim) {
            return bad(format!("a grid has 1, 2 or 3 dimensions, not {}", self.dim));
        }
        for axis in 0..3 {
            let name = ["x", "y", "z"][axis];
            if axis >= self.dim {
                if self.n[axis] != 1 {
                    return bad(format!("a grid of {} dimensions has one layer of cells along {name}, not {}", self.dim, self.n[axis]));
                }
                continue;
            }
            if self.n[axis] == 0 {
                return bad(format!("the grid has no cells along {name}"));
            }
        }
        let product = |sizes: [usize; 3]| sizes.iter().try_fold(1usize, |p, &s| p.checked_mul(s)).filter(|&p| p <= MAX_ENTITIES);
        if product(self.n).is_none() {
            return Err(too_many("cells"));
        }
        let mut faces = 0usize;
        for axis in 0..self.dim {
            let mut sizes = self.n;
            sizes[axis] = sizes[axis].saturating_add(1);
            faces = product(sizes).and_then(|p| faces.checked_add(p)).filter(|&f| f <= MAX_ENTITIES).ok_or_else(|| too_many("faces"))?;
        }
        for axis in 0..self.dim {
            let name = ["x", "y", "z"][axis];
            let width = self.spacing[axis];
            if !(width > 0.0 && width.is_finite()) {
                return bad(format!("the cell width along {name} must be positive, not {width}"));
            }
            // The widths of cells are differences of node positions, so those must be finite and
            // distinct.
            let last = self.n[axis] as f64 * width;
            if !last.is_finite() || last - (self.n[axis] - 1) as f64 * width <= 0.0 {
                return bad(format!("{} cells of width {width} along {name} are beyond the range of numbers", self.n[axis]));
            }
        }
        Ok(())
    }

    /// Number of cells.
    pub fn n_cells(&self) -> usize {
        self.n[0] * self.n[1] * self.n[2]
    }

    /// Cells along each axis of the whole grid.
    pub fn whole_n(&self) -> [usize; 3] {
        self.place.map_or(self.n, |place| place.whole)
    }

    /// Number of layers of the whole grid along an axis, if the box goes on beyond a side at the
    /// other end.
    pub fn turn(&self, axis: usize) -> Option<usize> {
        let BoxLocation { start, whole, .. } = self.place?;
        let end = start[axis] + self.n[axis] as i64;
        (start[axis] < 0 || end > whole[axis] as i64).then_some(whole[axis])
    }

    /// Number in the whole grid of the cells with a number along an axis.
    #[inline]
    pub fn whole_index(&self, axis: usize, at: usize) -> usize {
        match self.place {
            None => at,
            Some(place) => (at as i64 + place.start[axis]).rem_euclid(place.whole[axis] as i64) as usize,
        }
    }

    /// Number of faces whose normal is along an axis; 0 for axes that the grid does not have.
    pub fn n_axis_faces(&self, axis: usize) -> usize {
        if axis >= self.dim { 0 } else { self.n_cells() / self.n[axis] * self.face_layers(axis) }
    }

    /// Number of layers of faces across an axis of the grid.
    fn face_layers(&self, axis: usize) -> usize {
        self.n[axis] + usize::from(!self.joined[axis])
    }

    /// Number of those that are interior.
    fn interior_layers(&self, axis: usize) -> usize {
        if self.joined[axis] { self.n[axis] } else { self.n[axis] - 1 }
    }

    /// The layer of cells so many further along an axis; `None` beyond the boundary.
    pub fn layer_beside(&self, axis: usize, at: usize, by: i8) -> Option<usize> {
        let n = self.n[axis];
        match at.checked_add_signed(by.into()).filter(|&along| along < n) {
            None if self.joined[axis] => Some((at as i64 + i64::from(by)).rem_euclid(n as i64) as usize),
            found => found,
        }
    }

    /// True if the cells of a layer have no neighbour on one of their sides across an axis.
    pub fn is_boundary_side(&self, axis: usize, at: usize, high: bool) -> bool {
        !self.joined[axis] && at == if high { self.n[axis] - 1 } else { 0 }
    }

    /// Index of the first face of an axis.
    pub fn face_start(&self, axis: usize) -> usize {
        (0..axis).map(|a| self.n_axis_faces(a)).sum()
    }

    /// Number of faces.
    pub fn n_faces(&self) -> usize {
        self.face_start(self.dim)
    }

    /// Distance in the cell numbering between neighbours along an axis.
    pub fn stride(&self, axis: usize) -> usize {
        self.n[..axis].iter().product()
    }

    /// Index of a cell.
    pub fn cell(&self, ijk: [usize; 3]) -> usize {
        ijk[0] + self.n[0] * (ijk[1] + self.n[1] * ijk[2])
    }

    /// Position of a cell.
    pub fn cell_ijk(&self, cell: usize) -> [usize; 3] {
        let row = cell / self.n[0];
        [cell % self.n[0], row % self.n[1], row / self.n[1]]
    }

    /// Index of a face; along its axis `ijk` counts nodes.
    pub fn face(&self, face: CartesianFace) -> usize {
        let [nx, ny, _] = self.nodes_along(face.axis);
        self.face_start(face.axis) + face.ijk[0] + nx * (face.ijk[1] + ny * face.ijk[2])
    }

    /// Position of a face.
    pub fn face_ijk(&self, face: usize) -> CartesianFace {
        let mut axis = 0;
        let mut index = face;
        while axis + 1 < self.dim && index >= self.n_axis_faces(axis) {
            index -= self.n_axis_faces(axis);
            axis += 1;
        }
        let [nx, ny, _] = self.nodes_along(axis);
        let row = index / nx;
        CartesianFace { axis, ijk: [index % nx, row % ny, row / ny] }
    }

    /// The face of a cell on its low (`high` false) or high side along an axis.
    pub fn cell_face(&self, cell: usize, axis: usize, high: bool) -> usize {
        let mut ijk = self.cell_ijk(cell);
        ijk[axis] = match (self.joined[axis], high) {
            (false, _) => ijk[axis] + usize::from(high),
            (true, true) => ijk[axis],
            (true, false) => (ijk[axis] + self.n[axis] - 1) % self.n[axis],
        };
        self.face(CartesianFace { axis, ijk })
    }

    /// First (low side) and second (high side) cell of a face; [`NONE`] outside.
    pub fn face_cells(&self, face: usize) -> [u32; 2] {
        let CartesianFace { axis, ijk } = self.face_ijk(face);
        let along = ijk[axis];
        if self.joined[axis] {
            let mut next = ijk;
            next[axis] = (along + 1) % self.n[axis];
            return [self.cell(ijk) as u32, self.cell(next) as u32];
        }
        let second = if along < self.n[axis] { self.cell(ijk) as u32 } else { NONE };
        let first = if along > 0 {
            let mut low = ijk;
            low[axis] -= 1;
            self.cell(low) as u32
        } else {
            NONE
        };
        [first, second]
    }

    /// True if a cell touches the boundary.
    pub fn is_boundary_cell(&self, cell: usize) -> bool {
        let ijk = self.cell_ijk(cell);
        (0..self.dim).any(|axis| self.is_boundary_side(axis, ijk[axis], false) || self.is_boundary_side(axis, ijk[axis], true))
    }

    /// True if a face is on the boundary.
    pub fn is_boundary_face(&self, face: usize) -> bool {
        let CartesianFace { axis, ijk } = self.face_ijk(face);
        !self.joined[axis] && (ijk[axis] == 0 || ijk[axis] == self.n[axis])
    }

    /// Number of entities of a canonical set.
    pub fn set_len(&self, set: CanonicalSet) -> usize {
        let kind = set.kind.on_grid_of(self.dim);
        let (all, interior) = match kind {
            EntityKind::Cell => (self.n_cells(), self.interior_box().1.iter().product()),
            EntityKind::Face => {
                (self.n_faces(), (0..self.dim).map(|a| self.n_cells() / self.n[a] * self.interior_layers(a)).sum::<usize>())
            }
            EntityKind::Edge | EntityKind::Vertex => self.skeleton_len(kind),
        };
        match set.extent {
            Extent::All => all,
            Extent::Interior => interior,
            Extent::Boundary => all - interior,
        }
    }

    /// Position of an entity within a canonical set, without arrays; `None` if it is not in the
    /// set.
    pub fn set_rank(&self, set: CanonicalSet, entity: u32) -> Option<u32> {
        let index = entity as usize;
        match set.kind.on_grid_of(self.dim) {
            EntityKind::Cell if index < self.n_cells() => self.cell_rank(set.extent, index),
            EntityKind::Face if index < self.n_faces() => self.face_rank(set.extent, index),
            EntityKind::Edge if index < self.n_edges() => self.edge_rank(set.extent, index),
            EntityKind::Vertex if index < self.n_vertices() => self.vertex_rank(set.extent, index),
            EntityKind::Cell | EntityKind::Face | EntityKind::Edge | EntityKind::Vertex => None,
        }
        .map(|rank| rank as u32)
    }

    fn cell_rank(&self, extent: Extent, cell: usize) -> Option<usize> {
        let (low, size) = self.interior_box();
        rank(extent, cell, self.is_boundary_cell(cell), before_in_block(low, size, self.cell_ijk(cell)))
    }

    fn face_rank(&self, extent: Extent, face: usize) -> Option<usize> {
        if extent == Extent::All {
            return Some(face);
        }
        let CartesianFace { axis, ijk } = self.face_ijk(face);
        let (n, along, stride) = (self.n[axis], ijk[axis], self.stride(axis));
        let boundary = self.is_boundary_face(face);
        if boundary != (extent == Extent::Boundary) {
            return None;
        }
        // A block is `outer` slabs of n + 1 layers of `stride` faces; a slab has 2 boundary and n -
        // 1 interior layers. Where the axis is joined it has n, all interior.
        let within = face - self.face_start(axis);
        let (low, outer) = (within % stride, within / (stride * self.face_layers(axis)));
        let first = usize::from(!self.joined[axis]);
        let (layer, layers) = if boundary { (usize::from(along == n), 2) } else { (along - first, self.interior_layers(axis)) };
        let before: usize = (0..axis).map(|a| self.n_cells() / self.n[a] * self.layers(a, boundary)).sum();
        Some(before + low + stride * (layer + layers * outer))
    }

    /// The entity at a position of `InteriorFaces()` or `BoundaryFaces()` or `AllFaces()`; `None`
    /// beyond the end.
    pub fn face_at(&self, extent: Extent, rank: u32) -> Option<u32> {
        let mut rest = rank as usize;
        if extent == Extent::All {
            return (rest < self.n_faces()).then_some(rank);
        }
        for axis in 0..self.dim {
            let (n, stride) = (self.n[axis], self.stride(axis));
            let layers = self.layers(axis, extent == Extent::Boundary);
            let count = self.n_cells() / n * layers;
            if rest < count {
                let (low, layer) = (rest % stride, rest / stride);
                let first = usize::from(!self.joined[axis]);
                let along = if extent == Extent::Boundary { layer % 2 * n } else { layer % layers + first };
                return Some((self.face_start(axis) + low + stride * (along + self.face_layers(axis) * (layer / layers))) as u32);
            }
            rest -= count;
        }
        None
    }

    /// Low corner and sizes of the block of interior cells. Axes that the grid does not have
    /// restrict nothing.
    fn interior_box(&self) -> ([usize; 3], [usize; 3]) {
        let is_open = |axis: usize| axis < self.dim && !self.joined[axis];
        let low = std::array::from_fn(|a| usize::from(is_open(a)));
        let size = std::array::from_fn(|a| if is_open(a) { self.n[a].saturating_sub(2) } else { self.n[a] });
        (low, size)
    }

    fn nodes_along(&self, axis: usize) -> [usize; 3] {
        let mut n = self.n;
        n[axis] = self.face_layers(axis);
        n
    }

    /// Number of layers of boundary or interior faces across an axis.
    fn layers(&self, axis: usize, boundary: bool) -> usize {
        match (boundary, self.joined[axis]) {
            (true, true) => 0,
            (true, false) => 2,
            (false, _) => self.interior_layers(axis),
        }
    }
}
