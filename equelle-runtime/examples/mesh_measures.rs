//! Measures of the grid of a file, for comparison with those of other programs.
//!
//! `cargo run -p equelle-runtime --example mesh_measures -- mesh.msh [volumes] [joined]`
//! prints the numbers of cells, faces and vertices, the sum of all volumes, and for each
//! named set its volume or area; with `volumes`, the volume of each cell in the order of
//! the file, and with `joined` the two cells of each face whose sides are joined.
//! `threads=N` reads on several threads.

use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

use equelle_runtime::EntityKind;
use equelle_runtime::grid::StoredGeometry;
use equelle_runtime::grid::io::read_file_with;
use equelle_runtime::io::DataSource;
use equelle_runtime::threads::Threads;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let Some(path) = words.first() else {
        eprintln!("usage: mesh_measures FILE [volumes] [threads=N]");
        return ExitCode::from(2);
    };
    let threads = words.iter().find_map(|word| word.strip_prefix("threads=")?.parse().ok()).unwrap_or(1);
    let start = Instant::now();
    let grid = match read_file_with(&DataSource::Files, Path::new(path), StoredGeometry::Check, &Threads::new(threads)) {
        Ok(grid) => grid,
        Err(error) => {
            eprintln!("error: {}", error.message);
            return ExitCode::from(error.kind.exit_code());
        }
    };
    eprintln!("read in {:.3} s", start.elapsed().as_secs_f64());
    let geometry = grid.geometry();
    let n_vertices = grid.n_entities(EntityKind::Vertex).unwrap_or(0);
    println!("cells {}\nfaces {}\nvertices {n_vertices}", grid.n_cells(), grid.n_faces());
    println!("volume {:e}", geometry.cell_volumes.iter().sum::<f64>());
    for set in grid.named().sets() {
        let measures = if set.kind == EntityKind::Cell { &geometry.cell_volumes } else { &geometry.face_areas };
        let total: f64 = set.members.iter().map(|&member| measures[member as usize]).sum();
        println!("{} {} {total:e} {}", set.kind.noun(), set.members.len(), set.name);
    }
    if words.iter().any(|word| word == "volumes") {
        geometry.cell_volumes.iter().for_each(|volume| println!("{volume:e}"));
    }
    if words.iter().any(|word| word == "joined") {
        let joined = geometry.face_gaps.iter().zip(&grid.topology().face_cells).filter(|(gap, _)| **gap != [0.0; 3]);
        joined.for_each(|(_, [first, second])| println!("joined {first} {second}"));
    }
    ExitCode::SUCCESS
}
