//! What a program puts out (runtime specification, section 10).
//!
//! Scalars go to standard output as `tag = value`. Collections go there too, or with `output_to_file=true` to files `tag-00000.output`, one value a
//! line in shortest digits that read back as the same number. A file appears under its name only when it is complete.

mod held;
mod later;

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use crate::error::{Error, ErrorKind};
use crate::number::{general, write_shortest};
use crate::params::Parameters;
use crate::real::Real;
pub use held::Held;

/// One `Output` of a program, kept instead of written.
#[derive(Clone, Debug, PartialEq)]
pub enum Record {
    /// Of a scalar.
    Scalar {
        /// As given to `Output`.
        tag: String,
        /// Its value.
        value: f64,
    },
    /// Of a truth value.
    Bool {
        /// As given to `Output`.
        tag: String,
        /// Its value.
        value: bool,
    },
    /// Of text.
    Text {
        /// As given to `Output`.
        tag: String,
        /// Its value.
        value: String,
    },
    /// Of a vector.
    Vector {
        /// As given to `Output`.
        tag: String,
        /// As many as the grid has dimensions.
        components: Vec<f64>,
    },
    /// Of a collection of vectors.
    Vectors {
        /// As given to `Output`.
        tag: String,
        /// By element of the domain, then by component.
        values: Vec<Vec<f64>>,
    },
    /// Of a collection; truth values are 1 and 0, entities their indices, -1 for Empty.
    Collection {
        /// As given to `Output`.
        tag: String,
        /// In the order of the domain.
        values: Vec<f64>,
    },
}

/// Outputs kept in memory; clones share it.
#[derive(Clone, Debug, Default)]
pub struct Records(Arc<Mutex<Vec<Record>>>);

impl Records {
    /// Takes what has been put out so far.
    pub fn take(&self) -> Vec<Record> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner))
    }

    fn push(&self, record: Record) {
        self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push(record);
    }
}

/// Where outputs go.
enum Sink {
    Streams { console: Box<dyn Write + Send>, dir: Option<PathBuf> },
    Memory(Records),
}

/// The outputs of a run.
pub struct Outputs {
    sink: Sink,
    counts: BTreeMap<String, u32>,
    files: usize,
    text: String,
    /// What waits, where outputs wait.
    held: Option<Vec<Held>>,
    /// Where nothing is put out: whether something would have been.
    muted: Option<bool>,
    /// For files that are written while the run goes on.
    writer: later::Writer,
}

impl Outputs {
    /// From `output_to_file` (default false) and `output_dir` (default the working directory; created when missing). With files, makes sure that the
    /// directory can be written.
    ///
    /// # Errors
    /// `Io` if it cannot; `Data` for a bad parameter.
    pub fn from_parameters(parameters: &Parameters, console: Box<dyn Write + Send>) -> Result<Outputs, Error> {
        let to_file = parameters.flag("output_to_file")?.unwrap_or(false);
        let dir = parameters.path("output_dir")?.unwrap_or_else(|| PathBuf::from("."));
        if to_file {
            prepare_dir(&dir)?;
        }
        Ok(Outputs::new(Sink::Streams { console, dir: to_file.then_some(dir) }))
    }

    /// Keeps outputs in memory.
    pub fn to_memory(records: Records) -> Outputs {
        Outputs::new(Sink::Memory(records))
    }

    fn new(sink: Sink) -> Outputs {
        Outputs { sink, counts: BTreeMap::new(), files: 0, text: String::new(), held: None, muted: None, writer: later::Writer::default() }
    }

    /// Files written so far.
    pub fn files_written(&self) -> usize {
        self.files
    }

    /// Where files go, if they do.
    pub fn dir(&self) -> Option<&Path> {
        match &self.sink {
            Sink::Streams { dir, .. } => dir.as_deref(),
            Sink::Memory(_) => None,
        }
    }

    /// `tag = value` on standard output, in shortest digits that read back as the same number.
    ///
    /// # Errors
    /// `Io`.
    pub fn scalar(&mut self, tag: &str, value: f64) -> Result<(), Error> {
        if self.keeps(false, || Record::Scalar { tag: tag.to_string(), value }) {
            return Ok(());
        }
        match &mut self.sink {
            Sink::Memory(records) => {
                records.push(Record::Scalar { tag: tag.to_string(), value });
                Ok(())
            }
            Sink::Streams { console, .. } => {
                self.text.clear();
                self.text.push_str(tag);
                self.text.push_str(" = ");
                write_shortest(&mut self.text, value);
                self.text.push('\n');
                to_console(console.as_mut(), &self.text)
            }
        }
    }

    /// `tag = true` or `tag = false` on standard output.
    ///
    /// # Errors
    /// `Io`.
    pub fn bool(&mut self, tag: &str, value: bool) -> Result<(), Error> {
        if self.keeps(false, || Record::Bool { tag: tag.to_string(), value }) {
            return Ok(());
        }
        match &mut self.sink {
            Sink::Memory(records) => {
                records.push(Record::Bool { tag: tag.to_string(), value });
                Ok(())
            }
            Sink::Streams { console, .. } => to_console(console.as_mut(), &format!("{tag} = {value}\n")),
        }
    }

    /// `tag = text` on standard output.
    ///
    /// # Errors
    /// `Io`.
    pub fn text(&mut self, tag: &str, value: &str) -> Result<(), Error> {
        if self.keeps(false, || Record::Text { tag: tag.to_string(), value: value.to_string() }) {
            return Ok(());
        }
        match &mut self.sink {
            Sink::Memory(records) => {
                records.push(Record::Text { tag: tag.to_string(), value: value.to_string() });
                Ok(())
            }
            Sink::Streams { console, .. } => to_console(console.as_mut(), &format!("{tag} = {value}\n")),
        }
    }

    /// `tag = x y z` on standard output, in shortest digits that read back as the same numbers.
    ///
    /// # Errors
    /// `Io`.
    pub fn vector(&mut self, tag: &str, components: &[f64]) -> Result<(), Error> {
        if self.keeps(false, || Record::Vector { tag: tag.to_string(), components: components.to_vec() }) {
            return Ok(());
        }
        match &mut self.sink {
            Sink::Memory(records) => {
                records.push(Record::Vector { tag: tag.to_string(), components: components.to_vec() });
                Ok(())
            }
            Sink::Streams { console, .. } => {
                self.text.clear();
                self.text.push_str(tag);
                self.text.push_str(" =");
                for &component in components {
                    self.text.push(' ');
                    write_shortest(&mut self.text, component);
                }
                self.text.push('\n');
                to_console(console.as_mut(), &self.text)
            }
        }
    }

    /// A line of text on standard output, such as those of `verbose`; not recorded.
    ///
    /// # Errors
    /// `Io`.
    pub fn line(&mut self, text: &str) -> Result<(), Error> {
        match &mut self.sink {
            Sink::Memory(_) => Ok(()),
            Sink::Streams { console, .. } => to_console(console.as_mut(), &format!("{text}\n")),
        }
    }

    /// A collection, in the order of its domain: to a file, or to standard output as one line of left-aligned `%g` fields.
    ///
    /// # Errors
    /// `Io`; `Data` if the tag cannot be part of a file name.
    pub fn collection<R: Real>(&mut self, tag: &str, values: &[R]) -> Result<(), Error> {
        if self.keeps(single::<R>(), || Record::Collection { tag: tag.to_string(), values: R::slice_to_f64(values) }) {
            return Ok(());
        }
        self.collection_at_once(tag, values)
    }

    /// The same, whatever waits or does not happen.
    pub(crate) fn collection_at_once<R: Real>(&mut self, tag: &str, values: &[R]) -> Result<(), Error> {
        match &mut self.sink {
            Sink::Memory(records) => {
                records.push(Record::Collection { tag: tag.to_string(), values: R::slice_to_f64(values) });
                Ok(())
            }
            Sink::Streams { console, dir: None } => {
                self.text.clear();
                self.text.push_str(tag);
                self.text.push_str(" =\n");
                for &value in values {
                    self.text.push_str(&format!("{:<15} ", general(value.to_f64())));
                }
                self.text.push('\n');
                to_console(console.as_mut(), &self.text)
            }
            Sink::Streams { dir: Some(dir), .. } => {
                self.writer.settle()?;
                let name = file_name(&mut self.counts, tag)?;
                write_file(dir, &name, &[values], &mut self.text)?;
                self.files += 1;
                Ok(())
            }
        }
    }

    /// A collection of vectors, given by component, in the order of its domain: a line per element with its components, to a file or to standard output.
    ///
    /// # Errors
    /// `Io`; `Data` if the tag cannot be part of a file name.
    pub fn vectors<R: Real>(&mut self, tag: &str, components: &[&[R]]) -> Result<(), Error> {
        if self.keeps(single::<R>(), || Record::Vectors { tag: tag.to_string(), values: rows(components) }) {
            return Ok(());
        }
        let len = components.first().map_or(0, |component| component.len());
        match &mut self.sink {
            Sink::Memory(records) => {
                records.push(Record::Vectors { tag: tag.to_string(), values: rows(components) });
                Ok(())
            }
            Sink::Streams { console, dir: None } => {
                self.text.clear();
                self.text.push_str(tag);
                self.text.push_str(" =\n");
                for i in 0..len {
                    for component in components {
                        self.text.push_str(&format!("{:<15} ", general(component[i].to_f64())));
                    }
                    self.text.push('\n');
                }
                to_console(console.as_mut(), &self.text)
            }
            Sink::Streams { dir: Some(dir), .. } => {
                self.writer.settle()?;
                let name = file_name(&mut self.counts, tag)?;
                write_file(dir, &name, components, &mut self.text)?;
                self.files += 1;
                Ok(())
            }
        }
    }
}

fn single<R: Real>() -> bool {
    R::NAME == f32::NAME
}

/// Components by element.
fn rows<R: Real>(components: &[&[R]]) -> Vec<Vec<f64>> {
    let len = components.first().map_or(0, |component| component.len());
    (0..len).map(|i| components.iter().map(|component| component[i].to_f64()).collect()).collect()
}

/// Name of the next file of a tag.
fn file_name(counts: &mut BTreeMap<String, u32>, tag: &str) -> Result<String, Error> {
    check_tag(tag)?;
    if !counts.contains_key(tag) {
        counts.insert(tag.to_string(), 0);
    }
    let count = counts.get_mut(tag).map_or(0, |count| std::mem::replace(count, *count + 1));
    Ok(format!("{tag}-{count:05}.output"))
}

fn to_console(console: &mut dyn Write, text: &str) -> Result<(), Error> {
    console
        .write_all(text.as_bytes())
        .and_then(|()| console.flush())
        .map_err(|e| Error::new(ErrorKind::Io, format!("cannot write to standard output: {e}")))
}

/// Creates the directory if needed and tries to write in it.
fn prepare_dir(dir: &Path) -> Result<(), Error> {
    let fail = |e: std::io::Error| {
        Error::new(ErrorKind::Io, format!("cannot write to output directory `{}`: {e}", dir.display()))
            .hint("choose another with output_dir=DIR")
    };
    std::fs::create_dir_all(dir).map_err(fail)?;
    let probe = dir.join(format!(".write-test-{}", std::process::id()));
    File::create(&probe).map_err(fail)?;
    std::fs::remove_file(&probe).map_err(fail)
}

/// A tag becomes part of a file name, so it must not lead out of the output directory.
fn check_tag(tag: &str) -> Result<(), Error> {
    let bad = tag.chars().find(|c| matches!(c, '/' | '\\' | ':') || c.is_control());
    match bad {
        None => Ok(()),
        Some(c) => {
            Err(Error::new(ErrorKind::Data, format!("output tag `{}` cannot be a file name: it contains {c:?}", tag.escape_debug()))
                .hint("use letters, digits, blanks, `-` and `_` in the tag, or output_to_file=false"))
        }
    }
}

/// Writes columns of equal length under a temporary name, syncs, renames: a reader never sees half a file, and a crash leaves earlier outputs whole.
fn write_file<R: Real>(dir: &Path, name: &str, columns: &[&[R]], text: &mut String) -> Result<(), Error> {
    let (temporary, path) = (dir.join(format!("{name}.part")), dir.join(name));
    let mut write = || -> std::io::Result<()> {
        let mut file = File::create(&temporary)?;
        let rows = columns.first().map_or(0, |column| column.len());
        for start in (0..rows).step_by(16 * 1024) {
            text.clear();
            for row in start..rows.min(start + 16 * 1024) {
                for (i, column) in columns.iter().enumerate() {
                    if i > 0 {
                        text.push(' ');
                    }
                    write_shortest(text, column[row]);
                }
                text.push('\n');
            }
            file.write_all(text.as_bytes())?;
        }
        file.sync_all()?;
        std::fs::rename(&temporary, &path)
    };
    write().map_err(|e| {
        // What could not be completed is of no use; that it cannot be removed either is no news.
        let _ = std::fs::remove_file(&temporary);
        Error::new(ErrorKind::Io, format!("cannot write `{}`: {e}", path.display()))
    })
}
