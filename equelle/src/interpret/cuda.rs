//! Interpretation on a CUDA device: kernels are compiled by NVRTC in this process.

use backend_cuda::runtime::{CudaRuntime, run_compiling};
use equelle_cuda::CudaKernels;
use equelle_front::ir::Precision;
use equelle_front::verify::Verified;
use equelle_runtime::{Error, ErrorKind, Session};

/// Runs a program on the device.
///
/// # Errors
/// Those of the run; `Backend` if the back-end cannot express the program, or there is no device.
pub(super) fn run(verified: &Verified, session: Session) -> Result<(), Error> {
    let kernels = CudaKernels::new(verified).map_err(|error| Error::new(ErrorKind::Backend, error.message))?;
    let modules: Vec<_> = kernels.module().into_iter().collect();
    let mut provider = kernels;
    let program = |rt: &mut CudaRuntime| equelle_interp::interpret_by(verified, rt, equelle_interp::Options::default(), &mut provider);
    match verified.module().numbers.precision {
        Precision::Double => run_compiling::<f64>(session, &modules, program),
        Precision::Single => run_compiling::<f32>(session, &modules, program),
    }
}
