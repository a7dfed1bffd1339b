//! `On` (gather) and `Extend` (zeros where there is nothing).

use std::sync::Arc;

use equelle_runtime::domain::Domain;
use equelle_runtime::{Error, ErrorKind};

use crate::runtime::executor::arguments::Call;
use crate::runtime::operations::arithmetic::{Computed, Extent, Numbers, Of};
use crate::runtime::runtime::CudaRuntime;
use crate::runtime::values::collections::{BoolCollection, EntityCollection};

impl CudaRuntime {
    /// A call for the positions of the target's entities in the domain of data.
    fn gather(&mut self, name: &'static str, from: &Arc<Domain>, target: &EntityCollection) -> Result<Call, Error> {
        let ranks = self.ranks(from)?;
        Ok(self.operation(name)?.arg(target.domain().len() as u32).arg(target.pointer()).arg(ranks))
    }

    /// Numbers or Vectors at the target's entities, with their derivatives.
    pub(crate) fn on_numbers(
        &mut self,
        components: usize,
        from: &Arc<Domain>,
        data: &Numbers,
        target: &EntityCollection,
    ) -> Result<Computed, Error> {
        let extent = Extent { n: target.domain().len(), components, of: Of::Collection };
        let buffer = self.room_for(target.domain().name(), extent)?;
        let checks = self.gather_checks(from, target)?;
        let call = self.gather("equelle_on", from, target)?.arg(data.operand).arg(buffer.address()).arg(checks);
        self.launch_extent(call, extent);
        let jacobians = self.rows_on(components, from, data, target)?;
        Ok(Computed { buffer, jacobians })
    }

    /// Bools at the target's entities.
    pub(crate) fn gather_bools(&mut self, data: &BoolCollection, target: &EntityCollection) -> Result<BoolCollection, Error> {
        let out = self.new_bool_collection(target.domain())?;
        let checks = self.gather_checks(data.domain(), target)?;
        let call = self.gather("equelle_on_bools", data.domain(), target)?.arg(data.pointer()).arg(out.pointer()).arg(checks);
        self.executor.launch_over(call, target.domain().len())?;
        Ok(out)
    }

    /// Entities at the target's entities. Empty data stays Empty; an Empty target is an error here as everywhere.
    pub(crate) fn on_among(&mut self, data: &EntityCollection, target: &EntityCollection) -> Result<EntityCollection, Error> {
        let out = self.new_entity_collection(target.domain(), data.kind())?;
        let checks = self.gather_checks(data.domain(), target)?;
        let call = self.gather("equelle_on_entities", data.domain(), target)?.arg(data.pointer()).arg(out.pointer()).arg(checks);
        self.executor.launch_over(call, target.domain().len())?;
        Ok(out)
    }

    /// A call over a domain that holds `from`, for the positions there.
    fn scatter(&mut self, name: &'static str, from: &Arc<Domain>, domain: &Arc<Domain>) -> Result<Call, Error> {
        let checked = self.check_within(from, domain);
        self.located(checked)?;
        let (space, ranks) = (self.space(domain)?, self.ranks(from)?);
        Ok(self.operation(name)?.arg(space).arg(ranks))
    }

    /// Numbers or Vectors, zero where there are none, with their derivatives.
    pub(crate) fn extend_numbers(
        &mut self,
        components: usize,
        from: &Arc<Domain>,
        data: &Numbers,
        domain: &Arc<Domain>,
    ) -> Result<Computed, Error> {
        let extent = Extent { n: domain.len(), components, of: Of::Collection };
        let buffer = self.room_for(domain.name(), extent)?;
        let call = self.scatter("equelle_extend", from, domain)?.arg(data.operand).arg(buffer.address());
        self.launch_extent(call, extent);
        let jacobians = self.rows_extended(components, from, data, domain)?;
        Ok(Computed { buffer, jacobians })
    }

    /// Bools, false where there are none.
    pub(crate) fn scatter_bools(&mut self, data: &BoolCollection, domain: &Arc<Domain>) -> Result<BoolCollection, Error> {
        let out = self.new_bool_collection(domain)?;
        let call = self.scatter("equelle_extend_bools", data.domain(), domain)?.arg(data.pointer()).arg(out.pointer());
        self.executor.launch_over(call, domain.len())?;
        Ok(out)
    }

    /// Entities, Empty where there are none.
    pub(crate) fn extend_among(&mut self, data: &EntityCollection, domain: &Arc<Domain>) -> Result<EntityCollection, Error> {
        let out = self.new_entity_collection(domain, data.kind())?;
        let call = self.scatter("equelle_extend_entities", data.domain(), domain)?.arg(data.pointer()).arg(out.pointer());
        self.executor.launch_over(call, domain.len())?;
        Ok(out)
    }

    /// Every element of `from` must be in `domain`. Looked at once for each pair.
    fn check_within(&mut self, from: &Arc<Domain>, domain: &Arc<Domain>) -> Result<(), Error> {
        if self.grid.sets.known_within(from, domain) {
            return Ok(());
        }
        let absent = if domain.is_all() { None } else { from.elements().iter().find(|&&entity| domain.rank(entity).is_none()) };
        if let Some(&entity) = absent {
            let entity = from.grid().file_index(from.kind(), entity);
            let message = format!("`Extend` cannot place {} {entity}: the larger domain does not hold it", from.kind().noun());
            return Err(Error::new(ErrorKind::Simulation, message).hint("extend to a domain that holds the data's whole domain"));
        }
        self.grid.sets.note_within(from, domain);
        Ok(())
    }
}

/// Whether two domains have the same elements.
pub(crate) fn same_domain(a: &Arc<Domain>, b: &Arc<Domain>) -> bool {
    Arc::ptr_eq(a, b) || a.same_elements(b)
}
