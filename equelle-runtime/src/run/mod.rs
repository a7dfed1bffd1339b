//! The record of a run in its output folder, and the locks of the folder.
//!
//! `PROGRAM.run.json` describes the run whose outputs lie in the folder, and lists its files with
//! sizes and hashes. In a folder without such outputs a run writes it at once, else with its first
//! complete file, or when it is done: a run that fails before that leaves the record of the outputs
//! alone, and its own in the folder `failure`. The record is written again at the end. In between,
//! a journal `.PROGRAM.run.files` gets a line for each file *before* the file gets its name, so
//! that the list of a killed run is complete. The next run of a program of that name reads both.
//! Its first file removes the unchanged files of the list that have the tags or the name of the
//! program, and never anything else.
//!
//! Advisory locks, one for the program and one for each tag, keep runs with the same outputs apart
//! ([`lock`]); the operating system drops them with the process. Files are written under unique
//! temporary names ([`crate::temporary`]), synced, and renamed.

mod entry;
mod folder;
mod lock;
mod own_file;
mod timestamp;

use std::fs::OpenOptions;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use serde_json::{Map, Value, json};

use crate::error::{Error, ErrorKind};
use crate::grid::Grid;
use crate::io::{CompleteFile, Sink, SinkFile};
use crate::output::OutputCounters;
use crate::params::Parameters;
use crate::program::Program;
use crate::report::Messages;
use crate::report::event::{End, Event, GridDescription, Start};
pub(crate) use entry::{FileContent, FileEntry, StepFormat, StepPart, TagFormat, not_in_names};
use folder::{Folder, cannot_write};
pub use own_file::{open_plain_file, read_plain_file};

/// Key of parameters: whether the events of a run go to `PROGRAM.events.jsonl`.
pub(crate) const EVENT_LOG: &str = "event_log";

/// The folder, in that of the outputs, of what a failed run leaves.
pub const FAILURE: &str = "failure";

/// The record of a run, with its folder once a file goes there. Clones share it; dropping the last
/// one unlocks the folder.
#[derive(Clone)]
pub struct RunRecord(Arc<Mutex<State>>);

struct State {
    program: Arc<Program>,
    dir: PathBuf,
    sink: Sink,
    /// Description of the run without its files.
    head: Map<String, Value>,
    folder: Option<Folder>,
    /// For a run that goes on: how many files of each tag are its own.
    kept: Option<(OutputCounters, u32)>,
    /// Entries of the files in the folder of failures that are this run's.
    failure_files: Vec<Value>,
    /// Gets an event for each complete file.
    messages: Option<Messages>,
    /// True if the run goes on from a checkpoint: its log of events does, too.
    is_resumed: bool,
    opened: Instant,
    /// True if the program finished.
    finished: bool,
    end: Option<End>,
}

impl RunRecord {
    /// A record of a run of a program, whose files go to `dir`. Writes nothing yet.
    pub fn new(program: &Arc<Program>, start: &Start, dir: PathBuf) -> RunRecord {
        let mut head = members(&Event::Start(start.clone()));
        head.insert("texts".to_owned(), texts(program));
        head.insert("units".to_owned(), units(program, start));
        let state = State {
            program: Arc::clone(program),
            dir,
            sink: Sink::Files,
            head,
            folder: None,
            kept: None,
            failure_files: Vec::new(),
            messages: None,
            is_resumed: false,
            opened: Instant::now(),
            finished: false,
            end: None,
        };
        RunRecord(Arc::new(Mutex::new(state)))
    }

    /// The same with an event for each complete file.
    #[must_use]
    pub fn telling(self, messages: &Messages) -> RunRecord {
        self.state().messages = Some(messages.clone());
        self
    }

    /// The same for a run that goes on from a checkpoint, if it does.
    #[must_use]
    pub fn resumed(self, is_resumed: bool) -> RunRecord {
        self.state().is_resumed = is_resumed;
        self
    }

    /// The same with files that go to a sink. In memory nothing is locked, and no earlier run is
    /// known.
    #[must_use]
    pub fn writing_to(self, sink: Sink) -> RunRecord {
        self.state().sink = sink;
        self
    }

    /// True if the run is tried: it has no folder.
    pub(crate) fn goes_nowhere(&self) -> bool {
        matches!(self.state().sink, Sink::Nowhere)
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
        let (mut folder, warning) = Folder::open(&state.dir, &state.program, state.sink.clone())?;
        if let Some((counters, step_files)) = &state.kept {
            folder.keep(counters, *step_files);
        }
        let is_free = !folder.has_earlier_outputs();
        state.folder = Some(folder);
        if is_free {
            state.claim().map_err(|error| cannot_write(&state.dir, &error))?;
        }
        Ok(warning)
    }

    /// The run goes on from a checkpoint: the files up to there of the run before it are files of
    /// this one, and later ones are removed before its first output.
    pub(crate) fn keep(&self, counters: &OutputCounters, step_files: u32) {
        let mut state = self.state();
        state.kept = Some((counters.clone(), step_files));
        if let Some(folder) = &mut state.folder {
            folder.keep(counters, step_files);
        }
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

    /// Prepares the first file of a tag: locks the tag.
    ///
    /// # Errors
    /// `Io`: another program writes the same tag.
    pub(crate) fn begin_file(&self, tag: &str) -> Result<(), Error> {
        self.state().folder.as_mut().ok_or_else(no_folder)?.take_tag(tag)
    }

    /// The program that runs.
    pub(crate) fn program(&self) -> Arc<Program> {
        Arc::clone(&self.state().program)
    }

    /// Complete files of this run so far, in that order; none once the run has ended.
    pub(crate) fn files(&self) -> Vec<FileEntry> {
        self.state().folder.as_ref().map_or_else(Vec::new, |folder| folder.files().to_vec())
    }

    /// Number of times that the collections of a round were written to files of VTK.
    pub(crate) fn n_step_files(&self, round: u64) -> u32 {
        let number = |entry: FileEntry| match entry.content {
            FileContent::Step { step, repeat, .. } if step == round => Some(repeat + 1),
            FileContent::Step { .. } | FileContent::Tag { .. } | FileContent::Times | FileContent::Rows => None,
        };
        self.files().into_iter().filter_map(number).max().unwrap_or(0)
    }

    /// Number of complete files of this run; 0 once the run has ended.
    pub fn n_files(&self) -> usize {
        self.state().folder.as_ref().map_or(0, |folder| folder.files().len())
    }

    /// A new file under a temporary name.
    ///
    /// # Errors
    /// Those of the system.
    pub(crate) fn temporary(&self) -> std::io::Result<SinkFile> {
        let state = self.state();
        state.sink.create(&state.dir, &crate::temporary::prefix_of_run(&state.program.name))
    }

    /// Gives a complete file its final name. The first one makes the record that of this run, and
    /// removes files of earlier runs.
    ///
    /// # Errors
    /// Those of the system.
    pub(crate) fn complete(&self, file: CompleteFile, entry: FileEntry) -> std::io::Result<()> {
        let mut state = self.state();
        let written = entry.json(&state.program.name);
        state.claim()?;
        let folder = state.folder.as_mut().ok_or_else(|| std::io::Error::other("the run has ended"))?;
        folder.sweep()?;
        folder.complete(file, entry)?;
        if let Some(messages) = &state.messages {
            messages.event(&Event::Output(written));
        }
        Ok(())
    }

    /// Number of removed files of earlier runs.
    pub fn removed(&self) -> usize {
        self.state().folder.as_ref().map_or(0, Folder::removed)
    }

    /// Notes that these files in the folder of failures are of this run.
    pub(crate) fn has_failed(&self, files: Vec<Value>) {
        self.state().failure_files = files;
    }

    /// Adds an entry to the description of the run.
    pub fn note(&self, key: &str, value: impl Into<Value>) {
        self.state().head.insert(key.to_owned(), value.into());
    }

    /// The program finished; [`RunRecord::end`] may still report an error.
    pub fn finished(&self) {
        self.state().finished = true;
    }

    /// Records the end of the run, and unlocks the folder.
    ///
    /// # Errors
    /// `Io` if the record cannot be written.
    pub fn end(&self, result: &Result<(), Error>) -> Result<(), Error> {
        let mut state = self.state();
        state.end = Some(End::of(result, state.opened.elapsed().as_secs_f64()));
        state.close()
    }
}

impl State {
    /// Makes the record in the folder that of this run, which goes on, and opens the log of events
    /// beside it; the second call does nothing.
    fn claim(&mut self) -> std::io::Result<()> {
        let Some(folder) = &mut self.folder else { return Ok(()) };
        if !folder.is_claimed() {
            folder.write_record(&self.head, &running())?;
            folder.begin_journal()?;
            self.open_log(&self.dir, self.is_resumed)?;
        }
        Ok(())
    }

    /// Opens the log of events in a folder, if there is to be one.
    fn open_log(&self, dir: &Path, goes_on: bool) -> std::io::Result<()> {
        let Some(messages) = &self.messages else { return Ok(()) };
        let path = dir.join(format!("{}.events.jsonl", self.program.name));
        messages.open_log(|| match goes_on {
            true => own_file::open(&path, OpenOptions::new().append(true).create(true)),
            false => own_file::open_empty(&path),
        })
    }

    fn close(&mut self) -> Result<(), Error> {
        if self.folder.is_none() {
            return Ok(());
        }
        let seconds = self.opened.elapsed().as_secs_f64();
        let end = match self.end.take() {
            Some(end) => end,
            None if self.finished => End::of(&Ok(()), seconds),
            None => End::without_error("failed", std::thread::panicking().then_some(101), seconds),
        };
        self.head.insert("ended".to_owned(), json!(timestamp::now()));
        let is_done = end.state == "done";
        let end = members(&Event::End(end));
        let written = if is_done { self.claim() } else { Ok(()) };
        let Some(mut folder) = self.folder.take() else { return Ok(()) };
        let written = written.and_then(|()| {
            if folder.is_claimed() { folder.write_record(&self.head, &end) } else { self.write_failure(&end, folder.earlier_run()) }
        });
        written.map_err(|error| cannot_write(&self.dir, &error))?;
        folder.end();
        Ok(())
    }

    /// Writes the record of a run that has failed beside the outputs of another one, `beside`.
    fn write_failure(&self, end: &Map<String, Value>, beside: &Value) -> std::io::Result<()> {
        let dir = self.dir.join(FAILURE);
        self.sink.create_subfolder(&dir)?;
        let mut record = self.head.clone();
        record.extend(end.clone());
        record.insert("files".to_owned(), Value::Array(self.failure_files.clone()));
        record.insert("beside".to_owned(), beside.clone());
        let path = dir.join(format!("{}.run.json", self.program.name));
        self.sink.write(&path, |out| writeln!(out, "{:#}", Value::Object(record)))?;
        self.open_log(&dir, false)
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

/// The end of a run that goes on.
fn running() -> Map<String, Value> {
    let mut end = members(&Event::End(End::without_error("running", None, f64::NAN)));
    end.remove("seconds");
    end
}

/// The texts of a program and of what it imports, with the number of the first line of each.
fn texts(program: &Program) -> Value {
    let source = &program.source;
    let own = json!({ "file": *source.file, "first_line": 1, "text": *source.text });
    let imports = source.imported().zip(&source.imports);
    let imports = imports.map(|((file, first_line), import)| json!({ "file": **file, "first_line": first_line, "text": *import.text }));
    std::iter::once(own).chain(imports).collect()
}

/// Units of coordinates, of times and of outputs, by tag.
fn units(program: &Program, start: &Start) -> Value {
    let outputs: Map<String, Value> =
        program.outputs.iter().filter_map(|output| Some((output.tag.to_string(), json!(output.unit.as_ref()?.text())))).collect();
    let time_from = start.parameters.iter().find(|(key, ..)| key == "time_from");
    let time = match time_from {
        Some((_, tag, _)) => outputs.get(tag).cloned().unwrap_or_default(),
        None => json!(program.axes.time.as_deref()),
    };
    json!({ "coordinates": program.axes.coordinates.as_deref(), "time": time, "outputs": outputs })
}

/// The members of an event without its name.
fn members(event: &Event) -> Map<String, Value> {
    let mut members: Map<String, Value> = serde_json::from_str(&event.json()).unwrap_or_default();
    members.remove("event");
    members
}

/// Description of a run at its start.
pub fn description(program: &Program, parameters: &Parameters, grid: &Grid, back_end: &str) -> Start {
    let given = parameters.given().map(|(key, value, origin)| (key.to_owned(), value.to_owned(), origin.to_string()));
    let cartesian = grid.cartesian_shape().map(|shape| (shape.n[..shape.dim].to_vec(), shape.spacing[..shape.dim].to_vec()));
    Start {
        program: Arc::clone(&program.name),
        file: Arc::clone(&program.source.file),
        hash: program.source.hash(),
        imports: program.source.imported().map(|(file, line)| (Arc::clone(file), line)).collect(),
        parameters: given.collect(),
        grid: GridDescription { dimension: grid.dim(), cells: grid.n_cells(), faces: grid.n_faces(), cartesian },
        back_end: back_end.to_owned(),
        mode: None,
        process: std::process::id(),
        host: timestamp::host(),
        started: timestamp::now(),
    }
}
