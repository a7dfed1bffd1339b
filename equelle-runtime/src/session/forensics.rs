//! What a run leaves where a solve fails: the last good state, the last iterate with its residual,
//! the worst elements, and the command that goes on with other parameters.

use std::collections::BTreeSet;
use std::io::Result as IoResult;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::json;

use super::Session;
use super::checkpoint_state::checkpoints_in;
use super::failed_solve::FailedSolve;
use crate::checkpoint::{file_name, write};
use crate::domain::Domain;
use crate::error::{Error, ErrorKind};
use crate::newton::{FailureCause, History, session as newton};
use crate::output::vtu::{self, VtuMesh};
use crate::output::{Compression, Field, FieldValues, StepFields, Support, VtkPart};
use crate::run::FAILURE;

/// Number of entries of the residual in the table.
const WORST: usize = 100;

impl Session {
    /// Whether this run leaves a folder where a solve fails: if it writes files or checkpoints.
    pub(crate) fn has_forensics(&self) -> bool {
        !self.program.solves.is_empty() && self.ends_with_checkpoint()
    }

    /// Keeps the last iterate of a failed solve. `fields`: domain, iterate and residual of each
    /// unknown, `[domain]`.
    pub(crate) fn keep_failed_solve(&mut self, line: u32, history: &History, fields: Vec<(Arc<Domain>, Vec<f64>, Vec<f64>)>) {
        let Some(cause) = history.cause else { return };
        self.failed_solve = Some(FailedSolve { cause, line, iterations: history.count(), fields });
    }

    /// Forgets a failed solve, because the run goes on after it.
    pub(crate) fn drop_failed_solve(&mut self) {
        self.failed_solve = None;
    }

    /// Writes the folder for the error that ends a run, if a solve caused it, and says in the
    /// message where it is and how to go on.
    pub fn examine(&mut self, mut error: Error) -> Error {
        let Some(failed) = self.failed_solve.take() else { return error };
        if error.kind != ErrorKind::Simulation {
            return error;
        }
        // The checkpoint counts the files of its step, which a thread may still be writing.
        if let Err(first) = self.complete_outputs() {
            return first;
        }
        match self.write_failure(&failed) {
            Ok(Some(text)) => error.message = format!("{}\n{text}", error.message),
            Ok(None) => {}
            Err(what) => self.progress.warning(&format!("the folder `{FAILURE}` could not be written: {}", what.message)),
        }
        error
    }

    fn write_failure(&mut self, failed: &FailedSolve) -> Result<Option<String>, Error> {
        let Some(record) = self.outputs.record().cloned() else { return Ok(None) };
        let (dir, sink) = (record.dir_of_files().join(FAILURE), self.sink.clone());
        let io = |path: &Path, error: std::io::Error| Error::cannot_write(&format!("`{}`", path.display()), &error);
        sink.create_folder(&dir).map_err(|error| io(&dir, error))?;
        let is_restart = self.parameters.text("restart").is_some();
        let earlier = checkpoints_in(&dir, self.program.name);
        let checkpoint = self.checkpoints.kept.take();
        let mut good = None;
        if let Some(kept) = checkpoint.filter(|kept| kept.saved.iter().all(|(_, value)| value.is_finite())) {
            let path = dir.join(file_name(self.program.name, kept.step));
            let header = self.header_of(&kept)?;
            sink.write(&path, |out| write::write(out, header, &kept.saved).map(|_| ())).map_err(|error| io(&path, error))?;
            good = Some((kept.step, path));
        }
        // Those of an earlier failure are of another state, unless this run goes on from one.
        for (_, path) in earlier.into_iter().filter(|(step, _)| good.as_ref().map_or(!is_restart, |(own, _)| own != step)) {
            let _ = std::fs::remove_file(path);
        }
        let moment = self.outputs.moment();
        let mut files = Vec::new();
        let fields = self.fields_of(failed);
        let dim = self.grid.dim();
        let parts: BTreeSet<VtkPart> = fields.iter().map(|field| VtkPart::of(field.support.kind, dim).0).collect();
        for part in parts {
            let mesh = match VtuMesh::new(&self.grid, part, Compression::None) {
                Ok(mesh) => mesh,
                Err(error) => {
                    self.progress.warning(&format!("the last iterate is not in `{}`: {}", dir.display(), error.message));
                    continue;
                }
            };
            let name = format!("{}{}-{:05}.vtu", self.program.name, part.suffix(), moment.step);
            let path = dir.join(&name);
            let step = StepFields { step: moment.step, time: moment.time, fields: &fields, scalars: &[] };
            sink.write(&path, |out| vtu::write(out, &mesh, &step)).map_err(|error| io(&path, error))?;
            files.push(json!({"name": name, "tag": null, "step": moment.step, "time": moment.time}));
        }
        let path = dir.join(format!("{}-worst.csv", self.program.name));
        sink.write(&path, |out| self.worst(failed, out)).map_err(|error| io(&path, error))?;
        record.has_failed(files.clone());
        let about = json!({
            "program": {"name": self.program.name},
            "state": "failed",
            "grid": {"dimension": dim, "cells": self.grid.n_cells(), "faces": self.grid.n_faces()},
            "files": &files,
        });
        let path = dir.join(format!("{}.run.json", self.program.name));
        sink.write(&path, |out| writeln!(out, "{about:#}")).map_err(|error| io(&path, error))?;
        let state = match &good {
            Some((step, _)) => format!(", and the state after step {step}"),
            None => String::new(),
        };
        let drawn = if files.is_empty() { String::new() } else { format!(" (drawn by `equellec plot {}`)", dir.display()) };
        let changed = self.remedies(failed);
        let command = command(&changed, good.as_ref().map(|(_, path)| path.as_path()), is_restart);
        let how = match &good {
            Some(_) => "goes on from there",
            None if is_restart => "goes on from where this one did",
            None => "begins anew",
        };
        let with = if changed.is_empty() { "once the program or its data are corrected" } else { "with other parameters" };
        Ok(Some(format!(
            "`{0}` has the last iterate, its residual and the worst elements{drawn}{state}; {with} the run {how} by\n  {command}",
            dir.display()
        )))
    }

    fn fields_of(&self, failed: &FailedSolve) -> Vec<Field> {
        let names = newton::solve_at(self, failed.line).map_or(&[][..], |solve| solve.unknowns);
        let mut fields = Vec::new();
        for (number, (domain, iterate, residual)) in failed.fields.iter().enumerate() {
            let kind = domain.kind();
            let subset = (!domain.is_all()).then(|| {
                let elements = domain.in_file_order(domain.elements());
                Arc::new(elements.iter().map(|&element| self.grid.file_index(kind, element)).collect())
            });
            let support = Support { kind, n_entities: self.grid.n_entities(kind).unwrap_or(domain.len()), subset };
            let name = names.get(number).map_or_else(|| format!("unknown {}", number + 1), |name| (*name).to_owned());
            for (tag, values) in [(name.clone(), iterate), (format!("residual of {name}"), residual)] {
                let values = FieldValues::F64(vec![domain.in_file_order(values).to_vec()]);
                fields.push(Field { tag, support: support.clone(), values, unit: None });
            }
        }
        fields
    }

    /// The largest entries of the residual as rows.
    fn worst(&self, failed: &FailedSolve, out: &mut dyn Write) -> IoResult<()> {
        let names = newton::solve_at(self, failed.line).map_or(&[][..], |solve| solve.unknowns);
        let residuals: Vec<_> = failed.fields.iter().map(|(domain, _, residual)| (Arc::clone(domain), residual.clone())).collect();
        writeln!(out, "unknown,kind,index,{}residual", ["x,", "y,", "z,"][..self.grid.dim()].concat())?;
        for entry in newton::largest(&self.grid, &residuals, WORST) {
            let name = names.get(entry.equation).copied().unwrap_or_default();
            let place: String = (0..self.grid.dim()).map(|axis| entry.centroid.get(axis).map_or(",".into(), |x| format!("{x},"))).collect();
            writeln!(out, "{name},{:?},{},{place}{:e}", entry.kind, entry.entity, entry.value)?;
        }
        Ok(())
    }

    /// Parameters that may help, by the cause; none where no parameter does.
    fn remedies(&self, failed: &FailedSolve) -> Vec<(&'static str, String)> {
        let can_cut = !self.program.retries.is_empty() && self.program.retries.iter().all(|retry| retry.obstacle.is_none());
        let has_search = matches!(self.parameters.flag("newton_line_search"), Ok(Some(true)));
        let search = || ("newton_line_search", "true".to_owned());
        let cuts = can_cut.then(|| ("timestep_cuts", "6".to_owned()));
        let iterations = || ("max_iter", (4 * failed.iterations).max(50).to_string());
        match failed.cause {
            FailureCause::Alternating if !has_search => vec![search(), iterations()],
            FailureCause::IterationLimit | FailureCause::Alternating => [iterations()].into_iter().chain(cuts).collect(),
            FailureCause::NotFinite => [search()].into_iter().filter(|_| !has_search).chain(cuts).collect(),
            FailureCause::LinearSolver => {
                let preconditioner = self.parameters.text("preconditioner").map(|_| ("preconditioner", "auto".to_owned()));
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

fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

/// A word for a shell.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_=./,:+@%".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) { word.to_owned() } else { format!("'{}'", word.replace('\'', "'\\''")) }
}
