//! Divergence becomes a sum over the faces of a cell.

use super::build::{Builder, Mode, Result, Unfusable};
use crate::ir::{FaceFilter, KBlock, KExpr, KStmt, Path, Side, SideBlocks, UnaryOp, ValueId};
use crate::ops::Arithmetic;
use crate::types::{Basic, CanonicalSet, EntityKind, Shape, Type};

impl Builder<'_> {
    pub(super) fn divergence(&mut self, value: ValueId, fluxes: ValueId, at: &Path) -> Result<KExpr> {
        let name = self.name(value);
        let result = match self.mode {
            Mode::PerAxis => return Err(Unfusable),
            Mode::General => {
                let face = self.local("f", Type { basic: Basic::Entity(EntityKind::Face), shape: Shape::Single, within: None });
                let path = Path::Local(face);
                let interior = self.term(fluxes, &path, true, |s| s.facts.learn_face_of(face, at))?;
                let boundary = self.term(fluxes, &path, false, |s| s.facts.learn_face_of(face, at))?;
                let (only, body) = match (interior, boundary) {
                    (None, None) => return Ok(KExpr::Real(0.0)),
                    (Some(body), None) => (FaceFilter::Interior, body),
                    (None, Some(body)) => (FaceFilter::Boundary, body),
                    (Some(a), Some(b)) if a == b => (FaceFilter::All, a),
                    (Some(then), Some(otherwise)) => {
                        let interior = self.sets.canonical(CanonicalSet::INTERIOR_FACES);
                        let condition = KExpr::Member { set: interior, at: path };
                        let flux = self.local("flux", Type::SCALAR);
                        let choice = KStmt::If { results: vec![flux], condition, then, otherwise };
                        (FaceFilter::All, KBlock { statements: vec![choice], yields: vec![KExpr::Local(flux)] })
                    }
                };
                let result = self.local(&name, Type::SCALAR);
                self.push(KStmt::SumFaces { results: vec![result], cell: at.clone(), face, only, body });
                result
            }
            Mode::Full => {
                if *at != Path::Here {
                    return Err(Unfusable);
                }
                let low = self.side(fluxes, Side::Low)?;
                let high = self.side(fluxes, Side::High)?;
                let result = self.local(&name, Type::SCALAR);
                self.push(KStmt::SumSides { results: vec![result], low, high });
                result
            }
        };
        Ok(KExpr::Local(result))
    }

    fn side(&mut self, fluxes: ValueId, side: Side) -> Result<SideBlocks> {
        let face = Path::SideFace(side);
        let mut one = |interior: bool| {
            let outer = self.facts.side.replace((side, interior));
            let block = self.term(fluxes, &face, interior, |_| {});
            self.facts.side = outer;
            block
        };
        Ok(SideBlocks { interior: one(true)?, boundary: one(false)? })
    }

    /// The flux through a face known to be interior or on the boundary; `None` if it is
    /// structurally zero there.
    fn term(&mut self, fluxes: ValueId, face: &Path, interior: bool, learn: impl FnOnce(&mut Self)) -> Result<Option<KBlock>> {
        let interior_set = self.sets.canonical(CanonicalSet::INTERIOR_FACES);
        if !interior && self.ty(fluxes).mapping() == Some(interior_set) {
            return Ok(None);
        }
        let mut block = self.scoped(|s| {
            s.facts.learn(s.sets, face, interior_set, interior);
            learn(s);
            Ok(vec![s.eval(fluxes, face)?])
        })?;
        block.yields = block.yields.into_iter().map(without_zeros).collect();
        drop_dead(&mut block);
        Ok((block.yields != [KExpr::Real(0.0)]).then_some(block))
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
            a => KExpr::Unary(UnaryOp::Neg, Box::new(a)),
        },
        KExpr::Select { condition, if_true, if_false } => {
            let (if_true, if_false) = (without_zeros(*if_true), without_zeros(*if_false));
            if is_zero(&if_true) && is_zero(&if_false) {
                return KExpr::Real(0.0);
            }
            KExpr::Select { condition, if_true: Box::new(if_true), if_false: Box::new(if_false) }
        }
        KExpr::Real(0.0) => KExpr::Real(0.0),
        expr => expr,
    }
}

/// If the block is worth nothing, its statements are not needed either.
fn drop_dead(block: &mut KBlock) {
    if block.yields.iter().all(|y| matches!(y, KExpr::Real(_))) {
        block.statements.clear();
    }
}
