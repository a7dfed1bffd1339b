//! `On` (gather) and `Extend` (scatter into zeros).

use std::rc::Rc;
use std::sync::Arc;

use equelle_runtime::domain::Domain;
use equelle_runtime::grid::NONE;
use equelle_runtime::{Error, Real};

use super::SerialRuntime;
use super::allocation::{element_at, on_empty, without_value};
use super::collections::{BoolCollection, EntityCollection, ScalarCollection, VectorCollection};
use super::pool::{Buffer, Pool};
use super::vectors;

/// Gathers numbers at the target's entities.
pub(super) fn on_scalars<R: Real>(
    rt: &SerialRuntime<R>,
    data: &ScalarCollection<R>,
    target: &EntityCollection,
) -> Result<ScalarCollection<R>, Error> {
    let out = gather(&rt.reals, &data.domain, &rt.values_of(data), target)?;
    let mut out = rt.scalar_collection_from(&target.domain, out);
    if let Some(jacobian) = &data.jacobian {
        // Every rank exists, since the values were gathered.
        let rows = target.values.iter().map(|&entity| data.domain.rank(entity).map(|rank| rank as usize));
        out.jacobian = Some(Rc::new(jacobian.gather(rows)));
    }
    Ok(out)
}

/// Gathers Vectors at the target's entities.
pub(super) fn on_vectors<R: Real>(
    rt: &SerialRuntime<R>,
    data: &VectorCollection<R>,
    target: &EntityCollection,
) -> Result<VectorCollection<R>, Error> {
    vectors::map(rt, data, |component| on_scalars(rt, component, target))
}

/// Gathers Bools at the target's entities.
pub(super) fn on_bools<R: Real>(rt: &SerialRuntime<R>, data: &BoolCollection, target: &EntityCollection) -> Result<BoolCollection, Error> {
    let out = gather(&rt.bools, &data.domain, &data.values, target)?;
    Ok(rt.bool_collection_from(&target.domain, out))
}

/// Gathers entities at the target's entities. Empty data stays Empty; an Empty target is an error
/// as everywhere.
pub(super) fn on_entities<R: Real>(
    rt: &SerialRuntime<R>,
    data: &EntityCollection,
    target: &EntityCollection,
) -> Result<EntityCollection, Error> {
    let out = gather(&rt.indices, &data.domain, &data.values, target)?;
    Ok(rt.entity_collection_from(&target.domain, data.kind, out))
}

/// Scatters numbers, zero elsewhere. The result is on `domain` itself, so that ranks whose parts of
/// two domains happen to be equal go on with the same one as others.
pub(super) fn extend_scalars<R: Real>(
    rt: &SerialRuntime<R>,
    data: &ScalarCollection<R>,
    domain: &Arc<Domain>,
) -> Result<ScalarCollection<R>, Error> {
    if data.domain.same_elements(domain) {
        return Ok(ScalarCollection { domain: Arc::clone(domain), ..data.clone() });
    }
    let out = scatter(&rt.reals, &data.domain, &rt.values_of(data), domain, R::ZERO)?;
    let mut out = rt.scalar_collection_from(domain, out);
    if let Some(jacobian) = &data.jacobian {
        let rows = domain.elements().iter().map(|&entity| data.domain.rank(entity).map(|rank| rank as usize));
        out.jacobian = Some(Rc::new(jacobian.gather(rows)));
    }
    Ok(out)
}

/// Scatters Vectors, zero elsewhere.
pub(super) fn extend_vectors<R: Real>(
    rt: &SerialRuntime<R>,
    data: &VectorCollection<R>,
    domain: &Arc<Domain>,
) -> Result<VectorCollection<R>, Error> {
    if data.domain.same_elements(domain) {
        return Ok(VectorCollection { domain: Arc::clone(domain), ..data.clone() });
    }
    vectors::map(rt, data, |component| extend_scalars(rt, component, domain))
}

/// Scatters Bools, false elsewhere.
pub(super) fn extend_bools<R: Real>(rt: &SerialRuntime<R>, data: &BoolCollection, domain: &Arc<Domain>) -> Result<BoolCollection, Error> {
    if data.domain.same_elements(domain) {
        return Ok(BoolCollection { domain: Arc::clone(domain), ..data.clone() });
    }
    let out = scatter(&rt.bools, &data.domain, &data.values, domain, false)?;
    Ok(rt.bool_collection_from(domain, out))
}

/// Scatters entities, Empty elsewhere.
pub(super) fn extend_entities<R: Real>(
    rt: &SerialRuntime<R>,
    data: &EntityCollection,
    domain: &Arc<Domain>,
) -> Result<EntityCollection, Error> {
    if data.domain.same_elements(domain) {
        return Ok(EntityCollection { domain: Arc::clone(domain), ..data.clone() });
    }
    let out = scatter(&rt.indices, &data.domain, &data.values, domain, NONE)?;
    Ok(rt.entity_collection_from(domain, data.kind, out))
}

/// Broadcasts a number.
pub(super) fn broadcast<R: Real>(rt: &SerialRuntime<R>, value: R, domain: &Arc<Domain>) -> ScalarCollection<R> {
    let mut out = rt.take_buffer(domain.len());
    out.fill(value);
    rt.scalar_collection_from(domain, out)
}

/// Broadcasts a Bool.
pub(super) fn broadcast_bool<R: Real>(rt: &SerialRuntime<R>, value: bool, domain: &Arc<Domain>) -> BoolCollection {
    let mut out = rt.take_bool_buffer(domain.len());
    out.fill(value);
    rt.bool_collection_from(domain, out)
}

fn gather<T: Copy + Default>(pool: &Rc<Pool<T>>, from: &Domain, data: &[T], target: &EntityCollection) -> Result<Buffer<T>, Error> {
    let mut out = pool.take(target.values.len());
    if from.is_all() {
        // The rank of an entity is its index; Empty is an index beyond all.
        for (position, (out, &entity)) in out.iter_mut().zip(target.values.iter()).enumerate() {
            *out = match data.get(entity as usize) {
                Some(&value) => value,
                None => without_value(&target.domain, position, T::default(), || unreachable_data(target, entity, position))?,
            };
        }
        return Ok(out);
    }
    for (position, (out, &entity)) in out.iter_mut().zip(target.values.iter()).enumerate() {
        *out = match from.rank(entity) {
            Some(rank) => data[rank as usize],
            None => without_value(&target.domain, position, T::default(), || unreachable_data(target, entity, position))?,
        };
    }
    Ok(out)
}

fn scatter<T: Copy + Default>(pool: &Rc<Pool<T>>, from: &Domain, data: &[T], domain: &Domain, filler: T) -> Result<Buffer<T>, Error> {
    let mut out = pool.take(domain.len());
    out.fill(filler);
    for (&entity, &value) in from.elements().iter().zip(data) {
        match domain.rank(entity) {
            Some(rank) => out[rank as usize] = value,
            None if !from.grid().is_own(from.kind(), entity) => {}
            None => {
                let in_file = from.grid().file_index(from.kind(), entity);
                return Err(Error::not_in_larger_domain(from.kind().noun(), in_file).with_element(in_file));
            }
        }
    }
    Ok(out)
}

/// The error of a target entity without data: `entity`, entry `position` of the target.
fn unreachable_data(target: &EntityCollection, entity: u32, position: usize) -> Error {
    if entity == NONE {
        return on_empty(&target.domain, position);
    }
    let owner = element_at(&target.domain, position);
    let (kind, owner_kind) = (target.kind.noun(), target.domain.kind().noun());
    let entity = target.domain.grid().file_index(target.kind, entity);
    Error::no_data_at(kind, Some(entity), &format!("{owner_kind} {owner}"))
}
