//! Any bytes as a deck: no panic, and what is accepted is a grid of positive measures.

#![no_main]

mod grid;

use std::path::Path;

use equelle_runtime::grid::io::grdecl::{self, DeckOptions};
use equelle_runtime::io::{Bytes, DataSource};
use equelle_runtime::threads::Threads;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    // No file of this machine is included; a few bytes ask for no more memory than a test has.
    let options = DeckOptions { most_cells: 10_000, ..DeckOptions::default() };
    let source = DataSource::memory([("x", b"PORO\n8*0.2 /\n".to_vec())]);
    match grdecl::read(&source, Path::new("d"), Bytes::Owned(data.to_vec()), &options, &Threads::one()) {
        Ok(grid) => {
            grid::assert_sound(&grid);
            assert!(grid.named().arrays().all(|array| array.values.iter().all(|value| value.is_finite())));
        }
        // An error may be in the file that is included.
        Err(error) => assert!(error.message.starts_with("d:") || error.message.contains('x'), "{}", error.message),
    }
});
