//! Any bytes as an array of NumPy: refused, or as many finite numbers as the shape says.

#![no_main]

use std::path::Path;

use equelle_runtime::io::npy::read;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(array) = read(Path::new("a.npy"), bytes) {
        let len: usize = array.shape.iter().product();
        if let Ok(values) = array.numbers() {
            assert!(values.len() == len && values.iter().all(|value| value.is_finite()));
        }
        if let Ok(values) = array.truths() {
            assert_eq!(values.len(), len);
        }
    }
});
