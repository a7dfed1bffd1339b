//! Files of VTK of a grid of each kind, and what other programs must read in them.
//!
//! `cargo run -p equelle-runtime --example vtk_files -- FOLDER` writes them, with the numbers as
//! arrays of NumPy; `tests/vtk/check.py` reads them with VTK, meshio and NumPy.

#![allow(dead_code, reason = "the modules of tests have more than is used here")]

#[path = "../tests/runtime/cells.rs"]
mod cells;
mod polyhedra;
mod triangles;
#[path = "../tests/runtime/vtk_cases.rs"]
mod vtk_cases;

use std::error::Error;
use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::Path;

use equelle_runtime::EntityKind;
use equelle_runtime::grid::Grid;
use equelle_runtime::output::{Field, FieldValues, StepFields, Support, npy};
use equelle_runtime::vtk::writer::vti::{self, ImageData};
use equelle_runtime::vtk::writer::vtu::{self, VtuMesh};
use equelle_runtime::vtk::writer::{Compression, VtkPart, pvd};

fn main() -> Result<(), Box<dyn Error>> {
    let folder = std::env::args().nth(1).ok_or("usage: vtk_files FOLDER")?;
    let folder = Path::new(&folder);
    std::fs::create_dir_all(folder)?;
    let mut list = BufWriter::new(File::create(folder.join("list.txt"))?);
    let mut collection: Vec<(f64, String, String)> = Vec::new();
    for (case, (name, grid)) in vtk_cases::grids().iter().enumerate() {
        let fields = vtk_cases::fields(grid);
        let scalars = [("mass".to_owned(), 0.1 + case as f64)];
        let step = StepFields { step: case as u64, time: case as f64 * 0.1, fields: &fields, scalars: &scalars };
        let mut files: Vec<(String, VtkPart)> = Vec::new();
        for (compression, mark) in [(Compression::None, ""), (Compression::Zlib, "-zlib")] {
            if let Some(image) = ImageData::of(grid, compression) {
                let file = format!("{name}{mark}.vti");
                vti::write(&mut BufWriter::new(File::create(folder.join(&file))?), &image, &step)?;
                files.push((file, VtkPart::Cells));
            }
            for part in [VtkPart::Cells, VtkPart::Faces, VtkPart::Edges] {
                // There is nothing on these parts that is nothing else.
                if part == VtkPart::Faces && grid.dim() == 1 || part == VtkPart::Edges && grid.dim() < 3 {
                    continue;
                }
                let mesh = VtuMesh::new(grid, part, compression).map_err(|error| error.message)?;
                let file = format!("{name}{}{mark}.vtu", part.suffix());
                vtu::write(&mut BufWriter::new(File::create(folder.join(&file))?), &mesh, &step)?;
                files.push((file, part));
            }
        }
        for (file, part) in &files {
            writeln!(list, "{file}\t{name}\t{}\t{}", &part.suffix(), grid.dim())?;
            collection.push((step.time, part.suffix().to_owned(), file.clone()));
        }
        for field in fields.iter().chain(&measures(grid)) {
            let file = folder.join(format!("{name}.{}.npy", field.tag.replace(' ', "_")));
            npy::write(&mut BufWriter::new(File::create(file)?), field)?;
        }
    }
    let entries: Vec<(f64, &str, &str)> = collection.iter().map(|(time, part, file)| (*time, &part[..], &file[..])).collect();
    std::fs::write(folder.join("all.pvd"), pvd::text(&entries))?;
    Ok(())
}

/// Measures and centroids, in the numbering of the file.
fn measures(grid: &Grid) -> Vec<Field> {
    let mut fields = Vec::new();
    for kind in [EntityKind::Cell, EntityKind::Face, EntityKind::Edge, EntityKind::Vertex] {
        let n = grid.n_entities(kind).unwrap_or(0);
        let order: Vec<usize> = (0..n as u32).map(|index| grid.entity_of_file(kind, index) as usize).collect();
        let (sizes, centroids) = (grid.measures(kind), grid.centroids(kind));
        let mut add = |what: &str, columns: Vec<Vec<f64>>| {
            let support = Support { kind, n_entities: n, subset: None };
            fields.push(Field { tag: format!("{} {what}", kind.noun()), support, values: FieldValues::F64(columns), unit: None });
        };
        add("measure", vec![order.iter().map(|&entity| sizes[entity]).collect()]);
        add("centroid", (0..3).map(|axis| order.iter().map(|&entity| centroids[entity][axis]).collect()).collect());
    }
    fields
}
