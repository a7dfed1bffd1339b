//! Files that appear complete or not at all: written under a temporary name, then renamed.

use std::io::Write as _;
use std::path::Path;

use tempfile::{Builder, NamedTempFile};

/// Beginning of temporary names that belong to nobody in particular.
pub(crate) const PREFIX: &str = ".equelle-";

/// End of temporary names in folders of results.
pub(crate) const SUFFIX: &str = ".part";

/// Random characters between prefix and suffix.
pub(crate) const RANDOM: usize = 8;

/// Builder of temporary files with the usual permissions, which they keep when renamed.
pub fn builder<'a>() -> Builder<'a, 'a> {
    #[allow(unused_mut)]
    let mut builder = Builder::new();
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    builder
}

/// Creates a file in a folder of results. It is removed if it is dropped before it is renamed.
pub(crate) fn create(dir: &Path, prefix: &str) -> std::io::Result<NamedTempFile> {
    builder().prefix(prefix).suffix(SUFFIX).rand_bytes(RANDOM).tempfile_in(dir)
}

/// Writes a file, replacing one of that name. No reader sees an incomplete file.
///
/// # Errors
/// Those of the system; the file is unchanged then.
pub fn write(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let mut file = builder().tempfile_in(path.parent().unwrap_or(Path::new(".")))?;
    file.write_all(bytes)?;
    file.as_file().sync_all()?;
    file.persist(path)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_replaced_and_nothing_is_left() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        for text in ["one", "two"] {
            write(&path, text.as_bytes()).unwrap();
            assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
        }
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
        assert!(write(&folder.path().join("none/file"), b"").is_err());
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode();
            let other = folder.path().join("other");
            std::fs::write(&other, "").unwrap();
            assert_eq!(mode(&path), mode(&other));
        }
    }
}
