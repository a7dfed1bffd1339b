//! `On`, `Extend` and `? :`: where data lives.

use crate::check::broadcast::{can_broadcast, number_beside_collection};
use crate::check::checker::{Checker, tree_dim, value};
use crate::check::stencil::bare;
use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use crate::syntax::ast;
use crate::typed::{Expr, ExprKind, TreeDimension};
use crate::types::{Basic, EntityKind, Shape, Type};

impl<'a> Checker<'a> {
    fn no_sequence(&mut self, operand: &Expr, ty: &Type, operator: &str) -> Option<()> {
        if ty.shape != Shape::Sequence {
            return Some(());
        }
        let found = self.show_value(ty);
        self.fail(
            Diagnostic::new(Code::SequenceOnExtend, operand.span, format!("{operator} takes no sequences"))
                .label(found)
                .hint("loop over the sequence with `For`"),
        )
    }

    /// `data On target`
    pub fn on(&mut self, op_span: Span, data: Expr, target: Expr, span: Span) -> Option<Expr> {
        let (d, t) = self.no_arrays(&data, &target, "`On`")?;
        self.no_sequence(&data, &d, "`On`")?;
        let (Basic::Entity(_), Some(over), Some(within)) = (t.basic, t.mapping(), t.within) else {
            let found = self.show_value(&t);
            return self.fail(
                Diagnostic::new(Code::OnTarget, target.span, format!("the right side of `On` is a collection of entities, not {found}"))
                    .label(found)
                    .hint("name a domain or entities, such as `FirstCell(InteriorFaces())`"),
            );
        };
        let Some(mapping) = d.mapping() else {
            let found = self.show_value(&d);
            let mut hint = format!("to spread one value over a domain, use `Extend {}`", self.set_name(over));
            if let ExprKind::Variable(var) = data.kind {
                let name = &self.variables[var.0 as usize].name;
                hint = format!("{hint}; or give `{name}` as a collection: `... Extend {}`", self.set_name(within));
            }
            return self.fail(
                Diagnostic::new(Code::OnData, data.span, format!("the left side of `On` is a collection, not {found}"))
                    .label(found)
                    .hint(hint),
            );
        };
        // The target's entities lie in `within`; for a domain that is its own set, the smallest
        // known.
        if !self.sets.is_subset(within, mapping) {
            let message = format!(
                "the data is on {}, and the entities on the right are only known to lie in {}",
                self.set_name(mapping),
                self.set_name(within)
            );
            let hint = if self.sets.get(within).kind == self.sets.get(mapping).kind {
                format!(
                    "pad the data with zeros first: `((...) Extend {}) On ...`",
                    self.set_name(self.sets.common_superset(within, mapping))
                )
            } else {
                let (wanted, entities) = (self.sets.get(mapping).kind, self.set_name(within));
                match (wanted, self.sets.get(within).kind) {
                    (EntityKind::Cell, EntityKind::Face) => format!("name the cells of the faces: `... On FirstCell({entities})`"),
                    (wanted, _) => format!("the right side must be a collection of {}", wanted.name()),
                }
            };
            return self.fail(
                Diagnostic::new(Code::OnNotContained, op_span, message)
                    .also(data.span, self.show_value(&d))
                    .also(target.span, self.show_value(&t))
                    .hint(hint),
            );
        }
        let ty = Type { basic: d.basic, shape: Shape::Collection(over), within: d.within, halo: crate::types::Halo::NONE };
        let dim = tree_dim(&data);
        Some(value(ExprKind::On { data: Box::new(data), target: Box::new(target) }, ty, dim, span))
    }

    /// `data Extend domain`
    pub fn extend(&mut self, op_span: Span, data: Expr, domain: Expr, span: Span) -> Option<Expr> {
        let (d, t) = self.no_arrays(&data, &domain, "`Extend`")?;
        self.no_sequence(&data, &d, "`Extend`")?;
        let Shape::Domain(over) = t.shape else {
            let found = self.show_value(&t);
            let hint = match t.mapping() {
                Some(set) => format!("extend to a domain, such as {}", self.set_name(set)),
                None => "extend to a domain, such as `AllCells()`".to_owned(),
            };
            return self.fail(
                Diagnostic::new(Code::ExtendTarget, domain.span, format!("the right side of `Extend` is a domain, not {found}"))
                    .label(found)
                    .hint(hint),
            );
        };
        match d.mapping() {
            None => {
                if !can_broadcast(d.basic) {
                    let found = self.show_value(&d);
                    return self.fail(
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
            Some(mapping) if !self.sets.is_subset(mapping, over) => {
                let (from, to) = (self.set_name(mapping).to_owned(), self.set_name(over).to_owned());
                let hint = if self.sets.is_subset(over, mapping) {
                    format!("to restrict, use `On {to}`")
                } else if self.sets.get(over).kind == self.sets.get(mapping).kind {
                    format!("extend to a set that holds both, such as {}", self.set_name(self.sets.common_superset(mapping, over)))
                } else {
                    format!("to read {} values elsewhere, use `On`", self.sets.get(mapping).kind.name())
                };
                return self.fail(
                    Diagnostic::new(
                        Code::ExtendNotContained,
                        op_span,
                        format!("the data is on {from}, which is not known to lie inside {to}"),
                    )
                    .also(data.span, self.show_value(&d))
                    .also(domain.span, self.show_value(&t))
                    .hint(hint),
                );
            }
            Some(_) => {}
        }
        let ty = Type { basic: d.basic, shape: Shape::Collection(over), within: d.within, halo: crate::types::Halo::NONE };
        let dim = tree_dim(&data);
        Some(value(ExprKind::Extend { data: Box::new(data), domain: Box::new(domain) }, ty, dim, span))
    }

    /// `condition ? if_true : if_false`
    pub fn ternary(&mut self, condition: &'a ast::Expr, if_true: &'a ast::Expr, if_false: &'a ast::Expr, span: Span) -> Option<Expr> {
        let (condition, if_true, if_false) = (self.expr(condition), self.expr(if_true), self.expr(if_false));
        let (condition, if_true, if_false) = (condition?, if_true?, if_false?);
        let operands = [condition.ty.clone(), if_true.ty.clone(), if_false.ty.clone()];
        let [condition, if_true, if_false] = [condition, if_true, if_false].map(bare);
        let what = "`? :`";
        let c = self.no_array(&condition, what)?;
        if c.basic != Basic::Bool {
            let found = self.show_value(&c);
            return self.fail(
                Diagnostic::new(Code::TernaryCondition, condition.span, format!("the condition before `?` is a Bool, not {found}"))
                    .label(found)
                    .hint("compare: `a > b ? ... : ...`"),
            );
        }
        let place = if_true.span.to(if_false.span);
        let (ty, dims) = self.element_wise(what, place, [&if_true, &if_false], |this, a, b| this.choice(place, (&condition, &c), a, b))?;
        let kind = ExprKind::Ternary { condition: Box::new(condition), if_true: Box::new(if_true), if_false: Box::new(if_false) };
        Some(self.keep_periodic(Expr { kind, ty, dims, span }, &operands))
    }

    /// Returns the type and dimension of a choice between two values.
    fn choice(&mut self, place: Span, (condition, c): (&Expr, &Type), if_true: &Expr, if_false: &Expr) -> Option<(Type, TreeDimension)> {
        let (a, b) = self.no_arrays(if_true, if_false, "`? :`")?;
        self.same_set("`? :`", place, (if_true, &a), (if_false, &b))?;
        // Two branches that are the same domain are that domain; else a choice among elements is a
        // collection of entities.
        let element = |ty: &Type| Type { shape: ty.mapping().map_or(ty.shape, Shape::Collection), ..*ty };
        let joined = if a == b { Some(a) } else { number_beside_collection(&a, &b).or_else(|| self.join(&element(&a), &element(&b))) };
        let joined = joined.filter(|ty| ty.shape != Shape::Sequence && !matches!(ty.basic, Basic::Text | Basic::Table | Basic::Axis(_)));
        let Some(ty) = joined else {
            let (first, second) = (self.show_value(&a), self.show_value(&b));
            return self.fail(
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
        let dim = self.same_dimension(Code::TernaryDimensions, "`? :`", place, if_true, if_false)?;
        Some((ty, dim))
    }
}
