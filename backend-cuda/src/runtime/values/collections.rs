//! Handles of values on the device. Clones share the buffer.

use std::cell::OnceCell;
use std::rc::Rc;
use std::sync::Arc;

use equelle_runtime::domain::Domain;
use equelle_runtime::math::table::Table;
use equelle_runtime::{EntityKind, Error};

use crate::runtime::device::DevicePtr;
use crate::runtime::executor::Executor;
use crate::runtime::executor::pool::Buffer;
use crate::runtime::linalg::csr::CsrPattern;
use crate::runtime::linalg::csr::Jacobian;

/// One number: known on the host before the run, or computed on the device.
#[derive(Clone, Debug)]
pub enum Scalar {
    /// A constant or an input; uploaded on first use by a kernel.
    Host(f64),
    /// In device memory.
    Device(Rc<Buffer>),
    /// One of several numbers in device memory.
    Element {
        /// The numbers.
        of: Rc<Buffer>,
        /// Its index, from 0.
        index: u32,
    },
}

impl Scalar {
    /// The number, copied from the device if it is there.
    pub(crate) fn value(&self, executor: &Executor) -> Result<f64, Error> {
        match self {
            Scalar::Host(value) => Ok(*value),
            Scalar::Device(buffer) => executor.download_one(buffer.address()),
            Scalar::Element { of, index } => executor.download_one(of.number(*index)),
        }
    }
}

/// One Bool: known on the host before the run, or computed on the device.
#[derive(Clone, Debug)]
pub enum Bool {
    /// A constant; uploaded on first use by a kernel.
    Host(bool),
    /// In device memory, a byte.
    Device(Rc<Buffer>),
}

/// One geometric vector in device memory: three numbers, of which those of the grid's dimensions
/// are used.
#[derive(Clone, Debug)]
pub struct Vector(pub Rc<Buffer>);

impl Vector {
    /// Its address.
    pub fn pointer(&self) -> DevicePtr {
        self.0.address()
    }
}

/// Storage of a collection's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Layout {
    /// One per element.
    Dense,
    /// One per axis of a Cartesian grid (faces), or one (cells).
    PerAxis,
}

/// Dependence of a collection on the unknowns of the current Newton solve.
#[derive(Debug)]
pub(crate) enum Derivatives {
    /// It is an unknown.
    Unknown {
        /// Number of its first column.
        first: usize,
        /// Number of unknowns of the whole solve.
        n_cols: usize,
        /// Its rows of the Jacobian, once an operation has used them.
        identity: OnceCell<Jacobian>,
    },
    /// It depends on unknowns, with these rows of the Jacobian.
    Rows { rows: Rc<CsrPattern>, entries: Rc<Buffer> },
}

impl From<Jacobian> for Derivatives {
    fn from(Jacobian { rows, entries }: Jacobian) -> Derivatives {
        Derivatives::Rows { rows, entries }
    }
}

/// Values over a domain. `[domain.len()]`; Vectors component after component.
#[derive(Clone, Debug)]
pub struct Collection {
    pub(crate) domain: Arc<Domain>,
    pub(crate) buffer: Rc<Buffer>,
    pub(crate) layout: Layout,
    /// Derivatives with respect to the unknowns of the current Newton solve; `None` for constants.
    pub(crate) derivatives: Option<Rc<Derivatives>>,
}

impl Collection {
    /// Undefined values of a type with a total of `bytes`.
    ///
    /// # Errors
    /// `Backend`: not enough memory.
    pub(crate) fn new(executor: &Executor, domain: &Arc<Domain>, bytes: u64) -> Result<Self, Error> {
        Ok(Collection::dense(domain, executor.buffer(domain.name(), bytes)?))
    }

    /// One value per element, without derivatives.
    pub(crate) fn dense(domain: &Arc<Domain>, buffer: Rc<Buffer>) -> Self {
        Collection { domain: Arc::clone(domain), buffer, layout: Layout::Dense, derivatives: None }
    }

    /// Its domain.
    pub fn domain(&self) -> &Arc<Domain> {
        &self.domain
    }

    /// True if it is stored as one value per axis, on a Cartesian grid.
    pub fn is_per_axis(&self) -> bool {
        self.layout == Layout::PerAxis
    }

    /// Number of the first column of an unknown, and the number of columns.
    pub(crate) fn columns(&self) -> Result<(usize, usize), Error> {
        match self.derivatives.as_deref() {
            Some(&Derivatives::Unknown { first, n_cols, .. }) => Ok((first, n_cols)),
            Some(Derivatives::Rows { .. }) | None => Err(Error::internal("an unknown without derivatives")),
        }
    }

    /// The address of its values, in any storage.
    pub fn pointer(&self) -> DevicePtr {
        self.buffer.address()
    }
}

/// One number per element.
pub type ScalarCollection = Collection;

/// One vector per element. `[dim][domain.len()]`
#[derive(Clone, Debug)]
pub struct VectorCollection {
    pub(crate) values: Collection,
    /// Derivatives of each component with respect to the unknowns of the current Newton solve;
    /// `None` for constants.
    pub(crate) jacobians: [Option<Jacobian>; 3],
}

impl VectorCollection {
    /// Vectors without derivatives.
    pub(crate) fn constant(values: Collection) -> Self {
        VectorCollection { values, jacobians: [None, None, None] }
    }
}

/// One Bool per element, one byte each.
#[derive(Clone, Debug)]
pub struct BoolCollection(pub(crate) Collection);

/// One entity or Empty per element.
#[derive(Clone, Debug)]
pub struct EntityCollection {
    pub(crate) values: Collection,
    /// Kind of the entities.
    pub(crate) kind: EntityKind,
}

impl EntityCollection {
    /// Kind of the entities.
    pub fn kind(&self) -> EntityKind {
        self.kind
    }
}

macro_rules! stored {
    ($($handle:ident: $field:tt),*) => {$(
        impl $handle {
            /// Its domain.
            pub fn domain(&self) -> &Arc<Domain> {
                &self.$field.domain
            }

            /// The address of its values.
            pub fn pointer(&self) -> DevicePtr {
                self.$field.pointer()
            }
        }
    )*};
}

stored!(VectorCollection: values, BoolCollection: 0, EntityCollection: values);

/// A list of numbers, on the device and on the host.
#[derive(Clone, Debug)]
pub struct Sequence {
    pub(crate) len: usize,
    pub(crate) buffer: Rc<Buffer>,
    /// The numbers on the host, if they were read there.
    pub(crate) read: Option<Arc<Vec<f64>>>,
}

/// A table on the device, and on the host.
#[derive(Clone, Debug)]
pub struct DeviceTable {
    pub(crate) buffer: Rc<Buffer>,
    pub(crate) table: Arc<Table>,
}

impl DeviceTable {
    /// Address of its numbers.
    pub fn pointer(&self) -> DevicePtr {
        self.buffer.address()
    }
}

/// State of a loop.
#[derive(Debug)]
pub struct Loop {
    pub(crate) state: equelle_runtime::session::LoopState,
    /// Elements of its rounds, if they have any.
    pub(crate) elements: Option<Elements>,
    /// Number of sequences of launches submitted to the device before the round.
    pub(crate) handed_over: u64,
    /// Profile of the steady rounds, with `--profile`.
    pub(crate) steady: Option<crate::runtime::values::steady::Steady>,
}

/// The elements of the rounds of a loop.
#[derive(Debug)]
pub struct Elements {
    pub(crate) sequence: Sequence,
    /// Index of the first element of the window, on the device.
    pub(crate) taken: Rc<Buffer>,
    /// The elements of the rounds that are queued together: `[ROUNDS_TOGETHER]`.
    pub(crate) window: Option<Rc<Buffer>>,
    /// Number of used elements of the window.
    pub(crate) used: u32,
}
