//! Inlining of function calls. Residual functions of Newton solves stay functions; calls inside
//! them are inlined.

use std::collections::BTreeMap;

use super::{CallNotInlined, Notes};
use crate::ir::{Block, Function, FunctionId, Module, MutableId, Op, Rounds, Stmt, StmtKind, ValueId};

/// A function whose body would grow beyond this many statements keeps its remaining calls.
const BUDGET: usize = 50_000;

/// A function of more statements than this (with what was inlined into it) is inlined only if one
/// call stands in the whole program, or if its copies are small enough together ([`COPIES`]). A
/// chain of functions, each of which calls the one before twice, would otherwise double with every
/// link up to [`BUDGET`], and there would be as many such bodies as links.
const LARGE: usize = 1_000;

/// All copies of a large function have at most this many statements: the right side of a system of
/// equations in each stage of a step. A chain as above gets that far and begins anew.
const COPIES: usize = 10_000;

/// Inlines calls in every function, callees first.
pub(super) fn run(module: &mut Module, notes: &mut Notes) {
    let mut calls = vec![0; module.functions.len()];
    module.functions.iter().chain([&module.main]).for_each(|f| count_calls(&f.body, &mut calls));
    let mut inlinable = Vec::with_capacity(calls.len());
    for (index, calls) in calls.into_iter().enumerate() {
        let (done, rest) = module.functions.split_at_mut(index);
        inline_calls(&mut rest[0], done, &inlinable, notes);
        let statements = size(&rest[0].body);
        let is_large = calls > 1 && statements > LARGE && calls * statements > COPIES;
        inlinable.push(if is_large { Err(CallNotInlined::Large { statements, limit: LARGE.max(COPIES / calls) }) } else { Ok(()) });
    }
    inline_calls(&mut module.main, &module.functions, &inlinable, notes);
    drop_uncalled(module);
}

fn count_calls(block: &Block, calls: &mut [usize]) {
    for statement in &block.statements {
        match &statement.kind {
            StmtKind::Let { op: Op::Call { function, .. }, .. } => calls[function.0 as usize] += 1,
            StmtKind::For { body, .. } => count_calls(body, calls),
            StmtKind::Let { .. } | StmtKind::Store { .. } | StmtKind::Output { .. } | StmtKind::Launch { .. } | StmtKind::Return(_) => {}
        }
    }
}

/// Number of statements.
fn size(block: &Block) -> usize {
    let inside = |s: &Stmt| if let StmtKind::For { body, .. } = &s.kind { size(body) } else { 0 };
    block.statements.iter().map(|s| 1 + inside(s)).sum()
}

/// Removes the functions that nothing refers to any more and renumbers the rest.
pub(super) fn drop_uncalled(module: &mut Module) {
    let mut used = vec![false; module.functions.len()];
    note_callees(&module.main.body, &mut used);
    for index in (0..module.functions.len()).rev() {
        if used[index] {
            note_callees(&module.functions[index].body, &mut used);
        }
    }
    let mut numbers = Vec::with_capacity(used.len());
    let mut next = 0;
    for &used in &used {
        numbers.push(FunctionId(next));
        next += u32::from(used);
    }
    let mut keep = used.iter();
    module.functions.retain(|_| keep.next().copied().unwrap_or(true));
    for function in module.functions.iter_mut().chain([&mut module.main]) {
        renumber(&mut function.body, &numbers);
    }
}

fn note_callees(block: &Block, used: &mut [bool]) {
    for statement in &block.statements {
        match &statement.kind {
            StmtKind::Let { op: Op::Call { function, .. }, .. } => used[function.0 as usize] = true,
            StmtKind::Let { op: Op::Newton { residuals, .. }, .. } => residuals.iter().for_each(|f| used[f.0 as usize] = true),
            StmtKind::For { body, .. } => note_callees(body, used),
            StmtKind::Let { .. } | StmtKind::Store { .. } | StmtKind::Output { .. } | StmtKind::Launch { .. } | StmtKind::Return(_) => {}
        }
    }
}

fn renumber(block: &mut Block, numbers: &[FunctionId]) {
    for statement in &mut block.statements {
        match &mut statement.kind {
            StmtKind::Let { op: Op::Call { function, .. }, .. } => *function = numbers[function.0 as usize],
            StmtKind::Let { op: Op::Newton { residuals, .. }, .. } => {
                residuals.iter_mut().for_each(|f| *f = numbers[f.0 as usize]);
            }
            StmtKind::For { body, .. } => renumber(body, numbers),
            StmtKind::Let { .. } | StmtKind::Store { .. } | StmtKind::Output { .. } | StmtKind::Launch { .. } | StmtKind::Return(_) => {}
        }
    }
}

fn inline_calls(function: &mut Function, callees: &[Function], inlinable: &[Inlinable], notes: &mut Notes) {
    let body = std::mem::take(&mut function.body);
    let mut inliner = Inliner { function, callees, inlinable, notes, renamed: BTreeMap::new(), size: 0 };
    let body = inliner.block(body);
    inliner.function.body = body;
}

/// True if a function may be inlined.
type Inlinable = Result<(), CallNotInlined>;

struct Inliner<'a> {
    function: &'a mut Function,
    callees: &'a [Function],
    /// `Ok` for those that are small, or called once; else the reason against it.
    inlinable: &'a [Inlinable],
    notes: &'a mut Notes,
    /// Results of inlined calls and what they turned out to be.
    renamed: BTreeMap<ValueId, ValueId>,
    size: usize,
}

impl Inliner<'_> {
    fn block(&mut self, block: Block) -> Block {
        let mut out = Vec::with_capacity(block.statements.len());
        for statement in block.statements {
            self.statement(statement, &mut out);
        }
        Block { statements: out }
    }

    fn statement(&mut self, statement: Stmt, out: &mut Vec<Stmt>) {
        self.size += 1;
        let Stmt { kind, span } = statement;
        let kind = rename(kind, &mut |v| self.renamed.get(&v).copied().unwrap_or(v));
        match kind {
            StmtKind::Let { results, op: Op::Call { function, args } } => {
                let may = self.inlinable[function.0 as usize];
                match if self.size < BUDGET { may } else { Err(CallNotInlined::Budget { budget: BUDGET }) } {
                    Ok(()) => self.inline(&results, function.0 as usize, &args, out),
                    Err(why) => {
                        self.notes.keep_call(&self.callees[function.0 as usize].name, why);
                        out.push(Stmt { kind: StmtKind::Let { results, op: Op::Call { function, args } }, span });
                    }
                }
            }
            kind => out.push(Stmt { kind: kind.map_body(|body| self.block(body)), span }),
        }
    }

    fn inline(&mut self, results: &[ValueId], callee: usize, args: &[ValueId], out: &mut Vec<Stmt>) {
        let callee = &self.callees[callee];
        let mut copy = Copy {
            values: callee.params.iter().copied().zip(args.iter().copied()).collect(),
            mutables: BTreeMap::new(),
            into: self.function,
            from: callee,
        };
        let mut returned = Vec::new();
        for statement in &callee.body.statements {
            self.size += 1;
            if let StmtKind::Return(values) = &statement.kind {
                returned = values.iter().map(|&v| copy.value(v)).collect();
            } else {
                let copied = copy.statement(statement);
                out.push(copied);
            }
        }
        for (&result, value) in results.iter().zip(returned) {
            self.function.stand_for(value, result);
            self.renamed.insert(result, value);
        }
    }
}

/// The statements of a function for use in another, with these arguments, and what the function
/// returns.
pub(super) fn inline_body(into: &mut Function, callee: &Function, args: &[ValueId]) -> (Vec<Stmt>, Vec<ValueId>) {
    let values = callee.params.iter().copied().zip(args.iter().copied()).collect();
    let mut copy = Copy { values, mutables: BTreeMap::new(), into, from: callee };
    let (mut statements, mut returned) = (Vec::new(), Vec::new());
    for statement in &callee.body.statements {
        if let StmtKind::Return(values) = &statement.kind {
            returned = values.iter().map(|&v| copy.value(v)).collect();
        } else {
            statements.push(copy.statement(statement));
        }
    }
    (statements, returned)
}

/// Copies statements of one function into another.
struct Copy<'a> {
    values: BTreeMap<ValueId, ValueId>,
    mutables: BTreeMap<MutableId, MutableId>,
    into: &'a mut Function,
    from: &'a Function,
}

impl Copy<'_> {
    fn value(&mut self, value: ValueId) -> ValueId {
        if let Some(&known) = self.values.get(&value) {
            return known;
        }
        let id = ValueId(self.into.values.len() as u32);
        self.into.values.push(self.from.values[value.0 as usize].clone());
        self.values.insert(value, id);
        id
    }

    fn mutable(&mut self, mutable: MutableId) -> MutableId {
        if let Some(&known) = self.mutables.get(&mutable) {
            return known;
        }
        let id = MutableId(self.into.mutables.len() as u32);
        self.into.mutables.push(self.from.mutables[mutable.0 as usize].clone());
        self.mutables.insert(mutable, id);
        id
    }

    fn statement(&mut self, statement: &Stmt) -> Stmt {
        let kind = match &statement.kind {
            StmtKind::Let { results, op: Op::Load(mutable) } => {
                let op = Op::Load(self.mutable(*mutable));
                StmtKind::Let { results: results.iter().map(|&v| self.value(v)).collect(), op }
            }
            StmtKind::Store { mutable, value } => {
                let value = self.value(*value);
                StmtKind::Store { mutable: self.mutable(*mutable), value }
            }
            StmtKind::For { rounds, body } => {
                let rounds = match *rounds {
                    Rounds::Sequence { sequence, element } => {
                        Rounds::Sequence { sequence: self.value(sequence), element: self.value(element) }
                    }
                    Rounds::Range { from, below, element } => {
                        Rounds::Range { from: self.value(from), below: self.value(below), element: self.value(element) }
                    }
                    Rounds::While(condition) => Rounds::While(self.mutable(condition)),
                };
                let statements = body.statements.iter().map(|s| self.statement(s)).collect();
                StmtKind::For { rounds, body: Block { statements } }
            }
            kind @ (StmtKind::Let { .. } | StmtKind::Output { .. } | StmtKind::Launch { .. } | StmtKind::Return(_)) => {
                rename_all(kind.clone(), &mut |v| self.value(v))
            }
        };
        Stmt { kind, span: statement.span }
    }
}

/// Renames the values a statement reads; not those it defines, not the bodies of loops.
pub(super) fn rename(kind: StmtKind, f: &mut dyn FnMut(ValueId) -> ValueId) -> StmtKind {
    match kind {
        StmtKind::Let { results, op } => StmtKind::Let { results, op: op.map_operands(f) },
        StmtKind::Store { mutable, value } => StmtKind::Store { mutable, value: f(value) },
        StmtKind::Output { tag, value } => StmtKind::Output { tag: f(tag), value: f(value) },
        StmtKind::For { rounds, body } => StmtKind::For { rounds: rounds.map_operands(f), body },
        StmtKind::Launch { kernel, args, results } => StmtKind::Launch { kernel, args: args.into_iter().map(f).collect(), results },
        StmtKind::Return(values) => StmtKind::Return(values.into_iter().map(f).collect()),
    }
}

/// Renames the values a statement reads and those it defines (not the bodies of loops).
fn rename_all(kind: StmtKind, f: &mut dyn FnMut(ValueId) -> ValueId) -> StmtKind {
    match rename(kind, f) {
        StmtKind::Let { results, op } => StmtKind::Let { results: results.into_iter().map(f).collect(), op },
        StmtKind::Launch { kernel, args, results } => StmtKind::Launch { kernel, args, results: results.into_iter().map(f).collect() },
        kind @ (StmtKind::Store { .. } | StmtKind::Output { .. } | StmtKind::For { .. } | StmtKind::Return(_)) => kind,
    }
}
