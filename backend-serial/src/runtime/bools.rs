//! Comparisons and logic.

use equelle_runtime::{Comparison, Logic, Real};

use super::SerialRuntime;
use super::collections::{BoolCollection, EntityCollection, ScalarCollection};

/// Element-wise comparison; with NaN only `!=` holds.
pub(super) fn compare<R: Real>(rt: &SerialRuntime<R>, op: Comparison, a: &ScalarCollection<R>, b: &ScalarCollection<R>) -> BoolCollection {
    // Matched outside the loops, so that each loop is one comparison.
    match op {
        Comparison::Less => zip(rt, a, b, |a, b| a < b),
        Comparison::Greater => zip(rt, a, b, |a, b| a > b),
        Comparison::LessEqual => zip(rt, a, b, |a, b| a <= b),
        Comparison::GreaterEqual => zip(rt, a, b, |a, b| a >= b),
        Comparison::Equal => zip(rt, a, b, |a, b| a == b),
        Comparison::NotEqual => zip(rt, a, b, |a, b| a != b),
    }
}

/// Each element compared with one number on its right.
pub(super) fn compare_scalar<R: Real>(rt: &SerialRuntime<R>, op: Comparison, a: &ScalarCollection<R>, s: f64) -> BoolCollection {
    let s = R::from_f64(s);
    match op {
        Comparison::Less => map(rt, a, |a| a < s),
        Comparison::Greater => map(rt, a, |a| a > s),
        Comparison::LessEqual => map(rt, a, |a| a <= s),
        Comparison::GreaterEqual => map(rt, a, |a| a >= s),
        Comparison::Equal => map(rt, a, |a| a == s),
        Comparison::NotEqual => map(rt, a, |a| a != s),
    }
}

/// One number compared with each element on its right.
pub(super) fn scalar_compare<R: Real>(rt: &SerialRuntime<R>, op: Comparison, s: f64, a: &ScalarCollection<R>) -> BoolCollection {
    let mirrored = match op {
        Comparison::Less => Comparison::Greater,
        Comparison::Greater => Comparison::Less,
        Comparison::LessEqual => Comparison::GreaterEqual,
        Comparison::GreaterEqual => Comparison::LessEqual,
        Comparison::Equal => Comparison::Equal,
        Comparison::NotEqual => Comparison::NotEqual,
    };
    compare_scalar(rt, mirrored, a, s)
}

/// A logical operator on two Bools.
pub(super) fn combine_bools(op: Logic, a: bool, b: bool) -> bool {
    match op {
        Logic::And => a & b,
        Logic::Or => a | b,
        Logic::Xor => a ^ b,
    }
}

/// True if the entities, or two Empties, are the same.
pub(super) fn same_entities<R: Real>(rt: &SerialRuntime<R>, a: &EntityCollection, b: &EntityCollection) -> BoolCollection {
    debug_assert!(a.domain.same_elements(&b.domain));
    debug_assert_eq!(a.kind, b.kind);
    let mut out = rt.take_bool_buffer(a.values.len());
    for ((out, a), b) in out.iter_mut().zip(a.values.iter()).zip(b.values.iter()) {
        *out = a == b;
    }
    rt.bool_collection_from(&a.domain, out)
}

/// `f` of each element.
pub(super) fn map_bools<R: Real>(rt: &SerialRuntime<R>, a: &BoolCollection, f: impl Fn(bool) -> bool) -> BoolCollection {
    let mut out = rt.take_bool_buffer(a.values.len());
    for (out, &a) in out.iter_mut().zip(a.values.iter()) {
        *out = f(a);
    }
    rt.bool_collection_from(&a.domain, out)
}

/// `Not` of each element.
pub(super) fn not<R: Real>(rt: &SerialRuntime<R>, a: &BoolCollection) -> BoolCollection {
    map_bools(rt, a, |a| !a)
}

/// `f` of each pair of elements.
pub(super) fn combine<R: Real>(
    rt: &SerialRuntime<R>,
    a: &BoolCollection,
    b: &BoolCollection,
    f: impl Fn(bool, bool) -> bool,
) -> BoolCollection {
    debug_assert!(a.domain.same_elements(&b.domain));
    let mut out = rt.take_bool_buffer(a.values.len());
    for ((out, &a), &b) in out.iter_mut().zip(a.values.iter()).zip(b.values.iter()) {
        *out = f(a, b);
    }
    rt.bool_collection_from(&a.domain, out)
}

fn map<R: Real>(rt: &SerialRuntime<R>, a: &ScalarCollection<R>, f: impl Fn(R) -> bool) -> BoolCollection {
    let values = rt.values_of(a);
    let mut out = rt.take_bool_buffer(values.len());
    for (out, &a) in out.iter_mut().zip(values.iter()) {
        *out = f(a);
    }
    rt.bool_collection_from(&a.domain, out)
}

fn zip<R: Real>(rt: &SerialRuntime<R>, a: &ScalarCollection<R>, b: &ScalarCollection<R>, f: impl Fn(R, R) -> bool) -> BoolCollection {
    debug_assert!(a.domain.same_elements(&b.domain));
    let (left, right) = (rt.values_of(a), rt.values_of(b));
    let mut out = rt.take_bool_buffer(left.len());
    for ((out, &a), &b) in out.iter_mut().zip(left.iter()).zip(right.iter()) {
        *out = f(a, b);
    }
    rt.bool_collection_from(&a.domain, out)
}
