//! Kernels over all cells that have no Cartesian body: they sum Vectors, sum over the faces of
//! other cells, or are equations that read by index. Where the grid is far from its sides, no rule
//! beyond it is asked for, sums over faces are a few terms each, and what equations add goes to the
//! same columns for all cells.

#[cfg(test)]
mod tests;
mod unroll;
mod values;

use std::collections::{BTreeMap, BTreeSet};

use super::stencil::Skeleton;
use crate::ir::visit::{Node, visit_block};
use crate::ir::{KBlock, KExpr, KStmt, Kernel, Local, LocalId, Param, ParamId, Path, UnaryOp};
use crate::ops::Offset;
use crate::passes::drop_unread;
use crate::types::{Basic, CanonicalSet, SetTable, Shape};
use unroll::Unroller;

/// A kernel for the cells from which everything that it reads is in the grid.
#[derive(Clone, Debug)]
pub struct Inside {
    /// Its body there; of a Vector it yields each component, as many as the grid has dimensions.
    /// Paths are [`Path::Here`] and offsets from it, whose maps say nothing, and
    /// locals of [`Inside::faces`].
    pub body: KBlock,
    /// Number of dimensions of the grid; `None` for any.
    pub dim: Option<usize>,
    /// The locals of the kernel, and those of the terms of sums.
    pub locals: Vec<Local>,
    /// Locals that stand for faces.
    pub faces: BTreeMap<LocalId, FaceAcross>,
    /// Cells that it reads towards the low and the high side of each axis: cells this far from the
    /// sides are inside.
    pub reach: [[u8; 2]; 3],
    /// The elements that a row has an entry of, by ascending column.
    pub columns: Vec<OffsetColumn>,
}

/// A face across an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FaceAcross {
    /// The axis.
    pub axis: usize,
    /// Offset of its first cell. `None` for any face, asked for what is the same for all of them:
    /// numbers per axis, measures, and displacements between their cells.
    pub first: Option<Offset>,
}

/// An element of an unknown, at an offset from the cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OffsetColumn {
    /// The unknown.
    pub unknown: ParamId,
    /// Where.
    pub by: Offset,
}

/// The forms of a kernel for cells inside.
#[derive(Clone, Debug)]
pub enum InsideForms {
    /// One for any number of dimensions.
    AnyDimension(Inside),
    /// One for each number of dimensions, from one on.
    ByDimension(Box<[Inside; 3]>),
}

impl InsideForms {
    /// Forms of a kernel over all cells; `None` where rows of an equation differ among cells
    /// inside, or where the kernel asks for anything that is not known there.
    pub fn of(kernel: &Kernel, sets: &SetTable) -> Option<InsideForms> {
        let all_cells = Shape::Collection(sets.canonical(CanonicalSet::ALL_CELLS));
        let is_over_cells = |param: &Param| param.ty.shape == all_cells;
        let (body, unknowns) = kernel.jacobian.as_ref().map_or((&kernel.body, 0), |form| (&form.body, form.unknowns));
        if kernel.space_set().map(Shape::Collection) != Some(all_cells)
            || !kernel.params.iter().take(unknowns as usize).all(is_over_cells)
            || !kernel.checks.is_empty()
            || kernel.results.iter().any(|result| result.reduce.is_some())
        {
            return None;
        }
        let skeleton = Skeleton::from_body(body);
        let of = |dim| inside(Unroller::new(kernel, sets, &skeleton, dim), body);
        if !asks_dimension(kernel, body) {
            return of(None).map(InsideForms::AnyDimension);
        }
        let of = |dim| of(Some(dim));
        Some(InsideForms::ByDimension(Box::new([of(1)?, of(2)?, of(3)?])))
    }

    /// True if a form reads numbers that are stored on faces.
    pub fn reads_faces(&self) -> bool {
        self.all().iter().any(|inside| inside.faces.values().any(|face| face.first.is_some()))
    }

    /// All of them.
    pub fn all(&self) -> &[Inside] {
        match self {
            InsideForms::AnyDimension(inside) => std::slice::from_ref(inside),
            InsideForms::ByDimension(forms) => &forms[..],
        }
    }
}

/// Sums over faces, and Vectors, are made of a term for each axis.
fn asks_dimension(kernel: &Kernel, body: &KBlock) -> bool {
    let is_vector = |param: &ParamId| kernel.params[param.0 as usize].ty.basic == Basic::Vector;
    let mut asks = false;
    visit_block(body, &mut |node| {
        asks |= matches!(&node, Node::Expr(KExpr::Load { param, .. }) if is_vector(param));
        asks |= matches!(
            node,
            Node::Stmt(KStmt::ReduceFaces { .. })
                | Node::Expr(
                    KExpr::Normal(_)
                        | KExpr::FaceGap(_)
                        | KExpr::FaceTransmissibility(_)
                        | KExpr::Centroid(_)
                        | KExpr::Component(..)
                        | KExpr::Dot(..)
                        | KExpr::Vector(_)
                        | KExpr::ZeroVector
                        | KExpr::Unary(UnaryOp::Length, _)
                )
        );
    });
    asks
}

fn inside(mut unroller: Unroller<'_>, body: &KBlock) -> Option<Inside> {
    let mut body = unroller.whole(body)?;
    drop_unread(&mut body);
    let mut found: BTreeSet<(u32, [i8; 3])> = BTreeSet::new();
    note_columns(&body, &mut found);
    drop_zeros(&mut body);
    let columns = found.into_iter().map(|(unknown, [z, y, x])| OffsetColumn { unknown: ParamId(unknown), by: [x, y, z] });
    let Unroller { dim, locals, faces, reach, .. } = unroller;
    Some(Inside { body, dim, locals, faces, reach, columns: columns.collect() })
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

/// Drops additions of zero to columns that have others: faces across an axis that a component of a
/// Vector does not depend on.
fn drop_zeros(body: &mut KBlock) {
    let column = |statement: &KStmt| match statement {
        KStmt::Add { unknown, at, value } => Some((unknown.0, offset(at), matches!(value, KExpr::Real(x) if *x == 0.0))),
        _ => None,
    };
    let others: BTreeSet<(u32, Offset)> =
        body.statements.iter().filter_map(column).filter(|(.., is_zero)| !is_zero).map(|(unknown, by, _)| (unknown, by)).collect();
    body.statements.retain(|statement| column(statement).is_none_or(|(unknown, by, is_zero)| !is_zero || !others.contains(&(unknown, by))));
}

/// Offset to which a path of the body for inside cells leads.
pub fn offset(path: &Path) -> Offset {
    match path {
        Path::Offset { by, .. } => *by,
        _ => Offset::default(),
    }
}
