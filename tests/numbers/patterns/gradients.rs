//! Gradients by least squares are exact for linear fields, whatever the shape of the cells.

use std::fs;

use super::grid_file::{GridFile, input};
use crate::polyhedra;
use crate::support::{How, run, scratch};

const SLOPE: [f64; 3] = [0.7, -1.3, 2.1];

#[test]
fn exact_for_linear_fields() {
    let folder = scratch("gradients");
    for (name, mesh) in [("bent boxes", polyhedra::bent([6, 5, 4])), ("tetrahedra", polyhedra::tetrahedra([6, 5, 4]))] {
        let text = mesh.text();
        let grid = GridFile::read(&text);
        let path = folder.join("grid");
        fs::write(&path, &text).unwrap();
        let linear = |x: &[f64]| 3.0 + x.iter().zip(SLOPE).map(|(x, slope)| x * slope).sum::<f64>();
        let cells: Vec<f64> = grid.centroids.iter().map(|x| linear(x)).collect();
        let boundary: Vec<f64> = grid.boundary_centroids().map(linear).collect();
        let mut words = vec![format!("grid_filename={}", path.display())];
        words.extend(input(&folder, "u", &cells).into_iter().chain(input(&folder, "u_boundary", &boundary)));
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        for how in [How::Interpreted0, How::Interpreted2] {
            let outputs = run(how, "tests/patterns/gradients_3d.equelle", &words);
            for (tag, slope) in ["dx", "dy", "dz"].into_iter().zip(SLOPE) {
                let found = outputs.last(tag);
                assert_eq!(found.len(), grid.volumes.len());
                let error = found.iter().fold(0.0_f64, |error, value| error.max((value - slope).abs()));
                assert!(error < 1e-11 && found.iter().all(|value| value.is_finite()), "{name}, {how:?}: {tag} is off by {error:e}");
            }
        }
    }
    fs::remove_dir_all(&folder).unwrap();
}
