//! Operations in opposite branches of a choice share a variable, because at most one of them is
//! read. Two divisions of the same number are one, whose divisor is chosen. Threads that run in
//! step then go one way, and variables that live across branches are fewer. Every operation is
//! evaluated where it was and with the same operands, so that no bit changes.

use std::collections::{BTreeMap, BTreeSet};

use crate::ir::{KBlock, KExpr, KStmt, LocalId};
use crate::ops::Arithmetic;
use crate::passes::{NodeMut, rewrite_block};

/// A value that one branch alone makes.
struct GuardedValue {
    local: LocalId,
    value: KExpr,
    holds: bool,
}

/// Pairs what is made in the choices of a block, those in its statements left out. `guarded` are
/// locals that are read only in the branch that makes them; the other one gives them a 0.
pub(super) fn pair_opposites(block: &mut KBlock, guarded: &BTreeSet<LocalId>) {
    let mut renamed = BTreeMap::new();
    let mut out = Vec::with_capacity(block.statements.len());
    for statement in std::mem::take(&mut block.statements) {
        match statement {
            KStmt::If { results, condition, then, otherwise }
                if results.iter().all(|id| guarded.contains(id)) && then.statements.is_empty() && otherwise.statements.is_empty() =>
            {
                paired(&results, condition, then, otherwise, &mut renamed, &mut out);
            }
            other => out.push(other),
        }
    }
    block.statements = out;
    if !renamed.is_empty() {
        rewrite_block(block, &mut |node| {
            if let NodeMut::Expr(KExpr::Local(id)) = node
                && let Some(&to) = renamed.get(id)
            {
                *id = to;
            }
        });
    }
}

fn paired(
    results: &[LocalId],
    condition: KExpr,
    then: KBlock,
    otherwise: KBlock,
    renamed: &mut BTreeMap<LocalId, LocalId>,
    out: &mut Vec<KStmt>,
) {
    let (mut open, mut kept) = (Vec::new(), (Vec::new(), KBlock::default(), KBlock::default()));
    let mut keep = |local, if_true, if_false| {
        kept.0.push(local);
        kept.1.yields.push(if_true);
        kept.2.yields.push(if_false);
    };
    for ((&local, if_true), if_false) in results.iter().zip(then.yields).zip(otherwise.yields) {
        match (is_zero(&if_true), is_zero(&if_false)) {
            (true, false) => open.push(GuardedValue { local, value: if_false, holds: false }),
            (false, true) => open.push(GuardedValue { local, value: if_true, holds: true }),
            (true, true) | (false, false) => keep(local, if_true, if_false),
        }
    }
    while !open.is_empty() {
        let first = open.remove(0);
        // The first of those that are most alike.
        let best = (0..open.len()).rev().filter(|&i| open[i].holds != first.holds).max_by_key(|&i| likeness(&first.value, &open[i].value));
        let Some(best) = best else {
            let [if_true, if_false] = if first.holds { [first.value, KExpr::Real(0.0)] } else { [KExpr::Real(0.0), first.value] };
            keep(first.local, if_true, if_false);
            continue;
        };
        let other = open.remove(best);
        renamed.insert(other.local, first.local);
        let [if_true, if_false] = if first.holds { [first.value, other.value] } else { [other.value, first.value] };
        match (if_true, if_false) {
            (KExpr::Arithmetic(Arithmetic::Div, a, b), KExpr::Arithmetic(Arithmetic::Div, c, d)) if a == c => {
                let divisor = KExpr::Select { condition: Box::new(condition.clone()), if_true: b, if_false: d };
                out.push(KStmt::Let { local: first.local, value: KExpr::Arithmetic(Arithmetic::Div, a, Box::new(divisor)) });
            }
            (if_true, if_false) => keep(first.local, if_true, if_false),
        }
    }
    let (results, then, otherwise) = kept;
    if !results.is_empty() {
        out.push(KStmt::If { results, condition, then, otherwise });
    }
}

/// True for the placeholder of an operation in the branch that does not make it.
fn is_zero(value: &KExpr) -> bool {
    matches!(value, KExpr::Real(x) if x.to_bits() == 0)
}

/// Similarity of two operations.
fn likeness(a: &KExpr, b: &KExpr) -> u32 {
    match (a, b) {
        (KExpr::Arithmetic(Arithmetic::Div, a, _), KExpr::Arithmetic(Arithmetic::Div, b, _)) => 1 + u32::from(a == b),
        (KExpr::Unary(a, _), KExpr::Unary(b, _)) => u32::from(a == b),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use crate::backend::branches::share_across_branches;
    use crate::ir::text::{parse, print};

    fn shared(body: &str) -> String {
        let text = format!(
            "module m\n\nkernel k over AllCells() {{\n  param h: Scalar On AllCells()\n  param q: Scalar On AllCells()\n  \
             result r: Scalar On AllCells()\n  body {{\n{body}  }}\n}}\n\nmain {{\n}}\n"
        );
        let mut module = parse(&text).unwrap_or_else(|error| panic!("{error:?}\n{text}"));
        let sets = module.sets.clone();
        share_across_branches(&mut module.kernels[0], &sets);
        print(&module)
    }

    /// A speed where it is wet and another one where it is dry, each asked for twice.
    #[test]
    fn divisions_of_one_number_are_one_by_the_chosen_divisor() {
        let text = shared(
            "    wet: Bool = (h[here] > 0.05)\n    \
             x: Scalar = (wet ? (q[here] / h[here]) : (0.0 * (q[here] / 8.0)))\n    \
             y: Scalar = (wet ? ((q[here] / h[here]) * 2.0) : (3.0 * (q[here] / 8.0)))\n    yield (x + y)\n",
        );
        assert!(text.contains("(q[here] / (wet ? h[here] : 8.0))"), "{text}");
        assert_eq!((text.matches(" / ").count(), text.matches("if wet").count()), (1, 0), "{text}");
    }

    /// Roots of other numbers stay in their branches and share a variable.
    #[test]
    fn other_operations_share_a_variable() {
        let text = shared(
            "    wet: Bool = (h[here] > 0.05)\n    \
             x: Scalar = (wet ? sqrt(h[here]) : (0.5 * sqrt(q[here])))\n    \
             y: Scalar = (wet ? (sqrt(h[here]) * 2.0) : (3.0 * sqrt(q[here])))\n    yield (x + y)\n",
        );
        assert_eq!((text.matches("sqrt(").count(), text.matches("shared_2").count()), (2, 5), "{text}");
        assert!(!text.contains("shared_1") && text.contains("yield sqrt(h[here])") && text.contains("yield sqrt(q[here])"), "{text}");
    }

    /// A value without an opposite keeps the placeholder of its branch.
    #[test]
    fn what_stands_alone_stays() {
        let text = shared(
            "    wet: Bool = (h[here] > 0.05)\n    x: Scalar = (wet ? sqrt(h[here]) : 1.0)\n    \
             y: Scalar = (wet ? (sqrt(h[here]) * 2.0) : 3.0)\n    yield (x + y)\n",
        );
        assert!(text.contains("if wet") && text.contains("yield 0.0"), "{text}");
    }
}
