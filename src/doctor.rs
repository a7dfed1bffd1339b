//! `equellec doctor`: what of the surroundings is usable.

use std::path::{Path, PathBuf};
use std::{env, fs};

use crate::cache::{self, Cache};
use crate::cargo;
use crate::console::Console;
use crate::failure::Failure;

/// Prints one line for each thing that matters. Fails only if nothing can be built.
///
/// # Errors
/// Cargo or the cache folder cannot be used.
pub fn doctor(console: &Console) -> Result<(), Failure> {
    println!("equellec   {} (runtime {})", env!("CARGO_PKG_VERSION"), cache::version_hash());
    let cargo = cargo::version();
    match &cargo {
        Ok(version) => println!("cargo      {version}"),
        Err(_) => println!("cargo      not found; only `run --interpret` works"),
    }
    let cache = Cache::open();
    match &cache {
        Ok(cache) => println!("cache      {} ({:.0} MB)", cache.root().display(), size(cache.root()) as f64 / 1e6),
        Err(_) => println!("cache      cannot be written"),
    }
    println!("serial     {}", if cargo.is_ok() && cache.is_ok() { "usable" } else { "not usable" });
    let driver = find_library(&["libcuda.so.1", "nvcuda.dll"]);
    let compiler = find_library(&["libnvrtc.so", "libnvrtc.so.13", "libnvrtc.so.12", "nvrtc64_130_0.dll"]);
    let shown = |path: &Option<PathBuf>| path.as_ref().map_or_else(|| "not found".to_owned(), |path| path.display().to_string());
    println!("cuda       driver: {}; run-time compiler: {}", shown(&driver), shown(&compiler));
    if driver.is_none() || compiler.is_none() {
        println!("           programs for cuda can be built here, but not run");
    }
    // One failure is the result; another one is shown here.
    if let (Err(failure), Err(_)) = (&cache, &cargo) {
        console.failure(failure);
    }
    cargo?;
    cache.map(drop)
}

/// The first of these libraries in the folders where the system's loader would look. Loading it is left to the programs that use it.
fn find_library(names: &[&str]) -> Option<PathBuf> {
    let variable = if cfg!(windows) { "PATH" } else { "LD_LIBRARY_PATH" };
    let mut folders: Vec<PathBuf> = env::var_os(variable).map(|value| env::split_paths(&value).collect()).unwrap_or_default();
    let usual = [
        "/usr/lib/x86_64-linux-gnu",
        "/usr/lib/aarch64-linux-gnu",
        "/usr/lib64",
        "/usr/lib",
        "/usr/lib/wsl/lib",
        "/usr/local/nvidia/lib64",
    ];
    folders.extend(usual.map(PathBuf::from));
    folders.extend(["/usr/local/cuda/lib64", "/usr/local/cuda/targets/x86_64-linux/lib"].map(PathBuf::from));
    folders.iter().flat_map(|folder| names.iter().map(move |name| folder.join(name))).find(|path| path.exists())
}

/// Bytes of all files below a folder.
fn size(folder: &Path) -> u64 {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| entry.metadata().map_or(0, |data| if data.is_dir() { size(&entry.path()) } else { data.len() })).sum()
}
