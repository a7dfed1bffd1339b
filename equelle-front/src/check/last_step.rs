//! Steps of loops that are cut at the end by `Min(dt, end - time)`: sums of rounded steps may fall
//! short of the end by 1e-16, which is then a step of its own.

use std::collections::BTreeMap;

use crate::diagnostic::{Code, Diagnostic};
use crate::ops::Arithmetic;
use crate::source::SourceMap;
use crate::syntax::ast::LoopTest;
use crate::typed::clock::{ends, growth, variable};
use crate::typed::{Builtin, Expr, ExprKind, Stmt, StmtKind, TypedProgram, VarId};

/// Warnings about loops of a program whose last step may be one of rounding.
pub(super) fn warnings(program: &TypedProgram, source: &SourceMap) -> Vec<Diagnostic> {
    let mut search = Search { program, source, found: Vec::new() };
    search.block(&program.main, &BTreeMap::new());
    for function in &program.functions {
        search.block(&function.body, &BTreeMap::new());
    }
    // Instances of a function have the same loops.
    let mut found = search.found;
    found.sort_by_key(|diagnostic| diagnostic.primary.span);
    found.dedup_by_key(|diagnostic| diagnostic.primary.span);
    found
}

/// Values of immutable variables and parameters, where they are known.
type Meanings<'a> = BTreeMap<VarId, &'a Expr>;

struct Search<'a> {
    program: &'a TypedProgram,
    source: &'a SourceMap,
    found: Vec<Diagnostic>,
}

impl<'a> Search<'a> {
    fn block(&mut self, block: &'a [Stmt], outer: &Meanings<'a>) {
        let meanings = with_names(outer, block);
        for statement in block {
            match &statement.kind {
                StmtKind::Conditional { test, condition, body } => {
                    self.rounds(*test, condition, body, &meanings);
                    self.block(body, &meanings);
                }
                StmtKind::For { body, .. } | StmtKind::Range { body, .. } => self.block(body, &meanings),
                StmtKind::Let { .. } | StmtKind::Assign { .. } | StmtKind::Output { .. } | StmtKind::Discard(_) | StmtKind::Return(_) => {}
            }
        }
    }

    fn rounds(&mut self, test: LoopTest, condition: &'a Expr, body: &'a [Stmt], outer: &Meanings<'a>) {
        let ends = ends(condition, test);
        let meanings = with_names(outer, body);
        for (clock, by) in body.iter().filter_map(growth) {
            let Some((_, end)) = ends.iter().find(|(other, _)| *other == clock) else { continue };
            let values = body.iter().filter_map(|statement| match &statement.kind {
                StmtKind::Let { variable: step, value } | StmtKind::Assign { variable: step, value } => {
                    (variable(by) == Some(*step)).then_some(value)
                }
                StmtKind::Output { .. }
                | StmtKind::Discard(_)
                | StmtKind::For { .. }
                | StmtKind::Range { .. }
                | StmtKind::Conditional { .. }
                | StmtKind::Return(_) => None,
            });
            for value in values.chain([by]) {
                if let Some(longest) = self.cut(value, clock, end, &meanings) {
                    self.found.push(self.warning(value, longest, (clock, end)));
                }
            }
        }
    }

    /// The longest step of one that is cut at the end of its loop; `None` if it is another.
    fn cut(&self, step: &'a Expr, clock: VarId, end: &Expr, meanings: &Meanings<'a>) -> Option<&'a Expr> {
        let is_rest = |value: &Expr| {
            matches!(
                &meaning(value, meanings).kind,
                ExprKind::Arithmetic { op: Arithmetic::Sub, left, right }
                    if variable(meaning(right, meanings)) == Some(clock) && is_same(left, end, meanings, MAX_DEPTH)
            )
        };
        let other = |a: &'a Expr, b: &'a Expr| match (is_rest(a), is_rest(b)) {
            (true, false) => Some(b),
            (false, true) => Some(a),
            (true, true) | (false, false) => None,
        };
        match &step.kind {
            ExprKind::Builtin { builtin: Builtin::Min, args } => {
                let [a, b] = args.as_slice() else { return None };
                other(a, b)
            }
            ExprKind::Ternary { condition, if_true, if_false } => match &condition.kind {
                ExprKind::Comparison { left, right, .. } => other(left, right).and(other(if_true, if_false)),
                _ => None,
            },
            ExprKind::Call { function, args } => {
                let function = &self.program.functions[function.0 as usize];
                let mut inner = with_names(meanings, &function.body);
                inner.extend(function.params.iter().copied().zip(args));
                match &function.body.last()?.kind {
                    StmtKind::Return(value) => self.cut(value, clock, end, &inner),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    fn warning(&self, step: &Expr, longest: &Expr, (clock, end): (VarId, &Expr)) -> Diagnostic {
        let name = |variable: VarId| &self.program.variables[variable.0 as usize].name;
        let clock = name(clock);
        // A longest step of a function stands elsewhere, in words of its own.
        let is_here = step.span.start <= longest.span.start && longest.span.end <= step.span.end;
        let longest = self.source.text_of(longest.span).filter(|text| is_here && !text.contains('\n')).unwrap_or("longest");
        let end = self.source.text_of(end.span).unwrap_or("end");
        Diagnostic::new(
            Code::LastStep,
            step.span,
            format!("`{clock}` may miss `{end}` by a rounding, which is then a last step of 1e-16 or so"),
        )
        .label("cut at the end of the loop")
        .note("ten steps of 0.1 add up to 0.9999999999999999")
        .hint(format!("`next_step({clock}, {longest}, {end})` of the library leaves no such rest: `Import \"equelle:time\" (next_step)`"))
    }
}

/// With the names that a block gives to values.
fn with_names<'a>(outer: &Meanings<'a>, block: &'a [Stmt]) -> Meanings<'a> {
    let mut meanings = outer.clone();
    for statement in block {
        if let StmtKind::Let { variable, value } = &statement.kind {
            meanings.insert(*variable, value);
        }
    }
    meanings
}

/// The expression that a name stands for, as far as it is known.
fn meaning<'a>(value: &'a Expr, meanings: &Meanings<'a>) -> &'a Expr {
    let mut value = value;
    // A name stands for what came before it; the bound is for names of a function within its own
    // arguments.
    for _ in 0..=meanings.len() {
        match variable(value).and_then(|variable| meanings.get(&variable)) {
            Some(known) => value = known,
            None => break,
        }
    }
    value
}

/// Depth to which the formulas of two ends are compared.
const MAX_DEPTH: u32 = 8;

/// True if two ends are one: the same variable, number or formula.
fn is_same(a: &Expr, b: &Expr, meanings: &Meanings<'_>, deepest: u32) -> bool {
    let (a, b) = (meaning(a, meanings), meaning(b, meanings));
    if std::ptr::eq(a, b) {
        return true;
    }
    match (&a.kind, &b.kind) {
        (ExprKind::Variable(a), ExprKind::Variable(b)) => a == b,
        (ExprKind::Number(a), ExprKind::Number(b)) => a == b,
        (ExprKind::Arithmetic { op, left, right }, ExprKind::Arithmetic { op: other, left: other_left, right: other_right }) => {
            deepest > 0
                && op == other
                && is_same(left, other_left, meanings, deepest - 1)
                && is_same(right, other_right, meanings, deepest - 1)
        }
        _ => false,
    }
}
