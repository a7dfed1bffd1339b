//! Kernels of programs that are interpreted, on a CUDA device.
//!
//! The code generator gives their text, which NVRTC compiles in this process and caches as for
//! built programs, and their launches as data ([`backend_cuda::codegen::launch`]), which
//! [`CudaKernels`] carries out. So results have the bits of built programs.

#![forbid(unsafe_code)]

mod arguments;
mod equation;
mod info;
mod values;

use backend_cuda::codegen::DeviceKernels;
use backend_cuda::codegen::launch::{KernelLaunch, Launch};
use backend_cuda::runtime::{CudaRuntime, FloatingPoint, KernelModule, ScalarCollection};
use equelle_front::backend::BackendError;
use equelle_front::ir::{KernelId, Rounding};
use equelle_front::verify::Verified;
use equelle_interp::provider::{KernelContext, KernelProvider};
use equelle_interp::value::{Value, defect};
use equelle_runtime::{Error, KernelInfo};

use arguments::Arguments;

/// A program with the kernels that it has on a CUDA device.
///
/// Names and lines, which are constants in built programs, live as long as the process.
#[derive(Debug)]
pub struct CudaKernels {
    module: &'static KernelModule,
    kernels: Vec<DeviceKernel>,
}

/// A kernel with what the runtime knows of it.
#[derive(Debug)]
struct DeviceKernel {
    info: &'static KernelInfo,
    vector_sizes: Vec<usize>,
    general: DeviceLaunch,
    cartesian: Option<DeviceLaunch>,
}

/// A launch with the names of its functions as the runtime takes them.
#[derive(Clone, Copy, Debug)]
struct DeviceLaunch {
    launch: &'static Launch,
    /// Functions with several cells of a row a thread.
    rows: &'static [(u32, &'static str)],
}

impl DeviceLaunch {
    fn new(launch: Launch) -> DeviceLaunch {
        let launch: &'static Launch = Box::leak(Box::new(launch));
        let rows = match launch {
            Launch::Values(launch) => {
                launch.rows.iter().flat_map(|rows| &rows.functions).map(|(width, name)| (*width, &name[..])).collect()
            }
            Launch::Equation(_) => Vec::new(),
        };
        DeviceLaunch { launch, rows: Box::leak(rows.into_boxed_slice()) }
    }
}

impl CudaKernels {
    /// The kernels of a program.
    ///
    /// # Errors
    /// Those of the code generator.
    pub fn new(program: &Verified) -> Result<CudaKernels, BackendError> {
        let DeviceKernels { text, launches } = DeviceKernels::new(program)?;
        let module = program.module();
        let floating_point = match module.numbers.rounding {
            Rounding::Strict => FloatingPoint::Strict,
            Rounding::Fast => FloatingPoint::Fast,
        };
        let kernels = info::of_module(module).into_iter().zip(launches);
        let name = constant(&module.name);
        Ok(CudaKernels {
            module: Box::leak(Box::new(KernelModule { name, source: constant(&text), floating_point })),
            kernels: kernels.map(|(info, launch)| DeviceKernel::new(info, launch)).collect(),
        })
    }

    /// The module that the device compiles; `None` for programs without kernels.
    pub fn module(&self) -> Option<KernelModule> {
        (!self.kernels.is_empty()).then_some(*self.module)
    }

    /// A kernel and its launch on the grid of the run.
    fn kernel(&self, rt: &CudaRuntime, kernel: KernelId) -> Result<(&'static KernelInfo, DeviceLaunch), Error> {
        let kernel = self.kernels.get(kernel.0 as usize).ok_or_else(|| defect("there is no such kernel"))?;
        for &components in &kernel.vector_sizes {
            rt.vector_size(components, kernel.info)?;
        }
        let cartesian = kernel.cartesian.filter(|_| rt.uses_cartesian_forms());
        Ok((kernel.info, cartesian.unwrap_or(kernel.general)))
    }
}

impl DeviceKernel {
    fn new(info: &'static KernelInfo, launch: KernelLaunch) -> DeviceKernel {
        let KernelLaunch { vector_sizes, general, cartesian } = launch;
        DeviceKernel { info, vector_sizes, general: DeviceLaunch::new(general), cartesian: cartesian.map(DeviceLaunch::new) }
    }
}

/// A text that lives as long as the process.
fn constant(text: &str) -> &'static str {
    Box::leak(text.to_owned().into_boxed_str())
}

impl KernelProvider<CudaRuntime> for CudaKernels {
    fn launch(
        &mut self,
        context: &mut KernelContext<'_, CudaRuntime>,
        kernel: KernelId,
        args: Vec<Value<CudaRuntime>>,
    ) -> Result<Vec<Value<CudaRuntime>>, Error> {
        let rt = &mut *context.rt;
        let (info, DeviceLaunch { launch, rows }) = self.kernel(rt, kernel)?;
        let Launch::Values(launch) = launch else { return Err(defect(format!("`{}` is an equation", info.name))) };
        values::launch(rt, self.module, launch, rows, Arguments::new(info, args))
    }

    fn equation(
        &mut self,
        context: &mut KernelContext<'_, CudaRuntime>,
        kernel: KernelId,
        unknowns: &[ScalarCollection],
        args: &[Value<CudaRuntime>],
    ) -> Result<ScalarCollection, Error> {
        let rt = &mut *context.rt;
        let (info, DeviceLaunch { launch, .. }) = self.kernel(rt, kernel)?;
        let Launch::Equation(launch) = launch else { return Err(defect(format!("`{}` is no equation", info.name))) };
        let all = unknowns.iter().cloned().map(Value::Scalars).chain(args.iter().cloned()).collect();
        equation::launch(rt, self.module, launch, Arguments::new(info, all))
    }
}
