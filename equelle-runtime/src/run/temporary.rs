//! Files under temporary names, which get their own names when they are complete.

use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// A file that is being written. Dropped before it has its name, it is removed.
pub(crate) struct Temporary {
    file: File,
    path: PathBuf,
    /// Whether it has its name.
    named: bool,
}

impl Temporary {
    /// A new file in `dir`: no other run and no other file has its name.
    pub(super) fn create(dir: &Path, program: &str) -> std::io::Result<Temporary> {
        static COUNTER: AtomicU64 = AtomicU64::new(0);
        loop {
            let number = COUNTER.fetch_add(1, Ordering::Relaxed);
            let path = dir.join(format!("{}{}-{number}{SUFFIX}", prefix(program), std::process::id()));
            match OpenOptions::new().write(true).create_new(true).open(&path) {
                Ok(file) => return Ok(Temporary { file, path, named: false }),
                // A process of the same number, killed or on another machine.
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Adds to it.
    pub(crate) fn write(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        self.file.write_all(bytes)
    }

    /// Waits until it is on the disk: what is renamed before may be empty after a loss of power.
    pub(crate) fn sync(&self) -> std::io::Result<()> {
        self.file.sync_all()
    }

    /// Gives it its name, in place of a file that had it.
    pub(super) fn name(mut self, path: &Path) -> std::io::Result<()> {
        std::fs::rename(&self.path, path)?;
        self.named = true;
        Ok(())
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if !self.named {
            // What could not be completed is of no use; that it cannot be removed either is no news.
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

const SUFFIX: &str = ".part";

fn prefix(program: &str) -> String {
    format!(".{program}.run-")
}

/// Removes the temporary files that killed runs of a program have left. For the run that holds the program's lock.
pub(super) fn remove_left(dir: &Path, program: &str) -> std::io::Result<()> {
    for entry in std::fs::read_dir(dir)? {
        let name = entry?.file_name();
        if name.to_str().is_some_and(|name| is_temporary(name, program)) {
            // Whoever removed it before did the same.
            let _ = std::fs::remove_file(dir.join(name));
        }
    }
    Ok(())
}

fn is_temporary(name: &str, program: &str) -> bool {
    let numbers = name.strip_prefix(&prefix(program)).and_then(|rest| rest.strip_suffix(SUFFIX)).and_then(|rest| rest.split_once('-'));
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    numbers.is_some_and(|(process, number)| is_number(process) && is_number(number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_are_ours() {
        assert!(is_temporary(".heat.run-12-0.part", "heat"));
        for other in [
            ".heat.run-12-.part",
            ".heat.run-a-1.part",
            ".heat2.run-12-0.part",
            "heat.run-12-0.part",
            ".heat.run-1-2-3.part",
            ".heat.run.lock",
        ] {
            assert!(!is_temporary(other, "heat"), "{other}");
        }
    }

    #[test]
    fn names_are_unique_and_nothing_is_left() {
        let dir = std::env::temp_dir().join(format!("equelle-temporary-{}", std::process::id()));
        std::fs::create_dir_all(&dir).unwrap();
        let count = || std::fs::read_dir(&dir).unwrap().count();
        let (mut one, other) = (Temporary::create(&dir, "heat").unwrap(), Temporary::create(&dir, "heat").unwrap());
        assert_eq!(count(), 2);
        one.write(b"text").unwrap();
        one.name(&dir.join("file")).unwrap();
        drop(other);
        assert_eq!((count(), std::fs::read_to_string(dir.join("file")).unwrap()), (1, "text".to_owned()));
        // As a killed run leaves it.
        std::mem::forget(Temporary::create(&dir, "heat").unwrap());
        std::mem::forget(Temporary::create(&dir, "flow").unwrap());
        remove_left(&dir, "heat").unwrap();
        assert_eq!(count(), 2, "the other program's stays");
        std::fs::remove_dir_all(&dir).unwrap();
    }
}
