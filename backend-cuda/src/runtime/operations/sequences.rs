//! Sequences: lists of numbers tied to no grid.

use std::rc::Rc;

use equelle_runtime::Error;

use crate::runtime::operations::arithmetic::{Binary, Extent, Numbers, Unary};
use crate::runtime::runtime::CudaRuntime;
use crate::runtime::values::collections::{Scalar, Sequence};

impl CudaRuntime {
    /// A function of each number and a Scalar.
    pub(crate) fn sequence_with(&mut self, function: Binary, sequence: &Sequence, s: &Scalar) -> Result<Sequence, Error> {
        let (data, s) = (Numbers::each(&sequence.buffer), self.of_scalar(s));
        let buffer = self.binary(function, Extent::alone(sequence.len), &data, &s)?.buffer;
        Ok(Sequence { len: sequence.len, buffer, read: None })
    }

    /// A function of each number.
    pub(crate) fn sequence_map(&mut self, function: Unary, sequence: &Sequence) -> Result<Sequence, Error> {
        let data = Numbers::each(&Rc::clone(&sequence.buffer));
        let buffer = self.unary(function, Extent::alone(sequence.len), &data)?.buffer;
        Ok(Sequence { len: sequence.len, buffer, read: None })
    }
}
