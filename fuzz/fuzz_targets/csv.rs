//! Any bytes as CSV or as a table: refused, or numbers that are finite.

#![no_main]

use std::path::Path;

use equelle_runtime::io::csv::{Located, Positions, Wanted, read_located};
use equelle_runtime::io::table::{between_blanks, read_columns};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Ok((columns, lines)) = read_columns(Path::new("a.txt"), bytes, ["1", "2"]) {
        assert!(columns.iter().all(|column| column.numbers.len() == lines.len() && column.numbers.iter().all(|x| x.is_finite())));
    }
    if let Some(text) = between_blanks(bytes, |_| true) {
        let _ = read_located(Path::new("a.txt"), &text, Wanted { input: "u", column: None });
    }
    for column in [None, Some("2"), Some("KX")] {
        if let Ok(Located { values, positions }) = read_located(Path::new("a.csv"), bytes, Wanted { input: "u", column }) {
            assert!(values.iter().all(|value| value.is_finite()) && values.len() <= bytes.len());
            if let Some(Positions { points, lines, .. }) = positions {
                assert!(points.iter().flatten().all(|x| x.is_finite()) && [points.len(), lines.len()] == [values.len(); 2]);
            }
        }
    }
});
