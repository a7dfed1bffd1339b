//! Solve loops: residuals substituted where their Newton solve stands.

use std::cell::LazyCell;
use std::collections::{BTreeMap, BTreeSet};

use super::super::analysis::Defs;
use super::super::fuse::{EquationKernel, Equations, NotBuilt, RepeatLimit};
use super::super::inline::inline_body;
use super::super::{Notes, dce, hoist, simplify};
use super::reverse::Obstacle;
use super::{NotDifferentiated, with_jacobian};
use crate::cost::CostModel;
use crate::ir::{
    Block, Equation, Function, FunctionId, Kernel, KernelId, Module, Mutable, MutableId, Op, OpClass, RESIDUAL, Rounds, Stmt, StmtKind,
    Value, ValueId,
};
use crate::lower::UniqueNames;
use crate::source::Span;
use crate::types::{CanonicalSet, Dimension, Extent, SetId, SetTable, Shape, Type};

/// Operations of a residual that are substituted into one another; each may need a level of the
/// stack.
const MAX_STATEMENTS: usize = 1_000;

/// Treats every solve of a module.
pub(super) fn treat(module: &mut Module, model: &CostModel, notes: &mut Notes) {
    let mut names = UniqueNames::default();
    for kernel in &module.kernels {
        names.unique(&kernel.name);
    }
    for index in 0..=module.functions.len() {
        let function = module.functions.get(index).unwrap_or(&module.main);
        if !solves(&function.body) {
            continue;
        }
        // A solve that turns out to have an obstacle stays as it is, with nothing of it before it:
        // then all is done again without it.
        let mut left: BTreeMap<usize, NotDifferentiated> = BTreeMap::new();
        let treated = loop {
            let (mut names, mut notes) = (names.clone(), notes.clone());
            match attempt(module, function, model, &mut left, &mut names, &mut notes) {
                Attempt::Again => {}
                Attempt::Nothing => break None,
                Attempt::Done { function, kernels } => break Some((function, kernels, names, notes)),
            }
        };
        if let Some((function, kernels, new_names, new_notes)) = treated {
            (names, *notes) = (new_names, new_notes);
            module.kernels.extend(kernels);
            *module.functions.get_mut(index).unwrap_or(&mut module.main) = function;
        }
        notes.untreated.extend(left.into_values());
    }
}

enum Attempt {
    /// A solve turned out to have an obstacle.
    Again,
    /// No solve can be treated.
    Nothing,
    /// The function with its solves treated, and their kernels.
    Done { function: Function, kernels: Vec<Kernel> },
}

/// Treats the solves of a function but those that have been `left`, by their number, and adds those
/// that cannot be treated.
fn attempt(
    module: &Module,
    function: &Function,
    model: &CostModel,
    left: &mut BTreeMap<usize, NotDifferentiated>,
    names: &mut UniqueNames,
    notes: &mut Notes,
) -> Attempt {
    let mut whole = function.clone();
    let defs = Defs::of(function);
    let mut embedder = Embedder {
        function: &mut whole,
        defs,
        callees: &module.functions,
        sets: &module.sets,
        solves: Vec::new(),
        number: 0,
        left: std::mem::take(left),
    };
    let body = std::mem::take(&mut embedder.function.body);
    embedder.function.body = embedder.block(body);
    let Embedder { solves, left: found, .. } = embedder;
    *left = found;
    if solves.is_empty() {
        return Attempt::Nothing;
    }
    simplify::run(&mut whole, &module.sets);
    hoist::run(&mut whole, &module.sets);
    dce::run(&mut whole, &module.sets);
    let before = left.len();
    let (mut kernels, mut found) = (Vec::new(), BTreeMap::new());
    for (solve, made) in solves.iter().zip(equations(&whole, &module.sets, model, &solves, names, notes)) {
        match made {
            Ok((made, equations)) => {
                let first = module.kernels.len() + kernels.len();
                kernels.extend(made);
                let numbered = equations.into_iter().zip(first..).map(|(args, k)| Equation { kernel: KernelId(k as u32), args });
                found.insert(solve.sequence, numbered.collect());
            }
            Err(construct) => {
                left.insert(solve.number, NotDifferentiated { span: solve.span, construct });
            }
        }
    }
    if left.len() > before {
        return Attempt::Again;
    }
    let body = std::mem::take(&mut whole.body);
    whole.body = without_loops(body, &mut found, &solves);
    // Those of solve loops are gone.
    whole.mutables.truncate(function.mutables.len());
    dce::run(&mut whole, &module.sets);
    Attempt::Done { function: whole, kernels }
}

fn solves(block: &Block) -> bool {
    block.statements.iter().any(|statement| match &statement.kind {
        StmtKind::Let { op: Op::Newton { .. }, .. } => true,
        StmtKind::For { body, .. } => solves(body),
        StmtKind::Let { .. } | StmtKind::Store { .. } | StmtKind::Output { .. } | StmtKind::Launch { .. } | StmtKind::Return(_) => false,
    })
}

/// A solve loop. Its body ends with a `Return` of the residuals.
struct Solve {
    /// Names the loop: its sequence, which nothing defines.
    sequence: ValueId,
    unknowns: Vec<ValueId>,
    /// A variable for each unknown, which makes it depend on the loop.
    mutables: Vec<MutableId>,
    span: Span,
    /// Its number among the solves of the function.
    number: usize,
}

struct Embedder<'a> {
    function: &'a mut Function,
    /// Definitions of the function, and of the residuals substituted so far.
    defs: Defs,
    callees: &'a [Function],
    sets: &'a SetTable,
    solves: Vec<Solve>,
    /// Number of solves visited.
    number: usize,
    /// Those that stay as they are, by number.
    left: BTreeMap<usize, NotDifferentiated>,
}

impl Embedder<'_> {
    fn block(&mut self, block: Block) -> Block {
        let mut out = Vec::with_capacity(block.statements.len());
        for statement in block.statements {
            let Stmt { kind, span } = statement;
            let kind = match kind {
                StmtKind::Let { results, op: Op::Newton { residuals, captures, guesses, carried, equations } } => {
                    let number = self.number;
                    self.number += 1;
                    if !self.left.contains_key(&number) {
                        let embedded = match self.obstacle(&residuals, &guesses, carried.is_empty()) {
                            None => self.embed(&residuals, &captures, &guesses, (number, span)),
                            Some(construct) => Err(construct),
                        };
                        match embedded {
                            Ok(solve_loop) => out.push(solve_loop),
                            Err(construct) => {
                                self.left.insert(number, NotDifferentiated { span, construct });
                            }
                        }
                    }
                    StmtKind::Let { results, op: Op::Newton { residuals, captures, guesses, carried, equations } }
                }
                kind => kind.map_body(|body| self.block(body)),
            };
            out.push(Stmt { kind, span });
        }
        Block { statements: out }
    }

    fn ty(&self, value: ValueId) -> Type {
        self.function.values[value.0 as usize].ty
    }

    fn value(&mut self, ty: Type, name: &str, dim: Dimension) -> ValueId {
        self.function.values.push(Value { ty, name: name.to_owned(), dim, span: Span::default(), storage: None, array: None });
        ValueId(self.function.values.len() as u32 - 1)
    }

    /// Returns the construct that keeps residuals from being substituted.
    fn obstacle(&self, residuals: &[FunctionId], guesses: &[ValueId], nothing_carried: bool) -> Option<Obstacle> {
        if !nothing_carried {
            return Some("a variable that the residual assigns");
        }
        if guesses.iter().any(|&g| !matches!(self.ty(g).shape, Shape::Collection(_))) {
            return Some("an unknown that is a Scalar");
        }
        if residuals.iter().any(|r| self.callees[r.0 as usize].body.statements.len() > MAX_STATEMENTS) {
            return Some("a residual of thousands of operations");
        }
        residuals.iter().find_map(|r| {
            self.callees[r.0 as usize].body.statements.iter().find_map(|s| match &s.kind {
                StmtKind::For { .. } => Some("a loop"),
                StmtKind::Let { op, .. } => match op.class() {
                    OpClass::Call => Some("a call of a function that is too large to be substituted"),
                    OpClass::Solve => Some("a solve inside the residual"),
                    OpClass::Input => Some("an input"),
                    OpClass::Exchange => Some("an exchange"),
                    OpClass::Literal
                    | OpClass::Text
                    | OpClass::Domain
                    | OpClass::Load
                    | OpClass::Topology
                    | OpClass::Geometry
                    | OpClass::Pointwise
                    | OpClass::Transfer
                    | OpClass::FiniteVolume
                    | OpClass::Reduction => None,
                },
                StmtKind::Launch { .. } => Some("a kernel"),
                StmtKind::Store { .. } | StmtKind::Output { .. } | StmtKind::Return(_) => None,
            })
        })
    }

    /// The solve loop of a solve, which has this number and place.
    fn embed(
        &mut self,
        residuals: &[FunctionId],
        captures: &[Vec<ValueId>],
        guesses: &[ValueId],
        (number, span): (usize, Span),
    ) -> Result<Stmt, Obstacle> {
        let sequence = self.value(Type::SEQUENCE, "", Dimension::NONE);
        let element = self.value(Type::SCALAR, "", Dimension::NONE);
        let mut body = Vec::new();
        let mut solve = Solve { sequence, unknowns: Vec::new(), mutables: Vec::new(), span, number };
        let first = self.callees[residuals[0].0 as usize].params.clone();
        for (&guess, param) in guesses.iter().zip(first) {
            let (ty, dim) = (self.ty(guess), self.function.values[guess.0 as usize].dim);
            let name = self.callees[residuals[0].0 as usize].values[param.0 as usize].name.clone();
            let unknown = self.value(ty, &name, dim);
            let mutable = MutableId(self.function.mutables.len() as u32);
            self.function.mutables.push(Mutable { name, ty, dim, span, carried: false });
            body.push(Stmt { kind: StmtKind::Let { results: vec![unknown], op: Op::Load(mutable) }, span });
            solve.unknowns.push(unknown);
            solve.mutables.push(mutable);
        }
        let mut values = Vec::new();
        for (residual, captures) in residuals.iter().zip(captures) {
            let args: Vec<ValueId> = solve.unknowns.iter().chain(captures).copied().collect();
            let (statements, results) = inline_body(self.function, &self.callees[residual.0 as usize], &args);
            body.extend(statements);
            values.extend(results.first());
        }
        self.defs.add(&body);
        if self.fails_after_output(&body) {
            return Err("an output before what may fail");
        }
        // Outputs are those of the function.
        body.retain(|s| !matches!(s.kind, StmtKind::Output { .. }));
        let mut body = Block { statements: self.with_checks(body) };
        self.defs.add(&body.statements);
        body.statements.push(Stmt { kind: StmtKind::Return(values), span });
        self.solves.push(solve);
        Ok(Stmt { kind: StmtKind::For { rounds: Rounds::Sequence { sequence, element }, body }, span })
    }

    /// True if an output stands before an operation that may be an error: before the solve, that
    /// would come before the output.
    fn fails_after_output(&self, body: &[Stmt]) -> bool {
        let may_fail = |s: &Stmt| matches!(&s.kind, StmtKind::Let { op, .. } if self.defs.may_fail(self.function, self.sets, op));
        body.iter().skip_while(|s| !matches!(s.kind, StmtKind::Output { .. })).any(may_fail)
    }

    /// Adds a restriction of what does not depend on the unknown to every restriction that may meet
    /// Empty: it fails in its place.
    fn with_checks(&mut self, body: Vec<Stmt>) -> Vec<Stmt> {
        let mut out = Vec::with_capacity(body.len());
        for statement in body {
            if let StmtKind::Let { op: Op::On { target, .. }, .. } = &statement.kind
                && !self.defs.never_empty(self.function, self.sets, *target)
                && let Some(kind) = self.ty(*target).entity_kind()
                && let Some(mapping) = self.ty(*target).mapping()
            {
                let all = CanonicalSet { kind, extent: Extent::All };
                let set = self.sets.canonical(all);
                let domain = self.value(Type::domain(kind, set), "", Dimension::NONE);
                let measure = self.value(Type::collection(crate::types::Basic::Scalar, set), "", Dimension::NONE);
                let restricted = self.value(Type::collection(crate::types::Basic::Scalar, mapping), "", Dimension::NONE);
                let ops = [
                    (domain, Op::CanonicalSet(all)),
                    (measure, Op::Measure(domain)),
                    (restricted, Op::On { data: measure, target: *target }),
                ];
                let span = statement.span;
                out.extend(ops.into_iter().map(|(result, op)| Stmt { kind: StmtKind::Let { results: vec![result], op }, span }));
            }
            out.push(statement);
        }
        out
    }
}

type Differentiated = Result<(Vec<Kernel>, Vec<Vec<ValueId>>), Obstacle>;

/// The kernels of each solve and their arguments, without the unknowns.
fn equations(
    function: &Function,
    sets: &SetTable,
    model: &CostModel,
    solves: &[Solve],
    names: &mut UniqueNames,
    notes: &mut Notes,
) -> Vec<Differentiated> {
    let mut loops = BTreeMap::new();
    let mut domains = BTreeMap::new();
    for &param in &function.params {
        note_domain(function, param, &mut domains);
    }
    find_loops(function, &function.body, domains, &mut loops);
    let defs = Defs::of(function);
    let inside: BTreeSet<ValueId> =
        loops.values().flat_map(|(body, _)| body.statements.iter().flat_map(|s| defined(s).iter().copied())).collect();
    let usual = Equations::new(function, sets, model, &inside, RepeatLimit::None);
    let limited = LazyCell::new(|| Equations::new(function, sets, model, &inside, RepeatLimit::PerUse));
    solves
        .iter()
        .map(|solve| {
            let Some((body, domains)) = loops.get(&solve.sequence) else { return Err("code that is never reached") };
            let unknowns: Vec<ValueId> = solve.mutables.iter().zip(&solve.unknowns).map(|(m, u)| loaded(body, *m).unwrap_or(*u)).collect();
            let left = Left { function, sets, defs: &defs, inside: &inside };
            if let Some(obstacle) = left.obstacle(body, &unknowns) {
                return Err(obstacle);
            }
            let Some(StmtKind::Return(values)) = body.statements.last().map(|s| &s.kind) else { return Err("a residual without a value") };
            let (mut kernels, mut arguments) = (Vec::new(), Vec::new());
            for (&value, &unknown) in values.iter().zip(&unknowns) {
                let (maker, built) = match usual.kernel(value, &unknowns, domains) {
                    Err(NotBuilt::Repetitive) => (&*limited, limited.kernel(value, &unknowns, domains)),
                    built => (&usual, built),
                };
                let EquationKernel { kernel, cartesian, args } = built.map_err(NotBuilt::construct)?;
                let mut kernel = with_jacobian(kernel, cartesian, unknowns.len() as u32)?;
                let name = &function.values[unknown.0 as usize].name;
                kernel.name = names.unique(&format!("{RESIDUAL}{}", crate::passes::fuse::identifier(name)));
                kernels.push(kernel);
                maker.note(&args, notes);
                arguments.push(args);
            }
            Ok((kernels, arguments))
        })
        .collect()
}

fn note_domain(function: &Function, value: ValueId, domains: &mut BTreeMap<SetId, ValueId>) {
    if let Shape::Domain(set) = function.values[value.0 as usize].ty.shape {
        domains.entry(set).or_insert(value);
    }
}

fn defined(statement: &Stmt) -> &[ValueId] {
    match &statement.kind {
        StmtKind::Let { results, .. } | StmtKind::Launch { results, .. } => results,
        StmtKind::Store { .. } | StmtKind::Output { .. } | StmtKind::For { .. } | StmtKind::Return(_) => &[],
    }
}

type Loops<'a> = BTreeMap<ValueId, (&'a Block, BTreeMap<SetId, ValueId>)>;

/// Solve loops by their sequence, with the domains visible there.
fn find_loops<'a>(function: &Function, block: &'a Block, mut domains: BTreeMap<SetId, ValueId>, loops: &mut Loops<'a>) {
    for statement in &block.statements {
        defined(statement).iter().for_each(|&value| note_domain(function, value, &mut domains));
        if let StmtKind::For { rounds, body } = &statement.kind {
            let solve = matches!(body.statements.last().map(|s| &s.kind), Some(StmtKind::Return(_)));
            match rounds {
                Rounds::Sequence { sequence, .. } if solve => {
                    loops.insert(*sequence, (body, domains.clone()));
                }
                Rounds::Sequence { .. } | Rounds::Range { .. } | Rounds::While(_) => {
                    find_loops(function, body, domains.clone(), loops);
                }
            }
        }
    }
}

/// The value that stands for an unknown.
fn loaded(body: &Block, mutable: MutableId) -> Option<ValueId> {
    body.statements.iter().find_map(|s| match &s.kind {
        StmtKind::Let { results, op: Op::Load(m) } if *m == mutable => results.first().copied(),
        _ => None,
    })
}

/// Solve loops as the passes for loops have left them.
struct Left<'a> {
    function: &'a Function,
    sets: &'a SetTable,
    defs: &'a Defs,
    /// All values that solve loops make.
    inside: &'a BTreeSet<ValueId>,
}

impl Left<'_> {
    /// Returns the construct of a solve loop that a kernel cannot contain.
    fn obstacle(&self, body: &Block, unknowns: &[ValueId]) -> Option<Obstacle> {
        body.statements.iter().find_map(|s| match &s.kind {
            StmtKind::Let { results, op } => match op {
                Op::Reduce(..) => Some("a reduction of what depends on the unknown"),
                Op::Load(_) if !results.iter().all(|r| unknowns.contains(r)) => Some("a variable that the residual assigns"),
                _ if self.may_fail(op) => Some("an entity that may be Empty, chosen by the unknown"),
                _ => None,
            },
            StmtKind::Store { .. } => Some("a variable that the residual assigns"),
            StmtKind::Output { .. } | StmtKind::For { .. } | StmtKind::Launch { .. } | StmtKind::Return(_) => None,
        })
    }

    /// True if an operation may fail that nothing before the solve has failed for already.
    fn may_fail(&self, op: &Op) -> bool {
        match op {
            // That of other entities has been looked at: see `Embedder::with_checks`.
            Op::On { target, .. } if !self.inside.contains(target) => false,
            op => self.defs.may_fail(self.function, self.sets, op),
        }
    }
}

/// Removes the solve loops; a solve right after its loop gets its equations.
fn without_loops(block: Block, found: &mut BTreeMap<ValueId, Vec<Equation>>, solves: &[Solve]) -> Block {
    let mut out = Vec::with_capacity(block.statements.len());
    let mut next: Option<Vec<Equation>> = None;
    for Stmt { kind, span } in block.statements {
        let kind = match kind {
            StmtKind::For { rounds: Rounds::Sequence { sequence, .. }, .. } if solves.iter().any(|s| s.sequence == sequence) => {
                next = found.remove(&sequence);
                continue;
            }
            StmtKind::Let { results, op: Op::Newton { residuals, captures, guesses, carried, equations } } => {
                let equations = next.take().unwrap_or(equations);
                StmtKind::Let { results, op: Op::Newton { residuals, captures, guesses, carried, equations } }
            }
            kind => kind.map_body(|body| without_loops(body, found, solves)),
        };
        out.push(Stmt { kind, span });
    }
    Block { statements: out }
}

/// Removes the residual functions of solves that have kernels, but those that put something out.
pub(super) fn without_residuals(block: &mut Block, functions: &[bool]) {
    for statement in &mut block.statements {
        match &mut statement.kind {
            StmtKind::Let { op: Op::Newton { residuals, captures, equations, .. }, .. }
                if !equations.is_empty() && !residuals.iter().any(|r| functions[r.0 as usize]) =>
            {
                residuals.clear();
                captures.clear();
            }
            StmtKind::For { body, .. } => without_residuals(body, functions),
            StmtKind::Let { .. } | StmtKind::Store { .. } | StmtKind::Output { .. } | StmtKind::Launch { .. } | StmtKind::Return(_) => {}
        }
    }
}
