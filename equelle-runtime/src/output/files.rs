//! Output files: their names, and how they become complete.

use std::io::{BufWriter, IntoInnerError, Write};

use super::field::FieldValues;
use super::rows::RowText;
use crate::error::{Error, ErrorKind};
use crate::hash::StableHash;
use crate::io::SinkFile;
use crate::real::Real;
use crate::run::{FileEntry, RunRecord, not_in_names};

/// Most bytes of a tag in a file name: names have at most 255, and numbers and endings follow.
const MAX_TAG_BYTES: usize = 200;

pub(super) fn check_tag(tag: &str) -> Result<(), Error> {
    if tag.len() > MAX_TAG_BYTES {
        let message =
            format!("an output tag of {} bytes is too long for a file name: `{}...`", tag.len(), tag.chars().take(40).collect::<String>());
        let hint = format!("shorten it to {MAX_TAG_BYTES} bytes, or give output_to_file=false");
        return Err(Error::new(ErrorKind::Data, message).hint(hint));
    }
    match tag.chars().find(|&c| not_in_names(c)) {
        None => Ok(()),
        Some(c) => {
            Err(Error::new(ErrorKind::Data, format!("output tag `{}` cannot be a file name: it contains {c:?}", tag.escape_debug()))
                .hint("use letters, digits, blanks, `-` and `_` in the tag, or output_to_file=false"))
        }
    }
}

/// Writes columns of equal length as text.
pub(super) fn write_columns<R: Real>(record: &RunRecord, entry: FileEntry, columns: &[&[R]], text: &mut RowText) -> Result<(), Error> {
    write_file(record, entry, |out| {
        let rows = columns.first().map_or(0, |column| column.len());
        for range in text.ranges(rows) {
            for piece in text.of(columns, range) {
                out.write_all(piece.as_bytes())?;
            }
        }
        Ok(())
    })
}

/// Writes values as text.
pub(super) fn write_text(record: &RunRecord, entry: FileEntry, values: &FieldValues, text: &mut RowText) -> Result<(), Error> {
    match values {
        FieldValues::F64(columns) => write_columns(record, entry, &slices(columns), text),
        FieldValues::F32(columns) => write_columns(record, entry, &slices(columns), text),
        FieldValues::Bool(values) => {
            let values: Vec<f64> = values.iter().map(|&value| f64::from(value)).collect();
            write_columns(record, entry, &[&values], text)
        }
        // Indices have 32 bits.
        FieldValues::Entity(values) => {
            let values: Vec<f64> = values.iter().map(|&value| value as f64).collect();
            write_columns(record, entry, &[&values], text)
        }
    }
}

pub(super) fn slices<R>(columns: &[Vec<R>]) -> Vec<&[R]> {
    columns.iter().map(Vec::as_slice).collect()
}

/// Writes a file under a temporary name, syncs, renames: a reader never sees an incomplete file,
/// and a crash leaves earlier outputs intact.
pub(super) fn write_file(
    record: &RunRecord,
    mut entry: FileEntry,
    write: impl FnOnce(&mut dyn Write) -> std::io::Result<()>,
) -> Result<(), Error> {
    let name = entry.content.name(&record.program().name);
    let written = || -> std::io::Result<()> {
        let hashed = Hashed { file: record.temporary()?, hash: StableHash::default(), size: 0 };
        let mut out = BufWriter::with_capacity(1 << 16, hashed);
        write(&mut out)?;
        let Hashed { file, hash, size } = out.into_inner().map_err(IntoInnerError::into_error)?;
        (entry.hash, entry.size) = (hash.digits(), size);
        record.complete(file.finish()?, entry)
    };
    written().map_err(|error| Error::cannot_write(&format!("`{}`", record.dir_of_files().join(&name).display()), &error))
}

/// A file with the hash and the size of what was written.
struct Hashed {
    file: SinkFile,
    hash: StableHash,
    size: u64,
}

impl Write for Hashed {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let written = self.file.write(bytes)?;
        self.hash = self.hash.bytes(&bytes[..written]);
        self.size += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.file.flush()
    }
}
