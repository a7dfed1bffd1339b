//! Programs on ranks that are threads, compared with one process to the bit. What ranks need not
//! have right is made wrong, so that reads of it are seen.

use std::sync::Arc;

use equelle::interpret::{Kernels, run_in};
use equelle::ranks::{self, RankProgram, RankProgramError, ThreadRanks};
use equelle_front::ir::Numbers;
use equelle_front::passes::OptLevel;
use equelle_front::passes::halo::RefusedConstruct;
use equelle_front::verify::Verified;
use equelle_runtime::output::Records;
use equelle_runtime::session::Options;
use equelle_runtime::{Program as Runnable, Session};

use crate::compare::{
    Compiled, Failure, compile, fits, guarded, same_but_for_numbers_of_errors, same_to_solvers, same_words, same_words_within,
};
use crate::data::{Fixture, Fixtures, grids};
use crate::outcome::{Outcome, Tolerance, from_records, run_by, same, with_policy};
use crate::project::Subject;
use crate::rank_cut::{RankCut, is_uncut};
use crate::tree::Program;

/// Comparisons of a program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RankCount {
    /// Programs.
    pub programs: u32,
    /// Runs on ranks that were compared.
    pub runs: u32,
    /// Those with several ranks.
    pub on_several: u32,
    /// Those that ended with an error, the same on one process.
    pub ended: u32,
    /// True if the program needs no exchange.
    pub is_local: bool,
}

/// Programs that are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Chosen {
    /// All.
    All,
    /// Those that solve equations.
    Implicit,
    /// Those that need exchanges, as lowered or after all passes.
    Exchanging,
}

/// Compares a program on ranks with one process, as lowered and after all passes, by elements and
/// by lanes, in boxes or by bisection, and with cells scattered at random; `None` for a program
/// that does not run on ranks, or is not chosen.
///
/// # Errors
/// The failure that was found.
pub fn compare_on_ranks(program: &Program, fixtures: &Fixtures, chosen: Chosen) -> Result<Option<RankCount>, Failure> {
    guarded(|| {
        let text = program.text();
        if chosen == Chosen::Implicit && !text.contains("NewtonSolve") {
            return Ok(None);
        }
        let compiled = compile(&text, program.units)?;
        let last = compiled.passes.last().map_or(&compiled.plain, |(_, module)| module);
        let mut programs = Vec::new();
        for module in [&compiled.plain, last] {
            match RankProgram::new(module) {
                Ok(program_on_ranks) => programs.push((module, program_on_ranks.poisoned(program.seed))),
                Err(RankProgramError::Invalid(errors)) => return Err(Failure::new("IR not valid", format!("for ranks: {errors:?}"))),
                Err(RankProgramError::Refused(refusal)) => match refusal.construct {
                    RefusedConstruct::Call(_) | RefusedConstruct::GrowingReach => return Ok(None),
                    // A loop in a residual may read further in each round, without an exchange.
                    RefusedConstruct::TooManyLayers if !compiled.runnable.solves.is_empty() => return Ok(None),
                    RefusedConstruct::TooManyLayers => return Err(Failure::new("ranks", refusal.construct.to_string())),
                },
            }
        }
        let mut count = RankCount {
            programs: 1,
            is_local: programs.iter().all(|(_, program)| program.halo().exchanges.is_empty()),
            ..RankCount::default()
        };
        if chosen == Chosen::Exchanging && count.is_local {
            return Ok(None);
        }
        for fixture in grids(program, fixtures).filter(|fixture| fits(fixture, &compiled)) {
            // One of three ways on each grid, so that all come up.
            let way = (program.seed as usize + fixture.name.len()) % 3;
            let (module, on_ranks) = &programs[way.min(1)];
            let kernels = if way == 1 { Kernels::Lanes } else { Kernels::Elements };
            add(&mut count, program, &compiled, fixture, (module, on_ranks, kernels))?;
        }
        Ok(Some(count))
    })
}

fn add(
    count: &mut RankCount,
    program: &Program,
    compiled: &Compiled,
    fixture: &Fixture,
    (module, on_ranks, kernels): (&Verified, &RankProgram, Kernels),
) -> Result<(), Failure> {
    let mut words: Vec<String> = fixture.words_for(&compiled.runnable).map(str::to_owned).collect();
    // Small grids are renumbered if they are told to be alone.
    let is_renumbered = program.seed.is_multiple_of(2);
    if is_renumbered {
        words.push("renumber=yes".to_owned());
    }
    let expected = run_by(&compiled.runnable, &words, |session| run_in(kernels, module, session));
    let mut random = fastrand::Rng::with_seed(program.seed ^ fixture.name.len() as u64);
    let n_ranks = 1 + random.u32(0..7);
    let cuts = [false, true].into_iter().take(if compiled.structure.is_none() { 2 } else { 1 });
    for scattered in cuts {
        let cut = RankCut { n_ranks, scattered };
        // Scattered cells have no Cartesian forms.
        let zeros = scattered && !fixture.unstructured;
        let Some(ranks) = cut.ranks(&compiled.runnable, &words, program.seed) else { continue };
        let Some(found) = run_on_ranks(kernels, &compiled.runnable, on_ranks, &words, &ranks) else { continue };
        count.runs += 1;
        count.on_several += u32::from(n_ranks > 1);
        count.ended += u32::from(found.error.is_some());
        let allowed = if zeros { Tolerance::NUMBERS } else { Tolerance::BITS };
        let compared = match compiled.runnable.solves.is_empty() {
            true if is_renumbered => same_but_for_numbers_of_errors(&expected, &found, &|_| allowed),
            true => same_words_within(&expected, &found, allowed),
            false => same_to_solvers(program, &expected, &found),
        };
        compared.map_err(|difference| {
            let way = if scattered { "scattered" } else { "cut" };
            let text = format!("on the grid {}, {kernels:?}, {way} on {n_ranks} ranks: {difference}", fixture.name);
            Failure::new("different on ranks", text)
        })?;
    }
    Ok(())
}

/// Part of the largest value by which results of solves may differ: linear systems are solved to
/// 1e-8 in another order, and Newton's method ends before round-off.
pub const SOLVED: f64 = 1e-6;

/// Compares a program of the project on ranks with one process, on each of its grids; the number of
/// comparisons.
///
/// # Errors
/// The first difference.
pub fn compare_subject(subject: &Subject, level: OptLevel, kernels: Kernels) -> Result<u32, String> {
    let module = subject.compile(level, Numbers::default());
    let program = match RankProgram::new(&module) {
        Ok(program) => program.poisoned(subject.cases.len() as u64),
        Err(error) => return Err(format!("{}: {error:?}", subject.name)),
    };
    let mut runs = 0;
    for (number, case) in subject.cases.iter().enumerate() {
        let words = case.words(if number % 2 == 0 { &["renumber=yes"] } else { &[] });
        let expected = run_by(&subject.runnable, &words, |session| run_in(kernels, &module, session));
        let n_ranks = 2 + number as u32 % 6;
        let ranks = ThreadRanks { n_ranks, partition: None, seed: Some(u64::from(n_ranks)) };
        let Some(found) = run_on_ranks(kernels, &subject.runnable, &program, &words, &ranks) else { continue };
        runs += 1;
        let name = format!("{} {} on {n_ranks} ranks", subject.name, case.name);
        let compared = match subject.runnable.solves.is_empty() {
            true => same_words(&expected, &found),
            false => same(&expected, &found, &|_| Tolerance::relative(SOLVED)),
        };
        compared.map_err(|difference| format!("{name}: {difference}"))?;
    }
    Ok(runs)
}

/// Runs a program on ranks; `None` where the grid cannot be cut so often.
pub(crate) fn run_on_ranks(
    kernels: Kernels,
    runnable: &Arc<Runnable>,
    program: &RankProgram,
    words: &[String],
    ranks: &ThreadRanks,
) -> Option<Outcome> {
    let records = Records::default();
    let words = with_policy(runnable, words);
    let record = |session: &mut Session| session.record_outputs_in(&records);
    let result = ranks::run(kernels, runnable, program, &words, Options::silent(), ranks, &record);
    if result.as_ref().is_err_and(is_uncut) {
        return None;
    }
    Some(from_records(&records, result.map(|_| ())))
}
