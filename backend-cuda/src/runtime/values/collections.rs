//! Handles of values on the device. Cloning shares the buffer.

use std::cell::OnceCell;
use std::rc::Rc;
use std::sync::Arc;

use equelle_runtime::EntityKind;
use equelle_runtime::domain::Domain;

use crate::runtime::device::DevicePtr;
use crate::runtime::executor::pool::Buffer;
use crate::runtime::linalg::csr::CsrPattern;
use crate::runtime::linalg::csr::Jacobian;

/// One number: known to the host since before the run, or computed on the device.
#[derive(Clone, Debug)]
pub enum Scalar {
    /// A constant or an input; uploaded when a kernel first asks for it.
    Known(f64),
    /// In device memory.
    Device(Rc<Buffer>),
    /// One of several numbers in device memory.
    Element {
        /// The numbers.
        of: Rc<Buffer>,
        /// Which of them, from 0.
        index: u32,
    },
}

/// One truth value: known to the host since before the run, or computed on the device.
#[derive(Clone, Debug)]
pub enum Bool {
    /// A constant; uploaded when a kernel first asks for it.
    Known(bool),
    /// In device memory, a byte.
    Device(Rc<Buffer>),
}

/// One geometric vector, in device memory: room for three numbers, of which as many are used as the grid has dimensions.
#[derive(Clone, Debug)]
pub struct Vector(pub Rc<Buffer>);

impl Vector {
    /// Where it is.
    pub fn pointer(&self) -> DevicePtr {
        self.0.address()
    }
}

/// How the values of a collection are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Layout {
    /// One per element.
    Dense,
    /// One per axis of a Cartesian grid (faces), or one (cells).
    PerAxis,
}

/// What a collection knows of the unknowns of the Newton solve in progress.
#[derive(Debug)]
pub(crate) enum Derivatives {
    /// It is an unknown.
    Unknown {
        /// Number of its first column.
        first: usize,
        /// Number of unknowns of the whole solve.
        n_cols: usize,
        /// Its rows of the Jacobian, once an operation has asked for them.
        identity: OnceCell<Jacobian>,
    },
    /// It depends on unknowns: its rows of the Jacobian.
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
    /// By the unknowns of the Newton solve in progress; `None` for constants.
    pub(crate) derivatives: Option<Rc<Derivatives>>,
}

impl Collection {
    /// One value per element, without derivatives.
    pub(crate) fn dense(domain: &Arc<Domain>, buffer: Rc<Buffer>) -> Self {
        Collection { domain: Arc::clone(domain), buffer, layout: Layout::Dense, derivatives: None }
    }

    /// The domain it lives on.
    pub fn domain(&self) -> &Arc<Domain> {
        &self.domain
    }

    /// Whether a Cartesian run stores it as one value per axis.
    pub fn is_per_axis(&self) -> bool {
        self.layout == Layout::PerAxis
    }

    /// Where the values are, however they are stored.
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
    /// Of each component, by the unknowns of the Newton solve in progress; `None` for constants.
    pub(crate) jacobians: [Option<Jacobian>; 3],
}

impl VectorCollection {
    /// Vectors without derivatives.
    pub(crate) fn constant(values: Collection) -> Self {
        VectorCollection { values, jacobians: [None, None, None] }
    }
}

/// One truth value per element, a byte each.
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
            /// The domain it lives on.
            pub fn domain(&self) -> &Arc<Domain> {
                &self.$field.domain
            }

            /// Where the values are.
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
    /// Those on the host, where they were read there.
    pub(crate) read: Option<Arc<Vec<f64>>>,
}

/// State of a loop over a sequence.
#[derive(Debug)]
pub struct Loop {
    pub(crate) state: equelle_runtime::session::LoopState,
    pub(crate) sequence: Sequence,
    /// Number of the first element of the window, on the device.
    pub(crate) taken: Rc<Buffer>,
    /// The elements of the rounds that are queued together: `[ROUNDS_TOGETHER]`.
    pub(crate) window: Option<Rc<Buffer>>,
    /// How many of them have been taken.
    pub(crate) used: u32,
    /// Sequences of launches that had been handed to the device when the round began.
    pub(crate) handed_over: u64,
    /// With `--profile`: what the rounds after the first few took.
    pub(crate) steady: Option<crate::runtime::values::steady::Steady>,
}
