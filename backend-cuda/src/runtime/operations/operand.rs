//! Operands and results of operations: numbers with derivatives with respect to the unknowns of a
//! Newton solve.

use std::rc::Rc;
use std::sync::Arc;

use equelle_runtime::Error;
use equelle_runtime::domain::Domain;

use crate::runtime::autodiff::jacobian::jacobian_of;
use crate::runtime::executor::arguments::EqOperand;
use crate::runtime::executor::pool::Buffer;
use crate::runtime::executor::precision::Precision;
use crate::runtime::linalg::csr::Jacobian;
use crate::runtime::runtime::CudaRuntime;
use crate::runtime::values::collections::{Collection, Derivatives, Scalar, Vector, VectorCollection};

/// Operand of an operation: one number, one for each element of a domain, or Vectors. Its buffer is
/// not reused before it is dropped.
#[derive(Clone, Debug)]
pub(crate) struct Numbers {
    pub operand: EqOperand,
    /// Precision of the numbers in memory, for the addresses of components.
    precision: Precision,
    _memory: Option<Rc<Buffer>>,
    /// Derivatives of each component; those of one number per element apply to every component.
    pub jacobians: [Option<Jacobian>; 3],
}

impl Numbers {
    /// One component.
    pub fn component(&self, axis: usize) -> Numbers {
        let operand = EqOperand { values: self.component_address(axis), component_stride: 0, ..self.operand };
        Numbers {
            operand,
            precision: self.precision,
            _memory: self._memory.clone(),
            jacobians: std::array::from_fn(|_| self.jacobians[axis].clone()),
        }
    }

    fn component_address(&self, axis: usize) -> u64 {
        self.operand.values + self.precision.bytes() * axis as u64 * u64::from(self.operand.component_stride)
    }

    /// One number for each element, in memory.
    pub fn each(buffer: &Rc<Buffer>) -> Numbers {
        Self::components(buffer, 0, Precision::Double)
    }

    /// Numbers of a precision for each of `n` elements in memory, component after component.
    pub fn components(buffer: &Rc<Buffer>, n: usize, precision: Precision) -> Numbers {
        let operand = EqOperand { values: buffer.address().0, stride: 1, component_stride: n as u32, ..EqOperand::default() };
        Numbers { operand, precision, _memory: Some(Rc::clone(buffer)), jacobians: [None, None, None] }
    }

    pub fn has_derivatives(&self) -> bool {
        self.jacobians.iter().any(Option::is_some)
    }
}

/// Result of an operation: component after component.
pub(crate) struct Computed {
    pub buffer: Rc<Buffer>,
    pub jacobians: [Option<Jacobian>; 3],
}

impl Computed {
    /// A result without derivatives.
    pub fn constant(buffer: Rc<Buffer>) -> Self {
        Computed { buffer, jacobians: [None, None, None] }
    }

    /// Converts to a collection of numbers.
    pub fn scalars(self, domain: &Arc<Domain>) -> Collection {
        let [jacobian, ..] = self.jacobians;
        let derivatives = jacobian.map(|jacobian| Rc::new(Derivatives::from(jacobian)));
        Collection { derivatives, ..Collection::dense(domain, self.buffer) }
    }

    /// Converts to a collection of Vectors.
    pub fn vectors(self, domain: &Arc<Domain>) -> VectorCollection {
        VectorCollection { values: Collection::dense(domain, self.buffer), jacobians: self.jacobians }
    }
}

impl From<Computed> for Numbers {
    /// A result of one component.
    fn from(computed: Computed) -> Numbers {
        Numbers { jacobians: computed.jacobians, ..Numbers::each(&computed.buffer) }
    }
}

/// The size of a result.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Extent {
    /// Elements.
    pub n: usize,
    /// Numbers per element.
    pub components: usize,
    /// The owner of the numbers.
    pub of: Of,
}

/// The owner of numbers, which determines their precision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Of {
    /// A collection: in the precision of the program.
    Collection,
    /// A Scalar, a single Vector or a sequence: in double precision.
    Alone,
}

impl Extent {
    /// A number for each element of a domain.
    pub fn scalars(domain: &Domain) -> Self {
        Extent { n: domain.len(), components: 1, of: Of::Collection }
    }

    /// A Vector for each element of a domain.
    pub fn vectors(rt: &CudaRuntime, domain: &Domain) -> Self {
        Extent { components: rt.executor.dim(), ..Extent::scalars(domain) }
    }

    /// One Vector.
    pub fn one_vector(rt: &CudaRuntime) -> Self {
        Extent { components: rt.executor.dim(), ..Extent::alone(1) }
    }

    /// `n` numbers that belong to no collection.
    pub fn alone(n: usize) -> Self {
        Extent { n, components: 1, of: Of::Alone }
    }
}

/// Conversion of values to numeric operands.
pub(crate) trait Operand {
    /// The numbers without derivatives.
    fn values(&self, rt: &mut CudaRuntime) -> Result<Numbers, Error>;

    /// The numbers with their derivatives.
    fn numbers(&self, rt: &mut CudaRuntime) -> Result<Numbers, Error> {
        self.values(rt)
    }
}

impl Operand for Scalar {
    fn values(&self, _: &mut CudaRuntime) -> Result<Numbers, Error> {
        let (operand, memory) = match self {
            Scalar::Host(value) => (EqOperand { value: *value, ..EqOperand::default() }, None),
            Scalar::Element { of, index } => (EqOperand { values: of.number(*index).0, ..EqOperand::default() }, Some(Rc::clone(of))),
            Scalar::Device(buffer) => (EqOperand { values: buffer.address().0, ..EqOperand::default() }, Some(Rc::clone(buffer))),
        };
        Ok(Numbers { operand, precision: Precision::Double, _memory: memory, jacobians: [None, None, None] })
    }
}

impl Operand for Vector {
    fn values(&self, _: &mut CudaRuntime) -> Result<Numbers, Error> {
        let operand = EqOperand { values: self.pointer().0, component_stride: 1, ..EqOperand::default() };
        Ok(Numbers { operand, precision: Precision::Double, _memory: Some(Rc::clone(&self.0)), jacobians: [None, None, None] })
    }
}

impl Operand for Collection {
    fn values(&self, rt: &mut CudaRuntime) -> Result<Numbers, Error> {
        Ok(Numbers::each(&rt.plain(self)?.buffer))
    }

    fn numbers(&self, rt: &mut CudaRuntime) -> Result<Numbers, Error> {
        let jacobian = jacobian_of(&rt.executor, self)?;
        Ok(Numbers { jacobians: std::array::from_fn(|_| jacobian.clone()), ..self.values(rt)? })
    }
}

impl Operand for VectorCollection {
    fn values(&self, rt: &mut CudaRuntime) -> Result<Numbers, Error> {
        Ok(Numbers::components(&self.values.buffer, self.domain().len(), rt.executor.precision()))
    }

    fn numbers(&self, rt: &mut CudaRuntime) -> Result<Numbers, Error> {
        Ok(Numbers { jacobians: self.jacobians.clone(), ..self.values(rt)? })
    }
}
