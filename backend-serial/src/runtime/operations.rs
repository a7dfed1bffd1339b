//! The operation level: each method hands over to the file of its topic and adds the Equelle line to errors.

use equelle_runtime::{CanonicalSet, Comparison, EntityKind, EquelleRuntime, Error, Extent, Operations, Reduction};

use super::SerialRuntime;
use super::topology::Side;
use super::{derivatives, discrete, on_extend, select, sequences, topology, truth, vectors};

type Scalars = <SerialRuntime as EquelleRuntime>::ScalarCollection;
type Vectors = <SerialRuntime as EquelleRuntime>::VectorCollection;
type Bools = <SerialRuntime as EquelleRuntime>::BoolCollection;
type Entities = <SerialRuntime as EquelleRuntime>::EntityCollection;
type Domain = <SerialRuntime as EquelleRuntime>::Domain;
type Sequence = <SerialRuntime as EquelleRuntime>::Sequence;

impl Operations for SerialRuntime {
    fn first_cell(&mut self, faces: &Entities) -> Result<Entities, Error> {
        self.located(topology::cell_of(self, faces, Side::First))
    }

    fn second_cell(&mut self, faces: &Entities) -> Result<Entities, Error> {
        self.located(topology::cell_of(self, faces, Side::Second))
    }

    fn is_empty(&mut self, entities: &Entities) -> Result<Bools, Error> {
        Ok(topology::is_empty(self, entities))
    }

    fn measure(&mut self, entities: &Entities) -> Result<Scalars, Error> {
        self.located(topology::measure(self, entities))
    }

    fn centroid(&mut self, entities: &Entities) -> Result<Vectors, Error> {
        self.located(topology::centroid(self, entities))
    }

    fn normal(&mut self, faces: &Entities) -> Result<Vectors, Error> {
        self.located(topology::normal(self, faces))
    }

    fn scalars_add(&mut self, a: &f64, b: &f64) -> Result<f64, Error> {
        Ok(a + b)
    }

    fn scalars_sub(&mut self, a: &f64, b: &f64) -> Result<f64, Error> {
        Ok(a - b)
    }

    fn scalars_mul(&mut self, a: &f64, b: &f64) -> Result<f64, Error> {
        Ok(a * b)
    }

    fn scalars_div(&mut self, a: &f64, b: &f64) -> Result<f64, Error> {
        Ok(a / b)
    }

    fn scalar_neg(&mut self, a: &f64) -> Result<f64, Error> {
        Ok(-a)
    }

    fn scalar_abs(&mut self, a: &f64) -> Result<f64, Error> {
        Ok(a.abs())
    }

    fn scalar_sqrt(&mut self, a: &f64) -> Result<f64, Error> {
        Ok(a.sqrt())
    }

    fn add(&mut self, a: &Scalars, b: &Scalars) -> Result<Scalars, Error> {
        self.located(derivatives::zip(self, a, b, |a, b| a + b, |_, _, _, d| d, |_, _, _, d| d))
    }

    fn sub(&mut self, a: &Scalars, b: &Scalars) -> Result<Scalars, Error> {
        self.located(derivatives::zip(self, a, b, |a, b| a - b, |_, _, _, d| d, |_, _, _, d| -d))
    }

    fn mul(&mut self, a: &Scalars, b: &Scalars) -> Result<Scalars, Error> {
        self.located(derivatives::zip(self, a, b, |a, b| a * b, |_, b, _, d| b * d, |a, _, _, d| a * d))
    }

    fn div(&mut self, a: &Scalars, b: &Scalars) -> Result<Scalars, Error> {
        self.located(derivatives::zip(self, a, b, |a, b| a / b, |_, b, _, d| d / b, |_, b, quotient, d| -(quotient * d) / b))
    }

    fn mul_scalar(&mut self, a: &Scalars, s: &f64) -> Result<Scalars, Error> {
        Ok(derivatives::map(self, a, |a| a * s, |_, _, d| d * s))
    }

    fn scalar_mul(&mut self, s: &f64, a: &Scalars) -> Result<Scalars, Error> {
        Ok(derivatives::map(self, a, |a| s * a, |_, _, d| s * d))
    }

    fn div_scalar(&mut self, a: &Scalars, s: &f64) -> Result<Scalars, Error> {
        Ok(derivatives::map(self, a, |a| a / s, |_, _, d| d / s))
    }

    fn scalar_div(&mut self, s: &f64, a: &Scalars) -> Result<Scalars, Error> {
        Ok(derivatives::map(self, a, |a| s / a, |a, quotient, d| -(quotient * d) / a))
    }

    fn neg(&mut self, a: &Scalars) -> Result<Scalars, Error> {
        Ok(derivatives::map(self, a, |a| -a, |_, _, d| -d))
    }

    fn abs(&mut self, a: &Scalars) -> Result<Scalars, Error> {
        Ok(derivatives::map(self, a, f64::abs, derivatives::by_sign))
    }

    fn sqrt(&mut self, a: &Scalars) -> Result<Scalars, Error> {
        Ok(derivatives::map(self, a, f64::sqrt, |_, root, d| 0.5 / root * d))
    }

    fn vector_add(&mut self, a: &Vectors, b: &Vectors) -> Result<Vectors, Error> {
        Ok(vectors::zip(self, a, b, |a, b| a + b))
    }

    fn vector_sub(&mut self, a: &Vectors, b: &Vectors) -> Result<Vectors, Error> {
        Ok(vectors::zip(self, a, b, |a, b| a - b))
    }

    fn vector_neg(&mut self, a: &Vectors) -> Result<Vectors, Error> {
        Ok(vectors::map(self, a, |a| -a))
    }

    fn vector_mul(&mut self, a: &Vectors, s: &Scalars) -> Result<Vectors, Error> {
        self.located(derivatives::refuse(s, "Vector * Scalar"))?;
        Ok(vectors::zip_scalars(self, a, s, |a, s| a * s))
    }

    fn vector_div(&mut self, a: &Vectors, s: &Scalars) -> Result<Vectors, Error> {
        self.located(derivatives::refuse(s, "Vector / Scalar"))?;
        Ok(vectors::zip_scalars(self, a, s, |a, s| a / s))
    }

    fn vector_mul_scalar(&mut self, a: &Vectors, s: &f64) -> Result<Vectors, Error> {
        Ok(vectors::map(self, a, |a| a * s))
    }

    fn vector_div_scalar(&mut self, a: &Vectors, s: &f64) -> Result<Vectors, Error> {
        Ok(vectors::map(self, a, |a| a / s))
    }

    fn length(&mut self, a: &Vectors) -> Result<Scalars, Error> {
        Ok(vectors::length(self, a))
    }

    fn dot(&mut self, a: &Vectors, b: &Vectors) -> Result<Scalars, Error> {
        Ok(vectors::dot(self, a, b))
    }

    fn component(&mut self, a: &Vectors, index: usize) -> Result<Scalars, Error> {
        self.located(vectors::component(self, a, index))
    }

    fn compare(&mut self, op: Comparison, a: &Scalars, b: &Scalars) -> Result<Bools, Error> {
        Ok(truth::compare(self, op, a, b))
    }

    fn compare_scalar(&mut self, op: Comparison, a: &Scalars, s: &f64) -> Result<Bools, Error> {
        Ok(truth::compare_scalar(self, op, a, *s))
    }

    fn scalar_compare(&mut self, op: Comparison, s: &f64, a: &Scalars) -> Result<Bools, Error> {
        Ok(truth::scalar_compare(self, op, *s, a))
    }

    fn not(&mut self, a: &Bools) -> Result<Bools, Error> {
        Ok(truth::not(self, a))
    }

    fn and(&mut self, a: &Bools, b: &Bools) -> Result<Bools, Error> {
        Ok(truth::combine(self, a, b, |a, b| a & b))
    }

    fn or(&mut self, a: &Bools, b: &Bools) -> Result<Bools, Error> {
        Ok(truth::combine(self, a, b, |a, b| a | b))
    }

    fn xor(&mut self, a: &Bools, b: &Bools) -> Result<Bools, Error> {
        Ok(truth::combine(self, a, b, |a, b| a ^ b))
    }

    fn select(&mut self, condition: &Bools, a: &Scalars, b: &Scalars) -> Result<Scalars, Error> {
        self.located(select::scalars(self, condition, a, b))
    }

    fn select_entities(&mut self, condition: &Bools, a: &Entities, b: &Entities) -> Result<Entities, Error> {
        Ok(select::entities(self, condition, a, b))
    }

    fn on(&mut self, data: &Scalars, target: &Entities) -> Result<Scalars, Error> {
        self.located(on_extend::on_scalars(self, data, target))
    }

    fn on_vectors(&mut self, data: &Vectors, target: &Entities) -> Result<Vectors, Error> {
        self.located(on_extend::on_vectors(self, data, target))
    }

    fn on_bools(&mut self, data: &Bools, target: &Entities) -> Result<Bools, Error> {
        self.located(on_extend::on_bools(self, data, target))
    }

    fn on_entities(&mut self, data: &Entities, target: &Entities) -> Result<Entities, Error> {
        self.located(on_extend::on_entities(self, data, target))
    }

    fn extend(&mut self, data: &Scalars, domain: &Domain) -> Result<Scalars, Error> {
        self.located(on_extend::extend_scalars(self, data, domain))
    }

    fn extend_vectors(&mut self, data: &Vectors, domain: &Domain) -> Result<Vectors, Error> {
        self.located(on_extend::extend_vectors(self, data, domain))
    }

    fn extend_bools(&mut self, data: &Bools, domain: &Domain) -> Result<Bools, Error> {
        self.located(on_extend::extend_bools(self, data, domain))
    }

    fn extend_entities(&mut self, data: &Entities, domain: &Domain) -> Result<Entities, Error> {
        self.located(on_extend::extend_entities(self, data, domain))
    }

    fn spread(&mut self, value: &f64, domain: &Domain) -> Result<Scalars, Error> {
        Ok(on_extend::spread(self, *value, domain))
    }

    fn gradient(&mut self, values: &Scalars) -> Result<Scalars, Error> {
        let interior = self.canonical_domain(CanonicalSet::new(EntityKind::Face, Extent::Interior))?;
        Ok(discrete::gradient(self, &interior, values))
    }

    fn divergence(&mut self, values: &Scalars) -> Result<Scalars, Error> {
        let cells = self.canonical_domain(CanonicalSet::new(EntityKind::Cell, Extent::All))?;
        Ok(discrete::divergence(self, &cells, values))
    }

    fn reduce(&mut self, reduction: Reduction, values: &Scalars) -> Result<f64, Error> {
        self.located(discrete::reduce(self, reduction, values))
    }

    fn sequence_mul(&mut self, sequence: &Sequence, s: &f64) -> Result<Sequence, Error> {
        Ok(sequences::map(sequence, |value| value * s))
    }

    fn sequence_div(&mut self, sequence: &Sequence, s: &f64) -> Result<Sequence, Error> {
        Ok(sequences::map(sequence, |value| value / s))
    }

    fn sequence_neg(&mut self, sequence: &Sequence) -> Result<Sequence, Error> {
        Ok(sequences::map(sequence, |value| -value))
    }
}
