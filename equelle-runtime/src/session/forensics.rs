//! Files that a failed run leaves: the last good state, with the command that goes on from there
//! with other parameters; for a solve the last iterate, its residual and the worst elements.

use std::collections::BTreeSet;
use std::io::Result as IoResult;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::json;

use super::Session;
use super::checkpoint_state::checkpoints_in;
use super::checkpoints::CheckpointKeeper;
use super::failed_solve::FailedSolve;
use super::recovery_states::RoundState;
use crate::checkpoint::{file_name, write};
use crate::error::{Error, ErrorKind};
use crate::newton::{FailureCause, session as newton};
use crate::output::{Field, FieldValues, StepFields, Support};
use crate::rank_id::RankId;
use crate::run::FAILURE;
use crate::vtk::writer::vtu::{self, VtuMesh};
use crate::vtk::writer::{Compression, VtkPart};

/// Number of entries of the residual in the table.
const WORST: usize = 100;

impl CheckpointKeeper<'_> {
    /// True if this run leaves a folder where it fails: it writes files or checkpoints, or would.
    /// On ranks rank 0 has no state of the others once one of them has failed.
    pub(crate) fn leaves_failure(&self) -> bool {
        if self.out.rank.is_some() {
            return false;
        }
        let collections = || self.out.run.program.outputs.iter().filter_map(|output| output.kind.entities());
        let has_files = |kind| self.out.outputs.has_files_for(self.out.grid.grid().n_entities(kind).unwrap_or(0));
        self.out.outputs.record().is_some() && (self.ends_with_checkpoint() || collections().any(has_files))
    }
}

impl Session {
    /// Writes the folder for the error that ends a run, and says in the message where it is and how
    /// to go on.
    pub fn examine(&mut self, mut error: Error) -> Error {
        let failed = self.solves.failed.take();
        let keeper = self.checkpoints();
        if error.kind != ErrorKind::Simulation || !keeper.leaves_failure() {
            return error;
        }
        let mut folder = FailureFolder { keeper };
        // The checkpoint counts the files of its step, which a thread may still be writing.
        if let Err(first) = folder.keeper.out.complete() {
            if first.kind != ErrorKind::Simulation {
                return first;
            }
            error = first;
        }
        match folder.write_failure(failed.as_ref()) {
            Ok(Some(text)) => error.message = format!("{}\n{text}", error.message),
            Ok(None) => {}
            Err(what) => self.run.progress.warning(&format!("the folder `{FAILURE}` could not be written: {}", what.message)),
        }
        error
    }
}

/// Writes the folder that a failed run leaves.
struct FailureFolder<'s> {
    keeper: CheckpointKeeper<'s>,
}

impl FailureFolder<'_> {
    /// Writes the last good state, and a failed solve; what to say of them.
    fn write_failure(&mut self, failed: Option<&FailedSolve>) -> Result<Option<String>, Error> {
        let Some(record) = self.keeper.out.outputs.record().cloned() else { return Ok(None) };
        // Before a solve that fails the state was good, however it had grown.
        let good = match failed {
            Some(_) => self.keeper.checkpoints.kept.take_last().map(|state| (state, false)),
            None => self.keeper.checkpoints.kept.take_good(),
        };
        if failed.is_none() && good.is_none() {
            return Ok(None);
        }
        let dir = record.dir_of_files().join(FAILURE);
        self.keeper.out.run.sink.create_subfolder(&dir).map_err(|error| cannot_write(&dir, &error))?;
        let is_restart = self.keeper.out.run.parameters.text("restart").is_some();
        let earlier = checkpoints_in(&dir, &self.keeper.out.run.program.name);
        let good = match good {
            Some((state, runs_away)) => Some((state.step, runs_away, self.write_state(&dir, &state)?)),
            None => None,
        };
        // Those of an earlier failure are of another state, unless this run goes on from one.
        for (_, path) in earlier.into_iter().filter(|(step, _)| good.as_ref().map_or(!is_restart, |(own, ..)| own != step)) {
            let _ = std::fs::remove_file(path);
        }
        let changed = failed.map_or_else(Vec::new, |failed| self.remedies(failed));
        let command = command(&changed, good.as_ref().map(|(.., path)| path.as_path()), is_restart);
        let (state, how) = match &good {
            Some((step, runs_away, _)) => {
                let before = if *runs_away { ", before numbers ran away" } else { "" };
                (format!("the state after step {step}{before}"), "goes on from there")
            }
            None if is_restart => (String::new(), "goes on from where this one did"),
            None => (String::new(), "begins anew"),
        };
        let Some(failed) = failed else {
            let path = good.map(|(.., path)| path.display().to_string()).unwrap_or_default();
            return Ok(Some(format!("`{path}` has {state}; with shorter steps or other parameters the run {how} by\n  {command}")));
        };
        let is_drawn = self.write_solve(&dir, failed)?;
        let drawn = if is_drawn { format!(" (drawn by `equellec plot {}`)", dir.display()) } else { String::new() };
        let state = if state.is_empty() { state } else { format!(", and {state}") };
        let with = if changed.is_empty() { "once the program or its data are corrected" } else { "with other parameters" };
        Ok(Some(format!(
            "`{0}` has the last iterate, its residual and the worst elements{drawn}{state}; {with} the run {how} by\n  {command}",
            dir.display()
        )))
    }

    /// Writes a state as a checkpoint into the folder; its path.
    fn write_state(&mut self, dir: &Path, state: &RoundState) -> Result<PathBuf, Error> {
        let path = dir.join(file_name(&self.keeper.out.run.program.name, state.step));
        let header = self.keeper.header_of(state)?;
        let written = self.keeper.out.run.sink.write(&path, |out| write::write(out, header, &state.saved).map(|_| ()));
        written.map_err(|error| cannot_write(&path, &error))?;
        Ok(path)
    }

    /// Writes the iterate of a failed solve and its worst elements into the folder; whether a
    /// picture can be drawn of them.
    fn write_solve(&mut self, dir: &Path, failed: &FailedSolve) -> Result<bool, Error> {
        let sink = self.keeper.out.run.sink.clone();
        let moment = self.keeper.out.outputs.moment();
        let mut files = Vec::new();
        let fields = self.fields_of(failed);
        let dim = self.keeper.out.grid.grid().dim();
        let parts: BTreeSet<VtkPart> = fields.iter().map(|field| VtkPart::of(field.support.kind, dim).0).collect();
        for part in parts {
            let mesh = match VtuMesh::new(self.keeper.out.grid.grid(), part, Compression::None) {
                Ok(mesh) => mesh,
                Err(error) => {
                    self.keeper.out.run.progress.warning(&format!("the last iterate is not in `{}`: {}", dir.display(), error.message));
                    continue;
                }
            };
            let name = format!("{}{}-{:05}.vtu", self.keeper.out.run.program.name, part.suffix(), moment.step);
            let path = dir.join(&name);
            let step = StepFields { step: moment.step, time: moment.time, fields: &fields, scalars: &[] };
            sink.write(&path, |out| vtu::write(out, &mesh, &step)).map_err(|error| cannot_write(&path, &error))?;
            files.push(json!({"name": name, "tag": null, "step": moment.step, "time": moment.time}));
        }
        let path = dir.join(format!("{}-worst.csv", &self.keeper.out.run.program.name));
        sink.write(&path, |out| self.worst(failed, out)).map_err(|error| cannot_write(&path, &error))?;
        if let Some(record) = self.keeper.out.outputs.record() {
            record.has_failed(files.clone());
        }
        let about = json!({
            "program": {"name": *self.keeper.out.run.program.name},
            "state": "failed",
            "grid": {"dimension": dim, "cells": self.keeper.out.grid.grid().n_cells(), "faces": self.keeper.out.grid.grid().n_faces()},
            "files": &files,
        });
        let path = dir.join(format!("{}.run.json", &self.keeper.out.run.program.name));
        sink.write(&path, |out| writeln!(out, "{about:#}")).map_err(|error| cannot_write(&path, &error))?;
        Ok(!files.is_empty())
    }

    fn fields_of(&self, failed: &FailedSolve) -> Vec<Field> {
        let names = newton::solve_at(&self.keeper.out.run.program, failed.line).map_or(&[][..], |solve| &solve.unknowns[..]);
        let mut fields = Vec::new();
        for (number, (domain, iterate, residual)) in failed.fields.iter().enumerate() {
            let kind = domain.kind();
            let subset = (!domain.is_all()).then(|| {
                let elements = domain.in_file_order(domain.elements());
                Arc::new(elements.iter().map(|&element| self.keeper.out.grid.grid().file_index(kind, element)).collect())
            });
            let support = Support { kind, n_entities: self.keeper.out.grid.grid().n_entities(kind).unwrap_or(domain.len()), subset };
            let name = names.get(number).map_or_else(|| format!("unknown {}", number + 1), |name| name.to_string());
            for (tag, values) in [(name.clone(), iterate), (format!("residual of {name}"), residual)] {
                let values = FieldValues::F64(vec![domain.in_file_order(values).to_vec()]);
                fields.push(Field { tag, support: support.clone(), values, unit: None });
            }
        }
        fields
    }

    /// The largest entries of the residual as rows.
    fn worst(&self, failed: &FailedSolve, out: &mut dyn Write) -> IoResult<()> {
        let names = newton::solve_at(&self.keeper.out.run.program, failed.line).map_or(&[][..], |solve| &solve.unknowns[..]);
        let residuals: Vec<_> = failed.fields.iter().map(|(domain, _, residual)| (Arc::clone(domain), residual.clone())).collect();
        writeln!(out, "unknown,kind,index,{}residual", ["x,", "y,", "z,"][..self.keeper.out.grid.grid().dim()].concat())?;
        for entry in newton::largest(self.keeper.out.grid.grid(), RankId(0), &residuals, WORST) {
            let name = names.get(entry.equation).map_or("", |name| name);
            let place: String = (0..self.keeper.out.grid.grid().dim())
                .map(|axis| entry.centroid.get(axis).map_or(",".into(), |x| format!("{x},")))
                .collect();
            writeln!(out, "{name},{:?},{},{place}{:e}", entry.kind, entry.entity, entry.value)?;
        }
        Ok(())
    }

    /// Parameters that may help, by the cause; none where no parameter does.
    fn remedies(&self, failed: &FailedSolve) -> Vec<(&'static str, String)> {
        let can_cut = !self.keeper.out.run.program.retries.is_empty()
            && self.keeper.out.run.program.retries.iter().all(|retry| retry.obstacle.is_none());
        let has_search = matches!(self.keeper.out.run.parameters.flag("newton_line_search"), Ok(Some(true)));
        let search = || ("newton_line_search", "true".to_owned());
        let cuts = can_cut.then(|| ("timestep_cuts", "6".to_owned()));
        let iterations = || ("max_iter", (4 * failed.iterations).max(50).to_string());
        match failed.cause {
            FailureCause::Alternating if !has_search => vec![search(), iterations()],
            FailureCause::IterationLimit | FailureCause::Alternating => [iterations()].into_iter().chain(cuts).collect(),
            FailureCause::NotFinite => [search()].into_iter().filter(|_| !has_search).chain(cuts).collect(),
            FailureCause::LinearSolver => {
                let preconditioner = self.keeper.out.run.parameters.text("preconditioner").map(|_| ("preconditioner", "auto".to_owned()));
                [("solver", "lu".to_owned())].into_iter().chain(preconditioner).collect()
            }
            FailureCause::Residual => cuts.into_iter().collect(),
            FailureCause::LinearSystem => Vec::new(),
        }
    }
}

/// This process with other parameters; without any, for a program or data that were corrected.
fn command(changed: &[(&'static str, String)], restart: Option<&Path>, is_restart: bool) -> String {
    let mut other = changed.to_vec();
    other.extend(restart.map(|path| ("restart", absolute(path).display().to_string())));
    if changed.is_empty() && (restart.is_some() || is_restart) {
        other.push(("restart_anyway", "yes".to_owned()));
    }
    let replaced = |word: &str| {
        let key = word.split_once('=').map_or(word, |(key, _)| key).trim_start_matches("--");
        (key == "restart" && restart.is_some()) || other.iter().any(|(own, _)| *own == key)
    };
    let words = std::env::args().enumerate().filter(|(index, word)| *index == 0 || !replaced(word)).map(|(_, word)| word);
    let all = words.chain(other.iter().map(|(key, value)| format!("{key}={value}")));
    all.map(|word| quoted(&word)).collect::<Vec<_>>().join(" ")
}

fn cannot_write(path: &Path, error: &std::io::Error) -> Error {
    Error::cannot_write(&format!("`{}`", path.display()), error)
}

fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

/// A word for a shell.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_=./,:+@%".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) { word.to_owned() } else { format!("'{}'", word.replace('\'', "'\\''")) }
}
