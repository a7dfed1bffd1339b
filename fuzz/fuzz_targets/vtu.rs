//! Any bytes as a mesh of VTK: no panic, and what is accepted is a grid of positive measures.

#![no_main]

mod grid;

use std::path::Path;

use equelle_runtime::vtk::reader::read_grid;
use equelle_runtime::threads::Threads;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    match read_grid(Path::new("u"), data, &Threads::one()) {
        Ok(grid) => {
            grid::assert_sound(&grid);
            assert!(grid.named().arrays().all(|array| array.values.len() == grid.n_cells()));
        }
        Err(error) => assert!(error.message.starts_with("u:"), "{}", error.message),
    }
});
