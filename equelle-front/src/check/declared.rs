//! Declared types beside values. Parts that a declaration does not state (`Collection Of Cell` says
//! neither where nor of what) are left to the value.

use crate::check::checker::Checker;
use crate::check::print::basic_name;
use crate::check::scope::{Declared, DeclaredKind, DeclaredSet, Meaning, State};
use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use crate::typed::TreeType;
use crate::types::{Basic, CanonicalSet, Extent, SetId, Shape, Type};

/// The set, once known.
pub(super) fn place_set(checker: &Checker<'_>, place: DeclaredSet) -> Option<SetId> {
    match place {
        DeclaredSet::Set(set) => Some(set),
        DeclaredSet::Postponed(id) => match &checker.scopes.entry(id).meaning {
            Meaning::Variable(variable) => match variable.state {
                State::Assigned(var) => checker.tree.variable(var).ty.value().and_then(|ty| ty.mapping()),
                State::Unassigned | State::Unknown => None,
            },
            Meaning::Function(_) => None,
        },
    }
}

/// A declared type that values are compared with.
pub(super) struct DeclaredType<'c, 'a> {
    pub checker: &'c Checker<'a>,
    pub declared: &'c Declared,
}

impl DeclaredType<'_, '_> {
    /// True if a postponed set is still to come (and not merely unknown).
    fn awaited(&self, place: DeclaredSet) -> Option<&str> {
        let DeclaredSet::Postponed(id) = place else { return None };
        let entry = self.checker.scopes.entry(id);
        matches!(&entry.meaning, Meaning::Variable(v) if v.state == State::Unassigned).then_some(entry.name)
    }

    /// True if a value of type `ty` may be given to something of this declared type. A set that is
    /// not known accepts everything.
    pub fn accepts(&self, ty: &TreeType) -> bool {
        match (self.declared.array, ty) {
            (None, TreeType::Value(ty)) => self.accepts_element(ty),
            (Some(n), TreeType::Array(elements)) => {
                n as usize == elements.len() && elements.iter().all(|element| self.accepts_element(element))
            }
            (None | Some(_), TreeType::Value(_) | TreeType::Array(_) | TreeType::Table2 | TreeType::Void) => false,
        }
    }

    fn accepts_element(&self, element: &Type) -> bool {
        if element.basic != self.declared.basic {
            return false;
        }
        match self.declared.kind {
            DeclaredKind::Single => element.shape == Shape::Single,
            DeclaredKind::Sequence => element.shape == Shape::Sequence,
            DeclaredKind::Collection => element.mapping().is_some(),
            DeclaredKind::On(place) => match place_set(self.checker, place) {
                Some(set) => element.mapping() == Some(set),
                None => element.mapping().is_some() && self.awaited(place).is_none(),
            },
            DeclaredKind::SubsetOf(place) => match (place_set(self.checker, place), element.within) {
                (Some(set), Some(within)) => element.mapping().is_some() && self.checker.sets.is_subset(within, set),
                (None, Some(_)) => self.awaited(place).is_none(),
                (Some(_) | None, None) => false,
            },
        }
    }

    /// True if a value that the type does not accept differs from it in the domain alone.
    pub fn accepts_elsewhere(&self, ty: &TreeType) -> bool {
        let anywhere = Declared { kind: DeclaredKind::Collection, ..self.declared.clone() };
        match self.declared.kind {
            DeclaredKind::On(_) | DeclaredKind::SubsetOf(_) => DeclaredType { checker: self.checker, declared: &anywhere }.accepts(ty),
            DeclaredKind::Single | DeclaredKind::Sequence | DeclaredKind::Collection => false,
        }
    }

    /// A declared type as messages show it.
    pub fn shown(&self) -> String {
        let basic = basic_name(self.declared.basic);
        let set = |place| match (place_set(self.checker, place), place) {
            (Some(set), _) => self.checker.set_name(set).to_owned(),
            (None, DeclaredSet::Postponed(id)) => self.checker.scopes.entry(id).name.to_owned(),
            (None, DeclaredSet::Set(_)) => String::new(),
        };
        let text = match self.declared.kind {
            DeclaredKind::Single => basic.to_owned(),
            DeclaredKind::Sequence => format!("Sequence Of {basic}"),
            DeclaredKind::Collection => format!("Collection Of {basic}"),
            DeclaredKind::On(place) => format!("Collection Of {basic} On {}", set(place)),
            DeclaredKind::SubsetOf(place) => format!("Collection Of {basic} Subset Of {}", set(place)),
        };
        let array = self.declared.array.map_or(String::new(), |n| format!("Array Of {n} "));
        format!("`{array}{text}`")
    }

    /// The report of a value that does not fit: a message, with the hint for want of a better one.
    pub fn refusal(&self, code: Code, place: Span, message: String, ty: &TreeType, otherwise: &str) -> Diagnostic {
        let mut diagnostic = Diagnostic::new(code, place, message).label(self.checker.show(ty)).also(self.declared.span, "declared here");
        if let Some(note) = self.note(ty) {
            diagnostic = diagnostic.note(note);
        }
        diagnostic.hint(self.hint(ty).unwrap_or_else(|| otherwise.to_owned()))
    }

    /// Returns advice for a value that does not fit, if it is more than to change the declaration.
    fn hint(&self, ty: &TreeType) -> Option<String> {
        let is_one_value = ty.value().is_some_and(|ty| ty.basic == self.declared.basic && ty.shape == Shape::Single);
        if let DeclaredKind::On(place) = self.declared.kind
            && is_one_value
            && let Some(set) = place_set(self.checker, place)
        {
            return Some(format!("one value for all elements is written `value Extend {}`", self.checker.set_name(set)));
        }
        let one_truth = self.declared.basic == Basic::Bool && self.declared.kind == DeclaredKind::Single && self.declared.array.is_none();
        let truths = ty.value().is_some_and(|ty| ty.basic == Basic::Bool && ty.mapping().is_some());
        (one_truth && truths).then(|| "one truth value of a collection is `AnyReduce(...)` or `AllReduce(...)`".to_owned())
    }

    /// One more sentence about why a value does not fit, if there is one worth saying.
    fn note(&self, ty: &TreeType) -> Option<String> {
        let place = match self.declared.kind {
            DeclaredKind::On(place) | DeclaredKind::SubsetOf(place) => place,
            DeclaredKind::Single | DeclaredKind::Sequence | DeclaredKind::Collection => return None,
        };
        if let Some(name) = self.awaited(place) {
            return Some(format!("`{name}` has no value yet, so its set is not known"));
        }
        match (ty, place_set(self.checker, place)?) {
            (TreeType::Value(ty), set) if ty.basic == self.declared.basic && ty.mapping().is_some() => {
                let found = ty.within.filter(|_| matches!(self.declared.kind, DeclaredKind::SubsetOf(_))).or(ty.mapping())?;
                let relation = match self.declared.kind {
                    DeclaredKind::SubsetOf(_) => "is not known to lie inside",
                    DeclaredKind::On(_) | DeclaredKind::Single | DeclaredKind::Sequence | DeclaredKind::Collection => "is not the set",
                };
                Some(format!("{} {relation} {}", self.checker.set_name(found), self.checker.set_name(set)))
            }
            (TreeType::Value(_) | TreeType::Array(_) | TreeType::Table2 | TreeType::Void, _) => None,
        }
    }

    /// The type that every value of this declared type has, if the declaration alone says so.
    pub fn complete(&self) -> Option<TreeType> {
        let element = match self.declared.kind {
            DeclaredKind::Single if !matches!(self.declared.basic, Basic::Entity(_)) => {
                Type { basic: self.declared.basic, shape: Shape::Single, within: None, halo: crate::types::Halo::NONE }
            }
            DeclaredKind::Sequence if self.declared.basic == Basic::Scalar => Type::SEQUENCE,
            DeclaredKind::On(place) => {
                let set = place_set(self.checker, place)?;
                match self.declared.basic {
                    Basic::Entity(kind) => {
                        Type::entities(kind, set, self.checker.sets.canonical(CanonicalSet { kind, extent: Extent::All }))
                    }
                    Basic::Scalar | Basic::Vector | Basic::Bool | Basic::Text | Basic::Table | Basic::Axis(_) => {
                        Type::collection(self.declared.basic, set)
                    }
                }
            }
            DeclaredKind::Single | DeclaredKind::Sequence | DeclaredKind::Collection | DeclaredKind::SubsetOf(_) => return None,
        };
        match self.declared.array {
            None => Some(TreeType::Value(element)),
            // A huge array in a declaration alone is not worth its memory.
            Some(size) => (size <= 1000).then(|| TreeType::Array(vec![element; size as usize].into())),
        }
    }
}
