//! Loops over time steps whose steps can be taken again in parts.
//!
//! A body that solves equations may fail. It can run again with a shorter step if it is a function
//! from its mutable state and the step to the new state: then the state before the step is all that
//! has to be kept, and what comes out of the parts is what the program means by shorter steps.
//! Outputs are the only other effect of a body. They wait until the step has succeeded, and are put
//! out once: those of the state before the step come from its first part, all others from the last
//! one. So the first kind must come before the second, or the order of outputs would change.

use std::collections::BTreeSet;
use std::ops::BitOrAssign;

use crate::backend::visit::{Node, visit_expr, visit_path};
use crate::ir::{Block, Function, KBlock, KExpr, KStmt, Kernel, Module, MutableId, Op, Path, Rounds, Stmt, StmtKind, ValueId};
use crate::source::Span;
use crate::types::Shape;

/// A loop of the main program whose body solves equations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TimeLoop {
    /// The loop.
    pub span: Span,
    /// Its rounds, whose element or condition no other loop has.
    pub rounds: Rounds,
    /// The length of a round: the element, or what the body computes; `None` if it computes none.
    pub step: Option<ValueId>,
    /// Variables that it changes and that had a value before it, ascending. All others that it
    /// assigns are its own.
    pub state: Vec<MutableId>,
    /// Number of outputs at the beginning of a round that show the state before it.
    pub opening: usize,
    /// Obstacle to taking a step in parts, as part of a sentence, and its place; `None` if the body
    /// is a function of state and step.
    pub obstacle: Option<(&'static str, Span)>,
}

/// The loops of a module whose bodies solve equations, in order.
pub fn loops(module: &Module) -> Vec<TimeLoop> {
    let mut found = Vec::new();
    inside(module, &module.main.body, &mut BTreeSet::new(), &mut found);
    found
}

/// `assigned`: variables that have a value where the block begins; at its end those that it gives
/// one.
fn inside(module: &Module, block: &Block, assigned: &mut BTreeSet<MutableId>, found: &mut Vec<TimeLoop>) {
    for statement in &block.statements {
        match &statement.kind {
            StmtKind::Store { mutable, .. } => {
                assigned.insert(*mutable);
            }
            StmtKind::For { rounds, body } => {
                if body.statements.iter().any(solves) {
                    found.push(match *rounds {
                        Rounds::Sequence { element, .. } => time_loop(module, statement, *rounds, element, body, assigned),
                        Rounds::Range { .. } | Rounds::While(_) => computed_steps(statement, *rounds, body, assigned),
                    });
                }
                inside(module, body, assigned, found);
            }
            StmtKind::Let { .. } | StmtKind::Output { .. } | StmtKind::Launch { .. } | StmtKind::Return(_) => {}
        }
    }
}

fn solves(statement: &Stmt) -> bool {
    matches!(&statement.kind, StmtKind::Let { op: Op::Newton { .. }, .. })
}

/// The length of a round that a body computes.
pub fn computed_step(body: &Block) -> Option<ValueId> {
    body.statements.iter().find_map(|statement| match &statement.kind {
        StmtKind::Let { results, op: Op::Step(_) } => results.first().copied(),
        _ => None,
    })
}

/// A loop that computes its steps. Its rounds are taken again as they are, with half the step: the
/// body computes how it goes on.
fn computed_steps(statement: &Stmt, rounds: Rounds, body: &Block, assigned: &BTreeSet<MutableId>) -> TimeLoop {
    let stored: BTreeSet<MutableId> = stores(body).into_iter().collect();
    let state = stored.into_iter().filter(|mutable| assigned.contains(mutable)).collect();
    let step = computed_step(body);
    let obstacle = step.is_none().then_some(("a body without a Scalar that plays the step, as in `time = time + dt`", statement.span));
    TimeLoop { span: statement.span, rounds, step, state, opening: 0, obstacle }
}

fn time_loop(
    module: &Module,
    statement: &Stmt,
    rounds: Rounds,
    element: ValueId,
    body: &Block,
    assigned: &BTreeSet<MutableId>,
) -> TimeLoop {
    let stored: BTreeSet<MutableId> = stores(body).into_iter().collect();
    let state = stored.iter().copied().filter(|mutable| assigned.contains(mutable)).collect();
    let mut walk = Walk::new(module, stored.clone(), new_state(body));
    let function = &module.main;
    let mut values = vec![Dependence::default(); function.values.len()];
    values[element.0 as usize] = Dependence::STEP;
    walk.block(function, body, &mut values);
    let unused = !body.statements.iter().any(|inner| inner.reads().contains(&element));
    let obstacle = if let Some(inner) = walk.inner {
        Some(("a loop inside it", inner))
    } else if unused {
        Some(("a step that its body does not use", statement.span))
    } else {
        walk.late.map(|span| ("an output of the state before the step that comes after an output of the step", span))
    };
    TimeLoop { span: statement.span, rounds, step: Some(element), state, opening: walk.opening, obstacle }
}

/// Values that become state in a round, those left out that are state as it was.
fn new_state(body: &Block) -> BTreeSet<ValueId> {
    let mut values = BTreeSet::new();
    for statement in &body.statements {
        match &statement.kind {
            StmtKind::Store { value, .. } => {
                values.insert(*value);
            }
            StmtKind::Let { .. } | StmtKind::For { .. } | StmtKind::Output { .. } | StmtKind::Launch { .. } | StmtKind::Return(_) => {}
        }
    }
    for statement in &body.statements {
        if let StmtKind::Let { results, op: Op::Load(_) } = &statement.kind {
            results.iter().for_each(|result| {
                values.remove(result);
            });
        }
    }
    values
}

/// Variables that a block assigns, those of loops in it too.
fn stores(block: &Block) -> Vec<MutableId> {
    let of_statement = |statement: &Stmt| match &statement.kind {
        StmtKind::Store { mutable, .. } => vec![*mutable],
        StmtKind::For { body, .. } => stores(body),
        StmtKind::Let { .. } | StmtKind::Output { .. } | StmtKind::Launch { .. } | StmtKind::Return(_) => Vec::new(),
    };
    block.statements.iter().flat_map(of_statement).collect()
}

/// Dependences of a value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Dependence {
    /// The state before the step.
    start: bool,
    /// The step, what a solve gives, or the state after an assignment.
    step: bool,
}

impl Dependence {
    const START: Dependence = Dependence { start: true, step: false };
    const STEP: Dependence = Dependence { start: false, step: true };
}

impl BitOrAssign for Dependence {
    fn bitor_assign(&mut self, other: Dependence) {
        self.start |= other.start;
        self.step |= other.step;
    }
}

/// Follows a round of a loop.
struct Walk<'a> {
    module: &'a Module,
    /// Variables that the loop assigns, the values that it gives them, and which of them have been
    /// assigned in this round.
    stored: BTreeSet<MutableId>,
    new_state: BTreeSet<ValueId>,
    done: BTreeSet<MutableId>,
    /// Outputs before the first one of the step.
    opening: usize,
    /// True if there was an output of the step.
    is_open: bool,
    /// An output of the state before the step after that.
    late: Option<Span>,
    /// A loop, also of a function that is called.
    inner: Option<Span>,
}

impl<'a> Walk<'a> {
    fn new(module: &'a Module, stored: BTreeSet<MutableId>, new_state: BTreeSet<ValueId>) -> Self {
        Walk { module, stored, new_state, done: BTreeSet::new(), opening: 0, is_open: true, late: None, inner: None }
    }

    /// Follows statements of the main program or of a function; what a function returns.
    fn block(&mut self, function: &'a Function, block: &'a Block, values: &mut [Dependence]) -> Vec<Dependence> {
        let is_main = std::ptr::eq(function, &self.module.main);
        let mut mutables = vec![Dependence::default(); function.mutables.len()];
        for statement in &block.statements {
            let of = |values: &[Dependence], ids: &[ValueId]| union(ids.iter().map(|id| values[id.0 as usize]));
            match &statement.kind {
                StmtKind::Let { results, op: Op::Load(mutable) } => {
                    let dependence = match (is_main, self.stored.contains(mutable)) {
                        (true, false) => Dependence::default(),
                        (true, true) if self.done.contains(mutable) => Dependence::STEP,
                        (true, true) => Dependence::START,
                        (false, _) => mutables[mutable.0 as usize],
                    };
                    results.iter().for_each(|result| values[result.0 as usize] = dependence);
                }
                StmtKind::Let { results, op: Op::Call { function: callee, args } } => {
                    let callee = &self.module.functions[callee.0 as usize];
                    let args: Vec<Dependence> = args.iter().map(|arg| values[arg.0 as usize]).collect();
                    let returned = self.call(callee, &args);
                    results.iter().zip(returned).for_each(|(result, dependence)| values[result.0 as usize] = dependence);
                }
                StmtKind::Let { results, op: Op::Newton { residuals, .. } } => {
                    if residuals.iter().any(|residual| self.puts_out(&self.module.functions[residual.0 as usize])) {
                        self.is_open = false;
                    }
                    results.iter().for_each(|result| values[result.0 as usize] = Dependence::STEP);
                }
                StmtKind::Let { results, op } => {
                    let dependence = of(values, &op.operands());
                    results.iter().for_each(|result| values[result.0 as usize] = dependence);
                }
                StmtKind::Launch { kernel, args, results } => {
                    let kernel = &self.module.kernels[kernel.0 as usize];
                    for (result, params) in results.iter().zip(params_of_results(kernel)) {
                        let read: Vec<ValueId> = params.iter().filter_map(|&param| args.get(param as usize).copied()).collect();
                        values[result.0 as usize] = of(values, &read);
                    }
                }
                StmtKind::Store { mutable, value } => {
                    mutables[mutable.0 as usize] = values[value.0 as usize];
                    if is_main {
                        self.done.insert(*mutable);
                    }
                }
                StmtKind::Output { tag, value } => {
                    let dependence = of(values, &[*tag, *value]);
                    self.output(dependence, statement.span);
                }
                StmtKind::For { .. } => {
                    self.inner.get_or_insert(statement.span);
                }
                StmtKind::Return(results) => return results.iter().map(|result| values[result.0 as usize]).collect(),
            }
            // The state after the step, even if the step has no part in it, as where rounds are
            // counted.
            for value in statement.defines().iter().filter(|value| is_main && self.new_state.contains(value)) {
                let dependence = &mut values[value.0 as usize];
                dependence.step |= dependence.start;
            }
        }
        Vec::new()
    }

    fn call(&mut self, callee: &'a Function, args: &[Dependence]) -> Vec<Dependence> {
        let mut values = vec![Dependence::default(); callee.values.len()];
        callee.params.iter().zip(args).for_each(|(param, dependence)| values[param.0 as usize] = *dependence);
        self.block(callee, &callee.body, &mut values)
    }

    fn output(&mut self, dependence: Dependence, span: Span) {
        if dependence.step {
            self.is_open = false;
        } else if self.is_open {
            self.opening += 1;
        } else if dependence.start {
            self.late.get_or_insert(span);
        }
    }

    /// True if a function, or one that it calls, puts something out.
    fn puts_out(&self, function: &Function) -> bool {
        self.any(&function.body)
    }

    fn any(&self, block: &Block) -> bool {
        block.statements.iter().any(|statement| match &statement.kind {
            StmtKind::Output { .. } => true,
            StmtKind::Let { op: Op::Call { function, .. }, .. } => self.puts_out(&self.module.functions[function.0 as usize]),
            StmtKind::For { body, .. } => self.any(body),
            StmtKind::Let { .. } | StmtKind::Launch { .. } | StmtKind::Store { .. } | StmtKind::Return(_) => false,
        })
    }
}

fn union(all: impl Iterator<Item = Dependence>) -> Dependence {
    let mut of_all = Dependence::default();
    all.for_each(|dependence| of_all |= dependence);
    of_all
}

/// For each result of a kernel the numbers of the parameters that it reads.
fn params_of_results(kernel: &Kernel) -> Vec<BTreeSet<u32>> {
    let is_domain = |index: &usize| matches!(kernel.params[*index].ty.shape, Shape::Domain(_));
    let domains: BTreeSet<u32> = (0..kernel.params.len()).filter(is_domain).map(|index| index as u32).collect();
    let mut locals = vec![BTreeSet::new(); kernel.locals.len()];
    block_params(&kernel.body, &mut locals);
    kernel.body.yields.iter().map(|value| &domains | &expr_params(value, &locals)).collect()
}

fn block_params(block: &KBlock, locals: &mut Vec<BTreeSet<u32>>) {
    for statement in &block.statements {
        match statement {
            KStmt::Let { local, value } => locals[local.0 as usize] = expr_params(value, locals),
            KStmt::LetEntity { local, path } => locals[local.0 as usize] = path_params(path, locals),
            KStmt::ReduceFaces { results, cell, face, body, .. } => {
                let cell = path_params(cell, locals);
                locals[face.0 as usize] = cell.clone();
                block_params(body, locals);
                for (result, value) in results.iter().zip(&body.yields) {
                    locals[result.0 as usize] = &cell | &expr_params(value, locals);
                }
            }
            KStmt::ReduceSides { results, low, high, .. } => {
                let blocks = [&low.interior, &low.boundary, &high.interior, &high.boundary];
                for block in blocks.into_iter().flatten() {
                    block_params(block, locals);
                    for (result, value) in results.iter().zip(&block.yields) {
                        locals[result.0 as usize] = &locals[result.0 as usize] | &expr_params(value, locals);
                    }
                }
            }
            KStmt::If { results, condition, then, otherwise } => {
                let condition = expr_params(condition, locals);
                for block in [then, otherwise] {
                    block_params(block, locals);
                    for (result, value) in results.iter().zip(&block.yields) {
                        let all = &locals[result.0 as usize] | &condition;
                        locals[result.0 as usize] = &all | &expr_params(value, locals);
                    }
                }
            }
            KStmt::Add { .. } => {}
        }
    }
}

fn expr_params(expr: &KExpr, locals: &[BTreeSet<u32>]) -> BTreeSet<u32> {
    let mut found = BTreeSet::new();
    visit_expr(expr, &mut |node| read(node, locals, &mut found));
    found
}

fn path_params(path: &Path, locals: &[BTreeSet<u32>]) -> BTreeSet<u32> {
    let mut found = BTreeSet::new();
    visit_path(path, &mut |node| read(node, locals, &mut found));
    found
}

fn read(node: Node<'_>, locals: &[BTreeSet<u32>], found: &mut BTreeSet<u32>) {
    match node {
        Node::Expr(KExpr::Param(param) | KExpr::Load { param, .. } | KExpr::Interpolate { table: param, .. })
        | Node::Path(Path::Through { param, .. }) => {
            found.insert(param.0);
        }
        Node::Expr(KExpr::Local(local)) | Node::Path(Path::Local(local)) => found.extend(&locals[local.0 as usize]),
        Node::Expr(_) | Node::Path(_) | Node::Stmt(_) => {}
    }
}
