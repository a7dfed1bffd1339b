//! Functions for generated kernels beside [`super::allocation`]: loops, reductions, and Vectors as
//! arrays.

use std::ops::Range;

use equelle_runtime::domain::Domain;
use equelle_runtime::reduce::{leaf_count, nothing_to_reduce, reduce_written};
use equelle_runtime::threads::Parts;
use equelle_runtime::{Error, KernelInfo, Real, Reduction};

use super::SerialRuntime;
use super::collections::{ScalarCollection, VectorCollection};
use super::discrete;
use super::pool::Buffer;

pub use super::cartesian_grid::{CartesianGrid, Row};
pub use super::ranks::{Ranks, SubsetRanks};

impl<R: Real> SerialRuntime<R> {
    /// The grid for Cartesian kernels; `None` if the run uses general kernels.
    pub fn cartesian_grid(&self) -> Option<CartesianGrid> {
        if !self.uses_cartesian_forms() {
            return None;
        }
        self.grid().cartesian_shape().map(CartesianGrid::new)
    }

    /// [`SerialRuntime::cartesian_grid`] in the precision of collections.
    pub fn rounded_cartesian_grid(&self) -> Option<CartesianGrid<R>> {
        self.cartesian_grid().map(|grid| grid.rounded())
    }

    /// [`SerialRuntime::cartesian_grid`], or a Cartesian grid with joined sides.
    pub fn closed_grid(&self) -> Option<CartesianGrid> {
        self.grid().closed_shape().map(CartesianGrid::new)
    }

    /// [`SerialRuntime::closed_grid`] in the precision of collections.
    pub fn rounded_closed_grid(&self) -> Option<CartesianGrid<R>> {
        self.closed_grid().map(|grid| grid.rounded())
    }

    /// The grid of a program that needs a Cartesian one.
    ///
    /// # Errors
    /// `Data` for any other one.
    pub fn structured_grid(&self) -> Result<CartesianGrid, Error> {
        self.session().cartesian_shape().map(CartesianGrid::new).map_err(|error| error.at(self.current_line()))
    }

    /// A shared handle of the grid, which does not borrow the runtime.
    pub fn shared_grid(&self) -> std::sync::Arc<equelle_runtime::grid::Grid> {
        std::sync::Arc::clone(self.session().grid())
    }

    /// The loop of a kernel over `len` elements: `body` for ranges of them, each with its part of
    /// the outputs, on the threads of the run (see [`equelle_runtime::threads::Threads::each`]).
    pub fn each<P: Parts>(&self, len: usize, outputs: P, body: impl Fn(Range<usize>, P) + Sync) {
        self.session().threads().each(len, outputs, body);
    }

    /// [`SerialRuntime::each`] with a body that returns the position of a failing element.
    ///
    /// # Errors
    /// The first such position, for any number of threads.
    pub fn try_each<P: Parts>(
        &self,
        len: usize,
        outputs: P,
        body: impl Fn(Range<usize>, P) -> Result<(), usize> + Sync,
    ) -> Result<(), usize> {
        self.session().threads().try_each(len, outputs, body)
    }

    /// [`SerialRuntime::each`] over the cells of a Cartesian grid, in ranges of whole rows. Rows of
    /// a rank's halo in which the results of the kernel are not right keep what they have.
    pub fn each_row<P: Parts>(
        &self,
        grid: &CartesianGrid<impl Real>,
        kernel: &KernelInfo,
        outputs: P,
        body: impl Fn(Range<usize>, P) + Sync,
    ) {
        self.session().threads().each_of(
            grid.n_cells(),
            grid.n[0],
            outputs,
            #[inline(always)]
            |range, part| {
                let (mut at, mut rest) = (range.start, part);
                for rows in grid.rows_within(kernel.halo_layers, &range) {
                    let (_, from_start) = rest.split_at(rows.start - at);
                    let (outputs, after) = from_start.split_at(rows.len());
                    (at, rest) = (rows.end, after);
                    body(rows, outputs);
                }
            },
        );
    }

    /// The loop over the cells of a Cartesian grid, in ranges of whole rows where there is more
    /// than one row.
    pub fn each_row_or_part<P: Parts>(
        &self,
        grid: &CartesianGrid<impl Real>,
        kernel: &KernelInfo,
        outputs: P,
        body: impl Fn(Range<usize>, P) + Sync,
    ) {
        if grid.n[0] == grid.n_cells() {
            self.each(grid.n_cells(), outputs, body);
        } else {
            self.each_row(grid, kernel, outputs, body);
        }
    }

    /// Refuses grids without a component of Vectors that a kernel names.
    ///
    /// # Errors
    /// `Data`, with the lines of the kernel.
    pub fn needs_dimension(&self, dim: usize, kernel: &KernelInfo) -> Result<(), Error> {
        Error::vector_component(dim - 1, self.grid().dim()).map_err(|error| self.in_kernel(error, kernel))
    }

    /// Refuses grids whose dimension is not the number of components of a Vector in a kernel.
    ///
    /// # Errors
    /// `Data`, with the lines of the kernel.
    pub fn vector_size(&self, components: usize, kernel: &KernelInfo) -> Result<(), Error> {
        Error::vector_size(components, self.grid().dim()).map_err(|error| self.in_kernel(error, kernel))
    }

    fn in_kernel(&self, mut error: Error, kernel: &KernelInfo) -> Error {
        error.lines = kernel.lines.to_vec();
        error.at(self.current_line())
    }

    /// Reduces the Vectors that a kernel wrote for the elements of a domain, by components, as
    /// [`Self::reduce_in_kernel`]; 0 beyond the dimension of the grid.
    ///
    /// # Errors
    /// As for [`Self::reduce_in_kernel`].
    pub fn reduce_vectors_in_kernel<const DIM: usize>(
        &self,
        reduction: Reduction,
        domain: &std::sync::Arc<Domain>,
        components: [Buffer<R>; DIM],
        kernel: &KernelInfo,
    ) -> Result<[f64; 3], Error> {
        let mut reduced = [0.0; 3];
        for (out, component) in reduced.iter_mut().zip(components) {
            *out = self.reduce_in_kernel(reduction, domain, component, kernel)?;
        }
        Ok(reduced)
    }

    /// Reduces the values that a kernel wrote for the elements of a domain, in the order of
    /// [`equelle_runtime::reduce`].
    ///
    /// # Errors
    /// Max or Min of an empty domain, with the line of the reduction only.
    pub fn reduce_in_kernel(
        &self,
        reduction: Reduction,
        domain: &std::sync::Arc<Domain>,
        buffer: Buffer<R>,
        kernel: &KernelInfo,
    ) -> Result<f64, Error> {
        self.reduce_collection_in_kernel(reduction, &self.scalar_collection_from(domain, buffer), kernel)
    }

    /// Reduces the values of the elements of a domain, which `write` makes range by range.
    ///
    /// # Errors
    /// As for [`Self::reduce_in_kernel`].
    pub fn reduce_written_in_kernel(
        &self,
        reduction: Reduction,
        domain: &std::sync::Arc<Domain>,
        kernel: &KernelInfo,
        write: impl Fn(Range<usize>, &mut [R]) + Sync,
    ) -> Result<f64, Error> {
        if domain.file_order().is_some() || self.session().rank().is_some() {
            // A leaf has the values of elements from everywhere.
            let mut values = self.take_buffer(domain.len());
            self.each(domain.len(), &mut values[..], write);
            return self.reduce_in_kernel(reduction, domain, values, kernel);
        }
        let mut leaves = self.doubles.take(leaf_count(domain.len()));
        reduce_written(self.session().threads(), reduction, domain.len(), &mut leaves, write)
            .ok_or_else(|| self.placed(nothing_to_reduce(reduction, domain), kernel))
    }

    /// [`Self::reduce_in_kernel`] of a collection that is there.
    ///
    /// # Errors
    /// As for [`Self::reduce_in_kernel`].
    pub fn reduce_collection_in_kernel(
        &self,
        reduction: Reduction,
        values: &ScalarCollection<R>,
        kernel: &KernelInfo,
    ) -> Result<f64, Error> {
        self.note_lost_derivatives(values.jacobian.is_some());
        discrete::reduce(self, reduction, values).map_err(|error| self.placed(error, kernel))
    }

    /// The error of a reduction in a kernel, with its line.
    fn placed(&self, error: Error, kernel: &KernelInfo) -> Error {
        error.in_kernel(self.current_line(), if self.current_line() == 0 { kernel.lines } else { &[] })
    }
}

/// The components of a collection, as many as the grid has dimensions.
pub fn components<const DIM: usize>(vectors: &VectorCollection) -> [&[f64]; DIM] {
    vectors.slices()
}

/// The first components of a Vector, or the Vector of these numbers. Kernels call
/// [`SerialRuntime::vector_size`] first; missing components are 0.
#[inline]
pub fn vector<const DIM: usize>(components: &[f64]) -> [f64; DIM] {
    vector_of(components)
}

/// [`vector`] in any precision.
#[inline]
pub fn vector_of<const DIM: usize, R: Real>(components: &[R]) -> [R; DIM] {
    std::array::from_fn(|axis| components.get(axis).copied().unwrap_or(R::ZERO))
}

/// A single Vector in storage: components beyond the dimension of the grid are 0.
#[inline]
pub fn padded<const DIM: usize>(a: [f64; DIM]) -> [f64; 3] {
    std::array::from_fn(|axis| a.get(axis).copied().unwrap_or(0.0))
}

/// The Vector at a position.
///
/// # Panics
/// If there is no such element.
#[inline]
pub fn vector_at<const DIM: usize, R: Real>(components: &[&[R]; DIM], position: usize) -> [R; DIM] {
    components.map(|c| c[position])
}

/// `a + b`
#[inline]
pub fn vector_add<const DIM: usize, R: Real>(a: [R; DIM], b: [R; DIM]) -> [R; DIM] {
    std::array::from_fn(|axis| a[axis] + b[axis])
}

/// `a - b`
#[inline]
pub fn vector_sub<const DIM: usize, R: Real>(a: [R; DIM], b: [R; DIM]) -> [R; DIM] {
    std::array::from_fn(|axis| a[axis] - b[axis])
}

/// `-a`
#[inline]
pub fn vector_neg<const DIM: usize, R: Real>(a: [R; DIM]) -> [R; DIM] {
    a.map(|c| -c)
}

/// `a * s`
#[inline]
pub fn vector_mul<const DIM: usize, R: Real>(a: [R; DIM], s: R) -> [R; DIM] {
    a.map(|c| c * s)
}

/// `a / s`
#[inline]
pub fn vector_div<const DIM: usize, R: Real>(a: [R; DIM], s: R) -> [R; DIM] {
    a.map(|c| c / s)
}

/// `a * b + c`, with one rounding if the target processor has the instruction, else with two.
#[inline(always)]
pub fn mul_add<R: Real>(a: R, b: R, c: R) -> R {
    if cfg!(any(target_feature = "fma", target_arch = "aarch64")) { a.mul_add(b, c) } else { a * b + c }
}

/// Sum of the products of components, in order, starting with the first product.
#[inline]
pub fn dot<const DIM: usize, R: Real>(a: [R; DIM], b: [R; DIM]) -> R {
    let mut sum = a[0] * b[0];
    for axis in 1..DIM {
        sum += a[axis] * b[axis];
    }
    sum
}

/// Euclidean length.
#[inline]
pub fn length<const DIM: usize, R: Real>(a: [R; DIM]) -> R {
    dot(a, a).sqrt()
}

/// A component.
///
/// # Panics
/// If the grid has no such axis; kernels call [`SerialRuntime::needs_dimension`] first.
#[inline]
pub fn component<const DIM: usize, R: Real>(a: [R; DIM], index: usize) -> R {
    a[index]
}

/// The first `len` values of `rows[axis]`; empty for an axis that the grid does not have.
#[inline]
pub fn lane<'a, const DIM: usize, R: Real>(rows: &[&'a [R]; DIM], axis: usize, len: usize) -> &'a [R] {
    rows.get(axis).map_or(&[][..], |row| &row[..len])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vectors() {
        let (a, b) = ([3.0, 4.0], [1.0, -2.0]);
        assert_eq!(vector_add(a, b), [4.0, 2.0]);
        assert_eq!(vector_sub(a, b), [2.0, 6.0]);
        assert_eq!(vector_neg(a), [-3.0, -4.0]);
        assert_eq!(vector_mul(a, 2.0), [6.0, 8.0]);
        assert_eq!(vector_div(a, 2.0), [1.5, 2.0]);
        assert_eq!(dot(a, b), -5.0);
        assert_eq!(length(a), 5.0);
    }
}
