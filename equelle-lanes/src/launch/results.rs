//! Results of a launch.

use std::sync::Arc;

use backend_serial::runtime::{Buffer, CompiledReal};
use equelle_front::ir::{KResult, Kernel};
use equelle_front::ops;
use equelle_front::types::Basic;
use equelle_interp::value::{Value, defect, entity_kind, reduction};
use equelle_runtime::domain::Domain;
use equelle_runtime::ranks::RankContext;
use equelle_runtime::reduce::{nothing_to_reduce, reduce_on};
use equelle_runtime::{BoolReduction, Error};

use super::context::{Argument, Context};
use crate::exec::bindings::{Output, Outputs};

/// One result at all elements.
enum Column<R> {
    Scalars(Buffer<R>),
    /// By component.
    Vectors(Vec<Buffer<R>>),
    Truths(Buffer<bool>),
    Entities(Buffer<u32>),
}

/// All of them.
pub struct Results<R>(Vec<Column<R>>);

impl<R: CompiledReal> Results<R> {
    /// Room for the results of a kernel.
    pub fn new(context: &Context<'_, R>, kernel: &Kernel, space: &Domain) -> Result<Results<R>, Error> {
        let n = space.len();
        let column = |result: &KResult| {
            Ok(match result.ty.basic {
                Basic::Scalar => Column::Scalars(context.rt.take_buffer(n)),
                Basic::Vector => Column::Vectors((0..context.rt.grid().dim()).map(|_| context.rt.take_buffer(n)).collect()),
                Basic::Bool => Column::Truths(context.rt.take_bool_buffer(n)),
                Basic::Entity(_) => Column::Entities(context.rt.take_entity_buffer(n)),
                Basic::Text | Basic::Table | Basic::Axis(_) => return Err(defect("a kernel gives no Text")),
            })
        };
        kernel.results.iter().map(column).collect::<Result<_, _>>().map(Results)
    }

    /// The places of the results, one for each component.
    pub fn outputs(&mut self) -> Outputs<'_, R> {
        let mut outputs = Vec::new();
        for column in &mut self.0 {
            match column {
                Column::Scalars(values) => outputs.push(Output::Reals(values)),
                Column::Vectors(components) => outputs.extend(components.iter_mut().map(|values| Output::Reals(values))),
                Column::Truths(values) => outputs.push(Output::Truths(values)),
                Column::Entities(values) => outputs.push(Output::Entities(values)),
            }
        }
        Outputs(outputs)
    }

    /// Collections, and what reductions make of them.
    pub fn finish(self, context: &mut Context<'_, R>, kernel: &Kernel, space: &Arc<Domain>) -> Result<Vec<Argument<R>>, Error> {
        let set = kernel.space_set().ok_or_else(|| defect("blocks are over a set"))?;
        let domain = context.domain(set)?;
        let mut values = Vec::with_capacity(self.0.len());
        for (column, result) in self.0.into_iter().zip(&kernel.results) {
            values.push(match (column, result.reduce) {
                (column, Some(op)) => reduced(context, space, op, column)?,
                (Column::Scalars(buffer), None) => Value::Scalars(context.rt.scalar_collection_from(&domain, buffer)),
                (Column::Vectors(components), None) => Value::Vectors(context.rt.vector_collection_from(&domain, components)),
                (Column::Truths(buffer), None) => Value::Bools(context.rt.bool_collection_from(&domain, buffer)),
                (Column::Entities(buffer), None) => {
                    let Basic::Entity(kind) = result.ty.basic else { return Err(defect("entities of no kind")) };
                    Value::Entities(context.rt.entity_collection_from(&domain, entity_kind(kind), buffer))
                }
            });
        }
        Ok(values)
    }
}

/// A reduction over the elements of all ranks.
fn reduced_on_ranks<R: CompiledReal>(
    rank: &RankContext,
    space: &Arc<Domain>,
    op: ops::Reduction,
    column: Column<R>,
) -> Result<Argument<R>, Error> {
    let wrong = || defect("a reduction of other values");
    match (reduction(op), column) {
        (Ok(op), Column::Scalars(values)) => {
            Ok(Value::Scalar(rank.reduce(op, space, &values)?.ok_or_else(|| nothing_to_reduce(op, space))?))
        }
        (Ok(op), Column::Vectors(components)) => {
            let mut vector = [0.0; 3];
            for (out, values) in vector.iter_mut().zip(components) {
                *out = rank.reduce(op, space, &values)?.ok_or_else(|| nothing_to_reduce(op, space))?;
            }
            Ok(Value::Vector(vector))
        }
        (Err(op), Column::Truths(values)) => Ok(Value::Bool(rank.reduce_bools(op, space, &values)?)),
        (Ok(_), Column::Truths(_) | Column::Entities(_)) | (Err(_), Column::Scalars(_) | Column::Vectors(_) | Column::Entities(_)) => {
            Err(wrong())
        }
    }
}

/// A reduction over all elements, of which there are some, in the order of the grid's file.
fn reduced<R: CompiledReal>(
    context: &Context<'_, R>,
    space: &Arc<Domain>,
    op: ops::Reduction,
    column: Column<R>,
) -> Result<Argument<R>, Error> {
    if let Some(rank) = context.rt.session().rank() {
        return reduced_on_ranks(rank, space, op, column);
    }
    let threads = context.rt.session().threads();
    let wrong = || defect("a reduction of other values");
    match (reduction(op), column) {
        (Ok(op), Column::Scalars(values)) => {
            let value = reduce_on(threads, op, &space.in_file_order(&values));
            Ok(Value::Scalar(value.ok_or_else(wrong)?))
        }
        (Ok(op), Column::Vectors(components)) => {
            let mut vector = [0.0; 3];
            for (out, values) in vector.iter_mut().zip(components) {
                *out = reduce_on(threads, op, &space.in_file_order(&values)).ok_or_else(wrong)?;
            }
            Ok(Value::Vector(vector))
        }
        (Err(BoolReduction::Any), Column::Truths(values)) => Ok(Value::Bool(values.contains(&true))),
        (Err(BoolReduction::All), Column::Truths(values)) => Ok(Value::Bool(!values.contains(&false))),
        (Ok(_), Column::Truths(_) | Column::Entities(_)) | (Err(_), Column::Scalars(_) | Column::Vectors(_) | Column::Entities(_)) => {
            Err(wrong())
        }
    }
}
