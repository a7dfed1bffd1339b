//! Topology and geometry for general kernels: from the arrays of the grid, or in closed form on a
//! Cartesian grid, whose arrays are then never built. Both give the same bits.

use std::marker::PhantomData;
use std::ops::Range;

use equelle_runtime::Real;
use equelle_runtime::domain::Domain;
use equelle_runtime::grid::{Cartesian, Geometry, Grid, NONE, Neighbour, SideMap};

use super::cartesian_grid::CartesianGrid;
use super::ranks::{MapRanks, Ranks, SubsetMapRanks};

pub use super::ranks::Positions;

/// Relations and measures of entities, shared by the threads of a loop. Geometry is that of the
/// grid in double precision, rounded to `R`.
pub trait Entities<R = f64>: Sync {
    /// Position maps of InteriorFaces() and other canonical sets.
    type CanonicalRanks<'d>: Positions;
    /// Position maps of run-time sets.
    type Ranks<'d>: Positions;

    /// First and second cell of a face, [`NONE`] outside.
    fn face_cells(&self, face: u32) -> [u32; 2];
    /// The shape of a Cartesian grid; what asks for it runs on no other one.
    fn shape_of_grid(&self) -> Cartesian;
    /// The cell at an offset.
    #[inline]
    fn offset_cell(&self, cell: u32, by: [i8; 3], beyond: [SideMap; 6]) -> u32 {
        self.shape_of_grid().offset_cell(cell, by, beyond)
    }
    /// True if the cell this many cells further along an axis is beyond the side there.
    #[inline]
    fn is_outside(&self, cell: u32, axis: usize, by: i8) -> bool {
        self.shape_of_grid().is_outside(cell, axis, by)
    }
    /// The number of a cell along an axis.
    #[inline]
    fn index_along(&self, cell: u32, axis: usize) -> R
    where
        R: Real,
    {
        R::from_f64(self.shape_of_grid().index_along(cell, axis) as f64)
    }
    /// True if the sum of the numbers of a cell along some axes is even.
    #[inline]
    fn is_even(&self, cell: u32, axes: [bool; 3]) -> bool {
        self.shape_of_grid().is_even(cell, axes)
    }
    /// Faces of a cell, ascending in the numbering of the file; each with the neighbour across it,
    /// [`NONE`] outside, and whether `cell` is the face's first cell.
    fn sides_of(&self, cell: u32) -> impl Iterator<Item = (u32, u32, bool)>;
    /// Volume of a cell.
    fn cell_volume(&self, cell: u32) -> R;
    /// A range of cells in parts, each with the volumes of its cells by their place in it.
    ///
    /// A part is the whole range, or a row of a Cartesian grid.
    fn rows_with_volumes(&self, cells: Range<usize>) -> impl Iterator<Item = (Range<usize>, impl Fn(usize) -> R)>;
    /// Area of a face.
    fn face_area(&self, face: u32) -> R;
    /// Length of an edge.
    fn edge_length(&self, edge: u32) -> R;
    /// Positions in a canonical set that is not all entities of a kind, in the fastest way on this
    /// grid.
    fn canonical_ranks<'d>(&self, domain: &'d Domain) -> Self::CanonicalRanks<'d>;
    /// Positions in a run-time set.
    fn ranks<'d>(&self, domain: &'d Domain) -> Self::Ranks<'d>;

    /// First cell of a face.
    #[inline]
    fn first_cell(&self, face: u32) -> u32 {
        self.face_cells(face)[0]
    }

    /// Second cell of a face.
    #[inline]
    fn second_cell(&self, face: u32) -> u32 {
        self.face_cells(face)[1]
    }

    /// True if a face has only one cell.
    #[inline]
    fn is_boundary_face(&self, face: u32) -> bool {
        self.face_cells(face).contains(&NONE)
    }
}

/// Positions and directions of entities of a grid of `DIM` dimensions.
pub trait Places<const DIM: usize, R = f64>: Entities<R> {
    /// Centroid of a cell.
    fn cell_centroid(&self, cell: u32) -> [R; DIM];
    /// Centroid of a face.
    fn face_centroid(&self, face: u32) -> [R; DIM];
    /// Unit normal of a face, from first to second cell.
    fn face_normal(&self, face: u32) -> [R; DIM];
    /// From the centroid of a face on the side of its second cell to that on the side of the first.
    fn face_gap(&self, face: u32) -> [R; DIM];
    /// Transmissibility that the grid gives a face; negative where that of geometry holds.
    fn face_transmissibility(&self, face: u32) -> R;
    /// Midpoint of an edge.
    fn edge_centroid(&self, edge: u32) -> [R; DIM];
    /// Position of a vertex.
    fn vertex_position(&self, vertex: u32) -> [R; DIM];
}

/// The arrays of a grid, as slices. Arrays that were not requested are empty and need not exist.
///
/// # Panics
/// Its methods panic for entities outside the grid, and for arrays that were not requested.
#[derive(Clone, Copy, Debug)]
pub struct Arrays<'a, R = f64> {
    grid: &'a Grid,
    face_cells: &'a [[u32; 2]],
    sides: Sides<'a>,
    geometry: CellsAndFaces<'a>,
    edges: Edges<'a>,
    vertex_positions: &'a [[f64; 3]],
    rounded_to: PhantomData<R>,
}

/// Faces of cells.
#[derive(Clone, Copy, Debug, Default)]
struct Sides<'a> {
    cell_face_pos: &'a [usize],
    cell_faces: &'a [u32],
    neighbours: &'a [Neighbour],
}

/// Measures, centroids and normals of cells and faces.
#[derive(Clone, Copy, Debug, Default)]
struct CellsAndFaces<'a> {
    cell_volumes: &'a [f64],
    face_areas: &'a [f64],
    cell_centroids: &'a [[f64; 3]],
    face_centroids: &'a [[f64; 3]],
    face_normals: &'a [[f64; 3]],
    /// Empty if the sides of all faces meet.
    face_gaps: &'a [[f64; 3]],
    /// Empty if the grid gives none.
    face_transmissibilities: &'a [f64],
}

/// Lengths and midpoints of edges.
#[derive(Clone, Copy, Debug, Default)]
struct Edges<'a> {
    lengths: &'a [f64],
    centroids: &'a [[f64; 3]],
}

impl<'a> Arrays<'a> {
    /// Without arrays.
    pub fn of(grid: &'a Grid) -> Self {
        Arrays {
            grid,
            face_cells: &[],
            sides: Sides::default(),
            geometry: CellsAndFaces::default(),
            edges: Edges::default(),
            vertex_positions: &[],
            rounded_to: PhantomData,
        }
    }

    /// Adds the cells of faces.
    #[must_use]
    pub fn with_topology(mut self) -> Self {
        self.face_cells = &self.grid.topology().face_cells;
        self
    }

    /// Adds the faces of cells.
    #[must_use]
    pub fn with_sides(mut self) -> Self {
        let topology = self.grid.topology();
        self.sides = Sides { cell_face_pos: &topology.cell_face_pos, cell_faces: &topology.cell_faces, neighbours: self.grid.neighbours() };
        self
    }

    /// Adds lengths and midpoints of edges.
    #[must_use]
    pub fn with_edges(mut self) -> Self {
        self.edges = Edges { lengths: self.grid.edge_lengths(), centroids: self.grid.edge_centroids() };
        self
    }

    /// Adds positions of vertices.
    #[must_use]
    pub fn with_vertices(mut self) -> Self {
        self.vertex_positions = self.grid.vertex_positions();
        self
    }

    /// Adds measures, centroids and normals of cells and faces.
    #[must_use]
    pub fn with_geometry(mut self) -> Self {
        let geometry = self.grid.geometry();
        self.geometry = CellsAndFaces {
            cell_volumes: &geometry.cell_volumes,
            face_areas: &geometry.face_areas,
            cell_centroids: &geometry.cell_centroids,
            face_centroids: &geometry.face_centroids,
            face_normals: &geometry.face_normals,
            face_gaps: &geometry.face_gaps,
            face_transmissibilities: &geometry.face_transmissibilities,
        };
        self
    }

    /// The arrays with values that are rounded when read.
    pub fn rounded<R: Real>(self) -> Arrays<'a, R> {
        let Arrays { grid, face_cells, sides, geometry, edges, vertex_positions, rounded_to: _ } = self;
        Arrays { grid, face_cells, sides, geometry, edges, vertex_positions, rounded_to: PhantomData }
    }
}

impl<R: Real> Entities<R> for Arrays<'_, R> {
    type CanonicalRanks<'d> = MapRanks<'d>;
    type Ranks<'d> = SubsetMapRanks<'d>;

    #[inline]
    fn shape_of_grid(&self) -> Cartesian {
        // The start of the program refuses grids without a shape.
        self.grid.cartesian_shape().copied().unwrap_or(Cartesian::line(1, 1.0))
    }

    #[inline]
    fn face_cells(&self, face: u32) -> [u32; 2] {
        self.face_cells[face as usize]
    }

    #[inline]
    fn sides_of(&self, cell: u32) -> impl Iterator<Item = (u32, u32, bool)> {
        let cell = cell as usize;
        let here = self.sides.cell_face_pos[cell]..self.sides.cell_face_pos[cell + 1];
        let sides = self.sides.cell_faces[here.clone()].iter().zip(&self.sides.neighbours[here]);
        sides.map(|(&face, beyond)| (face, beyond.cell(), beyond.is_outward()))
    }

    #[inline]
    fn cell_volume(&self, cell: u32) -> R {
        R::from_f64(self.geometry.cell_volumes[cell as usize])
    }

    #[inline]
    fn rows_with_volumes(&self, cells: Range<usize>) -> impl Iterator<Item = (Range<usize>, impl Fn(usize) -> R)> {
        let volumes = &self.geometry.cell_volumes[cells.start..][..cells.len()];
        std::iter::once((cells, move |i: usize| R::from_f64(volumes[i])))
    }

    #[inline]
    fn face_area(&self, face: u32) -> R {
        R::from_f64(self.geometry.face_areas[face as usize])
    }

    #[inline]
    fn edge_length(&self, edge: u32) -> R {
        R::from_f64(self.edges.lengths[edge as usize])
    }

    fn canonical_ranks<'d>(&self, domain: &'d Domain) -> MapRanks<'d> {
        MapRanks::new(domain)
    }

    fn ranks<'d>(&self, domain: &'d Domain) -> SubsetMapRanks<'d> {
        SubsetMapRanks::new(domain)
    }
}

impl<const DIM: usize, R: Real> Places<DIM, R> for Arrays<'_, R> {
    #[inline]
    fn cell_centroid(&self, cell: u32) -> [R; DIM] {
        cut(self.geometry.cell_centroids[cell as usize])
    }

    #[inline]
    fn face_centroid(&self, face: u32) -> [R; DIM] {
        cut(self.geometry.face_centroids[face as usize])
    }

    #[inline]
    fn face_normal(&self, face: u32) -> [R; DIM] {
        cut(self.geometry.face_normals[face as usize])
    }

    #[inline]
    fn face_gap(&self, face: u32) -> [R; DIM] {
        self.geometry.face_gaps.get(face as usize).map_or([R::from_f64(0.0); DIM], |&gap| cut(gap))
    }

    #[inline]
    fn face_transmissibility(&self, face: u32) -> R {
        R::from_f64(self.geometry.face_transmissibilities.get(face as usize).copied().unwrap_or(Geometry::FROM_GEOMETRY))
    }

    #[inline]
    fn edge_centroid(&self, edge: u32) -> [R; DIM] {
        cut(self.edges.centroids[edge as usize])
    }

    #[inline]
    fn vertex_position(&self, vertex: u32) -> [R; DIM] {
        cut(self.vertex_positions[vertex as usize])
    }
}

/// The first components of a Vector that is padded with zeros.
#[inline]
fn cut<const DIM: usize, R: Real>(padded: [f64; 3]) -> [R; DIM] {
    std::array::from_fn(|axis| R::from_f64(padded[axis]))
}

/// In closed form. Widths are differences of node positions, as in the arrays, rather than the
/// spacings of Cartesian kernels.
impl<R: Real> Entities<R> for CartesianGrid<R> {
    type CanonicalRanks<'d> = Ranks<'d>;
    type Ranks<'d> = Ranks<'d>;

    #[inline]
    fn shape_of_grid(&self) -> Cartesian {
        *self.shape()
    }

    #[inline]
    fn face_cells(&self, face: u32) -> [u32; 2] {
        self.shape().face_cells(face as usize)
    }

    #[inline]
    fn sides_of(&self, cell: u32) -> impl Iterator<Item = (u32, u32, bool)> {
        let at = self.at(cell as usize);
        (0..2 * self.dim).map(move |side| {
            let (axis, high) = (side / 2, side % 2 == 1);
            let there = if high { at[axis] + 1 < self.n[axis] } else { at[axis] > 0 };
            let stride = self.stride[axis] as u32;
            let beyond = match (there, high) {
                (false, _) => NONE,
                (true, false) => cell - stride,
                (true, true) => cell + stride,
            };
            (self.face(at, axis, high) as u32, beyond, high)
        })
    }

    #[inline]
    fn cell_volume(&self, cell: u32) -> R {
        let at = self.at(cell as usize);
        R::from_f64(self.width(0, at[0]) * self.width(1, at[1]) * self.width(2, at[2]))
    }

    #[inline]
    fn rows_with_volumes(&self, cells: Range<usize>) -> impl Iterator<Item = (Range<usize>, impl Fn(usize) -> R)> {
        let rows = cells.start / self.n[0]..cells.end.div_ceil(self.n[0]);
        rows.map(move |row| {
            let part = cells.start.max(row * self.n[0])..cells.end.min((row + 1) * self.n[0]);
            let (first, j, k) = (part.start % self.n[0], row % self.n[1], row / self.n[1]);
            let across = [self.width(1, j), self.width(2, k)];
            let volume = move |i: usize| R::from_f64(self.width(0, first + i) * across[0] * across[1]);
            (part, volume)
        })
    }

    #[inline]
    fn face_area(&self, face: u32) -> R {
        let face = self.shape().face_ijk(face as usize);
        R::from_f64((0..3).filter(|&axis| axis != face.axis).map(|axis| self.width(axis, face.ijk[axis])).product())
    }

    #[inline]
    fn edge_length(&self, edge: u32) -> R {
        match self.dim {
            1 => self.cell_volume(edge),
            2 => self.face_area(edge),
            _ => {
                let edge = self.shape().edge_ijk(edge as usize);
                R::from_f64(self.width(edge.axis, edge.ijk[edge.axis]))
            }
        }
    }

    fn canonical_ranks<'d>(&self, domain: &'d Domain) -> Ranks<'d> {
        // An All-set has a closed form; a map would need memory for every entity of the grid.
        if domain.is_all() { Ranks::mapped(domain) } else { Ranks::Domain(domain) }
    }

    fn ranks<'d>(&self, domain: &'d Domain) -> Ranks<'d> {
        Ranks::mapped(domain)
    }
}

impl<R: Real> CartesianGrid<R> {
    /// The grid as any other, with the methods of [`Places`] alone.
    pub fn places<const DIM: usize>(&self) -> &impl Places<DIM, R> {
        self
    }
}

impl<const DIM: usize, R: Real> Places<DIM, R> for CartesianGrid<R> {
    #[inline]
    fn cell_centroid(&self, cell: u32) -> [R; DIM] {
        CartesianGrid::cell_centroid(self, self.at(cell as usize))
    }

    #[inline]
    fn face_centroid(&self, face: u32) -> [R; DIM] {
        let face = self.shape().face_ijk(face as usize);
        CartesianGrid::face_centroid(self, face.ijk, face.axis, false)
    }

    #[inline]
    fn face_normal(&self, face: u32) -> [R; DIM] {
        self.normal(self.shape().face_ijk(face as usize).axis)
    }

    #[inline]
    fn face_gap(&self, _: u32) -> [R; DIM] {
        [R::from_f64(0.0); DIM]
    }

    #[inline]
    fn face_transmissibility(&self, _: u32) -> R {
        R::from_f64(Geometry::FROM_GEOMETRY)
    }

    #[inline]
    fn edge_centroid(&self, edge: u32) -> [R; DIM] {
        match DIM {
            1 => Places::cell_centroid(self, edge),
            2 => Places::face_centroid(self, edge),
            _ => {
                let edge = self.shape().edge_ijk(edge as usize);
                // A vertex, but along the edge half way to the next one.
                let mut centroid: [R; DIM] = CartesianGrid::cell_centroid(self, edge.ijk);
                for (axis, place) in centroid.iter_mut().enumerate().filter(|(axis, _)| *axis != edge.axis) {
                    *place = R::from_f64(self.node_position(axis, edge.ijk[axis]));
                }
                centroid
            }
        }
    }

    #[inline]
    fn vertex_position(&self, vertex: u32) -> [R; DIM] {
        let at = self.shape().vertex_ijk(vertex as usize);
        std::array::from_fn(|axis| R::from_f64(self.node_position(axis, at[axis])))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use equelle_runtime::grid::Cartesian;

    /// Widths without a finite binary form, where differences of node positions differ from the
    /// spacing.
    #[test]
    fn closed_forms_have_the_bits_of_the_arrays() {
        check::<1>(Cartesian::line(7, 0.1));
        check::<2>(Cartesian::plane([7, 4], [0.1, 0.7]));
        check::<3>(Cartesian::block([7, 4, 5], [0.1, 0.7, 1.3]));
    }

    /// Rows follow one another through the range, with the bits of the volumes of single cells.
    fn volumes_of_rows(grid: &impl Entities, cells: Range<usize>) {
        let mut next = cells.start;
        for (row, volume_at) in grid.rows_with_volumes(cells.clone()) {
            assert_eq!(row.start, next);
            next = row.end;
            for (i, cell) in row.enumerate() {
                assert_eq!(volume_at(i).to_bits(), grid.cell_volume(cell as u32).to_bits());
            }
        }
        assert_eq!(next, cells.end);
    }

    fn check<const DIM: usize>(shape: Cartesian) {
        let grid = Grid::cartesian(shape).expect("a valid shape");
        let arrays = Arrays::of(&grid).with_topology().with_sides().with_geometry().with_edges().with_vertices();
        let closed = CartesianGrid::new(&shape);
        for cell in 0..shape.n_cells() as u32 {
            assert!(arrays.sides_of(cell).eq(closed.sides_of(cell)));
            assert_eq!(arrays.cell_volume(cell).to_bits(), closed.cell_volume(cell).to_bits());
            assert_eq!(Places::<DIM>::cell_centroid(&arrays, cell), Places::<DIM>::cell_centroid(&closed, cell));
        }
        // Ranges that begin and end inside rows, and whole ones.
        for cells in [0..shape.n_cells(), 3..shape.n_cells() - 1, 1..4, 2..2] {
            volumes_of_rows(&arrays, cells.clone());
            volumes_of_rows(&closed, cells);
        }
        for face in 0..shape.n_faces() as u32 {
            assert_eq!(arrays.face_cells(face), closed.face_cells(face));
            assert_eq!(arrays.is_boundary_face(face), closed.is_boundary_face(face));
            assert_eq!(arrays.face_area(face).to_bits(), closed.face_area(face).to_bits());
            assert_eq!(Places::<DIM>::face_centroid(&arrays, face), Places::<DIM>::face_centroid(&closed, face));
            assert_eq!(Places::<DIM>::face_normal(&arrays, face), Places::<DIM>::face_normal(&closed, face));
        }
        for edge in 0..grid.edge_lengths().len() as u32 {
            assert_eq!(arrays.edge_length(edge).to_bits(), closed.edge_length(edge).to_bits());
            assert_eq!(Places::<DIM>::edge_centroid(&arrays, edge), Places::<DIM>::edge_centroid(&closed, edge));
        }
        for vertex in 0..shape.n_vertices() as u32 {
            assert_eq!(Places::<DIM>::vertex_position(&arrays, vertex), Places::<DIM>::vertex_position(&closed, vertex));
        }
    }
}
