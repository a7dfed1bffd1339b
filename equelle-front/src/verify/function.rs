//! Functions and statements: single assignment, scopes, types.

use crate::ir::liveness::ends_at;
use crate::ir::{Block, Function, IrLocation, Module, Owner, Rounds, Stmt, StmtKind, ValueId};
use crate::source::Span;
use crate::types::{Basic, Shape, Type};
use crate::verify::rules::{Context, result_types};
use crate::verify::types::{assignable, check_type, show};
use crate::verify::{VerifyError, kernel};

pub(super) fn check(module: &Module, owner: Owner, function: &Function, unique: bool, errors: &mut Vec<VerifyError>) {
    let mut checker = Checker {
        module,
        owner,
        function,
        state: vec![State::Unassigned; function.values.len()],
        stored: vec![false; function.mutables.len()],
        statements: 0,
        location: IrLocation::Function(owner),
        span: function.span,
        errors,
    };
    checker.function(unique);
}

/// Assignment and scope of a value so far.
#[derive(Clone, Copy, PartialEq)]
enum State {
    Unassigned,
    Visible,
    OutOfScope,
}

struct Checker<'a> {
    module: &'a Module,
    owner: Owner,
    function: &'a Function,
    state: Vec<State>,
    /// Mutables surely stored to.
    stored: Vec<bool>,
    statements: u32,
    location: IrLocation,
    span: Span,
    errors: &'a mut Vec<VerifyError>,
}

impl Checker<'_> {
    fn error(&mut self, message: impl Into<String>) {
        let within = match self.owner {
            Owner::Main => "main".to_owned(),
            Owner::Function(_) => format!("function {}", self.function.name),
        };
        self.errors.push(VerifyError { location: self.location, within, span: self.span, message: message.into() });
    }

    fn name(&self, v: ValueId) -> String {
        match self.function.values.get(v.0 as usize) {
            Some(value) if !value.name.is_empty() => format!("`{}`", value.name),
            Some(_) | None => format!("value {}", v.0),
        }
    }

    fn type_of(&self, v: ValueId) -> Type {
        self.function.values.get(v.0 as usize).map_or(Type::SCALAR, |value| value.ty)
    }

    fn shown(&self, ty: &Type) -> String {
        show(&self.module.sets, ty)
    }

    fn function(&mut self, unique: bool) {
        if !unique {
            self.error("another function has this name");
        }
        for i in 0..self.function.values.len() {
            if let Err(message) = check_type(&self.module.sets, &self.function.values[i].ty) {
                let name = self.name(ValueId(i as u32));
                return self.error(format!("{name}: {message}"));
            }
        }
        for mutable in &self.function.mutables {
            if let Err(message) = check_type(&self.module.sets, &mutable.ty) {
                return self.error(format!("mutable `{}`: {message}", mutable.name));
            }
        }
        if self.owner == Owner::Main && !(self.function.params.is_empty() && self.function.results.is_empty()) {
            self.error("the main program has no parameters and no results");
        }
        for &param in &self.function.params {
            self.assign(param);
        }
        self.block(&self.function.body, true);
        let returns = matches!(self.function.body.statements.last(), Some(Stmt { kind: StmtKind::Return(_), .. }));
        if !returns && !self.function.results.is_empty() {
            self.location = IrLocation::Function(self.owner);
            self.error("a function with results ends with a return");
        }
    }

    fn assign(&mut self, v: ValueId) {
        match self.state.get(v.0 as usize) {
            None => self.error("a value that is not in the table is assigned"),
            Some(State::Unassigned) => self.state[v.0 as usize] = State::Visible,
            Some(State::Visible | State::OutOfScope) => {
                let name = self.name(v);
                self.error(format!("{name} is assigned twice"));
            }
        }
    }

    /// Reports whether the value may be read here.
    fn read(&mut self, v: ValueId) -> bool {
        match self.state.get(v.0 as usize) {
            Some(State::Visible) => return true,
            Some(State::OutOfScope) => {
                let name = self.name(v);
                self.error(format!("{name} is used outside the loop that assigns it"));
            }
            Some(State::Unassigned) => {
                let name = self.name(v);
                self.error(format!("{name} is used before it is assigned"));
            }
            None => self.error("a value that is not in the table is used"),
        }
        false
    }

    fn read_all(&mut self, values: &[ValueId]) -> bool {
        // Not `all`, which would stop at the first one that may not be read.
        values.iter().filter(|v| !self.read(**v)).count() == 0
    }

    /// Checks what a loop reads before its first round, and a condition read before each.
    fn rounds(&mut self, rounds: Rounds) {
        match rounds {
            Rounds::Sequence { sequence, .. } => {
                if self.read(sequence) && self.type_of(sequence) != Type::SEQUENCE {
                    self.error("a loop is over a Sequence");
                }
            }
            Rounds::Range { from, below, .. } => {
                for bound in [from, below] {
                    if self.read(bound) && self.type_of(bound) != Type::SCALAR {
                        self.error("the bounds of a loop are Scalars");
                    }
                }
            }
            Rounds::While(condition) => match self.function.mutables.get(condition.0 as usize) {
                None => self.error("there is no such mutable"),
                Some(mutable) if mutable.ty != Type::BOOL => {
                    let message =
                        format!("mutable `{}` is looked at before each round and is {}, not a Bool", mutable.name, self.shown(&mutable.ty));
                    self.error(message);
                }
                Some(mutable) if !self.stored[condition.0 as usize] => {
                    self.error(format!("mutable `{}` is read before it is surely assigned", mutable.name));
                }
                Some(_) => {}
            },
        }
    }

    fn block(&mut self, block: &Block, outermost: bool) {
        for (i, stmt) in block.statements.iter().enumerate() {
            self.location = IrLocation::Statement(self.owner, self.statements);
            self.statements += 1;
            self.span = stmt.span;
            self.in_place(block, i);
            if matches!(stmt.kind, StmtKind::Return(_)) && !(outermost && i + 1 == block.statements.len()) {
                self.error("a return is the last statement of a function");
            }
            self.statement(stmt);
        }
    }

    /// Checks that nothing reads an argument whose memory a result of a kernel has taken.
    fn in_place(&mut self, block: &Block, index: usize) {
        let StmtKind::Launch { kernel, args, .. } = &block.statements[index].kind else { return };
        let Some(kernel) = self.module.kernels.get(kernel.0 as usize) else { return };
        for result in &kernel.results {
            let arg = result.in_place.and_then(|param| args.get(param.0 as usize));
            if let Some(&arg) = arg
                && !ends_at(block, index, arg)
            {
                let message = format!("`{}` takes the memory of {}, which is read or held after the launch", result.name, self.name(arg));
                self.error(message);
            }
        }
    }

    fn statement(&mut self, stmt: &Stmt) {
        match &stmt.kind {
            StmtKind::Let { results, op } => {
                if let crate::ir::Op::Load(m) = op
                    && self.stored.get(m.0 as usize) == Some(&false)
                {
                    let name = &self.function.mutables[m.0 as usize].name;
                    self.error(format!("mutable `{name}` is read before it is surely assigned"));
                }
                if let crate::ir::Op::Call { function, .. } = op {
                    self.callee(function.0);
                }
                if let crate::ir::Op::Newton { residuals, .. } = op {
                    residuals.iter().for_each(|f| self.callee(f.0));
                }
                if self.read_all(&op.operands()) {
                    let declared: Vec<Type> = results.iter().map(|&v| self.type_of(v)).collect();
                    let type_of = |v: ValueId| self.type_of(v);
                    let context = Context { module: self.module, mutables: &self.function.mutables, type_of: &type_of };
                    let types = result_types(&context, op, &declared);
                    self.results(results, types);
                }
                results.iter().for_each(|&v| self.assign(v));
            }
            StmtKind::Store { mutable, value } => {
                let readable = self.read(*value);
                match self.function.mutables.get(mutable.0 as usize) {
                    None => self.error("there is no such mutable"),
                    Some(m) => {
                        self.stored[mutable.0 as usize] = true;
                        let (from, to) = (self.type_of(*value), m.ty);
                        if readable && !assignable(&self.module.sets, &from, &to) {
                            let message = format!("mutable `{}` is {}, not {}", m.name, self.shown(&to), self.shown(&from));
                            self.error(message);
                        }
                    }
                }
            }
            StmtKind::Output { tag, value } => {
                if self.read(*tag) && self.type_of(*tag) != Type::TEXT {
                    self.error("the tag of an output is Text");
                }
                if self.read(*value) {
                    let ty = self.type_of(*value);
                    let fits = match ty.shape {
                        Shape::Single => !matches!(ty.basic, Basic::Entity(_)),
                        Shape::Collection(_) | Shape::Domain(_) => true,
                        Shape::Sequence => false,
                    };
                    if !fits {
                        let message = format!("a single value or a collection can be output, not {}", self.shown(&ty));
                        self.error(message);
                    }
                }
            }
            StmtKind::For { rounds, body } => {
                self.rounds(*rounds);
                let element = rounds.element();
                if let Some(element) = element {
                    if self.type_of(element) != Type::SCALAR {
                        self.error("the element of a loop is a Scalar");
                    }
                    self.assign(element);
                }
                let before = self.state.clone();
                let stored = self.stored.clone();
                // The element belongs to the body too.
                self.block(body, false);
                // The body may not run at all.
                self.stored = stored;
                for (now, then) in self.state.iter_mut().zip(&before) {
                    if *now == State::Visible && *then == State::Unassigned {
                        *now = State::OutOfScope;
                    }
                }
                if let Some(state) = element.and_then(|element| self.state.get_mut(element.0 as usize)) {
                    *state = State::OutOfScope;
                }
            }
            StmtKind::Launch { kernel, args, results } => {
                if self.read_all(args) {
                    let args: Vec<Type> = args.iter().map(|&v| self.type_of(v)).collect();
                    match self.module.kernels.get(kernel.0 as usize) {
                        None => self.error("there is no such kernel"),
                        Some(k) => {
                            for message in kernel::check_arguments(&self.module.sets, k, &args) {
                                self.error(message);
                            }
                            self.results(results, Ok(k.results.iter().map(|r| r.ty).collect()));
                        }
                    }
                }
                results.iter().for_each(|&v| self.assign(v));
            }
            StmtKind::Return(values) => {
                if self.read_all(values) {
                    let types: Vec<Type> = values.iter().map(|&v| self.type_of(v)).collect();
                    let expected = &self.function.results;
                    let fits =
                        types.len() == expected.len() && types.iter().zip(expected).all(|(a, b)| assignable(&self.module.sets, a, b));
                    if !fits {
                        self.error("the values returned are not of the types of the function's results");
                    }
                }
            }
        }
    }

    /// A function calls only functions before it, so that there is no recursion.
    fn callee(&mut self, id: u32) {
        if let Owner::Function(own) = self.owner
            && id >= own.0
        {
            self.error("a function calls only functions before it");
        }
    }

    /// Results of a statement against the types it gives.
    fn results(&mut self, results: &[ValueId], types: Result<Vec<Type>, String>) {
        let types = match types {
            Ok(types) => types,
            Err(message) => return self.error(message),
        };
        if types.len() != results.len() {
            return self.error(format!("{} results are assigned, but there are {}", results.len(), types.len()));
        }
        for (&v, ty) in results.iter().zip(&types) {
            let declared = self.type_of(v);
            if !assignable(&self.module.sets, ty, &declared) {
                let message = format!("{} is {}, but what is assigned is {}", self.name(v), self.shown(&declared), self.shown(ty));
                self.error(message);
            }
        }
    }
}
