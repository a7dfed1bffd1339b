//! Linear systems of Newton's method.

use std::collections::BTreeSet;

use crate::backend::stencil::Skeleton;
use crate::ir::{Block, Equation, Function, KBlock, KStmt, LocalId, Module, Op, Path, StmtKind};
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
    /// Additions that make a row of each equation, with the slots that they go to; 0 where derivatives are followed operation by operation.
    pub additions: Vec<[u32; 3]>,
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
                let rows: Vec<[Row; 3]> = match equations.is_empty() {
                    false => equations.iter().map(|equation| rows(module, equation)).collect(),
                    // A cell and those beyond its faces, for each unknown.
                    true => guesses
                        .iter()
                        .map(|_| [1, 2, 3].map(|dim| Row { entries: (1 + 2 * dim) * guesses.len() as u32, additions: 0 }))
                        .collect(),
                };
                found.push(SolveNeeds {
                    line,
                    unknowns: sets,
                    entries: rows.iter().map(|row| row.each_ref().map(|row| row.entries)).collect(),
                    additions: rows.iter().map(|row| row.each_ref().map(|row| row.additions)).collect(),
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

fn rows(module: &Module, equation: &Equation) -> [Row; 3] {
    let kernel = &module.kernels[equation.kernel.0 as usize];
    let Some(form) = &kernel.jacobian else { return [Row { entries: 0, additions: 0 }; 3] };
    let skeleton = Skeleton::of(form);
    [1, 2, 3].map(|dim| {
        let mut counter = Counter { faces: 2 * dim, own: BTreeSet::new(), beyond: BTreeSet::new(), additions: 0 };
        counter.block(&skeleton.block, &[]);
        let beyond: u32 = counter.beyond.iter().map(|(_, depth)| counter.faces.saturating_pow(*depth)).sum();
        Row { entries: counter.own.len() as u32 + beyond, additions: counter.additions }
    })
}

struct Counter {
    faces: u32,
    /// Unknowns of which a row has that of its own element.
    own: BTreeSet<u32>,
    /// Unknowns of which a row has those beyond faces, and how many sums deep.
    beyond: BTreeSet<(u32, u32)>,
    additions: u32,
}

impl Counter {
    fn block(&mut self, block: &KBlock, faces: &[LocalId]) {
        for statement in &block.statements {
            match statement {
                KStmt::Add { unknown, at, .. } => {
                    let depth = depth(at, faces);
                    self.additions = self.additions.saturating_add(self.faces.saturating_pow(faces.len() as u32));
                    self.own.insert(unknown.0);
                    if depth > 0 {
                        self.beyond.insert((unknown.0, depth));
                    }
                }
                KStmt::SumFaces { face, body, .. } => {
                    let inner: Vec<LocalId> = faces.iter().copied().chain([*face]).collect();
                    self.block(body, &inner);
                }
                KStmt::SumSides { low, high, .. } => {
                    for side in [low, high] {
                        // Each side stands for half of the faces.
                        side.interior.iter().for_each(|body| self.block(body, faces));
                    }
                }
                KStmt::If { then, otherwise, .. } => {
                    self.block(then, faces);
                    self.block(otherwise, faces);
                }
                KStmt::Let { .. } | KStmt::LetEntity { .. } => {}
            }
        }
    }
}

/// In how many sums the entity stands that a path begins at.
fn depth(path: &Path, faces: &[LocalId]) -> u32 {
    match path {
        Path::Here | Path::Empty | Path::SideFace(_) => 0,
        Path::Neighbour(_) => 1,
        // An entity of a sum that is no face of it was named in the innermost.
        Path::Local(local) => faces.iter().position(|face| face == local).map_or(faces.len(), |i| i + 1) as u32,
        Path::First(at) | Path::Second(at) | Path::Through { at, .. } => depth(at, faces).max(1),
        Path::Select { if_true, if_false, .. } => depth(if_true, faces).max(depth(if_false, faces)),
    }
}
