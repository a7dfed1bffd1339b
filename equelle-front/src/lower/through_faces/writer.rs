//! Functions with the gaps of faces added to centroids.

use std::collections::BTreeMap;

use super::analysis::{Body, Calls, Params, Source};
use crate::ir::{Block, Function, FunctionId, Op, Stmt, StmtKind, Value, ValueId};
use crate::ops::Arithmetic;
use crate::source::Span;
use crate::types::{Basic, Dimension, Type};

/// A function that is written anew.
pub(super) struct Writer<'a, 'b> {
    body: &'b Body<'b>,
    seen: Params,
    calls: &'b mut Calls<'a>,
    ids: &'b BTreeMap<(FunctionId, Params), FunctionId>,
    length: Dimension,
    /// The expression that asks for gaps.
    asking: Span,
    made: Function,
    /// Gaps that there are: of parameters, of results of calls, and those made in blocks around.
    given: BTreeMap<ValueId, ValueId>,
}

impl<'a, 'b> Writer<'a, 'b> {
    pub(super) fn new(
        function: &'b Function,
        body: &'b Body<'b>,
        seen: Params,
        calls: &'b mut Calls<'a>,
        ids: &'b BTreeMap<(FunctionId, Params), FunctionId>,
        length: Dimension,
    ) -> Self {
        let made = Function { body: Block { statements: Vec::new() }, ..function.clone() };
        Writer { body, seen, calls, ids, length, asking: function.span, made, given: BTreeMap::new() }
    }

    pub(super) fn finish(self) -> Function {
        self.made
    }

    /// The gaps of parameters, behind all others.
    pub(super) fn parameters(&mut self) {
        for index in self.seen.clone() {
            let param = self.body.function.params[index];
            let gap = self.new_gap(param);
            self.made.params.push(gap);
            self.given.insert(param, gap);
        }
    }

    pub(super) fn body(&mut self, block: &Block) {
        self.made.body = self.block(block);
    }

    fn block(&mut self, block: &Block) -> Block {
        let mut statements = Vec::with_capacity(block.statements.len());
        for statement in &block.statements {
            self.statement(statement, &mut statements);
        }
        Block { statements }
    }

    fn statement(&mut self, statement: &Stmt, out: &mut Vec<Stmt>) {
        let mut emit = |kind: StmtKind| out.push(Stmt { kind, span: statement.span });
        self.asking = statement.span;
        match &statement.kind {
            StmtKind::Let { results, op: Op::Centroid(cells) } if self.is_seen(*cells) => {
                let own = self.value_like(results[0]);
                self.asking = self.made.values[own.0 as usize].span;
                emit(StmtKind::Let { results: vec![own], op: Op::Centroid(*cells) });
                let gap = self.gap(*cells, &mut emit);
                emit(StmtKind::Let { results: results.clone(), op: Op::Arithmetic(Arithmetic::Add, own, gap) });
            }
            StmtKind::Let { results, op: Op::Call { function, args } } => {
                let (function, gaps) = self.callee(*function, args, &mut emit);
                let found = self.calls.of(function.0, function.1.clone()).results;
                let args = [args.as_slice(), &gaps].concat();
                let mut results = results.clone();
                for index in found {
                    let gap = self.new_gap(results[index]);
                    self.given.insert(results[index], gap);
                    results.push(gap);
                }
                emit(StmtKind::Let { results, op: Op::Call { function: self.ids[&function], args } });
            }
            StmtKind::Let { results, op: Op::Newton { residuals, captures, guesses, carried, equations } } => {
                let mut called = Vec::with_capacity(residuals.len());
                let mut captured = Vec::with_capacity(captures.len());
                for (residual, captures) in residuals.iter().zip(captures) {
                    let (function, gaps) = self.callee(*residual, &[guesses.as_slice(), captures].concat(), &mut emit);
                    called.push(self.ids[&function]);
                    captured.push([captures.as_slice(), &gaps].concat());
                }
                let (guesses, carried, equations) = (guesses.clone(), carried.clone(), equations.clone());
                let op = Op::Newton { residuals: called, captures: captured, guesses, carried, equations };
                emit(StmtKind::Let { results: results.clone(), op });
            }
            StmtKind::Return(values) => {
                let mut all = values.clone();
                for &value in values {
                    if self.is_seen(value) {
                        let gap = self.gap(value, &mut emit);
                        self.made.results.push(self.made.values[gap.0 as usize].ty);
                        all.push(gap);
                    }
                }
                emit(StmtKind::Return(all));
            }
            StmtKind::For { rounds, body } => {
                let around = self.given.clone();
                let body = self.block(body);
                self.given = around;
                emit(StmtKind::For { rounds: *rounds, body });
            }
            StmtKind::Let { .. } | StmtKind::Store { .. } | StmtKind::Output { .. } | StmtKind::Launch { .. } => {
                out.push(statement.clone())
            }
        }
    }

    /// The way in which a function is called with these values, and the gaps that it gets.
    fn callee(&mut self, function: FunctionId, args: &[ValueId], emit: &mut dyn FnMut(StmtKind)) -> ((FunctionId, Params), Vec<ValueId>) {
        let way = self.calls.way(self.body, &self.seen, function, args);
        let gaps = way.iter().map(|&index| self.gap(args[index], emit)).collect();
        ((function, way), gaps)
    }

    fn is_seen(&mut self, value: ValueId) -> bool {
        self.calls.is_seen(self.body, &self.seen, value)
    }

    /// The gaps between cells that are seen through faces and where they are.
    fn gap(&mut self, cells: ValueId, emit: &mut dyn FnMut(StmtKind)) -> ValueId {
        if let Some(&gap) = self.given.get(&cells) {
            return gap;
        }
        let op = match self.body.sources.get(&cells) {
            Some(Source::Op(Op::SecondCell(faces))) => Op::FaceGap(*faces),
            Some(&Source::Op(&Op::On { data, target })) => Op::On { data: self.gap(data, emit), target },
            Some(&Source::Op(&Op::Extend { data, domain })) => Op::Extend { data: self.gap(data, emit), domain },
            Some(&Source::Op(&Op::Select { condition, if_true, if_false })) => {
                let [if_true, if_false] = match [self.is_seen(if_true), self.is_seen(if_false)] {
                    [true, true] => [if_true, if_false].map(|branch| self.gap(branch, emit)),
                    [true, false] => {
                        let gap = self.gap(if_true, emit);
                        [gap, self.none(gap, emit)]
                    }
                    _ => {
                        let gap = self.gap(if_false, emit);
                        [self.none(gap, emit), gap]
                    }
                };
                Op::Select { condition, if_true, if_false }
            }
            _ => unreachable!("other cells are not seen through faces"),
        };
        let gap = self.new_gap(cells);
        emit(StmtKind::Let { results: vec![gap], op });
        self.given.insert(cells, gap);
        gap
    }

    /// No gaps, where others are these: gaps are finite.
    fn none(&mut self, gap: ValueId, emit: &mut dyn FnMut(StmtKind)) -> ValueId {
        let zero = self.value(Value { ty: Type::SCALAR, dim: Dimension::NONE, ..self.made.values[gap.0 as usize].clone() });
        emit(StmtKind::Let { results: vec![zero], op: Op::Real(0.0) });
        let none = self.value_like(gap);
        emit(StmtKind::Let { results: vec![none], op: Op::Arithmetic(Arithmetic::Mul, gap, zero) });
        none
    }

    /// A value for the gaps of cells.
    fn new_gap(&mut self, cells: ValueId) -> ValueId {
        let set = self.body.ty(cells).mapping().expect("cells behind faces are a collection");
        let ty = Type::collection(Basic::Vector, set);
        self.value(Value { ty, name: String::new(), dim: self.length, span: self.asking, storage: None, array: None })
    }

    /// A temporary of the type of another value.
    fn value_like(&mut self, value: ValueId) -> ValueId {
        let of = self.made.values[value.0 as usize].clone();
        self.value(Value { name: String::new(), storage: None, array: None, ..of })
    }

    fn value(&mut self, value: Value) -> ValueId {
        let id = ValueId(self.made.values.len() as u32);
        self.made.values.push(value);
        id
    }
}
