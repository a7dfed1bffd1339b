//! Linear systems of Newton's method.

use std::collections::BTreeSet;

use crate::backend::inside::InsideForms;
use crate::backend::stencil::Skeleton;
use crate::ir::reach::OffsetPaths;
use crate::ir::{Block, Equation, Function, KBlock, KStmt, LocalId, Module, Op, Path, StmtKind};
use crate::ops::Offset;
use crate::types::SetId;

/// A solve with Newton's method.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SolveNeeds {
    /// The Equelle line; 0 if unknown.
    pub line: u32,
    /// Sets of the unknowns, one per equation.
    pub unknowns: Vec<SetId>,
    /// Entries of a row of each equation, on grids of boxes of 1, 2 and 3 dimensions; an estimate.
    pub entries: Vec<[u32; 3]>,
    /// Additions that make a row of each equation, each with the slot that it goes to; 0 where
    /// derivatives are followed operation by operation.
    pub additions: Vec<[u32; 3]>,
    /// True if all equations have a form for Cartesian grids, whose rows follow from the places of
    /// cells; of those that read by index but for the cells near sides.
    pub cartesian: bool,
    /// True if all equations of a system depend on all unknowns of the same elements: the Jacobian
    /// is one of blocks.
    pub blocks: bool,
}

/// Every solve of a module.
pub(super) fn of(module: &Module) -> Vec<SolveNeeds> {
    let mut found = Vec::new();
    for function in module.functions.iter().chain([&module.main]) {
        block(module, function, &function.body, &mut found);
    }
    found
}

fn block(module: &Module, function: &Function, body: &Block, found: &mut Vec<SolveNeeds>) {
    for statement in &body.statements {
        match &statement.kind {
            StmtKind::Let { op: Op::Newton { guesses, equations, .. }, .. } => {
                let sets: Vec<SetId> = guesses.iter().filter_map(|g| function.values[g.0 as usize].ty.mapping()).collect();
                let line = if module.source.text().is_empty() { 0 } else { module.source.line(statement.span.start) };
                let (known, reaches): (Vec<_>, Vec<_>) = equations.iter().map(|equation| rows(module, equation)).unzip();
                let rows: Vec<[Row; 3]> = match equations.is_empty() {
                    false => known,
                    // A cell and those beyond its faces, for each unknown.
                    true => guesses
                        .iter()
                        .map(|_| [1, 2, 3].map(|dim| Row { entries: (1 + 2 * dim) * guesses.len() as u32, additions: 0 }))
                        .collect(),
                };
                let same = |sets: &[SetId]| sets.iter().all(|set| Some(set) == sets.first());
                let blocks = reaches.len() > 1 && same(&sets) && reaches.iter().all(|reach| reach.is_some() && *reach == reaches[0]);
                found.push(SolveNeeds {
                    line,
                    blocks,
                    unknowns: sets,
                    entries: rows.iter().map(|row| row.each_ref().map(|row| row.entries)).collect(),
                    additions: rows.iter().map(|row| row.each_ref().map(|row| row.additions)).collect(),
                    cartesian: equations.iter().all(|equation| {
                        let kernel = &module.kernels[equation.kernel.0 as usize];
                        let form = kernel.jacobian.as_ref();
                        form.is_some_and(|form| form.cartesian.is_some() || InsideForms::of(kernel, &module.sets).is_some())
                    }),
                });
            }
            StmtKind::For { body, .. } => block(module, function, body, found),
            StmtKind::Let { .. } | StmtKind::Store { .. } | StmtKind::Output { .. } | StmtKind::Launch { .. } | StmtKind::Return(_) => {}
        }
    }
}

/// A row of a Jacobian.
#[derive(Clone, Copy)]
struct Row {
    entries: u32,
    additions: u32,
}

/// Reach of a row of an equation beyond its own element.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Beyond {
    /// Through how many sums.
    sums: BTreeSet<u32>,
    /// At which offsets of a Cartesian grid.
    offsets: BTreeSet<Offset>,
}

/// The row of an equation, by dimension; and what it reaches beyond its own element, if it does so
/// alike for all unknowns and depends on all of its own element.
fn rows(module: &Module, equation: &Equation) -> ([Row; 3], Option<Beyond>) {
    let kernel = &module.kernels[equation.kernel.0 as usize];
    let Some(form) = &kernel.jacobian else { return ([Row { entries: 0, additions: 0 }; 3], None) };
    let skeleton = Skeleton::of(form);
    let mut reach = None;
    let rows = [1, 2, 3].map(|dim| {
        let mut counter = Counter { faces: 2 * dim, paths: OffsetPaths::of(&skeleton.block), ..Counter::default() };
        let elsewhere = counter.block(&skeleton.block, &[]);
        let beyond: u32 = counter.beyond.iter().map(|(_, depth)| counter.faces.saturating_pow(*depth)).sum();
        let of = |unknown: u32| Beyond {
            sums: counter.beyond.iter().filter(|(of, _)| *of == unknown).map(|(_, depth)| *depth).collect(),
            offsets: counter.offsets.iter().filter(|(of, _)| *of == unknown).map(|(_, by)| *by).collect(),
        };
        let of_first = of(0);
        let alike = (0..form.unknowns).all(|unknown| counter.own.contains(&unknown) && of(unknown) == of_first);
        reach = alike.then_some(of_first);
        // Maps of sides make columns equal, or others of the same number.
        let beyond = beyond + counter.offsets.len() as u32;
        Row { entries: counter.own.len() as u32 + beyond, additions: counter.here.len() as u32 + elsewhere.div_ceil(2) }
    });
    (rows, reach)
}

#[derive(Default)]
struct Counter {
    faces: u32,
    paths: OffsetPaths,
    /// Unknowns of which a row has that of its own element.
    own: BTreeSet<u32>,
    /// Unknowns of which a row has those beyond faces, and how many sums deep.
    beyond: BTreeSet<(u32, u32)>,
    /// Unknowns of which a row has that of the cell at an offset.
    offsets: BTreeSet<(u32, Offset)>,
    /// Unknowns to whose element here something is added: first to a variable, with one addition to
    /// the row at its end.
    here: BTreeSet<u32>,
    /// True if the outermost sum around is over the faces of the element here.
    from_here: bool,
}

impl Counter {
    /// Number of additions of a block to elements that are not known to be the current one, times
    /// two.
    fn block(&mut self, block: &KBlock, faces: &[LocalId]) -> u32 {
        let additions = block.statements.iter().map(|statement| self.statement(statement, faces));
        additions.fold(0, u32::saturating_add)
    }

    fn statement(&mut self, statement: &KStmt, faces: &[LocalId]) -> u32 {
        match statement {
            KStmt::Add { unknown, at, .. } => {
                let depth = depth(at, faces);
                self.own.insert(unknown.0);
                match self.paths.end(at) {
                    Some(by) => self.offsets.extend((by != Offset::default()).then_some((unknown.0, by))),
                    None if depth > 0 => self.beyond.extend([(unknown.0, depth)]),
                    None => {}
                }
                let times = self.faces.saturating_pow(faces.len() as u32);
                match at {
                    Path::Here => {
                        self.here.insert(unknown.0);
                        0
                    }
                    // One end of a face of the element here is that element: the first one of half
                    // of its faces.
                    Path::First(face) | Path::Second(face)
                        if self.from_here && matches!(**face, Path::Local(f) if faces.first() == Some(&f)) =>
                    {
                        self.here.insert(unknown.0);
                        times
                    }
                    _ => times.saturating_mul(2),
                }
            }
            KStmt::ReduceFaces { cell, face, body, .. } => {
                if faces.is_empty() {
                    self.from_here = *cell == Path::Here;
                }
                let inner: Vec<LocalId> = faces.iter().copied().chain([*face]).collect();
                self.block(body, &inner)
            }
            KStmt::ReduceSides { low, high, .. } => {
                // Each side stands for half of the faces.
                let interior = [low, high].into_iter().filter_map(|side| side.interior.as_ref());
                interior.fold(0, |sum: u32, body| sum.saturating_add(self.block(body, faces)))
            }
            // The grid decides the choices that are left: one branch for each face.
            KStmt::If { then, otherwise, .. } => self.block(then, faces).max(self.block(otherwise, faces)),
            KStmt::Let { .. } | KStmt::LetEntity { .. } => 0,
        }
    }
}

/// In how many sums the entity stands that a path begins at.
fn depth(path: &Path, faces: &[LocalId]) -> u32 {
    match path {
        Path::Here | Path::Empty | Path::SideFace(_) => 0,
        Path::Shift { .. } => 1,
        // An entity of a sum that is no face of it was named in the innermost.
        Path::Local(local) => faces.iter().position(|face| face == local).map_or(faces.len(), |i| i + 1) as u32,
        Path::First(at) | Path::Second(at) | Path::Through { at, .. } | Path::Offset { from: at, .. } => depth(at, faces).max(1),
        Path::Select { if_true, if_false, .. } => depth(if_true, faces).max(depth(if_false, faces)),
    }
}
