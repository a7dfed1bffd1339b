//! Memory check before any input is read.

use std::sync::Arc;

use super::context::RunContext;
use super::grid_domains::GridDomains;
use crate::entity::{CanonicalSet, EntityKind, Extent};
use crate::error::{Error, ErrorKind};
use crate::input::Inputs;
use crate::input::choice::GivenBy;
use crate::memory::{self, Estimate, MemoryPlan};
use crate::program::{InputKind, TableColumns};
use crate::report::bytes;

/// Compares the memory that a run plans with what it may take.
pub struct MemoryCheck<'s> {
    pub(super) plan: &'s mut Option<Arc<MemoryPlan>>,
    pub(super) grid: &'s mut GridDomains,
    pub(super) inputs: &'s mut Inputs,
    pub(super) run: &'s mut RunContext,
}

impl MemoryCheck<'_> {
    /// Compares the memory plan of a program with `memory_limit`, or else with the available
    /// memory. `real` is the size in bytes of a number in a collection.
    ///
    /// # Errors
    /// `Data`, with sizes, if it cannot fit; sets of unknown size do not count. An illegal limit.
    pub fn plan(&mut self, plan: MemoryPlan, real: usize) -> Result<(), Error> {
        let plan = Arc::new(plan);
        *self.plan = Some(Arc::clone(&plan));
        let limit = self.run.parameters.text("memory_limit").map(|text| memory::parse_size("memory_limit", text)).transpose()?;
        let Some(available) = limit.or_else(memory::available) else { return Ok(()) };
        let estimate = self.estimate(&plan, real)?;
        if estimate.certain() > available {
            let message = format!(
                "the run needs about {} of memory, {} {}:\n{}",
                bytes(estimate.certain()),
                bytes(available),
                if limit.is_some() { "are allowed by memory_limit" } else { "are available" },
                estimate.table().trim_end()
            );
            let hint = "use a coarser grid or a machine with more memory; `memory_limit=SIZE` sets another limit, such as 16GiB";
            return Err(Error::new(ErrorKind::Data, message).hint(hint));
        }
        if estimate.most() > available {
            self.run.progress.warning(&format!(
                "the run may need {} of memory, {} are available",
                bytes(estimate.most()),
                bytes(available)
            ));
        }
        Ok(())
    }

    /// Largest planned size in bytes of all collections and entries of Jacobians, with the sizes of
    /// the sets read so far; `None` without a plan.
    ///
    /// # Errors
    /// As for [`Session::domain`](super::Session::domain).
    pub fn collections(&mut self, real: usize) -> Result<Option<u64>, Error> {
        let Some(plan) = self.plan.clone() else { return Ok(None) };
        let estimate = self.estimate(&plan, real)?;
        let collections: u64 = estimate.collections.iter().chain(&estimate.at_most).map(|(_, bytes)| bytes).sum();
        Ok(Some(collections + estimate.jacobians))
    }

    /// Planned size in bytes of patterns of Jacobians; `None` without a plan.
    ///
    /// # Errors
    /// As for [`Session::domain`](super::Session::domain).
    pub fn patterns(&mut self, real: usize) -> Result<Option<u64>, Error> {
        let Some(plan) = self.plan.clone() else { return Ok(None) };
        Ok(Some(self.estimate(&plan, real)?.patterns))
    }

    fn estimate(&mut self, plan: &MemoryPlan, real: usize) -> Result<Estimate, Error> {
        let interior = CanonicalSet { kind: EntityKind::Face, extent: Extent::Interior };
        let of_solves = plan.solves.iter().flat_map(|solve| &solve.unknowns).copied();
        let mut sets: Vec<CanonicalSet> =
            plan.collections.iter().map(|s| s.set).chain(plan.positions.iter().copied()).chain(of_solves).collect();
        sets.extend(plan.positions.iter().map(|set| CanonicalSet { extent: Extent::All, ..*set }));
        sets.push(interior);
        sets.sort_unstable();
        sets.dedup();
        let mut lens = Vec::with_capacity(sets.len());
        for set in sets {
            // A set that the grid lacks is an error where the program uses it.
            let len = self.grid.canonical(set, self.run).map_or(0, |domain| domain.len());
            lens.push((set, len as u64));
        }
        let len = |set: CanonicalSet| lens.iter().find(|(s, _)| *s == set).map_or(0, |(_, len)| *len);
        let known = |name: &str| self.inputs.domain_len(name).map(|len| len as u64);
        let multigrid = match (self.run.parameters.text("solver"), self.run.parameters.text("preconditioner")) {
            (_, Some("amg")) => memory::Multigrid::Yes,
            (Some("lu"), _) => memory::Multigrid::No,
            (_, None | Some("auto")) => memory::Multigrid::Maybe,
            (_, Some(_)) => memory::Multigrid::No,
        };
        let sizes = memory::Sizes { grid: (&**self.grid.grid()).into(), real: real as u64, len: &len, multigrid, known: &known };
        let mut estimate = Estimate::of(plan, &sizes);
        for input in self.run.program.inputs.iter().filter(|input| input.kind.is_collection()) {
            let per_element = self.inputs.given(&self.run.parameters, &input.name, &input.kind)? != GivenBy::Value;
            let bytes = match input.kind {
                InputKind::Vectors => 8 * self.grid.grid().dim() as u64,
                InputKind::Bools => 1,
                InputKind::Scalar | InputKind::Collection | InputKind::Domain | InputKind::Sequence | InputKind::Table(_) => 8,
            };
            let set = plan.collections.iter().find(|set| set.name == input.domain && set.canonical);
            if let (true, Some(set)) = (per_element, set) {
                estimate.inputs += bytes * len(set.set);
            }
        }
        for input in &self.run.program.inputs {
            // An error in its file is reported where the program reads it.
            let InputKind::Table(TableColumns { argument, second, value }) = &input.kind else { continue };
            let name = &input.name;
            if let Some(second) = second {
                let table = self.inputs.table2(&self.run.parameters, name, [&argument.name, &second.name], &value.name);
                estimate.inputs += table.map_or(0, |table| table.parts().iter().map(|part| size_of_val(part.numbers()) as u64).sum());
            } else if let Ok(table) = self.inputs.table(&self.run.parameters, name, &argument.name, &value.name) {
                estimate.inputs += size_of_val(table.numbers()) as u64;
            }
        }
        Ok(estimate)
    }
}
