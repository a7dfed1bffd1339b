//! Divergence, and sums and extremes over faces, become reductions over the faces of a cell.

use super::build::{Builder, Mode, Result, Unfusable, ZeroSign};
use crate::ir::{FaceFilter, KBlock, KExpr, KStmt, Path, Side, SideBlocks, UnaryOp, ValueId};
use crate::ops::{Arithmetic, FaceReduction};
use crate::types::{Basic, CanonicalSet, EntityKind, Shape, Type};

/// Contribution of a face to the reduction of one of its cells.
#[derive(Clone, Copy)]
enum Term {
    /// A flux, positive where the cell is the first of the face.
    Flux(ValueId),
    /// The first value where the cell is the first of the face, else the second.
    Sided(FaceReduction, ValueId, ValueId),
}

impl Builder<'_> {
    /// `Divergence(fluxes)` at a cell.
    pub(super) fn divergence(&mut self, value: ValueId, fluxes: ValueId, at: &Path) -> Result<KExpr> {
        self.reduce(value, Term::Flux(fluxes), at)
    }

    /// A reduction over the faces of a cell.
    pub(super) fn face_reduce(
        &mut self,
        value: ValueId,
        reduction: FaceReduction,
        [first, second]: [ValueId; 2],
        at: &Path,
    ) -> Result<KExpr> {
        self.reduce(value, Term::Sided(reduction, first, second), at)
    }

    fn reduce(&mut self, value: ValueId, term: Term, at: &Path) -> Result<KExpr> {
        let name = self.name(value);
        let reduction = term.reduction();
        let ty = Type::single(self.ty(value).basic);
        let result = match self.mode {
            Mode::PerAxis => return Err(Unfusable),
            // The components of a side's normal are known there, those of a sum are not.
            Mode::Full if ty.basic == Basic::Vector => return Err(Unfusable),
            Mode::General => {
                let face = self.local(
                    "f",
                    Type { basic: Basic::Entity(EntityKind::Face), shape: Shape::Single, within: None, halo: crate::types::Halo::NONE },
                );
                let path = Path::Local(face);
                let outward = KExpr::Same(Box::new(Path::First(Box::new(path.clone()))), Box::new(at.clone()));
                let interior = self.term(term, &path, true, &outward, |s| s.facts.learn_face_of(face, at))?;
                let boundary = self.term(term, &path, false, &outward, |s| s.facts.learn_face_of(face, at))?;
                let (only, body) = match (interior, boundary) {
                    (None, None) => return Ok(neutral(reduction, ty.basic)),
                    (Some(body), None) => (FaceFilter::Interior, body),
                    (None, Some(body)) => (FaceFilter::Boundary, body),
                    (Some(a), Some(b)) if a == b => (FaceFilter::All, a),
                    (Some(then), Some(otherwise)) => {
                        let interior = self.sets.canonical(CanonicalSet::INTERIOR_FACES);
                        let condition = KExpr::Member { set: interior, at: path };
                        let flux = self.local("flux", ty);
                        let choice = KStmt::If { results: vec![flux], condition, then, otherwise };
                        (FaceFilter::All, KBlock { statements: vec![choice], yields: vec![KExpr::Local(flux)] })
                    }
                };
                let result = self.local(&name, ty);
                self.push(KStmt::ReduceFaces {
                    reduction,
                    results: vec![result],
                    extreme_faces: Vec::new(),
                    cell: at.clone(),
                    face,
                    only,
                    body,
                });
                result
            }
            Mode::Full => {
                // One reduction over sides does not stand in another.
                if *at != Path::Here || self.facts.side.is_some() {
                    return Err(Unfusable);
                }
                let low = self.side(term, Side::Low)?;
                let high = self.side(term, Side::High)?;
                let result = self.local(&name, ty);
                self.push(KStmt::ReduceSides { reduction, results: vec![result], extreme_faces: Vec::new(), low, high });
                result
            }
        };
        Ok(KExpr::Local(result))
    }

    fn side(&mut self, term: Term, side: Side) -> Result<SideBlocks> {
        let face = Path::SideFace(side);
        // A cell is the first of the face at its high side.
        let outward = KExpr::Bool(side == Side::High);
        let neutral = neutral(term.reduction(), self.ty(term.value()).basic);
        let mut one = |interior: bool| {
            let outer = self.facts.side.replace((side, interior));
            let block = self.each_axis(&term.values(), &face, &neutral, |s| s.term(term, &face, interior, &outward, |_| {}));
            self.facts.side = outer;
            block
        };
        Ok(SideBlocks { interior: one(true)?, boundary: one(false)? })
    }

    /// The term of a face known to be interior or on the boundary, in a sum before its sign; `None`
    /// if it structurally changes nothing. `outward`: whether the cell is the first of the face.
    fn term(&mut self, term: Term, face: &Path, interior: bool, outward: &KExpr, learn: impl FnOnce(&mut Self)) -> Result<Option<KBlock>> {
        let interior_set = self.sets.canonical(CanonicalSet::INTERIOR_FACES);
        let reduction = term.reduction();
        let basic = self.ty(term.value()).basic;
        let neutral = neutral(reduction, basic);
        let signs = match reduction {
            FaceReduction::Sum => ZeroSign::Free,
            // An extreme of two zeros is the one that comes first.
            FaceReduction::Max | FaceReduction::Min => self.zeros.sign,
        };
        let mut block = self.with_zeros(signs, |s| {
            s.scoped(|s| {
                s.facts.learn(s.sets, face, interior_set, interior);
                learn(s);
                Ok(vec![match term {
                    Term::Flux(fluxes) => s.on_face(fluxes, face, &neutral)?,
                    Term::Sided(_, first, second) => s.sided(reduction, [first, second], face, outward)?,
                }])
            })
        })?;
        if reduction == FaceReduction::Sum && basic == Basic::Scalar {
            block.yields = block.yields.into_iter().map(without_zeros).collect();
        }
        drop_dead(&mut block);
        Ok((block.yields != [neutral]).then_some(block))
    }

    /// The first value where the cell is the first of the face, else the second: in a sum, which
    /// subtracts there, its negative.
    fn sided(&mut self, reduction: FaceReduction, [first, second]: [ValueId; 2], face: &Path, outward: &KExpr) -> Result<KExpr> {
        let neutral = neutral(reduction, self.ty(first).basic);
        let beyond = |value: KExpr| match reduction {
            FaceReduction::Sum => negative(value),
            FaceReduction::Max | FaceReduction::Min => value,
        };
        if first == second && !matches!(outward, KExpr::Bool(_)) {
            let both = self.on_face(first, face, &neutral)?;
            if reduction != FaceReduction::Sum {
                return Ok(both);
            }
            let both = self.keep(first, both);
            let (if_true, if_false) = (Box::new(both.clone()), Box::new(beyond(both)));
            return Ok(KExpr::Select { condition: Box::new(outward.clone()), if_true, if_false });
        }
        let of_first = |s: &mut Self| s.on_face(first, face, &neutral);
        self.select(first, outward.clone(), of_first, |s| Ok(beyond(s.on_face(second, face, &neutral)?)))
    }

    /// A number on a face; `neutral` where there is none.
    fn on_face(&mut self, value: ValueId, face: &Path, neutral: &KExpr) -> Result<KExpr> {
        let set = self.ty(value).mapping().ok_or(Unfusable)?;
        match self.facts.member(self.sets, set, face) {
            Some(true) => self.eval(value, face),
            Some(false) => Ok(neutral.clone()),
            None => self.if_member(value, (set, value), face, |_| Ok(neutral.clone())),
        }
    }
}

/// Neutral element of a reduction.
fn neutral(reduction: FaceReduction, basic: Basic) -> KExpr {
    match basic {
        Basic::Vector => KExpr::ZeroVector,
        Basic::Scalar | Basic::Bool | Basic::Entity(_) | Basic::Text | Basic::Table | Basic::Axis(_) => KExpr::Real(reduction.start()),
    }
}

impl Term {
    /// A value whose type is that of the term.
    fn value(self) -> ValueId {
        match self {
            Term::Flux(value) | Term::Sided(_, value, _) => value,
        }
    }

    /// The values that it is made of.
    fn values(self) -> Vec<ValueId> {
        match self {
            Term::Flux(value) => vec![value],
            Term::Sided(_, first, second) => vec![first, second],
        }
    }

    fn reduction(self) -> FaceReduction {
        match self {
            Term::Flux(_) => FaceReduction::Sum,
            Term::Sided(reduction, ..) => reduction,
        }
    }
}

fn negative(expr: KExpr) -> KExpr {
    match expr {
        KExpr::Real(number) => KExpr::Real(-number),
        KExpr::ZeroVector => KExpr::ZeroVector,
        KExpr::Unary(UnaryOp::Neg, a) => *a,
        expr => KExpr::Unary(UnaryOp::Neg, Box::new(expr)),
    }
}

/// A term of a sum that starts at +0, without the zeros added to it. The sign of a zero term does
/// not matter to the sum, nor to a product or quotient (as dividend) that is such a term; so
/// additions of structural zeros can go wherever only products lie above them.
fn without_zeros(expr: KExpr) -> KExpr {
    let is_zero = |e: &KExpr| matches!(e, KExpr::Real(x) if *x == 0.0);
    match expr {
        KExpr::Arithmetic(op, a, b) => {
            let a = without_zeros(*a);
            let b = if op == Arithmetic::Div { *b } else { without_zeros(*b) };
            match op {
                Arithmetic::Add if is_zero(&a) => b,
                Arithmetic::Add | Arithmetic::Sub if is_zero(&b) => a,
                Arithmetic::Sub if is_zero(&a) => KExpr::Unary(UnaryOp::Neg, Box::new(b)),
                Arithmetic::Add | Arithmetic::Sub | Arithmetic::Mul | Arithmetic::Div => KExpr::Arithmetic(op, Box::new(a), Box::new(b)),
            }
        }
        KExpr::Unary(UnaryOp::Neg, a) => match without_zeros(*a) {
            a if is_zero(&a) => KExpr::Real(0.0),
            // But for the sign of a zero the same.
            KExpr::Arithmetic(Arithmetic::Sub, a, b) => KExpr::Arithmetic(Arithmetic::Sub, b, a),
            a => KExpr::Unary(UnaryOp::Neg, Box::new(a)),
        },
        KExpr::Select { condition, if_true, if_false } => {
            let (if_true, if_false) = (without_zeros(*if_true), without_zeros(*if_false));
            if is_zero(&if_true) && is_zero(&if_false) {
                return KExpr::Real(0.0);
            }
            KExpr::Select { condition, if_true: Box::new(if_true), if_false: Box::new(if_false) }
        }
        // Also -0: patterns compare as numbers do.
        KExpr::Real(0.0) => KExpr::Real(0.0),
        expr => expr,
    }
}

/// If the block is worth nothing, its statements are not needed either.
fn drop_dead(block: &mut KBlock) {
    if block.yields.iter().all(|y| matches!(y, KExpr::Real(_) | KExpr::ZeroVector)) {
        block.statements.clear();
    }
}
