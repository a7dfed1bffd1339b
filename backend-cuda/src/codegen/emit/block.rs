//! Statements of kernels.

use equelle_front::ir::{KBlock, KExpr, KStmt, LocalId, Path};
use equelle_front::ops::FaceReduction;

use super::operators::prelude_function;
use super::text::Text;
use super::writer::Writer;

/// A reduction with its results, and of an extreme their faces where they are asked for.
pub(in crate::codegen) type Reduced<'a> = (FaceReduction, &'a [LocalId], &'a [LocalId]);

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
                self.define_inverse(&KExpr::Local(*local));
                self.store_early(*local);
            }
            KStmt::LetEntity { local, path } => {
                if self.is_cell_around(*local, path) {
                    return;
                }
                let entity = self.path(path);
                let text = format!("const EqEntity {} = {entity};", self.local(*local));
                self.line(&text);
            }
            KStmt::ReduceFaces { reduction, results, extreme_faces, cell, face, only, body } => {
                self.extreme_faces(extreme_faces);
                self.reduce_faces((*reduction, results, extreme_faces), cell, (*face, *only), body)
            }
            KStmt::Add { unknown, at, value } => self.add(*unknown, at, value),
            KStmt::ReduceSides { reduction, results, extreme_faces, low, high } => {
                self.extreme_faces(extreme_faces);
                for &result in results {
                    let text =
                        format!("{} {} = {};", self.reals.number(), self.local(result), self.reals.literal(reduction.start()).bare());
                    self.line(&text);
                }
                if self.loads_neighbours_first {
                    self.load_neighbours(low, high);
                }
                self.line("#pragma unroll");
                self.open("for (int axis = 0; axis < DIM; ++axis) {");
                self.side((*reduction, results, extreme_faces), low, 0);
                self.side((*reduction, results, extreme_faces), high, 1);
                self.close("}");
                // Those of a row stay: they were loaded for all sums.
                if !self.row {
                    self.neighbours.clear();
                }
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

    /// Variables for the faces that extremes are of.
    fn extreme_faces(&mut self, faces: &[LocalId]) {
        for &face in faces {
            let text = format!("EqEntity {} = EQ_NONE;", self.local(face));
            self.line(&text);
        }
    }

    /// Takes the term of a face into an extreme; `found` is the variable for its face, if that is
    /// asked for.
    pub(in crate::codegen) fn take_in_extreme(
        &mut self,
        reduction: FaceReduction,
        (result, found): (LocalId, Option<LocalId>),
        face: &Path,
        term: &Text,
    ) {
        let (Some(extreme), Some(stays)) = (reduction.extreme(), reduction.stays()) else { return };
        let name = self.local(result).to_owned();
        let Some(found) = found else {
            let text = format!("{name} = {}({name}, {});", prelude_function(extreme.word()), term.bare());
            return self.line(&text);
        };
        let local = self.names.fresh(&format!("{name}_term"));
        let (found, face) = (self.local(found).to_owned(), self.path(face));
        self.line(&format!("const {} {local} = {};", self.reals.number(), term.bare()));
        self.line(&format!("if (!({name} {} {local} || {name} != {name})) {found} = {};", stays.symbol(), face.bare()));
        self.line(&format!("{name} = {}({name}, {local});", prelude_function(extreme.word())));
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
