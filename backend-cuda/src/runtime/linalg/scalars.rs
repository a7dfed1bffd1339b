//! Scalars of the linear solvers on the device. Operations on them share the launch before.

use std::rc::Rc;

use equelle_runtime::Error;

use crate::runtime::device::{DevicePtr, LaunchShape};
use crate::runtime::executor::Executor;
use crate::runtime::executor::arguments::Argument;
use crate::runtime::executor::pool::Buffer;
use crate::runtime::kernels::VECTORS_MODULE;

/// Threads for operations on scalars.
const WARP: u32 = 32;
/// Largest number of scalar operations in a launch: `EQ_NUMBERS` of the kernels.
const MAX_SCALAR_OPS: usize = 8;

/// A scalar; `None` after a failure, which the next read reports.
pub type DeviceNumber = Option<Rc<Buffer>>;

/// Operations on scalars, numbered as in the kernels.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ScalarOp {
    Copy = 0,
    Add = 1,
    Sub = 2,
    Mul = 3,
    Ratio = 4,
    ZeroIfCancelled = 5,
    Sqrt = 6,
    Min = 7,
    /// [`ScalarOp::ZeroIfCancelled`] for a sum in single precision.
    ZeroIfCancelledF32 = 8,
}

/// An update of `y` before a sum, and the summand. `a` is a scalar on the device.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Summand {
    /// `w . y`
    Product { w: DevicePtr },
    /// `y = y - a x`, then `w . y`, or `y . y` without `w`.
    Updated { a: DevicePtr, x: DevicePtr, w: Option<DevicePtr> },
    /// `y = y - a x`, then `y . D y`.
    UpdatedDiagonal { a: DevicePtr, x: DevicePtr, d: DevicePtr },
    /// `y . D y`
    Diagonal { d: DevicePtr },
}

/// Kernels whose last argument is operations on scalars.
const TAKE_SCALAR_OPS: [&str; 7] = [
    "equelle_dot",
    "equelle_rows_dot",
    "equelle_rows_dots",
    "equelle_format_dot",
    "equelle_format_dots",
    "equelle_smooth_dot",
    "equelle_numbers",
];

/// An empty list of scalar operations.
pub(crate) struct NoScalarOps;

impl Argument for NoScalarOps {
    fn words(&self, words: &mut Vec<u64>) {
        words.resize(words.len() + 1 + 4 * MAX_SCALAR_OPS, 0);
    }
}

impl Executor {
    /// One operation on scalars on the device; unary operations ignore `b`. Shares the last launch
    /// if that accepts scalar operations.
    ///
    /// # Errors
    /// `Backend`: the kernels cannot be compiled or loaded.
    pub(crate) fn scalar_op(&self, operation: ScalarOp, a: DevicePtr, b: DevicePtr, out: DevicePtr) -> Result<(), Error> {
        let words = [operation as u64, a.0, b.0, out.0];
        let joined = self.with_last(|launch| {
            let at = *launch.offsets.last().filter(|_| TAKE_SCALAR_OPS.contains(&&*launch.name))? as usize;
            let known = launch.words[at] as usize;
            (known < MAX_SCALAR_OPS).then(|| {
                let from = at + 1 + 4 * known;
                launch.words[from..from + 4].copy_from_slice(&words);
                launch.words[at] += 1;
            })
        });
        if joined.is_some() {
            return Ok(());
        }
        let call = self.call(&VECTORS_MODULE, "equelle_numbers")?.arg(NoScalarOps);
        self.push(call.shaped(LaunchShape { grid: [1; 3], block: [WARP, 1, 1] }));
        self.scalar_op(operation, a, b, out)
    }

    /// A new scalar from a launch that gets its address; an error is deferred.
    pub(crate) fn make_scalar(&self, launch: impl FnOnce(DevicePtr) -> Result<(), Error>) -> DeviceNumber {
        let result = self.new_number().and_then(|out| {
            launch(out.address())?;
            Ok(out)
        });
        self.attempt(result)
    }

    /// A new scalar from an operation on two.
    pub(crate) fn scalar_of(&self, operation: ScalarOp, a: &DeviceNumber, b: &DeviceNumber) -> DeviceNumber {
        let (a, b) = (a.as_ref()?, b.as_ref()?);
        self.make_scalar(|out| self.scalar_op(operation, a.address(), b.address(), out))
    }

    /// Copies scalars to the host in one transfer, and waits for it.
    ///
    /// # Errors
    /// `Backend`: a lost device, or an error of what was launched.
    pub(crate) fn read_scalars(&self, scalars: &[DevicePtr]) -> Result<Vec<f64>, Error> {
        let together = self.buffer("numbers", 8 * scalars.len() as u64)?;
        for (k, &scalar) in (0..).zip(scalars) {
            self.scalar_op(ScalarOp::Copy, scalar, scalar, together.number(k))?;
        }
        self.download(together.address(), scalars.len())
    }
}
