//! Structural non-zeros of an equation's derivatives, in any state: the skeleton of its Jacobian
//! form.

use std::collections::BTreeSet;

use super::visit::{Node, visit_block};
use crate::ir::{JacobianForm, KBlock, KExpr, KStmt, LocalId, Path, Side, UnaryOp};
use crate::passes::{adds, drop_unread};

/// The part of a Jacobian form that decides which derivatives exist.
#[derive(Clone, Debug)]
pub struct Skeleton {
    /// The additions alone, each of 0, in the order of the form. Of a choice by state it has both
    /// branches, the first one first; choices that the grid decides stay. What is added for a
    /// branch that the state would not choose may be an element that does not exist: whoever
    /// evaluates the skeleton passes over it.
    pub block: KBlock,
    /// Truth values that the grid decides.
    decided: BTreeSet<LocalId>,
    /// Entities that the state chooses.
    chosen: BTreeSet<LocalId>,
}

impl Skeleton {
    /// Builds the skeleton of the body for any grid.
    pub fn of(form: &JacobianForm) -> Skeleton {
        Skeleton::from_body(&form.body)
    }

    /// Builds the skeleton of either body of a Jacobian form.
    pub fn from_body(body: &KBlock) -> Skeleton {
        let mut skeleton = Skeleton { block: KBlock::default(), decided: BTreeSet::new(), chosen: BTreeSet::new() };
        skeleton.block = skeleton.strip(body);
        drop_unread(&mut skeleton.block);
        skeleton
    }

    /// True if the grid alone decides a condition of the form.
    pub fn is_decided(&self, condition: &KExpr) -> bool {
        match condition {
            KExpr::Bool(_) => true,
            KExpr::Local(id) => self.decided.contains(id),
            KExpr::IsEmpty(at) | KExpr::Member { at, .. } | KExpr::CellFact { at, .. } => self.is_fixed(at),
            KExpr::Same(a, b) => self.is_fixed(a) && self.is_fixed(b),
            KExpr::Unary(UnaryOp::Not, a) => self.is_decided(a),
            KExpr::Logic(_, a, b) => self.is_decided(a) && self.is_decided(b),
            _ => false,
        }
    }

    fn is_fixed(&self, path: &Path) -> bool {
        match path {
            Path::Local(id) => !self.chosen.contains(id),
            Path::Here | Path::SideFace(_) | Path::Shift { .. } | Path::Empty => true,
            Path::First(at) | Path::Second(at) | Path::Through { at, .. } | Path::Offset { from: at, .. } => self.is_fixed(at),
            Path::Select { condition, if_true, if_false } => {
                self.is_decided(condition) && self.is_fixed(if_true) && self.is_fixed(if_false)
            }
        }
    }

    fn strip(&mut self, block: &KBlock) -> KBlock {
        let mut statements = Vec::new();
        for statement in &block.statements {
            match statement {
                KStmt::Let { local, value } => {
                    if self.is_decided(value) {
                        self.decided.insert(*local);
                        statements.push(statement.clone());
                    }
                }
                KStmt::LetEntity { local, path } => {
                    if self.is_fixed(path) {
                        statements.push(statement.clone());
                    } else {
                        self.chosen.insert(*local);
                    }
                }
                KStmt::ReduceFaces { reduction, extreme_faces, cell, face, only, body, .. } => {
                    self.chosen.extend(extreme_faces);
                    let body = self.strip(body);
                    if adds(&body) {
                        let (reduction, cell, face, only) = (*reduction, cell.clone(), *face, *only);
                        statements.push(KStmt::ReduceFaces {
                            reduction,
                            results: Vec::new(),
                            extreme_faces: Vec::new(),
                            cell,
                            face,
                            only,
                            body,
                        });
                    }
                }
                KStmt::ReduceSides { reduction, extreme_faces, low, high, .. } => {
                    self.chosen.extend(extreme_faces);
                    let (mut low, mut high) = (low.clone(), high.clone());
                    for slot in [&mut low.interior, &mut low.boundary, &mut high.interior, &mut high.boundary] {
                        *slot = slot.as_ref().map(|block| self.strip(block));
                    }
                    let (results, extreme_faces) = (Vec::new(), Vec::new());
                    statements.push(KStmt::ReduceSides { reduction: *reduction, results, extreme_faces, low, high });
                }
                KStmt::If { condition, then, otherwise, .. } => {
                    let decided = self.is_decided(condition);
                    let (then, otherwise) = (self.strip(then), self.strip(otherwise));
                    if decided {
                        statements.push(KStmt::If { results: Vec::new(), condition: condition.clone(), then, otherwise });
                    } else {
                        statements.extend(then.statements.into_iter().chain(otherwise.statements));
                    }
                }
                KStmt::Add { unknown, at, .. } => {
                    statements.push(KStmt::Add { unknown: *unknown, at: at.clone(), value: KExpr::Real(0.0) });
                }
            }
        }
        KBlock { statements, yields: Vec::new() }
    }
}

/// Elements of an unknown that a row of a Cartesian Jacobian form may have: the cell, and the cells
/// beyond its low and its high sides.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reach {
    /// The cell itself.
    pub own: bool,
    /// Those at the low sides, along every axis.
    pub low: bool,
    /// Those at the high sides.
    pub high: bool,
}

/// Returns the elements that the rows of a Cartesian Jacobian form reach. `[unknowns]`
pub fn reach(unknowns: u32, cartesian: &KBlock) -> Vec<Reach> {
    let mut reach = vec![Reach::default(); unknowns as usize];
    visit_block(cartesian, &mut |node| {
        if let Node::Stmt(KStmt::Add { unknown, at, .. }) = node
            && let Some(reach) = reach.get_mut(unknown.0 as usize)
        {
            match at {
                Path::Here => reach.own = true,
                Path::Shift { by, .. } => match Side::towards(*by) {
                    Side::Low => reach.low = true,
                    Side::High => reach.high = true,
                },
                Path::Local(_)
                | Path::First(_)
                | Path::Second(_)
                | Path::Through { .. }
                | Path::Offset { .. }
                | Path::Select { .. }
                | Path::SideFace(_)
                | Path::Empty => {}
            }
        }
    });
    reach
}
