//! Cells and faces of a grid file, and data files for runs on it.

use std::fs;
use std::path::Path;

/// Geometry of a grid file in OPM's text format.
pub struct GridFile {
    /// Cells of each face, -1 outside.
    pub face_cells: Vec<[i64; 2]>,
    pub face_centroids: Vec<Vec<f64>>,
    /// Areas times normals.
    pub normals: Vec<Vec<f64>>,
    pub volumes: Vec<f64>,
    pub centroids: Vec<Vec<f64>>,
}

impl GridFile {
    pub fn read(text: &str) -> GridFile {
        let mut words = text.split_ascii_whitespace().map(|word| word.parse::<f64>().unwrap());
        let mut take = |count: usize| -> Vec<f64> { words.by_ref().take(count).collect() };
        let sizes: Vec<usize> = take(6).iter().map(|&size| size as usize).collect();
        let [dim, n_cells, n_faces, n_nodes, n_face_nodes, n_cell_faces] = sizes[..] else { panic!("six sizes") };
        take(2 + dim + n_nodes * dim + n_faces + 1 + n_face_nodes);
        let points = |values: Vec<f64>| -> Vec<Vec<f64>> { values.chunks(dim).map(<[f64]>::to_vec).collect() };
        let face_cells = take(2 * n_faces).chunks(2).map(|pair| [pair[0] as i64, pair[1] as i64]).collect();
        take(n_faces);
        let [face_centroids, normals] = [(); 2].map(|()| points(take(dim * n_faces)));
        take(n_cells + 1 + n_cell_faces);
        let volumes = take(n_cells);
        GridFile { face_cells, face_centroids, normals, volumes, centroids: points(take(dim * n_cells)) }
    }

    /// Centroids of the faces on the boundary, in ascending order of the faces.
    pub fn boundary_centroids(&self) -> impl Iterator<Item = &[f64]> {
        self.face_cells.iter().zip(&self.face_centroids).filter(|(cells, _)| cells.contains(&-1)).map(|(_, centroid)| &centroid[..])
    }
}

/// Writes numbers to a file: its path.
pub fn write(folder: &Path, name: &str, values: &[f64]) -> String {
    let path = folder.join(name);
    fs::write(&path, values.iter().map(|value| format!("{value:e}\n")).collect::<String>()).unwrap();
    path.display().to_string()
}

/// The words that give an input collection these values.
pub fn input(folder: &Path, name: &str, values: &[f64]) -> [String; 2] {
    [format!("{name}_from_file=true"), format!("{name}_filename={}", write(folder, name, values))]
}
