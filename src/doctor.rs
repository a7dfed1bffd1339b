//! `equellec doctor`: checks tool chain, cache, GPU and MPI.

use std::fs;
use std::path::Path;

use equelle_front::backend::{Availability, DeviceKind};
use equelle_runtime::session::placement::CROSSOVER_CELLS;

use equelle::cache::{self, Cache};
use equelle::cargo;
use equelle::failure::Failure;
use equelle::mpi::Installation;
use equelle::package::written;
use equelle::registry::Registry;

/// Findings about this machine and folder.
#[derive(Debug)]
pub struct Report {
    /// One line for each thing that matters.
    pub text: String,
    /// Why nothing can be built, if so.
    pub result: Result<(), Failure>,
}

/// Looks at cargo, the cache folder and MPI, and lets each back-end look.
pub fn examine(backends: Registry) -> Report {
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
    lines.push(match Installation::find(None) {
        Ok(Installation { launcher, library, name }) => {
            format!("MPI        {name}: `{}` and `{}`, for runs on several ranks", launcher.program.display(), library.display())
        }
        Err(Failure::Error(error)) => format!("MPI        {}; {}", error.message, error.hint.unwrap_or_default()),
        Err(Failure::Program | Failure::Exit(_) | Failure::Internal(_)) => "MPI        none".to_owned(),
    });
    let builds = cargo.is_ok() && cache.is_ok();
    for backend in backends {
        let Availability { runs, found } = backend.availability();
        let verdict = match (backend.device_kind(), runs) {
            (DeviceKind::Gpu, true) => format!("faster than the cores on grids of more than about {CROSSOVER_CELLS} cells"),
            (DeviceKind::Gpu, false) => format!("programs for {} can be built here, but not run", backend.name()),
            (DeviceKind::Cores, _) => (if runs && builds { "usable" } else { "not usable" }).to_owned(),
        };
        let mut about = found.into_iter();
        let first = about.next();
        for (number, line) in first.into_iter().chain([verdict]).chain(about).enumerate() {
            lines.push(format!("{:<11}{line}", if number == 0 { backend.name() } else { "" }));
        }
    }
    lines.extend(package_line(Path::new(".")));
    Report { text: lines.join("\n") + "\n", result: cargo.map(drop).and(cache.map(drop)) }
}

/// The runtime that a package in a folder depends on; `None` if there is no package of ours.
fn package_line(folder: &Path) -> Option<String> {
    let manifest: toml_edit::DocumentMut = fs::read_to_string(folder.join("Cargo.toml")).ok()?.parse().ok()?;
    let path = manifest.get("dependencies")?.get("equelle-runtime")?.get("path")?.as_str()?.to_owned();
    let hashes = written::read_hashes(folder).ok().filter(|hashes| !hashes.is_empty())?;
    if folder.join(&path).join("Cargo.toml").is_file() {
        return Some(format!("package    its runtime, {path}, is there"));
    }
    let program = hashes.keys().find(|name| name.ends_with(".equelle")).map_or("PROGRAM.equelle", String::as_str);
    Some(format!(
        "package    its runtime, {path}, was moved or deleted; `equellec {program} -o . --force` writes the package for this cache"
    ))
}

/// Bytes of all files below a folder.
fn size(folder: &Path) -> u64 {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| entry.metadata().map_or(0, |data| if data.is_dir() { size(&entry.path()) } else { data.len() })).sum()
}
