//! Operations on arrays: on each of their elements, with an array as long or with one value.

use std::borrow::Cow;

use crate::check::checker::value;
use crate::check::operation::Operation;
use crate::diagnostic::{Code, Diagnostic};
use crate::typed::{Expr, ExprKind, TreeDimension, TreeType};
use crate::types::Type;

/// Number of elements; of one value none.
fn length(operand: &Expr) -> Option<usize> {
    match &operand.ty {
        TreeType::Array(elements) => Some(elements.len()),
        TreeType::Value(_) | TreeType::Table2 | TreeType::Void => None,
    }
}

/// An element of an array, as far as checks look at it; one value stands beside every element.
pub(super) fn element(operand: &Expr, index: usize) -> Cow<'_, Expr> {
    let TreeType::Array(types) = &operand.ty else { return Cow::Borrowed(operand) };
    if let ExprKind::Array(elements) = &operand.kind
        && let Some(element) = elements.get(index)
    {
        return Cow::Borrowed(element);
    }
    let span = operand.span;
    let array = Expr { kind: ExprKind::Array(Vec::new()), ty: operand.ty.clone(), dims: Vec::new(), span };
    let kind = ExprKind::Element { array: Box::new(array), index: index as u32 };
    Cow::Owned(value(kind, types[index], operand.dims.get(index).copied().unwrap_or_default(), span))
}

impl Operation<'_, '_> {
    /// Types and dimensions of an operation on two operands, or on each two elements of arrays.
    pub fn element_wise(
        &mut self,
        [left, right]: [&Expr; 2],
        mut rule: impl FnMut(&mut Self, &Expr, &Expr) -> Option<(Type, TreeDimension)>,
    ) -> Option<(TreeType, Vec<TreeDimension>)> {
        let size = match (length(left), length(right)) {
            (None, None) => {
                let (ty, dim) = rule(self, left, right)?;
                return Some((TreeType::Value(ty), vec![dim]));
            }
            (Some(a), Some(b)) if a != b => {
                let (left_type, right_type) = (self.checker.show(&left.ty), self.checker.show(&right.ty));
                return self.checker.fail(
                    Diagnostic::new(
                        Code::ArrayLengths,
                        self.place,
                        format!("{} needs arrays of equal length, but these have {a} and {b} elements", self.name),
                    )
                    .also(left.span, left_type)
                    .also(right.span, right_type)
                    .hint("give both as many elements, or take elements: `a[0]`, `a[1]`, ..."),
                );
            }
            (Some(size), _) | (None, Some(size)) => size,
        };
        let (mut types, mut dims) = (Vec::with_capacity(size), Vec::with_capacity(size));
        for index in 0..size {
            let (ty, dim) = rule(self, &element(left, index), &element(right, index))?;
            types.push(ty);
            dims.push(dim);
        }
        Some((TreeType::Array(types.into()), dims))
    }
}
