//! Programs on ranks with an exchange left out, whose runs differ from those of one process where
//! values that are needed are made wrong.

use std::sync::Arc;

use equelle::interpret::{Kernels, run_in};
use equelle::ranks::{RankProgram, ThreadRanks};
use equelle_front::ir::{Block, Numbers, Op, StmtKind};
use equelle_front::passes::OptLevel;
use equelle_front::verify::Verified;
use equelle_runtime::Program as Runnable;

use crate::compare::{Failure, compile, fits, guarded, same_words};
use crate::data::{Fixtures, grids};
use crate::on_ranks::run_on_ranks;
use crate::outcome::{Outcome, run_by};
use crate::project::Subject;
use crate::tree::Program;

/// Numbers of ranks that are tried, in this order: boxes of eight are cut along all axes.
const RANKS: [u32; 5] = [3, 5, 4, 2, 8];

/// A program with an exchange left out that the verifier finds to be needed.
#[derive(Clone, Debug)]
pub struct Mutant {
    /// The program.
    pub program: String,
    /// Line of the value that is not exchanged.
    pub line: u32,
    /// The value, its depth, and how the program was compiled.
    pub text: String,
    /// True if some run differs from that of one process; none if no grid can be cut, or each run
    /// fails on one process too.
    pub is_noticed: Option<bool>,
}

/// Leaves out exchanges of a program of the project in turn, and runs what remains on ranks until a
/// run differs from that of one process. `is_tried` chooses among them by number.
pub fn subject_mutants(subject: &Subject, level: OptLevel, kernels: Kernels, is_tried: impl Fn(usize) -> bool) -> Vec<Mutant> {
    let module = subject.compile(level, Numbers::default());
    let cases = subject.cases.iter().map(|case| case.words(&[])).collect();
    let name = format!("{} {level:?}", subject.name);
    Subjected { name, runnable: &subject.runnable, module: &module, kernels, cases }.mutants(is_tried)
}

/// The same of all exchanges of a random program after all passes: before them, values are computed
/// that no output needs.
///
/// # Errors
/// The program does not compile.
pub fn random_mutants(program: &Program, fixtures: &Fixtures) -> Result<Vec<Mutant>, Failure> {
    guarded(|| {
        let text = program.text();
        let compiled = compile(&text, program.units)?;
        let last = compiled.passes.last().map_or(&compiled.plain, |(_, module)| module);
        let grids = grids(program, fixtures).filter(|fixture| fits(fixture, &compiled));
        let cases = grids.map(|fixture| fixture.words_for(&compiled.runnable).map(str::to_owned).collect()).collect();
        let kernels = if program.seed.is_multiple_of(2) { Kernels::Lanes } else { Kernels::Elements };
        let name = format!("random program {}", program.seed);
        Ok(Subjected { name, runnable: &compiled.runnable, module: last, kernels, cases }.mutants(|_| true))
    })
}

/// A program whose exchanges are left out.
struct Subjected<'a> {
    name: String,
    runnable: &'a Arc<Runnable>,
    module: &'a Verified,
    kernels: Kernels,
    /// Words of command lines.
    cases: Vec<Vec<String>>,
}

impl Subjected<'_> {
    fn mutants(self, is_tried: impl Fn(usize) -> bool) -> Vec<Mutant> {
        // Solves differ by rounding on ranks, whatever is exchanged.
        if !self.runnable.solves.is_empty() {
            return Vec::new();
        }
        let Ok(program) = RankProgram::new(self.module) else { return Vec::new() };
        let mut expected: Vec<Option<Outcome>> = vec![None; self.cases.len()];
        let exchanges = program.halo().exchanges.iter().enumerate().filter(|(number, _)| is_tried(*number));
        let tried = exchanges.map(|(number, exchange)| {
            let mut without = program.verified().module().clone();
            leave_out(&mut without.main.body, &mut number.clone());
            let source = &without.source;
            let line = if source.text().is_empty() { 0 } else { source.line(exchange.span.start) };
            let text = format!("`{}` to layer {}", exchange.name, exchange.depth);
            let mutant = program.with_unproven(without);
            let is_noticed = mutant.ok().and_then(|mutant| self.is_noticed(&mutant, &mut expected));
            Mutant { program: self.name.clone(), line, text, is_noticed }
        });
        tried.collect()
    }

    fn is_noticed(&self, mutant: &RankProgram, expected: &mut [Option<Outcome>]) -> Option<bool> {
        let mut is_noticed = None;
        for (words, expected) in self.cases.iter().zip(expected) {
            let one_process = || run_by(self.runnable, words, |session| run_in(self.kernels, self.module, session));
            let expected = expected.get_or_insert_with(one_process);
            for n_ranks in RANKS {
                let mutant = mutant.clone().poisoned(u64::from(n_ranks));
                let ranks = ThreadRanks { n_ranks, partition: None, seed: None };
                let Some(found) = run_on_ranks(self.kernels, self.runnable, &mutant, words, &ranks) else { continue };
                if same_words(expected, &found).is_err() {
                    return Some(true);
                }
                // A run that fails may not have come to the exchange.
                is_noticed = is_noticed.or(expected.error.is_none().then_some(false));
            }
        }
        is_noticed
    }
}

/// Leaves out the exchange after so many others. True if there is one.
fn leave_out(block: &mut Block, before: &mut usize) -> bool {
    for number in 0..block.statements.len() {
        match &mut block.statements[number].kind {
            StmtKind::Let { op: Op::Exchange { .. }, .. } => match before.checked_sub(1) {
                Some(left) => *before = left,
                None => {
                    block.statements.remove(number);
                    return true;
                }
            },
            StmtKind::For { body, .. } => {
                if leave_out(body, before) {
                    return true;
                }
            }
            StmtKind::Let { .. } | StmtKind::Store { .. } | StmtKind::Output { .. } | StmtKind::Launch { .. } | StmtKind::Return(_) => {}
        }
    }
    false
}
