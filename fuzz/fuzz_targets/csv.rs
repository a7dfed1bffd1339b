//! Any bytes as CSV: refused, or numbers that are finite.

#![no_main]

use std::path::Path;

use equelle_runtime::io::csv::{Located, Positions, Wanted, read_located};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    for column in [None, Some("2"), Some("KX")] {
        if let Ok(Located { values, positions }) = read_located(Path::new("a.csv"), bytes, Wanted { input: "u", column }) {
            assert!(values.iter().all(|value| value.is_finite()) && values.len() <= bytes.len());
            if let Some(Positions { points, lines, .. }) = positions {
                assert!(points.iter().flatten().all(|x| x.is_finite()) && [points.len(), lines.len()] == [values.len(); 2]);
            }
        }
    }
});
