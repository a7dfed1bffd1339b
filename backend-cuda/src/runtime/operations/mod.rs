//! The operation level: each method hands over to the file of its topic. An operation is one launch, on what the device has; only [`Operations::choose`] waits
//! for it.

pub(crate) mod arithmetic;
pub(crate) mod bools;
mod discrete;
mod gather_scatter;
mod select;
mod sequences;
mod topology;
mod vectors;

use std::sync::Arc;

use equelle_runtime::domain::Domain;
use equelle_runtime::{BinaryMath, BoolReduction, Comparison, Elementary, Error, HostAccess, Logic, Operations, Reduction};

use crate::runtime::operations::arithmetic::{Binary, Extent, Unary};
use crate::runtime::operations::bools::{BoolOp, BoolOperand};
use crate::runtime::operations::gather_scatter::same_domain;
use crate::runtime::operations::topology::{Geometry, Side};
use crate::runtime::runtime::CudaRuntime;
use crate::runtime::values::collections::{
    Bool, BoolCollection as Bools, Collection as Scalars, EntityCollection as Entities, Scalar, Sequence, Vector,
    VectorCollection as Vectors,
};

impl Operations for CudaRuntime {
    fn first_cell(&mut self, faces: &Entities) -> Result<Entities, Error> {
        self.cell_of(faces, Side::First)
    }

    fn second_cell(&mut self, faces: &Entities) -> Result<Entities, Error> {
        self.cell_of(faces, Side::Second)
    }

    fn is_empty(&mut self, entities: &Entities) -> Result<Bools, Error> {
        self.which_are_empty(entities)
    }

    fn measure(&mut self, entities: &Entities) -> Result<Scalars, Error> {
        self.measures_of(entities)
    }

    fn centroid(&mut self, entities: &Entities) -> Result<Vectors, Error> {
        self.places_of(entities, Geometry::Centroid)
    }

    fn normal(&mut self, faces: &Entities) -> Result<Vectors, Error> {
        self.places_of(faces, Geometry::Normal)
    }

    fn scalars_add(&mut self, a: &Scalar, b: &Scalar) -> Result<Scalar, Error> {
        self.scalar_zip(Binary::Add, a, b)
    }

    fn scalars_sub(&mut self, a: &Scalar, b: &Scalar) -> Result<Scalar, Error> {
        self.scalar_zip(Binary::Sub, a, b)
    }

    fn scalars_mul(&mut self, a: &Scalar, b: &Scalar) -> Result<Scalar, Error> {
        self.scalar_zip(Binary::Mul, a, b)
    }

    fn scalars_div(&mut self, a: &Scalar, b: &Scalar) -> Result<Scalar, Error> {
        self.scalar_zip(Binary::Div, a, b)
    }

    fn scalar_neg(&mut self, a: &Scalar) -> Result<Scalar, Error> {
        self.scalar_map(Unary::Neg, a)
    }

    fn scalar_abs(&mut self, a: &Scalar) -> Result<Scalar, Error> {
        self.scalar_map(Unary::Abs, a)
    }

    fn scalar_sqrt(&mut self, a: &Scalar) -> Result<Scalar, Error> {
        self.scalar_map(Unary::Sqrt, a)
    }

    fn scalars_elementary(&mut self, function: Elementary, a: &Scalar) -> Result<Scalar, Error> {
        self.scalar_map(Unary::Elementary(function), a)
    }

    fn scalars_math(&mut self, function: BinaryMath, a: &Scalar, b: &Scalar) -> Result<Scalar, Error> {
        self.scalar_zip(Binary::Math(function), a, b)
    }

    fn vector(&mut self, components: &[&Scalar]) -> Result<Vector, Error> {
        self.single_vector(components)
    }

    fn vectors_add(&mut self, a: &Vector, b: &Vector) -> Result<Vector, Error> {
        let (a, b) = (self.of_vector(a), self.of_vector(b));
        self.single_vectors(Binary::Add, &a, &b)
    }

    fn vectors_sub(&mut self, a: &Vector, b: &Vector) -> Result<Vector, Error> {
        let (a, b) = (self.of_vector(a), self.of_vector(b));
        self.single_vectors(Binary::Sub, &a, &b)
    }

    fn vectors_neg(&mut self, a: &Vector) -> Result<Vector, Error> {
        let (extent, a) = (self.one_vector(), self.of_vector(a));
        Ok(Vector(self.unary(Unary::Neg, extent, &a)?.buffer))
    }

    fn vectors_mul(&mut self, a: &Vector, s: &Scalar) -> Result<Vector, Error> {
        let (a, s) = (self.of_vector(a), self.of_scalar(s));
        self.single_vectors(Binary::Mul, &a, &s)
    }

    fn vectors_div(&mut self, a: &Vector, s: &Scalar) -> Result<Vector, Error> {
        let (a, s) = (self.of_vector(a), self.of_scalar(s));
        self.single_vectors(Binary::Div, &a, &s)
    }

    fn vectors_dot(&mut self, a: &Vector, b: &Vector) -> Result<Scalar, Error> {
        let (a, b) = (self.of_vector(a), self.of_vector(b));
        Ok(Scalar::Device(self.inner_product(false, Extent::alone(1), &a, &b)?.buffer))
    }

    fn vectors_length(&mut self, a: &Vector) -> Result<Scalar, Error> {
        let a = self.of_vector(a);
        Ok(Scalar::Device(self.inner_product(true, Extent::alone(1), &a, &a)?.buffer))
    }

    fn vectors_component(&mut self, a: &Vector, index: usize) -> Result<Scalar, Error> {
        self.single_component(a, index)
    }

    fn vectors_mul_collection(&mut self, a: &Vector, s: &Scalars) -> Result<Vectors, Error> {
        let (a, right) = (self.of_vector(a), self.of_collection(s)?);
        self.zip_vectors(Binary::Mul, s.domain(), &a, &right)
    }

    fn vectors_div_collection(&mut self, a: &Vector, s: &Scalars) -> Result<Vectors, Error> {
        let (a, right) = (self.of_vector(a), self.of_collection(s)?);
        self.zip_vectors(Binary::Div, s.domain(), &a, &right)
    }

    fn scalars_compare(&mut self, op: Comparison, a: &Scalar, b: &Scalar) -> Result<Bool, Error> {
        self.compare_singles(op, a, b)
    }

    fn bools_not(&mut self, a: &Bool) -> Result<Bool, Error> {
        self.combine_singles(BoolOp::Not, a, a)
    }

    fn bools_logic(&mut self, op: Logic, a: &Bool, b: &Bool) -> Result<Bool, Error> {
        self.combine_singles(op.into(), a, b)
    }

    fn logic_bool(&mut self, op: Logic, a: &Bools, b: &Bool) -> Result<Bools, Error> {
        self.combine_each(op.into(), a.domain(), &BoolOperand::each(a), &BoolOperand::single(b))
    }

    fn choose<T: Clone>(&mut self, condition: &Bool, a: &T, b: &T) -> Result<T, Error> {
        Ok(if self.bool_value(condition)? { a.clone() } else { b.clone() })
    }

    fn elementary(&mut self, function: Elementary, a: &Scalars) -> Result<Scalars, Error> {
        self.map(Unary::Elementary(function), a)
    }

    fn math(&mut self, function: BinaryMath, a: &Scalars, b: &Scalars) -> Result<Scalars, Error> {
        self.zip(Binary::Math(function), a, b)
    }

    fn math_scalar(&mut self, function: BinaryMath, a: &Scalars, s: &Scalar) -> Result<Scalars, Error> {
        self.with_scalar(Binary::Math(function), a, s)
    }

    fn scalar_math(&mut self, function: BinaryMath, s: &Scalar, a: &Scalars) -> Result<Scalars, Error> {
        self.scalar_with(Binary::Math(function), s, a)
    }

    fn add(&mut self, a: &Scalars, b: &Scalars) -> Result<Scalars, Error> {
        self.zip(Binary::Add, a, b)
    }

    fn sub(&mut self, a: &Scalars, b: &Scalars) -> Result<Scalars, Error> {
        self.zip(Binary::Sub, a, b)
    }

    fn mul(&mut self, a: &Scalars, b: &Scalars) -> Result<Scalars, Error> {
        self.zip(Binary::Mul, a, b)
    }

    fn div(&mut self, a: &Scalars, b: &Scalars) -> Result<Scalars, Error> {
        self.zip(Binary::Div, a, b)
    }

    fn mul_scalar(&mut self, a: &Scalars, s: &Scalar) -> Result<Scalars, Error> {
        self.with_scalar(Binary::Mul, a, s)
    }

    fn scalar_mul(&mut self, s: &Scalar, a: &Scalars) -> Result<Scalars, Error> {
        self.scalar_with(Binary::Mul, s, a)
    }

    fn div_scalar(&mut self, a: &Scalars, s: &Scalar) -> Result<Scalars, Error> {
        self.with_scalar(Binary::Div, a, s)
    }

    fn scalar_div(&mut self, s: &Scalar, a: &Scalars) -> Result<Scalars, Error> {
        self.scalar_with(Binary::Div, s, a)
    }

    fn neg(&mut self, a: &Scalars) -> Result<Scalars, Error> {
        self.map(Unary::Neg, a)
    }

    fn abs(&mut self, a: &Scalars) -> Result<Scalars, Error> {
        self.map(Unary::Abs, a)
    }

    fn sqrt(&mut self, a: &Scalars) -> Result<Scalars, Error> {
        self.map(Unary::Sqrt, a)
    }

    fn vector_add(&mut self, a: &Vectors, b: &Vectors) -> Result<Vectors, Error> {
        let (left, right) = (self.of_vectors(a), self.of_vectors(b));
        self.zip_vectors(Binary::Add, a.domain(), &left, &right)
    }

    fn vector_sub(&mut self, a: &Vectors, b: &Vectors) -> Result<Vectors, Error> {
        let (left, right) = (self.of_vectors(a), self.of_vectors(b));
        self.zip_vectors(Binary::Sub, a.domain(), &left, &right)
    }

    fn vector_neg(&mut self, a: &Vectors) -> Result<Vectors, Error> {
        self.map_vectors(Unary::Neg, a)
    }

    fn vector_mul(&mut self, a: &Vectors, s: &Scalars) -> Result<Vectors, Error> {
        let (left, right) = (self.of_vectors(a), self.of_collection(s)?);
        self.zip_vectors(Binary::Mul, a.domain(), &left, &right)
    }

    fn vector_div(&mut self, a: &Vectors, s: &Scalars) -> Result<Vectors, Error> {
        let (left, right) = (self.of_vectors(a), self.of_collection(s)?);
        self.zip_vectors(Binary::Div, a.domain(), &left, &right)
    }

    fn vector_mul_scalar(&mut self, a: &Vectors, s: &Scalar) -> Result<Vectors, Error> {
        let (left, right) = (self.of_vectors(a), self.of_scalar(s));
        self.zip_vectors(Binary::Mul, a.domain(), &left, &right)
    }

    fn vector_div_scalar(&mut self, a: &Vectors, s: &Scalar) -> Result<Vectors, Error> {
        let (left, right) = (self.of_vectors(a), self.of_scalar(s));
        self.zip_vectors(Binary::Div, a.domain(), &left, &right)
    }

    fn length(&mut self, a: &Vectors) -> Result<Scalars, Error> {
        let operand = self.of_vectors(a);
        Ok(self.inner_product(true, Extent::scalars(a.domain()), &operand, &operand)?.scalars(a.domain()))
    }

    fn dot(&mut self, a: &Vectors, b: &Vectors) -> Result<Scalars, Error> {
        let (left, right) = (self.of_vectors(a), self.of_vectors(b));
        Ok(self.inner_product(false, Extent::scalars(a.domain()), &left, &right)?.scalars(a.domain()))
    }

    fn component(&mut self, a: &Vectors, index: usize) -> Result<Scalars, Error> {
        self.component_of(a, index)
    }

    fn vector_collection_of(&mut self, components: &[&Scalars]) -> Result<Vectors, Error> {
        self.collect(components)
    }

    fn compare(&mut self, op: Comparison, a: &Scalars, b: &Scalars) -> Result<Bools, Error> {
        let (left, right) = (self.of_values(a)?, self.of_values(b)?);
        self.compare_numbers(op, a.domain(), &left, &right)
    }

    fn compare_scalar(&mut self, op: Comparison, a: &Scalars, s: &Scalar) -> Result<Bools, Error> {
        let (left, right) = (self.of_values(a)?, self.of_scalar(s));
        self.compare_numbers(op, a.domain(), &left, &right)
    }

    fn scalar_compare(&mut self, op: Comparison, s: &Scalar, a: &Scalars) -> Result<Bools, Error> {
        let (left, right) = (self.of_scalar(s), self.of_values(a)?);
        self.compare_numbers(op, a.domain(), &left, &right)
    }

    fn same_entities(&mut self, a: &Entities, b: &Entities) -> Result<Bools, Error> {
        self.compare_entities(a, b)
    }

    fn not(&mut self, a: &Bools) -> Result<Bools, Error> {
        self.combine_each(BoolOp::Not, a.domain(), &BoolOperand::each(a), &BoolOperand::each(a))
    }

    fn and(&mut self, a: &Bools, b: &Bools) -> Result<Bools, Error> {
        self.combine_each(BoolOp::And, a.domain(), &BoolOperand::each(a), &BoolOperand::each(b))
    }

    fn or(&mut self, a: &Bools, b: &Bools) -> Result<Bools, Error> {
        self.combine_each(BoolOp::Or, a.domain(), &BoolOperand::each(a), &BoolOperand::each(b))
    }

    fn xor(&mut self, a: &Bools, b: &Bools) -> Result<Bools, Error> {
        self.combine_each(BoolOp::Xor, a.domain(), &BoolOperand::each(a), &BoolOperand::each(b))
    }

    fn select(&mut self, condition: &Bools, a: &Scalars, b: &Scalars) -> Result<Scalars, Error> {
        let (left, right) = (self.of_collection(a)?, self.of_collection(b)?);
        Ok(self.select_numbers(Extent::scalars(a.domain()), condition, &left, &right)?.scalars(a.domain()))
    }

    fn select_vectors(&mut self, condition: &Bools, a: &Vectors, b: &Vectors) -> Result<Vectors, Error> {
        let (extent, left, right) = (self.vectors_over(a.domain()), self.of_vectors(a), self.of_vectors(b));
        Ok(self.select_numbers(extent, condition, &left, &right)?.vectors(a.domain()))
    }

    fn select_bools(&mut self, condition: &Bools, a: &Bools, b: &Bools) -> Result<Bools, Error> {
        self.choose_bools(condition, a, b)
    }

    fn select_entities(&mut self, condition: &Bools, a: &Entities, b: &Entities) -> Result<Entities, Error> {
        self.select_among(condition, a, b)
    }

    fn on(&mut self, data: &Scalars, target: &Entities) -> Result<Scalars, Error> {
        let numbers = self.of_collection(data)?;
        Ok(self.on_numbers(1, data.domain(), &numbers, target)?.scalars(target.domain()))
    }

    fn on_vectors(&mut self, data: &Vectors, target: &Entities) -> Result<Vectors, Error> {
        let (components, numbers) = (self.one_vector().components, self.of_vectors(data));
        Ok(self.on_numbers(components, data.domain(), &numbers, target)?.vectors(target.domain()))
    }

    fn on_bools(&mut self, data: &Bools, target: &Entities) -> Result<Bools, Error> {
        self.gather_bools(data, target)
    }

    fn on_entities(&mut self, data: &Entities, target: &Entities) -> Result<Entities, Error> {
        self.on_among(data, target)
    }

    fn extend(&mut self, data: &Scalars, domain: &Arc<Domain>) -> Result<Scalars, Error> {
        if same_domain(data.domain(), domain) {
            return Ok(data.clone());
        }
        let numbers = self.of_collection(data)?;
        Ok(self.extend_numbers(1, data.domain(), &numbers, domain)?.scalars(domain))
    }

    fn extend_vectors(&mut self, data: &Vectors, domain: &Arc<Domain>) -> Result<Vectors, Error> {
        if same_domain(data.domain(), domain) {
            return Ok(data.clone());
        }
        let (components, numbers) = (self.one_vector().components, self.of_vectors(data));
        Ok(self.extend_numbers(components, data.domain(), &numbers, domain)?.vectors(domain))
    }

    fn extend_bools(&mut self, data: &Bools, domain: &Arc<Domain>) -> Result<Bools, Error> {
        if same_domain(data.domain(), domain) { Ok(data.clone()) } else { self.scatter_bools(data, domain) }
    }

    fn extend_entities(&mut self, data: &Entities, domain: &Arc<Domain>) -> Result<Entities, Error> {
        if same_domain(data.domain(), domain) { Ok(data.clone()) } else { self.extend_among(data, domain) }
    }

    fn spread(&mut self, value: &Scalar, domain: &Arc<Domain>) -> Result<Scalars, Error> {
        let value = self.of_scalar(value);
        Ok(self.unary(Unary::Copy, Extent::scalars(domain), &value)?.scalars(domain))
    }

    fn spread_like(&mut self, value: &Scalar, like: &Scalars) -> Result<Scalars, Error> {
        self.spread(value, like.domain())
    }

    fn spread_vector(&mut self, value: &Vector, domain: &Arc<Domain>) -> Result<Vectors, Error> {
        let (extent, value) = (self.vectors_over(domain), self.of_vector(value));
        Ok(self.unary(Unary::Copy, extent, &value)?.vectors(domain))
    }

    fn spread_bool(&mut self, value: &Bool, domain: &Arc<Domain>) -> Result<Bools, Error> {
        self.combine_each(BoolOp::Copy, domain, &BoolOperand::single(value), &BoolOperand::single(value))
    }

    fn gradient(&mut self, values: &Scalars) -> Result<Scalars, Error> {
        self.gradient_of(values)
    }

    fn divergence(&mut self, values: &Scalars) -> Result<Scalars, Error> {
        self.divergence_of(values)
    }

    fn reduce(&mut self, reduction: Reduction, values: &Scalars) -> Result<Scalar, Error> {
        let numbers = self.of_values(values)?;
        self.reduce_numbers(reduction, values.domain(), &numbers)
    }

    fn reduce_vectors(&mut self, reduction: Reduction, values: &Vectors) -> Result<Vector, Error> {
        self.reduce_components(reduction, values)
    }

    fn reduce_bools(&mut self, reduction: BoolReduction, values: &Bools) -> Result<Bool, Error> {
        self.reduce_to_bool(reduction, values)
    }

    fn sequence_mul(&mut self, sequence: &Sequence, s: &Scalar) -> Result<Sequence, Error> {
        self.sequence_with(Binary::Mul, sequence, s)
    }

    fn sequence_div(&mut self, sequence: &Sequence, s: &Scalar) -> Result<Sequence, Error> {
        self.sequence_with(Binary::Div, sequence, s)
    }

    fn sequence_neg(&mut self, sequence: &Sequence) -> Result<Sequence, Error> {
        self.sequence_map(Unary::Neg, sequence)
    }
}
