//! Bodies built separately for each axis, and products with structural zeros.
//!
//! The normal of a side of a Cartesian cell is 1 along its axis and 0 along the others. A body that
//! reads some of its components is built once for each of these axes and once for all others:
//! numbers then replace the components. A product with a structural zero becomes zero, and its
//! other factors are not evaluated; such zeros come from normals, and from extensions outside their
//! sets. In general bodies only terms of sums are replaced, where the sign of a zero has no effect.

use std::collections::BTreeSet;

use super::build::{Builder, Mode, Result};
use super::facts::Axis;
use super::placement::Placement;
use crate::backend::structural::axis_is;
use crate::ir::{KBlock, KExpr, KStmt, Op, Path, UnaryOp, ValueId};
use crate::ops::{Arithmetic, Logic};
use crate::types::{Basic, Type};

/// Operations that a search for a structural zero visits at most.
const SEARCH: u32 = 64;

impl Builder<'_> {
    /// A block that yields one Scalar, `neutral` if `build` returns `None`. It is built separately
    /// for each axis whose component of the normal of `face` one of the `roots` may read.
    pub(super) fn each_axis(
        &mut self,
        roots: &[ValueId],
        face: &Path,
        neutral: &KExpr,
        mut build: impl FnMut(&mut Self) -> Result<Option<KBlock>>,
    ) -> Result<Option<KBlock>> {
        let components = self.normal_components(roots);
        if components.is_empty() || self.mode == Mode::General {
            return build(self);
        }
        let mut blocks = Vec::new();
        for axis in components.iter().map(|&component| Axis::Is(component)).chain([Axis::Other]) {
            self.facts.axis = Some(axis);
            self.axis_asked = false;
            let block = build(self);
            self.facts.axis = None;
            let block = block?;
            if !self.axis_asked {
                return Ok(block);
            }
            blocks.push(block);
        }
        if blocks.iter().all(Option::is_none) {
            return Ok(None);
        }
        let whole = |block: Option<KBlock>| block.unwrap_or_else(|| KBlock { statements: Vec::new(), yields: vec![neutral.clone()] });
        let mut blocks = blocks.into_iter().map(whole).rev();
        let mut all = blocks.next().unwrap_or_default();
        for (block, &component) in blocks.zip(components.iter().rev()) {
            if block != all {
                all = self.choose_axis(axis_is(face, component), block, all);
            }
        }
        Ok(Some(all))
    }

    /// A choice between two blocks that yield a Scalar.
    fn choose_axis(&mut self, condition: KExpr, mut then: KBlock, mut otherwise: KBlock) -> KBlock {
        if then.statements.is_empty()
            && otherwise.statements.is_empty()
            && let (Some(a), Some(b)) = (then.yields.pop(), otherwise.yields.pop())
        {
            let choice = KExpr::Select { condition: Box::new(condition), if_true: Box::new(a), if_false: Box::new(b) };
            return KBlock { statements: Vec::new(), yields: vec![choice] };
        }
        let term = self.local("flux", Type::single(Basic::Scalar));
        KBlock { statements: vec![KStmt::If { results: vec![term], condition, then, otherwise }], yields: vec![KExpr::Local(term)] }
    }

    /// The components of normals that values may depend on where they are substituted.
    fn normal_components(&self, roots: &[ValueId]) -> BTreeSet<u32> {
        let (mut components, mut seen, mut open) = (BTreeSet::new(), BTreeSet::new(), roots.to_vec());
        while let Some(value) = open.pop() {
            if self.plan.placement(value) != Placement::Inline || !seen.insert(value) {
                continue;
            }
            let Some(op) = self.defs.op(value) else { continue };
            if let Op::Component(of, component) = op
                && self.is_normal(*of)
            {
                components.insert(*component);
            }
            open.extend(op.operands());
        }
        components
    }

    /// True if a value is a normal, perhaps negated, gathered or extended:
    /// [`Builder::normal_component`] knows its components.
    fn is_normal(&self, mut value: ValueId) -> bool {
        loop {
            if self.plan.placement(value) != Placement::Inline {
                return false;
            }
            value = match self.defs.op(value) {
                Some(Op::Normal(_)) => return true,
                Some(Op::Unary(UnaryOp::Neg, a) | Op::On { data: a, .. } | Op::Extend { data: a, .. }) => *a,
                _ => return false,
            };
        }
    }

    /// A component of the normal of the current face, perhaps negated or extended, if the axis is
    /// known.
    pub(super) fn normal_component(&mut self, value: ValueId, component: u32, at: &Path) -> Result<Option<f64>> {
        let Some(axis) = self.facts.axis else { return Ok(None) };
        if !self.is_normal(value) {
            return Ok(None);
        }
        match self.defs.op(value).cloned() {
            Some(Op::Normal(faces)) => {
                let at_hand = match self.geometry_path(faces, at)? {
                    Path::SideFace(side) => self.facts.side.is_some_and(|(current, _)| current == side),
                    Path::Here => self.mode == Mode::PerAxis,
                    Path::Local(_)
                    | Path::First(_)
                    | Path::Second(_)
                    | Path::Through { .. }
                    | Path::Select { .. }
                    | Path::Shift { .. }
                    | Path::Offset { .. }
                    | Path::Empty => false,
                };
                if !at_hand {
                    return Ok(None);
                }
                self.axis_asked = true;
                Ok(Some(if axis == Axis::Is(component) { 1.0 } else { 0.0 }))
            }
            Some(Op::Unary(UnaryOp::Neg, a)) => Ok(self.normal_component(a, component, at)?.map(|x| -x)),
            Some(Op::On { data, target }) => {
                let path = self.entity(target, at)?;
                self.normal_component(data, component, &path)
            }
            Some(Op::Extend { data, .. }) => match self.ty(data).mapping().and_then(|set| self.facts.member(self.sets, set, at)) {
                Some(true) => self.normal_component(data, component, at),
                Some(false) => Ok(Some(0.0)),
                None => Ok(None),
            },
            _ => Ok(None),
        }
    }

    /// True if a number is structurally zero at an entity; `false` if the search would visit more
    /// than [`SEARCH`] operations.
    pub(super) fn is_zero(&mut self, value: ValueId, at: &Path) -> Result<bool> {
        self.is_zero_within(value, at, &mut SEARCH.clone())
    }

    fn is_zero_within(&mut self, value: ValueId, at: &Path, left: &mut u32) -> Result<bool> {
        if *left == 0 || self.plan.placement(value) != Placement::Inline {
            return Ok(false);
        }
        *left -= 1;
        match self.defs.op(value).cloned() {
            Some(Op::Extend { data, .. }) => match self.ty(data).mapping().and_then(|set| self.facts.member(self.sets, set, at)) {
                Some(true) => self.is_zero_within(data, at, left),
                Some(false) => Ok(true),
                None => Ok(false),
            },
            Some(Op::Component(of, component)) => match self.normal_component(of, component, at)? {
                Some(number) => Ok(number == 0.0),
                None => self.is_zero_within(of, at, left),
            },
            Some(Op::Unary(UnaryOp::Neg | UnaryOp::Abs, a) | Op::Arithmetic(Arithmetic::Div, a, _)) => self.is_zero_within(a, at, left),
            Some(Op::Arithmetic(Arithmetic::Mul, a, b) | Op::Dot(a, b)) => {
                Ok(self.is_zero_within(a, at, left)? || self.is_zero_within(b, at, left)?)
            }
            Some(Op::Arithmetic(Arithmetic::Add | Arithmetic::Sub, a, b)) | Some(Op::Select { if_true: a, if_false: b, .. }) => {
                Ok(self.is_zero_within(a, at, left)? && self.is_zero_within(b, at, left)?)
            }
            Some(Op::On { data, target }) if self.ty(target).is_domain() => self.is_zero_within(data, at, left),
            _ => Ok(false),
        }
    }
}

/// Folds operations on constants, and products and quotients with one, all of which are exact.
pub(super) fn folded(expr: KExpr) -> KExpr {
    let is_one = |e: &KExpr| matches!(e, KExpr::Real(x) if *x == 1.0);
    match expr {
        KExpr::Unary(op, a) => match (op, *a) {
            (UnaryOp::Neg, KExpr::Real(x)) => KExpr::Real(-x),
            (UnaryOp::Abs, KExpr::Real(x)) => KExpr::Real(x.abs()),
            (UnaryOp::Not, KExpr::Bool(holds)) => KExpr::Bool(!holds),
            (op, a) => KExpr::Unary(op, Box::new(a)),
        },
        KExpr::Arithmetic(Arithmetic::Mul, a, b) if is_one(&a) => *b,
        KExpr::Arithmetic(Arithmetic::Mul | Arithmetic::Div, a, b) if is_one(&b) => *a,
        KExpr::Compare(op, a, b) => match (*a, *b) {
            (KExpr::Real(a), KExpr::Real(b)) => KExpr::Bool(op.holds(&a, &b)),
            (a, b) => KExpr::Compare(op, Box::new(a), Box::new(b)),
        },
        KExpr::Logic(op, a, b) => match (*a, *b) {
            (KExpr::Bool(a), KExpr::Bool(b)) => KExpr::Bool(match op {
                Logic::And => a && b,
                Logic::Or => a || b,
                Logic::Xor => a != b,
            }),
            (a, b) => KExpr::Logic(op, Box::new(a), Box::new(b)),
        },
        other => other,
    }
}
