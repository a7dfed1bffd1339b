//! Tables: their values at numbers, with their slopes as derivatives.

use std::rc::Rc;

use equelle_runtime::{Error, math};

use crate::runtime::autodiff::jacobian;
use crate::runtime::operations::arithmetic::{launch_extent, operation_of, result_buffer};
use crate::runtime::operations::operand::{Computed, Extent, Numbers, Operand};
use crate::runtime::runtime::CudaRuntime;
use crate::runtime::values::collections::{Collection, DeviceTable, Scalar};

/// At each element.
pub(super) fn interpolate(rt: &mut CudaRuntime, table: &DeviceTable, a: &Collection) -> Result<Collection, Error> {
    let numbers = a.numbers(rt)?;
    Ok(computed(rt, table, Extent::scalars(&a.domain), &numbers)?.scalars(&a.domain))
}

/// At a Scalar, on the host if it knows the Scalar.
pub(super) fn interpolate_scalar(rt: &mut CudaRuntime, table: &DeviceTable, a: &Scalar) -> Result<Scalar, Error> {
    if let Scalar::Host(a) = a {
        return Ok(Scalar::Host(math::interpolate(table.table.numbers(), *a)));
    }
    let a = a.values(rt)?;
    Ok(Scalar::Device(computed(rt, table, Extent::alone(1), &a)?.buffer))
}

fn computed(rt: &CudaRuntime, table: &DeviceTable, extent: Extent, a: &Numbers) -> Result<Computed, Error> {
    let buffer = result_buffer(rt, extent)?;
    let call = operation_of(rt, extent.of, "equelle_interpolate")?.arg(extent.n as u32).arg(table.pointer());
    launch_extent(rt, call.arg(a.operand).arg(buffer.address()), extent);
    let rows = a.jacobians[0].as_ref().map(|rows| jacobian::rows_by_slope(&rt.executor, table.pointer(), rows, a.operand));
    let jacobians = [rows.transpose()?, None, None];
    Ok(Computed { buffer: Rc::clone(&buffer), jacobians })
}
