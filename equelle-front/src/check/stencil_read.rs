//! Reads by index.

use crate::check::beyond::geometry_at;
use crate::check::checker::{Checker, value};
use crate::check::halo::{Given, bare, side_name};
use crate::check::indices::{has_axis, offsets};
use crate::check::operation::Operation;
use crate::check::scope::{EntryId, Meaning, State, VariableEntry};
use crate::diagnostic::{Code, Diagnostic};
use crate::ops::Offset;
use crate::source::Span;
use crate::syntax::ast::{self, Ident};
use crate::typed::{Expr, ExprKind, Rule, Rules, TreeType, VarId, Variable};
use crate::types::{Shape, Type};

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

/// The variable that `name(...)` reads, if it is one.
pub(super) fn entry(checker: &Checker<'_>, name: &Ident) -> Option<EntryId> {
    let id = checker.scopes.lookup(&name.name)?;
    let Meaning::Variable(VariableEntry { state: State::Assigned(var), .. }) = checker.scopes.entry(id).meaning else { return None };
    let ty = &checker.tree.variable(var).ty;
    // Numbers and texts are not what is read, but called.
    let collection = ty.elements().iter().any(|ty| ty.mapping().is_some());
    (collection && !checker.reports.clashes.contains(&name.name)).then_some(id)
}

/// `u(i+1, j-2)`
pub(super) fn read(checker: &mut Checker<'_>, name: &Ident, id: EntryId, args: &[ast::Expr], span: Span) -> Option<Expr> {
    let entry = checker.scopes.entry_mut(id);
    entry.used = true;
    let origin = entry.span;
    let Meaning::Variable(VariableEntry { state: State::Assigned(var), .. }) = entry.meaning else { return checker.reports.unknown() };
    if !args.iter().any(|arg| has_axis(checker, arg)) {
        return checker.fail(
                Diagnostic::new(Code::NotAFunction, name.span, format!("`{}` is a variable, not a function", name.name))
                    .also(origin, "the variable is named here")
                    .hint("to multiply, write `*`; to evaluate a collection elsewhere, write `On`; to read neighbours, write index variables: `u(i+1)`"),
            );
    }
    let variable = checker.tree.variable(var);
    let data = Expr { kind: ExprKind::Variable(var), ty: variable.ty.clone(), dims: variable.dims.clone(), span: name.span };
    let ty = Operation::new(checker, "a read by index", span).on_cells(&data)?;
    let by = offsets(checker, args)?;
    let halo = checker.rules.get(ty.halo);
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
        return checker.fail(
            Diagnostic::new(Code::StencilBeyond, span, message)
                .also(origin, format!("`{}` has no rule for that side", name.name))
                .hint(format!("add `Periodic({index})`, `Mirror({end_word}({index}))`, ... in `Halo({}, ...)`", name.name)),
        );
    }
    if by == Offset::default() {
        return Some(Expr { span, ..data });
    }
    let operands = [data.ty.clone()];
    let read = match read_at(checker, data, by, by, span) {
        Ok(read) => read,
        Err(unknown) => return refuse_unknown(checker, name, by, &unknown, span),
    };
    Some(checker.rules.keep_periodic(read, &operands))
}

/// A value at an offset, by its rules, which it has for all sides that the offset leads
/// towards. What they give is read at the cell next to their side, and along the axes after it
/// at the offset of the whole read.
fn read_at(checker: &mut Checker<'_>, data: Expr, by: Offset, whole: Offset, span: Span) -> Result<Expr, UnknownBeyond> {
    let Some(ty) = data.ty.value() else { return Ok(data) };
    let halo = checker.rules.get(ty.halo);
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
                given_at(checker, var, after, span).map_err(|unknown| unknown.unwrap_or(UnknownBeyond { var, side, rule }))?
            }
        });
    }
    let result = Type { shape: ty.mapping().map_or(ty.shape, Shape::Collection), ..ty.bare() };
    Ok(Expr { kind: ExprKind::Read { args, by, rules }, ty: TreeType::Value(result), dims, span })
}

/// Returns a rule's data at an offset: by its own rules along axes for whose side it has one,
/// as an expression of geometry along others. An error without content: it is none.
fn given_at(checker: &mut Checker<'_>, var: VarId, by: Offset, span: Span) -> Result<Expr, Option<UnknownBeyond>> {
    let Variable { ty, dims, .. } = checker.tree.variable(var).clone();
    let Some(Type { shape, halo, .. }) = ty.value() else { return Err(None) };
    let mut data = Expr { kind: ExprKind::Variable(var), ty: ty.clone(), dims, span };
    if shape == Shape::Single {
        return Ok(data);
    }
    let sides = checker.rules.get(halo).sides;
    let ruled: Offset = std::array::from_fn(|axis| if sides[side(axis, by)].is_some() { by[axis] } else { 0 });
    let free: Offset = std::array::from_fn(|axis| by[axis] - ruled[axis]);
    if free != Offset::default() {
        data = Expr { ty, ..geometry_at(checker, var, free, span).ok_or(None)? };
    }
    if ruled == Offset::default() { Ok(bare(data)) } else { read_at(checker, data, ruled, by, span).map_err(Some) }
}

/// Reports a read at a corner where nothing says what a rule gives.
fn refuse_unknown(checker: &mut Checker<'_>, name: &Ident, by: Offset, unknown: &UnknownBeyond, span: Span) -> Option<Expr> {
    let &UnknownBeyond { var, side: own, rule } = unknown;
    let variable = checker.tree.variable(var);
    let place = variable.span;
    let sides = variable.ty.value().map(|ty| checker.rules.get(ty.halo).sides).unwrap_or_default();
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
    // Without a name it stands in the rule itchecker.
    let text = if variable.name == "beyond" { checker.texts.sources.and_then(|sources| sources.text_of(place)) } else { None };
    let given = text.unwrap_or(&variable.name);
    let message =
        format!("`{}` is read at a corner, beyond the {end} side of {letter}{ends}, but nothing says what `{rule}` gives there", name.name);
    let hint = format!(
        "let `{rule}` give `Halo({given}, Copy({}))`, or another rule; what is computed from `Centroid(AllCells())` alone needs none",
        indices.join(", ")
    );
    checker
        .fail(Diagnostic::new(Code::StencilBeyond, span, message).also(place, "it gives this, which has no rule for that side").hint(hint))
}
