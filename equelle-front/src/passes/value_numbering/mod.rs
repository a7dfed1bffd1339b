//! Value numbering: what a body computes twice, it computes once.
//!
//! Every expression and path of a body gets a number, and two that are certain to have the same
//! value get the same one. Names do not hide a value: a local has the number of what it holds.
//! Sums, products, comparisons and logic have the same number with their operands exchanged, which
//! gives the same bits but for the payload of a NaN; `Min` and `Max` have not. A choice whose
//! condition is known where it stands is the branch taken.
//!
//! Then the body is written anew from the numbers ([`place`]). A value that a block evaluates in
//! any case and asks for more than once has a name there. Nothing is evaluated where it was not
//! before: what stands in one branch of a choice alone stays in it, and a sum takes nothing from
//! its body. Loads have no names of their own, targets keep them in registers anyway.

mod fresh;
mod key;
mod number;
mod place;
#[cfg(test)]
mod tests;

use super::combine::combine;
use super::locals::{adds, drop_unread, drop_unused_locals, each_body};
use crate::backend::visit::{Node, visit_block};
use crate::ir::{KBlock, KStmt, Kernel, Module};
use crate::types::SetTable;
use fresh::Fresh;
use number::Numbering;
use place::Placing;

/// Numbers the values of every body of every kernel.
pub(super) fn run(module: &mut Module) {
    let sets = &module.sets;
    for kernel in &mut module.kernels {
        let mut fresh = Fresh::of(kernel);
        let mut bodies = Vec::new();
        each_body(kernel, &mut |body| bodies.push(std::mem::take(body)));
        for body in &mut bodies {
            fresh.begin_body();
            renew(kernel, sets, body, &mut fresh);
            // Conditions that are equal are so in words now: choices come together, and what they
            // have in common once more. Terms of a Jacobian keep their order.
            if !adds(body) && has_alike(body) {
                let before = choices_and_sums(body);
                combine(body, &mut |local| fresh.copy(kernel, local));
                if choices_and_sums(body) < before {
                    renew(kernel, sets, body, &mut fresh);
                }
            }
            drop_unread(body);
        }
        let mut bodies = bodies.into_iter();
        each_body(kernel, &mut |body| *body = bodies.next().unwrap_or_default());
        drop_unused_locals(kernel);
    }
}

/// True if a block has choices by the same condition, or several sums.
fn has_alike(block: &KBlock) -> bool {
    let mut conditions = Vec::new();
    let mut sums = 0;
    block.statements.iter().any(|statement| match statement {
        KStmt::If { condition, then, otherwise, .. } => {
            let alike = conditions.contains(&condition);
            conditions.push(condition);
            alike || has_alike(then) || has_alike(otherwise)
        }
        KStmt::ReduceFaces { body, .. } => {
            sums += 1;
            sums > 1 || has_alike(body)
        }
        KStmt::ReduceSides { low, high, .. } => {
            sums += 1;
            let blocks = [&low.interior, &low.boundary, &high.interior, &high.boundary];
            sums > 1 || blocks.into_iter().flatten().any(has_alike)
        }
        KStmt::Let { .. } | KStmt::LetEntity { .. } | KStmt::Add { .. } => false,
    })
}

fn choices_and_sums(body: &KBlock) -> usize {
    let mut count = 0;
    visit_block(body, &mut |node| {
        count += usize::from(matches!(node, Node::Stmt(KStmt::If { .. } | KStmt::ReduceFaces { .. } | KStmt::ReduceSides { .. })));
    });
    count
}

fn renew(kernel: &mut Kernel, sets: &SetTable, body: &mut KBlock, fresh: &mut Fresh) {
    let mut numbering = Numbering::new(kernel, sets);
    let numbered = numbering.block(std::mem::take(body));
    let nodes = numbering.finish();
    *body = Placing::new(kernel, &nodes, fresh).whole(&numbered);
}
