//! Costly operations that several branches of a kernel ask for, made once before them.
//!
//! A value that a program names once, such as the speed `q / h` where there is water, appears in a
//! kernel once for each branch that reads it: nothing is evaluated that the branch taken does not
//! need. A processor that runs many threads in step pays for every branch, and its compiler joins
//! equal operations only where one dominates the other. Here a division, root or transcendental
//! function moves to the outermost block that knows its operands, if more than one branch or a loop
//! below that block asks for it. The choices that all of its places have in common go with it.
//! Operations and operands stay what they are, so that no bit changes. Operations of opposite
//! branches share a variable ([`super::opposites`]).

use std::collections::BTreeSet;

use super::opposites::pair_opposites;
use super::visit::{Node, visit_expr, visit_stmt};
use crate::ir::{CartesianForm, FaceFilter, KBlock, KExpr, KStmt, Kernel, Local, LocalId, Path, Side, UnaryOp};
use crate::ops::{Arithmetic, BinaryMath, Logic};
use crate::passes::{NodeMut, assigned, rewrite_block};
use crate::types::{Basic, CanonicalSet, SetTable, Type};

/// In all bodies of a kernel.
pub fn share_across_branches(kernel: &mut Kernel, sets: &SetTable) {
    let share = |kernel: &mut Kernel, mut block: KBlock| {
        Sharing { kernel, sets, inside: Inside::default(), guarded: BTreeSet::new() }.block(&mut block);
        block
    };
    let body = std::mem::take(&mut kernel.body);
    kernel.body = share(kernel, body);
    if let Some(CartesianForm::Full(block)) = kernel.cartesian.take_if(|form| matches!(form, CartesianForm::Full(_))) {
        kernel.cartesian = Some(CartesianForm::Full(share(kernel, block)));
    }
    if let Some(mut form) = kernel.jacobian.take() {
        form.body = share(kernel, form.body);
        form.cartesian = form.cartesian.map(|block| share(kernel, block));
        kernel.jacobian = Some(form);
    }
}

/// A choice that an expression stands in: its condition, and whether it holds there.
type Guard = (KExpr, bool);

/// The choices around an expression.
#[derive(Default)]
struct Around {
    guards: Vec<Guard>,
    /// Numbers of the branches, the same for all that stands in one branch.
    branches: Vec<u32>,
    /// Number of branches so far.
    count: u32,
}

impl Around {
    /// Does it in a branch.
    fn branch(&mut self, condition: &KExpr, holds: bool, f: impl FnOnce(&mut Around)) {
        self.count += 1;
        self.guards.push((condition.clone(), holds));
        self.branches.push(self.count);
        f(self);
        self.guards.pop();
        self.branches.pop();
    }
}

/// Position of a block.
#[derive(Clone, Debug, Default)]
struct Inside {
    /// Locals that can be read.
    known: BTreeSet<LocalId>,
    /// The side of a Cartesian cell, if one.
    side: Option<Side>,
    /// Faces with a cell on either side.
    interior: BTreeSet<LocalId>,
}

/// Places of one operation.
struct Wanted {
    expr: KExpr,
    /// Choices that all its places are in.
    guards: Vec<Guard>,
    /// Choices that its first place is in.
    first: Vec<Guard>,
    /// The innermost branch of its first place whose condition could guard it.
    branch: Option<u32>,
    /// Places are in different choices, or in a loop.
    shared: bool,
}

struct Sharing<'a> {
    kernel: &'a mut Kernel,
    sets: &'a SetTable,
    inside: Inside,
    /// Locals that are read only where the condition holds under which they are made.
    guarded: BTreeSet<LocalId>,
}

impl Sharing<'_> {
    fn block(&mut self, block: &mut KBlock) {
        let own: BTreeSet<LocalId> = block.statements.iter().flat_map(assigned).collect();
        self.inside.known.extend(own);
        while let Some(wanted) = self.next(block) {
            self.make_before(block, wanted);
        }
        join_choices(block);
        pair_opposites(block, &self.guarded);
        for statement in &mut block.statements {
            self.within(statement);
        }
    }

    /// The blocks of a statement.
    fn within(&mut self, statement: &mut KStmt) {
        let before = self.inside.clone();
        match statement {
            KStmt::ReduceFaces { face, only, body, .. } => {
                self.inside.known.insert(*face);
                if *only == FaceFilter::Interior {
                    self.inside.interior.insert(*face);
                }
                self.block(body);
            }
            KStmt::ReduceSides { low, high, .. } => {
                for (blocks, side) in [(low, Side::Low), (high, Side::High)] {
                    for block in [&mut blocks.interior, &mut blocks.boundary].into_iter().flatten() {
                        self.inside = Inside { side: Some(side), ..before.clone() };
                        self.block(block);
                    }
                }
            }
            KStmt::If { condition, then, otherwise, .. } => {
                if let KExpr::Member { set, at: Path::Local(face) } = condition
                    && self.sets.get(*set).canonical == Some(CanonicalSet::INTERIOR_FACES)
                {
                    self.inside.interior.insert(*face);
                }
                self.block(then);
                self.inside = before.clone();
                self.block(otherwise);
            }
            KStmt::Let { .. } | KStmt::LetEntity { .. } | KStmt::Add { .. } => {}
        }
        self.inside = before;
    }

    /// An operation to be made in a block, before what reads it; the smallest first, for others may
    /// contain it.
    fn next(&self, block: &KBlock) -> Option<Wanted> {
        let mut all: Vec<Wanted> = Vec::new();
        places(block, &mut Around::default(), false, &mut |expr, around, in_loop| {
            if !is_costly(expr) || !self.is_possible(expr) {
                return;
            }
            let possible = |(c, _): &Guard| self.is_possible(c) && !contains(c, expr);
            let branch = around.branches.iter().zip(&around.guards).rfind(|(_, guard)| possible(guard)).map(|(&branch, _)| branch);
            let guards: Vec<Guard> = around.guards.iter().filter(|guard| possible(guard)).cloned().collect();
            match all.iter_mut().find(|wanted| wanted.expr == *expr) {
                Some(wanted) => {
                    wanted.shared |= in_loop || wanted.first != guards || wanted.branch != branch;
                    wanted.guards.retain(|guard| guards.contains(guard));
                }
                None => all.push(Wanted { expr: expr.clone(), guards: guards.clone(), first: guards, branch, shared: in_loop }),
            }
        });
        all.into_iter().filter(|wanted| wanted.shared).min_by_key(|wanted| size(&wanted.expr))
    }

    /// True if an expression can be evaluated in the current block, wherever in it its operands are
    /// known.
    fn is_possible(&self, expr: &KExpr) -> bool {
        if matches!(expr, KExpr::Local(id) if !self.inside.known.contains(id))
            || !matches!(self.kernel.expr_basic(expr), Basic::Scalar | Basic::Bool)
        {
            return false;
        }
        let mut possible = true;
        visit_expr(expr, &mut |node| {
            possible &= match node {
                Node::Expr(KExpr::Local(id)) | Node::Path(Path::Local(id)) => self.inside.known.contains(id),
                Node::Expr(KExpr::Load { param, at }) => {
                    let ty = self.kernel.params[param.0 as usize].ty;
                    let cells = ty.mapping().is_some_and(|set| self.sets.get(set).canonical == Some(CanonicalSet::ALL_CELLS));
                    cells && ty.basic == Basic::Scalar && self.is_cell(at)
                }
                // These need an entity that exists.
                Node::Expr(
                    KExpr::Measure(at) | KExpr::Centroid(at) | KExpr::FaceGap(at) | KExpr::FaceTransmissibility(at) | KExpr::Normal(at),
                ) => {
                    self.is_cell(at)
                        || matches!(at, Path::Here | Path::Local(_))
                        || (matches!(at, Path::SideFace(_)) && self.inside.side.is_some())
                }
                Node::Expr(KExpr::IsEmpty(_) | KExpr::Member { .. } | KExpr::Same(..) | KExpr::Entity(_) | KExpr::Displacement { .. }) => {
                    false
                }
                Node::Path(Path::SideFace(side)) => self.inside.side == Some(*side),
                Node::Path(Path::Shift { by, .. }) => self.inside.side == Some(Side::towards(*by)),
                Node::Path(Path::Through { .. } | Path::Select { .. } | Path::Offset { .. }) | Node::Expr(KExpr::CellFact { .. }) => false,
                Node::Stmt(_) | Node::Expr(_) | Node::Path(_) => true,
            };
        });
        possible
    }

    /// True if a path certainly leads to a cell.
    fn is_cell(&self, path: &Path) -> bool {
        match path {
            Path::Here | Path::Shift { .. } => true,
            Path::First(face) | Path::Second(face) => matches!(&**face, Path::Local(face) if self.inside.interior.contains(face)),
            Path::Offset { .. } | Path::Local(_) | Path::Through { .. } | Path::Select { .. } | Path::SideFace(_) | Path::Empty => false,
        }
    }

    /// Makes an operation as soon as its operands are known, and has it read where it stood.
    fn make_before(&mut self, block: &mut KBlock, wanted: Wanted) {
        let Wanted { expr, guards, .. } = wanted;
        let local = LocalId(self.kernel.locals.len() as u32);
        let name = self.fresh(if matches!(expr, KExpr::Arithmetic(..)) { "quotient" } else { "shared" });
        self.kernel.locals.push(Local { name, ty: Type::single(Basic::Scalar) });
        self.inside.known.insert(local);
        let mut read = BTreeSet::new();
        guards.iter().map(|(condition, _)| condition).chain([&expr]).for_each(|e| {
            visit_expr(e, &mut |node| {
                if let Node::Expr(KExpr::Local(id)) | Node::Path(Path::Local(id)) = node {
                    read.insert(*id);
                }
            });
        });
        let at = block.statements.iter().rposition(|s| assigned(s).iter().any(|id| read.contains(id))).map_or(0, |last| last + 1);
        rewrite_block(block, &mut |node| {
            if let NodeMut::Expr(found) = node
                && *found == expr
            {
                *found = KExpr::Local(local);
            }
        });
        let condition =
            guards.into_iter().map(|(condition, holds)| if holds { condition } else { KExpr::Unary(UnaryOp::Not, Box::new(condition)) });
        let condition = condition.reduce(|a, b| KExpr::Logic(Logic::And, Box::new(a), Box::new(b)));
        if condition.is_some() {
            self.guarded.insert(local);
        }
        let statement = match condition {
            None => KStmt::Let { local, value: expr },
            Some(condition) => KStmt::If {
                results: vec![local],
                condition,
                then: KBlock { statements: Vec::new(), yields: vec![expr] },
                otherwise: KBlock { statements: Vec::new(), yields: vec![KExpr::Real(0.0)] },
            },
        };
        block.statements.insert(at, statement);
    }

    /// A name that no local has.
    fn fresh(&self, base: &str) -> String {
        let taken = |name: &str| self.kernel.locals.iter().any(|l| l.name == name) || self.kernel.params.iter().any(|p| p.name == name);
        (1..).map(|n| format!("{base}_{n}")).find(|name| !taken(name)).unwrap_or_default()
    }
}

/// True if an operation is worth a variable that lives across branches.
fn is_costly(expr: &KExpr) -> bool {
    match expr {
        KExpr::Arithmetic(Arithmetic::Div, ..) | KExpr::Math(BinaryMath::Pow | BinaryMath::ATan2, ..) | KExpr::Interpolate { .. } => true,
        KExpr::Unary(op, _) => match op {
            UnaryOp::Sqrt | UnaryOp::Elementary(_) => true,
            UnaryOp::Neg | UnaryOp::Not | UnaryOp::Abs | UnaryOp::Length => false,
        },
        _ => false,
    }
}

/// Every expression of a block, with the choices around it and whether it is in a loop of the
/// block.
fn places(block: &KBlock, around: &mut Around, in_loop: bool, f: &mut dyn FnMut(&KExpr, &Around, bool)) {
    for statement in &block.statements {
        match statement {
            KStmt::Let { value, .. } | KStmt::Add { value, .. } => places_of(value, around, in_loop, f),
            KStmt::LetEntity { .. } => {}
            KStmt::ReduceFaces { body, .. } => places(body, around, true, f),
            KStmt::ReduceSides { low, high, .. } => {
                for block in [&low.interior, &low.boundary, &high.interior, &high.boundary].into_iter().flatten() {
                    places(block, around, true, f);
                }
            }
            KStmt::If { condition, then, otherwise, .. } => {
                places_of(condition, around, in_loop, f);
                for (block, holds) in [(then, true), (otherwise, false)] {
                    around.branch(condition, holds, |around| places(block, around, in_loop, f));
                }
            }
        }
    }
    block.yields.iter().for_each(|value| places_of(value, around, in_loop, f));
}

fn places_of(expr: &KExpr, around: &mut Around, in_loop: bool, f: &mut dyn FnMut(&KExpr, &Around, bool)) {
    f(expr, around, in_loop);
    match expr {
        KExpr::Select { condition, if_true, if_false } => {
            places_of(condition, around, in_loop, f);
            for (value, holds) in [(if_true, true), (if_false, false)] {
                around.branch(condition, holds, |around| places_of(value, around, in_loop, f));
            }
        }
        _ => expr.operands().into_iter().for_each(|operand| places_of(operand, around, in_loop, f)),
    }
}

/// Choices by the same condition, or by its opposite, that stand one behind the other become one,
/// where the later does not read the earlier.
fn join_choices(block: &mut KBlock) {
    let mut out: Vec<KStmt> = Vec::with_capacity(block.statements.len());
    for mut statement in std::mem::take(&mut block.statements) {
        if let Some(KStmt::If { results, condition, then, otherwise }) = out.last_mut()
            && !results.iter().any(|&id| reads(&statement, id))
            && let KStmt::If { results: more, condition: other, then: also, otherwise: else_also } = &mut statement
        {
            let not = |a: &KExpr, b: &KExpr| matches!(a, KExpr::Unary(UnaryOp::Not, a) if **a == *b);
            if not(condition, other) {
                // The condition loses its `not`, and the branches swap.
                *condition = other.clone();
                std::mem::swap(then, otherwise);
            } else if not(other, condition) {
                std::mem::swap(also, else_also);
            }
            if *condition == *other || not(other, condition) {
                results.append(more);
                for (block, other) in [(then, also), (otherwise, else_also)] {
                    block.statements.append(&mut other.statements);
                    block.yields.append(&mut other.yields);
                }
                continue;
            }
        }
        out.push(statement);
    }
    block.statements = out;
}

fn reads(statement: &KStmt, local: LocalId) -> bool {
    let mut found = false;
    visit_stmt(statement, &mut |node| found |= matches!(node, Node::Expr(KExpr::Local(id)) | Node::Path(Path::Local(id)) if *id == local));
    found
}

fn contains(expr: &KExpr, part: &KExpr) -> bool {
    let mut found = false;
    visit_expr(expr, &mut |node| found |= matches!(node, Node::Expr(e) if e == part));
    found
}

fn size(expr: &KExpr) -> usize {
    let mut nodes = 0;
    visit_expr(expr, &mut |_| nodes += 1);
    nodes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::text::{parse, print};

    fn shared(body: &str) -> String {
        let text = format!(
            "module m\n\nkernel k over AllCells() {{\n  param h: Scalar On AllCells()\n  param q: Scalar On AllCells()\n  result r: Scalar On AllCells()\n{body}}}\n\nmain {{\n}}\n"
        );
        let mut module = parse(&text).unwrap_or_else(|error| panic!("{error:?}\n{text}"));
        let sets = module.sets.clone();
        share_across_branches(&mut module.kernels[0], &sets);
        print(&module)
    }

    /// Both branches of another choice ask for the quotient where it is wet: it is made once, and
    /// only there.
    #[test]
    fn what_two_branches_ask_for_is_made_before_them_with_their_condition() {
        let text = shared(
            "  body {\n    wet: Bool = (h[here] > 0.05)\n    v: Scalar = (wet ? (q[here] / h[here]) : 0.0)\n    \
             x: Scalar = ((v > 1.0) ? (wet ? ((q[here] / h[here]) * 2.0) : 3.0) : v)\n    yield x\n  }\n",
        );
        assert_eq!(text.matches("(q[here] / h[here])").count(), 1, "{text}");
        let (made, read) = (text.find("(q[here] / h[here])").unwrap(), text.find("v: Scalar").unwrap());
        assert!(text.contains("if wet {") && made < read, "{text}");
    }

    /// A choice and a later one by the same condition are two branches for the target's compiler.
    #[test]
    fn choices_by_one_condition_share_too() {
        let text = shared(
            "  body {\n    wet: Bool = (h[here] > 0.05)\n    v: Scalar = (wet ? (q[here] / h[here]) : 0.0)\n    \
             x: Scalar = (wet ? ((q[here] / h[here]) * 2.0) : 3.0)\n    yield (v + x)\n  }\n",
        );
        assert_eq!(text.matches("(q[here] / h[here])").count(), 1, "{text}");
        assert!(text.find("if wet {") < text.find("v: Scalar"), "{text}");
    }

    /// One branch alone keeps what it asks for, however often.
    #[test]
    fn one_branch_keeps_what_it_alone_asks_for() {
        let body = "  body {\n    x: Scalar = ((h[here] > 0.05) ? ((q[here] / h[here]) * (q[here] / h[here])) : 3.0)\n    yield x\n  }\n";
        let text = shared(body);
        assert!(!text.contains("quotient") && text.matches("(q[here] / h[here])").count() == 2, "{text}");
    }

    /// Nothing of a neighbour is asked for before it is known that there is one.
    #[test]
    fn what_does_not_change_leaves_a_sum_and_what_may_not_exist_stays() {
        let text = shared(
            "  body {\n    s: Scalar = sum faces f of here {\n      t: Scalar = if member(f, InteriorFaces()) {\n        \
             yield ((sqrt(h[here]) * (q[first(f)] / h[second(f)])) + ((h[here] > 1.0) ? (q[first(f)] / h[second(f)]) : 0.0))\n      } else {\n        \
             yield sqrt(h[here])\n      }\n      yield t\n    }\n    yield s\n  }\n",
        );
        let place = |what: &str| text.find(what).unwrap_or_else(|| panic!("{what}\n{text}"));
        assert!(place("sqrt(h[here])") < place("sum faces f"), "{text}");
        assert_eq!((text.matches("sqrt(").count(), text.matches("(q[first(f)] / h[second(f)])").count()), (1, 1), "{text}");
        assert!(place("(q[first(f)] / h[second(f)])") > place("if member(f"), "{text}");
    }
}
