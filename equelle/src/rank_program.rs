//! Programs with the exchanges that they need on several ranks.

use equelle_front::ir::{AxisRules, Block, KernelId, Module, StmtKind, ValueId};
use equelle_front::passes;
use equelle_front::passes::halo::{HaloLayers, HaloRefusal};
use equelle_front::source::SourceMap;
use equelle_front::verify::halo::HaloDepths;
use equelle_front::verify::{self, Verified, VerifyError};
use equelle_interp::Poison;
use equelle_runtime::{Error, ErrorKind, HaloNeeds, RankRefusal};

use crate::failure::Failure;

/// A program with the exchanges that it needs on ranks.
#[derive(Clone, Debug)]
pub struct RankProgram {
    verified: Verified,
    halo: HaloLayers,
    needs: HaloNeeds,
    /// Layers to which values are right.
    depths: HaloDepths,
    /// Set where tests make values wrong beyond these layers.
    poison: Option<u64>,
}

/// An error of a program that is to run on ranks.
#[derive(Clone, Debug)]
pub enum RankProgramError {
    /// It has a construct that does not run on ranks.
    Refused(HaloRefusal),
    /// The exchanges are not those that it needs: a defect of ours.
    Invalid(Vec<VerifyError>),
}

impl RankProgramError {
    /// For the user, with the line.
    pub fn into_failure(self, source: &SourceMap) -> Failure {
        match self {
            RankProgramError::Refused(HaloRefusal { span, construct }) => {
                let line = source.line(span.start);
                let (file, own) = source.file_and_line(line);
                let place = format!("{}:{own}: {}", source.file(file).name(), source.line_text(line).trim());
                let refusal = RankRefusal { construct: construct.to_string().into(), line };
                Error::new(ErrorKind::Usage, format!("{refusal}\n --> {place}")).into()
            }
            RankProgramError::Invalid(errors) => Failure::Internal(invalid(&errors)),
        }
    }
}

/// The message of exchanges that are not those that a program needs.
pub(crate) fn invalid(errors: &[VerifyError]) -> String {
    let lines: Vec<String> = errors.iter().map(|error| format!("\n  {error}")).collect();
    format!("the IR is not valid{}", lines.concat())
}

/// Calls a function for every launch in a block.
fn visit_launches(block: &Block, visit: &mut dyn FnMut(KernelId, &[ValueId])) {
    for statement in &block.statements {
        match &statement.kind {
            StmtKind::Launch { kernel, results, .. } => visit(*kernel, results),
            StmtKind::For { body, .. } => visit_launches(body, visit),
            StmtKind::Let { .. } | StmtKind::Store { .. } | StmtKind::Output { .. } | StmtKind::Return(_) => {}
        }
    }
}

impl RankProgram {
    /// Inserts the exchanges that a program needs, and proves that none is missing.
    ///
    /// # Errors
    /// For a program that cannot run on ranks.
    pub fn new(verified: &Verified) -> Result<RankProgram, RankProgramError> {
        let mut module = verified.module().clone();
        let halo = passes::for_ranks(&mut module).map_err(RankProgramError::Refused)?;
        let axes = AxisRules::from_module(&module);
        let depths = verify::halo::check(&module, halo.layers).map_err(RankProgramError::Invalid)?;
        let verified = verify::verify(module).map_err(RankProgramError::Invalid)?;
        let cuts = std::array::from_fn(|axis| axes.may_be_cut(axis));
        let needs = HaloNeeds { layers: halo.layers, cuts, wraps: axes.wraps };
        Ok(RankProgram { verified, halo, needs, depths, poison: None })
    }

    /// For tests: values are made wrong beyond the layers to which the verifier proves that they
    /// are right, by a seed.
    pub fn poisoned(self, seed: u64) -> RankProgram {
        RankProgram { poison: Some(seed), ..self }
    }

    /// For tests: other statements with the same values, whose exchanges nobody has proved to be
    /// enough. Where values are right is told by the statements before.
    ///
    /// # Errors
    /// The module is not valid.
    pub fn with_unproven(&self, module: Module) -> Result<RankProgram, RankProgramError> {
        Ok(RankProgram { verified: verify::verify(module).map_err(RankProgramError::Invalid)?, ..self.clone() })
    }

    /// The wrong values of its interpreter.
    pub(crate) fn poison(&self) -> Option<Poison<'_>> {
        self.poison.map(|seed| Poison { depths: &self.depths, seed })
    }

    /// Layers of a rank's halo in which the results of each kernel are right: as far as any launch
    /// gets them, and all layers for kernels of residuals. `[n_kernels]`
    pub(crate) fn halo_layers(&self) -> Vec<u32> {
        let module = self.verified.module();
        let mut layers = vec![None; module.kernels.len()];
        visit_launches(&module.main.body, &mut |kernel, results| {
            let right = results.iter().map(|&result| self.depths.defined(result)).max();
            layers[kernel.0 as usize] = layers[kernel.0 as usize].max(right);
        });
        for function in &module.functions {
            visit_launches(&function.body, &mut |kernel, _| layers[kernel.0 as usize] = None);
        }
        layers.into_iter().map(|right| right.unwrap_or(self.needs.layers)).collect()
    }

    /// Its IR.
    pub fn verified(&self) -> &Verified {
        &self.verified
    }

    /// Its IR alone.
    pub(crate) fn into_verified(self) -> Verified {
        self.verified
    }

    /// Layers and exchanges.
    pub fn halo(&self) -> &HaloLayers {
        &self.halo
    }

    /// Needs that decide how grids are cut.
    pub fn needs(&self) -> HaloNeeds {
        self.needs
    }
}
