//! Grids that have no structure for reads by index, and grids that are too small: refused at the
//! start, with the statement that needs the structure.

use std::process::Command;

use super::{PROGRAM, run};
use crate::support::{Dimensions, built_with, equellec, repository, stderr};

/// The same from a simulator and from the interpreter: exit code 4, what is said, and the line.
fn refused(words: &[&str], said: &str) {
    let simulator = built_with("-O2", Dimensions::Unchecked, PROGRAM);
    let mut interpreted = equellec();
    interpreted.args(["run", "--interpret", "--nondimensional"]).arg(repository(PROGRAM));
    for mut command in [Command::new(&simulator), interpreted] {
        let output = command.args(words).arg("output_to_file=false").output().expect("it starts");
        assert_eq!(output.status.code(), Some(4), "{words:?}: {}", stderr(&output));
        assert!(stderr(&output).contains(said), "{words:?}: {}", stderr(&output));
        assert!(stderr(&output).contains("reads_by_index.equelle:5"), "{words:?}: {}", stderr(&output));
    }
}

const NO_STRUCTURE: &str = "need a uniform Cartesian grid, and this grid is none";

#[test]
fn a_hidden_cartesian_grid() {
    refused(&["grid_dim=2", "nx=5", "ny=4", "grid_layout=unstructured", "u_expression=x"], NO_STRUCTURE);
}

#[test]
fn a_graded_grid() {
    refused(&["grid_dim=2", "dx=2*0.5,3*0.25", "ny=4", "u_expression=x"], NO_STRUCTURE);
}

#[test]
fn triangles_of_a_file() {
    let file = format!("grid_filename={}", repository("grids/triangles-6x5.grid").display());
    refused(&[&file, "u_expression=x"], NO_STRUCTURE);
}

#[test]
fn a_deck() {
    let file = format!("grid_filename={}", repository("grids/field.grdecl").display());
    refused(&[&file, "u_expression=x"], NO_STRUCTURE);
}

#[test]
fn grids_smaller_than_the_reach() {
    refused(&["grid_dim=2", "nx=1", "ny=4", "u_expression=x"], "needs 3 cells along I, and the grid has 1");
    refused(&["grid_dim=2", "nx=2", "ny=4", "u_expression=x"], "needs 3 cells along I, and the grid has 2");
}

#[test]
fn too_few_axes() {
    refused(&["grid_dim=1", "nx=5", "u_expression=x"], "axis J needs a grid of 2 dimensions, and this one has 1");
}

/// A grid as small as the reach is large enough.
#[test]
fn grids_as_small_as_the_reach() {
    let words = ["grid_dim=2", "nx=3", "ny=3", "dx=0.5", "dy=0.25", "u_expression=x*x+3*y"];
    let expected = super::run_with(super::How::Interpreted0, Dimensions::Unchecked, PROGRAM, &words);
    for how in super::EVERY_WAY {
        assert_eq!(super::run_with(how, Dimensions::Unchecked, PROGRAM, &words), expected, "{how:?}");
    }
    // Order 6 reaches 3 cells, and no axis is read further.
    let outputs = run(
        super::How::Interpreted2,
        "examples/heat_stencils_3d/heat_stencils_3d.equelle",
        &["grid_dim=3", "nx=3", "ny=3", "nz=3", "u_initial=300", "timesteps=0.1"],
    );
    assert!(outputs.last("u19").iter().all(|u| *u == 300.0));
}
