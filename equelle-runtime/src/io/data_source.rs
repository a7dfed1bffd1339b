//! Where the bytes of parameters, data and grids come from: files, or memory under a name.

use std::collections::BTreeMap;
use std::fs::File;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::error::{Error, ErrorKind};

/// Content of a file.
#[derive(Clone, Debug)]
pub enum Bytes {
    /// Read from a file.
    Owned(Vec<u8>),
    /// Shared with a source in memory.
    Shared(Arc<[u8]>),
}

impl Deref for Bytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Bytes::Owned(bytes) => bytes,
            Bytes::Shared(bytes) => bytes,
        }
    }
}

/// Where bytes come from.
#[derive(Clone, Debug, Default)]
pub enum DataSource {
    /// Files.
    #[default]
    Files,
    /// Memory: content by name. No file is read.
    Memory(BTreeMap<PathBuf, Arc<[u8]>>),
}

impl DataSource {
    /// Contents in memory, by name.
    pub fn memory<N: Into<PathBuf>, B: Into<Arc<[u8]>>>(contents: impl IntoIterator<Item = (N, B)>) -> DataSource {
        DataSource::Memory(contents.into_iter().map(|(name, bytes)| (name.into(), bytes.into())).collect())
    }

    /// The content of a file; `what` it is, such as `grid file`, is for messages.
    ///
    /// # Errors
    /// `Io` if it cannot be read.
    pub fn read(&self, path: &Path, what: &str) -> Result<Bytes, Error> {
        match self {
            DataSource::Files => std::fs::read(path).map(Bytes::Owned).map_err(|error| cannot_read(path, what, &error)),
            DataSource::Memory(contents) => match contents.get(path) {
                Some(bytes) => Ok(Bytes::Shared(Arc::clone(bytes))),
                None => Err(cannot_read(path, what, &std::io::Error::new(std::io::ErrorKind::NotFound, "there is no such name in memory"))),
            },
        }
    }

    /// A file on disk with its size in bytes; `None` for memory, pipes, and what cannot be opened.
    pub(crate) fn open(&self, path: &Path) -> Option<(File, usize)> {
        let DataSource::Files = self else { return None };
        // A pipe would wait for who writes to it.
        let size = std::fs::metadata(path).ok().filter(std::fs::Metadata::is_file)?.len();
        Some((File::open(path).ok()?, usize::try_from(size).ok()?))
    }

    /// The error of [`DataSource::read`], if it is known before the file is read. A pipe gives what
    /// it has once, and is not opened.
    ///
    /// # Errors
    /// `Io` if the file cannot be read.
    pub fn check(&self, path: &Path, what: &str) -> Result<(), Error> {
        match self {
            DataSource::Files => {
                let found = std::fs::metadata(path).map_err(|error| cannot_read(path, what, &error))?;
                if found.is_dir() {
                    return Err(cannot_read(path, what, &std::io::ErrorKind::IsADirectory.into()));
                }
                if found.is_file() {
                    std::fs::File::open(path).map_err(|error| cannot_read(path, what, &error))?;
                }
                Ok(())
            }
            DataSource::Memory(_) => self.read(path, what).map(drop),
        }
    }
}

fn cannot_read(path: &Path, what: &str, error: &std::io::Error) -> Error {
    let what = if what.is_empty() { String::new() } else { format!("{what} ") };
    Error::new(ErrorKind::Io, format!("cannot read {what}`{}`: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_in_memory_hide_the_file_system() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "1 2").unwrap();
        assert_eq!(&*DataSource::Files.read(file.path(), "").unwrap(), b"1 2");
        let memory = DataSource::memory([("u.txt", b"3".to_vec())]);
        assert_eq!(&*memory.read(Path::new("u.txt"), "").unwrap(), b"3");
        let error = memory.read(file.path(), "grid file").unwrap_err();
        assert_eq!(error.kind, ErrorKind::Io);
        assert!(error.message.starts_with("cannot read grid file `") && error.message.ends_with("no such name in memory"), "{error:?}");
        let error = DataSource::Files.read(Path::new("no/such"), "").unwrap_err();
        assert!(error.message.starts_with("cannot read `no/such`: "), "{error:?}");
        assert_eq!(DataSource::Files.check(Path::new("no/such"), "").unwrap_err().message, error.message);
        assert!(DataSource::Files.check(file.path(), "").is_ok() && memory.check(file.path(), "").is_err());
        let folder = file.path().parent().unwrap();
        assert_eq!(DataSource::Files.check(folder, "").unwrap_err().kind, DataSource::Files.read(folder, "").unwrap_err().kind);
    }
}
