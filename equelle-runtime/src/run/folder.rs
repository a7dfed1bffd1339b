//! An output folder in use by a run.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::entry::{FileContent, FileEntry, is_file_name};
use super::lock::{Lock, LockAttempt, ask};
use super::{own_file, timestamp};
use crate::error::{Error, ErrorKind};
use crate::io::{CompleteFile, Sink};
use crate::output::OutputCounters;
use crate::program::Program;
use crate::temporary;

/// The folder, with its locks.
pub(super) struct Folder {
    dir: PathBuf,
    program: Arc<Program>,
    sink: Sink,
    /// The owner in the lock files of this run.
    owner: String,
    /// Locks by tag.
    tags: BTreeMap<String, Option<Lock>>,
    /// Files of earlier runs that may still exist.
    earlier: Vec<FileEntry>,
    /// True if the record there is of outputs that lie there, or of a run that is done.
    has_earlier_outputs: bool,
    /// Begin and process of the run whose record that is.
    earlier_run: Value,
    /// True if the record there is of this run.
    is_claimed: bool,
    /// Files of this run.
    files: Vec<FileEntry>,
    journal: Option<File>,
    swept: bool,
    removed: usize,
    /// Dropped last: journal and record belong to this run until then. `None` if the file system
    /// has no locks.
    lock: Option<Lock>,
}

impl Folder {
    /// Locks the folder for a run; returns a warning if the file system has no locks.
    ///
    /// # Errors
    /// `Io`.
    pub(super) fn open(dir: &Path, program: &Arc<Program>, sink: Sink) -> Result<(Folder, Option<String>), Error> {
        sink.create_folder(dir).map_err(|error| cannot_write(dir, &error))?;
        let host = timestamp::host().map_or_else(String::new, |host| format!(" on {host}"));
        let owner = format!("program `{}`, process {}{host}, since {}\n", program.name, std::process::id(), timestamp::now());
        let lock_path = dir.join(format!(".{}.run.lock", program.name));
        let attempt = attempt_in(&sink, &lock_path, &owner).map_err(|error| cannot_write(dir, &error))?;
        let (lock, warning) = match attempt {
            None => (None, None),
            Some(LockAttempt::Ours(lock)) => (Some(lock), None),
            Some(LockAttempt::Taken(other)) => {
                return Err(taken(dir, &format!("`{}` already writes its outputs to `{}`", program.name, dir.display()), &other));
            }
            Some(LockAttempt::Unsupported(error)) => {
                (None, Some(format!("no locks in `{}`: other runs may write there, and no files are removed: {error}", dir.display())))
            }
        };
        let mut folder = Folder {
            dir: dir.to_owned(),
            program: Arc::clone(program),
            sink,
            owner,
            tags: BTreeMap::new(),
            earlier: Vec::new(),
            has_earlier_outputs: false,
            earlier_run: Value::Null,
            is_claimed: false,
            files: Vec::new(),
            journal: None,
            swept: false,
            removed: 0,
            lock,
        };
        // In a fixed order: of runs that need the same tags at the same time, one gets all of them.
        let collections = program.outputs.iter().filter(|output| output.kind.entities().is_some());
        let mut tags: Vec<&str> = collections.map(|output| &*output.tag).collect();
        tags.sort_unstable();
        for tag in tags {
            // Other tags are an error at the output.
            if is_file_name(tag) {
                folder.take_tag(tag)?;
            }
        }
        if folder.lock.is_some() {
            temporary::remove_left(dir, &program.name).map_err(|error| cannot_write(dir, &error))?;
        }
        match folder.sink {
            Sink::Files => folder.read_earlier()?,
            Sink::Memory(_) | Sink::Nowhere => {}
        }
        Ok((folder, warning))
    }

    /// True if the record in the folder is of outputs that lie there, or of a run that is done.
    pub(super) fn has_earlier_outputs(&self) -> bool {
        self.has_earlier_outputs
    }

    /// Begin and process of the run whose record was there when the folder was opened.
    pub(super) fn earlier_run(&self) -> &Value {
        &self.earlier_run
    }

    /// True if the record in the folder is of this run.
    pub(super) fn is_claimed(&self) -> bool {
        self.is_claimed
    }

    /// Locks a tag for this run, unless it is locked already.
    ///
    /// # Errors
    /// `Io`: another program writes it.
    pub(super) fn take_tag(&mut self, tag: &str) -> Result<(), Error> {
        if self.tags.contains_key(tag) {
            return Ok(());
        }
        let path = self.dir.join(format!(".{tag}.output.lock"));
        let lock = match attempt_in(&self.sink, &path, &self.owner).map_err(|error| cannot_write(&self.dir, &error))? {
            Some(LockAttempt::Ours(lock)) => Some(lock),
            Some(LockAttempt::Taken(other)) => {
                let what = format!("another run already writes output `{tag}` to `{}`", self.dir.display());
                return Err(taken(&self.dir, &what, &other));
            }
            Some(LockAttempt::Unsupported(_)) | None => None,
        };
        self.tags.insert(tag.to_owned(), lock);
        Ok(())
    }

    fn record_path(&self) -> PathBuf {
        self.dir.join(format!("{}.run.json", self.program.name))
    }

    fn journal_path(&self) -> PathBuf {
        self.dir.join(format!(".{}.run.files", self.program.name))
    }

    /// Reads the record of the run before this one: its files and, if it was killed, those in its
    /// journal.
    fn read_earlier(&mut self) -> Result<(), Error> {
        let (path, program) = (self.record_path(), &*self.program.name);
        let record: Value = match own_file::read_plain_file(&path) {
            Ok(bytes) => serde_json::from_slice(&bytes).unwrap_or_default(),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => json!({ "program": null }),
            Err(error) => return Err(Error::new(ErrorKind::Io, format!("cannot read `{}`: {error}", path.display()))),
        };
        if record.get("program").is_none() {
            let message = format!("`{}` is not the record of a run", path.display());
            return Err(Error::new(ErrorKind::Io, message).hint("move it away, or choose another folder with output_dir=DIR"));
        }
        let entries = |key: &str| {
            let entries = record[key].as_array().into_iter().flatten();
            entries.filter_map(|entry| FileEntry::from_json(entry, program)).collect::<Vec<_>>()
        };
        // Its last line may be incomplete; that file has no name yet.
        let journal = String::from_utf8(own_file::read_plain_file(&self.journal_path()).unwrap_or_default()).unwrap_or_default();
        let written = journal.lines().filter_map(|line| FileEntry::from_json(&serde_json::from_str(line).ok()?, program));
        let (files, written) = (entries("files"), written.collect::<Vec<_>>());
        let lies_there = |entry: &FileEntry| self.dir.join(entry.content.name(program)).exists();
        self.has_earlier_outputs = record["state"] == "done" || files.iter().chain(&written).any(lies_there);
        self.earlier_run = json!({ "started": record["started"], "process": record["process"] });
        // The journal last: of several entries of a file the last one is right.
        self.earlier = [files, entries("earlier_files"), written].concat();
        Ok(())
    }

    /// Starts the journal. The record is that of this run by now, and has its previous entries.
    pub(super) fn begin_journal(&mut self) -> std::io::Result<()> {
        self.is_claimed = true;
        if !matches!(self.sink, Sink::Files) {
            return Ok(());
        }
        self.journal = Some(own_file::open_empty(&self.journal_path())?);
        Ok(())
    }

    /// Before the first file of this run: removes unchanged files of earlier runs with its tags.
    ///
    /// # Errors
    /// Those of the system, with the name of a file that cannot be removed.
    pub(super) fn sweep(&mut self) -> std::io::Result<()> {
        // Without a lock another run may be writing them.
        if std::mem::replace(&mut self.swept, true) || self.lock.is_none() {
            return Ok(());
        }
        for entry in std::mem::take(&mut self.earlier) {
            let path = self.dir.join(entry.content.name(&self.program.name));
            if entry.content.tag().is_some_and(|tag| !self.tags.contains_key(tag)) {
                self.earlier.push(entry);
            } else if entry.is_unchanged(&path) {
                std::fs::remove_file(&path).map_err(|error| {
                    let message = format!("cannot remove `{}`, an output of an earlier run: {error}", path.display());
                    std::io::Error::new(error.kind(), message)
                })?;
                self.removed += 1;
            }
        }
        Ok(())
    }

    /// Takes over the files of the run before this one up to a checkpoint.
    pub(super) fn keep(&mut self, counters: &OutputCounters, step_files: u32) {
        let is_kept = |entry: &FileEntry| match &entry.content {
            FileContent::Tag { tag, number, .. } => counters.counts.get(tag).is_some_and(|count| number < count),
            FileContent::Step { step, repeat, .. } => *step < counters.step || (*step == counters.step && *repeat < step_files),
            FileContent::Times | FileContent::Rows => true,
        };
        let (kept, earlier): (Vec<_>, Vec<_>) = std::mem::take(&mut self.earlier).into_iter().partition(is_kept);
        self.earlier = earlier;
        for entry in kept {
            // A record and the journal after it may both list it; the last one is right.
            self.files.retain(|known| known.content != entry.content);
            self.files.push(entry);
        }
    }

    /// Number of removed files of earlier runs.
    pub(super) fn removed(&self) -> usize {
        self.removed
    }

    /// Renames a complete file, after listing it in the journal.
    pub(super) fn complete(&mut self, file: CompleteFile, entry: FileEntry) -> std::io::Result<()> {
        let program = &self.program.name;
        match (&self.sink, &mut self.journal) {
            // First: a run killed in between has listed one file too many, rather than one too few.
            (Sink::Files, Some(journal)) => journal.write_all(format!("{}\n", entry.json(program)).as_bytes())?,
            (Sink::Files, None) => return Err(std::io::Error::other("there is no journal")),
            // Files in memory end with the process.
            (Sink::Memory(_) | Sink::Nowhere, _) => {}
        }
        file.publish(&self.dir.join(entry.content.name(program)))?;
        if entry.content.is_rewritten() {
            self.files.retain(|earlier| earlier.content != entry.content);
        }
        self.files.push(entry);
        Ok(())
    }

    /// Files of this run, in the order in which they were completed.
    pub(super) fn files(&self) -> &[FileEntry] {
        &self.files
    }

    /// Writes `PROGRAM.run.json` atomically: the description of the run, its end as far as known,
    /// and its files.
    pub(super) fn write_record(&mut self, head: &Map<String, Value>, end: &Map<String, Value>) -> std::io::Result<()> {
        let mut record = head.clone();
        record.extend(end.clone());
        record.insert("removed_files".to_owned(), json!(self.removed));
        let list = |files: &[FileEntry]| Value::Array(files.iter().map(|entry| entry.json(&self.program.name)).collect());
        record.insert("files".to_owned(), list(&self.files));
        record.insert("earlier_files".to_owned(), list(&self.earlier));
        let mut file = self.sink.create(&self.dir, &temporary::prefix_of_run(&self.program.name))?;
        file.write_all(format!("{:#}\n", Value::Object(record)).as_bytes())?;
        file.finish()?.publish(&self.record_path())
    }

    /// Removes the journal of this run after the final record; that of a run before this one stays
    /// with its record, and what has its name without being one stays, too.
    pub(super) fn end(self) {
        if self.journal.is_none() {
            return;
        }
        // A journal that stays is read again and changes nothing.
        let _ = std::fs::remove_file(self.journal_path());
        // Names are durable once the folder is synced; some systems cannot sync folders.
        if cfg!(unix) {
            let _ = File::open(&self.dir).and_then(|folder| folder.sync_all());
        }
    }
}

/// Asks for a lock; `None` in memory, where nobody else writes.
fn attempt_in(sink: &Sink, path: &Path, owner: &str) -> std::io::Result<Option<LockAttempt>> {
    match sink {
        Sink::Files => ask(path, owner).map(Some),
        Sink::Memory(_) | Sink::Nowhere => Ok(None),
    }
}

fn taken(dir: &Path, what: &str, other: &str) -> Error {
    let whose = if other.is_empty() { String::new() } else { format!(": {other}") };
    let hint = format!("wait until it ends, or choose another folder than `{}` with output_dir=DIR", dir.display());
    Error::new(ErrorKind::Io, format!("{what}{whose}")).hint(hint)
}

pub(super) fn cannot_write(dir: &Path, error: &std::io::Error) -> Error {
    Error::new(ErrorKind::Io, format!("cannot write to output directory `{}`: {error}", dir.display()))
        .hint("choose another with output_dir=DIR")
}
