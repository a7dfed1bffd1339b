//! Reads and assignments by index.

use crate::check::checker::{Checker, value};
use crate::check::halo::{AXES, Given};
use crate::check::scope::{EntryId, Meaning, Role, State, VariableEntry};
use crate::check::stencil::side_name;
use crate::diagnostic::{Code, Diagnostic};
use crate::ops::{Arithmetic, MAX_OFFSET, Offset};
use crate::source::Span;
use crate::syntax::ast::{self, BinaryOp, ExprKind as Ast, Ident};
use crate::typed::{Expr, ExprKind, StmtKind, TreeType};
use crate::types::{Dimension, Shape, Type};

/// An index: its axis, its offset, and whether a parameter names the axis.
struct Index {
    axis: usize,
    by: i8,
    is_parameter: bool,
}

impl<'a> Checker<'a> {
    /// The variable that `name(...)` reads, if it is one.
    pub fn read_of(&mut self, name: &Ident) -> Option<EntryId> {
        let id = self.scopes.lookup(&name.name, self.scope)?;
        let Meaning::Variable(VariableEntry { state: State::Assigned(var), .. }) = self.scopes.entry(id).meaning else { return None };
        let ty = &self.variables[var.0 as usize].ty;
        // Numbers and texts are not what is read, but called.
        let collection = ty.elements().iter().any(|ty| ty.mapping().is_some());
        (collection && !self.clashes.contains(&name.name)).then_some(id)
    }

    /// `u(i+1, j-2)`
    pub fn read(&mut self, name: &'a Ident, id: EntryId, args: &'a [ast::Expr], span: Span) -> Option<Expr> {
        let entry = self.scopes.entry_mut(id);
        entry.used = true;
        let origin = entry.span;
        let Meaning::Variable(VariableEntry { state: State::Assigned(var), .. }) = entry.meaning else { return self.unknown() };
        if !args.iter().any(|arg| self.has_axis(arg)) {
            return self.fail(
                Diagnostic::new(Code::NotAFunction, name.span, format!("`{}` is a variable, not a function", name.name))
                    .also(origin, "the variable is named here")
                    .hint("to multiply, write `*`; to evaluate a collection elsewhere, write `On`; to read neighbours, write index variables: `u(i+1)`"),
            );
        }
        let variable = &self.variables[var.0 as usize];
        let data = Expr { kind: ExprKind::Variable(var), ty: variable.ty.clone(), dims: variable.dims.clone(), span: name.span };
        let ty = self.no_array(&data, "a read by index")?;
        self.is_on_cells(&data, &ty, "a read by index")?;
        let by = self.offsets(args)?;
        let halo = self.rules_of(ty.halo);
        let operands = [data.ty.clone()];
        for (axis, &offset) in by.iter().enumerate() {
            let side = 2 * axis + usize::from(offset > 0);
            if offset == 0 || halo.sides[side].is_some() {
                continue;
            }
            let (end, letter) = side_name(side);
            let cells = offset.unsigned_abs();
            let index = letter.to_lowercase();
            let end_word = if end == "low" { "Low" } else { "High" };
            let message = format!(
                "`{}` is read {cells} cell{} beyond the {end} side of {letter}, but nothing says what is there",
                name.name,
                if cells == 1 { "" } else { "s" }
            );
            return self.fail(
                Diagnostic::new(Code::StencilBeyond, span, message)
                    .also(origin, format!("`{}` has no rule for that side", name.name))
                    .hint(format!("add `Periodic({index})`, `Mirror({end_word}({index}))`, ... in `Halo({}, ...)`", name.name)),
            );
        }
        if by == Offset::default() {
            return Some(Expr { span, ..data });
        }
        let dims = data.dims.clone();
        let dim = dims.first().copied().unwrap_or(Dimension::NONE);
        let mut arguments = vec![Expr { ty: data.ty.bare(), ..data }];
        for given in &halo.given {
            arguments.push(match given {
                Given::Number(bits) => value(ExprKind::Number(f64::from_bits(*bits)), Type::SCALAR, dim, span),
                Given::Variable(var) => {
                    let variable = &self.variables[var.0 as usize];
                    Expr { kind: ExprKind::Variable(*var), ty: variable.ty.bare(), dims: variable.dims.clone(), span }
                }
            });
        }
        let result = Type { shape: ty.mapping().map_or(ty.shape, Shape::Collection), ..ty.bare() };
        let read = Expr { kind: ExprKind::Read { args: arguments, by, rules: halo.sides }, ty: TreeType::Value(result), dims, span };
        Some(self.keep_periodic(read, &operands))
    }

    /// Whether an index variable stands in an expression.
    pub fn has_axis(&mut self, expr: &ast::Expr) -> bool {
        match &expr.kind {
            Ast::Name(name) => self.axis_named(name).is_some(),
            Ast::Paren(inner) => self.has_axis(inner),
            Ast::Binary { left, right, .. } => self.has_axis(left) || self.has_axis(right),
            _ => false,
        }
    }

    /// Whether the parentheses on the left of an assignment hold index variables.
    pub fn is_by_index(&mut self, indices: &[ast::Expr]) -> bool {
        indices.iter().any(|index| self.has_axis(index))
    }

    fn offsets(&mut self, args: &'a [ast::Expr]) -> Option<Offset> {
        let mut by = Offset::default();
        let mut seen = [false; 3];
        let mut last: Option<usize> = None;
        for arg in args {
            let Index { axis, by: offset, is_parameter } = self.offset(arg)?;
            let letter = AXES[axis];
            if seen[axis] {
                return self
                    .fail(Diagnostic::new(Code::StencilTwice, arg.span, format!("{letter} is used twice")).hint("each axis stands once"));
            }
            seen[axis] = true;
            if !is_parameter {
                if let Some(before) = last
                    && before > axis
                {
                    let message = format!("indices stand in the order I, J, K; here {} stands before {letter}", AXES[before]);
                    return self.fail(Diagnostic::new(Code::StencilOrder, arg.span, message).hint("exchange them"));
                }
                last = Some(axis);
            }
            by[axis] = offset;
        }
        Some(by)
    }

    /// `i`, `i+1`, `i-2`, `1+i`
    fn offset(&mut self, arg: &'a ast::Expr) -> Option<Index> {
        let (name, by) = match &arg.kind {
            Ast::Name(name) => (Some(name), Some(0.0)),
            Ast::Binary { op: BinaryOp::Arithmetic(op @ (Arithmetic::Add | Arithmetic::Sub)), left, right, .. } => {
                match (&left.kind, &right.kind, op) {
                    (Ast::Name(name), Ast::Number { value, unit: None }, Arithmetic::Add) => (Some(name), Some(*value)),
                    (Ast::Name(name), Ast::Number { value, unit: None }, _) => (Some(name), Some(-*value)),
                    (Ast::Number { value, unit: None }, Ast::Name(name), Arithmetic::Add) => (Some(name), Some(*value)),
                    _ => (None, None),
                }
            }
            _ => (None, None),
        };
        let axis = name.and_then(|name| self.axis_named(name));
        let whole = by.filter(|by| by.fract() == 0.0 && by.abs() <= f64::from(MAX_OFFSET));
        if let (Some(name), Some(axis), Some(by)) = (name, axis, whole) {
            let entry = self.scopes.lookup(name, self.scope).map(|id| &self.scopes.entry(id).meaning);
            let is_parameter = matches!(entry, Some(Meaning::Variable(VariableEntry { role: Role::Parameter, .. })));
            return Some(Index { axis: usize::from(axis), by: by as i8, is_parameter });
        }
        let message = match (axis, by) {
            (Some(_), Some(by)) if by.fract() != 0.0 => format!("`{by}` is not a whole number"),
            (Some(_), Some(by)) => format!("an offset of {by} cells is too far: at most {MAX_OFFSET}"),
            _ => "this is no index variable with a whole number in the text added or subtracted".to_owned(),
        };
        self.fail(Diagnostic::new(Code::StencilNotIndex, arg.span, message).hint("write `i`, `i+1`, `i-2`, where `i = StencilI()`"))
    }

    /// `u(i, j) = value`: an assignment of the whole. An unknown name becomes a mutable variable
    /// with zero beyond the grid.
    pub fn assign_by_index(&mut self, name: &'a Ident, indices: &'a [ast::Expr], assigned: &'a ast::Expr) -> Option<StmtKind> {
        let by = self.offsets(indices);
        let assigned = self.expr(assigned);
        let known = self.scopes.lookup(&name.name, self.scope);
        let entry = VariableEntry { declared: None, mutable: true, role: Role::Local, state: State::Unassigned, reported: false };
        let id = known.unwrap_or_else(|| self.scopes.define(self.scope, &name.name, name.span, Meaning::Variable(entry)));
        let assigned = assigned.and_then(|assigned| {
            let ty = self.no_array(&assigned, "an assignment by index")?;
            self.is_on_cells(&assigned, &ty, "an assignment by index")?;
            if by? != Offset::default() {
                let span = indices.first()?.span.to(indices.last()?.span);
                return self.fail(
                    Diagnostic::new(Code::StencilLeft, span, "the left side names the cell itself: no offset")
                        .hint("write the offset in what is read on the right"),
                );
            }
            Some(assigned)
        });
        let Meaning::Variable(variable) = &self.scopes.entry(id).meaning else {
            let span = self.scopes.entry(id).span;
            return self.fail(
                Diagnostic::new(Code::AssignToFunction, name.span, format!("`{}` is a function and cannot be assigned", name.name))
                    .also(span, "the function is named here")
                    .hint("choose another name for the variable"),
            );
        };
        match (variable.mutable, variable.state) {
            (_, State::Unassigned) => {
                let made = self.assign_first(id, name, assigned)?;
                if let (None, StmtKind::Assign { variable, .. }) = (known, &made) {
                    let ty = self.variables[variable.0 as usize].ty.clone();
                    self.variables[variable.0 as usize].ty = self.with_zero_halo(&ty);
                }
                Some(made)
            }
            (true, State::Assigned(_) | State::Unknown) => self.assign_again(id, name, assigned),
            (false, _) => {
                let span = self.scopes.entry(id).span;
                self.fail(
                    Diagnostic::new(Code::AssignToImmutable, name.span, format!("`{}` already has its value", name.name))
                        .also(span, "it has its value from here on")
                        .hint("declare it `Mutable` before its first assignment"),
                )
            }
        }
    }
}
