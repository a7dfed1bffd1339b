//! The grid on the device: arrays that general kernels ask for. Everything is uploaded at first use and stays.

use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use equelle_runtime::domain::Domain;
use equelle_runtime::grid::{Cartesian, Grid};
use equelle_runtime::{CanonicalSet, EntityKind, Error};

use crate::runtime::args::{EqCartesian, EqGrid};
use crate::runtime::pool::Buffer;
use crate::runtime::program::CudaRuntime;
use crate::runtime::sets::DeviceSets;
use crate::runtime::sides;
use crate::runtime::tuning;

/// Which arrays of the grid a kernel reads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct GridArrays {
    /// What is beyond the sides of cells.
    pub sides: bool,
    /// The faces on them.
    pub side_faces: bool,
    /// The ranks of these faces among the interior ones, or those on the boundary.
    pub side_ranks: bool,
    /// The cells of faces.
    pub face_cells: bool,
    pub cell_volumes: bool,
    pub cell_centroids: bool,
    pub face_areas: bool,
    pub face_centroids: bool,
    pub face_normals: bool,
    pub edge_lengths: bool,
    pub edge_centroids: bool,
    pub vertex_positions: bool,
}

impl GridArrays {
    /// Those that there is nothing else for on a Cartesian grid.
    fn without_closed_forms(self) -> GridArrays {
        GridArrays {
            face_cells: false,
            cell_volumes: false,
            cell_centroids: false,
            face_areas: false,
            face_centroids: false,
            face_normals: false,
            ..self
        }
    }
}

/// Buffers of the grid.
#[derive(Debug, Default)]
pub(super) struct DeviceGrid {
    n_cells: u32,
    n_faces: u32,
    wide: bool,
    arrays: HashMap<&'static str, Rc<Buffer>>,
    pub(super) sets: DeviceSets,
}

impl DeviceGrid {
    pub(super) fn new(grid: &Arc<Grid>) -> Self {
        // Half-faces, at most two per face, must fit in an offset.
        let wide = 2 * grid.n_faces() as u64 > u64::from(u32::MAX);
        DeviceGrid { n_cells: grid.n_cells() as u32, n_faces: grid.n_faces() as u32, wide, ..DeviceGrid::default() }
    }

    /// Whether offsets into the cells' face lists take 64 bits.
    pub(super) fn wide_offsets(&self) -> bool {
        self.wide
    }
}

pub(super) fn bytes_of<T: Copy, const N: usize>(values: &[T], to: impl Fn(T) -> [u8; N]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(N * values.len());
    values.iter().for_each(|&v| bytes.extend_from_slice(&to(v)));
    bytes
}

/// `[dim][n]` from vectors of three.
fn components(vectors: &[[f64; 3]], dim: usize) -> Vec<u8> {
    (0..dim).flat_map(|d| vectors.iter().flat_map(move |v| v[d].to_le_bytes())).collect()
}

impl CudaRuntime {
    /// Whether this run uses the Cartesian forms of kernels.
    pub fn uses_cartesian_forms(&self) -> bool {
        self.session.grid().cartesian_shape().is_some()
    }

    /// A canonical set.
    ///
    /// # Errors
    /// As [`Grid::n_entities`].
    pub fn canonical_domain(&mut self, set: CanonicalSet) -> Result<Arc<Domain>, Error> {
        self.session.domain(set)
    }

    fn array(&mut self, name: &'static str, make: impl FnOnce(&Grid) -> Vec<u8>) -> Result<u64, Error> {
        if let Some(buffer) = self.grid.arrays.get(name) {
            return Ok(buffer.address().0);
        }
        let grid = Arc::clone(self.session.grid());
        let buffer = self.upload(name, &make(&grid))?;
        let address = buffer.address().0;
        self.grid.arrays.insert(name, buffer);
        Ok(address)
    }

    /// The grid for general kernels of a program, with the arrays asked for, or its shape where closed forms take their place.
    ///
    /// # Errors
    /// `Backend`: not enough memory. `Data`: it has no edges or vertices.
    pub fn grid_args(&mut self, needs: GridArrays) -> Result<EqGrid, Error> {
        if !self.uses_cartesian_forms() {
            return self.grid_arrays(needs);
        }
        Ok(EqGrid { shape: self.cartesian_args()?, ..self.grid_arrays(needs.without_closed_forms())? })
    }

    /// The grid with the arrays asked for.
    pub(super) fn grid_arrays(&mut self, needs: GridArrays) -> Result<EqGrid, Error> {
        let dim = self.session.grid().dim();
        let mut args = EqGrid { n_cells: self.grid.n_cells, n_faces: self.grid.n_faces, ..EqGrid::default() };
        if needs.sides {
            let wide = self.grid.wide;
            args.side_starts = self.array("where sides begin", |g| {
                let starts = sides::starts(g.topology());
                if wide { bytes_of(&starts, |p| (p as u64).to_le_bytes()) } else { bytes_of(&starts, |p| (p as u32).to_le_bytes()) }
            })?;
            args.side_beyond = self.array("the cells beyond sides", |g| bytes_of(&sides::beyond(g.topology()), u32::to_le_bytes))?;
        }
        if needs.side_faces {
            args.side_faces = self.array("the faces on sides", |g| bytes_of(&sides::faces(g.topology()), u32::to_le_bytes))?;
        }
        if needs.side_ranks {
            args.side_ranks = self.array("the ranks of the faces on sides", |g| bytes_of(&sides::ranks(g.topology()), u32::to_le_bytes))?;
        }
        if needs.face_cells {
            args.face_cells =
                self.array("the cells of faces", |g| g.topology().face_cells.iter().flatten().flat_map(|c| c.to_le_bytes()).collect())?;
        }
        if needs.cell_volumes {
            args.cell_volumes = self.array("cell volumes", |g| bytes_of(&g.geometry().cell_volumes, f64::to_le_bytes))?;
        }
        if needs.cell_centroids {
            args.cell_centroids = self.array("cell centroids", |g| components(&g.geometry().cell_centroids, dim))?;
        }
        if needs.face_areas {
            args.face_areas = self.array("face areas", |g| bytes_of(&g.geometry().face_areas, f64::to_le_bytes))?;
        }
        if needs.face_centroids {
            args.face_centroids = self.array("face centroids", |g| components(&g.geometry().face_centroids, dim))?;
        }
        if needs.face_normals {
            args.face_normals = self.array("face normals", |g| components(&g.geometry().face_normals, dim))?;
        }
        if needs.edge_lengths {
            args.edge_lengths = self.array("edge lengths", |g| bytes_of(g.edge_lengths(), f64::to_le_bytes))?;
        }
        if needs.edge_centroids {
            args.n_edges = self.session.grid().n_entities(EntityKind::Edge)? as u32;
            args.edge_centroids = self.array("edge centroids", |g| components(g.edge_centroids(), dim))?;
        }
        if needs.vertex_positions {
            args.n_vertices = self.session.grid().n_entities(EntityKind::Vertex)? as u32;
            args.vertex_positions = self.array("vertex positions", |g| components(g.vertex_positions(), dim))?;
        }
        Ok(args)
    }

    /// The uniform Cartesian grid.
    ///
    /// # Errors
    /// `Backend` (an internal error) if the run does not use Cartesian forms.
    pub fn cartesian_args(&self) -> Result<EqCartesian, Error> {
        let Some(shape) = self.session.grid().cartesian_shape() else {
            return Err(Error::new(equelle_runtime::ErrorKind::Backend, "internal error: a Cartesian kernel without a Cartesian grid"));
        };
        Ok(cartesian_args(shape))
    }
}

fn cartesian_args(shape: &Cartesian) -> EqCartesian {
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
        boundary += 2 * across(axis);
        interior += (shape.n[axis] - 1) * across(axis);
        area[axis] = (0..dim).filter(|&a| a != axis).map(|a| shape.spacing[a]).product();
    }
    let volume = shape.spacing[..dim].iter().product();
    let flat = u32::from(dim == 1 || n[1] > 65_535 * 4 || n[2] > 65_535);
    EqCartesian {
        n,
        flat,
        face_start,
        march: tuning::march(shape.n_cells()),
        boundary_start,
        interior_start,
        spacing: shape.spacing,
        area,
        volume,
    }
}
