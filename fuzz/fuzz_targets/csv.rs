//! Any bytes as CSV: refused, or numbers that are finite.

#![no_main]

use std::path::Path;

use equelle_runtime::io::csv::read_column;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    for column in [None, Some("2"), Some("KX")] {
        if let Ok(values) = read_column(Path::new("a.csv"), bytes, column) {
            assert!(values.iter().all(|value| value.is_finite()) && values.len() <= bytes.len());
        }
    }
});
