//! Any bytes as a mesh of Gmsh: no panic, and what is accepted is a grid of positive measures.

#![no_main]

mod grid;

use std::path::Path;

use equelle_runtime::grid::io::gmsh::{self, GmshOptions};
use equelle_runtime::threads::Threads;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    match gmsh::read(Path::new("m"), data, &GmshOptions::default(), &Threads::one()) {
        Ok(grid) => {
            grid::assert_sound(&grid);
        }
        Err(error) => assert!(error.message.starts_with("m:")),
    }
});
