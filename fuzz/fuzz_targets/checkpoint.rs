//! Any bytes as a checkpoint: refused, or a header and arrays that it tells.

#![no_main]

use std::path::Path;

use equelle_runtime::checkpoint::read::Restart;
use equelle_runtime::io::npz;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let path = Path::new("a.npz");
    if let Ok(archive) = npz::read(path, bytes) {
        assert!(archive.names().all(|name| archive.member(name).is_some()));
    }
    let _ = Restart::parse(path, bytes);
});
