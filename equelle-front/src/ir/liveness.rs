//! Last reads of values, after which a result may take their memory.

use std::collections::{BTreeMap, BTreeSet};

use super::visit::{Node, visit_block};
use super::{Block, KExpr, Kernel, MutableId, Op, ParamId, Path, Stmt, StmtKind, ValueId, reads_by_index};
use crate::types::{Basic, CanonicalSet, SetTable, Type};

/// True if the launch that is statement `index` of a block is the last to read one of its
/// arguments, and nothing else holds it: the argument is made in the block by a kernel, or is what
/// a mutable holds that is assigned anew before anything looks at it.
pub fn ends_at(block: &Block, index: usize, value: ValueId) -> bool {
    let statements = &block.statements;
    let StmtKind::Launch { args, .. } = &statements[index].kind else { return false };
    if args.iter().filter(|arg| **arg == value).count() != 1 {
        return false;
    }
    let Some(made) = statements[..index].iter().position(|s| s.defines().contains(&value)) else { return false };
    // Others but kernels, outputs and exchanges may keep it.
    let keeps_nothing = |s: &Stmt| match &s.kind {
        StmtKind::Launch { .. } | StmtKind::Output { .. } | StmtKind::Let { op: Op::Exchange { .. }, .. } => true,
        StmtKind::Let { .. } | StmtKind::Store { .. } | StmtKind::For { .. } | StmtKind::Return(_) => false,
    };
    let only_looks = |s: &Stmt| !s.reads_inside().contains(&value) || keeps_nothing(s);
    if !statements[made + 1..index].iter().all(only_looks) || statements[index + 1..].iter().any(|s| s.reads_inside().contains(&value)) {
        return false;
    }
    match &statements[made].kind {
        StmtKind::Launch { .. } => true,
        StmtKind::Let { op: Op::Load(mutable), .. } => {
            let loads = loads(block);
            let same = |other: ValueId| other != value && loads.get(&other) == Some(mutable);
            let read_later = |s: &Stmt| loads.keys().any(|&other| same(other) && s.reads_inside().contains(&other));
            let next = statements[index + 1..].iter().find(|s| s.mentions(*mutable));
            !args.iter().any(|&arg| same(arg))
                && !statements[index + 1..].iter().any(read_later)
                && matches!(next.map(|s| &s.kind), Some(StmtKind::Store { .. }))
        }
        StmtKind::Let { .. } | StmtKind::Store { .. } | StmtKind::Output { .. } | StmtKind::For { .. } | StmtKind::Return(_) => false,
    }
}

/// The values of a block that are what a mutable holds.
pub fn loads(block: &Block) -> BTreeMap<ValueId, MutableId> {
    let load = |s: &Stmt| match &s.kind {
        StmtKind::Let { results, op: Op::Load(mutable) } => results.first().map(|result| (*result, *mutable)),
        _ => None,
    };
    block.statements.iter().filter_map(load).collect()
}

/// Parameters of a kernel that its results may write to, all of which are numbers of cells.
pub(crate) fn read_here(kernel: &Kernel, sets: &SetTable) -> Vec<ParamId> {
    let numbers = Type::collection(Basic::Scalar, sets.canonical(CanonicalSet::ALL_CELLS));
    let one_body = kernel.cartesian.is_none() && kernel.jacobian.is_none() && kernel.checks.is_empty() && reads_by_index(kernel);
    let per_axis = kernel.params.iter().any(|param| param.per_axis);
    if !one_body || per_axis || !kernel.results.iter().all(|result| result.reduce.is_none() && result.ty == numbers) {
        return Vec::new();
    }
    let (mut read, mut elsewhere) = (BTreeSet::new(), BTreeSet::new());
    visit_block(&kernel.body, &mut |node| match node {
        Node::Expr(KExpr::Load { param, at: Path::Here }) => {
            read.insert(*param);
        }
        Node::Expr(KExpr::Load { param, .. }) => {
            elsewhere.insert(*param);
        }
        Node::Expr(_) | Node::Path(_) | Node::Stmt(_) => {}
    });
    let fits = |id: &ParamId| {
        let param = &kernel.params[id.0 as usize];
        param.ty == numbers && !elsewhere.contains(id)
    };
    read.into_iter().filter(fits).collect()
}
