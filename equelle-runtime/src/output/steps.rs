//! Work of the thread that writes files: a file for each collection at once, and the files of a
//! step once it is complete.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::columns::{RESERVED, shared};
use super::field::{Field, FieldValues, StepFields, Support};
use super::files::{write_file, write_text};
use super::npy;
use super::plan::Formats;
use super::probe::Probe;
use super::rows::RowText;
use super::step_time::StepTime;
use super::table::Table;
use crate::error::Error;
use crate::grid::Grid;
use crate::program::Program;
use crate::run::{FileContent, FileEntry, RunRecord, StepFormat, StepPart, TagFormat, read_plain_file};
use crate::threads::Threads;
use crate::vtk::writer::vti::{self, ImageData};
use crate::vtk::writer::vtu::{self, VtuMesh};
use crate::vtk::writer::{Compression, VtkPart, pvd};

/// Least time between two versions of a list of files or rows.
const LISTS_APART: Duration = Duration::from_secs(1);

/// Most of the time of the thread that goes to lists is one part in this.
const LISTS_SHARE: u32 = 20;

/// A collection to be written.
pub(super) struct FieldOrder {
    pub tag: String,
    /// For files of VTK.
    pub grid: Option<Arc<Grid>>,
    pub number: u32,
    /// Equelle line of the output.
    pub line: u32,
    pub moment: StepTime,
    pub support: Support,
    pub unit: Option<Arc<str>>,
    /// Its values, which may still be on their way from a device.
    pub values: Box<dyn FnOnce() -> Result<FieldValues, Error> + Send>,
}

/// The end of a step whose collections came before.
pub(super) struct StepEnd {
    /// Equelle line of its last output.
    pub line: u32,
    pub moment: StepTime,
    /// Outputs that are single numbers.
    pub scalars: Vec<(String, f64)>,
}

/// The grid of files of VTK.
pub(super) struct Meshes {
    image: Option<ImageData>,
    meshes: Vec<VtuMesh>,
    compression: Compression,
}

impl Meshes {
    /// For collections on cells. Those on faces and edges need a mesh of their own, made when the
    /// first one comes.
    ///
    /// # Errors
    /// `Data` if the grid has no nodes.
    pub(super) fn new(grid: &Grid, compression: Compression) -> Result<Meshes, Error> {
        let image = ImageData::of(grid, compression);
        let meshes = match image {
            Some(_) => Vec::new(),
            None => vec![VtuMesh::new(grid, VtkPart::Cells, compression)?],
        };
        Ok(Meshes { image, meshes, compression })
    }

    fn of(&mut self, part: VtkPart, grid: &Grid) -> Result<&VtuMesh, Error> {
        let at = match self.meshes.iter().position(|mesh| mesh.part() == part) {
            Some(at) => at,
            None => {
                self.meshes.push(VtuMesh::new(grid, part, self.compression)?);
                self.meshes.len() - 1
            }
        };
        Ok(&self.meshes[at])
    }
}

/// Data for the files of a run beside their values.
pub(super) struct FileNeeds {
    pub record: RunRecord,
    pub formats: Formats,
    pub probes: Vec<Probe>,
    /// With files of VTK.
    pub meshes: Option<Meshes>,
    /// Without geometry; for files of VTK.
    pub grid: Option<Arc<Grid>>,
    pub threads: Threads,
    /// While it is set the run waits.
    pub is_awaited: Arc<AtomicBool>,
    /// The round after which a run goes on from a checkpoint, and the number of steps by then.
    pub continues_after: Option<(u64, u64)>,
}

/// Writes the files of a run.
pub(super) struct FileWriter {
    needs: FileNeeds,
    /// Text by one thread while the run computes, and by all while it waits.
    text: RowText,
    text_of_all: RowText,
    /// Collections of the step.
    fields: Vec<Field>,
    /// Round and number of the last files of a step.
    last: Option<(u64, u32)>,
    table: Table,
    lists: Lists,
}

/// Files that are written again as the run goes on.
#[derive(Default)]
struct Lists {
    times_changed: bool,
    rows_changed: bool,
    written: Option<Instant>,
    took: Duration,
}

impl FileWriter {
    pub(super) fn new(needs: FileNeeds) -> FileWriter {
        let (text, text_of_all) = (RowText::default(), RowText::new(needs.threads.clone()));
        let table = needs.continues_after.filter(|_| needs.formats.csv).and_then(|(step, rows)| {
            let path = needs.record.dir_of_files().join(FileContent::Rows.name(&needs.record.program().name));
            Some(Table::read(&String::from_utf8(read_plain_file(&path).ok()?).ok()?, step, rows))
        });
        // The files of a round that is done keep their names.
        let last = needs.continues_after.and_then(|(step, _)| Some((step, needs.record.n_step_files(step).checked_sub(1)?)));
        FileWriter { needs, text, text_of_all, fields: Vec::new(), last, table: table.unwrap_or_default(), lists: Lists::default() }
    }

    /// Writes the files of a collection, and keeps it if its step has files.
    ///
    /// # Errors
    /// `Io` with the line; that of the values.
    pub(super) fn field(&mut self, order: FieldOrder) -> Result<(), Error> {
        let FieldOrder { tag, grid, number, line, moment, support, unit, values } = order;
        if self.needs.grid.is_none() {
            self.needs.grid = grid;
        }
        let field = Field { tag, support, values: values()?, unit };
        let entry = |format| {
            let content = FileContent::Tag { tag: field.tag.clone(), number, format };
            FileEntry::new(content, moment.step, moment.time)
        };
        let FileNeeds { record, formats, is_awaited, .. } = &self.needs;
        if formats.text {
            let text = if is_awaited.load(Ordering::Relaxed) { &mut self.text_of_all } else { &mut self.text };
            write_text(record, entry(TagFormat::Text), &field.values, text).map_err(|error| error.at(line))?;
        }
        if formats.npy {
            write_file(record, entry(TagFormat::Npy), |out| npy::write(out, &field)).map_err(|error| error.at(line))?;
        }
        if formats.vtu || !self.needs.probes.is_empty() {
            self.fields.push(field);
        }
        Ok(())
    }

    /// Writes the files of a step.
    ///
    /// # Errors
    /// `Io` or `Data` with the line.
    pub(super) fn end_step(&mut self, end: StepEnd) -> Result<(), Error> {
        let fields = std::mem::take(&mut self.fields);
        let StepEnd { line, moment, scalars } = end;
        let probed = fields.iter().flat_map(|field| self.needs.probes.iter().flat_map(|probe| probe.cells(field)));
        let cells: Vec<(String, f64)> = scalars.iter().cloned().chain(probed).collect();
        check_names(&self.needs.record.program(), &cells).map_err(|error| error.at(line))?;
        let step = StepFields { step: moment.step, time: moment.time, fields: &fields, scalars: &scalars };
        if self.needs.formats.vtu && !fields.is_empty() {
            self.write_step(&step).map_err(|error| error.at(line))?;
            self.lists.times_changed = true;
        }
        if self.needs.formats.csv {
            self.table.push(moment.step, moment.time, cells);
            self.lists.rows_changed = true;
        }
        let apart = LISTS_APART.max(self.lists.took * LISTS_SHARE);
        if self.lists.written.is_none_or(|written| written.elapsed() >= apart) {
            self.write_lists()?;
        }
        Ok(())
    }

    fn write_step(&mut self, step: &StepFields<'_>) -> Result<(), Error> {
        let FileNeeds { record, meshes, grid, .. } = &mut self.needs;
        let (Some(meshes), Some(grid)) = (meshes, grid) else { return Ok(()) };
        let repeat = match self.last {
            Some((last, number)) if last == step.step => number + 1,
            Some(_) | None => 0,
        };
        self.last = Some((step.step, repeat));
        let parts: BTreeSet<VtkPart> = step.fields.iter().map(|field| VtkPart::of(field.support.kind, grid.dim()).0).collect();
        for part in parts {
            let image = meshes.image.is_some() && part == VtkPart::Cells;
            let content = FileContent::Step {
                step: step.step,
                repeat,
                part: match part {
                    VtkPart::Cells => StepPart::Cells,
                    VtkPart::Faces => StepPart::Faces,
                    VtkPart::Edges => StepPart::Edges,
                },
                format: if image { StepFormat::Vti } else { StepFormat::Vtu },
            };
            let entry = FileEntry::new(content, step.step, step.time);
            match &meshes.image {
                Some(image) if part == VtkPart::Cells => write_file(record, entry, |out| vti::write(out, image, step))?,
                Some(_) | None => {
                    let mesh = meshes.of(part, grid)?;
                    write_file(record, entry, |out| vtu::write(out, mesh, step))?;
                }
            }
        }
        Ok(())
    }

    /// Writes the lists of files and rows, if they changed.
    ///
    /// # Errors
    /// `Io`.
    pub(super) fn write_lists(&mut self) -> Result<(), Error> {
        if !self.lists.times_changed && !self.lists.rows_changed {
            return Ok(());
        }
        let begun = Instant::now();
        let record = &self.needs.record;
        let (step, time) = record.files().last().map_or((0, 0.0), |last| (last.step, last.time));
        if std::mem::take(&mut self.lists.times_changed) {
            let text = list_of_times(record);
            write_file(record, FileEntry::new(FileContent::Times, step, time), |out| out.write_all(text.as_bytes()))?;
        }
        if std::mem::take(&mut self.lists.rows_changed) {
            write_file(record, FileEntry::new(FileContent::Rows, step, time), |out| self.table.write(out))?;
        }
        self.lists.written = Some(Instant::now());
        self.lists.took = begun.elapsed();
        Ok(())
    }
}

/// Checks that no two numbers of a row have one name: tags that only the run knows, such as those
/// of a mutable String, are not checked before it.
fn check_names(program: &Program, cells: &[(String, f64)]) -> Result<(), Error> {
    let mut seen = BTreeSet::new();
    match cells.iter().find(|(name, _)| RESERVED.contains(&name.as_str()) || !seen.insert(name)) {
        Some((name, _)) => Err(shared(name, program, "one output", "another one")),
        None => Ok(()),
    }
}

/// The files of steps in the record of a run. Of several with the same time and part the last one
/// counts; a time that nobody knows is the number of the step.
fn list_of_times(record: &RunRecord) -> String {
    let program = record.program();
    let mut files: Vec<(f64, &'static str, String)> = Vec::new();
    for FileEntry { content, step, time, .. } in record.files() {
        match content {
            FileContent::Step { part, .. } => {
                let time = if time.is_finite() { time } else { step as f64 };
                let name = content.name(&program.name);
                match files.iter_mut().rev().take(3).find(|(other, of, _)| *other == time && *of == part.name()) {
                    Some(earlier) => earlier.2 = name,
                    None => files.push((time, part.name(), name)),
                }
            }
            FileContent::Tag { .. } | FileContent::Times | FileContent::Rows => {}
        }
    }
    let files: Vec<(f64, &str, &str)> = files.iter().map(|(time, part, name)| (*time, *part, name.as_str())).collect();
    pvd::text(&files)
}
