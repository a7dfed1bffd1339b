//! Kernel IR to CUDA C++ and its host side.
//!
//! Reading order: [`emit`] (text, expressions, statements), [`signature`] (the order of arguments),
//! [`unstructured`] (any grid), [`cartesian`], [`jacobian`] (equations with derivatives),
//! [`kernel`] (all functions of a kernel), [`launch`] (launches as data), [`host`] (the Rust file
//! of them).
//!
//! Two files come out: `src/kernels.cu`, which the program compiles at start for the device it
//! finds, and `src/kernels_cuda.rs`.

mod availability;
mod cartesian;
mod costs;
mod emit;
mod host;
mod jacobian;
mod kernel;
pub mod launch;
mod leaves;
mod signature;
mod unstructured;

use equelle_front::backend::branches::share_across_branches;
use equelle_front::backend::forms::ChosenForm;
use equelle_front::backend::order::order_by_live_values;
use equelle_front::backend::{Availability, Backend, BackendError, DeviceKind};
use equelle_front::cost::CostModel;
use equelle_front::ir::{CartesianForm, Kernel, Module};
use equelle_front::types::{Basic, SetTable, Shape};
use equelle_front::verify::Verified;

use cartesian::by_index::body_of_cells;
pub use emit::uses::GridUse;
use kernel::{KernelText, kernel_texts};
use launch::KernelLaunch;
use signature::LaunchBounds;

/// The CUDA back-end.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cuda;

impl Backend for Cuda {
    fn name(&self) -> &'static str {
        "cuda"
    }

    fn costs(&self) -> CostModel {
        costs::COSTS
    }

    fn description(&self) -> &'static str {
        "NVIDIA GPUs"
    }

    fn listing(&self) -> (&'static str, &'static str) {
        ("cuda", ".cu")
    }

    fn device_kind(&self) -> DeviceKind {
        DeviceKind::Gpu
    }

    fn compiles_at_start(&self) -> bool {
        true
    }

    fn availability(&self) -> Availability {
        availability::look()
    }

    fn files(&self, module: &Verified) -> Result<Vec<(String, String)>, BackendError> {
        let module = prepared(module)?;
        let kernels = kernel_texts(&module);
        let (device, host) = (kernels_cu(&module, &kernels), host::kernels_file(&module, &kernels)?);
        Ok(vec![("src/kernels.cu".to_owned(), device), ("src/kernels_cuda.rs".to_owned(), host)])
    }

    fn forms(&self, module: &Verified) -> Result<Vec<ChosenForm>, BackendError> {
        let module = prepared(module)?;
        Ok(kernel_texts(&module).iter().map(|text| text.form(&module.sets)).collect())
    }
}

/// The kernels of a program for an interpreter that runs them in its own process.
#[derive(Clone, Debug)]
pub struct DeviceKernels {
    /// CUDA C++ text, without the prelude of the runtime.
    pub text: String,
    /// Launches, in the order of the kernels of the program.
    pub launches: Vec<KernelLaunch>,
}

impl DeviceKernels {
    /// Those of a program.
    ///
    /// # Errors
    /// As [`Backend::files`].
    pub fn new(module: &Verified) -> Result<DeviceKernels, BackendError> {
        let module = prepared(module)?;
        let kernels = kernel_texts(&module);
        let launch = |made: &KernelText<'_>| {
            KernelLaunch::new(made, &module.sets)
                .ok_or_else(|| BackendError::internal(Default::default(), format!("`{}` has no domain", made.kernel.name)))
        };
        let launches = kernels.iter().map(launch).collect::<Result<_, _>>()?;
        Ok(DeviceKernels { text: kernels_cu(&module, &kernels), launches })
    }
}

/// The module as its text is written.
fn prepared(module: &Verified) -> Result<Module, BackendError> {
    let mut module = module.module().clone();
    for kernel in &mut module.kernels {
        check_types(kernel)?;
        share_across_branches(kernel, &module.sets);
        order_wide(kernel, &module.sets);
    }
    Ok(module)
}

/// Orders the body of a wide kernel, so that its values fit into registers.
fn order_wide(kernel: &mut Kernel, sets: &SetTable) {
    let Some(block) = body_of_cells(kernel, sets).filter(|block| LaunchBounds::is_wide(block)).cloned() else { return };
    let block = order_by_live_values(kernel, block);
    match &mut kernel.cartesian {
        Some(form) => *form = CartesianForm::Full(block),
        None => kernel.body = block,
    }
}

/// The CUDA C++ text of all kernels of a module. It needs the runtime's prelude before it.
fn kernels_cu(module: &Module, kernels: &[KernelText<'_>]) -> String {
    let mut text = format!("// Kernels of {}. Helpers beginning with eq_ or Eq are the runtime's.\n", module.name);
    for kernel in kernels {
        for function in kernel.functions() {
            text.push('\n');
            kernel.lines.iter().for_each(|line| text += &format!("// {line}\n"));
            text += &function.to_string();
        }
    }
    text
}

/// An error if a kernel uses a type that the device code has no storage for.
fn check_types(kernel: &Kernel) -> Result<(), BackendError> {
    let span = kernel.spans.first().copied().unwrap_or_default();
    for param in &kernel.params {
        let storable = match param.ty.shape {
            Shape::Collection(_) => !matches!(param.ty.basic, Basic::Text | Basic::Table | Basic::Axis(_)),
            Shape::Single => matches!(param.ty.basic, Basic::Scalar | Basic::Vector | Basic::Bool | Basic::Table),
            Shape::Domain(_) => true,
            Shape::Sequence => false,
        };
        if !storable {
            let message = format!("the CUDA back-end cannot pass `{}` to a kernel", param.name);
            return Err(BackendError::new(span, message));
        }
    }
    for result in &kernel.results {
        let storable = match (result.ty.shape, result.ty.basic) {
            (Shape::Collection(_), Basic::Scalar | Basic::Vector | Basic::Bool | Basic::Entity(_)) => true,
            (Shape::Single, Basic::Scalar | Basic::Vector | Basic::Bool) => true,
            (_, Basic::Text | Basic::Table | Basic::Axis(_))
            | (Shape::Single, Basic::Entity(_))
            | (Shape::Domain(_) | Shape::Sequence, _) => false,
        };
        if !storable {
            let message = format!("the CUDA back-end cannot store `{}`", result.name);
            return Err(BackendError::new(span, message));
        }
    }
    Ok(())
}
