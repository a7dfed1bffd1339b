//! Reads and assignments by index.

use crate::check::checker::{Checker, value};
use crate::check::halo::{AXES, Given};
use crate::check::scope::{EntryId, Meaning, Role, State, VariableEntry};
use crate::check::stencil::{bare, side_name};
use crate::diagnostic::{Code, Diagnostic};
use crate::ops::{Arithmetic, MAX_OFFSET, Offset};
use crate::source::Span;
use crate::syntax::ast::{self, BinaryOp, ExprKind as Ast, Ident};
use crate::typed::{Expr, ExprKind, Rule, Rules, StmtKind, TreeType, VarId, Variable};
use crate::types::{Shape, Type};

/// An index: its axis, its offset, and whether a parameter names the axis.
struct Index {
    axis: usize,
    by: i8,
    is_parameter: bool,
}

/// A value of a rule, for a side, that is read where nothing says what it is.
struct UnknownBeyond {
    var: VarId,
    side: usize,
    rule: Rule,
}

/// The side of an axis that an offset leads towards.
fn side(axis: usize, by: Offset) -> usize {
    2 * axis + usize::from(by[axis] > 0)
}

/// The first side without a rule that an offset leads towards.
fn missing(sides: &Rules, by: Offset) -> Option<usize> {
    (0..3).filter(|&axis| by[axis] != 0).map(|axis| side(axis, by)).find(|&side| sides[side].is_none())
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
        if let Some(side) = missing(&halo.sides, by) {
            let (end, letter) = side_name(side);
            let cells = by[side / 2].unsigned_abs();
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
        let operands = [data.ty.clone()];
        let read = match self.read_at(data, by, by, span) {
            Ok(read) => read,
            Err(unknown) => return self.refuse_unknown(name, by, &unknown, span),
        };
        Some(self.keep_periodic(read, &operands))
    }

    /// A value at an offset, by its rules, which it has for all sides that the offset leads
    /// towards. What they give is read at the cell next to their side, and along the axes after it
    /// at the offset of the whole read.
    fn read_at(&mut self, data: Expr, by: Offset, whole: Offset, span: Span) -> Result<Expr, UnknownBeyond> {
        let Some(ty) = data.ty.value() else { return Ok(data) };
        let halo = self.rules_of(ty.halo);
        let dims = data.dims.clone();
        let dim = dims.first().copied().unwrap_or_default();
        let mut args = vec![Expr { ty: data.ty.bare(), ..data }];
        let mut rules = Rules::default();
        for axis in (0..3).filter(|&axis| by[axis] != 0) {
            let side = side(axis, by);
            let Some(rule) = halo.sides[side] else { continue };
            let number = args.len() as u32;
            let (rule, given) = match rule {
                Rule::AtFace(given) => (Rule::AtFace(number), given),
                Rule::Value(given) => (Rule::Value(number), given),
                Rule::Slope(given) => (Rule::Slope(number), given),
                Rule::Periodic | Rule::Mirror | Rule::MirrorAt | Rule::Negate | Rule::Copy | Rule::Polynomial(_) => {
                    rules[side] = Some(rule);
                    continue;
                }
            };
            rules[side] = Some(rule);
            // Rules of the axes before have led to a cell of the grid.
            let after: Offset = std::array::from_fn(|other| if other > axis { whole[other] } else { 0 });
            args.push(match halo.given[given as usize - 1] {
                Given::Number(bits) => value(ExprKind::Number(f64::from_bits(bits)), Type::SCALAR, dim, span),
                Given::Variable(var) => {
                    self.given_at(var, after, span).map_err(|unknown| unknown.unwrap_or(UnknownBeyond { var, side, rule }))?
                }
            });
        }
        let result = Type { shape: ty.mapping().map_or(ty.shape, Shape::Collection), ..ty.bare() };
        Ok(Expr { kind: ExprKind::Read { args, by, rules }, ty: TreeType::Value(result), dims, span })
    }

    /// Returns a rule's data at an offset: by its own rules along axes for whose side it has one,
    /// as an expression of geometry along others. An error without content: it is none.
    fn given_at(&mut self, var: VarId, by: Offset, span: Span) -> Result<Expr, Option<UnknownBeyond>> {
        let Variable { ty, dims, .. } = self.variables[var.0 as usize].clone();
        let Some(Type { shape, halo, .. }) = ty.value() else { return Err(None) };
        let mut data = Expr { kind: ExprKind::Variable(var), ty: ty.clone(), dims, span };
        if shape == Shape::Single {
            return Ok(data);
        }
        let sides = self.rules_of(halo).sides;
        let ruled: Offset = std::array::from_fn(|axis| if sides[side(axis, by)].is_some() { by[axis] } else { 0 });
        let free: Offset = std::array::from_fn(|axis| by[axis] - ruled[axis]);
        if free != Offset::default() {
            data = Expr { ty, ..self.geometry_at(var, free, span).ok_or(None)? };
        }
        if ruled == Offset::default() { Ok(bare(data)) } else { self.read_at(data, ruled, by, span).map_err(Some) }
    }

    /// Reports a read at a corner where nothing says what a rule gives.
    fn refuse_unknown(&mut self, name: &Ident, by: Offset, unknown: &UnknownBeyond, span: Span) -> Option<Expr> {
        let &UnknownBeyond { var, side: own, rule } = unknown;
        let variable = &self.variables[var.0 as usize];
        let place = variable.span;
        let sides = variable.ty.value().map(|ty| self.rules_of(ty.halo).sides).unwrap_or_default();
        let after = (own / 2 + 1..3).filter(|&axis| by[axis] != 0).map(|axis| side(axis, by)).filter(|&side| sides[side].is_none());
        let (mut ends, mut indices) = (String::new(), Vec::new());
        for side in after {
            let (end, letter) = side_name(side);
            ends += &format!(" and the {end} side of {letter}");
            indices.push(letter.to_lowercase());
        }
        let (end, letter) = side_name(own);
        let rule = match rule {
            Rule::AtFace(_) => "AtFace",
            Rule::Slope(_) => "Slope",
            Rule::Value(_) | Rule::Periodic | Rule::Mirror | Rule::MirrorAt | Rule::Negate | Rule::Copy | Rule::Polynomial(_) => "Value",
        };
        // Without a name it stands in the rule itself.
        let text = if variable.name == "beyond" { self.texts.sources.and_then(|sources| sources.text_of(place)) } else { None };
        let given = text.unwrap_or(&variable.name);
        let message = format!(
            "`{}` is read at a corner, beyond the {end} side of {letter}{ends}, but nothing says what `{rule}` gives there",
            name.name
        );
        let hint = format!(
            "let `{rule}` give `Halo({given}, Copy({}))`, or another rule; what is computed from `Centroid(AllCells())` alone needs none",
            indices.join(", ")
        );
        self.fail(
            Diagnostic::new(Code::StencilBeyond, span, message).also(place, "it gives this, which has no rule for that side").hint(hint),
        )
    }

    /// True if an index variable stands in an expression.
    pub fn has_axis(&mut self, expr: &ast::Expr) -> bool {
        match &expr.kind {
            Ast::Name(name) => self.axis_named(name).is_some(),
            Ast::Paren(inner) => self.has_axis(inner),
            Ast::Binary { left, right, .. } => self.has_axis(left) || self.has_axis(right),
            _ => false,
        }
    }

    /// True if the parentheses on the left of an assignment hold index variables.
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
