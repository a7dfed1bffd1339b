//! Checkpoints of a program: what a run needs to go on after a round of a loop, and what it leaves
//! out where it goes on.
//!
//! The loops of the main program's body are numbered from 1. A checkpoint is taken at the end of a
//! round. A restart evaluates again what inputs and the grid determine: all that comes before the
//! first loop, and later statements that do not depend on state. It skips the other statements
//! before the loop it goes on in: they could fail on initial values, and their outputs exist. What
//! they define for later is in the checkpoint, with the variables that the loops have changed.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use crate::ir::{Block, Function, Module, MutableId, Op, Stmt, StmtKind, ValueId};
use crate::memory::lifetime::groups;
use crate::state;
use crate::types::Type;

/// Checkpoints of a program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Checkpoints {
    /// The loops of the main program's body, in order.
    pub loops: Vec<CheckpointLoop>,
    /// Statements that a restart in a later loop leaves out, in order.
    pub skipped: Vec<Skipped>,
}

/// A loop after whose rounds there may be checkpoints.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckpointLoop {
    /// Its number among the loops of the main program's body, from 1.
    pub number: u32,
    /// Its position in the main program's body.
    pub statement: usize,
    /// Content of a checkpoint: variables in the order of their numbers, then values as they are
    /// defined.
    pub content: Vec<Saved>,
}

/// A part of a checkpoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Saved {
    /// Its name, which no other variable or value of the program's checkpoints has.
    pub name: String,
    /// Its kind.
    pub what: SavedKind,
}

/// Kinds of parts of a checkpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SavedKind {
    /// A variable.
    Mutable(MutableId),
    /// A value that a skipped statement defines.
    Value(ValueId),
}

/// Statements, one after another, that a restart leaves out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skipped {
    /// Their positions in the main program's body.
    pub statements: Range<usize>,
    /// They are left out where a run goes on in the loop of this number or a later one.
    pub before: u32,
    /// Variables that get their first value here and are needed afterwards.
    pub mutables: Vec<MutableId>,
    /// Values that are defined here and read afterwards, in the order of their definitions.
    pub values: Vec<ValueId>,
}

/// The checkpoints of a module.
pub fn checkpoints(module: &Module) -> Checkpoints {
    let main = &module.main;
    let statements = &main.body.statements;
    let is_loop = |statement: &Stmt| matches!(statement.kind, StmtKind::For { .. });
    let loops: Vec<usize> = (0..statements.len()).filter(|&index| is_loop(&statements[index])).collect();
    let (Some(&first), Some(&last)) = (loops.first(), loops.last()) else { return Checkpoints::default() };
    let state = State::between(main, &groups(statements, !module.source.text().is_empty()), first, last);
    let mut skipped: Vec<Skipped> = Vec::new();
    for group in &state.groups {
        let before = 1 + loops.iter().filter(|&&position| position <= group.start).count() as u32;
        match skipped.last_mut() {
            Some(run) if run.statements.end == group.start && run.before == before => run.statements.end = group.end,
            Some(_) | None => skipped.push(Skipped { statements: group.clone(), before, mutables: Vec::new(), values: Vec::new() }),
        }
    }
    let checked: BTreeSet<MutableId> = state::at_end(main).iter().map(|checked| checked.mutable).collect();
    for run in &mut skipped {
        let (inside, after) = (&statements[run.statements.clone()], &statements[run.statements.end..]);
        let before = &statements[..run.statements.start];
        let needed = |mutable: &MutableId| checked.contains(mutable) || after.iter().any(|statement| mentions(statement, *mutable));
        let assigned: BTreeSet<MutableId> = before.iter().filter_map(stored_outside_loops).collect();
        let own = inside.iter().filter_map(stored_outside_loops).collect::<BTreeSet<_>>();
        run.mutables = own.into_iter().filter(|mutable| !assigned.contains(mutable) && needed(mutable)).collect();
        let read: BTreeSet<ValueId> = after.iter().flat_map(reads).collect();
        let defined = inside.iter().flat_map(Stmt::defines).copied();
        run.values = defined.filter(|value| read.contains(value) && type_of(main, *value) != Type::TEXT).collect();
    }
    let content = |position: usize| -> Vec<SavedKind> {
        let variables = state.mutables.iter().copied().filter(|&mutable| is_saved(main, &state, &skipped, position, mutable));
        let values = skipped.iter().filter(|run| run.statements.end <= position).flat_map(|run| run.values.iter().copied());
        variables.map(SavedKind::Mutable).chain(values.map(SavedKind::Value)).collect()
    };
    let contents: Vec<Vec<SavedKind>> = loops.iter().map(|&position| content(position)).collect();
    let names = names(main, contents.iter().flatten().copied());
    let saved = |what: SavedKind| Saved { name: names.get(&what).cloned().unwrap_or_default(), what };
    let loops = loops.iter().zip(contents).enumerate().map(|(index, (&statement, content))| CheckpointLoop {
        number: index as u32 + 1,
        statement,
        content: content.into_iter().map(saved).collect(),
    });
    Checkpoints { loops: loops.collect(), skipped }
}

impl CheckpointLoop {
    /// The variables that it has, with their names.
    pub fn variables(&self) -> impl Iterator<Item = (&str, MutableId)> {
        self.content.iter().filter_map(|saved| match saved.what {
            SavedKind::Mutable(mutable) => Some((saved.name.as_str(), mutable)),
            SavedKind::Value(_) => None,
        })
    }
}

impl Checkpoints {
    /// The loop at a position in the main program's body.
    pub fn loop_at(&self, statement: usize) -> Option<&CheckpointLoop> {
        self.loops.iter().find(|checkpoint| checkpoint.statement == statement)
    }

    /// The variables that get their values back where a loop goes on. The others of its content get
    /// them in place of the statements that are skipped.
    pub fn restored_at<'a>(&'a self, checkpoint: &'a CheckpointLoop) -> impl Iterator<Item = (&'a str, MutableId)> {
        checkpoint
            .variables()
            .filter(|(_, mutable)| !self.skipped.iter().any(|run| run.before <= checkpoint.number && run.mutables.contains(mutable)))
    }

    /// The name of a variable or value in checkpoints.
    pub fn name_of(&self, what: SavedKind) -> Option<&str> {
        let mut all = self.loops.iter().flat_map(|checkpoint| &checkpoint.content);
        all.find(|saved| saved.what == what).map(|saved| saved.name.as_str())
    }
}

/// Statements and variables that depend on state between the first and the last loop.
struct State {
    /// Groups of statements that depend on state or have effects.
    groups: Vec<Range<usize>>,
    /// Variables that loops or such statements assign.
    mutables: BTreeSet<MutableId>,
}

impl State {
    fn between(main: &Function, all: &[Range<usize>], first: usize, last: usize) -> State {
        let statements = &main.body.statements;
        let mut mutables: BTreeSet<MutableId> = BTreeSet::new();
        let mut values: BTreeSet<ValueId> = BTreeSet::new();
        for statement in statements {
            if let StmtKind::For { body, .. } = &statement.kind {
                stored_in(body, &mut mutables);
            }
        }
        let between: Vec<&Range<usize>> = all.iter().filter(|group| group.start >= first && group.end <= last).collect();
        let mut depends = vec![false; between.len()];
        // A variable may become state by a statement after another one that reads it.
        loop {
            let before = (mutables.len(), values.len());
            for (group, depends) in between.iter().zip(&mut depends) {
                let inside = &statements[(*group).clone()];
                *depends |= inside.iter().any(|statement| needs_state(statement, &mutables, &values));
                if *depends {
                    inside.iter().for_each(|statement| {
                        values.extend(statement.defines().iter().filter(|value| type_of(main, **value) != Type::TEXT));
                        mutables.extend(stored_outside_loops(statement));
                    });
                }
            }
            if before == (mutables.len(), values.len()) {
                break;
            }
        }
        let groups = between.into_iter().zip(depends).filter(|(_, depends)| *depends).map(|(group, _)| group.clone()).collect();
        State { groups, mutables }
    }
}

/// True if a statement of the main program's body after the first loop depends on state or has
/// effects: a resumed run does not repeat it.
fn needs_state(statement: &Stmt, mutables: &BTreeSet<MutableId>, values: &BTreeSet<ValueId>) -> bool {
    match &statement.kind {
        StmtKind::For { .. } | StmtKind::Output { .. } => true,
        StmtKind::Store { mutable, value } => mutables.contains(mutable) || values.contains(value),
        StmtKind::Let { op: Op::Load(mutable), .. } => mutables.contains(mutable),
        StmtKind::Let { .. } | StmtKind::Launch { .. } | StmtKind::Return(_) => {
            statement.reads().iter().any(|value| values.contains(value))
        }
    }
}

/// True if the checkpoints of a loop have a variable that is state somewhere.
fn is_saved(main: &Function, state: &State, skipped: &[Skipped], position: usize, mutable: MutableId) -> bool {
    let (before, from) = main.body.statements.split_at(position);
    let StmtKind::For { rounds, body } = &from[0].kind else { return false };
    // Without a value before it belongs to a round.
    let has_value = before.iter().filter_map(stored_outside_loops).any(|stored| stored == mutable);
    let in_groups = state.groups.iter().filter(|group| group.end <= position).flat_map(|group| &main.body.statements[group.clone()]);
    let is_changed = in_groups.chain(from.first()).any(|statement| stores(statement, mutable));
    let replaces = skipped.iter().any(|run| run.statements.end <= position && run.mutables.contains(&mutable));
    let is_read = rounds.condition() == Some(mutable)
        || is_exposed(body, mutable) == Some(true)
        || from[1..].iter().any(|statement| loads(statement, mutable));
    has_value && is_changed && (replaces || is_read)
}

/// True if a block reads a variable before it assigns it; `None` if it does neither for sure.
fn is_exposed(block: &Block, mutable: MutableId) -> Option<bool> {
    block.statements.iter().find_map(|statement| match &statement.kind {
        StmtKind::Let { op: Op::Load(loaded), .. } => (*loaded == mutable).then_some(true),
        StmtKind::Store { mutable: stored, .. } => (*stored == mutable).then_some(false),
        // A loop may have no round.
        StmtKind::For { rounds, .. } if rounds.condition() == Some(mutable) => Some(true),
        StmtKind::For { body, .. } => is_exposed(body, mutable).filter(|exposed| *exposed),
        StmtKind::Let { .. } | StmtKind::Output { .. } | StmtKind::Launch { .. } | StmtKind::Return(_) => None,
    })
}

fn type_of(function: &Function, value: ValueId) -> Type {
    function.values[value.0 as usize].ty
}

fn stored_outside_loops(statement: &Stmt) -> Option<MutableId> {
    match &statement.kind {
        StmtKind::Store { mutable, .. } => Some(*mutable),
        StmtKind::Let { .. } | StmtKind::For { .. } | StmtKind::Output { .. } | StmtKind::Launch { .. } | StmtKind::Return(_) => None,
    }
}

fn stored_in(block: &Block, found: &mut BTreeSet<MutableId>) {
    for statement in &block.statements {
        match &statement.kind {
            StmtKind::Store { mutable, .. } => {
                found.insert(*mutable);
            }
            StmtKind::For { body, .. } => stored_in(body, found),
            StmtKind::Let { .. } | StmtKind::Output { .. } | StmtKind::Launch { .. } | StmtKind::Return(_) => {}
        }
    }
}

fn stores(statement: &Stmt, mutable: MutableId) -> bool {
    match &statement.kind {
        StmtKind::Store { mutable: stored, .. } => *stored == mutable,
        StmtKind::For { body, .. } => body.statements.iter().any(|inner| stores(inner, mutable)),
        StmtKind::Let { .. } | StmtKind::Output { .. } | StmtKind::Launch { .. } | StmtKind::Return(_) => false,
    }
}

fn loads(statement: &Stmt, mutable: MutableId) -> bool {
    match &statement.kind {
        StmtKind::Let { op: Op::Load(loaded), .. } => *loaded == mutable,
        StmtKind::For { rounds, body } => rounds.condition() == Some(mutable) || body.statements.iter().any(|inner| loads(inner, mutable)),
        StmtKind::Let { .. } | StmtKind::Store { .. } | StmtKind::Output { .. } | StmtKind::Launch { .. } | StmtKind::Return(_) => false,
    }
}

fn mentions(statement: &Stmt, mutable: MutableId) -> bool {
    stores(statement, mutable) || loads(statement, mutable)
}

/// Values that a statement reads, those of a loop body included.
fn reads(statement: &Stmt) -> Vec<ValueId> {
    let mut all = statement.reads();
    if let StmtKind::For { body, .. } = &statement.kind {
        all.extend(body.statements.iter().flat_map(reads));
    }
    all
}

/// Names of the content of checkpoints: the user's, with a number where two have the same.
fn names(main: &Function, content: impl Iterator<Item = SavedKind>) -> BTreeMap<SavedKind, String> {
    let (mut variables, mut values) = (BTreeSet::new(), Vec::new());
    for what in content {
        match what {
            SavedKind::Mutable(_) => {
                variables.insert(what);
            }
            SavedKind::Value(_) if values.contains(&what) => {}
            SavedKind::Value(_) => values.push(what),
        }
    }
    let mut taken: BTreeSet<String> = BTreeSet::new();
    let mut names = BTreeMap::new();
    for what in variables.into_iter().chain(values) {
        let own = match what {
            SavedKind::Mutable(id) => main.mutables[id.0 as usize].name.as_str(),
            SavedKind::Value(id) => main.values[id.0 as usize].name.as_str(),
        };
        let own = if own.is_empty() { "value" } else { own };
        let numbered = (2..).map(|number| format!("{own}_{number}"));
        let name = std::iter::once(own.to_owned()).chain(numbered).find(|name| !taken.contains(name)).unwrap_or_default();
        taken.insert(name.clone());
        names.insert(what, name);
    }
    names
}
