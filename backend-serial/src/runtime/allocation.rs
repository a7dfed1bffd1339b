//! Functions for kernels: the grid, buffers, collections from buffers, values, errors with lines.
//!
//! A generated kernel reads its inputs as slices ([`SerialRuntime::dense`], or
//! [`ScalarCollection::per_axis`] for parameters that the compiler stores per axis), takes a buffer
//! for each result ([`SerialRuntime::take_buffer`]), writes every element, and wraps it
//! ([`SerialRuntime::scalar_collection_from`]):
//!
//! ```
//! use backend_serial::runtime::{ScalarCollection, SerialRuntime};
//!
//! /// u + dt, element by element.
//! fn kernel(rt: &mut SerialRuntime, u: &ScalarCollection, dt: f64) -> ScalarCollection {
//!     let domain = u.domain();
//!     let u = rt.dense(u);
//!     let mut sum = rt.take_buffer(domain.len());
//!     for (sum, &u) in sum.iter_mut().zip(u.iter()) {
//!         *sum = u + dt;
//!     }
//!     rt.scalar_collection_from(domain, sum)
//! }
//! ```

use std::sync::Arc;

use equelle_runtime::domain::Domain;
use equelle_runtime::grid::{Grid, NONE};
use equelle_runtime::{CanonicalSet, EntityKind, Error, KernelInfo, Real, Reduction};

use super::SerialRuntime;
use super::collections::{BoolCollection, EntityCollection, ScalarCollection, Storage, VectorCollection};
use super::discrete;
use super::pool::{Buffer, PoolCounters, Values};

impl<R: Real> SerialRuntime<R> {
    /// The grid.
    pub fn grid(&self) -> &Grid {
        self.session.grid()
    }

    /// True if this run uses Cartesian kernels: the grid is Cartesian and the user did not choose
    /// to treat it as unstructured.
    pub fn uses_cartesian_forms(&self) -> bool {
        self.grid().cartesian_shape().is_some()
    }

    /// The current Equelle line, as of the last [`equelle_runtime::EquelleRuntime::line`]; 0 before
    /// the first statement.
    pub fn current_line(&self) -> u32 {
        self.session.current_line()
    }

    /// A canonical set, the same handle in every call.
    ///
    /// # Errors
    /// If the grid has no entities of that kind.
    pub fn canonical_domain(&mut self, set: CanonicalSet) -> Result<Arc<Domain>, Error> {
        self.session.domain(set)
    }

    /// A writable buffer of `len` numbers. Its contents are undefined: write every element.
    pub fn take_buffer(&self, len: usize) -> Buffer<R> {
        self.reals.take_aligned(len)
    }

    /// [`Self::take_buffer`] for entries of a matrix, which leave the pool without a copy.
    pub fn take_entries(&self, len: usize) -> Buffer<R> {
        self.reals.take(len)
    }

    /// The numbers of a collection, for a kernel that writes its result over them; a copy where
    /// something else has a handle on them.
    pub fn in_place(&self, collection: ScalarCollection<R>) -> Buffer<R> {
        let values = self.dense(&collection);
        drop(collection);
        values.into_buffer()
    }

    /// [`Self::take_buffer`] for Bools.
    pub fn take_bool_buffer(&self, len: usize) -> Buffer<bool> {
        self.bools.take(len)
    }

    /// [`Self::take_buffer`] for entity indices ([`equelle_runtime::grid::NONE`] stands for Empty).
    pub fn take_entity_buffer(&self, len: usize) -> Buffer<u32> {
        self.indices.take(len)
    }

    /// Counters of the buffer pools: `allocated` does not grow in later steps.
    pub fn buffer_counters(&self) -> PoolCounters {
        self.reals.counters().plus(self.doubles.counters()).plus(self.bools.counters()).plus(self.indices.counters())
    }

    /// A collection from a written buffer, with one value per element of the domain.
    pub fn scalar_collection_from(&self, domain: &Arc<Domain>, buffer: Buffer<R>) -> ScalarCollection<R> {
        ScalarCollection::new(domain, buffer.share())
    }

    /// A collection of a Cartesian run with one value per axis (a set of faces) or one value, in
    /// entry 0 (a set of cells).
    pub fn per_axis_collection(&self, domain: &Arc<Domain>, values: [R; 3]) -> ScalarCollection<R> {
        debug_assert!(self.grid().closed_shape().is_some());
        ScalarCollection { domain: Arc::clone(domain), storage: Storage::PerAxis(values), jacobian: None }
    }

    /// A Collection Of Vector from one buffer per component, as many as the grid has dimensions.
    pub fn vector_collection_from(&self, domain: &Arc<Domain>, components: impl IntoIterator<Item = Buffer<R>>) -> VectorCollection<R> {
        let mut components = components.into_iter();
        let components: [Option<Values<R>>; 3] = std::array::from_fn(|_| components.next().map(Buffer::share));
        debug_assert!(components.iter().flatten().count() == self.grid().dim());
        debug_assert!(components.iter().flatten().all(|c| c.len() == domain.len()));
        VectorCollection { domain: Arc::clone(domain), components, jacobians: Default::default() }
    }

    /// [`Self::scalar_collection_from`] for Bools.
    pub fn bool_collection_from(&self, domain: &Arc<Domain>, buffer: Buffer<bool>) -> BoolCollection {
        debug_assert_eq!(buffer.len(), domain.len());
        BoolCollection { domain: Arc::clone(domain), values: buffer.share() }
    }

    /// [`Self::scalar_collection_from`] for entities of a kind.
    pub fn entity_collection_from(&self, domain: &Arc<Domain>, kind: EntityKind, buffer: Buffer<u32>) -> EntityCollection {
        debug_assert_eq!(buffer.len(), domain.len());
        EntityCollection { domain: Arc::clone(domain), kind, values: buffer.share() }
    }

    /// One value per element, in the order of the domain. Shares the collection's values; values
    /// per axis are broadcast into a new buffer in each call.
    ///
    /// The values have no derivatives: a kernel inside a residual would lose them here, which
    /// [`Self::check_derivatives_kept`] reports.
    pub fn dense(&self, collection: &ScalarCollection<R>) -> Values<R> {
        self.note_lost_derivatives(collection.jacobian.is_some());
        self.values_of(collection)
    }

    /// A component of Vectors, one value per element; `None` beyond the dimension of the grid.
    /// Loses derivatives as [`Self::dense`].
    pub fn dense_component(&self, collection: &VectorCollection<R>, axis: usize) -> Option<Values<R>> {
        self.note_lost_derivatives(collection.has_derivatives());
        collection.component(axis).cloned()
    }

    /// Stores the line at which values were read without derivatives, if they have some.
    pub(super) fn note_lost_derivatives(&self, has_derivatives: bool) {
        if has_derivatives && self.derivatives_lost.get().is_none() {
            self.derivatives_lost.set(Some(self.current_line()));
        }
    }

    /// [`Self::dense`] for operations that propagate derivatives.
    pub(super) fn values_of(&self, collection: &ScalarCollection<R>) -> Values<R> {
        match &collection.storage {
            Storage::Dense(values) => values.clone(),
            Storage::PerAxis(values) => {
                let mut dense = self.take_buffer(collection.domain.len());
                broadcast_per_axis(self.grid(), &collection.domain, *values, &mut dense);
                dense.share()
            }
        }
    }

    /// Reduces values computed on demand, as a fused kernel does: `value` of each position of the
    /// domain, called once each in the order of the grid's file. Combines in the order of
    /// [`equelle_runtime::reduce`]; allocates nothing in later steps.
    ///
    /// # Errors
    /// `Simulation` for Max or Min over a domain without elements.
    pub fn reduce_with(&self, reduction: Reduction, domain: &Arc<Domain>, value: impl FnMut(usize) -> f64) -> Result<f64, Error> {
        self.located(discrete::reduce_with(self, reduction, domain, value))
    }

    /// The error of data or geometry read at an Empty element: entry `position` of a collection on
    /// `domain`, in a kernel.
    pub fn on_empty_in_kernel(&self, kernel: &KernelInfo, domain: &Domain, position: usize) -> Error {
        on_empty(domain, position).in_kernel(self.session.current_line(), kernel.lines)
    }

    /// The error of a face with two cells where one has to be: entry `position` of a collection on
    /// `domain`, in a kernel.
    pub fn two_cells_in_kernel(&self, kernel: &KernelInfo, domain: &Domain, position: usize) -> Error {
        two_cells(domain, position).in_kernel(self.session.current_line(), kernel.lines)
    }

    /// Adds the current line to the error of an operation.
    pub(super) fn located<T>(&self, result: Result<T, Error>) -> Result<T, Error> {
        result.map_err(|error| self.session.locate(error))
    }
}

/// Writes a value per axis to the elements of a domain.
fn broadcast_per_axis<R: Real>(grid: &Grid, domain: &Domain, values: [R; 3], dense: &mut [R]) {
    match (domain.kind(), grid.closed_shape()) {
        (EntityKind::Face, Some(shape)) => {
            // Faces are numbered axis by axis.
            let starts = [shape.face_start(1), shape.face_start(2)];
            if domain.is_all() {
                dense[..starts[0]].fill(values[0]);
                dense[starts[0]..starts[1]].fill(values[1]);
                dense[starts[1]..].fill(values[2]);
            } else {
                for (out, &face) in dense.iter_mut().zip(domain.elements()) {
                    let face = face as usize;
                    *out = values[usize::from(face >= starts[0]) + usize::from(face >= starts[1])];
                }
            }
        }
        (EntityKind::Face | EntityKind::Cell | EntityKind::Edge | EntityKind::Vertex, _) => dense.fill(values[0]),
    }
}

/// The error of data or geometry read at an Empty element, without line: entry `position` of a
/// target on `domain`.
pub(super) fn on_empty(domain: &Domain, position: usize) -> Error {
    let kind = domain.kind().noun();
    let element = element_at(domain, position);
    Error::empty_element(kind, Some(element))
}

/// The error of a face with two cells, without line: entry `position` of a collection on `domain`.
pub(super) fn two_cells(domain: &Domain, position: usize) -> Error {
    Error::two_cells(domain.kind().noun(), Some(element_at(domain, position)))
}

/// The error of entry `position` of a collection on `domain`, which has no value. In the halo of a
/// rank, where it may come from values of an earlier round, it gets `instead`.
pub(super) fn without_value<T>(domain: &Domain, position: usize, instead: T, error: impl FnOnce() -> Error) -> Result<T, Error> {
    if position >= domain.len() || domain.is_own(position) { Err(error().with_element(element_at(domain, position))) } else { Ok(instead) }
}

/// Element `position` of a domain in the numbering of the grid's file, for messages.
pub(super) fn element_at(domain: &Domain, position: usize) -> u32 {
    if position < domain.len() { domain.grid().file_index(domain.kind(), domain.element(position)) } else { NONE }
}
