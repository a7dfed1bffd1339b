//! Declared types. Parts that a declaration does not state (`Collection Of Cell` says neither where
//! nor of what) are left to the value.

use crate::check::checker::Checker;
use crate::check::print::basic_name;
use crate::check::scope::{Declared, DeclaredKind, DeclaredSet, Meaning, State};
use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use crate::syntax::ast::{self, BasicTypeName, CollectionDomain, TypeExprKind};
use crate::typed::TreeType;
use crate::types::{Basic, CanonicalSet, EntityKind, Extent, SetId, Shape, Type};

/// Modifiers that [`Checker::declared`] has seen on its way inwards.
#[derive(Default)]
struct Modifiers {
    mutable: bool,
    array: Option<u32>,
}

impl<'a> Checker<'a> {
    /// Reads a type expression; `None` if an error in it has been reported.
    pub fn declared(&mut self, ty: &'a ast::TypeExpr) -> Option<Declared> {
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
                        return self.unknown();
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
                    let (basic, kind) = self.declared_part(inner)?;
                    return Some(Declared { mutable: modifiers.mutable, array: modifiers.array, basic, kind, stencil, span: ty.span });
                }
            }
        }
    }

    fn declared_part(&mut self, ty: &'a ast::TypeExpr) -> Option<(Basic, DeclaredKind)> {
        match &ty.kind {
            TypeExprKind::Basic(name) => Some((basic_of(*name), DeclaredKind::Single)),
            TypeExprKind::Sequence(name) => Some((self.element(*name, ty.span)?, DeclaredKind::Sequence)),
            TypeExprKind::Collection { element, place } => {
                let basic = self.element(*element, ty.span)?;
                let kind = match place {
                    None => DeclaredKind::Collection,
                    Some(CollectionDomain::On(e)) => DeclaredKind::On(self.place(e)?),
                    Some(CollectionDomain::SubsetOf(e)) => {
                        let place = self.place(e)?;
                        self.same_kind(basic, place, e.span)?;
                        DeclaredKind::SubsetOf(place)
                    }
                };
                Some((basic, kind))
            }
            TypeExprKind::Error => self.unknown(),
            // Taken apart by the caller.
            TypeExprKind::Array { .. } | TypeExprKind::Mutable(_) | TypeExprKind::Stencil(_) => self.unknown(),
        }
    }

    fn element(&mut self, name: BasicTypeName, span: Span) -> Option<Basic> {
        match basic_of(name) {
            Basic::Text | Basic::Table | Basic::Axis(_) => self.fail(
                Diagnostic::new(Code::NoDomainOfText, span, "there are no collections or sequences of String")
                    .hint("text is for names and tags, one at a time; declare the variable `String`, or leave the declaration out"),
            ),
            basic @ (Basic::Scalar | Basic::Vector | Basic::Bool | Basic::Entity(_)) => Some(basic),
        }
    }

    /// The set that `On e` or `Subset Of e` in a type means: the one that `e` is mapped over.
    fn place(&mut self, e: &'a ast::Expr) -> Option<DeclaredSet> {
        let mut inner = e;
        while let ast::ExprKind::Paren(p) = &inner.kind {
            inner = p;
        }
        if let ast::ExprKind::Name(name) = &inner.kind
            && let Some(id) = self.scopes.lookup(name, self.scope)
            && let Meaning::Variable(variable) = &self.scopes.entry(id).meaning
            && variable.state == State::Unassigned
            && let Some(Declared { array: None, basic: Basic::Entity(_), kind, .. }) = &variable.declared
        {
            let known = match kind {
                DeclaredKind::On(place) => Some(*place),
                DeclaredKind::Collection | DeclaredKind::SubsetOf(_) => Some(DeclaredSet::Postponed(id)),
                DeclaredKind::Single | DeclaredKind::Sequence => None,
            };
            if known.is_some() {
                self.scopes.entry_mut(id).used = true;
                return known;
            }
        }
        let e = self.expr(e)?;
        match &e.ty {
            &TreeType::Value(Type { basic: Basic::Entity(_), shape: Shape::Collection(set) | Shape::Domain(set), .. }) => {
                Some(DeclaredSet::Set(set))
            }
            ty @ (TreeType::Value(_) | TreeType::Array(_) | TreeType::Table2 | TreeType::Void) => {
                let found = self.show(ty);
                self.fail(
                    Diagnostic::new(Code::TypeDomain, e.span, format!("a type needs a collection of entities here, not {found}"))
                        .label(found)
                        .hint("name a domain, such as `AllCells()`"),
                )
            }
        }
    }

    fn same_kind(&mut self, basic: Basic, place: DeclaredSet, span: Span) -> Option<()> {
        let Some(set) = self.place_set(place) else { return Some(()) };
        let kind = self.sets.get(set).kind;
        if basic == Basic::Entity(kind) {
            return Some(());
        }
        let of = self.set_name(set).to_owned();
        self.fail(
            Diagnostic::new(
                Code::TypeDomain,
                span,
                format!("a collection of {} cannot be a subset of {of}, which holds {}", basic_name(basic), kind.name()),
            )
            .hint("the elements of a subset are of the same kind"),
        )
    }

    /// The set, once known.
    pub fn place_set(&self, place: DeclaredSet) -> Option<SetId> {
        match place {
            DeclaredSet::Set(set) => Some(set),
            DeclaredSet::Postponed(id) => match &self.scopes.entry(id).meaning {
                Meaning::Variable(variable) => match variable.state {
                    State::Assigned(var) => self.variables[var.0 as usize].ty.value().and_then(|ty| ty.mapping()),
                    State::Unassigned | State::Unknown => None,
                },
                Meaning::Function(_) => None,
            },
        }
    }

    /// True if a postponed set is still to come (and not merely unknown).
    fn awaited(&self, place: DeclaredSet) -> Option<&str> {
        let DeclaredSet::Postponed(id) = place else { return None };
        let entry = self.scopes.entry(id);
        matches!(&entry.meaning, Meaning::Variable(v) if v.state == State::Unassigned).then_some(entry.name)
    }

    /// True if a value of type `ty` may be given to something of this declared type. A set that is
    /// not known accepts everything.
    pub fn accepts(&self, declared: &Declared, ty: &TreeType) -> bool {
        match (declared.array, ty) {
            (None, TreeType::Value(ty)) => self.accepts_element(declared, ty),
            (Some(n), TreeType::Array(elements)) => {
                n as usize == elements.len() && elements.iter().all(|element| self.accepts_element(declared, element))
            }
            (None | Some(_), TreeType::Value(_) | TreeType::Array(_) | TreeType::Table2 | TreeType::Void) => false,
        }
    }

    fn accepts_element(&self, declared: &Declared, element: &Type) -> bool {
        if element.basic != declared.basic {
            return false;
        }
        match declared.kind {
            DeclaredKind::Single => element.shape == Shape::Single,
            DeclaredKind::Sequence => element.shape == Shape::Sequence,
            DeclaredKind::Collection => element.mapping().is_some(),
            DeclaredKind::On(place) => match self.place_set(place) {
                Some(set) => element.mapping() == Some(set),
                None => element.mapping().is_some() && self.awaited(place).is_none(),
            },
            DeclaredKind::SubsetOf(place) => match (self.place_set(place), element.within) {
                (Some(set), Some(within)) => element.mapping().is_some() && self.sets.is_subset(within, set),
                (None, Some(_)) => self.awaited(place).is_none(),
                (Some(_) | None, None) => false,
            },
        }
    }

    /// True if a value that the type does not accept differs from it in the domain alone.
    pub fn accepts_elsewhere(&self, declared: &Declared, ty: &TreeType) -> bool {
        let anywhere = Declared { kind: DeclaredKind::Collection, ..declared.clone() };
        match declared.kind {
            DeclaredKind::On(_) | DeclaredKind::SubsetOf(_) => self.accepts(&anywhere, ty),
            DeclaredKind::Single | DeclaredKind::Sequence | DeclaredKind::Collection => false,
        }
    }

    /// A declared type as messages show it.
    pub fn show_declared(&self, declared: &Declared) -> String {
        let basic = basic_name(declared.basic);
        let set = |place| match (self.place_set(place), place) {
            (Some(set), _) => self.set_name(set).to_owned(),
            (None, DeclaredSet::Postponed(id)) => self.scopes.entry(id).name.to_owned(),
            (None, DeclaredSet::Set(_)) => String::new(),
        };
        let text = match declared.kind {
            DeclaredKind::Single => basic.to_owned(),
            DeclaredKind::Sequence => format!("Sequence Of {basic}"),
            DeclaredKind::Collection => format!("Collection Of {basic}"),
            DeclaredKind::On(place) => format!("Collection Of {basic} On {}", set(place)),
            DeclaredKind::SubsetOf(place) => format!("Collection Of {basic} Subset Of {}", set(place)),
        };
        let array = declared.array.map_or(String::new(), |n| format!("Array Of {n} "));
        format!("`{array}{text}`")
    }

    /// Returns advice for a value that does not fit, if it is more than to change the declaration.
    pub fn declared_hint(&self, declared: &Declared, ty: &TreeType) -> Option<String> {
        let is_one_value = ty.value().is_some_and(|ty| ty.basic == declared.basic && ty.shape == Shape::Single);
        if let DeclaredKind::On(place) = declared.kind
            && is_one_value
            && let Some(set) = self.place_set(place)
        {
            return Some(format!("one value for all elements is written `value Extend {}`", self.set_name(set)));
        }
        let one_truth = declared.basic == Basic::Bool && declared.kind == DeclaredKind::Single && declared.array.is_none();
        let truths = ty.value().is_some_and(|ty| ty.basic == Basic::Bool && ty.mapping().is_some());
        (one_truth && truths).then(|| "one truth value of a collection is `AnyReduce(...)` or `AllReduce(...)`".to_owned())
    }

    /// One more sentence about why a value does not fit, if there is one worth saying.
    pub fn declared_note(&self, declared: &Declared, ty: &TreeType) -> Option<String> {
        let place = match declared.kind {
            DeclaredKind::On(place) | DeclaredKind::SubsetOf(place) => place,
            DeclaredKind::Single | DeclaredKind::Sequence | DeclaredKind::Collection => return None,
        };
        if let Some(name) = self.awaited(place) {
            return Some(format!("`{name}` has no value yet, so its set is not known"));
        }
        match (ty, self.place_set(place)?) {
            (TreeType::Value(ty), set) if ty.basic == declared.basic && ty.mapping().is_some() => {
                let found = ty.within.filter(|_| matches!(declared.kind, DeclaredKind::SubsetOf(_))).or(ty.mapping())?;
                let relation = match declared.kind {
                    DeclaredKind::SubsetOf(_) => "is not known to lie inside",
                    DeclaredKind::On(_) | DeclaredKind::Single | DeclaredKind::Sequence | DeclaredKind::Collection => "is not the set",
                };
                Some(format!("{} {relation} {}", self.set_name(found), self.set_name(set)))
            }
            (TreeType::Value(_) | TreeType::Array(_) | TreeType::Table2 | TreeType::Void, _) => None,
        }
    }

    /// The type that every value of this declared type has, if the declaration alone says so.
    pub fn complete(&self, declared: &Declared) -> Option<TreeType> {
        let element = match declared.kind {
            DeclaredKind::Single if !matches!(declared.basic, Basic::Entity(_)) => {
                Type { basic: declared.basic, shape: Shape::Single, within: None, halo: crate::types::Halo::NONE }
            }
            DeclaredKind::Sequence if declared.basic == Basic::Scalar => Type::SEQUENCE,
            DeclaredKind::On(place) => {
                let set = self.place_set(place)?;
                match declared.basic {
                    Basic::Entity(kind) => Type::entities(kind, set, self.all(kind)),
                    Basic::Scalar | Basic::Vector | Basic::Bool | Basic::Text | Basic::Table | Basic::Axis(_) => {
                        Type::collection(declared.basic, set)
                    }
                }
            }
            DeclaredKind::Single | DeclaredKind::Sequence | DeclaredKind::Collection | DeclaredKind::SubsetOf(_) => return None,
        };
        match declared.array {
            None => Some(TreeType::Value(element)),
            // A huge array in a declaration alone is not worth its memory.
            Some(size) => (size <= 1000).then(|| TreeType::Array(vec![element; size as usize].into())),
        }
    }

    /// The All-set of a kind.
    pub fn all(&self, kind: EntityKind) -> SetId {
        self.sets.canonical(CanonicalSet { kind, extent: Extent::All })
    }
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
