//! Choices between values where one between entities is meant: `c ? (u On A) : (u On B)`.
//!
//! Both branches are evaluated, so that an Empty element of `A` is an error also where `B` is
//! chosen. `u On (c ? A : B)` reads at the entities that are chosen. Run-time errors of such lines
//! say so.

use std::collections::{BTreeMap, BTreeSet};

use crate::ir::{Block, Function, Op, OpClass, StmtKind, ValueId};
use crate::source::Span;

/// Most operations that are looked at on the way from a choice to an `On`.
const MAX_STEPS: usize = 1000;

/// The statements of a function with an `On` of data that the other branch of a choice has `On`
/// something else.
pub(super) fn choices(function: &Function) -> BTreeSet<Span> {
    let mut definitions = Definitions::default();
    definitions.block(&function.body);
    let mut found = BTreeSet::new();
    for (op, _) in definitions.ops.values() {
        let &Op::Select { if_true, if_false, .. } = *op else { continue };
        let (first, second) = (definitions.ons(if_true), definitions.ons(if_false));
        for (a, place) in &first {
            for (b, other) in &second {
                if definitions.same(*a, *b) {
                    found.extend([*place, *other]);
                }
            }
        }
    }
    found
}

/// The operation that makes each value, and the span of its statement.
#[derive(Default)]
struct Definitions<'a> {
    ops: BTreeMap<ValueId, (&'a Op, Span)>,
}

impl<'a> Definitions<'a> {
    fn block(&mut self, block: &'a Block) {
        for statement in &block.statements {
            match &statement.kind {
                StmtKind::Let { results, op } => {
                    if let [result] = results[..] {
                        self.ops.insert(result, (op, statement.span));
                    }
                }
                StmtKind::For { body, .. } => self.block(body),
                StmtKind::Store { .. } | StmtKind::Output { .. } | StmtKind::Launch { .. } | StmtKind::Return(_) => {}
            }
        }
    }

    /// Data and statement of each `On` that a value is made of, element by element.
    fn ons(&self, value: ValueId) -> Vec<(ValueId, Span)> {
        let (mut found, mut seen, mut open) = (Vec::new(), BTreeSet::new(), vec![value]);
        while let Some(value) = open.pop() {
            let Some(&(op, span)) = self.ops.get(&value) else { continue };
            if !seen.insert(value) || seen.len() > MAX_STEPS {
                continue;
            }
            if let Op::On { data, .. } = op {
                found.push((*data, span));
            } else if op.class() == OpClass::Pointwise {
                open.extend(op.operands());
            }
        }
        found
    }

    /// True if two values are written alike: the same operations on the same values.
    fn same(&self, a: ValueId, b: ValueId) -> bool {
        let mut open = vec![(a, b)];
        for _ in 0..MAX_STEPS {
            let Some((a, b)) = open.pop() else { return true };
            if a == b {
                continue;
            }
            let (Some(&(first, _)), Some(&(second, _))) = (self.ops.get(&a), self.ops.get(&b)) else { return false };
            // The same but for what goes in.
            let nothing = |_| ValueId(0);
            if first.map_operands(nothing) != second.map_operands(nothing) {
                return false;
            }
            open.extend(first.operands().into_iter().zip(second.operands()));
        }
        false
    }
}
