//! Sinks of results: files, memory, or nowhere. A file appears under its name only once it is
//! complete.

use std::collections::BTreeMap;
use std::io::{Error, Result, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use tempfile::NamedTempFile;

use crate::temporary;

/// Contents in memory, by name.
type Contents = BTreeMap<PathBuf, Vec<u8>>;

/// Files in memory.
#[derive(Debug, Default)]
pub struct Memory {
    contents: Contents,
    /// Bytes that can still be written, if there is a limit.
    room: Option<usize>,
}

/// Destination of bytes. Clones share contents in memory.
#[derive(Clone, Debug, Default)]
pub enum Sink {
    /// Files.
    #[default]
    Files,
    /// Memory. No file is written.
    Memory(Arc<Mutex<Memory>>),
    /// Nowhere, for trial runs. Outputs are checked and counted, but neither formatted nor printed;
    /// no folder is made.
    Nowhere,
}

impl Sink {
    /// Empty memory.
    pub fn memory() -> Sink {
        Sink::Memory(Arc::default())
    }

    /// Empty memory that holds so many bytes; further writes fail as on a full disk.
    pub fn memory_of(bytes: usize) -> Sink {
        Sink::Memory(Arc::new(Mutex::new(Memory { contents: Contents::new(), room: Some(bytes) })))
    }

    /// Files in memory, by name; none if files are written.
    pub fn contents(&self) -> Contents {
        match self {
            Sink::Files | Sink::Nowhere => Contents::new(),
            Sink::Memory(memory) => memory.lock().unwrap_or_else(PoisonError::into_inner).contents.clone(),
        }
    }

    /// Makes a folder if it is missing.
    ///
    /// # Errors
    /// Those of the system.
    pub fn create_folder(&self, dir: &Path) -> Result<()> {
        match self {
            Sink::Files => std::fs::create_dir_all(dir),
            Sink::Memory(_) | Sink::Nowhere => Ok(()),
        }
    }

    /// Makes a folder in an output folder if it is missing.
    ///
    /// # Errors
    /// Those of the system; a symbolic link, which may lead out of the output folder.
    pub fn create_subfolder(&self, dir: &Path) -> Result<()> {
        if matches!(self, Sink::Files) && std::fs::symlink_metadata(dir).is_ok_and(|found| found.is_symlink()) {
            return Err(Error::other("it is a symbolic link; remove it"));
        }
        self.create_folder(dir)
    }

    /// A new file in a folder. If it is dropped before it is published, nothing is left; what a
    /// killed process leaves begins with `prefix`.
    ///
    /// # Errors
    /// Those of the system.
    pub fn create(&self, dir: &Path, prefix: &str) -> Result<SinkFile> {
        Ok(match self {
            Sink::Files => SinkFile(Content::File(temporary::create(dir, prefix)?)),
            Sink::Memory(memory) => SinkFile(Content::Memory(Arc::clone(memory), Vec::new())),
            Sink::Nowhere => SinkFile(Content::Nowhere),
        })
    }

    /// Writes a file through a buffer and publishes it as `path`.
    ///
    /// # Errors
    /// Those of the system and of `write`; a file of that name is unchanged then.
    pub fn write(&self, path: &Path, write: impl FnOnce(&mut dyn Write) -> Result<()>) -> Result<()> {
        let dir = path.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let mut buffered = std::io::BufWriter::with_capacity(1 << 16, self.create(dir, temporary::PREFIX)?);
        write(&mut buffered)?;
        buffered.into_inner().map_err(std::io::IntoInnerError::into_error)?.finish()?.publish(path)
    }
}

/// An incomplete file.
#[derive(Debug)]
pub struct SinkFile(Content);

#[derive(Debug)]
enum Content {
    File(NamedTempFile),
    Memory(Arc<Mutex<Memory>>, Vec<u8>),
    Nowhere,
}

impl SinkFile {
    /// Flushes a complete file to the disk. A file renamed before it is flushed may be empty after
    /// a power failure.
    ///
    /// # Errors
    /// Those of the system.
    pub fn finish(self) -> Result<CompleteFile> {
        if let Content::File(file) = &self.0 {
            file.as_file().sync_all()?;
        }
        Ok(CompleteFile(self.0))
    }
}

impl Write for SinkFile {
    fn write(&mut self, bytes: &[u8]) -> Result<usize> {
        match &mut self.0 {
            Content::File(file) => file.write(bytes),
            Content::Memory(memory, written) => {
                if let Some(room) = &mut memory.lock().unwrap_or_else(PoisonError::into_inner).room {
                    *room = room.checked_sub(bytes.len()).ok_or(std::io::ErrorKind::StorageFull)?;
                }
                written.write(bytes)
            }
            Content::Nowhere => Ok(bytes.len()),
        }
    }

    fn flush(&mut self) -> Result<()> {
        match &mut self.0 {
            Content::File(file) => file.flush(),
            Content::Memory(..) | Content::Nowhere => Ok(()),
        }
    }
}

/// A complete file that has no name yet.
#[derive(Debug)]
pub struct CompleteFile(Content);

impl CompleteFile {
    /// Gives the file its name, in the folder where it was created; replaces one of that name.
    ///
    /// # Errors
    /// Those of the system.
    pub fn publish(self, path: &Path) -> Result<()> {
        match self.0 {
            Content::File(file) => file.persist(path).map(drop).map_err(Error::from),
            Content::Memory(memory, bytes) => {
                memory.lock().unwrap_or_else(PoisonError::into_inner).contents.insert(path.to_path_buf(), bytes);
                Ok(())
            }
            Content::Nowhere => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_have_names_when_they_are_complete() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("u.vtu");
        for sink in [Sink::Files, Sink::memory()] {
            let mut file = sink.create(folder.path(), ".test-").unwrap();
            file.write_all(b"half").unwrap();
            drop(file);
            let failed = sink.write(&path, |out| {
                out.write_all(b"half")?;
                Err(Error::other("the disk is full"))
            });
            assert_eq!(failed.unwrap_err().to_string(), "the disk is full");
            assert!(std::fs::read_dir(folder.path()).unwrap().next().is_none() && sink.contents().is_empty());
            sink.write(&path, |out| out.write_all(b"first")).unwrap();
            sink.write(&path, |out| out.write_all(b"whole")).unwrap();
            let found = match &sink {
                Sink::Files => std::fs::read(&path).unwrap(),
                Sink::Memory(_) | Sink::Nowhere => sink.contents()[&path].clone(),
            };
            assert_eq!(found, b"whole");
            let _ = std::fs::remove_file(&path);
        }
        assert!(Sink::Files.write(&folder.path().join("none/file"), |_| Ok(())).is_err());
    }

    #[test]
    #[cfg(unix)]
    fn links_are_no_subfolders() {
        let folder = tempfile::tempdir().unwrap();
        let (elsewhere, link, missing) = (folder.path().join("elsewhere"), folder.path().join("failure"), folder.path().join("dump"));
        std::fs::create_dir(&elsewhere).unwrap();
        std::os::unix::fs::symlink(&elsewhere, &link).unwrap();
        let error = Sink::Files.create_subfolder(&link).unwrap_err();
        assert_eq!(error.to_string(), "it is a symbolic link; remove it");
        for _ in 0..2 {
            Sink::Files.create_subfolder(&missing).unwrap();
        }
        assert!(missing.is_dir());
    }

    #[test]
    fn memory_may_be_full() {
        let sink = Sink::memory_of(10);
        sink.write(Path::new("a"), |out| out.write_all(b"12345678")).unwrap();
        let error = sink.write(Path::new("b"), |out| out.write_all(b"123")).unwrap_err();
        assert_eq!(error.kind(), std::io::ErrorKind::StorageFull);
        assert_eq!(sink.contents().keys().collect::<Vec<_>>(), [Path::new("a")]);
    }

    #[cfg(unix)]
    #[test]
    fn files_have_the_usual_permissions() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let [ours, other] = ["ours", "other"].map(|name| folder.path().join(name));
        Sink::Files.write(&ours, |out| out.write_all(b"1")).unwrap();
        std::fs::write(&other, "1").unwrap();
        let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode();
        assert_eq!(mode(&ours), mode(&other));
    }
}
