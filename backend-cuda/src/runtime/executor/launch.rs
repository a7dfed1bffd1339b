//! Launches.

use equelle_runtime::{Error, reduce};

use crate::runtime::device::{Launch, LaunchShape};
use crate::runtime::executor::Executor;
use crate::runtime::executor::arguments::Call;
use crate::runtime::executor::autotune::LaunchDomain;
use crate::runtime::executor::shapes::Shapes;

impl Executor {
    /// Queues a launch.
    pub(crate) fn push(&self, launch: Launch) {
        self.queue.borrow_mut().push(launch);
    }

    /// Changes the last queued launch.
    pub(crate) fn with_last<T>(&self, change: impl FnOnce(&mut Launch) -> Option<T>) -> Option<T> {
        self.queue.borrow_mut().last_mut().and_then(change)
    }

    /// Queues a call with one thread per element; nothing for none.
    ///
    /// # Errors
    /// With `tune=yes` those of the device, which measures shapes; errors of the launch itself
    /// appear at the next flush.
    pub(crate) fn launch_over(&self, call: Call, elements: usize) -> Result<(), Error> {
        self.launch_tuned(call, LaunchDomain::Elements(elements))
    }

    /// Queues a call with one block per leaf of a reduction.
    pub(crate) fn launch_over_leaves(&self, call: Call, leaves: usize) {
        if leaves > 0 {
            self.push(call.shaped(LaunchShape { grid: [leaves as u32, 1, 1], block: [reduce::CHAINS as u32, 1, 1] }));
        }
    }

    /// Queues a call with one thread per cell of the Cartesian grid, blocks along rows.
    ///
    /// # Errors
    /// `Backend` (an internal error) if the run does not use Cartesian kernels.
    pub(crate) fn launch_over_cells(&self, call: Call) -> Result<(), Error> {
        let g = self.cartesian_args()?;
        let cells = g.n.iter().map(|&n| n as usize).product();
        self.launch_tuned(call, if g.flat == 1 { LaunchDomain::Elements(cells) } else { LaunchDomain::Cells })
    }

    /// Queues a call over the interior of the Cartesian grid, several cells per thread along the
    /// last axis, and then over its boundary cells, one per thread.
    ///
    /// # Errors
    /// `Backend` (an internal error) if the run does not use Cartesian kernels.
    pub(crate) fn launch_inside_and_boundary(&self, call: Call) -> Result<(), Error> {
        if self.cartesian_args()?.flat == 1 {
            return self.launch_over_cells(call);
        }
        self.launch_tuned(call, LaunchDomain::InsideAndBoundary)
    }

    /// Queues a call in the best known shape; nothing for no elements.
    pub(crate) fn launch_tuned(&self, call: Call, over: LaunchDomain) -> Result<(), Error> {
        if over == LaunchDomain::Elements(0) {
            return Ok(());
        }
        let shapes = Shapes { executor: self, over };
        let config = shapes.config(&call)?;
        self.push(shapes.launch(call, config)?);
        Ok(())
    }
}
