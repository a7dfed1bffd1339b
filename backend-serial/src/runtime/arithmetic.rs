//! Element-wise arithmetic on collections of Scalar: IEEE double operations as written.

use super::SerialRuntime;
use super::collections::ScalarCollection;
use super::support::same_domain;

/// `f` of each element.
pub(super) fn map(rt: &SerialRuntime, a: &ScalarCollection, f: impl Fn(f64) -> f64) -> ScalarCollection {
    let values = rt.values_of(a);
    let mut out = rt.take_buffer(values.len());
    for (out, &a) in out.iter_mut().zip(values.iter()) {
        *out = f(a);
    }
    rt.scalar_collection_from(&a.domain, out)
}

/// `f` of each pair of elements.
pub(super) fn zip(rt: &SerialRuntime, a: &ScalarCollection, b: &ScalarCollection, f: impl Fn(f64, f64) -> f64) -> ScalarCollection {
    debug_assert!(same_domain(&a.domain, &b.domain));
    let (left, right) = (rt.values_of(a), rt.values_of(b));
    let mut out = rt.take_buffer(left.len());
    for ((out, &a), &b) in out.iter_mut().zip(left.iter()).zip(right.iter()) {
        *out = f(a, b);
    }
    rt.scalar_collection_from(&a.domain, out)
}
