//! `On` (gather) and `Extend` (scatter into zeros).

use std::sync::Arc;

use equelle_runtime::Error;
use equelle_runtime::domain::Domain;

use crate::runtime::autodiff::forward;
use crate::runtime::executor::arguments::Call;
use crate::runtime::operations::arithmetic::{buffer_for, launch_extent, operation};
use crate::runtime::operations::operand::{Computed, Extent, Operand};
use crate::runtime::runtime::CudaRuntime;
use crate::runtime::values::collections::{BoolCollection, EntityCollection};

/// Prepares a call with the positions of the target's entities in the domain of data.
fn gather(rt: &mut CudaRuntime, name: &'static str, from: &Arc<Domain>, target: &EntityCollection) -> Result<Call, Error> {
    let ranks = rt.ranks(from)?;
    Ok(operation(rt, name)?.arg(target.domain().len() as u32).arg(target.pointer()).arg(ranks))
}

/// Gathers numbers or Vectors at the target's entities, with their derivatives.
pub(super) fn on_numbers(
    rt: &mut CudaRuntime,
    extent: Extent,
    from: &Arc<Domain>,
    data: &impl Operand,
    target: &EntityCollection,
) -> Result<Computed, Error> {
    let data = data.numbers(rt)?;
    let buffer = buffer_for(rt, target.domain().name(), extent)?;
    let checks = rt.conditions.gather_checks(from, rt.session.current_line(), target)?;
    let call = gather(rt, "equelle_on", from, target)?.arg(data.operand).arg(buffer.address()).arg(checks);
    launch_extent(rt, call, extent);
    let jacobians = forward::on(rt, extent, from, &data, target)?;
    Ok(Computed { buffer, jacobians })
}

/// Gathers Bools at the target's entities.
pub(super) fn on_bools(rt: &mut CudaRuntime, data: &BoolCollection, target: &EntityCollection) -> Result<BoolCollection, Error> {
    let out = rt.new_bool_collection(target.domain())?;
    let checks = rt.conditions.gather_checks(data.domain(), rt.session.current_line(), target)?;
    let call = gather(rt, "equelle_on_bools", data.domain(), target)?.arg(data.pointer()).arg(out.pointer()).arg(checks);
    rt.executor.launch_over(call, target.domain().len())?;
    Ok(out)
}

/// Gathers entities at the target's entities. Empty data stays Empty; an Empty target is an error
/// as everywhere.
pub(super) fn on_entities(rt: &mut CudaRuntime, data: &EntityCollection, target: &EntityCollection) -> Result<EntityCollection, Error> {
    let out = rt.new_entity_collection(target.domain(), data.kind())?;
    let checks = rt.conditions.gather_checks(data.domain(), rt.session.current_line(), target)?;
    let call = gather(rt, "equelle_on_entities", data.domain(), target)?.arg(data.pointer()).arg(out.pointer()).arg(checks);
    rt.executor.launch_over(call, target.domain().len())?;
    Ok(out)
}

/// Prepares a call over a domain that contains `from`, with the positions there.
fn scatter(rt: &mut CudaRuntime, name: &'static str, from: &Arc<Domain>, domain: &Arc<Domain>) -> Result<Call, Error> {
    let checked = check_within(rt, from, domain);
    rt.located(checked)?;
    let (space, ranks) = (rt.space(domain)?, rt.ranks(from)?);
    Ok(operation(rt, name)?.arg(space).arg(ranks))
}

/// Scatters numbers or Vectors, zero elsewhere, with their derivatives.
pub(super) fn extend_numbers(
    rt: &mut CudaRuntime,
    extent: Extent,
    from: &Arc<Domain>,
    data: &impl Operand,
    domain: &Arc<Domain>,
) -> Result<Computed, Error> {
    let data = data.numbers(rt)?;
    let buffer = buffer_for(rt, domain.name(), extent)?;
    let call = scatter(rt, "equelle_extend", from, domain)?.arg(data.operand).arg(buffer.address());
    launch_extent(rt, call, extent);
    let jacobians = forward::extend(rt, extent, from, &data, domain)?;
    Ok(Computed { buffer, jacobians })
}

/// Scatters Bools, false elsewhere.
pub(super) fn extend_bools(rt: &mut CudaRuntime, data: &BoolCollection, domain: &Arc<Domain>) -> Result<BoolCollection, Error> {
    let out = rt.new_bool_collection(domain)?;
    let call = scatter(rt, "equelle_extend_bools", data.domain(), domain)?.arg(data.pointer()).arg(out.pointer());
    rt.executor.launch_over(call, domain.len())?;
    Ok(out)
}

/// Scatters entities, Empty elsewhere.
pub(super) fn extend_entities(rt: &mut CudaRuntime, data: &EntityCollection, domain: &Arc<Domain>) -> Result<EntityCollection, Error> {
    let out = rt.new_entity_collection(domain, data.kind())?;
    let call = scatter(rt, "equelle_extend_entities", data.domain(), domain)?.arg(data.pointer()).arg(out.pointer());
    rt.executor.launch_over(call, domain.len())?;
    Ok(out)
}

/// Checks that every element of `from` is in `domain`, once for each pair.
fn check_within(rt: &mut CudaRuntime, from: &Arc<Domain>, domain: &Arc<Domain>) -> Result<(), Error> {
    if rt.grid.sets.known_within(from, domain) {
        return Ok(());
    }
    let absent = if domain.is_all() { None } else { from.elements().iter().find(|&&entity| domain.rank(entity).is_none()) };
    if let Some(&entity) = absent {
        return Err(Error::not_in_larger_domain(from.kind().noun(), from.grid().file_index(from.kind(), entity)));
    }
    rt.grid.sets.note_within(from, domain);
    Ok(())
}
