//! Extents of the stencils of kernels.

use std::collections::{BTreeMap, BTreeSet};

use super::visit::{Node, visit_block};
use super::{KBlock, KExpr, KStmt, LocalId, ParamId, Path};
use crate::ops::Offset;

/// The offsets from an element to the ends of paths, whatever the sides of the grid make of them.
#[derive(Clone, Debug, Default)]
pub struct OffsetPaths {
    /// Ends of the entity locals of a body, each of which may choose between others.
    locals: BTreeMap<LocalId, BTreeSet<Offset>>,
}

impl OffsetPaths {
    /// Collects the entity locals of a body.
    pub fn of(body: &KBlock) -> Self {
        let mut paths = OffsetPaths::default();
        paths.note(body);
        paths
    }

    fn note(&mut self, block: &KBlock) {
        for statement in &block.statements {
            match statement {
                KStmt::LetEntity { local, path } => {
                    let ends = self.ends(path);
                    self.locals.insert(*local, ends);
                }
                KStmt::ReduceFaces { body, .. } => self.note(body),
                KStmt::ReduceSides { low, high, .. } => {
                    [&low.interior, &low.boundary, &high.interior, &high.boundary].into_iter().flatten().for_each(|block| self.note(block));
                }
                KStmt::If { then, otherwise, .. } => [then, otherwise].into_iter().for_each(|block| self.note(block)),
                KStmt::Let { .. } | KStmt::Add { .. } => {}
            }
        }
    }

    /// Those to which a path may lead; none where it leads along faces, or through a collection.
    pub fn ends(&self, path: &Path) -> BTreeSet<Offset> {
        match path {
            Path::Here => BTreeSet::from([Offset::default()]),
            Path::Local(id) => self.locals.get(id).cloned().unwrap_or_default(),
            Path::Offset { from, by, .. } => {
                self.ends(from).into_iter().map(|from| std::array::from_fn(|axis| from[axis].saturating_add(by[axis]))).collect()
            }
            Path::Select { if_true, if_false, .. } => self.ends(if_true).into_iter().chain(self.ends(if_false)).collect(),
            Path::First(_) | Path::Second(_) | Path::Through { .. } | Path::SideFace(_) | Path::Shift { .. } | Path::Empty => {
                BTreeSet::new()
            }
        }
    }

    /// The one where a path leads to, if it is known before a run.
    pub fn end(&self, path: &Path) -> Option<Offset> {
        let ends = self.ends(path);
        let mut ends = ends.into_iter();
        ends.next().filter(|_| ends.next().is_none())
    }
}

/// The offsets at which a body reads each collection of its parameters.
pub fn offsets_read(body: &KBlock) -> BTreeMap<ParamId, BTreeSet<Offset>> {
    let paths = OffsetPaths::of(body);
    let mut read: BTreeMap<ParamId, BTreeSet<Offset>> = BTreeMap::new();
    visit_block(body, &mut |node| {
        if let Node::Expr(KExpr::Load { param, at }) = node {
            read.entry(*param).or_default().extend(paths.ends(at));
        }
    });
    read
}

/// Extents of some offsets: backwards and forwards along each axis.
pub fn reach<'a>(offsets: impl IntoIterator<Item = &'a Offset>) -> [[u8; 2]; 3] {
    let mut reach = [[0; 2]; 3];
    for by in offsets {
        for (axis, [low, high]) in reach.iter_mut().enumerate() {
            let by = by[axis];
            let side = if by < 0 { low } else { high };
            *side = (*side).max(by.unsigned_abs());
        }
    }
    reach
}
