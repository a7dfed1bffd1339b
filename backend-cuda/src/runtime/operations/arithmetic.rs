//! Element-wise arithmetic: IEEE operations as written, one launch each.

use std::rc::Rc;
use std::sync::Arc;

use equelle_runtime::domain::Domain;
use equelle_runtime::{Binary, BinaryMath, Error, Unary};

use crate::runtime::autodiff::forward;
use crate::runtime::autodiff::rules::{derivative, derivatives};
use crate::runtime::device::{DevicePtr, LaunchShape};
use crate::runtime::executor::arguments::Call;
use crate::runtime::executor::autotune::shape_over;
use crate::runtime::executor::pool::Buffer;
use crate::runtime::executor::precision::Precision;
use crate::runtime::kernels::OPERATIONS_MODULE;
use crate::runtime::operations::operand::{Computed, Extent, Numbers, Of, Operand};
use crate::runtime::runtime::CudaRuntime;
use crate::runtime::values::collections::{Collection, Scalar, Vector, VectorCollection};

/// As the kernels number it.
fn unary_number(op: Unary) -> u32 {
    match op {
        Unary::Copy => 0,
        Unary::Neg => 1,
        Unary::Abs => 2,
        Unary::Sqrt => 3,
        // Last, because there may be more of them.
        Unary::Elementary(function) => 4 + function as u32,
    }
}

/// As the kernels number it.
fn binary_number(op: Binary) -> u32 {
    match op {
        Binary::Add => 0,
        Binary::Sub => 1,
        Binary::Mul => 2,
        Binary::Div => 3,
        Binary::Math(BinaryMath::Min) => 4,
        Binary::Math(BinaryMath::Max) => 5,
        Binary::Math(BinaryMath::Pow) => 6,
        Binary::Math(BinaryMath::ATan2) => 7,
    }
}

/// Prepares the call of a kernel of the operation level, for collections.
pub(super) fn operation(rt: &CudaRuntime, name: &'static str) -> Result<Call, Error> {
    operation_of(rt, Of::Collection, name)
}

/// [`operation`] for numbers with another owner.
pub(super) fn operation_of(rt: &CudaRuntime, of: Of, name: &'static str) -> Result<Call, Error> {
    rt.executor.call_in(&OPERATIONS_MODULE, precision_of(rt, of), name)
}

fn precision_of(rt: &CudaRuntime, of: Of) -> Precision {
    match of {
        Of::Collection => rt.executor.precision(),
        Of::Alone => Precision::Double,
    }
}

/// Queues a call with one thread for each number; nothing for none.
pub(super) fn launch_extent(rt: &CudaRuntime, call: Call, extent: Extent) {
    if extent.n > 0 {
        let LaunchShape { grid: [blocks, ..], block } = shape_over(extent.n);
        rt.executor.push(call.shaped(LaunchShape { grid: [blocks, extent.components as u32, 1], block }));
    }
}

/// A buffer for numbers.
pub(super) fn buffer_for(rt: &CudaRuntime, what: &str, extent: Extent) -> Result<Rc<Buffer>, Error> {
    rt.executor.buffer(what, precision_of(rt, extent.of).bytes() * extent.n as u64 * extent.components as u64)
}

/// A buffer for the result of an operation.
pub(super) fn result_buffer(rt: &CudaRuntime, extent: Extent) -> Result<Rc<Buffer>, Error> {
    buffer_for(rt, "the result of an operation", extent)
}

/// A function of numbers, with its derivatives.
pub(super) fn unary(rt: &CudaRuntime, function: Unary, extent: Extent, a: &Numbers) -> Result<Computed, Error> {
    let buffer = result_buffer(rt, extent)?;
    unary_into(rt, function, extent, a, buffer.address())?;
    let jacobians = forward::differentiate(rt, derivative(function), None, extent, a, a, &buffer)?;
    Ok(Computed { buffer, jacobians })
}

/// Writes the values without derivatives to existing memory.
pub(super) fn unary_into(rt: &CudaRuntime, function: Unary, extent: Extent, a: &Numbers, out: DevicePtr) -> Result<(), Error> {
    let call = operation_of(rt, extent.of, "equelle_unary")?.arg(unary_number(function)).arg(extent.n as u32).arg(a.operand).arg(out);
    launch_extent(rt, call, extent);
    Ok(())
}

/// A function of two numbers, with its derivatives.
pub(super) fn binary(rt: &CudaRuntime, function: Binary, extent: Extent, a: &Numbers, b: &Numbers) -> Result<Computed, Error> {
    let buffer = result_buffer(rt, extent)?;
    let call = operation_of(rt, extent.of, "equelle_binary")?.arg(binary_number(function)).arg(extent.n as u32);
    launch_extent(rt, call.arg(a.operand).arg(b.operand).arg(buffer.address()), extent);
    let (first, second) = derivatives(function);
    let jacobians = forward::differentiate(rt, first, Some(second), extent, a, b, &buffer)?;
    Ok(Computed { buffer, jacobians })
}

/// A function of two operands.
pub(super) fn binary_of(
    rt: &mut CudaRuntime,
    function: Binary,
    extent: Extent,
    a: &impl Operand,
    b: &impl Operand,
) -> Result<Computed, Error> {
    let (left, right) = (a.numbers(rt)?, b.numbers(rt)?);
    binary(rt, function, extent, &left, &right)
}

/// A function of each element.
pub(super) fn map(rt: &mut CudaRuntime, function: Unary, a: &Collection) -> Result<Collection, Error> {
    let operand = a.numbers(rt)?;
    Ok(unary(rt, function, Extent::scalars(&a.domain), &operand)?.scalars(&a.domain))
}

/// A function of two operands for each element of a domain.
pub(super) fn zip(
    rt: &mut CudaRuntime,
    function: Binary,
    domain: &Arc<Domain>,
    a: &impl Operand,
    b: &impl Operand,
) -> Result<Collection, Error> {
    Ok(binary_of(rt, function, Extent::scalars(domain), a, b)?.scalars(domain))
}

/// A function of each component of two operands for each element of a domain.
pub(super) fn zip_vectors(
    rt: &mut CudaRuntime,
    function: Binary,
    domain: &Arc<Domain>,
    a: &impl Operand,
    b: &impl Operand,
) -> Result<VectorCollection, Error> {
    let extent = Extent::vectors(rt, domain);
    Ok(binary_of(rt, function, extent, a, b)?.vectors(domain))
}

/// A function of each component of two operands, of which one is a single Vector.
pub(super) fn zip_single_vectors(rt: &mut CudaRuntime, function: Binary, a: &Vector, b: &impl Operand) -> Result<Vector, Error> {
    let extent = Extent::one_vector(rt);
    Ok(Vector(binary_of(rt, function, extent, a, b)?.buffer))
}

/// A function of a Scalar, on the host if it knows the Scalar.
pub(super) fn map_scalar(rt: &mut CudaRuntime, function: Unary, a: &Scalar) -> Result<Scalar, Error> {
    if let Scalar::Host(a) = a {
        return Ok(Scalar::Host(function.of(*a)));
    }
    let a = a.values(rt)?;
    Ok(Scalar::Device(unary(rt, function, Extent::alone(1), &a)?.buffer))
}

/// A function of two Scalars, on the host if it knows both.
pub(super) fn zip_scalars(rt: &mut CudaRuntime, function: Binary, a: &Scalar, b: &Scalar) -> Result<Scalar, Error> {
    if let (Scalar::Host(a), Scalar::Host(b)) = (a, b) {
        return Ok(Scalar::Host(function.of(*a, *b)));
    }
    Ok(Scalar::Device(binary_of(rt, function, Extent::alone(1), a, b)?.buffer))
}
