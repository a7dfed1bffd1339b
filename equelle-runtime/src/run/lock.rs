//! Advisory file locks in an output folder. The operating system drops them with the process, so a
//! killed run blocks nobody.
//!
//! A lock file has a line about its owner. It is removed at the end; a process that opened it
//! before then holds a lock on a deleted file, and tries again.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, Write};
use std::path::{Path, PathBuf};

use super::own_file;

/// A lock, held until it is dropped.
#[derive(Debug)]
pub(super) struct Lock {
    file: File,
    path: PathBuf,
}

/// The result of a lock attempt.
#[derive(Debug)]
pub(super) enum LockAttempt {
    /// This process has the lock.
    Ours(Lock),
    /// Another run has it, with its owner line; empty if that cannot be read.
    Taken(String),
    /// This file system has no locks.
    Unsupported(std::io::Error),
}

/// Tries to lock `path`, and writes the owner line there.
///
/// # Errors
/// If the file cannot be opened or written.
pub(super) fn ask(path: &Path, owner: &str) -> std::io::Result<LockAttempt> {
    loop {
        let mut file = own_file::open(path, OpenOptions::new().read(true).write(true).create(true).truncate(false))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Ok(LockAttempt::Taken(owner_of(&mut file))),
            Err(TryLockError::Error(error)) => return Ok(LockAttempt::Unsupported(error)),
        }
        if is_at(&file, path) {
            file.set_len(0)?;
            file.write_all(owner.as_bytes())?;
            return Ok(LockAttempt::Ours(Lock { file, path: path.to_owned() }));
        }
    }
}

/// The owner line, which is written just after locking.
fn owner_of(file: &mut File) -> String {
    let mut text = String::new();
    for _ in 0..20 {
        // Where locks exclude readers, the owner stays unknown.
        if file.rewind().and_then(|()| file.read_to_string(&mut text)).is_err() || !text.is_empty() {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    text.trim().to_owned()
}

/// True if an open file is still the one of this name.
#[cfg(unix)]
fn is_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let same = |ours: std::fs::Metadata, there: std::fs::Metadata| (ours.dev(), ours.ino()) == (there.dev(), there.ino());
    file.metadata().is_ok_and(|ours| std::fs::metadata(path).is_ok_and(|there| same(ours, there)))
}

/// Other systems never remove lock files.
#[cfg(not(unix))]
fn is_at(_: &File, _: &Path) -> bool {
    true
}

impl Drop for Lock {
    fn drop(&mut self) {
        if cfg!(unix) && is_at(&self.file, &self.path) {
            // A file that stays blocks nobody.
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_owner_at_a_time() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lock");
        // The state after a killed run.
        std::fs::write(&path, "an owner that is gone, with a long name").unwrap();
        let LockAttempt::Ours(lock) = ask(&path, "first").unwrap() else { panic!("nobody has it") };
        let LockAttempt::Taken(owner) = ask(&path, "second").unwrap() else { panic!("it is taken") };
        assert_eq!(owner, "first");
        drop(lock);
        assert!(!path.exists());
        assert!(matches!(ask(&path, "third").unwrap(), LockAttempt::Ours(_)));
    }

    /// Many threads lock and unlock: never two at once, although the file is removed every time.
    #[test]
    fn removal_lets_no_two_in() {
        use std::sync::atomic::{AtomicUsize, Ordering};
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lock");
        let (inside, taken) = (AtomicUsize::new(0), AtomicUsize::new(0));
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..300 {
                        if let LockAttempt::Ours(lock) = ask(&path, "x").unwrap() {
                            assert_eq!(inside.fetch_add(1, Ordering::SeqCst), 0, "two at once");
                            taken.fetch_add(1, Ordering::SeqCst);
                            inside.fetch_sub(1, Ordering::SeqCst);
                            drop(lock);
                        }
                    }
                });
            }
        });
        assert!(taken.load(Ordering::SeqCst) > 0);
    }
}
