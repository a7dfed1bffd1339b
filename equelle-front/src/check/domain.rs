//! `On`, `Extend` and `? :`: where data lives.

use crate::check::broadcast::{can_broadcast, number_beside_collection};
use crate::check::checker::{tree_dim, value};
use crate::check::operation::Operation;
use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use crate::typed::{Expr, ExprKind, TreeDimension};
use crate::types::{Basic, EntityKind, SetTable, Shape, Type};

impl Operation<'_, '_> {
    fn no_sequence(&mut self, operand: &Expr, ty: &Type) -> Option<()> {
        if ty.shape != Shape::Sequence {
            return Some(());
        }
        let found = self.checker.show_value(ty);
        self.checker.fail(
            Diagnostic::new(Code::SequenceOnExtend, operand.span, format!("{} takes no sequences", self.name))
                .label(found)
                .hint("loop over the sequence with `For`"),
        )
    }

    /// `data On target`
    pub fn on(&mut self, data: Expr, target: Expr, span: Span) -> Option<Expr> {
        let (d, t) = self.no_arrays(&data, &target)?;
        self.no_sequence(&data, &d)?;
        let (Basic::Entity(_), Some(over), Some(within)) = (t.basic, t.mapping(), t.within) else {
            let found = self.checker.show_value(&t);
            return self.checker.fail(
                Diagnostic::new(Code::OnTarget, target.span, format!("the right side of `On` is a collection of entities, not {found}"))
                    .label(found)
                    .hint("name a domain or entities, such as `FirstCell(InteriorFaces())`"),
            );
        };
        let Some(mapping) = d.mapping() else {
            let found = self.checker.show_value(&d);
            let mut hint = format!("to spread one value over a domain, use `Extend {}`", self.checker.set_name(over));
            if let ExprKind::Variable(var) = data.kind {
                let name = &self.checker.tree.variable(var).name;
                hint = format!("{hint}; or give `{name}` as a collection: `... Extend {}`", self.checker.set_name(within));
            }
            return self.checker.fail(
                Diagnostic::new(Code::OnData, data.span, format!("the left side of `On` is a collection, not {found}"))
                    .label(found)
                    .hint(hint),
            );
        };
        // The target's entities lie in `within`; for a domain that is its own set, the smallest
        // known.
        if !self.checker.sets.is_subset(within, mapping) {
            let message = format!(
                "the data is on {}, and the entities on the right are only known to lie in {}",
                self.checker.set_name(mapping),
                self.checker.set_name(within)
            );
            let hint = if self.checker.sets.get(within).kind == self.checker.sets.get(mapping).kind {
                format!(
                    "pad the data with zeros first: `((...) Extend {}) On ...`",
                    self.checker.set_name(self.checker.sets.common_superset(within, mapping))
                )
            } else {
                let (wanted, entities) = (self.checker.sets.get(mapping).kind, self.checker.set_name(within));
                match (wanted, self.checker.sets.get(within).kind) {
                    (EntityKind::Cell, EntityKind::Face) => format!("name the cells of the faces: `... On FirstCell({entities})`"),
                    (wanted, _) => format!("the right side must be a collection of {}", wanted.name()),
                }
            };
            return self.checker.fail(
                Diagnostic::new(Code::OnNotContained, self.place, message)
                    .also(data.span, self.checker.show_value(&d))
                    .also(target.span, self.checker.show_value(&t))
                    .hint(hint),
            );
        }
        let ty = Type { basic: d.basic, shape: Shape::Collection(over), within: d.within, halo: crate::types::Halo::NONE };
        let dim = tree_dim(&data);
        Some(value(ExprKind::On { data: Box::new(data), target: Box::new(target) }, ty, dim, span))
    }

    /// `data Extend domain`
    pub fn extend(&mut self, data: Expr, domain: Expr, span: Span) -> Option<Expr> {
        let (d, t) = self.no_arrays(&data, &domain)?;
        self.no_sequence(&data, &d)?;
        let Shape::Domain(over) = t.shape else {
            let found = self.checker.show_value(&t);
            let hint = match t.mapping() {
                Some(set) => format!("extend to a domain, such as {}", self.checker.set_name(set)),
                None => "extend to a domain, such as `AllCells()`".to_owned(),
            };
            return self.checker.fail(
                Diagnostic::new(Code::ExtendTarget, domain.span, format!("the right side of `Extend` is a domain, not {found}"))
                    .label(found)
                    .hint(hint),
            );
        };
        match d.mapping() {
            None => {
                if !can_broadcast(d.basic) {
                    let found = self.checker.show_value(&d);
                    return self.checker.fail(
                        Diagnostic::new(
                            Code::ExtendData,
                            data.span,
                            format!("`Extend` spreads numbers, Vectors and truth values, not {found}"),
                        )
                        .label(found)
                        .hint("spread a number, and choose by it: `1 Extend AllCells()`"),
                    );
                }
            }
            Some(mapping) if !self.checker.sets.is_subset(mapping, over) => {
                let (from, to) = (self.checker.set_name(mapping).to_owned(), self.checker.set_name(over).to_owned());
                let hint = if self.checker.sets.is_subset(over, mapping) {
                    format!("to restrict, use `On {to}`")
                } else if self.checker.sets.get(over).kind == self.checker.sets.get(mapping).kind {
                    format!(
                        "extend to a set that holds both, such as {}",
                        self.checker.set_name(self.checker.sets.common_superset(mapping, over))
                    )
                } else {
                    format!("to read {} values elsewhere, use `On`", self.checker.sets.get(mapping).kind.name())
                };
                return self.checker.fail(
                    Diagnostic::new(
                        Code::ExtendNotContained,
                        self.place,
                        format!("the data is on {from}, which is not known to lie inside {to}"),
                    )
                    .also(data.span, self.checker.show_value(&d))
                    .also(domain.span, self.checker.show_value(&t))
                    .hint(hint),
                );
            }
            Some(_) => {}
        }
        let ty = Type { basic: d.basic, shape: Shape::Collection(over), within: d.within, halo: crate::types::Halo::NONE };
        let dim = tree_dim(&data);
        Some(value(ExprKind::Extend { data: Box::new(data), domain: Box::new(domain) }, ty, dim, span))
    }

    /// Returns the type and dimension of a choice between two values.
    pub fn choice(&mut self, (condition, c): (&Expr, &Type), if_true: &Expr, if_false: &Expr) -> Option<(Type, TreeDimension)> {
        let (a, b) = self.no_arrays(if_true, if_false)?;
        self.same_set((if_true, &a), (if_false, &b))?;
        // Two branches that are the same domain are that domain; else a choice among elements is a
        // collection of entities.
        let element = |ty: &Type| Type { shape: ty.mapping().map_or(ty.shape, Shape::Collection), ..*ty };
        let joined = if a == b {
            Some(a)
        } else {
            number_beside_collection(&a, &b).or_else(|| join(&self.checker.sets, &element(&a), &element(&b)))
        };
        let joined = joined.filter(|ty| ty.shape != Shape::Sequence && !matches!(ty.basic, Basic::Text | Basic::Table | Basic::Axis(_)));
        let Some(ty) = joined else {
            let (first, second) = (self.checker.show_value(&a), self.checker.show_value(&b));
            return self.checker.fail(
                Diagnostic::new(
                    Code::TernaryBranches,
                    if_false.span,
                    format!("both branches must be collections or numbers of one type, not {first} and {second}"),
                )
                .label(second)
                .also(if_true.span, first)
                .hint("give both branches one type; one value may stand beside a collection of such values"),
            );
        };
        let ty = match (c.shape, ty.shape) {
            (Shape::Collection(set), Shape::Single) if can_broadcast(ty.basic) => Type::collection(ty.basic, set),
            (Shape::Collection(_), _) => {
                let branch = if a.shape == Shape::Single { (if_false, &b) } else { (if_true, &a) };
                self.same_set_as_condition((condition, c), branch)?;
                ty
            }
            (Shape::Single | Shape::Domain(_) | Shape::Sequence, _) => ty,
        };
        let dim = self.same_dimension(Code::TernaryDimensions, if_true, if_false)?;
        Some((ty, dim))
    }
}

/// The type that covers both, if they differ at most in what their entities are known to lie
/// in.
fn join(sets: &SetTable, a: &Type, b: &Type) -> Option<Type> {
    if a == b {
        return Some(*a);
    }
    let within = match (a.within, b.within) {
        (Some(a), Some(b)) => Some(sets.common_superset(a, b)),
        (None, None) => None,
        (Some(_), None) | (None, Some(_)) => return None,
    };
    (a.basic == b.basic && a.shape == b.shape).then_some(Type { within, ..*a })
}
