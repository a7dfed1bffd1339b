//! Blocks: statements of one Equelle statement as a group.

use std::collections::BTreeMap;
use std::ops::Range;

use equelle_front::backend::BackendError;
use equelle_front::checkpoint::CheckpointLoop;
use equelle_front::ir::{Block, MutableId, Op, Rounds, Stmt, StmtKind, ValueId};
use equelle_front::source::Span;
use equelle_front::state::{self, Checked};
use equelle_front::time_steps::{self, TimeLoop};
use equelle_front::types::{Basic, Shape};
use proc_macro2::{Ident, Literal, TokenStream, TokenTree};
use quote::quote;

use super::super::rust::{blank, ident};
use super::bindings::Binding;
use super::function::FunctionWriter;
use equelle_front::memory::geometry::GeometryArray;
use equelle_front::memory::lifetime::last_reads;

/// The end of a round of a loop.
#[derive(Default)]
struct Round<'a> {
    /// State that is checked now and then.
    checked: Vec<Checked>,
    checkpoint: Option<&'a CheckpointLoop>,
}

impl<'a> FunctionWriter<'a> {
    /// The statements of a block.
    pub(super) fn block(&mut self, block: &Block) -> Result<TokenStream, BackendError> {
        let mut last = last_reads(&block.statements);
        let mut out = TokenStream::new();
        let mut scope: Vec<ValueId> = Vec::new();
        if !self.is_main_body(block) {
            return self.groups(block, 0..block.statements.len(), &last, &mut scope);
        }
        if let Some(structure) = &self.program.module.structure {
            let line = Literal::u32_unsuffixed(self.program.module.source.line(structure.span.start));
            let cells = structure.cells.map(Literal::u32_unsuffixed);
            out.extend(quote! { rt.require_cells([#(#cells),*], #line)?; });
        }
        if let Some(span) = self.program.module.face_geometry {
            let line = Literal::u32_unsuffixed(self.program.module.source.line(span.start));
            out.extend(quote! { rt.require_face_geometry(#line)?; });
        }
        if let Some(span) = self.program.module.stored_positions {
            let line = Literal::u32_unsuffixed(self.program.module.source.line(span.start));
            out.extend(quote! { rt.read_stored_positions(#line); });
        }
        self.add_reads_of_checkpoints(&mut last);
        let checkpoints = self.program.checkpoints;
        let mut start = 0;
        for run in &checkpoints.skipped {
            out.extend(self.groups(block, start..run.statements.start, &last, &mut scope)?);
            out.extend(self.skipped(block, run, &last, &mut scope)?);
            start = run.statements.end;
        }
        out.extend(self.groups(block, start..block.statements.len(), &last, &mut scope)?);
        Ok(out)
    }

    /// Text of the groups of some statements of a block. `last`: position of the last read of each
    /// value; `scope`: values that are defined and not yet dropped.
    pub(super) fn groups(
        &mut self,
        block: &Block,
        range: Range<usize>,
        last: &BTreeMap<ValueId, usize>,
        scope: &mut Vec<ValueId>,
    ) -> Result<TokenStream, BackendError> {
        let mut out = TokenStream::new();
        let statements = &block.statements;
        let mut start = range.start;
        while start < range.end {
            let end = self.group_end(statements, start);
            out.extend(self.declarations(statements, start, end)?);
            out.extend(self.kept_geometry(block, start));
            let group = &statements[start..end];
            self.closed = false;
            let tokens = match &group[0].kind {
                StmtKind::For { rounds, body } => {
                    let round = if self.is_main_body(block) { self.end_of_round(start) } else { Round::default() };
                    self.for_loop(&group[0], *rounds, body, &round)?
                }
                StmtKind::Let { .. } | StmtKind::Store { .. } | StmtKind::Output { .. } | StmtKind::Launch { .. } | StmtKind::Return(_) => {
                    let rest = &statements[end..];
                    self.statement_group(group, rest)?
                }
            };
            out.extend(tokens);
            // Temporaries of a group with a block of its own are gone with it.
            let visible = if self.closed { &group[final_statement(group, self)..] } else { group };
            scope.extend(visible.iter().flat_map(|s| s.defines()));
            if statements[end..].iter().any(|s| self.allocates(s)) {
                let dead = |value: &ValueId| last.get(value).is_none_or(|&index| index < end);
                let (gone, rest) = std::mem::take(scope).into_iter().partition(dead);
                *scope = rest;
                out.extend(self.drops(gone));
            }
            start = end;
        }
        Ok(out)
    }

    /// Check and checkpoint after the body of a loop of the main program's body.
    fn end_of_round(&self, statement: usize) -> Round<'a> {
        Round { checked: state::checked_in_round(self.function, statement), checkpoint: self.program.checkpoints.loop_at(statement) }
    }

    fn is_main_body(&self, block: &Block) -> bool {
        std::ptr::eq(block, &self.program.module.main.body)
    }

    /// Call before a loop or solve of the main program that frees the arrays of the grid's geometry
    /// which nothing reads from there on; `None` if there are none.
    fn kept_geometry(&self, block: &Block, start: usize) -> Option<TokenStream> {
        let in_main = self.is_main_body(block);
        let (_, kept) = self.program.geometry.iter().find(|(place, _)| in_main && *place == start)?;
        let arrays = kept.iter().map(|array| {
            let name = ident(match array {
                GeometryArray::CellVolumes => "CellVolumes",
                GeometryArray::CellCentroids => "CellCentroids",
                GeometryArray::FaceAreas => "FaceAreas",
                GeometryArray::FaceCentroids => "FaceCentroids",
                GeometryArray::FaceNormals => "FaceNormals",
            });
            quote! { GeometryArray::#name }
        });
        Some(quote! { rt.keep_geometry(&[#(#arrays),*]); })
    }

    /// Drops the locals among values that hold collections.
    fn drops(&self, values: Vec<ValueId>) -> TokenStream {
        let names = values.into_iter().filter_map(|value| self.bindings.local_collection(value));
        let names = names.map(|name| quote! { drop(#name); });
        names.collect()
    }

    /// True if a statement allocates collections or reductions: dead values are dropped before
    /// it.
    fn allocates(&self, statement: &Stmt) -> bool {
        match &statement.kind {
            StmtKind::Launch { .. } | StmtKind::For { .. } => true,
            StmtKind::Let { op: Op::Load(_) | Op::Text(_), .. } => false,
            StmtKind::Let { op: Op::Call { .. } | Op::Newton { .. } | Op::Reduce(..), .. } => true,
            StmtKind::Let { results, .. } => results.iter().any(|&result| matches!(self.ty(result).shape, Shape::Collection(_))),
            StmtKind::Store { .. } | StmtKind::Output { .. } | StmtKind::Return(_) => false,
        }
    }

    /// End of the group that starts at `start`: statements of the same Equelle statement. A loop is
    /// a group of its own. Where the source is unknown, only a definition and the store of what it
    /// defines belong together.
    fn group_end(&self, statements: &[Stmt], start: usize) -> usize {
        let is_loop = |s: &Stmt| matches!(s.kind, StmtKind::For { .. });
        if is_loop(&statements[start]) {
            return start + 1;
        }
        if self.program.module.source.text().is_empty() {
            let stored = statements[start].defines().first().is_some_and(|v| self.bindings.uses.stored[v.0 as usize].is_some());
            return start + if stored { 2 } else { 1 };
        }
        let same = statements[start..].iter().take_while(|s| s.span == statements[start].span && !is_loop(s)).count();
        start + same
    }

    /// `let mut u;` for mutables first assigned in a loop or by a later group, and needed by both.
    fn declarations(&mut self, statements: &[Stmt], start: usize, end: usize) -> Result<TokenStream, BackendError> {
        let mut out = TokenStream::new();
        for index in 0..self.function.mutables.len() {
            let mutable = MutableId(index as u32);
            if self.declared.contains(&mutable) || !statements[start..end].iter().any(|s| s.mentions(mutable)) {
                continue;
            }
            // Assigned right here: the assignment declares. Mentioned in this loop only: the loop's
            // body declares.
            let in_loop = matches!(statements[start].kind, StmtKind::For { .. });
            if !in_loop || !statements[end..].iter().any(|s| s.mentions(mutable)) {
                continue;
            }
            let info = &self.function.mutables[index];
            let (name, ty) = (self.bindings.mutables[index].clone(), self.owned_type(&info.ty, info.span)?);
            self.declared.insert(mutable);
            out.extend(quote! { let mut #name: #ty; });
        }
        Ok(out)
    }

    fn for_loop(&mut self, statement: &Stmt, rounds: Rounds, body: &Block, round: &Round<'_>) -> Result<TokenStream, BackendError> {
        let mut out = blank();
        out.extend(self.heading(statement.span, false));
        let begin = self.begin_rounds(rounds, body)?;
        let steps = self.bindings.fresh(match rounds {
            Rounds::Sequence { .. } => "steps",
            Rounds::Range { .. } | Rounds::While(_) => "rounds",
        });
        let program = self.program;
        let is_main = std::ptr::eq(self.function, &program.module.main);
        let time_loop = program.time_loops.iter().find(|time_loop| is_main && time_loop.rounds == rounds && time_loop.obstacle.is_none());
        self.bindings.depth += 1;
        let name = rounds.element().map(|element| self.bindings.define(element, "step"));
        if let (Some(element), Some(name), Some(_)) = (rounds.element(), &name, time_loop) {
            self.bindings.set(element, Binding::Param(name.clone()));
        }
        self.line = None;
        let outer = self.declared.clone();
        let body = self.block(body)?;
        // Variables that the body declared are gone after it.
        self.declared = outer;
        self.bindings.depth -= 1;
        self.line = None;
        let body = match time_loop {
            None => body,
            Some(time_loop) => self.as_function(time_loop, statement.span, name.as_ref(), &body),
        };
        let next = match (rounds, &name) {
            (Rounds::While(condition), _) => {
                let condition = &self.bindings.mutables[condition.0 as usize];
                quote! { rt.goes_on(&mut #steps, &#condition)? }
            }
            (Rounds::Sequence { .. } | Rounds::Range { .. }, name) => quote! { let Some(#name) = rt.next(&mut #steps)? },
        };
        let checks = self.state_checks(&round.checked)?;
        let checks = (!checks.is_empty()).then(|| quote! { if rt.samples_state(&#steps) { #checks } });
        let resumes = round.checkpoint.map(|checkpoint| self.resumes(checkpoint, &steps)).transpose()?;
        let saves = round.checkpoint.map(|checkpoint| self.saves(checkpoint, &steps)).transpose()?;
        let shows = round.checkpoint.map(|checkpoint| self.shows(checkpoint));
        out.extend(quote! {
            let mut #steps = #begin;
            #resumes
            while #next { #body #checks #saves #shows }
        });
        out.extend(blank());
        Ok(out)
    }

    /// The state of a loop before its first round.
    fn begin_rounds(&mut self, rounds: Rounds, body: &Block) -> Result<TokenStream, BackendError> {
        let length = match time_steps::computed_step(body) {
            Some(_) => quote! { RoundLength::Computed },
            None => quote! { RoundLength::Round },
        };
        Ok(match rounds {
            Rounds::Sequence { sequence, .. } => {
                let sequence = self.bindings.by_ref(sequence)?;
                quote! { rt.begin_loop(#sequence)? }
            }
            Rounds::Range { from, below, .. } => {
                let (from, below) = (self.bindings.by_ref(from)?, self.bindings.by_ref(below)?);
                quote! { rt.begin_range(#from, #below, #length)? }
            }
            Rounds::While(_) => quote! { rt.begin_rounds(#length)? },
        })
    }

    /// The body of a loop as a function from state and step to state.
    fn as_function(&self, time_loop: &TimeLoop, span: Span, step: Option<&Ident>, body: &TokenStream) -> TokenStream {
        let source = &self.program.module.source;
        let line = (!source.text().is_empty()).then(|| {
            let line = Literal::u32_unsuffixed(source.line(span.start));
            quote! { rt.line(#line); }
        });
        let state: Vec<&Ident> = time_loop.state.iter().map(|mutable| &self.bindings.mutables[mutable.0 as usize]).collect();
        let opening = Literal::usize_unsuffixed(time_loop.opening);
        let (value, pattern, target) = match state.as_slice() {
            [] => (quote! { () }, quote! { () }, TokenStream::new()),
            [one] => (quote! { #one }, quote! { mut #one }, quote! { #one = }),
            many => (quote! { (#(#many),*) }, quote! { (#(mut #many),*) }, quote! { (#(#many),*) = }),
        };
        match (time_loop.rounds, step) {
            (Rounds::Sequence { .. }, Some(step)) => quote! {
                #line
                #target rt.step(&#step, #opening, #value, &mut |rt, #step, #pattern| { #body Ok(#value) })?;
            },
            (Rounds::Sequence { .. } | Rounds::Range { .. } | Rounds::While(_), _) => quote! {
                #line
                #target rt.round(#value, &mut |rt, #pattern| { #body Ok(#value) })?;
            },
        }
    }

    fn statement_group(&mut self, group: &[Stmt], rest: &[Stmt]) -> Result<TokenStream, BackendError> {
        let heading = if group.iter().any(needs_text) { self.heading(group[0].span, true) } else { TokenStream::new() };
        let (before, last) = group.split_at(final_statement(group, self));
        // Temporaries can live in a block of their own if nothing else is defined there.
        let escapes = before.iter().any(|s| {
            let outside = |value: &ValueId| rest.iter().any(|r| r.reads_inside().contains(value)) || self.used_later(rest, *value);
            let changes = matches!(s.kind, StmtKind::Store { .. } | StmtKind::Let { op: Op::Exchange { .. }, .. });
            s.defines().iter().any(outside) || changes
        });
        let outer = std::mem::take(&mut self.group);
        if last.len() == 1 {
            last[0].defines().iter().for_each(|v| self.bindings.name_ahead(*v));
        }
        let names = self.bindings.names();
        for statement in before {
            self.statement(statement)?;
        }
        let temporaries = std::mem::take(&mut self.group);
        let mut out = heading;
        match self.final_parts(last)? {
            Some((target, value)) => {
                // Temporaries of the final value come before it.
                let mut temporaries = temporaries;
                temporaries.extend(std::mem::take(&mut self.group));
                if matches!(last, [_, Stmt { kind: StmtKind::Return(_), .. }]) {
                    out.extend(quote! { #temporaries #value });
                } else if temporaries.is_empty() {
                    out.extend(quote! { #target #value; });
                } else if escapes {
                    out.extend(quote! { #temporaries #target #value; });
                } else {
                    self.closed = true;
                    out.extend(quote! { #target { #temporaries #value }; });
                }
                for value in last[0].defines() {
                    out.extend(self.entities_of_definition(*value)?);
                }
                if !escapes {
                    self.bindings.forget_names_since(names, last[0].defines());
                }
            }
            None => {
                for statement in last {
                    self.statement(statement)?;
                }
                let effect = std::mem::take(&mut self.group);
                let ends = last.iter().any(|s| matches!(s.kind, StmtKind::Return(_)));
                if temporaries.is_empty() || escapes || ends {
                    out.extend(quote! { #temporaries #effect });
                } else {
                    self.closed = true;
                    out.extend(quote! { { #temporaries #effect } });
                    self.bindings.forget_names_since(names, &[]);
                }
            }
        }
        self.group = outer;
        Ok(out)
    }

    /// True if an aliased value defined here is loaded again in what follows; aliases have no text,
    /// so never.
    fn used_later(&self, rest: &[Stmt], value: ValueId) -> bool {
        self.bindings.uses.alias[value.0 as usize].is_none() && rest.iter().any(|s| s.reads_inside().contains(&value))
    }

    /// The last statement of a group as `let x =` and the value, or `u =` and the value; `None` for
    /// statements without a value.
    fn final_parts(&mut self, last: &[Stmt]) -> Result<Option<(TokenStream, TokenStream)>, BackendError> {
        match last {
            [Stmt { kind: StmtKind::Let { results, op }, span }] => {
                if self.is_silent(results, op) {
                    return Ok(None);
                }
                let value = self.operation(op, results, *span)?;
                let is_default = matches!(op, Op::Real(_)) && results.iter().any(|r| is_default(&self.function.body, *r));
                let target = self.let_target(results, if is_default { "default" } else { operation_name(op) });
                Ok(Some((target, value)))
            }
            [Stmt { kind: StmtKind::Launch { kernel, args, results }, .. }] => {
                let value = self.launch(*kernel, args)?;
                let target = self.let_target(results, "result");
                Ok(Some((target, value)))
            }
            [definition, Stmt { kind: StmtKind::Return(_), .. }] => {
                let value = match &definition.kind {
                    StmtKind::Let { results, op } => self.operation(op, results, definition.span)?,
                    StmtKind::Launch { kernel, args, .. } => self.launch(*kernel, args)?,
                    StmtKind::Store { .. } | StmtKind::Output { .. } | StmtKind::For { .. } | StmtKind::Return(_) => return Ok(None),
                };
                Ok(Some((TokenStream::new(), as_result(value))))
            }
            [definition, Stmt { kind: StmtKind::Store { mutable, value: stored }, .. }] => {
                let (mutable, stored) = (*mutable, *stored);
                let value = match &definition.kind {
                    StmtKind::Let { results, op } => self.operation(op, results, definition.span)?,
                    StmtKind::Launch { kernel, args, .. } => self.launch(*kernel, args)?,
                    StmtKind::Store { .. } | StmtKind::Output { .. } | StmtKind::For { .. } | StmtKind::Return(_) => return Ok(None),
                };
                self.bindings.set(stored, Binding::Mutable(mutable));
                Ok(Some((self.store_target(mutable), value)))
            }
            [Stmt { kind: StmtKind::Store { mutable, value }, .. }] => {
                if self.bindings.uses.alias[value.0 as usize] == Some(*mutable) {
                    return Ok(None);
                }
                let expected = self.function.mutables[mutable.0 as usize].ty;
                let value = self.owned_as(*value, &expected)?;
                Ok(Some((self.store_target(*mutable), value)))
            }
            _ => Ok(None),
        }
    }

    /// `let a =` or `let (a, b) =`
    fn let_target(&mut self, results: &[ValueId], otherwise: &str) -> TokenStream {
        let names = results.iter().map(|r| {
            let name = self.bindings.define(*r, otherwise);
            if self.bindings.uses.exchanged[r.0 as usize] {
                quote! { mut #name }
            } else {
                quote! { #name }
            }
        });
        let names: Vec<TokenStream> = names.collect();
        match names.as_slice() {
            [] => TokenStream::new(),
            [one] => quote! { let #one = },
            many => quote! { let (#(#many),*) = },
        }
    }

    /// `u =`, with `let mut` where it is declared.
    fn store_target(&mut self, mutable: MutableId) -> TokenStream {
        let name = &self.bindings.mutables[mutable.0 as usize];
        if !self.declared.insert(mutable) {
            return quote! { #name = };
        }
        let once = self.function.body.statements.iter().map(|s| count_stores(s, mutable)).sum::<usize>() == 1;
        if once {
            self.fixed.insert(mutable);
        }
        if once && !self.bindings.uses.is_exchanged(mutable) {
            quote! { let #name = }
        } else {
            quote! { let mut #name = }
        }
    }

    /// A value that has no statement in the text.
    fn is_silent(&mut self, results: &[ValueId], op: &Op) -> bool {
        match (op, results) {
            (Op::Text(text), [value]) => {
                self.bindings.set(*value, Binding::Text(text.to_owned()));
                true
            }
            (Op::Load(mutable), [value]) if self.bindings.uses.alias[value.0 as usize] == Some(*mutable) => {
                self.bindings.set(*value, Binding::Mutable(*mutable));
                true
            }
            _ => false,
        }
    }

    /// A statement inside a group; goes to `self.group`.
    fn statement(&mut self, statement: &Stmt) -> Result<(), BackendError> {
        match &statement.kind {
            StmtKind::Let { .. } | StmtKind::Launch { .. } | StmtKind::Store { .. } => {
                if let Some((target, value)) = self.final_parts(std::slice::from_ref(statement))? {
                    self.group.extend(quote! { #target #value; });
                    if matches!(&statement.kind, StmtKind::Let { op: Op::Call { .. } | Op::Newton { .. }, .. }) {
                        let line = self.line_again();
                        self.group.extend(line);
                    }
                    for value in statement.defines() {
                        let entities = self.entities_of_definition(*value)?;
                        self.group.extend(entities);
                    }
                }
            }
            StmtKind::Output { tag, value } => {
                let is_text = matches!(self.ty(*value).basic, Basic::Text | Basic::Axis(_));
                let method = ident(if is_text { "output_text" } else { "output" });
                let (tag, value) = (self.bindings.by_ref(*tag)?, self.by_entities(*value)?);
                self.group.extend(quote! { rt.#method(#tag, #value)?; });
            }
            StmtKind::Return(values) => {
                let types = self.function.results.clone();
                let mut parts = Vec::new();
                for (value, ty) in values.iter().zip(&types) {
                    parts.push(self.owned_as(*value, ty)?);
                }
                let value = match parts.as_slice() {
                    [] => return Ok(()),
                    [one] => quote! { Ok(#one) },
                    many => quote! { Ok((#(#many),*)) },
                };
                self.group.extend(value);
            }
            StmtKind::For { .. } => {
                return Err(BackendError::internal(statement.span, "a loop inside a statement"));
            }
        }
        Ok(())
    }
}

/// Where the final part of a group starts: its last statement, or a definition and the store of
/// what it defines if nobody else needs that.
fn final_statement(group: &[Stmt], writer: &FunctionWriter) -> usize {
    let last = group.len() - 1;
    if let [.., definition, Stmt { kind: StmtKind::Store { mutable, value }, .. }] = group
        && let [result] = definition.defines()
        && result == value
        && writer.bindings.uses.stored[value.0 as usize] == Some(*mutable)
        && writer.bindings.uses.alias[value.0 as usize].is_none()
        && !matches!(&definition.kind, StmtKind::Let { op: Op::Text(_), .. })
        && writer.ty(*value).is_domain() == writer.function.mutables[mutable.0 as usize].ty.is_domain()
    {
        return last - 1;
    }
    // `return f(x)` without a name for the value.
    if let [.., definition, Stmt { kind: StmtKind::Return(values), .. }] = group
        && let ([result], [value]) = (definition.defines(), values.as_slice())
        && result == value
        && writer.bindings.uses.count[value.0 as usize] == 1
        && !matches!(&definition.kind, StmtKind::Let { op: Op::Load(_) | Op::Text(_), .. })
        && writer.function.results.first().is_some_and(|ty| ty.is_domain() == writer.ty(*value).is_domain())
    {
        return last - 1;
    }
    last
}

/// `f(x)?` as the result of a function: `f(x)`; anything that cannot fail in `Ok`.
fn as_result(value: TokenStream) -> TokenStream {
    let mut trees: Vec<TokenTree> = value.clone().into_iter().collect();
    match trees.pop() {
        Some(TokenTree::Punct(punct)) if punct.as_char() == '?' => trees.into_iter().collect(),
        _ => quote! { Ok(#value) },
    }
}

/// True if a statement has any text of its own.
fn needs_text(statement: &Stmt) -> bool {
    !matches!(statement.kind, StmtKind::Let { op: Op::Load(_) | Op::Text(_), .. })
}

pub(super) fn count_stores(statement: &Stmt, mutable: MutableId) -> usize {
    match &statement.kind {
        StmtKind::Store { mutable: m, .. } => usize::from(*m == mutable),
        // A loop that declares the mutable assigns it once a round: the count of one means `let`
        // without `mut`. Any other loop assigns it again in each round.
        StmtKind::For { body, .. } => body.statements.iter().map(|s| count_stores(s, mutable)).sum(),
        StmtKind::Let { .. } | StmtKind::Output { .. } | StmtKind::Launch { .. } | StmtKind::Return(_) => 0,
    }
}

/// True if a value is the default of an input.
fn is_default(block: &Block, value: ValueId) -> bool {
    block.statements.iter().any(|statement| match &statement.kind {
        StmtKind::Let { op: Op::InputScalar { default, .. }, .. } => *default == value,
        StmtKind::For { body, .. } => is_default(body, value),
        StmtKind::Let { .. } | StmtKind::Store { .. } | StmtKind::Output { .. } | StmtKind::Launch { .. } | StmtKind::Return(_) => false,
    })
}

/// A word for the result of an operation that the user gave no name.
fn operation_name(op: &Op) -> &'static str {
    use equelle_front::ir::UnaryOp;
    use equelle_front::ops::{Arithmetic, BinaryMath, FaceReduction, Reduction};
    match op {
        Op::Real(_) => "number",
        Op::Bool(_) => "truth",
        Op::Text(_) => "text",
        Op::CanonicalSet(set) => canonical_name(*set),
        Op::Load(_) => "old",
        Op::InputScalar { .. }
        | Op::InputCollection { .. }
        | Op::InputDomain { .. }
        | Op::InputSequence { .. }
        | Op::InputTable { .. }
        | Op::InputTable2 { .. } => "input",
        Op::Interpolate { .. } => "value",
        Op::Step(_) => "step",
        Op::Where { .. } => "part",
        Op::FirstCell(_) => "first",
        Op::SecondCell(_) => "second",
        Op::Shift { .. } => "neighbour",
        Op::CellFact { .. } => "place",
        Op::GridNumber(_) => "of_grid",
        Op::IsEmpty(_) => "is_empty",
        Op::OneCell(_) => "faces",
        Op::Centroid(_) => "centroid",
        Op::Normal(_) => "normal",
        Op::FaceGap(_) => "gap",
        Op::FaceTransmissibility(_) => "given",
        Op::Measure(_) => "measure",
        Op::Unary(UnaryOp::Neg, _) => "negative",
        Op::Unary(UnaryOp::Not, _) => "inverse",
        Op::Unary(UnaryOp::Abs, _) => "magnitude",
        Op::Unary(UnaryOp::Sqrt, _) => "root",
        Op::Unary(UnaryOp::Length, _) => "length",
        Op::Unary(UnaryOp::Elementary(function), _) => function.word(),
        Op::Vector(_) => "vector",
        Op::Math(BinaryMath::Min, ..) => "smaller",
        Op::Math(BinaryMath::Max, ..) => "larger",
        Op::Math(BinaryMath::Pow, ..) => "power",
        Op::Math(BinaryMath::ATan2, ..) => "angle",
        Op::TextIndex(..) => "text",
        Op::Arithmetic(Arithmetic::Add, ..) => "sum",
        Op::Arithmetic(Arithmetic::Sub, ..) => "difference",
        Op::Arithmetic(Arithmetic::Mul, ..) => "product",
        Op::Arithmetic(Arithmetic::Div, ..) => "quotient",
        Op::Compare(..) | Op::Logic(..) => "condition",
        Op::Select { .. } => "chosen",
        Op::On { .. } => "restricted",
        Op::Extend { .. } => "extended",
        Op::Broadcast { .. } => "broadcast",
        Op::Exchange { .. } => "exchanged",
        Op::Gradient(_) => "gradient",
        Op::Divergence(_) => "divergence",
        Op::FaceReduce { reduction: FaceReduction::Sum, .. } => "face_sum",
        Op::FaceReduce { reduction: FaceReduction::Max, .. } => "face_max",
        Op::FaceReduce { reduction: FaceReduction::Min, .. } => "face_min",
        Op::Dot(..) => "dot",
        Op::Component(..) => "component",
        Op::Reduce(Reduction::Max, _) => "largest",
        Op::Reduce(Reduction::Min, _) => "smallest",
        Op::Reduce(Reduction::Sum, _) => "total",
        Op::Reduce(Reduction::Prod, _) => "total_product",
        Op::Reduce(Reduction::Any, _) => "any",
        Op::Reduce(Reduction::All, _) => "all",
        Op::Call { .. } => "result",
        Op::Newton { .. } => "solution",
    }
}

fn canonical_name(set: equelle_front::types::CanonicalSet) -> &'static str {
    use equelle_front::types::{EntityKind, Extent};
    match (set.extent, set.kind) {
        (Extent::Interior, EntityKind::Cell) => "interior_cells",
        (Extent::Interior, EntityKind::Face) => "interior_faces",
        (Extent::Interior, EntityKind::Edge) => "interior_edges",
        (Extent::Interior, EntityKind::Vertex) => "interior_vertices",
        (Extent::Boundary, EntityKind::Cell) => "boundary_cells",
        (Extent::Boundary, EntityKind::Face) => "boundary_faces",
        (Extent::Boundary, EntityKind::Edge) => "boundary_edges",
        (Extent::Boundary, EntityKind::Vertex) => "boundary_vertices",
        (Extent::All, EntityKind::Cell) => "all_cells",
        (Extent::All, EntityKind::Face) => "all_faces",
        (Extent::All, EntityKind::Edge) => "all_edges",
        (Extent::All, EntityKind::Vertex) => "all_vertices",
    }
}
