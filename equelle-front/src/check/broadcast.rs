//! A single value beside a collection stands for the collection of itself.

use crate::check::checker::{Checker, tree_dim, value};
use crate::check::declared::place_set;
use crate::check::scope::{Declared, DeclaredKind, DefinitionId, Meaning, State};
use crate::source::Span;
use crate::typed::{Expr, ExprKind, VarId};
use crate::types::{Basic, Dimension, SetId, Shape, Type};

/// True if one value of this type can stand for a collection: entities come in collections only.
pub(super) fn can_broadcast(basic: Basic) -> bool {
    match basic {
        Basic::Scalar | Basic::Vector | Basic::Bool => true,
        Basic::Entity(_) | Basic::Text | Basic::Table | Basic::Axis(_) => false,
    }
}

/// The type of both if one is a single value and the other a collection of such values.
pub(super) fn number_beside_collection(a: &Type, b: &Type) -> Option<Type> {
    let (single, collection) = if a.shape == Shape::Single { (a, b) } else { (b, a) };
    let fits = single.shape == Shape::Single && matches!(collection.shape, Shape::Collection(_)) && single.basic == collection.basic;
    (fits && can_broadcast(single.basic)).then_some(*collection)
}

/// Arguments of a function, with single values as collections where it declares collections on
/// a domain.
pub(super) fn declared_arguments(checker: &Checker<'_>, function: DefinitionId, arguments: Vec<Option<Expr>>) -> Vec<Option<Expr>> {
    let Some(declared) = checker.definitions.get(function).declared.clone() else { return arguments };
    let mut expected = declared.params.iter();
    let fitted = arguments.into_iter().map(|argument| {
        let expected = expected.next().and_then(Option::as_ref);
        Some(match (argument?, expected) {
            (argument, Some(expected)) => declared_argument(checker, expected, argument),
            (argument, None) => argument,
        })
    });
    fitted.collect()
}

fn declared_argument(checker: &Checker<'_>, declared: &Declared, argument: Expr) -> Expr {
    let (DeclaredKind::On(place), None, Some(ty)) = (declared.kind, declared.array, argument.ty.value()) else { return argument };
    let fits = ty.shape == Shape::Single && ty.basic == declared.basic && can_broadcast(ty.basic);
    let Some(set) = place_set(checker, place).filter(|_| fits) else { return argument };
    let Some(domain) = value_on(checker, set, argument.span) else { return argument };
    let (dim, span) = (tree_dim(&argument), argument.span);
    let kind = ExprKind::Extend { data: Box::new(argument), domain: Box::new(domain) };
    value(kind, Type::collection(ty.basic, set), dim, span)
}

/// A visible value on a set: the domain itself where there is one.
fn value_on(checker: &Checker<'_>, set: SetId, span: Span) -> Option<Expr> {
    let info = checker.sets.get(set);
    if let Some(canonical) = info.canonical {
        return Some(value(ExprKind::CanonicalSet(canonical), Type::domain(info.kind, set), Dimension::NONE, span));
    }
    let on_set = |entry: &Meaning| -> Option<(bool, bool, VarId)> {
        let Meaning::Variable(variable) = entry else { return None };
        let State::Assigned(id) = variable.state else { return None };
        let ty = checker.tree.variable(id).ty.value().filter(|ty| ty.mapping() == Some(set))?;
        // The run-time does not keep the place of entities that are no domain.
        let keeps_place = ty.is_domain() || can_broadcast(ty.basic);
        keeps_place.then_some((!ty.is_domain(), variable.mutable, id))
    };
    let (.., found) = checker.scopes.visible_entries().filter_map(|entry| on_set(&entry.meaning)).min()?;
    let variable = checker.tree.variable(found);
    Some(Expr { kind: ExprKind::Variable(found), ty: variable.ty.clone(), dims: variable.dims.clone(), span })
}
