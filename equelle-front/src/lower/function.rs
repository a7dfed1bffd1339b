//! Functions and statements.

use std::collections::BTreeMap;

use crate::ir::{Block, Function, Mutable, MutableId, Op, Stmt, StmtKind, Value, ValueId};
use crate::source::Span;
use crate::typed::captures::Captures;
use crate::typed::{self, TreeType, TypedProgram, VarId};
use crate::types::{Dimension, Type};

/// What a variable of the typed tree stands for.
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
    /// Span of the statement in progress; every IR statement of it carries this span.
    pub statement: Span,
}

pub(super) fn lower_main(program: &TypedProgram, captures: &[Captures]) -> Function {
    let mut lowering = Lowering::new(program, captures);
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
    let mut results = function.result.elements().to_vec();
    for &variable in &own.writes {
        results.extend(program.variables[variable.0 as usize].ty.elements());
    }
    let written: Vec<ValueId> = own.writes.iter().flat_map(|&v| lowering.read_variable(v)).collect();
    // The Return of the source stands last; what the function wrote goes behind its values.
    if let Some(Stmt { kind: StmtKind::Return(mut values), span }) = lowering.take_return() {
        values.extend(written);
        lowering.block.push(Stmt { kind: StmtKind::Return(values), span });
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
            statement: Span::default(),
        }
    }

    fn finish(self, name: String, params: Vec<ValueId>, results: Vec<Type>, span: Span) -> Function {
        Function { name, params, values: self.values, mutables: self.mutables, body: Block { statements: self.block }, results, span }
    }

    /// Takes the Return out, wherever reads of mutables were pushed after it.
    fn take_return(&mut self) -> Option<Stmt> {
        let position = self.block.iter().position(|s| matches!(s.kind, StmtKind::Return(_)))?;
        Some(self.block.remove(position))
    }

    pub(super) fn push(&mut self, kind: StmtKind) {
        let span = self.statement;
        self.block.push(Stmt { kind, span });
    }

    pub(super) fn new_value(&mut self, ty: Type, dim: Dimension, name: &str, span: Span) -> ValueId {
        let id = ValueId(self.values.len() as u32);
        self.values.push(Value { ty, name: name.to_owned(), dim, span });
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
                self.new_value(ty, info.dims.get(i).copied().unwrap_or_default(), &name, info.span)
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
                ty,
                dim: info.dims.get(i).copied().unwrap_or_default(),
                span: info.span,
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
                ids.into_iter()
                    .map(|m| {
                        let Mutable { name, ty, dim, span } = self.mutables[m.0 as usize].clone();
                        let value = self.new_value(ty, dim, &name, span);
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
            }
        }
    }

    fn statements(&mut self, statements: &[typed::Stmt]) {
        for statement in statements {
            self.statement = statement.span;
            match &statement.kind {
                typed::StmtKind::Let { variable, value } => {
                    let ids = self.expr(value);
                    self.name_values(*variable, &ids);
                    self.bindings.insert(*variable, Binding::Values(ids));
                }
                typed::StmtKind::Assign { variable, value } => {
                    let ids = self.expr(value);
                    self.name_values(*variable, &ids);
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
                    let bindings = self.bindings.clone();
                    let element = self.bind_parameter(*variable)[0];
                    let outer = std::mem::take(&mut self.block);
                    self.statements(body);
                    let body = Block { statements: std::mem::replace(&mut self.block, outer) };
                    self.bindings = bindings;
                    self.statement = statement.span;
                    self.push(StmtKind::For { sequence, element, body });
                }
                typed::StmtKind::Return(value) => {
                    let ids = self.expr(value);
                    self.push(StmtKind::Return(ids));
                }
            }
        }
    }
}
