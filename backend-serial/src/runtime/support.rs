//! What kernels call: the grid, buffers to write, collections to wrap them in, values to read, errors with places.
//!
//! A generated kernel takes its inputs as slices ([`SerialRuntime::dense`], or [`ScalarCollection::per_axis`] where the compiler says that a parameter is
//! kept per axis), takes a buffer per result ([`SerialRuntime::take_buffer`]), writes every element, and wraps it ([`SerialRuntime::scalar_collection_from`]):
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

    /// Whether this run uses the Cartesian forms of kernels: the grid is Cartesian and the user did not ask to treat it as unstructured.
    pub fn uses_cartesian_forms(&self) -> bool {
        self.grid().cartesian_shape().is_some()
    }

    /// The Equelle line of what runs now, as last given to [`equelle_runtime::EquelleRuntime::line`]; 0 before the first statement.
    pub fn current_line(&self) -> u32 {
        self.session.current_line()
    }

    /// A canonical set, the same handle at every call.
    ///
    /// # Errors
    /// If the grid keeps no entities of that kind.
    pub fn canonical_domain(&mut self, set: CanonicalSet) -> Result<Arc<Domain>, Error> {
        self.session.domain(set)
    }

    /// A buffer of `len` numbers to write. Its contents are left over from an earlier use: write every element.
    pub fn take_buffer(&self, len: usize) -> Buffer<R> {
        self.reals.take(len)
    }

    /// Takes back numbers that have left the pool.
    pub(super) fn give_back(&self, values: Vec<R>) {
        self.reals.give_back(values);
    }

    /// As [`Self::take_buffer`], of truth values.
    pub fn take_bool_buffer(&self, len: usize) -> Buffer<bool> {
        self.bools.take(len)
    }

    /// As [`Self::take_buffer`], of entity indices ([`equelle_runtime::grid::NONE`] stands for Empty).
    pub fn take_entity_buffer(&self, len: usize) -> Buffer<u32> {
        self.indices.take(len)
    }

    /// What the buffer pools have done: in a steady step `allocated` does not grow.
    pub fn buffer_counters(&self) -> PoolCounters {
        self.reals.counters().plus(self.doubles.counters()).plus(self.bools.counters()).plus(self.indices.counters())
    }

    /// A collection whose values are those written to the buffer, one per element of the domain.
    pub fn scalar_collection_from(&self, domain: &Arc<Domain>, buffer: Buffer<R>) -> ScalarCollection<R> {
        debug_assert_eq!(buffer.len(), domain.len());
        ScalarCollection { domain: Arc::clone(domain), storage: Storage::Dense(buffer.share()), jacobian: None }
    }

    /// A collection of values that another one of the same domain already holds, shared.
    pub(super) fn scalar_collection_of(&self, domain: &Arc<Domain>, values: Values<R>) -> ScalarCollection<R> {
        debug_assert_eq!(values.len(), domain.len());
        ScalarCollection { domain: Arc::clone(domain), storage: Storage::Dense(values), jacobian: None }
    }

    /// A collection of a Cartesian run kept as one value per axis (a set of faces) or one value, in entry 0 (a set of cells).
    pub fn per_axis_collection(&self, domain: &Arc<Domain>, values: [R; 3]) -> ScalarCollection<R> {
        debug_assert!(self.grid().cartesian_shape().is_some());
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

    /// As [`Self::scalar_collection_from`], of truth values.
    pub fn bool_collection_from(&self, domain: &Arc<Domain>, buffer: Buffer<bool>) -> BoolCollection {
        debug_assert_eq!(buffer.len(), domain.len());
        BoolCollection { domain: Arc::clone(domain), values: buffer.share() }
    }

    /// As [`Self::scalar_collection_from`], of entities of a kind.
    pub fn entity_collection_from(&self, domain: &Arc<Domain>, kind: EntityKind, buffer: Buffer<u32>) -> EntityCollection {
        debug_assert_eq!(buffer.len(), domain.len());
        EntityCollection { domain: Arc::clone(domain), kind, values: buffer.share() }
    }

    /// One value per element, in the order of the domain. Shares the collection's values, unless it is kept per axis: then they are spread into a
    /// buffer, every time this is called.
    ///
    /// The values alone: a kernel inside a residual would lose derivatives here, which [`Self::check_derivatives_kept`] reports.
    pub fn dense(&self, collection: &ScalarCollection<R>) -> Values<R> {
        self.note_lost_derivatives(collection);
        self.values_of(collection)
    }

    /// Remembers the line at which values of a collection with derivatives left without them.
    pub(super) fn note_lost_derivatives(&self, collection: &ScalarCollection<R>) {
        if collection.jacobian.is_some() && self.derivatives_lost.get().is_none() {
            self.derivatives_lost.set(Some(self.current_line()));
        }
    }

    /// As [`Self::note_lost_derivatives`], of vectors.
    pub(super) fn note_lost_vector_derivatives(&self, collection: &VectorCollection<R>) {
        if collection.has_derivatives() && self.derivatives_lost.get().is_none() {
            self.derivatives_lost.set(Some(self.current_line()));
        }
    }

    /// As [`Self::dense`], for operations that know of derivatives.
    pub(super) fn values_of(&self, collection: &ScalarCollection<R>) -> Values<R> {
        match &collection.storage {
            Storage::Dense(values) => values.clone(),
            Storage::PerAxis(values) => self.spread_per_axis(&collection.domain, *values),
        }
    }

    /// Reduces values made on the spot, as a fused kernel does: `value` of each position of the domain, called once each in the order of the
    /// grid's file. The order of combination is that of [`equelle_runtime::reduce`], and nothing is allocated in a steady step.
    ///
    /// # Errors
    /// `Simulation` for Max or Min over a domain without elements.
    pub fn reduce_with(&self, reduction: Reduction, domain: &Domain, value: impl FnMut(usize) -> f64) -> Result<f64, Error> {
        self.located(discrete::reduce_with(self, reduction, domain, value))
    }

    fn spread_per_axis(&self, domain: &Domain, values: [R; 3]) -> Values<R> {
        let mut dense = self.take_buffer(domain.len());
        match (domain.kind(), self.grid().cartesian_shape()) {
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
        dense.share()
    }

    /// The error of data or geometry asked of an Empty element: entry `position` of a collection over `domain`, in a kernel.
    pub fn on_empty_in_kernel(&self, kernel: &KernelInfo, domain: &Domain, position: usize) -> Error {
        on_empty(domain, position).in_kernel(self.session.current_line(), kernel.lines)
    }

    /// Adds the current line to the error of an operation.
    pub(super) fn located<T>(&self, result: Result<T, Error>) -> Result<T, Error> {
        result.map_err(|error| self.session.locate(error))
    }
}

/// The error of data or geometry asked of an Empty element, not yet located: entry `position` of a target over `domain`.
pub(super) fn on_empty(domain: &Domain, position: usize) -> Error {
    let kind = domain.kind().noun();
    let element = element_at(domain, position);
    Error::empty_element(kind, Some(element))
}

/// Element `position` of a domain in the numbering of the grid's file, for messages.
pub(super) fn element_at(domain: &Domain, position: usize) -> u32 {
    if position < domain.len() { domain.grid().file_index(domain.kind(), domain.element(position)) } else { NONE }
}
