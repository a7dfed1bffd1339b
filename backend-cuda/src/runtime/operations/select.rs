//! The ternary operator: per element the value of one branch; the other one is not read.

use std::sync::Arc;

use equelle_runtime::Error;
use equelle_runtime::domain::Domain;

use crate::runtime::operations::arithmetic::{Computed, Extent, Numbers};
use crate::runtime::operations::bools::BoolOperand;
use crate::runtime::runtime::CudaRuntime;
use crate::runtime::values::collections::{BoolCollection, EntityCollection};

impl CudaRuntime {
    /// Of numbers or Vectors, with the derivatives of the branch chosen.
    pub(crate) fn select_numbers(
        &mut self,
        extent: Extent,
        condition: &BoolCollection,
        a: &Numbers,
        b: &Numbers,
    ) -> Result<Computed, Error> {
        let buffer = self.room_for("the result of an operation", extent)?;
        let truths = BoolOperand::each(condition);
        let call = self.operation("equelle_select")?.arg(extent.n as u32).arg(truths.operand);
        self.launch_extent(call.arg(a.operand).arg(b.operand).arg(buffer.address()), extent);
        let jacobians = self.select_rows(extent, condition, a, b)?;
        Ok(Computed { buffer, jacobians })
    }

    /// Of truth values.
    pub(crate) fn choose_bools(
        &mut self,
        condition: &BoolCollection,
        a: &BoolCollection,
        b: &BoolCollection,
    ) -> Result<BoolCollection, Error> {
        let domain: Arc<Domain> = Arc::clone(condition.domain());
        let out = self.new_bool_collection(&domain)?;
        let [condition, a, b] = [condition, a, b].map(BoolOperand::each);
        let call = self.operation("equelle_select_bools")?.arg(domain.len() as u32);
        let call = call.arg(condition.operand).arg(a.operand).arg(b.operand).arg(out.pointer());
        self.executor.launch_over(call, domain.len())?;
        Ok(out)
    }

    /// Of entities of one kind.
    pub(crate) fn select_among(
        &mut self,
        condition: &BoolCollection,
        a: &EntityCollection,
        b: &EntityCollection,
    ) -> Result<EntityCollection, Error> {
        let domain: Arc<Domain> = Arc::clone(condition.domain());
        let out = self.new_entity_collection(&domain, a.kind())?;
        let call = self.operation("equelle_select_entities")?.arg(domain.len() as u32);
        let call = call.arg(BoolOperand::each(condition).operand).arg(a.pointer()).arg(b.pointer()).arg(out.pointer());
        self.executor.launch_over(call, domain.len())?;
        Ok(out)
    }
}
