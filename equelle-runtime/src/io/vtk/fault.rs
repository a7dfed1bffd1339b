//! Errors of files of VTK.

use std::path::Path;

use crate::error::{Error, ErrorKind};

/// What is wrong with a file.
pub(super) fn bad(path: &Path, what: &str) -> Error {
    Error::new(ErrorKind::Data, format!("{}: {what}", path.display()))
}
