//! Allocation of values of a program.

use std::rc::Rc;
use std::sync::Arc;

use equelle_runtime::domain::Domain;
use equelle_runtime::{EntityKind, Error};

use crate::runtime::executor::pool::Buffer;
use crate::runtime::runtime::CudaRuntime;
use crate::runtime::values::collections::{BoolCollection, Collection, EntityCollection, Layout, VectorCollection};

impl CudaRuntime {
    /// A collection with undefined values, for a kernel to write.
    ///
    /// # Errors
    /// `Backend`: not enough memory.
    pub fn new_collection(&self, domain: &Arc<Domain>) -> Result<Collection, Error> {
        Collection::new(&self.executor, domain, self.executor.precision().bytes() * domain.len() as u64)
    }

    /// A collection for a kernel that writes its result over it: itself, or a copy where something
    /// else has a handle on its values.
    ///
    /// # Errors
    /// `Backend`: not enough memory.
    pub fn in_place(&mut self, collection: Collection) -> Result<Collection, Error> {
        let dense = self.dense(&collection)?;
        drop(collection);
        if Rc::strong_count(&dense.buffer) == 1 {
            self.executor.await_copy_of(&dense.buffer)?;
            return Ok(dense);
        }
        let (n, copy) = (dense.domain.len(), self.new_collection(&dense.domain)?);
        let call = self.executor.collection_call("equelle_copy")?.arg(n as u32).arg(dense.pointer()).arg(copy.pointer());
        self.executor.launch_over(call, n)?;
        Ok(copy)
    }

    /// [`CudaRuntime::new_collection`] for Vectors.
    ///
    /// # Errors
    /// `Backend`: not enough memory.
    pub fn new_vector_collection(&self, domain: &Arc<Domain>) -> Result<VectorCollection, Error> {
        let bytes = self.executor.precision().bytes() * self.session.grid().dim() as u64 * domain.len() as u64;
        Ok(VectorCollection::constant(Collection::new(&self.executor, domain, bytes)?))
    }

    /// [`CudaRuntime::new_collection`] for Bools.
    ///
    /// # Errors
    /// `Backend`: not enough memory.
    pub fn new_bool_collection(&self, domain: &Arc<Domain>) -> Result<BoolCollection, Error> {
        Ok(BoolCollection(Collection::new(&self.executor, domain, domain.len() as u64)?))
    }

    /// [`CudaRuntime::new_collection`] for entities of a kind.
    ///
    /// # Errors
    /// `Backend`: not enough memory.
    pub fn new_entity_collection(&self, domain: &Arc<Domain>, kind: EntityKind) -> Result<EntityCollection, Error> {
        let values = Collection::new(&self.executor, domain, 4 * domain.len() as u64)?;
        Ok(EntityCollection { values, kind })
    }

    /// A collection that a Cartesian run stores as one value per axis (faces) or one value (cells).
    ///
    /// # Errors
    /// `Backend`: not enough memory.
    pub fn new_per_axis_collection(&self, domain: &Arc<Domain>) -> Result<Collection, Error> {
        let buffer = self.executor.buffer(domain.name(), 8 * 3)?;
        Ok(Collection { domain: Arc::clone(domain), buffer, layout: Layout::PerAxis, derivatives: None })
    }

    /// Number of evaluations of a per-axis kernel over a domain.
    pub fn per_axis_len(&self, domain: &Domain) -> usize {
        if domain.kind() == EntityKind::Face { self.session.grid().dim() } else { 1 }
    }

    /// Allocates a number, for a kernel to write;
    /// [`Scalar::Device`](crate::runtime::Scalar::Device) makes it a Scalar.
    ///
    /// # Errors
    /// `Backend`: not enough memory.
    pub fn new_number(&self) -> Result<Rc<Buffer>, Error> {
        self.executor.new_number()
    }

    /// Allocates a Bool, for a kernel to write;
    /// [`Bool::Device`](crate::runtime::Bool::Device) makes it a Bool.
    ///
    /// # Errors
    /// `Backend`: not enough memory.
    pub fn new_bool(&self) -> Result<Rc<Buffer>, Error> {
        self.executor.buffer("a truth value", 1)
    }

    /// Allocates a Vector, for a kernel to write.
    ///
    /// # Errors
    /// `Backend`: not enough memory.
    pub fn new_vector(&self) -> Result<Rc<Buffer>, Error> {
        self.executor.buffer("a Vector", 8 * 3)
    }

    /// The collection with one value per element: itself, or broadcast from values per axis.
    ///
    /// # Errors
    /// `Backend`: not enough memory.
    pub fn dense(&mut self, collection: &Collection) -> Result<Collection, Error> {
        if collection.derivatives.is_some() {
            let line = self.session.current_line();
            self.derivatives_lost.get_or_insert(line);
        }
        self.plain(collection)
    }

    /// [`CudaRuntime::dense`] for callers that propagate derivatives or need none.
    pub(crate) fn plain(&mut self, collection: &Collection) -> Result<Collection, Error> {
        if collection.layout == Layout::Dense {
            return Ok(Collection { derivatives: None, ..collection.clone() });
        }
        let dense = self.new_collection(&collection.domain)?;
        let faces = u32::from(collection.domain.kind() == EntityKind::Face);
        let call = self
            .executor
            .collection_call("equelle_broadcast")?
            .arg(self.executor.cartesian_args()?)
            .arg(self.space(&collection.domain)?)
            .arg(faces)
            .arg(1u32)
            .arg(collection.pointer())
            .arg(dense.pointer());
        self.executor.launch_over(call, collection.domain.len())?;
        Ok(dense)
    }
}
