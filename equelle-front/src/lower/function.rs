//! Functions and statements.

use std::collections::BTreeMap;

use super::step::{self, StepBinding};
use crate::ir::{Block, Function, Mutable, MutableId, Op, Rounds, Stmt, StmtKind, UnaryOp, Value, ValueId};
use crate::source::Span;
use crate::syntax::ast::LoopTest;
use crate::typed::captures::Captures;
use crate::typed::{self, TreeType, TypedProgram, VarId};
use crate::types::{Dimension, Type};

/// Lowered form of a variable of the typed tree.
#[derive(Clone, Debug)]
pub(super) enum Binding {
    /// One value per element of an array, or one.
    Values(Vec<ValueId>),
    /// A mutable per element.
    Mutables(Vec<MutableId>),
}

/// State while one function is lowered.
pub(super) struct Lowering<'a> {
    pub program: &'a TypedProgram,
    pub captures: &'a [Captures],
    pub values: Vec<Value>,
    pub mutables: Vec<Mutable>,
    pub bindings: BTreeMap<VarId, Binding>,
    pub block: Vec<Stmt>,
    /// True if it is the main program, whose loops have steps.
    pub is_main: bool,
    /// The variable whose next value is the length of a round.
    pub step: Option<VarId>,
    /// Span of the statement in progress; every IR statement of it carries this span.
    pub statement: Span,
}

pub(super) fn lower_main(program: &TypedProgram, captures: &[Captures]) -> Function {
    let mut lowering = Lowering::new(program, captures);
    lowering.is_main = true;
    lowering.statements(&program.main);
    lowering.finish("main".to_owned(), Vec::new(), Vec::new(), Span::default())
}

pub(super) fn lower_function(
    program: &TypedProgram,
    captures: &[Captures],
    index: usize,
    function: &typed::Function,
    name: String,
) -> Function {
    let mut lowering = Lowering::new(program, captures);
    lowering.statement = function.span;
    let mut params = Vec::new();
    for &variable in &function.params {
        params.extend(lowering.bind_parameter(variable));
    }
    let own = &captures[index];
    for &variable in &own.reads {
        let incoming = lowering.bind_parameter(variable);
        if own.writes.contains(&variable) {
            // The function works on a mutable of its own; the caller stores what comes back.
            let mutables = lowering.declare_mutables(variable);
            for (&mutable, &value) in mutables.iter().zip(&incoming) {
                lowering.push(StmtKind::Store { mutable, value });
            }
        }
        params.extend(incoming);
    }
    lowering.statements(&function.body);
    let mut results: Vec<Type> = function.result.elements().iter().map(|ty| ty.lowered()).collect();
    for &variable in &own.writes {
        results.extend(program.variables[variable.0 as usize].ty.elements().iter().map(|ty| ty.lowered()));
    }
    let written: Vec<ValueId> = own.writes.iter().flat_map(|&v| lowering.read_variable(v)).collect();
    // The Return of the source stands last; what the function wrote goes behind its values.
    if let Some(mut values) = lowering.take_return(0) {
        values.extend(written);
        lowering.block.push(Stmt { kind: StmtKind::Return(values), span: lowering.statement });
    } else if !written.is_empty() {
        lowering.push(StmtKind::Return(written));
    }
    lowering.finish(name, params, results, function.span)
}

impl<'a> Lowering<'a> {
    fn new(program: &'a TypedProgram, captures: &'a [Captures]) -> Self {
        Lowering {
            program,
            captures,
            values: Vec::new(),
            mutables: Vec::new(),
            bindings: BTreeMap::new(),
            block: Vec::new(),
            is_main: false,
            step: None,
            statement: Span::default(),
        }
    }

    fn finish(self, name: String, params: Vec<ValueId>, results: Vec<Type>, span: Span) -> Function {
        Function { name, params, values: self.values, mutables: self.mutables, body: Block { statements: self.block }, results, span }
    }

    /// Takes the Return out of the statements from `start` on, wherever reads of mutables were
    /// pushed after it. Its values.
    pub(super) fn take_return(&mut self, start: usize) -> Option<Vec<ValueId>> {
        let position = self.block[start..].iter().position(|s| matches!(s.kind, StmtKind::Return(_)))?;
        match self.block.remove(start + position).kind {
            StmtKind::Return(values) => Some(values),
            _ => None,
        }
    }

    pub(super) fn push(&mut self, kind: StmtKind) {
        let span = self.statement;
        self.block.push(Stmt { kind, span });
    }

    pub(super) fn new_value(&mut self, ty: Type, dim: Dimension, name: &str, span: Span) -> ValueId {
        let id = ValueId(self.values.len() as u32);
        self.values.push(Value { ty: ty.lowered(), name: name.to_owned(), dim, span, storage: None, array: None });
        id
    }

    /// A statement with one result.
    pub(super) fn emit(&mut self, op: Op, ty: Type, dim: Dimension, span: Span) -> ValueId {
        let result = self.new_value(ty, dim, "", span);
        self.push(StmtKind::Let { results: vec![result], op });
        result
    }

    fn element_name(name: &str, count: usize, index: usize) -> String {
        if count == 1 { name.to_owned() } else { format!("{name}_{index}") }
    }

    fn bind_parameter(&mut self, variable: VarId) -> Vec<ValueId> {
        let info = &self.program.variables[variable.0 as usize];
        let types = info.ty.elements();
        let ids: Vec<ValueId> = types
            .iter()
            .enumerate()
            .map(|(i, &ty)| {
                let name = Self::element_name(&info.name, types.len(), i);
                self.new_value(ty, info.dims.get(i).copied().unwrap_or_default().dimension(), &name, info.span)
            })
            .collect();
        self.bindings.insert(variable, Binding::Values(ids.clone()));
        ids
    }

    fn declare_mutables(&mut self, variable: VarId) -> Vec<MutableId> {
        if let Some(Binding::Mutables(ids)) = self.bindings.get(&variable) {
            return ids.clone();
        }
        let info = &self.program.variables[variable.0 as usize];
        let types = info.ty.elements();
        let mut ids = Vec::new();
        for (i, &ty) in types.iter().enumerate() {
            ids.push(MutableId(self.mutables.len() as u32));
            self.mutables.push(Mutable {
                name: Self::element_name(&info.name, types.len(), i),
                ty: ty.lowered(),
                dim: info.dims.get(i).copied().unwrap_or_default().dimension(),
                span: info.span,
                carried: false,
            });
        }
        self.bindings.insert(variable, Binding::Mutables(ids.clone()));
        ids
    }

    /// Current values of a variable.
    pub(super) fn read_variable(&mut self, variable: VarId) -> Vec<ValueId> {
        match self.bindings.get(&variable) {
            Some(Binding::Values(ids)) => ids.clone(),
            Some(Binding::Mutables(ids)) => {
                let ids = ids.clone();
                let array = (ids.len() > 1).then(|| self.program.variables[variable.0 as usize].name.clone());
                ids.into_iter()
                    .map(|m| {
                        let Mutable { name, ty, dim, span, .. } = self.mutables[m.0 as usize].clone();
                        let value = self.new_value(ty, dim, &name, span);
                        self.values[value.0 as usize].array.clone_from(&array);
                        self.push(StmtKind::Let { results: vec![value], op: Op::Load(m) });
                        value
                    })
                    .collect()
            }
            // The checker refuses the use of unassigned variables.
            None => Vec::new(),
        }
    }

    /// Stores into a mutable variable, declaring it at its first assignment.
    pub(super) fn store_variable(&mut self, variable: VarId, values: &[ValueId]) {
        let mutables = self.declare_mutables(variable);
        for (&mutable, &value) in mutables.iter().zip(values) {
            self.push(StmtKind::Store { mutable, value });
        }
    }

    fn name_values(&mut self, variable: VarId, ids: &[ValueId]) {
        let name = &self.program.variables[variable.0 as usize].name;
        for (i, &id) in ids.iter().enumerate() {
            let value = &mut self.values[id.0 as usize];
            if value.name.is_empty() {
                value.name = Self::element_name(name, ids.len(), i);
                value.array = (ids.len() > 1).then(|| name.clone());
            }
        }
    }

    /// `While` and `Repeat Until`: a variable says whether there is another round.
    fn conditional(&mut self, test: LoopTest, condition: &typed::Expr, body: &[typed::Stmt], span: Span) {
        self.statement = condition.span;
        let mutable = MutableId(self.mutables.len() as u32);
        let (ty, dim, span_of_condition) = (Type::BOOL, Dimension::NONE, condition.span);
        self.mutables.push(Mutable { name: "goes_on".to_owned(), ty, dim, span: span_of_condition, carried: false });
        let first = match test {
            LoopTest::While => self.expr(condition)[0],
            LoopTest::Until => self.emit(Op::Bool(true), Type::BOOL, Dimension::NONE, condition.span),
        };
        self.push(StmtKind::Store { mutable, value: first });
        let (bindings, outer) = (self.bindings.clone(), std::mem::take(&mut self.block));
        self.round(body, Some((test, condition)));
        // The condition sees names from outside the body.
        self.bindings.clone_from(&bindings);
        self.statement = condition.span;
        let holds = self.expr(condition)[0];
        let value = match test {
            LoopTest::While => holds,
            LoopTest::Until => self.emit(Op::Unary(UnaryOp::Not, holds), Type::BOOL, Dimension::NONE, condition.span),
        };
        self.push(StmtKind::Store { mutable, value });
        self.end_loop(Rounds::While(mutable), span, bindings, outer);
    }

    /// Pushes a loop whose body is the current block.
    fn end_loop(&mut self, rounds: Rounds, span: Span, bindings: BTreeMap<VarId, Binding>, outer: Vec<Stmt>) {
        let body = Block { statements: std::mem::replace(&mut self.block, outer) };
        self.bindings = bindings;
        self.statement = span;
        self.push(StmtKind::For { rounds, body });
    }

    /// The body of a loop that computes its steps, if it does.
    fn round(&mut self, body: &[typed::Stmt], condition: Option<(LoopTest, &typed::Expr)>) {
        let step = if self.is_main { step::find_step(body, condition, self.program) } else { None };
        match step {
            None => self.statements(body),
            Some(step::Step { variable, place: StepBinding::Start }) => {
                self.statement = body.first().map_or(self.statement, |first| first.span);
                self.take_step(variable);
                self.statements(body);
            }
            Some(step::Step { variable, place: StepBinding::Assigned(statement) }) => {
                let (before, from) = body.split_at(statement);
                let (assignment, after) = from.split_at(1);
                self.statements(before);
                self.step = Some(variable);
                self.statements(assignment);
                self.step = None;
                self.statements(after);
            }
        }
    }

    /// The values of an assignment, which may give the length of the round.
    fn assigned(&mut self, variable: VarId, value: &typed::Expr) -> Vec<ValueId> {
        let ids = self.expr(value);
        let ids = match ids[..] {
            [length] if self.step == Some(variable) => vec![self.step(variable, length)],
            _ => ids,
        };
        self.name_values(variable, &ids);
        ids
    }

    fn step(&mut self, variable: VarId, length: ValueId) -> ValueId {
        let dim = self.program.variables[variable.0 as usize].dims.first().copied().unwrap_or_default().dimension();
        self.emit(Op::Step(length), Type::SCALAR, dim, self.statement)
    }

    /// Makes the value that a variable has the length of the round.
    fn take_step(&mut self, variable: VarId) {
        let Some(&[length]) = self.read_variable(variable).first_chunk::<1>() else { return };
        let step = self.step(variable, length);
        self.name_values(variable, &[step]);
        match self.bindings.get(&variable) {
            Some(Binding::Mutables(_)) => self.store_variable(variable, &[step]),
            Some(Binding::Values(_)) | None => {
                self.bindings.insert(variable, Binding::Values(vec![step]));
            }
        }
    }

    pub(super) fn statements(&mut self, statements: &[typed::Stmt]) {
        for statement in statements {
            self.statement = statement.span;
            match &statement.kind {
                typed::StmtKind::Let { variable, value } => {
                    let ids = self.assigned(*variable, value);
                    self.bindings.insert(*variable, Binding::Values(ids));
                }
                typed::StmtKind::Assign { variable, value } => {
                    let ids = self.assigned(*variable, value);
                    self.store_variable(*variable, &ids);
                }
                typed::StmtKind::Output { tag, value } => {
                    let tags = self.expr(tag);
                    let values = self.expr(value);
                    let tag = tags[0];
                    let array = matches!(value.ty, TreeType::Array(_));
                    for (i, &value) in values.iter().enumerate() {
                        let tag =
                            if array { self.emit(Op::TextIndex(tag, i as u32), Type::TEXT, Dimension::NONE, statement.span) } else { tag };
                        self.push(StmtKind::Output { tag, value });
                    }
                }
                typed::StmtKind::Discard(value) => {
                    self.expr(value);
                }
                typed::StmtKind::For { variable, sequence, body } => {
                    let sequence = self.expr(sequence)[0];
                    let (bindings, outer) = (self.bindings.clone(), std::mem::take(&mut self.block));
                    let element = self.bind_parameter(*variable)[0];
                    self.statements(body);
                    self.end_loop(Rounds::Sequence { sequence, element }, statement.span, bindings, outer);
                }
                typed::StmtKind::Range { variable, from, below, body } => {
                    let (from, below) = (self.expr(from)[0], self.expr(below)[0]);
                    let (bindings, outer) = (self.bindings.clone(), std::mem::take(&mut self.block));
                    let element = self.bind_parameter(*variable)[0];
                    self.round(body, None);
                    self.end_loop(Rounds::Range { from, below, element }, statement.span, bindings, outer);
                }
                typed::StmtKind::Conditional { test, condition, body } => self.conditional(*test, condition, body, statement.span),
                typed::StmtKind::Return(value) => {
                    let ids = self.expr(value);
                    self.push(StmtKind::Return(ids));
                }
            }
        }
    }
}
