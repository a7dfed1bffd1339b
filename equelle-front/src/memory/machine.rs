//! Runs a program over buffers.

use std::collections::{BTreeMap, BTreeSet};

use super::geometry;
use super::lifetime::{groups, last_reads};
use crate::backend::Scratch;
use crate::ir::{
    Block, CartesianForm, Equation, Function, FunctionId, Kernel, KernelId, Module, MutableId, Op, Precision, Space, Stmt, StmtKind,
    UnaryOp, ValueId,
};
use crate::types::{Basic, CanonicalSet, EntityKind, Extent, SetId, Shape, Type};

/// Kinds of array element.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Element {
    /// A number.
    Number,
    /// A truth value.
    Truth,
    /// An entity.
    Entity,
}

/// Buffers that can stand for one another.
type Class = (SetId, Element);

/// The most buffers that live at the same time.
pub(super) type Peaks = BTreeMap<Class, u32>;

/// Rounds of a solve, and of a loop: what the first leaves in variables, the second sees; with what
/// the second leaves, every later one is the same.
const ROUNDS: usize = 3;

/// Rounds of a loop inside others, of which this is the number: each doubles the work, and has been
/// run by those around it.
fn rounds(depth: usize) -> usize {
    match depth {
        0 | 1 => ROUNDS,
        2..=6 => 2,
        _ => 1,
    }
}

/// Operands whose entities an operation reads one by one: where one is a domain, they are listed.
fn entities_read(op: &Op, result: &Type) -> Vec<ValueId> {
    match op {
        Op::Compare(..) | Op::Select { .. } if result.is_domain() => Vec::new(),
        Op::FirstCell(_)
        | Op::SecondCell(_)
        | Op::Shift { .. }
        | Op::CellFact { .. }
        | Op::IsEmpty(_)
        | Op::OneCell(_)
        | Op::Centroid(_)
        | Op::Normal(_)
        | Op::FaceGap(_)
        | Op::FaceTransmissibility(_)
        | Op::Measure(_)
        | Op::On { .. }
        | Op::Compare(..)
        | Op::Select { .. } => op.operands(),
        Op::Extend { data, .. } => vec![*data],
        Op::Real(_)
        | Op::Bool(_)
        | Op::Text(_)
        | Op::TextIndex(..)
        | Op::CanonicalSet(_)
        | Op::Load(_)
        | Op::GridNumber(_)
        | Op::InputScalar { .. }
        | Op::InputCollection { .. }
        | Op::InputDomain { .. }
        | Op::Where { .. }
        | Op::InputSequence { .. }
        | Op::InputTable { .. }
        | Op::InputTable2 { .. }
        | Op::Interpolate { .. }
        | Op::Step(_)
        | Op::Unary(..)
        | Op::Arithmetic(..)
        | Op::Logic(..)
        | Op::Dot(..)
        | Op::Component(..)
        | Op::Vector(_)
        | Op::Math(..)
        | Op::Broadcast { .. }
        | Op::Exchange { .. }
        | Op::Gradient(_)
        | Op::Divergence(_)
        | Op::FaceReduce { .. }
        | Op::Reduce(..)
        | Op::Call { .. }
        | Op::Newton { .. } => Vec::new(),
    }
}

/// Ways to run a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Run {
    /// The generated host program.
    Compiled,
    /// The interpreter with kernels by lanes, whose results are new.
    Lanes,
    /// The interpreter with kernels by elements, on copies of their arguments.
    Elements,
}

/// Numbers that take as much memory as what the latter keeps of an element of a kernel: a list, and
/// each result in it.
const NUMBERS_OF_ROW: usize = 3;
const NUMBERS_OF_RESULT: usize = 4;

/// The peaks of a program on grids of `dim` dimensions.
pub(super) fn peaks(module: &Module, scratch: &[Scratch], dim: u32, cartesian: bool, run: Run) -> Peaks {
    let mut summaries = Vec::with_capacity(module.functions.len());
    for function in &module.functions {
        // A function calls only functions before it.
        let summary = Machine::new(module, scratch, &summaries, dim, cartesian, run).summary(function);
        summaries.push(summary);
    }
    let mut machine = Machine::new(module, scratch, &summaries, dim, cartesian, run);
    machine.function(&module.main, BTreeMap::new());
    machine.peak
}

/// Effect of a call, whatever its arguments.
struct Summary {
    /// Buffers beside those of the caller.
    peak: Peaks,
    /// Parts of each result.
    results: Vec<Vec<Part>>,
    /// Domains whose entities it asks for.
    listed: BTreeSet<SetId>,
}

/// A part of a result.
#[derive(Clone, Copy)]
enum Part {
    /// A buffer of its own; equal numbers are the same one.
    New(Class, usize),
    /// A part of a parameter.
    Param(usize, usize),
}

/// Buffers that a value holds.
#[derive(Clone, Default)]
struct ValueBuffers {
    /// Its buffers, one per component.
    buffers: Vec<usize>,
    /// On a Cartesian grid it is kept as one value per axis.
    per_axis: bool,
}

struct Buffer {
    /// `None` for those of a caller.
    class: Option<Class>,
    handles: u32,
}

struct Machine<'a> {
    module: &'a Module,
    /// Numbers for each face that general bodies keep while they run, by kernel.
    scratch: &'a [Scratch],
    summaries: &'a [Summary],
    dim: u32,
    cartesian: bool,
    run: Run,
    buffers: Vec<Buffer>,
    live: Peaks,
    peak: Peaks,
    listed: BTreeSet<SetId>,
}

/// A function in progress.
#[derive(Default)]
struct Frame {
    values: BTreeMap<ValueId, ValueBuffers>,
    mutables: BTreeMap<MutableId, ValueBuffers>,
    /// Values that are what a mutable held.
    loaded: BTreeMap<ValueId, MutableId>,
    returned: Vec<ValueBuffers>,
    /// Loops around the statement in progress.
    depth: usize,
}

impl<'a> Machine<'a> {
    fn new(module: &'a Module, scratch: &'a [Scratch], summaries: &'a [Summary], dim: u32, cartesian: bool, run: Run) -> Self {
        let (live, peak) = (Peaks::new(), Peaks::new());
        Machine { module, scratch, summaries, dim, cartesian, run, buffers: Vec::new(), live, peak, listed: BTreeSet::new() }
    }

    fn summary(mut self, function: &Function) -> Summary {
        let mut values = BTreeMap::new();
        let mut origins = BTreeMap::new();
        for (number, param) in function.params.iter().enumerate() {
            let ty = function.values[param.0 as usize].ty;
            let mut held = ValueBuffers::default();
            for (part, _) in self.classes(&ty).into_iter().enumerate() {
                origins.insert(self.buffers.len(), (number, part));
                held.buffers.push(self.buffers.len());
                self.buffers.push(Buffer { class: None, handles: 1 });
            }
            values.insert(*param, held);
        }
        let returned = self.function(function, values);
        let parts = |held: &ValueBuffers| {
            let part = |&buffer: &usize| match (origins.get(&buffer), self.buffers[buffer].class) {
                (Some(&(param, part)), _) => Some(Part::Param(param, part)),
                (None, class) => class.map(|class| Part::New(class, buffer)),
            };
            held.buffers.iter().filter_map(part).collect()
        };
        let results = returned.iter().map(parts).collect();
        Summary { results, peak: self.peak, listed: self.listed }
    }

    fn function(&mut self, function: &Function, values: BTreeMap<ValueId, ValueBuffers>) -> Vec<ValueBuffers> {
        let mut frame = Frame { values, ..Frame::default() };
        self.block(function, &mut frame, &function.body);
        frame.returned
    }

    /// Arrays that a value of a type has.
    fn classes(&self, ty: &Type) -> Vec<Class> {
        let Shape::Collection(set) = ty.shape else { return Vec::new() };
        match ty.basic {
            Basic::Scalar => vec![(set, Element::Number)],
            Basic::Vector => vec![(set, Element::Number); self.dim as usize],
            Basic::Bool => vec![(set, Element::Truth)],
            Basic::Entity(_) => vec![(set, Element::Entity)],
            Basic::Text | Basic::Table | Basic::Axis(_) => Vec::new(),
        }
    }

    fn take(&mut self, class: Class) -> usize {
        let live = self.live.entry(class).or_default();
        *live += 1;
        let peak = self.peak.entry(class).or_default();
        *peak = (*peak).max(*live);
        self.buffers.push(Buffer { class: Some(class), handles: 1 });
        self.buffers.len() - 1
    }

    fn new_value(&mut self, ty: &Type) -> ValueBuffers {
        ValueBuffers { buffers: self.classes(ty).into_iter().map(|class| self.take(class)).collect(), per_axis: false }
    }

    fn share(&mut self, held: &ValueBuffers) -> ValueBuffers {
        held.buffers.iter().for_each(|&buffer| self.buffers[buffer].handles += 1);
        held.clone()
    }

    fn drop(&mut self, held: ValueBuffers) {
        for buffer in held.buffers {
            let buffer = &mut self.buffers[buffer];
            buffer.handles = buffer.handles.saturating_sub(1);
            if let (0, Some(class)) = (buffer.handles, buffer.class)
                && let Some(live) = self.live.get_mut(&class)
            {
                *live = live.saturating_sub(1);
            }
        }
    }

    /// Buffers for as long as one statement runs.
    fn briefly(&mut self, classes: impl IntoIterator<Item = Class>) {
        let buffers = classes.into_iter().map(|class| self.take(class)).collect();
        self.drop(ValueBuffers { buffers, per_axis: false });
    }

    /// The runtime keeps the entities of a domain that has been asked for them.
    fn list(&mut self, set: SetId) {
        if self.listed.insert(set) {
            self.take((set, Element::Entity));
        }
    }

    fn block(&mut self, function: &Function, frame: &mut Frame, block: &Block) {
        let last = last_reads(&block.statements);
        let mut defined: BTreeSet<ValueId> = BTreeSet::new();
        for group in groups(&block.statements, !self.module.source.text().is_empty()) {
            for statement in &block.statements[group.clone()] {
                self.statement(function, frame, statement);
                defined.extend(statement.defines());
            }
            let dead = |value: &ValueId| last.get(value).is_none_or(|&index| index < group.end);
            let gone: Vec<ValueId> = defined.iter().copied().filter(dead).collect();
            for value in gone {
                defined.remove(&value);
                let held = frame.values.remove(&value).unwrap_or_default();
                self.drop(held);
            }
        }
    }

    fn statement(&mut self, function: &Function, frame: &mut Frame, statement: &Stmt) {
        match &statement.kind {
            StmtKind::Let { results, op } => self.operation(function, frame, results, op),
            StmtKind::Store { mutable, value } => {
                self.list_if_entities(function, *value, &function.mutables[mutable.0 as usize].ty);
                let new = frame.values.get(value).cloned().unwrap_or_default();
                let new = self.share(&new);
                let old = frame.mutables.insert(*mutable, new);
                self.drop(old.unwrap_or_default());
            }
            StmtKind::Output { value, .. } => {
                let ty = function.values[value.0 as usize].ty;
                if let Shape::Domain(set) = ty.shape {
                    self.list(set);
                }
                if frame.values.get(value).is_some_and(|held| held.per_axis) {
                    self.briefly(self.classes(&ty));
                }
            }
            StmtKind::For { body, .. } => {
                for _ in 0..rounds(frame.depth) {
                    frame.depth += 1;
                    self.block(function, frame, body);
                    frame.depth -= 1;
                }
            }
            StmtKind::Launch { kernel, args, results } => self.launch(function, frame, *kernel, args, results),
            StmtKind::Return(values) => {
                for (value, ty) in values.iter().zip(&function.results) {
                    self.list_if_entities(function, *value, ty);
                    let held = frame.values.get(value).cloned().unwrap_or_default();
                    let held = self.share(&held);
                    frame.returned.push(held);
                }
            }
        }
    }

    /// A domain that goes where a collection is wanted gives its entities.
    fn list_if_entities(&mut self, function: &Function, value: ValueId, wanted: &Type) {
        if let Shape::Domain(set) = function.values[value.0 as usize].ty.shape
            && !wanted.is_domain()
        {
            self.list(set);
        }
    }

    fn held(&self, frame: &Frame, value: ValueId) -> ValueBuffers {
        frame.values.get(&value).cloned().unwrap_or_default()
    }

    fn operation(&mut self, function: &Function, frame: &mut Frame, results: &[ValueId], op: &Op) {
        let ty = |value: ValueId| function.values[value.0 as usize].ty;
        if let Op::Call { function: callee, args } = op {
            let held: Vec<ValueBuffers> = args.iter().map(|&arg| self.held(frame, arg)).collect();
            let made = self.call(*callee, &held);
            frame.values.extend(results.iter().copied().zip(made));
            return;
        }
        if let Op::Newton { residuals, captures, guesses, equations, .. } = op {
            return self.newton(function, frame, results, residuals, captures, guesses, equations);
        }
        let &[result] = results else { return };
        let result_ty = ty(result);
        let held = match op {
            Op::Load(mutable) => {
                frame.loaded.insert(result, *mutable);
                let held = frame.mutables.get(mutable).cloned().unwrap_or_default();
                self.share(&held)
            }
            Op::Component(vectors, index) => {
                let part = self.held(frame, *vectors).buffers.get(*index as usize).copied();
                self.share(&ValueBuffers { buffers: part.into_iter().collect(), per_axis: false })
            }
            Op::Vector(components) if matches!(result_ty.shape, Shape::Collection(_)) => {
                let buffers = components.iter().flat_map(|&c| self.held(frame, c).buffers).collect();
                self.share(&ValueBuffers { buffers, per_axis: false })
            }
            // Whichever is chosen stays.
            Op::Select { condition, if_true, if_false } if ty(*condition).shape == Shape::Single => {
                let mut both = self.held(frame, *if_true);
                both.buffers.extend(self.held(frame, *if_false).buffers);
                self.share(&both)
            }
            Op::Extend { data, domain } if ty(*data).mapping() == ty(*domain).mapping() => {
                let held = self.held(frame, *data);
                self.share(&held)
            }
            Op::Unary(UnaryOp::Length, _) | Op::Dot(..) if matches!(result_ty.shape, Shape::Collection(_)) => {
                // A product, the sum so far and the next one.
                let classes = self.classes(&result_ty);
                let times = if self.dim > 1 { 3 } else { 2 };
                self.briefly(classes.iter().flat_map(|&class| [class].repeat(times)));
                self.new_value(&result_ty)
            }
            _ => {
                let domains = entities_read(op, &result_ty).into_iter().filter(|&v| ty(v).is_domain()).filter_map(|v| ty(v).mapping());
                domains.for_each(|set| self.list(set));
                let broadcast: Vec<Class> =
                    op.operands().into_iter().filter(|&v| self.held(frame, v).per_axis).flat_map(|v| self.classes(&ty(v))).collect();
                let extra = ValueBuffers { buffers: broadcast.into_iter().map(|class| self.take(class)).collect(), per_axis: false };
                let made = self.new_value(&result_ty);
                self.drop(extra);
                made
            }
        };
        frame.values.insert(result, held);
    }

    fn call(&mut self, callee: FunctionId, args: &[ValueBuffers]) -> Vec<ValueBuffers> {
        let summaries = self.summaries;
        let Some(summary) = summaries.get(callee.0 as usize) else { return Vec::new() };
        for &set in &summary.listed {
            self.list(set);
        }
        for (&class, &count) in &summary.peak {
            // Lists of entities stay, and have been counted above.
            let listed = u32::from(class.1 == Element::Entity && summary.listed.contains(&class.0));
            let live = self.live.get(&class).copied().unwrap_or(0) + count - listed.min(count);
            let peak = self.peak.entry(class).or_default();
            *peak = (*peak).max(live);
        }
        let mut new = BTreeMap::new();
        let mut results = Vec::with_capacity(summary.results.len());
        for parts in &summary.results {
            let mut held = ValueBuffers::default();
            for part in parts {
                let buffer = match *part {
                    Part::New(class, number) => match new.get(&number) {
                        Some(&buffer) => {
                            self.buffers[buffer as usize].handles += 1;
                            Some(buffer as usize)
                        }
                        None => {
                            let buffer = self.take(class);
                            new.insert(number, buffer as u32);
                            Some(buffer)
                        }
                    },
                    Part::Param(param, part) => {
                        let buffer = args.get(param).and_then(|arg| arg.buffers.get(part)).copied();
                        buffer.into_iter().for_each(|buffer| self.buffers[buffer].handles += 1);
                        buffer
                    }
                };
                held.buffers.extend(buffer);
            }
            results.push(held);
        }
        results
    }

    fn launch(&mut self, function: &Function, frame: &mut Frame, kernel: KernelId, args: &[ValueId], results: &[ValueId]) {
        let module = self.module;
        let kept = self.scratch.get(kernel.0 as usize).copied().unwrap_or_default();
        let kernel = &module.kernels[kernel.0 as usize];
        for (&arg, param) in args.iter().zip(&kernel.params) {
            self.list_if_entities(function, arg, &param.ty);
        }
        let per_axis = self.cartesian && matches!(kernel.cartesian, Some(CartesianForm::PerAxis(_)));
        let general = !self.cartesian || kernel.cartesian.is_none();
        // The general body wants one number per element.
        let mut extra: Vec<Class> = Vec::new();
        for &arg in args {
            if general && self.held(frame, arg).per_axis {
                extra.extend(self.classes(&function.values[arg.0 as usize].ty));
            }
        }
        if let Space::Set(set) = kernel.space {
            for result in kernel.results.iter().filter(|result| result.reduce.is_some()) {
                // Values to reduce are written first, unless leaves are ranges of the elements.
                extra.extend(self.classes(&Type::collection(result.ty.basic, set)));
            }
        }
        extra.extend(self.kept_by_interpreter(function, kernel, args, general));
        if general {
            let cells = module.sets.canonical(CanonicalSet { kind: EntityKind::Cell, extent: Extent::All });
            extra.extend((0..kept.of_cells).map(|_| (cells, Element::Number)));
        }
        let extra = ValueBuffers { buffers: extra.into_iter().map(|class| self.take(class)).collect(), per_axis: false };
        for (number, &result) in results.iter().enumerate() {
            let ty = function.values[result.0 as usize].ty;
            let arg = kernel.results.get(number).and_then(|r| r.in_place).and_then(|param| args.get(param.0 as usize));
            if let Some(held) = arg.and_then(|&arg| self.given_away(frame, arg)) {
                frame.values.insert(result, held);
                continue;
            }
            let held = if per_axis { ValueBuffers { buffers: Vec::new(), per_axis: true } } else { self.new_value(&ty) };
            frame.values.insert(result, held);
        }
        self.drop(extra);
    }

    /// Memory of the interpreter beside the collections of a kernel while it runs.
    fn kept_by_interpreter(&self, function: &Function, kernel: &Kernel, args: &[ValueId], general: bool) -> Vec<Class> {
        let module = self.module;
        match (self.run, module.numbers.precision) {
            (Run::Compiled, _) => Vec::new(),
            (Run::Lanes, _) if general => self.rounded_measures(kernel),
            (Run::Lanes, _) => Vec::new(),
            (Run::Elements, precision) => {
                // These are doubles in either case.
                let times = match precision {
                    Precision::Double => 1,
                    Precision::Single => 2,
                };
                let of_args = args.iter().flat_map(|&arg| self.classes(&function.values[arg.0 as usize].ty));
                let of_args = of_args.flat_map(|class| std::iter::repeat_n(class, if class.1 == Element::Number { times } else { 1 }));
                let row = times * (NUMBERS_OF_ROW + NUMBERS_OF_RESULT * kernel.results.len());
                let of_rows = kernel.space_set().into_iter().flat_map(|set| std::iter::repeat_n((set, Element::Number), row));
                of_args.chain(of_rows).collect()
            }
        }
    }

    /// Measures that the general body of a kernel reads, which are rounded for all of its lanes.
    fn rounded_measures(&self, kernel: &Kernel) -> Vec<Class> {
        let module = self.module;
        if self.run != Run::Lanes || kernel.computes_in(module.numbers) == Precision::Double {
            return Vec::new();
        }
        let set = |kind| (module.sets.canonical(CanonicalSet { kind, extent: Extent::All }), Element::Number);
        geometry::measured(module, kernel).into_iter().map(set).collect()
    }

    /// The buffers of an argument that a result takes, where nothing else has a handle on them; the
    /// argument is gone in any case.
    fn given_away(&mut self, frame: &mut Frame, arg: ValueId) -> Option<ValueBuffers> {
        if self.run != Run::Compiled {
            return None;
        }
        let held = frame.values.remove(&arg).unwrap_or_default();
        // To the host program a value that was loaded is the mutable.
        if let Some(mutable) = frame.loaded.get(&arg)
            && let Some(same) = frame.mutables.remove(mutable)
        {
            self.drop(same);
        }
        let alone = !held.buffers.is_empty() && held.buffers.iter().all(|&buffer| self.buffers[buffer].handles == 1);
        if alone {
            return Some(held);
        }
        self.drop(held);
        None
    }

    #[allow(clippy::too_many_arguments)]
    fn newton(
        &mut self,
        function: &Function,
        frame: &mut Frame,
        results: &[ValueId],
        residuals: &[FunctionId],
        captures: &[Vec<ValueId>],
        guesses: &[ValueId],
        equations: &[Equation],
    ) {
        for (residual, captures) in residuals.iter().zip(captures) {
            let callee = &self.module.functions[residual.0 as usize];
            for (&capture, param) in captures.iter().zip(callee.params.iter().skip(guesses.len())) {
                self.list_if_entities(function, capture, &callee.values[param.0 as usize].ty);
            }
        }
        for equation in equations {
            let params = &self.module.kernels[equation.kernel.0 as usize].params;
            for (&arg, param) in equation.args.iter().zip(params.iter().skip(guesses.len())) {
                self.list_if_entities(function, arg, &param.ty);
            }
        }
        let ty = |value: ValueId| function.values[value.0 as usize].ty;
        let mut iterate: Vec<ValueBuffers> = Vec::with_capacity(guesses.len());
        for &guess in guesses {
            let held = self.held(frame, guess);
            iterate.push(self.share(&held));
        }
        let mut values: Vec<ValueBuffers> = Vec::new();
        let mut carried: Vec<ValueBuffers> = Vec::new();
        for _ in 0..ROUNDS {
            // Values kept per axis are spread, for each kernel and operation that wants it.
            let mut broadcast: Vec<Class> = Vec::new();
            for (held, &guess) in iterate.iter().zip(guesses) {
                if held.per_axis {
                    broadcast.extend(self.classes(&ty(guess)));
                }
            }
            // The form of an equation for Cartesian grids takes it as it is.
            let has_form = |equation: &&Equation| {
                let form = self.module.kernels[equation.kernel.0 as usize].jacobian.as_ref();
                self.cartesian && form.is_some_and(|form| form.cartesian.is_some())
            };
            for &arg in equations.iter().filter(|equation| !has_form(equation)).flat_map(|equation| &equation.args) {
                if self.held(frame, arg).per_axis {
                    broadcast.extend(self.classes(&ty(arg)));
                }
            }
            for equation in equations.iter().filter(|equation| !has_form(equation)) {
                broadcast.extend(self.rounded_measures(&self.module.kernels[equation.kernel.0 as usize]));
            }
            let broadcast = ValueBuffers { buffers: broadcast.into_iter().map(|class| self.take(class)).collect(), per_axis: false };
            // The residual of the iterate before is there until this one is.
            let mut new: Vec<ValueBuffers> = Vec::new();
            for (residual, captures) in residuals.iter().zip(captures) {
                let args: Vec<ValueBuffers> =
                    iterate.iter().cloned().chain(captures.iter().map(|&capture| self.held(frame, capture))).collect();
                let mut results = self.call(*residual, &args).into_iter();
                let value = results.next();
                if equations.is_empty() {
                    new.extend(value);
                } else {
                    value.into_iter().for_each(|value| self.drop(value));
                }
                for held in std::mem::replace(&mut carried, results.collect()) {
                    self.drop(held);
                }
            }
            if !equations.is_empty() {
                for &guess in guesses {
                    new.push(self.new_value(&ty(guess)));
                }
            }
            self.drop(broadcast);
            for old in std::mem::replace(&mut values, new) {
                self.drop(old);
            }
            for (held, &guess) in iterate.iter_mut().zip(guesses) {
                let next = self.new_value(&ty(guess));
                if held.per_axis {
                    self.briefly(self.classes(&ty(guess)));
                }
                let old = std::mem::replace(held, next);
                self.drop(old);
            }
        }
        values.into_iter().chain(carried).for_each(|held| self.drop(held));
        for (index, &result) in results.iter().enumerate() {
            let held = match iterate.get(index) {
                Some(held) => held.clone(),
                None => self.new_value(&ty(result)),
            };
            frame.values.insert(result, held);
        }
    }
}
