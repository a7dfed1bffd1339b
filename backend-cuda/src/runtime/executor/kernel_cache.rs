//! Compiled kernels on disk, found by everything that they depend on.
//!
//! A file is its checksum and the compiled bytes, written under another name first: readers see all of it or nothing. A cache that cannot be read or
//! written is no error; kernels are compiled again.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

/// 128-bit FNV-1a: enough to tell kernel texts apart; no protection against forgery.
pub(crate) fn hash(parts: &[&[u8]]) -> u128 {
    let mut h: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
    let mut step = |byte: u8| h = (h ^ u128::from(byte)).wrapping_mul(0x0000_0000_0100_0000_0000_0000_0000_013b);
    for part in parts {
        part.iter().copied().for_each(&mut step);
        // The length keeps ("ab", "c") and ("a", "bc") apart.
        (part.len() as u64).to_le_bytes().into_iter().for_each(&mut step);
    }
    h
}

/// Where compiled kernels are kept: below `EQUELLE_CACHE_DIR`, else `XDG_CACHE_HOME/equelle`, else `HOME/.cache/equelle`; `None` when none of them is set.
pub fn directory() -> Option<PathBuf> {
    let set = |name: &str| std::env::var_os(name).filter(|v| !v.is_empty()).map(PathBuf::from);
    let root = set("EQUELLE_CACHE_DIR")
        .or_else(|| set("XDG_CACHE_HOME").map(|d| d.join("equelle")))
        .or_else(|| set("HOME").map(|d| d.join(".cache").join("equelle")))?;
    Some(root.join("kernels"))
}

/// A name in the cache's folder (or in the system's folder for temporary files) that no other process or thread uses.
pub(crate) fn scratch_path(extension: &str) -> PathBuf {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let name = format!("build-{}-{}.{extension}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
    match directory().filter(|d| std::fs::create_dir_all(d).is_ok()) {
        Some(directory) => directory.join(name),
        None => std::env::temp_dir().join(format!("equelle-{name}")),
    }
}

/// Compiled bytes kept under `key`.
pub(crate) fn read(key: u128, extension: &str) -> Option<Vec<u8>> {
    let bytes = std::fs::read(directory()?.join(format!("{key:032x}.{extension}"))).ok()?;
    let (checksum, image) = bytes.split_at_checked(16)?;
    (checksum == hash(&[image]).to_le_bytes().as_slice()).then(|| image.to_vec())
}

/// Keeps compiled bytes under `key`.
pub(crate) fn write(key: u128, extension: &str, image: &[u8]) {
    let Some(directory) = directory() else { return };
    let scratch = scratch_path("tmp");
    let mut bytes = hash(&[image]).to_le_bytes().to_vec();
    bytes.extend_from_slice(image);
    let target = directory.join(format!("{key:032x}.{extension}"));
    if std::fs::write(&scratch, &bytes).is_err() || std::fs::rename(&scratch, &target).is_err() {
        // A full or read-only disk only costs the next start some time.
        let _ = std::fs::remove_file(&scratch);
    }
}

#[cfg(test)]
mod tests {
    use super::hash;

    #[test]
    fn hash_is_fnv_1a() {
        // Published test vector of 128-bit FNV-1a for no input: the offset basis.
        assert_eq!(hash(&[]), 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d);
        assert_ne!(hash(&[b"ab", b"c"]), hash(&[b"a", b"bc"]));
    }
}
