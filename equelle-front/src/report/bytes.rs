//! Least memory traffic of kernels for profiles of runs.

use super::traffic::{Form, traffic};
use crate::ir::body_usage::BodyUsage;
use crate::ir::{CartesianForm, Kernel, Module, Precision};

/// Bytes of a number in a collection.
pub(super) fn number_bytes(module: &Module) -> u64 {
    match module.numbers.precision {
        Precision::Double => 8,
        Precision::Single => 4,
    }
}

/// Bytes for one element by dimension of the grid, 1 to 3; 0 where a kernel cannot run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct KernelBytes {
    /// On any grid.
    pub general: [u32; 3],
    /// On a uniform Cartesian grid; `None` where the kernel is as on any grid.
    pub cartesian: Option<[u32; 3]>,
}

impl KernelBytes {
    /// Counts the bytes of a kernel, if each array goes through the cache once.
    pub fn of(module: &Module, kernel: &Kernel) -> KernelBytes {
        let usage = BodyUsage::from_general_form(kernel, &module.sets);
        let exact = usage.vector_sizes.last().map(|&size| size as u32);
        let least = usage.largest_component.map_or(1, |index| index + 1);
        let number = number_bytes(module);
        let count = |body, form| {
            [1, 2, 3].map(|dim| {
                let runs = dim >= least && exact.is_none_or(|exact| exact == dim);
                if runs { traffic(kernel, body, form, &module.sets, dim, number).bytes.round() as u32 } else { 0 }
            })
        };
        let body = kernel.jacobian.as_ref().map_or(&kernel.body, |form| &form.body);
        let of_jacobian = kernel.jacobian.as_ref().and_then(|form| form.cartesian.as_ref());
        KernelBytes {
            general: count(body, Form::General),
            cartesian: match &kernel.cartesian {
                None => of_jacobian.map(|body| count(body, Form::Cartesian)),
                Some(CartesianForm::PerAxis(_)) => Some([0; 3]),
                Some(CartesianForm::Full(body)) => Some(count(body, Form::Cartesian)),
            },
        }
    }
}
