//! The files that a program imports.

use std::fs;
use std::path::{Component, Path, PathBuf};
use std::string::FromUtf8Error;

use equelle_front::imports::{ImportReader, ImportedText};
use equelle_front::source::{ImportError, SourceMap};

/// Reads files: a path is relative to the folder of the file that imports.
pub struct Files;

impl ImportReader for Files {
    fn read(&mut self, path: &str, from: &str) -> Result<ImportedText, ImportError> {
        let path = plain(&Path::new(from).parent().unwrap_or(Path::new("")).join(path));
        let unreadable = |error: std::io::Error| {
            ImportError::Unreadable(match error.kind() {
                std::io::ErrorKind::NotFound => "there is no such file".into(),
                _ => error.to_string(),
            })
        };
        // Reading a pipe or a device may never end.
        let kind = fs::metadata(&path).map_err(unreadable)?.file_type();
        if !kind.is_file() && !kind.is_dir() {
            return Err(ImportError::Unreadable("it is not a plain file".into()));
        }
        let bytes = fs::read(&path).map_err(unreadable)?;
        let text = String::from_utf8(bytes)
            .map_err(|error| ImportError::Unreadable(format!("it is not UTF-8 text: line {}", bad_line(&error))))?;
        let key = key(&path).map_err(unreadable)?;
        Ok(ImportedText { name: path.to_string_lossy().replace('\\', "/"), key, text })
    }
}

/// Key that tells a file from others, whatever path leads to it.
pub fn key(path: &Path) -> std::io::Result<String> {
    Ok(fs::canonicalize(path)?.to_string_lossy().into_owned())
}

/// The line of the first bytes that are not UTF-8.
pub fn bad_line(error: &FromUtf8Error) -> usize {
    let before = &error.as_bytes()[..error.utf8_error().valid_up_to()];
    before.iter().filter(|&&byte| byte == b'\n').count() + 1
}

/// The texts with names as seen from the program's folder: a generated program names its source
/// without the folder that it happened to be in.
pub fn without_folder(source: &SourceMap) -> SourceMap {
    let folder = Path::new(source.name()).parent().unwrap_or(Path::new("")).to_owned();
    source.renamed(|name| {
        Path::new(name).strip_prefix(&folder).map_or_else(|_| name.to_owned(), |inside| inside.to_string_lossy().into_owned())
    })
}

/// A path without `.` in it. `..` stays: what it means depends on links.
fn plain(path: &Path) -> PathBuf {
    path.components().filter(|part| *part != Component::CurDir).collect()
}
