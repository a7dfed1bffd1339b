//! How long a step's file of VTK takes: three fields on the cells of a mesh.
//!
//! `cargo run --release -p equelle-runtime --example vtu_step -- FOLDER [MESH.msh] [threads=N]`;
//! without a mesh, 2 million hexahedra. Each time is the least of five.

use std::error::Error;
use std::fs::File;
use std::path::Path;
use std::time::Instant;

use equelle_runtime::EntityKind;
use equelle_runtime::grid::io::read_file_with;
use equelle_runtime::grid::{Grid, StoredGeometry};
use equelle_runtime::io::DataSource;
use equelle_runtime::output::{Field, FieldValues, StepFields, Support};
use equelle_runtime::threads::Threads;
use equelle_runtime::vtk::writer::vtu::{self, VtuMesh};
use equelle_runtime::vtk::writer::{Compression, VtkPart};

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let (threads, names): (Vec<&String>, Vec<&String>) = words.iter().partition(|word| word.starts_with("threads="));
    let threads = Threads::new(threads.first().map_or(Ok(1), |word| word["threads=".len()..].parse())?);
    let folder = Path::new(names.first().ok_or("usage: vtu_step FOLDER [MESH.msh] [threads=N]")?);
    let mut grid = match names.get(1) {
        Some(mesh) => {
            read_file_with(&DataSource::Files, Path::new(mesh), StoredGeometry::Trust, &threads).map_err(|error| error.message)?
        }
        None => Grid::rectilinear(3, [&[1.0; 125], &[0.5; 128], &[2.0; 125]]).map_err(|error| error.message)?,
    };
    grid.set_threads(threads);
    let n = grid.n_cells();
    let support = Support { kind: EntityKind::Cell, n_entities: n, subset: None };
    let wave = |k: f64| (0..n).map(|cell| (cell as f64 * k).sin()).collect::<Vec<f64>>();
    let vector = FieldValues::F64(vec![wave(0.1), wave(0.2), wave(0.3)]);
    let fields = [("u", FieldValues::F64(vec![wave(1e-6)])), ("p", FieldValues::F64(vec![wave(1e-4)])), ("v", vector)]
        .map(|(tag, values)| Field { tag: tag.to_owned(), support: support.clone(), values, unit: None });
    let step = StepFields { step: 1, time: 0.1, fields: &fields, scalars: &[] };
    for compression in [Compression::None, Compression::Zlib] {
        let start = Instant::now();
        let mesh = VtuMesh::new(&grid, VtkPart::Cells, compression).map_err(|error| error.message)?;
        let mesh_time = start.elapsed().as_secs_f64();
        let path = folder.join("step.vtu");
        let (mut written, mut synced) = (f64::INFINITY, f64::INFINITY);
        for _ in 0..5 {
            let start = Instant::now();
            let mut file = File::create(&path)?;
            vtu::write(&mut file, &mesh, &step)?;
            written = written.min(start.elapsed().as_secs_f64());
            file.sync_all()?;
            synced = synced.min(start.elapsed().as_secs_f64());
        }
        let size = std::fs::metadata(&path)?.len() as f64 / 1e6;
        println!("{n} cells, {compression:?}: mesh {mesh_time:.2} s once, step {written:.2} s, with sync {synced:.2} s, {size:.0} MB");
        std::fs::remove_file(&path)?;
    }
    Ok(())
}
