//! Centroids of cells that are seen through faces: over a gap, or joined sides, as if both sides of
//! the face met.
//!
//! A face lies on the side of its first cell. The centroid of its second cell is seen through it
//! where the program gives that cell as `SecondCell(faces)`, chooses it (`c ? FirstCell(f) :
//! SecondCell(f)`), restricts or extends such cells, or passes them to or from functions. There
//! `Centroid(cells)` becomes the centroid and the gap of the faces, unless these lie on the
//! boundary, where there is none. Functions get the gaps of their parameters as further parameters,
//! and give those of their results; a function that is called with cells of both kinds stands twice
//! in the module. Cells that went through a mutable are stored, and seen where they are.

use std::collections::{BTreeMap, BTreeSet};

use super::unique_names::UniqueNames;
use crate::ir::{Block, Function, FunctionId, Op, Stmt, StmtKind, Value, ValueId};
use crate::ops::Arithmetic;
use crate::source::Span;
use crate::types::{Basic, CanonicalSet, Dimension, EntityKind, SetTable, Type};

/// Numbers of parameters of a function.
type Params = BTreeSet<usize>;

/// Adds the gaps of faces to centroids of the cells behind them, in all functions and the main
/// program. `length` is the dimension of positions.
pub(super) fn see_through_faces(
    functions: &mut Vec<Function>,
    main: &mut Function,
    sets: &SetTable,
    length: Dimension,
    names: &mut UniqueNames,
) {
    let bodies: Vec<Body<'_>> = functions.iter().map(|function| Body::new(function, sets)).collect();
    let main_body = Body::new(main, sets);
    let mut calls = Calls { bodies: &bodies, known: BTreeMap::new() };
    // The ways in which functions are called: callers first, which come later.
    let mut ways: Vec<BTreeSet<Params>> = vec![BTreeSet::new(); functions.len()];
    let note = |ways: &mut Vec<BTreeSet<Params>>, calls: &mut Calls<'_>, body: &Body<'_>, seen: &Params| {
        for (callee, args) in body.calls() {
            let way = calls.way(body, seen, callee, &args);
            ways[callee.0 as usize].insert(way);
        }
    };
    note(&mut ways, &mut calls, &main_body, &Params::new());
    for index in (0..functions.len()).rev() {
        // What nobody calls stays as it is.
        if ways[index].is_empty() {
            ways[index].insert(Params::new());
        }
        for way in ways[index].clone() {
            note(&mut ways, &mut calls, &bodies[index], &way);
        }
    }
    let pairs = ways.iter().enumerate().flat_map(|(index, ways)| ways.iter().map(move |way| (FunctionId(index as u32), way.clone())));
    let ids: BTreeMap<(FunctionId, Params), FunctionId> = pairs.zip((0..).map(FunctionId)).collect();
    let mut made = Vec::with_capacity(ids.len());
    for (index, ways) in ways.iter().enumerate() {
        for (nth, way) in ways.iter().enumerate() {
            let mut writer = Writer::new(&functions[index], &bodies[index], way.clone(), &mut calls, &ids, length);
            writer.parameters();
            writer.body(&functions[index].body);
            let mut function = writer.finish();
            if nth > 0 {
                function.name = names.unique(&functions[index].name);
            }
            made.push(function);
        }
    }
    let mut writer = Writer::new(main, &main_body, Params::new(), &mut calls, &ids, length);
    writer.body(&main.body);
    let new_main = writer.finish();
    (*functions, *main) = (made, new_main);
}

/// Where a value of cells comes from.
#[derive(Clone, Copy)]
enum Source<'a> {
    /// An operation.
    Op(&'a Op),
    /// A result of a call.
    Result { function: FunctionId, args: &'a [ValueId], index: usize },
    /// A parameter.
    Param(usize),
}

/// A function, with what makes its values.
struct Body<'a> {
    function: &'a Function,
    sets: &'a SetTable,
    sources: BTreeMap<ValueId, Source<'a>>,
}

impl<'a> Body<'a> {
    fn new(function: &'a Function, sets: &'a SetTable) -> Body<'a> {
        let params = function.params.iter().enumerate().map(|(index, &param)| (param, Source::Param(index)));
        let mut body = Body { function, sets, sources: params.collect() };
        each_statement(&function.body, &mut |statement| {
            let StmtKind::Let { results, op } = &statement.kind else { return };
            for (index, &result) in results.iter().enumerate() {
                let source = match op {
                    Op::Call { function, args } => Source::Result { function: *function, args, index },
                    _ => Source::Op(op),
                };
                body.sources.insert(result, source);
            }
        });
        body
    }

    fn ty(&self, value: ValueId) -> Type {
        self.function.values[value.0 as usize].ty
    }

    fn are_cells(&self, value: ValueId) -> bool {
        self.ty(value).basic == Basic::Entity(EntityKind::Cell)
    }

    /// True if faces may lie between two cells; others have no gaps.
    fn may_join_cells(&self, faces: ValueId) -> bool {
        let boundary = self.sets.canonical(CanonicalSet::BOUNDARY_FACES);
        let on_boundary = self.ty(faces).within.is_some_and(|within| self.sets.is_subset(within, boundary));
        !on_boundary && !matches!(self.sources.get(&faces), Some(Source::Op(Op::OneCell(_))))
    }

    /// The functions that it runs, each with the values of its parameters.
    fn calls(&self) -> Vec<(FunctionId, Vec<ValueId>)> {
        let mut calls = Vec::new();
        each_statement(&self.function.body, &mut |statement| match &statement.kind {
            StmtKind::Let { op: Op::Call { function, args }, .. } => calls.push((*function, args.clone())),
            StmtKind::Let { op: Op::Newton { residuals, captures, guesses, .. }, .. } => {
                calls.extend(
                    residuals.iter().zip(captures).map(|(residual, captures)| (*residual, [guesses.as_slice(), captures].concat())),
                );
            }
            _ => {}
        });
        calls
    }
}

fn each_statement<'a>(block: &'a Block, f: &mut dyn FnMut(&'a Stmt)) {
    for statement in &block.statements {
        f(statement);
        if let StmtKind::For { body, .. } = &statement.kind {
            each_statement(body, f);
        }
    }
}

/// What functions do with cells that are seen through faces.
struct Calls<'a> {
    bodies: &'a [Body<'a>],
    /// By function and by its parameters that are seen through faces.
    known: BTreeMap<(FunctionId, Params), Use>,
}

/// What a function does with its parameters.
#[derive(Clone, Default)]
struct Use {
    /// Parameters whose gaps it asks for.
    wanted: Params,
    /// Results that are seen through faces.
    results: BTreeSet<usize>,
}

impl Calls<'_> {
    /// The parameters of a function that is called with these values whose gaps it asks for.
    fn way(&mut self, body: &Body<'_>, seen: &Params, function: FunctionId, args: &[ValueId]) -> Params {
        let seen_args = self.seen_args(body, seen, args);
        self.of(function, seen_args).wanted
    }

    /// The arguments of a call that are seen through faces.
    fn seen_args(&mut self, body: &Body<'_>, seen: &Params, args: &[ValueId]) -> Params {
        (0..args.len()).filter(|&index| self.is_seen(body, seen, args[index])).collect()
    }

    /// What a function does where these of its parameters are seen through faces.
    fn of(&mut self, function: FunctionId, seen: Params) -> Use {
        let key = (function, seen);
        if let Some(known) = self.known.get(&key) {
            return known.clone();
        }
        let bodies = self.bodies;
        let found = self.analyse(&bodies[function.0 as usize], &key.1);
        self.known.insert(key, found.clone());
        found
    }

    fn analyse(&mut self, body: &Body<'_>, seen: &Params) -> Use {
        let mut found = Use::default();
        let mut wanted = Vec::new();
        each_statement(&body.function.body, &mut |statement| match &statement.kind {
            StmtKind::Let { op: Op::Centroid(cells), .. } => wanted.push(*cells),
            StmtKind::Return(values) => {
                for (index, &value) in values.iter().enumerate() {
                    if self.is_seen(body, seen, value) {
                        found.results.insert(index);
                        wanted.push(value);
                    }
                }
            }
            _ => {}
        });
        for (callee, args) in body.calls() {
            wanted.extend(self.way(body, seen, callee, &args).into_iter().map(|index| args[index]));
        }
        while let Some(value) = wanted.pop() {
            if !self.is_seen(body, seen, value) {
                continue;
            }
            match body.sources.get(&value) {
                Some(Source::Param(index)) => {
                    found.wanted.insert(*index);
                }
                Some(Source::Op(op)) => wanted.extend(cells_of(op)),
                Some(Source::Result { .. }) | None => {}
            }
        }
        found
    }

    /// True if a value is of cells that are seen through faces.
    fn is_seen(&mut self, body: &Body<'_>, seen: &Params, value: ValueId) -> bool {
        if !body.are_cells(value) {
            return false;
        }
        match body.sources.get(&value) {
            Some(Source::Param(index)) => seen.contains(index),
            Some(Source::Op(Op::SecondCell(faces))) => body.may_join_cells(*faces),
            Some(Source::Op(op)) => cells_of(op).into_iter().any(|part| self.is_seen(body, seen, part)),
            Some(&Source::Result { function, args, index }) => {
                let seen_args = self.seen_args(body, seen, args);
                self.of(function, seen_args).results.contains(&index)
            }
            None => false,
        }
    }
}

/// The cells of which an operation gives some or all.
fn cells_of(op: &Op) -> Vec<ValueId> {
    match *op {
        Op::Select { if_true, if_false, .. } => vec![if_true, if_false],
        Op::On { data, .. } | Op::Extend { data, .. } => vec![data],
        _ => Vec::new(),
    }
}

/// A function that is written anew.
struct Writer<'a, 'b> {
    body: &'b Body<'b>,
    seen: Params,
    calls: &'b mut Calls<'a>,
    ids: &'b BTreeMap<(FunctionId, Params), FunctionId>,
    length: Dimension,
    /// The expression that asks for gaps.
    asking: Span,
    made: Function,
    /// Gaps of parameters and of results of calls.
    given: BTreeMap<ValueId, ValueId>,
}

impl<'a, 'b> Writer<'a, 'b> {
    fn new(
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

    fn finish(self) -> Function {
        self.made
    }

    /// The gaps of parameters, behind all others.
    fn parameters(&mut self) {
        for index in self.seen.clone() {
            let param = self.body.function.params[index];
            let gap = self.new_gap(param);
            self.made.params.push(gap);
            self.given.insert(param, gap);
        }
    }

    fn body(&mut self, block: &Block) {
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
                let body = self.block(body);
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
