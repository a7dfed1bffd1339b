//! Values that rules beyond the grid give: what functions return and variables keep of them.

use crate::check::beyond::keep_definition;
use crate::check::checker::Checker;
use crate::check::halo::{Given, bare, zero_beyond};
use crate::diagnostic::{Code, Diagnostic};
use crate::typed::{Expr, ExprKind, Rule, TreeType, VarId, Variable};
use crate::types::Type;

/// A value for a mutable variable; reports a halo that is written in its place. Zero beyond all
/// sides is what `Stencil Collection` has by itchecker.
pub(super) fn without_halo(checker: &mut Checker<'_>, value: &Expr) -> Expr {
    let has_rules = |checker: &Checker<'_>, ty: &Type| {
        let rules = checker.rules.get(ty.halo);
        rules != zero_beyond() && rules.sides.iter().any(|r| r.is_some_and(|r| r != Rule::Periodic))
    };
    if value.ty.elements().iter().any(|ty| has_rules(checker, ty)) {
        checker.report(
            Diagnostic::new(Code::HaloMutable, value.span, "a mutable variable has no rules beyond the grid")
                .hint("assign the values themselves, and write `Halo(...)` where the variable is read"),
        );
    }
    bare(value.clone())
}

/// A result, with the variables of the function that ends whose values its rules give: they
/// are the last elements of an array that the caller takes apart.
pub(super) fn return_given(checker: &mut Checker<'_>, result: Expr) -> Expr {
    let Some(frame) = checker.frames.last() else { return result };
    let mut given: Vec<VarId> = Vec::new();
    let mut types: Vec<Type> = result.ty.elements().to_vec();
    let mut next = 0;
    while let Some(ty) = types.get(next) {
        next += 1;
        for value in checker.rules.get(ty.halo).given {
            if let Given::Variable(var) = value
                && frame.locals.contains(&var)
                && !given.contains(&var)
            {
                given.push(var);
                // Its rules may give others.
                types.extend(checker.tree.variable(var).ty.elements());
            }
        }
    }
    if given.is_empty() {
        return result;
    }
    let span = result.span;
    let (ty, mut dims) = (checker.tree.with_given(&result.ty, &given), result.dims.clone());
    let mut elements = vec![result];
    for &var in &given {
        let Variable { ty, dims: own, .. } = checker.tree.variable(var);
        dims.extend(own);
        elements.push(Expr { kind: ExprKind::Variable(var), ty: ty.bare(), dims: own.clone(), span });
    }
    if let Some(frame) = checker.frames.last_mut() {
        frame.given = given;
    }
    Expr { kind: ExprKind::Array(elements), ty, dims, span }
}

/// Takes the result of a call that also returns values of its rules; these get names here.
pub(super) fn take_given(checker: &mut Checker<'_>, call: Expr, ty: &TreeType, given: &[VarId]) -> Expr {
    if given.is_empty() {
        return call;
    }
    let (span, count) = (call.span, ty.elements().len() as u32);
    let own = |checker: &mut Checker<'_>, name: &str, value: Expr| {
        let variable = checker.name_value(name, value.clone());
        keep_definition(checker, variable, &value);
        (variable, Expr { kind: ExprKind::Variable(variable), ..value })
    };
    let (_, all) = own(checker, "result", call);
    let names: Vec<VarId> = (0..given.len() as u32).map(|k| own(checker, "beyond", element(&all, count + k)).0).collect();
    for (&name, &var) in names.iter().zip(given) {
        let Variable { ty, span, .. } = checker.tree.variable(var).clone();
        let ty = checker.rules.renamed(&ty, given, &names);
        let own = checker.tree.variable_mut(name);
        (own.ty, own.span) = (ty, span);
    }
    let mut elements: Vec<Expr> = (0..count).map(|index| element(&all, index)).collect();
    for element in &mut elements {
        element.ty = checker.rules.renamed(&element.ty, given, &names);
    }
    match ty {
        TreeType::Array(_) => {
            let types = elements.iter().flat_map(|e| e.ty.elements().to_vec()).collect();
            let dims = elements.iter().flat_map(|e| e.dims.clone()).collect();
            Expr { kind: ExprKind::Array(elements), ty: TreeType::Array(types), dims, span }
        }
        TreeType::Value(_) | TreeType::Table2 | TreeType::Void => elements.swap_remove(0),
    }
}

/// An element of an array.
fn element(array: &Expr, index: u32) -> Expr {
    let ty = array.ty.elements().get(index as usize).map_or(TreeType::Void, |ty| TreeType::Value(*ty));
    let dims = array.dims.get(index as usize).copied().into_iter().collect();
    Expr { kind: ExprKind::Element { array: Box::new(array.clone()), index }, ty, dims, span: array.span }
}
