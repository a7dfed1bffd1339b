//! The record of a run in its output folder, and the locks of the folder.
//!
//! `PROGRAM.run.json` describes the run and lists its output files, with sizes and hashes. It is
//! written when the folder is opened and again at the end. In between, a journal
//! `.PROGRAM.run.files` gets a line for each file *before* the file gets its name, so that the list
//! of a killed run is complete. The next run of a program of that name reads both. Its first output
//! removes the unchanged files of the list that have the tags of the program, and never anything
//! else.
//!
//! Advisory locks, one for the program and one for each tag, keep runs with the same outputs apart
//! ([`lock`]); the operating system drops them with the process. Files are written under unique
//! temporary names ([`temporary`]), synced, and renamed.

mod entry;
mod folder;
mod lock;
mod temporary;
mod timestamp;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::{Map, Value, json};

use crate::error::{Error, ErrorKind};
use crate::grid::Grid;
use crate::hash::StableHash;
use crate::io::{CompleteFile, Sink, SinkFile};
use crate::params::Parameters;
use crate::program::Program;
pub(crate) use entry::{FileEntry, not_in_names};
use folder::Folder;

/// The end of a run, as far as known.
#[derive(Clone, Debug, PartialEq)]
enum End {
    /// The run goes on, or was dropped.
    Unknown,
    /// The program finished.
    Finished,
    /// The run ended with this exit code, and a reason if not 0.
    Exit(u8, Option<String>),
}

/// The record of a run, with its folder once a file goes there. Clones share it; dropping the last
/// one unlocks the folder.
#[derive(Clone)]
pub struct RunRecord(Arc<Mutex<State>>);

struct State {
    program: &'static Program,
    dir: PathBuf,
    sink: Sink,
    /// Description of the run without its files.
    head: Map<String, Value>,
    folder: Option<Folder>,
    end: End,
}

impl RunRecord {
    /// A record for a program with these parameters on this grid, whose files go to `dir`. Writes
    /// nothing yet.
    pub fn new(program: &'static Program, parameters: &Parameters, grid: &Grid, back_end: &str, dir: PathBuf) -> RunRecord {
        let head = head(program, parameters, grid, back_end);
        RunRecord(Arc::new(Mutex::new(State { program, dir, sink: Sink::Files, head, folder: None, end: End::Unknown })))
    }

    /// The same with files that go to a sink. In memory nothing is locked, and no earlier run is
    /// known.
    #[must_use]
    pub fn writing_to(self, sink: Sink) -> RunRecord {
        self.state().sink = sink;
        self
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Locks the folder for this run, unless that is done; creates it if missing. Returns a warning
    /// if the file system has no locks.
    ///
    /// # Errors
    /// `Io`: the folder is not writable, or another run writes the same outputs there.
    pub fn open(&self) -> Result<Option<String>, Error> {
        let mut state = self.state();
        if state.folder.is_some() {
            return Ok(None);
        }
        let (mut folder, warning) = Folder::open(&state.dir, state.program, state.sink.clone())?;
        folder.write_record(&state.head, "running", None, None).map_err(|error| cannot_write(&state.dir, &error))?;
        folder.begin_journal().map_err(|error| cannot_write(&state.dir, &error))?;
        state.folder = Some(folder);
        Ok(warning)
    }

    /// The folder of files, once it is open.
    pub fn dir(&self) -> Option<PathBuf> {
        let state = self.state();
        state.folder.as_ref().map(|_| state.dir.clone())
    }

    /// The folder of files, open or not.
    pub fn dir_of_files(&self) -> PathBuf {
        self.state().dir.clone()
    }

    /// Prepares the first file of a tag: locks the tag, and removes files of earlier runs.
    ///
    /// # Errors
    /// `Io`: another program writes the same tag, or a file cannot be removed.
    pub(crate) fn begin_file(&self, tag: &str) -> Result<(), Error> {
        let mut state = self.state();
        let folder = state.folder.as_mut().ok_or_else(no_folder)?;
        folder.take_tag(tag)?;
        folder.sweep()
    }

    /// A new file under a temporary name.
    ///
    /// # Errors
    /// Those of the system.
    pub(crate) fn temporary(&self) -> std::io::Result<SinkFile> {
        let state = self.state();
        state.sink.create(&state.dir, &temporary::prefix(state.program.name))
    }

    /// Gives a complete file its final name.
    ///
    /// # Errors
    /// Those of the system.
    pub(crate) fn complete(&self, file: CompleteFile, entry: FileEntry) -> std::io::Result<()> {
        let mut state = self.state();
        let folder = state.folder.as_mut().ok_or_else(|| std::io::Error::other("the run has ended"))?;
        folder.complete(file, entry)
    }

    /// Number of removed files of earlier runs.
    pub fn removed(&self) -> usize {
        self.state().folder.as_ref().map_or(0, Folder::removed)
    }

    /// Adds an entry to the description of the run.
    pub fn note(&self, key: &str, value: impl Into<Value>) {
        self.state().head.insert(key.to_owned(), value.into());
    }

    /// The program finished; [`RunRecord::end`] may still report an error.
    pub fn finished(&self) {
        let mut state = self.state();
        if state.end == End::Unknown {
            state.end = End::Finished;
        }
    }

    /// Records the end of the run, and unlocks the folder.
    ///
    /// # Errors
    /// `Io` if the record cannot be written.
    pub fn end(&self, result: &Result<(), Error>) -> Result<(), Error> {
        let mut state = self.state();
        state.end = match result {
            Ok(()) => End::Exit(0, None),
            Err(error) => End::Exit(error.kind.exit_code(), Some(error.message.clone())),
        };
        state.close()
    }
}

impl State {
    fn close(&mut self) -> Result<(), Error> {
        let Some(mut folder) = self.folder.take() else { return Ok(()) };
        let (state, code, message) = match &self.end {
            End::Finished | End::Exit(0, _) => ("done", Some(0), None),
            End::Exit(code @ (130 | 143), message) => ("interrupted", Some(*code), message.as_deref()),
            End::Exit(code, message) => ("failed", Some(*code), message.as_deref()),
            End::Unknown if std::thread::panicking() => ("failed", Some(101), None),
            End::Unknown => ("failed", None, None),
        };
        self.head.insert("ended".to_owned(), json!(timestamp::now()));
        folder.write_record(&self.head, state, code, message).map_err(|error| cannot_write(&self.dir, &error))?;
        folder.end();
        Ok(())
    }
}

impl Drop for State {
    fn drop(&mut self) {
        // Nobody can be told of errors here; without `end` the record says that the run goes on,
        // and its journal stays.
        let _ = self.close();
    }
}

fn no_folder() -> Error {
    Error::new(ErrorKind::Io, "internal error: an output after the end of the run")
}

fn cannot_write(dir: &Path, error: &std::io::Error) -> Error {
    Error::new(ErrorKind::Io, format!("cannot write to output directory `{}`: {error}", dir.display()))
        .hint("choose another with output_dir=DIR")
}

/// Description of a run at its start.
fn head(program: &Program, parameters: &Parameters, grid: &Grid, back_end: &str) -> Map<String, Value> {
    let parameters: Map<String, Value> =
        parameters.given().map(|(key, value, origin)| (key.to_owned(), json!({ "value": value, "origin": origin.to_string() }))).collect();
    let mut of_grid = json!({ "dimension": grid.dim(), "cells": grid.n_cells(), "faces": grid.n_faces() });
    if let Some(shape) = grid.cartesian_shape() {
        of_grid["cartesian"] = json!({ "n": shape.n[..shape.dim], "spacing": shape.spacing[..shape.dim] });
    }
    let source = program.source;
    let value = json!({
        "version": 1,
        "program": {
            "name": program.name,
            "file": source.file,
            "hash": StableHash::default().bytes(source.text.as_bytes()).digits(),
        },
        "parameters": parameters,
        "grid": of_grid,
        "back_end": back_end,
        "versions": { "equelle-runtime": env!("CARGO_PKG_VERSION") },
        "process": { "id": std::process::id(), "host": timestamp::host() },
        "started": timestamp::now(),
    });
    match value {
        Value::Object(map) => map,
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => Map::new(),
    }
}
