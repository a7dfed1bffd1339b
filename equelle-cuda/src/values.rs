//! Launches of kernels that have results.

use std::rc::Rc;
use std::sync::Arc;

use backend_cuda::codegen::launch::{ResultBuffer, RowFunctions, ThreadLayout, ValuesLaunch};
use backend_cuda::runtime::device::DevicePtr;
use backend_cuda::runtime::executor::arguments::RowNames;
use backend_cuda::runtime::executor::pool::Buffer;
use backend_cuda::runtime::{
    Bool, BoolCollection, Collection, CudaRuntime, EntityCollection, Extreme, KernelModule, Leaves, Scalar, Vector, VectorCollection,
};
use equelle_front::ops;
use equelle_interp::value::{Value, defect, entity_kind, reduction};
use equelle_runtime::domain::Domain;
use equelle_runtime::{BoolReduction, Error, Reduction};

use crate::arguments::{Arguments, LaunchContext};

/// Memory of a result.
enum Output {
    Number(Rc<Buffer>),
    Vector(Rc<Buffer>),
    Bool(Rc<Buffer>),
    Extreme(Reduction, Extreme),
    Leaves(Leaves<Reduction>),
    VectorLeaves(Leaves<Reduction>),
    BoolLeaves(Leaves<BoolReduction>),
    Scalars(Collection),
    Vectors(VectorCollection),
    Bools(BoolCollection),
    Entities(EntityCollection),
}

impl Output {
    fn new(
        rt: &mut CudaRuntime,
        arguments: &mut Arguments<'_>,
        number: usize,
        buffer: ResultBuffer,
        domain: Option<&Arc<Domain>>,
    ) -> Result<Output, Error> {
        let over = || domain.ok_or_else(|| defect("a result over no set"));
        Ok(match buffer {
            ResultBuffer::Number => Output::Number(rt.new_number()?),
            ResultBuffer::Vector => Output::Vector(rt.new_vector()?),
            ResultBuffer::Bool => Output::Bool(rt.new_bool()?),
            ResultBuffer::Extreme(op) => Output::Extreme(numeric_reduction(op)?, rt.extreme(number)?),
            ResultBuffer::Leaves(op) => Output::Leaves(rt.leaves(numeric_reduction(op)?, over()?)?),
            ResultBuffer::VectorLeaves(op) => Output::VectorLeaves(rt.vector_leaves(numeric_reduction(op)?, over()?)?),
            ResultBuffer::BoolLeaves(op) => {
                let op = reduction(op).err().ok_or_else(|| defect("a reduction of numbers over truth values"))?;
                Output::BoolLeaves(rt.bool_leaves(op, over()?)?)
            }
            ResultBuffer::PerAxis => Output::Scalars(rt.new_per_axis_collection(over()?)?),
            ResultBuffer::Numbers => Output::Scalars(rt.new_collection(over()?)?),
            ResultBuffer::Vectors => Output::Vectors(rt.new_vector_collection(over()?)?),
            ResultBuffer::Bools => Output::Bools(rt.new_bool_collection(over()?)?),
            ResultBuffer::Entities(kind) => Output::Entities(rt.new_entity_collection(over()?, entity_kind(kind))?),
            ResultBuffer::OfParam(param) => {
                let values = arguments.take_scalars(param)?;
                Output::Scalars(rt.in_place(values)?)
            }
        })
    }

    fn pointer(&self) -> DevicePtr {
        match self {
            Output::Number(buffer) | Output::Vector(buffer) | Output::Bool(buffer) => buffer.address(),
            Output::Extreme(_, extreme) => extreme.pointer(),
            Output::Leaves(leaves) | Output::VectorLeaves(leaves) => leaves.pointer(),
            Output::BoolLeaves(leaves) => leaves.pointer(),
            Output::Scalars(values) => values.pointer(),
            Output::Vectors(values) => values.pointer(),
            Output::Bools(values) => values.pointer(),
            Output::Entities(values) => values.pointer(),
        }
    }

    /// Number of leaves.
    fn leaves(&self) -> Option<usize> {
        match self {
            Output::Leaves(leaves) | Output::VectorLeaves(leaves) => Some(leaves.len()),
            Output::BoolLeaves(leaves) => Some(leaves.len()),
            Output::Number(_)
            | Output::Vector(_)
            | Output::Bool(_)
            | Output::Extreme(..)
            | Output::Scalars(_)
            | Output::Vectors(_)
            | Output::Bools(_)
            | Output::Entities(_) => None,
        }
    }

    fn finish(self, rt: &mut CudaRuntime) -> Result<Value<CudaRuntime>, Error> {
        Ok(match self {
            Output::Number(buffer) => Value::Scalar(Scalar::Device(buffer)),
            Output::Vector(buffer) => Value::Vector(Vector(buffer)),
            Output::Bool(buffer) => Value::Bool(Bool::Device(buffer)),
            Output::Extreme(op, extreme) => Value::Scalar(rt.extreme_value(op, extreme)?),
            Output::Leaves(leaves) => Value::Scalar(rt.combine(leaves)?),
            Output::VectorLeaves(leaves) => Value::Vector(rt.combine_vectors(leaves)?),
            Output::BoolLeaves(leaves) => Value::Bool(rt.combine_bools(leaves)?),
            Output::Scalars(values) => Value::Scalars(values),
            Output::Vectors(values) => Value::Vectors(values),
            Output::Bools(values) => Value::Bools(values),
            Output::Entities(values) => Value::Entities(values),
        })
    }
}

fn numeric_reduction(op: ops::Reduction) -> Result<Reduction, Error> {
    reduction(op).map_err(|_| defect("a reduction of truth values over numbers"))
}

/// The results of a kernel.
pub fn launch(
    rt: &mut CudaRuntime,
    module: &KernelModule,
    launch: &ValuesLaunch,
    rows: &Rc<[(u32, String)]>,
    mut arguments: Arguments<'_>,
) -> Result<Vec<Value<CudaRuntime>>, Error> {
    let domain = launch.domain.map(|source| arguments.domain(rt, source)).transpose()?;
    let mut outputs = Vec::with_capacity(launch.results.len());
    for (number, &buffer) in launch.results.iter().enumerate() {
        outputs.push(Output::new(rt, &mut arguments, number, buffer, domain.as_ref())?);
    }
    let results: Vec<DevicePtr> = outputs.iter().map(Output::pointer).collect();
    let elements = domain.as_ref().map_or(1, |domain| domain.len());
    let call = rt.call_over(module, arguments.info(), &launch.function, elements)?;
    let made = LaunchContext { domain: domain.as_ref(), results: &results, ..LaunchContext::default() };
    let mut call = arguments.pass_all(rt, call, &launch.arguments, made)?;
    if launch.writes_in_place {
        call = call.in_place();
    }
    if launch.is_wide {
        call = call.wide();
    }
    call = match &launch.rows {
        Some(RowFunctions { by_planes: true, .. }) => call.or_by_planes(module, RowNames::Shared(Rc::clone(rows))),
        Some(RowFunctions { by_planes: false, .. }) => call.or_with_rows(module, RowNames::Shared(Rc::clone(rows))),
        None => call,
    };
    match launch.threads {
        ThreadLayout::Single => rt.launch_over(call, 1)?,
        ThreadLayout::Elements => rt.launch_over(call, elements)?,
        ThreadLayout::Axes => {
            let axes = domain.as_ref().map_or(1, |domain| rt.per_axis_len(domain));
            rt.launch_over(call, axes)?;
        }
        ThreadLayout::Leaves(result) => {
            let leaves = outputs.get(result).and_then(Output::leaves).ok_or_else(|| defect("a reduction without leaves"))?;
            rt.launch_over_leaves(call, leaves)?;
        }
        ThreadLayout::Cells => rt.launch_over_cells(call)?,
        ThreadLayout::InsideAndBoundary => rt.launch_inside_and_boundary(call)?,
    }
    if launch.host_waits {
        rt.check_flag()?;
    }
    outputs.into_iter().map(|output| output.finish(rt)).collect()
}
