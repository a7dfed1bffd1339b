//! Errors of files of VTK.

use std::path::Path;

use crate::error::{Error, ErrorKind};

/// Returns a `Data` error about a file.
pub(super) fn bad(path: &Path, what: &str) -> Error {
    Error::new(ErrorKind::Data, format!("{}: {what}", path.display()))
}
