//! Newton's method as a loop that evaluates its residuals, so that what they read is found like any
//! other read.
//!
//! The runtime exchanges unknowns to all layers before each evaluation. So what a solve gives is
//! right everywhere, and nothing else is exchanged inside: derivatives need no messages.

use std::borrow::Cow;

use crate::ir::{Block, Carried, Equation, Function, FunctionId, Module, Mutable, MutableId, Op, Rounds, Stmt, StmtKind, Value, ValueId};
use crate::passes::Notes;
use crate::passes::inline;
use crate::source::Span;
use crate::types::{Dimension, Type};

/// A module whose solves are loops. Values and mutables keep their numbers; others follow.
pub(super) fn as_loops(module: &Module) -> Cow<'_, Module> {
    if !has_solve(&module.main.body) {
        return Cow::Borrowed(module);
    }
    let mut module = module.clone();
    let body = std::mem::take(&mut module.main.body);
    module.main.body = Expander { functions: &module.functions, main: &mut module.main }.block(body);
    inline::run(&mut module, &mut Notes::default());
    Cow::Owned(module)
}

fn has_solve(block: &Block) -> bool {
    block.statements.iter().any(|statement| match &statement.kind {
        StmtKind::Let { op, .. } => matches!(op, Op::Newton { .. }),
        StmtKind::For { body, .. } => has_solve(body),
        StmtKind::Store { .. } | StmtKind::Output { .. } | StmtKind::Launch { .. } | StmtKind::Return(_) => false,
    })
}

struct Expander<'a> {
    functions: &'a [Function],
    main: &'a mut Function,
}

/// The parts of a solve.
struct Solve {
    residuals: Vec<FunctionId>,
    captures: Vec<Vec<ValueId>>,
    carried: Vec<Carried>,
    equations: Vec<Equation>,
    span: Span,
}

impl Expander<'_> {
    fn block(&mut self, block: Block) -> Block {
        let mut out = Vec::with_capacity(block.statements.len());
        for Stmt { kind, span } in block.statements {
            match kind {
                StmtKind::Let { results, op: Op::Newton { residuals, captures, guesses, carried, equations } } => {
                    let solve = Solve { residuals, captures, carried, equations, span };
                    self.solve(&results, guesses, &solve, &mut out);
                }
                kind => out.push(Stmt { kind: kind.map_body(|body| self.block(body)), span }),
            }
        }
        Block { statements: out }
    }

    /// The unknowns, then a loop in which residuals are evaluated. What one of them assigns is what
    /// the next one and the next round read.
    fn solve(&mut self, results: &[ValueId], guesses: Vec<ValueId>, solve: &Solve, out: &mut Vec<Stmt>) {
        let span = solve.span;
        let (unknowns, assigned) = results.split_at(guesses.len());
        let iterate = Op::Newton { residuals: Vec::new(), captures: Vec::new(), guesses, carried: Vec::new(), equations: Vec::new() };
        out.push(Stmt { kind: StmtKind::Let { results: unknowns.to_vec(), op: iterate }, span });
        let variables: Vec<MutableId> = assigned.iter().map(|&value| self.mutable(self.main.values[value.0 as usize].ty)).collect();
        for (variable, &mutable) in solve.carried.iter().zip(&variables) {
            if let Some(&(residual, capture)) = variable.reads.first() {
                let value = solve.captures[residual as usize][capture as usize];
                out.push(Stmt { kind: StmtKind::Store { mutable, value }, span });
            }
        }
        let goes_on = self.mutable(Type::BOOL);
        let body = Block { statements: self.evaluation(unknowns, &variables, solve) };
        out.push(Stmt { kind: StmtKind::For { rounds: Rounds::While(goes_on), body }, span });
        let loads = assigned.iter().zip(variables);
        out.extend(loads.map(|(&value, mutable)| Stmt { kind: StmtKind::Let { results: vec![value], op: Op::Load(mutable) }, span }));
    }

    /// One evaluation of all residuals.
    fn evaluation(&mut self, unknowns: &[ValueId], variables: &[MutableId], solve: &Solve) -> Vec<Stmt> {
        let span = solve.span;
        let mut out = Vec::new();
        for (number, (&function, captures)) in solve.residuals.iter().zip(&solve.captures).enumerate() {
            let mut args = [unknowns, captures].concat();
            for (variable, &mutable) in solve.carried.iter().zip(variables) {
                for &(_, capture) in variable.reads.iter().filter(|(residual, _)| *residual as usize == number) {
                    let arg = &mut args[unknowns.len() + capture as usize];
                    let loaded = self.value(self.main.values[arg.0 as usize].ty);
                    out.push(Stmt { kind: StmtKind::Let { results: vec![loaded], op: Op::Load(mutable) }, span });
                    *arg = loaded;
                }
            }
            let functions = self.functions;
            let results: Vec<ValueId> = functions[function.0 as usize].results.iter().map(|&ty| self.value(ty)).collect();
            out.push(Stmt { kind: StmtKind::Let { results: results.clone(), op: Op::Call { function, args } }, span });
            for (variable, &mutable) in solve.carried.iter().zip(variables) {
                let writes = variable.writes.iter().filter(|(residual, _)| *residual as usize == number);
                out.extend(writes.map(|&(_, result)| Stmt { kind: StmtKind::Store { mutable, value: results[result as usize] }, span }));
            }
        }
        for (equation, &unknown) in solve.equations.iter().zip(unknowns) {
            let args = [unknowns, &equation.args].concat();
            let results = vec![self.value(self.main.values[unknown.0 as usize].ty)];
            out.push(Stmt { kind: StmtKind::Launch { kernel: equation.kernel, args, results }, span });
        }
        out
    }

    fn value(&mut self, ty: Type) -> ValueId {
        let id = ValueId(self.main.values.len() as u32);
        self.main.values.push(Value { ty, name: String::new(), dim: Dimension::NONE, span: self.main.span, storage: None, array: None });
        id
    }

    fn mutable(&mut self, ty: Type) -> MutableId {
        let id = MutableId(self.main.mutables.len() as u32);
        self.main.mutables.push(Mutable { ty, name: String::new(), dim: Dimension::NONE, span: self.main.span, carried: true });
        id
    }
}
