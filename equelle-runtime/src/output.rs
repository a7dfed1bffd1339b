//! Outputs of a program (`docs/language/data.md`).
//!
//! Scalars go to standard output as `tag = value`. Collections of up to [`LARGE`] elements go there
//! too; larger ones, and with `output_to_file=true` or `output_format` all, go to files. Numbers
//! in text have the shortest digits that read back as the same number. A file appears under its
//! name only when it is complete. [`crate::run`] manages the output folder.
//!
//! `plan` has what the parameters ask for, `schedule` the steps that are written, `position` where
//! the run is. A thread (`background`) writes files of collections and of steps (`steps`).

mod audit;
mod background;
mod collections;
mod columns;
mod component;
mod console;
mod counters;
mod deferred;
mod field;
mod files;
mod nonfinite;
pub mod npy;
mod plan;
mod position;
mod probe;
mod queue;
mod record;
mod resume;
mod rows;
mod schedule;
mod step_time;
mod steps;
mod table;

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::path::PathBuf;

use crate::entity::EntityKind;
use crate::error::Error;
use crate::grid::Grid;
use crate::number::write_shortest;
use crate::params::Parameters;
use crate::real::Real;
use crate::report::Event;
use crate::run::{FileContent, FileEntry, RunRecord, TagFormat};
use crate::threads::Threads;
pub use collections::Route;
pub use columns::RESERVED;
pub use component::component;
use console::{print, print_columns};
pub use counters::{AuditTotals, OutputCounters};
pub use field::{Field, FieldValues, StepFields, Support};
use files::{check_tag, write_columns};
pub use nonfinite::{Checked, CheckedValues, ElementLocation, FirstNonfinite, Nonfinite, NotFinite, Step, step_text};
use plan::OutputPlan;
use position::Position;
use queue::FileQueue;
pub use record::{DeferredOutput, Record, Records};
use rows::RowText;
pub use step_time::StepTime;
use steps::Meshes;

/// Largest collection that is printed, unless `output_to_file=false` is given.
pub const LARGE: usize = 1000;

/// Collections that go to files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ToFiles {
    All,
    /// Collections of more than [`LARGE`] elements.
    Large,
    None,
}

impl ToFiles {
    fn takes(self, elements: usize) -> bool {
        match self {
            ToFiles::All => true,
            ToFiles::Large => elements > LARGE,
            ToFiles::None => false,
        }
    }
}

/// The destination of outputs.
enum Target {
    Streams {
        console: Box<dyn Write + Send>,
        to_files: ToFiles,
        record: RunRecord,
    },
    Memory {
        records: Records,
        /// The last step that has something in memory.
        remembered: Option<u64>,
    },
    /// Nowhere. What would go to files is checked and counted as if it did.
    Nowhere {
        to_files: ToFiles,
    },
}

impl OutputPlan {
    /// The plan that the parameters ask for, and which collections go to files.
    fn with_destination(parameters: &Parameters) -> Result<(OutputPlan, ToFiles), Error> {
        let plan = OutputPlan::from_parameters(parameters)?;
        let to_files = match parameters.flag("output_to_file")? {
            _ if plan.is_given => ToFiles::All,
            Some(true) => ToFiles::All,
            Some(false) => ToFiles::None,
            None => ToFiles::Large,
        };
        Ok((plan, to_files))
    }
}

/// The folder of `output_to_file` and `output_dir`, for [`RunRecord::new`].
///
/// # Errors
/// `Data` for a bad parameter.
pub fn output_dir(parameters: &Parameters) -> Result<PathBuf, Error> {
    Ok(parameters.path("output_dir")?.unwrap_or_else(|| PathBuf::from(".")))
}

/// The outputs of a run.
pub struct Outputs {
    target: Target,
    plan: OutputPlan,
    counts: BTreeMap<String, u32>,
    text: String,
    /// Text of files that are written at once.
    rows: RowText,
    /// The deferred outputs, while outputs are deferred.
    deferred: Option<Vec<DeferredOutput>>,
    /// While outputs are suppressed: whether one was.
    suppressed: Option<bool>,
    files: FileQueue,
    position: Position,
    /// Outputs of the current step so far, with formats that write steps.
    step: Option<OpenStep>,
    /// True if the run is on its way to the point where it goes on: its outputs exist.
    is_replay: bool,
    /// Number of steps whose outputs went to files of steps.
    written_steps: u64,
    /// Notes that were not shown yet.
    notes: Vec<String>,
    warnings: Vec<String>,
    /// Balances of conserved quantities.
    audit: audit::Audit,
}

/// A step that is not complete.
#[derive(Default)]
struct OpenStep {
    /// Each with the entities that it is on; single values have none.
    tags: BTreeSet<(String, Option<EntityKind>)>,
    scalars: Vec<(String, f64)>,
    /// True if a collection is written.
    has_collections: bool,
    /// Equelle line of the last output.
    line: u32,
}

impl Outputs {
    /// From the parameters of outputs (without `output_to_file` and `output_format`, large
    /// collections go to files). `output_to_file=true` and a format claim the output folder at
    /// once, else the first file does.
    ///
    /// # Errors
    /// `Io` if it is not writable or another run uses it; `Data` for an illegal parameter, a probe
    /// outside of the grid, outputs that share a column, and a grid that a format cannot hold.
    pub fn from_parameters(
        parameters: &Parameters,
        console: Box<dyn Write + Send>,
        record: RunRecord,
        grid: &Grid,
    ) -> Result<Outputs, Error> {
        let (plan, to_files) = OutputPlan::with_destination(parameters)?;
        let probes = probe::locate(grid, &plan.probes)?;
        columns::check(&record.program(), grid.dim(), &plan, &probes)?;
        let meshes = if plan.formats.vtu { Some(Meshes::new(grid, plan.compression)?) } else { None };
        if record.goes_nowhere() {
            return Ok(Outputs::new(Target::Nowhere { to_files }, plan));
        }
        let mut outputs = Outputs::new(Target::Streams { console, to_files, record: record.clone() }, plan);
        (outputs.files.probes, outputs.files.meshes) = (probes, meshes);
        outputs.warnings.append(&mut outputs.plan.warnings);
        if to_files == ToFiles::All {
            outputs.warnings.extend(record.open()?);
        }
        Ok(outputs)
    }

    /// Outputs that are counted as those of [`Outputs::from_parameters`], and go nowhere: those of
    /// a rank that does not write.
    ///
    /// # Errors
    /// `Data` for an illegal parameter.
    pub fn nowhere(parameters: &Parameters) -> Result<Outputs, Error> {
        let (plan, to_files) = OutputPlan::with_destination(parameters)?;
        Ok(Outputs::new(Target::Nowhere { to_files }, plan))
    }

    /// Outputs of the same run that stay in memory: those of the steps that go to files otherwise.
    pub fn in_memory(&self, records: Records) -> Outputs {
        let OutputPlan { schedule, time_from, .. } = self.plan.clone();
        Outputs::new(Target::Memory { records, remembered: None }, OutputPlan { schedule, time_from, ..OutputPlan::default() })
    }

    fn new(target: Target, plan: OutputPlan) -> Outputs {
        Outputs {
            target,
            position: Position::new(plan.time_from.clone()),
            plan,
            counts: BTreeMap::new(),
            text: String::new(),
            rows: RowText::default(),
            deferred: None,
            suppressed: None,
            files: FileQueue::default(),
            step: None,
            is_replay: false,
            written_steps: 0,
            notes: Vec::new(),
            warnings: Vec::new(),
            audit: audit::Audit::default(),
        }
    }

    /// Notes for the user, such as where large collections go; each is returned once.
    pub fn take_notes(&mut self) -> Vec<String> {
        std::mem::take(&mut self.notes)
    }

    /// Events of audits, at most ten a second of each quantity; with `all`, those that are left.
    pub fn take_audits(&mut self, all: bool) -> Vec<Event> {
        let moment = self.position.moment();
        self.audit.events(moment.step, moment.time, all)
    }

    /// Lines of the summary on audits; `None` without any.
    pub fn audit_lines(&self) -> Option<Vec<String>> {
        self.audit.lines()
    }

    /// Warnings; each is returned once.
    pub fn take_warnings(&mut self) -> Vec<String> {
        std::mem::take(&mut self.warnings)
    }

    /// The text of files is formatted by these threads.
    pub fn set_threads(&mut self, threads: &Threads) {
        self.rows = RowText::new(threads.clone());
    }

    /// The record of the run; `None` where outputs stay in memory or go nowhere.
    pub fn record(&self) -> Option<&RunRecord> {
        match &self.target {
            Target::Streams { record, .. } => Some(record),
            Target::Memory { .. } | Target::Nowhere { .. } => None,
        }
    }

    /// The record, if a collection of this size goes to a file. Opens the folder.
    fn record_of_files(&mut self, elements: usize) -> Result<Option<RunRecord>, Error> {
        let Target::Streams { to_files, record, .. } = &self.target else { return Ok(None) };
        if !to_files.takes(elements) {
            return Ok(None);
        }
        if record.dir().is_none() {
            self.warnings.extend(record.open()?);
            self.notes.push(format!(
                "collections of more than {LARGE} elements go to files in `{}`; output_to_file=false prints them",
                record.dir_of_files().display()
            ));
        }
        Ok(Some(record.clone()))
    }

    /// True if collections of this size go to files, deferred or not.
    pub fn has_files_for(&self, elements: usize) -> bool {
        match &self.target {
            Target::Streams { to_files, .. } | Target::Nowhere { to_files } => to_files.takes(elements),
            Target::Memory { .. } => false,
        }
    }

    /// Files written so far.
    pub fn files_written(&self) -> usize {
        self.record().map_or(0, RunRecord::n_files)
    }

    /// The folder of files, once there are some or all collections go there.
    pub fn dir(&self) -> Option<PathBuf> {
        self.record().and_then(RunRecord::dir)
    }

    /// Writes `tag = value` to standard output, in the shortest digits that read back as the same
    /// number.
    ///
    /// # Errors
    /// `Io`.
    pub fn scalar(&mut self, tag: &str, value: f64) -> Result<(), Error> {
        if self.keeps(false, || Record::Scalar { tag: tag.to_string(), value }) {
            return Ok(());
        }
        if let Some((quantity, part)) = audit::parse(tag) {
            self.audit.put(quantity, part, value);
            return Ok(());
        }
        self.position.put_out(tag, value);
        self.note_number(tag, || vec![(tag.to_owned(), value)]);
        match &mut self.target {
            Target::Memory { .. } => self.remember_number(|| Record::Scalar { tag: tag.to_string(), value }),
            Target::Streams { console, .. } => {
                self.text.clear();
                self.text.push_str(tag);
                self.text.push_str(" = ");
                write_shortest(&mut self.text, value);
                self.text.push('\n');
                print(console.as_mut(), &self.text)
            }
            Target::Nowhere { .. } => Ok(()),
        }
    }

    /// Writes `tag = true` or `tag = false` to standard output.
    ///
    /// # Errors
    /// `Io`.
    pub fn bool(&mut self, tag: &str, value: bool) -> Result<(), Error> {
        if self.keeps(false, || Record::Bool { tag: tag.to_string(), value }) {
            return Ok(());
        }
        self.note_number(tag, || vec![(tag.to_owned(), f64::from(u8::from(value)))]);
        match &mut self.target {
            Target::Memory { .. } => self.remember_number(|| Record::Bool { tag: tag.to_string(), value }),
            Target::Streams { console, .. } => print(console.as_mut(), &format!("{tag} = {value}\n")),
            Target::Nowhere { .. } => Ok(()),
        }
    }

    /// Writes `tag = text` to standard output.
    ///
    /// # Errors
    /// `Io`.
    pub fn text(&mut self, tag: &str, value: &str) -> Result<(), Error> {
        if self.keeps(false, || Record::Text { tag: tag.to_string(), value: value.to_string() }) {
            return Ok(());
        }
        match &mut self.target {
            Target::Memory { .. } => self.remember_number(|| Record::Text { tag: tag.to_string(), value: value.to_string() }),
            Target::Streams { console, .. } => print(console.as_mut(), &format!("{tag} = {value}\n")),
            Target::Nowhere { .. } => Ok(()),
        }
    }

    /// Writes `tag = x y z` to standard output, in the shortest digits that read back as the same
    /// numbers.
    ///
    /// # Errors
    /// `Io`.
    pub fn vector(&mut self, tag: &str, components: &[f64]) -> Result<(), Error> {
        if self.keeps(false, || Record::Vector { tag: tag.to_string(), components: components.to_vec() }) {
            return Ok(());
        }
        let is_vector = components.len() > 1;
        self.note_number(tag, || components.iter().enumerate().map(|(axis, &value)| (component(tag, axis, is_vector), value)).collect());
        match &mut self.target {
            Target::Memory { .. } => self.remember_number(|| Record::Vector { tag: tag.to_string(), components: components.to_vec() }),
            Target::Streams { console, .. } => {
                self.text.clear();
                self.text.push_str(tag);
                self.text.push_str(" =");
                for &component in components {
                    self.text.push(' ');
                    write_shortest(&mut self.text, component);
                }
                self.text.push('\n');
                print(console.as_mut(), &self.text)
            }
            Target::Nowhere { .. } => Ok(()),
        }
    }

    /// Writes a line to standard output, such as those of `verbose`; not recorded.
    ///
    /// # Errors
    /// `Io`.
    pub fn line(&mut self, text: &str) -> Result<(), Error> {
        match &mut self.target {
            Target::Memory { .. } | Target::Nowhere { .. } => Ok(()),
            Target::Streams { console, .. } => print(console.as_mut(), &format!("{text}\n")),
        }
    }

    /// Writes a collection, in the order of its domain: to a file, or to standard output as one
    /// line of left-aligned numbers.
    ///
    /// # Errors
    /// `Io`; `Data` if the tag cannot be part of a file name.
    pub fn collection<R: Real>(&mut self, tag: &str, values: &[R]) -> Result<(), Error> {
        if self.keeps(single::<R>(), || Record::Collection { tag: tag.to_string(), values: R::slice_to_f64(values) }) {
            return Ok(());
        }
        self.collection_at_once(tag, values)
    }

    /// [`Outputs::collection`], even while outputs are deferred or suppressed.
    pub(crate) fn collection_at_once<R: Real>(&mut self, tag: &str, values: &[R]) -> Result<(), Error> {
        self.columns(tag, &[values], true, || Record::Collection { tag: tag.to_string(), values: R::slice_to_f64(values) })
    }

    /// Writes a collection of vectors, given by component, in the order of its domain: a line per
    /// element with its components, to a file or to standard output.
    ///
    /// # Errors
    /// `Io`; `Data` if the tag cannot be part of a file name.
    pub fn vectors<R: Real>(&mut self, tag: &str, components: &[&[R]]) -> Result<(), Error> {
        let kept = || Record::Vectors { tag: tag.to_string(), values: rows(components) };
        if self.keeps(single::<R>(), kept) {
            return Ok(());
        }
        self.columns(tag, components, false, kept)
    }

    /// Writes columns of equal length to their destination.
    fn columns<R: Real>(&mut self, tag: &str, columns: &[&[R]], one_line: bool, kept: impl FnOnce() -> Record) -> Result<(), Error> {
        let elements = columns.first().map_or(0, |column| column.len());
        if let Some(record) = self.record_of_files(elements)? {
            self.files.writer.wait(false)?;
            let content = FileContent::Tag { tag: tag.to_owned(), number: self.next_number(&record, tag)?, format: TagFormat::Text };
            let moment = self.position.moment();
            return write_columns(&record, FileEntry::new(content, moment.step, moment.time), columns, &mut self.rows);
        }
        match &mut self.target {
            Target::Memory { .. } => {
                self.count(tag);
                self.remember(kept())
            }
            Target::Streams { console, .. } => print_columns(console.as_mut(), tag, columns, one_line, &mut self.text),
            Target::Nowhere { .. } => Ok(()),
        }
    }

    /// Keeps a number or text in memory, if its step is written or has something that was kept.
    fn remember_number(&mut self, record: impl FnOnce() -> Record) -> Result<(), Error> {
        let Target::Memory { remembered, .. } = &self.target else { return Ok(()) };
        let is_kept = *remembered == Some(self.position.step) || self.takes_step(remembered.is_none());
        if is_kept { self.remember(record()) } else { Ok(()) }
    }

    fn remember(&mut self, record: Record) -> Result<(), Error> {
        if let Target::Memory { records, remembered } = &mut self.target {
            records.push(self.position.moment(), record);
            *remembered = Some(self.position.step);
        }
        Ok(())
    }

    /// The number of the next output of a tag, before its numbers are known. Claims the tag for
    /// this run.
    fn next_number(&mut self, record: &RunRecord, tag: &str) -> Result<u32, Error> {
        check_tag(tag)?;
        record.begin_file(tag)?;
        Ok(self.count(tag))
    }

    /// Counts an output of a tag; returns the number of earlier ones.
    fn count(&mut self, tag: &str) -> u32 {
        match self.counts.get_mut(tag) {
            Some(count) => std::mem::replace(count, *count + 1),
            None => {
                self.counts.insert(tag.to_owned(), 1);
                0
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
