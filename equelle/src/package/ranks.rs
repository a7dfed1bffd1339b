//! Exchanges of a package: its programs run on any number of ranks.

use std::collections::BTreeSet;

use equelle_front::backend::BackendError;
use equelle_front::ir::{Block, FunctionId, Module, Op, StmtKind};
use equelle_front::verify::Verified;
use equelle_runtime::{RankNeeds, RankRefusal};

use crate::rank_program::{RankProgram, RankProgramError, invalid};

/// A program as its package has it.
pub(super) struct PackagedProgram {
    /// With exchanges, where it runs on several ranks.
    pub verified: Verified,
    pub ranks: RankNeeds,
    /// Layers of a rank's halo in which the results of each kernel are right. `[n_kernels]`
    pub halo_layers: Vec<u32>,
}

impl PackagedProgram {
    /// Inserts the exchanges that a program needs. One with functions that are no residuals stays
    /// as it is: where values are right is known without calls alone.
    ///
    /// # Errors
    /// A defect of ours.
    pub fn new(verified: &Verified) -> Result<PackagedProgram, BackendError> {
        let module = verified.module();
        if !has_residuals_alone(module) {
            return Ok(PackagedProgram::alone(verified, RankNeeds::Unknown));
        }
        match RankProgram::new(verified) {
            Ok(program) => Ok(PackagedProgram {
                ranks: RankNeeds::Halo(program.needs()),
                halo_layers: program.halo_layers(),
                verified: program.into_verified(),
            }),
            Err(RankProgramError::Refused(refusal)) => {
                let line = if module.source.text().is_empty() { 0 } else { module.source.line(refusal.span.start) };
                let refusal = RankRefusal { construct: refusal.construct.to_string().into(), line };
                Ok(PackagedProgram::alone(verified, RankNeeds::Refused(refusal)))
            }
            Err(RankProgramError::Invalid(errors)) => Err(BackendError::internal(module.main.span, invalid(&errors))),
        }
    }

    /// A program that runs in one process alone.
    fn alone(verified: &Verified, ranks: RankNeeds) -> PackagedProgram {
        PackagedProgram { verified: verified.clone(), ranks, halo_layers: vec![0; verified.module().kernels.len()] }
    }
}

/// True if all functions are residuals of solves, and nothing calls one.
fn has_residuals_alone(module: &Module) -> bool {
    fn note(block: &Block, residuals: &mut BTreeSet<FunctionId>) -> bool {
        block.statements.iter().all(|statement| match &statement.kind {
            StmtKind::Let { op, .. } => {
                if let Op::Newton { residuals: of_solve, .. } = op {
                    residuals.extend(of_solve);
                }
                !matches!(op, Op::Call { .. })
            }
            StmtKind::For { body, .. } => note(body, residuals),
            StmtKind::Store { .. } | StmtKind::Output { .. } | StmtKind::Launch { .. } | StmtKind::Return(_) => true,
        })
    }
    let mut residuals = BTreeSet::new();
    let calls_nothing = module.functions.iter().chain([&module.main]).all(|function| note(&function.body, &mut residuals));
    calls_nothing && residuals.len() == module.functions.len()
}
