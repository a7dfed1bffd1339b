//! The ternary operator: copies the value of one branch for each element; the other branch enters
//! no arithmetic.

use equelle_runtime::{Error, Real};

use super::SerialRuntime;
use super::collections::{BoolCollection, EntityCollection, ScalarCollection};
use super::forward;

/// Selects numbers.
pub(super) fn scalars<R: Real>(
    rt: &SerialRuntime<R>,
    condition: &BoolCollection,
    a: &ScalarCollection<R>,
    b: &ScalarCollection<R>,
) -> Result<ScalarCollection<R>, Error> {
    debug_assert!(condition.domain.same_elements(&a.domain) && a.domain.same_elements(&b.domain));
    let (if_true, if_false) = (rt.values_of(a), rt.values_of(b));
    let mut out = rt.take_buffer(if_true.len());
    choose(&mut out, &condition.values, &if_true, &if_false);
    let out = rt.scalar_collection_from(&a.domain, out);
    if a.jacobian.is_none() && b.jacobian.is_none() { Ok(out) } else { forward::select(out, &condition.values, a, b) }
}

/// Selects Bools.
pub(super) fn bools<R: Real>(rt: &SerialRuntime<R>, condition: &BoolCollection, a: &BoolCollection, b: &BoolCollection) -> BoolCollection {
    debug_assert!(condition.domain.same_elements(&a.domain) && a.domain.same_elements(&b.domain));
    let mut out = rt.take_bool_buffer(a.values.len());
    choose(&mut out, &condition.values, &a.values, &b.values);
    rt.bool_collection_from(&a.domain, out)
}

/// Selects entities of one kind.
pub(super) fn entities<R: Real>(
    rt: &SerialRuntime<R>,
    condition: &BoolCollection,
    a: &EntityCollection,
    b: &EntityCollection,
) -> EntityCollection {
    debug_assert!(condition.domain.same_elements(&a.domain) && a.domain.same_elements(&b.domain));
    debug_assert_eq!(a.kind, b.kind);
    let mut out = rt.take_entity_buffer(a.values.len());
    choose(&mut out, &condition.values, &a.values, &b.values);
    rt.entity_collection_from(&a.domain, a.kind, out)
}

fn choose<T: Copy>(out: &mut [T], condition: &[bool], a: &[T], b: &[T]) {
    for (((out, &condition), &a), &b) in out.iter_mut().zip(condition).zip(a).zip(b) {
        *out = if condition { a } else { b };
    }
}
