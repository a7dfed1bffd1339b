//! Types that a program declares.

use crate::check::checker::Checker;
use crate::check::declared::place_set;
use crate::check::print::basic_name;
use crate::check::scope::{Declared, DeclaredKind, DeclaredSet, Meaning, State};
use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use crate::syntax::ast::{self, BasicTypeName, CollectionDomain, TypeExprKind};
use crate::typed::TreeType;
use crate::types::{Basic, EntityKind, Shape, Type};

/// Modifiers that [`declared`] has seen on its way inwards.
#[derive(Default)]
struct Modifiers {
    mutable: bool,
    array: Option<u32>,
}

/// Reads a type expression; `None` if an error in it has been reported.
pub(super) fn declared<'a>(checker: &mut Checker<'a>, ty: &'a ast::TypeExpr) -> Option<Declared> {
    let mut modifiers = Modifiers::default();
    let mut inner = ty;
    loop {
        match &inner.kind {
            TypeExprKind::Mutable(element) => {
                modifiers.mutable = true;
                inner = element;
            }
            TypeExprKind::Array { size, size_span: _, element } => {
                // The parser has reported both.
                if modifiers.array.is_some() || *size == 0 {
                    return checker.reports.unknown();
                }
                modifiers.array = Some(*size);
                inner = element;
            }
            TypeExprKind::Basic(_)
            | TypeExprKind::Collection { .. }
            | TypeExprKind::Stencil(_)
            | TypeExprKind::Sequence(_)
            | TypeExprKind::Error => {
                let (stencil, inner) = match &inner.kind {
                    TypeExprKind::Stencil(inner) => (true, &**inner),
                    _ => (false, inner),
                };
                let (basic, kind) = declared_part(checker, inner)?;
                return Some(Declared { mutable: modifiers.mutable, array: modifiers.array, basic, kind, stencil, span: ty.span });
            }
        }
    }
}

fn declared_part<'a>(checker: &mut Checker<'a>, ty: &'a ast::TypeExpr) -> Option<(Basic, DeclaredKind)> {
    match &ty.kind {
        TypeExprKind::Basic(name) => Some((basic_of(*name), DeclaredKind::Single)),
        TypeExprKind::Sequence(name) => Some((element_type(checker, *name, ty.span)?, DeclaredKind::Sequence)),
        TypeExprKind::Collection { element, place } => {
            let basic = element_type(checker, *element, ty.span)?;
            let kind = match place {
                None => DeclaredKind::Collection,
                Some(CollectionDomain::On(e)) => DeclaredKind::On(declared_set(checker, e)?),
                Some(CollectionDomain::SubsetOf(e)) => {
                    let place = declared_set(checker, e)?;
                    same_kind(checker, basic, place, e.span)?;
                    DeclaredKind::SubsetOf(place)
                }
            };
            Some((basic, kind))
        }
        TypeExprKind::Error => checker.reports.unknown(),
        // Taken apart by the caller.
        TypeExprKind::Array { .. } | TypeExprKind::Mutable(_) | TypeExprKind::Stencil(_) => checker.reports.unknown(),
    }
}

fn element_type(checker: &mut Checker<'_>, name: BasicTypeName, span: Span) -> Option<Basic> {
    match basic_of(name) {
        Basic::Text | Basic::Table | Basic::Axis(_) => checker.fail(
            Diagnostic::new(Code::NoDomainOfText, span, "there are no collections or sequences of String")
                .hint("text is for names and tags, one at a time; declare the variable `String`, or leave the declaration out"),
        ),
        basic @ (Basic::Scalar | Basic::Vector | Basic::Bool | Basic::Entity(_)) => Some(basic),
    }
}

/// The set that `On e` or `Subset Of e` in a type means: the one that `e` is mapped over.
fn declared_set<'a>(checker: &mut Checker<'a>, e: &'a ast::Expr) -> Option<DeclaredSet> {
    let mut inner = e;
    while let ast::ExprKind::Paren(p) = &inner.kind {
        inner = p;
    }
    if let ast::ExprKind::Name(name) = &inner.kind
        && let Some(id) = checker.scopes.lookup(name)
        && let Meaning::Variable(variable) = &checker.scopes.entry(id).meaning
        && variable.state == State::Unassigned
        && let Some(Declared { array: None, basic: Basic::Entity(_), kind, .. }) = &variable.declared
    {
        let known = match kind {
            DeclaredKind::On(place) => Some(*place),
            DeclaredKind::Collection | DeclaredKind::SubsetOf(_) => Some(DeclaredSet::Postponed(id)),
            DeclaredKind::Single | DeclaredKind::Sequence => None,
        };
        if known.is_some() {
            checker.scopes.entry_mut(id).used = true;
            return known;
        }
    }
    let e = checker.expr(e)?;
    match &e.ty {
        &TreeType::Value(Type { basic: Basic::Entity(_), shape: Shape::Collection(set) | Shape::Domain(set), .. }) => {
            Some(DeclaredSet::Set(set))
        }
        ty @ (TreeType::Value(_) | TreeType::Array(_) | TreeType::Table2 | TreeType::Void) => {
            let found = checker.show(ty);
            checker.fail(
                Diagnostic::new(Code::TypeDomain, e.span, format!("a type needs a collection of entities here, not {found}"))
                    .label(found)
                    .hint("name a domain, such as `AllCells()`"),
            )
        }
    }
}

fn same_kind(checker: &mut Checker<'_>, basic: Basic, place: DeclaredSet, span: Span) -> Option<()> {
    let Some(set) = place_set(checker, place) else { return Some(()) };
    let kind = checker.sets.get(set).kind;
    if basic == Basic::Entity(kind) {
        return Some(());
    }
    let of = checker.set_name(set).to_owned();
    checker.fail(
        Diagnostic::new(
            Code::TypeDomain,
            span,
            format!("a collection of {} cannot be a subset of {of}, which holds {}", basic_name(basic), kind.name()),
        )
        .hint("the elements of a subset are of the same kind"),
    )
}

fn basic_of(name: BasicTypeName) -> Basic {
    match name {
        BasicTypeName::Scalar => Basic::Scalar,
        BasicTypeName::Vector => Basic::Vector,
        BasicTypeName::Bool => Basic::Bool,
        BasicTypeName::Cell => Basic::Entity(EntityKind::Cell),
        BasicTypeName::Face => Basic::Entity(EntityKind::Face),
        BasicTypeName::Edge => Basic::Entity(EntityKind::Edge),
        BasicTypeName::Vertex => Basic::Entity(EntityKind::Vertex),
        BasicTypeName::String => Basic::Text,
    }
}

/// True if a declaration makes a variable mutable.
pub(super) fn is_mutable(ty: &ast::TypeExpr) -> bool {
    match &ty.kind {
        // A type that could not be read may be mutable.
        ast::TypeExprKind::Mutable(_) | ast::TypeExprKind::Error => true,
        ast::TypeExprKind::Array { element, .. } => is_mutable(element),
        ast::TypeExprKind::Basic(_)
        | ast::TypeExprKind::Collection { .. }
        | ast::TypeExprKind::Stencil(_)
        | ast::TypeExprKind::Sequence(_) => false,
    }
}
