//! Cache of compiled kernels on disk, keyed by everything that they depend on.
//!
//! A file consists of a checksum and the compiled bytes, and is written atomically. An unreadable
//! or unwritable cache is no error: kernels are compiled again.

use std::path::PathBuf;

use equelle_runtime::cache;
use equelle_runtime::hash::StableHash;
use equelle_runtime::io::Sink;
use tempfile::TempPath;

/// The key of compiled bytes from all their inputs.
pub(crate) fn hash(parts: &[&[u8]]) -> u64 {
    // The length keeps ("ab", "c") and ("a", "bc") apart.
    let add = |hash: StableHash, part: &&[u8]| hash.bytes(part).bytes(&(part.len() as u64).to_le_bytes());
    parts.iter().fold(StableHash::default(), add).value()
}

/// The folder of compiled kernels; `None` if there is no cache folder.
pub fn directory() -> Option<PathBuf> {
    Some(cache::folder()?.join("kernels"))
}

fn path(key: u64, extension: &str) -> Option<PathBuf> {
    Some(directory()?.join(format!("{key:016x}.{extension}")))
}

/// A new file in the cache's folder, or in the system's folder for temporary files.
pub(crate) fn scratch_path(extension: &str) -> std::io::Result<TempPath> {
    let suffix = format!(".{extension}");
    let mut builder = tempfile::Builder::new();
    builder.prefix("equelle-build-").suffix(&suffix);
    let file = match directory().filter(|d| std::fs::create_dir_all(d).is_ok()) {
        Some(directory) => builder.tempfile_in(directory),
        None => builder.tempfile(),
    };
    Ok(file?.into_temp_path())
}

/// Compiled bytes cached under `key`.
pub(crate) fn read(key: u64, extension: &str) -> Option<Vec<u8>> {
    let bytes = std::fs::read(path(key, extension)?).ok()?;
    let (checksum, image) = bytes.split_at_checked(8)?;
    (checksum == hash(&[image]).to_le_bytes().as_slice()).then(|| image.to_vec())
}

/// Caches compiled bytes under `key`.
pub(crate) fn write(key: u64, extension: &str, image: &[u8]) {
    let Some(path) = path(key, extension) else { return };
    let mut bytes = hash(&[image]).to_le_bytes().to_vec();
    bytes.extend_from_slice(image);
    // A full or read-only disk only makes the next start slower.
    let _ = path.parent().map_or(Ok(()), std::fs::create_dir_all).and_then(|()| Sink::Files.write(&path, |out| out.write_all(&bytes)));
}

#[cfg(test)]
mod tests {
    use super::hash;

    #[test]
    fn parts_are_kept_apart() {
        assert_ne!(hash(&[b"ab", b"c"]), hash(&[b"a", b"bc"]));
    }
}
