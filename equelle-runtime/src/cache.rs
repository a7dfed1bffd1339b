//! The folder of everything that is cached between runs: built simulators, compiled kernels.
//!
//! The compiler and generated programs both use this function, so that they agree.

use std::path::PathBuf;

use etcetera::BaseStrategy as _;

/// The environment variable with the parent of [`folder`].
pub const VARIABLE: &str = "EQUELLE_CACHE_DIR";

/// `equelle` below `EQUELLE_CACHE_DIR`, else below the platform's folder for caches: on Linux
/// `XDG_CACHE_HOME` or `~/.cache`. `None` if the home folder is not known.
pub fn folder() -> Option<PathBuf> {
    let set = std::env::var_os(VARIABLE).filter(|value| !value.is_empty()).map(PathBuf::from);
    let platform = || etcetera::base_strategy::choose_native_strategy().ok().map(|folders| folders.cache_dir());
    let base = set.or_else(platform)?;
    Some(std::path::absolute(&base).unwrap_or(base).join("equelle"))
}
