//! Matrix Market files of the system at which Newton's method failed (parameter `newton_dump`).

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::domain::Domain;
use crate::error::Error;
use crate::linalg::Csr;
use crate::session::Session;

/// The parameter: a folder.
pub const KEY: &str = "newton_dump";

/// True if `newton_dump` is given.
pub fn is_wanted(session: &Session) -> bool {
    session.parameters().contains(KEY)
}

/// Writes the Jacobian and the residual at a failure of the solve at an Equelle line:
/// `failure-00000-jacobian.mtx` and `failure-00000-residual.mtx`, numbered through the run. Rows
/// and columns are by equation or unknown, then in the order of the grid's file. An error here is a
/// warning, since the failure itself matters more. `residuals`: domain and values of each equation,
/// `[domain]`.
pub fn failure(session: &mut Session, line: u32, residuals: &[(Arc<Domain>, Vec<f64>)], matrix: Result<Csr, Error>) {
    let shown = session.program().source.shown(line);
    match matrix.map_err(|error| error.message).and_then(|matrix| write(session, line, residuals, &matrix)) {
        Ok(stem) => session.message(&format!("{shown}: the system at the failure is in `{stem}-jacobian.mtx` and `{stem}-residual.mtx`")),
        Err(what) => session.warning(&format!("{shown}: the system at the failure could not be written: {what}")),
    }
}

fn write(session: &mut Session, line: u32, residuals: &[(Arc<Domain>, Vec<f64>)], matrix: &Csr) -> Result<String, String> {
    let sink = session.sink().clone();
    let dir = session.parameters().path(KEY).map_err(|error| error.message)?.unwrap_or_default();
    let io = |path: &Path, error: std::io::Error| format!("{}: {error}", path.display());
    sink.create_folder(&dir).map_err(|error| io(&dir, error))?;
    let stem = dir.join(format!("failure-{:05}", session.solves().next_failure()));
    let file = |what: &str| PathBuf::from(format!("{}-{what}.mtx", stem.display()));
    // Position of each row in the file, and the inverse.
    let mut order: Vec<u32> = Vec::with_capacity(matrix.n_rows());
    let mut blocks = Vec::with_capacity(residuals.len());
    for (domain, values) in residuals {
        let first = order.len() as u32;
        match domain.file_order() {
            None => order.extend((0..values.len() as u32).map(|position| first + position)),
            Some(positions) => order.extend(positions.iter().map(|position| first + position)),
        }
        blocks.push(format!("{} to {}", first + 1, order.len()));
    }
    let mut place = vec![0; order.len()];
    order.iter().enumerate().for_each(|(row, &position)| place[position as usize] = row as u32);
    let (program, own) = session.program().source.file_and_line(line);
    let about = format!("% at the failure of the solve at line {own} of `{program}`; rows of the equations, from 1: {}", blocks.join(", "));
    let path = file("jacobian");
    sink.write(&path, |out| jacobian(out, matrix, &order, &place, &about)).map_err(|error| io(&path, error))?;
    let all: Vec<f64> = residuals.iter().flat_map(|(_, values)| values).copied().collect();
    let path = file("residual");
    sink.write(&path, |out| residual(out, &all, &order, &about)).map_err(|error| io(&path, error))?;
    Ok(stem.display().to_string())
}

/// Writes rows by `order` and columns by their `place`, ascending; numbers read back unchanged.
fn jacobian(out: &mut dyn Write, matrix: &Csr, order: &[u32], place: &[u32], about: &str) -> std::io::Result<()> {
    writeln!(out, "%%MatrixMarket matrix coordinate real general\n{about}")?;
    writeln!(out, "{} {} {}", matrix.n_rows(), matrix.n_cols(), matrix.n_entries())?;
    let mut entries: Vec<(u32, f64)> = Vec::new();
    for (row, &position) in order.iter().enumerate() {
        entries.clear();
        entries.extend(matrix.row(position as usize).map(|(column, value)| (place[column], value)));
        entries.sort_unstable_by_key(|(column, _)| *column);
        for (column, value) in &entries {
            writeln!(out, "{} {} {value:e}", row + 1, column + 1)?;
        }
    }
    Ok(())
}

fn residual(out: &mut dyn Write, values: &[f64], order: &[u32], about: &str) -> std::io::Result<()> {
    writeln!(out, "%%MatrixMarket matrix array real general\n{about}\n{} 1", values.len())?;
    for &position in order {
        writeln!(out, "{:e}", values[position as usize])?;
    }
    Ok(())
}
