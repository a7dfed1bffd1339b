//! Bodies of sums over the faces of a cell, as back-ends write them: for interior faces and for
//! those on the boundary, and from either of the cells of a face.

use crate::ir::{KBlock, KExpr, KStmt, LocalId, Path, UnaryOp};
use crate::ops::Arithmetic;
use crate::passes::{NodeMut, rewrite_expr};
use crate::types::{Extent, SetTable};

/// A body of a sum for faces that are interior, or that are not: what asks for that is decided.
pub fn specialised(sets: &SetTable, body: &KBlock, face: LocalId, interior: bool) -> KBlock {
    let known = |condition: &KExpr| match condition {
        KExpr::Member { set, at: Path::Local(local) } if *local == face => match sets.canonical_superset(*set).extent {
            Extent::Interior if !interior => Some(false),
            Extent::Boundary if interior => Some(false),
            Extent::Interior | Extent::Boundary => sets.get(*set).canonical.map(|_| true),
            Extent::All => None,
        },
        _ => None,
    };
    let block = block_with(body, &known);
    // The only statement left may be a name for the one term.
    match (&block.statements[..], &block.yields[..]) {
        ([KStmt::Let { local, value }], [KExpr::Local(term)]) if local == term => {
            KBlock { statements: Vec::new(), yields: vec![value.clone()] }
        }
        _ => block,
    }
}

/// A body for faces of which the cell at `cell` is the first one, or the second: what asks for that
/// is decided.
pub fn oriented(body: &KBlock, face: LocalId, cell: &Path, is_first: bool) -> KBlock {
    let first = Path::First(Box::new(Path::Local(face)));
    let known = |condition: &KExpr| match condition {
        KExpr::Same(a, b) if **a == first && **b == *cell => Some(is_first),
        _ => None,
    };
    block_with(body, &known)
}

/// A block whose choices by known conditions are made.
fn block_with(block: &KBlock, known: &dyn Fn(&KExpr) -> Option<bool>) -> KBlock {
    let mut statements = Vec::new();
    for statement in &block.statements {
        match statement {
            KStmt::If { results, condition, then, otherwise } => match known(condition) {
                Some(holds) => {
                    let branch = block_with(if holds { then } else { otherwise }, known);
                    statements.extend(branch.statements);
                    let yields = results.iter().zip(branch.yields);
                    statements.extend(yields.map(|(&local, value)| KStmt::Let { local, value }));
                }
                None => statements.push(KStmt::If {
                    results: results.clone(),
                    condition: condition.clone(),
                    then: block_with(then, known),
                    otherwise: block_with(otherwise, known),
                }),
            },
            KStmt::Let { local, value } => statements.push(KStmt::Let { local: *local, value: chosen(value, known) }),
            KStmt::LetEntity { .. } | KStmt::ReduceFaces { .. } | KStmt::ReduceSides { .. } | KStmt::Add { .. } => {
                statements.push(statement.clone())
            }
        }
    }
    KBlock { statements, yields: block.yields.iter().map(|value| chosen(value, known)).collect() }
}

/// An expression, or the branch of it that is known to be taken.
fn chosen(expr: &KExpr, known: &dyn Fn(&KExpr) -> Option<bool>) -> KExpr {
    if let KExpr::Select { condition, if_true, if_false } = expr
        && let Some(holds) = known(condition)
    {
        return chosen(if holds { if_true } else { if_false }, known);
    }
    expr.clone()
}

/// True if exchanging the cells of a face changes the sign of a term and nothing else. `a - b` is
/// `-(b - a)` to the bit but for the sign of 0, which a sum that begins with 0 does not see.
pub fn is_antisymmetric(term: &KExpr, face: LocalId) -> bool {
    match term {
        KExpr::Arithmetic(Arithmetic::Sub, a, b) => exchanged(a, face) == **b,
        KExpr::Arithmetic(Arithmetic::Mul | Arithmetic::Div, a, b) => {
            is_symmetric(a, face) && is_antisymmetric(b, face) || is_antisymmetric(a, face) && is_symmetric(b, face)
        }
        KExpr::Unary(UnaryOp::Neg, a) => is_antisymmetric(a, face),
        _ => false,
    }
}

fn is_symmetric(term: &KExpr, face: LocalId) -> bool {
    exchanged(term, face) == *term
}

/// A term with the cells of a face exchanged.
fn exchanged(term: &KExpr, face: LocalId) -> KExpr {
    let mut term = term.clone();
    rewrite_expr(&mut term, &mut |node| {
        let NodeMut::Path(path) = node else { return };
        let of_face = |at: &Path| *at == Path::Local(face);
        match path {
            Path::First(at) if of_face(at) => *path = Path::Second(at.clone()),
            Path::Second(at) if of_face(at) => *path = Path::First(at.clone()),
            _ => {}
        }
    });
    term
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::ParamId;

    fn load(param: u32, at: Path) -> KExpr {
        KExpr::Load { param: ParamId(param), at }
    }

    #[test]
    fn differences_over_a_face_are_antisymmetric() {
        let face = LocalId(0);
        let at = || Box::new(Path::Local(face));
        let (first, second) = (|| load(0, Path::First(at())), || load(0, Path::Second(at())));
        let op = |op: Arithmetic, a: KExpr, b: KExpr| KExpr::Arithmetic(op, Box::new(a), Box::new(b));
        let difference = || op(Arithmetic::Sub, second(), first());
        let coefficient = || load(1, Path::Local(face));
        assert!(is_antisymmetric(&op(Arithmetic::Mul, coefficient(), difference()), face));
        assert!(is_antisymmetric(&KExpr::Unary(UnaryOp::Neg, Box::new(difference())), face));
        assert!(!is_antisymmetric(&op(Arithmetic::Sub, second(), load(1, Path::First(at()))), face), "another field");
        assert!(!is_antisymmetric(&op(Arithmetic::Mul, second(), difference()), face), "a factor of one cell");
        assert!(!is_antisymmetric(&op(Arithmetic::Mul, difference(), difference()), face), "a square");
        assert!(!is_antisymmetric(&difference(), LocalId(1)), "of another face");
    }
}
