//! Vectors of the Krylov methods on the device. Every call queues work; only [`VectorSpace::read`] waits.

use std::rc::Rc;

use equelle_runtime::Error;
use equelle_runtime::linalg::{LinearOperator, Preconditioner, VectorSpace};

use crate::runtime::args::Call;
use crate::runtime::device::DevicePtr;
use crate::runtime::passes::{Number, Summand};
use crate::runtime::pool::Buffer;
use crate::runtime::program::CudaRuntime;
use crate::runtime::rows::{Rows, fault};
use crate::runtime::traits::doubles;

/// Vectors of `n` numbers and numbers, in device memory.
pub(super) struct DeviceSpace<'a> {
    pub rt: &'a mut CudaRuntime,
    n: usize,
    /// What went wrong since the last read.
    failure: Option<Error>,
}

/// A vector of a space.
pub(super) type DeviceVector = Rc<Buffer>;

/// A number; `None` after a failure, which the next read reports.
pub(super) type DeviceNumber = Option<Rc<Buffer>>;

/// Updates of a vector, as in the kernel.
#[derive(Clone, Copy)]
enum Update {
    Copy = 0,
    AddScaled = 1,
    SubScaled = 2,
    ScaleAdd = 3,
    Scale = 4,
}

impl<'a> DeviceSpace<'a> {
    pub(super) fn new(rt: &'a mut CudaRuntime, n: usize) -> Self {
        DeviceSpace { rt, n, failure: None }
    }

    /// Length of its vectors.
    pub(super) fn len(&self) -> usize {
        self.n
    }

    /// Keeps a failure for the next read.
    fn attempt<T>(&mut self, result: Result<T, Error>) -> Option<T> {
        match result {
            Ok(value) => Some(value),
            Err(error) => {
                self.failure.get_or_insert(error);
                None
            }
        }
    }

    fn update(&mut self, update: Update, y: &DeviceVector, a: DevicePtr, x: &DeviceVector) {
        let result = self.rt.runtime_function("equelle_vector").and_then(|function| {
            let call = Call::new(function, "equelle_vector").arg(update as u32).arg(self.n as u32).arg(y.address()).arg(a).arg(x.address());
            self.rt.launch_over(call, self.n)
        });
        self.attempt(result);
    }

    fn scaled(&mut self, update: Update, y: &DeviceVector, a: &DeviceNumber, x: &DeviceVector) {
        if let Some(a) = a {
            self.update(update, y, a.address(), x);
        }
    }

    fn sum(&mut self, y: &DeviceVector, summand: Summand) -> DeviceNumber {
        let result = self.rt.new_number().and_then(|out| {
            self.rt.sum_into(self.n, y.address(), summand, out.address())?;
            Ok(out)
        });
        self.attempt(result)
    }

    fn number(&mut self, operation: Number, a: &DeviceNumber, b: &DeviceNumber) -> DeviceNumber {
        let (a, b) = (a.as_ref()?, b.as_ref()?);
        let result = self.rt.new_number().and_then(|out| {
            self.rt.number_into(operation, a.address(), b.address(), out.address())?;
            Ok(out)
        });
        self.attempt(result)
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

impl VectorSpace for DeviceSpace<'_> {
    type Vector = DeviceVector;
    type Scalar = DeviceNumber;
    type Error = Error;

    fn zeros(&mut self) -> Result<DeviceVector, Error> {
        let vector = self.rt.buffer("a vector of the linear solver", 8 * self.n as u64)?;
        let function = self.rt.runtime_function("equelle_fill")?;
        let call = Call::new(function, "equelle_fill").arg(self.n as u32).arg(0.0).arg(vector.address());
        self.rt.launch_over(call, self.n)?;
        Ok(vector)
    }

    fn copy(&mut self, y: &mut DeviceVector, x: &DeviceVector) {
        self.update(Update::Copy, y, DevicePtr(0), x);
    }

    fn dot(&mut self, x: &DeviceVector, y: &DeviceVector) -> DeviceNumber {
        self.sum(y, Summand::Product { w: x.address() })
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
        self.sum(y, Summand::Updated { a, x, w })
    }

    fn step(&mut self, x: &mut DeviceVector, a: &DeviceNumber, p: &mut DeviceVector, b: &DeviceNumber, z: &DeviceVector) {
        if let (Some(a), Some(b)) = (a, b) {
            let result = self.rt.step(self.n, [x.address(), p.address()], [a.address(), b.address()], None, z.address());
            self.attempt(result);
        }
    }

    fn add_scaled_two(&mut self, y: &mut DeviceVector, a: &DeviceNumber, x: &DeviceVector, b: &DeviceNumber, z: &DeviceVector) {
        if let (Some(a), Some(b)) = (a, b) {
            let result = self.rt.add_two(self.n, y.address(), [a.address(), b.address()], [x.address(), z.address()]);
            self.attempt(result);
        }
    }

    fn turn(&mut self, p: &mut DeviceVector, a: &DeviceNumber, v: &DeviceVector, b: &DeviceNumber, r: &DeviceVector) {
        if let (Some(a), Some(b)) = (a, b) {
            let result = self.rt.turn(self.n, p.address(), [a.address(), b.address()], [v.address(), r.address()]);
            self.attempt(result);
        }
    }

    fn constant(&mut self, value: f64) -> DeviceNumber {
        let result = self.rt.constant_buffer(value);
        self.attempt(result)
    }

    fn add(&mut self, a: &DeviceNumber, b: &DeviceNumber) -> DeviceNumber {
        self.number(Number::Add, a, b)
    }

    fn sub(&mut self, a: &DeviceNumber, b: &DeviceNumber) -> DeviceNumber {
        self.number(Number::Sub, a, b)
    }

    fn mul(&mut self, a: &DeviceNumber, b: &DeviceNumber) -> DeviceNumber {
        self.number(Number::Mul, a, b)
    }

    fn ratio(&mut self, a: &DeviceNumber, b: &DeviceNumber) -> DeviceNumber {
        self.number(Number::Ratio, a, b)
    }

    fn chop(&mut self, a: &DeviceNumber, b: &DeviceNumber) -> DeviceNumber {
        self.number(Number::Chop, a, b)
    }

    fn sqrt(&mut self, a: &DeviceNumber) -> DeviceNumber {
        self.number(Number::Sqrt, a, a)
    }

    fn min(&mut self, a: &DeviceNumber, b: &DeviceNumber) -> DeviceNumber {
        self.number(Number::Min, a, b)
    }

    fn read<const N: usize>(&mut self, scalars: [&DeviceNumber; N]) -> Result<[f64; N], Error> {
        if let Some(error) = self.failure.take() {
            return Err(error);
        }
        let lost = || fault("a number that was not computed");
        let addresses: Vec<DevicePtr> =
            scalars.iter().map(|scalar| scalar.as_ref().map(|buffer| buffer.address())).collect::<Option<_>>().ok_or_else(lost)?;
        self.rt.read_numbers(&addresses)?.try_into().map_err(|_| lost())
    }
}

/// The Jacobian of all equations, one block of rows after the other.
pub(super) struct DeviceMatrix {
    pub blocks: Vec<(Rc<Rows>, Rc<Buffer>)>,
}

impl LinearOperator<DeviceSpace<'_>> for DeviceMatrix {
    fn apply(&self, space: &mut DeviceSpace<'_>, y: &mut DeviceVector, x: &DeviceVector) {
        let result = (|| {
            let mut first = 0;
            for (rows, entries) in &self.blocks {
                let function = space.rt.runtime_function("equelle_rows_times")?;
                let to = DevicePtr(y.address().0 + 8 * first);
                let call =
                    Call::new(function, "equelle_rows_times").arg(rows.len() as u32).arg(rows.args(entries)).arg(x.address()).arg(to);
                space.rt.launch_over(call, rows.len())?;
                first += rows.len() as u64;
            }
            Ok(())
        })();
        space.attempt(result);
    }

    fn apply_dot(&self, space: &mut DeviceSpace<'_>, y: &mut DeviceVector, x: &DeviceVector, w: &DeviceVector) -> DeviceNumber {
        let [(rows, entries)] = &self.blocks[..] else {
            self.apply(space, y, x);
            return space.dot(w, y);
        };
        let result = space.rt.new_number().and_then(|out| {
            let a = (rows.len(), rows.args(entries));
            space.rt.rows_dot_into(a, y.address(), x.address(), w.address(), out.address(), None)?;
            Ok(out)
        });
        space.attempt(result)
    }

    fn apply_dots(&self, space: &mut DeviceSpace<'_>, y: &mut DeviceVector, x: &DeviceVector, w: &DeviceVector) -> [DeviceNumber; 2] {
        let [(rows, entries)] = &self.blocks[..] else {
            self.apply(space, y, x);
            return [space.dot(w, y), space.dot(y, y)];
        };
        let result = space.rt.new_number().and_then(|out| Ok([out, space.rt.new_number()?])).and_then(|out| {
            let a = (rows.len(), rows.args(entries));
            space.rt.rows_dot_into(a, y.address(), x.address(), w.address(), out[0].address(), Some(out[1].address()))?;
            Ok(out)
        });
        space.attempt(result).map_or([None, None], |out| out.map(Some))
    }
}

/// The inverse of the diagonal (Jacobi). 24 bytes an element.
pub(super) struct DeviceJacobi {
    inverse: Rc<Buffer>,
}

impl DeviceJacobi {
    /// Of a matrix. Where the diagonal is 0, the preconditioner does nothing.
    pub(super) fn new(space: &mut DeviceSpace<'_>, matrix: &DeviceMatrix) -> Result<Self, Error> {
        let inverse = space.zeros()?;
        let mut first = 0;
        for (rows, entries) in &matrix.blocks {
            let function = space.rt.runtime_function("equelle_inverse_diagonal")?;
            let to = DevicePtr(inverse.address().0 + 8 * first as u64);
            let call =
                Call::new(function, "equelle_inverse_diagonal").arg(rows.len() as u32).arg(rows.args(entries)).arg(first as u32).arg(to);
            space.rt.launch_over(call, rows.len())?;
            first += rows.len();
        }
        Ok(DeviceJacobi { inverse })
    }
}

impl Preconditioner<DeviceSpace<'_>> for DeviceJacobi {
    fn apply(&self, space: &mut DeviceSpace<'_>, z: &mut DeviceVector, r: &DeviceVector) {
        let n = space.n;
        let result = space.rt.runtime_function("equelle_multiply").and_then(|function| {
            let call = Call::new(function, "equelle_multiply").arg(n as u32).arg(self.inverse.address()).arg(r.address()).arg(z.address());
            space.rt.launch_over(call, n)
        });
        space.attempt(result);
    }
}
