//! Arrays of the grid on the device for general kernels, uploaded on first use and kept.

use std::collections::HashMap;
use std::rc::Rc;

use bytemuck::NoUninit;
use equelle_runtime::grid::{Cartesian, Geometry, Grid};
use equelle_runtime::threads::Threads;
use equelle_runtime::{EntityKind, Error};

use crate::runtime::executor::arguments::{EqCartesian, EqGrid};
use crate::runtime::executor::pool::Buffer;
use crate::runtime::executor::{Executor, autotune};
use crate::runtime::grid::half_faces::{self, NarrowNeighbours, SideCopies};
use crate::runtime::grid::sets::DeviceSets;

/// The arrays of the grid that a kernel reads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct GridArrays {
    /// The neighbours across the sides of cells.
    pub sides: bool,
    /// The faces on the sides of cells.
    pub side_faces: bool,
    /// The ranks of these faces among interior or boundary faces.
    pub side_ranks: bool,
    /// The cells of faces.
    pub face_cells: bool,
    pub cell_volumes: bool,
    pub cell_centroids: bool,
    pub face_areas: bool,
    pub face_centroids: bool,
    pub face_normals: bool,
    pub face_gaps: bool,
    pub face_transmissibilities: bool,
    pub edge_lengths: bool,
    pub edge_centroids: bool,
    pub vertex_positions: bool,
}

impl GridArrays {
    /// The arrays without closed forms on a Cartesian grid.
    fn without_closed_forms(self) -> GridArrays {
        GridArrays {
            face_cells: false,
            cell_volumes: false,
            cell_centroids: false,
            face_areas: false,
            face_centroids: false,
            face_normals: false,
            face_gaps: false,
            face_transmissibilities: false,
            ..self
        }
    }
}

/// The grid on the device, with arrays uploaded on first use.
pub(crate) struct DeviceGrid {
    pub(crate) executor: Rc<Executor>,
    arrays: HashMap<&'static str, Rc<Buffer>>,
    pub(crate) sets: DeviceSets,
    pub(crate) side_copies: SideCopies,
    /// The neighbours across half-faces where 16 bits hold them, until they are on the device.
    narrow: Option<NarrowNeighbours>,
}

const BEYOND_SIDES: &str = "the cells beyond sides";
const BASES: &str = "the least of the cells beyond sides";

/// `[dim][n]` from vectors of three.
fn components(vectors: &[[f64; 3]], dim: usize, threads: &Threads) -> Vec<f64> {
    let n = vectors.len();
    threads.values(dim * n, |i| vectors[i % n][i / n])
}

impl DeviceGrid {
    /// A grid without uploaded arrays. `narrow` is as the compile options of the executor say.
    pub(crate) fn new(executor: &Rc<Executor>, narrow: Option<NarrowNeighbours>) -> Self {
        let executor = Rc::clone(executor);
        DeviceGrid { executor, arrays: HashMap::new(), sets: DeviceSets::default(), side_copies: SideCopies::default(), narrow }
    }

    fn array<T: NoUninit, V: AsRef<[T]>>(&mut self, name: &'static str, make: impl FnOnce() -> V) -> Result<u64, Error> {
        if let Some(buffer) = self.arrays.get(name) {
            return Ok(buffer.address().0);
        }
        let buffer = self.executor.upload(name, make().as_ref())?;
        let address = buffer.address().0;
        self.arrays.insert(name, buffer);
        Ok(address)
    }

    /// The grid for general kernels of a program, with the arrays in `needs`, or its shape where
    /// closed forms replace them.
    ///
    /// # Errors
    /// `Backend`: not enough memory. `Data`: the grid has no edges or vertices.
    pub(crate) fn args(&mut self, grid: &Grid, needs: GridArrays) -> Result<EqGrid, Error> {
        match self.executor.open_shape() {
            None => self.arrays(grid, needs),
            Some(shape) => Ok(EqGrid { shape, ..self.arrays(grid, needs.without_closed_forms())? }),
        }
    }

    /// Gaps of faces that all are zero, for operations that read them by entity.
    ///
    /// # Errors
    /// As for [`DeviceGrid::args`].
    pub(crate) fn without_gaps(&mut self, grid: &Grid) -> Result<u64, Error> {
        self.array("no gaps", || vec![0.0; grid.dim() * grid.n_faces()])
    }

    /// Transmissibilities of faces of a grid that gives none, for operations that read them by
    /// entity.
    ///
    /// # Errors
    /// As for [`DeviceGrid::args`].
    pub(crate) fn without_transmissibilities(&mut self, grid: &Grid) -> Result<u64, Error> {
        self.array("no transmissibilities", || vec![Geometry::FROM_GEOMETRY; grid.n_faces()])
    }

    /// The grid with the arrays in `needs`.
    ///
    /// # Errors
    /// As for [`DeviceGrid::args`].
    pub(crate) fn arrays(&mut self, grid: &Grid, needs: GridArrays) -> Result<EqGrid, Error> {
        let (dim, wide, threads) = (grid.dim(), self.executor.wide_offsets(), grid.threads());
        let (topology, geometry) = (|| grid.topology(), || grid.geometry());
        let mut args = EqGrid { n_cells: grid.n_cells() as u32, n_faces: grid.n_faces() as u32, ..EqGrid::default() };
        if needs.sides {
            let starts = || half_faces::starts(topology());
            args.side_starts = if wide {
                self.array("where sides begin", || starts().into_iter().map(|start| start as u64).collect::<Vec<_>>())?
            } else {
                self.array("where sides begin", || starts().into_iter().map(|start| start as u32).collect::<Vec<_>>())?
            };
            match self.narrow.take() {
                Some(NarrowNeighbours { bases, offsets }) => {
                    args.side_neighbours = self.array(BEYOND_SIDES, || offsets)?;
                    args.side_bases = self.array(BASES, || bases)?;
                }
                None => {
                    args.side_neighbours = self.array(BEYOND_SIDES, || half_faces::neighbours(topology(), threads))?;
                    args.side_bases = self.arrays.get(BASES).map_or(0, |bases| bases.address().0);
                }
            }
        }
        if needs.side_faces {
            args.side_faces = self.array("the faces on sides", || half_faces::faces(topology(), threads))?;
        }
        if needs.side_ranks {
            args.side_ranks = self.array("the ranks of the faces on sides", || half_faces::ranks(topology(), threads))?;
        }
        if needs.face_cells {
            args.face_cells = self.array("the cells of faces", || &topology().face_cells)?;
        }
        if needs.cell_volumes {
            args.cell_volumes = self.array("cell volumes", || &geometry().cell_volumes)?;
        }
        if needs.cell_centroids {
            args.cell_centroids = self.array("cell centroids", || components(&geometry().cell_centroids, dim, threads))?;
        }
        if needs.face_areas {
            args.face_areas = self.array("face areas", || &geometry().face_areas)?;
        }
        if needs.face_centroids {
            args.face_centroids = self.array("face centroids", || components(&geometry().face_centroids, dim, threads))?;
        }
        if needs.face_normals {
            args.face_normals = self.array("face normals", || components(&geometry().face_normals, dim, threads))?;
        }
        if needs.face_gaps && !geometry().face_gaps.is_empty() {
            args.face_gaps = self.array("face gaps", || components(&geometry().face_gaps, dim, threads))?;
        }
        if needs.face_transmissibilities && !geometry().face_transmissibilities.is_empty() {
            args.face_transmissibilities = self.array("face transmissibilities", || geometry().face_transmissibilities.clone())?;
        }
        if needs.edge_lengths {
            args.edge_lengths = self.array("edge lengths", || grid.edge_lengths())?;
        }
        if needs.edge_centroids {
            args.n_edges = grid.n_entities(EntityKind::Edge)? as u32;
            args.edge_centroids = self.array("edge centroids", || components(grid.edge_centroids(), dim, threads))?;
        }
        if needs.vertex_positions {
            args.n_vertices = grid.n_entities(EntityKind::Vertex)? as u32;
            args.vertex_positions = self.array("vertex positions", || components(grid.vertex_positions(), dim, threads))?;
        }
        Ok(args)
    }
}

/// A uniform Cartesian grid as kernel argument.
pub(crate) fn cartesian_args(shape: &Cartesian) -> EqCartesian {
    let dim = shape.dim;
    let n = shape.n.map(|n| n as u32);
    let across = |axis: usize| (0..dim).filter(|&a| a != axis).map(|a| shape.n[a]).product::<usize>();
    let (mut face_start, mut boundary_start, mut interior_start) = ([0; 3], [0; 3], [0; 3]);
    let (mut boundary, mut interior) = (0, 0);
    let mut area = [1.0; 3];
    for axis in 0..dim {
        face_start[axis] = shape.face_start(axis) as u32;
        boundary_start[axis] = boundary as u32;
        interior_start[axis] = interior as u32;
        let [on_boundary, inside] = if shape.joined[axis] { [0, shape.n[axis]] } else { [2, shape.n[axis] - 1] };
        boundary += on_boundary * across(axis);
        interior += inside * across(axis);
        area[axis] = (0..dim).filter(|&a| a != axis).map(|a| shape.spacing[a]).product();
    }
    let volume = shape.spacing[..dim].iter().product();
    let flat = u32::from(dim == 1 || n[1] > 65_535 * 4 || n[2] > 65_535);
    EqCartesian {
        n,
        flat,
        face_start,
        cells_per_thread: autotune::cells_per_thread(shape.n_cells()),
        boundary_start,
        interior_start,
        spacing: shape.spacing,
        area,
        volume,
    }
}
