//! Exchanges for ranks, in every program of the project and in random ones, before and after the
//! passes: the verifier accepts them, and notices each that is left out or a layer too shallow.

use std::path::Path;

use equelle_front::check::{CheckOptions, check_text};
use equelle_front::ir::{Block, Module, Numbers, Op, StmtKind};
use equelle_front::lower;
use equelle_front::passes::halo::{HaloLayers, RefusedConstruct};
use equelle_front::passes::{OptLevel, for_ranks, optimise};
use equelle_front::source::SourceMap;
use equelle_front::verify::{halo, verify};
use equelle_random::data::Fixtures;
use equelle_random::generate::{Purpose, program};
use equelle_random::project::subjects;
use rayon::prelude::*;

const LEVELS: [OptLevel; 2] = [OptLevel::O0, OptLevel::O2];

/// Random programs of a test run.
const PROGRAMS: u64 = 1000;

/// Numbers of what was tried.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Tried {
    programs: usize,
    solves: usize,
    growing: usize,
    other_refusals: usize,
    exchanges: usize,
    mutants: usize,
}

impl Tried {
    fn and(self, other: Tried) -> Tried {
        Tried {
            programs: self.programs + other.programs,
            solves: self.solves + other.solves,
            growing: self.growing + other.growing,
            other_refusals: self.other_refusals + other.other_refusals,
            exchanges: self.exchanges + other.exchanges,
            mutants: self.mutants + other.mutants,
        }
    }
}

/// Inserts exchanges, and weakens each in turn.
fn try_module(mut module: Module, name: &str) -> Result<Tried, String> {
    let solves = module.source.text().contains("NewtonSolve");
    let HaloLayers { layers, exchanges, unknowns: _ } = match for_ranks(&mut module) {
        Ok(found) => found,
        Err(refusal) => {
            let tried = Tried { programs: 1, ..Tried::default() };
            return match refusal.construct {
                RefusedConstruct::GrowingReach => Ok(Tried { growing: 1, ..tried }),
                RefusedConstruct::Call(_) => Ok(Tried { other_refusals: 1, ..tried }),
                construct @ RefusedConstruct::TooManyLayers => {
                    let line = module.source.line(refusal.span.start);
                    Err(format!("{name}, line {line}: {construct}"))
                }
            };
        }
    };
    let module = verify(module).map_err(|e| format!("{name}: {e:?}"))?.into_module();
    halo::check(&module, layers).map_err(|e| format!("{name}, {layers} layers: {e:?}"))?;
    let mut tried = Tried { programs: 1, solves: usize::from(solves), exchanges: exchanges.len(), ..Tried::default() };
    for (number, exchange) in exchanges.iter().enumerate() {
        for depth in std::iter::once(0).chain((exchange.depth > 1).then(|| exchange.depth - 1)) {
            let mut mutant = module.clone();
            *nth_exchange(&mut mutant.main.body, &mut number.clone()).expect("an exchange") = depth;
            tried.mutants += 1;
            if halo::check(&mutant, layers).is_ok() {
                return Err(format!("{name}: depth {depth} of `{}` is enough instead of {}", exchange.name, exchange.depth));
            }
        }
    }
    Ok(tried)
}

/// Depth of the exchange after so many others; 0 there stands for none.
fn nth_exchange<'b>(block: &'b mut Block, before: &mut usize) -> Option<&'b mut u32> {
    block.statements.iter_mut().find_map(|statement| match &mut statement.kind {
        StmtKind::Let { op: Op::Exchange { depth, .. }, .. } => match before.checked_sub(1) {
            Some(left) => {
                *before = left;
                None
            }
            None => Some(depth),
        },
        StmtKind::For { body, .. } => nth_exchange(body, before),
        StmtKind::Let { .. } | StmtKind::Store { .. } | StmtKind::Output { .. } | StmtKind::Launch { .. } | StmtKind::Return(_) => None,
    })
}

fn sum(found: Vec<Result<Tried, String>>) -> Tried {
    let failures: Vec<String> = found.iter().filter_map(|found| found.clone().err()).collect();
    assert!(failures.is_empty(), "{} programs\n{}", failures.len(), failures[..failures.len().min(10)].join("\n"));
    found.into_iter().flatten().fold(Tried::default(), Tried::and)
}

#[test]
fn exchanges_of_every_program_of_the_project_are_needed() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("halo-project");
    let subjects = subjects(&folder);
    let cases: Vec<_> = subjects.iter().flat_map(|subject| LEVELS.map(|level| (subject, level))).collect();
    let found = cases.into_par_iter().map(|(subject, level)| {
        let module = subject.compile(level, Numbers::default()).into_module();
        try_module(module, &format!("{} at {level:?}", subject.name))
    });
    let tried = sum(found.collect());
    println!("{tried:?}");
    assert!(tried.programs > 150 && tried.exchanges > 200 && tried.mutants >= tried.exchanges, "{tried:?}");
}

#[test]
fn exchanges_of_random_programs_are_needed() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("halo-random");
    let triangles = Path::new(env!("CARGO_MANIFEST_DIR")).join("../grids/triangles-6x5.grid");
    let fixtures = Fixtures::write(&folder, &triangles).expect("the target folder can be written");
    let cases: Vec<_> = (1..=PROGRAMS).flat_map(|seed| LEVELS.map(|level| (seed, level))).collect();
    let found = cases.into_par_iter().map(|(seed, level)| {
        let text = program(seed, Purpose::Run, &fixtures.ranges).text();
        let typed = check_text(&text, &CheckOptions { nondimensional: true }).program.expect("random programs are well-typed");
        let module = lower::lower(&typed, &SourceMap::new("random.equelle", &text), "random");
        try_module(optimise(module, level), &format!("seed {seed} at {level:?}"))
    });
    let tried = sum(found.collect());
    println!("{tried:?}");
    assert!(tried.programs as u64 == 2 * PROGRAMS && tried.exchanges > 250 && tried.mutants >= tried.exchanges, "{tried:?}");
}
