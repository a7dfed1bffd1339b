//! Checks of generated kernels, and their results on the host.

use std::sync::Arc;

use equelle_runtime::domain::Domain;
use equelle_runtime::{Error, KernelInfo};

use crate::runtime::executor::arguments::EqChecks;
use crate::runtime::runtime::CudaRuntime;
use crate::runtime::values::conditions::{FINITE, HOLD, Origin};

impl CudaRuntime {
    /// Destination of the failed conditions of a kernel over a domain.
    ///
    /// # Errors
    /// `Backend`: not enough memory.
    pub fn checks(&mut self, kernel: &KernelInfo, domain: &Arc<Domain>) -> Result<EqChecks, Error> {
        let line = self.session.current_line();
        self.conditions.checks_of(Origin::Kernel(line), Some(kernel), domain, None)
    }

    /// [`CudaRuntime::checks`] of a kernel that demands that no face has two cells.
    ///
    /// # Errors
    /// `Backend`: not enough memory.
    pub fn one_cell_checks(&mut self, kernel: &KernelInfo, domain: &Arc<Domain>) -> Result<EqChecks, Error> {
        let line = self.session.current_line();
        self.conditions.checks_of(Origin::KernelOfFaces(line), Some(kernel), domain, None)
    }

    /// Returns the error of a failed condition, or of an output that is not finite, if any. Waits
    /// for all earlier launches.
    ///
    /// # Errors
    /// `Simulation` for the first failed condition; `Backend` if the device is lost.
    pub fn check_flag(&mut self) -> Result<(), Error> {
        self.read_flags().map(|_| ())
    }

    /// The word of numbers that are not finite, if all conditions hold and outputs are finite.
    pub(crate) fn read_flags(&mut self) -> Result<u64, Error> {
        let Some([flag, finite]) = self.conditions.read()? else { return Ok(FINITE) };
        // The thread that writes outputs may have found the error first.
        self.wait_for_outputs()?;
        if flag == HOLD { Ok(finite) } else { Err(self.conditions.error(flag)) }
    }
}
