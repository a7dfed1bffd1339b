//! Divisions by numbers that are the same for every cell, in large bodies.
//!
//! A division branches on the device, and loads do not move across branches. By a number that is
//! the same for every cell it is a few products without a branch and has the same bits
//! (`prelude/divisions.cuh`), unless an operand is very large or small: that is noted, and the cell
//! is computed again.

use std::collections::BTreeSet;

use equelle_front::backend::visit::{Node, visit_block, visit_expr};
use equelle_front::ir::{KBlock, KExpr, KStmt, LocalId};
use equelle_front::ops::Arithmetic;
use equelle_front::types::Basic;

use super::text::Text;
use super::writer::Writer;

/// Divisions from which a body is worth writing twice.
const WORTH_IT: usize = 8;

impl Writer<'_> {
    /// The divisors of a block that are the same for every cell, where divisions by them are so
    /// many; those that have names, or all.
    fn divisors(&self, block: &KBlock, least: usize, named: bool) -> Option<Vec<KExpr>> {
        let invariant = invariant_locals(block);
        let (mut divisors, mut count) = (Vec::new(), 0);
        visit_block(block, &mut |node| {
            if let Node::Expr(KExpr::Arithmetic(Arithmetic::Div, a, b)) = node
                && (!named || matches!(**b, KExpr::Real(_) | KExpr::Param(_) | KExpr::Local(_)))
                && is_invariant(b, &invariant)
                && !is_invariant(a, &invariant)
                && self.kernel.expr_basic(a) == Basic::Scalar
            {
                count += 1;
                if !divisors.contains(&**b) {
                    divisors.push((**b).clone());
                }
            }
        });
        (count >= least).then_some(divisors)
    }

    /// Writes a body twice, if that is worth it: without branches in divisions, and as it is for
    /// cells with numbers that this is not for.
    pub(in crate::codegen) fn with_divisions(&mut self, block: &KBlock, body: impl Fn(&mut Self)) {
        let Some(divisors) = self.divisors(block, WORTH_IT, true) else { return body(self) };
        self.name_inverses(&divisors);
        for divisor in divisors.iter().filter(|divisor| !matches!(divisor, KExpr::Local(_))) {
            self.define_inverse(divisor);
        }
        body(self);
        self.inverses.clear();
        self.open("if (rare) {");
        // Else all values of the first body wait for the second one.
        self.line("eq_forget(cell);");
        body(self);
        self.close("}");
    }

    fn name_inverses(&mut self, divisors: &[KExpr]) {
        self.line("bool rare = false;");
        let named = |w: &mut Self, divisor: &KExpr| {
            let text = w.expr(divisor);
            let base = if text.is_name() { text.to_string() } else { "divisor".to_owned() };
            w.names.fresh(&format!("{base}_inverse"))
        };
        self.inverses = divisors.iter().map(|divisor| (divisor.clone(), named(self, divisor))).collect();
    }

    /// Writes the statements of a block that are the same for every cell, with the inverses of its
    /// divisors. What remains of the block, and whether it has divisions by these.
    pub(in crate::codegen) fn same_for_every_cell(&mut self, block: &KBlock) -> (KBlock, bool) {
        let divisors = self.divisors(block, 1, false);
        if let Some(divisors) = &divisors {
            self.name_inverses(divisors);
        }
        let locals = invariant_locals(block);
        let is_same = |statement: &&KStmt| matches!(statement, KStmt::Let { local, .. } if locals.contains(local));
        block.statements.iter().filter(is_same).for_each(|statement| self.statement(statement));
        for divisor in divisors.iter().flatten().filter(|divisor| !matches!(divisor, KExpr::Local(_))) {
            self.define_inverse(divisor);
        }
        if divisors.is_some() {
            self.line("const bool rare_divisor = rare;");
        }
        let statements = block.statements.iter().filter(|statement| !is_same(statement)).cloned().collect();
        (KBlock { statements, yields: block.yields.clone() }, divisors.is_some())
    }

    /// Defines the inverse of what has just been defined, if it is a divisor.
    pub(in crate::codegen) fn define_inverse(&mut self, divisor: &KExpr) {
        let Some(inverse) = self.inverse(divisor) else { return };
        let divisor = self.expr(divisor);
        let text = format!("const {} {inverse} = eq_inverse({}, rare);", self.reals.number(), divisor.bare());
        self.line(&text);
    }

    fn inverse(&self, divisor: &KExpr) -> Option<String> {
        self.inverses.iter().find(|(known, _)| known == divisor).map(|(_, name)| name.clone())
    }

    /// The quotient of two Scalars, if it is one without branches.
    pub(in crate::codegen) fn quotient(&mut self, a: &KExpr, b: &KExpr) -> Option<Text> {
        let inverse = self.inverse(b)?;
        if matches!(a, KExpr::Real(_) | KExpr::Param(_)) || self.kernel.expr_basic(a) != Basic::Scalar {
            return None;
        }
        let (a, b) = (self.expr(a), self.expr(b));
        Some(Text::atom(format!("eq_divide_by({}, {}, {inverse}, rare)", a.bare(), b.bare())))
    }
}

/// Locals of a block that are made of numbers and Scalars alone.
fn invariant_locals(block: &KBlock) -> BTreeSet<LocalId> {
    let mut invariant: BTreeSet<LocalId> = BTreeSet::new();
    for statement in &block.statements {
        if let KStmt::Let { local, value } = statement
            && is_invariant(value, &invariant)
        {
            invariant.insert(*local);
        }
    }
    invariant
}

/// Made of numbers and Scalars alone.
fn is_invariant(expr: &KExpr, locals: &BTreeSet<LocalId>) -> bool {
    let mut invariant = true;
    visit_expr(expr, &mut |node| {
        invariant &= match node {
            Node::Expr(KExpr::Local(id)) => locals.contains(id),
            Node::Expr(KExpr::Real(_) | KExpr::Param(_) | KExpr::Unary(..) | KExpr::Arithmetic(..)) => true,
            Node::Expr(_) | Node::Path(_) | Node::Stmt(_) => false,
        };
    });
    invariant
}
