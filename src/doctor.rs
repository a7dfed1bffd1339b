//! `equellec doctor`: what of the surroundings is usable.

use std::fs;
use std::path::{Path, PathBuf};

use backend_cuda::libraries;
use equelle_runtime::session::placement::CROSSOVER_CELLS;

use crate::cache::{self, Cache};
use crate::cargo;
use crate::failure::Failure;

/// How to get the library for direct solves on the GPU.
const GET_CUDSS: &str = "`pip install nvidia-cudss-cu13` has version 1, in a folder nvidia/cu13/lib for LD_LIBRARY_PATH";

/// What was found.
#[derive(Debug)]
pub struct Report {
    /// One line for each thing that matters.
    pub text: String,
    /// Why nothing can be built, if so.
    pub result: Result<(), Failure>,
}

/// Looks at cargo, the cache folder and the CUDA libraries.
pub fn examine() -> Report {
    let mut lines = vec![format!("equellec   {} (runtime {})", env!("CARGO_PKG_VERSION"), cache::version_hash())];
    let cargo = cargo::version();
    lines.push(match &cargo {
        Ok(version) => format!("cargo      {version}"),
        Err(_) => "cargo      not found; only `run --interpret` works".to_owned(),
    });
    let cache = Cache::open();
    lines.push(match &cache {
        Ok(cache) => format!("cache      {} ({:.0} MB)", cache.root().display(), size(cache.root()) as f64 / 1e6),
        Err(_) => "cache      cannot be written".to_owned(),
    });
    lines.push(format!("serial     {}", if cargo.is_ok() && cache.is_ok() { "usable" } else { "not usable" }));
    let driver = libraries::find(&["libcuda.so.1", "nvcuda.dll"]);
    let compiler = libraries::find(&["libnvrtc.so", "libnvrtc.so.13", "libnvrtc.so.12", "nvrtc64_130_0.dll"]);
    let shown = |path: &Option<PathBuf>| path.as_ref().map_or_else(|| "not found".to_owned(), |path| path.display().to_string());
    lines.push(format!("cuda       driver: {}; run-time compiler: {}", shown(&driver), shown(&compiler)));
    if driver.is_none() || compiler.is_none() {
        lines.push("           programs for cuda can be built here, but not run".to_owned());
    } else {
        lines.push(format!("           faster than the cores on grids of more than about {CROSSOVER_CELLS} cells"));
    }
    let direct = match (libraries::find(&["libcudss.so.1"]), libraries::find(&["libcudss.so.0"])) {
        (Some(path), _) => format!("cuDSS 1: {}; for `solver=lu`, unless EQUELLE_CUDSS is off", path.display()),
        (None, Some(path)) => format!("cuDSS 0 is too old: {}; {GET_CUDSS}", path.display()),
        (None, None) => format!("cuDSS not found, `solver=lu` runs on the host; {GET_CUDSS}"),
    };
    lines.push(format!("           direct solves: {direct}"));
    Report { text: lines.join("\n") + "\n", result: cargo.map(drop).and(cache.map(drop)) }
}

/// Bytes of all files below a folder.
fn size(folder: &Path) -> u64 {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| entry.metadata().map_or(0, |data| if data.is_dir() { size(&entry.path()) } else { data.len() })).sum()
}
