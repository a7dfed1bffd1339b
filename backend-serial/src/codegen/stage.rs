//! Terms of faces made once: a sum over the faces of every cell, whose terms depend on the face alone, meets each interior face from both of its cells. Where a term
//! costs more than to store it and to read it twice, a loop over the faces makes the terms of interior ones first, and the loop over the cells only adds them: the same
//! terms in the same order. A boundary face has one cell, which makes its terms when it adds them.

use std::collections::BTreeMap;

use equelle_front::backend::visit::{Node, visit_block};
use equelle_front::ir::{FaceFilter, KBlock, KExpr, KStmt, LocalId, Path, Space, UnaryOp};
use equelle_front::ops::{Arithmetic, BinaryMath};
use equelle_front::types::Extent;
use proc_macro2::{Ident, TokenStream};
use quote::quote;

use super::outputs::tuple;
use super::reals::Reals;
use super::text::{Level, ident};
use super::writer::{KnownFace, Writer, Written};

/// Terms of an interior face that cost more than this are made once. An addition counts 1, a load 2, a division or a root 8.
///
/// To store a term and to read it from two cells is 24 bytes a face, beside the loop over the faces itself. Measured on one core, unstructured: shallow water on 512^2 cells, about 1000 a
/// face in both branches of its choices, takes 0.60 times the time with stored terms; heat conduction, 8 a face, 1.08 times on 64^3 cells and about the same on 128^3.
const STAGE_COST: u32 = 60;

/// Buffers with terms, by the local that names the face in the sum.
pub(super) type Staged = BTreeMap<LocalId, Vec<Ident>>;

impl Writer<'_> {
    /// The loops that make terms of faces for sums of the kernel's body; the body then reads them.
    pub(super) fn stage(&mut self) -> Written<TokenStream> {
        let Space::Set(set) = self.kernel.space else { return Ok(TokenStream::new()) };
        // Conditions must hold before anything is evaluated; and collections that round what is stored would round terms.
        if !self.is_all(set) || !self.kernel.checks.is_empty() || self.reals == Reals::Rounded {
            return Ok(TokenStream::new());
        }
        let kernel = self.kernel;
        let mut loops = TokenStream::new();
        for statement in &kernel.body.statements {
            let KStmt::SumFaces { results, cell: Path::Here, face, only: FaceFilter::All | FaceFilter::Interior, body } = statement else {
                continue;
            };
            let body = self.specialised(body, *face, true);
            if of_face_alone(&body, *face) && cost(&body) > STAGE_COST {
                loops.extend(self.stage_sum(results, *face, &body)?);
            }
        }
        Ok(loops)
    }

    fn stage_sum(&mut self, results: &[LocalId], face: LocalId, body: &KBlock) -> Written<TokenStream> {
        let [from, to] = ["from", "to"].map(|name| ident(&self.namer.fresh(name)));
        let name = self.local(face)?;
        let fresh = |writer: &mut Self, ending: &str| -> Written<Vec<Ident>> {
            let names = results.iter().map(|r| writer.local(*r).map(|sum| ident(&writer.namer.fresh(&format!("{sum}_{ending}")))));
            names.collect()
        };
        let (buffers, parts) = (fresh(self, "terms")?, fresh(self, "terms_values")?);
        self.known_faces.push(KnownFace { face, first: from.clone(), second: to.clone(), own: None, own_is_here: false });
        let (before, terms) = self.block(body)?;
        self.known_faces.pop();
        let whole = tuple(buffers.iter().map(|buffer| quote! { &mut #buffer[..] }).collect());
        let part = tuple(parts.iter().map(|part| quote! { #part }).collect());
        let terms = terms.iter().map(|term| term.at(Level::Choice));
        let comment = "The terms of a face are the same for both of its cells: made here, added below.";
        self.staged.insert(face, buffers.clone());
        Ok(quote! {
            __comment!(#comment);
            #(let mut #buffers = rt.take_buffer(rt.grid().n_faces());)*
            rt.each(rt.grid().n_faces(), #whole, |range, #part| {
                for position in range.clone() {
                    let #name = position as u32;
                    let [#from, #to] = grid.face_cells(#name);
                    if #from == NONE || #to == NONE { continue; }
                    #before
                    #(#parts[position - range.start] = #terms;)*
                }
            });
            #(let #buffers = &#buffers[..];)*
        })
    }

    /// A body of a sum for faces that are interior, or that are not: what asks for that is decided.
    pub(super) fn specialised(&self, body: &KBlock, face: LocalId, interior: bool) -> KBlock {
        let known = |condition: &KExpr| match condition {
            KExpr::Member { set, at: Path::Local(local) } if *local == face => match self.superset(*set).extent {
                Extent::Interior if !interior => Some(false),
                Extent::Boundary if interior => Some(false),
                Extent::Interior | Extent::Boundary => self.module.sets.get(*set).canonical.map(|_| true),
                Extent::All => None,
            },
            _ => None,
        };
        block_with(body, &known)
    }
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
            KStmt::LetEntity { .. } | KStmt::SumFaces { .. } | KStmt::SumSides { .. } | KStmt::Add { .. } => {
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

/// Whether the terms of a face depend on nothing else of the cell that sums.
fn of_face_alone(body: &KBlock, face: LocalId) -> bool {
    let (mut own, mut used, mut alone) = (vec![face], Vec::new(), true);
    visit_block(body, &mut |node| match node {
        Node::Stmt(KStmt::Let { local, .. } | KStmt::LetEntity { local, .. }) => own.push(*local),
        Node::Stmt(KStmt::If { results, .. }) => own.extend(results),
        Node::Stmt(KStmt::SumFaces { results, face, .. }) => {
            own.extend(results);
            own.push(*face);
        }
        Node::Stmt(KStmt::SumSides { .. } | KStmt::Add { .. }) | Node::Path(Path::Here) => alone = false,
        Node::Expr(KExpr::Local(local)) | Node::Path(Path::Local(local)) => used.push(*local),
        Node::Expr(_) | Node::Path(_) => {}
    });
    alone && used.iter().all(|local| own.contains(local))
}

/// What the evaluation of a block costs; both branches of a choice count.
fn cost(block: &KBlock) -> u32 {
    let mut cost = 0_u32;
    visit_block(block, &mut |node| {
        cost = cost.saturating_add(match node {
            Node::Expr(expr) => match expr {
                KExpr::Load { .. } | KExpr::Measure(_) | KExpr::Centroid(_) | KExpr::Normal(_) => 2,
                KExpr::Unary(UnaryOp::Sqrt | UnaryOp::Length, _) | KExpr::Arithmetic(Arithmetic::Div, ..) => 8,
                KExpr::Unary(op, _) if op.is_elementary() => 24,
                KExpr::Math(BinaryMath::Pow, ..) => 24,
                KExpr::Dot(..) => 5,
                KExpr::Real(_) | KExpr::Bool(_) | KExpr::Local(_) | KExpr::Param(_) | KExpr::ZeroVector | KExpr::Entity(_) => 0,
                _ => 1,
            },
            // Faces of another cell.
            Node::Stmt(KStmt::SumFaces { .. }) => 60,
            Node::Stmt(_) | Node::Path(_) => 0,
        });
    });
    cost
}

#[cfg(test)]
mod tests {
    use equelle_front::ir::ParamId;

    use super::*;

    fn load(at: Path) -> KExpr {
        KExpr::Load { param: ParamId(0), at }
    }

    fn block(value: KExpr) -> KBlock {
        KBlock { statements: vec![KStmt::Let { local: LocalId(1), value }], yields: vec![KExpr::Local(LocalId(1))] }
    }

    #[test]
    fn what_a_term_depends_on() {
        let face = LocalId(0);
        let first = || Path::First(Box::new(Path::Local(face)));
        assert!(of_face_alone(&block(load(first())), face));
        assert!(!of_face_alone(&block(load(Path::Here)), face), "the cell that sums");
        assert!(!of_face_alone(&block(KExpr::Local(LocalId(7))), face), "made outside the sum");
        let add = KStmt::Add { unknown: ParamId(0), at: first(), value: KExpr::Real(1.0) };
        assert!(!of_face_alone(&KBlock { statements: vec![add], yields: vec![] }, face), "derivatives go to the row of the cell");
    }

    #[test]
    fn what_a_term_costs() {
        let at = || Path::Local(LocalId(0));
        let difference = KExpr::Arithmetic(Arithmetic::Sub, Box::new(load(at())), Box::new(load(at())));
        assert_eq!(cost(&block(difference.clone())), 5);
        let root = KExpr::Unary(UnaryOp::Sqrt, Box::new(difference.clone()));
        assert_eq!(cost(&block(KExpr::Arithmetic(Arithmetic::Div, Box::new(root), Box::new(difference)))), 26);
    }
}
