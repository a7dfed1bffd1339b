//! The operation level: each method calls the file of its topic. An operation is one launch on
//! device data; only [`Operations::choose`] waits for the device.

mod arithmetic;
mod bools;
mod collection_operations;
mod discrete;
mod gather_scatter;
mod offsets;
pub(crate) mod operand;
mod select;
mod sequences;
mod tables;
mod topology;
mod vectors;

use equelle_runtime::grid::SideMap;
use equelle_runtime::operations::{
    BinaryOperations, Comparisons, Components, Interpolation, LogicOperations, Negation, UnaryOperations, VectorOperations,
};
use equelle_runtime::{Binary, Comparison, Error, HostAccess, Logic, Operations, Unary};

use crate::runtime::operations::bools::BoolOp;
use crate::runtime::operations::operand::Extent;
use crate::runtime::operations::topology::FaceCell;
use crate::runtime::runtime::CudaRuntime;
use crate::runtime::values::collections::{
    Bool, BoolCollection as Bools, Collection as Scalars, DeviceTable, EntityCollection as Entities, Scalar, Sequence, Vector,
    VectorCollection as Vectors,
};

impl Operations for CudaRuntime {
    fn first_cell(&mut self, faces: &Entities) -> Result<Entities, Error> {
        topology::cell_of(self, faces, FaceCell::First)
    }

    fn second_cell(&mut self, faces: &Entities) -> Result<Entities, Error> {
        topology::cell_of(self, faces, FaceCell::Second)
    }

    fn offset_cells(&mut self, cells: &Entities, by: [i8; 3], beyond: [SideMap; 6]) -> Result<Entities, Error> {
        offsets::offset_cells(self, cells, by, beyond)
    }

    fn is_outside(&mut self, cells: &Entities, axis: usize, by: i8) -> Result<Bools, Error> {
        offsets::is_outside(self, cells, axis, by)
    }

    fn is_even(&mut self, cells: &Entities, axes: [bool; 3]) -> Result<Bools, Error> {
        offsets::is_even(self, cells, axes)
    }

    fn index_along(&mut self, cells: &Entities, axis: usize) -> Result<Scalars, Error> {
        offsets::index_along(self, cells, axis)
    }

    fn is_empty(&mut self, entities: &Entities) -> Result<Bools, Error> {
        topology::is_empty(self, entities)
    }

    fn one_cell(&mut self, faces: &Entities) -> Result<Entities, Error> {
        topology::one_cell(self, faces)
    }

    fn measure(&mut self, entities: &Entities) -> Result<Scalars, Error> {
        topology::measure(self, entities)
    }

    fn centroid(&mut self, entities: &Entities) -> Result<Vectors, Error> {
        topology::centroid(self, entities)
    }

    fn face_gap(&mut self, faces: &Entities) -> Result<Vectors, Error> {
        topology::face_gap(self, faces)
    }

    fn face_transmissibility(&mut self, faces: &Entities) -> Result<Scalars, Error> {
        topology::face_transmissibility(self, faces)
    }

    fn normal(&mut self, faces: &Entities) -> Result<Vectors, Error> {
        topology::normal(self, faces)
    }

    fn choose<T: Clone>(&mut self, condition: &Bool, a: &T, b: &T) -> Result<T, Error> {
        Ok(if self.bool_value(condition)? { a.clone() } else { b.clone() })
    }

    fn same_entities(&mut self, a: &Entities, b: &Entities) -> Result<Bools, Error> {
        bools::same_entities(self, a, b)
    }

    fn gradient(&mut self, values: &Scalars) -> Result<Scalars, Error> {
        discrete::gradient(self, values)
    }

    fn divergence(&mut self, values: &Scalars) -> Result<Scalars, Error> {
        discrete::divergence(self, values)
    }
}

impl UnaryOperations<Scalar> for CudaRuntime {
    fn unary(&mut self, op: Unary, a: &Scalar) -> Result<Scalar, Error> {
        arithmetic::map_scalar(self, op, a)
    }
}

impl UnaryOperations<Vector> for CudaRuntime {
    fn unary(&mut self, op: Unary, a: &Vector) -> Result<Vector, Error> {
        vectors::map_single(self, op, a)
    }
}

impl UnaryOperations<Scalars> for CudaRuntime {
    fn unary(&mut self, op: Unary, a: &Scalars) -> Result<Scalars, Error> {
        arithmetic::map(self, op, a)
    }
}

impl UnaryOperations<Vectors> for CudaRuntime {
    fn unary(&mut self, op: Unary, a: &Vectors) -> Result<Vectors, Error> {
        vectors::map(self, op, a)
    }
}

impl UnaryOperations<Sequence> for CudaRuntime {
    fn unary(&mut self, op: Unary, sequence: &Sequence) -> Result<Sequence, Error> {
        sequences::map(self, op, sequence)
    }
}

impl BinaryOperations<Scalar, Scalar> for CudaRuntime {
    type Value = Scalar;

    fn binary(&mut self, op: Binary, a: &Scalar, b: &Scalar) -> Result<Scalar, Error> {
        arithmetic::zip_scalars(self, op, a, b)
    }
}

impl BinaryOperations<Vector, Vector> for CudaRuntime {
    type Value = Vector;

    fn binary(&mut self, op: Binary, a: &Vector, b: &Vector) -> Result<Vector, Error> {
        arithmetic::zip_single_vectors(self, op, a, b)
    }
}

impl BinaryOperations<Vector, Scalar> for CudaRuntime {
    type Value = Vector;

    fn binary(&mut self, op: Binary, a: &Vector, s: &Scalar) -> Result<Vector, Error> {
        arithmetic::zip_single_vectors(self, op, a, s)
    }
}

impl BinaryOperations<Vector, Scalars> for CudaRuntime {
    type Value = Vectors;

    fn binary(&mut self, op: Binary, a: &Vector, s: &Scalars) -> Result<Vectors, Error> {
        arithmetic::zip_vectors(self, op, s.domain(), a, s)
    }
}

impl BinaryOperations<Scalars, Scalars> for CudaRuntime {
    type Value = Scalars;

    fn binary(&mut self, op: Binary, a: &Scalars, b: &Scalars) -> Result<Scalars, Error> {
        arithmetic::zip(self, op, a.domain(), a, b)
    }
}

impl BinaryOperations<Scalars, Scalar> for CudaRuntime {
    type Value = Scalars;

    fn binary(&mut self, op: Binary, a: &Scalars, s: &Scalar) -> Result<Scalars, Error> {
        arithmetic::zip(self, op, a.domain(), a, s)
    }
}

impl BinaryOperations<Scalar, Scalars> for CudaRuntime {
    type Value = Scalars;

    fn binary(&mut self, op: Binary, s: &Scalar, a: &Scalars) -> Result<Scalars, Error> {
        arithmetic::zip(self, op, a.domain(), s, a)
    }
}

impl BinaryOperations<Vectors, Vectors> for CudaRuntime {
    type Value = Vectors;

    fn binary(&mut self, op: Binary, a: &Vectors, b: &Vectors) -> Result<Vectors, Error> {
        arithmetic::zip_vectors(self, op, a.domain(), a, b)
    }
}

impl BinaryOperations<Vectors, Scalars> for CudaRuntime {
    type Value = Vectors;

    fn binary(&mut self, op: Binary, a: &Vectors, s: &Scalars) -> Result<Vectors, Error> {
        arithmetic::zip_vectors(self, op, a.domain(), a, s)
    }
}

impl BinaryOperations<Vectors, Scalar> for CudaRuntime {
    type Value = Vectors;

    fn binary(&mut self, op: Binary, a: &Vectors, s: &Scalar) -> Result<Vectors, Error> {
        arithmetic::zip_vectors(self, op, a.domain(), a, s)
    }
}

impl BinaryOperations<Sequence, Scalar> for CudaRuntime {
    type Value = Sequence;

    fn binary(&mut self, op: Binary, sequence: &Sequence, s: &Scalar) -> Result<Sequence, Error> {
        sequences::with_scalar(self, op, sequence, s)
    }
}

impl Interpolation<Scalar> for CudaRuntime {
    fn interpolate(&mut self, table: &DeviceTable, a: &Scalar) -> Result<Scalar, Error> {
        tables::interpolate_scalar(self, table, a)
    }
}

impl Interpolation<Scalars> for CudaRuntime {
    fn interpolate(&mut self, table: &DeviceTable, a: &Scalars) -> Result<Scalars, Error> {
        tables::interpolate(self, table, a)
    }
}

impl Comparisons<Scalar, Scalar> for CudaRuntime {
    type Truth = Bool;

    fn compare(&mut self, op: Comparison, a: &Scalar, b: &Scalar) -> Result<Bool, Error> {
        bools::compare_scalars(self, op, a, b)
    }
}

impl Comparisons<Scalars, Scalars> for CudaRuntime {
    type Truth = Bools;

    fn compare(&mut self, op: Comparison, a: &Scalars, b: &Scalars) -> Result<Bools, Error> {
        bools::compare(self, op, a.domain(), a, b)
    }
}

impl Comparisons<Scalars, Scalar> for CudaRuntime {
    type Truth = Bools;

    fn compare(&mut self, op: Comparison, a: &Scalars, s: &Scalar) -> Result<Bools, Error> {
        bools::compare(self, op, a.domain(), a, s)
    }
}

impl Comparisons<Scalar, Scalars> for CudaRuntime {
    type Truth = Bools;

    fn compare(&mut self, op: Comparison, s: &Scalar, a: &Scalars) -> Result<Bools, Error> {
        bools::compare(self, op, a.domain(), s, a)
    }
}

impl LogicOperations<Bool, Bool> for CudaRuntime {
    fn logic(&mut self, op: Logic, a: &Bool, b: &Bool) -> Result<Bool, Error> {
        bools::combine_bools(self, op.into(), a, b)
    }
}

impl LogicOperations<Bools, Bool> for CudaRuntime {
    fn logic(&mut self, op: Logic, a: &Bools, b: &Bool) -> Result<Bools, Error> {
        bools::combine(self, op.into(), a.domain(), a, b)
    }
}

impl LogicOperations<Bools, Bools> for CudaRuntime {
    fn logic(&mut self, op: Logic, a: &Bools, b: &Bools) -> Result<Bools, Error> {
        bools::combine(self, op.into(), a.domain(), a, b)
    }
}

impl Negation<Bool> for CudaRuntime {
    fn not(&mut self, a: &Bool) -> Result<Bool, Error> {
        bools::combine_bools(self, BoolOp::Not, a, a)
    }
}

impl Negation<Bools> for CudaRuntime {
    fn not(&mut self, a: &Bools) -> Result<Bools, Error> {
        bools::combine(self, BoolOp::Not, a.domain(), a, a)
    }
}

impl Components<Scalar> for CudaRuntime {
    type Composed = Vector;

    fn vector(&mut self, components: &[&Scalar]) -> Result<Vector, Error> {
        vectors::single(self, components)
    }
}

impl Components<Scalars> for CudaRuntime {
    type Composed = Vectors;

    fn vector(&mut self, components: &[&Scalars]) -> Result<Vectors, Error> {
        vectors::collect(self, components)
    }
}

impl VectorOperations<Vector> for CudaRuntime {
    type Component = Scalar;

    fn dot(&mut self, a: &Vector, b: &Vector) -> Result<Scalar, Error> {
        vectors::single_inner_product(self, false, a, b)
    }

    fn length(&mut self, a: &Vector) -> Result<Scalar, Error> {
        vectors::single_inner_product(self, true, a, a)
    }

    fn component(&mut self, a: &Vector, index: usize) -> Result<Scalar, Error> {
        vectors::single_component(self, a, index)
    }
}

impl VectorOperations<Vectors> for CudaRuntime {
    type Component = Scalars;

    fn length(&mut self, a: &Vectors) -> Result<Scalars, Error> {
        Ok(vectors::inner_product(self, true, Extent::scalars(a.domain()), a, a)?.scalars(a.domain()))
    }

    fn dot(&mut self, a: &Vectors, b: &Vectors) -> Result<Scalars, Error> {
        Ok(vectors::inner_product(self, false, Extent::scalars(a.domain()), a, b)?.scalars(a.domain()))
    }

    fn component(&mut self, a: &Vectors, index: usize) -> Result<Scalars, Error> {
        vectors::component(self, a, index)
    }
}
