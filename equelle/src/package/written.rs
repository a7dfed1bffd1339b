//! A package in a folder of the user's: what was written there, so that edits are not overwritten.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use equelle_runtime::hash::StableHash;
use equelle_runtime::{Error, ErrorKind};
use serde_json::{Value, json};

use super::Package;
use crate::failure::Failure;
use crate::files;

/// The file with the hashes of what was written.
const NAME: &str = ".equelle-package.json";

/// True if files that were changed since they were written are overwritten.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Edits {
    /// The package is not written.
    Keep,
    /// They are lost.
    Overwrite,
}

/// Writes a package to a folder. Files with the right content keep their times, so that cargo
/// rebuilds only what changed. Other files stay; removed files come back.
/// `lock_file` is written where there is none.
///
/// # Errors
/// Files were changed since they were written, or are not from here; nothing is written then. A
/// file that cannot be read or written.
pub fn write(package: &Package, lock_file: &str, folder: &Path, edits: Edits) -> Result<(), Failure> {
    let mut known = read_hashes(folder)?;
    let mut to_write = Vec::new();
    let mut changed = Vec::new();
    for (name, text) in &package.files {
        let path = folder.join(name);
        match fs::read(&path) {
            Ok(old) if old == text.as_bytes() => {}
            Ok(old) => {
                // A file that no record has counts as changed: nobody knows that it may go.
                if known.get(name.as_str()).is_none_or(|hash| *hash != digits(&old)) {
                    changed.push(name.as_str());
                }
                to_write.push((path, text.as_str()));
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => to_write.push((path, text.as_str())),
            Err(error) => return Err(Failure::io("read", &path, &error)),
        }
    }
    if edits == Edits::Keep && !changed.is_empty() {
        let files = if changed.len() == 1 { "a file" } else { "files" };
        let message = format!(
            "the package `{}` has {files} that did not come from equellec or changed since: {}",
            folder.display(),
            changed.join(", ")
        );
        return Err(Error::new(ErrorKind::Io, message).hint("`--force` overwrites them; `-o DIR` writes the package elsewhere").into());
    }
    let lock = folder.join("Cargo.lock");
    if !lock.exists() {
        to_write.push((lock, lock_file));
    }
    for (path, text) in to_write {
        let written = path.parent().map_or(Ok(()), fs::create_dir_all).and_then(|()| files::write(&path, text));
        written.map_err(|error| Failure::io("write", &path, &error))?;
    }
    // Files that left the package stay, and known: another back-end may come back.
    known.extend(package.files.iter().map(|(name, text)| (name.clone(), digits(text.as_bytes()))));
    known.retain(|name, _| folder.join(name).exists());
    let record = format!("{:#}\n", json!({ "version": 1, "files": known }));
    let path = folder.join(NAME);
    if fs::read(&path).is_ok_and(|old| old == record.as_bytes()) {
        return Ok(());
    }
    files::write(&path, record).map_err(|error| Failure::io("write", &path, &error))
}

fn digits(bytes: &[u8]) -> String {
    StableHash::default().bytes(bytes).digits()
}

/// Hashes of what was written, by name; none without a record, and none of one that cannot be
/// understood.
///
/// # Errors
/// The record cannot be read.
pub fn read_hashes(folder: &Path) -> Result<BTreeMap<String, String>, Failure> {
    let path = folder.join(NAME);
    let text = match fs::read(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(BTreeMap::new()),
        Err(error) => return Err(Failure::io("read", &path, &error)),
    };
    let record: Value = serde_json::from_slice(&text).unwrap_or_default();
    let entries = record["files"].as_object().into_iter().flatten();
    Ok(entries.filter_map(|(name, hash)| Some((name.clone(), hash.as_str()?.to_owned()))).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn package(files: &[(&str, &str)]) -> Package {
        let files = files.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect();
        Package { name: "heat".to_owned(), files, implicit: false }
    }

    fn message(result: Result<(), Failure>) -> String {
        match result {
            Err(Failure::Error(error)) => {
                assert_eq!(error.kind, ErrorKind::Io);
                error.message
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn edits_survive_unless_forced() {
        let scratch = tempfile::tempdir().unwrap();
        let folder = scratch.path();
        let read = |name: &str| fs::read_to_string(folder.join(name)).unwrap();
        let both = package(&[("Cargo.toml", "1"), ("src/cuda.rs", "1"), ("src/lib.rs", "1")]);
        write(&both, "lock", folder, Edits::Keep).unwrap();
        assert_eq!((read("src/lib.rs").as_str(), read("Cargo.lock").as_str()), ("1", "lock"));
        // Another version of the program, over files that nobody touched; files of the user, the
        // lock file among them, are no matter.
        fs::write(folder.join("src/mine.rs"), "mine").unwrap();
        fs::write(folder.join("Cargo.lock"), "updated").unwrap();
        let one = package(&[("Cargo.toml", "2"), ("src/lib.rs", "2")]);
        write(&one, "lock", folder, Edits::Keep).unwrap();
        assert_eq!(["src/lib.rs", "src/cuda.rs", "src/mine.rs", "Cargo.lock"].map(read), ["2", "1", "mine", "updated"]);
        // A file that is as it should be is no edit, whoever wrote it; a removed one comes back.
        fs::write(folder.join("src/lib.rs"), "3").unwrap();
        fs::remove_file(folder.join("Cargo.toml")).unwrap();
        let next = package(&[("Cargo.toml", "3"), ("src/cuda.rs", "3"), ("src/lib.rs", "3")]);
        write(&next, "lock", folder, Edits::Keep).unwrap();
        assert_eq!(["Cargo.toml", "src/cuda.rs", "src/lib.rs"].map(read), ["3", "3", "3"]);
        // Edited files, and one of the user's in the way.
        fs::write(folder.join("src/lib.rs"), "edited").unwrap();
        fs::write(folder.join("src/new.rs"), "mine").unwrap();
        let last = package(&[("Cargo.toml", "4"), ("src/cuda.rs", "3"), ("src/lib.rs", "4"), ("src/new.rs", "4")]);
        let text = message(write(&last, "lock", folder, Edits::Keep));
        assert!(text.ends_with("changed since: src/lib.rs, src/new.rs"), "{text}");
        assert_eq!(["Cargo.toml", "src/lib.rs", "src/new.rs"].map(read), ["3", "edited", "mine"], "nothing was written");
        write(&last, "lock", folder, Edits::Overwrite).unwrap();
        assert_eq!(["Cargo.toml", "src/lib.rs", "src/new.rs", "src/mine.rs"].map(read), ["4", "4", "4", "mine"]);
        // Without its record every file that differs counts.
        fs::remove_file(folder.join(NAME)).unwrap();
        message(write(&next, "lock", folder, Edits::Keep));
    }
}
