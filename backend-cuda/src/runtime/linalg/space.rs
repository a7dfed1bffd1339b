//! Vectors of the linear solvers on the device, in double or single precision. Every call queues
//! work; only [`VectorSpace::read`] waits.

use std::any::Any;
use std::marker::PhantomData;
use std::rc::Rc;

use equelle_runtime::linalg::VectorSpace;
use equelle_runtime::linalg::space::traffic_counter::TrafficCounter;
use equelle_runtime::linalg::space::traffic_counter::Written;
use equelle_runtime::{Error, Real};

use crate::runtime::device::DevicePtr;
use crate::runtime::executor::Executor;
use crate::runtime::executor::arguments::Call;
use crate::runtime::executor::pool::Buffer;
use crate::runtime::executor::precision::Precision;
use crate::runtime::executor::queue::Counters;
use crate::runtime::kernels::{MIXED_PRECISION_MODULE, MULTIGRID_MODULE, solver_module};
use crate::runtime::linalg::scalars::{DeviceNumber, ScalarOp, Summand};

/// Cache of set-ups for patterns of matrices between solves, most recently used first. Keyed by
/// type, so that vectors do not depend on preconditioners.
#[derive(Default)]
pub(crate) struct SetupCache(Vec<Rc<dyn Any>>);

impl SetupCache {
    /// A suitable cached value of a type; it counts as used.
    pub(crate) fn find<K: 'static>(&mut self, suits: impl Fn(&K) -> bool) -> Option<Rc<K>> {
        let at = self.0.iter().position(|setup| setup.downcast_ref().is_some_and(&suits))?;
        let setup = self.0.remove(at);
        self.0.insert(0, Rc::clone(&setup));
        setup.downcast().ok()
    }

    /// Caches a value. Of more than `most` values of its type the least recently used ones are
    /// dropped.
    pub(crate) fn insert<K: 'static>(&mut self, made: K, most: usize) -> Rc<K> {
        let made = Rc::new(made);
        self.0.insert(0, Rc::clone(&made) as Rc<dyn Any>);
        let mut count = 0;
        self.0.retain(|setup| {
            count += usize::from(setup.is::<K>());
            count <= most || !setup.is::<K>()
        });
        made
    }

    /// All cached values of a type.
    pub(crate) fn values<K: 'static>(&self) -> impl Iterator<Item = &K> {
        self.0.iter().filter_map(|setup| setup.downcast_ref())
    }

    /// Number of cached values of a type.
    #[cfg(test)]
    pub(crate) fn count<K: 'static>(&self) -> usize {
        self.0.iter().filter(|setup| setup.is::<K>()).count()
    }
}

/// Vectors and matrices of a given precision on an executor. Scalars are `f64`.
pub struct Space<T> {
    pub(crate) executor: Rc<Executor>,
    /// Length of new vectors.
    pub(crate) len: usize,
    pub(crate) setups: SetupCache,
    /// True if multigrid runs in double precision.
    pub(crate) in_double_precision: bool,
    /// Bytes of the kernels, counted from shapes.
    pub(crate) traffic: TrafficCounter,
    elements: PhantomData<T>,
}

/// A vector in device memory.
#[derive(Debug)]
pub struct DeviceVector<T = f64> {
    pub(crate) buffer: Rc<Buffer>,
    pub(crate) len: usize,
    elements: PhantomData<T>,
}

impl<T> DeviceVector<T> {
    pub(crate) fn new(buffer: Rc<Buffer>, len: usize) -> Self {
        DeviceVector { buffer, len, elements: PhantomData }
    }

    pub(crate) fn address(&self) -> DevicePtr {
        self.buffer.address()
    }
}

/// Updates of a vector, numbered as in the kernel.
#[derive(Clone, Copy, Debug)]
enum Update {
    Copy = 0,
    AddScaled = 1,
    SubScaled = 2,
    ScaleAdd = 3,
    Scale = 4,
}

impl<T: Real> Space<T> {
    /// True if there are fused kernels for Krylov methods, as in double precision.
    const FUSES: bool = size_of::<T>() == 8;

    /// The space of vectors on an executor.
    pub(crate) fn new(executor: &Rc<Executor>) -> Self {
        let doubles = TrafficCounter::in_double_precision(Written::Unread);
        Space {
            executor: Rc::clone(executor),
            len: 0,
            setups: SetupCache::default(),
            in_double_precision: false,
            traffic: if Self::FUSES { doubles } else { doubles.in_single_precision() },
            elements: PhantomData,
        }
    }

    /// Counters of the device's work so far.
    pub fn counters(&self) -> Counters {
        self.executor.counters()
    }

    /// A vector with undefined values.
    ///
    /// # Errors
    /// `Backend`: not enough memory.
    pub(crate) fn new_vector_of(&self, len: usize) -> Result<DeviceVector<T>, Error> {
        let bytes = Precision::of::<T>().bytes() * len as u64;
        Ok(DeviceVector::new(self.executor.buffer("a vector of the linear solver", bytes)?, len))
    }

    /// A vector of zeros.
    ///
    /// # Errors
    /// `Backend`: not enough memory.
    pub(crate) fn new_zeros(&self, len: usize) -> Result<DeviceVector<T>, Error> {
        let vector = self.new_vector_of(len)?;
        self.fill_zero(&vector);
        Ok(vector)
    }

    /// Fills a vector with zeros.
    pub(crate) fn fill_zero(&self, x: &DeviceVector<T>) {
        let result = self
            .solver_call("equelle_fill")
            .and_then(|call| self.executor.launch_over(call.arg(x.len as u32).arg(0.0).arg(x.address()), x.len));
        self.executor.attempt(result);
    }

    /// Prepares the call of a kernel for vectors and matrices of this precision.
    ///
    /// # Errors
    /// `Backend`: the kernels cannot be compiled or loaded.
    pub(crate) fn solver_call(&self, name: &'static str) -> Result<Call, Error> {
        let module = match Precision::of::<T>() {
            Precision::Double => solver_module(name),
            Precision::Single => MIXED_PRECISION_MODULE,
        };
        self.executor.call(&module, name)
    }

    /// Prepares the call of a kernel of multigrid: its set-up, or a cycle in this precision.
    ///
    /// # Errors
    /// `Backend`: the kernels cannot be compiled or loaded.
    pub(crate) fn multigrid_call(&self, name: &'static str) -> Result<Call, Error> {
        let module = match Precision::of::<T>() {
            Precision::Double => MULTIGRID_MODULE,
            Precision::Single => MIXED_PRECISION_MODULE,
        };
        self.executor.call(&module, name)
    }

    fn update(&self, update: Update, y: &DeviceVector<T>, a: DevicePtr, x: &DeviceVector<T>) {
        debug_assert_eq!(y.len, x.len, "vectors of one length");
        let result = self.solver_call("equelle_vector").and_then(|call| {
            let call = call.arg(update as u32).arg(y.len as u32).arg(y.address()).arg(a).arg(x.address());
            self.executor.launch_over(call, y.len)
        });
        self.executor.attempt(result);
    }

    fn scaled(&self, update: Update, y: &DeviceVector<T>, a: &DeviceNumber, x: &DeviceVector<T>) {
        if let Some(a) = a {
            self.update(update, y, a.address(), x);
        }
    }

    /// A sum over the elements of a vector.
    pub(crate) fn sum_of(&mut self, y: &DeviceVector<T>, summand: Summand) -> DeviceNumber {
        let executor = Rc::clone(&self.executor);
        executor.make_scalar(|out| self.sum_into(y.len, y.address(), summand, out))
    }
}

impl<T: Real> VectorSpace for Space<T> {
    type Vector = DeviceVector<T>;
    type Scalar = DeviceNumber;
    type Error = Error;

    fn zeros(&mut self) -> Result<DeviceVector<T>, Error> {
        self.traffic.clear(self.len);
        self.new_zeros(self.len)
    }

    fn is_interrupted(&self) -> bool {
        self.executor.is_interrupted()
    }

    fn copy(&mut self, y: &mut DeviceVector<T>, x: &DeviceVector<T>) {
        self.traffic.copy(y.len);
        self.update(Update::Copy, y, DevicePtr(0), x);
    }

    fn dot(&mut self, x: &DeviceVector<T>, y: &DeviceVector<T>) -> DeviceNumber {
        self.traffic.dot(y.len, std::ptr::eq(x, y));
        self.sum_of(y, Summand::Product { w: x.address() })
    }

    fn add_scaled(&mut self, y: &mut DeviceVector<T>, a: &DeviceNumber, x: &DeviceVector<T>) {
        self.traffic.update(y.len);
        self.scaled(Update::AddScaled, y, a, x);
    }

    fn sub_scaled(&mut self, y: &mut DeviceVector<T>, a: &DeviceNumber, x: &DeviceVector<T>) {
        self.traffic.update(y.len);
        self.scaled(Update::SubScaled, y, a, x);
    }

    fn scale_add(&mut self, y: &mut DeviceVector<T>, a: &DeviceNumber, x: &DeviceVector<T>) {
        self.traffic.update(y.len);
        self.scaled(Update::ScaleAdd, y, a, x);
    }

    fn scale(&mut self, y: &mut DeviceVector<T>, a: &DeviceNumber) {
        self.traffic.scale(y.len);
        self.scaled(Update::Scale, y, a, y);
    }

    fn sub_scaled_dot(
        &mut self,
        y: &mut DeviceVector<T>,
        a: &DeviceNumber,
        x: &DeviceVector<T>,
        w: Option<&DeviceVector<T>>,
    ) -> DeviceNumber {
        if !Self::FUSES {
            self.sub_scaled(y, a, x);
            return self.dot(w.unwrap_or(y), y);
        }
        self.traffic.sub_scaled_dot(y.len, w.is_some());
        let (a, x, w) = (a.as_ref()?.address(), x.address(), w.map(DeviceVector::address));
        self.sum_of(y, Summand::Updated { a, x, w })
    }

    fn step(&mut self, x: &mut DeviceVector<T>, a: &DeviceNumber, p: &mut DeviceVector<T>, b: &DeviceNumber, z: &DeviceVector<T>) {
        if !Self::FUSES {
            self.add_scaled(x, a, p);
            return self.scale_add(p, b, z);
        }
        self.traffic.step(x.len);
        if let (Some(a), Some(b)) = (a, b) {
            let result = self.step_into(x.len, [x.address(), p.address()], [a.address(), b.address()], None, z.address());
            self.executor.attempt(result);
        }
    }

    fn add_scaled_two(&mut self, y: &mut DeviceVector<T>, a: &DeviceNumber, x: &DeviceVector<T>, b: &DeviceNumber, z: &DeviceVector<T>) {
        if !Self::FUSES {
            self.add_scaled(y, a, x);
            return self.add_scaled(y, b, z);
        }
        self.traffic.update_by_two(y.len);
        if let (Some(a), Some(b)) = (a, b) {
            let result = self.add_two_into(y.len, y.address(), [a.address(), b.address()], [x.address(), z.address()]);
            self.executor.attempt(result);
        }
    }

    fn bicgstab_direction(
        &mut self,
        p: &mut DeviceVector<T>,
        a: &DeviceNumber,
        v: &DeviceVector<T>,
        b: &DeviceNumber,
        r: &DeviceVector<T>,
    ) {
        if !Self::FUSES {
            self.sub_scaled(p, a, v);
            return self.scale_add(p, b, r);
        }
        self.traffic.update_by_two(p.len);
        if let (Some(a), Some(b)) = (a, b) {
            let result = self.bicgstab_direction_into(p.len, p.address(), [a.address(), b.address()], [v.address(), r.address()]);
            self.executor.attempt(result);
        }
    }

    fn constant(&mut self, value: f64) -> DeviceNumber {
        let result = self.executor.constant_buffer(value);
        self.executor.attempt(result)
    }

    fn add(&mut self, a: &DeviceNumber, b: &DeviceNumber) -> DeviceNumber {
        self.executor.scalar_of(ScalarOp::Add, a, b)
    }

    fn sub(&mut self, a: &DeviceNumber, b: &DeviceNumber) -> DeviceNumber {
        self.executor.scalar_of(ScalarOp::Sub, a, b)
    }

    fn mul(&mut self, a: &DeviceNumber, b: &DeviceNumber) -> DeviceNumber {
        self.executor.scalar_of(ScalarOp::Mul, a, b)
    }

    fn ratio(&mut self, a: &DeviceNumber, b: &DeviceNumber) -> DeviceNumber {
        self.executor.scalar_of(ScalarOp::Ratio, a, b)
    }

    fn zero_if_cancelled(&mut self, a: &DeviceNumber, b: &DeviceNumber) -> DeviceNumber {
        let operation = match Precision::of::<T>() {
            Precision::Double => ScalarOp::ZeroIfCancelled,
            Precision::Single => ScalarOp::ZeroIfCancelledF32,
        };
        self.executor.scalar_of(operation, a, b)
    }

    fn sqrt(&mut self, a: &DeviceNumber) -> DeviceNumber {
        self.executor.scalar_of(ScalarOp::Sqrt, a, a)
    }

    fn min(&mut self, a: &DeviceNumber, b: &DeviceNumber) -> DeviceNumber {
        self.executor.scalar_of(ScalarOp::Min, a, b)
    }

    fn read<const N: usize>(&mut self, scalars: [&DeviceNumber; N]) -> Result<[f64; N], Error> {
        self.executor.deferred()?;
        let lost = || Error::internal("a number that was not computed");
        let addresses: Vec<DevicePtr> =
            scalars.iter().map(|scalar| scalar.as_ref().map(|buffer| buffer.address())).collect::<Option<_>>().ok_or_else(lost)?;
        self.executor.read_scalars(&addresses)?.try_into().map_err(|_| lost())
    }
}
