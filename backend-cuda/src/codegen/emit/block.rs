//! Statements of kernels.

use equelle_front::ir::{KBlock, KStmt, LocalId};

use super::writer::Writer;

impl Writer<'_> {
    /// Statements of a block; its yields are the caller's.
    pub(in crate::codegen) fn statements(&mut self, block: &KBlock) {
        for statement in &block.statements {
            self.statement(statement);
        }
    }

    pub(in crate::codegen) fn statement(&mut self, statement: &KStmt) {
        match statement {
            KStmt::Let { local, value } => {
                let ty = self.kernel.local_type(*local).map_or(self.reals.number(), |t| self.reals.value(t.basic));
                let value = self.expr(value);
                let text = format!("const {ty} {} = {};", self.local(*local), value.bare());
                self.line(&text);
            }
            KStmt::LetEntity { local, path } => {
                let entity = self.path(path);
                let text = format!("const EqEntity {} = {entity};", self.local(*local));
                self.line(&text);
            }
            KStmt::ReduceFaces { reduction, results, cell, face, only, body } => {
                self.reduce_faces(*reduction, results, cell, (*face, *only), body)
            }
            KStmt::Add { unknown, at, value } => self.add(*unknown, at, value),
            KStmt::ReduceSides { reduction, results, low, high } => {
                for &result in results {
                    let text =
                        format!("{} {} = {};", self.reals.number(), self.local(result), self.reals.literal(reduction.start()).bare());
                    self.line(&text);
                }
                self.load_neighbours(low, high);
                self.line("#pragma unroll");
                self.open("for (int axis = 0; axis < DIM; ++axis) {");
                self.side(*reduction, results, low, 0);
                self.side(*reduction, results, high, 1);
                self.close("}");
                self.neighbours.clear();
            }
            KStmt::If { results, condition, then, otherwise } => {
                for &result in results {
                    let ty = self.kernel.local_type(result).map_or(self.reals.number(), |t| self.reals.value(t.basic));
                    let text = format!("{ty} {};", self.local(result));
                    self.line(&text);
                }
                let condition = self.expr(condition);
                self.open(&format!("if ({}) {{", condition.bare()));
                self.branch(results, then);
                if !(results.is_empty() && otherwise.statements.is_empty()) {
                    self.close("} else {");
                    self.deeper();
                    self.branch(results, otherwise);
                }
                self.close("}");
            }
        }
    }

    pub(in crate::codegen) fn branch(&mut self, results: &[LocalId], block: &KBlock) {
        self.statements(block);
        for (&result, value) in results.iter().zip(&block.yields) {
            let value = self.expr(value);
            let text = format!("{} = {};", self.local(result), value.bare());
            self.line(&text);
        }
    }
}
