//! Equations that read by index, where the grid is far from its sides: what they add goes to the
//! same columns for all cells, and no rule beyond the grid is asked for.

use std::collections::{BTreeMap, BTreeSet};

use super::offset_steps::offset_steps;
use super::stencil::Skeleton;
use crate::ir::{JacobianForm, KBlock, KExpr, KStmt, LocalId, ParamId, Path, UnaryOp};
use crate::ops::{CellFact, Logic, Offset};
use crate::passes::{adds, drop_unread};

/// A Jacobian form for the cells from which everything that it reads is in the grid.
#[derive(Clone, Debug)]
pub struct Inside {
    /// Its body there. Paths are [`Path::Here`] and offsets from it, whose maps say nothing.
    pub body: KBlock,
    /// How far it reads to the low and the high side of each axis: cells this far from the sides
    /// are inside.
    pub reach: [[u8; 2]; 3],
    /// The elements that a row has an entry of, by ascending column.
    pub columns: Vec<OffsetColumn>,
}

/// An element of an unknown, at an offset from the cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OffsetColumn {
    /// The unknown.
    pub unknown: ParamId,
    /// Where.
    pub by: Offset,
}

impl Inside {
    /// Of the form of an equation over all cells; `None` where rows are not the same for all cells
    /// inside, or where it asks for anything but cells.
    pub fn of(form: &JacobianForm) -> Option<Inside> {
        let mut maker = Maker { skeleton: Skeleton::of(form), known: BTreeMap::new(), cells: BTreeMap::new(), reach: [[0; 2]; 3] };
        let mut body = maker.block(&form.body)?;
        drop_unread(&mut body);
        let mut found: BTreeSet<(u32, [i8; 3])> = BTreeSet::new();
        note_columns(&body, &mut found);
        let columns = found.into_iter().map(|(unknown, [z, y, x])| OffsetColumn { unknown: ParamId(unknown), by: [x, y, z] });
        Some(Inside { body, reach: maker.reach, columns: columns.collect() })
    }
}

/// Unknown and offset of each addition, the last axis first, as cells are numbered.
fn note_columns(block: &KBlock, found: &mut BTreeSet<(u32, [i8; 3])>) {
    for statement in &block.statements {
        match statement {
            KStmt::Add { unknown, at, .. } => {
                let [x, y, z] = offset(at);
                found.insert((unknown.0, [z, y, x]));
            }
            KStmt::If { then, otherwise, .. } => {
                note_columns(then, found);
                note_columns(otherwise, found);
            }
            KStmt::Let { .. } | KStmt::LetEntity { .. } | KStmt::ReduceFaces { .. } | KStmt::ReduceSides { .. } => {}
        }
    }
}

/// Where a path of the body for inside cells leads.
pub fn offset(path: &Path) -> Offset {
    match path {
        Path::Offset { by, .. } => *by,
        _ => Offset::default(),
    }
}

struct Maker {
    skeleton: Skeleton,
    /// Truth values that are the same for all cells inside.
    known: BTreeMap<LocalId, bool>,
    /// Locals of cells.
    cells: BTreeMap<LocalId, Path>,
    reach: [[u8; 2]; 3],
}

impl Maker {
    fn block(&mut self, block: &KBlock) -> Option<KBlock> {
        let mut statements = Vec::new();
        for statement in &block.statements {
            self.statement(statement, &mut statements)?;
        }
        let yields = block.yields.iter().map(|value| self.expr(value)).collect::<Option<_>>()?;
        Some(KBlock { statements, yields })
    }

    fn statement(&mut self, statement: &KStmt, out: &mut Vec<KStmt>) -> Option<()> {
        match statement {
            KStmt::Let { local, value } => match self.expr(value)? {
                KExpr::Bool(known) => {
                    self.known.insert(*local, known);
                }
                value => out.push(KStmt::Let { local: *local, value }),
            },
            KStmt::LetEntity { local, path } => {
                // Known only if it is an offset; what the state chooses is no column of all cells.
                self.path(path)?;
                self.cells.insert(*local, path.clone());
            }
            KStmt::Add { unknown, at, value } => {
                let (to, value) = (self.path(at)?, self.expr(value)?);
                // Elsewhere additions here come last, and only those of this path are such.
                if to == Path::Here && *at != Path::Here {
                    return None;
                }
                out.push(KStmt::Add { unknown: *unknown, at: to, value });
            }
            KStmt::If { results, condition, then, otherwise } => match self.expr(condition)? {
                KExpr::Bool(holds) => {
                    let branch = self.block(if holds { then } else { otherwise })?;
                    out.extend(branch.statements);
                    for (local, value) in results.iter().zip(branch.yields) {
                        match value {
                            KExpr::Bool(known) => {
                                self.known.insert(*local, known);
                            }
                            value => out.push(KStmt::Let { local: *local, value }),
                        }
                    }
                }
                condition_here => {
                    let (then, otherwise) = (self.block(then)?, self.block(otherwise)?);
                    // The pattern follows what the grid decides, from cell to cell.
                    if self.skeleton.is_decided(condition) && (adds(&then) || adds(&otherwise)) {
                        return None;
                    }
                    out.push(KStmt::If { results: results.clone(), condition: condition_here, then, otherwise });
                }
            },
            KStmt::ReduceFaces { .. } | KStmt::ReduceSides { .. } => return None,
        }
        Some(())
    }

    fn expr(&mut self, expr: &KExpr) -> Option<KExpr> {
        Some(match expr {
            KExpr::Real(_) | KExpr::Bool(_) | KExpr::Param(_) | KExpr::ZeroVector => expr.clone(),
            KExpr::Local(id) => self.known.get(id).map_or(KExpr::Local(*id), |known| KExpr::Bool(*known)),
            KExpr::Load { param, at } => KExpr::Load { param: *param, at: self.path(at)? },
            KExpr::CellFact { fact, at } => {
                let at = self.path(at)?;
                match fact {
                    CellFact::Outside { axis, by } => {
                        let axis = usize::from(*axis);
                        let mut to = offset(&at);
                        to[axis] = to[axis].checked_add(*by)?;
                        self.reaches(to);
                        KExpr::Bool(false)
                    }
                    CellFact::Index(_) | CellFact::Even(_) => KExpr::CellFact { fact: *fact, at },
                }
            }
            KExpr::Measure(at) => KExpr::Measure(self.path(at)?),
            KExpr::Unary(UnaryOp::Not, a) => match self.expr(a)? {
                KExpr::Bool(known) => KExpr::Bool(!known),
                a => KExpr::Unary(UnaryOp::Not, Box::new(a)),
            },
            KExpr::Logic(logic, a, b) => {
                let (a, b) = (self.expr(a)?, self.expr(b)?);
                let known = |value: &KExpr| if let KExpr::Bool(known) = value { Some(*known) } else { None };
                match (logic, known(&a), known(&b)) {
                    (Logic::And, Some(false), _) | (Logic::And, _, Some(false)) => KExpr::Bool(false),
                    (Logic::Or, Some(true), _) | (Logic::Or, _, Some(true)) => KExpr::Bool(true),
                    (Logic::Xor, Some(a), Some(b)) => KExpr::Bool(a != b),
                    (Logic::And, Some(true), _) | (Logic::Or | Logic::Xor, Some(false), _) => b,
                    (Logic::And, _, Some(true)) | (Logic::Or | Logic::Xor, _, Some(false)) => a,
                    (Logic::And | Logic::Or | Logic::Xor, _, _) => KExpr::Logic(*logic, Box::new(a), Box::new(b)),
                }
            }
            KExpr::Select { condition, if_true, if_false } => match self.expr(condition)? {
                KExpr::Bool(holds) => self.expr(if holds { if_true } else { if_false })?,
                condition => KExpr::Select {
                    condition: Box::new(condition),
                    if_true: Box::new(self.expr(if_true)?),
                    if_false: Box::new(self.expr(if_false)?),
                },
            },
            KExpr::Unary(..)
            | KExpr::Arithmetic(..)
            | KExpr::Compare(..)
            | KExpr::Component(..)
            | KExpr::Dot(..)
            | KExpr::Vector(_)
            | KExpr::Math(..)
            | KExpr::Interpolate { .. } => {
                let mut expr = expr.clone();
                for operand in expr.operands_mut() {
                    *operand = self.expr(operand)?;
                }
                expr
            }
            KExpr::Centroid(_)
            | KExpr::Normal(_)
            | KExpr::IsEmpty(_)
            | KExpr::Member { .. }
            | KExpr::Same(..)
            | KExpr::Entity(_)
            | KExpr::Displacement { .. } => return None,
        })
    }

    /// The path from the cell at hand to the same cell.
    fn path(&mut self, path: &Path) -> Option<Path> {
        let steps = offset_steps(path, &self.cells)?;
        let mut to = Offset::default();
        for (axis, steps) in steps.iter().enumerate() {
            for (by, _) in steps {
                to[axis] = to[axis].checked_add(*by)?;
                self.reaches(std::array::from_fn(|other| if other == axis { to[axis] } else { 0 }));
            }
        }
        Some(Path::Here.offset(to, Default::default()))
    }

    fn reaches(&mut self, to: Offset) {
        for (by, [low, high]) in to.into_iter().zip(&mut self.reach) {
            let side = if by < 0 { low } else { high };
            *side = (*side).max(by.unsigned_abs());
        }
    }
}
