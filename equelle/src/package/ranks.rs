//! Exchanges of a package: its programs run on any number of ranks.

use equelle_front::backend::BackendError;
use equelle_front::ir::{Block, Module, Op, StmtKind};
use equelle_front::verify::Verified;
use equelle_runtime::{RankNeeds, RankRefusal};

use crate::rank_program::{RankProgram, RankProgramError, invalid};

/// A program as its package has it.
pub(super) struct PackagedProgram {
    /// With exchanges, where it runs on several ranks.
    pub verified: Verified,
    pub ranks: RankNeeds,
}

impl PackagedProgram {
    /// Inserts the exchanges that a program needs. One with calls stays as it is: where values are
    /// right is known without calls alone.
    ///
    /// # Errors
    /// A defect of ours.
    pub fn new(verified: &Verified) -> Result<PackagedProgram, BackendError> {
        let module = verified.module();
        if has_calls(module) {
            return Ok(PackagedProgram { verified: verified.clone(), ranks: RankNeeds::Unknown });
        }
        match RankProgram::new(verified) {
            Ok(program) => Ok(PackagedProgram { ranks: RankNeeds::Halo(program.needs()), verified: program.into_verified() }),
            Err(RankProgramError::Refused(refusal)) => {
                let line = if module.source.text().is_empty() { 0 } else { module.source.line(refusal.span.start) };
                let refusal = RankRefusal { construct: refusal.construct.to_string().into(), line };
                Ok(PackagedProgram { verified: verified.clone(), ranks: RankNeeds::Refused(refusal) })
            }
            Err(RankProgramError::Invalid(errors)) => Err(BackendError::internal(module.main.span, invalid(&errors))),
        }
    }
}

fn has_calls(module: &Module) -> bool {
    fn calls(block: &Block) -> bool {
        block.statements.iter().any(|statement| match &statement.kind {
            StmtKind::Let { op, .. } => matches!(op, Op::Call { .. }),
            StmtKind::For { body, .. } => calls(body),
            StmtKind::Store { .. } | StmtKind::Output { .. } | StmtKind::Launch { .. } | StmtKind::Return(_) => false,
        })
    }
    module.functions.iter().chain([&module.main]).any(|function| calls(&function.body))
}
