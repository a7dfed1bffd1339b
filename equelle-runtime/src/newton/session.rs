//! Services of the session for the nonlinear problems of all back-ends: parameters, messages,
//! dumps, and the worst entries for reports.

use std::sync::Arc;

use super::options::Options;
use super::range::Range;
use super::report::Entry;
use crate::domain::Domain;
use crate::error::{Error, ErrorKind};
use crate::grid::Grid;
#[cfg(feature = "solvers")]
use crate::linalg::LinearOptions;
use crate::program::{Program, Solve};
use crate::ranks::{RankContext, RankId};
use crate::real::Real;
use crate::session::Session;

/// The parameters of Newton's method and of the linear solvers of a run, with its threads;
/// `rounding` is the machine epsilon of collections. Warns of old names.
///
/// # Errors
/// `Data` for illegal parameters.
#[cfg(feature = "solvers")]
pub fn options(session: &mut Session, rounding: f64) -> Result<(Options, LinearOptions), Error> {
    let nonlinear = Options { rounding, ..Options::from_parameters(session.parameters())? };
    nonlinear.check_names(&session.program().solves)?;
    let (mut linear, warnings) = LinearOptions::from_parameters(session.parameters())?;
    linear.rounding = rounding;
    linear.threads = session.threads().clone();
    for warning in warnings {
        session.warning(&warning);
    }
    Ok((nonlinear, linear))
}

/// The solve at an Equelle line.
pub(crate) fn solve_at(program: &Program, line: u32) -> Option<&Solve> {
    program.solves.iter().find(|solve| solve.line == line)
}

/// The options of the solve at an Equelle line.
pub fn options_at(session: &Session, options: Options, line: u32) -> Options {
    options.with_unknowns(solve_at(session.program(), line).map_or(&[][..], |solve| &solve.unknowns))
}

/// The ranges of the unknowns of the solve at an Equelle line; `extremes`: least and greatest value
/// of each, `None` for one without elements. `[unknowns]`
pub fn ranges(session: &Session, line: u32, extremes: &[Option<[f64; 2]>]) -> Vec<Range> {
    Range::from_extremes(solve_at(session.program(), line), extremes)
}

/// A warning about the solve at an Equelle line, 0 if unknown.
pub fn warn(session: &mut Session, line: u32, text: &str) {
    let place = if line > 0 { format!("{}: ", session.program().source.shown(line)) } else { String::new() };
    session.warning(&format!("{place}{text}"));
}

/// The error of equation `number` of `count`, counted from 0, that has no derivatives.
pub fn determines_nothing(number: usize, count: usize) -> Error {
    let which = if count == 1 { String::new() } else { format!(" of equation {}", number + 1) };
    Error::new(ErrorKind::Simulation, format!("the residual{which} does not depend on the unknown, so it determines nothing"))
        .hint("use the residual's parameter in it; derivatives do not pass through reductions, comparisons and Scalars")
}

/// The at most `count` largest entries of residuals that a rank owns, in magnitude, those that are
/// not finite first, then by equation and position in the grid's file. `residuals`: one for each
/// equation, `[domain]` each.
pub fn largest(grid: &Grid, rank: RankId, residuals: &[(Arc<Domain>, Vec<f64>)], count: usize) -> Vec<Entry> {
    let mut all: Vec<(usize, usize, f64)> = Vec::new();
    for (equation, (domain, values)) in residuals.iter().enumerate() {
        let own = values.iter().enumerate().filter(|(position, _)| domain.is_owned_by(rank, *position));
        all.extend(own.map(|(position, &value)| (equation, position, value)));
    }
    let in_file = |&(equation, position, _): &(usize, usize, f64)| {
        let domain = &residuals[equation].0;
        (equation, grid.file_index(domain.kind(), domain.element(position)))
    };
    // The total order puts NaN above infinity.
    all.sort_by(|a, b| b.2.abs().total_cmp(&a.2.abs()).then_with(|| in_file(a).cmp(&in_file(b))));
    let entry = |&(equation, position, value): &(usize, usize, f64)| {
        let domain = &residuals[equation].0;
        let entity = domain.element(position);
        let centroid = grid.centroid(domain.kind(), entity).map_or(Vec::new(), |x| x[..grid.dim()].to_vec());
        Entry { equation, kind: domain.kind(), entity: grid.file_index(domain.kind(), entity), value, centroid }
    };
    all.iter().take(count).map(entry).collect()
}

/// The at most `count` largest entries of all ranks, of those that each has.
///
/// # Errors
/// `Backend` if another rank has ended.
pub(super) fn largest_of_all(
    rank: &RankContext,
    residuals: &[(Arc<Domain>, Vec<f64>)],
    own: Vec<Entry>,
    count: usize,
) -> Result<Vec<Entry>, Error> {
    let numbers = |entry: &Entry| [entry.equation as u32, entry.entity, entry.centroid.len() as u32];
    let whole = rank.lists(&own.iter().flat_map(numbers).collect::<Vec<_>>())?;
    let reals = rank.lists(&own.iter().flat_map(|entry| [&[entry.value], &entry.centroid[..]].concat()).collect::<Vec<_>>())?;
    let mut all = Vec::new();
    for (whole, reals) in whole.iter().zip(reals) {
        let mut reals = reals.into_iter();
        for numbers in whole.chunks_exact(3) {
            let (equation, entity, dim) = (numbers[0] as usize, numbers[1], numbers[2] as usize);
            let value = reals.next().unwrap_or(f64::NAN);
            all.push(Entry { equation, kind: residuals[equation].0.kind(), entity, value, centroid: reals.by_ref().take(dim).collect() });
        }
    }
    all.sort_by(|a, b| b.value.abs().total_cmp(&a.value.abs()).then((a.equation, a.entity).cmp(&(b.equation, b.entity))));
    all.truncate(count);
    Ok(all)
}

/// Writes iterate and residual of each equation, at the guess or later, as numbers of `R`.
/// `fields`: domain, iterate and residual, `[domain]` each.
///
/// # Errors
/// `Io`.
pub fn dump<R: Real>(session: &mut Session, initial: bool, fields: &[(Arc<Domain>, Vec<f64>, Vec<f64>)]) -> Result<(), Error> {
    let (iterate, residual) = if initial { ("Initial u", "Initial residual") } else { ("Newton u", "Newton residual") };
    let tag = |tag: &str, number: usize| if fields.len() == 1 { tag.to_owned() } else { format!("{tag} {}", number + 1) };
    for (number, (domain, u, r)) in fields.iter().enumerate() {
        session.outputs().dump(&tag(iterate, number), domain, &R::vec_from_f64(u.clone()))?;
        session.outputs().dump(&tag(residual, number), domain, &R::vec_from_f64(r.clone()))?;
    }
    Ok(())
}
