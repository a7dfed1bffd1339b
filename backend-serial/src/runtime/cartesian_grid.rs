//! The uniform Cartesian grid in closed form.

use std::ops::Range;

use equelle_runtime::Real;
use equelle_runtime::grid::Cartesian;

/// A uniform Cartesian grid for kernels: numbering and geometry in closed form.
///
/// The faces of axis a are layers of `stride[a]` faces, `n[a] + 1` layers to a slab, `n[a]` where
/// its sides are joined; a cell's position `at` gives layer and slab. Within a row of cells (fixed
/// j, k) every index here grows by one from cell to cell, but that of the low side of the first one
/// where the ends of rows are joined.
#[derive(Clone, Copy, Debug)]
pub struct CartesianGrid<R = f64> {
    /// Number of axes.
    pub dim: usize,
    /// Cells along each axis; 1 for absent ones.
    pub n: [usize; 3],
    /// Distance in the cell numbering of neighbours along each axis.
    pub stride: [usize; 3],
    /// Cell widths; 1 for absent axes.
    pub spacing: [R; 3],
    /// Area of the faces across each axis.
    pub area: [R; 3],
    /// Volume of a cell.
    pub volume: R,
    /// True for the axes whose sides are joined.
    pub joined: [bool; 3],
    /// The whole grid's number of the first layer of cells, and the number of the layer beyond its
    /// end from which a box counts from 0 again; no layer unless it goes around.
    first: [usize; 3],
    turn: [usize; 3],
    shape: Cartesian,
    face_start: [usize; 3],
    interior_start: [usize; 3],
    boundary_start: [usize; 3],
}

/// Rows that cost more to compute than a loop that starts anew behind them, without the terms that
/// it has in common with the rows before.
const WORTH_SKIPPING: usize = 3;

/// A row of cells along the first axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// First cell.
    pub start: usize,
    /// Position along the second axis.
    pub j: usize,
    /// Position along the third axis.
    pub k: usize,
    /// True if all its cells except the first and the last are interior, and there are such cells.
    pub interior: bool,
}

impl CartesianGrid {
    /// From a shape.
    pub fn new(shape: &Cartesian) -> Self {
        let present = |axis: usize| axis < shape.dim;
        let spacing: [f64; 3] = std::array::from_fn(|a| if present(a) { shape.spacing[a] } else { 1.0 });
        let mut grid = CartesianGrid {
            shape: *shape,
            dim: shape.dim,
            n: shape.n,
            stride: std::array::from_fn(|a| shape.stride(a)),
            spacing,
            area: std::array::from_fn(|axis| (0..3).filter(|&a| a != axis).map(|a| spacing[a]).product()),
            volume: spacing[0] * spacing[1] * spacing[2],
            joined: shape.joined,
            first: std::array::from_fn(|a| shape.whole_index(a, 0)),
            turn: std::array::from_fn(|a| shape.turn(a).unwrap_or(usize::MAX)),
            face_start: [0; 3],
            interior_start: [0; 3],
            boundary_start: [0; 3],
        };
        for axis in 1..3 {
            let before = axis - 1;
            let (layer, n) = (shape.n_cells() / shape.n[before], shape.n[before]);
            let (all, interior, boundary) = match (present(before), shape.joined[before]) {
                (false, _) => (0, 0, 0),
                (true, false) => (n + 1, n - 1, 2),
                (true, true) => (n, n, 0),
            };
            grid.face_start[axis] = grid.face_start[before] + layer * all;
            grid.interior_start[axis] = grid.interior_start[before] + layer * interior;
            grid.boundary_start[axis] = grid.boundary_start[before] + layer * boundary;
        }
        grid
    }

    /// The grid with geometry in another precision, rounded from double precision.
    pub fn rounded<R: Real>(&self) -> CartesianGrid<R> {
        CartesianGrid {
            dim: self.dim,
            n: self.n,
            stride: self.stride,
            spacing: self.spacing.map(R::from_f64),
            area: self.area.map(R::from_f64),
            volume: R::from_f64(self.volume),
            joined: self.joined,
            first: self.first,
            turn: self.turn,
            shape: self.shape,
            face_start: self.face_start,
            interior_start: self.interior_start,
            boundary_start: self.boundary_start,
        }
    }
}

impl<R: Real> CartesianGrid<R> {
    /// The shape.
    pub fn shape(&self) -> &Cartesian {
        &self.shape
    }

    /// Width of a layer of cells: the difference of its nodes, which may differ from the spacing in
    /// the last bits; 1 for absent axes.
    #[inline]
    pub fn width(&self, axis: usize, layer: usize) -> f64 {
        if axis >= self.dim {
            return 1.0;
        }
        // Processors convert many numbers of 32 bits at once.
        let layer = self.whole_layer(axis, layer);
        let node = |layer: usize| f64::from(layer as u32) * self.spacing(axis);
        node(layer + 1) - node(layer)
    }

    /// Number of a layer of cells in the grid of which this is a box, where it goes on beyond a
    /// side at the other end.
    #[inline]
    pub fn whole_layer(&self, axis: usize, layer: usize) -> usize {
        let layer = layer + self.first[axis];
        if layer < self.turn[axis] { layer } else { layer - self.turn[axis] }
    }

    /// Position of a layer of nodes.
    pub(super) fn node_position(&self, axis: usize, layer: usize) -> f64 {
        (layer + self.first[axis]) as f64 * self.spacing(axis)
    }

    /// Cell width along an axis of the grid.
    #[inline]
    pub(super) fn spacing(&self, axis: usize) -> f64 {
        self.shape.spacing[axis]
    }

    /// Number of cells.
    pub fn n_cells(&self) -> usize {
        self.n[0] * self.n[1] * self.n[2]
    }

    /// All rows, in the order of the cells.
    pub fn rows(&self) -> impl Iterator<Item = Row> + use<R> {
        self.rows_in(&(0..self.n_cells()))
    }

    /// The rows of a range of cells, in order; the range consists of whole rows.
    pub fn rows_in(&self, cells: &Range<usize>) -> impl Iterator<Item = Row> + use<R> {
        let (grid, rows) = (*self, cells.start / self.n[0]..cells.end / self.n[0]);
        let inside = move |axis: usize, at: usize| axis >= grid.dim || (at > 0 && at + 1 < grid.n[axis]);
        rows.map(move |row| {
            let (j, k) = (row % grid.n[1], row / grid.n[1]);
            Row { start: row * grid.n[0], j, k, interior: grid.n[0] > 2 && inside(1, j) && inside(2, k) }
        })
    }

    /// The cells of a range of whole rows that are at most so many layers from those that the rank
    /// owns, in ranges of whole rows: all of them if the grid is no box of a rank. Rows between
    /// them are taken along where there are few.
    pub(super) fn rows_within(&self, layers: u32, cells: &Range<usize>) -> impl Iterator<Item = Range<usize>> + use<R> {
        let along = |axis: usize| match self.shape.place {
            Some(place) => {
                let within = place.within(axis, layers as usize);
                within.start..within.end.min(self.n[axis])
            }
            None => 0..self.n[axis],
        };
        let (n, ny, js, ks) = (self.n[0], self.n[1], along(1), along(2));
        let between = ny - js.len();
        let (of_run, runs) = if between < WORTH_SKIPPING { (js.len() + (ks.len() - 1) * ny, 1) } else { (js.len(), ks.len()) };
        let rows = cells.start / n..cells.end / n;
        let runs = (0..runs).map(move |run| {
            let start = js.start + (ks.start + run) * ny;
            start.max(rows.start) * n..(start + of_run).min(rows.end) * n
        });
        runs.filter(|run| !run.is_empty())
    }

    /// Position of a cell.
    #[inline]
    pub fn at(&self, cell: usize) -> [usize; 3] {
        let row = cell / self.n[0];
        [cell % self.n[0], row % self.n[1], row / self.n[1]]
    }

    /// Index of the face on the low or high side of the cell at a position.
    #[inline]
    pub fn face(&self, at: [usize; 3], axis: usize, high: bool) -> usize {
        let (low, slab) = self.low_and_slab(at, axis);
        let n = self.n[axis];
        let (layer, layers) =
            if self.joined[axis] { (self.joined_layer(at, axis, high), n) } else { (at[axis] + usize::from(high), n + 1) };
        self.face_start[axis] + low + self.stride[axis] * (layer + layers * slab)
    }

    /// The axis that a face is across.
    #[inline]
    pub fn face_axis(&self, face: u32) -> usize {
        (1..self.dim).filter(|&axis| face as usize >= self.face_start[axis]).count()
    }

    /// Position of that face in InteriorFaces(), if it is interior.
    #[inline]
    pub fn interior_face(&self, at: [usize; 3], axis: usize, high: bool) -> usize {
        let (low, slab) = self.low_and_slab(at, axis);
        if self.joined[axis] {
            let layer = self.joined_layer(at, axis, high);
            return self.interior_start[axis] + low + self.stride[axis] * (layer + self.n[axis] * slab);
        }
        // Never called for the low face of the first layer, which is on the boundary.
        (self.interior_start[axis] + low + self.stride[axis] * (at[axis] + usize::from(high) + (self.n[axis] - 1) * slab))
            .wrapping_sub(self.stride[axis])
    }

    /// Index of the face on a side of the first cell of a row inside the grid, from which those of
    /// the other cells follow. Where the ends of rows are joined, the low side of the first cell
    /// has another face than the one of this index.
    #[inline]
    pub fn face_run(&self, at: [usize; 3], axis: usize, high: bool) -> usize {
        if self.breaks_run(at, axis, high) { self.face(at, axis, true) - 1 } else { self.face(at, axis, high) }
    }

    /// Position of that face in InteriorFaces().
    #[inline]
    pub fn interior_face_run(&self, at: [usize; 3], axis: usize, high: bool) -> usize {
        if self.breaks_run(at, axis, high) { self.interior_face(at, axis, true) - 1 } else { self.interior_face(at, axis, high) }
    }

    /// True if the face on a side of a cell is not the one before that of the next cell in its row.
    #[inline]
    fn breaks_run(&self, at: [usize; 3], axis: usize, high: bool) -> bool {
        axis == 0 && !high && at[0] == 0 && self.joined[0]
    }

    /// Position of that face in BoundaryFaces(), if it is on the boundary.
    #[inline]
    pub fn boundary_face(&self, at: [usize; 3], axis: usize, high: bool) -> usize {
        let (low, slab) = self.low_and_slab(at, axis);
        self.boundary_start[axis] + low + self.stride[axis] * (usize::from(high) + 2 * slab)
    }

    /// The layer of cells whose high side a face across a joined axis is.
    #[inline]
    fn joined_layer(&self, at: [usize; 3], axis: usize, high: bool) -> usize {
        match (high, at[axis]) {
            (true, layer) => layer,
            (false, 0) => self.n[axis] - 1,
            (false, layer) => layer - 1,
        }
    }

    /// True if a side of a cell is on the boundary.
    #[inline]
    pub fn is_boundary_side(&self, at: [usize; 3], axis: usize, high: bool) -> bool {
        !self.joined[axis] && at[axis] == if high { self.n[axis] - 1 } else { 0 }
    }

    /// The cell beside another one, which is at a position, across a side that is not on the
    /// boundary.
    #[inline]
    pub fn beside(&self, cell: usize, at: [usize; 3], axis: usize, high: bool) -> usize {
        let across = (self.n[axis] - 1) * self.stride[axis];
        match high {
            false if at[axis] == 0 => cell + across,
            false => cell - self.stride[axis],
            true if at[axis] + 1 == self.n[axis] => cell - across,
            true => cell + self.stride[axis],
        }
    }

    /// Index of a face across an axis within its layer, and number of the slab.
    #[inline]
    fn low_and_slab(&self, at: [usize; 3], axis: usize) -> (usize, usize) {
        match axis {
            0 => (0, at[1] + self.n[1] * at[2]),
            1 => (at[0], at[2]),
            _ => (at[0] + self.n[0] * at[1], 0),
        }
    }

    /// The Vector of length `widths` cell widths along an axis.
    #[inline]
    pub fn displacement<const DIM: usize>(&self, axis: usize, widths: f64) -> [R; DIM] {
        std::array::from_fn(|a| if a == axis { R::from_f64(widths * self.spacing(a)) } else { R::ZERO })
    }

    /// Unit normal of the faces across an axis.
    #[inline]
    pub fn normal<const DIM: usize>(&self, axis: usize) -> [R; DIM] {
        std::array::from_fn(|a| if a == axis { R::ONE } else { R::ZERO })
    }

    /// Centroid of the cell at a position: the mean of its nodes, as in the arrays of the grid.
    #[inline]
    pub fn cell_centroid<const DIM: usize>(&self, at: [usize; 3]) -> [R; DIM] {
        // Processors convert many numbers of 32 bits at once.
        let node = |a: usize, layer: usize| f64::from(layer as u32) * self.spacing(a);
        std::array::from_fn(|a| {
            let layer = self.whole_layer(a, at[a]);
            R::from_f64((node(a, layer) + node(a, layer + 1)) / 2.0)
        })
    }

    /// Centroid of the face on the low or high side of the cell at a position.
    #[inline]
    pub fn face_centroid<const DIM: usize>(&self, at: [usize; 3], axis: usize, high: bool) -> [R; DIM] {
        let mut centroid = self.cell_centroid(at);
        if let Some(along) = centroid.get_mut(axis) {
            *along = R::from_f64((self.whole_layer(axis, at[axis]) + usize::from(high)) as f64 * self.spacing(axis));
        }
        centroid
    }
}

#[cfg(test)]
mod tests {
    use equelle_runtime::grid::BoxLocation;

    use super::*;

    /// Every row within the layers, each once and in order, and others between two of them alone.
    #[test]
    fn rows_within_layers_of_a_box() {
        let place = |own_start, own_len| Some(BoxLocation { start: [0; 3], whole: [100; 3], own_start, own_len });
        let block = Cartesian::block([4, 12, 9], [1.0; 3]);
        let shapes = [
            (block, 12 * 9),
            (Cartesian { place: place([1, 3, 2], [2, 5, 4]), ..block }, 5 * 4),
            (Cartesian { place: place([1, 1, 2], [2, 10, 4]), ..block }, 12 * 4 - 2),
            (Cartesian { place: place([1, 0, 0], [2, 12, 6]), ..block }, 12 * 6),
            (Cartesian { place: place([0, 2, 0], [4, 7, 1]), ..Cartesian::plane([4, 12], [1.0; 2]) }, 7),
        ];
        for (shape, rows) in shapes {
            let grid = CartesianGrid::new(&shape);
            let within = |layers, cells| grid.rows_within(layers, &cells).flat_map(|run| run.step_by(4)).collect::<Vec<usize>>();
            let own = within(0, 0..grid.n_cells());
            assert_eq!(own.len(), rows, "{shape:?}");
            assert_eq!(within(12, 0..grid.n_cells()).len(), grid.n_cells() / 4);
            for layers in 0..4 {
                let all = within(layers, 0..grid.n_cells());
                assert!(all.is_sorted_by(|a, b| a < b));
                let is_near = |cell: usize| {
                    let at = grid.at(cell);
                    shape.place.is_none_or(|BoxLocation { own_start, own_len, .. }| {
                        (1..3).all(|axis| {
                            at[axis] + layers as usize >= own_start[axis] && at[axis] < own_start[axis] + own_len[axis] + layers as usize
                        })
                    })
                };
                assert!((0..grid.n_cells()).step_by(4).all(|cell| !is_near(cell) || all.binary_search(&cell).is_ok()));
                for middle in (0..grid.n_cells()).step_by(4) {
                    let parts = [within(layers, 0..middle), within(layers, middle..grid.n_cells())].concat();
                    assert_eq!(parts, all, "{shape:?} in two parts");
                }
            }
        }
    }

    /// Compares the closed forms with the grid's own numbering, on shapes of every dimension and
    /// with a single layer.
    #[test]
    fn closed_forms_agree_with_the_grid() {
        use equelle_runtime::{CanonicalSet, EntityKind, Extent};
        let shapes = [
            Cartesian::line(5, 0.5),
            Cartesian::line(1, 0.5),
            Cartesian::plane([4, 3], [0.5, 0.3]),
            Cartesian::plane([1, 3], [0.5, 0.3]),
            Cartesian::block([3, 4, 5], [0.5, 0.25, 2.0]),
            Cartesian::block([3, 1, 2], [0.5, 0.25, 2.0]),
            Cartesian { joined: [true, false, false], ..Cartesian::line(5, 0.5) },
            Cartesian { joined: [true, false, false], ..Cartesian::plane([4, 3], [0.5, 0.3]) },
            Cartesian { joined: [false, true, false], ..Cartesian::block([3, 2, 5], [0.5, 0.25, 2.0]) },
            Cartesian { joined: [true; 3], ..Cartesian::block([3, 4, 5], [0.5, 0.25, 2.0]) },
        ];
        for shape in shapes {
            let grid = CartesianGrid::new(&shape);
            let rank = |extent, face: usize| shape.set_rank(CanonicalSet { kind: EntityKind::Face, extent }, face as u32);
            for cell in 0..shape.n_cells() {
                let at = grid.at(cell);
                assert_eq!(at, shape.cell_ijk(cell));
                for (axis, high) in (0..shape.dim).flat_map(|a| [(a, false), (a, true)]) {
                    let face = shape.cell_face(cell, axis, high);
                    assert_eq!(grid.face(at, axis, high), face, "{shape:?} {at:?}");
                    assert_eq!(grid.is_boundary_side(at, axis, high), shape.is_boundary_face(face));
                    if !grid.is_boundary_side(at, axis, high) {
                        let beside = grid.beside(cell, at, axis, high);
                        assert_eq!(shape.cell_face(beside, axis, !high), face, "{shape:?} {at:?}");
                    }
                    match rank(Extent::Boundary, face) {
                        Some(rank) => assert_eq!(grid.boundary_face(at, axis, high), rank as usize, "{shape:?} {at:?} {axis} {high}"),
                        None => {
                            let rank = rank(Extent::Interior, face).expect("a face is interior or not");
                            assert_eq!(grid.interior_face(at, axis, high), rank as usize, "{shape:?} {at:?} {axis} {high}");
                        }
                    }
                }
            }
            if shape.joined.contains(&true) {
                continue;
            }
            let inside: usize = grid.rows().filter(|r| r.interior).map(|_| shape.n[0] - 2).sum();
            assert_eq!(inside, shape.set_len(CanonicalSet { kind: EntityKind::Cell, extent: Extent::Interior }), "{shape:?}");
        }
    }

    /// Areas and volumes are products of spacings; centroids those of the arrays. Spacings are
    /// powers of two, so all results are exact.
    #[test]
    fn geometry_agrees_with_the_arrays() {
        let shape = Cartesian::block([3, 4, 5], [0.5, 0.25, 2.0]);
        let grid = CartesianGrid::new(&shape);
        let arrays = equelle_runtime::grid::Grid::cartesian(shape).expect("a valid shape");
        let geometry = arrays.geometry();
        for cell in 0..shape.n_cells() {
            let at = grid.at(cell);
            assert_eq!(grid.cell_centroid::<3>(at), geometry.cell_centroids[cell]);
            assert_eq!(grid.volume, geometry.cell_volumes[cell]);
            for (axis, high) in (0..3).flat_map(|a| [(a, false), (a, true)]) {
                let face = grid.face(at, axis, high);
                assert_eq!(grid.face_centroid::<3>(at, axis, high), geometry.face_centroids[face]);
                assert_eq!(grid.area[axis], geometry.face_areas[face]);
                assert_eq!(grid.normal::<3>(axis), geometry.face_normals[face]);
            }
        }
    }
}
