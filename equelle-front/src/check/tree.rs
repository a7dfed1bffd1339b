//! The typed tree, as far as it is made.

use crate::typed::captures::{self, Captures, reads_and_writes};
use crate::typed::{Expr, Function, FunctionId, Stmt, StmtKind, TreeType, VarId, Variable};

/// Variables and functions of the typed tree.
#[derive(Default)]
pub(super) struct Tree {
    pub variables: Vec<Variable>,
    pub functions: Vec<Function>,
    /// Captures of the first functions, as far as they were asked for.
    pub captures: Vec<Captures>,
}

impl Tree {
    pub fn variable(&self, id: VarId) -> &Variable {
        &self.variables[id.0 as usize]
    }

    pub fn variable_mut(&mut self, id: VarId) -> &mut Variable {
        &mut self.variables[id.0 as usize]
    }

    pub fn function(&self, id: FunctionId) -> &Function {
        &self.functions[id.0 as usize]
    }

    /// Brings `captures` up to the last function.
    pub fn extend_captures(&mut self) {
        captures::extend(&mut self.captures, &self.functions, &self.variables);
    }

    /// True if an expression gives its value only.
    pub fn may_be_repeated(&mut self, expr: &Expr) -> bool {
        self.extend_captures();
        let statement = [Stmt { kind: StmtKind::Discard(expr.clone()), span: expr.span }];
        let does = reads_and_writes(&self.captures, &statement);
        does.writes.is_empty() && !does.outputs
    }

    /// The type of a result that these variables come with.
    pub fn with_given(&self, result: &TreeType, given: &[VarId]) -> TreeType {
        if given.is_empty() {
            return result.clone();
        }
        let given = given.iter().flat_map(|var| self.variable(*var).ty.elements());
        TreeType::Array(result.elements().iter().chain(given).copied().collect())
    }
}
