//! Any bytes as a file of VTK: refused, or as many numbers as there are entities.

#![no_main]

use std::path::Path;

use equelle_runtime::vtk::Association;
use equelle_runtime::vtk::reader::read;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(file) = read(Path::new("u.vtu"), bytes) {
        for (association, n) in [(Association::Points, file.n_points), (Association::Cells, file.n_cells)] {
            for name in file.names(association) {
                if let Ok(values) = file.values(association, name) {
                    assert_eq!(values.numbers.len(), n * values.components);
                }
            }
        }
    }
});
