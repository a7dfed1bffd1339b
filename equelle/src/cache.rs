//! The cache: the unpacked runtime crates and everything built with them.
//!
//! ```text
//! <cache>/                        equelle_runtime::cache::folder()
//!   kernels/                      of the CUDA runtime
//!   target/                       shared by all versions: a new one builds no foreign crate again
//!   <version>-<hash>/
//!     Cargo.toml, Cargo.lock, equelle-*/, backend-*/   the embedded workspace
//!     programs/<name>-<hash>/     packages built by `run` and `build`
//! ```
//!
//! Folders appear complete or not at all: they are filled under another name and then renamed, so
//! any number of processes may start at once.

use std::path::{Path, PathBuf};
use std::{fs, io};

use equelle_runtime::{Error, ErrorKind, cache};

use crate::failure::Failure;

mod embedded {
    include!(concat!(env!("OUT_DIR"), "/embedded.rs"));
}

/// The unpacked runtime crates of this version of `equellec`.
#[derive(Clone, Debug)]
pub struct Cache {
    base: PathBuf,
    root: PathBuf,
}

impl Cache {
    /// Unpacks the runtime crates unless they are there.
    ///
    /// # Errors
    /// No cache folder can be determined, or it cannot be written.
    pub fn open() -> Result<Self, Failure> {
        let folder = cache::folder()
            .ok_or_else(|| Error::new(ErrorKind::Io, "no folder for the build cache: the home folder is not known").hint(SET_VARIABLE))?;
        Self::open_in(&folder)
    }

    /// The same in a given folder.
    ///
    /// # Errors
    /// The folder cannot be written.
    pub fn open_in(base: &Path) -> Result<Self, Failure> {
        let root = base.join(version_hash());
        write_folder(&root, embedded::FILES)?;
        Ok(Cache { base: base.to_owned(), root })
    }

    /// The folder of this version.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Folder of the runtime crates: `<folder>/<crate>`.
    pub fn crates(&self) -> &Path {
        &self.root
    }

    /// The target directory that all simulators share, those of other versions of `equellec` too.
    pub fn target(&self) -> PathBuf {
        self.base.join("target")
    }

    /// Writes the folder of a package unless it exists. `name` differs for different content.
    ///
    /// # Errors
    /// The folder cannot be written.
    pub fn program(&self, name: &str, files: &[(&str, &str)]) -> Result<PathBuf, Failure> {
        let folder = self.root.join("programs").join(name);
        write_folder(&folder, files)?;
        Ok(folder)
    }
}

/// `<version>-<hash of the embedded files>`
pub fn version_hash() -> String {
    format!("{}-{}", env!("CARGO_PKG_VERSION"), embedded::HASH)
}

/// The lock file for the external crates that simulators use.
pub fn lock_file() -> &'static str {
    embedded::FILES.iter().find(|(name, _)| *name == "Cargo.lock").map_or("", |(_, text)| text)
}

/// Path and text of the runtime crates and of the files beside them.
pub fn embedded_files() -> &'static [(&'static str, &'static str)] {
    embedded::FILES
}

/// Hint how to choose another folder.
const SET_VARIABLE: &str = "set EQUELLE_CACHE_DIR to a folder that can be written";

/// Makes a folder with these files (path with `/`, text), complete or not at all, unless it is
/// there.
fn write_folder(folder: &Path, files: &[(&str, &str)]) -> Result<(), Failure> {
    if folder.is_dir() {
        return Ok(());
    }
    let parent = folder.parent().unwrap_or(folder);
    let written = (|| {
        fs::create_dir_all(parent)?;
        let temporary = tempfile::Builder::new().prefix(".new-").tempdir_in(parent)?;
        for (name, text) in files {
            let path = temporary.path().join(name);
            fs::create_dir_all(path.parent().unwrap_or(parent))?;
            fs::write(&path, text)?;
        }
        fs::rename(temporary.path(), folder)
    })();
    // Another process may have been faster.
    written.or_else(|error| if folder.is_dir() { Ok(()) } else { Err(cannot_write(folder, &error)) })
}

fn cannot_write(folder: &Path, error: &io::Error) -> Failure {
    Error::new(ErrorKind::Io, format!("cannot write the build cache `{}`: {error}", folder.display())).hint(SET_VARIABLE).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unpacked_workspace_stands_alone() {
        let base = tempfile::tempdir().unwrap();
        let results: Vec<_> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..4).map(|_| scope.spawn(|| Cache::open_in(base.path()).map_err(|e| format!("{e:?}")))).collect();
            threads.into_iter().map(|thread| thread.join().expect("no panic")).collect()
        });
        let root = results[0].as_ref().expect("unpacks").root().to_owned();
        assert!(results.iter().all(Result::is_ok), "{results:?}");
        let left: Vec<_> = fs::read_dir(root.parent().unwrap()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(left, [root.file_name().unwrap()], "temporary folders are gone");
        assert!(root.join("backend-serial/src/lib.rs").is_file());
        assert!(!root.join("backend-serial/src/codegen").exists());
        for name in ["equelle-core", "equelle-runtime", "backend-serial", "backend-cuda"] {
            let manifest = fs::read_to_string(root.join(name).join("Cargo.toml")).unwrap();
            assert!(!manifest.contains("equelle-front") && !manifest.contains("workspace = true"), "{manifest}");
            assert!(!manifest.contains("[[") && !manifest.contains("dev-dependencies"), "targets that are not there: {manifest}");
        }
    }
}
