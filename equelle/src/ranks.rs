//! Programs with the exchanges that they need on several ranks, and their interpretation there.

use std::sync::Arc;

use equelle_front::ir::AxisRules;
use equelle_front::passes;
use equelle_front::passes::halo::{HaloLayers, HaloRefusal};
use equelle_front::source::SourceMap;
use equelle_front::verify::{self, Verified, VerifyError};
use equelle_runtime::rank_run;
pub use equelle_runtime::rank_run::ThreadRanks;
use equelle_runtime::ranks::RankProgress;
use equelle_runtime::session::Options;
use equelle_runtime::{Error, ErrorKind, HaloNeeds, Program, RankRefusal, Session};

use crate::failure::Failure;
use crate::interpret::{Kernels, run_in};

/// A program with the exchanges that it needs on ranks.
#[derive(Clone, Debug)]
pub struct RankProgram {
    verified: Verified,
    halo: HaloLayers,
    needs: HaloNeeds,
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

impl RankProgram {
    /// Inserts the exchanges that a program needs, and proves that none is missing.
    ///
    /// # Errors
    /// For a program that cannot run on ranks.
    pub fn new(verified: &Verified) -> Result<RankProgram, RankProgramError> {
        let mut module = verified.module().clone();
        let halo = passes::for_ranks(&mut module).map_err(RankProgramError::Refused)?;
        let axes = AxisRules::from_module(&module);
        verify::halo::check(&module, halo.layers).map_err(RankProgramError::Invalid)?;
        let verified = verify::verify(module).map_err(RankProgramError::Invalid)?;
        let cuts = std::array::from_fn(|axis| axes.may_be_cut(axis));
        let needs = HaloNeeds { layers: halo.layers, cuts, wraps: axes.wraps };
        Ok(RankProgram { verified, halo, needs })
    }

    /// Its IR.
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

/// Interprets a program on ranks, with parameters as on the command line of a simulator; the
/// progress of each rank. `prepare` changes the session of rank 0 before it begins.
///
/// # Errors
/// As for [`rank_run::run`].
pub fn run(
    kernels: Kernels,
    program: &Arc<Program>,
    compiled: &RankProgram,
    words: &[String],
    options: Options,
    ranks: &ThreadRanks,
    prepare: &(dyn Fn(&mut Session) + Sync),
) -> Result<Vec<Arc<RankProgress>>, Error> {
    if let Some(option) = words.iter().find(|word| word.starts_with('-')) {
        return Err(Error::new(ErrorKind::Usage, format!("there is no option `{option}`")).hint("parameters are given as key=value"));
    }
    let options = Options { back_end: kernels.back_end(), ..options };
    rank_run::run(program, compiled.needs, words, options, ranks, &|mut session| {
        if session.rank().is_some_and(equelle_runtime::ranks::RankContext::is_root) {
            prepare(&mut session);
        }
        run_in(kernels, &compiled.verified, session)
    })
}
