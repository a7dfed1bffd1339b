//! Values that are read at several offsets of a Cartesian grid.

use std::collections::{BTreeMap, BTreeSet};

use super::super::analysis::Defs;
use crate::ir::{Block, Function, Op, StmtKind, ValueId};
use crate::ops::Offset;
use crate::types::Shape;

/// The offsets at which operations read values; those of values that no operation reads elsewhere
/// are not noted.
#[derive(Debug, Default)]
pub(super) struct OffsetReads(BTreeMap<ValueId, BTreeSet<Offset>>);

impl OffsetReads {
    /// Collects the reads of a function.
    pub(super) fn of(function: &Function, defs: &Defs) -> Self {
        let mut reads = OffsetReads::default();
        reads.block(function, defs, &function.body);
        reads.0.retain(|_, offsets| offsets.iter().any(|by| *by != Offset::default()));
        reads
    }

    fn block(&mut self, function: &Function, defs: &Defs, block: &Block) {
        for statement in &block.statements {
            match &statement.kind {
                StmtKind::Let { op, .. } => {
                    for (operand, by) in reads(function, defs, op) {
                        self.0.entry(operand).or_default().insert(by);
                    }
                }
                StmtKind::For { body, .. } => self.block(function, defs, body),
                StmtKind::Store { .. } | StmtKind::Output { .. } | StmtKind::Launch { .. } | StmtKind::Return(_) => {}
            }
        }
    }

    /// True if there are any.
    pub(super) fn any(&self) -> bool {
        !self.0.is_empty()
    }

    /// At how many offsets a value is read, 0 where only at its own element.
    pub(super) fn places(&self, value: ValueId) -> u32 {
        self.0.get(&value).map_or(0, |offsets| offsets.len() as u32)
    }
}

/// The operands of an operation, each with the offset at which it is read.
pub(super) fn reads(function: &Function, defs: &Defs, op: &Op) -> Vec<(ValueId, Offset)> {
    match op {
        Op::On { data, target } => match offset_of(function, defs, *target) {
            Some(by) => vec![(*data, by)],
            None => vec![(*target, Offset::default()), (*data, Offset::default())],
        },
        // The domain alone is asked of the other operand.
        Op::Broadcast { value, .. } => vec![(*value, Offset::default())],
        op => op.operands().into_iter().map(|operand| (operand, Offset::default())).collect(),
    }
}

/// Offset of cells from all cells.
fn offset_of(function: &Function, defs: &Defs, cells: ValueId) -> Option<Offset> {
    let Some(Op::Shift { cells, by, .. }) = defs.op(cells) else { return None };
    matches!(function.values[cells.0 as usize].ty.shape, Shape::Domain(_)).then_some(*by)
}

/// Two offsets in turn, whatever the sides make of them.
pub(super) fn sum(a: Offset, b: Offset) -> Offset {
    std::array::from_fn(|axis| a[axis].saturating_add(b[axis]))
}
