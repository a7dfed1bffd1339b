//! Loops.

use crate::check::checker::{Checker, dim, show_dimension};
use crate::check::rounds::changes;
use crate::check::scope::{Meaning, Role, ScopeKind, State, VariableEntry};
use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use crate::syntax::ast::{self, Ident, LoopTest};
use crate::typed::{Expr, ExprKind, Stmt, StmtKind, TreeDimension, TreeType, VarId, Variable};
use crate::types::{Basic, Dimension, Shape, Type};

/// A loop that is checked.
pub(super) struct Loop<'c, 'a> {
    pub checker: &'c mut Checker<'a>,
    pub body: &'a ast::Block,
    pub span: Span,
}

impl<'a> Loop<'_, 'a> {
    pub fn over_sequence(&mut self, variable: &'a Ident, sequence: &'a ast::Expr) -> Option<StmtKind> {
        let sequence = self.checker.expr(sequence).and_then(|s| match s.ty {
            TreeType::Value(Type { basic: Basic::Scalar, shape: Shape::Sequence, .. }) => Some(s),
            TreeType::Value(_) | TreeType::Array(_) | TreeType::Table2 | TreeType::Void => {
                let found = self.checker.show(&s.ty);
                self.checker.fail(
                    Diagnostic::new(Code::NotASequence, s.span, format!("`For` needs a sequence after `In`, not {found}"))
                        .label(found)
                        .hint("sequences come from `InputSequenceOfScalar`"),
                )
            }
        });
        let (var, body) = self.rounds(variable, sequence.as_ref().map(|s| s.dims.clone()));
        Some(StmtKind::For { variable: var?, sequence: sequence?, body: body? })
    }

    /// The loop variable, of this dimension, and the body of a loop.
    fn rounds(&mut self, variable: &'a Ident, dims: Option<Vec<TreeDimension>>) -> (Option<VarId>, Option<Vec<Stmt>>) {
        self.checker.taken(variable, Code::Redeclaration, "a loop variable");
        let outer = self.checker.scopes.enter(ScopeKind::Loop, Some(self.checker.scopes.current), u32::MAX);
        let var = dims.map(|dims| {
            self.checker.new_variable(Variable {
                name: variable.name.clone(),
                ty: TreeType::Value(Type::SCALAR),
                dims,
                mutable: false,
                owner: None,
                span: variable.span,
            })
        });
        let state = var.map_or(State::Unknown, State::Assigned);
        let entry = VariableEntry { declared: None, mutable: false, role: Role::LoopVariable, state, reported: false };
        self.checker.scopes.define(&variable.name, variable.span, Meaning::Variable(entry));
        let body = self.body();
        self.checker.scopes.current = outer;
        (var, body)
    }

    /// The statements of the body, in the current scope.
    fn body(&mut self) -> Option<Vec<Stmt>> {
        let body = self.body;
        self.checker.nested(2, self.span, |checker| Some(checker.statements(&body.statements)))
    }

    /// A loop over `Range(...)`, which is at `range`.
    pub fn over_range(&mut self, variable: &'a Ident, bounds: &'a [ast::Expr], range: Span) -> Option<StmtKind> {
        let values: Vec<Option<Expr>> =
            bounds.iter().map(|bound| self.checker.expr(bound).and_then(|bound| self.range_bound(bound))).collect();
        if values.len() != 2 {
            let message = format!("`Range` takes 2 arguments, not {}", values.len());
            self.checker.report(
                Diagnostic::new(Code::ArgumentCount, range, message)
                    .hint("`Range(a, b)` gives a, a + 1, ... and ends before b: `Range(0, 10)` has ten rounds"),
            );
        }
        let (var, body) = self.rounds(variable, Some(vec![TreeDimension::default()]));
        let [from, below] = <[Option<Expr>; 2]>::try_from(values).ok()?;
        Some(StmtKind::Range { variable: var?, from: from?, below: below?, body: body? })
    }

    /// A bound of a `Range`: a whole number, as far as the text tells.
    fn range_bound(&mut self, bound: Expr) -> Option<Expr> {
        if bound.ty != TreeType::Value(Type::SCALAR) {
            let found = self.checker.show(&bound.ty);
            return self.checker.fail(
                Diagnostic::new(Code::RangeBounds, bound.span, format!("a bound of `Range` is one number, not {found}"))
                    .label(found)
                    .hint("reduce a collection to one number, as with `MaxReduce`"),
            );
        }
        let dimension = dim(&bound);
        if !self.checker.options.agree(dimension, Dimension::NONE) {
            let found = show_dimension(dimension);
            return self.checker.fail(
                Diagnostic::new(Code::RangeBounds, bound.span, format!("`Range` counts rounds, and this has {found}"))
                    .label(found)
                    .hint("divide by one unit, or step with `While` and a variable for the time"),
            );
        }
        // As close to one as at run time.
        if let Some(number) = literal(&bound).filter(|number| (number - number.round()).abs() > 1e-9) {
            return self.checker.fail(
                Diagnostic::new(Code::RangeBounds, bound.span, format!("a bound of `Range` is a whole number, not {number}"))
                    .hint("count rounds and compute the number from the count: `x = 0.5 * n`"),
            );
        }
        Some(bound)
    }

    pub fn conditional(&mut self, test: LoopTest, condition: &'a ast::Expr) -> Option<StmtKind> {
        let outer = std::mem::replace(&mut self.checker.geometry.in_condition, true);
        let condition = self.checker.expr(condition).and_then(|condition| self.loop_condition(test, condition));
        self.checker.geometry.in_condition = outer;
        // The values of rules would be those of the first round.
        if let Some(before) = self.checker.before.pop() {
            self.checker.report(
                Diagnostic::new(Code::HaloRule, before.span, "a rule in the condition of a loop gives a number of the text or a variable")
                    .hint("write the condition as a function"),
            );
        }
        let outer = self.checker.scopes.enter(ScopeKind::Loop, Some(self.checker.scopes.current), u32::MAX);
        let body = self.body();
        self.checker.scopes.current = outer;
        let (condition, body) = (condition?, body?);
        self.checker.tree.extend_captures();
        // A statement that could not be read may change it.
        if !self.checker.reports.incomplete && !changes(&condition, &body, &self.checker.tree) {
            let what = match test {
                LoopTest::While => "while",
                LoopTest::Until => "until",
            };
            self.checker.report(
                Diagnostic::new(Code::ConstantCondition, condition.span, "no round changes this condition")
                    .label(format!("the loop runs {what} this holds"))
                    .note("`max_rounds` ends a loop that does not end by itself")
                    .hint("assign a `Mutable` variable of the condition in the loop"),
            );
        }
        Some(StmtKind::Conditional { test, condition, body })
    }

    fn loop_condition(&mut self, test: LoopTest, condition: Expr) -> Option<Expr> {
        if condition.ty == TreeType::Value(Type::BOOL) {
            return Some(condition);
        }
        let found = self.checker.show(&condition.ty);
        let hint = match &condition.ty {
            TreeType::Value(Type { basic: Basic::Bool, .. }) => "reduce it to one Bool: `AnyReduce(c)` or `AllReduce(c)`",
            TreeType::Value(Type { basic: Basic::Scalar, shape: Shape::Single, .. }) => "compare it with something: `a > 0`",
            TreeType::Value(_) | TreeType::Array(_) | TreeType::Table2 | TreeType::Void => {
                "a condition compares numbers, as in `time < end`"
            }
        };
        let message = format!("`{}` needs one Bool, not {found}", test.words());
        self.checker.fail(Diagnostic::new(Code::LoopCondition, condition.span, message).label(found).hint(hint))
    }
}

/// The arguments of `Range(...)`, if the expression is one.
pub(super) fn range_bounds(sequence: &ast::Expr) -> Option<&[ast::Expr]> {
    match &sequence.kind {
        ast::ExprKind::Call { callee, args } if callee.name == "Range" => Some(args),
        ast::ExprKind::Paren(inner) => range_bounds(inner),
        _ => None,
    }
}

/// The number that a literal is, with its sign.
fn literal(expr: &Expr) -> Option<f64> {
    match &expr.kind {
        ExprKind::Number(number) => Some(*number),
        ExprKind::Neg(inner) => literal(inner).map(|number| -number),
        _ => None,
    }
}
