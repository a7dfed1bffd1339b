//! Element-wise arithmetic on collections of Scalar: IEEE operations as written, in the precision
//! of collections.

use equelle_runtime::Real;

use super::SerialRuntime;
use super::collections::ScalarCollection;

/// `f` of each element.
pub(super) fn map<R: Real>(rt: &SerialRuntime<R>, a: &ScalarCollection<R>, f: impl Fn(R) -> R) -> ScalarCollection<R> {
    let values = rt.values_of(a);
    let mut out = rt.take_buffer(values.len());
    for (out, &a) in out.iter_mut().zip(values.iter()) {
        *out = f(a);
    }
    rt.scalar_collection_from(&a.domain, out)
}

/// `f` of each pair of elements.
pub(super) fn zip<R: Real>(
    rt: &SerialRuntime<R>,
    a: &ScalarCollection<R>,
    b: &ScalarCollection<R>,
    f: impl Fn(R, R) -> R,
) -> ScalarCollection<R> {
    debug_assert!(a.domain.same_elements(&b.domain));
    let (left, right) = (rt.values_of(a), rt.values_of(b));
    let mut out = rt.take_buffer(left.len());
    for ((out, &a), &b) in out.iter_mut().zip(left.iter()).zip(right.iter()) {
        *out = f(a, b);
    }
    rt.scalar_collection_from(&a.domain, out)
}
