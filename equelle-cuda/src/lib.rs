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

use std::rc::Rc;

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
use info::KernelFacts;

/// A program with the kernels that it has on a CUDA device.
#[derive(Debug)]
pub struct CudaKernels {
    module: KernelModule,
    kernels: Vec<DeviceKernel>,
}

/// A kernel with what the runtime knows of it.
#[derive(Debug)]
struct DeviceKernel {
    facts: KernelFacts,
    vector_sizes: Vec<usize>,
    general: DeviceLaunch,
    cartesian: Option<DeviceLaunch>,
    /// Parameters that it needs kept per axis where sides are joined; `None` if it is for open
    /// grids alone.
    joined: Option<Vec<usize>>,
}

/// A launch with the names of its functions as the runtime takes them.
#[derive(Debug)]
struct DeviceLaunch {
    launch: Launch,
    /// Functions with several cells of a row a thread.
    rows: Rc<[(u32, String)]>,
}

impl DeviceLaunch {
    fn new(launch: Launch) -> DeviceLaunch {
        let rows = match &launch {
            Launch::Values(launch) => launch.rows.iter().flat_map(|rows| &rows.functions).cloned().collect(),
            Launch::Equation(_) => Rc::default(),
        };
        DeviceLaunch { launch, rows }
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
        let facts = module.kernels.iter().map(|kernel| KernelFacts::new(module, kernel));
        Ok(CudaKernels {
            module: KernelModule { name: module.name.as_str().into(), source: text.into(), floating_point },
            kernels: facts.zip(launches).map(|(facts, launch)| DeviceKernel::new(facts, launch)).collect(),
        })
    }

    /// The module that the device compiles; `None` for programs without kernels.
    pub fn module(&self) -> Option<KernelModule> {
        (!self.kernels.is_empty()).then(|| self.module.clone())
    }

    /// A kernel and its launch on the grid of the run, for arguments that `is_per_axis` tells of.
    fn kernel(
        &self,
        rt: &CudaRuntime,
        kernel: KernelId,
        is_per_axis: impl Fn(usize) -> bool,
    ) -> Result<(KernelInfo<'_>, &DeviceLaunch), Error> {
        let kernel = self.kernels.get(kernel.0 as usize).ok_or_else(|| defect("there is no such kernel"))?;
        let info = kernel.facts.info();
        for &components in &kernel.vector_sizes {
            rt.vector_size(components, &info)?;
        }
        let takes_grid = match &kernel.joined {
            Some(per_axis) => rt.uses_closed_forms() && per_axis.iter().all(|&param| is_per_axis(param)),
            None => rt.uses_cartesian_forms(),
        };
        let cartesian = kernel.cartesian.as_ref().filter(|_| takes_grid);
        Ok((info, cartesian.unwrap_or(&kernel.general)))
    }
}

impl DeviceKernel {
    fn new(facts: KernelFacts, launch: KernelLaunch) -> DeviceKernel {
        let KernelLaunch { vector_sizes, general, cartesian, joined } = launch;
        DeviceKernel { facts, vector_sizes, general: DeviceLaunch::new(general), cartesian: cartesian.map(DeviceLaunch::new), joined }
    }
}

impl KernelProvider<CudaRuntime> for CudaKernels {
    fn launch(
        &mut self,
        context: &mut KernelContext<'_, CudaRuntime>,
        kernel: KernelId,
        args: Vec<Value<CudaRuntime>>,
    ) -> Result<Vec<Value<CudaRuntime>>, Error> {
        let rt = &mut *context.rt;
        let is_per_axis = |param: usize| matches!(args.get(param), Some(Value::Scalars(values)) if values.is_per_axis());
        let (info, DeviceLaunch { launch, rows }) = self.kernel(rt, kernel, is_per_axis)?;
        let Launch::Values(launch) = launch else { return Err(defect(format!("`{}` is an equation", info.name))) };
        values::launch(rt, &self.module, launch, rows, Arguments::new(info, args))
    }

    fn equation(
        &mut self,
        context: &mut KernelContext<'_, CudaRuntime>,
        kernel: KernelId,
        unknowns: &[ScalarCollection],
        args: &[Value<CudaRuntime>],
    ) -> Result<ScalarCollection, Error> {
        let rt = &mut *context.rt;
        // Equations are for open grids alone.
        let (info, DeviceLaunch { launch, .. }) = self.kernel(rt, kernel, |_| false)?;
        let Launch::Equation(launch) = launch else { return Err(defect(format!("`{}` is no equation", info.name))) };
        let all = unknowns.iter().cloned().map(Value::Scalars).chain(args.iter().cloned()).collect();
        equation::launch(rt, &self.module, launch, Arguments::new(info, all))
    }
}
