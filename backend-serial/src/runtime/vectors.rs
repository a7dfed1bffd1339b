//! Vectors: single ones, and collections by component. A component is a Collection Of Scalar, with
//! its derivatives inside a Newton solve.

use std::sync::Arc;

use equelle_runtime::domain::Domain;
use equelle_runtime::ranks::RankWork;
use equelle_runtime::reduce::{leaf_count, nothing_to_reduce};
use equelle_runtime::{Binary, Error, ErrorKind, Real, Reduction, Unary};

use super::SerialRuntime;
use super::arithmetic::{binary, unary};
use super::collections::{ScalarCollection, VectorCollection};
use super::discrete::reduce_values;

/// A single Vector; components beyond the dimension of the grid are 0.
pub(super) type Vector = [f64; 3];

/// A single Vector with as many components as the grid has dimensions.
pub(super) fn single<R: Real>(rt: &SerialRuntime<R>, components: &[f64]) -> Result<Vector, Error> {
    Error::vector_size(components.len(), rt.grid().dim())?;
    Ok(std::array::from_fn(|i| components.get(i).copied().unwrap_or(0.0)))
}

/// A collection with as many components as the grid has dimensions.
pub(super) fn collect<R: Real>(rt: &SerialRuntime<R>, components: &[&ScalarCollection<R>]) -> Result<VectorCollection<R>, Error> {
    Error::vector_size(components.len(), rt.grid().dim())?;
    let domain = Arc::clone(components[0].domain());
    debug_assert!(components.iter().all(|component| component.domain().same_elements(&domain)));
    from_parts(rt, &domain, |axis| components.get(axis).map(|component| Ok((*component).clone())))
}

/// Collects as many parts as the grid has dimensions without a list, so that steps allocate
/// nothing.
fn from_parts<R: Real>(
    rt: &SerialRuntime<R>,
    domain: &Arc<Domain>,
    mut part: impl FnMut(usize) -> Option<Result<ScalarCollection<R>, Error>>,
) -> Result<VectorCollection<R>, Error> {
    let mut out = VectorCollection { domain: Arc::clone(domain), components: Default::default(), jacobians: Default::default() };
    for axis in 0..3 {
        let Some(part) = part(axis) else { break };
        let part = part?;
        out.domain = Arc::clone(&part.domain);
        out.components[axis] = Some(rt.values_of(&part));
        out.jacobians[axis] = part.jacobian;
    }
    Ok(out)
}

fn parts<R: Real>(a: &VectorCollection<R>) -> impl Iterator<Item = ScalarCollection<R>> + '_ {
    (0..3).map_while(|axis| a.part(axis))
}

/// `f` of each component, an operation on Collections Of Scalar.
pub(super) fn map<R: Real>(
    rt: &SerialRuntime<R>,
    a: &VectorCollection<R>,
    f: impl Fn(&ScalarCollection<R>) -> Result<ScalarCollection<R>, Error>,
) -> Result<VectorCollection<R>, Error> {
    from_parts(rt, &a.domain, |axis| Some(f(&a.part(axis)?)))
}

/// `f` of each pair of components, an operation on Collections Of Scalar.
pub(super) fn zip<R: Real>(
    rt: &SerialRuntime<R>,
    a: &VectorCollection<R>,
    b: &VectorCollection<R>,
    f: impl Fn(&ScalarCollection<R>, &ScalarCollection<R>) -> Result<ScalarCollection<R>, Error>,
) -> Result<VectorCollection<R>, Error> {
    debug_assert!(a.domain.same_elements(&b.domain));
    from_parts(rt, &a.domain, |axis| Some(f(&a.part(axis)?, &b.part(axis)?)))
}

/// `f` of each component of one Vector, as the components of a collection.
pub(super) fn broadcast_with<R: Real>(
    rt: &SerialRuntime<R>,
    a: &Vector,
    domain: &Arc<Domain>,
    f: impl Fn(R) -> Result<ScalarCollection<R>, Error>,
) -> Result<VectorCollection<R>, Error> {
    from_parts(rt, domain, |axis| a[..rt.grid().dim()].get(axis).map(|&component| f(R::from_f64(component))))
}

/// Sum of the products of components, in order, starting with the first product.
pub(super) fn dot<R: Real>(rt: &SerialRuntime<R>, a: &VectorCollection<R>, b: &VectorCollection<R>) -> Result<ScalarCollection<R>, Error> {
    debug_assert!(a.domain.same_elements(&b.domain));
    let mut sum: Option<ScalarCollection<R>> = None;
    for (a, b) in parts(a).zip(parts(b)) {
        let product = binary(rt, Binary::Mul, &a, &b)?;
        sum = Some(match sum {
            None => product,
            Some(sum) => binary(rt, Binary::Add, &sum, &product)?,
        });
    }
    sum.ok_or_else(|| Error::new(ErrorKind::Backend, "a Vector has at least one component"))
}

/// Euclidean length: the square root of the sum of the squares of components, in order.
pub(super) fn length<R: Real>(rt: &SerialRuntime<R>, a: &VectorCollection<R>) -> Result<ScalarCollection<R>, Error> {
    Ok(unary(rt, Unary::Sqrt, &dot(rt, a, a)?))
}

/// A component as a collection.
pub(super) fn component<R: Real>(rt: &SerialRuntime<R>, a: &VectorCollection<R>, index: usize) -> Result<ScalarCollection<R>, Error> {
    Error::vector_component(index, rt.grid().dim())?;
    a.part(index).ok_or_else(|| Error::new(ErrorKind::Backend, "a Vector lacks a component"))
}

/// A component of one Vector.
pub(super) fn single_component<R: Real>(rt: &SerialRuntime<R>, a: &Vector, index: usize) -> Result<f64, Error> {
    Error::vector_component(index, rt.grid().dim())?;
    Ok(a[index])
}

/// [`dot`] of single Vectors.
pub(super) fn single_dot<R: Real>(rt: &SerialRuntime<R>, a: &Vector, b: &Vector) -> f64 {
    (1..rt.grid().dim()).fold(a[0] * b[0], |sum, i| sum + a[i] * b[i])
}

/// Reduces each component.
pub(super) fn reduce_components<R: Real>(rt: &SerialRuntime<R>, reduction: Reduction, a: &VectorCollection<R>) -> Result<Vector, Error> {
    let mut out = [0.0; 3];
    for (out, component) in out.iter_mut().zip(a.components()) {
        let reduced = match rt.session().rank() {
            Some(rank) => {
                let _time = rank.progress().work().time(RankWork::Reduce);
                rank.reduce(reduction, &a.domain, component)?
            }
            None => {
                let mut leaves = rt.doubles.take(leaf_count(component.len()));
                reduce_values(rt, reduction, &a.domain, component, &mut leaves, |value| value)
            }
        };
        *out = reduced.ok_or_else(|| nothing_to_reduce(reduction, &a.domain))?;
    }
    Ok(out)
}

/// Selects the Vector of one branch for each element.
pub(super) fn select<R: Real>(
    rt: &SerialRuntime<R>,
    condition: &super::collections::BoolCollection,
    a: &VectorCollection<R>,
    b: &VectorCollection<R>,
) -> Result<VectorCollection<R>, Error> {
    zip(rt, a, b, |a, b| super::select::scalars(rt, condition, a, b))
}
