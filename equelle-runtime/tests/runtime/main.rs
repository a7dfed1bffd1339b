//! Tests of the runtime, one module per topic.

#[path = "../../examples/triangles.rs"]
mod triangles;

#[path = "../../examples/polyhedra.rs"]
mod polyhedra;

mod builder;
mod cells;
mod columns;
mod common;
mod domain;
mod edges;
mod events;
mod faulted_layers;
mod finite;
mod from_grid;
mod fuzz;
mod gmsh;
mod gmsh_repairs;
mod grdecl;
mod grid;
mod input;
mod joined_sides;
mod msh;
mod newton;
mod newton_unscaled;
mod number;
mod opm;
mod output;
mod output_steps;
mod params;
mod positions;
mod ranks;
mod renumber;
mod run_record;
mod schema;
mod simulator;
mod stored;
mod vtk;
mod vtk_cases;
mod vtk_legacy;
mod vtk_mesh;
