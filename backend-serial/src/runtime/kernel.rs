//! What generated kernels call beside [`super::support`]: positions of entities in sets, Vectors as arrays, and the uniform Cartesian grid in closed form.

use std::ops::Range;

use equelle_runtime::domain::Domain;
use equelle_runtime::grid::{Cartesian, NONE};
use equelle_runtime::threads::Parts;
use equelle_runtime::{Error, ErrorKind, KernelInfo, Real, Reduction};

use super::SerialRuntime;
use super::collections::VectorCollection;
use super::discrete;
use super::entities::Positions;
use super::pool::Buffer;

impl<R: Real> SerialRuntime<R> {
    /// The grid for kernels in Cartesian form; `None` where a run uses the general forms.
    pub fn cartesian_grid(&self) -> Option<CartesianGrid> {
        if !self.uses_cartesian_forms() {
            return None;
        }
        self.grid().cartesian_shape().map(CartesianGrid::new)
    }

    /// The same in the precision of collections.
    pub fn rounded_cartesian_grid(&self) -> Option<CartesianGrid<R>> {
        self.cartesian_grid().map(|grid| grid.rounded())
    }

    /// The grid, to keep while the runtime changes.
    pub fn shared_grid(&self) -> std::sync::Arc<equelle_runtime::grid::Grid> {
        std::sync::Arc::clone(self.session().grid())
    }

    /// The loop of a kernel over `len` elements: `body` for ranges of them, each with its part of the outputs, on the threads of the run
    /// (see [`equelle_runtime::threads::Threads::each`]).
    pub fn each<P: Parts>(&self, len: usize, outputs: P, body: impl Fn(Range<usize>, P) + Sync) {
        self.session().threads().each(len, outputs, body);
    }

    /// The same of a body that ends with the position of an element where a condition fails.
    ///
    /// # Errors
    /// The first such position, for any number of threads.
    pub fn try_each<P: Parts>(
        &self,
        len: usize,
        outputs: P,
        body: impl Fn(Range<usize>, P) -> Result<(), usize> + Sync,
    ) -> Result<(), usize> {
        self.session().threads().try_each(len, outputs, body)
    }

    /// The same over the cells of a Cartesian grid, in ranges of whole rows.
    pub fn each_row<P: Parts>(&self, grid: &CartesianGrid<impl Real>, outputs: P, body: impl Fn(Range<usize>, P) + Sync) {
        self.session().threads().each_of(grid.n_cells(), grid.n[0], outputs, body);
    }

    /// Refuses grids of fewer dimensions than a kernel names components of Vectors.
    ///
    /// # Errors
    /// `Data`, with the lines of the kernel.
    pub fn needs_dimension(&self, dim: usize, kernel: &KernelInfo) -> Result<(), Error> {
        let given = self.grid().dim();
        if given >= dim {
            return Ok(());
        }
        let message = format!("component [{}] of a Vector: the grid has dimension {given}, so components [0] to [{}]", dim - 1, given - 1);
        let error = Error::new(ErrorKind::Data, message).hint(format!("run on a grid of dimension {dim} or more"));
        Err(self.in_kernel(error, kernel))
    }

    /// Refuses grids of another dimension than the number of components of a Vector that a kernel builds.
    ///
    /// # Errors
    /// `Data`, with the lines of the kernel.
    pub fn vector_size(&self, components: usize, kernel: &KernelInfo) -> Result<(), Error> {
        Error::vector_size(components, self.grid().dim()).map_err(|error| self.in_kernel(error, kernel))
    }

    fn in_kernel(&self, mut error: Error, kernel: &KernelInfo) -> Error {
        error.lines = kernel.lines.to_vec();
        error.at(self.current_line())
    }

    /// Reduces the Vectors that a kernel wrote for the elements of a domain, component by component, as [`Self::reduce_in_kernel`]; beyond the dimension of the grid 0.
    ///
    /// # Errors
    /// As there.
    pub fn reduce_vectors_in_kernel<const DIM: usize>(
        &self,
        reduction: Reduction,
        domain: &std::sync::Arc<Domain>,
        components: [Buffer<R>; DIM],
        kernel: &KernelInfo,
    ) -> Result<[f64; 3], Error> {
        let mut reduced = [0.0; 3];
        for (out, component) in reduced.iter_mut().zip(components) {
            *out = self.reduce_in_kernel(reduction, domain, component, kernel)?;
        }
        Ok(reduced)
    }

    /// Reduces what a kernel wrote for the elements of a domain, in the order of [`equelle_runtime::reduce`].
    ///
    /// # Errors
    /// Max or Min of an empty domain, with the line of the reduction: nothing that the kernel evaluates has failed.
    pub fn reduce_in_kernel(
        &self,
        reduction: Reduction,
        domain: &std::sync::Arc<Domain>,
        buffer: Buffer<R>,
        kernel: &KernelInfo,
    ) -> Result<f64, Error> {
        let values = self.scalar_collection_from(domain, buffer);
        let placed = |error: Error| error.in_kernel(self.current_line(), if self.current_line() == 0 { kernel.lines } else { &[] });
        discrete::reduce(self, reduction, &values).map_err(placed)
    }
}

/// Positions of entities in a domain.
#[derive(Clone, Copy, Debug)]
pub enum Ranks<'a> {
    /// Of an All-set: the index itself.
    All {
        /// Number of elements.
        len: usize,
    },
    /// Of a set with a map over the All-set.
    Map(&'a [u32]),
    /// Of any other set.
    Domain(&'a Domain),
}

impl<'a> Ranks<'a> {
    /// Positions in a domain, through a map where there can be one.
    pub(super) fn mapped(domain: &'a Domain) -> Self {
        match domain.base() {
            None => Ranks::All { len: domain.len() },
            // A map over the All-set is one look-up, and worth its memory in a kernel that runs every step.
            Some(base) if base.is_all() => match domain.rank_map() {
                Some(map) => Ranks::Map(map),
                None => Ranks::Domain(domain),
            },
            Some(_) => Ranks::Domain(domain),
        }
    }
}

impl Positions for Ranks<'_> {
    #[inline]
    fn of(&self, entity: u32) -> usize {
        let rank = match self {
            Ranks::All { len } => return if (entity as usize) < *len { entity as usize } else { usize::MAX },
            Ranks::Map(map) => map.get(entity as usize).copied().unwrap_or(NONE),
            Ranks::Domain(domain) => domain.rank(entity).unwrap_or(NONE),
        };
        if rank == NONE { usize::MAX } else { rank as usize }
    }

    #[inline]
    fn contains(&self, entity: u32) -> bool {
        self.of(entity) != usize::MAX
    }
}

/// Positions in a domain by position in its canonical superset; empty for canonical sets. Where a kernel knows the position in the superset in closed form, as for
/// the boundary faces of a Cartesian grid, this is one look-up.
#[derive(Clone, Copy, Debug)]
pub struct SubsetRanks<'a>(&'a [u32]);

impl<'a> SubsetRanks<'a> {
    /// Positions in a subset.
    pub fn new(domain: &'a Domain) -> Self {
        SubsetRanks(domain.rank_map().unwrap_or(&[]))
    }

    /// Position of the entity at a position of the canonical superset; `usize::MAX` if it is not in the subset.
    #[inline]
    pub fn of(&self, position: usize) -> usize {
        match self.0.get(position) {
            Some(&rank) if rank != NONE => rank as usize,
            _ => usize::MAX,
        }
    }

    /// Whether the entity at a position of the canonical superset is in the subset.
    #[inline]
    pub fn contains(&self, position: usize) -> bool {
        self.of(position) != usize::MAX
    }
}

/// The components of a collection, as many as the grid has dimensions.
pub fn components<const DIM: usize>(vectors: &VectorCollection) -> [&[f64]; DIM] {
    vectors.slices()
}

/// The first components of a Vector, or the Vector of these numbers. Kernels ask [`SerialRuntime::vector_size`] first; what is missing is 0.
#[inline]
pub fn vector<const DIM: usize>(components: &[f64]) -> [f64; DIM] {
    vector_of(components)
}

/// As [`vector`], in any precision.
#[inline]
pub fn vector_of<const DIM: usize, R: Real>(components: &[R]) -> [R; DIM] {
    std::array::from_fn(|axis| components.get(axis).copied().unwrap_or(R::ZERO))
}

/// A Vector as single ones are kept: components beyond the dimension of the grid are 0.
#[inline]
pub fn padded<const DIM: usize>(a: [f64; DIM]) -> [f64; 3] {
    std::array::from_fn(|axis| a.get(axis).copied().unwrap_or(0.0))
}

/// The Vector at a position.
///
/// # Panics
/// If there is no such element.
#[inline]
pub fn vector_at<const DIM: usize, R: Real>(components: &[&[R]; DIM], position: usize) -> [R; DIM] {
    components.map(|c| c[position])
}

/// `a + b`
#[inline]
pub fn vector_add<const DIM: usize, R: Real>(a: [R; DIM], b: [R; DIM]) -> [R; DIM] {
    std::array::from_fn(|axis| a[axis] + b[axis])
}

/// `a - b`
#[inline]
pub fn vector_sub<const DIM: usize, R: Real>(a: [R; DIM], b: [R; DIM]) -> [R; DIM] {
    std::array::from_fn(|axis| a[axis] - b[axis])
}

/// `-a`
#[inline]
pub fn vector_neg<const DIM: usize, R: Real>(a: [R; DIM]) -> [R; DIM] {
    a.map(|c| -c)
}

/// `a * s`
#[inline]
pub fn vector_mul<const DIM: usize, R: Real>(a: [R; DIM], s: R) -> [R; DIM] {
    a.map(|c| c * s)
}

/// `a / s`
#[inline]
pub fn vector_div<const DIM: usize, R: Real>(a: [R; DIM], s: R) -> [R; DIM] {
    a.map(|c| c / s)
}

/// `a * b + c`, rounded once where the processor that this is built for does that in one operation, else twice.
#[inline(always)]
pub fn mul_add<R: Real>(a: R, b: R, c: R) -> R {
    if cfg!(any(target_feature = "fma", target_arch = "aarch64")) { a.mul_add(b, c) } else { a * b + c }
}

/// Sum of the products of components, in order; it starts with the first product.
#[inline]
pub fn dot<const DIM: usize, R: Real>(a: [R; DIM], b: [R; DIM]) -> R {
    let mut sum = a[0] * b[0];
    for axis in 1..DIM {
        sum += a[axis] * b[axis];
    }
    sum
}

/// Euclidean length.
#[inline]
pub fn length<const DIM: usize, R: Real>(a: [R; DIM]) -> R {
    dot(a, a).sqrt()
}

/// A component.
///
/// # Panics
/// If the grid has no such axis; kernels ask [`SerialRuntime::needs_dimension`] first.
#[inline]
pub fn component<const DIM: usize, R: Real>(a: [R; DIM], index: usize) -> R {
    a[index]
}

/// `rows[axis]` cut to a length; nothing for an axis that the grid does not have.
#[inline]
pub fn lane<'a, const DIM: usize, R: Real>(rows: &[&'a [R]; DIM], axis: usize, len: usize) -> &'a [R] {
    rows.get(axis).map_or(&[][..], |row| &row[..len])
}

/// A uniform Cartesian grid as kernels use it: numbering and geometry in closed form.
///
/// The faces of axis a are layers of `stride[a]` faces, `n[a] + 1` layers to a slab; a cell's position `at` gives layer and slab. Within a
/// row of cells (fixed j, k) every index here grows by one from cell to cell.
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
    shape: Cartesian,
    face_start: [usize; 3],
    interior_start: [usize; 3],
    boundary_start: [usize; 3],
}

/// A row of cells along the first axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// First cell.
    pub start: usize,
    /// Position along the second axis.
    pub j: usize,
    /// Position along the third axis.
    pub k: usize,
    /// Whether all its cells but the first and the last are interior, and there are such.
    pub interior: bool,
}

impl CartesianGrid {
    /// Of a shape.
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
            face_start: [0; 3],
            interior_start: [0; 3],
            boundary_start: [0; 3],
        };
        for axis in 1..3 {
            let before = axis - 1;
            let (layer, n) = (shape.n_cells() / shape.n[before], shape.n[before]);
            let (all, interior, boundary) = if present(before) { (n + 1, n - 1, 2) } else { (0, 0, 0) };
            grid.face_start[axis] = grid.face_start[before] + layer * all;
            grid.interior_start[axis] = grid.interior_start[before] + layer * interior;
            grid.boundary_start[axis] = grid.boundary_start[before] + layer * boundary;
        }
        grid
    }

    /// With geometry in another precision: computed in double precision, then rounded.
    pub fn rounded<R: Real>(&self) -> CartesianGrid<R> {
        CartesianGrid {
            dim: self.dim,
            n: self.n,
            stride: self.stride,
            spacing: self.spacing.map(R::from_f64),
            area: self.area.map(R::from_f64),
            volume: R::from_f64(self.volume),
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

    /// Width of a layer of cells: the difference of its nodes, which may differ from the spacing in the last bits; 1 for absent axes.
    #[inline]
    pub fn width(&self, axis: usize, layer: usize) -> f64 {
        if axis >= self.dim {
            return 1.0;
        }
        (layer + 1) as f64 * self.spacing(axis) - layer as f64 * self.spacing(axis)
    }

    /// Cell width along an axis that the grid has.
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

    /// The rows of a range of cells that is whole rows, in order.
    pub fn rows_in(&self, cells: &Range<usize>) -> impl Iterator<Item = Row> + use<R> {
        let (grid, rows) = (*self, cells.start / self.n[0]..cells.end / self.n[0]);
        let inside = move |axis: usize, at: usize| axis >= grid.dim || (at > 0 && at + 1 < grid.n[axis]);
        rows.map(move |row| {
            let (j, k) = (row % grid.n[1], row / grid.n[1]);
            Row { start: row * grid.n[0], j, k, interior: grid.n[0] > 2 && inside(1, j) && inside(2, k) }
        })
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
        self.face_start[axis] + low + self.stride[axis] * (at[axis] + usize::from(high) + (self.n[axis] + 1) * slab)
    }

    /// Position of that face, which is an interior face, in InteriorFaces().
    #[inline]
    pub fn interior_face(&self, at: [usize; 3], axis: usize, high: bool) -> usize {
        let (low, slab) = self.low_and_slab(at, axis);
        // The low face of the first layer is on the boundary, so this is never asked of it.
        (self.interior_start[axis] + low + self.stride[axis] * (at[axis] + usize::from(high) + (self.n[axis] - 1) * slab))
            .wrapping_sub(self.stride[axis])
    }

    /// Position of that face, which is a boundary face, in BoundaryFaces().
    #[inline]
    pub fn boundary_face(&self, at: [usize; 3], axis: usize, high: bool) -> usize {
        let (low, slab) = self.low_and_slab(at, axis);
        self.boundary_start[axis] + low + self.stride[axis] * (usize::from(high) + 2 * slab)
    }

    /// Index within a layer of the faces across an axis, and number of the slab.
    #[inline]
    fn low_and_slab(&self, at: [usize; 3], axis: usize) -> (usize, usize) {
        match axis {
            0 => (0, at[1] + self.n[1] * at[2]),
            1 => (at[0], at[2]),
            _ => (at[0] + self.n[0] * at[1], 0),
        }
    }

    /// The Vector from an entity to another one, `widths` cell widths further along an axis.
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
        std::array::from_fn(|a| R::from_f64((at[a] as f64 * self.spacing(a) + (at[a] + 1) as f64 * self.spacing(a)) / 2.0))
    }

    /// Centroid of the face on the low or high side of the cell at a position.
    #[inline]
    pub fn face_centroid<const DIM: usize>(&self, at: [usize; 3], axis: usize, high: bool) -> [R; DIM] {
        let mut centroid = self.cell_centroid(at);
        if let Some(along) = centroid.get_mut(axis) {
            *along = R::from_f64((at[axis] + usize::from(high)) as f64 * self.spacing(axis));
        }
        centroid
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The closed forms against the grid's own numbering, on shapes with a single layer and of every dimension.
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
                    match rank(Extent::Boundary, face) {
                        Some(rank) => assert_eq!(grid.boundary_face(at, axis, high), rank as usize, "{shape:?} {at:?} {axis} {high}"),
                        None => {
                            let rank = rank(Extent::Interior, face).expect("a face is interior or not");
                            assert_eq!(grid.interior_face(at, axis, high), rank as usize, "{shape:?} {at:?} {axis} {high}");
                        }
                    }
                }
            }
            let inside: usize = grid.rows().filter(|r| r.interior).map(|_| shape.n[0] - 2).sum();
            assert_eq!(inside, shape.set_len(CanonicalSet { kind: EntityKind::Cell, extent: Extent::Interior }), "{shape:?}");
        }
    }

    /// Areas and volumes are products of spacings; centroids those of the arrays. Spacings are powers of two, so all is exact.
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

    #[test]
    fn vectors() {
        let (a, b) = ([3.0, 4.0], [1.0, -2.0]);
        assert_eq!(vector_add(a, b), [4.0, 2.0]);
        assert_eq!(vector_sub(a, b), [2.0, 6.0]);
        assert_eq!(vector_neg(a), [-3.0, -4.0]);
        assert_eq!(vector_mul(a, 2.0), [6.0, 8.0]);
        assert_eq!(vector_div(a, 2.0), [1.5, 2.0]);
        assert_eq!(dot(a, b), -5.0);
        assert_eq!(length(a), 5.0);
    }
}
