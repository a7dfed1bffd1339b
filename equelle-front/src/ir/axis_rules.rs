//! Ends of the axes of a Cartesian grid, as a program sees them.

use super::kernel::{KExpr, KStmt, Kernel, Path};
use super::visit::{Node, visit_general};
use super::{Block, Module, Op, StmtKind};
use crate::ops::{Beyond, CellFact, Offset, SideMap};
use crate::types::{CanonicalSet, SetId, SetTable};

/// Ends of each axis of a Cartesian grid, as a program sees them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AxisRules {
    /// True for the axes around which it reads by index.
    pub wraps: [bool; 3],
    /// True for the axes whose ends it tells from other places: by other rules of `Halo`, or by
    /// faces.
    pub has_ends: [bool; 3],
}

impl AxisRules {
    /// Those of a module, by its operations and the general bodies of its kernels.
    pub fn from_module(module: &Module) -> AxisRules {
        let mut rules = AxisRules::default();
        for function in module.functions.iter().chain([&module.main]) {
            rules.add_block(&function.body);
        }
        module.kernels.iter().for_each(|kernel| rules.add_kernel(kernel, &module.sets));
        rules
    }

    /// True for an axis along which boxes of ranks may be cut: where a program reads around it and
    /// has ends too, a cell beyond the last one would have to be two at once.
    pub fn may_be_cut(&self, axis: usize) -> bool {
        !(self.wraps[axis] && self.has_ends[axis])
    }

    fn add_offset(&mut self, by: Offset, beyond: Beyond) {
        for axis in (0..3).filter(|&axis| by[axis] != 0) {
            match beyond[2 * axis + usize::from(by[axis] > 0)] {
                SideMap::Wrap => self.wraps[axis] = true,
                SideMap::Mirror | SideMap::MirrorAt | SideMap::Clamp | SideMap::Never => self.has_ends[axis] = true,
            }
        }
    }

    fn add_fact(&mut self, fact: CellFact) {
        match fact {
            CellFact::Outside { axis, .. } => self.has_ends[usize::from(axis)] = true,
            CellFact::Index(_) | CellFact::Even(_) => {}
        }
    }

    fn add_faces(&mut self) {
        self.has_ends = [true; 3];
    }

    fn add_block(&mut self, block: &Block) {
        for statement in &block.statements {
            match &statement.kind {
                StmtKind::Let { op, .. } => self.add_operation(op),
                StmtKind::For { body, .. } => self.add_block(body),
                StmtKind::Store { .. } | StmtKind::Output { .. } | StmtKind::Launch { .. } | StmtKind::Return(_) => {}
            }
        }
    }

    fn add_operation(&mut self, op: &Op) {
        match op {
            Op::Shift { by, beyond, .. } => self.add_offset(*by, *beyond),
            Op::CellFact { fact, .. } => self.add_fact(*fact),
            Op::CanonicalSet(set) if *set != CanonicalSet::ALL_CELLS => self.add_faces(),
            _ => {}
        }
    }

    fn add_kernel(&mut self, kernel: &Kernel, sets: &SetTable) {
        let tells_ends = |set: SetId| sets.get(set).canonical.is_some_and(|canonical| canonical != CanonicalSet::ALL_CELLS);
        let mapped = kernel.params.iter().filter_map(|param| param.ty.mapping());
        if kernel.space_set().into_iter().chain(mapped).any(tells_ends) {
            self.add_faces();
        }
        visit_general(kernel, &mut |node| match node {
            Node::Path(Path::Offset { by, beyond, .. }) => self.add_offset(*by, *beyond),
            Node::Path(Path::First(_) | Path::Second(_)) | Node::Stmt(KStmt::ReduceFaces { .. }) => self.add_faces(),
            Node::Expr(KExpr::CellFact { fact, .. }) => self.add_fact(*fact),
            Node::Expr(KExpr::Member { set, .. }) if tells_ends(*set) => self.add_faces(),
            _ => {}
        });
    }
}
