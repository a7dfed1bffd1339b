//! Tables at every element, for kernels that ask for them at many places of an element.

use equelle_runtime::Real;
use equelle_runtime::math::table::{TableFunction, evaluate};

use super::SerialRuntime;
use super::collections::ScalarCollection;
use super::pool::{Buffer, Values};
use super::tabulated_unknowns::TabulatedUnknown;

impl<R: Real> SerialRuntime<R> {
    /// Evaluates tables at an argument that each of `len` elements has.
    pub fn tabulated<const N: usize>(
        &self,
        len: usize,
        functions: [TableFunction<'_>; N],
        argument: impl Fn(usize) -> R + Sync,
    ) -> [Buffer<R>; N] {
        let mut outputs = functions.map(|_| self.take_buffer(len));
        let parts = outputs.each_mut().map(|buffer| &mut buffer[..]);
        self.each(len, parts, |range, mut parts| evaluate(&functions, &mut parts, |k| argument(range.start + k)));
        outputs
    }

    /// Evaluates tables at an unknown of the solve under way, once for all equations.
    pub fn tabulated_unknown<const N: usize>(
        &mut self,
        unknown: &ScalarCollection<R>,
        functions: [TableFunction<'_>; N],
    ) -> [Values<R>; N] {
        let arguments = self.values_of(unknown);
        let keys = functions.map(|function| function.key());
        let is_known = |known: &&TabulatedUnknown<R>| known.unknown == arguments.as_ptr() && known.functions == keys;
        if let Some(known) = self.tabulated_unknowns.known.iter().find(is_known) {
            return std::array::from_fn(|k| known.values[k].clone());
        }
        let of_elements = &arguments[..];
        let values = self.tabulated(of_elements.len(), functions, |k| of_elements[k]).map(Buffer::share);
        let tabulated = TabulatedUnknown { unknown: arguments.as_ptr(), functions: keys.to_vec(), values: values.to_vec() };
        self.tabulated_unknowns.known.push(tabulated);
        values
    }
}
