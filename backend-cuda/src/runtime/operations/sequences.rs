//! Sequences: lists of numbers without a grid.

use equelle_runtime::{Binary, Error, Unary};

use crate::runtime::operations::arithmetic::{binary, unary};
use crate::runtime::operations::operand::{Extent, Numbers, Operand};
use crate::runtime::runtime::CudaRuntime;
use crate::runtime::values::collections::{Scalar, Sequence};

/// A function of each number and a Scalar.
pub(super) fn with_scalar(rt: &mut CudaRuntime, function: Binary, sequence: &Sequence, s: &Scalar) -> Result<Sequence, Error> {
    let (data, s) = (Numbers::each(&sequence.buffer), s.values(rt)?);
    let buffer = binary(rt, function, Extent::alone(sequence.len), &data, &s)?.buffer;
    Ok(Sequence { len: sequence.len, buffer, read: None })
}

/// A function of each number.
pub(super) fn map(rt: &CudaRuntime, function: Unary, sequence: &Sequence) -> Result<Sequence, Error> {
    let buffer = unary(rt, function, Extent::alone(sequence.len), &Numbers::each(&sequence.buffer))?.buffer;
    Ok(Sequence { len: sequence.len, buffer, read: None })
}
