//! Output files of collections.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::Path;

use super::rows::RowText;
use crate::error::{Error, ErrorKind};
use crate::hash::StableHash;
use crate::real::Real;
use crate::run::{FileEntry, RunRecord, not_in_names};

/// Position of a run in its outermost loop.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct StepTime {
    /// The round, from 1; 0 before the first.
    pub step: u64,
    /// Sum of the elements of the sequence up to that round; NaN if the back-end does not know
    /// them.
    pub time: f64,
}

/// The next file of a tag, before its numbers are known. Claims the tag for this run.
pub(super) fn next_file(counts: &mut BTreeMap<String, u32>, record: &RunRecord, tag: &str, moment: StepTime) -> Result<FileEntry, Error> {
    check_tag(tag)?;
    record.begin_file(tag)?;
    if !counts.contains_key(tag) {
        counts.insert(tag.to_string(), 0);
    }
    let number = counts.get_mut(tag).map_or(0, |count| std::mem::replace(count, *count + 1));
    Ok(FileEntry { tag: tag.to_owned(), number, step: moment.step, time: moment.time, size: 0, hash: String::new() })
}

fn check_tag(tag: &str) -> Result<(), Error> {
    match tag.chars().find(|&c| not_in_names(c)) {
        None => Ok(()),
        Some(c) => {
            Err(Error::new(ErrorKind::Data, format!("output tag `{}` cannot be a file name: it contains {c:?}", tag.escape_debug()))
                .hint("use letters, digits, blanks, `-` and `_` in the tag, or output_to_file=false"))
        }
    }
}

/// Writes columns of equal length under a temporary name, syncs, renames: a reader never sees an
/// incomplete file, and a crash leaves earlier outputs intact.
pub(super) fn write_file<R: Real>(record: &RunRecord, mut entry: FileEntry, columns: &[&[R]], text: &mut RowText) -> Result<(), Error> {
    let path = record.dir_of_files().join(entry.name());
    let write = || -> std::io::Result<()> {
        let (mut file, mut hash) = (record.temporary()?, StableHash::default());
        let rows = columns.first().map_or(0, |column| column.len());
        for range in text.ranges(rows) {
            for piece in text.of(columns, range) {
                file.write_all(piece.as_bytes())?;
                hash = hash.bytes(piece.as_bytes());
                entry.size += piece.len() as u64;
            }
        }
        entry.hash = hash.digits();
        record.complete(file.finish()?, entry)
    };
    write().map_err(|error| cannot_write(&path, &error))
}

fn cannot_write(path: &Path, error: &std::io::Error) -> Error {
    Error::new(ErrorKind::Io, format!("cannot write `{}`: {error}", path.display()))
}
