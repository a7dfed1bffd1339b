//! Numbers of the linear solvers on the device. Operations on them go along with the launch before.

use std::rc::Rc;

use equelle_runtime::Error;

use crate::runtime::device::{DevicePtr, LaunchShape};
use crate::runtime::executor::Executor;
use crate::runtime::executor::arguments::Argument;
use crate::runtime::executor::pool::Buffer;
use crate::runtime::kernels::SOLVERS_MODULE;

/// Threads that make numbers.
const WARP: u32 = 32;
/// Operations on numbers that a launch takes along: `EQ_NUMBERS` of the kernels.
const MOST_SCALAR_OPS: usize = 8;

/// A number; `None` after a failure, which the next read reports.
pub type DeviceNumber = Option<Rc<Buffer>>;

/// Operations on numbers, as in the kernels.
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
    /// [`ScalarOp::ZeroIfCancelled`] where what cancelled were singles.
    ZeroIfCancelledSingles = 8,
}

/// What is done to `y` before a sum, and what is summed. `a` is a number on the device.
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

/// Kernels whose last argument is operations on numbers.
const TAKE_SCALAR_OPS: [&str; 7] = [
    "equelle_dot",
    "equelle_rows_dot",
    "equelle_rows_dots",
    "equelle_form_dot",
    "equelle_form_dots",
    "equelle_smooth_dot",
    "equelle_numbers",
];

/// No operation on numbers yet.
pub(crate) struct NoScalarOps;

impl Argument for NoScalarOps {
    fn words(&self, words: &mut Vec<u64>) {
        words.resize(words.len() + 1 + 4 * MOST_SCALAR_OPS, 0);
    }
}

impl Executor {
    /// One operation on numbers on the device; `b` is not used by those that take one. It goes along with the last launch where that takes operations on numbers.
    ///
    /// # Errors
    /// `Backend`: the kernels cannot be compiled or loaded.
    pub(crate) fn scalar_op(&self, operation: ScalarOp, a: DevicePtr, b: DevicePtr, out: DevicePtr) -> Result<(), Error> {
        let words = [operation as u64, a.0, b.0, out.0];
        let joined = self.with_last(|launch| {
            let at = *launch.offsets.last().filter(|_| TAKE_SCALAR_OPS.contains(&launch.name))? as usize;
            let known = launch.words[at] as usize;
            (known < MOST_SCALAR_OPS).then(|| {
                let from = at + 1 + 4 * known;
                launch.words[from..from + 4].copy_from_slice(&words);
                launch.words[at] += 1;
            })
        });
        if joined.is_some() {
            return Ok(());
        }
        let call = self.call(&SOLVERS_MODULE, "equelle_numbers")?.arg(NoScalarOps);
        self.push(call.shaped(LaunchShape { grid: [1; 3], block: [WARP, 1, 1] }));
        self.scalar_op(operation, a, b, out)
    }

    /// A new number by a launch that is given its address; an error is deferred.
    pub(crate) fn make_scalar(&self, launch: impl FnOnce(DevicePtr) -> Result<(), Error>) -> DeviceNumber {
        let result = self.new_number().and_then(|out| {
            launch(out.address())?;
            Ok(out)
        });
        self.attempt(result)
    }

    /// A new number by an operation on two.
    pub(crate) fn scalar_of(&self, operation: ScalarOp, a: &DeviceNumber, b: &DeviceNumber) -> DeviceNumber {
        let (a, b) = (a.as_ref()?, b.as_ref()?);
        self.make_scalar(|out| self.scalar_op(operation, a.address(), b.address(), out))
    }

    /// Numbers from anywhere on the device in one copy. Waits for it.
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
