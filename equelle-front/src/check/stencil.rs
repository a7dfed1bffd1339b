//! Built-ins of structured grids, and the operands that they take.

use crate::check::builtins::Word;
use crate::check::checker::{Checker, value};
use crate::check::halo_call::halo;
use crate::check::indices::axis;
use crate::check::operation::Operation;
use crate::check::parameters::argument_count;
use crate::diagnostic::{Code, Diagnostic};
use crate::ops::{CellFact, GridNumber};
use crate::source::Span;
use crate::syntax::ast;
use crate::typed::{Expr, ExprKind};
use crate::types::{Basic, CanonicalSet, Dimension, EntityKind, Type};

/// A built-in of structured grids.
pub(super) fn builtin<'a>(checker: &mut Checker<'a>, word: Word, args: &'a [ast::Expr], span: Span) -> Option<Expr> {
    let all_cells = checker.sets.canonical(CanonicalSet::ALL_CELLS);
    if word == Word::Halo {
        return halo(checker, args, span);
    }
    let axes: Vec<Option<u8>> = args.iter().map(|a| axis(checker, a)).collect();
    let axes = axes.into_iter().collect::<Option<Vec<u8>>>()?;
    let expected = match word {
        Word::Axis(_) => 0,
        Word::Even => axes.len().clamp(1, 3),
        Word::Width | Word::Extent | Word::Index | Word::Halo => 1,
    };
    if axes.len() != expected {
        let spans: Vec<Span> = args.iter().map(|a| a.span).collect();
        let names: &[&str] = if expected == 0 { &[] } else { &["i"] };
        return checker.fail(argument_count(word.name(), names, &spans, span));
    }
    let axis = axes.first().copied().unwrap_or(0);
    let (kind, ty, dim) = match word {
        Word::Axis(axis) => {
            let ty = Type { basic: Basic::Axis(axis), ..Type::TEXT };
            (ExprKind::Axis(axis), ty, Dimension::NONE)
        }
        Word::Width => (ExprKind::GridNumber(GridNumber::Width(axis)), Type::SCALAR, checker.options.dimension(Dimension::LENGTH)),
        Word::Extent => (ExprKind::GridNumber(GridNumber::Extent(axis)), Type::SCALAR, Dimension::NONE),
        Word::Index => (ExprKind::CellFact(CellFact::Index(axis)), Type::collection(Basic::Scalar, all_cells), Dimension::NONE),
        Word::Even | Word::Halo => {
            let named = std::array::from_fn(|axis| axes.contains(&(axis as u8)));
            if named.iter().filter(|&&named| named).count() < axes.len() {
                return checker.fail(Diagnostic::new(Code::StencilTwice, span, "an axis stands twice here").hint("name each axis once"));
            }
            (ExprKind::CellFact(CellFact::Even(named)), Type::collection(Basic::Bool, all_cells), Dimension::NONE)
        }
    };
    Some(value(kind, ty, dim, span))
}

impl Operation<'_, '_> {
    /// The type of an operand that must be a collection on all cells.
    pub fn on_cells(&mut self, data: &Expr) -> Option<Type> {
        let (ty, what) = (self.no_array(data)?, self.name);
        let found = self.checker.show_value(&ty);
        let kind = ty.mapping().map(|set| self.checker.sets.get(set).kind);
        let kept = matches!(ty.basic, Basic::Scalar | Basic::Vector | Basic::Bool | Basic::Entity(EntityKind::Cell));
        if kind != Some(EntityKind::Cell) || !kept {
            return self.checker.fail(
                Diagnostic::new(Code::StencilOperand, data.span, format!("{what} takes a collection on cells, and this is {found}"))
                    .label(found)
                    .hint("spread one value with `Extend AllCells()`; bring values of faces to cells first"),
            );
        }
        if ty.mapping() != Some(self.checker.sets.canonical(CanonicalSet::ALL_CELLS)) {
            return self.checker.fail(
                Diagnostic::new(Code::StencilDomain, data.span, format!("{what} takes a collection on all cells, and this is {found}"))
                    .label(found)
                    .hint("`Extend` it first: `(...) Extend AllCells()`"),
            );
        }
        Some(ty)
    }
}
