//! Vectors of the linear solvers on the device. Every call queues work; only [`VectorSpace::read`] waits.
//!
//! The runtime itself is the space, so that what is set up for a matrix may be kept from one solve to the next.

use std::rc::Rc;

use equelle_runtime::Error;
use equelle_runtime::linalg::{MatrixSpace, VectorSpace};

use crate::runtime::device::DevicePtr;
use crate::runtime::parts::Parts;
use crate::runtime::passes::{Number, Summand};
use crate::runtime::pool::Buffer;
use crate::runtime::precision::{Precision, doubles};
use crate::runtime::program::CudaRuntime;
use crate::runtime::rows::fault;

/// What the runtime keeps as the space of linear solvers.
#[derive(Default)]
pub(super) struct SpaceState {
    /// Length of new vectors.
    pub len: usize,
    /// What went wrong since the last read.
    failure: Option<Error>,
    /// Connected parts of the unknowns, by the patterns of matrices.
    pub parts: Vec<Parts>,
    /// Whether multigrid is to be of doubles.
    pub in_doubles: bool,
}

/// A vector: numbers in device memory.
#[derive(Clone, Debug)]
pub struct DeviceVector {
    pub(super) buffer: Rc<Buffer>,
    pub(super) len: usize,
}

impl DeviceVector {
    pub(super) fn address(&self) -> DevicePtr {
        self.buffer.address()
    }
}

/// A number; `None` after a failure, which the next read reports.
pub type DeviceNumber = Option<Rc<Buffer>>;

/// Updates of a vector, as in the kernel.
#[derive(Clone, Copy, Debug)]
pub(super) enum Update {
    Copy = 0,
    AddScaled = 1,
    SubScaled = 2,
    ScaleAdd = 3,
    Scale = 4,
}

impl CudaRuntime {
    /// Keeps a failure for the next read.
    pub(super) fn attempt<T>(&mut self, result: Result<T, Error>) -> Option<T> {
        match result {
            Ok(value) => Some(value),
            Err(error) => {
                self.space.failure.get_or_insert(error);
                None
            }
        }
    }

    /// A vector with arbitrary elements, for a kernel to write.
    pub(super) fn new_vector_of(&mut self, len: usize) -> Result<DeviceVector, Error> {
        Ok(DeviceVector { buffer: self.buffer("a vector of the linear solver", 8 * len as u64)?, len })
    }

    /// Queues an update of a vector of a precision with `n` elements, the number at `a` and another vector.
    pub(super) fn update_in(
        &mut self,
        precision: Precision,
        update: Update,
        n: usize,
        y: DevicePtr,
        a: DevicePtr,
        x: DevicePtr,
    ) -> Result<(), Error> {
        let call = self.solver_call_in(precision, "equelle_vector")?;
        self.launch_over(call.arg(update as u32).arg(n as u32).arg(y).arg(a).arg(x), n)
    }

    fn update(&mut self, update: Update, y: &DeviceVector, a: DevicePtr, x: &DeviceVector) {
        debug_assert_eq!(y.len, x.len, "vectors of one length");
        let result = self.update_in(Precision::Double, update, y.len, y.address(), a, x.address());
        self.attempt(result);
    }

    fn scaled(&mut self, update: Update, y: &DeviceVector, a: &DeviceNumber, x: &DeviceVector) {
        if let Some(a) = a {
            self.update(update, y, a.address(), x);
        }
    }

    /// What a launch that makes a number is queued by.
    pub(super) fn make_number(&mut self, launch: impl FnOnce(&mut Self, DevicePtr) -> Result<(), Error>) -> DeviceNumber {
        let result = self.new_number().and_then(|out| {
            launch(self, out.address())?;
            Ok(out)
        });
        self.attempt(result)
    }

    /// A sum over the elements of a vector.
    pub(super) fn sum_of(&mut self, y: &DeviceVector, summand: Summand) -> DeviceNumber {
        self.make_number(|rt, out| rt.sum_into(y.len, y.address(), summand, out))
    }

    pub(super) fn number_of(&mut self, operation: Number, a: &DeviceNumber, b: &DeviceNumber) -> DeviceNumber {
        let (a, b) = (a.as_ref()?, b.as_ref()?);
        self.make_number(|rt, out| rt.number_into(operation, a.address(), b.address(), out))
    }
}

impl CudaRuntime {
    /// Numbers on the device, in one copy.
    pub(super) fn read_numbers(&mut self, numbers: &[DevicePtr]) -> Result<Vec<f64>, Error> {
        let together = self.buffer("numbers", 8 * numbers.len() as u64)?;
        for (k, &number) in numbers.iter().enumerate() {
            self.number_into(Number::Copy, number, number, DevicePtr(together.address().0 + 8 * k as u64))?;
        }
        Ok(doubles(&self.download(together.address(), 8 * numbers.len())?))
    }
}

impl VectorSpace for CudaRuntime {
    type Vector = DeviceVector;
    type Scalar = DeviceNumber;
    type Error = Error;

    fn zeros(&mut self) -> Result<DeviceVector, Error> {
        self.zeros_of(self.space.len)
    }

    fn is_interrupted(&self) -> bool {
        self.session.interrupt().asked().is_some()
    }

    fn copy(&mut self, y: &mut DeviceVector, x: &DeviceVector) {
        self.update(Update::Copy, y, DevicePtr(0), x);
    }

    fn dot(&mut self, x: &DeviceVector, y: &DeviceVector) -> DeviceNumber {
        self.sum_of(y, Summand::Product { w: x.address() })
    }

    fn add_scaled(&mut self, y: &mut DeviceVector, a: &DeviceNumber, x: &DeviceVector) {
        self.scaled(Update::AddScaled, y, a, x);
    }

    fn sub_scaled(&mut self, y: &mut DeviceVector, a: &DeviceNumber, x: &DeviceVector) {
        self.scaled(Update::SubScaled, y, a, x);
    }

    fn scale_add(&mut self, y: &mut DeviceVector, a: &DeviceNumber, x: &DeviceVector) {
        self.scaled(Update::ScaleAdd, y, a, x);
    }

    fn scale(&mut self, y: &mut DeviceVector, a: &DeviceNumber) {
        self.scaled(Update::Scale, y, a, y);
    }

    fn sub_scaled_dot(&mut self, y: &mut DeviceVector, a: &DeviceNumber, x: &DeviceVector, w: Option<&DeviceVector>) -> DeviceNumber {
        let (a, x, w) = (a.as_ref()?.address(), x.address(), w.map(|w| w.address()));
        self.sum_of(y, Summand::Updated { a, x, w })
    }

    fn step(&mut self, x: &mut DeviceVector, a: &DeviceNumber, p: &mut DeviceVector, b: &DeviceNumber, z: &DeviceVector) {
        if let (Some(a), Some(b)) = (a, b) {
            let result = CudaRuntime::step(self, x.len, [x.address(), p.address()], [a.address(), b.address()], None, z.address());
            self.attempt(result);
        }
    }

    fn add_scaled_two(&mut self, y: &mut DeviceVector, a: &DeviceNumber, x: &DeviceVector, b: &DeviceNumber, z: &DeviceVector) {
        if let (Some(a), Some(b)) = (a, b) {
            let result = self.add_two(y.len, y.address(), [a.address(), b.address()], [x.address(), z.address()]);
            self.attempt(result);
        }
    }

    fn bicgstab_direction(&mut self, p: &mut DeviceVector, a: &DeviceNumber, v: &DeviceVector, b: &DeviceNumber, r: &DeviceVector) {
        if let (Some(a), Some(b)) = (a, b) {
            let result = CudaRuntime::bicgstab_direction(self, p.len, p.address(), [a.address(), b.address()], [v.address(), r.address()]);
            self.attempt(result);
        }
    }

    fn constant(&mut self, value: f64) -> DeviceNumber {
        let result = self.constant_buffer(value);
        self.attempt(result)
    }

    fn add(&mut self, a: &DeviceNumber, b: &DeviceNumber) -> DeviceNumber {
        self.number_of(Number::Add, a, b)
    }

    fn sub(&mut self, a: &DeviceNumber, b: &DeviceNumber) -> DeviceNumber {
        self.number_of(Number::Sub, a, b)
    }

    fn mul(&mut self, a: &DeviceNumber, b: &DeviceNumber) -> DeviceNumber {
        self.number_of(Number::Mul, a, b)
    }

    fn ratio(&mut self, a: &DeviceNumber, b: &DeviceNumber) -> DeviceNumber {
        self.number_of(Number::Ratio, a, b)
    }

    fn zero_if_cancelled(&mut self, a: &DeviceNumber, b: &DeviceNumber) -> DeviceNumber {
        self.number_of(Number::ZeroIfCancelled, a, b)
    }

    fn sqrt(&mut self, a: &DeviceNumber) -> DeviceNumber {
        self.number_of(Number::Sqrt, a, a)
    }

    fn min(&mut self, a: &DeviceNumber, b: &DeviceNumber) -> DeviceNumber {
        self.number_of(Number::Min, a, b)
    }

    fn read<const N: usize>(&mut self, scalars: [&DeviceNumber; N]) -> Result<[f64; N], Error> {
        if let Some(error) = self.space.failure.take() {
            return Err(error);
        }
        let lost = || fault("a number that was not computed");
        let addresses: Vec<DevicePtr> =
            scalars.iter().map(|scalar| scalar.as_ref().map(|buffer| buffer.address())).collect::<Option<_>>().ok_or_else(lost)?;
        self.read_numbers(&addresses)?.try_into().map_err(|_| lost())
    }
}
