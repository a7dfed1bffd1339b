//! Vectors: single ones, and collections by component. Each component has its own derivatives
//! inside a Newton solve.

use equelle_runtime::{Binary, Error, Unary};

use crate::runtime::device::DevicePtr;
use crate::runtime::operations::arithmetic::{binary, buffer_for, launch_extent, operation_of, result_buffer, unary, unary_into};
use crate::runtime::operations::operand::{Computed, Extent, Numbers, Operand};
use crate::runtime::runtime::CudaRuntime;
use crate::runtime::values::collections::{Collection, Scalar, Vector, VectorCollection};

/// A single Vector with as many components as the grid has dimensions.
pub(super) fn single(rt: &mut CudaRuntime, components: &[&Scalar]) -> Result<Vector, Error> {
    rt.located(Error::vector_size(components.len(), rt.executor.dim()))?;
    let out = rt.new_vector()?;
    for (axis, component) in components.iter().enumerate() {
        let operand = component.values(rt)?;
        let to = DevicePtr(out.address().0 + 8 * axis as u64);
        unary_into(rt, Unary::Copy, Extent::alone(1), &operand, to)?;
    }
    Ok(Vector(out))
}

/// A function of each component of a single Vector.
pub(super) fn map_single(rt: &mut CudaRuntime, function: Unary, a: &Vector) -> Result<Vector, Error> {
    let (extent, operand) = (Extent::one_vector(rt), a.values(rt)?);
    Ok(Vector(unary(rt, function, extent, &operand)?.buffer))
}

/// A collection with as many components as the grid has dimensions.
pub(super) fn collect(rt: &mut CudaRuntime, components: &[&Collection]) -> Result<VectorCollection, Error> {
    rt.located(Error::vector_size(components.len(), rt.executor.dim()))?;
    let domain = components[0].domain();
    let buffer = buffer_for(rt, domain.name(), Extent::vectors(rt, domain))?;
    let mut jacobians = [None, None, None];
    for (axis, component) in components.iter().enumerate() {
        let operand = component.numbers(rt)?;
        let to = DevicePtr(buffer.address().0 + rt.executor.precision().bytes() * (axis * domain.len()) as u64);
        unary_into(rt, Unary::Copy, Extent::scalars(domain), &operand, to)?;
        let [jacobian, ..] = operand.jacobians;
        jacobians[axis] = jacobian;
    }
    Ok(Computed { buffer, jacobians }.vectors(domain))
}

/// A function of each component.
pub(super) fn map(rt: &mut CudaRuntime, function: Unary, a: &VectorCollection) -> Result<VectorCollection, Error> {
    let (extent, operand) = (Extent::vectors(rt, a.domain()), a.numbers(rt)?);
    Ok(unary(rt, function, extent, &operand)?.vectors(a.domain()))
}

/// Sum of the products of components, in order, starting with the first product; with `root` its
/// square root, the length of a Vector.
pub(super) fn inner_product<T: Operand>(rt: &mut CudaRuntime, root: bool, extent: Extent, a: &T, b: &T) -> Result<Computed, Error> {
    let (a, b) = (a.numbers(rt)?, b.numbers(rt)?);
    if !a.has_derivatives() && !b.has_derivatives() {
        let buffer = result_buffer(rt, extent)?;
        let call = operation_of(rt, extent.of, "equelle_inner")?.arg(u32::from(root)).arg(extent.n as u32);
        launch_extent(rt, call.arg(a.operand).arg(b.operand).arg(buffer.address()), extent);
        return Ok(Computed::constant(buffer));
    }
    let mut sum = binary(rt, Binary::Mul, extent, &a.component(0), &b.component(0))?;
    for axis in 1..rt.executor.dim() {
        let product = binary(rt, Binary::Mul, extent, &a.component(axis), &b.component(axis))?;
        sum = binary(rt, Binary::Add, extent, &Numbers::from(sum), &Numbers::from(product))?;
    }
    if root { unary(rt, Unary::Sqrt, extent, &Numbers::from(sum)) } else { Ok(sum) }
}

/// [`inner_product`] of single Vectors.
pub(super) fn single_inner_product(rt: &mut CudaRuntime, root: bool, a: &Vector, b: &Vector) -> Result<Scalar, Error> {
    Ok(Scalar::Device(inner_product(rt, root, Extent::alone(1), a, b)?.buffer))
}

/// A component as a collection.
pub(super) fn component(rt: &mut CudaRuntime, a: &VectorCollection, index: usize) -> Result<Collection, Error> {
    let (extent, operand) = (Extent::scalars(a.domain()), a.numbers(rt)?);
    Ok(one_component(rt, extent, &operand, index)?.scalars(a.domain()))
}

/// A component of one Vector.
pub(super) fn single_component(rt: &mut CudaRuntime, a: &Vector, index: usize) -> Result<Scalar, Error> {
    let operand = a.values(rt)?;
    Ok(Scalar::Device(one_component(rt, Extent::alone(1), &operand, index)?.buffer))
}

fn one_component(rt: &CudaRuntime, extent: Extent, vectors: &Numbers, index: usize) -> Result<Computed, Error> {
    rt.located(Error::vector_component(index, rt.executor.dim()))?;
    unary(rt, Unary::Copy, extent, &vectors.component(index))
}
