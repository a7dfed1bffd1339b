//! Element-wise arithmetic: IEEE operations as written, one launch each.

use std::rc::Rc;
use std::sync::Arc;

use equelle_runtime::domain::Domain;
use equelle_runtime::{BinaryMath, Elementary, Error};

use crate::runtime::device::{DevicePtr, LaunchShape};
use crate::runtime::executor::arguments::{Call, EqOperand};
use crate::runtime::executor::autotune::shape_over;
use crate::runtime::executor::pool::Buffer;
use crate::runtime::executor::precision::Precision;
use crate::runtime::kernels::OPERATIONS_MODULE;
use crate::runtime::linalg::csr::Jacobian;
use crate::runtime::runtime::CudaRuntime;
use crate::runtime::values::collections::{Collection, Derivatives, Scalar, Vector, VectorCollection};

/// Functions of one number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unary {
    /// The number itself.
    Copy,
    Neg,
    Abs,
    Sqrt,
    Elementary(Elementary),
}

impl Unary {
    /// As the kernels number them.
    fn number(self) -> u32 {
        match self {
            Unary::Copy => 0,
            Unary::Neg => 1,
            Unary::Abs => 2,
            Unary::Sqrt => 3,
            Unary::Elementary(Elementary::Exp) => 4,
            Unary::Elementary(Elementary::Log) => 5,
            Unary::Elementary(Elementary::Sin) => 6,
            Unary::Elementary(Elementary::Cos) => 7,
            Unary::Elementary(Elementary::Tan) => 8,
        }
    }

    fn of(self, a: f64) -> f64 {
        match self {
            Unary::Copy => a,
            Unary::Neg => -a,
            Unary::Abs => a.abs(),
            Unary::Sqrt => a.sqrt(),
            Unary::Elementary(function) => function.of(a),
        }
    }
}

/// Functions of two numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Binary {
    Add,
    Sub,
    Mul,
    Div,
    Math(BinaryMath),
}

impl Binary {
    /// As the kernels number them.
    fn number(self) -> u32 {
        match self {
            Binary::Add => 0,
            Binary::Sub => 1,
            Binary::Mul => 2,
            Binary::Div => 3,
            Binary::Math(BinaryMath::Min) => 4,
            Binary::Math(BinaryMath::Max) => 5,
            Binary::Math(BinaryMath::Pow) => 6,
        }
    }

    fn of(self, a: f64, b: f64) -> f64 {
        match self {
            Binary::Add => a + b,
            Binary::Sub => a - b,
            Binary::Mul => a * b,
            Binary::Div => a / b,
            Binary::Math(function) => function.of(a, b),
        }
    }
}

/// What an operation reads: one number, one for each element of a domain, or Vectors. Its memory is not handed out again before this is dropped.
#[derive(Clone, Debug)]
pub(crate) struct Numbers {
    pub operand: EqOperand,
    /// Of the numbers in memory; needed to find those of a component.
    precision: Precision,
    _memory: Option<Rc<Buffer>>,
    /// Of each component; those of a number per element count for every component.
    pub jacobians: [Option<Jacobian>; 3],
}

impl Numbers {
    /// One component alone.
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

/// What an operation has made: component after component.
pub(crate) struct Computed {
    pub buffer: Rc<Buffer>,
    pub jacobians: [Option<Jacobian>; 3],
}

impl Computed {
    /// Without derivatives.
    pub fn constant(buffer: Rc<Buffer>) -> Self {
        Computed { buffer, jacobians: [None, None, None] }
    }

    /// As a collection of numbers.
    pub fn scalars(self, domain: &Arc<Domain>) -> Collection {
        let [jacobian, ..] = self.jacobians;
        let derivatives = jacobian.map(|jacobian| Rc::new(Derivatives::from(jacobian)));
        Collection { derivatives, ..Collection::dense(domain, self.buffer) }
    }

    /// As a collection of Vectors.
    pub fn vectors(self, domain: &Arc<Domain>) -> VectorCollection {
        VectorCollection { values: Collection::dense(domain, self.buffer), jacobians: self.jacobians }
    }
}

impl From<Computed> for Numbers {
    /// Of one component.
    fn from(computed: Computed) -> Numbers {
        Numbers { jacobians: computed.jacobians, ..Numbers::each(&computed.buffer) }
    }
}

/// How many numbers an operation makes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Extent {
    /// Elements.
    pub n: usize,
    /// Numbers of each.
    pub components: usize,
    /// What they are.
    pub of: Of,
}

/// What numbers belong to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Of {
    /// A collection: in the precision of the program.
    Collection,
    /// A Scalar, a single Vector or a sequence: doubles.
    Alone,
}

impl Extent {
    /// A number for each element of a domain.
    pub fn scalars(domain: &Domain) -> Self {
        Extent { n: domain.len(), components: 1, of: Of::Collection }
    }
}

impl Extent {
    /// Numbers of their own.
    pub fn alone(n: usize) -> Self {
        Extent { n, components: 1, of: Of::Alone }
    }
}

impl CudaRuntime {
    /// A call of a kernel of the operation level, for collections.
    pub(crate) fn operation(&mut self, name: &'static str) -> Result<Call, Error> {
        self.operation_of(Of::Collection, name)
    }

    /// The same for numbers that belong to something.
    pub(crate) fn operation_of(&mut self, of: Of, name: &'static str) -> Result<Call, Error> {
        self.executor.call_in(&OPERATIONS_MODULE, self.precision_of(of), name)
    }

    fn precision_of(&self, of: Of) -> Precision {
        match of {
            Of::Collection => self.executor.precision(),
            Of::Alone => Precision::Double,
        }
    }

    /// Queues a call with one thread for each number; nothing for none.
    pub(crate) fn launch_extent(&mut self, call: Call, extent: Extent) {
        if extent.n > 0 {
            let LaunchShape { grid: [blocks, ..], block } = shape_over(extent.n);
            self.executor.push(call.shaped(LaunchShape { grid: [blocks, extent.components as u32, 1], block }));
        }
    }

    /// Room for numbers.
    pub(crate) fn room_for(&mut self, what: &str, extent: Extent) -> Result<Rc<Buffer>, Error> {
        self.executor.buffer(what, self.precision_of(extent.of).bytes() * extent.n as u64 * extent.components as u64)
    }

    /// A Scalar as an operand.
    pub(crate) fn of_scalar(&self, s: &Scalar) -> Numbers {
        let (operand, memory) = match s {
            Scalar::Known(value) => (EqOperand { value: *value, ..EqOperand::default() }, None),
            Scalar::Element { of, index } => (EqOperand { values: of.number(*index).0, ..EqOperand::default() }, Some(Rc::clone(of))),
            Scalar::Device(buffer) => (EqOperand { values: buffer.address().0, ..EqOperand::default() }, Some(Rc::clone(buffer))),
        };
        Numbers { operand, precision: Precision::Double, _memory: memory, jacobians: [None, None, None] }
    }

    /// A collection of numbers as an operand, with its derivatives.
    pub(crate) fn of_collection(&mut self, c: &Collection) -> Result<Numbers, Error> {
        let jacobian = self.jacobian_of(c)?;
        Ok(Numbers { jacobians: std::array::from_fn(|_| jacobian.clone()), ..self.of_values(c)? })
    }

    /// The same without derivatives.
    pub(crate) fn of_values(&mut self, c: &Collection) -> Result<Numbers, Error> {
        Ok(Numbers::each(&self.plain(c)?.buffer))
    }

    /// A single Vector as an operand.
    pub(crate) fn of_vector(&self, v: &Vector) -> Numbers {
        let operand = EqOperand { values: v.pointer().0, component_stride: 1, ..EqOperand::default() };
        Numbers { operand, precision: Precision::Double, _memory: Some(Rc::clone(&v.0)), jacobians: [None, None, None] }
    }

    /// A collection of Vectors as an operand, with its derivatives.
    pub(crate) fn of_vectors(&self, v: &VectorCollection) -> Numbers {
        Numbers { jacobians: v.jacobians.clone(), ..Numbers::components(&v.values.buffer, v.domain().len(), self.executor.precision()) }
    }

    /// A function of numbers, with its derivatives.
    pub(crate) fn unary(&mut self, function: Unary, extent: Extent, a: &Numbers) -> Result<Computed, Error> {
        let buffer = self.room_for("the result of an operation", extent)?;
        self.unary_into(function, extent, a, buffer.address())?;
        let jacobians = self.differentiate(function.rule(), None, extent, a, a, &buffer)?;
        Ok(Computed { buffer, jacobians })
    }

    /// The values alone, to memory that there is.
    pub(crate) fn unary_into(&mut self, function: Unary, extent: Extent, a: &Numbers, out: DevicePtr) -> Result<(), Error> {
        let call = self.operation_of(extent.of, "equelle_unary")?.arg(function.number()).arg(extent.n as u32).arg(a.operand).arg(out);
        self.launch_extent(call, extent);
        Ok(())
    }

    /// A function of two numbers, with its derivatives.
    pub(crate) fn binary(&mut self, function: Binary, extent: Extent, a: &Numbers, b: &Numbers) -> Result<Computed, Error> {
        let buffer = self.room_for("the result of an operation", extent)?;
        let call = self.operation_of(extent.of, "equelle_binary")?.arg(function.number()).arg(extent.n as u32);
        self.launch_extent(call.arg(a.operand).arg(b.operand).arg(buffer.address()), extent);
        let (first, second) = function.rules();
        let jacobians = self.differentiate(first, Some(second), extent, a, b, &buffer)?;
        Ok(Computed { buffer, jacobians })
    }

    /// A function of each element.
    pub(crate) fn map(&mut self, function: Unary, a: &Collection) -> Result<Collection, Error> {
        let operand = self.of_collection(a)?;
        Ok(self.unary(function, Extent::scalars(&a.domain), &operand)?.scalars(&a.domain))
    }

    /// A function of each pair of elements.
    pub(crate) fn zip(&mut self, function: Binary, a: &Collection, b: &Collection) -> Result<Collection, Error> {
        let (left, right) = (self.of_collection(a)?, self.of_collection(b)?);
        Ok(self.binary(function, Extent::scalars(&a.domain), &left, &right)?.scalars(&a.domain))
    }

    /// A function of each element and a Scalar.
    pub(crate) fn with_scalar(&mut self, function: Binary, a: &Collection, s: &Scalar) -> Result<Collection, Error> {
        let (left, right) = (self.of_collection(a)?, self.of_scalar(s));
        Ok(self.binary(function, Extent::scalars(&a.domain), &left, &right)?.scalars(&a.domain))
    }

    /// A function of a Scalar and each element.
    pub(crate) fn scalar_with(&mut self, function: Binary, s: &Scalar, a: &Collection) -> Result<Collection, Error> {
        let (left, right) = (self.of_scalar(s), self.of_collection(a)?);
        Ok(self.binary(function, Extent::scalars(&a.domain), &left, &right)?.scalars(&a.domain))
    }

    /// A function of a Scalar: on the host if the host knows it.
    pub(crate) fn scalar_map(&mut self, function: Unary, a: &Scalar) -> Result<Scalar, Error> {
        if let Scalar::Known(a) = a {
            return Ok(Scalar::Known(function.of(*a)));
        }
        let a = self.of_scalar(a);
        Ok(Scalar::Device(self.unary(function, Extent::alone(1), &a)?.buffer))
    }

    /// A function of two Scalars: on the host if the host knows both.
    pub(crate) fn scalar_zip(&mut self, function: Binary, a: &Scalar, b: &Scalar) -> Result<Scalar, Error> {
        if let (Scalar::Known(a), Scalar::Known(b)) = (a, b) {
            return Ok(Scalar::Known(function.of(*a, *b)));
        }
        let (a, b) = (self.of_scalar(a), self.of_scalar(b));
        Ok(Scalar::Device(self.binary(function, Extent::alone(1), &a, &b)?.buffer))
    }
}
