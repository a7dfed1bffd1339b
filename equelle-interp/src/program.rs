//! Functions and statements.

use std::collections::BTreeMap;

use equelle_front::checkpoint::checkpoints;
use equelle_front::ir::{
    Block, Carried, CartesianForm, Equation, Function, FunctionId, Module, Op, ParamId, Rounds, Stmt, StmtKind, ValueId,
};
use equelle_front::source::Span;
use equelle_front::state::{self, Checked};
use equelle_front::time_steps::{self, TimeLoop};
use equelle_front::types::{SetId, Shape};
use equelle_runtime::{DerivativeAccess, EquelleRuntime, Error, Observed, RoundLength};

use crate::lifetime::Lifetimes;
use crate::provider::{KernelContext, KernelProvider, kernel_of, line_of};
use crate::value::{Value, defect};
use crate::{Derivatives, Evaluated, Moved, Options};

/// A module being run.
pub(crate) struct Interpreter<'a, R: DerivativeAccess> {
    pub module: &'a Module,
    pub rt: &'a mut R,
    pub options: Options<'a>,
    /// Evaluates kernels.
    pub provider: &'a mut dyn KernelProvider<R>,
    /// The domain that each set is at present.
    pub domains: BTreeMap<SetId, R::Domain>,
    pub lifetimes: Lifetimes,
    /// Set while the first evaluation of equations is wanted; takes it.
    pub wanted: Option<Vec<Evaluated>>,
    /// Where they are wanted.
    pub moved: Option<Moved<'a>>,
}

/// Variables of a function being run.
pub(crate) struct Frame<'a, R: DerivativeAccess> {
    pub function: &'a Function,
    pub(crate) values: Vec<Option<Value<R>>>,
    pub(crate) mutables: Vec<Option<Value<R>>>,
}

impl<'a, R: DerivativeAccess> Frame<'a, R> {
    fn new(function: &'a Function) -> Self {
        Frame {
            function,
            values: function.values.iter().map(|_| None).collect(),
            mutables: function.mutables.iter().map(|_| None).collect(),
        }
    }

    /// Value of an operand, to be changed.
    pub fn value_mut(&mut self, v: ValueId) -> Result<&mut Value<R>, Error> {
        self.values.get_mut(v.0 as usize).and_then(Option::as_mut).ok_or_else(|| defect("a value has not been assigned"))
    }

    /// Value of an operand.
    pub fn value(&self, v: ValueId) -> Result<&Value<R>, Error> {
        self.values.get(v.0 as usize).and_then(Option::as_ref).ok_or_else(|| defect("a value has not been assigned"))
    }
}

impl<'a, R: DerivativeAccess> Interpreter<'a, R> {
    pub fn new(module: &'a Module, rt: &'a mut R, options: Options<'a>, provider: &'a mut dyn KernelProvider<R>) -> Self {
        let lifetimes = Lifetimes::new(module);
        Interpreter { module, rt, options, provider, domains: BTreeMap::new(), lifetimes, wanted: None, moved: None }
    }

    /// The provider of kernels, and what it may use.
    pub fn kernels(&mut self) -> (&mut dyn KernelProvider<R>, KernelContext<'_, R>) {
        let Options { cartesian_forms, .. } = self.options;
        (self.provider, KernelContext { module: self.module, rt: self.rt, cartesian_forms, domains: &mut self.domains })
    }

    pub fn run(mut self) -> Result<(), Error> {
        self.rt.choices(&self.module.choice_lines());
        let end = self.require_grid().and_then(|()| self.whole());
        end.map_err(|error| {
            let error = self.rt.session().examine(error);
            self.rt.session().advise(error)
        })
    }

    /// Refuses a grid that the program cannot run on, and warns where it may be wrong.
    fn require_grid(&mut self) -> Result<(), Error> {
        let line = |span: Span| self.module.source.line(span.start);
        if let Some(structure) = &self.module.structure {
            self.rt.require_cells(structure.cells.map(|n| n as usize), line(structure.span))?;
        }
        if let Some(span) = self.module.stored_positions {
            self.rt.read_stored_positions(line(span));
        }
        self.module.face_geometry.map_or(Ok(()), |span| self.rt.require_face_geometry(line(span)))
    }

    /// The main program, and what is looked at when it ends.
    fn whole(&mut self) -> Result<(), Error> {
        let main = &self.module.main;
        let mut frame = Frame::new(main);
        let checkpoints = checkpoints(self.module);
        for (position, stmt) in main.body.statements.iter().enumerate() {
            let skipped = checkpoints.skipped.iter().find(|run| run.statements.contains(&position));
            // Texts are no state.
            let is_text = matches!(&stmt.kind, StmtKind::Let { op: Op::Text(_) | Op::TextIndex(..), .. });
            match skipped.filter(|run| self.rt.skips_to(run.before)) {
                Some(run) if position == run.statements.start => self.restore_values(&mut frame, &checkpoints, run)?,
                Some(_) | None => {}
            }
            if is_text || !skipped.is_some_and(|run| self.rt.skips_to(run.before)) {
                self.located(&mut frame, stmt)?;
            }
            self.give_back(&mut frame, &main.body, position);
        }
        self.check_state(&frame, &state::at_end(main))?;
        self.rt.finish()
    }

    /// Runs until the first solve by kernels, whose equations are evaluated into `found`.
    pub fn first_solve(mut self, moved: Moved<'a>, found: &mut Vec<Evaluated>) -> Result<(), Error> {
        self.wanted = Some(Vec::new());
        self.moved = Some(moved);
        let end = self.call(&self.module.main, Vec::new());
        *found = self.wanted.take().unwrap_or_default();
        end.map(|_| ())
    }

    /// Line of a place in the Equelle program; 0 when there is no text.
    pub fn line(&self, span: Span) -> u32 {
        line_of(self.module, span)
    }

    /// Runs a function; its results.
    pub fn call(&mut self, function: &'a Function, args: Vec<Value<R>>) -> Result<Vec<Value<R>>, Error> {
        let mut frame = Frame::new(function);
        for (&param, arg) in function.params.iter().zip(args) {
            self.assign(&mut frame, param, arg);
        }
        self.block(&mut frame, &function.body)
    }

    pub(crate) fn assign(&mut self, frame: &mut Frame<'a, R>, v: ValueId, value: Value<R>) {
        if let (Value::Domain(domain), Shape::Domain(set)) = (&value, frame.function.values[v.0 as usize].ty.shape) {
            self.domains.insert(set, domain.clone());
        }
        frame.values[v.0 as usize] = Some(value);
    }

    fn assign_all(&mut self, frame: &mut Frame<'a, R>, results: &[ValueId], values: Vec<Value<R>>) {
        for (&v, value) in results.iter().zip(values) {
            self.assign(frame, v, value);
        }
    }

    /// Runs statements; the values returned, if the last one returns.
    fn block(&mut self, frame: &mut Frame<'a, R>, block: &'a Block) -> Result<Vec<Value<R>>, Error> {
        let mut returned = Vec::new();
        for (position, stmt) in block.statements.iter().enumerate() {
            returned = self.located(frame, stmt)?;
            self.give_back(frame, block, position);
        }
        Ok(returned)
    }

    /// Gives back what nothing after a statement of a block reads.
    fn give_back(&self, frame: &mut Frame<'a, R>, block: &Block, position: usize) {
        for value in self.lifetimes.ended(block, position) {
            frame.values[value.0 as usize] = None;
        }
    }

    /// Runs a statement; its errors have its line.
    fn located(&mut self, frame: &mut Frame<'a, R>, stmt: &'a Stmt) -> Result<Vec<Value<R>>, Error> {
        let line = self.line(stmt.span);
        if line > 0 {
            self.rt.line(line);
        }
        self.statement(frame, stmt).map_err(|error| error.at(line))
    }

    fn statement(&mut self, frame: &mut Frame<'a, R>, stmt: &'a Stmt) -> Result<Vec<Value<R>>, Error> {
        match &stmt.kind {
            StmtKind::Let { results, op } => {
                let values = self.op_results(frame, results, op)?;
                self.assign_all(frame, results, values);
                self.poison(frame, results)?;
            }
            StmtKind::Store { mutable, value } => frame.mutables[mutable.0 as usize] = Some(frame.value(*value)?.clone()),
            StmtKind::Output { tag, value } => {
                let Value::Text(tag) = frame.value(*tag)? else { return Err(defect("the tag of an output is no Text")) };
                match frame.value(*value)? {
                    Value::Scalar(v) => self.rt.output(tag, v)?,
                    Value::Bool(v) => self.rt.output(tag, v)?,
                    Value::Vector(v) => self.rt.output(tag, v)?,
                    Value::Text(v) => self.rt.output_text(tag, v)?,
                    Value::Scalars(v) => self.rt.output(tag, v)?,
                    Value::Vectors(v) => self.rt.output(tag, v)?,
                    Value::Bools(v) => self.rt.output(tag, v)?,
                    Value::Entities(v) => self.rt.output(tag, v)?,
                    Value::Domain(v) => {
                        let entities = self.rt.entities(v)?;
                        self.rt.output(tag, &entities)?;
                    }
                    Value::Sequence(_) => return Err(defect("a Sequence cannot be output")),
                    Value::Table(_) => return Err(defect("a Table cannot be output")),
                }
            }
            StmtKind::For { rounds, body } => {
                let mut state = self.begin_rounds(frame, *rounds, body)?;
                let line = self.line(stmt.span);
                let time_loop = self.time_loop(frame, *rounds);
                let checked = self.checked_in(stmt);
                let checkpoint = self.checkpoint_of(stmt);
                if let Some((checkpoints, position)) = &checkpoint {
                    self.resume(frame, checkpoints, *position, &mut state)?;
                }
                while self.next_round(frame, *rounds, &mut state)? {
                    match &time_loop {
                        Some(time_loop) => self.step(frame, time_loop, body)?,
                        None => {
                            self.block(frame, body)?;
                        }
                    }
                    if !checked.is_empty() && self.rt.samples_state(&state) {
                        self.check_state(frame, &checked)?;
                    }
                    if let Some((checkpoints, position)) = &checkpoint {
                        self.save(frame, checkpoints, *position, &mut state)?;
                    }
                    if checkpoint.is_some() && self.rt.is_observed() {
                        let all = frame.function.mutables.iter().zip(&mut *frame.mutables);
                        let variables = all.filter_map(|(variable, value)| Some((variable.name.as_str(), value.as_mut()?.as_variable())));
                        self.rt.round_is_over(&mut variables.collect::<Vec<_>>())?;
                    }
                    if line > 0 {
                        self.rt.line(line);
                    }
                }
            }
            StmtKind::Launch { kernel, args, results } => {
                let launched = kernel_of(self.module, *kernel)?;
                let mut passed = Vec::with_capacity(args.len());
                for (param, &arg) in (0..).map(ParamId).zip(args) {
                    passed.push(frame.value(arg)?.clone());
                    if launched.result_in(param).is_some() {
                        frame.values[arg.0 as usize] = None;
                    }
                }
                let (provider, mut context) = self.kernels();
                let values = provider.launch(&mut context, *kernel, passed)?;
                self.assign_all(frame, results, values);
                // One value for each axis is the same on all ranks.
                if !matches!(launched.cartesian, Some(CartesianForm::PerAxis(_))) {
                    self.poison(frame, results)?;
                }
            }
            StmtKind::Return(values) => return values.iter().map(|&v| frame.value(v).cloned()).collect(),
        }
        Ok(Vec::new())
    }

    /// State that a loop of the main program's body changes. Where an evaluation is looked for, it
    /// is not checked.
    fn checked_in(&self, stmt: &Stmt) -> Vec<Checked> {
        let main = &self.module.main;
        let number = main.body.statements.iter().position(|other| std::ptr::eq(other, stmt));
        number.filter(|_| self.wanted.is_none()).map_or_else(Vec::new, |number| state::checked_in_round(main, number))
    }

    /// Checks that variables are finite; errors have the lines of their assignments.
    fn check_state(&mut self, frame: &Frame<'a, R>, checked: &[Checked]) -> Result<(), Error> {
        for Checked { mutable, assignment } in checked {
            let line = self.line(*assignment);
            if line > 0 {
                self.rt.line(line);
            }
            let name = &frame.function.mutables[mutable.0 as usize].name;
            let value = frame.mutables[mutable.0 as usize].as_ref().ok_or_else(|| defect("a mutable has not been assigned"))?;
            let result = match value {
                Value::Scalar(v) => self.rt.check(name, v),
                Value::Vector(v) => self.rt.check(name, v),
                Value::Scalars(v) => self.rt.check(name, v),
                Value::Vectors(v) => self.rt.check(name, v),
                Value::Bool(_)
                | Value::Text(_)
                | Value::Bools(_)
                | Value::Entities(_)
                | Value::Domain(_)
                | Value::Sequence(_)
                | Value::Table(_) => Err(defect("state that holds no numbers")),
            };
            result.map_err(|error| error.at(line))?;
        }
        Ok(())
    }

    /// Finds a loop whose steps can be taken again in parts. Where an evaluation is looked for, the
    /// first one ends the run.
    fn time_loop(&self, frame: &Frame<'a, R>, rounds: Rounds) -> Option<TimeLoop> {
        if !std::ptr::eq(frame.function, &self.module.main) || self.wanted.is_some() {
            return None;
        }
        time_steps::loops(self.module).into_iter().find(|time_loop| time_loop.rounds == rounds && time_loop.obstacle.is_none())
    }

    /// The state of a loop before its first round.
    fn begin_rounds(&mut self, frame: &Frame<'a, R>, rounds: Rounds, body: &Block) -> Result<R::Loop, Error> {
        let length = match time_steps::computed_step(body) {
            Some(_) => RoundLength::Computed,
            None => RoundLength::Round,
        };
        match rounds {
            Rounds::Sequence { sequence, .. } => match frame.value(sequence)? {
                Value::Sequence(sequence) => self.rt.begin_loop(sequence),
                _ => Err(defect("a loop is over no Sequence")),
            },
            Rounds::Range { from, below, .. } => match (frame.value(from)?, frame.value(below)?) {
                (Value::Scalar(from), Value::Scalar(below)) => self.rt.begin_range(from, below, length),
                _ => Err(defect("bounds of a loop that are no Scalars")),
            },
            Rounds::While(_) => self.rt.begin_rounds(length),
        }
    }

    /// True if there is another round; its element is assigned.
    fn next_round(&mut self, frame: &mut Frame<'a, R>, rounds: Rounds, state: &mut R::Loop) -> Result<bool, Error> {
        match rounds {
            Rounds::Sequence { element, .. } | Rounds::Range { element, .. } => {
                let next = self.rt.next(state)?;
                let is_there = next.is_some();
                if let Some(scalar) = next {
                    self.assign(frame, element, Value::Scalar(scalar));
                }
                Ok(is_there)
            }
            Rounds::While(condition) => match &frame.mutables[condition.0 as usize] {
                Some(Value::Bool(condition)) => self.rt.goes_on(state, condition),
                _ => Err(defect("the condition of a loop is no Bool")),
            },
        }
    }

    /// A round of a loop as a function from its mutable variables and the step.
    fn step(&mut self, frame: &mut Frame<'a, R>, time_loop: &TimeLoop, body: &'a Block) -> Result<(), Error> {
        let (module, options, domains) = (self.module, self.options, &mut self.domains);
        let (provider, lifetimes) = (&mut *self.provider, self.lifetimes.clone());
        let (function, values, before) = (frame.function, &frame.values, frame.mutables.clone());
        // Values of the body are not visible after it.
        let mut run = |rt: &mut R, step: Option<(ValueId, &R::Scalar)>, mutables| {
            let (domains_then, provider) = (std::mem::take(domains), &mut *provider);
            let lifetimes = lifetimes.clone();
            let mut inner = Interpreter { module, rt, options, provider, domains: domains_then, lifetimes, wanted: None, moved: None };
            let mut frame = Frame { function, values: values.clone(), mutables };
            if let Some((element, step)) = step {
                inner.assign(&mut frame, element, Value::Scalar(step.clone()));
            }
            let end = inner.block(&mut frame, body);
            *domains = inner.domains;
            end.map(|_| frame.mutables)
        };
        frame.mutables = match time_loop.rounds {
            Rounds::Sequence { element, .. } => {
                let Value::Scalar(step) = frame.value(element)?.clone() else { return Err(defect("a step that is no Scalar")) };
                self.rt.step(&step, time_loop.opening, before, &mut |rt, step, mutables| run(rt, Some((element, step)), mutables))?
            }
            Rounds::Range { .. } | Rounds::While(_) => self.rt.round(before, &mut |rt, mutables| run(rt, None, mutables))?,
        };
        Ok(())
    }

    fn op_results(&mut self, frame: &mut Frame<'a, R>, results: &[ValueId], op: &Op) -> Result<Vec<Value<R>>, Error> {
        match op {
            Op::Load(mutable) => {
                let value = frame.mutables[mutable.0 as usize].clone();
                Ok(vec![value.ok_or_else(|| defect("a mutable has not been assigned"))?])
            }
            Op::Exchange { value, depth } => match frame.value_mut(*value)? {
                Value::Scalars(values) => self.rt.exchange(values, *depth).map(|()| Vec::new()),
                Value::Vectors(values) => self.rt.exchange(values, *depth).map(|()| Vec::new()),
                Value::Bools(values) => self.rt.exchange(values, *depth).map(|()| Vec::new()),
                _ => Err(defect("an exchange of what is no collection of numbers or truth values")),
            },
            Op::Call { function, args } => {
                let function = self.module.functions.get(function.0 as usize).ok_or_else(|| defect("there is no such function"))?;
                let args = args.iter().map(|&v| frame.value(v).cloned()).collect::<Result<Vec<_>, _>>()?;
                self.call(function, args)
            }
            Op::Newton { residuals, captures, guesses, equations, .. }
                if !equations.is_empty() && self.options.derivatives == Derivatives::Kernels =>
            {
                self.newton_by_kernels(frame, residuals, captures, guesses, equations)
            }
            Op::Newton { residuals, captures, guesses, carried, equations } => {
                self.newton(frame, residuals, captures, guesses, carried, equations)
            }
            op => {
                let [result] = results else { return Err(defect("an operation has one result")) };
                let ty = frame.function.values[result.0 as usize].ty;
                Ok(vec![self.operation(frame, op, ty)?])
            }
        }
    }

    fn newton(
        &mut self,
        frame: &Frame<'a, R>,
        residuals: &[FunctionId],
        captures: &[Vec<ValueId>],
        guesses: &[ValueId],
        carried: &[Carried],
        kernels: &[Equation],
    ) -> Result<Vec<Value<R>>, Error> {
        let compared = if self.options.derivatives == Derivatives::Both { self.equations(frame, kernels)? } else { Vec::new() };
        let values = |ids: &[ValueId]| ids.iter().map(|&v| frame.value(v).cloned()).collect::<Result<Vec<_>, _>>();
        let mut equations = Vec::with_capacity(residuals.len());
        for (function, captures) in residuals.iter().zip(captures) {
            let function = self.module.functions.get(function.0 as usize).ok_or_else(|| defect("there is no such function"))?;
            equations.push((function, values(captures)?));
        }
        let mut guesses = values(guesses)?.into_iter().map(scalars).collect::<Result<Vec<_>, _>>()?;
        self.move_guesses(&mut guesses, kernels)?;
        let wanted = self.wanted.is_some() && !kernels.is_empty();
        let mut evaluated = Vec::new();
        let (module, options, domains) = (self.module, self.options, &self.domains);
        let (provider, lifetimes) = (&mut *self.provider, self.lifetimes.clone());
        let mut last: Vec<Option<Value<R>>> = vec![None; carried.len()];
        let solution = self.rt.newton(&guesses, &mut |rt, unknowns| {
            let provider = &mut *provider;
            let (domains, lifetimes) = (domains.clone(), lifetimes.clone());
            let mut inner = Interpreter { module, rt, options, provider, domains, lifetimes, wanted: None, moved: None };
            let mut values = Vec::with_capacity(equations.len());
            for number in 0..equations.len() {
                let (function, captures) = &equations[number];
                let args = unknowns.iter().cloned().map(Value::Scalars).chain(captures.iter().cloned()).collect();
                let mut results = inner.call(function, args)?.into_iter();
                values.push(scalars(results.next().ok_or_else(|| defect("a residual has a result"))?)?);
                for (place, result) in (1..).zip(results) {
                    let written = |variable: &Carried| variable.writes.contains(&(number as u32, place));
                    let Some(variable) = carried.iter().position(written) else { return Err(defect("a residual has one result")) };
                    let value = match result {
                        Value::Scalars(v) => Value::Scalars(inner.rt.without_derivatives(&v)),
                        Value::Vectors(v) => Value::Vectors(inner.rt.vectors_without_derivatives(&v)),
                        other => other,
                    };
                    for &(residual, capture) in &carried[variable].reads {
                        inner.rt.assign(&mut equations[residual as usize].1[capture as usize], value.clone());
                    }
                    inner.rt.assign(&mut last[variable], Some(value));
                }
            }
            for ((kernel, args), by_operations) in compared.iter().zip(&values) {
                let by_kernel = inner.equation(*kernel, unknowns, args)?;
                inner.agree(*kernel, by_operations, &by_kernel)?;
            }
            if wanted {
                evaluated = values.iter().map(|equation| inner.evaluated(equation)).collect::<Result<Vec<_>, _>>()?;
                return Err(defect("the run ends here"));
            }
            Ok(values)
        });
        if wanted {
            self.wanted = Some(evaluated);
            return Err(defect("the run ends at its first solve"));
        }
        let solution = solution?;
        let mut results: Vec<Value<R>> = solution.into_iter().map(Value::Scalars).collect();
        for value in last {
            results.push(value.ok_or_else(|| defect("a variable that residuals assign has no value"))?);
        }
        Ok(results)
    }
}

pub(crate) fn scalars<R: EquelleRuntime>(value: Value<R>) -> Result<R::ScalarCollection, Error> {
    match value {
        Value::Scalars(values) => Ok(values),
        other => Err(defect(format!("an unknown of Newton's method is {}", other.kind()))),
    }
}
