//! Collections of Vector, by component.

use super::SerialRuntime;
use super::collections::{ScalarCollection, VectorCollection};
use super::pool::{Buffer, Values};
use super::support::same_domain;
use equelle_runtime::{Error, ErrorKind};

/// `f` of each component of each element.
pub(super) fn map(rt: &SerialRuntime, a: &VectorCollection, f: impl Fn(f64) -> f64) -> VectorCollection {
    rt.vector_collection_from(&a.domain, a.components().map(|component| map_values(rt, component, &f)))
}

/// `f` of each component of each pair of elements.
pub(super) fn zip(rt: &SerialRuntime, a: &VectorCollection, b: &VectorCollection, f: impl Fn(f64, f64) -> f64) -> VectorCollection {
    debug_assert!(same_domain(&a.domain, &b.domain));
    rt.vector_collection_from(&a.domain, a.components().zip(b.components()).map(|(a, b)| zip_values(rt, a, b, &f)))
}

/// `f` of each component of each element and the element's number.
pub(super) fn zip_scalars(rt: &SerialRuntime, a: &VectorCollection, s: &ScalarCollection, f: impl Fn(f64, f64) -> f64) -> VectorCollection {
    debug_assert!(same_domain(&a.domain, &s.domain));
    let factors = rt.values_of(s);
    rt.vector_collection_from(&a.domain, a.components().map(|component| zip_values(rt, component, &factors, &f)))
}

/// Sum of the products of components, in order; it starts with the first product.
pub(super) fn dot(rt: &SerialRuntime, a: &VectorCollection, b: &VectorCollection) -> ScalarCollection {
    debug_assert!(same_domain(&a.domain, &b.domain));
    rt.scalar_collection_from(&a.domain, products(rt, a, b))
}

/// Euclidean length: the square root of the sum of the squares of components, in order.
pub(super) fn length(rt: &SerialRuntime, a: &VectorCollection) -> ScalarCollection {
    let mut out = products(rt, a, a);
    for out in out.iter_mut() {
        *out = out.sqrt();
    }
    rt.scalar_collection_from(&a.domain, out)
}

/// A component as a collection of its own.
pub(super) fn component(rt: &SerialRuntime, a: &VectorCollection, index: usize) -> Result<ScalarCollection, Error> {
    let values = a.component(index).ok_or_else(|| {
        let dim = rt.grid().dim();
        Error::new(
            ErrorKind::Data,
            format!("component [{index}] of a Vector: the grid has dimension {dim}, so components [0] to [{}]", dim - 1),
        )
        .hint(format!("run on a grid of dimension {} or more", index + 1))
    })?;
    Ok(rt.scalar_collection_of(&a.domain, values.clone()))
}

fn products(rt: &SerialRuntime, a: &VectorCollection, b: &VectorCollection) -> Buffer {
    let mut out = rt.take_buffer(a.domain.len());
    for (axis, (a, b)) in a.components().zip(b.components()).enumerate() {
        for ((out, &a), &b) in out.iter_mut().zip(a.iter()).zip(b.iter()) {
            *out = if axis == 0 { a * b } else { *out + a * b };
        }
    }
    out
}

fn map_values(rt: &SerialRuntime, a: &Values, f: impl Fn(f64) -> f64) -> Buffer {
    let mut out = rt.take_buffer(a.len());
    for (out, &a) in out.iter_mut().zip(a.iter()) {
        *out = f(a);
    }
    out
}

fn zip_values(rt: &SerialRuntime, a: &Values, b: &Values, f: impl Fn(f64, f64) -> f64) -> Buffer {
    let mut out = rt.take_buffer(a.len());
    for ((out, &a), &b) in out.iter_mut().zip(a.iter()).zip(b.iter()) {
        *out = f(a, b);
    }
    out
}
