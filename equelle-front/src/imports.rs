//! The texts that a program imports, found before it is parsed.
//!
//! Texts of the compiler's own library ([`library`]) are known here. Files are read by whoever
//! implements [`ImportReader`]: the front-end does no I/O. A text that several others import is
//! there once.

use std::collections::BTreeMap;

use crate::library;
use crate::source::{FileId, ImportError, SourceMap};
use crate::syntax::imported_paths;

/// A text that an import names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportedText {
    /// Name shown in messages.
    pub name: String,
    /// Key that distinguishes it from other texts, however they were reached.
    pub key: String,
    /// The text.
    pub text: String,
}

/// Reads the files that a program imports.
pub trait ImportReader {
    /// The text that `path`, written in the file that messages call `from`, names.
    ///
    /// # Errors
    /// Why it cannot be read.
    fn read(&mut self, path: &str, from: &str) -> Result<ImportedText, ImportError>;
}

/// Reads no files.
struct NoFiles;

impl ImportReader for NoFiles {
    fn read(&mut self, _path: &str, _from: &str) -> Result<ImportedText, ImportError> {
        Err(ImportError::NoFiles)
    }
}

impl SourceMap {
    /// A program that is no file: it may import from the library alone. `name` is what messages
    /// show.
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Self {
        SourceMap::with_imports(name, text, "", &mut NoFiles)
    }

    /// A program with all that it imports. `key` tells its own file from those that it imports. The
    /// checker reports texts that cannot be read.
    pub fn with_imports(name: impl Into<String>, text: impl Into<String>, key: &str, reader: &mut dyn ImportReader) -> Self {
        let mut map = SourceMap::from_single_text(name, text);
        let mut known = BTreeMap::from([(key.to_owned(), FileId::MAIN)]);
        let mut next = 0;
        while let Some(file) = map.files().get(next) {
            let (id, from) = (FileId(next as u32), file.name().to_owned());
            for path in imported_paths(file.text()) {
                if map.file(id).import(&path).is_none() {
                    let meaning = find(&path, &from, reader).and_then(|found| match known.get(&found.key) {
                        Some(&id) => Ok(id),
                        None => {
                            let id = map.add(found.name, found.text).ok_or(ImportError::TooLong)?;
                            known.insert(found.key, id);
                            Ok(id)
                        }
                    });
                    map.set_import(id, path, meaning);
                }
            }
            next += 1;
        }
        map
    }
}

fn find(path: &str, from: &str, reader: &mut dyn ImportReader) -> Result<ImportedText, ImportError> {
    if library::is_library(path) {
        let text = library::text(path).ok_or(ImportError::NoLibrary)?;
        return Ok(ImportedText { name: path.to_owned(), key: path.to_owned(), text: text.to_owned() });
    }
    if library::is_library(from) { Err(ImportError::FileInLibrary) } else { reader.read(path, from) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Files by name, with the number of reads.
    struct Files(BTreeMap<&'static str, &'static str>, usize);

    impl ImportReader for Files {
        fn read(&mut self, path: &str, _from: &str) -> Result<ImportedText, ImportError> {
            self.1 += 1;
            let text = self.0.get(path.trim_start_matches("./")).ok_or_else(|| ImportError::Unreadable("none".into()))?;
            let key = path.trim_start_matches("./").to_owned();
            Ok(ImportedText { name: path.to_owned(), key, text: (*text).to_owned() })
        }
    }

    #[test]
    fn every_text_is_there_once() {
        let mut files =
            Files(BTreeMap::from([("a", "Import \"./b\" (x)\nImport \"main\" (y)\n"), ("b", "x = 1\n"), ("main", "not read again")]), 0);
        let map =
            SourceMap::with_imports("main", "Import \"a\" (f)\nImport \"b\" (x)\nImport \"a\" (g)\nImport \"c\" (h)\n", "main", &mut files);
        let names: Vec<&str> = map.files().iter().map(crate::source::SourceFile::name).collect();
        assert_eq!(names, ["main", "a", "b"]);
        let main = map.file(FileId::MAIN);
        assert_eq!(main.import("a"), Some(&Ok(FileId(1))));
        assert_eq!(main.import("b"), Some(&Ok(FileId(2))));
        assert_eq!(main.import("c"), Some(&Err(ImportError::Unreadable("none".into()))));
        assert_eq!(main.import("d"), None);
        assert_eq!(map.file(FileId(1)).import("./b"), Some(&Ok(FileId(2))), "the same text by another path");
        assert_eq!(map.file(FileId(1)).import("main"), Some(&Ok(FileId::MAIN)), "the program itself");
        assert_eq!(files.1, 5, "a, b, c, and two of `a`");
    }

    #[test]
    fn a_program_that_is_no_file_has_the_library() {
        let map = SourceMap::new("p", "Import \"equelle:nothing\" (f)\nImport \"file\" (g)\nImport \"equelle:limiters\" (minmod)\n");
        let main = map.file(FileId::MAIN);
        assert_eq!(main.import("equelle:nothing"), Some(&Err(ImportError::NoLibrary)));
        assert_eq!(main.import("file"), Some(&Err(ImportError::NoFiles)));
        assert_eq!(map.imported()[0].name(), "equelle:limiters");
    }
}
