//! Equations: residuals with derivatives.
//!
//! The places of the derivatives follow from the grid: they are marked once for each domain and its
//! collections of entities. An evaluation adds into these places.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use backend_serial::runtime::{CompiledReal, ScalarCollection, Values};
use equelle_front::backend::stencil::Skeleton;
use equelle_front::ir::{Kernel, KernelId};
use equelle_interp::value::{Value, defect};
use equelle_runtime::domain::Domain;
use equelle_runtime::threads::Entries;
use equelle_runtime::{Error, Implicit};

use super::arguments::{Arguments, geometry, numbers};
use super::context::{Argument, Context, domain_of, target};
use super::{Lanes, run_on_threads};
use crate::build::build_equation;
use crate::exec::bindings::{Marks, Output, Outputs, Rows};
use crate::exec::run;
use crate::program::LaneProgram;
use crate::refusal::Refusal;

/// An equation: its program, and that which marks its derivatives.
struct Compiled {
    equation: LaneProgram,
    pattern: LaneProgram,
}

/// The places of derivatives depend on these.
#[derive(Clone)]
struct PatternKey {
    space: Arc<Domain>,
    of_unknowns: Vec<Arc<Domain>>,
    unknowns: Vec<(usize, usize)>,
    sets: Vec<Arc<Domain>>,
    entities: Vec<Values<u32>>,
}

impl PatternKey {
    fn is(&self, other: &PatternKey) -> bool {
        let same = |a: &[Arc<Domain>], b: &[Arc<Domain>]| a.len() == b.len() && a.iter().zip(b).all(|(a, b)| Arc::ptr_eq(a, b));
        let same_entities = |(a, b): (&Values<u32>, &Values<u32>)| std::ptr::eq(a.as_ptr(), b.as_ptr()) && a.len() == b.len();
        Arc::ptr_eq(&self.space, &other.space)
            && same(&self.of_unknowns, &other.of_unknowns)
            && self.unknowns == other.unknowns
            && same(&self.sets, &other.sets)
            && self.entities.len() == other.entities.len()
            && self.entities.iter().zip(&other.entities).all(same_entities)
    }
}

/// Places of derivatives.
struct Pattern {
    key: PatternKey,
    row_ptr: Arc<Vec<usize>>,
    columns: Arc<Vec<u32>>,
}

/// Equations of a program.
#[derive(Default)]
pub struct Equations {
    compiled: BTreeMap<KernelId, Result<Rc<Compiled>, Refusal>>,
    patterns: BTreeMap<KernelId, Rc<Pattern>>,
}

impl Equations {
    /// Number of equations compiled so far.
    pub fn compiled_equations(&self) -> usize {
        self.compiled.values().filter(|compiled| compiled.is_ok()).count()
    }
}

impl Lanes {
    /// The residual of an equation with its derivatives, if lanes have what it needs.
    pub(super) fn equation_by_lanes<R: CompiledReal>(
        &mut self,
        context: &mut Context<'_, R>,
        id: KernelId,
        kernel: &Kernel,
        unknowns: &[ScalarCollection<R>],
        args: &[Argument<R>],
    ) -> Result<Result<ScalarCollection<R>, Refusal>, Error> {
        context.check_vectors(kernel)?;
        let set = kernel.space_set().ok_or_else(|| defect("an equation is over a set"))?;
        let values: Vec<ScalarCollection<R>> = unknowns.iter().map(|unknown| context.rt.without_derivatives(unknown)).collect();
        let args: Vec<Argument<R>> = values.into_iter().map(Value::Scalars).chain(args.iter().cloned()).collect();
        let (Some(space), Some((columns, n_cols))) = (domain_of(context, kernel, &args, set)?, context.rt.unknown_columns(unknowns)) else {
            return Ok(Err(Refusal::Unknowns));
        };
        let make = || compile(context, kernel, &space).map(Rc::new);
        let compiled = match self.equations.compiled.entry(id).or_insert_with(make) {
            Ok(compiled) => Rc::clone(compiled),
            Err(refusal) => return Ok(Err(*refusal)),
        };
        let key = PatternKey {
            space: Arc::clone(&space),
            of_unknowns: unknowns.iter().map(|unknown| Arc::clone(unknown.domain())).collect(),
            unknowns: columns.clone(),
            sets: args.iter().filter_map(|arg| if let Value::Domain(domain) = arg { Some(Arc::clone(domain)) } else { None }).collect(),
            entities: args
                .iter()
                .filter_map(|arg| if let Value::Entities(values) = arg { Some(values.values().clone()) } else { None })
                .collect(),
        };
        let pattern = match self.equations.patterns.get(&id).filter(|pattern| pattern.key.is(&key)) {
            Some(pattern) => Rc::clone(pattern),
            None => {
                let Some(pattern) = self.marked(context, kernel, &args, &compiled.pattern, key)? else { return Ok(Err(Refusal::Unknowns)) };
                let pattern = Rc::new(pattern);
                self.equations.patterns.insert(id, Rc::clone(&pattern));
                pattern
            }
        };
        let Some(arguments) = Arguments::of(context, kernel, &args, &compiled.equation, &space, &mut self.maps, numbers)? else {
            return Ok(Err(Refusal::Unknowns));
        };
        let mut residual = context.rt.take_buffer(space.len());
        let mut entries = context.rt.take_entries(pattern.columns.len());
        entries.fill(R::ZERO);
        let rows = Rows { row_ptr: &pattern.row_ptr, columns: &pattern.columns, unknowns: &columns };
        let outputs = Outputs(vec![Output::Reals(&mut residual), Output::Entries(Entries::new(&pattern.row_ptr, &mut entries))]);
        if let Some(position) = run_on_threads(context, &compiled.equation, &arguments, &space, rows, outputs) {
            context.check_equation_from(kernel, &args, position)?;
            return Err(defect(format!("`{}` has an error that no element has", kernel.name)));
        }
        let domain = context.domain(set)?;
        let residual = context.rt.scalar_collection_from(&domain, residual);
        context.rt.equation_of_rows(residual, n_cols, (&pattern.row_ptr, &pattern.columns), entries).map(Ok)
    }

    /// Marks the places of derivatives; `None` where a set has no domain.
    fn marked<R: CompiledReal>(
        &mut self,
        context: &mut Context<'_, R>,
        kernel: &Kernel,
        args: &[Argument<R>],
        program: &LaneProgram,
        key: PatternKey,
    ) -> Result<Option<Pattern>, Error> {
        let Some(arguments) = Arguments::of(context, kernel, args, program, &key.space, &mut self.maps, numbers)? else {
            return Ok(None);
        };
        let grid = context.rt.shared_grid();
        let mut marks = Marks::new();
        let rows = Rows { row_ptr: &[], columns: &[], unknowns: &key.unknowns };
        let geometry = geometry(program, &grid);
        let bindings = arguments.bindings(program, &grid, &geometry, &key.space, rows);
        let outputs = Outputs::<R>(vec![Output::Marks(&mut marks)]);
        let ran = run(program, &bindings, 0..key.space.len(), outputs);
        ran.map_err(|_| defect(format!("the derivatives of `{}` have no places", kernel.name)))?;
        Ok(Some(Pattern { key, row_ptr: Arc::new(marks.row_ptr), columns: Arc::new(marks.columns) }))
    }
}

fn compile<R: CompiledReal>(context: &Context<'_, R>, kernel: &Kernel, space: &Domain) -> Result<Compiled, Refusal> {
    let form = kernel.jacobian.as_ref().ok_or(Refusal::Derivatives)?;
    let is_cartesian = context.cartesian_forms && context.rt.grid().cartesian_shape().is_some();
    let (block, is_cartesian) = match &form.cartesian {
        Some(block) if is_cartesian => (block, true),
        Some(_) | None => (&form.body, false),
    };
    let skeleton = Skeleton::from_body(block).block;
    let (equation, pattern) = build_equation(kernel, block, &skeleton, target(context, kernel, space, is_cartesian, None))?;
    Ok(Compiled { equation, pattern })
}
