//! Properties that every reader of grids promises of a grid that it accepts.

use equelle_runtime::grid::Grid;

/// Asserts positive measures, and cells for each face.
pub fn assert_sound(grid: &Grid) {
    let geometry = grid.geometry();
    assert!(geometry.face_areas.iter().chain(&geometry.cell_volumes).all(|&measure| measure > 0.0 && measure.is_finite()));
    assert_eq!(grid.topology().face_cells.len(), grid.n_faces());
}
