//! Launches of equations.

use backend_cuda::codegen::launch::EquationLaunch;
use backend_cuda::runtime::{CudaRuntime, KernelModule, ScalarCollection};
use equelle_runtime::Error;

use crate::arguments::{Arguments, LaunchContext};

/// The residual of an equation with its rows of the Jacobian. A function tells the pattern of the
/// rows once, another one evaluates.
pub fn launch(
    rt: &mut CudaRuntime,
    module: &KernelModule,
    launch: &EquationLaunch,
    mut arguments: Arguments<'_>,
) -> Result<ScalarCollection, Error> {
    let domain = arguments.domain(rt, launch.domain)?;
    let mut builder = {
        let unknowns = (0..launch.unknowns).map(|param| arguments.scalars(param)).collect::<Result<Vec<_>, _>>()?;
        let through = launch.through.iter().map(|&param| arguments.entities(param)).collect::<Result<Vec<_>, _>>()?;
        rt.begin_pattern(arguments.info(), &domain, &unknowns, &through, launch.has_slots)?
    };
    let made = LaunchContext { domain: Some(&domain), ..LaunchContext::default() };
    let (function, passed) = &launch.pattern;
    while let Some(pattern) = rt.next_pattern(&mut builder)? {
        let call = rt.call(module, function)?;
        let call = arguments.pass_all(rt, call, passed, LaunchContext { pattern: Some(pattern), ..made })?;
        rt.launch_over(call, domain.len())?;
    }
    let rows = rt.finish_pattern(builder)?;
    let residual = rt.new_collection(&domain)?;
    let entries = rt.new_entries(&rows)?;
    let (function, passed) = &launch.evaluation;
    let call = rt.call_over(module, arguments.info(), function, domain.len())?;
    let made = LaunchContext { results: &[residual.pointer()], rows: Some((&rows, Some(&entries))), ..made };
    let call = arguments.pass_all(rt, call, passed, made)?;
    rt.launch_over_rows(call, &rows)?;
    Ok(rt.equation(residual, &rows, entries))
}
