//! Matrices and systems of all ranks on one, or on each.

use super::matrix::RankMatrix;
use super::numbering::Numbering;
use super::space::RankSpace;
use crate::error::{Error, ErrorKind};
use crate::linalg::driver::error::{LinearError, LinearErrorKind};
use crate::linalg::driver::options::{LinearOptions, Method, Preconditioning};
use crate::linalg::driver::solution::Solution;
use crate::linalg::driver::solve::solve_on_host;
use crate::linalg::matrix::csr::Csr;
use crate::linalg::space::host::HostSpace;
use crate::linalg::space::host_matrix::HostMatrix;
use crate::ranks::{RankContext, RankId};

/// Most unknowns of a system that is gathered for LU.
pub const MAX_GATHERED_UNKNOWNS: usize = 200_000;

/// Rows as they travel: number of entries of each row, then number of the column and value of each
/// entry.
type Rows = (Vec<u32>, Vec<(u32, f64)>);

/// Own rows with numbers of columns in the whole matrix.
fn rows_of(a: &RankMatrix<HostMatrix>, numbering: &Numbering) -> Rows {
    let all = a.all_columns();
    let own = (0..a.columns().n_own()).map(|own| numbering.own(own) as u32);
    let numbers: Vec<u32> = own.chain(a.columns().halo().iter().map(|&halo| numbering.halo(halo) as u32)).collect();
    let counts = all.row_ptr().windows(2).map(|ends| (ends[1] - ends[0]) as u32).collect();
    let entries = all.col_idx().iter().zip(all.values()).map(|(&column, &value)| (numbers[column as usize], value)).collect();
    (counts, entries)
}

/// The whole matrix from the rows of each rank.
fn assembled(numbering: &Numbering, by_rank: &[Rows]) -> Csr {
    let n = numbering.n_whole();
    let mut row_ptr = vec![0usize; n + 1];
    let numbers: Vec<Vec<usize>> = (0..by_rank.len()).map(|rank| numbering.numbers(rank)).collect();
    for (numbers, (counts, _)) in numbers.iter().zip(by_rank) {
        numbers.iter().zip(counts).for_each(|(&row, &count)| row_ptr[row + 1] = count as usize);
    }
    (0..n).for_each(|row| row_ptr[row + 1] += row_ptr[row]);
    let mut col_idx = vec![0u32; row_ptr[n]];
    let mut values = vec![0.0; row_ptr[n]];
    let mut row_entries: Vec<(u32, f64)> = Vec::new();
    for (numbers, (counts, entries)) in numbers.iter().zip(by_rank) {
        let mut left = &entries[..];
        for (&row, &count) in numbers.iter().zip(counts) {
            let (own, rest) = left.split_at((count as usize).min(left.len()));
            left = rest;
            row_entries.clear();
            row_entries.extend_from_slice(own);
            row_entries.sort_unstable_by_key(|(column, _)| *column);
            for (at, (column, value)) in (row_ptr[row]..).zip(&row_entries) {
                (col_idx[at], values[at]) = (*column, *value);
            }
        }
    }
    Csr::from_valid(n, n, row_ptr, col_idx, values)
}

/// The whole matrix, on every rank.
///
/// # Errors
/// `Backend` if another rank has ended.
pub(super) fn gathered_everywhere(ranks: &RankContext, a: &RankMatrix<HostMatrix>, numbering: &Numbering) -> Result<Csr, Error> {
    let (counts, entries) = rows_of(a, numbering);
    let rows: Vec<Rows> = ranks.lists(&counts)?.into_iter().zip(ranks.lists(&entries)?).collect();
    Ok(assembled(numbering, &rows))
}

/// The whole matrix on rank 0.
fn gathered_at_root(ranks: &RankContext, a: &RankMatrix<HostMatrix>, numbering: &Numbering) -> Result<Option<Csr>, Error> {
    let (counts, entries) = rows_of(a, numbering);
    if !ranks.is_root() {
        ranks.send(RankId(0), counts.into_iter())?;
        ranks.send(RankId(0), entries.into_iter())?;
        return Ok(None);
    }
    let mut rows: Vec<Rows> = vec![(counts, entries)];
    for rank in 1..ranks.n_ranks() {
        let from = RankId(rank as u32);
        rows.push((ranks.receive_list(from)?, ranks.receive_list(from)?));
    }
    Ok(Some(assembled(numbering, &rows)))
}

/// How a gathered system was solved, as numbers that travel.
const HEADER: usize = 6;

fn header(solved: &Result<Solution, LinearError>) -> [f64; HEADER] {
    match solved {
        Ok(solution) => [1.0, solution.iterations as f64, solution.relative_residual, 0.0, 0.0, 0.0],
        Err(error) => {
            let [kind, first, second] = match error.kind {
                LinearErrorKind::Breakdown => [0.0; 3],
                LinearErrorKind::Stagnation => [1.0, 0.0, 0.0],
                LinearErrorKind::MaxIterations => [2.0, 0.0, 0.0],
                LinearErrorKind::Singular => [3.0, 0.0, 0.0],
                LinearErrorKind::NonFinite => [4.0, 0.0, 0.0],
                LinearErrorKind::Unsuitable => [5.0, 0.0, 0.0],
                LinearErrorKind::Interrupted => [6.0, 0.0, 0.0],
                LinearErrorKind::ZeroDerivative { count, residual } => [7.0, count as f64, residual],
                LinearErrorKind::Incompatible { imbalance } => [8.0, imbalance, 0.0],
            };
            [0.0, error.iterations as f64, error.relative_residual, kind, first, second]
        }
    }
}

fn kind_of(number: f64, first: f64, second: f64) -> LinearErrorKind {
    match number as u8 {
        1 => LinearErrorKind::Stagnation,
        2 => LinearErrorKind::MaxIterations,
        3 => LinearErrorKind::Singular,
        4 => LinearErrorKind::NonFinite,
        5 => LinearErrorKind::Unsuitable,
        6 => LinearErrorKind::Interrupted,
        7 => LinearErrorKind::ZeroDerivative { count: first as usize, residual: second },
        8 => LinearErrorKind::Incompatible { imbalance: first },
        _ => LinearErrorKind::Breakdown,
    }
}

/// An error of the direct solver.
fn error(kind: LinearErrorKind, iterations: usize, relative_residual: f64, detail: String) -> LinearError {
    let preconditioner = Preconditioning::None;
    LinearError { kind, method: Method::Lu, preconditioner, iterations, relative_residual, detail, before: Vec::new() }
}

impl RankSpace<HostSpace> {
    /// Solves a system by LU on rank 0, up to [`MAX_GATHERED_UNKNOWNS`].
    pub(super) fn solve_at_root(
        &mut self,
        a: &RankMatrix<HostMatrix>,
        rhs: &[f64],
        options: &LinearOptions,
    ) -> Result<Result<Solution, LinearError>, Error> {
        let n = self.numbering.n_whole();
        if n > MAX_GATHERED_UNKNOWNS {
            let detail = format!("on several ranks it takes up to {MAX_GATHERED_UNKNOWNS} unknowns, and there are {n}");
            return Ok(Err(error(LinearErrorKind::Unsuitable, 0, 1.0, detail)));
        }
        let ranks = std::sync::Arc::clone(&self.ranks);
        let matrix = gathered_at_root(&ranks, a, &self.numbering)?;
        let Some(matrix) = matrix else {
            ranks.send(RankId(0), rhs.iter().copied())?;
            let numbers: Vec<f64> = ranks.receive_list(RankId(0))?;
            let text: Vec<u8> = ranks.receive_list(RankId(0))?;
            let Some((header, x)) = numbers.split_first_chunk::<HEADER>() else {
                return Err(Error::new(ErrorKind::Backend, "rank 0 has sent no solution"));
            };
            return Ok(received(*header, x.to_vec(), text));
        };
        let mut b = vec![0.0; n];
        let mut put = |numbers: &[usize], values: &[f64]| numbers.iter().zip(values).for_each(|(&number, value)| b[number] = *value);
        put(&self.numbering.numbers(0), rhs);
        for rank in 1..ranks.n_ranks() {
            put(&self.numbering.numbers(rank), &ranks.receive_list::<f64>(RankId(rank as u32))?);
        }
        let options = LinearOptions { method: Some(Method::Lu), preconditioner: None, ..options.clone() };
        let mut space = HostSpace::on(&options.threads, n).interruptible(&self.interrupt);
        let ends = self.numbering.whole_ends();
        let solved = solve_on_host(&mut space, &matrix.into(), &ends, b, &options, &mut self.gathered);
        let header = header(&solved);
        let text = solved.as_ref().err().map_or(String::new(), |error| error.detail.clone()).into_bytes();
        let part = |rank: usize| -> Vec<f64> {
            let numbers = self.numbering.numbers(rank);
            solved.as_ref().map_or(Vec::new(), |solution| numbers.iter().map(|&number| solution.x[number]).collect())
        };
        for rank in 1..ranks.n_ranks() {
            let numbers: Vec<f64> = header.iter().copied().chain(part(rank)).collect();
            ranks.send(RankId(rank as u32), numbers.into_iter())?;
            ranks.send(RankId(rank as u32), text.iter().copied())?;
        }
        Ok(received(header, part(0), text))
    }
}

/// The solution that rank 0 has told.
fn received(header: [f64; HEADER], x: Vec<f64>, text: Vec<u8>) -> Result<Solution, LinearError> {
    let [is_solved, iterations, relative_residual, kind, first, second] = header;
    let iterations = iterations as usize;
    if is_solved == 1.0 {
        let (method, preconditioner) = (Method::Lu, Preconditioning::None);
        return Ok(Solution { x, iterations, relative_residual, method, preconditioner, note: None });
    }
    Err(error(kind_of(kind, first, second), iterations, relative_residual, String::from_utf8_lossy(&text).into_owned()))
}
