//! Temporary names of files, under which they are written before they get their own.

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
