//! The running program as a launch sees it.

use std::sync::Arc;

use backend_serial::runtime::{CompiledReal, SerialRuntime};
use equelle_front::ir::Kernel;
use equelle_front::types::SetId;
use equelle_interp::provider::KernelContext;
use equelle_interp::value::Value;
use equelle_runtime::Error;
use equelle_runtime::domain::Domain;
use equelle_runtime::grid::Cartesian;

use crate::build::Target;
use crate::program::Layout;

pub type Context<'c, R> = KernelContext<'c, SerialRuntime<R>>;
pub type Argument<R> = Value<SerialRuntime<R>>;

/// The target of a kernel over a domain.
pub fn target<'c, R: CompiledReal>(
    context: &Context<'c, R>,
    kernel: &Kernel,
    space: &Domain,
    cartesian_form: bool,
    face_axis: Option<usize>,
) -> Target<'c> {
    let layout = match space.offset() {
        Some(first) => Layout::Consecutive(first),
        None => Layout::List,
    };
    let grid = context.rt.grid();
    let shape = shape_of(context, kernel).copied();
    let precision = kernel.computes_in(context.module.numbers);
    Target { sets: &context.module.sets, precision, dim: grid.dim(), shape, cartesian_form, layout, face_axis }
}

/// The shape of the grid, if the kernel may use it.
pub fn shape_of<'c, R: CompiledReal>(context: &'c Context<'_, R>, kernel: &Kernel) -> Option<&'c Cartesian> {
    let grid = context.rt.grid();
    let joined = || grid.closed_shape().filter(|_| context.cartesian_forms && kernel.takes_joined_sides(&context.module.sets));
    grid.cartesian_shape().or_else(joined)
}

/// The domain of a set: a parameter of the kernel, or a canonical one.
pub fn domain_of<R: CompiledReal>(
    context: &mut Context<'_, R>,
    kernel: &Kernel,
    args: &[Argument<R>],
    set: SetId,
) -> Result<Option<Arc<Domain>>, Error> {
    if let Some(Value::Domain(domain)) = kernel.domain_param(set).and_then(|param| args.get(param.0 as usize)) {
        return Ok(Some(Arc::clone(domain)));
    }
    match context.module.sets.get(set).canonical {
        Some(_) => context.domain(set).map(Some),
        None => Ok(None),
    }
}
