//! The pages of the book with patterns and tables, and programs written in its way against closed
//! forms.

#[path = "../equelle-runtime/examples/polyhedra.rs"]
mod polyhedra;
#[path = "run/support.rs"]
#[allow(dead_code, reason = "shared with other tests")]
mod support;
#[path = "../equelle-runtime/examples/triangles.rs"]
mod triangles;

#[path = "patterns/closed_forms.rs"]
mod closed_forms;
#[path = "patterns/gradients.rs"]
mod gradients;
#[path = "patterns/grid_file.rs"]
mod grid_file;
#[path = "patterns/muscl.rs"]
mod muscl;
#[path = "patterns/page.rs"]
mod page;
#[path = "patterns/tables.rs"]
mod tables;
