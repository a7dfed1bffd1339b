//! Launches: arguments to bindings, blocks on threads, outputs to values.

mod arguments;
mod context;
mod equation;
mod results;

use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use backend_serial::runtime::{CompiledReal, ScalarCollection, SerialRuntime};
use equelle_front::ir::{CartesianForm, KBlock, Kernel, KernelId, Space};
use equelle_front::types::Basic;
use equelle_interp::provider::{ElementKernels, KernelProvider};
use equelle_interp::value::{Value, defect};
use equelle_runtime::domain::Domain;
use equelle_runtime::threads::BLOCK;
use equelle_runtime::{Error, Real};

use crate::build::{build, build_uniform};
use crate::exec::bindings::{Outputs, Rows};
use crate::exec::run;
use crate::program::{LaneProgram, Layout, UniformId};
use crate::refusal::Refusal;
use crate::uniform::evaluate;
use arguments::{Arguments, Numbers, RankMaps, SingleValues, geometry, no_numbers, numbers};
use context::{Argument, Context, domain_of, shape_of, target};
use equation::Equations;
use results::Results;

/// A compiled kernel.
enum Compiled {
    /// To be run over blocks.
    Blocks(Box<LaneProgram>),
    /// To be evaluated for each axis.
    PerAxis(Vec<(LaneProgram, Vec<UniformId>)>),
}

/// Kernels of one program by lanes; what lanes do not have, by elements.
#[derive(Default)]
pub struct Lanes {
    compiled: BTreeMap<KernelId, Result<Rc<Compiled>, Refusal>>,
    maps: RankMaps,
    elements: ElementKernels,
    fallen: BTreeMap<String, Refusal>,
    equations: Equations,
}

impl Lanes {
    /// The kernels that were left to the evaluator of elements, by name, and why. Single
    /// evaluations are not among them.
    pub fn fallen(&self) -> &BTreeMap<String, Refusal> {
        &self.fallen
    }

    /// Number of kernels and equations compiled so far.
    pub fn compiled_kernels(&self) -> usize {
        self.compiled.values().filter(|compiled| compiled.is_ok()).count() + self.equations.compiled_equations()
    }

    /// Compiles a kernel, or takes what is compiled.
    fn compiled<R: CompiledReal>(
        &mut self,
        context: &Context<'_, R>,
        id: KernelId,
        kernel: &Kernel,
        space: &Domain,
    ) -> Result<Rc<Compiled>, Refusal> {
        let make = || compile(context, kernel, space).map(Rc::new);
        self.compiled.entry(id).or_insert_with(make).clone()
    }

    /// The results of a kernel; `None` if it is one of elements.
    fn launched<R: CompiledReal>(
        &mut self,
        context: &mut Context<'_, R>,
        id: KernelId,
        kernel: &Kernel,
        args: &[Argument<R>],
    ) -> Result<Option<Vec<Argument<R>>>, Error> {
        let Space::Set(set) = kernel.space else { return Ok(None) };
        context.check_vectors(kernel)?;
        let Some(space) = domain_of(context, kernel, args, set)? else { return Ok(None) };
        if space.is_empty() {
            return Ok(None);
        }
        let compiled = match self.compiled(context, id, kernel, &space) {
            Ok(compiled) => compiled,
            Err(refusal) => {
                self.fallen.insert(kernel.name.clone(), refusal);
                return Ok(None);
            }
        };
        // Else in doubles, which it rounds when it stores them.
        let in_precision_of_collections = kernel.computes_in(context.module.numbers) == context.module.numbers.precision;
        match (&*compiled, in_precision_of_collections) {
            (Compiled::PerAxis(programs), true) => per_axis::<R, R>(context, kernel, args, programs).map(Some),
            (Compiled::PerAxis(programs), false) => per_axis::<R, f64>(context, kernel, args, programs).map(Some),
            (Compiled::Blocks(program), true) => self.by_blocks::<R, R>(context, kernel, args, program, &space, numbers),
            (Compiled::Blocks(program), false) => self.by_blocks::<R, f64>(context, kernel, args, program, &space, no_numbers),
        }
    }

    /// The results of a program that computes in `T`.
    fn by_blocks<R: CompiledReal, T: Real>(
        &mut self,
        context: &mut Context<'_, R>,
        kernel: &Kernel,
        args: &[Argument<R>],
        program: &LaneProgram,
        space: &Arc<Domain>,
        numbers: Numbers<R, T>,
    ) -> Result<Option<Vec<Argument<R>>>, Error> {
        let Some(arguments) = Arguments::of(context, kernel, args, program, space, &mut self.maps, numbers)? else { return Ok(None) };
        let mut results = Results::new(context, kernel, space)?;
        let failed = run_on_threads(context, program, &arguments, space, Rows::default(), results.outputs());
        if let Some(position) = failed {
            context.check_from(kernel, args, position)?;
            if context.rt.session().rank().is_some() {
                // In the halo, where values may be of an earlier round: the others are needed.
                return Ok(None);
            }
            return Err(defect(format!("`{}` has an error that no element has", kernel.name)));
        }
        results.finish(context, kernel, space).map(Some)
    }
}

/// Compiled here once for each precision: the loops of [`run`] would dominate the time of every
/// crate that uses them.
macro_rules! provider {
    ($($real:ty),*) => {$(
        impl KernelProvider<SerialRuntime<$real>> for Lanes {
            fn launch(
                &mut self,
                context: &mut Context<'_, $real>,
                id: KernelId,
                args: Vec<Argument<$real>>,
            ) -> Result<Vec<Argument<$real>>, Error> {
                let kernel = context.kernel(id)?;
                match self.launched(context, id, kernel, &args)? {
                    Some(values) => Ok(values),
                    None => self.elements.launch(context, id, args),
                }
            }

            fn equation(
                &mut self,
                context: &mut Context<'_, $real>,
                id: KernelId,
                unknowns: &[ScalarCollection<$real>],
                args: &[Argument<$real>],
            ) -> Result<ScalarCollection<$real>, Error> {
                let kernel = context.kernel(id)?;
                match self.equation_by_lanes(context, id, kernel, unknowns, args)? {
                    Ok(equation) => Ok(equation),
                    Err(refusal) => {
                        self.fallen.insert(kernel.name.clone(), refusal);
                        self.elements.equation(context, id, unknowns, args)
                    }
                }
            }
        }
    )*};
}

provider!(f32, f64);

fn compile<R: CompiledReal>(context: &Context<'_, R>, kernel: &Kernel, space: &Domain) -> Result<Compiled, Refusal> {
    let grid = context.rt.grid();
    let shape = shape_of(context, kernel);
    let target = |cartesian_form, face_axis| target(context, kernel, space, cartesian_form, face_axis);
    let blocks = |block: &KBlock, cartesian_form| {
        build(kernel, block, target(cartesian_form, None)).map(|program| Compiled::Blocks(Box::new(program)))
    };
    match &kernel.cartesian {
        Some(form) if shape.is_some() && context.cartesian_forms => match form {
            CartesianForm::Full(block) => blocks(block, true),
            CartesianForm::PerAxis(block) => {
                let is_scalar = kernel.results.iter().all(|result| result.ty.basic == Basic::Scalar && result.reduce.is_none());
                if !is_scalar || !kernel.checks.is_empty() {
                    return Err(Refusal::PerAxis);
                }
                let is_face = space.kind() == equelle_runtime::EntityKind::Face;
                let axes: Vec<Option<usize>> = if is_face { (0..grid.dim()).map(Some).collect() } else { vec![None] };
                let programs = axes.into_iter().map(|axis| build_uniform(kernel, block, target(true, axis)));
                programs.collect::<Result<_, _>>().map(Compiled::PerAxis)
            }
        },
        Some(_) | None => blocks(&kernel.body, false),
    }
}

/// Results with one value for each axis, computed in `T`.
fn per_axis<R: CompiledReal, T: Real>(
    context: &mut Context<'_, R>,
    kernel: &Kernel,
    args: &[Argument<R>],
    programs: &[(LaneProgram, Vec<UniformId>)],
) -> Result<Vec<Argument<R>>, Error> {
    let set = kernel.space_set().ok_or_else(|| defect("values per axis are over a set"))?;
    let domain = context.domain(set)?;
    let mut results = vec![[R::ZERO; 3]; kernel.results.len()];
    for (axis, (program, values)) in programs.iter().enumerate() {
        let singles = SingleValues::of(context, args, program);
        let uniforms: Vec<T> = evaluate(&program.uniforms, &singles);
        for (result, value) in results.iter_mut().zip(values) {
            result[axis] = R::from_f64(uniforms[value.0 as usize].to_f64());
        }
    }
    Ok(results.into_iter().map(|values| Value::Scalars(context.rt.per_axis_collection(&domain, values))).collect())
}

/// Runs a program on the threads of the run; the position of the first block with an error.
fn run_on_threads<R: CompiledReal, T: Real>(
    context: &Context<'_, R>,
    program: &LaneProgram,
    arguments: &Arguments<T>,
    space: &Domain,
    rows: Rows<'_>,
    outputs: Outputs<'_, R>,
) -> Option<usize> {
    let grid = context.rt.shared_grid();
    let geometry = geometry(program, &grid);
    let bindings = arguments.bindings(program, &grid, &geometry, space, rows);
    let failed = AtomicUsize::new(usize::MAX);
    // Whole rows, where there are several.
    let rows = program.shape.filter(|shape| program.layout == Layout::Consecutive(0) && shape.n[0] < space.len());
    let unit = rows.map_or(BLOCK, |shape| shape.n[0]);
    context.rt.session().threads().each_of(space.len(), unit, outputs, |positions, outputs| {
        if let Err(position) = run(program, &bindings, positions, outputs) {
            failed.fetch_min(position, Ordering::Relaxed);
        }
    });
    Some(failed.into_inner()).filter(|&position| position != usize::MAX)
}
