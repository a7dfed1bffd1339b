//! Finds what runs when.

use std::collections::BTreeSet;

use super::bytes::number_bytes;
use super::traffic::{Form, Traffic, per_cell, traffic};
use super::{Cartesian, Item, KernelItem, ParamPoints, Part, Points, Report, ResultItem, RoundLength, Steps, When};
use crate::ir::body_usage::BodyUsage;
use crate::ir::reach::{offsets_read, reach};
use crate::ir::{
    Block, CartesianForm, Equation, Function, FunctionId, KBlock, Kernel, KernelId, Module, Op, OpClass, ParamId, Rounds, Space, StmtKind,
    ValueId,
};
use crate::ops::Offset;
use crate::passes::Notes;
use crate::source::{FileId, Span};
use crate::time_steps::{self, TimeLoop};
use crate::types::{Shape, Type};

impl Report {
    /// Builds the report on a module after the passes, which noted their decisions.
    pub fn of(module: &Module, notes: &Notes) -> Report {
        let mut walker = Walker {
            module,
            notes,
            time_loops: time_steps::loops(module),
            dimensions: dimensions(module),
            parts: Vec::new(),
            called: BTreeSet::new(),
            shown: BTreeSet::new(),
        };
        walker.part(When::Once, 0, &module.main, &module.main.body);
        while let Some(&function) = walker.called.difference(&walker.shown).next() {
            walker.shown.insert(function);
            let callee = &module.functions[function.0 as usize];
            let when = When::Call { function: callee.name.clone(), line: walker.line(callee.span) };
            walker.part(when, 0, callee, &callee.body);
        }
        let file = module.source.name().rsplit(['/', '\\']).next().unwrap_or_default().to_owned();
        Report { file, dimensions: walker.dimensions, parts: walker.parts, memory: None, ranks: None }
    }

    /// The parts that run in each round of the innermost loops.
    pub fn steps(&self) -> impl Iterator<Item = &Part> {
        self.parts.iter().filter(|part| matches!(part.when, When::Loop { .. }))
    }

    /// The parts that run in each evaluation of the residuals of a solve.
    pub fn evaluations(&self) -> impl Iterator<Item = &Part> {
        self.parts.iter().filter(|part| matches!(part.when, When::Evaluation { .. }))
    }
}

/// Numbers of space axes that a program can run with, 1 only if it cannot run with others.
fn dimensions(module: &Module) -> Vec<u32> {
    let (mut least, mut exact) = (1, None);
    for kernel in &module.kernels {
        let usage = BodyUsage::from_general_form(kernel, &module.sets);
        exact = exact.max(usage.vector_sizes.last().map(|&size| size as u32));
        least = least.max(usage.largest_component.map_or(1, |index| index + 1));
    }
    match exact {
        Some(exact) => vec![exact],
        None => (least.max(2)..=3).collect(),
    }
}

struct Walker<'a> {
    module: &'a Module,
    notes: &'a Notes,
    time_loops: Vec<TimeLoop>,
    dimensions: Vec<u32>,
    parts: Vec<Part>,
    called: BTreeSet<FunctionId>,
    shown: BTreeSet<FunctionId>,
}

impl Walker<'_> {
    fn line(&self, span: Span) -> u32 {
        if self.module.source.text().is_empty() { 0 } else { self.module.source.line(span.start) }
    }

    /// A part and those inside it, after it.
    fn part(&mut self, when: When, depth: usize, function: &Function, block: &Block) {
        let index = self.parts.len();
        self.parts.push(Part { when, depth, items: Vec::new() });
        for statement in &block.statements {
            let line = self.line(statement.span);
            match &statement.kind {
                StmtKind::Let { results, op } => {
                    if let Some(item) = self.operation(function, results, op, line, depth) {
                        self.parts[index].items.push(item);
                    }
                }
                StmtKind::Launch { kernel, args, results } => {
                    let item = self.kernel(*kernel, Some((function, args, results)));
                    self.parts[index].items.push(Item::Kernel(Box::new(item)));
                }
                StmtKind::For { rounds, body } => {
                    let steps = self.steps(function, *rounds);
                    let length = round_length(function, *rounds, body);
                    self.parts[index].items.push(Item::Loop { line, length, steps });
                    self.part(When::Loop { line }, depth + 1, function, body);
                }
                StmtKind::Store { .. } | StmtKind::Output { .. } | StmtKind::Return(_) => {}
            }
        }
    }

    fn steps(&self, function: &Function, rounds: Rounds) -> Steps {
        let is_main = std::ptr::eq(function, &self.module.main);
        match self.time_loops.iter().find(|time_loop| is_main && time_loop.rounds == rounds).map(|time_loop| time_loop.obstacle) {
            None => Steps::Explicit,
            Some(None) => Steps::Divisible,
            Some(Some((construct, span))) => Steps::Indivisible { construct, line: self.line(span) },
        }
    }

    fn operation(&mut self, function: &Function, results: &[ValueId], op: &Op, line: u32, depth: usize) -> Option<Item> {
        if let Op::Call { function: callee, .. } = op {
            self.called.insert(*callee);
            let name = self.module.functions[callee.0 as usize].name.clone();
            let why = self.notes.call(&name);
            return Some(Item::Call { function: name, line, why });
        }
        if let Op::Newton { residuals, guesses, equations, .. } = op {
            let name = |value: &ValueId| function.values[value.0 as usize].name.clone();
            let unknowns = match equations.first() {
                Some(equation) => {
                    let params = &self.module.kernels[equation.kernel.0 as usize].params;
                    params.iter().take(guesses.len()).map(|p| p.name.clone()).collect()
                }
                None => results.iter().take(guesses.len()).map(name).collect(),
            };
            let untreated = self.notes.untreated.iter().find(|u| self.line(u.span) == line).map(|u| u.construct);
            self.evaluation(residuals, equations, line, depth + 1);
            return Some(Item::Solve { line, unknowns, by_kernels: !equations.is_empty(), untreated });
        }
        let &[result] = results else { return None };
        let value = &function.values[result.0 as usize];
        let why = self.notes.why(&function.name, result).cloned();
        // `computes` classifies every operation.
        computes(op, &value.ty).then(|| Item::Operation {
            name: value.name.clone(),
            line: self.line(value.span),
            operation: operation_name(op),
            why,
        })
    }

    /// The part of a solve that runs in each evaluation.
    fn evaluation(&mut self, residuals: &[FunctionId], equations: &[Equation], line: u32, depth: usize) {
        let index = self.parts.len();
        self.parts.push(Part { when: When::Evaluation { line }, depth, items: Vec::new() });
        for residual in residuals {
            let function = &self.module.functions[residual.0 as usize];
            for statement in &function.body.statements {
                let line = self.line(statement.span);
                let item = match &statement.kind {
                    StmtKind::Let { results, op } => self.operation(function, results, op, line, depth),
                    StmtKind::Launch { kernel, args, results } => {
                        Some(Item::Kernel(Box::new(self.kernel(*kernel, Some((function, args, results))))))
                    }
                    StmtKind::For { rounds, body } => {
                        self.part(When::Loop { line }, depth + 1, function, body);
                        Some(Item::Loop { line, length: round_length(function, *rounds, body), steps: Steps::Explicit })
                    }
                    StmtKind::Store { .. } | StmtKind::Output { .. } | StmtKind::Return(_) => None,
                };
                self.parts[index].items.extend(item);
            }
        }
        for (number, equation) in equations.iter().enumerate() {
            let unknown = self.module.kernels[equation.kernel.0 as usize].params.get(number).map(|p| p.name.clone());
            let item = KernelItem { equation_of: unknown, ..self.kernel(equation.kernel, None) };
            self.parts[index].items.push(Item::Kernel(Box::new(item)));
        }
    }

    /// A kernel; `launch` has the function that launches it, its arguments and results.
    fn kernel(&self, id: KernelId, launch: Option<(&Function, &[ValueId], &[ValueId])>) -> KernelItem {
        let kernel = &self.module.kernels[id.0 as usize];
        let lines: BTreeSet<u32> = kernel.spans.iter().map(|span| self.line(*span)).filter(|line| *line > 0).collect();
        let param_name = |param: ParamId| {
            let argument = launch.and_then(|(function, args, _)| Some((function, *args.get(param.0 as usize)?)));
            let written = argument.and_then(|(function, value)| self.written(function, value));
            written.unwrap_or_else(|| kernel.params[param.0 as usize].name.clone())
        };
        let results = kernel.results.iter().enumerate().map(|(i, result)| {
            let value = launch.and_then(|(function, _, results)| Some((function, *results.get(i)?)));
            ResultItem {
                name: result.name.clone(),
                written: value.and_then(|(function, value)| self.written(function, value)),
                line: match value {
                    Some((function, value)) => self.line(function.values[value.0 as usize].span),
                    None => self.residual_line(kernel),
                },
                why: value.and_then(|(function, value)| self.notes.why(&function.name, value).cloned()),
                before_solve: value.and_then(|(function, value)| self.notes.why_before_solve(&function.name, value).cloned()),
                in_place: result.in_place.map(|p| kernel.params[p.0 as usize].name.clone()),
                replaces: result.in_place.map(param_name),
            }
        });
        let body = kernel.jacobian.as_ref().map_or(&kernel.body, |form| &form.body);
        KernelItem {
            name: kernel.name.clone(),
            lines: lines.into_iter().collect(),
            over: match kernel.space {
                Space::Set(set) => self.module.sets.get(set).name.clone(),
                Space::Unit => String::new(),
            },
            per_cell: self.dimensions.iter().map(|&dim| self.per_cell(kernel.space, dim)).collect(),
            equation_of: None,
            results: results.collect(),
            points: points(kernel, body, param_name),
            checks: kernel.checks.iter().map(|check| check.kind).collect(),
            general: self.counts(kernel, body, Form::General),
            cartesian: match &kernel.cartesian {
                None => match kernel.jacobian.as_ref().and_then(|form| form.cartesian.as_ref()) {
                    Some(body) => Cartesian::Full(self.counts(kernel, body, Form::Cartesian)),
                    None => Cartesian::General,
                },
                Some(CartesianForm::PerAxis(_)) => Cartesian::PerAxis,
                Some(CartesianForm::Full(body)) => Cartesian::Full(self.counts(kernel, body, Form::Cartesian)),
            },
            kernel: id,
            forms: Vec::new(),
        }
    }

    /// Line of the residual of an equation, which stands below the functions that it calls.
    fn residual_line(&self, kernel: &Kernel) -> u32 {
        let is_own = |span: &Span| self.module.source.file_and_line(self.line(*span)).0 == FileId::MAIN;
        let last = kernel.spans.iter().max_by_key(|span| (is_own(span), span.end, span.end - span.start));
        last.map_or(0, |span| self.line(*span))
    }

    fn counts(&self, kernel: &Kernel, body: &KBlock, form: Form) -> Vec<Traffic> {
        self.dimensions.iter().map(|&dim| traffic(kernel, body, form, &self.module.sets, dim, number_bytes(self.module))).collect()
    }

    /// Elements for each cell of a large grid; 0 for sets made at run time, which are small.
    fn per_cell(&self, space: Space, dim: u32) -> f64 {
        match space {
            Space::Set(set) => self.module.sets.get(set).canonical.map_or(0.0, |set| per_cell(set, dim)),
            Space::Unit => 0.0,
        }
    }

    /// A value as the program writes it: its name, as an element of an array, or else its formula.
    fn written(&self, function: &Function, value: ValueId) -> Option<String> {
        let info = &function.values[value.0 as usize];
        if info.name.is_empty() || self.notes.has_generated_name(&function.name, value) {
            let formula = self.module.source.text_of(info.span)?;
            return Some(formula.split_whitespace().collect::<Vec<_>>().join(" ")).filter(|text| !text.is_empty());
        }
        let element = info.array.as_ref().and_then(|array| Some((array, info.name.strip_prefix(array.as_str())?.strip_prefix('_')?)));
        Some(element.map_or_else(|| info.name.clone(), |(array, index)| format!("{array}[{index}]")))
    }
}

/// The cells around its own that a body reads, if it reads by index.
fn points(kernel: &Kernel, body: &KBlock, written: impl Fn(ParamId) -> String) -> Option<Points> {
    let read = offsets_read(body);
    let all: BTreeSet<&Offset> = read.values().flatten().collect();
    if all.iter().all(|by| **by == Offset::default()) {
        return None;
    }
    let params = read.iter().filter(|(_, offsets)| !offsets.is_empty()).map(|(param, offsets)| ParamPoints {
        name: kernel.params[param.0 as usize].name.clone(),
        written: written(*param),
        count: offsets.len(),
        reach: reach(offsets),
    });
    Some(Points { count: all.len(), params: params.collect() })
}

/// True if an operation goes through the elements of a collection.
fn computes(op: &Op, ty: &Type) -> bool {
    match op.class() {
        OpClass::Reduction => true,
        OpClass::Literal
        | OpClass::Text
        | OpClass::Domain
        | OpClass::Load
        | OpClass::Input
        | OpClass::Call
        | OpClass::Solve
        | OpClass::Exchange => false,
        OpClass::Topology | OpClass::Geometry | OpClass::Pointwise | OpClass::Transfer | OpClass::FiniteVolume => {
            matches!(ty.shape, Shape::Collection(_))
        }
    }
}

/// The operation as the language calls it.
fn operation_name(op: &Op) -> &'static str {
    match op {
        Op::FirstCell(_) => "FirstCell",
        Op::SecondCell(_) => "SecondCell",
        Op::Shift { .. } => "reading by index",
        Op::CellFact { .. } | Op::GridNumber(_) => "place in the grid",
        Op::IsEmpty(_) => "IsEmpty",
        Op::OneCell(_) => "check of faces",
        Op::Centroid(_) => "Centroid",
        Op::Normal(_) => "Normal",
        Op::FaceGap(_) => "FaceGap",
        Op::FaceTransmissibility(_) => "FaceTransmissibility",
        Op::Measure(_) => "|...|",
        Op::Unary(..) => "a function of one operand",
        Op::Arithmetic(..) => "arithmetic",
        Op::Compare(..) => "comparison",
        Op::Logic(..) => "logic",
        Op::Select { .. } => "? :",
        Op::On { .. } => "On",
        Op::Extend { .. } | Op::Broadcast { .. } => "Extend",
        Op::Exchange { .. } => "exchange",
        Op::Gradient(_) => "Gradient",
        Op::Divergence(_) => "Divergence",
        Op::FaceReduce { reduction, .. } => reduction.name(),
        Op::Dot(..) => "Dot",
        Op::Component(..) => "[...]",
        Op::Vector(_) => "Vector",
        Op::Math(..) => "a function of two operands",
        Op::Reduce(..) => "reduction",
        Op::Real(_) => "number",
        Op::Bool(_) => "truth value",
        Op::Text(_) | Op::TextIndex(..) => "text",
        Op::CanonicalSet(_) => "domain",
        Op::Where { .. } => "Where",
        Op::Load(_) => "variable",
        Op::InputScalar { .. }
        | Op::InputCollection { .. }
        | Op::InputDomain { .. }
        | Op::InputSequence { .. }
        | Op::InputTable { .. }
        | Op::InputTable2 { .. } => "input",
        Op::Interpolate { .. } => "Interpolate",
        Op::Step(_) => "step",
        Op::Call { .. } => "call",
        Op::Newton { .. } => "NewtonSolve",
    }
}

fn round_length(function: &Function, rounds: Rounds, body: &Block) -> RoundLength {
    match (rounds, time_steps::computed_step(body)) {
        (Rounds::Sequence { .. }, _) => RoundLength::Element,
        (Rounds::Range { .. } | Rounds::While(_), Some(step)) => {
            RoundLength::Computed { name: function.values[step.0 as usize].name.clone() }
        }
        (Rounds::Range { .. } | Rounds::While(_), None) => RoundLength::Round,
    }
}
