//! VTK's format `.vtu`: an unstructured grid with fields of one step.
//!
//! Points and cells are encoded once for a run, so that a step costs what its fields cost. The
//! format has no reference to another file, so each file holds the mesh.

use std::io::{Result, Write};

use super::{Array, Compression, Document, Encoded, Step, VtkPart};
use crate::error::Error;
use crate::grid::{CellShape, Corners, EntityShape, Grid};
use crate::output::StepFields;
use crate::threads::Threads;
use crate::vtk::cell_types::type_number;
use crate::vtk::names::{Association, CONNECTIVITY, FACE_OFFSETS, FACES, OFFSETS, TYPES};
use crate::vtk::number_type::NumberType;

/// The mesh of the files of a run: entities of one kind as cells, in the numbering of the grid's
/// file.
pub struct VtuMesh {
    dim: usize,
    part: VtkPart,
    n_points: usize,
    n_cells: usize,
    points: Encoded<'static>,
    cells: Vec<Encoded<'static>>,
    compression: Compression,
    threads: Threads,
}

impl VtuMesh {
    /// The cells, faces or edges of a grid, which needs no geometry for it but its nodes. Memory:
    /// what a file of the mesh takes, 24 bytes a point and 4 bytes for each corner of a cell.
    ///
    /// If one cell is a polyhedron, all are: some readers cannot mix them with other shapes. Prisms
    /// are polyhedra, as VTK 9 and meshio take the corners of its wedges in opposite senses.
    ///
    /// # Errors
    /// `Data` for a grid of arrays without nodes, and for a cell or face whose nodes do not
    /// enclose it; names other formats.
    pub fn new(grid: &Grid, part: VtkPart, compression: Compression) -> std::result::Result<VtuMesh, Error> {
        let threads = grid.threads().clone();
        let positions = grid.corner_positions()?;
        let corners = grid.corners(part.kind())?.unwrap_or_default();
        let is_polyhedron = |shape: &EntityShape| matches!(shape, EntityShape::Polyhedron | EntityShape::Cell(CellShape::Prism));
        let has_polyhedra = corners.shapes().iter().any(is_polyhedron);
        let cells = if has_polyhedra { polyhedra(&corners) } else { standard(&corners) };
        // Indices and ends of lists of half the size, where they fit.
        let most = cells.iter().flat_map(|list| list.values.iter().copied()).max().unwrap_or(0);
        let number = if i32::try_from(most).is_ok() { NumberType::Int32 } else { NumberType::Int64 };
        let encode = |array: Array<'static>| array.encode(compression, &threads);
        let points: Vec<u8> = positions.iter().flatten().flat_map(|x| x.to_le_bytes()).collect();
        let mut arrays: Vec<Encoded<'static>> = cells.into_iter().map(|list| encode(list.array(number))).collect();
        let types: Vec<u8> = corners.shapes().iter().map(|&shape| type_number(shape, has_polyhedra)).collect();
        arrays.push(encode(Array::from_bytes(TYPES, NumberType::UInt8, None, types)));
        Ok(VtuMesh {
            dim: grid.dim(),
            part,
            n_points: positions.len(),
            n_cells: corners.len(),
            points: encode(Array::from_bytes("Points", NumberType::Float64, Some(3), points)),
            cells: arrays,
            compression,
            threads,
        })
    }

    /// Entities that are its cells.
    pub fn part(&self) -> VtkPart {
        self.part
    }
}

/// Writes a file with those fields of a step that belong to the mesh; other fields are in files of
/// other parts.
///
/// # Errors
/// Those of `out`.
///
/// # Panics
/// If a field has not one value for each element of its support, or is of another grid.
pub fn write(out: &mut dyn Write, mesh: &VtuMesh, fields: &StepFields<'_>) -> Result<()> {
    let step = Step { dim: mesh.dim, part: mesh.part, fields };
    let mut document = Document::new("UnstructuredGrid", mesh.compression, &mesh.threads);
    document.open("UnstructuredGrid", &[]);
    step.field_data(&mut document);
    document.open("Piece", &[("NumberOfPoints", mesh.n_points.to_string()), ("NumberOfCells", mesh.n_cells.to_string())]);
    step.arrays(Association::Points, &mut document);
    step.arrays(Association::Cells, &mut document);
    document.open("Points", &[]);
    document.shared(&mesh.points);
    document.close("Points");
    document.open("Cells", &[]);
    mesh.cells.iter().for_each(|array| document.shared(array));
    document.close("Cells");
    document.close("Piece");
    document.close("UnstructuredGrid");
    document.write(out)
}

/// A list of indices or ends.
struct List {
    name: &'static str,
    values: Vec<usize>,
}

impl List {
    fn array(self, number: NumberType) -> Array<'static> {
        let bytes = if number == NumberType::Int32 {
            self.values.iter().flat_map(|&value| (value as i32).to_le_bytes()).collect()
        } else {
            self.values.iter().flat_map(|&value| (value as i64).to_le_bytes()).collect()
        };
        Array::from_bytes(self.name, number, None, bytes)
    }
}

/// Cells by their corners.
fn standard(corners: &Corners) -> Vec<List> {
    let (mut connectivity, mut offsets) = (Vec::new(), Vec::with_capacity(corners.len()));
    for entity in 0..corners.len() {
        // The standard cells of VTK that are written have their corners in our order.
        connectivity.extend(corners.of(entity).iter().map(|&corner| corner as usize));
        offsets.push(connectivity.len());
    }
    vec![List { name: CONNECTIVITY, values: connectivity }, List { name: OFFSETS, values: offsets }]
}

/// Cells by their corners and faces.
fn polyhedra(corners: &Corners) -> Vec<List> {
    let (mut faces, mut face_offsets) = (Vec::new(), Vec::with_capacity(corners.len()));
    for (entity, &shape) in corners.shapes().iter().enumerate() {
        let at = faces.len();
        faces.push(0);
        let mut n_faces = 0;
        match shape {
            EntityShape::Cell(shape) => {
                let corners = corners.of(entity);
                for face in shape.faces() {
                    n_faces += 1;
                    faces.push(face.len());
                    faces.extend(face.iter().map(|&corner| corners[usize::from(corner)] as usize));
                }
            }
            EntityShape::Polyhedron | EntityShape::Nothing | EntityShape::Vertex | EntityShape::Line | EntityShape::Polygon => {
                let mut rest = corners.faces_of(entity);
                while let Some((&len, others)) = rest.split_first() {
                    let (face, others) = others.split_at(len as usize);
                    n_faces += 1;
                    faces.push(face.len());
                    faces.extend(face.iter().map(|&corner| corner as usize));
                    rest = others;
                }
            }
        }
        faces[at] = n_faces;
        face_offsets.push(faces.len());
    }
    // The order of the corners of a polyhedron is free.
    let mut lists = standard(corners);
    lists.extend([List { name: FACES, values: faces }, List { name: FACE_OFFSETS, values: face_offsets }]);
    lists
}
