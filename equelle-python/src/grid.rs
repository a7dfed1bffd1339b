//! Grids.

use std::path::PathBuf;

use equelle_runtime::grid::{CellShape, GridBuilder};
use equelle_runtime::io::Sink;
use equelle_runtime::output::{Field, FieldValues, StepFields, Support};
use equelle_runtime::session::grid_from_parameters;
use equelle_runtime::threads::Threads;
use equelle_runtime::vtk::writer::vtu::{self, VtuMesh};
use equelle_runtime::vtk::writer::{Compression, VtkPart};
use equelle_runtime::{EntityKind, Grid};
use pyo3::buffer::PyBuffer;
use pyo3::exceptions::{PyOSError, PyTypeError, PyValueError};
use pyo3::prelude::*;

use crate::arguments::{self, Argument};
use crate::errors;
use crate::row::Row;

/// A grid that several runs share.
#[pyclass(frozen, name = "Grid")]
pub struct PyGrid {
    pub grid: Grid,
}

#[pymethods]
impl PyGrid {
    /// The grid of parameters such as `nx` and `grid_filename`.
    #[staticmethod]
    fn from_parameters(py: Python<'_>, given: Vec<(String, Argument<'_>)>) -> PyResult<PyGrid> {
        let parameters = arguments::parameters(py, &given)?;
        let grid = py.detach(|| grid_from_parameters(&parameters)).map_err(|error| errors::from_error(&error))?;
        let unread: Vec<&str> = parameters.unread().collect();
        if !unread.is_empty() {
            return Err(PyTypeError::new_err(format!("no grid has a parameter {}", unread.join(", "))));
        }
        Ok(PyGrid { grid })
    }

    /// A grid of blocks of cells of one shape: name of the shape and corners, `[n, n_corners]`.
    #[staticmethod]
    fn from_cells(py: Python<'_>, dim: usize, points: &Bound<'_, PyAny>, blocks: Vec<(String, Bound<'_, PyAny>)>) -> PyResult<PyGrid> {
        let points = PyBuffer::<f64>::get(points)?.to_vec(py)?;
        let positions = points.chunks_exact(dim).map(|point| std::array::from_fn(|axis| point.get(axis).copied().unwrap_or(0.0)));
        let refused = |error: equelle_runtime::grid::BuildError| {
            PyValueError::new_err(error.describe(|cell| format!("cell {cell}"), |node| format!("point {node}")))
        };
        let mut builder = GridBuilder::new(dim, positions.collect()).map_err(refused)?;
        for (name, corners) in blocks {
            let buffer = PyBuffer::<i64>::get(&corners)?;
            let width = buffer.shape().get(1).copied().unwrap_or(0);
            let shape = shape_of(&name, dim, width)?;
            for cell in buffer.to_vec(py)?.chunks_exact(width) {
                let corners: Vec<u32> = cell.iter().map(|&corner| u32::try_from(corner).unwrap_or(u32::MAX)).collect();
                match shape {
                    Some(shape) => builder.add(shape, &corners).map_err(refused)?,
                    None => builder.add_polygon(&corners).map_err(refused)?,
                }
            }
        }
        let grid = py.detach(|| builder.build(&Threads::one())).map_err(refused)?;
        Ok(PyGrid { grid })
    }

    /// The same grid with sides joined, such as `x-:x+,y-:y+`.
    fn periodic(&self, sides: &str) -> PyResult<PyGrid> {
        let grid = self.grid.clone().with_periodic_sides(sides).map_err(|error| errors::from_error(&error))?;
        Ok(PyGrid { grid })
    }

    /// Axes of space.
    #[getter]
    fn dim(&self) -> usize {
        self.grid.dim()
    }

    /// Number of cells.
    #[getter]
    fn n_cells(&self) -> usize {
        self.grid.n_cells()
    }

    /// Number of faces.
    #[getter]
    fn n_faces(&self) -> usize {
        self.grid.n_faces()
    }

    /// Cells along each axis of a uniform Cartesian grid, the last axis first.
    #[getter]
    fn shape(&self) -> Option<Vec<usize>> {
        self.grid.closed_shape().map(|shape| shape.n[..shape.dim].iter().rev().copied().collect())
    }

    /// Centroids, `[n, dim]`.
    fn centroids(&self, kind: &str) -> PyResult<Row> {
        let geometry = self.grid.geometry();
        let all = match kind {
            "cells" => &geometry.cell_centroids,
            _ => &geometry.face_centroids,
        };
        Ok(rows(all, self.grid.dim()))
    }

    /// Unit normals of faces, from first to second cell, `[n_faces, dim]`.
    fn normals(&self) -> Row {
        rows(&self.grid.geometry().face_normals, self.grid.dim())
    }

    /// Volumes of cells or areas of faces.
    fn measures(&self, kind: &str) -> Row {
        let geometry = self.grid.geometry();
        Row::from_scalars(match kind {
            "cells" => geometry.cell_volumes.to_vec(),
            _ => geometry.face_areas.to_vec(),
        })
    }

    /// The two cells of each face, -1 where there is none.
    fn face_cells(&self) -> Row {
        let cells = &self.grid.topology().face_cells;
        let number = |cell: u32| if cell == equelle_runtime::grid::NONE { -1.0 } else { f64::from(cell) };
        Row::from_vectors(cells.iter().flatten().map(|&cell| number(cell)).collect(), 2)
    }

    /// Points `[n_points, dim]`, and the corners of each cell of a grid of 2 dimensions as a list;
    /// `None` for a grid without points.
    fn polygons(&self) -> Option<(Row, Vec<Vec<u32>>)> {
        let points = self.grid.corner_positions().ok()?;
        let corners = self.grid.corners(EntityKind::Cell).ok()??;
        let cells = (0..corners.len()).map(|cell| corners.of(cell).to_vec()).collect();
        Some((rows(&points, self.grid.dim()), cells))
    }

    /// Writes fields on cells as VTK's `.vtu`: name, numbers `[n_cells]` or `[n_cells, dim]`, and
    /// unit of each.
    fn write_vtu(&self, py: Python<'_>, path: PathBuf, step: u64, time: f64, fields: Vec<(String, Bound<'_, PyAny>)>) -> PyResult<()> {
        let n_entities = self.grid.n_cells();
        let mut checked = Vec::with_capacity(fields.len());
        for (tag, values) in fields {
            let buffer = PyBuffer::<f64>::get(&values)?;
            let components = buffer.shape().get(1).copied().unwrap_or(1);
            let values = buffer.to_vec(py)?;
            if values.len() != n_entities * components {
                return Err(PyValueError::new_err(format!("{tag} is not on all cells")));
            }
            let column = |axis: usize| values.iter().skip(axis).step_by(components).copied().collect();
            let values = FieldValues::F64((0..components).map(column).collect());
            checked.push(Field { tag, support: Support { kind: EntityKind::Cell, n_entities, subset: None }, values, unit: None });
        }
        let mesh = VtuMesh::new(&self.grid, VtkPart::Cells, Compression::Zlib).map_err(|error| errors::from_error(&error))?;
        let fields = StepFields { step, time, fields: &checked, scalars: &[] };
        Sink::Files
            .write(&path, |out| vtu::write(out, &mesh, &fields))
            .map_err(|error| PyOSError::new_err(format!("{}: {error}", path.display())))
    }

    /// Name, kind and members of the named sets.
    fn sets(&self) -> Vec<(String, &'static str, Vec<u32>)> {
        let kind = |kind: EntityKind| kind.nouns();
        self.grid.named().sets().map(|set| (set.name.clone(), kind(set.kind), set.members.clone())).collect()
    }
}

fn rows(all: &[[f64; 3]], dim: usize) -> Row {
    Row::from_vectors(all.iter().flat_map(|point| point[..dim].iter().copied()).collect(), dim)
}

/// The standard shape of a name, as meshio has them; `None` for polygons.
fn shape_of(name: &str, dim: usize, corners: usize) -> PyResult<Option<CellShape>> {
    let (shape, expected) = match (name, dim) {
        ("triangle" | "quad" | "polygon", 2) if corners >= 3 => return Ok(None),
        ("tetra", 3) => (CellShape::Tetrahedron, 4),
        ("pyramid", 3) => (CellShape::Pyramid, 5),
        ("wedge", 3) => (CellShape::Prism, 6),
        ("hexahedron", 3) => (CellShape::Hexahedron, 8),
        _ => {
            return Err(PyValueError::new_err(format!(
                "a grid of {dim} dimensions has no cells of the shape {name:?} with {corners} corners"
            )));
        }
    };
    match corners == expected {
        true => Ok(Some(shape)),
        false => Err(PyValueError::new_err(format!("a {name} has {expected} corners, not {corners}"))),
    }
}
