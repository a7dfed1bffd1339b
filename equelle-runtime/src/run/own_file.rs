//! Files that a run changes in place in its output folder: locks, the journal, the log of events.
//!
//! They are opened without following symbolic links, and only where they are plain files with one
//! name, so that nothing outside the folder changes. All other files get a temporary name first,
//! and renaming replaces a link.

use std::fs::{File, Metadata, OpenOptions};
use std::io::{Error, Read, Result};
use std::path::Path;

/// Opens a file of the run. `options` do not truncate: a file that is not ours must stay as it is.
///
/// # Errors
/// Those of the system; the name is a symbolic link, no plain file, or not the only name of it.
pub(super) fn open(path: &Path, options: &mut OpenOptions) -> Result<File> {
    // A pipe that nobody reads must not block.
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(options, libc::O_NOFOLLOW | libc::O_NONBLOCK);
    if let Ok(found) = std::fs::symlink_metadata(path) {
        check(path, &found)?;
    }
    let file = options.open(path)?;
    check(path, &file.metadata()?)?;
    Ok(file)
}

/// Opens a file of the run, empty.
///
/// # Errors
/// As [`open`].
pub(super) fn open_empty(path: &Path) -> Result<File> {
    let file = open(path, OpenOptions::new().append(true).create(true))?;
    file.set_len(0)?;
    Ok(file)
}

/// Opens a file of an earlier run for reading, through a link, too: nothing changes. A pipe would
/// block.
///
/// # Errors
/// Those of the system; it is no plain file.
pub fn open_plain_file(path: &Path) -> Result<File> {
    check_kind(path, &std::fs::metadata(path)?)?;
    File::open(path)
}

/// Reads a file of an earlier run.
///
/// # Errors
/// As [`open_plain_file`].
pub fn read_plain_file(path: &Path) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open_plain_file(path)?.read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn check_kind(path: &Path, found: &Metadata) -> Result<()> {
    if found.is_file() { Ok(()) } else { Err(Error::other(format!("`{}` is no plain file; remove it", path.display()))) }
}

fn check(path: &Path, found: &Metadata) -> Result<()> {
    let what = match found {
        found if found.is_symlink() => "a symbolic link",
        found if names(found) > 1 && found.is_file() => "a file with several names (hard links)",
        found => return check_kind(path, found),
    };
    Err(Error::other(format!("`{}` is {what}; remove it", path.display())))
}

#[cfg(unix)]
fn names(found: &Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::nlink(found)
}

#[cfg(not(unix))]
fn names(_: &Metadata) -> u64 {
    1
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn files_elsewhere_stay_as_they_are() {
        let folder = tempfile::tempdir().expect("a folder");
        let (mine, path) = (folder.path().join("mine"), folder.path().join("log"));
        std::fs::write(&mine, "thesis").expect("a file");
        symlink(&mine, &path).expect("a link");
        let refused = |what: &str| {
            let error = open_empty(&path).expect_err("not ours").to_string();
            assert!(error.ends_with(&format!("is {what}; remove it")), "{error}");
            std::fs::remove_file(&path).expect("a name that is removed");
            assert_eq!(std::fs::read_to_string(&mine).expect("still there"), "thesis");
        };
        refused("a symbolic link");
        // A link to nothing is not followed, either.
        let missing = folder.path().join("missing");
        symlink(&missing, &path).expect("a link");
        assert!(open_empty(&path).is_err() && !missing.exists());
        std::fs::remove_file(&path).expect("a link that is removed");
        std::fs::hard_link(&mine, &path).expect("a second name");
        refused("a file with several names (hard links)");
        let made = std::process::Command::new("mkfifo").arg(&path).status();
        if made.is_ok_and(|status| status.success()) {
            refused("no plain file");
        }
        std::fs::write(&path, "of an earlier run").expect("a file");
        assert_eq!(open_empty(&path).expect("ours").metadata().expect("open").len(), 0);
    }
}
