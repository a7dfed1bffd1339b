//! Launches over the same elements become one kernel with several results.
//!
//! Fusion makes a kernel for each value that is kept. Those over the same set read the same data
//! and often repeat each other's work: here the launches between two effects are put into an order
//! that brings them together, and each group becomes one kernel. A value that only members of the
//! group read, each at its own element, is no longer kept in memory.
//!
//! The store of a mutable is an effect that nothing sees before the next output, loop or read of
//! that mutable: it waits until then. So updates that stand in a row, each computed from the values
//! before all of them, are one kernel. What a round takes as its step waits like a store, so that
//! the step and what single values are computed from it are one kernel too.
//!
//! The largest or smallest of values that a group makes is taken by the kernel of the group.
//!
//! Operations that may fail at run time keep their order, so that the first of two errors is the
//! one that the text has first.
//!
//! Inside a merged body, sums over the same faces become one sum, choices by the same condition one
//! choice, and equal definitions one definition; otherwise every operation stays as it was, so that
//! no bit changes.

use std::collections::{BTreeMap, BTreeSet};

use super::analysis::Defs;
use super::combine::{combine, widen_sums};
use super::locals::{copy_local, drop_unused_locals};
use super::rewrite::{NodeMut, rewrite_block};
use super::schedule::{Candidate, Scheduled, schedule};
use crate::backend::inside::InsideForms;
use crate::backend::visit::{Node, visit_block};
use crate::cost::Extremes;
use crate::ir::{
    Block, COMPUTE, CartesianForm, Function, KBlock, KExpr, KResult, KStmt, Kernel, KernelId, Local, LocalId, Module, MutableId, Op,
    ParamId, Path, Space, Stmt, StmtKind, ValueId, reads_by_index, sums_over_faces,
};
use crate::lower::UniqueNames;
use crate::ops::Reduction;
use crate::types::{Basic, SetTable, Type};

/// Merges the launches of every function.
pub(super) fn run(module: &mut Module, extremes: Extremes) {
    let mut kernels = std::mem::take(&mut module.kernels);
    let mut names = UniqueNames::default();
    for kernel in &kernels {
        names.unique(&kernel.name);
    }
    for function in module.functions.iter_mut().chain([&mut module.main]) {
        let mut uses = BTreeMap::new();
        count_uses(&function.body, &mut uses);
        let body = std::mem::take(&mut function.body);
        let mut defs = Defs::default();
        defs.add(&body.statements);
        let mut merger =
            Merger { kernels: &mut kernels, names: &mut names, uses, function, sets: &module.sets, defs, extremes, by_index: false };
        let body = merger.block(body);
        function.body = body;
    }
    module.kernels = kernels;
    drop_unlaunched(module);
    for kernel in module.kernels.iter_mut().filter(|kernel| reduces_alone(kernel)) {
        kernel.cartesian = None;
        drop_unused_locals(kernel);
    }
}

/// True if a kernel gives nothing but reductions: on every grid it goes from leaf to leaf.
fn reduces_alone(kernel: &Kernel) -> bool {
    !kernel.results.is_empty() && kernel.results.iter().all(|result| result.reduce.is_some())
}

/// Kernels that nothing launches any more.
fn drop_unlaunched(module: &mut Module) {
    let mut launched = BTreeSet::new();
    for function in module.functions.iter().chain([&module.main]) {
        note_launches(&function.body, &mut launched);
    }
    let mut number = BTreeMap::new();
    let kernels = std::mem::take(&mut module.kernels);
    for (i, kernel) in kernels.into_iter().enumerate() {
        let id = KernelId(i as u32);
        if launched.contains(&id) {
            number.insert(id, KernelId(module.kernels.len() as u32));
            module.kernels.push(kernel);
        }
    }
    for function in module.functions.iter_mut().chain([&mut module.main]) {
        renumber(&mut function.body, &number);
    }
}

fn note_launches(block: &Block, launched: &mut BTreeSet<KernelId>) {
    for statement in &block.statements {
        match &statement.kind {
            StmtKind::Launch { kernel, .. } => {
                launched.insert(*kernel);
            }
            StmtKind::Let { op: Op::Newton { equations, .. }, .. } => launched.extend(equations.iter().map(|e| e.kernel)),
            StmtKind::For { body, .. } => note_launches(body, launched),
            StmtKind::Let { .. } | StmtKind::Store { .. } | StmtKind::Output { .. } | StmtKind::Return(_) => {}
        }
    }
}

fn renumber(block: &mut Block, number: &BTreeMap<KernelId, KernelId>) {
    let new = |kernel: &mut KernelId| {
        if let Some(&id) = number.get(kernel) {
            *kernel = id;
        }
    };
    for statement in &mut block.statements {
        match &mut statement.kind {
            StmtKind::Launch { kernel, .. } => new(kernel),
            StmtKind::Let { op: Op::Newton { equations, .. }, .. } => equations.iter_mut().for_each(|e| new(&mut e.kernel)),
            StmtKind::For { body, .. } => renumber(body, number),
            StmtKind::Let { .. } | StmtKind::Store { .. } | StmtKind::Output { .. } | StmtKind::Return(_) => {}
        }
    }
}

fn count_uses(block: &Block, uses: &mut BTreeMap<ValueId, u32>) {
    for statement in &block.statements {
        for value in statement.reads() {
            *uses.entry(value).or_default() += 1;
        }
        if let StmtKind::For { body, .. } = &statement.kind {
            count_uses(body, uses);
        }
    }
}

/// Properties that the launches of a group share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    space: Space,
    form: Form,
}

/// Cartesian form of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Form {
    General,
    /// General, with sums over faces and a form for cells inside Cartesian grids, which one of
    /// other kernels may refuse.
    Inside,
    Full,
    PerAxis,
}

/// True if a kernel follows a path that may lead to no entity.
fn follows_entities(kernel: &Kernel) -> bool {
    let mut follows = false;
    for body in bodies(kernel) {
        visit_block(body, &mut |node| follows |= matches!(node, Node::Path(Path::First(_) | Path::Second(_) | Path::Through { .. })));
    }
    follows
}

/// Statements without effects, and stores and steps, which wait for the end of the segment.
#[derive(Default)]
struct Segment {
    statements: Vec<Stmt>,
    effects: Vec<(Effect, Stmt)>,
    /// Mutables with a store among the effects.
    stored: BTreeSet<MutableId>,
    /// True if a step is among the effects.
    has_step: bool,
}

/// Effect that waits for the end of a segment.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Effect {
    Store(MutableId),
    /// It may be an error, so nothing that may be one is beside it in a segment.
    Step,
}

struct Merger<'a> {
    kernels: &'a mut Vec<Kernel>,
    names: &'a mut UniqueNames,
    uses: BTreeMap<ValueId, u32>,
    function: &'a Function,
    sets: &'a SetTable,
    defs: Defs,
    extremes: Extremes,
    /// True if a kernel of the current segment reads by index.
    by_index: bool,
}

impl Merger<'_> {
    fn block(&mut self, block: Block) -> Block {
        let mut out = Vec::with_capacity(block.statements.len());
        let mut segment = Segment::default();
        for statement in block.statements {
            if segment.has_step && self.may_fail(&statement) {
                self.flush(&mut segment, &mut out);
            }
            match statement.kind {
                StmtKind::Launch { .. } => segment.statements.push(statement),
                StmtKind::Let { op: Op::Load(mutable), .. } => {
                    if segment.stored.contains(&mutable) {
                        self.flush(&mut segment, &mut out);
                    }
                    segment.statements.push(statement);
                }
                StmtKind::Let { ref op, .. } if op.class().is_pure() => segment.statements.push(statement),
                StmtKind::Let { ref results, op: Op::Step(_) } if results.iter().all(|result| !self.uses.contains_key(result)) => {
                    if segment.statements.iter().any(|before| self.may_fail(before)) {
                        self.flush(&mut segment, &mut out);
                    }
                    segment.has_step = true;
                    segment.effects.push((Effect::Step, statement));
                }
                StmtKind::Store { mutable, .. } => {
                    segment.stored.insert(mutable);
                    segment.effects.push((Effect::Store(mutable), statement));
                }
                StmtKind::For { rounds, body } => {
                    self.flush(&mut segment, &mut out);
                    let body = self.block(body);
                    out.push(Stmt { kind: StmtKind::For { rounds, body }, span: statement.span });
                }
                StmtKind::Let { .. } | StmtKind::Output { .. } | StmtKind::Return(_) => {
                    self.flush(&mut segment, &mut out);
                    out.push(statement);
                }
            }
        }
        self.flush(&mut segment, &mut out);
        Block { statements: out }
    }

    /// Writes a segment and the effects that waited for its end: in their order, each as soon as
    /// its value is there and what the mutable held before has been read.
    fn flush(&mut self, segment: &mut Segment, out: &mut Vec<Stmt>) {
        let Segment { statements, effects, .. } = std::mem::take(segment);
        let mut ordered = Vec::with_capacity(statements.len());
        self.segment(statements, &mut ordered);
        // One after the last statement that makes a value, or loads a mutable.
        let (mut after_value, mut after_load) = (BTreeMap::new(), BTreeMap::new());
        for (at, statement) in ordered.iter().enumerate() {
            after_value.extend(statement.defines().iter().map(|&value| (value, at + 1)));
            if let StmtKind::Let { op: Op::Load(mutable), .. } = &statement.kind {
                after_load.insert(*mutable, at + 1);
            }
        }
        let mut ordered = ordered.into_iter();
        let mut written = 0;
        for (effect, store) in effects {
            let loaded = match effect {
                Effect::Store(mutable) => after_load.get(&mutable),
                Effect::Step => None,
            };
            let reads = store.reads();
            let at = reads.iter().filter_map(|value| after_value.get(value)).chain(loaded).copied().max().unwrap_or(0);
            out.extend(ordered.by_ref().take(at.saturating_sub(written)));
            written = written.max(at);
            out.push(store);
        }
        out.extend(ordered);
    }

    /// Orders statements without effects and merges launches.
    fn segment(&mut self, statements: Vec<Stmt>, out: &mut Vec<Stmt>) {
        self.by_index = statements.iter().any(|s| self.launched(s).is_some_and(reads_by_index));
        let candidates = statements.into_iter().map(|statement| self.candidate(statement)).collect();
        for scheduled in schedule(candidates) {
            match scheduled {
                Scheduled::One(statement) => out.push(statement),
                Scheduled::Group(key, group) => out.extend(self.merge(key, group)),
            }
        }
    }

    fn candidate(&self, statement: Stmt) -> Candidate<Key> {
        let kernel = self.launched(&statement);
        let args: &[ValueId] = if let StmtKind::Launch { args, .. } = &statement.kind { args } else { &[] };
        let elsewhere = kernel.map_or_else(BTreeSet::new, |kernel| read_elsewhere(kernel, args));
        Candidate {
            key: self.key(&statement),
            extreme_key: self.extreme_key(&statement),
            may_fail: self.may_fail(&statement),
            makes_elements: !kernel.is_some_and(reduces_alone),
            // Such a kernel relies on every check before it: it shares no value with the check.
            follows_entities: kernel.is_some_and(follows_entities),
            checks: kernel.is_some() && statement.defines().is_empty(),
            elsewhere,
            statement,
        }
    }

    /// True if a statement without effects may be an error.
    fn may_fail(&self, statement: &Stmt) -> bool {
        match &statement.kind {
            StmtKind::Let { op, .. } => self.defs.may_fail(self.function, self.sets, op),
            StmtKind::Launch { kernel, .. } => self.kernels[kernel.0 as usize].may_fail(self.sets),
            StmtKind::Store { .. } | StmtKind::Output { .. } | StmtKind::For { .. } | StmtKind::Return(_) => false,
        }
    }

    fn launched(&self, statement: &Stmt) -> Option<&Kernel> {
        let StmtKind::Launch { kernel, .. } = &statement.kind else { return None };
        self.kernels.get(kernel.0 as usize)
    }

    /// Returns the key of the group that a launch may be merged with, if it may be merged.
    fn key(&self, statement: &Stmt) -> Option<Key> {
        let kernel = self.launched(statement)?;
        let plain = kernel.checks.is_empty() && kernel.jacobian.is_none() && kernel.results.iter().all(|r| r.reduce.is_none());
        plain.then(|| self.key_of(kernel))
    }

    /// Returns the key of the group that a launch of extremes may join, if it makes their operands.
    fn extreme_key(&self, statement: &Stmt) -> Option<Key> {
        let kernel = self.launched(statement)?;
        let is_extreme = |r: &KResult| r.ty.basic == Basic::Scalar && r.reduce.is_some_and(Reduction::is_extreme);
        // Kernels that read by index write over what they read, and take no extremes.
        // Values taken as they are stored are read once in either kernel.
        let is_computed = !kernel.body.statements.is_empty() || !matches!(kernel.body.yields[..], [KExpr::Load { at: Path::Here, .. }]);
        let may_join = self.extremes == Extremes::OnTheWay
            && is_computed
            && !self.by_index
            && !kernel.may_fail(self.sets)
            && kernel.results.iter().all(is_extreme);
        may_join.then(|| self.key_of(kernel))
    }

    fn key_of(&self, kernel: &Kernel) -> Key {
        let form = match &kernel.cartesian {
            None if sums_over_faces(kernel) && InsideForms::of(kernel, self.sets).is_some() => Form::Inside,
            None => Form::General,
            // Kernels that read by index have one form, for Cartesian grids alone.
            Some(CartesianForm::Full(block)) if self.by_index && *block == kernel.body => Form::General,
            Some(CartesianForm::Full(_)) => Form::Full,
            Some(CartesianForm::PerAxis(_)) => Form::PerAxis,
        };
        Key { space: kernel.space, form }
    }

    /// One launch for a group; none if nobody reads what it makes.
    fn merge(&mut self, key: Key, group: Vec<Stmt>) -> Option<Stmt> {
        let kept_form = |s: &Stmt| self.launched(s).is_some_and(|kernel| matches!(kernel.cartesian, Some(CartesianForm::Full(_))));
        let key = if group.iter().all(kept_form) { Key { form: Form::Full, ..key } } else { key };
        let mut merged = Merged::new(key);
        let mut inside: BTreeMap<ValueId, u32> = BTreeMap::new();
        for statement in &group {
            for value in statement.reads() {
                *inside.entry(value).or_default() += 1;
            }
        }
        for statement in &group {
            if let StmtKind::Launch { kernel, args, results } = &statement.kind {
                merged.add(&self.kernels[kernel.0 as usize], args, results);
            }
        }
        let kept = |v: &ValueId| self.uses.get(v).copied().unwrap_or(0) > inside.get(v).copied().unwrap_or(0);
        let span = group.last().map(|s| s.span).unwrap_or_default();
        if !merged.made.iter().any(|(value, ..)| kept(value)) {
            return None;
        }
        let (kernel, args, results) = merged.finish(&kept, self.names, self.sets);
        let id = KernelId(self.kernels.len() as u32);
        self.kernels.push(kernel);
        Some(Stmt { kind: StmtKind::Launch { kernel: id, args, results }, span })
    }
}

fn bodies(kernel: &Kernel) -> impl Iterator<Item = &KBlock> {
    let cartesian = match &kernel.cartesian {
        Some(CartesianForm::Full(block) | CartesianForm::PerAxis(block)) => Some(block),
        None => None,
    };
    std::iter::once(&kernel.body).chain(cartesian)
}

/// Arguments that a kernel reads at other elements than its own.
fn read_elsewhere(kernel: &Kernel, args: &[ValueId]) -> BTreeSet<ValueId> {
    let mut found = BTreeSet::new();
    for body in bodies(kernel) {
        visit_block(body, &mut |node| match node {
            Node::Expr(KExpr::Load { param, at }) if *at != Path::Here => found.extend(args.get(param.0 as usize)),
            Node::Path(Path::Through { param, at }) if **at != Path::Here => found.extend(args.get(param.0 as usize)),
            Node::Stmt(_) | Node::Expr(_) | Node::Path(_) => {}
        });
    }
    found
}

/// Replacement of a member's parameter.
#[derive(Clone, Copy)]
enum Source {
    Param(ParamId),
    Local(LocalId),
}

/// A kernel being made of several.
struct Merged {
    kernel: Kernel,
    args: Vec<ValueId>,
    /// Local that holds each value made so far, in the order of the members.
    made: Vec<(ValueId, LocalId, KResult)>,
    names: UniqueNames,
}

impl Merged {
    /// Nothing yet, over this space and of this form.
    fn new(key: Key) -> Merged {
        let kernel = Kernel {
            name: String::new(),
            space: key.space,
            params: Vec::new(),
            locals: Vec::new(),
            body: KBlock::default(),
            cartesian: match key.form {
                Form::General | Form::Inside => None,
                Form::Full => Some(CartesianForm::Full(KBlock::default())),
                Form::PerAxis => Some(CartesianForm::PerAxis(KBlock::default())),
            },
            jacobian: None,
            results: Vec::new(),
            checks: Vec::new(),
            spans: Vec::new(),
        };
        Merged { kernel, args: Vec::new(), made: Vec::new(), names: UniqueNames::default() }
    }

    fn add(&mut self, member: &Kernel, args: &[ValueId], results: &[ValueId]) {
        let kernel = &mut self.kernel;
        let mut sources = Vec::with_capacity(args.len());
        for (param, arg) in member.params.iter().zip(args) {
            if let Some((_, local, _)) = self.made.iter().find(|(value, ..)| value == arg) {
                sources.push(Source::Local(*local));
                continue;
            }
            let position = self.args.iter().position(|a| a == arg).unwrap_or_else(|| {
                let name = self.names.unique(&param.name);
                kernel.params.push(crate::ir::Param { name, ..param.clone() });
                self.args.push(*arg);
                self.args.len() - 1
            });
            kernel.params[position].per_axis |= param.per_axis;
            sources.push(Source::Param(ParamId(position as u32)));
        }
        let first = kernel.locals.len() as u32;
        for local in &member.locals {
            let name = self.names.unique(&local.name);
            kernel.locals.push(Local { name, ty: local.ty });
        }
        let mut holders = Vec::with_capacity(results.len());
        for (result, value) in member.results.iter().zip(results) {
            let id = LocalId(kernel.locals.len() as u32);
            let ty = match result.ty.entity_kind() {
                // That a choice keeps to a set may be known to the program alone.
                Some(_) => Type { shape: crate::types::Shape::Single, within: None, ..result.ty },
                None => Type::single(result.ty.basic),
            };
            kernel.locals.push(Local { name: self.names.unique(&result.name), ty });
            holders.push(id);
            self.made.push((*value, id, result.clone()));
        }
        let place = |block: &KBlock, into: &mut KBlock| {
            let mut block = block.clone();
            rewrite_block(&mut block, &mut |node| rename(node, first, &sources));
            into.statements.append(&mut block.statements);
            for (&local, value) in holders.iter().zip(block.yields) {
                into.statements.push(match value {
                    KExpr::Entity(path) => KStmt::LetEntity { local, path },
                    value => KStmt::Let { local, value },
                });
            }
        };
        place(&member.body, &mut kernel.body);
        match (&member.cartesian, &mut kernel.cartesian) {
            (Some(CartesianForm::Full(from)), Some(CartesianForm::Full(into)))
            | (Some(CartesianForm::PerAxis(from)), Some(CartesianForm::PerAxis(into))) => place(from, into),
            (_, _) => {}
        }
        for span in &member.spans {
            if !kernel.spans.contains(span) {
                kernel.spans.push(*span);
            }
        }
    }

    /// The kernel, what to pass to it, and the values that it gives.
    fn finish(self, kept: &dyn Fn(&ValueId) -> bool, names: &mut UniqueNames, sets: &SetTable) -> (Kernel, Vec<ValueId>, Vec<ValueId>) {
        let Merged { mut kernel, args, made, names: mut own_names } = self;
        let mut results = Vec::new();
        let mut yields = Vec::new();
        let mut used = UniqueNames::default();
        for param in &kernel.params {
            used.unique(&param.name);
        }
        for (value, local, result) in &made {
            if kept(value) {
                yields.push(match result.ty.entity_kind() {
                    Some(_) => KExpr::Entity(Path::Local(*local)),
                    None => KExpr::Local(*local),
                });
                kernel.results.push(KResult { name: used.unique(&result.name), ..result.clone() });
                results.push(*value);
            }
        }
        kernel.body.yields.clone_from(&yields);
        widen_sums(&mut kernel.body, sets, &mut kernel.locals, &mut own_names);
        let Kernel { locals, body, cartesian, .. } = &mut kernel;
        let mut copy = |local| copy_local(locals, &mut own_names, local);
        combine(body, &mut copy);
        if let Some(CartesianForm::Full(block) | CartesianForm::PerAxis(block)) = cartesian {
            block.yields = yields;
            combine(block, &mut copy);
        }
        if reduces_alone(&kernel) {
            kernel.cartesian = None;
        }
        drop_unused_locals(&mut kernel);
        kernel.spans.sort_by_key(|s| s.end - s.start);
        let first = kernel.results.first().map_or("values", |r| r.name.as_str());
        let name = match kernel.results.as_slice() {
            [_] | [] => format!("{COMPUTE}{first}"),
            [a, b] => format!("{COMPUTE}{}_and_{}", a.name, b.name),
            [_, rest @ ..] => format!("{COMPUTE}{first}_and_{}_more", rest.len()),
        };
        kernel.name = names.unique(&name);
        (kernel, args, results)
    }
}

fn rename(node: NodeMut<'_>, first: u32, sources: &[Source]) {
    let new = |id: LocalId| LocalId(id.0 + first);
    match node {
        NodeMut::Assigned(id) => *id = new(*id),
        NodeMut::Expr(expr) => match expr {
            KExpr::Local(id) => *id = new(*id),
            KExpr::Interpolate { table: id, .. } => {
                if let Some(Source::Param(param)) = sources.get(id.0 as usize) {
                    *id = *param;
                }
            }
            KExpr::Param(id) => match sources.get(id.0 as usize) {
                Some(Source::Param(param)) => *id = *param,
                Some(Source::Local(local)) => *expr = KExpr::Local(*local),
                None => {}
            },
            KExpr::Load { param, .. } => match sources.get(param.0 as usize) {
                Some(Source::Param(id)) => *param = *id,
                Some(Source::Local(local)) => *expr = KExpr::Local(*local),
                None => {}
            },
            _ => {}
        },
        NodeMut::Path(path) => match path {
            Path::Local(id) => *id = new(*id),
            Path::Through { param, .. } => match sources.get(param.0 as usize) {
                Some(Source::Param(id)) => *param = *id,
                Some(Source::Local(local)) => *path = Path::Local(*local),
                None => {}
            },
            _ => {}
        },
    }
}
