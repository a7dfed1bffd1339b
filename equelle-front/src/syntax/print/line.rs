//! One statement without its block, as pieces between which a line may be broken.

use super::{INDENT, WIDTH};
use crate::ops::Arithmetic;
use crate::syntax::ast::{
    BasicTypeName, BinaryOp, CollectionDomain, Expr, ExprKind, Ident, Stmt, StmtKind, TypeExpr, TypeExprKind, UnaryOp, UnitExpr,
    UnitExprKind,
};
use crate::syntax::lexer::number_literal;

/// A line under construction.
#[derive(Default)]
pub(super) struct Line<'s> {
    /// Text that the tree was read from, to which its spans refer; empty if its literals are to be
    /// written anew.
    source: &'s str,
    text: String,
    /// Bytes before which the line may be broken (there is a blank before each), with the bracket
    /// and operator depth there.
    breaks: Vec<(usize, u32)>,
    depth: u32,
}

impl<'s> Line<'s> {
    /// A statement up to its block, if it has one (` {` not included).
    pub(super) fn of(stmt: &Stmt, source: &'s str) -> Line<'s> {
        let mut line = Line { source, ..Line::default() };
        match &stmt.kind {
            StmtKind::Declaration { name, ty } => {
                line.push(&name.name);
                line.push(" : ");
                line.ty(ty);
            }
            StmtKind::FunctionDeclaration { name, params, result } => {
                line.push(&name.name);
                line.push(" : Function(");
                line.separated(params, |line, (param, ty)| {
                    line.push(&param.name);
                    line.push(" : ");
                    line.ty(ty);
                });
                line.push(") -> ");
                line.ty(result);
            }
            StmtKind::Assignment { name, ty, value } => {
                line.push(&name.name);
                if let Some(ty) = ty {
                    line.push(" : ");
                    line.ty(ty);
                }
                line.push(" = ");
                line.expr(value);
            }
            StmtKind::FunctionDefinition { name, params, body: _ } => {
                line.call_like(name, params, |line, param| line.push(&param.name));
                line.push(" =");
            }
            StmtKind::StencilAssignment { name, indices, value } => {
                line.call_like(name, indices, Line::argument);
                line.push(" = ");
                line.expr(value);
            }
            StmtKind::Call(call) => line.expr(call),
            StmtKind::Return(value) => {
                line.push("-> ");
                line.expr(value);
            }
            StmtKind::Import { path, names } => {
                line.push("Import ");
                line.push(&path.as_ref().map_or_else(|| "<error>".to_owned(), |path| quoted(&path.text)));
                line.push(" (");
                line.separated(names, |line, name| line.push(&name.name));
                line.push(")");
            }
            StmtKind::For { variable, sequence, body: _ } => {
                line.push("For ");
                line.push(&variable.name);
                line.push(" In ");
                line.expr(sequence);
            }
            StmtKind::Conditional { test, condition, body: _ } => {
                line.push(test.words());
                line.push(" ");
                line.expr(condition);
            }
        }
        line
    }

    /// Writes the line at an indentation, broken where it is too long.
    pub(super) fn write(&self, out: &mut String, indent: usize) {
        let mut start = 0;
        let mut margin = indent;
        loop {
            out.extend(std::iter::repeat_n(' ', margin));
            let rest = &self.text[start..];
            let capacity = WIDTH.saturating_sub(margin);
            if rest.chars().count() <= capacity {
                out.push_str(rest);
                return;
            }
            let after = self.breaks.partition_point(|&(at, _)| at <= start);
            let candidates = &self.breaks[after..];
            // ` ...` takes three more columns than the blank at the break.
            let fits = candidates.iter().take_while(|&&(at, _)| self.text[start..at].chars().count() + 3 <= capacity);
            let best = fits.copied().min_by_key(|&(at, depth)| (depth, std::cmp::Reverse(at))).or_else(|| candidates.first().copied());
            let Some((at, _)) = best else {
                out.push_str(rest);
                return;
            };
            out.push_str(&self.text[start..at]);
            out.push_str("...\n");
            start = at;
            margin = indent + INDENT;
        }
    }

    fn push(&mut self, text: &str) {
        self.text.push_str(text);
    }

    /// A blank where the line may be broken.
    fn blank(&mut self) {
        self.text.push(' ');
        self.breaks.push((self.text.len(), self.depth));
    }

    fn separated<T>(&mut self, items: &[T], mut item: impl FnMut(&mut Self, &T)) {
        self.depth += 1;
        for (i, it) in items.iter().enumerate() {
            if i > 0 {
                self.push(",");
                self.blank();
            }
            item(self, it);
        }
        self.depth -= 1;
    }

    fn call_like<T>(&mut self, name: &Ident, items: &[T], item: impl FnMut(&mut Self, &T)) {
        self.push(&name.name);
        self.push("(");
        self.separated(items, item);
        self.push(")");
    }

    fn bracketed(&mut self, open: &str, inner: &Expr, close: &str) {
        self.push(open);
        self.nested(inner);
        self.push(close);
    }

    fn nested(&mut self, inner: &Expr) {
        self.depth += 1;
        self.expr(inner);
        self.depth -= 1;
    }

    /// Writes an expression between parentheses after a name. `i+1` without blanks stays so: most
    /// of these are indices.
    fn argument(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::Binary { op: op @ BinaryOp::Arithmetic(Arithmetic::Add | Arithmetic::Sub), left, right, .. }
                if is_atom(left) && is_atom(right) && self.is_tight(expr) =>
            {
                self.nested(left);
                self.push(op.text());
                self.nested(right);
            }
            _ => self.expr(expr),
        }
    }

    /// True if an expression is written without blanks.
    fn is_tight(&self, expr: &Expr) -> bool {
        let written = self.source.get(expr.span.start as usize..expr.span.end as usize);
        written.is_some_and(|text| !text.is_empty() && !text.contains(char::is_whitespace))
    }

    fn expr(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::Number { value, unit } => {
                match written(self.source, expr.span.start, *value) {
                    Some(digits) => self.push(digits),
                    None => self.push(&number(*value)),
                }
                if let Some(unit) = unit {
                    self.push(" [");
                    self.unit(unit);
                    self.push("]");
                }
            }
            ExprKind::Text(text) => self.push(&quoted(text)),
            ExprKind::Bool(value) => self.push(if *value { "True" } else { "False" }),
            ExprKind::Name(name) => self.push(name),
            ExprKind::Call { callee, args } => self.call_like(callee, args, Line::argument),
            ExprKind::Array(elements) => {
                self.push("[");
                self.separated(elements, Line::expr);
                self.push("]");
            }
            ExprKind::Paren(inner) => self.bracketed("(", inner, ")"),
            ExprKind::Norm(inner) => self.bracketed("|", inner, "|"),
            ExprKind::Index { base, index, index_span: _ } => {
                self.expr(base);
                self.push(&format!("[{index}]"));
            }
            ExprKind::Unary { op, operand } => {
                self.push(match op {
                    UnaryOp::Neg => "-",
                    UnaryOp::Not => "Not ",
                });
                self.nested(operand);
            }
            ExprKind::Binary { op, op_span: _, left, right } => {
                if *op == BinaryOp::Power {
                    self.nested(left);
                    self.push("^");
                    self.nested(right);
                    return;
                }
                // The operands are deeper than the operator, so that loose operators break first.
                self.chain_operand(*op, left);
                self.blank();
                self.push(op.text());
                self.push(" ");
                self.nested(right);
            }
            ExprKind::Ternary { condition, if_true, if_false } => {
                self.nested(condition);
                self.blank();
                self.push("? ");
                self.nested(if_true);
                self.blank();
                self.push(": ");
                self.nested(if_false);
            }
            // No text stands for it; the tree of a program with errors is not printed for reading
            // back.
            ExprKind::Error => self.push("<error>"),
        }
    }

    /// The left operand of `op`: `a + b + c` breaks at each `+` alike.
    fn chain_operand(&mut self, op: BinaryOp, left: &Expr) {
        let same_chain = match (&left.kind, op) {
            (ExprKind::Binary { op: inner, .. }, BinaryOp::Arithmetic(Arithmetic::Add | Arithmetic::Sub)) => {
                matches!(inner, BinaryOp::Arithmetic(Arithmetic::Add | Arithmetic::Sub))
            }
            (ExprKind::Binary { op: inner, .. }, _) => *inner == op,
            _ => false,
        };
        if same_chain { self.expr(left) } else { self.nested(left) }
    }

    fn unit(&mut self, unit: &UnitExpr) {
        match &unit.kind {
            UnitExprKind::Name(name) => self.push(name),
            UnitExprKind::Paren(inner) => {
                self.push("(");
                self.unit(inner);
                self.push(")");
            }
            UnitExprKind::Mul(a, b) => {
                self.unit(a);
                self.push("*");
                self.unit(b);
            }
            UnitExprKind::Div(a, b) => {
                self.unit(a);
                self.push("/");
                self.unit(b);
            }
            UnitExprKind::Power(base, exponent) => {
                self.unit(base);
                self.push(&format!("^{exponent}"));
            }
        }
    }

    fn ty(&mut self, ty: &TypeExpr) {
        match &ty.kind {
            TypeExprKind::Basic(name) => self.push(type_name(*name)),
            TypeExprKind::Collection { element, place } => {
                self.push("Collection Of ");
                self.push(type_name(*element));
                match place {
                    Some(CollectionDomain::On(e)) => {
                        self.push(" On ");
                        self.nested(e);
                    }
                    Some(CollectionDomain::SubsetOf(e)) => {
                        self.push(" Subset Of ");
                        self.nested(e);
                    }
                    None => {}
                }
            }
            TypeExprKind::Stencil(inner) => {
                self.push("Stencil ");
                self.ty(inner);
            }
            TypeExprKind::Sequence(element) => {
                self.push("Sequence Of ");
                self.push(type_name(*element));
            }
            TypeExprKind::Array { size, size_span: _, element } => {
                self.push(&format!("Array Of {size} "));
                self.ty(element);
            }
            TypeExprKind::Mutable(inner) => {
                self.push("Mutable ");
                self.ty(inner);
            }
            TypeExprKind::Error => self.push("<error>"),
        }
    }
}

/// A name, or a number without a unit.
fn is_atom(expr: &Expr) -> bool {
    matches!(expr.kind, ExprKind::Name(_) | ExprKind::Number { unit: None, .. })
}

fn type_name(name: BasicTypeName) -> &'static str {
    match name {
        BasicTypeName::Scalar => "Scalar",
        BasicTypeName::Vector => "Vector",
        BasicTypeName::Bool => "Bool",
        BasicTypeName::Cell => "Cell",
        BasicTypeName::Face => "Face",
        BasicTypeName::Edge => "Edge",
        BasicTypeName::Vertex => "Vertex",
        BasicTypeName::String => "String",
    }
}

/// The number literal of this value that begins at a place of the text, as it stands there.
fn written(source: &str, start: u32, value: f64) -> Option<&str> {
    let digits = number_literal(source.get(start as usize..)?)?;
    // A tree that was changed since it was read says what is meant.
    (digits.parse() == Ok(value)).then_some(digits)
}

/// The shortest digits that read back as the same number; with an exponent where that saves three
/// characters or more.
fn number(value: f64) -> String {
    let plain = value.to_string();
    let scientific = format!("{value:e}");
    if scientific.len() + 3 <= plain.len() { scientific } else { plain }
}

fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            _ => out.push(c),
        }
    }
    out.push('"');
    out
}
